"""Advantages: the published test vectors, and what must not change an estimate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from session_factory import ACT, OBS, SUM, make_session

from atrl_ms.algos.advantages import PER_SEGMENT, group_credit
from atrl_ms.algos.discounted import discounted
from atrl_ms.algos.grpo import grpo
from atrl_ms.algos.returns import leave_one_out, overlong_penalty, reward_to_go, segment_rewards, turn_rewards
from atrl_ms.algos.rloo import rloo
from atrl_ms.algos.togo import togo
from atrl_ms.config import AlgoConfig
from atrl_ms.types import Group

ALL = ["grpo", "rloo", "discounted", "togo", "atrl", "trloo"]


def credit(sessions, advantage, **keys):
    return group_credit(Group("t", sessions), AlgoConfig(advantage=advantage, **keys))


def rewards_strategy(max_segments=4):
    scores = st.sampled_from([0.0, 0.05, 0.15, 0.3, 0.4, 0.7, 1.0])
    rollout = st.lists(scores, min_size=1, max_size=max_segments).map(np.array)
    return st.lists(rollout, min_size=2, max_size=6)


def test_vector_centred_and_leave_one_out():
    returns = np.array([2.0, 0.0, 1.0, 1.0])
    assert np.allclose(returns - returns.mean(), [1, -1, 0, 0])
    assert np.allclose(leave_one_out(returns), [4 / 3, -4 / 3, 0, 0])


def test_vector_potential_and_to_go():
    session = make_session([[0.2, 0.2], [0.6], [1.0]])
    assert np.allclose(session.segment_rewards(), [0.2, 0.4, 0.4])
    assert np.allclose(reward_to_go(session.segment_rewards(), 1.0), [1.0, 0.8, 0.4])
    assert np.allclose(turn_rewards(session, AlgoConfig()), [0.2, 0.0, 0.4, 0.4])


def test_vector_overlong_shaping():
    values = [overlong_penalty(n, 20480, 4096) for n in (100, 16384, 18432, 20480, 30000)]
    assert np.allclose(values, [0, 0, -0.5, -1, -1])


def test_overlong_shaping_lowers_the_return_of_the_long_rollout_only():
    short, long = make_session([[1.0]], act_tokens=4), make_session([[1.0]], act_tokens=10)
    group = credit([short, long], "rloo", overlong_buffer=4, overlong_max_tokens=10)
    assert np.allclose(group.returns, [1.0, 0.0])


def test_group_statistics_count_rollouts_not_segments():
    group = credit([make_session([[0.0], [0.0], [1.0]]), make_session([[0.0]])], "rloo")
    centred = group.returns - group.returns.mean()
    assert np.allclose(centred, [0.5, -0.5])
    values = credit([make_session([[0.0], [0.0], [1.0]]), make_session([[0.0]])], "grpo")
    assert np.allclose(values.credits[0].advantages[1][values.credits[0].trained[1]][0], 1.0)
    assert np.allclose(values.credits[1].advantages[0][values.credits[1].trained[0]], -1.0)


def test_grpo_on_single_segments_is_standard_grpo_bit_for_bit():
    scores = [0.0, 0.15, 0.4, 0.85, 0.4, 0.05, 0.15, 1.0]
    group = credit([make_session([[score]], seed=i) for i, score in enumerate(scores)], "grpo")
    returns = np.array(scores)
    expected = (returns - np.mean(returns)) / np.std(returns)
    for c, value in zip(group.credits, expected, strict=True):
        sampled = c.session.segments[0].mask
        assert (c.advantages[0][sampled] == value).all()
        assert (c.advantages[0][~sampled] == 0).all()


def test_discounted_gives_the_last_segment_the_whole_advantage():
    rewards = [np.array([0.0, 0.0, 1.0]), np.array([0.0])]
    assert np.allclose(discounted(rewards, AlgoConfig(kappa=0.5))[0], [0.25, 0.5, 1.0])


def test_togo_baseline_is_of_the_rollouts_that_reach_the_segment():
    rewards = [np.array([0.2, 0.4]), np.array([0.0, 0.3]), np.array([0.1, 0.0]), np.array([0.5])]
    values = togo(rewards, AlgoConfig(gamma=1.0))
    assert np.isclose(values[0][0], 0.6 - np.mean([0.3, 0.1, 0.5]))
    assert np.isclose(values[0][1], 0.4 - np.mean([0.3, 0.0]))
    assert np.isclose(values[2][1], 0.0 - np.mean([0.4, 0.3]))


def test_togo_with_fewer_than_two_others_falls_back_to_rloo():
    rewards = [np.array([0.2, 0.4]), np.array([0.0, 0.3]), np.array([0.1])]
    values, outcome = togo(rewards, AlgoConfig()), rloo(rewards, AlgoConfig())
    assert values[0][1] == outcome[0][1] and values[1][1] == outcome[1][1]
    assert not np.isclose(values[0][1], 0.4 - 0.3)  # one other rollout is no baseline


def test_togo_discounts_later_segments_by_gamma():
    rewards = [np.array([0.0, 1.0]), np.array([0.0]), np.array([0.0])]
    assert np.isclose(togo(rewards, AlgoConfig(gamma=0.5))[0][0], 0.5)


@pytest.mark.parametrize("w, twin", [(0.0, "rloo"), (1.0, "togo")])
def test_atrl_ends_at_rloo_and_togo(w, twin):
    sessions = [make_session([[0.15], [0.4]]), make_session([[0.0]]), make_session([[0.05], [0.05]])]
    mixed, pure = credit(sessions, "atrl", atrl_w=w), credit(sessions, twin)
    for a, b in zip(mixed.credits, pure.credits, strict=True):
        for x, y in zip(a.advantages, b.advantages, strict=True):
            assert np.allclose(x, y)


def test_trloo_credits_each_turn_with_what_followed_it():
    sessions = [make_session([[0.15, 1.0]]), make_session([[0.0, 0.0]]), make_session([[0.05, 0.05]])]
    group = credit(sessions, "trloo")
    segment, values = sessions[0].segments[0], group.credits[0].advantages[0]
    first = values[(segment.turns == 0) & segment.mask]
    second = values[(segment.turns == 1) & segment.mask]
    assert np.allclose(first, 1.0 - np.mean([0.0, 0.05]))
    assert np.allclose(second, 0.85 - np.mean([0.0, 0.0]))


@pytest.mark.parametrize("advantage", ["togo", "atrl", "discounted", "trloo"])
def test_summary_takes_the_advantage_of_the_next_segment(advantage):
    sessions = [
        make_session([[0.15], [1.0]], seed=1),
        make_session([[0.0], [0.4]], seed=2),
        make_session([[0.05], [0.05]]),
    ]
    group = credit(sessions, advantage)
    for c in group.credits:
        first, second = c.session.segments
        summary = c.advantages[0][first.kinds == SUM]
        acts = c.advantages[1][second.kinds == ACT]
        assert summary.size and (summary == acts[0]).all()
    head = group.credits[0]
    assert (head.advantages[0][head.session.segments[0].kinds == ACT] != head.advantages[1][3]).any()


def test_summary_that_nothing_follows_earns_nothing():
    session = make_session([[1.0], [1.0]])
    session.segments.pop()
    session.evaluations.pop()
    for advantage in ALL:
        group = credit([session, make_session([[0.0]]), make_session([[0.05]])], advantage)
        assert (group.credits[0].advantages[0][session.segments[0].kinds == SUM] == 0).all()
        assert (group.credits[0].advantages[0][session.segments[0].kinds == ACT] > 0).all()


@pytest.mark.parametrize("advantage", ALL)
def test_duplicating_a_segment_keeps_the_statistics_duplicating_a_rollout_does_not(advantage):
    a, b, c = make_session([[1.0]]), make_session([[0.0]]), make_session([[0.15]])
    before = credit([a, b, c], advantage)
    longer = make_session([[0.0]])
    longer.segments.append(longer.segments[0])
    same = credit([a, longer, c], advantage)
    assert np.array_equal(same.returns, before.returns)
    if advantage in ("grpo", "rloo", "discounted"):
        assert np.array_equal(same.credits[0].advantages[0], before.credits[0].advantages[0])
    more = credit([a, b, b, c], advantage)
    assert not np.allclose(more.credits[0].advantages[0], before.credits[0].advantages[0])


@pytest.mark.parametrize("advantage", ALL)
def test_infrastructure_sessions_leave_statistics_and_loss(advantage):
    good = [make_session([[1.0], [1.0]]), make_session([[0.0]]), make_session([[0.05]])]
    broken = make_session([[0.0], [0.0]], finish="infrastructure")
    alone, mixed = credit(good, advantage), credit([good[0], broken, *good[1:]], advantage)
    kept = [mixed.credits[i] for i in (0, 2, 3)]
    for a, b in zip(alone.credits, kept, strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(a.advantages, b.advantages, strict=True))
    assert mixed.credits[1].trained_tokens == 0
    assert all((a == 0).all() for a in mixed.credits[1].advantages)


def test_group_of_infrastructure_faults_only_teaches_nothing():
    group = credit([make_session([[0.0]], finish="infrastructure")] * 3, "atrl")
    assert not group.has_variance and sum(c.trained_tokens for c in group.credits) == 0


@pytest.mark.parametrize("finish", ["max_turns", "max_tokens", "max_compactions", "window"])
def test_budget_keeps_the_return_and_masks_the_loss_unless_something_scored(finish):
    nothing = make_session([[0.0]], finish=finish)
    something = make_session([[0.05]], finish=finish)
    group = credit([nothing, something, make_session([[1.0]])], "rloo")
    assert np.allclose(group.returns, [0.0, 0.05, 1.0])
    assert group.credits[0].trained_tokens == 0
    assert group.credits[1].trained_tokens == int(something.segments[0].mask.sum())


def test_masking_summaries_removes_them_from_the_loss_only():
    session = make_session([[0.15], [1.0]])
    group = credit([session, make_session([[0.0]])], "rloo", train_summaries=False)
    first = session.segments[0]
    assert np.array_equal(group.credits[0].trained[0], first.kinds == ACT)


@pytest.mark.parametrize("advantage", ALL)
def test_group_without_variance_is_recognised(advantage):
    equal = credit([make_session([[0.05], [0.15]]), make_session([[0.15]])], advantage)
    assert not equal.has_variance
    assert credit([make_session([[0.15]]), make_session([[0.4]])], advantage).has_variance


@settings(max_examples=60, deadline=None)
@given(rewards_strategy(), st.sampled_from(sorted(PER_SEGMENT)), st.randoms())
def test_estimates_follow_a_permutation_of_the_rollouts(rewards, name, random):
    order = list(range(len(rewards)))
    random.shuffle(order)
    values = PER_SEGMENT[name](rewards, AlgoConfig())
    permuted = PER_SEGMENT[name]([rewards[i] for i in order], AlgoConfig())
    for i, value in zip(order, permuted, strict=True):
        assert np.allclose(values[i], value, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(rewards_strategy())
def test_rollout_level_estimates_sum_to_zero_over_rollouts(rewards):
    for estimator in (grpo, rloo):
        first = [values[0] for values in estimator(rewards, AlgoConfig())]
        assert abs(sum(first)) < 1e-9


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from([0.0, 0.05, 0.15, 0.4, 0.9]), min_size=1, max_size=3), min_size=1, max_size=4))
def test_rewards_of_segments_and_turns_sum_to_the_best_score(scores):
    session, algo = make_session(scores), AlgoConfig()
    for rewards in (segment_rewards(session, algo), turn_rewards(session, algo)):
        assert (rewards >= 0).all() and np.isclose(rewards.sum(), session.reward)


def test_observations_never_carry_an_advantage():
    sessions = [make_session([[0.15], [1.0]]), make_session([[0.0]])]
    for advantage in ALL:
        for c in credit(sessions, advantage).credits:
            for segment, values in zip(c.session.segments, c.advantages, strict=True):
                assert (values[segment.kinds == OBS] == 0).all()
