"""From a configuration to what the RL loop drives: policy, learner, engine, sandbox, tasks."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.knowledge import KnowledgeBase
from atrl_ms.config import Config
from atrl_ms.errors import UserError
from atrl_ms.policy.policy import load_policy, restore_policy, save_policy
from atrl_ms.policy.tokenizer import load_tokenizer
from atrl_ms.policy.weights import load_checkpoint
from atrl_ms.rollout.engines import open_engine
from atrl_ms.train.learner import Learner
from atrl_ms.train.optim import OptimizerSettings
from atrl_ms.train.rl import Parts
from sandbox.options import Options
from sandbox.pool import SandboxPool
from sandbox.suite import held_out_tasks, train_tasks

# What belongs to a policy beside its weights: its tokenizer, and the session (agent.yaml) it was trained in.
POLICY_FILES = ("tokenizer.model", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "agent.yaml")


def open_pool(config: Config) -> SandboxPool:
    """The local sandbox pool of a run."""
    sandbox = config.sandbox
    options = Options(
        arch=sandbox.arch,
        cann=sandbox.cann,
        device=sandbox.device,
        timeout=sandbox.timeout,
        feedback_tokens=config.agent.feedback_tokens,
    )
    return SandboxPool(options, workers=sandbox.workers)


@contextmanager
def build_parts(config: Config) -> Iterator[Parts]:
    """Everything a run needs, for the time of the run; the sandbox's processes end with it.

    Raises:
        UserError: a checkpoint, tokenizer or task set that cannot be used.
    """
    directory = Path(config.policy.checkpoint)
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

    pool = open_pool(config)
    try:
        with open_engine(config.engine, model, config.agent.window, save) as engine:
            yield Parts(
                engine=engine,
                tokenizer=tokenizer,
                judge=pool,
                learner=learner,
                save_policy=save,
                load_policy=lambda path: restore_policy(model, path),
                train_tasks=train_tasks(config.tasks.families),
                held_out_tasks=held_out_tasks(config.tasks.families),
                reference=reference,
                knowledge=KnowledgeBase.load(),
            )
    finally:
        pool.close()
