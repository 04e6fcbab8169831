"""The session at message level, for models behind an OpenAI-compatible endpoint: the same tools, texts and compaction.

Nothing is trained here, so no token ids are kept: segments are empty, the messages are recorded instead. The window is
kept by the endpoint's own token counts, and by an estimate for what it has not counted yet.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import httpx
import numpy as np

from agent.compaction import Resume, parse_notes
from agent.prompt import SUMMARY_REQUEST, system_text, task_text
from agent.session import Sampling
from agent.workbench import Knowledge, SessionState, Workbench
from atrl_ms.config import AgentConfig
from atrl_ms.errors import UserError
from atrl_ms.types import Compaction, Finish, Judge, Segment, Session, Task

Message = dict[str, str]  # role, content
CHARACTERS_PER_TOKEN = 3.0  # of code; low, so that estimates err on the safe side
DEFAULT_SAMPLING = Sampling()
MESSAGE_TOKENS = 8  # role tags and the like


@dataclass(frozen=True)
class Reply:
    """A model's message; `tokens` is what the endpoint counted for prompt and reply together, 0 if it did not say."""

    text: str
    complete: bool
    tokens: int


class ChatModel(Protocol):
    """Messages in, a message out."""

    async def reply(self, messages: list[Message], max_tokens: int, sampling: Sampling, seed: int) -> Reply: ...


@dataclass
class Transcript:
    """A session with what was said in it: one list of messages per segment."""

    session: Session
    segments: list[list[Message]] = field(default_factory=list)


def estimate(text: str) -> int:
    """Tokens of a message, from its length."""
    return int(len(text) / CHARACTERS_PER_TOKEN) + MESSAGE_TOKENS


async def run_chat_session(
    task: Task,
    *,
    model: ChatModel,
    judge: Judge,
    config: AgentConfig,
    seed: int,
    sampling: Sampling = DEFAULT_SAMPLING,
    knowledge: Knowledge | None = None,
    watch: Callable[[SessionState], None] | None = None,
) -> Transcript:
    """Run one session to its end; arguments as in `agent.session.run_session`.

    Raises:
        UserError: the endpoint cannot be used, or the task does not fit the window.
    """
    bench = Workbench(task, judge, config, seed, knowledge, watch)
    return await _ChatSession(bench, model, sampling).run()


class _ChatSession:
    """The state machine behind `run_chat_session`."""

    def __init__(self, bench: Workbench, model: ChatModel, sampling: Sampling) -> None:
        self.bench, self.model, self.sampling = bench, model, sampling
        self.config, self.state = bench.config, bench.state
        self.transcript = Transcript(bench.session)
        self.steps: list[Message] = []  # the raw steps kept over a compaction: reply and observation alternate
        self.calls = 0
        self.spent = 0  # tokens of replies and observations
        config = bench.config
        hybrid = config.compaction == "hybrid" and config.max_compactions > 0
        summary = estimate(SUMMARY_REQUEST) + config.max_summary_tokens
        self.reserve = config.max_reply_tokens + config.feedback_tokens + (summary if hybrid else 0)

    async def run(self) -> Transcript:
        self.begin(Resume(self.header()))
        finish = await self.turns()
        self.close(finish)
        self.bench.finish(finish)
        return self.transcript

    def begin(self, resume: Resume) -> Resume:
        """Start a segment from the fullest context that leaves room for a reply; returns what it holds."""
        system = system_text(self.config.instructions, self.config.tool_format)
        limit = self.config.window - self.reserve
        for version in resume.shrunk():
            user = task_text(self.bench.task.source, version.knowledge, version.text())
            self.used = estimate(system) + estimate(user)
            if self.used <= limit:
                break
        else:
            raise UserError(
                f"{self.bench.task.name}: the task takes about {self.used} tokens, the window has {limit} beside the "
                f"reserves for reply and feedback; raise agent.window ({self.config.window})"
            )
        kept = self.steps[-2 * self.config.keep_steps :] if self.config.keep_steps else []
        while kept and self.used + sum(estimate(m["content"]) for m in kept) > limit:
            kept = kept[2:]
        self.messages: list[Message] = [{"role": "system", "content": system}, {"role": "user", "content": user}, *kept]
        self.used += sum(estimate(m["content"]) for m in kept)
        self.transcript.segments.append(self.messages)
        return version

    def close(self, ended_by: str) -> None:
        """A segment without tokens: what happened in it is recorded, but nothing can be trained on it."""
        ids, mask, logprobs, kinds, turns, versions = (np.zeros(0, t) for t in ("i4", "?", "f4", "u1", "i4", "i4"))
        self.bench.session.segments.append(Segment(ids, 0, mask, logprobs, kinds, turns, versions, ended_by))

    async def turns(self) -> Finish:
        """Replies until something ends the session."""
        config = self.config
        while True:
            if self.state.turn >= config.max_turns:
                return "max_turns"
            if self.bench.out_of_time:
                return "max_seconds"
            if self.spent + self.reserve > config.max_session_tokens:
                return "max_tokens"
            if self.used + self.reserve > config.window:
                if config.compaction == "none":
                    return "window"
                if len(self.bench.session.compactions) >= config.max_compactions:
                    return "max_compactions"
                await self.compact()
            turn = self.state.turn
            self.bench.notify("reply")
            reply = await self.ask(config.max_reply_tokens)
            self.state.turn += 1
            text, finish = await self.bench.act(reply.text, turn)
            if finish is not None:
                return finish
            self.observe(text)

    def observe(self, text: str) -> None:
        """Show the model what came of its reply."""
        budget = int(self.config.feedback_tokens * CHARACTERS_PER_TOKEN)
        self.state.observation = text if len(text) <= budget else text[: budget - 4] + " ..."
        self.say("user", self.state.observation)
        self.spent += estimate(self.state.observation)
        self.steps = self.messages[-2:]
        self.bench.notify("observed")

    async def ask(self, max_tokens: int) -> Reply:
        """One call of the model on the messages as they stand."""
        seed = int(np.random.SeedSequence([self.bench.seed, self.calls]).generate_state(1)[0] >> 1)
        self.calls += 1
        reply = await self.model.reply(list(self.messages), max_tokens, self.sampling, seed)
        self.say("assistant", reply.text)
        self.spent += estimate(reply.text)
        if reply.tokens:
            self.used = reply.tokens
        return reply

    def say(self, role: str, content: str) -> None:
        self.messages.append({"role": role, "content": content})
        self.used += estimate(content)

    async def compact(self) -> None:
        """As at token level: notes in hybrid, then a new context from facts, notes and the last raw steps."""
        before, turn, notes = self.used, self.state.turn - 1, None
        if self.config.compaction == "hybrid":
            self.say("user", SUMMARY_REQUEST)
            self.bench.notify("summary")
            reply = await self.ask(self.config.max_summary_tokens)
            notes = parse_notes(reply.text) if reply.complete else None
        self.close("compaction")
        shown = self.begin(self.bench.resume(self.header(), notes))
        self.bench.resumed(shown)
        self.bench.session.compactions.append(
            Compaction(
                segment=len(self.bench.session.segments) - 1,
                turn=turn,
                tokens_before=before,
                tokens_after=self.used,
                notes_valid=notes is not None,
                strategy=self.config.compaction,
                resume_text=shown.text(),
            )
        )
        self.bench.notify("compacted")

    def header(self) -> str:
        return self.bench.header(lambda text: estimate(text) <= self.config.knowledge_tokens)


class Endpoint:
    """A model behind POST {url}/chat/completions. Use as `async with Endpoint(...)`.

    Args:
        url: base address, with or without /v1.
        name: model name; empty takes the first that the server lists.
        key: bearer token, empty for none.
    """

    def __init__(self, url: str, name: str = "", key: str = "", timeout: float = 600.0) -> None:
        self.url = url.rstrip("/").removesuffix("/chat/completions")
        if not self.url.endswith("/v1"):
            self.url += "/v1"
        self.name = name
        self.context = 0  # tokens that the server's model can hold, 0 if it does not say
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.client = httpx.AsyncClient(headers=headers, timeout=httpx.Timeout(timeout, connect=10.0))

    async def __aenter__(self) -> Endpoint:
        if not self.name:
            models = (await self._request("GET", "/models")).get("data") or []
            if not models:
                raise UserError(f"{self.url}: the server lists no model; name one with --model-name")
            self.name = str(models[0]["id"])
            self.context = int(models[0].get("max_model_len") or 0)  # vLLM and SGLang say it
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.client.aclose()

    async def reply(self, messages: list[Message], max_tokens: int, sampling: Sampling, seed: int) -> Reply:
        body: dict[str, Any] = {
            "model": self.name,
            "messages": messages,
            "max_tokens": max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": seed,
        }
        if sampling.top_k:
            body["top_k"] = sampling.top_k
        data = await self._request("POST", "/chat/completions", body)
        try:
            choice, usage = data["choices"][0], data.get("usage") or {}
            text = choice["message"].get("content") or ""
            tokens = int(usage.get("prompt_tokens", 0)) + int(usage.get("completion_tokens", 0))
            return Reply(text, choice.get("finish_reason") == "stop", tokens)
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise UserError(f"{self.url}: the answer is not a chat completion ({error!r})") from error

    async def _request(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """One call, repeated on overload and lost connections.

        Raises:
            UserError: unreachable, refused, or no JSON.
        """
        for attempt in range(4):
            try:
                answer = await self.client.request(method, self.url + path, json=body)
            except httpx.ConnectError as error:
                raise UserError(f"{self.url}: cannot be reached ({error}); is the server running?") from error
            except httpx.InvalidURL as error:
                raise UserError(f"{self.url}: not an address ({error})") from error
            except httpx.TransportError as error:
                if attempt == 3:
                    raise UserError(f"{self.url}: {type(error).__name__} after 4 attempts") from error
                await asyncio.sleep(2.0**attempt)
                continue
            if answer.status_code in (429, 500, 502, 503, 504) and attempt < 3:
                await asyncio.sleep(2.0**attempt)
                continue
            if answer.status_code >= 400:
                raise UserError(f"{self.url}{path}: HTTP {answer.status_code}: {' '.join(answer.text.split())[:300]}")
            try:
                data = answer.json()
            except ValueError:
                data = None
            if isinstance(data, dict):
                return data
            raise UserError(f"{self.url}{path}: the answer is not a JSON object; is this an OpenAI-compatible server?")
        raise AssertionError("every path of the last attempt returns or raises")
