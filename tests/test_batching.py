"""Micro-batches: every trained token exactly once, aligned, within the budget, in few shapes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from session_factory import make_session

from atrl_ms.algos.advantages import group_credit
from atrl_ms.algos.aggregation import count_trained
from atrl_ms.config import AlgoConfig
from atrl_ms.train.batching import make_micro_batches, micro_batch_shapes
from atrl_ms.train.learner import B_BUCKETS, T_BUCKETS
from atrl_ms.types import Group


def make_credits(shapes, algo):
    sessions = [make_session([[0.05] * turns for turns in shape], seed=i) for i, shape in enumerate(shapes)]
    sessions[0].evaluations[0].score = 1.0
    return group_credit(Group("t", sessions), algo).credits


shapes_strategy = st.lists(st.lists(st.integers(1, 6), min_size=1, max_size=3), min_size=2, max_size=9)


@settings(max_examples=40, deadline=None)
@given(shapes_strategy, st.sampled_from([64, 100, 300, 5000]), st.sampled_from(["token-mean", "rollout-mean"]))
def test_every_trained_token_is_in_exactly_one_place(shapes, budget, aggregation):
    algo = AlgoConfig(aggregation=aggregation)
    credits = make_credits(shapes, algo)
    batches = make_micro_batches(credits, algo, budget, 128, pad_id=0)
    seen = set()
    for batch in batches:
        rows, length = batch.token_ids.shape
        assert rows * length <= max(budget, length)
        for b, (g, s) in enumerate(batch.rows):
            assert (g, s) not in seen
            seen.add((g, s))
            segment, credit = credits[g].session.segments[s], credits[g]
            n = min(length, len(segment.token_ids))
            inside = batch.weights[b] > 0
            assert np.array_equal(inside[:n], credit.trained[s][:n]) and not inside[n:].any()
            assert inside.sum() == credit.trained[s].sum()
            last = np.flatnonzero(inside)[-1] + 1
            assert np.array_equal(batch.token_ids[b, :last], segment.token_ids[:last])
            assert np.allclose(batch.advantages[b][inside], credit.advantages[s][credit.trained[s]], atol=1e-6)
            assert np.array_equal(batch.rollout_logp[b][inside], segment.logprobs[credit.trained[s]])
        assert (batch.weights[len(batch.rows) :] == 0).all()
    assert len(seen) == sum(t.any() for c in credits for t in c.trained)
    assert np.isclose(sum(batch.weights.sum(dtype=np.float64) for batch in batches), 1.0, atol=1e-5)


def test_weights_do_not_depend_on_the_token_budget():
    algo = AlgoConfig()
    credits = make_credits([[2, 3], [1], [4, 1, 1], [6]], algo)
    maps = []
    for budget in (40, 10_000):
        batches = make_micro_batches(credits, algo, budget, 128, pad_id=0)
        maps.append({row: batch.weights[b].sum() for batch in batches for b, row in enumerate(batch.rows)})
    assert maps[0].keys() == maps[1].keys()
    assert all(np.isclose(maps[0][row], maps[1][row]) for row in maps[0])


def test_masked_sessions_take_no_room():
    algo = AlgoConfig()
    sessions = [make_session([[1.0]]), make_session([[0.0]], finish="max_turns"), make_session([[0.0], [0.0]])]
    credits = group_credit(Group("t", sessions), algo).credits
    rows = {row for batch in make_micro_batches(credits, algo, 1000, 128, 0) for row in batch.rows}
    assert rows == {(0, 0), (2, 0), (2, 1)}


def test_global_counts_scale_the_weights_of_a_rank():
    algo = AlgoConfig()
    credits = make_credits([[2], [3]], algo)
    counts = count_trained([c.trained for c in credits])
    alone = make_micro_batches(credits, algo, 1000, 128, 0)
    shared = make_micro_batches(credits, algo, 1000, 128, 0, counts=counts * 4)
    assert np.allclose(alone[0].weights, 4 * shared[0].weights)


@pytest.mark.parametrize("window", [64, 100, 384, 512, 1024])
def test_there_are_at_most_two_shapes_and_they_are_buckets_of_the_learner(window):
    shapes = micro_batch_shapes(window, 2048)
    assert len(shapes) <= 2 and shapes[-1][1] >= window
    assert all(rows in B_BUCKETS and length in T_BUCKETS for rows, length in shapes)
    algo = AlgoConfig()
    credits = make_credits([[1, 9], [5], [3], [2], [8]], algo)
    batches = make_micro_batches(credits, algo, 2048, window, 0)
    assert {batch.token_ids.shape for batch in batches} <= set(shapes)
