"""From a Triton kernel to Ascend's own verdict: specialise, TTIR, linalg, bishengir-compile.

The steps run in different processes: TTIR is made where the candidate's Python lives (it needs the AST), everything
after it works on plain text in a process without candidate code. The recipe is docs/toolchain.md's, step by step.
"""

from __future__ import annotations

import dataclasses
import json
import linecache
import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox import toolchain

# Launch options that reach bishengir-compile, and the flag each becomes (as triton-ascend 3.2.0 passes them).
COMPILER_FLAGS = {
    "multibuffer": "--enable-auto-multi-buffer",
    "enable_auto_bind_sub_block": "--enable-auto-bind-sub-block",
    "enable_hivm_auto_cv_balance": "--enable-hivm-auto-cv-balance",
    "sync_solver": "--enable-hivm-graph-sync-solver",
    "unit_flag": "--enable-hivm-unit-flag-sync",
    "inject_barrier_all": "--enable-hivm-inject-barrier-all-sync",
    "inject_block_all": "--enable-hivm-inject-block-all-sync",
    "limit_auto_multi_buffer_only_for_local_buffer": "--limit-auto-multi-buffer-only-for-local-buffer",
    "set_workspace_multibuffer": "--set-workspace-multibuffer",
    "tile_mix_vector_loop": "--tile-mix-vector-loop",
    "tile_mix_cube_loop": "--tile-mix-cube-loop",
    "limit_auto_multi_buffer_of_local_buffer": "--limit-auto-multi-buffer-of-local-buffer",
    "disable_auto_inject_block_sync": "--disable-auto-inject-block-sync",
}
# Options that change the lowering from TTIR to linalg.
LOWERING_OPTIONS = ("enable_nd2nz_on_vector", "enable_select_analysis", "force_simt_template", "enable_linearize")
DEFAULT_OPTIONS = {"multibuffer": True, "enable_auto_bind_sub_block": True}

KERNEL_FILE = "kernel.py"  # stands for the candidate's file in MLIR locations: paths must not reach a cache key
LOWERING_TIMEOUT = 60.0  # seconds


class CompileError(Exception):
    """A kernel that the compiler refuses.

    Attributes:
        stage: "ttir", "linalg" or "ascend".
        line: the compiler's own error line.
        source_line: "LINE: TEXT" of the user's source, "" where unknown.
    """

    def __init__(self, stage: str, line: str, source_line: str = ""):
        self.stage, self.line, self.source_line = stage, line, source_line
        super().__init__(f"{line} [line {source_line}]" if source_line else line)


@dataclass(frozen=True)
class KernelIR:
    """One specialisation of one kernel as plain data.

    Attributes:
        name: kernel name as the compiler sees it.
        ttir: TTIR text; locations name `kernel.py` with lines counted from the kernel's `def` (1 = the def).
        arg_types: type of every run-time argument in order ("*fp32", "i32", ...); constants are not in it.
        options: launch options that change the result (`COMPILER_FLAGS`, `LOWERING_OPTIONS`).
        arg_names: parameter names of the run-time arguments.
        first_line: line of the kernel's `def` in the candidate's file.
        source: text of the lines that the locations name, by number relative to the kernel.
    """

    name: str
    ttir: str
    arg_types: list[str]
    options: dict[str, Any]
    arg_names: list[str] = field(default_factory=list)
    first_line: int = 1
    source: dict[int, str] = field(default_factory=dict)

    def key(self, arch: str = toolchain.DEFAULT_ARCH, cann: str = toolchain.DEFAULT_CANN) -> str:
        """Cache key: TTIR, options, target and tool versions."""
        return toolchain.Cache.key(
            self.ttir, json.dumps(self.options, sort_keys=True), arch, toolchain.tool_versions(cann)
        )

    def source_line(self, line: int | None) -> str:
        """ "LINE: TEXT" for a line relative to the kernel, with the line number of the candidate's file."""
        if line is None:
            return ""
        text = self.source.get(line, "").strip()
        return f"{line + self.first_line - 1}: {text}" if text else str(line + self.first_line - 1)

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> KernelIR:
        return KernelIR(**{**data, "source": {int(line): text for line, text in data["source"].items()}})


# ---------------------------------------------------------------- in the candidate's process


def specialise(
    jit_fn: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[dict[str, str], dict[str, Any], Any, list[Any]]:
    """What a launch of `jit_fn` compiles for, as triton-ascend 3.2.0's `JITFunction.run` decides it.

    Value 1 and None become constants, integers and addresses divisible by 16 are marked, constexpr parameters are
    constants. Tensors only need `.dtype` and `.data_ptr()`.

    Args:
        kwargs: keyword arguments of the launch, without `grid` and `warmup`; launch options may be among them.

    Returns:
        (signature by name, constants by name, attributes, run-time values in order).

    Raises:
        TypeError: missing or surplus arguments, or a callable as constant.
        KeyError: a keyword that is neither a parameter nor a launch option.
    """
    from triton.backends.ascend.compiler import AscendAttrsDescriptor, NPUOptions
    from triton.runtime.jit import mangle_type

    names = set(jit_fn.signature.parameters)
    for name in kwargs.keys() - names - NPUOptions.__dataclass_fields__.keys():
        raise KeyError(f"Keyword argument {name} was specified but unrecognised")
    bound = jit_fn.signature.bind(*args, **{name: value for name, value in kwargs.items() if name in names})
    bound.apply_defaults()
    values = list(bound.arguments.values())
    signature = {
        parameter.name: parameter.annotation_type or mangle_type(value, parameter.is_const)
        for parameter, value in zip(jit_fn.params, values, strict=True)
        if not parameter.is_constexpr
    }
    signature = {name: "*i8" if kind == "none" else kind for name, kind in signature.items()}
    attrs = AscendAttrsDescriptor(jit_fn.params, values)
    fixed = attrs.get_constants()
    constants = {
        parameter.name: value
        for parameter, value in zip(jit_fn.params, values, strict=True)
        if parameter.is_constexpr or parameter.num in fixed or value is None
    }
    for name, value in constants.items():
        if callable(value):
            raise TypeError(f"Callable constexpr {name} is not supported")
    runtime = [value for parameter, value in zip(jit_fn.params, values, strict=True) if parameter.name not in constants]
    return signature, constants, attrs, runtime


def relevant_options(options: dict[str, Any]) -> dict[str, Any]:
    """The launch options that change a compile result, defaults filled in; others (num_warps ...) have no effect."""
    known = {name: options[name] for name in (*COMPILER_FLAGS, *LOWERING_OPTIONS) if options.get(name) is not None}
    return {**DEFAULT_OPTIONS, **known}


def lower_to_ttir(
    jit_fn: Any,
    signature: dict[str, str],
    constants: dict[str, Any],
    attrs: Any,
    target: str = toolchain.DEFAULT_ARCH,
    options: dict[str, Any] | None = None,
) -> KernelIR:
    """Triton's front end: the kernel's AST to optimised TTIR for an Ascend target. Touches no driver.

    Raises:
        CompileError: stage "ttir", with Triton's message and the user's line.
    """
    from triton._C.libtriton import ir
    from triton.backends.ascend.compiler import AscendBackend, make_ttir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import ASTSource
    from triton.compiler.errors import CompilationError

    backend = AscendBackend(GPUTarget("npu", target, 0))
    parsed = backend.parse_options(options or {})
    context = ir.context()
    ir.load_dialects(context)
    file = jit_fn.fn.__code__.co_filename
    first_line = jit_fn.starting_line_number + _lines_before_def(jit_fn)
    try:
        module = ASTSource(jit_fn, signature, constants, attrs).make_ir(
            parsed, backend.get_codegen_implementation(), backend.get_module_map(), context
        )
        module = make_ttir(module, {"hash": ""}, parsed)
    except CompilationError as error:
        raise CompileError("ttir", _front_end_message(error), _front_end_line(error, jit_fn)) from error
    except RecursionError as error:
        raise CompileError("ttir", "the kernel nests too deeply for the compiler", "") from error
    except Exception as error:
        raise CompileError("ttir", _one_line(f"{type(error).__name__}: {error}"), "") from error
    ttir, lines = _relative_locations(str(module), file, first_line)
    if re.search(r"tt\.func public @", ttir) is None:
        raise CompileError("ttir", f"no kernel function came out of {jit_fn.__name__}", "")
    runtime = [name for name in signature if name not in constants]
    return KernelIR(
        name=re.search(r"tt\.func public @([\w.$-]+)", ttir).group(1),  # type: ignore[union-attr]
        ttir=ttir,
        arg_types=[signature[name] for name in runtime],
        options=relevant_options(options or {}),
        arg_names=runtime,
        first_line=first_line,
        source={line: linecache.getline(file, line + first_line - 1) for line in lines},
    )


def _lines_before_def(jit_fn: Any) -> int:
    """Decorator lines above the `def`: Triton counts its lines from the first of them."""
    import inspect

    lines = inspect.getsourcelines(jit_fn.fn)[0]
    return next((i for i, line in enumerate(lines) if line.lstrip().startswith(("def ", "async def "))), 0)


def _relative_locations(ttir: str, file: str, first_line: int) -> tuple[str, set[int]]:
    """Replace locations in the candidate's file by lines relative to the kernel; drop paths of other files."""
    lines: set[int] = set()

    def replace(match: re.Match[str]) -> str:
        path, line, column = match[1], int(match[2]), match[3]
        if path != file:
            return f'loc("{Path(path).name}":{line}:{column})'
        lines.add(line - first_line + 1)
        # MLIR lines are unsigned: a helper above the kernel is named without a line.
        relative = line - first_line + 1
        return f'loc("{KERNEL_FILE}":{relative}:{column})' if relative > 0 else "loc(unknown)"

    return re.sub(r'loc\("([^"]*)":(\d+):(\d+)\)', replace, ttir), lines


def _front_end_message(error: Any) -> str:
    """Triton's own words: of the innermost error, without the source excerpt."""
    while error.__cause__ is not None and hasattr(error.__cause__, "node"):
        error = error.__cause__
    cause = error.__cause__
    text = error.error_message or (f"{type(cause).__name__}: {cause}" if cause else type(error).__name__)
    return _one_line(text)


def _front_end_line(error: Any, jit_fn: Any) -> str:
    """The line of the kernel where the outermost error lies (inner ones may be in Triton's own files)."""
    number = getattr(error.node, "lineno", None)
    if number is None or error.src is None:
        return ""
    lines = error.src.split("\n")
    text = lines[number - 1].strip() if number <= len(lines) else ""
    first = jit_fn.starting_line_number + _lines_before_def(jit_fn)
    if error.src != jit_fn.src:  # a helper function of the candidate
        return text
    return f"{first + number - 1}: {text}"


def _one_line(text: str, limit: int = 400) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 3] + "..."


# ---------------------------------------------------------------- in the device process


@dataclass(frozen=True)
class LinalgModule:
    """A kernel in linalg.

    Attributes:
        text: module for bishengir-compile (named operations, with locations).
        native_text: module for the CPU (generic operations, without locations).
        mix_mode: "aiv" (vector core), "aic" (cube) or "mix".
        wide: whether the lowering turned a masked access into one of all lanes (a load and a select, or a load, a
            select and a store), because the mask is no range of neighbours.
    """

    ir: KernelIR
    text: str
    native_text: str
    kernel_name: str
    mix_mode: str
    wide: bool


def lower_to_linalg(ir: KernelIR, target: str = toolchain.DEFAULT_ARCH) -> LinalgModule:
    """TTIR to linalg by triton-adapter-opt, for the compiler and for the CPU at once (two processes side by side).

    Raises:
        CompileError: stage "linalg".
        ToolMissing: triton-ascend is not installed.
    """
    cache = toolchain.Cache("linalg")
    key = toolchain.Cache.key("2", ir.key(target))  # 2: version of the stored fields
    stored = cache.get(key)
    if stored is not None:
        data = json.loads(stored)
        if "error" in data:
            raise CompileError("linalg", data["error"], ir.source_line(data["line"]))
        return LinalgModule(ir, **data)
    program = str(toolchain.adapter_opt())
    options = {name: ir.options.get(name, False) for name in LOWERING_OPTIONS}
    with tempfile.TemporaryDirectory(prefix="atrl-linalg-") as folder:
        source = Path(folder) / "kernel.ttir.mlir"
        source.write_text(ir.ttir)
        runs = []
        commands = [
            [*_adapter_flags(options, True), "--mlir-print-debuginfo"],
            _adapter_flags(options, False),
        ]
        if _masked_accesses(ir.ttir):
            commands.append([flag for flag in commands[1] if flag.startswith("--discrete-mask")])
        for flags in commands:
            command = [program, str(source), *flags]
            runs.append(
                subprocess.Popen(
                    command,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=folder,
                    env=toolchain.clean_environment(),
                )
            )
        outputs = []
        try:
            for run in runs:
                out, err = run.communicate(timeout=LOWERING_TIMEOUT)
                outputs.append((run.returncode, out.decode(errors="replace"), err.decode(errors="replace")))
        except subprocess.TimeoutExpired:
            raise CompileError("linalg", f"lowering took longer than {LOWERING_TIMEOUT:.0f} s", "") from None
        finally:
            for run in runs:
                run.kill()
                run.wait()
    code, text, errors = outputs[0]
    native = outputs[1][1] if outputs[1][0] == 0 else ""
    kernel = re.search(r"func\.func\s+@([\w.$-]+)", text)
    mix = re.search(r'mix_mode\s*=\s*"([^"]+)"', text)
    if code != 0 or kernel is None or mix is None:
        line, number = _mlir_error(errors, f"triton-adapter-opt ended with code {code} and no message")
        cache.put(key, json.dumps({"error": line, "line": number}).encode())
        raise CompileError("linalg", line, ir.source_line(number))
    wide = len(outputs) > 2 and _masked_accesses(outputs[2][1]) < _masked_accesses(ir.ttir)
    data = {"text": text, "native_text": native, "kernel_name": kernel[1], "mix_mode": mix[1], "wide": wide}
    cache.put(key, json.dumps(data).encode())
    return LinalgModule(ir, **data)


def _masked_accesses(ttir: str) -> int:
    """Number of loads and stores with a mask."""
    return len(re.findall(r"\btt\.load %[\w#]+, %|\btt\.store %[\w#]+, %[\w#]+, %", ttir))


def _adapter_flags(options: dict[str, Any], named: bool) -> list[str]:
    """The pass list of triton-ascend 3.2.0 for Atlas A2 and A3."""
    simt = f"compile-on-910-95=False force-simt-template={options['force_simt_template']}"
    return [
        *(["--triton-linearize"] if options["enable_linearize"] else []),
        f"--discrete-mask-access-conversion={simt}",
        "--triton-to-annotation",
        f"--triton-to-unstructure={simt}",
        "--triton-to-hivm",
        "--triton-to-hfusion",
        "--triton-to-llvm",
        "--bubble-up-operation",
        f"--triton-to-linalg=global-kernel=false named-ops={named} "
        f"enable-nd2nz-on-vector={options['enable_nd2nz_on_vector']} "
        f"enable-select-analysis={options['enable_select_analysis']} compile-on-910-95=False",
    ]


@dataclass(frozen=True)
class AscendArtifact:
    """What bishengir-compile said of one kernel.

    Attributes:
        ok: the module was lowered completely with memory planned (only hivmc, which ships with CANN, may be missing).
        error: the compiler's own error line when not ok.
        source_line: the user's line that the error names, "" where unknown.
        hivm: final HIVM module, None when not ok or when the release cannot print it.
        memory: parsed memory_info JSON by core ("aiv", "aic"), also when planning failed; None if none was written.
        seconds: time of the compiler, 0 when the result came from the cache.
        version: versions of the tools that gave the verdict.
    """

    ok: bool
    error: str
    source_line: str
    hivm: str | None
    memory: dict[str, Any] | None
    seconds: float
    version: str


def compile_for_ascend(
    linalg: LinalgModule,
    *,
    arch: str = toolchain.DEFAULT_ARCH,
    cann: str = toolchain.DEFAULT_CANN,
    workdir: str | Path | None = None,
    timeout: float = 60.0,
) -> AscendArtifact:
    """Ask the real Ascend compiler for its verdict; verdicts, failures included, are cached.

    Args:
        workdir: directory for temporary files (default: the system's).
        timeout: seconds; a longer compilation is a failure of the kernel, which is not cached.

    Raises:
        ToolMissing: that compiler release is not installed.
        UserError: unknown arch or CANN release.
    """
    toolchain.device(arch)
    version = toolchain.tool_versions(cann)
    program = toolchain.bishengir("bishengir-compile", cann)
    cache = toolchain.Cache("ascend")
    key = toolchain.Cache.key(linalg.ir.key(arch, cann))
    stored = cache.get(key)
    if stored is not None:
        data = json.loads(stored)
        return _artifact(data, linalg.ir, 0.0, version)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="atrl-ascend-", dir=workdir) as folder:
        source = Path(folder) / "kernel.mlir"
        source.write_text(re.sub(r', mix_mode\s*=\s*"[^"]*"', "", linalg.text))
        flags = [
            f"{flag}={linalg.ir.options[name]}"
            for name, flag in COMPILER_FLAGS.items()
            if linalg.ir.options.get(name) is not None
        ]
        command = [
            str(program),
            str(source),
            f"--target={arch}",
            *flags,
            "--enable-hfusion-compile=true",
            "--enable-hivm-compile=true",
            "--enable-triton-kernel-compile=true",
            *(toolchain.REPORTING_FLAGS if toolchain.prints_module(cann) else ()),
            "--mlir-disable-threading",
            "-o",
            str(Path(folder) / "kernel"),
        ]
        try:
            run = subprocess.run(
                command, capture_output=True, cwd=folder, env=toolchain.clean_environment(), timeout=timeout
            )
        except subprocess.TimeoutExpired:
            line = f"bishengir-compile took longer than {timeout:.0f} s"
            return AscendArtifact(False, line, "", None, None, time.perf_counter() - started, version)
        data = _verdict(run, Path(folder), toolchain.prints_module(cann))
    cache.put(key, json.dumps(data).encode())
    return _artifact(data, linalg.ir, time.perf_counter() - started, version)


_DUMP = "// -----// IR Dump After"


def _verdict(run: subprocess.CompletedProcess[bytes], folder: Path, prints: bool) -> dict[str, Any]:
    """Read a finished compilation: the printed final module means success, whatever the exit code says of hivmc.

    Args:
        prints: whether this release prints the final module; else the exit code decides.
    """
    errors = run.stderr.decode(errors="replace")
    memory = {
        path.stem.removeprefix("memory_info_"): _load_memory(path) for path in sorted(folder.glob("memory_info_*.json"))
    }
    messages, _, dumped = errors.partition(_DUMP)
    module_text, complaints = _split_dump(dumped)
    failed = [line for line in (messages + complaints).split("\n") if _is_error(line)]
    completed = bool(dumped) if prints else run.returncode == 0
    if completed and not failed and run.returncode >= 0:
        return {"ok": True, "error": "", "line": None, "hivm": module_text or None, "memory": memory or None}
    spoken = [line for line in messages.split("\n") if line.strip() and "hivmc" not in line]
    fallback = spoken[0] if spoken else f"bishengir-compile ended with code {run.returncode} and no message"
    if run.returncode < 0:
        fallback = f"bishengir-compile crashed with signal {-run.returncode}"
    line, number = _mlir_error("\n".join(failed), fallback)
    return {"ok": False, "error": line, "line": number, "hivm": None, "memory": memory or None}


def _load_memory(path: Path) -> Any:
    try:
        return json.loads(path.read_text(errors="replace"))
    except json.JSONDecodeError:
        return None


def _split_dump(dumped: str) -> tuple[str, str]:
    """The last printed module, and the messages after it."""
    last = dumped.rsplit(_DUMP, 1)[-1]
    body = last.partition("\n")[2]
    end = body.rfind("\n}\n")
    return (body[: end + 3], body[end + 3 :]) if end >= 0 else (body, "")


def _is_error(line: str) -> bool:
    """A complaint about the kernel: an MLIR error, not one about the missing hivmc."""
    return bool(re.search(r"\berror: |LLVM ERROR|Assertion .* failed|PLEASE submit a bug report", line)) and (
        "hivmc" not in line
    )


_BANNERS = ("Failed to run", "Failed to compile", "PLEASE submit a bug report", "pass failed")


def _mlir_error(errors: str, fallback: str) -> tuple[str, int | None]:
    """The compiler's own error line (never only a closing banner) and the kernel line that it names.

    After an overflow the compiler retries with weaker options: the last message is the one that decided.
    """
    found: list[tuple[str, int | None]] = []
    for line in errors.split("\n"):
        match = re.search(r"(?:error: |LLVM ERROR: ?)(.*)", line) or re.search(r"(Assertion .* failed.*)", line)
        if match is None or "hivmc" in line:
            continue
        place = re.findall(rf'"{re.escape(KERNEL_FILE)}":(\d+)', line[: match.start()])
        found.append((_one_line(match[1]), int(place[-1]) if place else None))
    for text, place_line in reversed(found):
        if text and not text.startswith(_BANNERS):
            return text, place_line
    return found[-1] if found else (fallback, None)


def _artifact(data: dict[str, Any], ir: KernelIR, seconds: float, version: str) -> AscendArtifact:
    return AscendArtifact(
        data["ok"], data["error"], ir.source_line(data["line"]), data["hivm"], data["memory"], seconds, version
    )
