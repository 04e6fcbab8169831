"""Staged advantages: invariants over random trees, against SciPy's SLSQP and non-negative least squares."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, nnls

from atrl_ms.algos.gradient_noise import gradient_spread
from atrl_ms.algos.sae import ESTIMATORS, SaeSettings, staged_advantages
from atrl_ms.algos.sae_edges import order_graph
from atrl_ms.algos.sae_qp import solve


@st.composite
def batches(draw, max_size=24, graded=None):
    """Paths and rewards of a random batch over a random forest; several samples may share a node."""
    nodes = [("p",), ("q",)]
    for k in range(draw(st.integers(0, 14))):
        nodes.append((*draw(st.sampled_from(nodes)), k))
    size = draw(st.integers(2, max_size))
    paths = [draw(st.sampled_from(nodes)) for _ in range(size)]
    graded = draw(st.booleans()) if graded is None else graded
    levels = st.integers(0, 10).map(lambda k: k / 10) if graded else st.sampled_from([0.0, 1.0])
    rewards = np.array([draw(levels) for _ in range(size)])
    return paths, rewards


def kkt_multiplier_error(a, scaled, edges, delta):
    """min over mu >= 0 on binding edges of |a - scaled - E^T mu|: 0 iff a is the projection of `scaled`."""
    i, j = edges.T if len(edges) else (np.zeros(0, int), np.zeros(0, int))
    binding = np.abs(a[j] - a[i] - delta) < 1e-7
    columns = np.zeros((len(a), int(binding.sum())))
    columns[j[binding], range(columns.shape[1])] += 1
    columns[i[binding], range(columns.shape[1])] -= 1
    if not columns.shape[1]:
        return float(np.abs(a - scaled).max())
    return nnls(columns, a - scaled, maxiter=10_000)[1]


@settings(deadline=None, max_examples=120)
@given(
    batches(),
    st.sampled_from(["soft", "hard", "penalty"]),
    st.sampled_from([0.0, 0.01, 0.1]),
    st.sampled_from(["reward", "expectation"]),
)
def test_order_zero_sum_norm_and_kkt(batch, form, delta, target):
    paths, rewards = batch
    result = staged_advantages(
        paths, rewards, SaeSettings(form, delta=delta, success=0.8, penalty_c=0.7, target=target)
    )
    base = "flat" if target == "reward" else "expectation"
    r0 = staged_advantages(paths, rewards, SaeSettings(base)).advantages
    a, size = result.advantages, len(rewards)
    assert abs(a.sum()) < 1e-9
    if result.failed or result.skipped:
        return
    edges = result.graph.sample_edges()
    assert result.met == 1.0
    assert all(a[j] - a[i] >= delta - 1e-8 for i, j in edges)
    rho = float(a @ a) / size
    if form == "hard":
        assert rho == pytest.approx(1.0, abs=1e-9)
        scale = scale_of(a, r0, edges, delta)
    elif form == "soft":
        assert rho <= 1 + 1e-9
        scale = 1.0 if rho < 1 - 1e-9 else min(1.0, scale_of(a, r0, edges, delta))
    else:
        scale = 1.0 / (1.0 + 0.7 * (rho - 1.0))
    assert kkt_multiplier_error(a, scale * r0, edges, delta) < 1e-6 * max(1.0, scale)


def scale_of(a, r0, edges, delta):
    """The s for which a is the projection of s r0: multipliers and s by non-negative least squares."""
    i, j = edges.T if len(edges) else (np.zeros(0, int), np.zeros(0, int))
    binding = np.abs(a[j] - a[i] - delta) < 1e-7
    columns = np.zeros((len(a), int(binding.sum()) + 1))
    columns[j[binding], range(columns.shape[1] - 1)] += 1
    columns[i[binding], range(columns.shape[1] - 1)] -= 1
    columns[:, -1] = r0
    return nnls(columns, a, maxiter=10_000)[0][-1]


@settings(deadline=None, max_examples=60)
@given(batches(), st.sampled_from(ESTIMATORS), st.randoms(use_true_random=False))
def test_permutation_equivariant(batch, estimator, random):
    paths, rewards = batch
    order = list(range(len(paths)))
    random.shuffle(order)
    one = staged_advantages(paths, rewards, SaeSettings(estimator, success=0.8)).advantages
    two = staged_advantages([paths[k] for k in order], rewards[order], SaeSettings(estimator, success=0.8)).advantages
    np.testing.assert_allclose(two, one[order], atol=1e-8)


@settings(deadline=None, max_examples=60)
@given(batches(graded=False))
def test_without_margin_soft_returns_centred_binary_rewards(batch):
    paths, rewards = batch
    soft = staged_advantages(paths, rewards, SaeSettings("soft", delta=0.0)).advantages
    np.testing.assert_allclose(soft, rewards - rewards.mean(), atol=1e-12)


@settings(deadline=None, max_examples=60)
@given(batches())
def test_hard_without_edges_is_the_z_score(batch):
    paths, rewards = batch
    result = staged_advantages(paths, rewards, SaeSettings("hard", pairs=False, triplets=False))
    if rewards.std() < 1e-8:
        assert result.skipped
    else:
        np.testing.assert_allclose(result.advantages, (rewards - rewards.mean()) / rewards.std(), atol=1e-8)


@settings(deadline=None, max_examples=40)
@given(batches())
def test_tree_edges_never_contradict_each_other(batch):
    paths, rewards = batch
    assert not order_graph(paths, rewards, eta=0.05, success=0.8).has_cycle()


def slsqp(r0, edges, delta, form, c, start):
    size = len(r0)
    i, j = edges.T
    matrix = np.zeros((len(edges), size))
    matrix[range(len(edges)), j] += 1
    matrix[range(len(edges)), i] -= 1
    constraints = [
        {"type": "eq", "fun": np.sum, "jac": lambda a: np.ones(size)},
        {"type": "ineq", "fun": lambda a: matrix @ a - delta, "jac": lambda a: matrix},
    ]
    if form != "penalty":
        kind = "eq" if form == "hard" else "ineq"
        constraints.append({"type": kind, "fun": lambda a: size - a @ a, "jac": lambda a: -2 * a})

    def objective(a):
        extra = c / (4 * size) * (a @ a - size) ** 2 if form == "penalty" else 0.0
        return 0.5 * ((a - r0) ** 2).sum() + extra

    def gradient(a):
        return (a - r0) + (c / size * (a @ a - size) * a if form == "penalty" else 0.0)

    return minimize(
        objective, start, jac=gradient, constraints=constraints, method="SLSQP", options={"ftol": 1e-14, "maxiter": 500}
    )


@pytest.mark.parametrize("form", ["soft", "hard", "penalty"])
@pytest.mark.parametrize("c", [0.3, 1.0, 3.0])
def test_agrees_with_slsqp(form, c):
    rng = np.random.default_rng(7)
    compared = 0
    for _ in range(12):
        nodes = [("q",)]
        for k in range(12):
            nodes.append((*nodes[rng.integers(len(nodes))], k))
        paths = [nodes[k] for k in rng.integers(len(nodes), size=16)]
        rewards = rng.integers(0, 6, size=16) / 5
        graph = order_graph(paths, rewards, success=0.8)
        edges = graph.sample_edges()
        if not len(edges):
            continue
        r0 = rewards - rewards.mean()
        mine = staged_advantages(paths, rewards, SaeSettings(form, delta=0.1, success=0.8, penalty_c=c))
        if mine.failed or mine.skipped:
            continue
        reference = slsqp(r0, edges, 0.1, form, c, r0 / max(r0.std(), 1e-9))
        if not reference.success:
            continue
        compared += 1
        np.testing.assert_allclose(mine.advantages, reference.x, atol=1e-4)
    assert compared >= 6


def test_merging_equal_samples_changes_nothing():
    rng = np.random.default_rng(3)
    paths = [("q",), ("q", "a"), ("q", "b"), ("q", "a", "x")]
    chosen = [paths[k] for k in rng.integers(4, size=40)]
    rewards = (rng.random(40) < 0.4).astype(float)
    merged = staged_advantages(chosen, rewards, SaeSettings("hard", delta=0.05))
    edges = order_graph(chosen, rewards).sample_edges()
    plain = solve(rewards - rewards.mean(), np.ones(40), edges, form="hard", delta=0.05).advantages
    assert len(merged.graph.edges) < len(edges)
    np.testing.assert_allclose(merged.advantages, plain, atol=1e-8)
    i, j = edges.T
    noisy = merged.advantages + np.linspace(0, 1e-3, 40)
    assert merged.graph.fraction_met(noisy, 0.05) == np.mean(noisy[i] + 0.05 <= noisy[j] + 1e-9)


def test_gradient_spread_is_the_trace_of_the_covariance_and_counts_resampled_steps():
    gradients = np.random.default_rng(0).standard_normal((20, 5)) + 1.0
    products = gradients @ gradients.T
    variance, noise = gradient_spread(products)
    assert variance == pytest.approx(np.trace(np.cov(gradients.T)))
    assert gradient_spread(4.0 * products)[1] == pytest.approx(noise)
    half = np.repeat([1, 0], 10)  # steps that are not drawn do not count
    assert gradient_spread(products, half)[0] == pytest.approx(np.trace(np.cov(gradients[:10].T)))
    with pytest.raises(ValueError, match="two"):
        gradient_spread(products, np.eye(20)[0])
