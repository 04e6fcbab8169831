"""Settings of the judge. Plain data: parent processes without torch use it too."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Ladder:
    """The cascaded reward u in [0, 1] (docs/algorithms.md, rewards): later stages only count if earlier ones pass."""

    static: float = 0.05
    compiled: float = 0.15
    correct_share: float = 0.15  # times the fraction of cases passed
    correct: float = 0.40
    slowest: float = 0.5  # speedup that still earns only `correct`
    fastest: float = 3.0  # speedup that earns 1


@dataclass(frozen=True)
class Options:
    """How candidates are judged.

    Attributes:
        timeout: seconds for a whole evaluation.
        execution: seconds that the replay of one case may take on the CPU.
        tolerance: "npu" (the NPU benchmark suites' rule) or "kernelbench" (1e-4 fp32, 1e-2 half).
        feedback_tokens: budget of the feedback text, about 4 characters a token.
        profile: model the speed of candidates that pass ("off", "summary"), "picture" keeps timelines and buffers too.
        unisolated: run without walls; ATRL_UNISOLATED=1 sets it too.
        cache_verdicts: remember verdicts by (task, candidate, seed, options).
    """

    arch: str = "Ascend910B4"
    cann: str = "9.0.0"
    device: Literal["auto", "cpu", "npu"] = "auto"
    timeout: float = 20.0
    execution: float = 4.0
    tolerance: Literal["npu", "kernelbench"] = "npu"
    hidden_shapes: bool = True
    feedback_tokens: int = 160
    profile: Literal["off", "summary", "picture"] = "summary"
    memory: int = 3 << 30
    scratch: int = 64 << 20
    unisolated: bool = field(default_factory=lambda: os.environ.get("ATRL_UNISOLATED") == "1")
    hide: tuple[str, ...] = ()  # walls to treat as absent, for tests and diagnosis
    cache_verdicts: int = 4096
    ladder: Ladder = field(default_factory=Ladder)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Options:
        return Options(**{**data, "ladder": Ladder(**data["ladder"]), "hide": tuple(data["hide"])})
