"""The engine that a configuration names: the native one in this process, or a serving engine sent new weights."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mindspore import nn

from atrl_ms.config import EngineConfig
from atrl_ms.rollout.native import NativeEngine
from atrl_ms.rollout.serving import PublishingEngine, SglangClient, VllmClient


@contextmanager
def open_engine(
    settings: EngineConfig, model: nn.Cell, window: int, save: Callable[[Path], None]
) -> Iterator[NativeEngine | PublishingEngine]:
    """The engine of `engine.kind`, sampling from `model`.

    Args:
        window: tokens of the longest context.
        save: writes a checkpoint of `model` with its tokenizer, for a serving engine.

    Raises:
        UserError: a serving engine without `engine.url`.
    """
    if settings.kind == "native":
        yield NativeEngine(model, max_batch=settings.max_batch, max_context=window)
        return
    client: VllmClient | SglangClient
    if settings.kind == "vllm":
        client = VllmClient(settings.url, settings.model, timeout=settings.timeout)
    else:
        client = SglangClient(settings.url, timeout=settings.timeout)
    with tempfile.TemporaryDirectory(prefix="atrl_policy_") as temporary:
        yield PublishingEngine(client, save, settings.publish or temporary)
