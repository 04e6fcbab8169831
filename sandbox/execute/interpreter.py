"""The named fallback: replays a recording with Triton's interpreter, in a process of its own with TRITON_INTERPRET=1.

Used where the native path has no lowering, and for a look at kernels on which the Ascend compiler crashed. The
candidate's file is imported here for its kernel functions only; what runs is still the recording.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

import torch
import triton.language as tl
from triton.runtime.interpreter import InterpretedFunction

from sandbox.execute.memory import GuardedMemory
from sandbox.execute.standin import install_driver_stand_in
from sandbox.recorder import import_candidate
from sandbox.replay import replay, watchdog
from sandbox.trace import Trace

TORCH = {
    "fp64": torch.float64,
    "fp32": torch.float32,
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "i1": torch.bool,
    "u16": torch.uint16,
    "u32": torch.uint32,
    "u64": torch.uint64,
}


class Unsupported(Exception):
    """A kernel cannot be found again, or a constant cannot be rebuilt."""


def warm_up() -> None:
    """The imports above are all that can be shared."""


def run(request: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """Replay with the interpreter.

    Args:
        request: as for `sandbox.device.run`, and source (the candidate), uses (variant of every launch), probe (run
            one program of each launch only, to see whether it ends).

    Returns:
        header {"cases"} or {"unsupported": why}, and blocks as from the device.
    """
    recording = request["recording"]
    functions = _functions(request["source"], request["arch"])
    launches = [op for call in recording["calls"] for op in call["ops"] if op["op"] == "launch"]
    for op, use in zip(launches, request["uses"], strict=True):
        op["use"] = use
    cases: list[dict[str, Any]] = []
    blocks: list[bytes] = []
    try:
        for case in request["cases"]:
            with watchdog(request["execution"]):
                result = replay(recording, request, case, lambda *a: _launch(recording, functions, request, *a), blocks)
            cases.append(result)
            if cases[-1]["error"] is not None or request["probe"]:
                break
    except Unsupported as error:
        return {"unsupported": str(error)}, []
    except Exception as error:
        return {"unsupported": f"the interpreter failed: {type(error).__name__}: {error}"[:300]}, []
    return {"cases": cases}, blocks


def _functions(source: str, arch: str) -> dict[tuple[str, int], InterpretedFunction]:
    """Every kernel function that importing the candidate makes, by name and line."""
    found: dict[tuple[str, int], InterpretedFunction] = {}
    original = InterpretedFunction.__init__

    def register(self: InterpretedFunction, fn: Any, **kwargs: Any) -> None:
        original(self, fn, **kwargs)
        found[fn.__name__, fn.__code__.co_firstlineno] = self

    install_driver_stand_in(arch)
    InterpretedFunction.__init__ = register
    try:
        path = os.path.join(os.getcwd(), "candidate.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        import_candidate(path, Trace(path))
    finally:
        InterpretedFunction.__init__ = original
    return found


def _launch(
    recording: dict[str, Any],
    functions: dict[tuple[str, int], InterpretedFunction],
    request: dict[str, Any],
    op: dict[str, Any],
    memories: dict[int, GuardedMemory],
    reverse: bool,
) -> float:
    variant = op["variants"][op["use"]]
    kernel = recording["kernels"][variant["kernel"]]
    source = recording["sources"][variant["kernel"]]
    function = functions.get((source["name"], source["line"]))
    if function is None:
        raise Unsupported(f"kernel {source['name']} is not defined when the file is imported")
    arguments = {name: _constant(value) for name, value in source["constants"].items()}
    for name, kind, value in zip(kernel["arg_names"], kernel["arg_types"], variant["args"], strict=True):
        arguments[name] = _tensor(memories[value[0]], value[1], kind) if isinstance(value, list) else value
    grid = [1, 1, 1] if request["probe"] else variant["grid"]
    if 0 not in grid:
        function[tuple(grid)](**arguments)
    return 0.0


def _tensor(memory: GuardedMemory, offset: int, kind: str) -> torch.Tensor:
    """A flat tensor over guarded memory from a byte offset to its end."""
    dtype = TORCH[kind.lstrip("*").removeprefix("k")]
    count = (memory.size - offset) // dtype.itemsize
    if count <= 0:
        return torch.empty(0, dtype=dtype)
    raw = (ctypes.c_uint8 * (count * dtype.itemsize)).from_address(memory.address + offset)
    return torch.frombuffer(raw, dtype=dtype)


def _constant(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "dtype" in value:
        return tl.dtype(value["dtype"])
    raise Unsupported(f"constant {value.get('unknown')} cannot be rebuilt")
