"""TRLOO: turn-level reinforce leave-one-out (Dr. Kernel, arXiv 2602.05885).

    rho_{g,t} = Phi(after turn t) - Phi(before turn t)
    Q_{g,t}   = sum_{t' >= t} gamma^(t' - t) rho_{g,t'}
    A_{g,t}   = Q_{g,t} - mean_{h != g, K_h > t} Q_{h,t}        K_h: turns of rollout h

The estimator of togo.py with turns in place of segments: the rewards given here are those of turns, and advantages.py
spreads the result over turns.
"""

from __future__ import annotations

import numpy as np

from atrl_ms.algos.returns import Rewards
from atrl_ms.algos.togo import togo
from atrl_ms.config import AlgoConfig


def trloo(rewards_G: Rewards, algo: AlgoConfig) -> list[np.ndarray]:
    """Advantages per turn, G arrays (K_g,) float64, from rewards per turn."""
    return togo(rewards_G, algo)
