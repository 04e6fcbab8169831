"""How token losses become one number: as a weight per token, so that micro-batches and ranks simply add.

    L = sum over all tokens of the optimizer step of  weight * token loss

    token-mean           1 / Z                      Z: trained tokens of the whole step, all micro-batches and ranks
    rollout-mean         1 / (N * tokens_g)         N: rollouts; every rollout weighs the same
    seq-mean-token-mean  1 / (M * tokens_s)         M: sequences, one per segment, as in plain GRPO
    constant             1 / (N * length)           a fixed length (Dr. GRPO, arXiv 2503.20783): no bias by length

Rollouts of (10 + 20 + 30) and (40) tokens weigh 0.6 / 0.4 under token-mean and 0.5 / 0.5 under rollout-mean. A mean
over segments gives 0.75 / 0.25, which pays for cutting a rollout into pieces: seq-mean-token-mean is kept as the
baseline that shows this, not as a recommendation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from atrl_ms.config import AlgoConfig

Trained = Sequence[Sequence[np.ndarray]]  # rollouts of segments of (T,) bool


def count_trained(trained: Trained) -> np.ndarray:
    """Trained (tokens, rollouts, segments) of this rank, (3,) int64; sum over ranks before `token_weights`.

    Rollouts and segments without a trained token do not count.
    """
    tokens = [[int(trained_T.sum()) for trained_T in rollout] for rollout in trained]
    return np.array(
        [
            sum(map(sum, tokens)),
            sum(sum(rollout) > 0 for rollout in tokens),
            sum(count > 0 for rollout in tokens for count in rollout),
        ],
        dtype=np.int64,
    )


def token_weights(trained: Trained, counts: np.ndarray, algo: AlgoConfig) -> list[list[np.ndarray]]:
    """Weights aligned with `trained`, (T,) float64 each, 0 outside the mask.

    Args:
        counts: the result of `count_trained`, summed over all ranks.
    """
    total_tokens, rollouts, segments = (max(1, int(n)) for n in counts)
    weights = []
    for rollout in trained:
        rollout_tokens = max(1, sum(int(trained_T.sum()) for trained_T in rollout))
        row = []
        for trained_T in rollout:
            divisor = {
                "token-mean": total_tokens,
                "rollout-mean": rollouts * rollout_tokens,
                "seq-mean-token-mean": segments * max(1, int(trained_T.sum())),
                "constant": rollouts * algo.constant_length,
            }[algo.aggregation]
            row.append(trained_T / divisor)
        weights.append(row)
    return weights
