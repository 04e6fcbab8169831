"""One decoder-only transformer for Qwen3, Qwen2 and Llama, written for few, large operations.

Query, key and value are one projection, gate and up another; RMSNorm gains are folded into the weight that follows
(on the small weight, not on the activations), QK-norm gains into the rotary tables.

Dimension letters: B batch, T time, N = B*T, D width, H query heads, K key/value heads, R = H / K, E head size,
F feed-forward width, V vocabulary, C cached positions.
"""

from __future__ import annotations

from dataclasses import dataclass

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn

from atrl_ms.config import PROJECTIONS
from atrl_ms.policy import ops as po
from atrl_ms.policy.config import ModelConfig, rope_tables

ops = ms.ops


@dataclass(frozen=True)
class Lora:
    """Low-rank adapters (Hu et al., 2021, arXiv 2106.09685): W + alpha / rank * B A, W frozen.

    A stacked projection (query, key, value; gate, up) has one A for all that is stacked in it.
    """

    rank: int
    alpha: float
    targets: tuple[str, ...] = PROJECTIONS

    @property
    def scale(self) -> float:
        return self.alpha / self.rank


class Block(nn.Cell):
    """Attention and feed-forward of one layer; parameters in fused layout."""

    def __init__(self, config: ModelConfig, rng: np.random.Generator, lora: Lora | None = None):
        super().__init__()
        c = config
        # Plain numbers: a compiled method cannot read attributes of a configuration object.
        self.rms, self.attention = po.rms_norm(c.rms_norm_eps), po.attention()
        self.linear, self.silu_gate = po.Linear(), po.SiluGate()
        self.heads, self.groups, self.rep = c.num_attention_heads, c.num_key_value_heads, c.heads_per_group
        self.head_dim, self.half = c.head_dim, c.head_dim // 2
        self.query_size, self.kv_size, self.ffn = c.query_size, c.kv_size, c.intermediate_size
        self.has_qk_norm, self.has_qkv_bias = c.qk_norm, c.qkv_bias
        self.has_out_bias, self.has_mlp_bias = c.output_bias, c.mlp_bias
        self.scale = po.scale_of(c.head_dim)
        qkv = c.query_size + 2 * c.kv_size
        std = 0.02
        out_std = std / np.sqrt(2 * c.num_hidden_layers)  # GPT-2's rule: residual branches add up

        def normal(name: str, *shape: int, scale: float = std) -> Parameter:
            return Parameter(Tensor((rng.standard_normal(shape) * scale).astype(np.float32)), name=name)

        def constant(name: str, size: int, value: float) -> Parameter:
            return Parameter(Tensor(np.full(size, value, np.float32)), name=name)

        self.norm1 = constant("norm1", c.hidden_size, 1.0)
        self.qkv = normal("qkv", qkv, c.hidden_size)
        self.out = normal("out", c.hidden_size, c.query_size, scale=out_std)
        self.norm2 = constant("norm2", c.hidden_size, 1.0)
        self.gate_up = normal("gate_up", 2 * c.intermediate_size, c.hidden_size)
        self.down = normal("down", c.hidden_size, c.intermediate_size, scale=out_std)
        if c.qk_norm:
            self.q_norm = constant("q_norm", c.head_dim, 1.0)
            self.k_norm = constant("k_norm", c.head_dim, 1.0)
        if c.qkv_bias:
            self.qkv_bias = constant("qkv_bias", qkv, 0.0)
        if c.output_bias:
            self.out_bias = constant("out_bias", c.hidden_size, 0.0)
        if c.mlp_bias:
            self.gate_up_bias = constant("gate_up_bias", 2 * c.intermediate_size, 0.0)
            self.down_bias = constant("down_bias", c.hidden_size, 0.0)
        targets = lora.targets if lora else ()
        self.lora_scale = lora.scale if lora else 0.0
        self.lora_qkv, self.lora_out, self.lora_gate_up, self.lora_down = (name in targets for name in PROJECTIONS)
        if lora:
            for parameter in self.get_parameters():
                parameter.requires_grad = False
            for name in targets:
                rows, columns = getattr(self, name).shape
                # B starts at zero: the policy starts as its checkpoint.
                setattr(self, f"{name}_lora_a", normal(f"{name}_lora_a", lora.rank, columns, scale=columns**-0.5))
                setattr(self, f"{name}_lora_b", normal(f"{name}_lora_b", rows, lora.rank, scale=0.0))

    def project(self, x_ND: Tensor, cos_ME: Tensor, sin_ME: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Rotated and scaled queries, rotated keys, values, from the residual stream.

        x (N, D); cos and sin (N or T, E) one row per position, repeated over the batch when T < N.
        Returns q (N, H*E), k (N, K*E), v (N, K*E).
        """
        heads = self.heads + self.groups
        y = self.rms(x_ND)[0]
        qkv = self.linear(y, po.scaled(self.qkv, self.norm1))
        if self.lora_qkv:
            qkv = qkv + self.low_rank(y, po.scaled(self.qkv_lora_a, self.norm1), self.qkv_lora_b)
        if self.has_qkv_bias:
            qkv = qkv + self.qkv_bias
        qk, v = ops.split(qkv, (self.query_size + self.kv_size, self.kv_size), 1)
        qk_ME = qk.reshape(-1, self.head_dim)  # M = N * (H + K)
        if self.has_qk_norm:
            qk_ME = self.rms(qk_ME)[0]
        cos, sin = self.rotary_tables(cos_ME, sin_ME)
        batch = x_ND.shape[0] // cos_ME.shape[0]
        swapped = po.swap_halves(qk_ME, self.half)
        rotated = qk_ME * po.over_rows(cos, batch).reshape(qk_ME.shape)
        rotated = rotated + swapped * po.over_rows(sin, batch).reshape(qk_ME.shape)
        q, k = ops.split(rotated.reshape(-1, heads * self.head_dim), (self.query_size, self.kv_size), 1)
        return q, k, v

    def low_rank(self, x_NI: Tensor, a_RI: Tensor, b_OR: Tensor) -> Tensor:
        """The adapter's part of a projection (here R is the rank): (N, O)."""
        return self.linear(self.linear(x_NI, a_RI), b_OR) * self.lora_scale

    def rotary_tables(self, cos_TE: Tensor, sin_TE: Tensor) -> tuple[Tensor, Tensor]:
        """cos and sin per head (T, H+K, E), times the QK-norm gains and, for queries, 1/sqrt(E)."""
        shape = (cos_TE.shape[0], 1, self.head_dim)
        cos, sin = cos_TE.reshape(shape), sin_TE.reshape(shape)
        if self.has_qk_norm:
            # swap(x * gain) = swap(x) * swap(gain)
            q_gain, k_gain = self.q_norm * self.scale, self.k_norm
            q_cos, k_cos = cos * q_gain, cos * k_gain
            q_sin = sin * po.swap_halves(q_gain, self.half)
            k_sin = sin * po.swap_halves(k_gain, self.half)
        else:
            q_cos, k_cos, q_sin, k_sin = cos * self.scale, cos, sin * self.scale, sin
        tile_q, tile_k = (1, self.heads, 1), (1, self.groups, 1)
        return (
            ops.cat((ops.tile(q_cos, tile_q), ops.tile(k_cos, tile_k)), 1),
            ops.cat((ops.tile(q_sin, tile_q), ops.tile(k_sin, tile_k)), 1),
        )

    def finish(self, x_ND: Tensor, attended_NQ: Tensor) -> Tensor:
        """Output projection, residual, feed-forward, residual."""
        y = self.linear(attended_NQ, self.out)
        if self.lora_out:
            y = y + self.low_rank(attended_NQ, self.out_lora_a, self.out_lora_b)
        if self.has_out_bias:
            y = y + self.out_bias
        x = x_ND + y
        y = self.rms(x)[0]
        gate_up = self.linear(y, po.scaled(self.gate_up, self.norm2))
        if self.lora_gate_up:
            gate_up = gate_up + self.low_rank(y, po.scaled(self.gate_up_lora_a, self.norm2), self.gate_up_lora_b)
        if self.has_mlp_bias:
            gate_up = gate_up + self.gate_up_bias
        gate, up = ops.split(gate_up, self.ffn, 1)
        hidden = self.silu_gate(gate, up)[0]
        y = self.linear(hidden, self.down)
        if self.lora_down:
            y = y + self.low_rank(hidden, self.down_lora_a, self.down_lora_b)
        if self.has_mlp_bias:
            y = y + self.down_bias
        return x + y

    def construct(self, x_ND: Tensor, cos: Tensor, sin: Tensor, mask: Tensor, batch: int) -> Tensor:
        """A full causal pass over (B*T, D); cos, sin (T, E); mask (B*K, R*T, T) additive, on Ascend (R*T, T)."""
        time = cos.shape[0]
        groups, rep = self.groups, self.rep
        q, k, v = self.project(x_ND, cos, sin)
        q = ops.transpose(q.reshape(batch, time, groups, rep, self.head_dim), (0, 2, 3, 1, 4))
        k = ops.transpose(k.reshape(batch, time, groups, self.head_dim), (0, 2, 1, 3))
        v = ops.transpose(v.reshape(batch, time, groups, self.head_dim), (0, 2, 1, 3))
        y, _ = self.attention(
            q.reshape(batch * groups, rep * time, self.head_dim),
            k.reshape(batch * groups, time, self.head_dim),
            v.reshape(batch * groups, time, self.head_dim),
            mask,
        )
        y = ops.transpose(y.reshape(batch, groups, rep, time, self.head_dim), (0, 3, 1, 2, 4))
        return self.finish(x_ND, y.reshape(batch * time, self.query_size))


class Transformer(nn.Cell):
    """Embedding, blocks, final norm and (tied or own) output projection."""

    def __init__(self, config: ModelConfig, seed: int = 0, lora: Lora | None = None):
        super().__init__()
        config.check()
        rng = np.random.default_rng(seed)
        self.config, self.lora = config, lora
        c = config
        self.rms, self.tied = po.rms_norm(c.rms_norm_eps), c.tie_word_embeddings
        self.linear = po.Linear()
        self.groups, self.needs_full_mask = c.num_key_value_heads, not po.on_ascend()
        embedding = (rng.standard_normal((c.vocab_size, c.hidden_size)) * 0.02).astype(np.float32)
        self.embedding = Parameter(Tensor(embedding), name="embedding")
        self.blocks = nn.CellList([Block(c, rng, lora) for _ in range(c.num_hidden_layers)])
        self.norm = Parameter(Tensor(np.ones(c.hidden_size, np.float32)), name="norm")
        if not c.tie_word_embeddings:
            head = (rng.standard_normal((c.vocab_size, c.hidden_size)) * 0.02).astype(np.float32)
            self.head = Parameter(Tensor(head), name="head")
        if lora:
            for parameter in self.get_parameters(expand=False):
                parameter.requires_grad = False

    def construct(self, ids_BT: Tensor, cos_TE: Tensor, sin_TE: Tensor, mask: Tensor) -> Tensor:
        """Logits (B*T, V) of a full causal pass. Constants come from `causal_constants`."""
        x = self.embed(ids_BT)
        if self.needs_full_mask:
            mask = po.full_mask(mask, ids_BT.shape[0] * self.groups)
        for block in self.blocks:
            x = block(x, cos_TE, sin_TE, mask, ids_BT.shape[0])
        return self.logits(x)

    def embed(self, ids: Tensor) -> Tensor:
        """ids of any shape -> (number of ids, D)."""
        return ops.gather(self.embedding, ids.reshape(-1), 0)

    def logits(self, x_ND: Tensor) -> Tensor:
        """Final norm and output projection: (N, D) -> (N, V)."""
        head = self.embedding if self.tied else self.head
        return self.linear(self.rms(x_ND)[0], po.scaled(head, self.norm))


def build_model(config: ModelConfig, seed: int = 0, lora: Lora | None = None) -> Transformer:
    """A randomly initialised model; the same seed gives the same weights. With `lora` only its adapters are trained."""
    po.setup_cpu()
    return Transformer(config, seed, lora)


def plain_weights(model: nn.Cell) -> dict[str, np.ndarray]:
    """Parameter name -> array, adapters merged into the weight they adapt. Arrays may share the parameters' memory."""
    values = {p.name: p.asnumpy() for p in model.get_parameters()}
    for name in [name for name in values if name.endswith("_lora_a")]:
        base = name.removesuffix("_lora_a")
        a_RI, b_OR = values.pop(name), values.pop(f"{base}_lora_b")
        values[base] = values[base] + np.float32(model.lora.scale) * (b_OR @ a_RI)
    return values


def causal_constants(config: ModelConfig, time: int) -> tuple[Tensor, Tensor, Tensor]:
    """cos, sin (T, E) and the additive causal mask (R*T, T) of a pass over positions 0..T-1."""
    cos, sin = rope_tables(config, time)
    mask = np.triu(np.full((time, time), po.MASKED, np.float32), 1)
    return Tensor(cos), Tensor(sin), Tensor(np.tile(mask, (config.heads_per_group, 1)))
