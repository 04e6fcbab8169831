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

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from agent.compaction import Context, Resume, Step, build_context, parse_notes
from agent.prompt import SUMMARY_REQUEST, Renderer, cut_to_tokens, renderer_for, system_text
from agent.workbench import Knowledge, Phase, SessionState, Workbench
from atrl_ms.config import AgentConfig
from atrl_ms.types import (
    Compaction,
    Finish,
    Judge,
    RolloutEngine,
    Sample,
    SampleRequest,
    Segment,
    Session,
    Task,
    Tokenizer,
    TokenKind,
)


@dataclass(frozen=True)
class Sampling:
    """How replies are sampled; temperature 0 is greedy, top_k 0 is off."""

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0


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


def call_seed(session_seed: int, call: int) -> int:
    """Seed of a session's model call number `call`, from 0; summaries count."""
    return int(np.random.SeedSequence([session_seed, call]).generate_state(1)[0])


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
    bench = Workbench(task, judge, config, seed, knowledge, watch)
    return await _TokenSession(bench, engine, tokenizer, sampling).run()


class _TokenSession:
    """The state machine behind `run_session`."""

    def __init__(self, bench: Workbench, engine: RolloutEngine, tokenizer: Tokenizer, sampling: Sampling) -> None:
        self.bench, self.engine, self.tokenizer, self.sampling = bench, engine, tokenizer, sampling
        self.config, self.state, self.session = bench.config, bench.state, bench.session
        self.renderer: Renderer = renderer_for(tokenizer)
        config = bench.config
        self.system = system_text(config.instructions, config.tool_format)
        self.steps: deque[Step] = deque(maxlen=config.keep_steps)
        self.calls = 0
        self.stream_tokens = 0  # sampled and observed, over all segments

        start, user = len(self.renderer.reply_start), len(self.renderer.user([]))
        self.request_ids = self.renderer.text(SUMMARY_REQUEST)
        reply = start + config.max_reply_tokens + len(self.renderer.after_reply(closed=False))
        summary = user + len(self.request_ids) + start + config.max_summary_tokens
        hybrid = config.compaction == "hybrid" and config.max_compactions > 0
        self.reserve = reply + user + config.feedback_tokens + (summary if hybrid else 0)

    async def run(self) -> Session:
        context = self.context(Resume(self.header()))
        if context is None:
            return self.bench.finish("window")
        self.stream = Stream(context.ids)
        finish = await self.turns()
        self.session.segments.append(self.stream.close(finish))
        return self.bench.finish(finish)

    async def turns(self) -> Finish:
        """Replies until something ends the session."""
        config = self.config
        while True:
            if self.state.turn >= config.max_turns:
                return "max_turns"
            if self.bench.out_of_time:
                return "max_seconds"
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
            text, finish = await self.bench.act(self.reply_text(sample), turn)
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
        self.bench.notify("observed")

    async def compact(self) -> None:
        """End the segment (in hybrid with the model's notes) and begin the next from what must not be lost."""
        before, turn = len(self.stream.ids), self.state.turn - 1
        notes = await self.notes(turn) if self.config.compaction == "hybrid" else None
        context = self.context(self.bench.resume(self.header(), notes))
        if context is None:
            raise RuntimeError("the bare task does not fit, although the first context held it")
        self.session.segments.append(self.stream.close("compaction"))
        self.bench.resumed(context.resume)
        self.session.compactions.append(
            Compaction(
                segment=len(self.session.segments) - 1,
                turn=turn,
                tokens_before=before,
                tokens_after=len(context.ids),
                notes_valid=notes is not None,
                strategy=self.config.compaction,
                resume_text=context.resume.text(),
            )
        )
        self.stream = Stream(context.ids)
        self.bench.notify("compacted")

    async def notes(self, turn: int) -> tuple[str, str] | None:
        """Ask for notes at the end of the old segment; None if they do not fit the schema or their budget."""
        self.extend(self.renderer.user(self.request_ids), TokenKind.OBS, turn)
        sample = await self.sample("summary", TokenKind.SUM, self.config.max_summary_tokens, turn)
        return parse_notes(self.reply_text(sample)) if sample.finish_reason == "stop" else None

    def context(self, resume: Resume) -> Context | None:
        """A context that leaves room for a reply, its observation and the summary."""
        limit = self.config.window - self.reserve
        return build_context(self.renderer, self.system, self.bench.task.source, resume, list(self.steps), limit)

    def header(self) -> str:
        return self.bench.header(lambda text: len(self.renderer.text(text)) <= self.config.knowledge_tokens)

    async def sample(self, purpose: Phase, kind: TokenKind, max_new_tokens: int, turn: int) -> Sample:
        """Extend the stream by one completion; its seed follows from the session's seed and the call's number."""
        self.extend(self.renderer.reply_start, TokenKind.OBS, turn)
        self.bench.notify(purpose)
        seed = call_seed(self.bench.seed, self.calls)
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
                session_id=f"{self.bench.task.name}:{self.bench.seed}",
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
