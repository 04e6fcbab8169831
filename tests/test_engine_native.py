"""The native engine: same probabilities as the trainer, requests independent of each other, caches never stale."""

from __future__ import annotations

import asyncio

import mindspore as ms
import numpy as np
import pytest

from atrl_ms.policy.config import ModelConfig
from atrl_ms.policy.model import build_model
from atrl_ms.rollout.native import NativeEngine
from atrl_ms.rollout.sampling import sample
from atrl_ms.train.learner import Learner
from atrl_ms.types import SampleRequest

CONFIG = ModelConfig(
    vocab_size=61, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_key_value_heads=2, head_dim=8
)


def model_with_sharp_logits(seed: int = 0):
    """Weights large enough that the distribution is far from uniform."""
    model = build_model(CONFIG, seed)
    rng = np.random.default_rng(seed)
    for p in model.get_parameters():
        p.set_data(ms.Tensor(p.asnumpy() + 0.3 * rng.standard_normal(p.shape).astype(np.float32)))
    return model


@pytest.fixture(scope="module")
def model():
    return model_with_sharp_logits()


def prompts(count: int, low: int = 3, high: int = 40) -> list[list[int]]:
    rng = np.random.default_rng(1)
    return [rng.integers(0, 61, rng.integers(low, high)).tolist() for _ in range(count)]


def serve(engine: NativeEngine, requests: list[SampleRequest]):
    async def run():
        return await asyncio.gather(*(engine.generate(r) for r in requests))

    return asyncio.run(run())


@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_engine_and_trainer_agree_on_log_probabilities_over_two_turns(model, temperature):
    engine = NativeEngine(model, max_batch=4, max_context=128)
    learner = Learner(model, temperature=temperature)
    first = [
        SampleRequest(p, 20, temperature=temperature, seed=i, session_id=f"s{i}") for i, p in enumerate(prompts(6))
    ]
    samples = serve(engine, first)
    second = [
        SampleRequest(
            [*r.prompt_ids, *s.token_ids, 5, 6, 7], 15, temperature=temperature, seed=9, session_id=r.session_id
        )
        for r, s in zip(first, samples, strict=True)
    ]
    for request, answer in zip([*first, *second], [*samples, *serve(engine, second)], strict=True):
        ids = np.zeros((1, 96), np.int32)
        whole = [*request.prompt_ids, *answer.token_ids]
        ids[0, : len(whole)] = whole
        expected = learner.logprobs(ids)[0, len(request.prompt_ids) : len(whole)]
        assert np.abs(expected - answer.logprobs).max() < 1e-4


def test_a_request_gives_the_same_tokens_alone_and_in_a_batch_of_16(model):
    requests = [
        SampleRequest(p, 24, temperature=0.9, top_p=0.9 if i % 2 else 1.0, top_k=7 if i % 3 == 0 else 0, seed=i)
        for i, p in enumerate(prompts(16))
    ]
    together = serve(NativeEngine(model, max_batch=16, max_context=64), requests)
    for request, sampled in zip(requests, together, strict=True):
        alone = serve(NativeEngine(model, max_batch=1, max_context=64), [request])[0]
        assert alone.token_ids == sampled.token_ids
        assert np.allclose(alone.logprobs, sampled.logprobs, atol=1e-5)


def test_a_new_turn_prefills_only_its_new_tokens_and_a_group_shares_its_prompt(model):
    engine = NativeEngine(model, max_batch=8, max_context=128)
    prompt = prompts(1, 40, 41)[0]
    group = [SampleRequest(prompt, 10, seed=i, session_id=str(i)) for i in range(8)]
    samples = serve(engine, group)
    # One member computes the prompt; the others only its last token, whose logits they need.
    assert engine.stats.prefilled_tokens == len(prompt) + 7
    before = engine.stats.prefilled_tokens
    turn = [
        SampleRequest([*prompt, *s.token_ids, 1, 2], 5, session_id=r.session_id)
        for r, s in zip(group, samples, strict=True)
    ]
    serve(engine, turn)
    assert engine.stats.prefilled_tokens - before == 8 * 3  # last sampled token and two new ones


def test_more_sessions_than_slots_evict_without_changing_a_token(model):
    requests = [SampleRequest(p, 12, seed=i, session_id=str(i)) for i, p in enumerate(prompts(9))]
    small, large = NativeEngine(model, max_batch=2, max_context=64), NativeEngine(model, max_batch=9, max_context=64)
    assert [s.token_ids for s in serve(small, requests)] == [s.token_ids for s in serve(large, requests)]


def test_new_weights_are_used_and_requests_in_flight_finish_under_their_version():
    model = model_with_sharp_logits(1)
    engine = NativeEngine(model, max_batch=4, max_context=64)
    request = SampleRequest(prompts(1)[0], 20, seed=3, session_id="a")
    old = serve(engine, [request])[0]

    async def overlap():
        flight = asyncio.create_task(engine.generate(request))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        for p in model.get_parameters():
            p.set_data(ms.Tensor(p.asnumpy() * 1.3 + 0.05))
        update = asyncio.create_task(engine.update_weights(7))
        await asyncio.sleep(0)
        later = asyncio.create_task(engine.generate(request))
        return await flight, await later, await update

    during, after, _ = asyncio.run(overlap())
    assert (during.policy_version, after.policy_version) == (0, 7)
    assert during.token_ids == old.token_ids
    fresh = serve(NativeEngine(model, max_batch=1, max_context=64), [request])[0]
    assert after.token_ids == fresh.token_ids != old.token_ids
    assert np.allclose(after.logprobs, fresh.logprobs, atol=1e-5)


def test_stop_tokens_end_a_reply_and_stay_in_it(model):
    request = SampleRequest(prompts(1)[0], 30, seed=5)
    free = serve(NativeEngine(model, 1, 64), [request])[0]
    assert free.finish_reason == "length" and len(free.token_ids) == 30
    stop = free.token_ids[11]
    first = free.token_ids.index(stop)
    stopped = serve(NativeEngine(model, 1, 64), [SampleRequest(request.prompt_ids, 30, seed=5, stop_ids=(stop,))])[0]
    assert stopped.finish_reason == "stop"
    assert stopped.token_ids == free.token_ids[: first + 1]


def test_context_is_never_exceeded_and_bad_requests_are_refused(model):
    engine = NativeEngine(model, max_batch=2, max_context=32)
    full = serve(engine, [SampleRequest([1] * 30, 50)])[0]
    assert len(full.token_ids) == 2 and full.finish_reason == "length"
    for bad in (
        SampleRequest([1] * 32, 1),
        SampleRequest([], 1),
        SampleRequest([61], 1),
        SampleRequest([1], 0),
        SampleRequest([1], 1, top_p=0.0),
        SampleRequest([1], 1, temperature=float("nan")),
    ):
        with pytest.raises(ValueError):
            serve(engine, [bad])
    assert len(serve(engine, [SampleRequest([1], 3)])[0].token_ids) == 3


def test_a_cancelled_request_frees_its_slot(model):
    engine = NativeEngine(model, max_batch=1, max_context=64)

    async def run():
        task = asyncio.create_task(engine.generate(SampleRequest([1, 2], 60)))
        for _ in range(5):
            await asyncio.sleep(0)
        task.cancel()
        return await asyncio.wait_for(engine.generate(SampleRequest([1, 2, 3], 4)), 20)

    assert len(asyncio.run(run()).token_ids) == 4


def test_sampling_follows_the_distribution_and_its_truncations():
    logits = np.log(np.array([0.5, 0.25, 0.15, 0.1], np.float32))
    uniforms = (np.arange(4000) + 0.5) / 4000

    def frequencies(**settings):
        request = SampleRequest([0], 1, **settings)
        ids, logprobs = sample(np.tile(logits, (4000, 1)), [request] * 4000, uniforms)
        return np.bincount(ids, minlength=4) / 4000, dict(zip(ids.tolist(), logprobs.tolist(), strict=True))

    plain, logprobs = frequencies()
    assert np.allclose(plain, [0.5, 0.25, 0.15, 0.1], atol=1e-3)
    assert np.allclose([logprobs[i] for i in range(4)], logits, atol=1e-6)
    assert np.allclose(frequencies(top_k=2)[0], [2 / 3, 1 / 3, 0, 0], atol=1e-3)
    assert np.allclose(frequencies(top_p=0.7)[0], [2 / 3, 1 / 3, 0, 0], atol=1e-3)
    assert np.allclose(frequencies(top_p=0.76)[0], np.array([0.5, 0.25, 0.15, 0]) / 0.9, atol=1e-3)
    squared = np.array([0.5, 0.25, 0.15, 0.1]) ** 2
    cold, cold_logprobs = frequencies(temperature=0.5, top_p=0.5)
    assert cold.tolist() == [1, 0, 0, 0]
    assert cold_logprobs[0] == pytest.approx(np.log(squared[0] / squared.sum()), abs=1e-6)  # before truncation
    assert frequencies(temperature=0.0)[0].tolist() == [1, 0, 0, 0]
