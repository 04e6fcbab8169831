"""The loss and its gradient against an independent implementation in torch, and the properties of masks and ratios."""

import itertools

import mindspore as ms
import numpy as np
import pytest
import torch

from atrl_ms.algos.aggregation import count_trained, token_weights
from atrl_ms.algos.losses import STATISTICS, PolicyLoss
from atrl_ms.config import AlgoConfig

ms.set_context(pynative_synchronize=True)

B, T = 3, 7
PAIRS = list(itertools.product(["clip", "gspo", "cispo"], ["k1", "k2", "k3"]))


def make_inputs(seed=0, spread=0.6):
    rng = np.random.default_rng(seed)
    mask = rng.random((B, T)) < 0.6
    mask[:, 2] = True
    base = -rng.uniform(0.05, 3.0, (B, T))
    columns = {
        "logp": base,
        "old": base + spread * rng.standard_normal((B, T)),
        "mu": base + spread * rng.standard_normal((B, T)),
        "ref": base + spread * rng.standard_normal((B, T)),
        "advantages": rng.standard_normal((B, T)) * 2,
        "weights": np.where(mask, rng.uniform(0.01, 0.1, (B, T)), 0.0),
    }
    return {name: value.astype(np.float32) for name, value in columns.items()}


def run_mindspore(algo, columns, on_policy=False):
    loss_fn = PolicyLoss(algo, on_policy)
    grad = ms.value_and_grad(loss_fn, grad_position=0, has_aux=True)
    (loss, statistics), gradient = grad(
        *(ms.Tensor(columns[k]) for k in ("logp", "old", "mu", "ref", "advantages", "weights"))
    )
    return float(loss), gradient.asnumpy(), dict(zip(STATISTICS, statistics.asnumpy().tolist(), strict=True))


def run_torch(algo, columns, on_policy=False):
    """Written token by token from the formulas, in float64."""
    t = {k: torch.tensor(v.astype(np.float64)) for k, v in columns.items()}
    logp = t["logp"].requires_grad_(True)
    old = logp.detach() if on_policy else t["old"]
    total = torch.zeros((), dtype=torch.float64)
    for b in range(B):
        inside = [i for i in range(T) if columns["weights"][b, i] > 0]
        sequence = torch.stack([logp.detach()[b, i] - old[b, i] for i in inside]).mean()
        drift = torch.stack([old[b, i] - t["mu"][b, i] for i in inside]).mean().exp()
        if algo.ratio_filter and abs(float(drift) - 1) > algo.ratio_filter:
            continue
        for i in inside:
            lp, a = logp[b, i], t["advantages"][b, i]
            r = torch.exp(lp - old[b, i])
            if algo.loss == "gspo":
                r = torch.exp(sequence) * torch.exp(lp - lp.detach())
            if algo.loss == "cispo":
                j = min(r.item(), 1 + algo.clip_high) * a * lp
            else:
                j = torch.minimum(r * a, torch.clamp(r, 1 - algo.clip_low, 1 + algo.clip_high) * a)
                if a < 0:
                    j = torch.maximum(j, algo.dual_clip * a)
            d = lp - t["ref"][b, i]
            kl = {"k1": d, "k2": d**2 / 2, "k3": torch.exp(-d) - 1 + d}[algo.kl_kind]
            w = min(float(torch.exp(old[b, i].detach() - t["mu"][b, i])), algo.tis_cap)
            total = total + t["weights"][b, i] * (-w * j + algo.kl_coef * kl)
    total.backward()
    return total.item(), logp.grad.numpy()


@pytest.mark.parametrize("loss, kl_kind", PAIRS)
@pytest.mark.parametrize("ratio_filter", [0.0, 0.2])
def test_loss_and_gradient_match_torch(loss, kl_kind, ratio_filter):
    algo = AlgoConfig(loss=loss, kl_kind=kl_kind, kl_coef=0.3, ratio_filter=ratio_filter, dual_clip=1.5)
    for seed in range(3):
        columns = make_inputs(seed)
        value, gradient, statistics = run_mindspore(algo, columns)
        expected, expected_gradient = run_torch(algo, columns)
        assert np.isclose(value, expected, rtol=1e-4, atol=1e-6)
        assert np.allclose(gradient, expected_gradient, rtol=1e-4, atol=1e-6)
        assert statistics["tokens"] == (columns["weights"] > 0).sum()


def test_the_segment_filter_drops_whole_segments_by_their_geometric_mean():
    columns = make_inputs(1)
    columns["mu"] = columns["old"].copy()
    columns["mu"][0] -= 0.5
    _, gradient, statistics = run_mindspore(AlgoConfig(ratio_filter=0.001), columns)
    assert (gradient[0] == 0).all() and (gradient[1:] != 0).any()
    assert statistics["dropped"] == (columns["weights"][0] > 0).sum()


@pytest.mark.parametrize("loss", ["clip", "gspo", "cispo"])
def test_first_on_policy_step_has_ratio_one_and_clips_nothing(loss):
    columns = make_inputs(2)
    _, gradient, statistics = run_mindspore(AlgoConfig(loss=loss), columns, on_policy=True)
    assert statistics["ratio"] == statistics["tokens"] and statistics["clipped"] == 0
    w = np.minimum(np.exp(columns["logp"] - columns["mu"]), 2.0)
    assert np.allclose(gradient, -columns["weights"] * w * columns["advantages"], rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("loss", ["clip", "gspo", "cispo"])
def test_values_outside_the_mask_change_nothing(loss):
    columns = make_inputs(3)
    algo = AlgoConfig(loss=loss, kl_coef=0.1, kl_kind="k3")
    value, gradient, _ = run_mindspore(algo, columns)
    outside = columns["weights"] == 0
    assert (gradient[outside] == 0).all() and (gradient[~outside] != 0).any()
    for name in ("logp", "old", "mu", "ref", "advantages"):
        columns[name] = np.where(outside, np.float32(-300.0 if name != "mu" else 0.0), columns[name])
    again, gradient_again, _ = run_mindspore(algo, columns)
    assert np.isfinite(again) and np.isclose(value, again, rtol=1e-6)
    assert np.allclose(gradient, gradient_again, rtol=1e-6, atol=0)


def test_clipping_acts_on_the_side_that_the_advantage_pushes():
    ones = np.ones((1, 4), np.float32)
    ratio = np.array([[1.5, 0.5, 1.5, 0.5]], np.float32)
    columns = {
        "logp": np.log(ratio), "old": 0 * ones, "mu": 0 * ones, "ref": 0 * ones,
        "advantages": np.array([[1, 1, -1, -1]], np.float32), "weights": ones,
    }  # fmt: skip
    _, gradient, statistics = run_mindspore(AlgoConfig(), columns)
    assert np.allclose(gradient, [[0, -0.5, 1.5, 0]], atol=1e-6)
    assert statistics["clipped"] == 2


def test_dual_clip_bounds_the_push_away_from_an_improbable_token():
    column = np.array([[np.log(10.0)]], np.float32)
    zero, one = np.zeros((1, 1), np.float32), np.ones((1, 1), np.float32)
    columns = {"logp": column, "old": zero, "mu": zero, "ref": zero, "advantages": -one, "weights": one}
    value, gradient, _ = run_mindspore(AlgoConfig(dual_clip=3.0), columns)
    assert np.isclose(value, 3.0) and gradient[0, 0] == 0


def test_importance_weight_is_capped_and_constant():
    zero, one = np.zeros((1, 1), np.float32), np.ones((1, 1), np.float32)
    columns = {"logp": zero, "old": zero, "mu": zero - 3, "ref": zero, "advantages": one, "weights": one}
    value, gradient, statistics = run_mindspore(AlgoConfig(tis_cap=2.0), columns, on_policy=True)
    assert np.isclose(value, -2.0) and np.isclose(gradient[0, 0], -2.0) and statistics["tis_capped"] == 1


@pytest.mark.parametrize("kind, expected", [("k1", 0.5108), ("k2", 0.7339), ("k3", 0.5108)])
def test_vector_kl_estimators(kind, expected):
    """Expectation under pi = (.5, .5) of each estimator of KL(pi || (.9, .1))."""
    logp = np.log(np.array([[0.5, 0.5]], np.float32))
    ref = np.log(np.array([[0.9, 0.1]], np.float32))
    zero = np.zeros_like(logp)
    columns = {"logp": logp, "old": logp, "mu": logp, "ref": ref, "advantages": zero, "weights": zero + 0.5}
    value, _, statistics = run_mindspore(AlgoConfig(kl_coef=1.0, kl_kind=kind), columns)
    assert np.isclose(value, expected, atol=5e-5)
    assert np.isclose(statistics["kl"] / 2, expected, atol=5e-5)


def test_only_k2_has_the_gradient_of_the_divergence():
    """Expected gradient over tokens drawn from pi, with respect to the logits of a two-way choice, against autograd."""
    theta = torch.tensor([0.3, -0.2], dtype=torch.float64, requires_grad=True)
    ref = torch.log(torch.tensor([0.9, 0.1], dtype=torch.float64))
    log_pi = torch.log_softmax(theta, 0)
    exact = torch.autograd.grad((log_pi.exp() * (log_pi - ref)).sum(), theta)[0].numpy()
    pi = log_pi.exp().detach().numpy()
    jacobian = np.eye(2) - pi  # d log pi_token / d theta
    for kind, matches in (("k1", False), ("k2", True), ("k3", False)):
        logp = log_pi.detach().numpy().astype(np.float32)[None]
        zero = np.zeros_like(logp)
        columns = {
            "logp": logp, "old": logp, "mu": logp, "ref": ref.numpy().astype(np.float32)[None],
            "advantages": zero, "weights": pi.astype(np.float32)[None],
        }  # fmt: skip
        _, gradient, _ = run_mindspore(AlgoConfig(kl_coef=1.0, kl_kind=kind), columns)
        assert np.allclose(gradient[0] @ jacobian, exact, atol=1e-5) == matches, kind


def rollouts(*lengths):
    return [[np.ones(n, bool) for n in segments] for segments in lengths]


@pytest.mark.parametrize(
    "aggregation, first", [("token-mean", 0.6), ("rollout-mean", 0.5), ("seq-mean-token-mean", 0.75)]
)
def test_vector_aggregation_shares(aggregation, first):
    trained = rollouts((10, 20, 30), (40,))
    weights = token_weights(trained, count_trained(trained), AlgoConfig(aggregation=aggregation))
    shares = [sum(w.sum() for w in row) for row in weights]
    assert np.allclose(shares, [first, 1 - first])


def test_constant_aggregation_does_not_depend_on_length():
    algo = AlgoConfig(aggregation="constant", constant_length=100)
    short, long = rollouts((10,), (40,)), rollouts((10,), (400,))
    a = token_weights(short, count_trained(short), algo)[0][0]
    b = token_weights(long, count_trained(long), algo)[0][0]
    assert np.allclose(a, b) and np.isclose(a[0], 1 / 200)


@pytest.mark.parametrize("aggregation", ["token-mean", "rollout-mean", "seq-mean-token-mean", "constant"])
def test_weights_of_ranks_add_up_to_those_of_one_process(aggregation):
    algo = AlgoConfig(aggregation=aggregation)
    trained = rollouts((3, 5), (7,), (2, 2, 2))
    trained[1][0][2:4] = False
    trained.append([np.zeros(4, bool)])  # wholly masked: must not count as a rollout
    whole = token_weights(trained, count_trained(trained), algo)
    counts = count_trained(trained[:1]) + count_trained(trained[1:])
    parts = token_weights(trained[:1], counts, algo) + token_weights(trained[1:], counts, algo)
    for a, b in zip(whole, parts, strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    if aggregation != "constant":
        assert np.isclose(sum(w.sum() for row in whole for w in row), 1.0)
