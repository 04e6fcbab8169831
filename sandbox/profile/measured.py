"""Speed on a real NPU: the device time of a recorded candidate, of eager PyTorch in another process, and their ratio.

`measure_calls` and `run` need torch_npu and were not run where this was written; the rest is plain arithmetic.
"""

from __future__ import annotations

import functools
import math
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from atrl_ms.types import Speedup, Task
from sandbox.profile import machine, npu
from sandbox.profile.stage import CallReport, Profile
from sandbox.recording import leaves, used_buffers
from sandbox.replay import operate, place


@dataclass(frozen=True)
class CallTime:
    """Device time of one call in microseconds; `bound_us` is what its inputs and outputs take at full bandwidth."""

    us: float
    median_us: float
    spread_us: float
    bound_us: float
    notes: list[str]

    @property
    def credited_us(self) -> float:
        """No call is faster than memory: a shorter time is an error of the measurement, not a success."""
        return max(self.us, self.bound_us)


def least_us(recording: dict[str, Any], call: int, arch: str) -> float:
    """Microseconds that reading the inputs and parameters of a call and writing its outputs take at full bandwidth."""
    data, buffers = recording["calls"][call], recording["buffers"]
    outputs = {leaf["buffer"] for leaf in leaves(data["output"])}
    read = {index for index in used_buffers(data) if buffers[index]["kind"] != "alloc"}
    return sum(buffers[index]["nbytes"] for index in outputs | read) / (machine.load(arch).hbm_tbps * 1e6)


def measure_calls(recording: dict[str, Any], request: dict[str, Any], launcher: Any, space: Any) -> list[CallTime]:
    """Profile the first case of every call on the device, with cold L2.

    Args:
        request: as for `sandbox.device.run`.
        launcher: an `NpuLauncher` whose kernels have run.
        space: a `DeviceSpace`.
    """
    times = []
    for call in sorted({case["call"] for case in request["cases"]}):
        case = next(c for c in request["cases"] if c["call"] == call)
        memories: dict[int, Any] = {}
        place(recording, request, case, memories, "high", 0, space)
        data = recording["calls"][call]
        once = {**data, "ops": [op for op in data["ops"] if op["op"] in ("set", "address")]}
        again = {**data, "ops": [op for op in data["ops"] if op["op"] not in ("set", "address")]}

        def queue(op: dict[str, Any], memories: dict[int, Any], _: bool) -> float:
            launcher.queue(op, memories)
            return 0.0

        operate(once, request, memories, queue, False, space)
        forward = functools.partial(operate, again, request, memories, queue, False, space)
        with tempfile.TemporaryDirectory(prefix="atrl-npu-") as folder:
            found = npu.measure(forward, Path(folder), flush=True)
        bound = least_us(recording, call, request["arch"])
        times.append(CallTime(found.us, found.median_us, found.spread_us, bound, found.notes))
    return times


def run(request: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """Role of a process of its own: device time of the reference in eager PyTorch.

    Args:
        request: name, source, directory of the task (the user's own, trusted); init, groups (packed); weight_seed;
            training.

    Returns:
        header {"us": microseconds of every group}, no blocks.
    """
    import torch

    from sandbox import tensors
    from sandbox.task import load

    module = load(Task(request["name"], request["source"], directory=request["directory"]))
    torch.manual_seed(request["weight_seed"])
    model = module.Model(*tensors.unpack(request["init"])).to("npu")
    model.train(request["training"])
    times = []
    for group in request["groups"]:
        inputs = [value.to("npu") if isinstance(value, torch.Tensor) else value for value in tensors.unpack(group)]
        with torch.no_grad(), tempfile.TemporaryDirectory(prefix="atrl-npu-") as folder:
            times.append(npu.measure(functools.partial(model, *inputs), Path(folder), flush=True).us)
    return {"us": times}, []


def judge(
    times: Sequence[CallTime], eager_us: Sequence[float], calls: Sequence[CallReport], hints: Sequence[str]
) -> Profile | None:
    """The measured speedup: geometric mean over the calls of eager time by the candidate's.

    Args:
        calls, hints: what the time model says of the same candidate: it explains, it does not count.

    Returns:
        None if nothing was launched.
    """
    usable = [(t.credited_us, e) for t, e in zip(times, eager_us, strict=True) if t.credited_us > 0 and e > 0]
    if not usable:
        return None
    value = math.exp(sum(math.log(e / us) for us, e in usable) / len(usable))
    kernel = sum(us for us, _ in usable) / len(usable)
    eager = sum(e for _, e in usable) / len(usable)
    first = f"{value:.2f}x eager (measured: {kernel:.1f} us, eager {eager:.1f} us)"
    return Profile(kernel, eager, Speedup(value, "measured"), [first, *hints], list(calls))


def to_json(times: Sequence[CallTime]) -> list[dict[str, Any]]:
    """Plain data; NaN (no spread) becomes None."""
    return [{**asdict(t), "spread_us": None if math.isnan(t.spread_us) else t.spread_us} for t in times]


def from_json(data: Sequence[dict[str, Any]]) -> list[CallTime]:
    """Inverse of `to_json`."""
    return [
        CallTime(**{**item, "spread_us": math.nan if item["spread_us"] is None else item["spread_us"]}) for item in data
    ]
