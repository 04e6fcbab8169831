"""Time of staged advantages' quadratic program against SciPy's SLSQP, on the same problems in the same process.

Problems: N completions of prefixes sampled from random search trees (depth <= 5, branching <= 5, one tree for every
32 completions), success more likely the deeper the prefix; binary rewards, or graded ones in steps of 0.05.
Times are CPU times of this process by default, so that other load on the machine does not count (`--clock wall` for
elapsed time); set OMP_NUM_THREADS=1. Ours is given twice: the program alone, and everything (edges from node paths,
merging, program). SLSQP gets the sample-level constraints with analytic gradients, as one would write it down; it
starts at the mean-centred rewards and must reach a feasible point.

    python scripts/bench_sae.py --sizes 64 256 1024 --repeats 20 --json bench.json
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import minimize

from atrl_ms.algos.sae import SaeSettings, staged_advantages
from atrl_ms.algos.sae_edges import NodePath, OrderGraph, order_graph
from atrl_ms.algos.sae_qp import solve

SUCCESS = 0.8


def random_batch(size: int, graded: bool, rng: np.random.Generator) -> tuple[list[NodePath], np.ndarray]:
    """N paths and rewards over random trees."""
    nodes: list[NodePath] = []
    for problem in range(max(1, size // 32)):
        tree: list[NodePath] = [(problem,)]
        while len(tree) < 32:
            parent = tree[rng.integers(len(tree))]
            children = sum(1 for node in tree if node[:-1] == parent)
            if len(parent) <= 5 and children < 5:
                tree.append((*parent, children))
        nodes.extend(tree)
    paths = [nodes[k] for k in rng.integers(len(nodes), size=size)]
    chance = np.array([0.1 + 0.13 * (len(p) - 1) for p in paths])
    if graded:
        return paths, np.round(20 * rng.beta(4 * chance, 4 * (1 - chance))) / 20
    return paths, (rng.random(size) < chance).astype(float)


def slsqp(r0: np.ndarray, edges: np.ndarray, delta: float, form: str) -> Any:
    """The same program for SciPy's SLSQP."""
    size = len(r0)
    matrix = np.zeros((len(edges), size))
    matrix[np.arange(len(edges)), edges[:, 1]] = 1.0
    matrix[np.arange(len(edges)), edges[:, 0]] = -1.0
    constraints = [
        {"type": "eq", "fun": lambda a: a.sum(), "jac": lambda a: np.ones(size)},
        {"type": "ineq", "fun": lambda a: matrix @ a - delta, "jac": lambda a: matrix},
        {"type": "eq" if form == "hard" else "ineq", "fun": lambda a: size - a @ a, "jac": lambda a: -2 * a},
    ]
    start = r0 if form == "soft" else r0 / r0.std()
    options = {"ftol": 1e-12, "maxiter": 200}
    return minimize(
        lambda a: 0.5 * ((a - r0) ** 2).sum(),
        start,
        jac=lambda a: a - r0,
        constraints=constraints,
        method="SLSQP",
        options=options,
    )


CLOCKS = {"cpu": time.process_time, "wall": time.perf_counter}


def timed(function: Callable[[], Any], clock: str = "cpu") -> tuple[Any, float]:
    """Result and milliseconds."""
    now = CLOCKS[clock]
    start = now()
    result = function()
    return result, 1e3 * (now() - start)


def bench(
    size: int, graded: bool, form: str, delta: float, repeats: int, slsqp_repeats: int, clock: str
) -> dict[str, Any]:
    """Median times over `repeats` random problems; SLSQP runs on the first `slsqp_repeats` of them."""
    rng = np.random.default_rng(size)
    settings = SaeSettings(estimator=form, delta=delta, success=SUCCESS)  # type: ignore[arg-type]
    program, everything, reference, gap, edge_count, failures = [], [], [], [], [], 0
    for repeat in range(repeats):
        paths, rewards = random_batch(size, graded, rng)
        graph: OrderGraph = order_graph(paths, rewards, success=SUCCESS)
        centred = np.bincount(graph.classes, rewards) / graph.sizes - rewards.mean()
        args = (centred, graph.sizes, graph.edges)
        program.append(timed(partial(solve, *args, form=settings.estimator, delta=delta), clock)[1])  # type: ignore[arg-type]
        result, milliseconds = timed(partial(staged_advantages, paths, rewards, settings), clock)
        failures += result.failed
        everything.append(milliseconds)
        edges = graph.sample_edges()
        edge_count.append(len(edges))
        if repeat < slsqp_repeats:
            theirs, milliseconds = timed(partial(slsqp, rewards - rewards.mean(), edges, delta, form), clock)
            reference.append(milliseconds)
            if theirs.success:
                gap.append(float(np.abs(theirs.x - result.advantages).max()))
    row: dict[str, Any] = {
        "N": size,
        "rewards": "graded" if graded else "binary",
        "form": form,
        "delta": delta,
        "clock": clock,
        "edges": int(np.median(edge_count)),
        "program_ms": float(np.median(program)),
        "everything_ms": float(np.median(everything)),
        "failures": failures,
        "problems": repeats,
    }
    if reference:
        row["slsqp_ms"] = float(np.median(reference))
        row["slsqp_problems"] = len(reference)
        row["slsqp_converged"] = len(gap)
        row["times_faster"] = row["slsqp_ms"] / row["everything_ms"]
        row["largest_difference"] = max(gap, default=float("nan"))
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[64, 256, 1024])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--slsqp-repeats", type=int, default=3, help="problems that SLSQP solves too")
    parser.add_argument("--slsqp-limit", type=int, default=256, help="largest N for more than one SLSQP run")
    parser.add_argument("--delta", type=float, default=0.01)
    parser.add_argument("--clock", choices=CLOCKS, default="cpu")
    parser.add_argument("--json", help="file for the rows")
    args = parser.parse_args()
    rows = []
    print("    N  rewards  form   edges  program ms  everything ms   SLSQP ms  faster  largest difference")
    for size in args.sizes:
        for graded in (False, True):
            for form in ("soft", "hard"):
                runs = args.slsqp_repeats if size <= args.slsqp_limit else min(1, args.slsqp_repeats)
                row = bench(size, graded, form, args.delta, args.repeats, runs, args.clock)
                rows.append(row)
                print(
                    f"{size:5d}  {row['rewards']:7s}  {form:5s} {row['edges']:6d} {row['program_ms']:11.2f}"
                    f" {row['everything_ms']:14.2f} {row.get('slsqp_ms', float('nan')):10.1f}"
                    f" {row.get('times_faster', float('nan')):6.0f}x  {row.get('largest_difference', float('nan')):.1e}"
                    f" ({row.get('slsqp_converged', 0)}/{row.get('slsqp_problems', 0)} converged)",
                    flush=True,
                )
    if args.json:
        with open(args.json, "w") as file:
            json.dump(rows, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
