"""What a run achieved: the table before / after / difference, evaluation.json and a plot."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from atrl_ms.evaluate.metrics import Interval, clustered, fast_1, score, solved, statistics
from atrl_ms.types import Session

METHOD = "95 % intervals: percentile bootstrap over tasks (10,000 resamples), sessions of a task kept together"
MEASURES: dict[str, tuple[Callable[[Session], float], bool]] = {  # name: (value of a session, shown in percent)
    "solve rate": (solved, True),
    "mean score": (score, False),
    "fast_1": (fast_1, True),
}


def compare(before: Sequence[Session], after: Sequence[Session]) -> dict[str, Any]:
    """Everything that the table shows, JSON-serialisable. Infrastructure faults are left out on both sides."""
    first, last = ([s for s in side if s.finish != "infrastructure"] for side in (before, after))
    if not first or not last:
        raise ValueError("no session without an infrastructure fault to compare")
    measures = {}
    for name, (value, _) in MEASURES.items():
        old, new, change = clustered(None, first, value), clustered(None, last, value), clustered(first, last, value)
        measures[name] = {"before": old.to_json(), "after": new.to_json(), "difference": change.to_json()}
    kinds = {kind for side in (before, after) for kind in statistics(side)["speedup_kinds"]}
    return {
        "method": METHOD,
        "speedups": " and ".join(sorted(kinds)) if kinds else "none",
        "measures": measures,
        "before": statistics(before),
        "after": statistics(after),
    }


def format_table(result: dict[str, Any], training: dict[str, Any]) -> str:
    """The result as text. `training` holds the sums of `training_totals`."""
    rows = [("held-out tasks", "before", "after", "difference [95 % interval]")]
    for name, (_, percent) in MEASURES.items():
        entry = result["measures"][name]
        old, new, change = (Interval(**entry[key]) for key in ("before", "after", "difference"))
        if name == "fast_1" and result["speedups"] == "none":
            continue
        label = name + (f" ({result['speedups']} speedup above 1)" if name == "fast_1" else "")
        if percent:
            rows.append(
                (
                    label,
                    f"{old.value:.1%}",
                    f"{new.value:.1%}",
                    f"{100 * change.value:+.1f} points [{100 * change.low:+.1f}, {100 * change.high:+.1f}]",
                )
            )
        else:
            spread = f"{change.value:+.3f} [{change.low:+.3f}, {change.high:+.3f}]"
            rows.append((label, f"{old.value:.3f}", f"{new.value:.3f}", spread))
    sides = [result["before"], result["after"]]
    for label, value in (
        ("sessions", lambda s: str(s["sessions"])),
        ("sampled tokens per solved task", lambda s: "-" if s["solved"] == 0 else f"{s['tokens_per_solved']:.0f}"),
        (f"median {result['speedups']} speedup of solved", lambda s: speedup_text(s["median_speedup"])),
        ("kernels compiled / refused", lambda s: f"{s['compiler']['compiled']} / {s['compiler']['failed']}"),
        ("compactions", lambda s: str(s["compactions"])),
        ("longest context / window", lambda s: f"{s['max_context']} / {s['window']}"),
        ("infrastructure faults", lambda s: str(s["infrastructure_faults"])),
    ):
        rows.append((label, value(sides[0]), value(sides[1]), ""))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines.insert(1, "-" * len(lines[0]))
    lines += ["", result["method"], "", *training_lines(training)]
    return "\n".join(lines)


def speedup_text(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}x"


def training_totals(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Sums over the steps of a run."""
    errors: dict[str, int] = {}
    for record in records:
        for text, count in record["compiler"]["errors"].items():
            errors[text] = errors.get(text, 0) + count
    return {
        "steps": len(records),
        "sessions": sum(r["sessions"] for r in records),
        "sampled_tokens": sum(r["sampled_tokens"] for r in records),
        "compiled": sum(r["compiler"]["compiled"] for r in records),
        "failed": sum(r["compiler"]["failed"] for r in records),
        "median_speedups": [r["median_speedup"] for r in records],
        "speedup_kinds": sorted({kind for r in records for kind in r["speedup_kinds"]}),
        "errors": dict(sorted(errors.items(), key=lambda item: -item[1])),
        "compactions": sum(r["compactions"] for r in records),
        "max_context": max((r["max_context"] for r in records), default=0),
        "window": max((r["window"] for r in records), default=0),
        "infrastructure_faults": sum(r["infrastructure_faults"] for r in records),
    }


def training_lines(totals: dict[str, Any]) -> list[str]:
    """Counts of the training part, with the compiler's most frequent errors."""
    lines = [
        f"training: {totals['steps']} steps, {totals['sessions']} sessions, {totals['sampled_tokens']} sampled tokens",
        f"  kernels: {totals['compiled']} compiled for Ascend, {totals['failed']} refused by the compiler",
    ]
    lines += [f"    {count:5d} x {text}" for text, count in list(totals["errors"].items())[:5]]
    speedups = [x for x in totals["median_speedups"] if x is not None]
    if speedups:
        part = max(1, len(speedups) // 4)
        first, last = np.median(speedups[:part]), np.median(speedups[-part:])
        kinds = " and ".join(totals["speedup_kinds"])
        lines.append(
            f"  median {kinds} speedup on solved tasks: {first:.2f}x in the first quarter of the steps, "
            f"{last:.2f}x in the last"
        )
    lines.append(
        f"  compactions: {totals['compactions']}; longest context {totals['max_context']} of {totals['window']} tokens"
        f"; infrastructure faults: {totals['infrastructure_faults']}"
    )
    return lines


def summarise(directory: Path, before: Sequence[Session], after: Sequence[Session], records: Sequence[dict]) -> str:
    """Write evaluation.json and evaluation.png into a run directory; the text to print."""
    totals = training_totals(records)
    if not before or not after:
        return "\n".join(training_lines(totals))
    result = compare(before, after)
    (directory / "evaluation.json").write_text(json.dumps({**result, "training": totals}, indent=2) + "\n")
    plot = directory / "evaluation.png"
    draw(plot, result, records)
    return f"{format_table(result, totals)}\nplot: {plot}"


def draw(path: Path, result: dict[str, Any], records: Sequence[dict[str, Any]]) -> None:
    """Learning curves of the training sessions, and the held-out measures before and after with intervals."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    curve, bars = figure.subplots(1, 2, width_ratios=(2, 1))
    steps = [r["step"] for r in records]
    for key, label, colour in (("solve_rate", "solve rate", "C0"), ("mean_score", "mean score", "C1")):
        values = np.array([r[key] for r in records])
        curve.plot(steps, values, color=colour, alpha=0.3)
        curve.plot(steps, smooth(values), color=colour, label=label)
    curve.set(xlabel="step", ylim=(0, 1), title="training sessions (thin: each step, thick: running mean of 5)")
    curve.title.set_fontsize(9)
    curve.legend(loc="upper left")
    for i, (name, colour) in enumerate((("solve rate", "C0"), ("mean score", "C1"))):
        for j, when in enumerate(("before", "after")):
            e = result["measures"][name][when]
            error = [[max(0.0, e["value"] - e["low"])], [max(0.0, e["high"] - e["value"])]]
            bars.bar(3 * i + j, e["value"], yerr=error, color=colour, alpha=0.5 + 0.5 * j, capsize=4)
    bars.set_xticks([0, 1, 3, 4], ["before", "after"] * 2)
    bars.set(ylim=(0, 1), title="held-out tasks, 95 % intervals")
    bars.title.set_fontsize(9)
    figure.savefig(path, dpi=120)


def smooth(values: np.ndarray, width: int = 5) -> np.ndarray:
    """Mean of the last `width` values, of fewer at the start."""
    return np.array([values[max(0, i - width + 1) : i + 1].mean() for i in range(len(values))])
