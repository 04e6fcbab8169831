"""Speed of the sandbox, measured side by side in one run.

    python scripts/bench_sandbox.py [--count 120] [--baseline 12] [--workers 2] [--parts ac]

(a) evaluations per second: the pool, against one process per evaluation with triton-ascend's interpreter, over the
    built-in suite with honest and broken candidates. The baseline does less: no compiler, no hidden values, no walls.
(b) native against interpreter time per kernel: `python scripts/bench_native.py`
(c) median and 95th percentile of a warm `verify` of honest suite kernels through all stages, one at a time

The pool's candidates are all different (a comment is enough to miss its verdict cache); the compile cache works as in
training, where kernels repeat. `--cold` starts with an empty compile cache.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median, quantiles

import numpy as np
from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from atrl_ms.train.demos.templates import render
from atrl_ms.train.demos.writer import menu
from atrl_ms.types import Task
from sandbox.options import Options
from sandbox.pool import SandboxPool
from sandbox.suite import load_suite

# A judge without pool and native code: import everything, run both models, compare with the usual allclose.
BASELINE = """
import importlib.util, sys, torch
task = {}
exec(compile(open(sys.argv[1]).read(), "task", "exec"), task)
spec = importlib.util.spec_from_file_location("candidate", sys.argv[2])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
torch.manual_seed(0)
groups = task["get_input_groups"]() if "get_input_groups" in task else [task["get_inputs"]()]
with torch.no_grad():
    torch.manual_seed(0)
    reference = task["Model"](*task["get_init_inputs"]())
    torch.manual_seed(0)
    model = module.ModelNew(*task["get_init_inputs"]())
    for inputs in groups:
        torch.testing.assert_close(model(*inputs), reference(*inputs), atol=1e-2, rtol=1e-2)
"""


def candidates(count: int, seed: int, honest: bool) -> list[tuple[Task, str]]:
    """Suite tasks with candidates from the templates: honest ones only, or honest and broken ones as a learner does."""
    rng = np.random.default_rng(seed)
    tasks = [t for t in load_suite() if not t.held_out]
    found = []
    while len(found) < count:
        task = tasks[int(rng.integers(len(tasks)))]
        drafts = [d for d in menu(task, rng) if not (honest and d.faults)]
        found.append((task, render(task, drafts[int(rng.integers(len(drafts)))])))
    return found


def run_baseline(items: list[tuple[Task, str]], workers: int, limit: float) -> tuple[float, int]:
    """(evaluations per second, how many were cut off at `limit` seconds)."""
    env = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    cut = 0

    def one(item: tuple[Task, str]) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / name for name in ("judge.py", "task.py", "candidate.py")]
            for file, text in zip(files, (BASELINE, item[0].source, item[1]), strict=True):
                file.write_text(text)
            try:
                command = [sys.executable, *map(str, files)]
                subprocess.run(command, env=env, capture_output=True, timeout=limit, check=False)
            except subprocess.TimeoutExpired:
                return True
        return False

    begin = time.monotonic()
    with ThreadPoolExecutor(workers) as threads:
        cut = sum(tqdm(threads.map(one, items), total=len(items), desc="one process each"))
    return len(items) / (time.monotonic() - begin), cut


def run_pool(pool: SandboxPool, items: list[tuple[Task, str]]) -> tuple[float, dict[str, int]]:
    verdicts: dict[str, int] = {}
    begin = time.monotonic()
    futures = [pool.submit(task, f"{text}\n# {i}\n") for i, (task, text) in enumerate(items)]
    for future in tqdm(futures, desc="pool"):
        verdict = future.result().verdict
        verdicts[verdict] = verdicts.get(verdict, 0) + 1
    return len(items) / (time.monotonic() - begin), verdicts


def cpu_seconds() -> float:
    """Processor time of this process and everything below it, children that ended included."""
    parents, ticks = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            parents[int(entry.name)], ticks[int(entry.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    total, queue = 0, [os.getpid()]
    while queue:
        pid = queue.pop()
        total += ticks.get(pid, 0)
        queue += [child for child, parent in parents.items() if parent == pid]
    return total / os.sysconf("SC_CLK_TCK")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=120, help="evaluations of the pool")
    parser.add_argument("--baseline", type=int, default=12, help="evaluations of the baseline (slow)")
    parser.add_argument(
        "--limit", type=float, default=120.0, help="seconds after which a baseline evaluation is cut off"
    )
    parser.add_argument("--warm", type=int, default=20, help="evaluations for the latency")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cold", action="store_true", help="start with an empty compile cache")
    parser.add_argument("--parts", default="ac", help="which of (a) and (c) to measure (default: %(default)s)")
    args = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {args.workers} workers")
    with tempfile.TemporaryDirectory() as cold:
        if args.cold:
            os.environ["ATRL_CACHE"] = cold
        with SandboxPool(Options(), workers=args.workers) as pool:
            pool.start()
            if "a" in args.parts:
                mixed = candidates(args.count, seed=1, honest=False)
                first, _ = run_pool(pool, mixed)
                second, verdicts = run_pool(pool, [(task, text + "\n# again") for task, text in mixed])
            if "c" in args.parts:
                latency(pool, candidates(args.warm, seed=2, honest=True))
    if "a" in args.parts:
        slow, cut = run_baseline(mixed[: args.baseline], args.workers, args.limit)
        print(f"(a) pool {second:.2f} evaluations/s ({first:.2f} when kernels were new), verdicts {verdicts}")
        print(f"    one process each {slow:.3f} evaluations/s, {cut} cut off at {args.limit:.0f} s")
        print(f"    the pool is {second / slow:.0f} x as fast")
    return 0


def latency(pool: SandboxPool, warm: list[tuple[Task, str]]) -> None:
    """(c): every candidate once to fill the compile cache, then again, one at a time."""
    for task, text in warm:
        pool.submit(task, text).result()
    latencies = []
    processor = cpu_seconds()
    for task, text in tqdm(warm, desc="warm"):
        latencies.append(pool.submit(task, text + "\n# warm\n").result().details["seconds"])
    processor = (cpu_seconds() - processor) / len(warm)
    print(f"(c) warm verify: median {median(latencies):.2f} s, 95th percentile {quantiles(latencies, n=20)[-1]:.2f} s")
    print(f"    processor time of all its processes: {processor:.2f} s a verify (what a busy machine stretches less)")


if __name__ == "__main__":
    sys.exit(main())
