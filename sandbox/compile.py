"""From TTIR to Ascend's own verdict: linalg by triton-adapter-opt, then bishengir-compile.

Plain text in, plain text out: runs in a process without candidate code. The recipe is docs/toolchain.md's.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox import toolchain
from sandbox.ttir import COMPILER_FLAGS, KERNEL_FILE, LOWERING_OPTIONS, CompileError, KernelIR, one_line

LOWERING_TIMEOUT = 60.0  # seconds


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
        found.append((one_line(match[1]), int(place[-1]) if place else None))
    for text, place_line in reversed(found):
        if text and not text.startswith(_BANNERS):
            return text, place_line
    return found[-1] if found else (fallback, None)


def _artifact(data: dict[str, Any], ir: KernelIR, seconds: float, version: str) -> AscendArtifact:
    return AscendArtifact(
        data["ok"], data["error"], ir.source_line(data["line"]), data["hivm"], data["memory"], seconds, version
    )
