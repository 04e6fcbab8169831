"""The judge of a run: a sandbox service, hosts of a Ray cluster, or processes of this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, Literal, Protocol

from atrl_ms.config import Config
from atrl_ms.errors import UserError
from atrl_ms.types import Judge, StepFeedback, Task
from sandbox.client import SandboxClient
from sandbox.options import Options
from sandbox.pool import SandboxPool

Tolerance = Literal["npu", "kernelbench"]


class Pool(Judge, Protocol):
    """A judge that must be closed."""

    def start(self) -> None: ...

    def submit(self, task: Task, candidate: str, *, seed: int = 0) -> Future[StepFeedback]: ...

    def close(self) -> None: ...

    def __enter__(self) -> Any: ...

    def __exit__(self, *exc: object) -> None: ...


def open_pool(config: Config, devices: Sequence[int] = (), tolerance: Tolerance = "npu") -> Pool:
    """The sandbox of a run: a service, hosts of a Ray cluster, or processes of this machine.

    Args:
        devices: NPUs that the workers of this machine use in turn; empty: each has one of its own.
        tolerance: the rule by which outputs are compared.

    Raises:
        UserError: a service is asked for a rule that only its own settings can choose.
    """
    sandbox = config.sandbox
    if sandbox.url:
        if tolerance != "npu":
            raise UserError(f"tolerance {tolerance}: a service judges by its own; leave out sandbox.url")
        token = os.environ.get("ATRL_TOKEN", "")
        return SandboxClient(sandbox.url, token, connections=sandbox.workers)
    options = Options(
        arch=sandbox.arch,
        cann=sandbox.cann,
        device=sandbox.device,
        timeout=sandbox.timeout,
        feedback_tokens=config.agent.feedback_tokens,
        tolerance=tolerance,
    )
    if sandbox.ray:
        from sandbox.ray_pool import RayPool

        return RayPool(options, workers=sandbox.workers, address=sandbox.ray)
    return SandboxPool(options, workers=sandbox.workers, devices=devices)
