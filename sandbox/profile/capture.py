"""Runs a trusted candidate file on stand-in tensors and compiles what it launches (for calibration and its check).

Untrusted candidates go through the sandbox; this module loads measurement files of a person who runs a script.
Imports torch and triton.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from atrl_ms.errors import UserError
from sandbox import toolchain
from sandbox.compile import compile_for_ascend, lower_to_linalg
from sandbox.dispatch import Dispatch
from sandbox.execute.standin import install_driver_stand_in
from sandbox.launches import LaunchRecorder, recording_launches
from sandbox.profile import reader
from sandbox.profile.aten_trace import AtenTrace
from sandbox.profile.kernel import Traced, trace_launch
from sandbox.profile.program import Program
from sandbox.trace import Trace
from sandbox.ttir import KernelIR

DTYPES = {
    "float": "float32", "half": "float16", "double": "float64", "long": "int64", "int": "int32", "short": "int16",
    "fp32": "float32", "fp16": "float16", "bf16": "bfloat16", "f32": "float32", "f16": "float16",
}  # fmt: skip


@dataclass
class Captured:
    """One forward: its launches, traced, and the aten operations beside them.

    Attributes:
        aten: operations that eager PyTorch would launch (copies, fills, anything else), see `AtenTrace`.
    """

    launches: list[Traced] = field(default_factory=list)
    aten: list[dict[str, Any]] = field(default_factory=list)


def dtype_of(name: str) -> torch.dtype:
    """`float32`, `torch.float32`, `FLOAT`, `bf16` ...

    Raises:
        UserError: not a type that torch knows.
    """
    plain = name.removeprefix("torch.").lower()
    found = getattr(torch, DTYPES.get(plain, plain), None)
    if not isinstance(found, torch.dtype):
        raise UserError(f"unknown dtype '{name}' in a measurement file; use torch's names, for example float16")
    return found


def make_input(spec: Any) -> tuple[Any, bool]:
    """An argument from {shape, dtype[, values][, strides]}, {value} or a list of these; and whether its contents are
    known."""
    if isinstance(spec, list) and any(isinstance(item, Mapping) for item in spec):
        return [make_input(item)[0] for item in spec], False
    if not isinstance(spec, Mapping) or "shape" not in spec:
        return (spec["value"] if isinstance(spec, Mapping) and "value" in spec else spec), True
    dtype = dtype_of(spec.get("dtype", "float32"))
    given = spec.get("values", spec.get("data"))
    if given is not None:
        return torch.tensor(given, dtype=dtype).reshape(spec["shape"]), True
    if spec.get("strides"):
        return torch.empty_strided(spec["shape"], spec["strides"], dtype=dtype).zero_(), False
    tensor = torch.empty(spec["shape"], dtype=dtype)
    return (tensor if dtype.is_floating_point else tensor.zero_()), False


def load_module(path: Path) -> Any:
    """Import a candidate file under a name of its own.

    Raises:
        UserError: no such file, or no ModelNew in it.
    """
    if not path.is_file():
        raise UserError(f"{path}: no such candidate file")
    name = f"candidate_{abs(hash(str(path.resolve())))}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    if not isinstance(getattr(module, "ModelNew", None), type):
        raise UserError(f"{path}: defines no class ModelNew")
    return module


class Capturer:
    """Captures candidates for one device; compiled modules are kept by kernel."""

    def __init__(self, arch: str = toolchain.DEFAULT_ARCH, cann: str = toolchain.DEFAULT_CANN) -> None:
        self.arch, self.cann = arch, cann
        self.programs: dict[str, Program] = {}
        install_driver_stand_in(arch)

    def program(self, kernel: Mapping[str, Any]) -> Program:
        """The HIVM program of a recorded kernel.

        Raises:
            UserError: the Ascend compiler refuses it.
        """
        ir = KernelIR.from_json(dict(kernel))
        key = ir.key(self.arch, self.cann)
        if key not in self.programs:
            artifact = compile_for_ascend(lower_to_linalg(ir, self.arch), arch=self.arch, cann=self.cann)
            if not artifact.ok or artifact.hivm is None:
                raise UserError(f"kernel {ir.name} does not compile for {self.arch}: {artifact.error}")
            self.programs[key] = reader.read(artifact.hivm)
        return self.programs[key]

    def capture(self, path: Path, inputs: list[Any], init: list[Any] | None = None) -> Captured:
        """Run `ModelNew(*init)(*inputs)` once without a device and trace every launch."""
        module = load_module(path)
        made = [make_input(spec) for spec in inputs]
        trace = Trace(str(path))
        recorder = LaunchRecorder(trace, self.arch)
        aten = AtenTrace()
        known: dict[int, np.ndarray] = {}
        with torch.no_grad(), recording_launches(recorder):
            model = module.ModelNew(*[make_input(spec)[0] for spec in init or []])
            trace.begin_call(0)
            for index, (value, is_known) in enumerate(made):
                if isinstance(value, torch.Tensor):
                    trace.bind(value, "input", 2, call=0, index=index)
                    if is_known and not value.is_floating_point() and value.dtype != torch.bool:
                        known[trace.storage(value).buffer] = value.reshape(-1).numpy()
            with Dispatch(trace), aten:
                model(*[value for value, _ in made])
        captured = Captured(aten=aten.ops)
        for op in trace.ops:
            if op.call == 0 and op.data["op"] == "launch":
                variant = op.data["variants"][0]
                kernel = recorder.kernels[variant["kernel"]]
                captured.launches.append(
                    trace_variant(self.program(kernel), variant, [b["nbytes"] for b in trace.buffers], known)
                )
        return captured


def trace_variant(
    program: Program, variant: Mapping[str, Any], sizes: list[int], known: Mapping[int, np.ndarray]
) -> Traced:
    """Trace one recorded launch.

    Args:
        variant: {"grid": [x, y, z], "args": scalars, or [buffer, byte offset] for pointers} of a recording.
        sizes: bytes of every buffer.
        known: contents of integer buffers by buffer index.
    """
    scalars: dict[int, int | float] = {}
    held: dict[int, int] = {}
    data: dict[int, np.ndarray] = {}
    for position, arg in enumerate(variant["args"]):
        if isinstance(arg, list):
            buffer, offset = arg
            held[position] = max(0, sizes[buffer] - offset)
            if buffer in known:
                data[position] = known[buffer][offset // known[buffer].itemsize :]
        else:
            scalars[position] = int(arg) if isinstance(arg, bool) else arg
    x, y, z = variant["grid"]
    return trace_launch(program, scalars, (x, y, z), held, data)
