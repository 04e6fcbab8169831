"""Groups whose members start at different nodes of a tree, and their credit by staged advantages.

One rule for both uses: reasoning completions (node = prefix of the teacher's tree) and agent sessions (node = state at
an evaluation or compaction boundary). Every trained token of a member gets the member's advantage.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from atrl_ms.algos.advantages import Credit, GroupCredit, is_valid, training_mask
from atrl_ms.algos.sae import SaeSettings, staged_advantages
from atrl_ms.algos.sae_edges import NodePath
from atrl_ms.algos.sae_values import NodeStatistics
from atrl_ms.config import AlgoConfig, TreeConfig
from atrl_ms.types import Group


@dataclass
class StagedGroup(Group):
    """A group with the node path of every member, the task's name first."""

    paths: list[NodePath] = field(default_factory=list)


@dataclass
class StagedCredit(GroupCredit):
    """Credits with what the estimator reports."""

    met: float = 1.0  # share of the tree's order constraints that the advantages meet
    constraints: int = 0
    failed: bool = False
    skipped: bool = False
    advantage_variance: float = 0.0


def sae_settings(tree: TreeConfig) -> SaeSettings:
    """The estimator's parameters from the configuration."""
    if tree.estimator == "group":
        raise ValueError("the estimator 'group' has no staged advantages")
    return SaeSettings(tree.estimator, tree.alpha, tree.delta, tree.eta, tree.success, tree.penalty_c, tree.target)


def staged_credit(group: StagedGroup, tree: TreeConfig, algo: AlgoConfig, statistics: NodeStatistics) -> StagedCredit:
    """Credit of a group; its valid members are counted in `statistics` first (their own reward is left out again)."""
    valid = [k for k, session in enumerate(group.sessions) if is_valid(session)]
    rewards = np.array([group.sessions[k].reward for k in valid])
    paths = [group.paths[k] for k in valid]
    values = np.zeros(len(group.sessions))
    result = None
    if valid:
        statistics.update(paths, rewards)
        running = statistics.leave_one_out(paths, rewards) if tree.online else None
        result = staged_advantages(paths, rewards, sae_settings(tree), values=running)
        values[valid] = result.advantages
    credits = []
    for k, session in enumerate(group.sessions):
        trained = [training_mask(session, s, algo) for s in range(len(session.segments))]
        credits.append(Credit(session, [np.where(t, values[k], 0.0) for t in trained], trained))
    credit = StagedCredit(group.task, credits, rewards)
    if result is not None:
        credit.met, credit.failed, credit.skipped = result.met, result.failed, result.skipped
        credit.constraints = len(result.graph.edges)
        credit.advantage_variance = float(result.advantages.var())
    return credit


def describe_staged(credits: list[StagedCredit]) -> dict[str, float]:
    """Numbers for the step's record; constraints are averaged over the groups that have any."""
    constrained = [c.met for c in credits if c.constraints]
    return {
        "constraints_met": float(np.mean(constrained)) if constrained else 1.0,
        "groups_with_constraints": len(constrained),
        "advantage_variance": float(np.mean([c.advantage_variance for c in credits])) if credits else 0.0,
        "qp_failures": sum(c.failed for c in credits),
        "qp_skipped": sum(c.skipped for c in credits),
    }
