"""ATRL: a mixture of the outcome of the whole rollout and of what each segment earned (Huang 2026). The main method.

    A_{g,s} = (1 - w) * rloo_g + w * togo_{g,s}        w = 0.5

RLOO credits a segment for everything that followed from it but also for what was earned before it; to-go credits it
only with the rest but against fewer rollouts. w = 0 is rloo.py, w = 1 is togo.py.
"""

from __future__ import annotations

import numpy as np

from atrl_ms.algos.returns import Rewards
from atrl_ms.algos.rloo import rloo
from atrl_ms.algos.togo import togo
from atrl_ms.config import AlgoConfig


def atrl(rewards_G: Rewards, algo: AlgoConfig) -> list[np.ndarray]:
    """Advantages per segment, G arrays (S_g,) float64."""
    w = algo.atrl_w
    return [
        (1.0 - w) * outcome_S + w * rest_S
        for outcome_S, rest_S in zip(rloo(rewards_G, algo), togo(rewards_G, algo), strict=True)
    ]
