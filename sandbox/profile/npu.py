"""Measured times on an NPU: torch_npu.profiler and `msprof op` output, and the measurement itself.

The number that counts is device time: the durations of ALL rows of the active window, divided by the number of calls.
Counting the last rows of each kernel name instead would miss a kernel that is launched several times per call.
"""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from atrl_ms.errors import UserError

WARMUP, ACTIVE = 5, 20
L2_FLUSH_BYTES = 192 * 1024 * 1024
FLUSH_NAMES = ("zeroslike", "memset", "fill", "zerosop", "inplacezero")  # kernels that an L2 flush may launch
PIPE_COLUMNS = (
    "aic_mac_ratio", "aic_scalar_ratio", "aic_mte1_ratio", "aic_mte2_ratio", "aic_mte3_ratio", "aic_fixpipe_ratio",
    "aiv_vec_ratio", "aiv_scalar_ratio", "aiv_mte2_ratio", "aiv_mte3_ratio",
)  # fmt: skip


class NoRecords(Exception):
    """The profiler wrote nothing usable; the message says what to do."""


@dataclass(frozen=True)
class Row:
    """One kernel execution: name, class of core, start and duration in microseconds, pipe ratios."""

    name: str
    core: str
    start_us: float
    duration_us: float
    blocks: int
    ratios: dict[str, float]


@dataclass
class Measured:
    """Device time per call, measured.

    Attributes:
        us: total device time of the window divided by the number of calls.
        median_us, spread_us: median and interquartile range over the calls, where rows can be told apart by call;
            otherwise the median is `us` and the spread is NaN.
        per_kernel: microseconds per call by kernel name.
        launches: executions per call by kernel name; not a whole number when rows are missing.
        notes: what was odd.
    """

    us: float
    median_us: float
    spread_us: float
    calls: int
    per_kernel: dict[str, float]
    launches: dict[str, float]
    ratios: dict[str, float]
    notes: list[str] = field(default_factory=list)


def _number(text: str | None) -> float | None:
    """A cell of the profiler: may hold tabs, quotes, `N/A`, or nothing."""
    plain = (text or "").strip().strip('"').replace(",", "")
    try:
        value = float(plain)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _read(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        raise NoRecords(f"{path.name}: the profiler wrote no such file; profile with ProfilerLevel.Level1 or higher")
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    rows = list(csv.DictReader(text.splitlines()))
    return [{(k or "").strip(): (v or "") for k, v in row.items() if isinstance(v, str | None)} for row in rows]


def _column(row: dict[str, str], *names: str) -> str | None:
    return next((row[n] for n in names if n in row), None)


def kernel_details(path: Path) -> list[Row]:
    """Rows of torch_npu's `kernel_details.csv`, in order of their start; rows without a duration are left out.

    Raises:
        NoRecords: missing file, empty file, or no usable row.
    """
    found = []
    for row in _read(path):
        duration = _number(_column(row, "Duration(us)", "Task Duration(us)", "Duration (us)"))
        name = (_column(row, "Name", "Op Name") or "").strip()
        if duration is None or not name:
            continue
        found.append(
            Row(
                name=name,
                core=(_column(row, "Accelerator Core", "Task Type") or "").strip(),
                start_us=_number(_column(row, "Start Time(us)", "Task Start Time(us)")) or 0.0,
                duration_us=duration,
                blocks=int(_number(_column(row, "Block Dim", "Block Num")) or 0),
                ratios={c: v for c in PIPE_COLUMNS if (v := _number(row.get(c))) is not None},
            )
        )
    if not found:
        raise NoRecords(f"{path.name}: no kernel rows; was anything launched in the profiler's active window?")
    return sorted(found, key=lambda r: r.start_us)


def summarise(rows: Iterable[Row], calls: int, flush: bool = False) -> Measured:
    """Device time per call from all rows of the active window.

    Args:
        calls: how often `forward` ran in the window.
        flush: the measurement cleared L2 before every call; rows of the clearing kernel are taken out.

    Raises:
        NoRecords: no rows are left.
        ValueError: calls is not positive.
    """
    if calls <= 0:
        raise ValueError("the number of calls must be positive")
    kept = list(rows)
    notes = []
    if flush:
        kept, removed = _without_flush(kept, calls)
        if removed != calls:
            notes.append(f"{removed} L2 flushes found for {calls} calls")
    if not kept:
        raise NoRecords("no kernel rows are left in the active window")
    total: dict[str, float] = {}
    count: dict[str, int] = {}
    for row in kept:
        total[row.name] = total.get(row.name, 0.0) + row.duration_us
        count[row.name] = count.get(row.name, 0) + 1
    uneven = sorted(name for name, n in count.items() if n % calls)
    if uneven:
        notes.append(f"rows are missing or extra: {uneven[0]} has {count[uneven[0]]} rows for {calls} calls")
    us = sum(total.values()) / calls
    median, spread = us, math.nan
    if not uneven and len(kept) % calls == 0:
        size = len(kept) // calls
        per_call = [sum(r.duration_us for r in kept[i * size : (i + 1) * size]) for i in range(calls)]
        median = statistics.median(per_call)
        if calls > 1:
            low, _, high = statistics.quantiles(per_call, n=4)
            spread = high - low
    weight = sum(r.duration_us for r in kept if r.ratios) or 1.0
    ratios: dict[str, float] = {}
    for row in kept:
        for name, value in row.ratios.items():
            ratios[name] = ratios.get(name, 0.0) + value * row.duration_us / weight
    return Measured(
        us=us,
        median_us=median,
        spread_us=spread,
        calls=calls,
        per_kernel={k: v / calls for k, v in total.items()},
        launches={k: v / calls for k, v in count.items()},
        ratios=ratios,
        notes=notes,
    )


def _without_flush(rows: list[Row], calls: int) -> tuple[list[Row], int]:
    """Remove the clearing kernel: of the kernels with a flush-like name, the first one that appears `calls` times.

    A candidate may itself fill a tensor; its fills are shorter than clearing 192 MB and stay.
    """
    names = [r for r in rows if any(f in r.name.lower() for f in FLUSH_NAMES)]
    longest = sorted(names, key=lambda r: -r.duration_us)[:calls]
    chosen = {id(r) for r in longest}
    return [r for r in rows if id(r) not in chosen], len(longest)


def msprof_op(directory: Path) -> list[Row]:
    """Rows of `msprof op`: one operator per OPPROF_* directory, durations from OpBasicInfo.csv, ratios averaged over
    the blocks of PipeUtilization.csv.

    Raises:
        NoRecords: no OpBasicInfo.csv with a duration below the directory.
    """
    found: list[Row] = []
    for basic in sorted(directory.rglob("OpBasicInfo*.csv")):
        blocks = _safe_rows(basic.with_name(basic.name.replace("OpBasicInfo", "PipeUtilization")))
        ratios = {}
        for column in PIPE_COLUMNS:
            values = [v for row in blocks if (v := _number(row.get(column))) is not None]
            if values:
                ratios[column] = sum(values) / len(values)
        for row in _safe_rows(basic):
            duration = _number(_column(row, "Task Duration(us)", "Duration(us)"))
            name = (_column(row, "Op Name", "Name") or "").strip()
            if duration is not None and name:
                blocks_used = int(_number(_column(row, "Block Dim", "Block Num")) or 0)
                core = (_column(row, "Op Type", "Task Type") or "").strip()
                found.append(Row(name, core, float(len(found)), duration, blocks_used, ratios))
    if not found:
        raise NoRecords(f"{directory}: msprof op wrote no OpBasicInfo.csv with a duration")
    return found


def _safe_rows(path: Path) -> list[dict[str, str]]:
    try:
        return _read(path)
    except NoRecords:
        return []


def measure(
    call: Callable[[], Any], folder: Path, *, warmup: int = WARMUP, active: int = ACTIVE, flush: bool = False
) -> Measured:
    """Measure the device time of `call` with torch_npu.profiler.

    Args:
        folder: where the profiler writes; must be empty.
        flush: clear L2 (write 192 MB) before every call, so that inputs come from HBM.

    Raises:
        UserError: torch_npu is not installed or has no device.
        NoRecords: the profiler wrote nothing.
    """
    try:
        import torch
        import torch_npu
    except (ImportError, OSError) as error:
        raise UserError("no torch_npu on this machine: times can only be modelled here (--device cpu)") from error
    settings = torch_npu.profiler._ExperimentalConfig(
        profiler_level=torch_npu.profiler.ProfilerLevel.Level1,
        aic_metrics=torch_npu.profiler.AiCMetrics.PipeUtilization,
    )
    scratch = torch.empty(L2_FLUSH_BYTES, dtype=torch.uint8, device="npu") if flush else None
    for _ in range(warmup):
        call()
    torch_npu.npu.synchronize()
    with torch_npu.profiler.profile(
        activities=[torch_npu.profiler.ProfilerActivity.NPU],
        on_trace_ready=torch_npu.profiler.tensorboard_trace_handler(str(folder)),
        experimental_config=settings,
    ):
        for _ in range(active):
            if scratch is not None:
                scratch.zero_()
            call()
        torch_npu.npu.synchronize()
    tables = sorted(folder.rglob("kernel_details.csv"))
    if not tables:
        raise NoRecords(f"{folder}: the profiler wrote no kernel_details.csv")
    return summarise(kernel_details(tables[-1]), active, flush)
