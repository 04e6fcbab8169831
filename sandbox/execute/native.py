"""Run an Ascend-lowered kernel as machine code of this CPU.

linalg text -> LLVM dialect (bishengir-opt, upstream passes) -> LLVM IR (libtriton) -> object code (llvmlite) with the
loop over the grid's programs compiled in. Facts and the pass list: docs/toolchain.md.

What a CPU would trap on and an NPU does not (integer division by zero, float to integer out of range) is given a
defined result; what neither defines (local memory never written) reads as NaN.
"""

from __future__ import annotations

import ctypes
import json
import re
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox import toolchain
from sandbox.compile import LinalgModule
from sandbox.execute.library import NoBody, with_bodies
from sandbox.execute.memory import ExecutionFault, classify
from sandbox.execute.runtime import runtime

PASSES = (
    "--allow-unregistered-dialect",
    "--inline",
    "--one-shot-bufferize=allow-return-allocs-from-loops=true",
    "--buffer-loop-hoisting",
    "--convert-linalg-to-affine-loops",
    "--lower-affine",
    "--convert-linalg-to-loops",
    "--convert-scf-to-cf",
    "--arith-expand=include-bf16=true",
    "--convert-arith-to-llvm",
    "--convert-math-to-llvm",
    "--convert-math-to-libm",
    "--memref-expand",
    "--expand-strided-metadata",
    "--lower-affine",
    "--finalize-memref-to-llvm",
    "--convert-func-to-llvm",
    "--convert-arith-to-llvm",
    "--convert-index-to-llvm",
    "--convert-cf-to-llvm",
    "--reconcile-unrealized-casts",
)
PASS_TIMEOUT = 60.0  # seconds
ENTRY = "atrl_entry"
KERNEL = "atrl_kernel"
FORMAT = 1  # of NativeKernel.to_bytes; part of the cache key, together with this file's own transformations

Argument = tuple[int, int] | int | float | bool


class NativeUnsupported(Exception):
    """The kernel uses something the native path has no lowering for; the interpreter is the named fallback."""


@dataclass
class NativeKernel:
    """Object code of one kernel for this CPU.

    Attributes:
        name: kernel name.
        arg_types: triton types of the run-time arguments.
        arg_names: their parameter names, for messages.
        scalar_types: LLVM type of every scalar argument, "" for pointers.
    """

    name: str
    arg_types: list[str]
    arg_names: list[str]
    scalar_types: list[str]
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
            return struct.pack("<fI", float(value), 0)
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
    here = Path(__file__)
    sources = [here.with_name(name).read_bytes() for name in (here.name, "runtime.py", "library.py")]
    return toolchain.Cache.key(linalg.ir.key(), runtime().cpu, *sources)


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
    kernel = _emit(_to_llvm_ir(_to_llvm_dialect(linalg)), linalg)
    cache.put(key, kernel.to_bytes())
    return kernel


def _to_llvm_dialect(linalg: LinalgModule) -> str:
    if not linalg.native_text:
        raise NativeUnsupported("triton-adapter-opt gave no generic linalg")
    text = re.sub(rf"@{re.escape(linalg.kernel_name)}\b", f"@{KERNEL}", linalg.native_text)
    # Hints for the Ascend compiler only.
    text = re.sub(r"^\s*annotation\.mark .*\n", "", text, flags=re.MULTILINE)
    try:
        text = with_bodies(text)
    except NoBody as error:
        raise NativeUnsupported(str(error)) from error
    with tempfile.TemporaryDirectory(prefix="atrl-native-") as folder:
        source = Path(folder) / "kernel.mlir"
        source.write_text(text)
        try:
            run = subprocess.run(
                [str(toolchain.bishengir_opt()), str(source), "--mlir-disable-threading", *PASSES],
                capture_output=True,
                env=toolchain.clean_environment(),
                timeout=PASS_TIMEOUT,
            )
        except subprocess.TimeoutExpired:
            raise NativeUnsupported(f"lowering to LLVM took longer than {PASS_TIMEOUT:.0f} s") from None
    if run.returncode != 0:
        raise NativeUnsupported(_first_error(run.stderr.decode(errors="replace")))
    return run.stdout.decode()


def _first_error(errors: str) -> str:
    found = re.search(r"error: (.*)", errors)
    return f"lowering to LLVM: {found[1][:300] if found else errors.strip()[:300] or 'no message'}"


def _to_llvm_ir(dialect: str) -> str:
    from triton._C.libtriton import ir, llvm

    context = ir.context()
    ir.load_dialects(context)
    llvm_context = llvm.context()
    with tempfile.NamedTemporaryFile("w", suffix=".mlir", prefix="atrl-native-") as file:
        file.write(dialect)
        file.flush()
        try:
            module = ir.parse_mlir_module(file.name, context)
            module.context = context
            translated = llvm.to_module(module, llvm_context)
        except RuntimeError as error:
            raise NativeUnsupported(f"translation to LLVM IR: {error}") from error
    if translated is None:
        left = sorted(set(re.findall(r"\b((?!llvm\.|builtin\.)[a-z_]+\.[a-z_.]+)", dialect)))
        raise NativeUnsupported(f"translation to LLVM IR: operations left over: {', '.join(left[:5])}")
    return str(translated)


_SIZES = {"i1": 1, "i8": 1, "i16": 2, "half": 2, "bfloat": 2, "i32": 4, "float": 4, "i64": 8, "double": 8, "ptr": 8}


def _fold_sizes(text: str) -> str:
    """Evaluate the sizes that the translation writes as constant expressions (newer LLVM has no `mul` among them)."""
    text = re.sub(
        r"ptrtoint \(ptr getelementptr \((\w+), ptr null, i32 1\) to i64\)", lambda match: str(_SIZES[match[1]]), text
    )
    return re.sub(r"mul \(i64 (\d+), i64 (\d+)\)", lambda match: str(int(match[1]) * int(match[2])), text)


_INTEGER = r"i(?:8|16|32|64)"


def _defined_arithmetic(text: str) -> str:
    """Give integer division by zero and float to integer out of range a result instead of a trap or poison."""
    used: set[tuple[str, str]] = set()

    def divide(match: re.Match[str]) -> str:
        result, operation, kind, left, right = match.groups()
        if right.lstrip("-").isdigit() and right not in ("0", "-1"):
            return match[0]
        used.add((operation, kind))
        return f"{result} = call {kind} @atrl_{operation}_{kind}({kind} {left}, {kind} {right})"

    def convert(match: re.Match[str]) -> str:
        result, operation, source, value, target = match.groups()
        used.add((operation, f"{target}.{source}"))
        return f"{result} = call {target} @atrl_{operation}_{target}_{source}({source} {value})"

    text = re.sub(rf"(%[\w.]+) = ([su](?:div|rem)) (?:exact )?({_INTEGER}) (\S+), ([^\s,]+)", divide, text)
    text = re.sub(rf"(%[\w.]+) = (fpto[su]i) (half|bfloat|float|double) (\S+) to ({_INTEGER})", convert, text)
    return text + "".join(_helper(operation, kind) for operation, kind in sorted(used))


def _helper(operation: str, kind: str) -> str:
    if operation.startswith("fpto"):
        target, source = kind.split(".")
        llvm_name = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}
        # bfloat has no direct saturating conversion in every backend.
        short = source in ("half", "bfloat")
        wide, widen = ("float", f"  %w = fpext {source} %x to float\n") if short else (source, "")
        value = "%w" if short else "%x"
        intrinsic = f"@llvm.{operation}.sat.{target}.{llvm_name[wide]}"
        return (
            f"\ndefine internal {target} @atrl_{operation}_{target}_{source}({source} %x) alwaysinline nounwind {{\n"
            f"{widen}  %r = call {target} {intrinsic}({wide} {value})\n  ret {target} %r\n}}\n"
        )
    signed = operation[0] == "s"
    remainder = operation.endswith("rem")
    on_zero = "%a" if remainder else "0"
    wrap = (
        f"  %minus = icmp eq {kind} %b, -1\n"
        f"  %neg = sub {kind} 0, %a\n"
        f"  %unsafe = or i1 %zero, %minus\n"
        f"  %d = select i1 %unsafe, {kind} 1, {kind} %b\n"
        f"  %q = {operation} {kind} %a, %d\n"
        f"  %q1 = select i1 %minus, {kind} {'0' if remainder else '%neg'}, {kind} %q\n"
        if signed
        else f"  %d = select i1 %zero, {kind} 1, {kind} %b\n  %q1 = {operation} {kind} %a, %d\n"
    )
    return (
        f"\ndefine internal {kind} @atrl_{operation}_{kind}({kind} %a, {kind} %b) alwaysinline nounwind {{\n"
        f"  %zero = icmp eq {kind} %b, 0\n{wrap}"
        f"  %r = select i1 %zero, {kind} {on_zero}, {kind} %q1\n  ret {kind} %r\n}}\n"
    )


def _emit(text: str, linalg: LinalgModule) -> NativeKernel:
    import llvmlite.binding as llvm

    linked = runtime()
    text = _defined_arithmetic(_fold_sizes(text))
    text = text.replace("declare ptr @malloc(i64)", "declare noalias ptr @atrl_alloc(i64) nounwind")
    text = text.replace("@malloc(", "@atrl_alloc(")
    text, scalar_types = _with_entry(text, linalg)
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
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    options.slp_vectorization = True
    builder = llvm.create_pass_builder(linked.machine, options)
    builder.getModulePassManager().run(module, builder)
    code = linked.machine.emit_object(module)
    ir = linalg.ir
    return NativeKernel(linalg.kernel_name, list(ir.arg_types), list(ir.arg_names), scalar_types, linked.cpu, code)


def _is_known(name: str) -> bool:
    import llvmlite.binding as llvm

    return name.startswith("llvm.") or llvm.address_of_symbol(name) is not None


def _with_entry(text: str, linalg: LinalgModule) -> tuple[str, list[str]]:
    """Append the compiled loop over program ids: `void atrl_entry(i64 slots[], i32 {nx, ny, nz, reverse})`."""
    header = re.search(rf"define void @{KERNEL}\(([^)]*)\)", text)
    if header is None:
        raise NativeUnsupported("the kernel returns a value")
    kinds = [part.split()[0] for part in header[1].split(",")]
    body: list[str] = []
    values = ["ptr null", "ptr null", "i64 0", "i64 0", "i64 1"] * 2
    scalar_types: list[str] = []
    position, slot = 10, 0
    for index, kind in enumerate(linalg.ir.arg_types):
        body.append(f"  %s{index} = getelementptr i64, ptr %slots, i64 {slot}")
        if kind.startswith("*"):
            body.append(f"  %v{index} = load ptr, ptr %s{index}")
            body.append(f"  %c{index} = getelementptr i64, ptr %slots, i64 {slot + 1}")
            body.append(f"  %n{index} = load i64, ptr %c{index}")
            values += [f"ptr %v{index}", f"ptr %v{index}", "i64 0", f"i64 %n{index}", "i64 1"]
            scalar_types.append("")
            position, slot = position + 5, slot + 2
        else:
            body.append(f"  %v{index} = load {kinds[position]}, ptr %s{index}")
            values.append(f"{kinds[position]} %v{index}")
            scalar_types.append(kinds[position])
            position, slot = position + 1, slot + 1
    if len(kinds) != position + 6:
        raise NativeUnsupported(f"the lowered kernel takes {len(kinds)} values, expected {position + 6}")
    call = ", ".join([*values, "i32 %nx", "i32 %ny", "i32 %nz", "i32 %px", "i32 %py", "i32 %pz"])
    entry = f"""
declare void @atrl_reset()
define void @{ENTRY}(ptr %slots, ptr %grid) {{
entry:
  %gy = getelementptr i32, ptr %grid, i64 1
  %gz = getelementptr i32, ptr %grid, i64 2
  %gr = getelementptr i32, ptr %grid, i64 3
  %nx = load i32, ptr %grid
  %ny = load i32, ptr %gy
  %nz = load i32, ptr %gz
  %rev = load i32, ptr %gr
  %backwards = icmp ne i32 %rev, 0
  %nxy = mul i32 %nx, %ny
  %total = mul i32 %nxy, %nz
{chr(10).join(body)}
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %program ]
  %more = icmp slt i32 %i, %total
  br i1 %more, label %program, label %done
program:
  %last = sub i32 %total, 1
  %mirror = sub i32 %last, %i
  %p = select i1 %backwards, i32 %mirror, i32 %i
  %px = urem i32 %p, %nx
  %q = udiv i32 %p, %nx
  %py = urem i32 %q, %ny
  %pz = udiv i32 %q, %ny
  call void @atrl_reset()
  call void @{KERNEL}({call})
  %next = add i32 %i, 1
  br label %loop
done:
  ret void
}}
"""
    return text + entry, scalar_types


__all__ = ["ExecutionFault", "NativeKernel", "NativeUnsupported", "build_native", "native_key"]
