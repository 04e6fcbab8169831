"""Sampling from logits: temperature, top-k, top-p, one uniform number per row.

A row's result depends on its own logits and its own uniform number only, so a request gives the same tokens whatever
else is in the batch. Dimension letters: B rows, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from atrl_ms.types import SampleRequest


def check_request(request: SampleRequest) -> None:
    """ValueError for settings that no distribution corresponds to."""
    if not len(request.prompt_ids):
        raise ValueError("a request needs at least one prompt token")
    if request.max_new_tokens < 1:
        raise ValueError(f"max_new_tokens is {request.max_new_tokens}; it must be at least 1")
    if not request.temperature >= 0 or not 0 < request.top_p <= 1 or request.top_k < 0:
        raise ValueError(
            f"temperature {request.temperature}, top_p {request.top_p}, top_k {request.top_k}: "
            "need temperature >= 0, 0 < top_p <= 1, top_k >= 0"
        )


def sample(
    logits_BV: np.ndarray, requests: Sequence[SampleRequest], uniforms_B: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Token ids (B,) int64 and their log-probabilities (B,) float32.

    Log-probabilities are those at the request's temperature, before truncation. Temperature 0 takes the most likely
    token and reports its log-probability at temperature 1 (at 0 every choice would have probability 1).
    """
    temperature_B = np.array([r.temperature for r in requests], np.float32)
    greedy_B = temperature_B == 0
    scaled = logits_BV / np.where(greedy_B, 1.0, temperature_B)[:, None].astype(np.float32)
    scaled -= scaled.max(1, keepdims=True)
    probs = np.exp(scaled)
    total_B1 = probs.sum(1, keepdims=True)
    log_total_B1 = np.log(total_B1)
    probs /= total_B1
    ids_B = np.empty(len(requests), np.int64)
    plain = [b for b, r in enumerate(requests) if r.temperature > 0 and r.top_p >= 1 and r.top_k == 0]
    if plain:
        cumulative = np.cumsum(probs[plain], axis=1, dtype=np.float64)
        target = uniforms_B[plain] * cumulative[:, -1]
        ids_B[plain] = np.minimum((cumulative <= target[:, None]).sum(1), logits_BV.shape[1] - 1)
    for b, request in enumerate(requests):
        if greedy_B[b]:
            ids_B[b] = int(np.argmax(logits_BV[b]))
        elif request.top_p < 1 or request.top_k > 0:
            ids_B[b] = truncated_draw(probs[b], request.top_p, request.top_k, float(uniforms_B[b]))
    rows = np.arange(len(requests))
    logprobs_B = scaled[rows, ids_B] - log_total_B1[:, 0]
    return ids_B, logprobs_B.astype(np.float32)


def truncated_draw(probs_V: np.ndarray, top_p: float, top_k: int, uniform: float) -> int:
    """Draw among the top_k most likely tokens, of those the smallest set whose mass reaches top_p."""
    order = np.argsort(-probs_V, kind="stable")
    if top_k > 0:
        order = order[:top_k]
    mass = probs_V[order].astype(np.float64)
    mass /= mass.sum()
    cumulative = np.cumsum(mass)
    # A token stays while the mass before it is below top_p: the first one always does.
    keep = max(1, int((cumulative - mass < top_p).sum()))
    cumulative = cumulative[:keep]
    return int(order[min(int((cumulative <= uniform * cumulative[-1]).sum()), keep - 1)])
