"""The contracts through which the rooms meet. numpy only: no framework may be imported here.

Dimension letters used in comments: T tokens of one segment, G sessions of one group, S segments of one session.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Literal, Protocol

import numpy as np

Verdict = Literal[
    "pass",
    "cheat",
    "static_error",
    "compile_error",
    "runtime_error",
    "wrong_output",
    "timeout",
    "crash",
    "infrastructure_error",
]
VERDICTS: tuple[str, ...] = Verdict.__args__  # type: ignore[attr-defined]


# ---------------------------------------------------------------- tasks and verdicts


@dataclass(frozen=True)
class Task:
    """One problem: a KernelBench-style source with `Model`, `get_inputs` or `get_input_groups`, `get_init_inputs`.

    `directory` is where files beside the task (JSON Lines of input groups) are read from; None for a task in memory.
    `family` names the operator, `held_out` says that no demonstration and no training step may use the task.
    """

    name: str
    source: str
    family: str = ""
    held_out: bool = False
    directory: str | None = None


@dataclass(frozen=True)
class Stage:
    """One stage of the cascade, in the order it ran: static, record, compile, execute, profile."""

    name: str
    ok: bool
    seconds: float
    detail: str = ""


@dataclass(frozen=True)
class Speedup:
    """Eager reference time divided by kernel time. Measured and modelled numbers are never mixed."""

    value: float
    kind: Literal["measured", "modelled"]


@dataclass(frozen=True)
class StepFeedback:
    """What the sandbox says of one candidate.

    Attributes:
        score: cascaded reward u in [0, 1] (docs/algorithms: reward ladder).
        feedback: the text a model reads.
        details: facts for reports (compiler version, executor, kernels compiled, compiler errors, profile ...);
            JSON-serialisable; nothing is decided from it.
    """

    verdict: Verdict
    stages: tuple[Stage, ...]
    cases_passed: int
    cases_total: int
    score: float
    speedup: Speedup | None
    feedback: str
    details: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The JSON contract of `atrl verify --json`."""
        return {
            "verdict": self.verdict,
            "stages": [
                {"name": s.name, "ok": s.ok, "seconds": round(s.seconds, 4), "detail": s.detail} for s in self.stages
            ],
            "cases_passed": self.cases_passed,
            "cases_total": self.cases_total,
            "score": self.score,
            "speedup": None if self.speedup is None else {"value": self.speedup.value, "kind": self.speedup.kind},
            "feedback": self.feedback,
            "details": self.details,
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> StepFeedback:
        """Inverse of `to_json` (used by the sandbox service's client and by session replay)."""
        speedup = data.get("speedup")
        return StepFeedback(
            verdict=data["verdict"],
            stages=tuple(Stage(s["name"], s["ok"], s["seconds"], s.get("detail", "")) for s in data["stages"]),
            cases_passed=data["cases_passed"],
            cases_total=data["cases_total"],
            score=data["score"],
            speedup=None if speedup is None else Speedup(speedup["value"], speedup["kind"]),
            feedback=data["feedback"],
            details=data.get("details", {}),
        )


class Judge(Protocol):
    """A sandbox, local or remote. Infrastructure faults come back as verdict `infrastructure_error`."""

    async def verify(self, task: Task, candidate: str, *, seed: int = 0) -> StepFeedback: ...


# ---------------------------------------------------------------- token in, token out


@dataclass(frozen=True)
class SampleRequest:
    """One completion to sample. `session_id` lets the engine keep a KV cache between the turns of a session."""

    prompt_ids: Sequence[int]
    max_new_tokens: int
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    stop_ids: tuple[int, ...] = ()
    seed: int = 0
    session_id: str = ""


@dataclass(frozen=True)
class Sample:
    """A completion. The stop token is the last token when `finish_reason` is "stop".

    `logprobs` are log-probabilities of the sampled tokens under the policy's distribution at temperature
    `SampleRequest.temperature` before top-p / top-k truncation; one per token.
    """

    token_ids: list[int]
    logprobs: list[float]
    finish_reason: Literal["stop", "length"]
    policy_version: int


class RolloutEngine(Protocol):
    """Token ids in, token ids out; the engine batches whatever requests wait."""

    async def generate(self, request: SampleRequest) -> Sample: ...


class Tokenizer(Protocol):
    """Text to ids and back. `decode(encode(s)) == s` for every text without special tokens."""

    vocab_size: int
    eos_id: int  # ends an assistant turn
    pad_id: int

    def encode(self, text: str) -> list[int]: ...

    def decode(self, ids: Sequence[int]) -> str: ...

    def special(self, name: str) -> int:
        """Id of a special token: "system", "user", "assistant", "end" ..."""
        ...


# ---------------------------------------------------------------- sessions


class TokenKind(IntEnum):
    """What a token is: context or observation (never trained), an action, or a compaction summary."""

    OBS = 0
    ACT = 1
    SUM = 2


@dataclass
class Segment:
    """A stretch of a session in which every prompt is a token extension of the one before.

    The first `context_len` tokens are the frozen context (system, task, knowledge, resume text, kept steps);
    the rest is the stream of sampled and observed tokens.
    """

    token_ids: np.ndarray  # (T,) int32
    context_len: int
    mask: np.ndarray  # (T,) bool, True where the policy sampled the token
    logprobs: np.ndarray  # (T,) float32 of the rollout engine, 0 where mask is False
    kinds: np.ndarray  # (T,) uint8, TokenKind
    turns: np.ndarray  # (T,) int32, turn index within the session, -1 in the context
    versions: np.ndarray  # (T,) int32, policy version that sampled the token, -1 where mask is False
    ended_by: str = ""  # "compaction", or the session's finish reason


@dataclass
class Evaluation:
    """One call of the sandbox in a session: where it happened, what it said, which kernel it was about."""

    segment: int
    turn: int
    score: float
    verdict: str
    candidate: str
    feedback: StepFeedback | None = None


@dataclass
class Compaction:
    """One compaction: the context before and after, and whether the model's notes were valid."""

    segment: int  # index of the segment that it ended
    turn: int
    tokens_before: int
    tokens_after: int
    notes_valid: bool
    strategy: str
    resume_text: str = ""


Finish = Literal[
    "solved", "submitted", "max_turns", "max_tokens", "max_seconds", "max_compactions", "window", "infrastructure"
]


@dataclass
class Session:
    """One rollout: a chain of segments with the evaluations that happened in it."""

    task: str
    seed: int
    window: int
    segments: list[Segment] = field(default_factory=list)  # S
    evaluations: list[Evaluation] = field(default_factory=list)
    compactions: list[Compaction] = field(default_factory=list)
    finish: Finish = "max_turns"
    best_candidate: str = ""
    best_verdict: str = ""
    seconds: float = 0.0

    @property
    def reward(self) -> float:
        """R_g = Phi(end): the best score of any evaluation, 0 if there was none."""
        return max((e.score for e in self.evaluations), default=0.0)

    @property
    def solved(self) -> bool:
        return any(e.verdict == "pass" for e in self.evaluations)

    @property
    def hit_budget(self) -> bool:
        return self.finish in ("max_turns", "max_tokens", "max_seconds", "max_compactions", "window")

    def segment_rewards(self) -> np.ndarray:
        """rho (S,) float64: rise of the potential Phi within each segment; sums to `reward`."""
        rho_S = np.zeros(len(self.segments))
        phi = 0.0
        for event in self.evaluations:
            rho_S[event.segment] += max(0.0, event.score - phi)
            phi = max(phi, event.score)
        return rho_S


@dataclass
class Group:
    """G sessions of one task, the unit over which advantages are estimated."""

    task: str
    sessions: list[Session]  # G
