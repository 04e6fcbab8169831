"""`atrl report`: one HTML file with curves, counts and every session, readable without a network.

Runs that differ only in their seed form an arm; curves show an arm's mean with a 95 % interval over its seeds
(Student's t). Sessions are embedded compressed, in chunks that the page unpacks when one of them is opened.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from atrl_ms.errors import UserError
from atrl_ms.evaluate.charts import Series, line_chart, stacked_chart
from atrl_ms.evaluate.metrics import mean_interval
from atrl_ms.evaluate.sessions import read_records
from atrl_ms.evaluate.summary import training_totals
from atrl_ms.train.metrics import read_metrics
from atrl_ms.train.run_dir import RunDir
from atrl_ms.types import Finish

CHUNK = 40  # sessions compressed together: opening one unpacks one chunk
VERDICT_ORDER = ("pass", "wrong_output", "runtime_error", "crash", "timeout", "compile_error", "static_error", "cheat")
PHASES = ("sample", "write", "update", "weights")

Record = dict[str, Any]


@dataclass
class Run:
    """What a report needs of one run."""

    directory: RunDir
    config: dict[str, Any]
    records: list[Record]
    evaluation: dict[str, Any] | None

    @property
    def label(self) -> str:
        return self.directory.path.name


@dataclass
class Arm:
    """Runs of one configuration with different seeds."""

    label: str
    runs: list[Run]


def load_run(path: str | Path) -> Run:
    """Read a run directory.

    Raises:
        UserError: not a run directory, or nothing to report yet.
    """
    directory = RunDir.open(path)
    records = read_metrics(directory.metrics_file)
    if not records:
        raise UserError(f"{path}: no finished step yet (metrics.jsonl is empty)")
    evaluation = directory.path / "evaluation.json"
    return Run(
        directory,
        directory.config().model_dump(),
        records,
        json.loads(evaluation.read_text()) if evaluation.is_file() else None,
    )


def group_into_arms(runs: Sequence[Run]) -> list[Arm]:
    """Runs whose configurations are equal but for seed, name, output directory and length."""
    arms: dict[str, Arm] = {}
    for run in runs:
        same = {k: v for k, v in run.config.items() if k not in ("seed", "name", "output_dir")}
        same = {**same, "train": {k: v for k, v in same["train"].items() if k != "steps"}}
        key = json.dumps(same, sort_keys=True, default=str)
        arms.setdefault(key, Arm(run.config["name"], [])).runs.append(run)
    labels = [arm.label for arm in arms.values()]
    for i, arm in enumerate(arms.values()):
        if labels.count(arm.label) > 1:
            arm.label = f"{arm.label} ({arm.runs[0].config['algo']['advantage']}, arm {i + 1})"
    return list(arms.values())


# ---------------------------------------------------------------- curves


def value_at(record: Record, key: str) -> float | None:
    """The number at a dotted key, None where the record has none."""
    node: Any = record
    for part in key.split("."):
        if not isinstance(node, dict) or part not in node:
            return None
        node = node[part]
    return float(node) if isinstance(node, int | float) and math.isfinite(node) else None


def arm_series(arm: Arm, read: Callable[[Record], float | None]) -> Series:
    """Mean over an arm's runs at every step that at least one of them has, with an interval for two or more."""
    by_step: dict[int, list[float]] = {}
    for run in arm.runs:
        for record in run.records:
            value = read(record)
            if value is not None:
                by_step.setdefault(record["step"], []).append(value)
    steps = sorted(by_step)
    intervals = [mean_interval(by_step[step]) for step in steps]
    several = len(arm.runs) > 1
    label = arm.label + (f" ({len(arm.runs)} seeds)" if several else "")
    columns = {name: np.array([getattr(i, name) for i in intervals]) for name in ("value", "low", "high")}
    return Series(
        label,
        np.array(steps, float),
        columns["value"],
        columns["low"] if several else None,
        columns["high"] if several else None,
    )


def curve(title: str, arms: Sequence[Arm], key: str, bounds: tuple[float, float] | None = None) -> str:
    """One chart with one curve per arm."""
    return line_chart(title, [arm_series(arm, lambda record: value_at(record, key)) for arm in arms], bounds)


def shares(arm: Arm, title: str, names: Sequence[str], read: Callable[[Record], dict[str, float]], share: bool) -> str:
    """A stacked chart of an arm: counts summed over its runs, as shares of their total if asked for."""
    totals: dict[int, dict[str, float]] = {}
    for run in arm.runs:
        for record in run.records:
            row = totals.setdefault(record["step"], dict.fromkeys(names, 0.0))
            for name, value in read(record).items():
                row[name if name in row else names[-1]] += value
    steps = np.array(sorted(totals), float)
    series = []
    for name in names:
        values = np.array([totals[int(s)][name] for s in steps])
        whole = np.array([max(1e-9, sum(totals[int(s)].values())) for s in steps])
        if values.any():
            series.append(Series(name, steps, values / whole if share else values / len(arm.runs)))
    return stacked_chart(f"{title}: {arm.label}", series)


def chart_sections(arms: Sequence[Arm]) -> list[tuple[str, list[str]]]:
    """All charts as (heading, figures)."""
    names = (*VERDICT_ORDER, "format and other")
    verdicts = [shares(a, "verdicts", names, lambda r: r.get("verdicts", {}), True) for a in arms]
    finishes = [shares(a, "how sessions end", get_args(Finish), lambda r: r.get("finish", {}), True) for a in arms]
    phases = [shares(a, "seconds by phase", PHASES, lambda r: r.get("seconds", {}), False) for a in arms]
    kinds = {kind for a in arms for run in a.runs for r in run.records for kind in r.get("speedup_kinds", {})}
    fast = [curve(f"share with {' or '.join(sorted(kinds))} speedup above 1", arms, "fast_1", (0, 1))] if kinds else []
    return [
        (
            "Learning (training sessions)",
            [curve("solve rate", arms, "solve_rate", (0, 1)), curve("mean score", arms, "mean_score", (0, 1)), *fast],
        ),
        ("Verdicts", verdicts + finishes),
        (
            "Compaction",
            [
                curve("compactions per step", arms, "compactions"),
                curve("of these with valid notes", arms, "compaction_notes_valid"),
                curve("longest context (tokens)", arms, "max_context"),
            ],
        ),
        (
            "Advantages and ratios",
            [
                curve("standard deviation of advantages", arms, "advantage.std"),
                curve("groups with variance", arms, "groups.trained"),
                curve("ratio pi / pi_old", arms, "ratio"),
                curve("clipped tokens (share)", arms, "clipped"),
                curve("importance weight pi_old / mu", arms, "tis"),
                curve("|log pi_old - log mu|", arms, "mismatch"),
                curve("entropy (nats per token)", arms, "entropy"),
                curve("gradient norm", arms, "grad_norm"),
                curve("learning rate", arms, "lr"),
            ],
        ),
        ("Throughput", [*phases, curve("sampled tokens per second of sampling", arms, "tokens_per_s")]),
    ]


# ---------------------------------------------------------------- sessions


def compact(record: Record) -> Record:
    """What the viewer shows of a session."""
    turns = []
    for event in record["evaluations"]:
        feedback = event["feedback"] or {}
        turns.append(
            {
                "turn": event["turn"],
                "segment": event["segment"],
                "verdict": event["verdict"],
                "score": event["score"],
                "kernel": event["candidate"],
                "feedback": feedback.get("feedback", ""),
                "speedup": feedback.get("speedup"),
            }
        )
    segments = [segment.get("text", "") for segment in record["segments"]]
    return {"turns": turns, "compactions": record["compactions"], "segments": segments, "seed": record["seed"]}


def session_files(run: Run) -> Iterator[tuple[str, Path]]:
    """(when, file) in the order in which they were played."""
    before, after = (run.directory.evaluation_sessions(when) for when in ("before", "after"))
    steps = [(str(r["step"]), run.directory.step_sessions(r["step"])) for r in run.records]
    for when, path in [("before", before), *steps, ("after", after)]:
        if path.is_file():
            yield when, path


def embed_sessions(runs: Sequence[Run], limit: int) -> tuple[list[list[Any]], list[str], int]:
    """Index rows, compressed chunks, and how many sessions were left out.

    A row is [run, when, task, score, finish, verdict of the best kernel, evaluations, compactions].
    If there are more than `limit` sessions every k-th is kept.
    """
    total = sum(1 for run in runs for _, path in session_files(run) for _ in path.open())
    keep_every = max(1, -(-total // limit))
    index: list[list[Any]] = []
    chunks: list[str] = []
    pending: list[Record] = []
    number = 0

    def close() -> None:
        text = json.dumps(pending, separators=(",", ":")).encode()
        chunks.append(base64.b64encode(gzip.compress(text, mtime=0)).decode())
        pending.clear()

    for r, run in enumerate(runs):
        for when, path in session_files(run):
            for record in read_records(path):
                number += 1
                if (number - 1) % keep_every:
                    continue
                events = record["evaluations"]
                best = max(events, key=lambda e: e["score"], default={"verdict": "none"})
                index.append(
                    [
                        r,
                        when,
                        record["task"],
                        round(record["reward"], 4),
                        record["finish"],
                        best["verdict"],
                        len(events),
                        len(record["compactions"]),
                    ]
                )
                pending.append(compact(record))
                if len(pending) == CHUNK:
                    close()
    if pending:
        close()
    return index, chunks, total - len(index)


# ---------------------------------------------------------------- the page


def script_json(value: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def write_report(paths: Sequence[str | Path], output: Path, session_limit: int = 10_000) -> Path:
    """Write the report of one or more runs; returns the file."""
    from jinja2 import Environment, PackageLoader

    runs = [load_run(path) for path in paths]
    arms = group_into_arms(runs)
    index, chunks, left_out = embed_sessions(runs, session_limit)
    template = Environment(loader=PackageLoader("atrl_ms.evaluate"), autoescape=True).get_template("report.html")
    page = template.render(
        runs=runs,
        arms=arms,
        totals=[training_totals(run.records) for run in runs],
        sections=[(heading, [figure for figure in figures if figure]) for heading, figures in chart_sections(arms)],
        index=script_json(index),
        chunks=chunks,
        chunk_size=CHUNK,
        labels=script_json([run.label for run in runs]),
        left_out=left_out,
        session_count=len(index),
    )
    temporary = output.with_name(output.name + ".tmp")
    temporary.write_text(page)
    temporary.replace(output)
    return output
