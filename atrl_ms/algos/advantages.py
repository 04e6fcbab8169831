"""From a group of sessions to one advantage and one training mask per token: the switch between estimators.

Rules that hold for every estimator:

* A summary takes the advantage of what follows it (the next segment, or its first turn): it cannot affect what was
  earned before. A summary that nothing follows affects nothing and gets 0.
* A session that an infrastructure fault ended leaves the statistics and the loss.
* A session that ran into a budget keeps its return in the statistics; it is in the loss only if some evaluation
  scored above 0. Otherwise the policy would be taught from a text that was cut off before it was finished.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from atrl_ms.algos.atrl import atrl
from atrl_ms.algos.discounted import discounted
from atrl_ms.algos.grpo import grpo
from atrl_ms.algos.returns import NO_VARIANCE, Rewards, segment_rewards, totals, turn_rewards
from atrl_ms.algos.rloo import rloo
from atrl_ms.algos.togo import togo
from atrl_ms.algos.trloo import trloo
from atrl_ms.config import AlgoConfig
from atrl_ms.types import Group, Session, TokenKind

Estimator = Callable[[Rewards, AlgoConfig], list[np.ndarray]]

PER_SEGMENT: dict[str, Estimator] = {
    "grpo": grpo,
    "rloo": rloo,
    "discounted": discounted,
    "togo": togo,
    "atrl": atrl,
}
PER_TURN: dict[str, Estimator] = {"trloo": trloo}


@dataclass
class Credit:
    """One session with what its tokens are worth. The arrays are aligned with `session.segments`."""

    session: Session
    advantages: list[np.ndarray]  # S arrays (T,) float64, 0 where nothing is trained
    trained: list[np.ndarray]  # S arrays (T,) bool, the tokens in the loss

    @property
    def trained_tokens(self) -> int:
        return sum(int(trained_T.sum()) for trained_T in self.trained)


@dataclass
class GroupCredit:
    """The credits of a group, and the returns of the sessions in its statistics."""

    task: str
    credits: list[Credit]  # G, in the order of the group's sessions
    returns: np.ndarray  # (sessions in the statistics,) float64

    @property
    def has_variance(self) -> bool:
        """Whether the group teaches anything: at least two valid sessions whose returns differ."""
        return len(self.returns) >= 2 and bool(np.ptp(self.returns) > NO_VARIANCE)


def group_credit(group: Group, algo: AlgoConfig) -> GroupCredit:
    """Advantages and training masks of a group under `algo.advantage`."""
    per_turn = algo.advantage in PER_TURN
    estimator = PER_TURN[algo.advantage] if per_turn else PER_SEGMENT[algo.advantage]
    rewards_of = turn_rewards if per_turn else segment_rewards
    spread = spread_over_turns if per_turn else spread_over_segments
    rewards_G = [rewards_of(session, algo) for session in group.sessions if is_valid(session)]
    values_G = iter(estimator(rewards_G, algo) if rewards_G else [])
    credits = []
    for session in group.sessions:
        trained = [training_mask(session, s, algo) for s in range(len(session.segments))]
        if is_valid(session):
            spread_S = spread(session, next(values_G))
            advantages = [np.where(t, a, 0.0) for a, t in zip(spread_S, trained, strict=True)]
        else:
            advantages = [np.zeros(len(segment.token_ids)) for segment in session.segments]
        credits.append(Credit(session, advantages, trained))
    return GroupCredit(group.task, credits, totals(rewards_G))


def is_valid(session: Session) -> bool:
    """Whether the session's outcome is the policy's doing."""
    return session.finish != "infrastructure"


def training_mask(session: Session, s: int, algo: AlgoConfig) -> np.ndarray:
    """(T,) bool: the tokens of segment s that are in the loss."""
    segment = session.segments[s]
    in_loss = is_valid(session) and (not session.hit_budget or session.reward > 0.0)
    trained_T = segment.mask.astype(bool) & in_loss
    if not algo.train_summaries:
        trained_T &= segment.kinds != TokenKind.SUM
    return trained_T


def spread_over_segments(session: Session, values_S: np.ndarray) -> list[np.ndarray]:
    """One value per segment to one per token, S arrays (T,); summary tokens take the next segment's."""
    following_S = np.append(values_S[1:], 0.0)
    return [
        np.where(segment.kinds == TokenKind.SUM, following_S[s], values_S[s])
        for s, segment in enumerate(session.segments)
    ]


def spread_over_turns(session: Session, values_K: np.ndarray) -> list[np.ndarray]:
    """One value per turn to one per token, S arrays (T,); summary tokens take that of the next segment's first turn."""
    spread = []
    for s, segment in enumerate(session.segments):
        following = first_turn(session.segments[s + 1].turns) if s + 1 < len(session.segments) else -1
        after_summary = values_K[following] if following >= 0 else 0.0
        per_turn_T = values_K[np.clip(segment.turns, 0, len(values_K) - 1)]
        spread.append(np.where(segment.kinds == TokenKind.SUM, after_summary, per_turn_T))
    return spread


def first_turn(turns_T: np.ndarray) -> int:
    """Index of the first turn that acts in a segment, -1 for none."""
    acting = turns_T[turns_T >= 0]
    return int(acting.min()) if acting.size else -1
