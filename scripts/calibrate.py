"""Fits the performance model's constants to measured latencies, and checks the model on a measurement directory.

    python scripts/calibrate.py                      fit on scripts/calibration, write the machine table
    python scripts/calibrate.py --check [--measurements DIR]
    python scripts/calibrate.py --leave-out          fit without each group in turn, report on the left-out group

A measurement directory has `eager_ops.jsonl` (op, shapes, dtype, latency_us) and `kernels.jsonl` (candidate,
inputs, latency_us; optionally pipe_ratios, group). Candidates are run on stand-in tensors in this process: check only
directories that you trust.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from scipy import optimize, stats  # noqa: E402

from atrl_ms.errors import UserError  # noqa: E402
from sandbox.profile import eager, machine  # noqa: E402
from sandbox.profile.kernel import Traced, time_launch  # noqa: E402
from sandbox.profile.machine import Machine  # noqa: E402

CALIBRATION = ROOT / "scripts" / "calibration"
RATIO_WEIGHT = 0.25  # weight of a pipe's busy time against a latency in the fit
FIT_LINES = 10
HELD_OUT = {"sla_sparse.py"}  # one line of 98.7 ms, far outside the rest: kept to see how far the model reaches
PRIOR_WEIGHT = 0.15  # pull of a constant towards its nominal value, per factor of e
DECISIVE = (1.10, 0.3)  # two versions differ when by more than 10 % and 0.3 us


# ---------------------------------------------------------------- measurements


@dataclass
class Line:
    """One measured kernel line with its traced launches."""

    candidate: str
    inputs: list[Any]
    latency_us: float
    group: str
    ratios: dict[str, float]
    launches: list[Traced] = field(default_factory=list)
    aten: list[dict[str, Any]] = field(default_factory=list)

    def predict(self, constants: Machine, model: eager.EagerModel) -> float:
        kernels = sum(time_launch(launch, constants).us for launch in self.launches)
        return kernels + sum(model.aten(op) for op in self.aten)

    @property
    def case(self) -> str:
        return json.dumps(self.inputs, sort_keys=True)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """JSON Lines; a `UserError` names file and line."""
    rows = []
    for number, text in enumerate(path.read_text().splitlines(), 1):
        if text.strip():
            try:
                rows.append(json.loads(text))
            except json.JSONDecodeError as error:
                raise UserError(f"{path}:{number}: not JSON: {error}") from error
    return rows


def load_kernels(directory: Path, arch: str) -> list[Line]:
    """Run and compile every candidate of `kernels.jsonl`; what cannot be captured is reported and left out."""
    from sandbox.profile.capture import Capturer

    path = directory / "kernels.jsonl"
    if not path.is_file():
        return []
    capturer = Capturer(arch)
    lines: list[Line] = []
    captured: dict[str, Any] = {}
    failures: dict[str, int] = {}
    rows = read_lines(path)
    for number, row in enumerate(rows, 1):
        progress(f"kernels {number}/{len(rows)}")
        for name in ("candidate", "inputs", "latency_us"):
            if name not in row:
                raise UserError(f"{path}: entry {number} has no '{name}'")
        init = row.get("init", row.get("init_inputs"))
        key = json.dumps([row["candidate"], row["inputs"], init])
        if key not in captured:
            try:
                captured[key] = capturer.capture(directory / row["candidate"], row["inputs"], init)
            except Exception as error:
                if os.environ.get("ATRL_TRACEBACK"):
                    traceback.print_exc()
                captured[key] = None
                text = f"{row['candidate']}: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
                failures[text] = failures.get(text, 0) + 1
        if captured[key] is not None:
            lines.append(
                Line(
                    row["candidate"], row["inputs"], float(row["latency_us"]), row.get("group", ""),
                    row.get("pipe_ratios") or {}, captured[key].launches, captured[key].aten,
                )
            )  # fmt: skip
    progress("")
    for text, count in failures.items():
        print(f"not captured ({count} lines): {text}")
    return lines


@dataclass
class Mean:
    """A published mean latency over several cases of one candidate."""

    candidate: str
    latency_us: float
    lines: list[Line]


def load_means(directory: Path, arch: str) -> list[Mean]:
    """`means.jsonl`, if there is one: candidate, cases (lists of inputs), latency_us."""
    from sandbox.profile.capture import Capturer

    path = directory / "means.jsonl"
    means = []
    capturer = Capturer(arch)
    for row in read_lines(path) if path.is_file() else []:
        members = []
        for number, inputs in enumerate(row["cases"], 1):
            progress(f"mean of {row['candidate']} {number}/{len(row['cases'])}")
            found = capturer.capture(directory / row["candidate"], inputs)
            members.append(Line(row["candidate"], inputs, 0.0, row.get("group", ""), {}, found.launches, found.aten))
        means.append(Mean(row["candidate"], float(row["latency_us"]), members))
    progress("")
    return means


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


# ---------------------------------------------------------------- fit


def spread(lines: list[Line]) -> list[Line]:
    """At most `FIT_LINES` lines per candidate, evenly spread over its latencies: the fit stays affordable."""
    members: dict[str, list[Line]] = {}
    for line in lines:
        members.setdefault(line.candidate, []).append(line)
    chosen: list[Line] = []
    for group in members.values():
        group.sort(key=lambda line: (line.latency_us, line.case))
        count = min(FIT_LINES, len(group))
        chosen += [group[round(i * (len(group) - 1) / max(1, count - 1))] for i in range(count)]
    return chosen


def fit_kernels(
    lines: list[Line], means: list[Mean], start: Machine, prior: dict[str, float], model: eager.EagerModel
) -> Machine:
    """Least squares on log2 of latencies (and, lightly, of pipe busy times), pulled towards `prior`."""
    names = list(prior)
    chosen = spread(lines)
    groups: dict[tuple[str, str], int] = {}
    for line in chosen:
        groups[line.group, line.candidate] = groups.get((line.group, line.candidate), 0) + 1
    origin = np.log([prior[n] for n in names])

    def residuals(x: np.ndarray) -> np.ndarray:
        constants = start.with_values(dict(zip(names, np.exp(x).tolist(), strict=True)))
        found: list[float] = []
        for line in chosen:
            latency = line.latency_us
            weight = groups[line.group, line.candidate] ** -0.25  # large groups count more, but not in proportion
            profiles = [time_launch(launch, constants) for launch in line.launches]
            total = sum(p.us for p in profiles) + sum(model.aten(op) for op in line.aten)
            found.append(weight * math.log2(total / latency))
            if len(profiles) == 1:
                for name, measured in line.ratios.items():
                    modelled = profiles[0].ratios.get(name)
                    if modelled and measured > 0.02 and "scalar" not in name:
                        ratio = math.log2(modelled * total / (measured * latency))
                        found.append(weight * RATIO_WEIGHT * max(-3.0, min(3.0, ratio)))
        for mean in means:
            total = sum(line.predict(constants, model) for line in mean.lines) / len(mean.lines)
            found.append(0.5 * math.log2(total / mean.latency_us))
        found += list(PRIOR_WEIGHT * (x - origin))
        progress(f"fit: rms {math.sqrt(float(np.mean(np.square(found)))):.4f}")
        return np.array(found)

    result = optimize.least_squares(
        residuals,
        np.log([getattr(start, n) for n in names]),
        loss="soft_l1",
        f_scale=0.5,
        diff_step=0.05,
        max_nfev=12,
        xtol=1e-3,
        ftol=1e-3,
    )
    progress("")
    return start.with_values({n: float(f"{v:.4g}") for n, v in zip(names, np.exp(result.x), strict=True)})


# ---------------------------------------------------------------- report


def accuracy(measured: list[float], modelled: list[float]) -> str:
    """Spearman correlation and absolute log2 error of a set of predictions."""
    error = np.abs(np.log2(np.array(modelled) / np.array(measured)))
    varied = len(set(measured)) > 1 and len(set(modelled)) > 1
    rank = stats.spearmanr(measured, modelled).statistic if varied else math.nan
    spread = f"|log2 error| median {np.median(error):5.3f} p90 {np.quantile(error, 0.9):5.3f}"
    return f"n {len(measured):4d}  spearman {rank:6.3f}  {spread}"


def pairs(lines: list[Line], modelled: list[float]) -> tuple[int, int]:
    """Decisive pairs of different candidates of one group on the same inputs, and how many are ranked right."""
    cases: dict[tuple[str, str], list[tuple[str, float, float]]] = {}
    for line, value in zip(lines, modelled, strict=True):
        cases.setdefault((line.group, line.case), []).append((line.candidate, line.latency_us, value))
    right = total = 0
    for members in cases.values():
        for i, (name, us, value) in enumerate(members):
            for other, other_us, other_value in members[i + 1 :]:
                slow, fast = max(us, other_us), min(us, other_us)
                if name != other and slow > DECISIVE[0] * fast and slow - fast > DECISIVE[1]:
                    total += 1
                    right += (us > other_us) == (value > other_value)
    return right, total


def report(title: str, groups: list[str], measured: list[float], modelled: list[float]) -> None:
    print(f"{title} (modelled against measured)")
    for group in sorted(set(groups)):
        chosen = [i for i, g in enumerate(groups) if g == group]
        print(f"  {group or '-':28s} {accuracy([measured[i] for i in chosen], [modelled[i] for i in chosen])}")
    if measured:
        print(f"  {'all':28s} {accuracy(measured, modelled)}")


def check(directory: Path, arch: str, lines: list[Line] | None = None) -> None:
    """Print the model's accuracy on a measurement directory."""
    constants, model = machine.load(arch), eager.load(arch)
    ops_file = directory / "eager_ops.jsonl"
    if ops_file.is_file():
        rows = read_lines(ops_file)
        for number, row in enumerate(rows, 1):
            if missing := [n for n in ("op", "shapes", "latency_us") if n not in row]:
                raise UserError(f"{ops_file}: entry {number} has no '{missing[0]}'")
        modelled = [model.described(row) for row in rows]
        names = [row.get("group", row.get("op_group", row["op"].split(" ")[0])) for row in rows]
        report("eager ops", names, [float(r["latency_us"]) for r in rows], modelled)
    lines = load_kernels(directory, arch) if lines is None else lines
    if lines:
        predicted = [line.predict(constants, model) for line in lines]
        report("Triton kernels", [line.group for line in lines], [line.latency_us for line in lines], predicted)
        right, total = pairs(lines, predicted)
        if total:
            print(f"  decisive version pairs ranked right: {right}/{total} = {100 * right / total:.0f} %")
    if not lines and not ops_file.is_file():
        raise UserError(f"{directory}: neither eager_ops.jsonl nor kernels.jsonl")


def write_table(arch: str, values: dict[str, float], note: str) -> None:
    path = machine.table_path(arch)
    data = json.loads(path.read_text())
    data["fitted"] = {"source": note, "values": {**data["fitted"]["values"], **values}}
    path.write_text(json.dumps(data, indent=1) + "\n")
    machine.load.cache_clear()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measurements", type=Path, default=CALIBRATION, metavar="DIR")
    parser.add_argument("--arch", default="Ascend910B4")
    parser.add_argument("--check", action="store_true", help="only report, change nothing")
    parser.add_argument("--leave-out", action="store_true", help="cross-validate over groups")
    args = parser.parse_args()
    try:
        if args.check:
            check(args.measurements, args.arch)
            return 0
        return fit(args.measurements, args.arch, args.leave_out)
    except UserError as error:
        print(f"calibrate: {error}", file=sys.stderr)
        return 2


def fit(directory: Path, arch: str, leave_out: bool) -> int:
    """Fit eager and kernel constants on a directory, or report every group from a fit without it."""
    start = machine.load(arch)
    data = json.loads(machine.table_path(arch).read_text())
    prior = data["prior"]["values"]
    rows = read_lines(directory / "eager_ops.jsonl")
    lines = load_kernels(directory, arch)
    means = load_means(directory, arch)
    if leave_out:
        print("each group predicted by a fit without it")
        for group in sorted({r["group"] for r in rows}):
            model = eager.fit([r for r in rows if r["group"] != group], eager.load(arch, prior=True))
            test = [r for r in rows if r["group"] == group]
            modelled = [model.described(r) for r in test]
            print(f"  eager   {group:26s} {accuracy([r['latency_us'] for r in test], modelled)}")
        model = eager.load(arch)
        for group in sorted({line.group for line in lines}):
            without = [x for x in lines if x.group != group]
            constants = fit_kernels(without, [m for m in means if m.lines[0].group != group], start, prior, model)
            test_lines = [x for x in lines if x.group == group]
            predicted = [x.predict(constants, model) for x in test_lines]
            print(f"  kernels {group:26s} {accuracy([x.latency_us for x in test_lines], predicted)}")
        return 0
    model = eager.fit(rows, eager.load(arch, prior=True))
    eager.save(arch, model)
    constants = fit_kernels([x for x in lines if x.candidate not in HELD_OUT], means, start, prior, model)
    write_table(arch, {n: getattr(constants, n) for n in prior}, "scripts/calibrate.py on scripts/calibration")
    check(directory, arch, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
