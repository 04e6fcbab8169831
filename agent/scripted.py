"""An engine that speaks given texts: demonstrations run through the very session that the policy will run in."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from agent.session import SessionState
from atrl_ms.types import Sample, SampleRequest, Tokenizer

Script = Callable[[SampleRequest, SessionState], str]


class ScriptedEngine:
    """A RolloutEngine for one session; pass `watch=engine.bind` to `run_session`.

    Args:
        replies: called with the request and the session's state (`state.purpose` says whether a reply or a compaction
            summary is wanted), or the texts themselves in the order in which they are asked for.
        tokenizer: encodes the texts; the end token is appended, the log-probability of every token is 0.
    """

    def __init__(self, replies: Script | Iterable[str], tokenizer: Tokenizer) -> None:
        if callable(replies):
            self.script: Script = replies
        else:
            texts = iter(replies)
            self.script = lambda request, state: next(texts)
        self.tokenizer = tokenizer
        self.state: SessionState | None = None

    def bind(self, state: SessionState) -> None:
        """Remember the live state of the session that asks."""
        self.state = state

    async def generate(self, request: SampleRequest) -> Sample:
        """The script's text as ids, cut at `max_new_tokens` as a real engine would."""
        if self.state is None:
            raise RuntimeError("ScriptedEngine is not bound: pass watch=engine.bind to run_session")
        ids = [*self.tokenizer.encode(self.script(request, self.state)), request.stop_ids[0]]
        cut = ids[: request.max_new_tokens]
        return Sample(cut, [0.0] * len(cut), "stop" if len(cut) == len(ids) else "length", policy_version=0)
