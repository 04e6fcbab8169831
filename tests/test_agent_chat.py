"""Sessions behind an endpoint: same tools and compaction as at token level, the window kept, faults named."""

import asyncio

import pytest
from agent_helpers import TASK, PreparedJudge, feedback, write
from chat_server import Script, chat_server

from agent.chat import Endpoint, estimate, run_chat_session
from agent.knowledge import KnowledgeBase
from agent.session import Sampling
from agent.solve import LiveView, final_check, report_rows, write_report
from atrl_ms.config import AgentConfig
from atrl_ms.errors import UserError
from atrl_ms.types import Speedup, StepFeedback

CONFIG = dict(
    window=900, max_turns=8, max_reply_tokens=120, max_summary_tokens=40, feedback_tokens=40, knowledge_tokens=0,
    max_session_tokens=100_000, max_compactions=100,
)  # fmt: skip
NOTES = "learned: masks matter\nnext: smaller block"


def play(script, judge, watch=None, knowledge=None, **changes):
    config = AgentConfig(**{**CONFIG, **changes})

    async def session():
        with chat_server(script) as url:
            async with Endpoint(url) as endpoint:
                assert endpoint.name == "small-model"
                return await run_chat_session(
                    TASK,
                    model=endpoint,
                    judge=judge,
                    config=config,
                    seed=1,
                    sampling=Sampling(0.3),
                    knowledge=knowledge,
                    watch=watch,
                )

    return asyncio.run(session())


def numbered(words=40):
    """Replies k0, k1, ... of the given length; notes when asked for them."""
    count = iter(range(1000))

    def answer(messages):
        if "Write notes" in messages[-1]["content"]:
            return NOTES
        number = next(count)
        return write(" ".join([f"k{number}"] * words))

    return answer


def test_a_session_over_http_is_solved_and_recorded():
    script = Script(numbered())
    judge = PreparedJudge(feedback(), feedback("pass", 0.5, "pass"))
    transcript = play(script, judge)
    assert transcript.session.finish == "solved" and transcript.session.best_verdict == "pass"
    assert [asked[0].split()[0] for asked in judge.asked] == ["k0", "k1"]
    (messages,) = transcript.segments
    assert [m["role"] for m in messages] == ["system", "user", "assistant", "user", "assistant"]
    assert messages[3]["content"] == "compile: no"
    assert script.requests[0]["temperature"] == 0.3 and script.requests[0]["seed"] != script.requests[1]["seed"]


@pytest.mark.parametrize("usage", [True, False])
@pytest.mark.parametrize("strategy", ["none", "truncate", "facts", "hybrid"])
def test_window_is_kept_by_every_strategy(strategy, usage):
    script = Script(numbered(60), usage=usage)
    transcript = play(script, PreparedJudge(feedback(text="word " * 500)), compaction=strategy, max_turns=20)
    session = transcript.session
    for request in script.requests:
        words = sum(len(m["content"].split()) for m in request["messages"])
        assert words + request["max_tokens"] <= 900
    assert session.finish == ("window" if strategy == "none" else "max_turns")
    assert bool(session.compactions) == (strategy != "none")
    assert len(transcript.segments) == len(session.segments) == len(session.compactions) + 1
    if strategy in ("facts", "hybrid"):
        start = transcript.segments[1][1]["content"]
        assert "so far:" in start and session.compactions[0].resume_text in start
        assert ("learned: masks matter" in start) == (strategy == "hybrid")
    assert session.segment_rewards().sum() == session.reward


def test_notes_that_run_into_their_budget_are_not_used():
    answers = numbered(60)
    script = Script(lambda m: "learned: " + "x " * 100 if "Write notes" in m[-1]["content"] else answers(m))
    session = play(script, PreparedJudge(feedback()), max_turns=20).session
    assert session.compactions and not any(c.notes_valid for c in session.compactions)


def test_overload_is_retried_and_a_refusal_is_named(monkeypatch):
    waits = []

    async def no_wait(seconds):
        waits.append(seconds)

    monkeypatch.setattr("agent.chat.asyncio.sleep", no_wait)
    session = play(Script(numbered(), failures=[503, 429]), PreparedJudge(feedback("pass", 0.5, "pass"))).session
    assert session.solved and waits == [1.0, 2.0]
    with pytest.raises(UserError, match="HTTP 401"):
        play(Script(numbered(), failures=[401]), PreparedJudge(feedback()))
    with pytest.raises(UserError, match="HTTP 500"):
        play(Script(numbered(), failures=[500] * 4), PreparedJudge(feedback()))


def test_unreachable_server_and_other_servers_are_named():
    async def ask(url):
        async with Endpoint(url, "m") as endpoint:
            await endpoint.reply([{"role": "user", "content": "x"}], 5, Sampling(), 0)

    with pytest.raises(UserError, match="cannot be reached"):
        asyncio.run(ask("http://127.0.0.1:9"))
    script = Script(None)
    for answer, part in ((b"<html>", "not a JSON object"), ({"choices": []}, "not a chat completion")):
        script.respond = lambda body, answer=answer: answer
        with chat_server(script) as url, pytest.raises(UserError, match=part):
            asyncio.run(ask(url))


def test_a_general_model_is_told_what_to_read_and_can_read_it():
    answers = iter([write("a"), "```read_knowledge\nerror-ub\n```", "```read_knowledge\nnothing-here\n```"])
    script = Script(lambda m: next(answers))
    judge = PreparedJudge(feedback(text="compile_error\nub overflow, requires 2097152 bits"))
    transcript = play(
        script, judge, knowledge=KnowledgeBase.load(), instructions="full", max_turns=3, window=9000,
        knowledge_tokens=300, feedback_tokens=300,
    )  # fmt: skip
    messages = transcript.segments[0]
    assert "entries for read_knowledge:" in messages[1]["content"]
    assert "read_knowledge: " in messages[3]["content"] and "error-ub" in messages[3]["content"]
    assert "1572864" in messages[5]["content"] and "no entry 'nothing-here'" in messages[7]["content"]
    assert len(transcript.session.evaluations) == 1  # reading is no attempt


def test_a_task_beyond_the_window_is_named_with_its_numbers():
    with pytest.raises(UserError, match=r"takes about \d+ tokens.*agent.window \(300\)"):
        play(Script(numbered()), PreparedJudge(feedback()), window=300)


def test_time_budget_ends_the_session():
    session = play(Script(numbered()), PreparedJudge(feedback()), max_seconds=1e-6).session
    assert session.finish == "max_seconds" and session.hit_budget and not session.evaluations


def test_live_view_prints_each_event_once(capsys):
    import sys

    answers = iter(["no tool", write("a"), write("b")])
    fast = StepFeedback("pass", (), 3, 3, 0.7, Speedup(1.5, "modelled"), "pass")
    view = LiveView(3, sys.stdout)
    play(Script(lambda m: next(answers)), PreparedJudge(feedback(), fast), watch=view, max_turns=3)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert "format_error" in lines[0] and "no tool block" in lines[0]
    assert "compile_error" in lines[1] and "compile: no" in lines[1]
    assert "pass" in lines[2] and "1.50x modelled" in lines[2]


def test_final_answer_is_the_best_kernel_that_passes_again():
    answers = iter([write("a"), write("b"), write("c")])
    judge = PreparedJudge(
        feedback("pass", 0.6, "ok"), feedback("pass", 0.9, "lucky"), feedback("wrong_output", 0.2, "no")
    )
    session = play(Script(lambda m: next(answers)), judge, stop_on_pass=False, max_turns=3).session
    again = PreparedJudge(feedback("wrong_output", 0.2, "no"), feedback("pass", 0.55, "ok"))
    answer = asyncio.run(final_check(TASK, session, again, seed=77))
    assert [kernel.strip() for kernel, _ in again.asked] == ["b", "a"] and {seed for _, seed in again.asked} == {77}
    assert answer.passed and answer.kernel.strip() == "a"
    nothing = asyncio.run(final_check(TASK, play(Script(lambda m: "x"), judge, max_turns=1).session, again, seed=1))
    assert not nothing.passed and nothing.feedback is None


def test_report_shows_turns_and_escapes_what_a_model_wrote(tmp_path):
    answers = iter([write("a = 1\nb"), write("a = 2\nb"), "<script>alert(1)</script>"])
    transcript = play(Script(lambda m: next(answers)), PreparedJudge(feedback()), max_turns=3)
    rows = report_rows(transcript.session)
    assert ("-", "-a = 1") in rows[1]["diff"] and ("+", "+a = 2") in rows[1]["diff"] and not rows[0]["diff"]
    write_report(tmp_path / "r.html", TASK, "model", transcript.session, None, transcript.segments)
    page = (tmp_path / "r.html").read_text()
    assert "<script>alert" not in page and "&lt;script&gt;" in page and "compile_error" in page and "+a = 2" in page
    assert "http" not in page.replace("xmlns", "")  # nothing is loaded from elsewhere


def test_estimate_grows_with_the_text():
    assert estimate("") < estimate("x" * 30) < estimate("x" * 300)
