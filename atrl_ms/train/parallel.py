"""Data parallel training: replicated policy, gradients summed over ranks, launched by msrun (`atrl launch`).

Weights inside a batch already carry the global normaliser, so ranks add up like micro-batches. The scheduler process
runs the script too, up to `join`: keep everything before it free of side effects.

Only collectives that the CPU back end has are used: all_reduce and all_gather. Ranks need no common disk: whatever the
leader reads, it shares. Who is alive is watched by watch.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:  # a command decides what to do before it pays for MindSpore
    from mindspore import Parameter, Tensor

T = TypeVar("T")


@dataclass(frozen=True)
class Ranks:
    """Where this process stands among all."""

    rank: int = 0
    size: int = 1

    @property
    def leader(self) -> bool:
        """The one that reads and writes files and shows progress."""
        return self.rank == 0

    def block(self, items: Sequence[T]) -> list[T]:
        """This rank's part of a list: a contiguous block, equal to the others up to one item."""
        bounds = [len(items) * r // self.size for r in (self.rank, self.rank + 1)]
        return list(items[bounds[0] : bounds[1]])

    def share(self, items: Sequence[T], costs: Sequence[float]) -> list[T]:
        """This rank's part of a list by cost, in the list's order: the same assignment on every rank."""
        if self.size == 1:
            return list(items)
        owners = balance(costs, self.size)
        return [item for item, owner in zip(items, owners, strict=True) if owner == self.rank]

    def reducer(self) -> Callable[[list[Tensor]], list[Tensor]] | None:
        """What `Learner(reduce=...)` takes; None for one process."""
        return None if self.size == 1 else sum_over_ranks

    def total(self, values: np.ndarray) -> np.ndarray:
        """Elementwise sum of a small float64 array over ranks, added in the order of ranks."""
        if self.size == 1:
            return values
        parts = self.gather(np.ascontiguousarray(values, np.float64).tobytes())
        return np.sum([np.frombuffer(part).reshape(np.shape(values)) for part in parts], axis=0)

    def gather(self, data: bytes) -> list[bytes]:
        """Every rank's bytes, in the order of ranks, on every rank."""
        if self.size == 1:
            return [data]
        lengths = [int(x[0]) for x in all_gather(np.array([len(data)], np.int32))]
        if max(lengths) == 0:
            return [b""] * self.size
        padded = np.zeros(max(lengths), np.uint8)
        padded[: len(data)] = np.frombuffer(data, np.uint8)
        return [part[:n].tobytes() for part, n in zip(all_gather(padded), lengths, strict=True)]

    def from_leader(self, data: bytes = b"") -> bytes:
        """The leader's bytes on every rank; what the others give is ignored."""
        return self.gather(data if self.leader else b"")[0]

    def same_start(self, parameters: Sequence[Parameter]) -> None:
        """Give every rank the leader's values, bit for bit."""
        if self.size == 1:
            return
        from mindspore import Tensor, ops

        for p in parameters:
            values = np.frombuffer(self.from_leader(p.asnumpy().tobytes()), p.asnumpy().dtype)
            ops.assign(p, Tensor(values.reshape(p.shape).copy()))  # in place: compiled graphs do not follow set_data


def balance(costs: Sequence[float], size: int) -> list[int]:
    """The rank of each item: the costliest first, each to the rank with the least so far (Graham 1969).

    No rank gets more than 4/3 of the best assignment's largest sum.
    """
    loads, owners = np.zeros(size), [0] * len(costs)
    for i in sorted(range(len(costs)), key=lambda i: -costs[i]):  # stable: equal on all ranks
        owners[i] = int(loads.argmin())
        loads[owners[i]] += costs[i]
    return owners


def sum_over_ranks(tensors: list[Tensor]) -> list[Tensor]:
    """Sum each tensor over all ranks with one collective: the same result, bit for bit, on every rank."""
    from mindspore import Tensor
    from mindspore.mint import distributed as dist

    flat = np.concatenate([t.asnumpy().reshape(-1) for t in tensors])
    total = Tensor(flat)
    dist.all_reduce(total)
    summed = total.asnumpy()
    result, start = [], 0
    for t in tensors:
        result.append(Tensor(summed[start : start + t.size].reshape(t.shape)))
        start += t.size
    return result


def all_gather(values: np.ndarray) -> list[np.ndarray]:
    """The arrays of all ranks, which have one shape and type."""
    from mindspore import Tensor
    from mindspore.communication import get_group_size
    from mindspore.mint import distributed as dist

    parts = [Tensor(np.zeros_like(values)) for _ in range(get_group_size())]
    dist.all_gather(parts, Tensor(values))
    return [part.asnumpy() for part in parts]


def launched_by_msrun() -> bool:
    """msrun sets the role and the number of workers for the processes it starts."""
    return int(os.environ.get("MS_WORKER_NUM", "1")) > 1


def join() -> Ranks:
    """Take part in the job that msrun started; one process alone if there is none."""
    if not launched_by_msrun():
        return Ranks()
    from mindspore.communication import get_group_size, get_rank, init

    init()
    return Ranks(get_rank(), get_group_size())


def local_device(environment: Any = os.environ) -> int:
    """The NPU of this rank on its node; msrun counts them in DEVICE_ID."""
    return int(environment.get("DEVICE_ID", "0"))
