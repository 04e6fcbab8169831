"""Staged curriculum and credit: which prefixes are drawn, and what their completions are worth."""

import numpy as np
import pytest

from atrl_ms.algos.sae import SaeSettings, staged_advantages
from atrl_ms.algos.sae_values import NodeStatistics
from atrl_ms.config import AlgoConfig, TreeConfig
from atrl_ms.tree.completions import completion_segment
from atrl_ms.tree.curriculum import draw_prefixes
from atrl_ms.tree.prefix_tree import PrefixTree, Rollout
from atrl_ms.tree.staged import StagedGroup, describe_staged, staged_credit
from atrl_ms.tree.tokens import ByteTokenizer
from atrl_ms.types import Evaluation, Sample, Session

TOKENIZER = ByteTokenizer()


def chain_tree(depth=4, width=2):
    tree = PrefixTree(TOKENIZER, max_depth=depth, branching=width)
    for k in range(width**depth):
        text = "".join(f"{(k >> d) % width}\n" for d in range(depth)) + "#1"
        ids = (*TOKENIZER.encode(text), TOKENIZER.eos_id)
        tree.add(Rollout(k, (), 0, ids, (-0.1,) * len(ids), float(k % 3 == 0)), selected=False)
    return tree


def draw(tree, kind, progress=0.0, count=8, seed=0, value=lambda path: 0.5, **kwargs):
    rng = np.random.default_rng(seed)
    return draw_prefixes(tree, count, kind=kind, progress=progress, value=value, rng=rng, **kwargs)


@pytest.mark.parametrize("kind", ["uniform", "depth", "success"])
def test_groups_mix_depths_hold_roots_and_no_finished_solution(kind):
    tree = chain_tree()
    by_path = {node.path: node for node in tree.nodes()}
    for seed in range(20):
        paths = draw(tree, kind, seed=seed, root_fraction=0.25)
        assert len(paths) == 8 and paths.count(()) == 2
        assert all(not by_path[p].terminal for p in paths)
        assert len(set(paths[2:])) == 6  # without replacement while there are enough
    assert len({len(p) for p in paths}) > 1


def test_reverse_curriculum_moves_from_deep_to_shallow():
    tree = chain_tree()
    mean = {p: np.mean([len(x) for s in range(30) for x in draw(tree, "depth", p, seed=s)]) for p in (0.0, 0.5, 1.0)}
    assert mean[0.0] > mean[0.5] > mean[1.0]


def test_success_weights_prefer_half_mastered_prefixes():
    tree = chain_tree()
    target = (0, 1)
    value = lambda path: 0.5 if path == target else 0.0  # noqa: E731
    share = np.mean([target in draw(tree, "success", seed=s, value=value, count=4) for s in range(60)])
    uniform = np.mean([target in draw(tree, "uniform", seed=s, count=4) for s in range(60)])
    assert share > 2 * uniform


def test_root_groups_and_tiny_trees():
    assert draw(chain_tree(), "root") == [()] * 8
    assert draw(PrefixTree(TOKENIZER, max_depth=3, branching=2), "uniform") == [()] * 8
    assert len(draw(chain_tree(depth=1), "uniform", count=16)) == 16  # fewer prefixes than members: repeated


def completion(reward, length=3):
    sample = Sample(list(range(65, 65 + length)), [-1.0] * length, "stop", 0)
    session = Session("q", 0, 64, [completion_segment([1, 2, 3, 4], sample)], finish="submitted")
    session.evaluations.append(Evaluation(0, 0, reward, "pass" if reward else "wrong_output", ""))
    return session


def group(rewards, paths):
    return StagedGroup("q", [completion(r) for r in rewards], paths)


PATHS = [("q",), ("q", 0), ("q", 1), ("q", 0, 0)]


@pytest.mark.parametrize("estimator", ["flat", "expectation", "soft", "hard", "penalty", "trace"])
def test_credit_gives_the_estimators_advantage_to_every_sampled_token_and_to_no_other(estimator):
    rewards = np.array([0.0, 0.0, 0.0, 1.0])
    tree = TreeConfig(estimator=estimator, online=False)
    credit = staged_credit(group(rewards, PATHS), tree, AlgoConfig(), NodeStatistics())
    expected = staged_advantages(PATHS, rewards, SaeSettings(estimator))
    for item, advantage in zip(credit.credits, expected.advantages, strict=True):
        np.testing.assert_allclose(item.advantages[0], [0] * 4 + [advantage] * 3)
        assert item.trained[0].tolist() == [False] * 4 + [True] * 3
    assert credit.has_variance and credit.met == expected.met
    numbers = describe_staged([credit])
    assert numbers["constraints_met"] == expected.met and numbers["groups_with_constraints"] == 1


def test_infrastructure_faults_leave_the_statistics():
    broken = group([0.0, 0.0, 1.0, 1.0], PATHS)
    broken.sessions[3].finish = "infrastructure"
    statistics = NodeStatistics()
    credit = staged_credit(broken, TreeConfig(estimator="flat"), AlgoConfig(), statistics)
    assert statistics.count(("q",)) == 3 and statistics.count(("q", 0, 0)) == 0
    got = [c.advantages[0][-1] for c in credit.credits]
    np.testing.assert_allclose(got, [-1 / 3, -1 / 3, 2 / 3, 0.0])


def test_online_values_use_earlier_groups_and_not_the_own_reward():
    statistics = NodeStatistics()
    tree = TreeConfig(estimator="expectation", online=True, alpha=1.0)
    for _ in range(50):
        staged_credit(group([0.0, 1.0, 0.0, 1.0], PATHS), tree, AlgoConfig(), statistics)
    credit = staged_credit(group([0.0, 1.0, 1.0, 1.0], PATHS), tree, AlgoConfig(), statistics)
    root, easy, surprise, deep = (c.advantages[0][-1] for c in credit.credits)
    assert surprise > easy > root  # the success that the past did not promise is worth most
    assert abs(root + easy + surprise + deep) < 1e-12
