"""The third stage of the cascade: modelled time of a recorded candidate, its bottleneck, and the speedup over eager.

Split in two, because the two halves know different things: `profile_calls` runs where the kernels were compiled and
sees the candidate's launches; `judge` runs where the reference is known and compares with it. Neither imports torch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from atrl_ms.types import Speedup
from sandbox.profile import advice, eager, machine, memory, reader
from sandbox.profile.kernel import KernelProfile, time_launch, trace_launch
from sandbox.profile.program import Program

INTEGERS = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32, "u32": np.uint32, "i64": np.int64}
KIND: Literal["modelled"] = "modelled"


@dataclass
class LaunchReport:
    """One launch of one call, as JSON-able data (see `KernelProfile` for the meaning of the numbers).

    Attributes:
        memory: {"UB": {"used", "capacity"}} in bytes.
        picture: only when asked for: "streams" (spans of each core of the first program, in microseconds) and
            "buffers" (the compiler's memory plan).
    """

    kernel: str
    us: float
    program_us: float
    launch_us: float
    memory_us: float
    bound: str
    core: str
    programs: int
    cores: int
    ratios: dict[str, float]
    read_bytes: float
    written_bytes: float
    memory: dict[str, dict[str, int]]
    bottleneck: str
    hint: str
    assumptions: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)
    picture: dict[str, Any] | None = None


@dataclass
class CallReport:
    """All that one call of `forward` makes the device do."""

    launches: list[LaunchReport]
    moves_us: float  # copies and fills that stay with PyTorch
    moves: int

    @property
    def us(self) -> float:
        return sum(x.us for x in self.launches) + self.moves_us

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "us": self.us}

    @staticmethod
    def from_json(data: dict[str, Any]) -> CallReport:
        return CallReport([LaunchReport(**x) for x in data["launches"]], data["moves_us"], data["moves"])


@dataclass
class Profile:
    """Modelled performance of a candidate over the calls (input groups) of a task.

    Attributes:
        speedup: geometric mean over the calls of eager time divided by the candidate's time; always "modelled" here.
        feedback: one line that names the bottleneck with numbers, and one hint.
    """

    kernel_us: float
    eager_us: float
    speedup: Speedup
    feedback: list[str]
    calls: list[CallReport]

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.speedup.kind,
            "kernel_us": round(self.kernel_us, 3),
            "eager_us": round(self.eager_us, 3),
            "speedup": round(self.speedup.value, 4),
            "feedback": self.feedback,
            "calls": [c.to_json() for c in self.calls],
        }


# ---------------------------------------------------------------- where the kernels are


def launch_report(name: str, profile: KernelProfile, memory_report: Any, device: dict[str, int]) -> LaunchReport:
    what, key = advice.bottleneck(profile)
    return LaunchReport(
        kernel=name,
        us=profile.us,
        program_us=profile.program_us,
        launch_us=profile.launch_us,
        memory_us=profile.memory_us,
        bound=profile.bound,
        core=profile.kind,
        programs=profile.programs,
        cores=profile.cores,
        ratios={k: round(v, 4) for k, v in profile.ratios.items()},
        read_bytes=profile.read_bytes,
        written_bytes=profile.written_bytes,
        memory=memory.peak(memory.buffers(memory_report), device),
        bottleneck=what,
        hint=advice.hint(profile, key),
        assumptions=profile.assumptions,
        unknown=profile.unknown,
    )


def profile_calls(
    recording: Mapping[str, Any],
    compiled: Mapping[int, Any],
    arch: str,
    inputs: Mapping[int, Sequence[bytes]] | None = None,
    calls: Sequence[int] | None = None,
    *,
    picture: bool = False,
) -> list[CallReport]:
    """Model every call of a recording.

    Args:
        recording: {"kernels", "buffers", "calls"}; a launch's accepted variant is `op["use"]`, 0 if absent.
        compiled: kernel index -> artifact with `hivm` and `memory`; a launch without one is an error of the caller.
        inputs: call -> bytes of every input storage, so that integers which steer loops are known.
        calls: which calls to model; all by default.
        picture: keep what a picture needs (timelines, buffers).

    Raises:
        HivmError: a module that the reader cannot follow.
    """
    constants, model = machine.load(arch), eager.load(arch)
    programs: dict[int, Program] = {}
    reports = []
    for index in range(len(recording["calls"])) if calls is None else calls:
        launches: list[LaunchReport] = []
        moves_us, moves = 0.0, 0
        for op in recording["calls"][index]["ops"]:
            if op["op"] == "launch":
                variant = op["variants"][op.get("use", 0)]
                number = variant["kernel"]
                artifact = compiled[number]
                if number not in programs:
                    programs[number] = reader.read(artifact.hivm)
                profile = _launch(programs[number], recording, index, variant, constants, inputs, picture)
                name = recording["kernels"][number]["name"]
                report = launch_report(name, profile, artifact.memory, programs[number].device)
                if picture:
                    report.picture = picture_data(profile, artifact.memory, programs[number], constants)
                launches.append(report)
            elif op["op"] in ("copy", "fill"):
                moves_us += model.aten(_as_aten(op))
                moves += 1
        reports.append(CallReport(launches, moves_us, moves))
    return reports


def _launch(
    program: Program,
    recording: Mapping[str, Any],
    call: int,
    variant: Mapping[str, Any],
    constants: machine.Machine,
    inputs: Mapping[int, Sequence[bytes]] | None,
    keep_spans: bool,
) -> KernelProfile:
    buffers = recording["buffers"]
    kinds = recording["kernels"][variant["kernel"]]["arg_types"]
    scalars: dict[int, int | float] = {}
    sizes: dict[int, int] = {}
    data: dict[int, np.ndarray] = {}
    for position, (arg, kind) in enumerate(zip(variant["args"], kinds, strict=True)):
        if not isinstance(arg, list):
            scalars[position] = int(arg) if isinstance(arg, bool) else arg
            continue
        number, offset = arg
        buffer = buffers[number]
        sizes[position] = max(0, buffer["nbytes"] - offset)
        integer = INTEGERS.get(kind.lstrip("*k"))
        given = (inputs or {}).get(call)
        if integer and given is not None and buffer.get("kind") == "input" and buffer.get("call") == call:
            raw = given[buffer["index"]]
            usable = (len(raw) - offset) // np.dtype(integer).itemsize
            if usable > 0:
                data[position] = np.frombuffer(raw, integer, usable, offset)
    x, y, z = variant["grid"]
    return time_launch(trace_launch(program, scalars, (x, y, z), sizes, data), constants, keep_spans)


def picture_data(
    profile: KernelProfile, memory_report: Any, program: Program, constants: machine.Machine
) -> dict[str, Any]:
    """Timelines (microseconds) and buffers of one launch, as plain data."""
    scale = 1.0 / (constants.clock_ghz * 1e3)
    streams = [
        {"core": core, "spans": [[p, s * scale, e * scale, kind, line] for p, s, e, kind, line in timeline.spans]}
        for core, timeline in zip(profile.functions, profile.timelines, strict=True)
    ]
    capacity = {scope: program.device.get(name, 0) // 8 for scope, name in memory.CAPACITY.items()}
    return {
        "streams": streams,
        "buffers": [{**asdict(b), "offsets": list(b.offsets)} for b in memory.buffers(memory_report)],
        "capacity": capacity,
    }


def _as_aten(op: Mapping[str, Any]) -> dict[str, Any]:
    """A copy or fill of a recording in the form of an `AtenTrace` operation."""

    def tensor(view: Mapping[str, Any]) -> dict[str, Any]:
        dense = list(_row_major(view["shape"])) == list(view["strides"])
        return {"shape": view["shape"], "dtype": view["dtype"], "contiguous": dense}

    target = tensor(op["dst"])
    if op["op"] == "fill":
        return {"op": "fill_", "inputs": [], "outputs": [target], "scalars": []}
    source = tensor(op["src"])
    plain = source["contiguous"] and target["contiguous"]
    name = "_to_copy" if plain and source["dtype"] != target["dtype"] else "copy_"
    return {"op": name, "inputs": [source], "outputs": [target], "scalars": []}


def _row_major(shape: Sequence[int]) -> list[int]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(1, size)
    return strides[::-1]


# ---------------------------------------------------------------- where the reference is


def judge(calls: Sequence[CallReport], reference: Sequence[Sequence[dict[str, Any]]], arch: str) -> Profile | None:
    """Compare modelled calls with the modelled eager reference.

    Args:
        calls: one report per input group.
        reference: the reference's aten operations for the same groups (see `aten_trace`).

    Returns:
        None if there is nothing to compare (no group launches anything: empty tensors).
    """
    model = eager.load(arch)
    eager_us = [model.total(list(ops)) for ops in reference]
    usable = [(c, e) for c, e in zip(calls, eager_us, strict=True) if c.us > 0 and e > 0]
    if not usable:
        return None
    value = math.exp(sum(math.log(e / c.us) for c, e in usable) / len(usable))
    kernel_us = sum(c.us for c, _ in usable) / len(usable)
    base_us = sum(e for _, e in usable) / len(usable)
    heaviest = max(usable, key=lambda item: item[0].us)[0]
    return Profile(kernel_us, base_us, Speedup(value, KIND), lines(heaviest, value, kernel_us, base_us), list(calls))


def lines(call: CallReport, speedup: float, kernel_us: float, eager_us: float) -> list[str]:
    """Feedback: the speed, what the slowest call is bound by, and one hint."""
    text = [f"{speedup:.2f}x eager ({KIND}: {kernel_us:.1f} us, eager {eager_us:.1f} us)"]
    slowest = max(call.launches, key=lambda x: x.us, default=None)
    if slowest is None or call.moves_us > slowest.us:
        text.append(f"{call.moves} copies or fills by PyTorch take {call.moves_us:.1f} of {call.us:.1f} us ({KIND})")
        text.append("hint: do the data movement inside the kernel")
        return text
    text.append(f"{slowest.kernel}: {slowest.bottleneck} ({KIND})")
    text.append(f"hint: {slowest.hint}")
    return text
