"""Soak test of the sandbox: many evaluations, a quarter of them vandals; every one gets a verdict and nothing stays.

    python scripts/soak_sandbox.py --count 1000 [--workers 2]

Vandals crash, hang, hog memory, fork and fill the disk. Ends with 1 if an evaluation had no proper verdict, a process
or file stayed, or the pool got slower than 90 % of its first speed (honest evaluations, first against last tenth).
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from verify_cases import CASES

from atrl_ms.types import Task
from sandbox.options import Options
from sandbox.pool import SandboxPool

VANDALS = ("kill_self", "endless_forward", "memory_hog_slow", "fork_bomb", "disk_filler", "recursion", "exit_at_import")
MIN_SPEED = 0.9


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    cases = {case[0]: case for case in CASES}
    honest = [case for case in CASES if case[1] == ("pass",)]
    before = snapshot()
    verdicts: Counter[str] = Counter()
    faults: list[str] = []
    speed: list[float] = []
    with SandboxPool(Options(timeout=4.0, execution=1.0, cache_verdicts=0), workers=args.workers) as pool:
        pool.start()
        speed.append(probe(pool, honest, args.count // 10))
        bar = tqdm(total=args.count, unit="evaluation")
        futures = []
        for i in range(args.count):
            name, allowed, task, candidate = cases[rng.choice(VANDALS)] if rng.random() < 0.25 else rng.choice(honest)
            future = pool.submit(Task(name, task), f"{candidate}\n# {i}\n")
            future.add_done_callback(lambda _: bar.update())
            futures.append((name, allowed, future))
        for name, allowed, future in futures:
            result = future.result()
            verdicts[result.verdict] += 1
            if result.verdict not in (*allowed, "timeout"):
                faults.append(f"{name}: {result.verdict}: {result.feedback[:200]}")
        bar.close()
        speed.append(probe(pool, honest, args.count // 10))
        restarts = pool.restarts
    time.sleep(1.0)
    left = sorted(snapshot() - before)
    print(f"verdicts {dict(verdicts)}, worker restarts {restarts}")
    print(f"honest evaluations a second: {speed[0]:.2f} before, {speed[1]:.2f} after")
    for text in [*faults[:10], *(f"left behind: {item}" for item in left[:10])]:
        print(text)
    slow = speed[1] < MIN_SPEED * speed[0]
    print(f"{len(faults)} wrong verdicts, {len(left)} things left behind{', slower than at the start' if slow else ''}")
    return 1 if faults or left or slow else 0


def probe(pool: SandboxPool, honest: list, count: int) -> float:
    """Honest evaluations per second, compiled kernels already in the cache."""
    count = max(count, len(honest))
    for case in honest:
        pool.submit(Task(case[0], case[2]), case[3] + "\n# warm\n").result()
    begin = time.monotonic()
    jobs = [honest[i % len(honest)] for i in range(count)]
    for future in [pool.submit(Task(c[0], c[2]), f"{c[3]}\n# probe {i} {begin}\n") for i, c in enumerate(jobs)]:
        future.result()
    return count / (time.monotonic() - begin)


def snapshot() -> set[str]:
    """Sandbox processes, and files in the temporary directory, that exist now."""
    found = {f"file {p}" for p in Path(tempfile.gettempdir()).iterdir() if p.name.startswith("atrl-")}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if b"sandbox.worker" in command or b"sandbox.zygote" in command:
                found.add(f"process {entry.name}")
    return found


if __name__ == "__main__":
    sys.exit(main())
