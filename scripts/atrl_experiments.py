"""The comparisons of docs/experiments.md: arms x seeds of one configuration at an equal budget of sampled tokens.

Tables: advantage (atrl, grpo, rloo, discounted), compaction (hybrid, none, truncate, facts), aggregation (token-mean,
segment mean), summaries (trained, masked). The first arm of every table is the configuration itself. Every run is an
ordinary `atrl train` in a process of its own, in OUT/runs; the evaluation before training is played once per seed and
shared by the arms that play the same sessions. A run that was stopped goes on from its last checkpoint.

    python scripts/atrl_experiments.py configs/quickstart.yaml --out runs/atrl_table --seeds 0 1 2
    python scripts/atrl_experiments.py configs/quickstart.yaml --out runs/atrl_table --table
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

from atrl_ms.evaluate.metrics import Interval, clustered, fast_1, mean_interval, score, solved, statistics
from atrl_ms.evaluate.sessions import read_sessions
from atrl_ms.train.metrics import read_metrics
from atrl_ms.types import Session

BASE = "atrl"
ARMS: dict[str, list[str]] = {
    BASE: [],
    "grpo": ["algo.advantage=grpo"],
    "rloo": ["algo.advantage=rloo"],
    "discounted": ["algo.advantage=discounted"],
    "none": ["agent.compaction=none"],
    "truncate": ["agent.compaction=truncate"],
    "facts": ["agent.compaction=facts"],
    "segment-mean": ["algo.aggregation=seq-mean-token-mean"],
    "summaries-masked": ["algo.train_summaries=false"],
}
TABLES: dict[str, tuple[str, ...]] = {
    "advantage": (BASE, "grpo", "rloo", "discounted"),
    "compaction": (BASE, "none", "truncate", "facts"),
    "aggregation": (BASE, "segment-mean"),
    "summaries": (BASE, "summaries-masked"),
}


def run_arm(config: str, arm: str, seed: int, token_budget: int, out: Path) -> None:
    """One run to its end, or nothing if it is there."""
    run = existing(out, arm, seed)
    if run is None:
        overrides = [f"train.token_budget={token_budget}", f"seed={seed}", f"name={arm}.{seed}"]
        overrides += [*ARMS[arm], f"output_dir={out / 'runs'}"]
        run = prepared(config, overrides, shared_evaluation(arm, seed, out))
    if (run / "evaluation.json").is_file():
        return
    command = [sys.executable, "-m", "atrl_ms.cli", "train", "--resume", str(run)]
    log = out / f"{arm}.{seed}.log"
    print(f"{arm} seed {seed}: {log}", flush=True)
    with log.open("a") as file:
        subprocess.run(command, stdout=file, stderr=file, check=True)


def prepared(config: str, overrides: list[str], before: Path | None) -> Path:
    """A new run directory, with the evaluation before training if it was played already."""
    from atrl_ms.config import load_config
    from atrl_ms.train.run_dir import RunDir

    run = RunDir.create(load_config(config, overrides))
    if before is not None:
        shutil.copyfile(before, run.evaluation_sessions("before"))
    return run.path


def existing(out: Path, arm: str, seed: int) -> Path | None:
    """The run directory of an arm and seed."""
    found = sorted((out / "runs").glob(f"{arm}.{seed}-*"))
    return found[-1] if found else None


def shared_evaluation(arm: str, seed: int, out: Path) -> Path | None:
    """Sessions before training of the base arm; arms with another compaction play other sessions."""
    if any(key.startswith("agent.") for key in ARMS[arm]):
        return None
    run = existing(out, BASE, seed)
    path = run / "sessions" / "evaluation_before.jsonl" if run else None
    return path if path is not None and path.is_file() else None


MEASURES = {"solve rate": solved, "fast_1": fast_1, "mean score": score}


def table(out: Path, arms: tuple[str, ...], seeds: list[int]) -> str:
    """Means over seeds with Student intervals, and the difference to the first arm.

    The difference's interval is a bootstrap over held-out tasks with the sessions of all seeds of a task together;
    beside it stand the differences of the single seeds.
    """
    runs: dict[str, dict[int, Path]] = {}
    for arm in arms:
        found = {seed: existing(out, arm, seed) for seed in seeds}
        runs[arm] = {seed: run for seed, run in found.items() if run and (run / "evaluation.json").is_file()}
    after = {arm: {s: sessions(run, "after") for s, run in by_seed.items()} for arm, by_seed in runs.items()}
    columns = ["arm", "seeds", *MEASURES, "tokens per solved", "training tokens", "compactions a session"]
    head = f"| {' | '.join(columns)} |"
    lines = [head, "|" + "---|" * (head.count("|") - 1)]
    for arm in arms:
        if not after[arm]:
            continue
        cells = [arm, str(len(after[arm]))]
        for value in MEASURES.values():
            cells.append(shown(mean_interval([float(np.mean([value(x) for x in v])) for v in after[arm].values()])))
        described = statistics([x for v in after[arm].values() for x in v])
        spent = [sum(r["sampled_tokens"] for r in read_metrics(run / "metrics.jsonl")) for run in runs[arm].values()]
        cells.append("-" if described["tokens_per_solved"] is None else f"{described['tokens_per_solved']:.0f}")
        cells += [f"{np.mean(spent):.0f}", f"{described['compactions'] / described['sessions']:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    lines.append("")
    first = arms[0]
    for arm in arms[1:]:
        common = sorted(set(after[first]) & set(after[arm]))
        if not common:
            continue
        ours = [x for s in common for x in after[first][s]]
        theirs = [x for s in common for x in after[arm][s]]
        for name, value in MEASURES.items():
            single = [
                float(np.mean([value(x) for x in after[first][s]]) - np.mean([value(x) for x in after[arm][s]]))
                for s in common
            ]
            seeds_text = ", ".join(f"{d:+.3f}" for d in single)
            lines.append(f"- {first} minus {arm}, {name}: {shown(clustered(theirs, ours, value))}; seeds {seeds_text}")
    return "\n".join(lines)


def sessions(run: Path, when: str) -> list[Session]:
    """Held-out sessions of a run without infrastructure faults."""
    played = read_sessions(run / "sessions" / f"evaluation_{when}.jsonl")
    return [s for s in played if s.finish != "infrastructure"]


def shown(x: Interval) -> str:
    return f"{x.value:.3f} [{x.low:.3f}, {x.high:.3f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--token-budget", type=int, default=40_000, help="sampled tokens of a run")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--table", action="store_true", help="print the tables of what is there and run nothing")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    if not args.table:
        arms = list(dict.fromkeys(arm for name in args.tables for arm in TABLES[name]))
        for seed in args.seeds:  # seed by seed, so that a stopped script leaves whole comparisons
            for arm in arms:
                run_arm(args.config, arm, seed, args.token_budget, args.out)
    for name in args.tables:
        print(f"\n### {name}\n\n{table(args.out, TABLES[name], args.seeds)}")


if __name__ == "__main__":
    main()
