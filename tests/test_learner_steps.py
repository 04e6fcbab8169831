"""The learner: AdamW equals torch's, micro-batches add up, a resume is bit-exact, nothing compiles in steady state."""

from __future__ import annotations

import asyncio

import mindspore as ms
import numpy as np
import pytest
import torch
from mindspore.graph import api as graph_api

from atrl_ms.policy.config import ModelConfig
from atrl_ms.policy.model import build_model
from atrl_ms.policy.weights import export_weights, import_weights, save_checkpoint
from atrl_ms.rollout.native import NativeEngine
from atrl_ms.train.learner import Learner
from atrl_ms.train.optim import OptimizerSettings, orthogonalise
from atrl_ms.types import SampleRequest

CONFIG = ModelConfig(
    vocab_size=31, hidden_size=16, intermediate_size=24, num_hidden_layers=1, num_key_value_heads=2, head_dim=8
)


def batch(rows: int = 4, time: int = 20, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 31, (rows, time)).astype(np.int32), rng.random((rows, time)).astype(np.float32) / 80


def test_three_steps_equal_torch_and_accumulated_halves_equal_the_whole(tmp_path):
    from transformers import AutoModelForCausalLM

    # A large epsilon: where a gradient is rounding noise, AdamW would otherwise step by its sign.
    settings = OptimizerSettings(weight_decay=0.1, max_grad_norm=0.05, eps=1e-4)
    model = build_model(CONFIG, 1)
    save_checkpoint(model, CONFIG, tmp_path)
    reference = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    decayed = [p for p in reference.parameters() if p.ndim == 2]
    plain = [p for p in reference.parameters() if p.ndim != 2]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}],
        lr=1e-2,
        betas=(0.9, 0.95),
        eps=1e-4,
    )
    whole, halves = Learner(model, settings), Learner(build_model(CONFIG, 1), settings)
    ids, weight = batch()
    for _ in range(3):
        mine = whole.sft_step(ids, weight, 1e-2)
        loss = halves.sft(ids[:1], weight[:1]) + halves.sft(ids[1:], weight[1:])
        norm = halves.apply(1e-2)["grad_norm"]
        optimizer.zero_grad()
        logp = torch.log_softmax(reference(input_ids=torch.tensor(ids).long()).logits[:, :-1], -1)
        picked = logp.gather(-1, torch.tensor(ids[:, 1:, None]).long())[..., 0]
        expected = -(torch.tensor(weight[:, 1:]) * picked).sum()
        expected.backward()
        expected_norm = torch.nn.utils.clip_grad_norm_(reference.parameters(), 0.05)
        optimizer.step()
        assert mine["loss"] == pytest.approx(expected.item(), rel=1e-5) == pytest.approx(loss, rel=1e-5)
        assert mine["grad_norm"] == pytest.approx(expected_norm.item(), rel=1e-4) == pytest.approx(norm, rel=1e-4)
    assert expected_norm > 0.05  # clipping was active
    state = reference.state_dict()
    for name, value in export_weights(model).items():
        assert np.abs(value - state[name].numpy()).max() < 2e-5, name
    for name, value in export_weights(halves.model).items():
        assert np.abs(value - state[name].numpy()).max() < 2e-5, name


@pytest.mark.parametrize("kind", ["adamw", "muon"])
def test_a_resumed_run_is_bit_exact_and_a_step_moves_every_parameter(kind):
    settings = OptimizerSettings(kind=kind)
    ids, weight = batch()
    straight = Learner(build_model(CONFIG, 2), settings)
    start = export_weights(straight.model)
    for _ in range(2):
        straight.sft_step(ids, weight, 1e-2)
    state = {k: v.copy() for k, v in straight.state_dict().items()}
    resumed = Learner(build_model(CONFIG, 3), settings)
    for p, q in zip(resumed.parameters, straight.parameters, strict=True):
        p.set_data(ms.Tensor(q.asnumpy().copy()))
    resumed.load_state_dict(state)
    for learner in (straight, resumed):
        learner.sft_step(ids, weight, 1e-2)
    again = export_weights(resumed.model)
    for name, value in export_weights(straight.model).items():
        assert np.array_equal(value, again[name]), name
        assert not np.array_equal(value, start[name]), name


def test_muons_update_is_the_nearest_orthogonal_matrix():
    rng = np.random.default_rng(0)
    for shape in ((12, 12), (8, 20), (20, 8)):
        matrix = rng.standard_normal(shape).astype(np.float32)
        u, _, v = np.linalg.svd(matrix, full_matrices=False)
        result = orthogonalise(ms.Tensor(matrix)).asnumpy()
        singular = np.linalg.svd(result, compute_uv=False)
        assert singular.min() > 0.5 and singular.max() < 1.3
        assert np.sum(result * (u @ v)) / np.linalg.norm(result) / np.linalg.norm(u @ v) > 0.95


def test_nothing_compiles_after_warm_up(monkeypatch):
    learner = Learner(build_model(CONFIG, 1))
    compiled = []
    compile_graph = graph_api._JitExecutor.compile

    def counting(self, *args, **kwargs):
        before = len(graph_api.ms_compile_cache)
        result = compile_graph(self, *args, **kwargs)
        compiled.extend([1] * (len(graph_api.ms_compile_cache) - before))
        return result

    monkeypatch.setattr(graph_api._JitExecutor, "compile", counting)
    for time in (20, 80):
        ids, weight = batch(4, time)
        learner.sft(ids, weight), learner.apply(1e-3), learner.logprobs(ids)
    assert compiled  # the counter counts
    warm, counted = len(compiled), learner.compilations
    for time, rows in ((33, 4), (64, 3), (96, 4), (65, 3)):
        ids, weight = batch(rows, time, seed=time)
        learner.sft(ids, weight), learner.apply(1e-3), learner.logprobs(ids)
    assert len(compiled) == warm
    assert learner.compilations == counted


def test_the_compiled_decoder_equals_the_numpy_one():
    from test_engine_native import serve

    model = build_model(CONFIG, 5)
    rng = np.random.default_rng(5)
    for p in model.get_parameters():
        p.set_data(ms.Tensor(p.asnumpy() + 0.3 * rng.standard_normal(p.shape).astype(np.float32)))
    requests = [SampleRequest(rng.integers(0, 31, 9).tolist(), 6, seed=i, session_id=str(i % 2)) for i in range(4)]
    graph = NativeEngine(model, 2, 63, decoder="graph")
    for mine, plain in zip(serve(graph, requests), serve(NativeEngine(model, 2, 63), requests), strict=True):
        assert mine.token_ids == plain.token_ids
        assert np.abs(np.array(mine.logprobs) - plain.logprobs).max() < 1e-4
    shapes = graph.decoder.compilations
    serve(graph, requests)
    assert graph.decoder.compilations == shapes
    # A weight update after the first compiled call takes effect, without another compilation.
    before = serve(graph, requests)
    for p in model.get_parameters():
        p.set_data(ms.Tensor(p.asnumpy() * 1.3 + 0.05))

    async def update():
        await graph.update_weights(1)

    asyncio.run(update())
    after = serve(graph, requests)
    for mine, plain, old in zip(after, serve(NativeEngine(model, 2, 63), requests), before, strict=True):
        assert mine.token_ids == plain.token_ids != old.token_ids
        assert np.abs(np.array(mine.logprobs) - plain.logprobs).max() < 1e-4
    assert graph.decoder.compilations == shapes


def test_parameters_loaded_after_the_first_compiled_call_are_the_ones_trained(tmp_path):
    model = build_model(CONFIG, 6)
    learner = Learner(model)
    ids, weight = batch()
    learner.sft(ids, weight), learner.apply(1e-3), learner.logprobs(ids)
    other = build_model(CONFIG, 7)
    import_weights(model, export_weights(other))
    assert np.abs(learner.logprobs(ids) - Learner(other).logprobs(ids)).max() < 1e-6
