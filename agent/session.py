"""One agent session, token level: the policy writes or edits a kernel, the sandbox answers, up to a budget.

The stream is held as ids and only ever extended: sampled ids exactly as sampled, observations encoded once. A new
segment starts exactly when the next prompt is not an extension of what is held, that is at a compaction.

Window arithmetic. Before every model call
    used + reply + observation + summary <= window
must hold, where reply is the cap of one reply, observation the longest message that can follow it, and summary what
the hybrid strategy needs to ask for notes and get them. If it does not, the context is compacted first. So the
window cannot be exceeded, whatever the model writes.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from agent.compaction import Attempt, Context, Resume, Step, build_context, parse_notes
from agent.prompt import SUMMARY_REQUEST, Renderer, cut_to_tokens, renderer_for, system_text
from agent.tools import FormatError, ToolCall, apply_edits, parse_reply
from atrl_ms.config import AgentConfig
from atrl_ms.types import (
    Compaction,
    Evaluation,
    Finish,
    Judge,
    RolloutEngine,
    Sample,
    SampleRequest,
    Segment,
    Session,
    StepFeedback,
    Task,
    Tokenizer,
    TokenKind,
)

Phase = Literal["reply", "summary", "verifying", "observed", "compacted", "finished"]


class Knowledge(Protocol):
    """Where the knowledge header comes from (agent/knowledge.py)."""

    def header(self, source: str, verdict: str | None, fits: Callable[[str], bool]) -> str: ...

    def entry(self, entry_id: str) -> str: ...


@dataclass(frozen=True)
class Sampling:
    """How replies are sampled; temperature 0 is greedy, top_k 0 is off."""

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0


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


class Stream:
    """The segment being written: parallel lists, only ever extended."""

    def __init__(self, context_ids: list[int]) -> None:
        n = len(context_ids)
        self.context_len = n
        self.ids, self.mask, self.logprobs = list(context_ids), [False] * n, [0.0] * n
        self.kinds, self.turns, self.versions = [int(TokenKind.OBS)] * n, [-1] * n, [-1] * n

    def extend(self, ids: list[int], kind: TokenKind, turn: int, sample: Sample | None = None) -> None:
        """Append observed ids, or with `sample` the sampled ones with their log-probabilities."""
        n = len(ids)
        self.ids += ids
        self.mask += [sample is not None] * n
        self.logprobs += [0.0] * n if sample is None else sample.logprobs
        self.kinds += [int(kind)] * n
        self.turns += [turn] * n
        self.versions += [-1 if sample is None else sample.policy_version] * n

    def close(self, ended_by: str) -> Segment:
        """The finished segment; all arrays are (T,)."""
        return Segment(
            token_ids=np.asarray(self.ids, np.int32),
            context_len=self.context_len,
            mask=np.asarray(self.mask, bool),
            logprobs=np.asarray(self.logprobs, np.float32),
            kinds=np.asarray(self.kinds, np.uint8),
            turns=np.asarray(self.turns, np.int32),
            versions=np.asarray(self.versions, np.int32),
            ended_by=ended_by,
        )


async def run_session(
    task: Task,
    *,
    engine: RolloutEngine,
    tokenizer: Tokenizer,
    judge: Judge,
    config: AgentConfig,
    seed: int,
    sampling: Sampling = Sampling(),
    knowledge: Knowledge | None = None,
    watch: Callable[[SessionState], None] | None = None,
) -> Session:
    """Run one session to its end.

    Args:
        seed: decides the sampling of every reply and the private inputs of the judge.
        watch: called with the live state before every model call and after every event (`SessionState.phase`).

    Returns:
        The session. `finish` "window" with no segment means that the task does not fit the window at all.
    """
    return await _Runner(
        task, engine, tokenizer, judge, config, seed, sampling, knowledge, watch or (lambda state: None)
    ).run()


class _Runner:
    """The state machine behind `run_session`."""

    def __init__(
        self,
        task: Task,
        engine: RolloutEngine,
        tokenizer: Tokenizer,
        judge: Judge,
        config: AgentConfig,
        seed: int,
        sampling: Sampling,
        knowledge: Knowledge | None,
        watch: Callable[[SessionState], None],
    ) -> None:
        self.task, self.engine, self.tokenizer, self.judge = task, engine, tokenizer, judge
        self.config, self.seed, self.sampling, self.knowledge = config, seed, sampling, knowledge
        self.watch = watch
        self.renderer: Renderer = renderer_for(tokenizer)
        self.system = system_text(config.instructions, config.tool_format)
        self.state = SessionState(task, Session(task.name, seed, config.window))
        self.session = self.state.session
        self.steps: deque[Step] = deque(maxlen=config.keep_steps)
        self.judged: dict[str, StepFeedback] = {}
        self.calls = 0
        self.stream_tokens = 0  # sampled and observed, over all segments

        start, user = len(self.renderer.reply_start), len(self.renderer.user([]))
        self.request_ids = self.renderer.text(SUMMARY_REQUEST)
        reply = start + config.max_reply_tokens + len(self.renderer.after_reply(closed=False))
        summary = user + len(self.request_ids) + start + config.max_summary_tokens
        hybrid = config.compaction == "hybrid" and config.max_compactions > 0
        self.reserve = reply + user + config.feedback_tokens + (summary if hybrid else 0)

    # ------------------------------------------------------------ the loop

    async def run(self) -> Session:
        started = time.monotonic()
        context = self.context(Resume(knowledge=self.header()))
        if context is None:
            self.session.finish = "window"
        else:
            self.stream = Stream(context.ids)
            self.session.finish = await self.turns()
            self.session.segments.append(self.stream.close(self.session.finish))
        best = max(self.session.evaluations, key=lambda e: e.score, default=None)
        if best is not None and best.candidate:
            self.session.best_candidate, self.session.best_verdict = best.candidate, best.verdict
        self.session.seconds = time.monotonic() - started
        self.notify("finished")
        return self.session

    async def turns(self) -> Finish:
        """Replies until something ends the session."""
        config = self.config
        while True:
            if self.state.turn >= config.max_turns:
                return "max_turns"
            if self.stream_tokens + self.reserve > config.max_session_tokens:
                return "max_tokens"
            if len(self.stream.ids) + self.reserve > config.window:
                if config.compaction == "none":
                    return "window"
                if len(self.session.compactions) >= config.max_compactions:
                    return "max_compactions"
                await self.compact()
            turn = self.state.turn
            sample = await self.sample("reply", TokenKind.ACT, config.max_reply_tokens, turn)
            self.state.turn += 1
            text, finish = await self.act(self.reply_text(sample), turn)
            if finish is not None:
                return finish
            if self.state.turn < config.max_turns:  # after the last turn nobody would read it
                self.observe(text, sample, turn)

    def observe(self, text: str, sample: Sample, turn: int) -> None:
        """Show the model what came of its reply."""
        self.state.observation = cut_to_tokens(self.renderer, text, self.config.feedback_tokens)
        message = self.renderer.user(self.renderer.text(self.state.observation))
        ids = [*self.renderer.after_reply(sample.finish_reason == "stop"), *message]
        self.extend(ids, TokenKind.OBS, turn)
        self.steps.append(Step(tuple(sample.token_ids), tuple(ids)))
        self.notify("observed")

    # ------------------------------------------------------------ tools

    async def act(self, reply: str, turn: int) -> tuple[str, Finish | None]:
        """Carry out the reply's tool call; the observation, and how the session ends if it does."""
        try:
            call = parse_reply(reply, self.config.tool_format)
            return await self.carry_out(call, turn)
        except FormatError as error:
            self.record(Evaluation(len(self.session.segments), turn, 0.0, "format_error", ""))
            return str(error), None

    async def carry_out(self, call: ToolCall, turn: int) -> tuple[str, Finish | None]:
        """Run a well-formed call. Raises FormatError where the call cannot apply."""
        if call.name == "read_knowledge":
            if self.knowledge is None:
                raise FormatError("read_knowledge: there is no knowledge base in this session")
            return self.knowledge.entry(call.entry), None
        if call.name in ("write_kernel", "edit_kernel"):
            self.state.kernel = call.code if call.name == "write_kernel" else apply_edits(self.state.kernel, call.edits)
            if not self.config.auto_verify:
                return "stored; call verify", None
        if not self.state.kernel:
            raise FormatError(f"{call.name}: there is no kernel yet. Use write_kernel first")
        feedback = await self.verify(turn)
        if feedback.verdict == "infrastructure_error":
            return "", "infrastructure"
        if call.name == "submit":
            return "", "submitted"
        if feedback.verdict == "pass" and self.config.stop_on_pass:
            return "", "solved"
        return profile_text(feedback) if call.name == "profile" else feedback.feedback, None

    async def verify(self, turn: int) -> StepFeedback:
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
        self.record(Evaluation(len(self.session.segments), turn, feedback.score, feedback.verdict, kernel, feedback))
        if feedback.score >= self.state.best_score:  # of equals the later: it holds the later ideas
            self.state.best_kernel, self.state.best_score = kernel, feedback.score
        return feedback

    def record(self, event: Evaluation) -> None:
        self.session.evaluations.append(event)
        self.state.attempts.append(Attempt(event.turn + 1, event.verdict, event.score))

    # ------------------------------------------------------------ compaction

    async def compact(self) -> None:
        """End the segment (in hybrid with the model's notes) and begin the next from what must not be lost."""
        config, before, turn = self.config, len(self.stream.ids), self.state.turn - 1
        notes = await self.notes(turn) if config.compaction == "hybrid" else None
        resume = Resume(knowledge=self.header())
        if config.compaction != "truncate":
            resume = self.facts(resume, notes)
        context = self.context(resume)
        assert context is not None, "the first context held the same task and fitted"
        self.session.segments.append(self.stream.close("compaction"))
        if context.resume.best_kernel:
            self.state.kernel = self.state.best_kernel
        self.session.compactions.append(
            Compaction(
                segment=len(self.session.segments) - 1,
                turn=turn,
                tokens_before=before,
                tokens_after=len(context.ids),
                notes_valid=notes is not None,
                strategy=config.compaction,
                resume_text=context.resume.text(),
            )
        )
        self.stream = Stream(context.ids)
        self.notify("compacted")

    async def notes(self, turn: int) -> tuple[str, str] | None:
        """Ask for notes at the end of the old segment; None if they do not fit the schema or their budget."""
        self.extend(self.renderer.user(self.request_ids), TokenKind.OBS, turn)
        sample = await self.sample("summary", TokenKind.SUM, self.config.max_summary_tokens, turn)
        return parse_notes(self.reply_text(sample)) if sample.finish_reason == "stop" else None

    def facts(self, resume: Resume, notes: tuple[str, str] | None) -> Resume:
        """What the harness knows, put before what the model noted."""
        first_line = self.state.observation.strip().split("\n")[0]
        return Resume(resume.knowledge, tuple(self.state.attempts), first_line, self.state.best_kernel, notes)

    def context(self, resume: Resume) -> Context | None:
        """A context that leaves room for a reply, its observation and the summary."""
        limit = self.config.window - self.reserve
        return build_context(self.renderer, self.system, self.task.source, resume, list(self.steps), limit)

    def header(self) -> str:
        """The knowledge header for the task and the last verdict, within its token budget."""
        budget = self.config.knowledge_tokens
        if self.knowledge is None or budget == 0:
            return ""
        verdict = self.state.feedback.verdict if self.state.feedback else None
        return self.knowledge.header(self.task.source, verdict, lambda text: len(self.renderer.text(text)) <= budget)

    # ------------------------------------------------------------ the engine

    async def sample(self, purpose: Phase, kind: TokenKind, max_new_tokens: int, turn: int) -> Sample:
        """Extend the stream by one completion; its seed follows from the session's seed and the call's number."""
        self.extend(self.renderer.reply_start, TokenKind.OBS, turn)
        self.notify(purpose)
        seed = int(np.random.SeedSequence([self.seed, self.calls]).generate_state(1)[0])
        self.calls += 1
        sample = await self.engine.generate(
            SampleRequest(
                prompt_ids=tuple(self.stream.ids),
                max_new_tokens=max_new_tokens,
                temperature=self.sampling.temperature,
                top_p=self.sampling.top_p,
                top_k=self.sampling.top_k,
                stop_ids=self.renderer.stop_ids,
                seed=seed,
                session_id=f"{self.task.name}:{self.seed}",
            )
        )
        if not 0 < len(sample.token_ids) <= max_new_tokens or len(sample.logprobs) != len(sample.token_ids):
            raise RuntimeError(
                f"the engine returned {len(sample.token_ids)} tokens and {len(sample.logprobs)} log-probabilities, "
                f"at most {max_new_tokens} were asked for"
            )
        self.extend(sample.token_ids, kind, turn, sample)
        return sample

    def reply_text(self, sample: Sample) -> str:
        """The reply without its stop token."""
        ids = sample.token_ids[:-1] if sample.finish_reason == "stop" else sample.token_ids
        return self.tokenizer.decode(ids)

    def extend(self, ids: list[int], kind: TokenKind, turn: int, sample: Sample | None = None) -> None:
        self.stream.extend(ids, kind, turn, sample)
        self.stream_tokens += len(ids)

    def notify(self, phase: Phase) -> None:
        self.state.phase = phase
        self.watch(self.state)


def profile_text(feedback: StepFeedback) -> str:
    """What the profile tool says: the speedup with its kind, and the bottleneck if the profiler named one."""
    if feedback.speedup is None:
        return "no profile: the kernel must pass first. " + feedback.feedback
    lines = [f"{feedback.speedup.kind} speedup {feedback.speedup.value:.2f}"]
    summary = feedback.details.get("profile")
    return "\n".join([*lines, *([str(summary)] if summary else [])])
