"""Facts survive a compaction, invalid notes do not, and what does not fit is dropped in order."""

import pytest
from agent_helpers import TASK, PreparedJudge, WordTokenizer, feedback, write
from test_agent_session import NOTES, run

from agent.compaction import Attempt, Resume, Step, build_context, parse_notes
from agent.prompt import renderer_for


def script(notes):
    counter = iter(range(100))
    return lambda request, state: notes if state.purpose == "summary" else write(f"kernel_{next(counter)} " * 30)


def after_first_compaction(engine, session):
    """The text of the first prompt after the first compaction."""
    context = session.segments[1].token_ids[: session.segments[1].context_len].tolist()
    return engine.tokenizer.decode(context)


@pytest.mark.parametrize(
    "notes, valid",
    [
        (NOTES, True),
        ("learned: a", False),
        ("learned: a\nnext:", False),
        ("next: a\nlearned: b", False),
        ("learned: a\nnext: b\nscore: 1.0", False),
        ("learned: " + "x " * 200 + "\nnext: y", False),
        ("", False),
    ],
)
def test_hybrid_keeps_facts_whatever_the_notes_are(notes, valid):
    answers = [feedback("compile_error", 0.05, "compile: a"), feedback("wrong_output", 0.25, "wrong: b"), feedback()]
    session, engine = run(script(notes), PreparedJudge(*answers), max_turns=20, keep_steps=0)
    assert session.compactions[0].notes_valid == valid
    text = after_first_compaction(engine, session)
    assert "2 wrong_output 0.25" in text and "last feedback: " in text
    best = max(session.evaluations[:3], key=lambda e: e.score).candidate
    assert best.strip() in text
    assert ("learned: masks matter\nnext: smaller block" in text) == valid
    assert session.compactions[0].resume_text in text
    assert session.compactions[0].tokens_after == session.segments[1].context_len
    assert session.compactions[0].tokens_before < len(session.segments[0].token_ids)


def test_facts_strategy_asks_for_no_summary_and_truncate_holds_no_facts():
    session, engine = run(script(NOTES), max_turns=20, compaction="facts")
    assert {purpose for _, _, purpose in engine.log} == {"reply"} and session.compactions[0].resume_text
    session, engine = run(script(NOTES), max_turns=20, compaction="truncate")
    assert session.compactions and not session.compactions[0].resume_text
    assert "so far:" not in after_first_compaction(engine, session)


def test_raw_steps_are_the_very_tokens_of_the_old_segment():
    session, _ = run(script(NOTES), max_turns=20, compaction="truncate", keep_steps=2)
    old, new = session.segments[0], session.segments[1]
    last_turn = int(old.turns.max())
    step = old.token_ids[old.turns == last_turn].tolist()
    context = new.token_ids[: new.context_len].tolist()
    assert context[-len(step) :] == step


def test_edit_after_compaction_works_on_the_kernel_that_is_shown():
    judge = PreparedJudge(feedback("wrong_output", 0.3, "w"), feedback("compile_error", 0.05, "c"))
    counter = iter(range(100))

    def replies(request, state):
        if state.purpose == "summary":
            return NOTES
        if state.session.compactions:
            return "```edit_kernel\n<<<\nmark_0\n===\nedited\n>>>\n```"
        return write(f"mark_{next(counter)}\n" + "pad " * 25)

    session, _ = run(replies, judge, max_turns=12, keep_steps=0)
    first_after = next(e for e in session.evaluations if e.segment == 1)
    assert first_after.candidate.startswith("edited\n")


def test_budget_of_compactions_ends_the_session():
    session, _ = run(script(NOTES), max_turns=50, max_compactions=2)
    assert session.finish == "max_compactions" and len(session.compactions) == 2


RESUME = Resume(
    knowledge="- know",
    attempts=tuple(Attempt(i, "compile_error", 0.05) for i in range(1, 9)),
    last_feedback="compile: bad",
    best_kernel="kernel " * 20,
    notes=("a lesson", "a step"),
)


def test_what_does_not_fit_is_dropped_in_order_and_the_limit_holds():
    renderer = renderer_for(WordTokenizer())
    steps = [Step(tuple(range(100, 110)), tuple(range(110, 115))) for _ in range(3)]
    bare = len(renderer.opening("sys", "task:\n" + "x"))
    lost_before: list[str] = []
    order = ["steps", "attempts", "knowledge", "notes", "last_feedback", "best_kernel"]
    for limit in range(400, bare - 2, -1):
        context = build_context(renderer, "sys", "x", RESUME, steps, limit)
        if limit < bare:
            assert context is None
            break
        assert len(context.ids) <= limit
        lost = [name for name in order[1:] if not getattr(context.resume, name)]
        assert lost == order[1 : 1 + len(lost)], "parts are dropped in the order of their worth"
        assert len(lost) >= len(lost_before)
        lost_before = lost
    assert lost_before == order[1:]


def test_table_of_attempts_does_not_grow_with_the_session():
    long = Resume(attempts=tuple(Attempt(i, "compile_error", 0.05) for i in range(1000)))
    assert len(long.text().splitlines()) == 4


def test_notes_after_reasoning_are_read():
    assert parse_notes("<think>hm\nhm</think>\nlearned: a\n\nnext: b\n") == ("a", "b")
    assert TASK.name == "double"
