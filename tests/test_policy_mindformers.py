"""MindFormers' own Qwen3 as the policy: transformers' logits, the native model's gradients, the same checkpoints."""

from __future__ import annotations

from dataclasses import replace

import mindspore as ms
import numpy as np
import pytest
import torch
from test_policy_numerics import random_model, small

from atrl_ms.errors import UserError
from atrl_ms.policy.mindformers_qwen3 import build_mindformers
from atrl_ms.policy.model import build_model, causal_constants
from atrl_ms.policy.weights import export_weights, import_weights, load_weights, save_checkpoint
from atrl_ms.rollout.decoder import NumpyDecoder, Row
from atrl_ms.train.learner import Learner

pytest.importorskip("mindformers", reason="pip install -e '.[mindformers]'")


@pytest.mark.parametrize("tied", [True, False])
def test_logits_equal_transformers_and_a_step_equals_the_native_models(tied, tmp_path):
    from transformers import AutoModelForCausalLM

    config = replace(small("qwen3"), tie_word_embeddings=tied)
    native = random_model(config)
    save_checkpoint(native, config, tmp_path)
    model = build_mindformers(config)
    load_weights(model, tmp_path)
    reference = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    rng = np.random.default_rng(0)
    ids = rng.integers(0, 97, (2, 64)).astype(np.int32)
    logits = ms.jit(model.construct)(ms.Tensor(ids), *causal_constants(config, 64)).asnumpy().reshape(2, 64, -1)
    expected = reference(input_ids=torch.tensor(ids).long()).logits.detach().numpy()
    assert np.abs(logits - expected).max() < 1e-4

    # The engine samples from the same weights.
    decoder = NumpyDecoder(model, 1, 64)
    assert np.abs(decoder.forward([Row(0, 0, ids[0])])[0] - expected[0, -1]).max() < 1e-4

    weight = (rng.random((2, 64)) / 100).astype(np.float32)
    mine, theirs = Learner(model), Learner(native)
    assert mine.sft(ids, weight) == pytest.approx(theirs.sft(ids, weight), rel=1e-5)
    sums = {p.name: s.asnumpy() for p, s in zip(theirs.parameters, theirs.sums, strict=True)}
    for parameter, total in zip(mine.parameters, mine.sums, strict=True):
        want = sums[parameter.name]
        assert np.abs(total.asnumpy() - want).max() <= 1e-4 * np.abs(want).max() + 1e-9, parameter.name
    assert mine.apply(1e-3)["grad_norm"] == pytest.approx(theirs.apply(1e-3)["grad_norm"], rel=1e-4)

    save_checkpoint(model, config, tmp_path / "saved")
    again = build_model(config)
    load_weights(again, tmp_path / "saved")
    for name, value in export_weights(again).items():
        assert np.array_equal(value, export_weights(model)[name]), name


def test_architectures_that_its_qwen3_lacks_are_refused():
    with pytest.raises(UserError, match="backend native"):
        build_mindformers(small("llama"))
    with pytest.raises(UserError, match="multiple of"):
        build_mindformers(replace(small("qwen3"), hidden_size=50))
    model = build_model(small("qwen2"))
    with pytest.raises(UserError, match="missing"):
        import_weights(build_mindformers(small("qwen3")), export_weights(model))
