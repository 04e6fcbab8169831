"""What a step's record in metrics.jsonl says about times, groups, tokens and the loss."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from atrl_ms.algos.advantages import Credit, GroupCredit
from atrl_ms.algos.losses import STATISTICS


class Clock:
    """Seconds by phase."""

    def __init__(self) -> None:
        self.last, self.seconds = time.monotonic(), {}  # type: float, dict[str, float]

    def lap(self, name: str) -> None:
        now = time.monotonic()
        self.seconds[name], self.last = now - self.last, now


def describe(values: np.ndarray) -> dict[str, float]:
    return {
        "mean": float(values.mean()),
        "std": float(values.std()),
        "min": float(values.min()),
        "max": float(values.max()),
    }


def describe_groups(credited: Sequence[GroupCredit], useful: Sequence[GroupCredit]) -> dict[str, Any]:
    returns = np.concatenate([group.returns for group in credited])
    return {
        "groups": {"sampled": len(credited), "trained": len(useful)},
        "return": describe(returns) if len(returns) else {},
    }


def describe_staleness(credits: Sequence[Credit], updates: int) -> dict[str, float]:
    """How many optimizer updates the trained tokens' versions lie behind the weights that are trained."""
    ages = [
        updates - segment.versions[trained_T]
        for credit in credits
        for segment, trained_T in zip(credit.session.segments, credit.trained, strict=True)
    ]
    age_T = np.concatenate(ages) if ages else np.zeros(0)
    return {"mean": float(age_T.mean()), "max": int(age_T.max())} if len(age_T) else {"mean": 0.0, "max": 0}


def describe_loss(sums: np.ndarray) -> dict[str, float]:
    """Means over the tokens in the loss from the sums of `PolicyLoss`; the loss itself is a sum."""
    named = dict(zip(STATISTICS, sums.tolist(), strict=True))
    tokens = max(1.0, named.pop("tokens"))
    loss = named.pop("loss")
    return {"loss": loss, **{name: value / tokens for name, value in named.items()}}
