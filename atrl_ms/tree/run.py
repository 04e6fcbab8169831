"""`atrl train` with `algorithm: tree_opo`: which trainer runs, and on what."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

from atrl_ms.algos.sae_values import NodeStatistics
from atrl_ms.config import Config
from atrl_ms.errors import UserError
from atrl_ms.train.rl import Parts
from atrl_ms.train.run_dir import RunDir
from atrl_ms.types import Session

STATISTICS_FILE = "node_statistics.json"


def train_tree(config: Config, run: RunDir, progress: bool = True) -> tuple[list[Session], list[Session]]:
    """Train on prefixes of a teacher's search, or on sessions that branch; held-out sessions before and after."""
    statistics = NodeStatistics(decay=config.tree.decay)
    if config.tree.source == "kernels":
        from atrl_ms.train.parts import build_parts
        from atrl_ms.tree.branch_trainer import BranchTrainer

        with build_parts(config, run) as parts:
            trainer = BranchTrainer(config, run, with_statistics(parts, statistics), statistics, progress)
            return asyncio.run(trainer.run())

    from atrl_ms.tree.parts import build_reasoning_parts, build_trees
    from atrl_ms.tree.trainer import ReasoningTrainer

    directory = Path(config.tree.directory) if config.tree.directory else run.path / "tree"
    trees = build_trees(config, directory, progress)
    with build_reasoning_parts(config) as parts:
        kept = with_statistics(parts, statistics)
        return asyncio.run(ReasoningTrainer(config, run, kept, trees, statistics, progress).run())


def with_statistics(parts: Parts, statistics: NodeStatistics) -> Parts:
    """The same parts, the node statistics travelling with the checkpoints: a resumed run continues exactly."""

    def save_policy(target: Path) -> None:
        parts.save_policy(target)
        (target / STATISTICS_FILE).write_text(json.dumps(statistics.to_json()))

    def load_policy(source: Path) -> None:
        parts.load_policy(source)
        path = source / STATISTICS_FILE
        try:
            statistics.restore(json.loads(path.read_text()))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path}: damaged checkpoint ({error!r}); remove it to use the one before") from error

    return replace(parts, save_policy=save_policy, load_policy=load_policy)
