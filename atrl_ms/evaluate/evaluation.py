"""`atrl eval`: every sample of every task is written, judged and put on disk at once; a restart does only the rest.

tasks.json            the tasks as they are judged, and what is left out, with reasons
samples.jsonl         one line per finished sample
sessions/samples.jsonl  sessions of models
scores.json, scores.csv, samples.csv, report.html
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atrl_ms.config import Config
from atrl_ms.errors import UserError
from atrl_ms.evaluate.sessions import session_to_json
from atrl_ms.evaluate.writers import InfrastructureFault, Writer, Written, open_writer, tasks_with_kernels
from atrl_ms.judges import Pool, open_pool
from atrl_ms.train.rollouts import derive_seed
from atrl_ms.train.run_dir import RunDir, write_atomically
from atrl_ms.types import StepFeedback
from sandbox.benchmarks.entry import NO_KERNEL_GIVEN, Entry, materialise
from sandbox.benchmarks.select import builtin_entries, narrow

WRITE, JUDGE = 3, 4  # purposes of seeds (rollouts.TRAIN and EVALUATE are 1 and 2)
ATTEMPTS = 3  # of a sample that meets an infrastructure fault
NO_KERNEL = "no_kernel"  # the verdict of a sample

Record = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One sample to write and judge."""

    entry: Entry
    sample: int


# ---------------------------------------------------------------- tasks


def find_entries(config: Config, run: RunDir, progress: bool) -> list[Entry]:
    """Tasks of the run, fitted to this machine; those that cannot be used carry the reason.

    Raises:
        UserError: no such set, or nothing in it.
    """
    if config.tasks.suite == "builtin":
        return narrow(builtin_entries(config.tasks), config.tasks)
    from sandbox.benchmarks.load import fitted_entries

    wanted = None
    if config.eval.policy == "kernels" and config.eval.missing == "skip":
        wanted = functools.partial(tasks_with_kernels, config.eval.kernels)
    return fitted_entries(
        config.tasks,
        workers=config.sandbox.workers,
        progress=progress,
        results=run.path / "prepared.jsonl",  # a kill while tasks are prepared loses at most one
        wanted=wanted,
    )


def stored_entries(run: RunDir, find: Callable[[], list[Entry]]) -> list[Entry]:
    """The tasks of a run: from its directory, or found now and stored, so that a restart judges the very same."""
    file = run.path / "tasks.json"
    if file.is_file():
        entries = [Entry.from_json(data) for data in json.loads(file.read_text())]
    else:
        entries = find()
        write_atomically(file, json.dumps([entry.to_json() for entry in entries], indent=1) + "\n")
    return [materialise(entry, run.path / "task_files") for entry in entries]


# ---------------------------------------------------------------- finished samples


class SampleLog:
    """samples.jsonl: appended one whole line at a time; the last record of a sample counts."""

    def __init__(self, path: Path) -> None:
        """Open for appending; a line cut off by a kill is removed."""
        self.path = path
        self.records: dict[tuple[str, int], Record] = {}
        data = path.read_bytes() if path.is_file() else b""
        whole = data[: data.rfind(b"\n") + 1]
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                record = json.loads(line)
                self.records[record["task"], record["sample"]] = record
            except (ValueError, KeyError, TypeError) as error:
                raise UserError(f"{path}:{number}: not a sample record ({error!r}); remove the line") from error
        if len(whole) < len(data):
            os.truncate(path, len(whole))
        self.file = path.open("ab")

    def append(self, record: Record) -> None:
        self.records[record["task"], record["sample"]] = record
        append_line(self.file, record)

    def finished(self, entry: Entry, sample: int) -> bool:
        """Faults of the machine are not a result: such a sample is done again."""
        record = self.records.get((entry.name, sample))
        return record is not None and record["verdict"] != "infrastructure_error"

    def close(self) -> None:
        self.file.close()


def append_line(file: Any, record: Record) -> None:
    """One write, flushed to disk: a kill leaves a whole line or a piece without its end."""
    file.write(json.dumps(record, separators=(",", ":")).encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())


def to_record(job: Job, seed: int, written: Written, feedback: StepFeedback | None, seconds: float) -> Record:
    """What is kept of a sample. Nothing but `seconds` depends on the course of the run."""
    record: Record = {
        "task": job.entry.name,
        "sample": job.sample,
        "seed": seed,
        "kernel": written.kernel,
        "verdict": NO_KERNEL,
        "compiled": False,
        "score": 0.0,
        "speedup": None,
        "cases_passed": 0,
        "cases_total": 0,
        "feedback": "no kernel was written",
        "executor": "",
        "compiler": "",
        "facts": written.facts,
        "seconds": round(seconds, 3),
    }
    if feedback is not None:
        data = feedback.to_json()
        record |= {k: data[k] for k in ("verdict", "score", "speedup", "cases_passed", "cases_total", "feedback")}
        record["compiled"] = any(stage.name == "compile" and stage.ok for stage in feedback.stages)
        record |= {k: str(feedback.details.get(k, "")) for k in ("executor", "compiler")}
    return record


# ---------------------------------------------------------------- the run


class Evaluation:
    """One evaluation in a run directory. `run()` can be called again after any kind of end."""

    def __init__(self, config: Config, run: RunDir, progress: bool = True) -> None:
        self.config, self.run_dir, self.progress = config, run, progress

    def run(self) -> tuple[list[Entry], list[Record], str]:
        """Finish all samples.

        Returns:
            Tasks in order, the records in order of task and sample, and the writer's label.

        Raises:
            UserError: something the user must change; finished samples stay.
        """
        entries = stored_entries(self.run_dir, lambda: find_entries(self.config, self.run_dir, self.progress))
        usable = [entry for entry in entries if not entry.skip]
        if not usable:
            reasons = sorted({entry.skip for entry in entries} - {NO_KERNEL_GIVEN})[:3]
            raise UserError(f"no task can be used: {'; '.join(reasons) or 'the set is empty'}")
        log = SampleLog(self.run_dir.path / "samples.jsonl")
        try:
            with open_pool(self.config, tolerance=self.config.eval.tolerance) as judge:
                label = asyncio.run(self._finish(usable, log, judge))
        finally:
            log.close()
        order = {entry.name: i for i, entry in enumerate(entries)}
        records = sorted(log.records.values(), key=lambda r: (order[r["task"]], r["sample"]))
        return entries, records, label

    async def _finish(self, entries: Sequence[Entry], log: SampleLog, judge: Pool) -> str:
        from tqdm import tqdm

        # A machine that cannot judge says so here, before any task could be blamed.
        await asyncio.get_running_loop().run_in_executor(None, judge.start)
        async with open_writer(self.config, entries, judge) as writer:
            jobs = [Job(entry, i) for entry in entries for i in writer.samples(entry)]
            rest = [job for job in jobs if not log.finished(job.entry, job.sample)]
            total, done = len(jobs), len(jobs) - len(rest)
            with (
                tqdm(total=total, initial=done, desc="evaluation", unit="sample", disable=not self.progress) as bar,
                (self.run_dir.sessions / "samples.jsonl").open("ab") as sessions,
            ):
                places = asyncio.Semaphore(self._places())

                async def one(job: Job) -> None:
                    async with places:
                        record, written = await self._sample(job, writer, judge)
                    if written.session is not None:
                        tokenizer = getattr(writer, "tokenizer", None)
                        session = session_to_json(written.session, tokenizer)
                        append_line(sessions, {"sample": job.sample, **session})
                    log.append(record)
                    bar.update()

                with cancelled_at_exit([asyncio.ensure_future(one(job)) for job in rest]) as running:
                    await asyncio.gather(*running)
            unmatched = getattr(writer, "unmatched", [])
            write_atomically(self.run_dir.path / "unmatched.json", json.dumps(unmatched) + "\n")
            return writer.label

    def _places(self) -> int:
        if self.config.eval.concurrent:
            return self.config.eval.concurrent
        ready = self.config.eval.policy in ("kernels", "identity")
        return 2 * self.config.sandbox.workers if ready else self.config.engine.max_batch

    async def _sample(self, job: Job, writer: Writer, judge: Pool) -> tuple[Record, Written]:
        """Write and judge one sample; seeds follow from the run's seed, the task's name and the sample alone."""
        begin, key = time.monotonic(), zlib.crc32(job.entry.name.encode())
        seed = derive_seed(self.config.seed, WRITE, key, job.sample)
        hidden = derive_seed(self.config.seed, JUDGE, key)  # inputs that no session has seen, the same for every policy
        written, feedback = Written(""), None
        for _ in range(ATTEMPTS):
            try:
                written = await writer.write(job.entry, job.sample, seed)
            except InfrastructureFault:
                feedback = StepFeedback("infrastructure_error", (), 0, 0, 0.0, None, "the sandbox failed", {})
                continue
            except UserError as error:
                if not str(error).startswith(f"{job.entry.name}:"):
                    raise  # the endpoint or the settings, not this task
                written, feedback = Written("", facts={"error": str(error)}), None
                break
            if not written.kernel:
                feedback = None
                break
            feedback = await judge.verify(job.entry.task, written.kernel, seed=hidden)
            if feedback.verdict != "infrastructure_error":
                break
        return to_record(job, seed, written, feedback, time.monotonic() - begin), written


@contextlib.contextmanager
def cancelled_at_exit(tasks: list[asyncio.Future[None]]) -> Iterator[list[asyncio.Future[None]]]:
    """An error in one sample stops the others."""
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
