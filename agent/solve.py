"""`atrl solve`: a session shown as it happens, its best kernel checked again from a clean state, its report."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from agent.chat import Message
from agent.compaction import told_in_short
from agent.workbench import SessionState
from atrl_ms.types import Judge, Session, StepFeedback, Task

CHECKED_AGAIN = 3  # candidates that get a final check, best first, until one passes


class LiveView:
    """Prints a line per turn as it happens; on a terminal also what is being waited for.

    Pass as `watch` to a session.
    """

    def __init__(self, max_turns: int, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.max_turns, self.shown, self.compactions = max_turns, 0, 0
        self.waits = self.stream.isatty()

    def __call__(self, state: SessionState) -> None:
        session = state.session
        for event in session.evaluations[self.shown :]:
            speed = event.feedback.speedup if event.feedback else None
            told = event.feedback.feedback if event.feedback else state.observation
            self.line(
                f"turn {event.turn + 1:3}/{self.max_turns}  {event.verdict:14} score {event.score:.2f}"
                + (f"  {speed.value:.2f}x {speed.kind}" if speed else "")
                + (f"  {told_in_short(told, event.verdict)}" if event.verdict != "pass" else "")
            )
        self.shown = len(session.evaluations)
        for compaction in session.compactions[self.compactions :]:
            self.line(f"          compaction: {compaction.tokens_before} tokens became {compaction.tokens_after}")
        self.compactions = len(session.compactions)
        waiting = {"reply": "the model writes", "summary": "the model takes notes", "verifying": "the sandbox judges"}
        if self.waits and state.phase in waiting:
            self.stream.write(f"\r\033[K  turn {state.turn + (state.phase == 'reply')}: {waiting[state.phase]} ...")
            self.stream.flush()

    def line(self, text: str) -> None:
        self.stream.write(("\r\033[K" if self.waits else "") + text + "\n")
        self.stream.flush()


@dataclass(frozen=True)
class Answer:
    """The kernel to hand over and what the final check said; None and "" if there was nothing to check."""

    kernel: str
    feedback: StepFeedback | None

    @property
    def passed(self) -> bool:
        return self.feedback is not None and self.feedback.verdict == "pass"


async def final_check(task: Task, session: Session, judge: Judge, seed: int) -> Answer:
    """Judge the session's candidates again, best first, with inputs that the session has not seen.

    Args:
        judge: freshly started, so that nothing of the session is left in it.
        seed: differs from the session's.
    """
    order: dict[str, float] = {}
    for event in session.evaluations:
        if event.candidate:
            order[event.candidate] = event.score
    best = sorted(order, key=lambda kernel: -order[kernel])[:CHECKED_AGAIN]
    answer = Answer("", None)
    for kernel in best:
        feedback = await judge.verify(task, kernel, seed=seed)
        if answer.feedback is None or feedback.score > answer.feedback.score:
            answer = Answer(kernel, feedback)
        if answer.passed:
            break
    return answer


def report_rows(session: Session) -> list[dict[str, object]]:
    """What the report shows of each evaluation, with the change against the kernel before."""
    rows: list[dict[str, object]] = []
    before = ""
    for event in session.evaluations:
        diff: list[tuple[str, str]] = []
        if event.candidate and before and event.candidate != before:
            lines = difflib.unified_diff(before.splitlines(), event.candidate.splitlines(), lineterm="", n=2)
            diff = [(line[:1], line) for line in lines if not line.startswith(("---", "+++"))]
        rows.append(
            {
                "turn": event.turn + 1,
                "verdict": event.verdict,
                "score": event.score,
                "speedup": event.feedback.speedup if event.feedback else None,
                "feedback": event.feedback.feedback if event.feedback else "",
                "kernel": event.candidate,
                "diff": diff,
            }
        )
        before = event.candidate or before
    return rows


def write_report(
    path: Path,
    task: Task,
    model: str,
    session: Session,
    answer: Answer | None,
    conversation: Sequence[Sequence[Message]],
) -> None:
    """One self-contained HTML page about a session."""
    from jinja2 import Environment, PackageLoader

    template = Environment(loader=PackageLoader("agent"), autoescape=True).get_template("session.html")
    page = template.render(
        task=task,
        model=model,
        session=session,
        turns=1 + max((event.turn for event in session.evaluations), default=-1),
        rows=report_rows(session),
        final=answer.feedback if answer else None,
        final_kernel=answer.kernel if answer else "",
        conversation=conversation,
    )
    write_atomically(path, page)


def write_atomically(path: Path, text: str) -> None:
    """All of a file or none of it."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
