"""Intervals and counts that tables and reports show."""

import numpy as np
from scipy import stats
from session_factory import make_session

from atrl_ms.evaluate.metrics import clustered, error_class, mean_interval, solved, statistics, wilson
from atrl_ms.types import StepFeedback


def sessions_of(outcomes, **fields):
    """One session per (task, solved)."""
    made = []
    for i, (task, ok) in enumerate(outcomes):
        session = make_session([[1.0 if ok else 0.0]], seed=i, **fields)
        session.task = task
        made.append(session)
    return made


def test_wilson_agrees_with_scipy():
    for k, n in ((0, 10), (3, 10), (64, 64), (20, 64)):
        mine, theirs = wilson(k, n), stats.binomtest(k, n).proportion_ci(method="wilson")
        assert np.allclose([mine.low, mine.high], [theirs.low, theirs.high], atol=1e-9)


def test_mean_interval_agrees_with_scipy():
    values = [0.2, 0.5, 0.4, 0.9]
    interval = mean_interval(values)
    low, high = stats.t.interval(0.95, 3, loc=np.mean(values), scale=stats.sem(values))
    assert np.allclose([interval.low, interval.high], [low, high])


def test_paired_bootstrap_matches_a_direct_resampling():
    rng = np.random.default_rng(0)
    outcomes = [(f"t{i % 8}", bool(rng.random() < 0.3)) for i in range(64)]
    later = [(task, ok or bool(rng.random() < 0.4)) for task, ok in outcomes]
    before, after = sessions_of(outcomes), sessions_of(later)
    interval = clustered(before, after, solved)
    rates = [[np.mean([s.solved for s in side if s.task == f"t{i}"]) for i in range(8)] for side in (before, after)]
    per_task = np.subtract(rates[1], rates[0])
    direct = [np.mean(rng.choice(per_task, 8)) for _ in range(4000)]
    assert np.isclose(interval.value, per_task.mean())
    assert np.allclose([interval.low, interval.high], np.quantile(direct, [0.025, 0.975]), atol=0.03)


def test_no_change_gives_an_interval_around_zero():
    sessions = sessions_of([(f"t{i % 4}", i % 3 == 0) for i in range(24)])
    interval = clustered(sessions, sessions, solved)
    assert interval.value == interval.low == interval.high == 0.0


def test_infrastructure_faults_are_counted_but_not_averaged():
    result = statistics(sessions_of([("a", True), ("a", False)]) + sessions_of([("a", False)], finish="infrastructure"))
    assert result["sessions"] == 3 and result["infrastructure_faults"] == 1 and result["solve_rate"] == 0.5


def test_kernels_are_counted_once_per_text_and_errors_by_class():
    session = make_session([[0.05, 0.05, 0.4]])
    bad = {"kernels": [{"name": "k", "ok": False, "error": "error: 'hivm.op' at 12 failed"}]}
    details = [bad, bad, {"kernels": [{"name": "a", "ok": True}, {"name": "b", "ok": True}]}]
    for event, facts in zip(session.evaluations, details, strict=True):
        event.feedback = StepFeedback(event.verdict, (), 0, 1, event.score, None, "", facts)
        event.candidate = "same" if facts is bad else "other"
    counts = statistics([session])["compiler"]
    assert counts == {"compiled": 2, "failed": 1, "errors": {"error: '..' at N failed": 1}}
    assert error_class("error: 'x' at 99 failed\nmore") == "error: '..' at N failed"


def test_longest_context_and_compactions_are_reported():
    result = statistics([make_session([[0.0, 0.0], [1.0]])])
    assert result["compactions"] == 1 and result["window"] == 128
    assert result["max_context"] == max(len(g.token_ids) for g in make_session([[0.0, 0.0], [1.0]]).segments)
