"""How much policy gradients scatter over repeated steps at the same parameters: what estimators are compared by."""

from __future__ import annotations

import numpy as np


def gradient_spread(products: np.ndarray, times: np.ndarray | None = None) -> tuple[float, float]:
    """Variance of R gradients, and the variance over the squared norm of their mean ("noise").

    Both are unbiased estimates but for the quotient: the variance is the trace of the covariance, the squared norm of
    the mean is the mean inner product of different steps. Noise does not change when all gradients are scaled; it is
    infinite when no mean can be told from zero.

    Args:
        products: (R, R) inner products of the gradients.
        times: (R,) how often each step counts, for bootstrap resamples; a step paired with itself is no pair.

    Raises:
        ValueError: fewer than two different steps.
    """
    times = np.ones(len(products)) if times is None else np.asarray(times, np.float64)
    if np.count_nonzero(times) < 2:
        raise ValueError("the variance needs gradients of at least two steps")
    pairs = np.outer(times, times)
    np.fill_diagonal(pairs, 0.0)
    mean_square = float((pairs * products).sum() / pairs.sum())
    variance = float(times @ np.diag(products) / times.sum()) - mean_square
    return variance, variance / mean_square if mean_square > 0 else float("inf")
