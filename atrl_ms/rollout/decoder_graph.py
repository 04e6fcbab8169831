"""The decoder as a compiled MindSpore graph: what runs on Ascend, tested on CPU against the model.

Every call has one of a few shapes (rows: all slots or one; new tokens and cached positions: powers of two), so nothing
compiles in steady state. The cache lives in Parameters that the graph writes in place by row index; position
`capacity` of every slot takes the writes of padding.

Dimension letters: S slots, B rows of a call, T new tokens of a row (padded), C cached positions looked at, K key/value
heads, R query heads per key/value head, E head size, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops

from atrl_ms.policy import ops as po
from atrl_ms.policy.config import rope_tables
from atrl_ms.policy.model import Transformer, build_model, plain_weights
from atrl_ms.rollout.decoder import Row


class CachedPass(nn.Cell):
    """One pass over new tokens; reads and writes the caches."""

    def __init__(self, model: Transformer, slots: int, capacity: int):
        super().__init__(auto_prefix=False)
        c = model.config
        self.model = model
        self.blocks = model.blocks
        self.groups, self.rep, self.head_dim = c.num_key_value_heads, c.heads_per_group, c.head_dim
        self.slots, self.stride = slots, capacity + 1
        shape = (slots * c.num_key_value_heads * self.stride, c.head_dim)
        layers = range(c.num_hidden_layers)
        self.keys = ParameterTuple([cache(f"keys.{i}", shape) for i in layers])
        self.values = ParameterTuple([cache(f"values.{i}", shape) for i in layers])

    def construct(
        self,
        ids_BT: Tensor,
        cos_NE: Tensor,
        sin_NE: Tensor,
        write_M: Tensor,
        read_P: Tensor,
        mask: Tensor,
        last_B: Tensor,
    ) -> Tensor:
        """Logits (B, V) after each row's last token.

        write (B*T*K,) and read (B*K*C,) are rows of the flat caches; mask (B*K, R*T, C); last (B,) index into B*T.
        """
        rows, time = ids_BT.shape
        groups, rep, width = self.groups, self.rep, self.head_dim
        cached = mask.shape[2]
        x = self.model.embed(ids_BT)
        for i in range(len(self.blocks)):
            block = self.blocks[i]
            q, k, v = block.project(x, cos_NE, sin_NE)
            ops.scatter_update(self.keys[i], write_M, k.reshape(-1, width))
            ops.scatter_update(self.values[i], write_M, v.reshape(-1, width))
            keys = ops.gather(self.keys[i], read_P, 0).reshape(rows * groups, cached, width)
            values = ops.gather(self.values[i], read_P, 0).reshape(rows * groups, cached, width)
            q = ops.transpose(q.reshape(rows, time, groups, rep, width), (0, 2, 3, 1, 4))
            y, _ = block.attention(q.reshape(rows * groups, rep * time, width), keys, values, mask)
            y = ops.transpose(y.reshape(rows, groups, rep, time, width), (0, 3, 1, 2, 4))
            x = block.finish(x, y.reshape(rows * time, groups * rep * width))
        return self.model.logits(ops.gather(x, last_B, 0))


def cache(name: str, shape: tuple[int, int]) -> Parameter:
    return Parameter(Tensor(np.zeros(shape, np.float32)), name=name, requires_grad=False)


class GraphDecoder:
    """Decoder (atrl_ms.rollout.decoder) on a private copy of the model's weights."""

    def __init__(self, model: Transformer, slots: int, capacity: int):
        self.config = model.config
        self.capacity, self.slots = capacity, slots
        self.copy = build_model(model.config)
        self.load(model)
        self.step = CachedPass(self.copy, slots, capacity)
        self.graph = ms.jit(self.step.construct)
        self.cos, self.sin = rope_tables(model.config, capacity + 1)
        self.shapes: set[tuple[int, int, int]] = set()

    @property
    def compilations(self) -> int:
        return len(self.shapes)

    def load(self, model: Transformer) -> None:
        source = plain_weights(model)
        for p in self.copy.get_parameters():
            ops.assign(p, Tensor(source[p.name].copy()))  # in place: compiled graphs do not follow set_data

    def copy_prefix(self, source: int, target: int, length: int) -> None:
        groups, stride = self.config.num_key_value_heads, self.step.stride
        start = np.arange(groups)[:, None] * stride + np.arange(length)[None, :]
        read = Tensor((source * groups * stride + start).reshape(-1).astype(np.int32))
        write = Tensor((target * groups * stride + start).reshape(-1).astype(np.int32))
        for tensors in (self.step.keys, self.step.values):
            for p in tensors:
                ops.scatter_update(p, write, ops.gather(p, read, 0))

    def forward(self, rows: Sequence[Row]) -> np.ndarray:
        """Single new tokens go through one call for all slots, longer rows one by one."""
        for row in rows:
            if not row.ids or row.start < 0 or row.start + len(row.ids) > self.capacity:
                raise ValueError(f"slot {row.slot}: {len(row.ids)} tokens at {row.start} do not fit {self.capacity}")
        result = np.empty((len(rows), self.config.vocab_size), np.float32)
        single = [b for b, row in enumerate(rows) if len(row.ids) == 1]
        if single:
            result[single] = self.call([rows[b] for b in single], self.slots)[: len(single)]
        for b, row in enumerate(rows):
            if len(row.ids) > 1:
                result[b] = self.call([row], 1)[0]
        return result

    def call(self, rows: Sequence[Row], batch: int) -> np.ndarray:
        """Pad `rows` to `batch` rows and bucketed lengths, run the graph."""
        c, step = self.config, self.step
        groups, stride = c.num_key_value_heads, step.stride
        time = power_of_two(max(len(row.ids) for row in rows), 1)
        cached = min(power_of_two(max(row.start + len(row.ids) for row in rows), 64), stride)
        ids = np.zeros((batch, time), np.int32)
        positions = np.full((batch, time), self.capacity, np.int64)  # padding writes to the spare position
        slots = np.zeros(batch, np.int64)
        lengths = np.ones(batch, np.int64)
        for b, row in enumerate(rows):
            n = len(row.ids)
            ids[b, :n], slots[b], lengths[b] = row.ids, row.slot, n
            positions[b, :n] = np.arange(row.start, row.start + n)
        head_BK = (slots[:, None] * groups + np.arange(groups)) * stride
        write = head_BK[:, None, :] + positions[:, :, None]
        read = head_BK[:, :, None] + np.arange(cached)
        hidden = np.arange(cached)[None, None, :] > positions[:, :, None]  # (B, T, C)
        mask = np.where(hidden, np.float32(po.MASKED), np.float32(0))[:, None, None]
        mask = np.broadcast_to(mask, (batch, groups, c.heads_per_group, time, cached))
        inputs: list[Any] = [
            ids,
            self.cos[positions.reshape(-1)],
            self.sin[positions.reshape(-1)],
            write.reshape(-1).astype(np.int32),
            read.reshape(-1).astype(np.int32),
            np.ascontiguousarray(mask.reshape(batch * groups, -1, cached)),
            (np.arange(batch) * time + lengths - 1).astype(np.int32),
        ]
        self.shapes.add((batch, time, cached))
        return np.asarray(self.graph(*(Tensor(value) for value in inputs)).asnumpy())


def power_of_two(size: int, least: int) -> int:
    """The smallest power of two that is at least `size` and `least`."""
    result = least
    while result < size:
        result *= 2
    return result
