"""What sessions amount to: rates, counts of verdicts and compiler errors, and intervals. Pure numpy and scipy."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from atrl_ms.types import Session, TokenKind

LEVEL = 0.95  # of every interval
RESAMPLES = 10_000


@dataclass(frozen=True)
class Interval:
    """An estimate with a two-sided 95 % interval."""

    value: float
    low: float
    high: float

    def to_json(self) -> dict[str, float]:
        return {"value": self.value, "low": self.low, "high": self.high}


def wilson(successes: int, trials: int) -> Interval:
    """Wilson's score interval of a proportion (Wilson 1927); (0, 0, 1) without trials."""
    if trials == 0:
        return Interval(0.0, 0.0, 1.0)
    z = float(stats.norm.ppf(0.5 + LEVEL / 2))
    p = successes / trials
    centre = (p + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * np.sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials))
    return Interval(p, max(0.0, float(centre - half)), min(1.0, float(centre + half)))


def mean_interval(values: Sequence[float]) -> Interval:
    """Mean with Student's t interval, for few independent values such as seeds."""
    x = np.asarray(values, np.float64)
    mean = float(x.mean())
    if len(x) < 2 or np.ptp(x) == 0:
        return Interval(mean, mean, mean)
    half = float(stats.t.ppf(0.5 + LEVEL / 2, len(x) - 1) * x.std(ddof=1) / np.sqrt(len(x)))
    return Interval(mean, mean - half, mean + half)


def clustered(
    before: Sequence[Session] | None, after: Sequence[Session], value: Callable[[Session], float], seed: int = 0
) -> Interval:
    """Mean of `value` over `after` (minus that over `before`), with a percentile bootstrap over tasks.

    Tasks are resampled, and with a task all its sessions of both sides: sessions of one task are not independent, and
    the same tasks are compared with themselves.
    """
    shared = {s.task for s in after} if before is None else {s.task for s in after} & {s.task for s in before}
    tasks = sorted(shared)
    sums = np.array([cluster_sums(after, task, value) for task in tasks])  # (tasks, 2): sum and count
    other = None if before is None else np.array([cluster_sums(before, task, value) for task in tasks])
    rng = np.random.default_rng(seed)
    # how often each task is drawn in each resample
    draws = rng.multinomial(len(tasks), np.full(len(tasks), 1 / len(tasks)), size=RESAMPLES)

    def means(table: np.ndarray, times: np.ndarray) -> np.ndarray:
        totals = times @ table
        return totals[..., 0] / totals[..., 1]

    once = np.ones(len(tasks))
    point, spread = means(sums, once), means(sums, draws)
    if other is not None:
        point, spread = point - means(other, once), spread - means(other, draws)
    low, high = np.quantile(spread, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
    return Interval(float(point), float(low), float(high))


def cluster_sums(sessions: Sequence[Session], task: str, value: Callable[[Session], float]) -> tuple[float, int]:
    """Sum of `value` over a task's sessions, and their number."""
    values = [value(s) for s in sessions if s.task == task]
    return float(sum(values)), len(values)


def solved(session: Session) -> float:
    return float(session.solved)


def score(session: Session) -> float:
    return session.reward


def fast_1(session: Session) -> float:
    """1 if some passing kernel is faster than the reference (speedup above 1, measured or modelled)."""
    return float((best_speedup(session) or 0.0) > 1.0)


def passing_speedups(session: Session) -> list[Any]:
    """Speedups of the passing evaluations, None where the kernel was not profiled."""
    return [e.feedback.speedup for e in session.evaluations if e.verdict == "pass" and e.feedback is not None]


def best_speedup(session: Session) -> float | None:
    """The highest speedup of a session's passing kernels; None if none passed or none was profiled."""
    return max((s.value for s in passing_speedups(session) if s is not None), default=None)


def median_speedup(sessions: Sequence[Session]) -> float | None:
    """Median over the solved sessions of each one's best speedup."""
    values = [x for x in map(best_speedup, sessions) if x is not None]
    return float(np.median(values)) if values else None


def sampled(session: Session) -> int:
    """Tokens that the policy sampled."""
    return sum(int(segment.mask.sum()) for segment in session.segments)


def statistics(sessions: Sequence[Session]) -> dict[str, Any]:
    """Counts and means over sessions, JSON-serialisable. Infrastructure faults are counted but not averaged."""
    valid = [s for s in sessions if s.finish != "infrastructure"]
    events = [e for s in valid for e in s.evaluations]
    compactions = [c for s in valid for c in s.compactions]
    segments = [g for s in valid for g in s.segments]
    contexts = [len(g.token_ids) for g in segments]
    solved_count = sum(s.solved for s in valid)
    sampled_tokens = sum(sampled(s) for s in valid)
    speedups = Counter(x.kind for s in valid for x in passing_speedups(s) if x is not None)
    return {
        "sessions": len(sessions),
        "infrastructure_faults": len(sessions) - len(valid),
        "solved": solved_count,
        "solve_rate": solved_count / max(1, len(valid)),
        "mean_score": float(np.mean([s.reward for s in valid])) if valid else 0.0,
        "fast_1": float(np.mean([fast_1(s) for s in valid])) if valid else 0.0,
        "median_speedup": median_speedup(valid),
        "speedup_kinds": dict(sorted(speedups.items())),
        "turns": float(np.mean([len({e.turn for e in s.evaluations}) for s in valid])) if valid else 0.0,
        "verdicts": dict(sorted(Counter(e.verdict for e in events).items())),
        "finish": dict(sorted(Counter(s.finish for s in sessions).items())),
        "compiler": compiler_counts(valid),
        "compactions": len(compactions),
        "compaction_notes_valid": sum(c.notes_valid for c in compactions),
        "max_context": max(contexts, default=0),
        "window": max((s.window for s in valid), default=0),
        "sampled_tokens": sampled_tokens,
        "summary_tokens": sum(int((g.kinds == TokenKind.SUM).sum()) for g in segments),
        "tokens_per_solved": sampled_tokens / solved_count if solved_count else None,
    }


def compiler_counts(sessions: Sequence[Session]) -> dict[str, Any]:
    """Kernels given to the Ascend compiler, how many compiled, and the errors of the others by text.

    A session that shows the same text twice gets the same answer without a second run: it is counted once.
    """
    compiled = failed = 0
    errors: Counter[str] = Counter()
    for session in sessions:
        judged = {e.candidate: e.feedback for e in session.evaluations if e.feedback is not None}
        for feedback in judged.values():
            kernels = feedback.details.get("kernels", [])
            refused = [kernel for kernel in kernels if not kernel["ok"]]
            compiled += len(kernels) - len(refused)
            failed += len(refused)
            errors.update(error_class(kernel.get("error", "")) for kernel in refused)
    return {"compiled": compiled, "failed": failed, "errors": dict(errors.most_common(12))}


def error_class(message: str) -> str:
    """The compiler's message without what differs from kernel to kernel: positions, numbers, quoted names, types."""
    text = message.strip().splitlines()[0] if message.strip() else "unknown"
    text = re.sub(r"""'[^']*'|"[^"]*"|`[^`]*`""", "'..'", text)
    text = re.sub(r"\b0x[0-9a-fA-F]+\b|\d+", "N", text)
    return text[:120]
