"""`algorithm: tree_opo` on kernels: the common RL loop on groups of sessions that branch (branching.py)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from tqdm import tqdm

from atrl_ms.algos.sae_edges import NodePath
from atrl_ms.train.rollouts import TRAIN, Job, derive_seed, play_through_outages
from atrl_ms.tree.branching import Branch, BranchingEngine, RecordedJudge, boundaries, freeze
from atrl_ms.tree.staged import StagedGroup
from atrl_ms.tree.trainer import StagedTrainer
from atrl_ms.types import Group, Session, Task


class BranchTrainer(StagedTrainer):
    """The common loop; a group is `root_fraction` fresh sessions, the others branch off these."""

    async def play_groups(self, step: int, first: int, tasks: Sequence[Task], bar: tqdm) -> list[Group]:
        config = self.config
        size = config.train.group_size
        roots = min(size, max(1, math.ceil(config.tree.root_fraction * size)))
        arena = self.arena(config.engine.temperature)
        judge = RecordedJudge(arena.judge)
        engine = BranchingEngine(arena.engine)
        arena = replace(arena, engine=engine, judge=judge)

        def seed(group: int, member: int) -> int:
            return derive_seed(config.seed, TRAIN, step, first + group, member)

        async def play(jobs: list[Job], what: str) -> list[Session]:
            bar.set_description(f"step {step}: {len(jobs)} {what}")
            return await play_through_outages(jobs, arena, lambda session: None, config.train.outage_seconds)

        fresh = await play([Job(t, seed(g, m)) for g, t in enumerate(tasks) for m in range(roots)], "sessions")
        for session in fresh:
            judge.remember(session)
        jobs: list[Job] = []
        plans: list[Branch | None] = []
        for g, task in enumerate(tasks):
            origins = fresh[g * roots : (g + 1) * roots]
            places = [b for number, session in enumerate(origins) for b in boundaries(session, number)]
            rng = np.random.default_rng(seed(g, size))
            for member in range(roots, size):
                # Without a boundary (every session ended at its first evaluation) the member starts afresh.
                branch = places[rng.integers(len(places))] if places else None
                job = Job(task, seed(g, member))
                if branch is not None:
                    engine.continue_from(branch, job.seed)
                jobs.append(job)
                plans.append(branch)
        played = await play(jobs, "branches") if jobs else []
        branched = [s if b is None else freeze(s, b) for s, b in zip(played, plans, strict=True)]
        groups: list[Group] = []
        rest = size - roots
        for g, task in enumerate(tasks):
            own, own_plans = branched[g * rest : (g + 1) * rest], plans[g * rest : (g + 1) * rest]
            paths: list[NodePath] = [(task.name,)] * roots + [(task.name,) if b is None else b.path for b in own_plans]
            groups.append(StagedGroup(task.name, [*fresh[g * roots : (g + 1) * roots], *own], paths))
        return groups
