"""Tree-OPO for kernels: sessions branch at evaluation or compaction boundaries of other sessions.

An agent session's state is explicit (context, files), and it is a function of its task, the replies so far and the
judge's answers. So a session is continued from a boundary by running the same session code with the recorded replies
and verdicts first and fresh ones from there on: nothing of the agent is copied or patched.

Node paths: the task is the root; boundary k of session g is the node (task, "g.1", ..., "g.k"). A session that was
played from the start belongs to the root, a branch to its boundary. Only what a branch sampled itself is trained; its
reward is R_g of the whole session, so deep boundaries are the easy prefixes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from tqdm import tqdm

from atrl_ms.algos.sae_edges import NodePath
from atrl_ms.train.rollouts import TRAIN, Job, derive_seed, play_through_outages
from atrl_ms.tree.staged import StagedGroup
from atrl_ms.tree.trainer import StagedTrainer
from atrl_ms.types import (
    Group,
    Judge,
    RolloutEngine,
    Sample,
    SampleRequest,
    Segment,
    Session,
    StepFeedback,
    Task,
    TokenKind,
)


@dataclass(frozen=True)
class Call:
    """One recorded model call of a session."""

    segment: int
    start: int  # index of its first token in the segment
    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]
    version: int
    boundary: bool  # an evaluation or a compaction follows


def calls_of(session: Session) -> list[Call]:
    """The model calls of a session, in order."""
    evaluated = {(e.segment, e.turn) for e in session.evaluations}
    calls = []
    for s, segment in enumerate(session.segments):
        for start, end in sampled_runs(segment):
            kind, turn = int(segment.kinds[start]), int(segment.turns[start])
            calls.append(
                Call(
                    s,
                    start,
                    tuple(segment.token_ids[:start].tolist()),
                    tuple(segment.token_ids[start:end].tolist()),
                    tuple(segment.logprobs[start:end].tolist()),
                    int(segment.versions[start]),
                    kind == TokenKind.SUM or (s, turn) in evaluated,
                )
            )
    return calls


def sampled_runs(segment: Segment) -> list[tuple[int, int]]:
    """(start, end) of every sampled reply or summary of a segment."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], segment.mask.astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


@dataclass(frozen=True)
class Branch:
    """The place where a session is continued: after `kept` calls of `origin`."""

    origin: Session
    kept: int
    path: NodePath


def boundaries(session: Session, number: int) -> list[Branch]:
    """Where session `number` of its group can be continued: boundaries after which it went on."""
    calls = calls_of(session)
    found: list[Branch] = []
    path: NodePath = (session.task,)
    for k, call in enumerate(calls[:-1]):
        if call.boundary:
            path = (*path, f"{number}.{len(path)}")
            found.append(Branch(session, k + 1, path))
    return found


@dataclass
class BranchingEngine:
    """Answers what a branch's session asks again from the record, everything else from `inner`.

    Args:
        known: session id -> prompt -> recorded call. Looked up by the whole prompt, so a session that is repeated after
            a sandbox fault finds its replies again.
    """

    inner: RolloutEngine
    known: dict[str, dict[tuple[int, ...], Call]] = field(default_factory=dict)

    async def generate(self, request: SampleRequest) -> Sample:
        call = self.known.get(request.session_id, {}).get(tuple(request.prompt_ids))
        if call is None:
            return await self.inner.generate(request)
        stopped = call.tokens[-1] in request.stop_ids
        return Sample(list(call.tokens), list(call.logprobs), "stop" if stopped else "length", call.version)


@dataclass
class RecordedJudge:
    """Gives the recorded feedback for kernels that were judged before, asks `inner` for the others."""

    inner: Judge
    known: dict[tuple[str, str], StepFeedback] = field(default_factory=dict)

    def remember(self, session: Session) -> None:
        for event in session.evaluations:
            if event.feedback is not None:
                self.known[session.task, event.candidate] = event.feedback

    async def verify(self, task: Task, candidate: str, *, seed: int = 0) -> StepFeedback:
        feedback = self.known.get((task.name, candidate))
        return feedback if feedback is not None else await self.inner.verify(task, candidate, seed=seed)


def freeze(session: Session, branch: Branch) -> Session:
    """Take the repeated calls of a branch out of what is trained (they are the origin's tokens).

    Raises:
        RuntimeError: the session did not repeat the recorded calls, so it is no continuation of the boundary.
    """
    recorded, played = calls_of(branch.origin)[: branch.kept], calls_of(session)[: branch.kept]
    if len(played) < len(recorded) and session.finish != "infrastructure":
        raise RuntimeError(f"{session.task}: a branch ended before its boundary ({session.finish})")
    for old, new in zip(recorded, played, strict=False):
        if (old.prompt, old.tokens) != (new.prompt, new.tokens):
            raise RuntimeError(
                f"a branch of {session.task} left its record at segment {new.segment}, token {new.start}"
            )
        session.segments[new.segment].mask[new.start : new.start + len(new.tokens)] = False
    return session


class BranchTrainer(StagedTrainer):
    """The common loop; a group is `root_fraction` fresh sessions, the others branch off these."""

    async def play_groups(self, step: int, first: int, tasks: Sequence[Task], bar: tqdm) -> list[Group]:
        config = self.config
        size = config.train.group_size
        roots = min(size, max(1, math.ceil(config.tree.root_fraction * size)))
        arena = self.arena(config.engine.temperature)
        judge = RecordedJudge(arena.judge)
        engine = BranchingEngine(arena.engine)
        arena = replace(arena, engine=engine, judge=judge)

        def seed(group: int, member: int) -> int:
            return derive_seed(config.seed, TRAIN, step, first + group, member)

        async def play(jobs: list[Job], what: str) -> list[Session]:
            bar.set_description(f"step {step}: {len(jobs)} {what}")
            return await play_through_outages(jobs, arena, lambda session: None, config.train.outage_seconds)

        fresh = await play([Job(t, seed(g, m)) for g, t in enumerate(tasks) for m in range(roots)], "sessions")
        for session in fresh:
            judge.remember(session)
        jobs: list[Job] = []
        plans: list[Branch | None] = []
        for g, task in enumerate(tasks):
            origins = fresh[g * roots : (g + 1) * roots]
            places = [b for number, session in enumerate(origins) for b in boundaries(session, number)]
            rng = np.random.default_rng(seed(g, size))
            for member in range(roots, size):
                # Without a boundary (every session ended at its first evaluation) the member starts afresh.
                branch = places[rng.integers(len(places))] if places else None
                job = Job(task, seed(g, member))
                if branch is not None:
                    kept = calls_of(branch.origin)[: branch.kept]
                    engine.known[f"{task.name}:{job.seed}"] = {call.prompt: call for call in kept}
                jobs.append(job)
                plans.append(branch)
        played = await play(jobs, "branches") if jobs else []
        branched = [s if b is None else freeze(s, b) for s, b in zip(played, plans, strict=True)]
        groups: list[Group] = []
        rest = size - roots
        for g, task in enumerate(tasks):
            own, own_plans = branched[g * rest : (g + 1) * rest], plans[g * rest : (g + 1) * rest]
            paths: list[NodePath] = [(task.name,)] * roots + [(task.name,) if b is None else b.path for b in own_plans]
            groups.append(StagedGroup(task.name, [*fresh[g * roots : (g + 1) * roots], *own], paths))
        return groups
