"""The table of the Tree-OPO paper in small: arms x seeds on one teacher search, with equal budgets of sampled tokens.

Arms: prefix groups with each staged estimator, grpo (groups from the prompt, until it has sampled as many tokens as
`flat`) and sft (as many tokens of the teacher's successful traces). Every (arm, seed) starts from the student's weights
and adds one line to results.jsonl: held-out accuracy before and after, order constraints met, variance of the
advantages over the run, tokens. A finished one is not run again, so the script can be stopped and started.

Gradient variance (gradients.json) is the trace of the covariance of the policy gradient over repeated steps (fresh
problems, prefixes and completions) at the start weights. All estimators see the SAME completions, so their ratio to
`flat` has a paired bootstrap interval over the steps. "noise" is the variance over the squared norm of the mean
gradient: it does not change when an estimator only scales its advantages.

    python scripts/tree_experiments.py configs/tree_opo_reasoning.yaml --out runs/tree_table --seeds 0 1 2
    python scripts/tree_experiments.py --table runs/tree_table
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from mindspore import ops
from tqdm import tqdm

from atrl_ms.algos.advantages import Credit
from atrl_ms.algos.gradient_noise import gradient_spread
from atrl_ms.algos.losses import PolicyLoss
from atrl_ms.algos.sae_values import NodeStatistics
from atrl_ms.config import Config, apply_override, load_config, validate
from atrl_ms.evaluate.metrics import clustered, mean_interval, solved
from atrl_ms.train.batching import make_micro_batches
from atrl_ms.train.learner import Learner
from atrl_ms.train.metrics import read_metrics
from atrl_ms.train.rl import Parts
from atrl_ms.train.run_dir import RunDir
from atrl_ms.tree.mcts import SearchDirectory
from atrl_ms.tree.parts import build_reasoning_parts, build_trees
from atrl_ms.tree.run import with_statistics
from atrl_ms.tree.staged import StagedGroup, staged_credit
from atrl_ms.tree.supervised import Pair, fine_tune
from atrl_ms.tree.trainer import ReasoningTrainer
from atrl_ms.types import Session

ESTIMATORS = ("flat", "expectation", "optimistic", "pessimistic", "hard", "soft")
ARMS = ("flat", "expectation", "soft", "grpo", "sft", "hard", "optimistic", "pessimistic")
GRADIENTS: dict[str, dict[str, Any]] = {  # what is measured: changes of the configuration's `tree` section
    **{name: {"estimator": name} for name in ESTIMATORS},
    "expectation, alpha 1": {"estimator": "expectation", "alpha": 1.0},
    "soft, margin 0.1": {"estimator": "soft", "delta": 0.1},
    "soft of expectation": {"estimator": "soft", "target": "expectation"},
}
RESAMPLES = 2000


def arm_config(base: Config, arm: str, seed: int, out: Path, token_budget: int = 0) -> Config:
    """The base configuration with one arm's method; `token_budget` ends the arms without prefixes."""
    data = base.model_dump()
    overrides = [f"seed={seed}", f"name={arm}-{seed}", f"output_dir={out / 'runs'}", f"tree.directory={out / 'tree'}"]
    if arm == "grpo":
        overrides += ["tree.prefixes=root", "tree.estimator=group", "algo.advantage=grpo"]
        overrides += [f"train.token_budget={token_budget}", f"train.steps={10 * base.train.steps}"]
    elif arm in ESTIMATORS:
        overrides += [f"tree.estimator={arm}"]
    for item in overrides:
        apply_override(data, item)
    return validate(data, f"arm {arm}")


class Bench:
    """What all arms share: trees, policy, compiled steps, and the evaluation of the start weights."""

    def __init__(self, base: Config, out: Path, parts: Parts) -> None:
        self.base, self.out, self.parts = base, out, parts
        config = arm_config(base, "flat", 0, out)
        self.trees = build_trees(config, out / "tree", progress=False)
        self.optimizer = {k: v.copy() for k, v in parts.learner.state_dict().items()}
        self.loss = PolicyLoss(config.algo, on_policy=True)  # the same in all arms: one compilation
        self.before = out / "before.jsonl"

    def start(self, config: Config) -> ReasoningTrainer:
        """A trainer at the start weights."""
        self.parts.load_policy(config.policy.directory)
        self.parts.learner.load_state_dict(self.optimizer)
        asyncio.run(self.parts.engine.update_weights(0))
        statistics = NodeStatistics(decay=config.tree.decay)
        run = RunDir.create(config)
        if self.before.is_file():
            run.evaluation_sessions("before").parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.before, run.evaluation_sessions("before"))
        parts = with_statistics(self.parts, statistics)
        trainer = ReasoningTrainer(config, run, parts, self.trees, statistics, progress=False)
        trainer.loss_first = self.loss
        return trainer


def accuracy(sessions: list[Session]) -> float:
    return float(np.mean([s.solved for s in sessions]))


def run_arm(bench: Bench, arm: str, seed: int, token_budget: int) -> dict[str, Any]:
    """Train one arm; `token_budget` is that of grpo and sft."""
    config = arm_config(bench.base, arm, seed, bench.out, token_budget)
    started = time.monotonic()
    trainer = bench.start(config)
    staged: list[dict[str, float]] = []
    if arm == "sft":
        before = asyncio.run(trainer.evaluation("before"))
        tokens = train_on_traces(config, bench.parts, bench.out / "tree", token_budget)
        asyncio.run(bench.parts.engine.update_weights(1))
        after = asyncio.run(trainer.evaluation("after"))
    else:
        before, after = asyncio.run(trainer.run())
        records = read_metrics(trainer.run_dir.metrics_file)
        tokens = sum(r["sampled_tokens"] for r in records)
        staged = [r["staged"] for r in records if "staged" in r]
    if not bench.before.is_file():
        shutil.copyfile(trainer.run_dir.evaluation_sessions("before"), bench.before)
    change = clustered(before, after, solved)
    return {
        "arm": arm,
        "seed": seed,
        "before": accuracy(before),
        "after": accuracy(after),
        "gain_interval": [change.low, change.high],
        "sessions": len(after),
        "tokens": tokens,
        "constraints_met": float(np.mean([s["constraints_met"] for s in staged])) if staged else None,
        "groups_with_constraints": float(np.mean([s["groups_with_constraints"] for s in staged])) if staged else None,
        "advantage_variance": float(np.mean([s["advantage_variance"] for s in staged])) if staged else None,
        "qp_failures": sum(s["qp_failures"] for s in staged),
        "seconds": round(time.monotonic() - started, 1),
    }


def train_on_traces(config: Config, parts: Parts, directory: Path, token_budget: int) -> int:
    """Supervised training on the teacher's successful traces until `token_budget` completion tokens are used."""
    files = SearchDirectory(directory)
    tokenizer, settings = files.tokenizer(), files.read_settings()
    done = files.read_rollouts()
    pairs: list[Pair] = []
    for problem in files.read_problems():
        tree = settings.tree(problem, tokenizer)
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


def measure_gradients(bench: Bench, repeats: int) -> dict[str, dict[str, Any]]:
    """Gradient variance of every estimator at the start weights, on common completions."""
    config = arm_config(bench.base, "flat", 0, bench.out)
    trainer = bench.start(config)
    batches = [asyncio.run(play(trainer, step)) for step in range(1, 2 * repeats + 1)]
    statistics = NodeStatistics()
    for groups in batches[:repeats]:  # the running values of `expectation` learn from groups of their own
        for group in groups:
            statistics.update(group.paths, np.array([s.reward for s in group.sessions]))
    known = statistics.to_json()
    products = {}  # estimator -> (R, R) inner products of the gradients of its R steps
    met = {}
    for name, changes in GRADIENTS.items():
        tree = config.tree.model_copy(update=changes)
        gradients, shares = [], []
        for groups in batches[repeats:]:
            fresh = NodeStatistics()
            fresh.restore(known)
            credited = [staged_credit(group, tree, config.algo, fresh) for group in groups]
            gradients.append(gradient(trainer, bench, [c for g in credited for c in g.credits]))
            shares += [g.met for g in credited if g.constraints]
        stacked = np.stack(gradients).astype(np.float64)
        products[name], met[name] = stacked @ stacked.T, float(np.mean(shares or [1.0]))
        print(f"gradients of {name}: {gradient_spread(products[name])[0]:.4g}", flush=True)
    draws = np.random.default_rng(0).multinomial(repeats, np.full(repeats, 1 / repeats), size=RESAMPLES)
    draws = draws[(draws > 0).sum(axis=1) > 1]  # one step alone has no spread
    results = {}
    for name, product in products.items():
        row: dict[str, Any] = {"steps": repeats, "constraints_met": met[name]}
        for k, measure in enumerate(("variance", "noise")):
            row[measure] = gradient_spread(product)[k]
            row[f"{measure}_ratio"] = row[measure] / gradient_spread(products["flat"])[k]
            ratios = [gradient_spread(product, d)[k] / gradient_spread(products["flat"], d)[k] for d in draws]
            row[f"{measure}_ratio_interval"] = np.quantile(ratios, [0.025, 0.975]).tolist()
        results[name] = row
    return results


async def play(trainer: ReasoningTrainer, step: int) -> list[StagedGroup]:
    """Groups of one step, without training."""
    rng = np.random.default_rng([7, step])
    tasks = trainer.parts.train_tasks
    drawn = [tasks[k] for k in rng.integers(len(tasks), size=trainer.config.train.groups_per_step)]
    with tqdm(disable=True) as bar:
        groups = await trainer.play_groups(step, 0, drawn, bar)
    return [g for g in groups if isinstance(g, StagedGroup)]


def gradient(trainer: ReasoningTrainer, bench: Bench, credits: list[Credit]) -> np.ndarray:
    """The policy gradient of one step as a vector; the learner's accumulator is left empty."""
    config, learner = trainer.config, bench.parts.learner
    assert isinstance(learner, Learner)
    batches = make_micro_batches(
        credits, config.algo, config.train.micro_batch_tokens, trainer.longest, bench.parts.tokenizer.pad_id
    )
    for batch in batches:
        learner.accumulate(batch.columns(), bench.loss)
    vector = np.concatenate([total.asnumpy().ravel() for total in learner.sums])
    for total in learner.sums:
        ops.assign(total, ops.zeros_like(total))  # in place: compiled graphs do not follow set_data
    return vector


# ---------------------------------------------------------------- the table


def table(out: Path) -> str:
    """Markdown: means over seeds with Student's t interval, then gradients."""
    path = out / "results.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []
    lines = [
        "| arm | seeds | held-out accuracy | gain, points (95 % over seeds) | constraints met | advantage variance "
        "| tokens |",
        "|---|---|---|---|---|---|---|",
    ]
    for arm in ARMS:
        mine = [r for r in rows if r["arm"] == arm]
        if not mine:
            continue
        gain = mean_interval([100 * (r["after"] - r["before"]) for r in mine])
        met = [r["constraints_met"] for r in mine if r["constraints_met"] is not None]
        variances = [r["advantage_variance"] for r in mine if r["advantage_variance"] is not None]
        cells = [
            arm,
            str(len(mine)),
            f"{100 * np.mean([r['after'] for r in mine]):.1f} %",
            f"{gain.value:+.1f} [{gain.low:+.1f}, {gain.high:+.1f}]",
            f"{100 * np.mean(met):.1f} %" if met else "-",
            f"{np.mean(variances):.3f}" if variances else "-",
            f"{np.mean([r['tokens'] for r in mine]):.0f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    path = out / "gradients.json"
    if path.is_file():
        lines += [
            "",
            "| estimator | gradient variance / flat [95 %] | noise / flat [95 %] | constraints met |",
            "|---|---|---|---|",
        ]
        for name, row in json.loads(path.read_text()).items():
            cells = [name]
            for measure in ("variance", "noise"):
                low, high = row[f"{measure}_ratio_interval"]
                cells.append(f"{row[f'{measure}_ratio']:.3f} [{low:.3f}, {high:.3f}]")
            lines.append("| " + " | ".join([*cells, f"{100 * row['constraints_met']:.1f} %"]) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", nargs="?")
    parser.add_argument("--out", type=Path, default=Path("runs/tree_table"))
    parser.add_argument("--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=list(ARMS))
    parser.add_argument("--gradient-repeats", type=int, default=20, help="steps; 0 leaves the gradient variance out")
    parser.add_argument("--table", type=Path, metavar="DIR", help="only print the table of DIR")
    args = parser.parse_args()
    if args.table:
        print(table(args.table))
        return 0
    if not args.config:
        parser.error("give a configuration, or --table DIR")
    base = load_config(args.config, args.set)
    args.out.mkdir(parents=True, exist_ok=True)
    results = args.out / "results.jsonl"
    with build_reasoning_parts(arm_config(base, "flat", 0, args.out)) as parts:
        bench = Bench(base, args.out, parts)
        if args.gradient_repeats and not (args.out / "gradients.json").is_file():
            measured = measure_gradients(bench, args.gradient_repeats)
            (args.out / "gradients.json").write_text(json.dumps(measured, indent=1) + "\n")
        for seed in args.seeds:
            for arm in args.arms:
                rows = [json.loads(line) for line in results.read_text().splitlines()] if results.is_file() else []
                if any(r["arm"] == arm and r["seed"] == seed for r in rows):
                    continue
                budgets = [r["tokens"] for r in rows if r["arm"] == "flat" and r["seed"] == seed]
                if arm in ("grpo", "sft") and not budgets:
                    print(f"{arm} seed {seed} gets as many tokens as flat: run that first", file=sys.stderr)
                    continue
                row = run_arm(bench, arm, seed, budgets[0] if budgets else 0)
                with open(results, "a") as file:
                    file.write(json.dumps(row) + "\n")
                change = f"{row['before']:.1%} -> {row['after']:.1%}"
                print(f"{arm} seed {seed}: {change} ({row['seconds']:.0f} s)", flush=True)
    print(table(args.out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
