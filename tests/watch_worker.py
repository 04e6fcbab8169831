"""Run by test_watch.py: a rank that holds only the watch. DIRECTORY RANK SIZE WHAT."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from atrl_ms.train.parallel import Ranks
from atrl_ms.train.watch import Watch

DEAD_AFTER = 3.0


@dataclass(frozen=True)
class FileRanks(Ranks):
    """Ranks whose collective goes through files: the real one needs MindSpore in every process."""

    directory: str = ""
    calls: tuple[list[int], ...] = ([],)

    def gather(self, data: bytes) -> list[bytes]:
        number = len(self.calls[0])
        self.calls[0].append(number)
        path = Path(self.directory)
        temporary = path / f"tmp_{self.rank}"
        temporary.write_bytes(data)
        temporary.rename(path / f"{number}_{self.rank}")
        wanted = [path / f"{number}_{r}" for r in range(self.size)]
        while not all(p.exists() for p in wanted):
            time.sleep(0.005)
        return [p.read_bytes() for p in wanted]


def main() -> None:
    """`WHAT` happens on the last rank but for "leader ...", the others wait for ever."""
    directory, rank, size, what = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    ranks = FileRanks(rank, size, directory)
    victim = 0 if what.startswith("leader") else size - 1
    with Watch(ranks, dead_after=DEAD_AFTER):
        ranks.gather(b"")
        if what == "nothing":
            time.sleep(0.3 * rank)  # ranks need not end together
            return
        if rank == victim:
            if "kill" in what:
                os.kill(os.getpid(), signal.SIGKILL)
            if "stop" in what:
                os.kill(os.getpid(), signal.SIGSTOP)
            raise ValueError("out of\nmemory")
        time.sleep(600)  # a collective that the victim never joins


if __name__ == "__main__":
    main()
