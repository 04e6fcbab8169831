"""Staged advantage estimation (SAE, Tree-OPO): advantages of completions that start at different prefixes.

    flat                                           A = r - mean(r)
    trace, expectation, optimistic, pessimistic    a' = r - alpha V(p),  A = a' - mean(a')      (sae_values)
    soft, hard, penalty                            projection of r - mean(r) on the tree's order (sae_edges, sae_qp)

With `target="expectation"` the programs project the expectation heuristic in place of r - mean(r): the order is met and
the prefix's value is a baseline as well (our extension; the paper projects the rewards).

There is no division by the standard deviation. When the program of soft, hard or penalty cannot be solved, the
expectation heuristic is used and `failed` is set, so that a trainer can count it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from atrl_ms.algos.sae_edges import NodePath, OrderGraph, order_graph
from atrl_ms.algos.sae_qp import QpFailure, solve
from atrl_ms.algos.sae_values import ValueKind, batch_values

Estimator = Literal["flat", "trace", "expectation", "optimistic", "pessimistic", "soft", "hard", "penalty"]
Target = Literal["reward", "expectation"]
ESTIMATORS: tuple[str, ...] = get_args(Estimator)


@dataclass(frozen=True)
class SaeSettings:
    """Parameters of the estimators.

    Attributes:
        alpha: weight of V(p) in the heuristics.
        delta: margin of every order constraint.
        eta: a pair constraint needs r_j - r_i > eta.
        success: reward from which a completion counts as a success in triplet constraints.
        penalty_c: weight of the penalty form.
        target: what soft, hard and penalty project: centred rewards, or the expectation heuristic.
    """

    estimator: Estimator = "expectation"
    alpha: float = 0.5
    delta: float = 0.01
    eta: float = 0.0
    success: float = 1.0
    penalty_c: float = 1.0
    target: Target = "reward"
    pairs: bool = True
    triplets: bool = True


@dataclass(frozen=True)
class StagedAdvantages:
    """Result for one group.

    Attributes:
        advantages: (N,) float64, sum 0.
        graph: the order constraints of the group, whichever estimator was used.
        met: share of these constraints that the advantages meet.
        failed: the program had no solution and the expectation heuristic was used.
        skipped: the group carries no direction (all advantages 0).
    """

    advantages: np.ndarray
    graph: OrderGraph
    met: float
    failed: bool = False
    skipped: bool = False


def staged_advantages(
    paths: Sequence[NodePath],
    rewards: np.ndarray,
    settings: SaeSettings = SaeSettings(),
    *,
    values: np.ndarray | None = None,
    graph: OrderGraph | None = None,
) -> StagedAdvantages:
    """Advantages of one group of completions.

    Args:
        paths: N node paths (problem first).
        rewards: (N,) in [0, 1].
        values: (N,) V(p) from running statistics for `expectation` (estimator or target), equal within a class; the
            batch's own values when None.
        graph: constraints to use instead of the tree's pair and triplet edges; samples of one class share a reward.
    """
    rewards = np.asarray(rewards, dtype=np.float64)
    if rewards.shape != (len(paths),) or not len(paths):
        raise ValueError(f"need one reward per path and at least one, got {rewards.shape} and {len(paths)} paths")
    if not np.isfinite(rewards).all():
        raise ValueError("rewards must be finite")
    if graph is None:
        graph = order_graph(
            paths,
            rewards,
            eta=settings.eta,
            success=settings.success,
            pairs=settings.pairs,
            triplets=settings.triplets,
        )
    failed = skipped = False
    if settings.estimator == "flat":
        advantages = rewards - rewards.mean()
    elif settings.estimator in ("soft", "hard", "penalty"):
        try:
            target = rewards - rewards.mean()
            if settings.target == "expectation":
                target = _heuristic(paths, rewards, settings.alpha, "expectation", values)
            advantages, skipped = _constrained(target, graph, settings)
        except QpFailure:
            failed = True
            advantages = _heuristic(paths, rewards, settings.alpha, "expectation", values)
    else:
        advantages = _heuristic(paths, rewards, settings.alpha, settings.estimator, values)  # type: ignore[arg-type]
    return StagedAdvantages(advantages, graph, graph.fraction_met(advantages, settings.delta), failed, skipped)


def _heuristic(
    paths: Sequence[NodePath], rewards: np.ndarray, alpha: float, kind: ValueKind, values: np.ndarray | None
) -> np.ndarray:
    if values is None or kind != "expectation":
        values = batch_values(paths, rewards, kind)
    advantages = rewards - alpha * values
    return advantages - advantages.mean()


def _constrained(target: np.ndarray, graph: OrderGraph, settings: SaeSettings) -> tuple[np.ndarray, bool]:
    if graph.has_cycle():
        raise QpFailure("the order constraints contradict each other")
    solution = solve(
        np.bincount(graph.classes, target) / graph.sizes,
        graph.sizes,
        graph.edges,
        form=settings.estimator,  # type: ignore[arg-type]
        delta=settings.delta,
        c=settings.penalty_c,
    )
    advantages = solution.advantages[graph.classes]
    return advantages - advantages.mean(), solution.skipped  # the mean is rounding error only
