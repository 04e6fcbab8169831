"""From `tasks.*` of a configuration to the tasks that are evaluated."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

from atrl_ms.config import TasksConfig
from atrl_ms.errors import UserError
from sandbox.benchmarks.entry import Entry
from sandbox.suite import held_out_tasks, train_tasks


def builtin_entries(config: TasksConfig) -> list[Entry]:
    """Variants of the built-in suite; the category is the operator."""
    tasks = []
    if config.split in ("train", "all"):
        tasks += train_tasks(config.families)
    if config.split in ("held_out", "all"):
        tasks += held_out_tasks(config.families)
    return [Entry(task, category=task.family) for task in tasks]


def narrow(entries: Sequence[Entry], config: TasksConfig) -> list[Entry]:
    """Apply tasks.levels, tasks.select and tasks.limit.

    Raises:
        UserError: nothing is left; the message says what there is.
    """
    kept = list(entries)
    if config.levels:
        known = sorted({entry.level for entry in kept})
        kept = [entry for entry in kept if entry.level in config.levels]
        if not kept:
            raise UserError(
                f"tasks.levels (--level): no task of level {', '.join(config.levels)}; there are {', '.join(known)}"
            )
    for pattern in config.select:
        if not any(fnmatch.fnmatchcase(entry.name, pattern) for entry in kept):
            examples = ", ".join(entry.name for entry in kept[:3])
            raise UserError(f"tasks.select (--only): no task matches {pattern!r}; names are like {examples}")
    if config.select:
        kept = [e for e in kept if any(fnmatch.fnmatchcase(e.name, pattern) for pattern in config.select)]
    if config.limit and len(kept) > config.limit:
        # Spread over the set, which is ordered by level and category.
        kept = [kept[i * len(kept) // config.limit] for i in range(config.limit)]
    return kept
