"""Staged advantages: the published and derived numbers."""

import json

import numpy as np
import pytest

from atrl_ms.algos.sae import SaeSettings, staged_advantages
from atrl_ms.algos.sae_edges import OrderGraph, order_graph
from atrl_ms.algos.sae_qp import QpFailure, solve
from atrl_ms.algos.sae_values import NodeStatistics, batch_values

Q, A, B, A1 = ("q",), ("q", "A"), ("q", "B"), ("q", "A", "1")
THIRD = 1 / 3


def qp(r, edges, form, delta, **kwargs):
    r = np.array(r, dtype=float)
    weights = np.ones(len(r))
    edges = np.array(edges, int).reshape(-1, 2)
    return solve(r - r.mean(), weights, edges, form=form, delta=delta, **kwargs).advantages


@pytest.mark.parametrize(
    "r, edges, form, delta, expected",
    [
        ((0, 1), [(0, 1)], "soft", 0.01, (-0.5, 0.5)),
        ((0, 1), [(0, 1)], "hard", 0.01, (-1, 1)),
        ((0, 0, 1), [(0, 2), (0, 1)], "soft", 0.2, (-THIRD - 0.1, -THIRD + 0.1, 2 * THIRD)),
        ((0, 0, 1), [(0, 2), (0, 1)], "soft", 0.01, (-THIRD - 0.005, -THIRD + 0.005, 2 * THIRD)),
        ((0, 0, 1), [(0, 2), (0, 1)], "hard", 0.0, (-0.70711, -0.70711, 1.41421)),
        ((0, 0, 1), [(0, 2), (0, 1)], "hard", 0.01, (-0.71210, -0.70210, 1.41420)),
        ((0.6, 0.3, 0), [(0, 1), (1, 2)], "soft", 0.0, (0, 0, 0)),
        ((0.6, 0.3, 0), [(0, 1)], "soft", 0.0, (0.15, 0.15, -0.3)),
        ((0, 0, 0, 0), [(0, 1), (1, 2), (2, 3)], "soft", 0.1, (-0.15, -0.05, 0.05, 0.15)),
        ((0, 0, 0, 1), [], "hard", 0.0, (-0.57735, -0.57735, -0.57735, 1.73205)),
    ],
)
def test_program_vectors(r, edges, form, delta, expected):
    np.testing.assert_allclose(qp(r, edges, form, delta), expected, atol=1e-5)


def test_edges_of_the_three_node_example_come_from_the_tree():
    graph = order_graph([A, B, A1], np.array([0.0, 0.0, 1.0]))
    assert {tuple(e) for e in graph.sample_edges()} == {(0, 2), (0, 1)}
    settings = SaeSettings("soft", delta=0.2)
    result = staged_advantages([A, B, A1], np.array([0.0, 0.0, 1.0]), settings)
    np.testing.assert_allclose(result.advantages, (-THIRD - 0.1, -THIRD + 0.1, 2 * THIRD), atol=1e-12)
    assert result.met == 1.0 and not result.failed and not result.skipped


@pytest.mark.parametrize(
    "r, kind, values, expected",
    [
        ((1, 0, 0, 1), "expectation", (0.5, 0.5, 0, 1), (0.5, -0.5, -0.25, 0.25)),
        ((1, 0, 0, 1), "optimistic", (1, 1, 0, 1), (0.375, -0.625, -0.125, 0.375)),
        ((1, 0, 0, 1), "pessimistic", (0, 0, 0, 1), (0.625, -0.375, -0.375, 0.125)),
        ((0, 0, 0, 1), "expectation", (0.25, 0.5, 0, 1), (-0.15625, -0.28125, -0.03125, 0.46875)),
        ((0, 0, 0, 1), "optimistic", (1, 1, 0, 1), (-0.375, -0.375, 0.125, 0.625)),
        ((0, 0, 0, 1), "pessimistic", (0, 0, 0, 1), (-0.125, -0.125, -0.125, 0.375)),
        # trace: Q sees all four; A sees Q, A, A1; B sees Q, B; A1 sees Q, A, A1
        ((1, 0, 0, 1), "trace", (0.5, 2 / 3, 0.5, 2 / 3), None),
    ],
)
def test_heuristic_vectors(r, kind, values, expected):
    paths, rewards = [Q, A, B, A1], np.array(r, dtype=float)
    np.testing.assert_allclose(batch_values(paths, rewards, kind), values)
    raw = rewards - 0.5 * np.array(values)
    got = staged_advantages(paths, rewards, SaeSettings(kind, alpha=0.5)).advantages
    np.testing.assert_allclose(got, raw - raw.mean() if expected is None else expected, atol=1e-12)


def test_ancestors_by_path_not_by_text_and_problems_never_mix():
    paths = [("q", "1"), ("q", "12"), ("p", "1", "x"), ("q1",), ("q",)]
    graph = order_graph(paths, np.array([0.0, 1.0, 1.0, 1.0, 0.0]))
    assert {tuple(e) for e in graph.sample_edges()} == {(4, 1)}


def test_roots_of_different_problems_are_no_siblings():
    paths = [("p",), ("p", "a"), ("q",)]
    graph = order_graph(paths, np.array([0.0, 1.0, 0.0]), pairs=False)
    assert len(graph.edges) == 0


def test_direct_success_excludes_a_triplet():
    paths = [A, A, B, A1]  # node A also succeeded directly: its failure is no worse than B's
    graph = order_graph(paths, np.array([0.0, 1.0, 0.0, 1.0]), pairs=False)
    assert len(graph.edges) == 0


def test_graded_rewards_use_eta():
    rewards = np.array([0.4, 0.45, 0.9])
    assert {tuple(e) for e in order_graph([Q, A, A1], rewards, eta=0.1).sample_edges()} == {(0, 2), (1, 2)}
    assert {tuple(e) for e in order_graph([Q, A, A1], rewards, eta=0.0).sample_edges()} == {(0, 1), (0, 2), (1, 2)}


def test_cycle_and_unreachable_norm_fall_back_to_expectation_and_are_counted():
    paths, rewards = [Q, A, B, A1], np.array([1.0, 0, 0, 1])
    expectation = staged_advantages(paths, rewards, SaeSettings("expectation")).advantages
    ring = OrderGraph(np.arange(4), np.ones(4), np.array([(0, 1), (1, 2), (2, 0)]))
    for form in ("soft", "hard", "penalty"):
        result = staged_advantages(paths, rewards, SaeSettings(form), graph=ring)
        assert result.failed
        np.testing.assert_array_equal(result.advantages, expectation)
    far = staged_advantages(paths, rewards, SaeSettings("soft", delta=50.0))
    assert len(far.graph.edges) and far.failed
    with pytest.raises(QpFailure):
        qp((0, 1), [(0, 1)], "hard", 50.0)


@pytest.mark.parametrize("form", ["hard", "penalty"])
def test_group_without_direction_is_skipped(form):
    result = staged_advantages([Q, A, B], np.ones(3), SaeSettings(form, delta=0.0))
    assert result.skipped and not result.advantages.any()
    np.testing.assert_array_equal(qp((0.6, 0.3, 0), [(0, 1), (1, 2)], form, 0.0), np.zeros(3))


def test_running_statistics_leave_one_out_and_shrink_to_parent():
    statistics = NodeStatistics(prior=0.5)
    paths, rewards = [Q, A, A1], np.array([0.0, 0.0, 1.0])
    statistics.update(paths, rewards)
    # without A1's own reward: Q has n=2 mean 0, A has n=1 mean 0, A1 has n=0
    v_q = (0 + 4 * 0.5) / (2 + 4)
    v_a = (0 + 4 * v_q) / (1 + 4)
    np.testing.assert_allclose(statistics.leave_one_out(paths, rewards)[2], v_a)
    # Q without its own: n=2, sum 1
    np.testing.assert_allclose(statistics.leave_one_out(paths, rewards)[0], (1 + 2) / 6)
    # a sample's own reward must not move its own value
    other = NodeStatistics(prior=0.5)
    other.update(paths, np.array([0.0, 1.0, 1.0]))
    assert other.leave_one_out(paths, np.array([0.0, 1.0, 1.0]))[1] == statistics.leave_one_out(paths, rewards)[1]


def test_running_statistics_forget_and_survive_a_checkpoint():
    statistics = NodeStatistics(decay=0.5)
    statistics.update([Q], np.array([1.0]))
    statistics.update([A], np.array([0.0]))
    assert statistics.count(Q) == 1.5
    again = NodeStatistics()
    again.restore(json.loads(json.dumps(statistics.to_json())))
    for s in (statistics, again):
        s.update([A1], np.array([1.0]))
    assert again.value(A1) == statistics.value(A1) and again.count(Q) == 1.75
