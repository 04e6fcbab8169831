"""Reward-to-go per segment with a baseline of the rollouts that got as far (the segment half of ATRL, Huang 2026).

    rho_{g,s} = Phi(end of s) - Phi(start of s)                 Phi: best score so far
    Q_{g,s}   = sum_{s' >= s} gamma^(s' - s) rho_{g,s'}
    A_{g,s}   = Q_{g,s} - mean_{h != g, S_h > s} Q_{h,s}

A segment is credited only with what was earned in it or later. With fewer than two other rollouts that reach segment s
the baseline would be one sample or none, so A_{g,s} falls back to RLOO's R_g - mean_{h != g} R_h.
"""

from __future__ import annotations

import numpy as np

from atrl_ms.algos.returns import Rewards, leave_one_out, reward_to_go, totals
from atrl_ms.config import AlgoConfig


def togo(rewards_G: Rewards, algo: AlgoConfig) -> list[np.ndarray]:
    """Advantages per segment, G arrays (S_g,) float64."""
    q_G = [reward_to_go(rho_S, algo.gamma) for rho_S in rewards_G]
    fallback_G = leave_one_out(totals(rewards_G))
    advantages_G = [np.full(len(q_S), fallback) for q_S, fallback in zip(q_G, fallback_G, strict=True)]
    for s in range(max(map(len, q_G))):
        reaching = [g for g, q_S in enumerate(q_G) if len(q_S) > s]
        if len(reaching) < 3:  # fewer than two others
            continue
        for g, value in zip(reaching, leave_one_out(np.array([q_G[g][s] for g in reaching])), strict=True):
            advantages_G[g][s] = value
    return advantages_G
