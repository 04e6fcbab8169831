"""What Tree-OPO on reasoning problems needs: problems, verifier, teacher search, policy and engine."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import islice
from pathlib import Path

from tqdm import tqdm

from atrl_ms.config import Config, asset
from atrl_ms.errors import UserError
from atrl_ms.policy.config import ModelConfig
from atrl_ms.policy.weights import load_checkpoint, load_weights, save_checkpoint, weight_files
from atrl_ms.rollout.native import NativeEngine
from atrl_ms.train.learner import Learner
from atrl_ms.train.optim import OptimizerSettings
from atrl_ms.train.rl import Parts
from atrl_ms.tree.completions import ProblemJudge
from atrl_ms.tree.mcts import SearchSettings, search
from atrl_ms.tree.prefix_tree import PrefixTree
from atrl_ms.tree.problems import Problem, generate, is_held_out, load_gsm8k, verify
from atrl_ms.tree.tokens import copy_tokenizer, tokenizer_of
from atrl_ms.types import Task

# ---------------------------------------------------------------- problems


def training_problems(config: Config) -> list[Problem]:
    """The problems that are searched and trained on; they depend on tree.seed, not on the run's seed."""
    return _problems(config, False, config.tree.problems)


def held_out_problems(config: Config) -> list[Problem]:
    """The problems of evaluations; the same for every seed, so that runs can be compared."""
    return _problems(config, True, config.tree.held_out_problems)


def _problems(config: Config, held_out: bool, count: int) -> list[Problem]:
    tree = config.tree
    if tree.problem_file:
        half = [p for p in load_gsm8k(tree.problem_file) if is_held_out(p.prompt) == held_out]
        if not half:
            raise UserError(
                f"{tree.problem_file}: no problem falls into the {'held-out' if held_out else 'training'} part"
            )
        return half[:count]
    return _generated(tuple(tree.families), 0 if held_out else tree.seed + 1, held_out, count)


@cache
def _generated(families: tuple[str, ...], seed: int, held_out: bool, count: int) -> list[Problem]:
    return list(islice(generate(list(families), seed, held_out), count))


# ---------------------------------------------------------------- parts


def check_window(config: Config, problems: list[Problem], checkpoint: Path, model: ModelConfig) -> None:
    """Prompts must leave room for an answer.

    Raises:
        UserError: the window exceeds the model's positions, or a prompt fills it.
    """
    window, tokenizer = config.tree.window, tokenizer_of(checkpoint)
    if window > model.max_position_embeddings:
        raise UserError(f"tree.window {window} exceeds the {model.max_position_embeddings} positions of {checkpoint}")
    size, name = max((len(tokenizer.encode(p.prompt)), p.name) for p in problems)
    if size >= window:
        raise UserError(f"the prompt of {name!r} has {size} tokens: raise tree.window, now {window}")


def fingerprint(checkpoint: Path) -> str:
    """Digest of a checkpoint's weights: a search belongs to one teacher."""
    digest = hashlib.sha256()
    for path in weight_files(checkpoint):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def search_settings(config: Config) -> SearchSettings:
    """The search of a configuration."""
    tree = config.tree
    return SearchSettings(
        rollouts=tree.rollouts,
        max_depth=tree.max_depth,
        branching=tree.branching,
        rule=tree.rule,
        exploration=tree.exploration,
        temperature=tree.temperature,
        max_new_tokens=tree.max_new_tokens,
        window=tree.window,
        wave=tree.wave,
        seed=tree.seed,
        teacher=fingerprint(asset(tree.teacher)),
    )


def build_trees(config: Config, directory: Path, progress: bool = True) -> dict[str, PrefixTree]:
    """Search all training problems with the teacher, or finish or read back a search that is there."""
    teacher = asset(config.tree.teacher)
    problems = training_problems(config)
    settings = search_settings(config)
    model, model_config = load_checkpoint(teacher)
    check_window(config, problems, teacher, model_config)
    engine = NativeEngine(model, max_batch=config.engine.max_batch, max_context=config.tree.window)
    copy_tokenizer(teacher, directory)
    total = len(problems) * settings.rollouts
    with tqdm(total=total, desc="teacher search", unit="rollout", disable=not progress) as bar:
        return asyncio.run(
            search(
                directory,
                problems,
                engine,
                tokenizer_of(teacher),
                verify,
                settings,
                problems_in_flight=config.tree.problems_in_flight,
                on_rollout=lambda done: advance(bar, done),
            )
        )


@contextmanager
def build_reasoning_parts(config: Config) -> Iterator[Parts]:
    """Policy, engine and problems of a run."""
    directory = config.policy.directory
    model, model_config = load_checkpoint(directory)
    temperature = config.engine.temperature
    if temperature <= 0:
        raise UserError("engine.temperature must be above 0 for training: a greedy policy has nothing to compare")
    settings = OptimizerSettings(
        kind=config.train.optimizer, weight_decay=config.train.weight_decay, max_grad_norm=config.train.max_grad_norm
    )
    learner = Learner(model, settings, temperature=temperature)
    reference = None
    if config.algo.kl_coef > 0:
        source = asset(config.tree.teacher) if config.tree.teacher_kl else directory
        reference = Learner(load_checkpoint(source)[0], temperature=temperature).logprobs

    def save_policy(target: Path) -> None:
        save_checkpoint(model, model_config, target)
        copy_tokenizer(directory, target)

    train, held_out = training_problems(config), held_out_problems(config)
    check_window(config, [*train, *held_out], directory, model_config)
    yield Parts(
        engine=NativeEngine(model, max_batch=config.engine.max_batch, max_context=config.tree.window),
        tokenizer=tokenizer_of(directory),
        judge=ProblemJudge([*train, *held_out]),
        learner=learner,
        save_policy=save_policy,
        load_policy=lambda path: load_weights(model, path),
        train_tasks=[Task(p.name, p.prompt, p.family) for p in train],
        held_out_tasks=[Task(p.name, p.prompt, p.family, held_out=True) for p in held_out],
        reference=reference,
    )


def advance(bar: tqdm, count: int) -> None:
    bar.update(count)
