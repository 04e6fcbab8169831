"""The policy equals transformers' models on the same weights: logits, gradients, checkpoints in both directions."""

from __future__ import annotations

import json

import mindspore as ms
import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from atrl_ms.policy.config import ModelConfig
from atrl_ms.policy.model import build_model, causal_constants
from atrl_ms.policy.weights import export_weights, load_checkpoint, save_checkpoint
from atrl_ms.train.learner import Learner

LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
FAMILIES = {
    "qwen3": ModelConfig(model_type="qwen3", num_attention_heads=4, num_key_value_heads=2, head_dim=12),
    "qwen2": ModelConfig(
        model_type="qwen2", num_attention_heads=3, num_key_value_heads=1, head_dim=16, tie_word_embeddings=False
    ),
    "llama": ModelConfig(
        model_type="llama",
        num_attention_heads=4,
        num_key_value_heads=4,
        head_dim=8,
        attention_bias=True,
        mlp_bias=True,
        rope_scaling=LLAMA3,
        rms_norm_eps=1e-5,
        rope_theta=500000.0,
    ),
}


def small(family: str) -> ModelConfig:
    from dataclasses import replace

    return replace(FAMILIES[family], vocab_size=97, hidden_size=48, intermediate_size=80, num_hidden_layers=2)


def random_model(config: ModelConfig, seed: int = 3):
    """Every parameter random, so that a gain or bias that is ignored shows."""
    model = build_model(config, seed)
    rng = np.random.default_rng(seed)
    for p in model.get_parameters():
        p.set_data(ms.Tensor(p.asnumpy() + 0.1 * rng.standard_normal(p.shape).astype(np.float32)))
    return model


@pytest.mark.parametrize("family", FAMILIES)
def test_logits_and_gradients_equal_transformers(family, tmp_path):
    config = small(family)
    model = random_model(config)
    save_checkpoint(model, config, tmp_path)
    reference = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    rng = np.random.default_rng(0)
    ids = rng.integers(0, 97, (2, 64)).astype(np.int32)

    logits = model(ms.Tensor(ids), *causal_constants(config, 64)).asnumpy().reshape(2, 64, -1)
    expected = reference(input_ids=torch.tensor(ids).long()).logits
    assert np.abs(logits - expected.detach().numpy()).max() < 1e-4

    # A PPO-like loss with unequal weights, some zero, some negative advantages.
    weight = (rng.random((2, 64)) * (rng.random((2, 64)) > 0.3)).astype(np.float32) / 100
    adv = rng.standard_normal((2, 64)).astype(np.float32)
    logp = torch.log_softmax(expected[:, :-1], -1).gather(-1, torch.tensor(ids[:, 1:, None]).long())[..., 0]
    old = np.zeros((2, 64), np.float32)
    old[:, 1:] = logp.detach().numpy() + 0.2 * rng.standard_normal((2, 63))
    ratio = torch.exp(logp - torch.tensor(old[:, 1:]))
    a, w = torch.tensor(adv[:, 1:]), torch.tensor(weight[:, 1:])
    loss = -(w * torch.minimum(ratio * a, ratio.clamp(0.8, 1.28) * a)).sum()
    loss.backward()

    def clipped(logp, old_logp, mu_logp, ref_logp, adv, weight):
        ratio = ms.ops.exp(logp - old_logp)
        value = ms.ops.minimum(ratio * adv, ms.ops.clamp(ratio, 0.8, 1.28) * adv)
        total = -ms.ops.sum(weight * value)
        return total, total.reshape(1)

    learner = Learner(model)
    statistics = learner.accumulate({"ids": ids, "weight": weight, "adv": adv, "old_logp": old}, clipped)
    assert statistics[0] == pytest.approx(loss.item(), rel=1e-4, abs=1e-6)
    for parameter, total in zip(learner.parameters, learner.sums, strict=True):
        parameter.set_data(ms.Tensor(total.asnumpy()))  # export_weights maps gradients as it maps weights
    gradients = export_weights(model)
    for name, expected_parameter in reference.named_parameters():
        want = expected_parameter.grad.numpy()
        assert np.abs(gradients[name] - want).max() <= 1e-4 * np.abs(want).max() + 1e-9, name


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_checkpoints_round_trip_sharded_and_in_every_storage_type(dtype, tmp_path):
    config = small("qwen3")
    model = random_model(config)
    save_checkpoint(model, config, tmp_path, dtype=dtype, max_shard_bytes=20_000)
    shards = json.loads((tmp_path / "model.safetensors.index.json").read_text())["weight_map"]
    assert len(set(shards.values())) > 1
    again, config_again = load_checkpoint(tmp_path)
    assert config_again == config
    torch_dtype = getattr(torch, dtype)
    reference = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32).state_dict()
    for name, value in export_weights(model).items():
        stored = torch.tensor(value).to(torch_dtype).float().numpy()  # torch's rounding
        assert np.array_equal(export_weights(again)[name], stored), name
        assert np.array_equal(reference[name].numpy(), stored), name
