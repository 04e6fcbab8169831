"""RLOO discounted by the segments that follow (CompactionRL without a critic, arXiv 2607.05378).

    A_{g,s} = kappa^(S_g - 1 - s) * (R_g - mean_{h != g} R_h)        kappa = 0.5

The last segment takes the whole advantage, each one before it a factor kappa less: an early segment had less to do with
the outcome.
"""

from __future__ import annotations

import numpy as np

from atrl_ms.algos.returns import Rewards, leave_one_out, totals
from atrl_ms.config import AlgoConfig


def discounted(rewards_G: Rewards, algo: AlgoConfig) -> list[np.ndarray]:
    """Advantages per segment, G arrays (S_g,) float64."""
    values_G = leave_one_out(totals(rewards_G))
    return [
        value * algo.kappa ** np.arange(len(rho_S) - 1, -1, -1, dtype=np.float64)
        for value, rho_S in zip(values_G, rewards_G, strict=True)
    ]
