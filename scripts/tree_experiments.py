"""The table of the Tree-OPO paper in small: arms x seeds on one teacher search, with equal budgets of sampled tokens.

Arms: sft (teacher's successful traces), grpo (groups from the prompt), and prefix groups with each staged estimator.
Per arm and seed, one line in results.jsonl: held-out accuracy before and after, constraints met, variance of the
advantages over the run, and tokens trained on. Gradient variance is measured once per estimator at the start weights:
the trace of the covariance of the policy gradient over repeated groups, on the SAME completions for all estimators, so
that only the estimator differs; it is given relative to `flat` and also after scaling to equal mean gradient norm.

    python scripts/tree_experiments.py configs/tree_opo_reasoning.yaml --out runs/tree_table --seeds 0 1 2
    python scripts/tree_experiments.py --table runs/tree_table

A finished (arm, seed) is not run again, so the script can be stopped and started.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from atrl_ms.algos.aggregation import count_trained
from atrl_ms.algos.losses import PolicyLoss
from atrl_ms.algos.sae import gradient_variance
from atrl_ms.algos.sae_values import NodeStatistics
from atrl_ms.config import Config, apply_override, load_config, validate
from atrl_ms.evaluate.metrics import mean_interval, sampled
from atrl_ms.train.batching import make_micro_batches
from atrl_ms.train.metrics import read_metrics
from atrl_ms.train.rl import Parts
from atrl_ms.train.run_dir import RunDir
from atrl_ms.tree.mcts import SearchDirectory
from atrl_ms.tree.parts import build_reasoning_parts, build_trees
from atrl_ms.tree.prefix_tree import PrefixTree
from atrl_ms.tree.run import with_statistics
from atrl_ms.tree.staged import StagedGroup, staged_credit
from atrl_ms.tree.supervised import Pair, fine_tune
from atrl_ms.tree.trainer import ReasoningTrainer
from atrl_ms.types import Session

ESTIMATORS = ("flat", "trace", "expectation", "optimistic", "pessimistic", "hard", "soft", "penalty")
ARMS = ("sft", "grpo", *ESTIMATORS)


def arm_config(base: Config, arm: str, seed: int, out: Path) -> Config:
    """The base configuration with one arm's method."""
    data = base.model_dump()
    overrides = [f"seed={seed}", f"name={arm}-{seed}", f"output_dir={out / 'runs'}", f"tree.directory={out / 'tree'}"]
    if arm == "grpo":
        overrides += ["tree.prefixes=root", "tree.estimator=group", "algo.advantage=grpo"]
    elif arm in ESTIMATORS:
        overrides += [f"tree.estimator={arm}"]
    for item in overrides:
        apply_override(data, item)
    return validate(data, f"arm {arm}")


def accuracy(sessions: list[Session]) -> float:
    return float(np.mean([s.solved for s in sessions]))


def run_arm(base: Config, arm: str, seed: int, out: Path, token_budget: int | None) -> dict[str, Any]:
    """Train one arm; `token_budget` is that of sft."""
    config = arm_config(base, arm, seed, out)
    trees = build_trees(config, out / "tree", progress=False)
    statistics = NodeStatistics(decay=config.tree.decay)
    run = RunDir.create(config)
    started = time.monotonic()
    with build_reasoning_parts(config) as parts:
        trainer = ReasoningTrainer(config, run, with_statistics(parts, statistics), trees, statistics, progress=False)
        if arm == "sft":
            before = asyncio.run(trainer.evaluation("before"))
            tokens = train_on_traces(config, parts, out / "tree", token_budget or 0)
            asyncio.run(trainer.parts.engine.update_weights(1))
            after = asyncio.run(trainer.evaluation("after"))
            staged: list[dict[str, float]] = []
        else:
            before, after = asyncio.run(trainer.run())
            records = read_metrics(run.metrics_file)
            tokens = sum(r["sampled_tokens"] for r in records)
            staged = [r["staged"] for r in records if "staged" in r]
    return {
        "arm": arm,
        "seed": seed,
        "before": accuracy(before),
        "after": accuracy(after),
        "problems": len(after),
        "tokens": tokens,
        "mean_completion": float(np.mean([sampled(s) for s in after])),
        "constraints_met": float(np.mean([s["constraints_met"] for s in staged])) if staged else None,
        "advantage_variance": float(np.mean([s["advantage_variance"] for s in staged])) if staged else None,
        "qp_failures": sum(s["qp_failures"] for s in staged),
        "seconds": round(time.monotonic() - started, 1),
        "run": str(run.path),
    }


def train_on_traces(config: Config, parts: Parts, directory: Path, token_budget: int) -> int:
    """Supervised training on the teacher's successful traces until `token_budget` completion tokens are used."""
    files = SearchDirectory(directory)
    tokenizer, settings = files.tokenizer(), files.read_settings()
    done = files.read_rollouts()
    pairs: list[Pair] = []
    for problem in files.read_problems():
        tree = settings.tree(tokenizer)
        for _, rollout in sorted(done.get(problem.name, {}).items()):
            prefix = tree.prefix(rollout.path)
            if rollout.reward == 1.0:
                pairs.append((tokenizer.encode(problem.prompt), [*prefix, *rollout.tokens]))
            tree.add(rollout, selected=False)
    unique = [([*p], [*c]) for p, c in dict.fromkeys((tuple(p), tuple(c)) for p, c in pairs)]
    batch = config.train.groups_per_step * config.train.group_size
    mean_tokens = np.mean([len(c) for _, c in unique])
    return fine_tune(
        parts.learner,  # type: ignore[arg-type]
        unique,
        steps=max(1, round(token_budget / (batch * mean_tokens))),
        batch=batch,
        lr=config.train.lr,
        warmup=config.train.warmup_steps,
        pad_id=tokenizer.pad_id,
        seed=config.seed,
    )


# ---------------------------------------------------------------- gradient variance


def measure_gradients(base: Config, out: Path, repeats: int) -> dict[str, dict[str, float]]:
    """Gradient variance of every estimator at the start weights, on common completions."""
    config = arm_config(base, "flat", 0, out)
    trees = build_trees(config, out / "tree", progress=False)
    with build_reasoning_parts(config) as parts:
        statistics = NodeStatistics(decay=1.0)
        trainer = ReasoningTrainer(config, RunDir.create(config), parts, trees, statistics, progress=False)
        batches = [asyncio.run(play(trainer, trees, step)) for step in range(1, 2 * repeats + 1)]
        for groups in batches[:repeats]:  # the running values of `expectation` learn from groups of their own
            for group in groups:
                statistics.update(group.paths, np.array([s.reward for s in group.sessions]))
        loss = PolicyLoss(config.algo, on_policy=True)
        results = {}
        for estimator in ESTIMATORS:
            tree = config.tree.model_copy(update={"estimator": estimator})
            gradients = []
            for groups in batches[repeats:]:
                kept = NodeStatistics()
                kept.restore(json.loads(json.dumps(statistics.to_json())))
                credits = [c for g in groups for c in staged_credit(g, tree, config.algo, kept).credits]
                gradients.append(gradient(config, parts, loss, credits))
            stacked = np.stack(gradients)
            norm = float(np.linalg.norm(stacked.mean(axis=0)))
            variance = gradient_variance(stacked)
            results[estimator] = {"variance": variance, "mean_norm": norm, "relative_noise": variance / norm**2}
    return results


async def play(trainer: ReasoningTrainer, trees: dict[str, PrefixTree], step: int) -> list[StagedGroup]:
    """Groups of one step, without training."""
    from tqdm import tqdm

    rng = np.random.default_rng([7, step])
    tasks = [trainer.parts.train_tasks[k] for k in rng.integers(len(trees), size=trainer.config.train.groups_per_step)]
    with tqdm(disable=True) as bar:
        groups = await trainer.play_groups(step, 0, tasks, bar)
    return [g for g in groups if isinstance(g, StagedGroup)]


def gradient(config: Config, parts: Parts, loss: PolicyLoss, credits: list[Any]) -> np.ndarray:
    """The policy gradient of one batch as a vector; the learner's accumulator is left empty."""
    counts = count_trained([c.trained for c in credits])
    batches = make_micro_batches(credits, config.algo, config.train.micro_batch_tokens, parts.tokenizer.pad_id, counts)
    learner: Any = parts.learner
    for batch in batches:
        learner.accumulate(batch.columns(), loss)
    vector = np.concatenate([total.asnumpy().ravel().copy() for total in learner.sums])
    for total in learner.sums:
        total.set_data(total * 0.0)
    return vector


# ---------------------------------------------------------------- the table


def table(out: Path) -> str:
    """Markdown: mean over seeds with Student's t interval."""
    rows = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    path = out / "gradients.json"
    gradients = json.loads(path.read_text()) if path.is_file() else {}
    lines = [
        "| arm | seeds | held-out accuracy after | gain (95 % over seeds) | constraints met | advantage variance "
        "| gradient variance / flat | noise / flat |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for arm in ARMS:
        mine = [r for r in rows if r["arm"] == arm]
        if not mine:
            continue
        gain = mean_interval([100 * (r["after"] - r["before"]) for r in mine])
        after = 100 * np.mean([r["after"] for r in mine])
        cells = [arm, str(len(mine)), f"{after:.1f} %", f"{gain.value:+.1f} [{gain.low:+.1f}, {gain.high:+.1f}]"]
        met = [r["constraints_met"] for r in mine if r["constraints_met"] is not None]
        cells.append(f"{100 * np.mean(met):.1f} %" if met else "-")
        variances = [r["advantage_variance"] for r in mine if r["advantage_variance"] is not None]
        cells.append(f"{np.mean(variances):.4f}" if variances else "-")
        if arm in gradients:
            ratio = [gradients[arm][k] / gradients["flat"][k] for k in ("variance", "relative_noise")]
            cells += [f"{ratio[0]:.3f}", f"{ratio[1]:.3f}"]
        else:
            cells += ["-", "-"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", nargs="?")
    parser.add_argument("--out", type=Path, default=Path("runs/tree_table"))
    parser.add_argument("--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=["grpo", *ESTIMATORS, "sft"])
    parser.add_argument("--gradient-repeats", type=int, default=16, help="0 leaves the gradient variance out")
    parser.add_argument("--table", type=Path, metavar="DIR", help="only print the table of DIR")
    args = parser.parse_args()
    if args.table:
        print(table(args.table))
        return 0
    if not args.config:
        parser.error("give a configuration, or --table DIR")
    base = load_config(args.config, args.set)
    args.out.mkdir(parents=True, exist_ok=True)
    build_trees(arm_config(base, "flat", 0, args.out), args.out / "tree")
    if args.gradient_repeats and not (args.out / "gradients.json").is_file():
        measured = measure_gradients(base, args.out, args.gradient_repeats)
        (args.out / "gradients.json").write_text(json.dumps(measured, indent=1))
    results = args.out / "results.jsonl"
    for seed in args.seeds:
        for arm in args.arms:
            rows = [json.loads(line) for line in results.read_text().splitlines()] if results.is_file() else []
            if any(r["arm"] == arm and r["seed"] == seed for r in rows):
                continue
            budgets = [r["tokens"] for r in rows if r["arm"] == "grpo"]
            if arm == "sft" and not budgets:
                print("sft needs a grpo run first: it gets the same number of tokens", file=sys.stderr)
                continue
            row = run_arm(base, arm, seed, args.out, int(np.mean(budgets)) if budgets else None)
            with open(results, "a") as file:
                file.write(json.dumps(row) + "\n")
            print(f"{arm} seed {seed}: {row['before']:.1%} -> {row['after']:.1%} ({row['seconds']:.0f} s)", flush=True)
    print(table(args.out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
