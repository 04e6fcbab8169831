"""`algorithm: tree_opo` on reasoning problems: the RL loop of atrl_ms/train/rl.py with other groups and other credit.

    before:  the teacher searches every training problem (mcts.py), unless the search is already there
    step:    problems -> prefixes of their trees (curriculum.py) -> one completion each -> verifier -> staged credit

Everything else (updates, checkpoints, resume, metrics, evaluation files) is the common trainer's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
from tqdm import tqdm

from atrl_ms.algos.advantages import GroupCredit, group_credit
from atrl_ms.algos.sae_values import NodeStatistics
from atrl_ms.config import Config
from atrl_ms.evaluate.sessions import read_sessions, write_sessions
from atrl_ms.train.ahead import Ahead
from atrl_ms.train.rl import Parts, Trainer
from atrl_ms.train.rollouts import EVALUATE, TRAIN, TaskSampler, derive_seed
from atrl_ms.train.run_dir import RunDir
from atrl_ms.tree.completions import ProblemJudge, complete
from atrl_ms.tree.curriculum import draw_prefixes
from atrl_ms.tree.prefix_tree import PrefixTree
from atrl_ms.tree.staged import StagedCredit, StagedGroup, describe_staged, staged_credit
from atrl_ms.types import Group, Session, Task


class StagedTrainer(Trainer):
    """The common loop with staged credit; subclasses say how groups are played."""

    def __init__(
        self, config: Config, run: RunDir, parts: Parts, statistics: NodeStatistics, progress: bool = True
    ) -> None:
        super().__init__(config, run, parts, progress)
        self.statistics = statistics
        self.credited: dict[int, GroupCredit] = {}  # by identity of the group, for the step at hand

    async def step(self, step: int, ahead: Ahead, sampler: TaskSampler, bar: tqdm) -> dict[str, Any]:
        """The common step, plus what the estimator reports."""
        self.credited.clear()
        record = await super().step(step, ahead, sampler, bar)
        staged = [c for c in self.credited.values() if isinstance(c, StagedCredit)]
        return {**record, **({"staged": describe_staged(staged)} if staged else {})}

    def credit(self, group: Group) -> GroupCredit:
        """Staged credit, computed once per group: it updates the running statistics."""
        if id(group) not in self.credited:
            if isinstance(group, StagedGroup) and self.config.tree.estimator != "group":
                credit: GroupCredit = staged_credit(group, self.config.tree, self.config.algo, self.statistics)
            else:
                credit = group_credit(group, self.config.algo)
            self.credited[id(group)] = credit
        return self.credited[id(group)]


class ReasoningTrainer(StagedTrainer):
    """Groups are prefixes of the teacher's trees."""

    def __init__(
        self,
        config: Config,
        run: RunDir,
        parts: Parts,
        trees: dict[str, PrefixTree],
        statistics: NodeStatistics,
        progress: bool = True,
    ) -> None:
        super().__init__(config, run, parts, statistics, progress)
        self.trees = trees
        self.longest = min(config.tree.window, longest_prefix(trees, parts) + config.tree.max_new_tokens)

    async def play_groups(self, step: int, first: int, tasks: Sequence[Task], bar: tqdm) -> list[Group]:
        """One group of prefixes for each problem; all completions run side by side."""
        config, tree = self.config, self.config.tree
        plans: list[tuple[Task, tuple[int, ...], int]] = []
        for g, task in enumerate(tasks):
            rng = np.random.default_rng(derive_seed(config.seed, TRAIN, step, first + g))
            paths = draw_prefixes(
                self.trees[task.name],
                config.train.group_size,
                kind=tree.prefixes,
                progress=(step - 1) / max(1, config.train.steps - 1),
                value=lambda path, name=task.name: self.statistics.value((name, *path)),  # type: ignore[misc]
                rng=rng,
                root_fraction=tree.root_fraction,
                depth_bias=tree.depth_bias,
            )
            plans += [(task, path, derive_seed(config.seed, TRAIN, step, first + g, m)) for m, path in enumerate(paths)]
        bar.set_description(f"step {step}: {len(plans)} completions")
        temperature = config.engine.temperature
        sessions = await asyncio.gather(
            *(self.complete(task, self.trees[task.name].prefix(path), seed, temperature) for task, path, seed in plans)
        )
        groups: list[Group] = []
        size = config.train.group_size
        for g, task in enumerate(tasks):
            part = slice(g * size, (g + 1) * size)
            node_paths = [(task.name, *path) for _, path, _ in plans[part]]
            groups.append(StagedGroup(task.name, list(sessions[part]), node_paths))
        return groups

    async def complete(self, task: Task, prefix: list[int], seed: int, temperature: float) -> Session:
        """One completion of `prefix` as a session of one segment."""
        judge = self.parts.judge
        assert isinstance(judge, ProblemJudge)
        config = self.config
        return await complete(
            task,
            prefix,
            seed,
            engine=self.parts.engine,
            tokenizer=self.parts.tokenizer,
            judge=judge,
            temperature=temperature,
            top_p=config.engine.top_p,
            top_k=config.engine.top_k,
            max_new_tokens=config.tree.max_new_tokens,
            window=config.tree.window,
        )

    async def evaluation(self, when: str) -> list[Session]:
        """One completion of each held-out problem, `eval.sessions` in all; read back after a kill."""
        path = self.run_dir.evaluation_sessions(when)
        if path.is_file():
            return read_sessions(path)
        tasks = self.parts.held_out_tasks
        jobs = [(tasks[k % len(tasks)], derive_seed(0, EVALUATE, k)) for k in range(self.config.eval.sessions)]
        sessions = await asyncio.gather(
            *(self.complete(task, [], seed, self.config.eval.temperature) for task, seed in jobs)
        )
        write_sessions(path, sessions, self.parts.tokenizer)
        return sessions


def longest_prefix(trees: dict[str, PrefixTree], parts: Parts) -> int:
    """Tokens of the longest prompt with a prefix that a completion may follow."""
    sources = {task.name: task.source for task in (*parts.train_tasks, *parts.held_out_tasks)}
    prompts = {name: len(parts.tokenizer.encode(source)) for name, source in sources.items()}
    prefixes = (
        prompts[name] + len(tree.prefix(node.path))
        for name, tree in trees.items()
        for node in tree.nodes()
        if not node.terminal
    )
    return max(*prompts.values(), *prefixes)
