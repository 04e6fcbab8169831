"""The policy of a run: the configured implementation, its adapters, and how a run saves and restores it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from mindspore import Tensor, nn, ops

from atrl_ms.config import PolicyConfig
from atrl_ms.errors import UserError
from atrl_ms.policy.config import read_config
from atrl_ms.policy.model import Lora, build_model
from atrl_ms.policy.weights import load_weights, read_tensors, save_checkpoint, write_tensors

ADAPTERS = "adapters.safetensors"  # beside the merged weights: what is trained, for an exact resume


def load_policy(settings: PolicyConfig) -> nn.Cell:
    """The model at `policy.checkpoint` in float32, with `config` and parameters as atrl_ms.policy.model.Transformer.

    Raises:
        UserError: a checkpoint that cannot be read or that the backend does not support.
    """
    config = read_config(settings.directory)
    if settings.backend == "mindformers":
        from atrl_ms.policy.mindformers_qwen3 import build_mindformers

        model: nn.Cell = build_mindformers(config)
    else:
        lora = None
        if settings.lora_rank:
            lora = Lora(settings.lora_rank, settings.lora_alpha, tuple(settings.lora_targets))
        model = build_model(config, lora=lora)
    load_weights(model, settings.directory)
    return model


def save_policy(model: nn.Cell, directory: Path) -> None:
    """A Hugging Face checkpoint with adapters merged; the adapters themselves are put beside it."""
    save_checkpoint(model, model.config, directory)
    if model.lora:
        write_tensors(directory / ADAPTERS, {p.name: p.asnumpy() for p in model.trainable_params()}, "float32")


def restore_policy(model: nn.Cell, directory: Path) -> None:
    """What `save_policy` wrote, bit for bit. With adapters the frozen weights are those of `policy.checkpoint`.

    Raises:
        UserError: the checkpoint belongs to another model, or to other adapters.
    """
    if not model.lora:
        load_weights(model, directory)
        return
    path = directory / ADAPTERS
    if not path.is_file():
        raise UserError(f"{path}: no such file; the run was not trained with policy.lora_rank")
    stored = dict(read_tensors(path))
    parameters = {p.name: p for p in model.trainable_params()}
    if {n: v.shape for n, v in stored.items()} != {n: p.shape for n, p in parameters.items()}:
        raise UserError(f"{path}: holds other adapters than policy.lora_rank and policy.lora_targets ask for")
    for name, parameter in parameters.items():
        ops.assign(parameter, Tensor(np.ascontiguousarray(stored[name])))  # in place: graphs do not follow set_data
