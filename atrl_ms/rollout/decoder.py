"""One forward pass over new tokens with a key/value cache, in numpy.

On a CPU a decode step is some hundred small operations, and MindSpore's cost per operation exceeds that of the
arithmetic: for a 3.4 M-parameter model this decoder is several times as fast as the compiled graph of
decoder_graph.py, which runs on Ascend. Both are tested against the model. Rows are ragged: nothing is padded.

Dimension letters: S slots, K key/value heads, R query heads per key/value head, E head size, C capacity in tokens,
N new tokens of all rows together, B rows, T new tokens of one row, L cached tokens of a row, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from atrl_ms.policy.config import rope_tables
from atrl_ms.policy.model import Transformer, plain_weights


class Row(NamedTuple):
    """New tokens of one slot; they stand at positions start .. start + len(ids) - 1."""

    slot: int
    start: int
    ids: Sequence[int]


class Decoder(Protocol):
    """What the engine needs of an implementation."""

    capacity: int

    def forward(self, rows: Sequence[Row]) -> np.ndarray:
        """Write the rows' keys and values; logits of each row's last token, (B, V) float32."""
        ...

    def copy_prefix(self, source: int, target: int, length: int) -> None: ...

    def load(self, model: Transformer) -> None:
        """Take over the model's current weights; what is cached becomes meaningless."""
        ...


def normalise(x: np.ndarray, eps: float) -> np.ndarray:
    """RMSNorm without gain over the last axis."""
    mean = np.einsum("...d,...d->...", x, x) / np.float32(x.shape[-1])
    return x * (1.0 / np.sqrt(mean + np.float32(eps)))[..., None]


class NumpyDecoder:
    """Weights are folded copies, taken by `load`: training goes on without touching requests in flight."""

    def __init__(self, model: Transformer, slots: int, capacity: int):
        c = self.config = model.config
        self.capacity = capacity
        shape = (c.num_hidden_layers, slots, c.num_key_value_heads, capacity, c.head_dim)
        self.keys = np.zeros(shape, np.float32)
        self.values = np.zeros(shape, np.float32)
        self.cos, self.sin = rope_tables(c, capacity)
        self.load(model)

    def load(self, model: Transformer) -> None:
        values = plain_weights(model)
        c = self.config
        scale = np.float32(1.0 / np.sqrt(c.head_dim))
        self.embedding = values["embedding"].copy()
        head = values["embedding" if c.tie_word_embeddings else "head"]
        self.head = np.ascontiguousarray((head * values["norm"]).T)
        self.layers: list[dict[str, np.ndarray]] = []
        for i in range(c.num_hidden_layers):
            layer = {k.split(".", 2)[2]: v for k, v in values.items() if k.startswith(f"blocks.{i}.")}
            gains = np.ones((c.num_attention_heads + c.num_key_value_heads, c.head_dim), np.float32)
            if c.qk_norm:
                gains[: c.num_attention_heads] = layer["q_norm"]
                gains[c.num_attention_heads :] = layer["k_norm"]
            gains[: c.num_attention_heads] *= scale
            self.layers.append(
                {
                    "qkv": np.ascontiguousarray((layer["qkv"] * layer["norm1"]).T),
                    "out": layer["out"].T.copy(),
                    "gate_up": np.ascontiguousarray((layer["gate_up"] * layer["norm2"]).T),
                    "down": layer["down"].T.copy(),
                    "gains": gains,
                    **{k: v.copy() for k, v in layer.items() if k.endswith("_bias")},
                }
            )

    def copy_prefix(self, source: int, target: int, length: int) -> None:
        self.keys[:, target, :, :length] = self.keys[:, source, :, :length]
        self.values[:, target, :, :length] = self.values[:, source, :, :length]

    def forward(self, rows: Sequence[Row]) -> np.ndarray:
        c = self.config
        heads, groups, width = c.num_attention_heads, c.num_key_value_heads, c.head_dim
        counts = [len(row.ids) for row in rows]
        ends = np.cumsum(counts)
        for row, count in zip(rows, counts, strict=True):
            if count < 1 or row.start < 0 or row.start + count > self.capacity:
                raise ValueError(f"slot {row.slot}: {count} tokens at {row.start} do not fit {self.capacity}")
        positions = np.concatenate([np.arange(r.start, r.start + n) for r, n in zip(rows, counts, strict=True)])
        slots = np.repeat([row.slot for row in rows], counts)
        x = self.embedding[np.concatenate([np.asarray(row.ids, np.int64) for row in rows])]
        cos, sin = self.cos[positions][:, None], self.sin[positions][:, None]
        half = width // 2
        for i, layer in enumerate(self.layers):
            qkv = normalise(x, c.rms_norm_eps) @ layer["qkv"]
            if "qkv_bias" in layer:
                qkv += layer["qkv_bias"]
            qk = qkv[:, : c.query_size + c.kv_size].reshape(-1, heads + groups, width)
            if c.qk_norm:
                qk = normalise(qk, c.rms_norm_eps)
            qk = qk * layer["gains"]
            swapped = np.concatenate((qk[..., half:], qk[..., :half]), -1)
            qk = qk * cos + swapped * sin
            self.keys[i, slots, :, positions] = qk[:, heads:]
            self.values[i, slots, :, positions] = qkv[:, c.query_size + c.kv_size :].reshape(-1, groups, width)
            attended = self.attend(i, qk[:, :heads], rows, counts, ends)
            y = attended @ layer["out"]
            if "out_bias" in layer:
                y += layer["out_bias"]
            x = x + y
            gate_up = normalise(x, c.rms_norm_eps) @ layer["gate_up"]
            if "gate_up_bias" in layer:
                gate_up += layer["gate_up_bias"]
            gate, up = gate_up[:, : c.intermediate_size], gate_up[:, c.intermediate_size :]
            # exp(-gate) may overflow to inf, and gate / inf is the right 0.
            with np.errstate(over="ignore"):
                y = (gate / (1.0 + np.exp(-gate)) * up) @ layer["down"]
            if "down_bias" in layer:
                y += layer["down_bias"]
            x = x + y
        return normalise(x[ends - 1], c.rms_norm_eps) @ self.head

    def attend(
        self, layer: int, q_NHE: np.ndarray, rows: Sequence[Row], counts: list[int], ends: np.ndarray
    ) -> np.ndarray:
        """Causal attention of every row over its own cache: (N, H, E) -> (N, H*E)."""
        c = self.config
        groups, rep, width = c.num_key_value_heads, c.heads_per_group, c.head_dim
        keys, values = self.keys[layer], self.values[layer]
        output = np.empty((len(q_NHE), groups, rep, width), np.float32)
        q = q_NHE.reshape(-1, groups, rep, width)
        single = [b for b, count in enumerate(counts) if count == 1]
        if single:
            longest = max(rows[b].start for b in single) + 1
            scores = np.full((len(single), groups, rep, longest), -np.inf, np.float32)
            for j, b in enumerate(single):
                length = rows[b].start + 1
                k = keys[rows[b].slot, :, :length]
                np.matmul(q[ends[b] - 1], k.transpose(0, 2, 1), out=scores[j, :, :, :length])
            scores -= scores.max(-1, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(-1, keepdims=True)
            for j, b in enumerate(single):
                length = rows[b].start + 1
                np.matmul(scores[j, :, :, :length], values[rows[b].slot, :, :length], out=output[ends[b] - 1])
        for b, count in enumerate(counts):
            if count == 1:
                continue
            length = rows[b].start + count
            span = slice(ends[b] - count, ends[b])
            q_KME = q[span].transpose(1, 2, 0, 3).reshape(groups, rep * count, width)
            scores = q_KME @ keys[rows[b].slot, :, :length].transpose(0, 2, 1)
            scores = scores.reshape(groups, rep, count, length)
            future = np.arange(length)[None, :] > np.arange(rows[b].start, length)[:, None]
            scores[:, :, future] = -np.inf
            scores -= scores.max(-1, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(-1, keepdims=True)
            y = scores.reshape(groups, rep * count, length) @ values[rows[b].slot, :, :length]
            output[span] = y.reshape(groups, rep, count, width).transpose(2, 0, 1, 3)
        return output.reshape(len(q_NHE), -1)
