"""Asks the real Ascend compiler about small kernels: `python -m sandbox.probe` reads probes as JSON lines on stdin.

One probe: {"source": Python text with one @triton.jit function (the last one is compiled), "args": {name: value},
"options": {...}, "arch": ..., "cann": ...}. An argument value "*fp32", "*fp16" ... stands for a tensor of that type,
"i64:VALUE" for a number that the launch passes as such; everything else is passed as it is.
One answer line per probe: {"ok", "stage", "error", "line", "hivm", "version", "seconds"}.
The knowledge base is checked with it; kernels in it are the project's own, so no walls are put up around them.
"""

from __future__ import annotations

import json
import linecache
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sandbox import toolchain
from sandbox.compile import compile_for_ascend, lower_to_linalg
from sandbox.ttir import CompileError, lower_to_ttir, specialise

HEADER = "import triton\nimport triton.language as tl\n"
TIMEOUT = 600.0  # seconds of one compilation
DTYPES = {
    "fp64": "float64", "fp32": "float32", "fp16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32",
    "i16": "int16", "i8": "int8", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "i1": "bool",
}  # fmt: skip


def argument(value: Any) -> Any:
    """A launch argument: "*TYPE" becomes a one-element tensor of that type, anything else stays."""
    import torch

    if isinstance(value, str) and value.startswith("*"):
        return torch.empty(1, dtype=getattr(torch, DTYPES[value[1:]]))
    return value


def load_kernel(source: str, folder: Path) -> Any:
    """The last @triton.jit function of a source text."""
    from triton.runtime.jit import JITFunction

    path = folder / "probe.py"  # a file of its own: Triton reads the kernel's source from it
    path.write_text(HEADER + source)
    linecache.checkcache()
    names: dict[str, Any] = {"__name__": "probe", "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), names)
    kernels = [value for value in names.values() if isinstance(value, JITFunction)]
    if not kernels:
        raise CompileError("source", "the probe holds no @triton.jit function")
    return kernels[-1]


def run_probe(probe: dict[str, Any]) -> dict[str, Any]:
    """Compile one probe's kernel as a launch with its arguments would.

    Raises:
        UserError: unknown arch or release, compiler not installed.
    """
    arch, cann = probe.get("arch", toolchain.DEFAULT_ARCH), probe.get("cann", toolchain.DEFAULT_CANN)
    started = time.perf_counter()
    answer = {"ok": False, "stage": "", "error": "", "line": "", "hivm": "", "version": toolchain.tool_versions(cann)}
    try:
        with tempfile.TemporaryDirectory(prefix="atrl-probe-") as folder:
            kernel = load_kernel(probe["source"], Path(folder))
            arguments = {name: argument(value) for name, value in probe.get("args", {}).items()}
            signature, constants, attrs, _ = specialise(kernel, (), arguments)
            ir = lower_to_ttir(kernel, signature, constants, attrs, arch, probe.get("options", {}))
        # Generous: a busy machine must not refute a fact.
        artifact = compile_for_ascend(lower_to_linalg(ir, arch), arch=arch, cann=cann, timeout=TIMEOUT)
        answer |= {
            "ok": artifact.ok,
            "error": artifact.error,
            "line": artifact.source_line,
            "hivm": artifact.hivm or "",
        }
        answer["stage"] = "" if artifact.ok else "ascend"
    except CompileError as error:
        answer |= {"stage": error.stage, "error": error.line, "line": error.source_line}
    except (ImportError, SyntaxError, TypeError, ValueError, NameError, AttributeError) as error:
        answer |= {"stage": "source", "error": f"{type(error).__name__}: {error}"}
    return {**answer, "seconds": round(time.perf_counter() - started, 3)}


def main() -> int:
    answers, sys.stdout = sys.stdout, sys.stderr  # tl.static_print and the like must not mix with the answers
    for line in sys.stdin:
        print(json.dumps(run_probe(json.loads(line))), file=answers, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
