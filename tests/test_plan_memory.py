"""The memory calculator against figures from the papers and model cards that publish them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from atrl_ms.config import load_config
from atrl_ms.errors import UserError
from atrl_ms.policy.config import read_config
from atrl_ms.train.memory import Shape, layer_activation_bytes, layers_in_flight, state_bytes
from atrl_ms.train.plan import make_plan, parameter_count

CONFIGS = Path(__file__).parents[1] / "configs"
LARGE = {"qwen3_8b_a2": "qwen3-8b", "qwen25_coder_7b_a2": "qwen2.5-coder-7b"}


def large(name, *overrides):
    overrides = [f"policy.checkpoint={CONFIGS / 'models' / LARGE[name]}", *overrides]
    return load_config(CONFIGS / f"{name}.yaml", overrides)


def gpt(hidden, heads):
    return Shape(hidden, heads, heads, hidden // heads, 4 * hidden, gated=False, flash=False, dropout=True)


@pytest.mark.parametrize(
    "sharded, gigabytes", [("none", 120), ("os", 31.4), ("os+g", 16.6), ("os+g+p", 1.9)]
)  # ZeRO (arXiv 1910.02054), figure 1: 7.5 G parameters on 64 devices
def test_states_equal_zero_figure_1(sharded, gigabytes):
    total = sum(state_bytes(7.5e9, 64, sharded).values()) / 1e9
    assert abs(total - gigabytes) < 0.06


@pytest.mark.parametrize("hidden, heads, sequence", [(12288, 96, 2048), (20480, 128, 2048), (6144, 64, 2048)])
def test_activations_equal_the_published_table(hidden, heads, sequence):
    """Korthikanti et al. (arXiv 2205.05198), table 2: bytes of a layer in units of s b h."""
    b, t = 4, 8
    sbh, core = sequence * b * hidden, 5 * heads * sequence / hidden
    shape = gpt(hidden, heads)

    def units(**settings):
        return layer_activation_bytes(shape, sequence, b, **settings) / sbh

    assert units() == pytest.approx(34 + core)
    assert units(tensor=t) == pytest.approx(10 + 24 / t + core / t)
    assert units(tensor=t, sequence_parallel=True) == pytest.approx((34 + core) / t)
    assert units(tensor=t, recompute="selective") == pytest.approx(10 + 24 / t)
    assert units(tensor=t, sequence_parallel=True, recompute="selective") == pytest.approx(34 / t)
    assert units(tensor=t, recompute="full") == pytest.approx(2)


@pytest.mark.parametrize("hidden, heads, saved", [(12288, 96, 0.70), (20480, 128, 0.65)])
def test_selective_recomputation_saves_what_the_paper_says_for_gpt3_and_mt_nlg(hidden, heads, saved):
    shape = gpt(hidden, heads)
    kept = layer_activation_bytes(shape, 2048, 1, recompute="selective") / layer_activation_bytes(shape, 2048, 1)
    assert 1 - kept == pytest.approx(saved, abs=0.005)


def test_a_pipelines_first_stage_holds_all_layers_in_flight():
    assert layers_in_flight(96, 8, 64) == 96 and layers_in_flight(96, 8, 2) == 24 and layers_in_flight(5, 2, 1) == 3


@pytest.mark.parametrize(
    "model, total, without_embedding", [("qwen3-8b", 8.2e9, 6.95e9), ("qwen2.5-coder-7b", 7.61e9, 6.53e9)]
)  # model cards
def test_parameter_counts_are_those_of_the_model_cards(model, total, without_embedding):
    config = read_config(CONFIGS / "models" / model)
    count = parameter_count(config)
    assert count == pytest.approx(total, rel=2e-3)
    assert count - 2 * config.vocab_size * config.hidden_size == pytest.approx(without_embedding, rel=2e-3)


@pytest.mark.parametrize("name", LARGE)
def test_large_configurations_fit_one_a2_node_and_not_one_npu(name):
    plan = make_plan(large(name))
    assert plan.spread.fits(plan.total)
    alone = make_plan(large(name, "parallel.devices=1", "parallel.tensor=1"))
    assert not alone.spread.fits(alone.total)


def test_more_sharding_never_needs_more_memory():
    def total(*overrides):
        return make_plan(large("qwen3_8b_a2", "parallel.devices=16", "parallel.tensor=2", *overrides)).total

    levels = [total(f"parallel.optimizer_level={level}") for level in ("none", "level1", "level2", "level3")]
    assert levels == sorted(levels, reverse=True) and len(set(levels)) == 4
    recompute = [total(f"parallel.recompute={kind}") for kind in ("none", "full")]
    assert recompute[0] > recompute[1]


@pytest.mark.parametrize(
    "overrides, message",
    [
        (["parallel.tensor=3", "parallel.devices=3"], "does not divide the policy's 32 attention heads"),
        (["parallel.tensor=16", "parallel.devices=16"], "8 key/value heads"),
        (["parallel.devices=6"], "not a multiple of tensor 4"),
        (["parallel.pipeline=64", "parallel.devices=256"], "36 layers"),
        (["parallel.serving_tensor=8"], "serving_devices 4 is not a multiple of 8"),
    ],
)
def test_what_cannot_be_divided_is_one_clear_line(overrides, message):
    with pytest.raises(UserError, match=message):
        make_plan(large("qwen3_8b_a2", *overrides))


def test_command_prints_the_plan_and_fails_when_it_does_not_fit(tmp_path):
    def atrl(*arguments):
        command = [sys.executable, "-m", "atrl_ms.cli", *arguments]
        return subprocess.run(command, cwd=CONFIGS.parent, capture_output=True, text=True, check=False)

    checkpoint = "policy.checkpoint=configs/models/qwen3-8b"
    settings = tmp_path / "mindformers.yaml"
    fits = atrl("plan", "configs/qwen3_8b_a2.yaml", "--set", checkpoint, "--settings", str(settings))
    assert fits.returncode == 0 and "stay free" in fits.stdout, fits.stderr
    assert yaml.safe_load(settings.read_text())["parallel_config"]["model_parallel"] == 4
    too_much = atrl("plan", "configs/qwen3_8b_a2.yaml", "--set", checkpoint, "parallel.device_gib=32")
    assert too_much.returncode == 1 and "DOES NOT FIT" in too_much.stdout
    same = atrl("train", "configs/qwen3_8b_a2.yaml", "--set", checkpoint, "--dry-run")
    assert same.stdout == fits.stdout
