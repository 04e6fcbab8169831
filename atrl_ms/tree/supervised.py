"""Supervised training on step traces: the warm start of student and teacher, and the SFT baseline.

The loss is the mean cross-entropy over completion tokens (steps, answer line, end token); prompts are read only.
Dimension letters: B rows, T tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from atrl_ms.train.learner import T_BUCKETS, Learner, bucket
from atrl_ms.types import Tokenizer

Pair = tuple[list[int], list[int]]  # ids of the prompt (or prefix) and of the completion, end token included


def solution_pair(prompt: str, solution: str, tokenizer: Tokenizer) -> Pair:
    """Ids of a prompt and of its whole solution."""
    return tokenizer.encode(prompt), [*tokenizer.encode(solution), tokenizer.eos_id]


def pad_pairs(pairs: Sequence[Pair], pad_id: int) -> tuple[np.ndarray, np.ndarray]:
    """(B, T) ids and (B, T) bool mask of completion tokens."""
    length = max(len(p) + len(c) for p, c in pairs)
    ids = np.full((len(pairs), length), pad_id, np.int32)
    mask = np.zeros(ids.shape, bool)
    for row, (prompt, completion) in enumerate(pairs):
        end = len(prompt) + len(completion)
        ids[row, :end] = [*prompt, *completion]
        mask[row, len(prompt) : end] = True
    return ids, mask


def fine_tune(
    learner: Learner,
    pairs: Sequence[Pair],
    *,
    steps: int,
    batch: int,
    lr: float,
    warmup: int,
    pad_id: int,
    seed: int,
    schedule: int | None = None,
    on_step: Callable[[int, float], None] = lambda step, loss: None,
) -> int:
    """`steps` updates on epochs of shuffled pairs; returns tokens trained on.

    The rate falls on a cosine to a tenth of `lr` at step `schedule` (default: the last step).
    """
    rng = np.random.default_rng(seed)
    order: list[int] = []
    tokens = 0
    for step in range(1, steps + 1):
        while len(order) < batch:
            order.extend(rng.permutation(len(pairs)).tolist())
        chosen, order = order[:batch], order[batch:]
        ids, mask = pad_pairs([pairs[k] for k in chosen], pad_id)
        bucket(ids.shape[1], T_BUCKETS)  # raises before any work when a pair is too long
        rate = lr * min(1.0, step / max(1, warmup)) * (0.55 + 0.45 * math.cos(math.pi * step / (schedule or steps)))
        loss = learner.sft_step(ids, (mask / mask.sum()).astype(np.float32), rate)["loss"]
        tokens += int(mask.sum())
        on_step(step, loss)
    return tokens
