"""Scores of kernels on a set of tasks: pass@k, rates, fast_p, geometric mean of speedups, with bootstrap intervals.

Every measure is a ratio of sums over tasks, so one bootstrap over tasks serves them all. Letters: T tasks, M measures,
R resamples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from atrl_ms.evaluate.metrics import LEVEL, RESAMPLES, Interval

FAST_P = (0.5, 0.8, 1.0, 1.2, 1.5, 2.0)
BLOCK = 1000  # resamples computed together: bounds memory at BLOCK x T


@dataclass(frozen=True)
class Scored:
    """One judged sample of one task. `speedup` is None unless the sample is correct and its speed is known."""

    task: str
    compiled: bool
    correct: bool
    speedup: float | None = None


def pass_at_k(n: int, c: int, k: int) -> float:
    """Unbiased estimate of the chance that one of k samples passes, from c passes among n (Chen et al. 2021).

    1 - C(n - c, k) / C(n, k), for 1 <= k <= n.
    """
    if not 1 <= k <= n or not 0 <= c <= n:
        raise ValueError(f"pass@{k} from {c} of {n}")
    return 1.0 - math.comb(n - c, k) / math.comb(n, k)


@dataclass(frozen=True)
class Measure:
    """A ratio of sums over tasks. `terms` maps a task's samples to (numerator, denominator); (0, 0) leaves it out."""

    name: str
    terms: Callable[[Sequence[Scored]], tuple[float, float]]
    geometric: bool = False  # numerators are logarithms, the ratio is exponentiated
    speed: bool = False  # depends on times, so it is measured or modelled


def share(of: Callable[[Scored], bool]) -> Callable[[Sequence[Scored]], tuple[float, float]]:
    """Terms of a mean over tasks of the share of samples for which `of` holds."""
    return lambda samples: (sum(map(of, samples)) / len(samples), 1.0)


def at_k(k: int) -> Callable[[Sequence[Scored]], tuple[float, float]]:
    """Terms of pass@k; tasks with fewer than k samples are left out."""

    def terms(samples: Sequence[Scored]) -> tuple[float, float]:
        n = len(samples)
        return (pass_at_k(n, sum(s.correct for s in samples), k), 1.0) if n >= k else (0.0, 0.0)

    return terms


def log_speedups(samples: Sequence[Scored]) -> tuple[float, float]:
    """Terms of the geometric mean over correct samples whose speed is known."""
    logs = [math.log(s.speedup) for s in samples if s.correct and s.speedup is not None]
    return math.fsum(logs), float(len(logs))


def measures(ks: Sequence[int]) -> list[Measure]:
    """All measures, in the order of the tables."""

    def faster(p: float) -> Callable[[Scored], bool]:
        return lambda s: s.correct and s.speedup is not None and s.speedup > p

    return [
        Measure("compile rate", share(lambda s: s.compiled)),
        Measure("correct rate", share(lambda s: s.correct)),
        *(Measure(f"pass@{k}", at_k(k)) for k in sorted(set(ks))),
        *(Measure(f"fast_{p:g}", share(faster(p)), speed=True) for p in FAST_P),
        Measure("geometric mean speedup", log_speedups, geometric=True, speed=True),
    ]


def by_task(samples: Sequence[Scored]) -> dict[str, list[Scored]]:
    """Samples of each task, tasks in order of name."""
    found: dict[str, list[Scored]] = {}
    for sample in sorted(samples, key=lambda s: s.task):
        found.setdefault(sample.task, []).append(sample)
    return found


def table(groups: Sequence[Sequence[Scored]], wanted: Sequence[Measure]) -> np.ndarray:
    """Numerators and denominators (T, M, 2) of the samples of T tasks."""
    return np.array([[m.terms(samples) for m in wanted] for samples in groups], np.float64).reshape(-1, len(wanted), 2)


def ratios(sums: np.ndarray, geometric: np.ndarray) -> np.ndarray:
    """(..., M, 2) sums to (..., M) values, NaN where the denominator is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        value = sums[..., 0] / sums[..., 1]
        return np.where(geometric, np.exp(value), value)


def resample(tables: Sequence[np.ndarray], geometric: np.ndarray, seed: int) -> list[np.ndarray]:
    """Values (R, M) of each table under the same resamples of the T tasks, drawn with replacement."""
    tasks = len(tables[0])
    rng = np.random.default_rng(seed)
    found: list[list[np.ndarray]] = [[] for _ in tables]
    for begin in range(0, RESAMPLES, BLOCK):
        size = min(BLOCK, RESAMPLES - begin)
        times = rng.multinomial(tasks, np.full(tasks, 1 / tasks), size=size)  # (size, T)
        for rows, values in zip(found, tables, strict=True):
            rows.append(ratios(np.tensordot(times, values, axes=(1, 0)), geometric))
    return [np.concatenate(rows) for rows in found]


def interval(point: float, spread: np.ndarray) -> Interval | None:
    """Percentile interval of the finite resamples; None where the measure is undefined (no correct sample)."""
    finite = spread[np.isfinite(spread)]
    if not math.isfinite(point) or not len(finite):
        return None
    low, high = np.quantile(finite, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
    return Interval(float(point), float(low), float(high))


def score(samples: Sequence[Scored], ks: Sequence[int], seed: int = 0) -> dict[str, Interval | None]:
    """Every measure over the samples of a set of tasks. Tasks are resampled, with all their samples.

    Raises:
        ValueError: no sample.
    """
    if not samples:
        raise ValueError("no sample to score")
    wanted = measures(ks)
    geometric = np.array([m.geometric for m in wanted])
    values = table(list(by_task(samples).values()), wanted)
    point = ratios(values.sum(0), geometric)
    (spread,) = resample([values], geometric, seed)
    return {m.name: interval(point[i], spread[:, i]) for i, m in enumerate(wanted)}


@dataclass(frozen=True)
class Difference:
    """One measure on the same tasks under two policies; `change` is b - a, or b / a of geometric means."""

    a: float | None
    b: float | None
    change: Interval | None
    ratio: bool


def compare(
    first: Sequence[Scored], second: Sequence[Scored], ks: Sequence[int], seed: int = 0
) -> dict[str, Difference]:
    """Paired differences on the tasks that both have; a resample draws the same tasks for both.

    Geometric means are compared on tasks with a correct, timed sample on both sides: otherwise the one that solves
    more of the hard tasks would look slower.

    Raises:
        ValueError: no task in common.
    """
    left, right = by_task(first), by_task(second)
    shared = [task for task in left if task in right]
    if not shared:
        raise ValueError("the two have no task in common")
    wanted = measures(ks)
    geometric = np.array([m.geometric for m in wanted])
    tables = [table([side[task] for task in shared], wanted) for side in (left, right)]
    for i in np.flatnonzero(geometric):
        for values in tables:  # per task its own mean, so that a task counts once on both sides
            np.divide(values[:, i, 0], values[:, i, 1], out=values[:, i, 0], where=values[:, i, 1] > 0)
        both = (tables[0][:, i, 1] > 0) & (tables[1][:, i, 1] > 0)
        for values in tables:
            values[:, i] = np.where(both[:, None], np.stack([values[:, i, 0], np.ones(len(shared))], -1), 0.0)
    points = [ratios(values.sum(0), geometric) for values in tables]
    spreads = resample(tables, geometric, seed)
    found = {}
    for i, measure in enumerate(wanted):
        a, b = (float(p[i]) for p in points)
        x, y = (s[:, i] for s in spreads)
        change = interval(b / a, y / x) if measure.geometric else interval(b - a, y - x)
        known = [v if math.isfinite(v) else None for v in (a, b)]
        found[measure.name] = Difference(known[0], known[1], change, measure.geometric)
    return found
