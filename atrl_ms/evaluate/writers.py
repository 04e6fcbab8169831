"""Who writes the kernels that are evaluated: a checkpoint, a model behind an endpoint, a directory, or nobody."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from atrl_ms.config import Config
from atrl_ms.errors import UserError
from atrl_ms.types import Judge, Session
from sandbox.benchmarks.entry import Entry

KEY_VARIABLE = "ATRL_API_KEY"


@dataclass(frozen=True)
class Written:
    """A kernel to judge, and the session that led to it; `kernel` "" if none was written."""

    kernel: str
    session: Session | None = None
    facts: dict[str, Any] = field(default_factory=dict)


class InfrastructureFault(Exception):
    """The sandbox failed during a session: the sample is not finished and is tried again."""


class Writer(Protocol):
    """Writes sample `sample` of a task. `label` names it in reports."""

    label: str

    def samples(self, entry: Entry) -> Sequence[int]: ...

    async def write(self, entry: Entry, sample: int, seed: int) -> Written: ...


# ---------------------------------------------------------------- ready kernels


def plain(text: str) -> str:
    """A name without what file systems and habits change: case, separators, zeros in front of numbers."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", re.sub(r"[^0-9a-z]+", "_", text.lower()).strip("_"))


SAMPLE = re.compile(r"^(?P<name>.+?)(?:(?:[._-]sample[_-]?|\.)(?P<index>\d+))?(?:[._-]kernel)?$")


class ReadyKernels:
    """One file per task, or per task and sample: `NAME.py`, `NAME.1.py`, `NAME_sample_1.py`; folders or "_" for "/".

    NAME is the task's name or another by which its benchmark knows it (KernelBench: level1/19, 1_19,
    level_1_problem_19, 19_ReLU where that is unique).
    """

    def __init__(self, directory: str | Path, entries: Sequence[Entry], samples: int, missing: str) -> None:
        root = Path(directory)
        if not directory or not root.is_dir():
            raise UserError(f"eval.kernels: {directory or '(not set)'} is not a directory of kernel files")
        self.label = f"ready kernels of {root}"
        self.count, self.missing = samples, missing
        names = known_names(entries)
        self.files: dict[tuple[str, int], Path] = {}
        self.unmatched: list[str] = []
        for path in sorted(root.rglob("*.py")):
            relative = path.relative_to(root)
            found = resolve(str(relative.with_suffix("")), names)
            if found is None:
                self.unmatched.append(str(relative))
            elif found in self.files:
                raise UserError(f"{path}: {self.files[found]} is already sample {found[1]} of {found[0]}; remove one")
            else:
                self.files[found] = path
        if not self.files:
            examples = ", ".join(entry.name for entry in entries[:3])
            raise UserError(
                f"{root}: no file is named after a task ({len(self.unmatched)} others); "
                f"expected for example {examples} with .py, '/' as a folder or '_'"
            )

    def samples(self, entry: Entry) -> Sequence[int]:
        present = sorted(index for name, index in self.files if name == entry.name)[: self.count]
        return present or ([0] if self.missing == "fail" else [])

    async def write(self, entry: Entry, sample: int, seed: int) -> Written:
        path = self.files.get((entry.name, sample))
        if path is None:
            return Written("")
        try:
            return Written(path.read_text(encoding="utf-8"), facts={"file": str(path)})
        except UnicodeDecodeError as error:
            raise UserError(f"{path}: not a text file ({error.reason})") from None


def tasks_with_kernels(directory: str | Path, entries: Sequence[Entry]) -> set[str]:
    """Names of the tasks for which a directory holds a kernel.

    Raises:
        UserError: no such directory, or none.
    """
    return {name for name, _ in ReadyKernels(directory, entries, 1, "skip").files}


def known_names(entries: Sequence[Entry]) -> dict[str, str]:
    """Plain form of every unambiguous name of every task."""
    owners: dict[str, set[str]] = {}
    for entry in entries:
        for name in {entry.name, *entry.aliases, entry.name.rsplit("/", 1)[-1]}:
            owners.setdefault(plain(name), set()).add(entry.name)
    exact = {plain(entry.name): entry.name for entry in entries}
    return {key: min(names) for key, names in owners.items() if len(names) == 1} | exact


def resolve(stem: str, names: dict[str, str]) -> tuple[str, int] | None:
    """(task, sample) of a file's path without suffix. A name that ends in a number wins over a sample number."""
    for candidate in (stem, re.sub(r"[._-]kernel$", "", stem)):
        if plain(candidate) in names:
            return names[plain(candidate)], 0
    match = SAMPLE.match(stem)
    if match and match["index"] is not None and plain(match["name"]) in names:
        return names[plain(match["name"])], int(match["index"])
    return None


# ---------------------------------------------------------------- identity


class Identity:
    """The reference as its own kernel. PyTorch does the work, so an honest judge must call it a cheat."""

    label = "identity (the reference wrapped: verdict cheat by design)"

    def __init__(self, samples: int) -> None:
        self.count = samples

    def samples(self, entry: Entry) -> Sequence[int]:
        return range(self.count)

    async def write(self, entry: Entry, sample: int, seed: int) -> Written:
        return Written(f"{entry.task.source}\n\nclass ModelNew(Model):\n    pass\n")


# ---------------------------------------------------------------- models


def best_kernel(session: Session) -> Written:
    """A session's best kernel, by the score it got there, the later of equals."""
    if session.finish == "infrastructure":
        raise InfrastructureFault("the sandbox failed during the session")
    best = max((e for e in reversed(session.evaluations) if e.candidate), key=lambda e: e.score, default=None)
    facts = {"turns": len({e.turn for e in session.evaluations}), "finish": session.finish}
    return Written(best.candidate if best else "", session, facts)


class Checkpoint:
    """Sessions of a checkpoint, sampled by the native engine."""

    def __init__(self, config: Config, judge: Judge) -> None:
        from agent.knowledge import KnowledgeBase
        from agent.session import Sampling
        from atrl_ms.policy.tokenizer import load_tokenizer
        from atrl_ms.policy.weights import load_checkpoint
        from atrl_ms.rollout.native import NativeEngine

        directory = config.policy.directory
        self.label = f"checkpoint {directory}"
        self.config, self.judge = config, judge
        self.tokenizer = load_tokenizer(directory)
        model, model_config = load_checkpoint(directory)
        window, limit = config.agent.window, model_config.max_position_embeddings
        if window > limit:
            raise UserError(f"agent.window {window} exceeds the policy's {limit} positions")
        self.engine = NativeEngine(model, max_batch=config.engine.max_batch, max_context=window)
        self.sampling = Sampling(config.eval.temperature, config.engine.top_p, config.engine.top_k)
        self.knowledge = KnowledgeBase.load()

    def samples(self, entry: Entry) -> Sequence[int]:
        return range(self.config.eval.samples)

    async def write(self, entry: Entry, sample: int, seed: int) -> Written:
        from agent.session import run_session

        session = await run_session(
            entry.task,
            engine=self.engine,
            tokenizer=self.tokenizer,
            judge=self.judge,
            config=self.config.agent,
            seed=seed,
            sampling=self.sampling,
            knowledge=self.knowledge,
        )
        return best_kernel(session)


class Served:
    """Sessions of a model behind an OpenAI-compatible endpoint."""

    def __init__(self, config: Config, judge: Judge, endpoint: Any) -> None:
        from agent.knowledge import KnowledgeBase
        from agent.session import Sampling

        self.label = f"endpoint {config.eval.url}, model {endpoint.name}"
        self.config, self.judge, self.endpoint = config, judge, endpoint
        self.sampling = Sampling(config.eval.temperature, config.engine.top_p, config.engine.top_k)
        self.knowledge = KnowledgeBase.load()

    def samples(self, entry: Entry) -> Sequence[int]:
        return range(self.config.eval.samples)

    async def write(self, entry: Entry, sample: int, seed: int) -> Written:
        from agent.chat import run_chat_session

        transcript = await run_chat_session(
            entry.task,
            model=self.endpoint,
            judge=self.judge,
            config=self.config.agent,
            seed=seed,
            sampling=self.sampling,
            knowledge=self.knowledge,
        )
        return best_kernel(transcript.session)


@asynccontextmanager
async def open_writer(config: Config, entries: Sequence[Entry], judge: Judge) -> AsyncIterator[Writer]:
    """The writer that `eval.policy` asks for.

    Raises:
        UserError: a checkpoint, endpoint or directory that cannot be used.
    """
    settings = config.eval
    if settings.policy == "kernels":
        yield ReadyKernels(settings.kernels, entries, settings.samples, settings.missing)
    elif settings.policy == "identity":
        yield Identity(settings.samples)
    elif settings.policy == "checkpoint":
        yield Checkpoint(config, judge)
    else:
        from agent.chat import Endpoint

        if not settings.url:
            raise UserError("eval.url: give the address of the endpoint, for example http://localhost:8000/v1")
        async with Endpoint(settings.url, settings.model, os.environ.get(KEY_VARIABLE, "")) as endpoint:
            yield Served(config, judge, endpoint)
