"""What an evaluation amounts to: scores by set, level and category as JSON, CSV, HTML and text.

Every number stands beside its set, its cases, the device that ran them, and whether times were measured or modelled.
Nothing here depends on the course of a run: a run that was killed and continued gives the same files.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from atrl_ms.config import Config
from atrl_ms.errors import UserError
from atrl_ms.evaluate.charts import Series, line_chart
from atrl_ms.evaluate.evaluation import Record
from atrl_ms.evaluate.metrics import Interval
from atrl_ms.evaluate.scores import FAST_P, Difference, Scored, compare, score
from atrl_ms.train.run_dir import RunDir, write_atomically
from sandbox.benchmarks.entry import NO_KERNEL_GIVEN, Entry
from sandbox.benchmarks.load import describe

METHOD = "95 % intervals: percentile bootstrap over tasks (10,000 resamples), the samples of a task kept together"
EXECUTORS = {
    "native": "CPU, code of the Ascend compiler run natively",
    "interpreter": "CPU, Triton's interpreter",
    "npu": "Ascend NPU",
}


def scored(records: Sequence[Record], kind: str | None = None) -> list[Scored]:
    """Samples without infrastructure faults. Speedups of another kind than `kind` count as unknown."""
    found = []
    for r in records:
        if r["verdict"] == "infrastructure_error":
            continue
        speedup = r["speedup"] if r["verdict"] == "pass" else None
        value = speedup["value"] if speedup and (kind is None or speedup["kind"] == kind) else None
        found.append(Scored(r["task"], r["compiled"], r["verdict"] == "pass", value))
    return found


def facts(config: Config, entries: Sequence[Entry], records: Sequence[Record], label: str) -> dict[str, Any]:
    """What every number of the report refers to."""
    judged = {r["task"] for r in records}
    used = [e for e in entries if e.name in judged]
    kinds = sorted({r["speedup"]["kind"] for r in records if r["verdict"] == "pass" and r["speedup"]})
    executors = sorted({r["executor"] for r in records if r["executor"]})
    compilers = sorted({r["compiler"] for r in records if r["compiler"]})
    cases = Counter(e.cases for e in used)
    device = "; ".join(EXECUTORS.get(name, name) for name in executors) or "no kernel was run"
    compiler = f", compiler {', '.join(compilers)}" if compilers else ""
    return {
        "set": describe(config.tasks),
        "policy": label,
        "cases": ", ".join(f"{text} ({count} tasks)" for text, count in sorted(cases.items())),
        "device": f"{device}; target {config.sandbox.arch}{compiler}",
        "speed": " and ".join(kinds) if kinds else "no correct sample was timed",
        "tolerance": config.eval.tolerance,
        "tasks_in_set": len(entries),
        "tasks_scored": len(used),
        "tasks_excluded": sum(bool(e.skip) and e.skip != NO_KERNEL_GIVEN for e in entries),
        "tasks_without_kernel": sum(e.skip in ("", NO_KERNEL_GIVEN) and e.name not in judged for e in entries),
        "samples": len(records),
        "infrastructure_faults": sum(r["verdict"] == "infrastructure_error" for r in records),
        "correct_without_speed": sum(r["verdict"] == "pass" and not r["speedup"] for r in records),
        "seed": config.seed,
    }


def groups(entries: Sequence[Entry]) -> list[tuple[str, str, set[str]]]:
    """(kind of group, name, tasks): all, each level, each category, where there is more than one."""
    found = [("all", "all", {e.name for e in entries})]
    for kind in ("level", "category"):
        names = sorted({str(getattr(e, kind)) for e in entries} - {""})
        if len(names) > 1:
            found += [(kind, name, {e.name for e in entries if getattr(e, kind) == name}) for name in names]
    return found


def summarise(config: Config, entries: Sequence[Entry], records: Sequence[Record], label: str) -> dict[str, Any]:
    """Everything that the report shows, JSON-serialisable.

    Raises:
        UserError: no sample was judged.
    """
    about = facts(config, entries, records, label)
    ks = sorted(k for k in set(config.eval.k) if 1 <= k <= config.eval.samples)
    kinds = sorted({r["speedup"]["kind"] for r in records if r["verdict"] == "pass" and r["speedup"]}) or [None]
    if not scored(records):
        raise UserError("nothing to score: no sample was judged without an infrastructure fault; run with --resume")
    sections = []
    for group, name, tasks in groups(entries):
        chosen = [r for r in records if r["task"] in tasks]
        if not scored(chosen):
            continue
        for kind in kinds:  # measured and modelled times never share a number
            values = score(scored(chosen, kind), ks, config.seed)
            sections.append(
                {
                    "group": group,
                    "name": name,
                    "speed": kind or about["speed"],
                    "tasks": len({r["task"] for r in chosen}),
                    "samples": len(chosen),
                    "verdicts": dict(sorted(Counter(r["verdict"] for r in chosen).items())),
                    "measures": {m: None if v is None else v.to_json() for m, v in values.items()},
                }
            )
    return {
        "about": about,
        "method": METHOD,
        "scores": sections,
        "tasks": [task_summary(e, [r for r in records if r["task"] == e.name]) for e in entries],
    }


def task_summary(entry: Entry, records: Sequence[Record]) -> dict[str, Any]:
    """One task: where it stands, how it is judged, what came of it."""
    return {
        "name": entry.name,
        "level": entry.level,
        "category": entry.category,
        "cases": entry.cases,
        "excluded": "" if entry.skip == NO_KERNEL_GIVEN else entry.skip,
        "source_sha256": hashlib.sha256(entry.task.source.encode()).hexdigest(),
        "samples": [{k: v for k, v in r.items() if k not in ("task", "kernel", "seconds", "seed")} for r in records],
    }


# ---------------------------------------------------------------- files


def write_files(run: RunDir, summary: dict[str, Any], records: Sequence[Record]) -> Path:
    """Write scores.json, scores.csv, samples.csv and report.html; returns the page."""
    write_atomically(run.path / "scores.json", json.dumps(summary, indent=1) + "\n")
    write_atomically(run.path / "scores.csv", scores_csv(summary))
    write_atomically(run.path / "samples.csv", samples_csv(summary))
    page = run.path / "report.html"
    write_atomically(page, html(summary, records, json.loads((run.path / "unmatched.json").read_text())))
    return page


def to_csv(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue()


def scores_csv(summary: dict[str, Any]) -> str:
    """One row per group and measure, each with what it refers to."""
    about = summary["about"]
    rows = []
    for s in summary["scores"]:
        for name, value in s["measures"].items():
            numbers = ["", "", ""] if value is None else [value["value"], value["low"], value["high"]]
            place = [about["set"], about["policy"], s["group"], s["name"], name]
            circumstances = [s["tasks"], s["samples"], about["cases"], about["device"], s["speed"]]
            rows.append([*place, *numbers, *circumstances])
    header = ["set", "policy", "group", "name", "measure", "value", "low", "high", "tasks", "samples"]
    return to_csv([*header, "cases", "device", "speed"], rows)


def samples_csv(summary: dict[str, Any]) -> str:
    """One row per sample, and one per task that has none."""
    about = summary["about"]
    header = ["set", "task", "level", "category", "sample", "verdict", "compiled", "speedup", "speed", "score"]
    rows = []
    for t in summary["tasks"]:
        place = [about["set"], t["name"], t["level"], t["category"]]
        for r in t["samples"]:
            speed = r["speedup"] or {"value": "", "kind": ""}
            result = [r["sample"], r["verdict"], int(r["compiled"]), speed["value"], speed["kind"], r["score"]]
            counts = [r["cases_passed"], r["cases_total"]]
            rows.append([*place, *result, *counts, t["cases"], about["device"], ""])
        if not t["samples"]:
            reason = t["excluded"] or NO_KERNEL_GIVEN
            rows.append([*place, "", "", "", "", "", "", "", "", t["cases"], about["device"], reason])
    return to_csv([*header, "cases_passed", "cases_total", "cases", "device", "left_out_because"], rows)


def fast_p_chart(sections: Sequence[dict[str, Any]], about: dict[str, Any]) -> str:
    """fast_p over p with its interval, of all tasks and of each level."""
    series = []
    for s in sections:
        if s["group"] == "category":
            continue
        points = [(p, s["measures"][f"fast_{p:g}"]) for p in FAST_P]
        known = [(p, v) for p, v in points if v is not None]
        x, y, low, high = (
            np.array(column, float)
            for column in zip(*((p, v["value"], v["low"], v["high"]) for p, v in known), strict=True)
        )
        bands = (low, high) if s["group"] == "all" else (None, None)
        label = f"{s['name']} ({s['speed']})" if s["group"] == "all" else f"level {s['name']} ({s['speed']})"
        series.append(Series(label, x, y, *bands))
    return line_chart(f"fast_p: share correct and faster than p ({about['speed']})", series, (0, 1))


def html(summary: dict[str, Any], records: Sequence[Record], unmatched: Sequence[str]) -> str:
    """The page; it needs no network."""
    from jinja2 import Environment, PackageLoader

    kernels: dict[str, list[Record]] = {}
    for record in records:
        kernels.setdefault(record["task"], []).append(record)
    environment = Environment(loader=PackageLoader("atrl_ms.evaluate"), autoescape=True, trim_blocks=True)
    return environment.get_template("evaluation.html").render(
        summary=summary,
        about=summary["about"],
        measures=list(summary["scores"][0]["measures"]),
        chart=fast_p_chart(summary["scores"], summary["about"]),
        records=kernels,
        unmatched=unmatched,
        cell=cell,
    )


def cell(name: str, value: dict[str, float] | None, plain: bool = False) -> str:
    """A value with its interval: percent for shares, a factor for speedups."""
    if value is None:
        return "-"
    interval = Interval(**value)
    if name.startswith("geometric"):
        return f"{interval.value:.2f}x" + ("" if plain else f" [{interval.low:.2f}, {interval.high:.2f}]")
    return f"{interval.value:.1%}" + ("" if plain else f" [{100 * interval.low:.0f}, {100 * interval.high:.0f}]")


def text(summary: dict[str, Any]) -> str:
    """The table to print."""
    about = summary["about"]
    lines = [
        f"set      {about['set']}: {about['tasks_scored']} tasks scored of {about['tasks_in_set']}"
        f" ({about['tasks_excluded']} excluded, {about['tasks_without_kernel']} without a kernel)",
        f"policy   {about['policy']}, {about['samples']} samples",
        f"cases    {about['cases']}",
        f"device   {about['device']}",
        f"speed    {about['speed']}",
        "",
    ]
    if about["infrastructure_faults"]:
        faults = about["infrastructure_faults"]
        lines.insert(-1, f"faults   {faults} samples met a fault of the machine: not scored, run with --resume")
    overall = [s for s in summary["scores"] if s["group"] == "all"]
    for s in overall:
        for name, value in s["measures"].items():
            timed = name.startswith(("fast_", "geometric"))
            lines.append(f"{name:<24}{cell(name, value):<26}{s['speed'] if timed else ''}".rstrip())
    others = [s for s in summary["scores"] if s["group"] != "all"]
    if others:
        columns = ["compile rate", "correct rate", "fast_1", "geometric mean speedup"]
        lines += ["", f"{'':<28}{'tasks':>6}" + "".join(f"{c.removesuffix(' speedup'):>16}" for c in columns)]
        for s in others:
            values = "".join(f"{cell(c, s['measures'][c], plain=True):>16}" for c in columns)
            lines.append(f"{s['group'] + ' ' + s['name']:<28}{s['tasks']:>6}{values}")
    verdicts = ", ".join(f"{v} {n}" for v, n in overall[0]["verdicts"].items())
    return "\n".join([*lines, "", f"verdicts: {verdicts}", summary["method"]])


# ---------------------------------------------------------------- two evaluations


def read_summary(path: Path) -> dict[str, Any]:
    """scores.json of a finished evaluation.

    Raises:
        UserError: not one.
    """
    file = path / "scores.json"
    try:
        data = json.loads(file.read_text())
        data["about"]["set"], data["tasks"], data["scores"]
        return data
    except OSError:
        raise UserError(f"{path}: not a finished evaluation (no readable scores.json); give a run directory") from None
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{file}: not the scores of an evaluation ({error!r})") from None


def compare_runs(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Paired differences on tasks whose text is the same in both.

    Raises:
        UserError: different sets, devices' kinds of time, or no task in common.
    """
    a, b = first["about"], second["about"]
    for key in ("set", "tolerance"):
        if a[key] != b[key]:
            raise UserError(f"--compare: the evaluations differ in their {key}: {a[key]} and {b[key]}")
    texts = [{t["name"]: t["source_sha256"] for t in side["tasks"] if t["samples"]} for side in (first, second)]
    same = {name for name, text in texts[0].items() if texts[1].get(name) == text}
    sides = [
        [{"task": t["name"], **r} for t in side["tasks"] if t["name"] in same for r in t["samples"]]
        for side in (first, second)
    ]
    if not all(scored(side) for side in sides):
        raise UserError("--compare: no task was judged in both with the same text")
    kinds = [{r["speedup"]["kind"] for r in side if r["speedup"]} for side in sides]
    shared_kind = sorted(kinds[0] & kinds[1])
    kind = shared_kind[0] if len(shared_kind) == 1 and kinds[0] == kinds[1] else None
    smallest = min(min(Counter(r["task"] for r in side).values()) for side in sides)
    named = [{n for s in side["scores"] for n in s["measures"] if n.startswith("pass@")} for side in (first, second)]
    ks = sorted(int(n.removeprefix("pass@")) for n in named[0] & named[1])
    found = compare(scored(sides[0], kind), scored(sides[1], kind), [k for k in ks if k <= smallest], a["seed"])
    if kind is None:
        found = {name: value for name, value in found.items() if not name.startswith(("fast_", "geometric"))}
    return {
        "a": a,
        "b": b,
        "tasks": len({r["task"] for r in sides[0]} & {r["task"] for r in sides[1]}),
        "only_in_one": len(set(texts[0]) ^ set(texts[1])),
        "changed_text": len({n for n in set(texts[0]) & set(texts[1]) if texts[0][n] != texts[1][n]}),
        "speed": kind or "not compared: one side is measured, the other modelled, or neither has a time",
        "method": METHOD.replace("bootstrap over tasks", "bootstrap over tasks, the same for both"),
        "differences": {name: difference_json(value) for name, value in found.items()},
    }


def difference_json(d: Difference) -> dict[str, Any]:
    return {"a": d.a, "b": d.b, "ratio": d.ratio, "change": None if d.change is None else d.change.to_json()}


def comparison_text(result: dict[str, Any]) -> str:
    """The table of a comparison."""
    lines = [
        f"A  {result['a']['policy']}",
        f"B  {result['b']['policy']}",
        f"set {result['a']['set']}: {result['tasks']} tasks in both, {result['only_in_one']} in one only, "
        f"{result['changed_text']} with another text left out; speed {result['speed']}",
        "",
        f"{'':<24}{'A':>10}{'B':>10}   B - A [95 % interval]; B / A for the geometric mean",
    ]
    for name, d in result["differences"].items():
        change = d["change"]
        if d["ratio"]:
            a, b = ("-" if v is None else f"{v:.2f}x" for v in (d["a"], d["b"]))
            told = "-" if change is None else f"{change['value']:.2f} [{change['low']:.2f}, {change['high']:.2f}]"
        else:
            a, b = ("-" if v is None else f"{v:.1%}" for v in (d["a"], d["b"]))
            points = {k: 100 * v for k, v in (change or {}).items()}
            told = f"{points['value']:+.1f} points [{points['low']:+.1f}, {points['high']:+.1f}]" if change else "-"
        lines.append(f"{name:<24}{a:>10}{b:>10}   {told}")
    return "\n".join([*lines, "", result["method"]])
