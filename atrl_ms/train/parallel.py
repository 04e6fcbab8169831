"""Data parallel training: replicated policy, gradients summed over ranks, launched by msrun.

    msrun --worker_num 2 --local_worker_num 2 --join True script.py

Weights inside a batch already carry the global normaliser, so ranks add up like micro-batches. The scheduler process
runs the script too, up to `join`: keep everything before it free of side effects.

Only collectives that the CPU back end has are used: barrier, all_reduce, broadcast.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from mindspore import Parameter, Tensor

HEARTBEAT_SECONDS = 1.0
DEAD_AFTER_SECONDS = 20.0


@dataclass(frozen=True)
class Ranks:
    """Where this process stands among all."""

    rank: int = 0
    size: int = 1

    @property
    def leader(self) -> bool:
        """The one that writes files and shows progress."""
        return self.rank == 0

    def share(self, items: Sequence[Any]) -> list[Any]:
        """This rank's part of a list: every size-th item."""
        return list(items[self.rank :: self.size])

    def reducer(self) -> Callable[[list[Tensor]], list[Tensor]] | None:
        """What `Learner(reduce=...)` takes; None for one process."""
        return None if self.size == 1 else sum_over_ranks

    def total(self, values: np.ndarray) -> np.ndarray:
        """Elementwise sum of a small array over ranks, in float64 precision of its float32 halves."""
        if self.size == 1:
            return values
        # The back end adds float32; a high and a low part keep counts above 2^24 exact.
        exact = np.asarray(values, np.float64)
        high = exact.astype(np.float32)
        low = (exact - high).astype(np.float32)
        parts = sum_over_ranks([Tensor(np.stack([high.reshape(-1), low.reshape(-1)]))])[0].asnumpy()
        return (parts[0].astype(np.float64) + parts[1]).reshape(exact.shape)

    def same_start(self, parameters: Sequence[Parameter]) -> None:
        """Give every rank the leader's parameters."""
        if self.size == 1:
            return
        for p in parameters:
            # A sum in which only the leader contributes: exact, and broadcast on CPU wants a tuple per tensor.
            mine = p if self.leader else Tensor(np.zeros(p.shape, np.float32))
            p.set_data(sum_over_ranks([Tensor(mine.asnumpy())])[0])


def sum_over_ranks(tensors: list[Tensor]) -> list[Tensor]:
    """Sum each tensor over all ranks with one collective: the same result, bit for bit, on every rank."""
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


class Watch:
    """Ends this rank when another one dies: a collective would wait for it for ever.

    Every rank touches a file each second in a directory that all ranks see; a file that grows old means a dead rank.
    Use as a context manager around training: an error in it marks this rank as failed, so that the others stop at once.
    """

    def __init__(self, ranks: Ranks, directory: str | Path, dead_after: float = DEAD_AFTER_SECONDS):
        self.ranks, self.directory, self.dead_after = ranks, Path(directory), dead_after
        self.finished = threading.Event()

    def file(self, rank: int, kind: str = "alive") -> Path:
        return self.directory / f"rank_{rank}.{kind}"

    def __enter__(self) -> Watch:
        if self.ranks.size > 1:
            self.directory.mkdir(parents=True, exist_ok=True)
            for kind in ("failed", "done"):
                self.file(self.ranks.rank, kind).unlink(missing_ok=True)
            self.file(self.ranks.rank).touch()
            threading.Thread(target=self.run, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finished.set()
        if self.ranks.size > 1:
            text = "" if error is None else f"{type(error).__name__}: {error}"
            self.file(self.ranks.rank, "done" if error is None else "failed").write_text(text)

    def run(self) -> None:
        started = time.time()
        while not self.finished.wait(HEARTBEAT_SECONDS):
            self.file(self.ranks.rank).touch()
            fault = self.fault(started)
            if fault:
                print(f"rank {self.ranks.rank}: {fault}; ending this rank, the job cannot go on", file=sys.stderr)
                sys.stderr.flush()
                # A thread stuck in a collective cannot be interrupted.
                os._exit(3)

    def fault(self, started: float) -> str:
        """What is wrong with another rank, '' if nothing."""
        for other in range(self.ranks.size):
            if other == self.ranks.rank or self.file(other, "done").exists():
                continue
            failed = self.file(other, "failed")
            if failed.exists() and failed.stat().st_mtime >= started - 1:
                return f"rank {other} failed ({failed.read_text()})"
            try:
                last = self.file(other).stat().st_mtime
            except OSError:
                last = started
            silent = time.time() - max(last, started)
            if silent > self.dead_after:
                return f"rank {other} died: no sign of life for {silent:.0f} s"
        return ""

