"""Sessions with credit to padded micro-batches of a few fixed shapes.

Position t of every array refers to token t of its segment, as predicted from the tokens before it. One segment a row;
a segment keeps its own context, which is never trained. There are two shapes only, for segments up to half the window
and up to the whole: a jitted step is compiled, and keeps its buffers, for each shape.

Dimension letters: B rows, T tokens of a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from atrl_ms.algos.advantages import Credit
from atrl_ms.algos.aggregation import count_trained, token_weights
from atrl_ms.config import AlgoConfig
from atrl_ms.train.learner import B_BUCKETS, T_BUCKETS, bucket


@dataclass
class MicroBatch:
    """What one pass of the loss needs. Padding has weight 0."""

    token_ids: np.ndarray  # (B, T) int32
    weights: np.ndarray  # (B, T) float32, weight of the token's loss in the optimizer step; 0 where nothing is trained
    advantages: np.ndarray  # (B, T) float32
    rollout_logp: np.ndarray  # (B, T) float32, log mu
    old_logp: np.ndarray  # (B, T) float32, log pi_old; filled by the first update on the batch
    ref_logp: np.ndarray  # (B, T) float32, log pi_ref; filled when the KL term is on
    rows: list[tuple[int, int]]  # (credit, segment) of each row; padding rows have none

    def columns(self) -> dict[str, np.ndarray]:
        """The arrays under the names that the learner uses."""
        return {
            "ids": self.token_ids,
            "weight": self.weights,
            "adv": self.advantages,
            "old_logp": self.old_logp,
            "mu_logp": self.rollout_logp,
            "ref_logp": self.ref_logp,
        }


def micro_batch_shapes(window: int, token_budget: int) -> list[tuple[int, int]]:
    """The shapes (B, T) of a run, shortest first; every batch is padded to one of them."""
    lengths = sorted({bucket(-(-window // 2), T_BUCKETS), bucket(window, T_BUCKETS)})
    return [(max((b for b in B_BUCKETS if b * t <= token_budget), default=1), t) for t in lengths]


def make_micro_batches(
    credits: Sequence[Credit],
    algo: AlgoConfig,
    token_budget: int,
    window: int,
    pad_id: int,
    counts: np.ndarray | None = None,
) -> list[MicroBatch]:
    """Pack every segment with a trained token, longest first, into micro-batches of at most `token_budget` tokens.

    Args:
        window: the longest segment that can occur.
        counts: `count_trained` summed over all ranks; of `credits` alone if None.

    A row that alone exceeds the budget gets a micro-batch of its own.
    """
    shapes = micro_batch_shapes(window, token_budget)
    trained = [credit.trained for credit in credits]
    weights = token_weights(trained, count_trained(trained) if counts is None else counts, algo)
    rows = [(g, s) for g, rollout in enumerate(trained) for s, trained_T in enumerate(rollout) if trained_T.any()]
    rows.sort(key=lambda row: -used_length(trained[row[0]][row[1]]))  # stable: the same order for the same sessions
    batches = []
    while rows:
        longest = used_length(trained[rows[0][0]][rows[0][1]])
        shape = next(shape for shape in shapes if longest <= shape[1])
        chunk, rows = rows[: shape[0]], rows[shape[0] :]
        batches.append(pack(credits, weights, chunk, shape, pad_id))
    return batches


def used_length(trained_T: np.ndarray) -> int:
    """Tokens up to the last trained one: what follows it cannot influence the loss."""
    return int(np.flatnonzero(trained_T)[-1]) + 1


def pack(
    credits: Sequence[Credit],
    weights: list[list[np.ndarray]],
    rows: list[tuple[int, int]],
    shape: tuple[int, int],
    pad_id: int,
) -> MicroBatch:
    """Copy the rows into arrays of shape (B, T)."""
    batch = MicroBatch(
        token_ids=np.full(shape, pad_id, np.int32),
        weights=np.zeros(shape, np.float32),
        advantages=np.zeros(shape, np.float32),
        rollout_logp=np.zeros(shape, np.float32),
        old_logp=np.zeros(shape, np.float32),
        ref_logp=np.zeros(shape, np.float32),
        rows=rows,
    )
    for b, (g, s) in enumerate(rows):
        segment = credits[g].session.segments[s]
        n = used_length(credits[g].trained[s])
        batch.token_ids[b, :n] = segment.token_ids[:n]
        batch.weights[b, :n] = weights[g][s][:n]
        batch.advantages[b, :n] = credits[g].advantages[s][:n]
        batch.rollout_logp[b, :n] = segment.logprobs[:n]
    return batch
