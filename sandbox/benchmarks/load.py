"""Benchmarks by name: found in a directory of the user's, fitted to this machine in worker processes. No torch here."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from atrl_ms.config import TasksConfig
from atrl_ms.errors import UserError
from sandbox.benchmarks.entry import NO_KERNEL_GIVEN, Entry
from sandbox.benchmarks.kernelbench import akg_lite, folder_of_tasks, kernelbench, multikernelbench
from sandbox.benchmarks.npukernelbench import npukernelbench
from sandbox.benchmarks.results import FitLog
from sandbox.benchmarks.select import narrow

LOADERS: dict[str, tuple[str, Callable[[Path], list[Entry]]]] = {
    "kernelbench": ("KernelBench", kernelbench),
    "npukernelbench_a": ("NPUKernelBench set (a), AscendC tasks", npukernelbench),
    "npukernelbench_b": ("NPUKernelBench set (b), MultiKernelBench", lambda root: multikernelbench(root, set_b=True)),
    "multikernelbench": ("MultiKernelBench", lambda root: multikernelbench(root, set_b=False)),
    "akg_lite": ("akg_kernels_bench_lite", akg_lite),
}


def describe(config: TasksConfig) -> str:
    """The set's name as it stands beside every number."""
    if config.suite != "builtin":
        return LOADERS[config.suite][0] if config.suite in LOADERS else f"tasks of {config.suite}"
    part = {"held_out": "held-out variants", "train": "training variants", "all": "all variants"}[config.split]
    return f"built-in suite, {part}"


def find_benchmark(name: str, root: str | Path) -> list[Entry]:
    """All tasks of a benchmark as they lie on disk; what cannot be read carries the reason.

    Args:
        name: a key of LOADERS, or a directory of KernelBench-style files.

    Raises:
        UserError: no such benchmark, or not in that directory.
    """
    if name not in LOADERS:
        if Path(name).is_dir():
            return folder_of_tasks(Path(name))
        raise UserError(f"no benchmark {name!r} and no such directory; known: builtin, {', '.join(LOADERS)}")
    if not root or not Path(root).is_dir():
        given = str(root) or "nothing"
        raise UserError(f"{name}: needs the directory of its clone (tasks.root or --root), got {given}")
    return LOADERS[name][1](Path(root))


class FitProcess:
    """One worker process; started again when it ends."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def ask(self, entry: Entry, limits: dict[str, Any]) -> Entry:
        if self.process is None:
            env = {**os.environ, "OMP_NUM_THREADS": "1", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "HF_HUB_OFFLINE": "1"}
            root = str(Path(__file__).resolve().parent.parent.parent)
            env["PYTHONPATH"] = os.pathsep.join(p for p in (root, os.environ.get("PYTHONPATH", "")) if p)
            command = [sys.executable, "-m", "sandbox.benchmarks.worker"]
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=env, start_new_session=True
            )
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps({"entry": entry.to_json(), "limits": limits}) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            self.close()
            raise UserError("a worker process that prepares tasks ended; is there memory left on this machine?")
        return Entry.from_json(json.loads(answer))

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def fit_all(
    entries: Sequence[Entry],
    limits: dict[str, Any],
    *,
    workers: int,
    on_done: Callable[[Entry], None] | None = None,
    log: FitLog | None = None,
) -> list[Entry]:
    """Fit all entries, `workers` at a time, in the order given; those that `log` knows are not fitted again.

    Args:
        limits: fields of `fit.FitLimits`.

    Raises:
        UserError: the machine cannot run the workers.
    """
    results: list[Entry | None] = [None] * len(entries)
    done = on_done or (lambda _: None)
    faults: list[BaseException] = []
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for i, entry in enumerate(entries):
        known = entry if entry.skip else log.find(entry) if log else None
        if known is None:
            waiting.put(i)
        else:
            results[i] = known
            done(known)

    def serve() -> None:
        process = FitProcess()
        try:
            while not faults:
                try:
                    i = waiting.get_nowait()
                except queue.Empty:
                    return
                fitted = results[i] = process.ask(entries[i], limits)
                if log is not None:
                    log.add(entries[i], fitted)
                done(fitted)
        except BaseException as error:
            faults.append(error)
        finally:
            process.close()

    threads = [threading.Thread(target=serve, daemon=True) for _ in range(max(1, min(workers, waiting.qsize())))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    return [entry for entry in results if entry is not None]


def fitted_entries(
    config: TasksConfig,
    *,
    workers: int,
    progress: bool,
    on_done: Callable[[Entry], None] | None = None,
    results: Path | None = None,
    wanted: Callable[[Sequence[Entry]], set[str]] | None = None,
) -> list[Entry]:
    """The benchmark that `tasks.*` names, narrowed and fitted.

    Args:
        on_done: sees each entry as it is ready.
        results: a file that keeps what was fitted, so that a second call does only the rest.
        wanted: names of the tasks that there is a kernel for; the others are not fitted.
    """
    from tqdm import tqdm

    entries = narrow(find_benchmark(config.suite, config.root), config)
    if wanted is not None:
        names = wanted(entries)
        entries = [e if e.skip or e.name in names else replace(e.excluded(NO_KERNEL_GIVEN), rows=()) for e in entries]
    limits = {"max_elements": config.max_elements, "max_cases": config.max_cases, "seconds": config.fit_seconds}
    log = FitLog(results, limits) if results else None
    with (
        contextlib.closing(log) if log else contextlib.nullcontext(),
        tqdm(total=len(entries), desc="preparing tasks", unit="task", disable=not progress) as bar,
    ):

        def advance(entry: Entry) -> None:
            if on_done is not None:
                on_done(entry)
            bar.update()

        return fit_all(entries, limits, workers=workers, on_done=advance, log=log)


def check_line(entry: Entry) -> str:
    """What the check says of one task."""
    if not entry.skip:
        return f"{'ok':<13}{entry.name}: {entry.cases}, {entry.elements} elements"
    state = "task_invalid" if is_degenerate(entry) else "excluded"
    return f"{state:<13}{entry.name}: {entry.skip.removeprefix('task_invalid: ')}"


def is_degenerate(entry: Entry) -> bool:
    """It runs here, but a trivial answer would pass."""
    return entry.skip.startswith("task_invalid")


def count_lines(entries: Sequence[Entry]) -> list[str]:
    """The counts of each level and of all."""
    levels = sorted({e.level for e in entries})
    lines = [f"level {n}: {counts([e for e in entries if e.level == n])}" for n in levels if len(levels) > 1]
    return [*lines, counts(entries)]


def counts(entries: Sequence[Entry]) -> str:
    """How many were read, run here, may be used."""
    states = Counter("invalid" if is_degenerate(e) else "out" if e.skip else "ok" for e in entries)
    runnable = states["ok"] + states["invalid"]
    return (
        f"{len(entries)} tasks read, {runnable} runnable here ({states['invalid']} of them task_invalid), "
        f"{states['out']} excluded with a reason; {states['ok']} may be used"
    )
