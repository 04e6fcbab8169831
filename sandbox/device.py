"""Runs inside the walls, without any Python of the candidate: compiles the recorded kernels and replays recordings.

First every kernel is compiled by the Ascend compiler (its verdict counts) and built for this CPU; then each case is
replayed twice in guarded memory with different placement and poison. Bytes that differ between the two runs depend on
memory that nobody wrote.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from sandbox import toolchain
from sandbox.compile import AscendArtifact, compile_for_ascend, lower_to_linalg
from sandbox.execute.memory import GuardedMemory, OutOfBounds
from sandbox.execute.native import NativeKernel, NativeUnsupported, build_native
from sandbox.execute.npu import DeviceSpace, NpuLauncher
from sandbox.execute.runtime import runtime
from sandbox.profile import eager, machine, measured
from sandbox.profile.stage import profile_calls
from sandbox.replay import HostSpace, replay, watchdog
from sandbox.toolchain import ToolMissing
from sandbox.ttir import CompileError, KernelIR

ELEMENT = {"fp64": 8, "fp32": 4, "fp16": 2, "bf16": 2, "i64": 8, "u64": 8, "i32": 4, "u32": 4, "i16": 2, "u16": 2}


@dataclass
class Built:
    """One kernel after compilation."""

    ir: KernelIR
    artifact: AscendArtifact | None = None
    native: NativeKernel | None = None
    error: CompileError | None = None
    unsupported: str = ""
    crashed: bool = False  # the compiler died on it instead of refusing it


@dataclass
class Report:
    """What goes back to the judge."""

    kernels: list[dict[str, Any]] = field(default_factory=list)
    compile_seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    cases: list[dict[str, Any]] = field(default_factory=list)


def warm_up() -> None:
    """What every evaluation needs, done once before the forks: the native runtime and the tables of the time model."""
    runtime()
    machine.load(toolchain.DEFAULT_ARCH)
    eager.load(toolchain.DEFAULT_ARCH)
    toolchain.tool_versions(toolchain.DEFAULT_CANN)


def run(request: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """Compile and replay.

    Args:
        request: recording {"kernels", "buffers", "calls"}; blocks; arch; cann; execute (False: compile only);
            no_compiler (True: act as if bishengir were not installed); device ("cpu" or "npu"); params: bytes by name;
            cases: list of {"call", "inputs": bytes per input storage}.

    Returns:
        header {"kernels", "compile_seconds", "notes", "cases"} and blocks: for each completed case the storages of
        its outputs, then of its inputs; "bare" is one more such case, replayed without its launches.
    """
    recording = request["recording"]
    report = Report()
    blocks: list[bytes] = []
    begin = time.perf_counter()
    order = _first_variants(recording)
    try:
        if request["no_compiler"]:
            raise ToolMissing("the Ascend compiler is hidden by option")
        on_npu = request["device"] == "npu"
        built = _compile(recording, order, request, report, native=request["execute"] and not on_npu)
    except ToolMissing as error:
        return {"missing": str(error), "uses": [0] * len(order)}, []
    report.compile_seconds = time.perf_counter() - begin
    failed = any(k["error"] for k in report.kernels if k["needed"])
    unsupported = [k for k in report.kernels if k["needed"] and k["unsupported"]]
    npu_launcher = NpuLauncher(recording["kernels"]) if on_npu else None
    launch = npu_launcher.launch if npu_launcher else lambda *a: _launch(built, *a)
    space = DeviceSpace() if on_npu else HostSpace()
    if request["execute"] and not failed and not unsupported:
        request["lenient"] = any(item.native is not None and item.native.wide for item in built.values())
        for case in request["cases"]:
            with watchdog(request["execution"]):
                result = replay(recording, request, case, launch, blocks, space)
            report.cases.append(result)
            if result["error"] is not None:
                break
    uses = [op["use"] for op in order]
    bare = None
    if len(report.cases) == len(request["cases"]) > 0 and report.cases[-1]["error"] is None:
        first = request["cases"][0]
        if any(op["op"] == "copy" for op in recording["calls"][first["call"]]["ops"]):
            # What do the copies alone give? A kernel that changes nothing is a decoy.
            bare = replay(recording, request, first, lambda *_: 0.0, blocks, space)
    header: dict[str, Any] = {
        "kernels": report.kernels,
        "uses": uses,
        "compile_seconds": report.compile_seconds,
        "notes": report.notes,
        "cases": report.cases,
        "bare": bare,
    }
    if request["profile"] != "off" and not failed:
        _profile(recording, request, built, header)
        if npu_launcher is not None and report.cases and report.cases[-1]["error"] is None:
            header["measured"] = measured.to_json(measured.measure_calls(recording, request, npu_launcher, space))
    return header, blocks


def _profile(
    recording: dict[str, Any], request: dict[str, Any], built: dict[int, Built], header: dict[str, Any]
) -> None:
    """Modelled time of every call. A fault of the model is noted and costs the candidate nothing."""
    begin = time.perf_counter()
    artifacts = {index: item.artifact for index, item in built.items() if item.error is None}
    inputs = {case["call"]: case["inputs"] for case in reversed(request["cases"])}
    try:
        calls = profile_calls(
            recording, artifacts, request["arch"], inputs, sorted(inputs), picture=request["profile"] == "picture"
        )
        header["profile"] = [call.to_json() for call in calls]
    except Exception as error:
        header["notes"].append(f"not profiled: {type(error).__name__}: {str(error)[:200]}")
    header["profile_seconds"] = time.perf_counter() - begin


def _first_variants(recording: dict[str, Any]) -> list[dict[str, Any]]:
    return [op for call in recording["calls"] for op in call["ops"] if op["op"] == "launch"]


def _build(ir: KernelIR, request: dict[str, Any], *, native: bool) -> Built:
    out = Built(ir)
    try:
        linalg = lower_to_linalg(ir, request["arch"])
        with ThreadPoolExecutor(1) as side:  # the Ascend compiler is a process: this CPU's code is made meanwhile
            verdict = side.submit(compile_for_ascend, linalg, arch=request["arch"], cann=request["cann"], timeout=60.0)
            if native:
                try:
                    out.native = build_native(linalg)
                except NativeUnsupported as error:
                    out.unsupported = str(error) or "unknown operation"
            out.artifact = verdict.result()
        if not out.artifact.ok:
            out.native, out.unsupported = None, ""
            out.error = CompileError("ascend", out.artifact.error, out.artifact.source_line)
    except CompileError as error:
        out.error = error
    if out.error is not None:
        out.crashed = out.error.line.startswith("Assertion") or "crashed with signal" in out.error.line
    return out


def _compile(
    recording: dict[str, Any], launches: list[dict[str, Any]], request: dict[str, Any], report: Report, *, native: bool
) -> dict[int, Built]:
    """Compile what the launches need; a launch takes the first of its variants that the compiler accepts."""
    built: dict[int, Built] = {}
    chosen: dict[int, bool] = {}
    irs = [KernelIR.from_json(k) for k in recording["kernels"]]
    for op in launches:
        if "use" in op:
            continue
        for i, variant in enumerate(op["variants"]):
            index = variant["kernel"]
            if index not in built:
                built[index] = _build(irs[index], request, native=native)
            if built[index].error is None or i + 1 == len(op["variants"]):
                op["use"] = i if built[index].error is None else 0
                chosen[op["variants"][op["use"]]["kernel"]] = True
                break
    for index, item in sorted(built.items()):
        report.kernels.append(
            {
                "name": item.ir.name,
                "index": index,
                "needed": index in chosen,
                "error": None
                if item.error is None
                else {"stage": item.error.stage, "message": item.error.line, "line": item.error.source_line},
                "unsupported": item.unsupported,
                "crashed": item.crashed,
                "version": item.artifact.version if item.artifact else "",
                "seconds": item.artifact.seconds if item.artifact else 0.0,
            }
        )
    return built


def _launch(built: dict[int, Built], op: dict[str, Any], memories: dict[int, GuardedMemory], reverse: bool) -> float:
    """Run one launch natively; returns its seconds."""
    variant = op["variants"][op["use"]]
    item = built[variant["kernel"]]
    assert item.native is not None
    args: list[Any] = []
    for value, kind in zip(variant["args"], item.ir.arg_types, strict=True):
        if isinstance(value, list):
            memory = memories[value[0]]
            count = max(0, memory.size - value[1]) // ELEMENT.get(kind.lstrip("*k"), 1)
            args.append((memory.address + value[1], count))
        else:
            args.append(value)
    begin = time.perf_counter()
    item.native.run(variant["grid"], args, reverse=reverse)
    seconds = time.perf_counter() - begin
    for name, value in zip(item.ir.arg_names, variant["args"], strict=True):
        if isinstance(value, list) and not memories[value[0]].slack_intact():
            raise OutOfBounds(item.ir.name, name, "beside", 0)
    return seconds
