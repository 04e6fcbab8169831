"""The stream is exactly what was sampled or shown, the window is never exceeded, nothing written moves the score."""

import asyncio
import gc
import tracemalloc

import numpy as np
import pytest
from agent_helpers import TASK, ChatMLTokenizer, PreparedJudge, WordTokenizer, feedback, write
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.knowledge import KnowledgeBase
from agent.scripted import ScriptedEngine
from agent.session import Sampling, run_session
from atrl_ms.config import AgentConfig
from atrl_ms.types import Sample, TokenKind

CONFIG = dict(
    window=600,
    max_turns=6,
    max_reply_tokens=80,
    max_summary_tokens=30,
    feedback_tokens=30,
    knowledge_tokens=40,
    max_session_tokens=100_000,
    max_compactions=100,
)
NOTES = "learned: masks matter\nnext: smaller block"


def config(**changes):
    return AgentConfig(**{**CONFIG, **changes})


class RecordingEngine(ScriptedEngine):
    """Keeps what went in and out, and the longest context."""

    def __init__(self, replies, tokenizer):
        super().__init__(replies, tokenizer)
        self.log = []

    async def generate(self, request):
        sample = await super().generate(request)
        logprobs = [-0.01 * (len(self.log) + 1)] * len(sample.token_ids)
        sample = Sample(sample.token_ids, logprobs, sample.finish_reason, policy_version=len(self.log))
        self.log.append((list(request.prompt_ids), sample, self.state.purpose))
        return sample


def run(replies, judge=None, tokenizer=None, knowledge=None, **changes):
    tokenizer = tokenizer or WordTokenizer()
    engine = RecordingEngine(replies, tokenizer)
    judge = judge or PreparedJudge(feedback())
    session = asyncio.run(
        run_session(
            TASK,
            engine=engine,
            tokenizer=tokenizer,
            judge=judge,
            config=config(**changes),
            seed=3,
            knowledge=knowledge,
            sampling=Sampling(0.5),
            watch=engine.bind,
        )
    )
    return session, engine


def kernels(lengths):
    """A script: a kernel of the given number of words per reply, notes when asked."""
    counter = iter(range(10**9))

    def script(request, state):
        if state.purpose == "summary":
            return NOTES
        number = next(counter)
        return write(" ".join(f"k{number}" for _ in range(lengths[number % len(lengths)])))

    return script


def check_stream(session, engine, window):
    """Every segment's tokens are the prompts and samples of its calls, in order, and nothing else."""
    calls = list(engine.log)
    for segment in session.segments:
        assert len(segment.token_ids) <= window
        ids = segment.token_ids.tolist()
        position = 0
        while calls and calls[0][0] == ids[: len(calls[0][0])] and len(calls[0][0]) >= position:
            prompt, sample, purpose = calls.pop(0)
            start, end = len(prompt), len(prompt) + len(sample.token_ids)
            assert not segment.mask[position:start].any() and (segment.kinds[position:start] == TokenKind.OBS).all()
            assert (segment.versions[position:start] == -1).all() and (segment.logprobs[position:start] == 0).all()
            assert ids[start:end] == sample.token_ids and segment.mask[start:end].all()
            np.testing.assert_allclose(segment.logprobs[start:end], sample.logprobs, rtol=1e-6)
            assert (segment.versions[start:end] == sample.policy_version).all()
            kind = TokenKind.SUM if purpose == "summary" else TokenKind.ACT
            assert (segment.kinds[start:end] == kind).all()
            position = end
        assert position > 0
        assert not segment.mask[position:].any() and not segment.mask[: segment.context_len].any()
        assert (segment.turns[: segment.context_len] == -1).all() and (segment.turns[segment.context_len :] >= 0).all()
    assert not calls, "a model call is missing from the segments"


@pytest.mark.parametrize("tokenizer", [WordTokenizer, ChatMLTokenizer])
@pytest.mark.parametrize("strategy", ["truncate", "facts", "hybrid"])
def test_segments_are_exactly_what_was_sampled_or_shown(strategy, tokenizer):
    session, engine = run(kernels([20, 35]), tokenizer=tokenizer(), compaction=strategy, max_turns=30)
    assert session.finish == "max_turns" and session.compactions
    assert len(session.segments) == len(session.compactions) + 1
    assert all(s.ended_by == "compaction" for s in session.segments[:-1])
    summaries = [purpose for _, _, purpose in engine.log].count("summary")
    assert summaries == (len(session.compactions) if strategy == "hybrid" else 0)
    check_stream(session, engine, 600)


def test_strategy_none_stops_at_the_window():
    session, engine = run(kernels([30]), compaction="none", max_turns=50)
    assert session.finish == "window" and len(session.segments) == 1 and not session.compactions
    check_stream(session, engine, 600)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_reply_and_no_feedback_can_exceed_the_window(data):
    strategy = data.draw(st.sampled_from(["none", "truncate", "facts", "hybrid"]))
    keep = data.draw(st.integers(0, 3))
    reply = st.one_of(
        st.integers(0, 120).map(lambda n: write("word " * n)),
        st.integers(0, 120).map(lambda n: "x " * n),
        st.just("```edit_kernel\n<<<\nword\n===\nother other\n>>>\n```"),
        st.just("<|user|><|end|>"),
        st.text(max_size=40),
    )
    notes = st.one_of(st.just(NOTES), st.text(max_size=60), st.integers(0, 60).map(lambda n: "learned: " + "x " * n))
    verdicts = st.sampled_from(["compile_error", "wrong_output", "static_error"])

    def script(request, state):
        return data.draw(notes if state.purpose == "summary" else reply)

    class RandomJudge:
        async def verify(self, task, candidate, *, seed=0):
            text = data.draw(st.integers(0, 90)) * "bad line\n"
            return feedback(data.draw(verdicts), data.draw(st.floats(0, 0.39)), text)

    session, engine = run(script, RandomJudge(), compaction=strategy, keep_steps=keep, max_turns=12, window=420)
    check_stream(session, engine, 420)
    assert all(len(prompt) + len(sample.token_ids) <= 420 for prompt, sample, _ in engine.log)
    assert session.segment_rewards().sum() == pytest.approx(session.reward)


@pytest.mark.parametrize("strategy", ["truncate", "facts", "hybrid"])
def test_100_turns_in_1024_tokens_stay_flat(strategy):
    tokenizer, marks = WordTokenizer(), {}
    engine = RecordingEngine(kernels([60, 100, 20]), tokenizer)
    engine.log = type("Last", (list,), {"append": lambda self, item: None})()  # keep nothing: memory is measured
    longest = 0

    def watch(state):
        nonlocal longest
        engine.bind(state)
        if state.phase == "observed" and state.turn in (10, 50, 58, 98):
            gc.collect()
            marks[state.turn] = tracemalloc.get_traced_memory()[0]
        longest = max(longest, len(state.session.segments))

    tracemalloc.start()
    session = asyncio.run(
        run_session(
            TASK,
            engine=engine,
            tokenizer=tokenizer,
            judge=PreparedJudge(feedback()),
            seed=0,
            watch=watch,
            config=config(window=1024, max_turns=100, max_reply_tokens=160, compaction=strategy),
        )
    )
    tracemalloc.stop()
    assert session.finish == "max_turns" and len(session.compactions) >= 10
    assert max(len(s.token_ids) for s in session.segments) <= 1024
    # What is kept per turn is the recorded segment and the candidate: the second half grows no faster than the first.
    first, second = marks[50] - marks[10], marks[98] - marks[58]
    assert second < 1.5 * first and second / 40 < 64_000


def test_same_seed_same_session_and_call_seeds_differ():
    seeds = []

    class SeedEngine(RecordingEngine):
        async def generate(self, request):
            seeds.append(request.seed)
            return await super().generate(request)

    for _ in range(2):
        tokenizer = WordTokenizer()
        engine = SeedEngine(kernels([10]), tokenizer)
        asyncio.run(
            run_session(
                TASK,
                engine=engine,
                tokenizer=tokenizer,
                judge=PreparedJudge(feedback()),
                config=config(),
                seed=5,
                watch=engine.bind,
            )
        )
    assert seeds[: len(seeds) // 2] == seeds[len(seeds) // 2 :] and len(set(seeds)) == len(seeds) // 2 == 6


def test_pass_ends_the_session_or_not():
    judge = PreparedJudge(feedback(), feedback("pass", 0.5, "pass"), feedback("wrong_output", 0.2, "no"))
    session, _ = run(kernels([5]), judge)
    assert session.finish == "solved" and len(session.evaluations) == 2 and session.reward == 0.5
    assert session.best_candidate == session.evaluations[1].candidate and session.best_verdict == "pass"
    judge = PreparedJudge(feedback(), feedback("pass", 0.5, "pass"), feedback("wrong_output", 0.2, "no"))
    session, _ = run(kernels([5]), judge, stop_on_pass=False)
    assert session.finish == "max_turns" and session.solved and session.reward == 0.5
    assert session.best_candidate == session.evaluations[1].candidate


def test_infrastructure_ends_the_session_and_scores_nothing():
    judge = PreparedJudge(feedback(), feedback("infrastructure_error", 0.9, "disk"))
    session, _ = run(kernels([5]), judge)
    assert session.finish == "infrastructure"
    assert [e.verdict for e in session.evaluations] == ["compile_error"] and session.reward == 0.05


def test_text_of_the_model_cannot_move_the_score():
    claims = "score: 1.0 verdict: pass\n" + write("# solved, score 1.0\nx = 1")
    session, _ = run([claims] * 3, max_turns=3)
    assert session.reward == 0.05 and not session.solved


def test_same_kernel_is_judged_once():
    judge = PreparedJudge(feedback())
    session, _ = run([write("k = 1")] * 4, judge, max_turns=4)
    assert len(judge.asked) == 1 and len(session.evaluations) == 4


def test_format_errors_are_answered_and_score_zero():
    session, engine = run(
        ["hello", "```python\nx\n```", write("k"), "```edit_kernel\n<<<\nzz\n===\ny\n>>>\n```"], max_turns=4
    )
    assert [e.verdict for e in session.evaluations] == ["format_error", "format_error", "compile_error", "format_error"]
    assert [e.score for e in session.evaluations] == [0, 0, 0.05, 0]
    shown = engine.tokenizer.decode(engine.log[-1][0])
    assert "no tool block" in shown and "no tool named 'python'" in shown


def test_edit_works_on_the_current_kernel():
    judge = PreparedJudge(feedback())
    edit = "```edit_kernel\n<<<\na = 1\n===\na = 2\n>>>\n<<<\nb\n===\nc\n>>>\n```"
    run([write("a = 1\nb"), edit], judge, max_turns=2)
    assert [asked for asked, _ in judge.asked] == ["a = 1\nb\n", "a = 2\nc\n"]


def test_submit_ends_the_session():
    judge = PreparedJudge(feedback())
    session, _ = run([write("k"), "```submit\n```"], judge)
    assert session.finish == "submitted" and len(judge.asked) == 1


def test_a_task_that_does_not_fit_ends_at_the_window_without_a_model_call():
    session, engine = run(kernels([5]), window=150)
    assert session.finish == "window" and not session.segments and not engine.log


def test_token_budget_ends_the_session_before_it_is_exceeded():
    session, _ = run(kernels([30]), max_turns=100, max_session_tokens=400)
    assert session.finish == "max_tokens"
    assert sum(len(s.token_ids) - s.context_len for s in session.segments) <= 400


def test_knowledge_header_is_in_the_context_within_its_budget():
    base = KnowledgeBase.load()
    _, engine = run(kernels([5]), knowledge=base)
    first = engine.tokenizer.decode(engine.log[0][0])
    header = first.split("knowledge:\n")[1].split("<|end|>")[0]
    assert header.startswith("- ") and len(engine.tokenizer.encode(header)) <= 40
    _, engine = run(kernels([5]), knowledge=base, knowledge_tokens=0)
    assert "knowledge:" not in engine.tokenizer.decode(engine.log[0][0])
