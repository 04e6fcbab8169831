"""Sessions that branch: the prefix is repeated exactly, never trained again, and its place in the tree is right."""

import asyncio
from itertools import pairwise

import numpy as np
import pytest
from agent_helpers import WordTokenizer, write

from agent.prompt import fixed_phrases
from agent.session import run_session
from atrl_ms.algos.advantages import training_mask
from atrl_ms.algos.sae import SaeSettings, staged_advantages
from atrl_ms.algos.sae_edges import order_graph
from atrl_ms.algos.sae_values import NodeStatistics
from atrl_ms.config import AgentConfig, AlgoConfig, TreeConfig, load_config
from atrl_ms.tree.branching import BranchingEngine, RecordedJudge, boundaries, calls_of, freeze
from atrl_ms.tree.staged import StagedGroup, staged_credit
from atrl_ms.types import Sample, Segment, Session, Stage, StepFeedback, Task, TokenKind

SCORES = {"k0": 0.0, "k1": 0.05, "k2": 0.15, "k3": 0.3, "k4": 1.0}
TOKENIZER = WordTokenizer()
TOKENIZER.encode(" ".join([*fixed_phrases(), *SCORES, "one two three four five learned next a b x * score . 0 1 2"]))
TASK = Task("double/0", "x * 0")
AGENT = AgentConfig(
    window=156, max_turns=4, max_reply_tokens=30, feedback_tokens=16, max_summary_tokens=12, knowledge_tokens=0,
    max_session_tokens=800,
)  # fmt: skip


class BankEngine:
    """Replies drawn from a bank by the request's seed; summaries when the cap is a summary's."""

    calls = 0

    async def generate(self, request):
        self.calls += 1
        draw = np.random.default_rng(request.seed).choice(5, p=[0.25, 0.2, 0.25, 0.2, 0.1])
        summary = request.max_new_tokens <= 12
        text = f"learned: {'ab'[draw % 2]}\nnext: b" if summary else "one two three\n" + write(f"k{draw}")
        ids = [*TOKENIZER.encode(text), request.stop_ids[0]][: request.max_new_tokens]
        return Sample(ids, [-0.5] * len(ids), "stop", 3)


class ScoreJudge:
    calls = 0

    async def verify(self, task, candidate, *, seed=0):
        self.calls += 1
        score = SCORES[candidate.strip()]
        verdict = {0.0: "static_error", 1.0: "pass"}.get(score, "compile_error")
        return StepFeedback(verdict, (Stage("static", score > 0, 0.0),), 0, 1, score, None, f"score {score}")


def play(seed, engine=None, judge=None):
    engine, judge = engine or BankEngine(), judge or ScoreJudge()
    return asyncio.run(run_session(TASK, engine=engine, tokenizer=TOKENIZER, judge=judge, config=AGENT, seed=seed))


def branch_off(branch, seed):
    """A continuation of `branch` and how many calls of engine and judge were really made."""
    engine, judge = BankEngine(), ScoreJudge()
    branching, recorded = BranchingEngine(engine), RecordedJudge(judge)
    branching.continue_from(branch, seed)
    recorded.remember(branch.origin)
    return freeze(play(seed, branching, recorded), branch), engine.calls, judge.calls


ORIGINS = [play(seed) for seed in range(25)]
BRANCHES = [branch for number, origin in enumerate(ORIGINS) for branch in boundaries(origin, number)]


def test_the_samples_cover_compactions_and_repeated_prompts():
    prompts = [tuple(call.prompt for call in calls_of(origin)) for origin in ORIGINS]
    assert any(origin.compactions for origin in ORIGINS)
    assert any(len(set(p)) < len(p) for p in prompts)  # the same prompt twice in one session
    assert len(BRANCHES) > 20


def test_calls_are_the_sampled_tokens_in_order():
    for origin in ORIGINS:
        calls = calls_of(origin)
        assert sum(len(c.tokens) for c in calls) == sum(int(s.mask.sum()) for s in origin.segments)
        summaries = sum(int(s.kinds[c.start] == TokenKind.SUM) for c in calls for s in [origin.segments[c.segment]])
        assert summaries == len(origin.compactions)


@pytest.mark.parametrize("index", range(0, len(BRANCHES), 3))
def test_a_branch_repeats_its_prefix_exactly_and_trains_only_what_it_sampled(index):
    branch = BRANCHES[index]
    kept = calls_of(branch.origin)[: branch.kept]
    session, engine_calls, _ = branch_off(branch, 10_000 + index)
    for call in kept:
        segment = session.segments[call.segment]
        end = call.start + len(call.tokens)
        assert segment.token_ids[:end].tolist() == [*call.prompt, *call.tokens]
        assert not segment.mask[call.start : end].any()
    fresh = calls_of(session)
    assert engine_calls == len(fresh) >= 1  # each call of the branch itself, none of the repeated ones
    trained = sum(int(training_mask(session, s, AlgoConfig()).sum()) for s in range(len(session.segments)))
    assert trained <= sum(len(c.tokens) for c in fresh)
    before = [e.score for e in branch.origin.evaluations if e.turn <= max_turn(branch)]
    assert session.reward >= max(before)


def max_turn(branch):
    last = calls_of(branch.origin)[branch.kept - 1]
    return int(branch.origin.segments[last.segment].turns[last.start])


def test_branches_of_one_boundary_differ_and_reuse_recorded_verdicts():
    branch = max(BRANCHES, key=lambda b: b.kept)
    judges = [branch_off(branch, seed) for seed in range(500, 510)]
    texts = {tuple(e.candidate for e in session.evaluations) for session, _, _ in judges}
    assert len(texts) > 1
    known = {e.candidate for e in branch.origin.evaluations}
    for session, _, judge_calls in judges:
        assert judge_calls == len({e.candidate for e in session.evaluations} - known)


def test_paths_nest_along_a_session_and_part_between_sessions():
    places = boundaries(max(ORIGINS, key=lambda o: len(calls_of(o))), 7)
    assert all(b.path[:-1] == a.path for a, b in pairwise(places))
    assert places[0].path == (TASK.name, "7.1")
    graph = order_graph([(TASK.name,), places[-1].path, (TASK.name, "8.1")], np.array([0.0, 1.0, 0.0]))
    assert {tuple(e) for e in graph.sample_edges()} == {(0, 1)}


def test_a_session_that_is_no_continuation_is_refused():
    branch = BRANCHES[0]
    segment = branch.origin.segments[0]
    changed = Segment(**{**segment.__dict__, "token_ids": segment.token_ids.copy(), "mask": segment.mask.copy()})
    changed.token_ids[calls_of(branch.origin)[0].start] += 1
    with pytest.raises(RuntimeError, match="left its record"):
        freeze(Session(TASK.name, 0, 156, [changed]), branch)
    with pytest.raises(RuntimeError, match="before its boundary"):
        freeze(Session(TASK.name, 0, 156, []), branch)


@pytest.mark.parametrize("estimator", ["expectation", "soft"])
def test_estimators_on_branched_sessions_give_staged_advantages(estimator):
    origins = ORIGINS[:3]
    places = [b for n, origin in enumerate(origins) for b in boundaries(origin, n)][:6]
    sessions = [*origins, *(branch_off(b, 900 + k)[0] for k, b in enumerate(places))]
    group = StagedGroup(TASK.name, sessions, [(TASK.name,)] * 3 + [b.path for b in places])
    rewards = np.array([s.reward for s in sessions])
    assert ((rewards >= 0) & (rewards <= 1)).all() and np.ptp(rewards) > 0
    tree = TreeConfig(source="kernels", estimator=estimator, eta=0.05, success=0.3)
    credit = staged_credit(group, tree, AlgoConfig(), NodeStatistics())
    reference = NodeStatistics()
    reference.update(group.paths, rewards)
    expected = staged_advantages(
        group.paths,
        rewards,
        SaeSettings(estimator, eta=0.05, success=0.3),
        values=reference.leave_one_out(group.paths, rewards),
    )
    assert len(expected.graph.edges) > 0
    if estimator == "soft":
        assert credit.met == 1.0
    assert abs(expected.advantages.sum()) < 1e-9
    for item, advantage in zip(credit.credits, expected.advantages, strict=True):
        for values_T, trained_T in zip(item.advantages, item.trained, strict=True):
            np.testing.assert_allclose(values_T[trained_T], advantage)
            assert not values_T[~trained_T].any()


def test_kernel_configuration_uses_the_tree():
    config = load_config("configs/tree_opo_kernels.yaml")
    assert config.algorithm == "tree_opo" and config.tree.source == "kernels"
    assert load_config("configs/tree_opo_kernels.yaml", ["tree.estimator=soft"]).tree.estimator == "soft"
