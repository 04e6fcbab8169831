"""Rewards of segments and turns, and the group statistics that the estimators share. Pure numpy.

Dimension letters: G rollouts of one group, S segments of one rollout, K turns of one rollout.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from atrl_ms.config import AlgoConfig
from atrl_ms.types import Session, TokenKind

Rewards = Sequence[np.ndarray]  # G arrays (S_g,) or (K_g,) float64 of a group; the sum of each is the return R_g

NO_VARIANCE = 1e-8  # returns closer than this are equal: sums of the same scores in another order differ by rounding


def totals(rewards_G: Rewards) -> np.ndarray:
    """Returns R (G,): the sum of each rollout's rewards."""
    return np.array([rho.sum() for rho in rewards_G], dtype=np.float64)


def broadcast(values_G: np.ndarray, rewards_G: Rewards) -> list[np.ndarray]:
    """One value per rollout, repeated for each of its segments: G arrays (S_g,)."""
    return [np.full(len(rho_S), value) for value, rho_S in zip(values_G, rewards_G, strict=True)]


def leave_one_out(values_G: np.ndarray) -> np.ndarray:
    """x_g - mean_{h != g} x_h (G,), which is G / (G - 1) times the centred value; zeros for a single rollout."""
    count = len(values_G)
    if count < 2:
        return np.zeros_like(values_G)
    return (values_G - values_G.mean()) * (count / (count - 1))


def reward_to_go(rho_S: np.ndarray, gamma: float) -> np.ndarray:
    """Q_s = sum_{s' >= s} gamma^(s' - s) rho_{s'} (S,)."""
    q_S = np.zeros(len(rho_S))
    rest = 0.0
    for s in range(len(rho_S) - 1, -1, -1):
        rest = rho_S[s] + gamma * rest
        q_S[s] = rest
    return q_S


def overlong_penalty(length: int, max_length: int, buffer: int) -> float:
    """DAPO's soft punishment of long rollouts (arXiv 2503.14476, eq. 13), in [-1, 0].

    0 up to `max_length - buffer` tokens, then linear down to -1 at `max_length` and beyond.
    """
    return -min(1.0, max(0.0, (length - (max_length - buffer)) / buffer))


def sampled_tokens(session: Session) -> int:
    """Tokens that the policy sampled in the whole session."""
    return sum(int(segment.mask.sum()) for segment in session.segments)


def session_shaping(session: Session, algo: AlgoConfig) -> float:
    """What is added to a session's return besides its score: the overlong penalty, if it is switched on."""
    if algo.overlong_buffer == 0:
        return 0.0
    return overlong_penalty(sampled_tokens(session), algo.overlong_max_tokens, algo.overlong_buffer)


def segment_rewards(session: Session, algo: AlgoConfig) -> np.ndarray:
    """rho (S,): rise of Phi within each segment; shaping falls on the last one. Sums to the return."""
    rho_S = session.segment_rewards() if session.segments else np.zeros(1)
    rho_S[-1] += session_shaping(session, algo)
    return rho_S


def turn_rewards(session: Session, algo: AlgoConfig) -> np.ndarray:
    """rho (K,): rise of Phi in each turn; shaping falls on the last one. Sums to the return.

    K is one more than the last turn in which the policy acted or a kernel was evaluated.
    """
    acted = [int(g.turns[g.kinds == TokenKind.ACT].max(initial=-1)) for g in session.segments]
    judged = [event.turn for event in session.evaluations]
    rho_K = np.zeros(max([0, *acted, *judged]) + 1)
    phi = 0.0
    for event in session.evaluations:
        rho_K[event.turn] += max(0.0, event.score - phi)
        phi = max(phi, event.score)
    rho_K[-1] += session_shaping(session, algo)
    return rho_K
