"""Tree-OPO for kernels: sessions branch at evaluation or compaction boundaries of other sessions.

An agent session's state is explicit (context, files), and it is a function of its task, the replies so far and the
judge's answers. So a session is continued from a boundary by running the same session code with the recorded replies
and verdicts first and fresh ones from there on: nothing of the agent is copied or patched.

Node paths: the task is the root; boundary k of session g is the node (task, "g.1", ..., "g.k"). A session that was
played from the start belongs to the root, a branch to its boundary. Only what a branch sampled itself is trained; its
reward is R_g of the whole session, so deep boundaries are the easy prefixes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from agent.session import call_seed
from atrl_ms.algos.sae_edges import NodePath
from atrl_ms.types import (
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

    A request is recognised by its seed, which follows from the session's seed and the number of the call: two calls may
    well have the same prompt, and a session that is repeated after a sandbox fault asks for the same calls again.
    """

    inner: RolloutEngine
    known: dict[tuple[int, str], Call] = field(default_factory=dict)  # (seed, session id) of a request -> its answer

    def continue_from(self, branch: Branch, session_seed: int) -> None:
        """Let the session that is played with `session_seed` repeat the branch's calls."""
        for k, call in enumerate(calls_of(branch.origin)[: branch.kept]):
            self.known[call_seed(session_seed, k), f"{branch.origin.task}:{session_seed}"] = call

    async def generate(self, request: SampleRequest) -> Sample:
        call = self.known.get((request.seed, request.session_id))
        if call is None or call.prompt != tuple(request.prompt_ids):
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
