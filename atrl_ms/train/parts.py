"""From a configuration to what the RL loop drives: policy, learner, engine, sandbox, tasks."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from agent.knowledge import KnowledgeBase
from atrl_ms.config import Config
from atrl_ms.errors import UserError
from atrl_ms.evaluate.evaluation import find_entries, stored_entries
from atrl_ms.judges import open_pool
from atrl_ms.policy.policy import load_policy, restore_policy, save_policy
from atrl_ms.policy.tokenizer import load_tokenizer
from atrl_ms.policy.weights import load_checkpoint
from atrl_ms.rollout.engines import open_engine
from atrl_ms.train.exchange import share_tasks
from atrl_ms.train.learner import Learner
from atrl_ms.train.optim import OptimizerSettings
from atrl_ms.train.parallel import Ranks, local_device
from atrl_ms.train.rl import Parts
from atrl_ms.train.run_dir import RunDir
from atrl_ms.types import Task
from sandbox.suite import held_out_tasks, train_tasks

# What belongs to a policy beside its weights: its tokenizer, and the session (agent.yaml) it was trained in.
POLICY_FILES = ("tokenizer.model", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "agent.yaml")

HELD_OUT = 5  # every so many tasks of a benchmark are held out when it is trained on


def training_tasks(config: Config, run: RunDir) -> tuple[list[Task], list[Task]]:
    """(tasks to train on, tasks to evaluate on).

    The built-in suite has its own held-out variants. Of a benchmark or a directory every HELD_OUT-th usable task is
    held out; they are fitted once and kept in the run directory (tasks.json), so that a resumed run meets the same.

    Raises:
        UserError: no such set, or too few of its tasks can be used.
    """
    if config.tasks.suite == "builtin":
        return train_tasks(config.tasks.families), held_out_tasks(config.tasks.families)
    entries = stored_entries(run, lambda: find_entries(config, run, progress=True))
    tasks = [entry.task for entry in entries if not entry.skip]
    if len(tasks) < 2:
        reasons = "; ".join(sorted({entry.skip for entry in entries if entry.skip})[:3])
        raise UserError(
            f"tasks.suite {config.tasks.suite}: {len(tasks)} of {len(entries)} tasks can be used, training needs 2 "
            f"(one is held out){': ' + reasons if reasons else ''}"
        )
    held_out = [replace(task, held_out=True) for task in tasks[::HELD_OUT]]
    return [task for i, task in enumerate(tasks) if i % HELD_OUT], held_out


@contextmanager
def build_parts(config: Config, run: RunDir, ranks: Ranks | None = None) -> Iterator[Parts]:
    """Everything a run needs, for the time of the run; the sandbox's processes end with it.

    Args:
        ranks: the data parallel job this process belongs to; None for one process alone.

    Raises:
        UserError: a checkpoint, tokenizer or task set that cannot be used.
    """
    ranks = ranks or Ranks()
    if ranks.size > 1 and config.engine.kind != "native":
        raise UserError(f"engine.kind {config.engine.kind}: one process trains with a serving engine, not {ranks.size}")
    tasks, held_out = share_tasks(ranks, lambda: training_tasks(config, run))
    directory = config.policy.directory
    tokenizer = load_tokenizer(directory)
    model = load_policy(config.policy)
    model_config = model.config
    if tokenizer.vocab_size > model_config.vocab_size:
        raise UserError(
            f"{directory}: the tokenizer knows {tokenizer.vocab_size} pieces, the model {model_config.vocab_size}"
        )
    if config.agent.window > model_config.max_position_embeddings:
        raise UserError(
            f"agent.window {config.agent.window} exceeds the policy's {model_config.max_position_embeddings} positions"
        )
    temperature = config.engine.temperature
    if temperature <= 0:
        raise UserError("engine.temperature must be above 0 for training: a greedy policy has nothing to compare")
    learner = Learner(
        model,
        OptimizerSettings(
            kind=config.train.optimizer,
            weight_decay=config.train.weight_decay,
            max_grad_norm=config.train.max_grad_norm,
        ),
        reduce=ranks.reducer(),
        temperature=temperature,
        recompute=config.train.recompute,
    )
    reference = None
    if config.algo.kl_coef > 0:
        reference = Learner(load_checkpoint(directory)[0], temperature=temperature).logprobs

    def save(target: Path) -> None:
        save_policy(model, target)
        for name in POLICY_FILES:
            if (directory / name).is_file():
                shutil.copyfile(directory / name, target / name)

    pool = open_pool(config, [local_device()] if ranks.size > 1 else [])
    try:
        with open_engine(config.engine, model, config.agent.window, save) as engine:
            yield Parts(
                engine=engine,
                tokenizer=tokenizer,
                judge=pool,
                learner=learner,
                save_policy=save,
                load_policy=lambda path: restore_policy(model, path),
                train_tasks=tasks,
                held_out_tasks=held_out,
                reference=reference,
                knowledge=KnowledgeBase.load(),
                ranks=ranks,
            )
    finally:
        pool.close()
