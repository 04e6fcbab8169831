"""Modelled device time of one kernel launch: sampled programs, waves over the cores, launch cost, shared bandwidth."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sandbox.profile import schedule
from sandbox.profile.effects import SCALAR, Trace
from sandbox.profile.machine import Machine
from sandbox.profile.program import Function, Program
from sandbox.profile.schedule import Timeline
from sandbox.profile.trace import trace_program

EXACT_PROGRAMS = 2048  # up to this many programs are handed to the cores one by one
RATIO_NAMES = {
    "AIV": {"V": "aiv_vec_ratio", "MTE2": "aiv_mte2_ratio", "MTE3": "aiv_mte3_ratio", "S": "aiv_scalar_ratio"},
    "AIC": {"M": "aic_mac_ratio", "MTE1": "aic_mte1_ratio", "MTE2": "aic_mte2_ratio", "FIX": "aic_fixpipe_ratio",
            "S": "aic_scalar_ratio"},
}  # fmt: skip


@dataclass
class Sample:
    """One program: its traces (one per half of the kernel) and, for given constants, their timelines."""

    block: int
    traces: list[Trace]
    timelines: list[Timeline] = field(default_factory=list)

    @property
    def cycles(self) -> float:
        return max(t.cycles for t in self.timelines)


@dataclass
class Traced:
    """A launch after its control flow was followed; independent of machine constants."""

    functions: list[Function]
    device: dict[str, int]
    grid: tuple[int, int, int]
    samples: list[Sample]
    footprint: float  # bytes of the distinct global memory touched

    @property
    def programs(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def kind(self) -> str:
        cores = {f.core for f in self.functions}
        return "mixed" if len(cores) > 1 else ("cube" if cores == {"AIC"} else "vector")


@dataclass
class KernelProfile:
    """Modelled behaviour of one launch. Ratios are busy cycles over all cycles, under msprof's names.

    Attributes:
        us: modelled device time in microseconds.
        program_us: of the longest sampled program.
        bound: "program" (work on the cores), "dispatch" (handing out programs) or "memory" (shared bandwidth).
        scattered: share of the scalar unit's time that goes to single elements in global memory.
        read_bytes, written_bytes: traffic with global memory, all programs.
    """

    us: float
    program_us: float
    launch_us: float
    memory_us: float
    bound: str
    kind: str
    programs: int
    cores: int
    waves: int
    ratios: dict[str, float]
    scattered: float
    read_bytes: float
    written_bytes: float
    timelines: list[Timeline]
    functions: list[str]
    assumptions: dict[str, int]
    unknown: dict[str, int]


def trace_launch(
    program: Program,
    scalars: Mapping[int, int | float],
    grid: tuple[int, int, int],
    sizes: Mapping[int, int] | None = None,
    data: Mapping[int, np.ndarray] | None = None,
) -> Traced:
    """Follow the first, the middle and the last program of a launch.

    Args:
        scalars: scalar arguments by position among the run-time arguments.
        sizes: bytes of the tensor behind each pointer argument, to tell re-reading from streaming.
        data: integer tensors by argument position, where known.
    """
    functions = program.kernels()
    total = grid[0] * grid[1] * grid[2]
    blocks = sorted({0, total // 2, total - 1}) if total else []
    samples = [Sample(b, [trace_program(program, f, scalars, grid, b, 0, data) for f in functions]) for b in blocks]
    traced = Traced(functions, program.device, grid, samples, 0.0)
    per_argument: dict[int, float] = {}
    for side in ("read", "written"):
        for key, value in traffic(traced, side).items():
            per_argument[key] = per_argument.get(key, 0.0) + value
    for key, value in per_argument.items():
        limit = (sizes or {}).get(key)
        traced.footprint += value if limit is None else min(value, limit)
    return traced


def traffic(traced: Traced, side: str) -> dict[int, float]:
    """Bytes per argument over all programs, from the samples; both vector cores of a mixed kernel count."""
    total: dict[int, float] = {}
    for sample, weight in zip(traced.samples, _weights(traced), strict=True):
        for function, trace in zip(traced.functions, sample.traces, strict=True):
            factor = 2.0 if traced.kind == "mixed" and function.core == "AIV" else 1.0
            for key, value in getattr(trace, side).items():
                total[key] = total.get(key, 0.0) + value * factor * weight
    return total


def _weights(traced: Traced) -> list[float]:
    """How many programs each sample stands for: straight lines between the samples."""
    n, count = len(traced.samples), traced.programs
    if n <= 2:
        return [count / n] * n if n else []
    half = (count - 1) / 2
    return [half / 2 + 0.5, half, half / 2 + 0.5] if count > 3 else [1.0] * n


def time_launch(traced: Traced, machine: Machine, keep_spans: bool = False) -> KernelProfile:
    """Modelled time of a traced launch for given machine constants."""
    count = traced.programs
    kind = traced.kind
    cores = traced.device.get("VECTOR_CORE_COUNT" if kind == "vector" else "CUBE_CORE_COUNT", 20)
    floor = {"vector": machine.floor_vector_us, "cube": machine.floor_cube_us, "mixed": machine.floor_mixed_us}[kind]
    assumptions: dict[str, int] = {}
    unknown: dict[str, int] = {}
    for i, sample in enumerate(traced.samples):
        streams = [t.events for t in sample.traces]
        sample.timelines = schedule.run(streams, machine, keep_spans and i == 0)
        for trace in sample.traces:
            for target, source in ((assumptions, trace.assumptions), (unknown, trace.unknown_calls)):
                for key, value in source.items():
                    target[key] = target.get(key, 0) + value
    if not count:
        return KernelProfile(0.0, 0.0, 0.0, 0.0, "dispatch", kind, 0, cores, 0, {}, 0.0, 0.0, 0.0, [], [], {}, {})
    durations = [s.cycles + machine.program_start for s in traced.samples]
    blocks = [s.block for s in traced.samples]
    makespan, handed = _makespan(count, cores, blocks, durations, machine.dispatch)
    read = sum(traffic(traced, "read").values())
    written = sum(traffic(traced, "written").values())
    hz = machine.clock_ghz * 1e3  # cycles per microsecond
    moved, unique = read + written, traced.footprint
    beyond = unique > machine.l2_bytes
    memory_us = (moved - unique * beyond) / (machine.l2_tbps * 1e6) + unique * beyond / (machine.hbm_tbps * 1e6)
    program_us = max(durations) / hz
    core_us = makespan / hz
    us = floor + max(core_us, memory_us)
    bound = "memory" if memory_us > core_us else ("dispatch" if handed else "program")
    share = [w / sum(_weights(traced)) for w in _weights(traced)]
    ratios: dict[str, float] = {}
    used = min(cores, count)
    for j, function in enumerate(traced.functions):
        for pipe, name in RATIO_NAMES[function.core].items():
            busy = sum(s.timelines[j].busy[pipe] * w for s, w in zip(traced.samples, share, strict=True)) * count
            if pipe == "S":
                busy += machine.program_start * count
            ratios[name] = min(1.0, busy / used / (us * hz))
    return KernelProfile(
        us=us,
        program_us=program_us,
        launch_us=floor,
        memory_us=memory_us,
        bound=bound,
        kind=kind,
        programs=count,
        cores=cores,
        waves=-(-count // cores),
        ratios=ratios,
        scattered=_scattered(traced.samples[0], machine),
        read_bytes=read,
        written_bytes=written,
        timelines=traced.samples[0].timelines,
        functions=[f.core for f in traced.functions],
        assumptions=assumptions,
        unknown=unknown,
    )


def _scattered(sample: Sample, machine: Machine) -> float:
    remote = total = 0.0
    for trace in sample.traces:
        for event in trace.events:
            if event[0] == SCALAR:
                _, alu, local, single, streamed, calls = event
                remote += single * machine.remote_access + streamed * machine.scattered_access
                total += alu * machine.alu + local * machine.local_access + calls * machine.call
    return remote / (remote + total) if remote else 0.0


def _makespan(count: int, cores: int, blocks: list[int], durations: list[float], dispatch: float) -> tuple[float, bool]:
    """Cycles until the last program is done, and whether handing them out is what takes the time.

    Programs start in order, `dispatch` cycles apart at the earliest, each on the core that is free first.
    """
    if count <= EXACT_PROGRAMS:
        each = np.interp(np.arange(count), blocks, durations)
        free = [0.0] * min(cores, count)
        end = 0.0
        for i in range(count):
            start = max(heapq.heappop(free), i * dispatch)
            heapq.heappush(free, start + each[i])
            end = max(end, start + each[i])
        return float(end), count > cores and count * dispatch > each.sum() / cores
    mean = (durations[0] + 2 * durations[len(durations) // 2] + durations[-1]) / 4
    handing, working = count * dispatch, count * mean / cores
    return max(handing, working) + durations[-1], handing > working
