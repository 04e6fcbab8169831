"""Triton's front end without a driver: what a launch compiles for, and the kernel's AST to TTIR for an Ascend target.

Runs where the candidate's Python lives, because it needs the AST. What leaves that process is a `KernelIR`: plain text,
which `sandbox.compile` takes on elsewhere. The recipe is docs/toolchain.md's, step by step.
"""

from __future__ import annotations

import dataclasses
import json
import linecache
import re
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
        raise CompileError("ttir", one_line(f"{type(error).__name__}: {error}"), "") from error
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
    return one_line(text)


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


def one_line(text: str, limit: int = 400) -> str:
    """Text without line breaks, cut at `limit` characters."""
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 3] + "..."
