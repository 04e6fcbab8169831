"""The objective through the real policy: how a rollout is cut, micro-batches and masks must not change the gradient."""

import numpy as np
import pytest
from session_factory import ACT, OBS, SUM, make_segment
from trainer_harness import make_config, make_parts, shared_loss

from atrl_ms.algos.advantages import group_credit
from atrl_ms.config import AlgoConfig
from atrl_ms.train.batching import make_micro_batches
from atrl_ms.types import Evaluation, Group, Segment, Session


def gradient(sessions, algo, tmp_path, token_budget=10_000):
    """The accumulated gradient of one optimizer step, and the loss."""
    learner = make_parts(make_config(tmp_path)).learner
    credits = group_credit(Group("t", sessions), algo).credits
    loss = shared_loss(algo.model_dump_json(), True)
    batches = make_micro_batches(credits, algo, token_budget, 64, 0)
    value = sum(float(learner.accumulate(batch.columns(), loss)[0]) for batch in batches)
    return np.concatenate([total.asnumpy().ravel().copy() for total in learner.sums]), value


def rollout(segments, score):
    session = Session("t", 0, 128, list(segments), finish="submitted")
    session.evaluations = [Evaluation(len(segments) - 1, 1, score, "wrong_output", "k")]
    return session


@pytest.fixture
def whole():
    plan = [(OBS, 9, -1), (ACT, 6, 0), (OBS, 5, 0), (ACT, 7, 1), (OBS, 3, 1)]
    return make_segment(plan, np.random.default_rng(5), vocab=150)


def part(segment, context_len, end):
    """Tokens [0, end) of a segment with the first `context_len` as context."""
    mask = segment.mask[:end] & (np.arange(end) >= context_len)
    fields = {name: getattr(segment, name)[:end] for name in ("token_ids", "kinds", "turns", "versions")}
    return Segment(context_len=context_len, mask=mask, logprobs=np.where(mask, segment.logprobs[:end], 0.0), **fields)


def test_cutting_a_rollout_where_the_context_is_kept_changes_nothing(whole, tmp_path):
    algo = AlgoConfig(advantage="rloo")
    other = rollout([make_segment([(OBS, 9, -1), (ACT, 11, 0)], np.random.default_rng(8), vocab=150)], 0.15)
    one, loss_one = gradient([rollout([whole], 0.3), other], algo, tmp_path)
    cut = [part(whole, 9, 20), part(whole, 20, len(whole.token_ids))]
    assert sum(int(s.mask.sum()) for s in cut) == int(whole.mask.sum())
    two, loss_two = gradient([rollout(cut, 0.3), other], algo, tmp_path)
    assert np.isclose(loss_one, loss_two, rtol=1e-5, atol=1e-7)
    assert np.allclose(one, two, rtol=1e-4, atol=1e-7) and np.abs(one).max() > 1e-4


def test_micro_batches_add_up_to_the_whole_batch(whole, tmp_path):
    algo = AlgoConfig(advantage="rloo")
    sessions = [rollout([whole], 0.3), rollout([part(whole, 9, 15)], 0.15), rollout([part(whole, 9, 27)], 0.0)]
    together, loss_together = gradient(sessions, algo, tmp_path)
    apart, loss_apart = gradient(sessions, algo, tmp_path, token_budget=1)
    assert np.isclose(loss_together, loss_apart, rtol=1e-5) and np.allclose(together, apart, rtol=1e-4, atol=1e-7)


def test_observed_tokens_are_no_targets_summaries_are(tmp_path):
    """The last token of a segment conditions nothing, so changing it can only act through being a target."""
    algo = AlgoConfig(advantage="grpo")
    for kind, matters in ((OBS, False), (SUM, True)):
        plan = [(OBS, 9, -1), (ACT, 6, 0), (OBS, 3, 0), (kind, 1, 0)]
        follow = make_segment([(OBS, 9, -1), (ACT, 4, 1)], np.random.default_rng(7), vocab=150)
        results = []
        for shift in (0, 1):
            first = make_segment(plan, np.random.default_rng(6), vocab=150)
            first.token_ids[-1] += shift
            sessions = [rollout([first, follow], 0.3), rollout([follow], 0.0)]
            results.append(gradient(sessions, algo, tmp_path)[0])
        assert np.array_equal(*results) != matters


def test_compiled_graphs_follow_weights_that_are_loaded_later(whole, tmp_path):
    """A resume or a reset writes into parameters that compiled graphs already hold."""
    algo = AlgoConfig(advantage="rloo")
    sessions = [rollout([whole], 0.3), rollout([part(whole, 9, 15)], 0.15)]
    first, _ = gradient(sessions, algo, tmp_path)
    parts = make_parts(make_config(tmp_path))
    ids = whole.token_ids[None]
    before = parts.learner.logprobs(ids)
    gradient(sessions, algo, tmp_path)
    parts.learner.apply(0.05)
    assert not np.allclose(parts.learner.logprobs(ids), before, atol=1e-3)
    again, _ = gradient(sessions, algo, tmp_path)  # loads the first weights again
    assert np.array_equal(first, again) and np.array_equal(parts.learner.logprobs(ids), before)
