"""Scores: unbiased pass@k, failed samples counted, paired differences; against brute force and scipy."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atrl_ms.evaluate.scores import FAST_P, Scored, compare, pass_at_k, score


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_is_the_share_of_subsets_with_a_pass(case):
    n, c, k = case
    subsets = list(itertools.combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(any(s) for s in subsets) / len(subsets))


def test_pass_at_k_refuses_impossible_counts():
    for n, c, k in ((3, 1, 4), (3, 4, 1), (3, 1, 0)):
        with pytest.raises(ValueError):
            pass_at_k(n, c, k)


def sample(task, correct, speedup=None, compiled=True):
    return Scored(task, compiled, correct, speedup)


def test_failed_samples_lower_every_rate_and_only_the_mean_ignores_them():
    samples = [
        sample("a", True, 2.0),
        sample("a", False),
        sample("b", True, 0.5),
        sample("b", False, compiled=False),
        sample("c", False),
        sample("c", False),
    ]
    found = score(samples, [1, 2])
    assert found["compile rate"].value == pytest.approx((1 + 0.5 + 1) / 3)
    assert found["correct rate"].value == pytest.approx(1 / 3)
    assert found["pass@1"].value == pytest.approx(1 / 3)
    assert found["pass@2"].value == pytest.approx(2 / 3)
    assert found["fast_1"].value == pytest.approx(1 / 6)
    assert found["fast_0.5"].value == pytest.approx(1 / 6)  # 0.5 is not above 0.5
    assert found["fast_2"].value == 0.0  # nor is 2 above 2
    assert found["geometric mean speedup"].value == pytest.approx(1.0)


def test_tasks_weigh_the_same_whatever_their_number_of_samples():
    samples = [sample("a", True, 1.0)] * 9 + [sample("b", False)]
    assert score(samples, [1])["correct rate"].value == 0.5


def test_a_correct_sample_without_a_time_is_not_fast_and_not_in_the_mean():
    found = score([sample("a", True), sample("b", True, 4.0)], [1])
    assert found["fast_1"].value == 0.5
    assert found["geometric mean speedup"].value == pytest.approx(4.0)


def test_no_correct_sample_means_no_mean():
    found = score([sample("a", False), sample("b", False)], [1])
    assert found["geometric mean speedup"] is None and found["fast_1"].value == 0.0
    with pytest.raises(ValueError):
        score([], [1])


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.floats(0.1, 10)), min_size=1, max_size=25),
    st.integers(0, 3),
)
def test_fast_p_falls_with_p_and_stays_below_the_correct_rate(rows, seed):
    samples = [sample(f"t{t}", ok, s if ok else None) for t, ok, s in rows]
    found = score(samples, [1], seed)
    values = [found["correct rate"].value, *(found[f"fast_{p:g}"].value for p in FAST_P)]
    assert all(a >= b for a, b in itertools.pairwise(values))
    for interval in found.values():
        if interval is not None:
            assert interval.low <= interval.high
            # the interval is of the same quantity: resampling one task alone gives the point itself
            if len({s.task for s in samples}) == 1:
                assert interval.low == pytest.approx(interval.value) == pytest.approx(interval.high)


def test_intervals_agree_with_scipys_bootstrap_over_tasks():
    from scipy import stats

    rng = np.random.default_rng(3)
    rates = rng.integers(0, 5, 40) / 4  # share of four samples that are correct, of 40 tasks
    samples = [sample(f"t{i:02d}", j < round(4 * r)) for i, r in enumerate(rates) for j in range(4)]
    ours = score(samples, [1])["correct rate"]
    theirs = stats.bootstrap((rates,), np.mean, n_resamples=10_000, method="percentile", rng=1).confidence_interval
    assert ours.value == pytest.approx(rates.mean())
    assert ours.low == pytest.approx(theirs.low, abs=0.012)
    assert ours.high == pytest.approx(theirs.high, abs=0.012)


def test_pairing_takes_the_spread_between_tasks_out_of_a_difference():
    rng = np.random.default_rng(0)
    hard = rng.random(60) < 0.5
    first = [sample(f"t{i}", not h, 1.0) for i, h in enumerate(hard)]
    second = [sample(f"t{i}", not h or i < 6, 1.5) for i, h in enumerate(hard)]
    change = compare(first, second, [1])["correct rate"].change
    gained = sum(h for h in hard[:6]) / 60
    assert change.value == pytest.approx(gained)
    assert 0 <= change.low <= gained <= change.high < 0.15


def test_speeds_are_compared_on_tasks_that_both_solve():
    first = [sample("easy", True, 2.0), sample("hard", False)]
    second = [sample("easy", True, 3.0), sample("hard", True, 0.1)]
    found = compare(first, second, [1])["geometric mean speedup"]
    assert found.ratio and found.a == pytest.approx(2.0) and found.b == pytest.approx(3.0)
    assert found.change.value == pytest.approx(1.5)
    none = compare(first[1:], second[1:], [1])["geometric mean speedup"]
    assert none.change is None and none.a is None


def test_the_same_on_both_sides_differs_by_nothing():
    samples = [sample(f"t{i}", i % 2 == 0, 1 + i / 10 if i % 2 == 0 else None) for i in range(12)]
    for difference in compare(samples, samples, [1]).values():
        value = 1.0 if difference.ratio else 0.0
        assert (difference.change.low, difference.change.value, difference.change.high) == pytest.approx((value,) * 3)
    with pytest.raises(ValueError, match="in common"):
        compare(samples, [sample("other", True, 1.0)], [1])


def test_geometric_mean_is_over_logarithms():
    found = score([sample("a", True, 0.25), sample("b", True, 4.0), sample("c", True, 8.0)], [1])
    assert math.log(found["geometric mean speedup"].value) == pytest.approx(math.log(8) / 3)
