"""What survives when the window fills: harness facts, the model's notes, the last raw steps, within the window.

Strategies (AgentConfig.compaction):
    none      the session stops at the window
    truncate  task and the last steps, nothing else
    facts     also what the harness knows: attempts, last feedback, best kernel
    hybrid    also the model's own notes, asked for at the end of the old segment; if they do not fit the schema,
              the facts stand alone
The policy is never trusted with facts: prior work lets the model write the whole summary, which then runs into the
reply cap, misses its sections and is accepted anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agent.prompt import BEST_HEAD, LAST_HEAD, NOTES_LEARNED, NOTES_NEXT, Renderer, task_text

TABLE_ROWS = 4  # attempts listed; a longer table would grow with the session


@dataclass(frozen=True)
class Attempt:
    """One row of the table of attempts; turns count from 1 for the reader."""

    turn: int
    verdict: str
    score: float


@dataclass(frozen=True)
class Step:
    """One raw step as it stood in the stream: the sampled reply and the observation that followed it."""

    reply_ids: tuple[int, ...]
    observation_ids: tuple[int, ...]


@dataclass(frozen=True)
class Resume:
    """The parts of a new context after the task, each droppable when space is short."""

    knowledge: str = ""
    attempts: tuple[Attempt, ...] = ()
    last_feedback: str = ""
    best_kernel: str = ""
    notes: tuple[str, str] | None = None  # learned, next

    def text(self) -> str:
        """The resume text: attempts, last feedback, best kernel, notes; empty if there is nothing to say."""
        lines = [f"{a.turn} {a.verdict} {a.score:.2f}" for a in self.attempts[-TABLE_ROWS:]]
        if self.last_feedback:
            lines.append(LAST_HEAD + self.last_feedback)
        if self.best_kernel:
            lines.append(BEST_HEAD + self.best_kernel.rstrip("\n"))
        if self.notes:
            lines += [NOTES_LEARNED + self.notes[0], NOTES_NEXT + self.notes[1]]
        return "\n".join(lines)

    def shrunk(self) -> Iterator[Resume]:
        """Itself, then ever shorter versions: what the model can do without goes first."""
        current = self
        yield current
        for part in ({"attempts": ()}, {"knowledge": ""}, {"notes": None}, {"last_feedback": ""}, {"best_kernel": ""}):
            current = replace(current, **part)  # type: ignore[arg-type]
            yield current


@dataclass(frozen=True)
class Context:
    """A new segment's frozen context: its ids, what of the resume it holds, how many raw steps follow."""

    ids: list[int]
    resume: Resume
    steps_kept: int


def told_in_short(feedback: str, verdict: str) -> str:
    """The first line of a feedback that says more than the verdict, at most 90 characters of it."""
    lines = [line.strip() for line in feedback.splitlines() if line.strip()]
    return next((line for line in lines if not line.startswith(verdict)), lines[0] if lines else "")[:90]


def parse_notes(text: str) -> tuple[str, str] | None:
    """The two lines of the notes schema, or None if the text is anything else."""
    text = text.rpartition("</think>")[2]
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    if len(lines) != 2:
        return None
    learned, following = lines
    if not (learned.startswith(NOTES_LEARNED.strip()) and following.startswith(NOTES_NEXT.strip())):
        return None
    notes = learned[len(NOTES_LEARNED.strip()) :].strip(), following[len(NOTES_NEXT.strip()) :].strip()
    return notes if all(notes) else None


def build_context(
    renderer: Renderer, system: str, source: str, resume: Resume, steps: Sequence[Step], limit: int
) -> Context | None:
    """The fullest context of at most `limit` ids; None if even the bare task does not fit.

    Facts come before raw steps: what is left of the limit goes to as many of the last `steps` as fit.
    """
    for version in resume.shrunk():
        ids = renderer.opening(system, task_text(source, version.knowledge, version.text()))
        if len(ids) <= limit:
            break
    else:
        return None
    kept: list[Step] = []
    room = limit - len(ids)
    start = renderer.reply_start
    for step in reversed(steps):
        room -= len(start) + len(step.reply_ids) + len(step.observation_ids)
        if room < 0:
            break
        kept.insert(0, step)
    for step in kept:
        ids += [*start, *step.reply_ids, *step.observation_ids]
    return Context(ids, version, len(kept))
