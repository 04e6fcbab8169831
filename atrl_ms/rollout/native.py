"""The native rollout engine: continuous batching over cache slots, in the process that trains.

Requests that wait are admitted whenever a slot is free; every step decodes one token for all running ones. A session's
cache stays in its slot between turns, so a new turn prefills only its new tokens; a prompt prefix that another slot
holds is copied instead of computed. Between steps the event loop runs, so sandbox results are never kept waiting.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field

import mindspore as ms
import numpy as np

from atrl_ms.policy.model import Transformer
from atrl_ms.rollout.decoder import Decoder, NumpyDecoder, Row
from atrl_ms.rollout.kv_cache import SlotTable, common_prefix
from atrl_ms.rollout.sampling import check_request, sample
from atrl_ms.types import Sample, SampleRequest

SHARE_FROM = 16  # a shared prefix shorter than this is computed again rather than waited for
PREFILL_TOKENS = 4096  # new prompt tokens per step, so that one step stays short


@dataclass
class Running:
    """A request in a slot."""

    request: SampleRequest
    future: asyncio.Future[Sample]
    rng: np.random.Generator
    limit: int
    slot: int = -1
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)


@dataclass
class EngineStats:
    """Counters since the engine was made."""

    prompt_tokens: int = 0
    prefilled_tokens: int = 0
    copied_tokens: int = 0
    sampled_tokens: int = 0
    steps: int = 0


class NativeEngine:
    """Samples from `model`. Use from one event loop at a time.

    Args:
        max_batch: slots, that is sequences decoded together.
        max_context: tokens a slot can hold; default: the model's max_position_embeddings.
        decoder: "numpy", "graph", or "auto" (numpy on CPU, the compiled graph elsewhere).
    """

    def __init__(
        self,
        model: Transformer,
        max_batch: int = 32,
        max_context: int | None = None,
        decoder: str = "auto",
        version: int = 0,
    ):
        self.model = model
        self.version = version
        capacity = max_context or model.config.max_position_embeddings
        self.decoder = make_decoder(decoder, model, max_batch, capacity)
        self.table = SlotTable(max_batch)
        self.waiting: deque[Running] = deque()
        self.running: list[Running] = []
        self.stats = EngineStats()
        self.pump: asyncio.Task[None] | None = None
        self.paused = False

    async def generate(self, request: SampleRequest) -> Sample:
        """Sample one completion; ValueError for a request that cannot be served."""
        check_request(request)
        room = self.decoder.capacity - len(request.prompt_ids)
        if room < 1:
            raise ValueError(f"prompt of {len(request.prompt_ids)} tokens, context holds {self.decoder.capacity}")
        vocab = self.model.config.vocab_size
        if not 0 <= min(request.prompt_ids) <= max(request.prompt_ids) < vocab:
            raise ValueError(f"prompt ids must be between 0 and {vocab - 1}")
        future: asyncio.Future[Sample] = asyncio.get_running_loop().create_future()
        limit = min(request.max_new_tokens, room)
        self.waiting.append(Running(request, future, np.random.default_rng(request.seed), limit))
        self.wake()
        return await future

    async def update_weights(self, version: int) -> None:
        """Use the model's current weights from now on; caches are dropped.

        Requests in flight finish under the weights they started with; requests that arrive meanwhile wait.
        Do not train before this returns.
        """
        self.paused = True
        try:
            while self.running:
                await asyncio.sleep(0)
            self.decoder.load(self.model)
            self.table.forget()
            self.version = version
        finally:
            self.paused = False
            self.wake()

    def wake(self) -> None:
        if self.waiting and (self.pump is None or self.pump.done()):
            self.pump = asyncio.get_running_loop().create_task(self.run())

    async def run(self) -> None:
        """Step until nothing is left; a failure is every caller's failure."""
        try:
            while self.running or (self.waiting and not self.paused):
                self.step()
                await asyncio.sleep(0)
        except Exception as error:
            for item in (*self.running, *self.waiting):
                if not item.future.done():
                    item.future.set_exception(error)
                if item.slot >= 0:
                    self.table.release(item.slot)
            self.running, self.waiting = [], deque()
            self.table.forget()

    def step(self) -> None:
        """Admit what fits, one forward pass, one token for every running request."""
        for item in [i for i in self.running if i.future.done()]:  # the caller was cancelled
            self.retire(item)
        rows = [Row(i.slot, len(self.table.slots[i.slot].tokens), i.ids[-1:]) for i in self.running]
        admitted = [] if self.paused else self.admit()
        for item in admitted:
            held = len(self.table.slots[item.slot].tokens)
            rows.append(Row(item.slot, held, item.request.prompt_ids[held:]))
        self.running += admitted
        if not rows:
            return
        logits = self.decoder.forward(rows)
        for row in rows:
            self.table.slots[row.slot].tokens += [int(i) for i in row.ids]
        uniforms = np.array([item.rng.random() for item in self.running])
        ids, logprobs = sample(logits, [item.request for item in self.running], uniforms)
        self.stats.steps += 1
        self.stats.sampled_tokens += len(ids)
        self.stats.prefilled_tokens += sum(len(row.ids) for row in rows[len(rows) - len(admitted) :])
        for item, token, logprob in zip(list(self.running), ids, logprobs, strict=True):
            item.ids.append(int(token))
            item.logprobs.append(float(logprob))
            stopped = int(token) in item.request.stop_ids
            if stopped or len(item.ids) >= item.limit:
                self.retire(item)
                if not item.future.done():
                    reason = "stop" if stopped else "length"
                    item.future.set_result(Sample(item.ids, item.logprobs, reason, self.version))  # type: ignore[arg-type]

    def retire(self, item: Running) -> None:
        self.running.remove(item)
        self.table.release(item.slot)

    def admit(self) -> list[Running]:
        """Waiting requests that get a slot now; their slots hold the longest known prefix of the prompt."""
        admitted: list[Running] = []
        deferred: list[Running] = []
        budget = PREFILL_TOKENS
        while self.waiting and budget > 0:
            item = self.waiting.popleft()
            if item.future.done():
                continue
            prompt = list(item.request.prompt_ids)
            source, known = self.table.best_prefix(prompt)
            # A prompt of this very step shares more: wait one step, then copy it.
            shared = max((common_prefix(prompt, a.request.prompt_ids) for a in admitted), default=0)
            if shared >= known + SHARE_FROM:
                deferred.append(item)
                continue
            slot = self.table.acquire(item.request.session_id)
            if slot is None:
                deferred.append(item)
                break
            known = min(known, len(prompt) - 1)  # the last token must be computed: its logits are needed
            held = self.table.slots[slot]
            own = min(common_prefix(held.tokens, prompt), len(prompt) - 1)
            if own < known:
                self.decoder.copy_prefix(source, slot, known)
                self.stats.copied_tokens += known
            held.tokens = prompt[: max(own, known)]
            item.slot = slot
            self.stats.prompt_tokens += len(prompt)
            budget -= len(prompt) - len(held.tokens)
            admitted.append(item)
        self.waiting.extendleft(reversed(deferred))
        return admitted


def make_decoder(kind: str, model: Transformer, slots: int, capacity: int) -> Decoder:
    if kind == "auto":
        kind = "numpy" if ms.get_context("device_target") == "CPU" else "graph"
    if kind == "numpy":
        return NumpyDecoder(model, slots, capacity)
    if kind == "graph":
        from atrl_ms.rollout.decoder_graph import GraphDecoder

        return GraphDecoder(model, slots, capacity)
    raise ValueError(f"decoder {kind!r}; known: auto, numpy, graph")
