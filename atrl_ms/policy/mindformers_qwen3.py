"""MindFormers' own Qwen3 as the policy (`policy.backend: mindformers`), under the names and layout of model.py.

On Ascend the model runs as MindFormers builds it. On CPU four operations that only exist there are substituted: the
fused RMSNorm, flash attention, the outer product of the rotary embedding and the embedding lookup (its gradient).

Its two optional weight layouts (query, key, value one after the other; gate, then up) are those of model.py, so
parameters are only renamed, and checkpoints, learner and engines need not know which of the two models they serve.
"""

from __future__ import annotations

import io
import logging
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

from mindspore import Tensor, nn, ops
from mindspore import dtype as mstype

from atrl_ms.errors import UserError
from atrl_ms.policy import ops as po
from atrl_ms.policy.config import ModelConfig, rope_kind

OWN_NAMES = {
    "embedding.word_embeddings.weight": "embedding",
    "decoder.final_layernorm.weight": "norm",
    "output_layer.weight": "head",
}
OWN_BLOCK_NAMES = {
    "input_layernorm.weight": "norm1",
    "self_attention.linear_qkv.weight": "qkv",
    "self_attention.linear_proj.weight": "out",
    "self_attention.q_layernorm.weight": "q_norm",
    "self_attention.k_layernorm.weight": "k_norm",
    "pre_mlp_layernorm.weight": "norm2",
    "mlp.linear_fc1.weight": "gate_up",
    "mlp.linear_fc2.weight": "down",
}
HF_KEYS = (
    "vocab_size",
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "max_position_embeddings",
    "rms_norm_eps",
    "rope_theta",
    "tie_word_embeddings",
)
LAYOUT = {"use_contiguous_weight_layout_attention": True, "use_interleaved_weight_layout_mlp": False}


def own_name(name: str) -> str:
    """MindFormers' parameter name -> that of model.py; KeyError for one that a dense Qwen3 does not have."""
    block = re.fullmatch(r"decoder\.layers\.(\d+)\.(.+)", name)
    return f"blocks.{block[1]}.{OWN_BLOCK_NAMES[block[2]]}" if block else OWN_NAMES[name]


class PlainAttention(nn.Cell):
    """Stands in for MindFormers' FlashAttention on CPU: same place, plain operations, fp32.

    query (T, B, H, E), key and value (T, B, K, E), mask (R*T, T) additive; returns (T, B, H*E).
    """

    def __init__(self, config: Any, layer_number: int):
        super().__init__()
        self.scale = po.scale_of(config.kv_channels)
        self.attention = po.Attention()

    def construct(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        time, batch, heads, width = query.shape
        groups = key.shape[2]
        rep = heads // groups
        q = ops.transpose(query.reshape(time, batch, groups, rep, width) * self.scale, (1, 2, 3, 0, 4))
        k = ops.transpose(key, (1, 2, 0, 3)).reshape(batch * groups, time, width)
        v = ops.transpose(value, (1, 2, 0, 3)).reshape(batch * groups, time, width)
        mask = po.full_mask(mask, batch * groups)
        y, _ = self.attention(q.reshape(batch * groups, rep * time, width), k, v, mask)
        y = ops.transpose(y.reshape(batch, groups, rep, time, width), (3, 0, 1, 2, 4))
        return y.reshape(time, batch, heads * width)


class Outer(nn.Cell):
    """Stands in for the outer product of two vectors on CPU."""

    def construct(self, a: Tensor, b: Tensor) -> Tensor:
        return a.reshape(-1, 1) * b.reshape(1, -1)


class Lookup(nn.Cell):
    """Stands in for the embedding lookup, whose gradient has no CPU kernel: ids (B, T), weight (V, D) -> (B, T, D)."""

    def construct(self, ids: Tensor, weight: Tensor) -> Tensor:
        return ops.gather(weight, ids, 0)


class MindFormersQwen3(nn.Cell):
    """The model behind the interface of model.Transformer: `config`, `lora`, `construct`, parameters by its names."""

    def __init__(self, config: ModelConfig):
        super().__init__(auto_prefix=False)
        self.config, self.lora = config, None
        self.plain = not po.on_ascend()
        with quietly():
            self.network = build_network(config, self.plain)
        for parameter in self.network.get_parameters():
            parameter.name = own_name(parameter.name)
        self.blocks = self.network.decoder.layers

    def construct(self, ids_BT: Tensor, cos_TE: Tensor, sin_TE: Tensor, mask: Tensor) -> Tensor:
        """Logits (B*T, V). Rotary tables are MindFormers' own; of the additive mask (R*T, T) it takes what it needs."""
        if not self.plain:  # flash attention: 1 hides a position
            batch, time = ids_BT.shape
            hidden = ops.cast(mask[:time] < 0, mstype.uint8).reshape(1, 1, time, time)
            mask = ops.tile(hidden, (batch, 1, 1, 1))
        return self.network(ids_BT, None, mask)


def build_mindformers(config: ModelConfig) -> MindFormersQwen3:
    """MindFormers' Qwen3 with random weights, in training layout.

    Raises:
        UserError: MindFormers is not installed, or the architecture is one that its Qwen3 does not have.
    """
    config.check()
    if config.model_type != "qwen3" or config.attention_bias or rope_kind(config.rope_scaling) != "default":
        raise UserError(
            f"policy.backend mindformers: its Qwen3 is used, without attention biases and RoPE scaling; "
            f"this checkpoint is {config.model_type}: use policy.backend native"
        )
    if config.hidden_size % config.num_attention_heads:
        raise UserError(
            f"policy.backend mindformers: hidden_size {config.hidden_size} must be a multiple of "
            f"num_attention_heads {config.num_attention_heads}; use policy.backend native"
        )
    po.setup_cpu()
    return MindFormersQwen3(config)


def build_network(config: ModelConfig, plain: bool) -> nn.Cell:
    """MindFormers' GPTModel as its Qwen3 configures it; `plain` substitutes what has no CPU kernel."""
    try:
        from mindformers.core.context.build_context import build_mf_context
        from mindformers.models.qwen3.configuration_qwen3 import Qwen3Config
        from mindformers.parallel_core.training_graph.base_models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
        from mindformers.parallel_core.training_graph.base_models.gpt.gpt_model import GPTModel
        from mindformers.parallel_core.training_graph.transformer.attention import SelfAttentionContiguous
        from mindformers.parallel_core.training_graph.transformer.norm import get_norm_cls
        from mindformers.parallel_core.training_graph.transformer.transformer_block import TransformerBlockSubmodules
    except ImportError as error:
        raise UserError(
            f"policy.backend mindformers needs the extra: pip install -e '.[mindformers]' ({error})"
        ) from error

    class GroupedAttention(SelfAttentionContiguous):
        """Heads stay grouped: MindFormers' repetition of keys and values takes the time axis for the head axis."""

        def _repeat_kv(self, x: Tensor, rep: int) -> Tensor:
            return x

    build_mf_context({"use_legacy": False, "context": {}, "parallel": {}})
    types = ("params_dtype", "layernorm_compute_dtype", "rotary_dtype", "softmax_compute_dtype")
    settings = Qwen3Config(
        **{key: value for key, value in config.to_hf().items() if key in HF_KEYS},
        **dict.fromkeys(types, "float32"),
        compute_dtype="float32" if plain else "bfloat16",
        seq_length=config.max_position_embeddings,
        use_flash_attention=not plain,
        **LAYOUT,
    ).convert_to_transformer_config()
    layer = get_gpt_layer_local_spec(qk_layernorm=True, fused_norm=not plain, **LAYOUT)
    if plain:
        layer.submodules.self_attention.module = GroupedAttention
        layer.submodules.self_attention.submodules.core_attention = PlainAttention
    network = GPTModel(
        config=settings,
        transformer_layer_spec=TransformerBlockSubmodules(
            layer_specs=[layer] * config.num_hidden_layers, layer_norm=get_norm_cls(not plain)
        ),
        vocab_size=config.vocab_size,
        max_sequence_length=config.max_position_embeddings,
        position_embedding_type="rope",
        rotary_base=config.rope_theta,
        share_embeddings_and_output_weights=config.tie_word_embeddings,
    )
    if plain:
        network.rotary_pos_emb.outer = Outer()
        network.embedding.word_embeddings.embedding_morph = Lookup()
    return network


@contextmanager
def quietly() -> Iterator[None]:
    """MindFormers reports every setting, on the screen and in ./output/log: only errors, in the temporary directory."""
    os.environ.setdefault("LOG_MF_PATH", os.path.join(tempfile.gettempdir(), f"mindformers_log_{os.getuid()}"))
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with redirect_stdout(io.StringIO()):
            yield
    finally:
        logging.disable(before)
