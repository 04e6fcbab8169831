"""Run an Ascend-lowered kernel as machine code of this CPU.

linalg text -> LLVM IR (lowering.py) -> object code (llvmlite), cached by content and CPU. Facts: docs/toolchain.md.
"""

from __future__ import annotations

import ctypes
import functools
import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox import toolchain
from sandbox.compile import LinalgModule
from sandbox.execute.lowering import ENTRY, KERNEL, NativeUnsupported, to_llvm
from sandbox.execute.memory import ExecutionFault, classify
from sandbox.execute.runtime import runtime

FORMAT = 2  # of NativeKernel.to_bytes

Argument = tuple[int, int] | int | float | bool


@dataclass
class NativeKernel:
    """Object code of one kernel for this CPU.

    Attributes:
        name: kernel name.
        arg_types: triton types of the run-time arguments.
        arg_names: their parameter names, for messages.
        scalar_types: LLVM type of every scalar argument, "" for pointers.
        wide: the lowering touches lanes that the user masked out; run it in lenient memory.
    """

    name: str
    arg_types: list[str]
    arg_names: list[str]
    scalar_types: list[str]
    wide: bool
    cpu: str
    code: bytes

    def __post_init__(self) -> None:
        self._engine: object | None = None
        self._entry = 0

    def run(self, grid: Sequence[int], args: Sequence[Argument], *, reverse: bool = False) -> None:
        """Run every program of a grid.

        Args:
            grid: 1 to 3 sizes; programs run x fastest.
            args: for a pointer (address, element count), for a scalar its value; as `arg_types`.
            reverse: run the programs in the opposite order (results of honest kernels without float atomics agree).

        Raises:
            OutOfBounds: the kernel touched memory outside of its tensors.
            ExecutionFault: another hardware fault, or local memory beyond the limit.
            ValueError: wrong number or kind of arguments.
        """
        if len(args) != len(self.arg_types):
            raise ValueError(f"{self.name} takes {len(self.arg_types)} run-time arguments, got {len(args)}")
        sizes = [int(size) for size in grid] + [1] * (3 - len(grid))
        if min(sizes) <= 0:
            return
        packed = b"".join(self._pack(*item) for item in zip(self.arg_types, self.scalar_types, args, strict=True))
        slots = ctypes.create_string_buffer(packed or b"\0", max(len(packed), 8))
        grid_slots = (ctypes.c_int32 * 4)(*sizes, int(reverse))
        if not self._entry:
            self._load()
        fault = runtime().call(self._entry, ctypes.addressof(slots), ctypes.addressof(grid_slots))
        if fault is not None:
            pointers = [
                (name, arg[0]) for name, arg in zip(self.arg_names, args, strict=True) if isinstance(arg, tuple)
            ]
            raise classify(fault, self.name, pointers)

    def _pack(self, kind: str, scalar: str, value: Argument) -> bytes:
        if kind.startswith("*"):
            if not isinstance(value, tuple):
                raise ValueError(f"{self.name}: a {kind} argument must be (address, element count)")
            return struct.pack("<QQ", value[0], value[1])
        if isinstance(value, tuple):
            raise ValueError(f"{self.name}: a {kind} argument must be a number")
        if scalar == "float":
            return bytes(ctypes.c_float(value)) + bytes(4)  # too large becomes infinity, as on the device
        if scalar == "double":
            return struct.pack("<d", float(value))
        if scalar == "half":
            return struct.pack("<eHI", float(value), 0, 0)
        if scalar == "bfloat":
            return struct.pack("<f", float(value))[2:] + bytes(6)
        return struct.pack("<Q", int(value) & (1 << 64) - 1)

    def _load(self) -> None:
        import llvmlite.binding as llvm

        linked = runtime()
        if self.cpu != linked.cpu:
            raise NativeUnsupported(f"object code for another CPU ({self.cpu})")
        empty = llvm.parse_assembly("")
        empty.triple = linked.triple
        engine = llvm.create_mcjit_compiler(empty, linked.new_machine())
        engine.add_object_file(llvm.ObjectFileRef.from_data(self.code))
        engine.finalize_object()
        self._engine = engine  # owns the code
        self._entry = engine.get_function_address(ENTRY)

    def to_bytes(self) -> bytes:
        """Machine code and description for a cache or another process on the same kind of CPU."""
        header = {
            "name": self.name,
            "arg_types": self.arg_types,
            "arg_names": self.arg_names,
            "scalar_types": self.scalar_types,
            "wide": self.wide,
            "cpu": self.cpu,
        }
        text = json.dumps(header).encode()
        return struct.pack("<II", FORMAT, len(text)) + text + self.code

    @staticmethod
    def from_bytes(data: bytes) -> NativeKernel:
        """Inverse of `to_bytes`.

        Raises:
            NativeUnsupported: other format, or code for another CPU.
        """
        version, length = struct.unpack_from("<II", data)
        if version != FORMAT:
            raise NativeUnsupported(f"object code of format {version}, expected {FORMAT}")
        kernel = NativeKernel(**json.loads(data[8 : 8 + length]), code=data[8 + length :])
        if kernel.cpu != runtime().cpu:
            raise NativeUnsupported("object code for another CPU")
        return kernel


def native_key(linalg: LinalgModule) -> str:
    """Cache key of the machine code: kernel, this CPU, and everything that shapes the code."""
    return toolchain.Cache.key(linalg.ir.key(), runtime().cpu, *_sources())


@functools.cache
def _sources() -> list[bytes]:
    here = Path(__file__)
    others = ("lowering.py", "library.py", "library_ops.py", "library_tensors.py", "runtime.py", "runtime_ir.py")
    return [here.with_name(name).read_bytes() for name in (here.name, *others)]


def build_native(linalg: LinalgModule) -> NativeKernel:
    """Machine code for a kernel, from the cache where possible.

    Raises:
        NativeUnsupported: an operation without native lowering; the reason names it.
        ToolMissing: bishengir-opt is not installed.
    """
    cache = toolchain.Cache("native")
    key = native_key(linalg)
    stored = cache.get(key)
    if stored is not None:
        return NativeKernel.from_bytes(stored)
    kernel = _emit(*to_llvm(linalg), linalg)
    cache.put(key, kernel.to_bytes())
    return kernel


def _emit(text: str, scalar_types: list[str], linalg: LinalgModule) -> NativeKernel:
    import llvmlite.binding as llvm

    linked = runtime()
    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise NativeUnsupported(f"LLVM IR: {str(error)[:300]}") from error
    missing = sorted(f.name for f in module.functions if f.is_declaration and not _is_known(f.name))
    if missing:
        raise NativeUnsupported(f"no native version of the library call {', '.join(missing)}")
    module.triple = linked.triple
    module.data_layout = str(linked.machine.target_data)
    module.get_function(KERNEL).linkage = llvm.Linkage.internal
    # Kernels of a test run for milliseconds: unrolling and SLP would cost more seconds than they save.
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = True
    options.slp_vectorization = False
    options.loop_unrolling = False
    options.loop_interleaving = False
    builder = llvm.create_pass_builder(linked.machine, options)
    builder.getModulePassManager().run(module, builder)
    code = linked.machine.emit_object(module)
    ir = linalg.ir
    return NativeKernel(
        linalg.kernel_name, list(ir.arg_types), list(ir.arg_names), scalar_types, linalg.wide, linked.cpu, code
    )


def _is_known(name: str) -> bool:
    import llvmlite.binding as llvm

    return name.startswith("llvm.") or llvm.address_of_symbol(name) is not None


__all__ = ["ExecutionFault", "NativeKernel", "NativeUnsupported", "build_native", "native_key"]
