"""What a session does with a reply, whatever form the model is reached in: tools, judge, best kernel, facts.

Everything the score depends on lives here and in the judge; the model only ever hands in text.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from agent.compaction import Attempt, Resume, told_in_short
from agent.tools import FormatError, ToolCall, apply_edits, parse_reply
from atrl_ms.config import AgentConfig
from atrl_ms.types import Evaluation, Finish, Judge, Session, StepFeedback, Task

INDEX_HEAD = "entries for read_knowledge:"

Phase = Literal["reply", "summary", "verifying", "observed", "compacted", "finished"]


class Knowledge(Protocol):
    """Where the knowledge header comes from (agent/knowledge.py)."""

    def header(self, source: str, verdict: str | None, fits: Callable[[str], bool]) -> str: ...

    def index(self, source: str, verdict: str | None, above: str, fits: Callable[[str], bool]) -> str: ...

    def hint(self, feedback: str) -> str: ...

    def entry(self, entry_id: str) -> str: ...


@dataclass
class SessionState:
    """What a session knows at any moment; read by watchers and by the scripted engine, written by the session alone."""

    task: Task
    session: Session
    phase: Phase = "reply"  # why the next model call is made, or what has just happened
    turn: int = 0  # replies so far
    kernel: str = ""  # the current kernel, what edit_kernel works on
    best_kernel: str = ""
    best_score: float = -1.0
    feedback: StepFeedback | None = None  # of the last evaluation
    observation: str = ""  # the last message shown to the model
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def purpose(self) -> Literal["reply", "summary"]:
        """What the model is being asked for."""
        return "summary" if self.phase == "summary" else "reply"


class Workbench:
    """The state of one session and the tools that change it.

    Args:
        seed: of the judge's private inputs.
        watch: called with the live state before every model call and after every event (`SessionState.phase`).
    """

    def __init__(
        self,
        task: Task,
        judge: Judge,
        config: AgentConfig,
        seed: int,
        knowledge: Knowledge | None,
        watch: Callable[[SessionState], None] | None,
    ) -> None:
        self.task, self.judge, self.config, self.seed, self.knowledge = task, judge, config, seed, knowledge
        self.watch = watch
        self.state = SessionState(task, Session(task.name, seed, config.window))
        self.session = self.state.session
        self.judged: dict[str, StepFeedback] = {}
        self.started = time.monotonic()

    async def act(self, reply: str, turn: int) -> tuple[str, Finish | None]:
        """Carry out the reply's tool call; the observation, and how the session ends if it does."""
        try:
            call = parse_reply(reply, self.config.tool_format)
            text, finish = await self._carry_out(call, turn)
        except FormatError as error:
            self._record(Evaluation(self._segment, turn, 0.0, "format_error", ""))
            text, finish = str(error), None
        self.state.observation = text
        return text, finish

    async def _carry_out(self, call: ToolCall, turn: int) -> tuple[str, Finish | None]:
        """Run a well-formed call. Raises FormatError where the call cannot apply."""
        state = self.state
        if call.name == "read_knowledge":
            if self.knowledge is None:
                raise FormatError("read_knowledge: there is no knowledge base in this session")
            return self.knowledge.entry(call.entry), None
        if call.name in ("write_kernel", "edit_kernel"):
            state.kernel = call.code if call.name == "write_kernel" else apply_edits(state.kernel, call.edits)
            if not self.config.auto_verify:
                return "stored; call verify", None
        if not state.kernel:
            raise FormatError(f"{call.name}: there is no kernel yet. Use write_kernel first")
        feedback = await self._verify(turn)
        if feedback.verdict == "infrastructure_error":
            return "", "infrastructure"
        if call.name == "submit":
            return "", "submitted"
        if feedback.verdict == "pass" and self.config.stop_on_pass:
            return "", "solved"
        if call.name == "profile":
            return profile_text(feedback), None
        return feedback.feedback + self._hint(feedback), None

    def _hint(self, feedback: StepFeedback) -> str:
        """A pointer into the knowledge base below a failure, for models that were told about read_knowledge."""
        if self.knowledge is None or self.config.instructions != "full" or feedback.verdict == "pass":
            return ""
        hint = self.knowledge.hint(feedback.feedback)
        return f"\n{hint}" if hint else ""

    async def _verify(self, turn: int) -> StepFeedback:
        """The judge's word on the current kernel; the same text gets the same answer without being run again."""
        kernel = self.state.kernel
        if kernel in self.judged:
            feedback = self.judged[kernel]
        else:
            self.notify("verifying")
            feedback = await self.judge.verify(self.task, kernel, seed=self.seed)
        self.state.feedback = feedback
        if feedback.verdict == "infrastructure_error":
            return feedback  # not the kernel's fault: neither recorded nor scored
        self.judged[kernel] = feedback
        self._record(Evaluation(self._segment, turn, feedback.score, feedback.verdict, kernel, feedback))
        if feedback.score >= self.state.best_score:  # of equals the later: it holds the later ideas
            self.state.best_kernel, self.state.best_score = kernel, feedback.score
        return feedback

    @property
    def _segment(self) -> int:
        return len(self.session.segments)

    def _record(self, event: Evaluation) -> None:
        self.session.evaluations.append(event)
        self.state.attempts.append(Attempt(event.turn + 1, event.verdict, event.score))

    def header(self, fits: Callable[[str], bool]) -> str:
        """The knowledge header for the task and the last verdict; empty without a knowledge base or budget."""
        if self.knowledge is None or self.config.knowledge_tokens == 0:
            return ""
        verdict = self.state.feedback.verdict if self.state.feedback else None
        header = self.knowledge.header(self.task.source, verdict, fits)
        if self.config.instructions == "full":  # a general model can look things up: say where
            index = self.knowledge.index(self.task.source, verdict, f"{header}\n{INDEX_HEAD}", fits)
            header += f"\n{INDEX_HEAD}\n{index}" if index else ""
        return header

    def resume(self, knowledge: str, notes: tuple[str, str] | None) -> Resume:
        """What a new context is built from after a compaction; the harness's facts unless the strategy is truncate."""
        if self.config.compaction == "truncate":
            return Resume(knowledge)
        state = self.state
        verdict = state.attempts[-1].verdict if state.attempts else ""
        told = told_in_short(state.observation, verdict)  # the table of attempts holds the verdict itself
        return Resume(knowledge, tuple(state.attempts), told, state.best_kernel, notes)

    def resumed(self, shown: Resume) -> None:
        """After a compaction edits work on the kernel that the new context shows."""
        if shown.best_kernel:
            self.state.kernel = self.state.best_kernel

    def finish(self, how: Finish) -> Session:
        """Close the books."""
        session = self.session
        session.finish = how
        best = max(session.evaluations, key=lambda event: event.score, default=None)
        if best is not None and best.candidate:
            session.best_candidate, session.best_verdict = best.candidate, best.verdict
        session.seconds = time.monotonic() - self.started
        self.notify("finished")
        return session

    @property
    def out_of_time(self) -> bool:
        """Whether the session's budget of seconds is used up; it is looked at before every reply."""
        return 0 < self.config.max_seconds <= time.monotonic() - self.started

    def notify(self, phase: Phase) -> None:
        self.state.phase = phase
        if self.watch:
            self.watch(self.state)


def profile_text(feedback: StepFeedback) -> str:
    """What the profile tool says: the speedup with its kind, and the bottleneck if the profiler named one."""
    if feedback.speedup is None:
        return "no profile: the kernel must pass first. " + feedback.feedback
    lines = [f"{feedback.speedup.kind} speedup {feedback.speedup.value:.2f}"]
    summary = feedback.details.get("profile")
    return "\n".join([*lines, *([str(summary)] if summary else [])])
