"""RLOO: leave-one-out baseline (Kool et al. 2019; Ahmadian et al., arXiv 2402.14740).

    A_g = R_g - mean_{h != g} R_h

Unbiased (the baseline does not depend on rollout g) and without a division by the standard deviation, which would
weigh groups with little spread most. The same value for every token of every segment.
"""

from __future__ import annotations

import numpy as np

from atrl_ms.algos.returns import Rewards, broadcast, leave_one_out, totals
from atrl_ms.config import AlgoConfig


def rloo(rewards_G: Rewards, algo: AlgoConfig) -> list[np.ndarray]:
    """Advantages per segment, G arrays (S_g,) float64."""
    return broadcast(leave_one_out(totals(rewards_G)), rewards_G)
