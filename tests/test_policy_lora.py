"""Adapters and recompute: what is trained, what is saved, and that neither changes the mathematics."""

from __future__ import annotations

from dataclasses import replace

import mindspore as ms
import numpy as np
import pytest
import torch
from test_engine_native import prompts, serve
from test_policy_numerics import random_model, small

from atrl_ms.config import PolicyConfig
from atrl_ms.errors import UserError
from atrl_ms.policy.model import causal_constants, plain_weights
from atrl_ms.policy.policy import load_policy, restore_policy, save_policy
from atrl_ms.policy.weights import export_weights, load_checkpoint, save_checkpoint
from atrl_ms.rollout.native import NativeEngine
from atrl_ms.train.learner import Learner
from atrl_ms.types import SampleRequest

CONFIG = replace(small("llama"), num_hidden_layers=1)
WEIGHT = np.full((2, 64), 1 / 126, np.float32)


def token_ids(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 97, (2, 64)).astype(np.int32)


def logits(model) -> np.ndarray:
    return ms.jit(model.construct)(ms.Tensor(token_ids()), *causal_constants(CONFIG, 64)).asnumpy()


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    directory = tmp_path_factory.mktemp("base")
    save_checkpoint(random_model(CONFIG), CONFIG, directory)
    return directory


@pytest.fixture(scope="module")
def trained(base):
    """An adapted policy after two steps, its settings, and its parameters before them."""
    settings = PolicyConfig(checkpoint=str(base), lora_rank=3, lora_alpha=6.0)
    model = load_policy(settings)
    before = {p.name: p.asnumpy().copy() for p in model.get_parameters()}
    learner = Learner(model)
    for _ in range(2):  # B starts at zero, so A moves in the second step only
        learner.sft(token_ids(), WEIGHT)
        learner.apply(1e-2)
    return model, settings, before


def test_an_untrained_adapter_changes_nothing(base):
    model = load_policy(PolicyConfig(checkpoint=str(base), lora_rank=3))
    plain, _ = load_checkpoint(base)
    assert np.array_equal(logits(model), logits(plain))


def test_only_adapters_are_trained_and_all_of_them_move(trained):
    model, _, before = trained
    moved = {p.name for p in model.get_parameters() if not np.array_equal(p.asnumpy(), before[p.name])}
    assert moved == {f"blocks.0.{t}_lora_{x}" for t in ("qkv", "out", "gate_up", "down") for x in "ab"}
    assert {p.name for p in model.trainable_params()} == moved


def test_merged_checkpoints_give_the_adapted_logits_here_and_in_transformers(trained, tmp_path):
    from transformers import AutoModelForCausalLM

    model, _, before = trained
    save_policy(model, tmp_path)
    expected = logits(model)
    merged, _ = load_checkpoint(tmp_path)
    assert np.abs(logits(merged) - expected).max() < 1e-4
    reference = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    theirs = reference(input_ids=torch.tensor(token_ids()).long()).logits.detach().numpy()
    assert np.abs(theirs.reshape(expected.shape) - expected).max() < 1e-4
    assert np.abs(plain_weights(model)["blocks.0.qkv"] - before["blocks.0.qkv"]).max() > 1e-3  # the adapters count


def test_the_engine_samples_from_the_adapted_policy(trained):
    model, _, _ = trained
    prompt = prompts(1)[0]
    answer = serve(NativeEngine(model, 1, 64), [SampleRequest(prompt, 12, seed=1)])[0]
    ids = np.array([[*prompt, *answer.token_ids]], np.int32)
    assert np.abs(Learner(model).logprobs(ids)[0, len(prompt) :] - answer.logprobs).max() < 1e-4


def test_a_resumed_run_has_the_same_adapters_bit_for_bit_and_refuses_others(trained, base, tmp_path):
    model, settings, _ = trained
    save_policy(model, tmp_path)
    again = load_policy(settings)
    restore_policy(again, tmp_path)
    for name, value in {p.name: p.asnumpy() for p in model.get_parameters()}.items():
        assert np.array_equal(value, dict((p.name, p.asnumpy()) for p in again.get_parameters())[name]), name
    with pytest.raises(UserError, match="other adapters"):
        restore_policy(load_policy(PolicyConfig(checkpoint=str(base), lora_rank=2)), tmp_path)
    with pytest.raises(UserError, match="not trained with"):
        restore_policy(again, base)
    # A new run on the merged checkpoint starts from it.
    fresh = load_policy(settings.model_copy(update={"checkpoint": str(tmp_path)}))
    for name, value in export_weights(fresh).items():
        assert np.array_equal(value, export_weights(model)[name]), name


def test_recompute_gives_the_same_gradients(base):
    sums = []
    for recompute in (False, True):
        learner = Learner(load_checkpoint(base)[0], recompute=recompute)
        learner.sft(token_ids(), WEIGHT)
        sums.append({p.name: s.asnumpy() for p, s in zip(learner.parameters, learner.sums, strict=True)})
    for name, value in sums[0].items():
        assert np.abs(value - sums[1][name]).max() <= 1e-6 * np.abs(value).max(), name
