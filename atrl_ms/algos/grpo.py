"""GRPO: group-relative advantage (Shao et al., DeepSeekMath, arXiv 2402.03300, section 4.1). The baseline.

    A_g = (R_g - mean(R)) / std(R)        population standard deviation over the G rollouts of the group

The same value for every token of every segment of rollout g. Statistics count rollouts, never segments: with R = (1, 0)
and segments K = (3, 1) the mean is 0.5; counting segments would give 0.75 and push the shorter rollout down harder.
"""

from __future__ import annotations

import numpy as np

from atrl_ms.algos.returns import NO_VARIANCE, Rewards, broadcast, totals
from atrl_ms.config import AlgoConfig


def grpo(rewards_G: Rewards, algo: AlgoConfig) -> list[np.ndarray]:
    """Advantages per segment, G arrays (S_g,) float64; zeros for a group whose returns do not differ."""
    returns_G = totals(rewards_G)
    centred_G = returns_G - returns_G.mean()
    if np.ptp(returns_G) <= NO_VARIANCE:
        return broadcast(np.zeros_like(returns_G), rewards_G)
    return broadcast(centred_G / returns_G.std(), rewards_G)
