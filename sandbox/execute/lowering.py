"""From generic linalg to LLVM IR with a defined result for everything a kernel can do.

linalg -> LLVM dialect (bishengir-opt, upstream passes) -> LLVM IR (libtriton), with the loop over the grid's programs.
What a CPU would trap on and an NPU does not (integer division by zero, float to integer out of range) is given a
defined result; what neither defines (local memory never written) reads as NaN.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from sandbox import toolchain
from sandbox.compile import LinalgModule
from sandbox.execute.library import NoBody, with_bodies

PASSES = (
    "--allow-unregistered-dialect",
    "--inline",
    "--convert-elementwise-to-linalg",
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


class NativeUnsupported(Exception):
    """The kernel uses something the native path has no lowering for; the interpreter is the named fallback."""


def to_llvm(linalg: LinalgModule) -> tuple[str, list[str]]:
    """LLVM IR of a kernel with its entry point, and the LLVM type of each scalar argument ("" for pointers).

    Raises:
        NativeUnsupported: an operation without native lowering; the reason names it.
        ToolMissing: bishengir-opt is not installed.
    """
    text = _DECLARED_ADDRESS.sub(_address_body, _to_llvm_ir(_to_llvm_dialect(linalg)))
    text = _defined_arithmetic(_fold_sizes(text))
    text = text.replace("declare ptr @malloc(i64)", "declare noalias ptr @atrl_alloc(i64) nounwind")
    return _with_entry(text.replace("@malloc(", "@atrl_alloc("), linalg)


_MATMUL = re.compile(
    r"linalg\.(batch_)?matmul(?: \{[^}]*\})? ins\((%\S+), (%\S+) : (tensor<\S+>), (tensor<\S+>)\)"
    r" outs\((%\S+) : (tensor<\S+>)\)"
)


def _ordered_matmul(match: re.Match[str]) -> str:
    """A matrix product with its loops in the order row, inner, column: the innermost runs over neighbours in memory.

    Every element still sums its products in rising order, in the accumulator's type, as the named operation does.
    """
    batched, left, right, left_type, right_type, out, out_type = match.groups()
    kinds = [re.sub(r".*x", "", kind).rstrip(">") for kind in (left_type, right_type, out_type)]
    b, comma = ("b", "b, ") if batched else ("", "")
    dims = f"({comma}m, k, n)"
    maps = ", ".join(f"affine_map<{dims} -> ({comma}{names})>" for names in ("m, k", "k, n", "m, n"))
    loops = (['"parallel"'] if b else []) + ['"parallel"', '"reduction"', '"parallel"']
    lines = []
    for name, kind in zip(("x", "y"), kinds[:2], strict=True):
        widen = "extf" if kinds[2].startswith("f") else "extsi"
        same = kind == kinds[2]
        lines.append(
            f"%{name}w = arith.bitcast %{name} : {kind} to {kind}"
            if same
            else f"%{name}w = arith.{widen} %{name} : {kind} to {kinds[2]}"
        )
    suffix = "f" if kinds[2].startswith("f") else "i"
    body = "\n".join(lines)
    return f"""linalg.generic {{indexing_maps = [{maps}], iterator_types = [{", ".join(loops)}]}}
      ins({left}, {right} : {left_type}, {right_type}) outs({out} : {out_type}) {{
    ^bb0(%x: {kinds[0]}, %y: {kinds[1]}, %z: {kinds[2]}):
      {body}
      %product = arith.mul{suffix} %xw, %yw : {kinds[2]}
      %total = arith.add{suffix} %z, %product : {kinds[2]}
      linalg.yield %total : {kinds[2]}
    }}"""


_HALF_SUM = re.compile(
    r"(%\w+) = linalg\.reduce ins\((%\w+) : tensor<([\dx]*)f16>\) outs\((%\w+) : tensor<([\dx]*)f16>\)"
    r" dimensions = (\[[^\]]*\])\s*\(%\w+: f16, %\w+: f16\) \{\s*"
    r"(%\w+) = arith\.addf %\w+, %\w+ : f16\s*linalg\.yield \7 : f16\s*\}"
)


def _wide_sum(match: re.Match[str]) -> str:
    """Sum float16 in float32 and round once, as the Ascend compiler does (its `reduce_sum` works on casts)."""
    result, source, shape, start, left, axes, _ = match.groups()
    wide, sums = f"{result}_wide", f"{result}_sum"
    return f"""{wide} = arith.extf {start} : tensor<{left}f16> to tensor<{left}f32>
    {sums} = linalg.reduce ins({source} : tensor<{shape}f16>) outs({wide} : tensor<{left}f32>) dimensions = {axes}
      (%in: f16, %init: f32) {{
        %term = arith.extf %in : f16 to f32
        %total = arith.addf %term, %init : f32
        linalg.yield %total : f32
      }}
    {result} = arith.truncf {sums} : tensor<{left}f32> to tensor<{left}f16>"""


_ADDRESS = re.compile(r"hivm\.hir\.pointer_cast\((%[\w#]+)\) \[(%[\w#]+)\](?: \{[^}]*\})? : memref<\?x(\w+)>")
_DECLARED_ADDRESS = re.compile(
    r"declare (\{ ptr, ptr, i64, \[1 x i64\], \[1 x i64\] \}) @(atrl_address_\w+)\(i64[^,)]*, i64[^,)]*\)"
)


def _addresses(text: str) -> str:
    """Memory at an address that was itself loaded (tables of pointers): calls of a function that wraps the address."""
    kinds = sorted(set(match[3] for match in _ADDRESS.finditer(text)))
    text = _ADDRESS.sub(r"func.call @atrl_address_\3(\1, \2) : (i64, index) -> memref<?x\3>", text)
    declared = "".join(f"  func.func private @atrl_address_{k}(i64, index) -> memref<?x{k}>\n" for k in kinds)
    end = text.rindex("}")
    return text[:end] + declared + text[end:]


def _address_body(match: re.Match[str]) -> str:
    """The descriptor of a dense one-dimensional buffer at an address."""
    kind, name = match.groups()
    fields = (("ptr %p", "0"), ("ptr %p", "1"), ("i64 0", "2"), ("i64 %size", "3, 0"), ("i64 1", "4, 0"))
    lines = [f"define internal {kind} @{name}(i64 %at, i64 %size) alwaysinline nounwind {{"]
    lines.append("  %p = inttoptr i64 %at to ptr")
    for i, (value, place) in enumerate(fields):
        lines.append(f"  %d{i + 1} = insertvalue {kind} {f'%d{i}' if i else 'undef'}, {value}, {place}")
    return "\n".join([*lines, f"  ret {kind} %d{len(fields)}", "}"])


def _to_llvm_dialect(linalg: LinalgModule) -> str:
    if not linalg.native_text:
        raise NativeUnsupported("triton-adapter-opt gave no generic linalg")
    text = re.sub(rf"@{re.escape(linalg.kernel_name)}\b", f"@{KERNEL}", linalg.native_text)
    # The lowering reads buffers again after it wrapped them as tensors: they must not be written in place.
    text = text.replace(" restrict writable : ", " restrict : ")
    # Hints for the Ascend compiler, and barriers between the lanes of one program: nothing to do here.
    text = re.sub(
        r"^\s*(?:annotation\.mark|gpu\.barrier|hivm\.hir\.(?:sync|pipe|debug)\S*)\b.*\n", "", text, flags=re.MULTILINE
    )
    text = _HALF_SUM.sub(_wide_sum, _MATMUL.sub(_ordered_matmul, text))
    try:
        text = _addresses(with_bodies(text))
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
        # A cast to a narrow integer keeps the low bits of the wide result: Ascend's overflow mode "trunc".
        middle = "i32" if target in ("i8", "i16") else target
        narrow = f"  %r = trunc i32 %m to {target}\n" if middle != target else ""
        return (
            f"\ndefine internal {target} @atrl_{operation}_{target}_{source}({source} %x) alwaysinline nounwind {{\n"
            f"{widen}  %m = call {middle} @llvm.{operation}.sat.{middle}.{llvm_name[wide]}({wide} {value})\n{narrow}"
            f"  ret {target} {'%r' if narrow else '%m'}\n}}\n"
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
