"""The RL loop: play sessions, estimate advantages, update the policy, hand the new weights to the engine.

Read `Trainer.run` first, then `Trainer.step`; everything else is called from there in reading order.

    step:  sample groups -> (play sessions | judge kernels) -> advantages -> micro-batches -> update -> engine

Simplifications: sampling and updating alternate (a batch is always on-policy at its first update); data parallel ranks
hold whole copies of the policy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from loguru import logger
from tqdm import tqdm

from agent.session import Sampling
from atrl_ms.algos.advantages import Credit, GroupCredit, group_credit
from atrl_ms.algos.aggregation import count_trained
from atrl_ms.algos.losses import STATISTICS, PolicyLoss
from atrl_ms.config import Config
from atrl_ms.errors import UserError
from atrl_ms.evaluate.metrics import statistics
from atrl_ms.evaluate.sessions import read_sessions, write_sessions
from atrl_ms.train import checkpoint
from atrl_ms.train.batching import MicroBatch, make_micro_batches
from atrl_ms.train.checkpoint import Position
from atrl_ms.train.metrics import MetricsLog, read_metrics
from atrl_ms.train.rollouts import (
    EVALUATE,
    TRAIN,
    Arena,
    Job,
    TaskSampler,
    derive_seed,
    play_through_outages,
)
from atrl_ms.train.run_dir import RunDir
from atrl_ms.types import Group, Judge, RolloutEngine, Session, Task, Tokenizer


class Diverged(Exception):
    """NaN or Inf in the loss or the gradient. The message names the file that holds the batch."""


class TrainableEngine(RolloutEngine, Protocol):
    """An engine that can be given the policy's current weights."""

    async def update_weights(self, version: int) -> None: ...


class PolicyLearner(Protocol):
    """What the loop asks of atrl_ms.train.learner.Learner."""

    def logprobs(self, ids_BT: np.ndarray) -> np.ndarray: ...

    def accumulate(self, batch: dict[str, np.ndarray], loss: Any) -> np.ndarray: ...

    def apply(self, lr: float) -> dict[str, float]: ...

    def state_dict(self) -> dict[str, np.ndarray]: ...

    def load_state_dict(self, state: dict[str, np.ndarray]) -> None: ...


@dataclass
class Parts:
    """What the loop drives (build.py makes them from a configuration)."""

    engine: TrainableEngine
    tokenizer: Tokenizer
    judge: Judge
    learner: PolicyLearner
    save_policy: Callable[[Path], None]  # writes a loadable checkpoint directory
    load_policy: Callable[[Path], None]  # reads one into the learner's model
    train_tasks: Sequence[Task]
    held_out_tasks: Sequence[Task]
    reference: Callable[[np.ndarray], np.ndarray] | None = None  # log-probabilities of the initial policy, (B, T)
    knowledge: Any = None


class Trainer:
    """One run, from wherever its directory stands to the last step."""

    def __init__(self, config: Config, run: RunDir, parts: Parts, progress: bool = True) -> None:
        self.config, self.run_dir, self.parts, self.progress = config, run, parts, progress
        self.loss_first = PolicyLoss(config.algo, on_policy=True)
        self.loss_later = PolicyLoss(config.algo, on_policy=False)
        self.audited = False
        self.updates = 0
        self.longest = config.agent.window  # tokens that a segment may have

    # ------------------------------------------------------------ the run

    async def run(self) -> tuple[list[Session], list[Session]]:
        """Evaluate, train, evaluate; the held-out sessions before and after."""
        config = self.config
        position = await self.restore()
        sampler = TaskSampler(self.parts.train_tasks, config.seed, position.sampler)
        before = await self.evaluation("before")
        with MetricsLog(self.run_dir.metrics_file, self.run_dir.tensorboard, position.step) as log:
            bar = tqdm(total=config.train.steps, initial=position.step, unit="step", disable=not self.progress)
            step = position.step
            while not self.finished(step):
                step += 1
                record = await self.step(step, sampler, bar)
                log.write(record)
                bar.update()
                if self.finished(step) or step % config.train.checkpoint_every == 0:
                    self.save(Position(step, sampler.position, self.updates, config.seed))
            bar.close()
        after = await self.evaluation("after")
        return before, after

    def finished(self, step: int) -> bool:
        """Whether training ends with `step`: it is the last one, or the token budget is spent."""
        train = self.config.train
        records = read_metrics(self.run_dir.metrics_file)
        spent = sum(r["sampled_tokens"] for r in records if r["step"] <= step)
        return step >= train.steps or 0 < train.token_budget <= spent

    async def restore(self) -> Position:
        """Load the last complete checkpoint and forget what was written after it."""
        directory = checkpoint.latest(self.run_dir.checkpoints)
        position = Position(0, 0, 0, self.config.seed)
        if directory is not None:
            position = checkpoint.read_position(directory)
            if position.seed != self.config.seed:
                raise UserError(f"{directory}: is of seed {position.seed}, the configuration says {self.config.seed}")
            self.parts.load_policy(directory)
            self.parts.learner.load_state_dict(checkpoint.read_optimizer(directory))
            self.updates = position.updates
            await self.parts.engine.update_weights(self.updates)
            logger.info("resumed after step {}", position.step)
        if not self.finished(position.step):
            self.run_dir.forget_after(position.step)
        return position

    def save(self, position: Position) -> None:
        checkpoint.save(
            self.run_dir.checkpoints,
            position,
            self.parts.save_policy,
            self.parts.learner.state_dict(),
            self.config.train.keep_checkpoints,
        )

    # ------------------------------------------------------------ one step

    async def step(self, step: int, sampler: TaskSampler, bar: tqdm) -> dict[str, Any]:
        """Sample, learn, and describe what happened."""
        clock = Clock()
        groups = await self.sample_groups(step, sampler, bar)
        clock.lap("sample")
        write_sessions(
            self.run_dir.step_sessions(step), [s for group in groups for s in group.sessions], self.parts.tokenizer
        )
        credited = [self.credit(group) for group in groups]
        useful = [g for g in credited if g.has_variance] if self.config.algo.dynamic_sampling else credited
        credits = [credit for group in useful for credit in group.credits]
        clock.lap("write")
        update = self.update(step, credits)
        clock.lap("update")
        await self.parts.engine.update_weights(self.updates)
        clock.lap("weights")

        sessions = [s for group in groups for s in group.sessions]
        record = {"step": step, **statistics(sessions), **describe_groups(credited, useful), **update}
        record["tokens_per_s"] = round(record["sampled_tokens"] / clock.seconds["sample"], 1)
        record["seconds"] = {name: round(value, 3) for name, value in clock.seconds.items()}
        bar.set_postfix_str(
            f"solve {record['solve_rate']:.0%} score {record['mean_score']:.2f} {record['tokens_per_s']:.0f} tok/s"
        )
        return record

    async def sample_groups(self, step: int, sampler: TaskSampler, bar: tqdm) -> list[Group]:
        """`groups_per_step` groups, and with dynamic sampling others in place of those without variance."""
        train, algo = self.config.train, self.config.algo
        groups: list[Group] = []
        wanted = train.groups_per_step
        while wanted > 0:
            groups += await self.play_groups(step, len(groups), sampler.draw(wanted), bar)
            if not algo.dynamic_sampling:
                break
            useful = sum(self.credit(group).has_variance for group in groups)
            allowed = train.groups_per_step + algo.max_extra_groups - len(groups)
            wanted = min(train.groups_per_step - useful, allowed)
        return groups

    def credit(self, group: Group) -> GroupCredit:
        """What the group's tokens are worth; the hook of algorithms with other groups (atrl_ms/tree)."""
        return group_credit(group, self.config.algo)

    async def play_groups(self, step: int, first: int, tasks: Sequence[Task], bar: tqdm) -> list[Group]:
        """One group for each task; the sessions of all groups run side by side."""
        size, seed = self.config.train.group_size, self.config.seed
        jobs = [
            Job(task, derive_seed(seed, TRAIN, step, first + g, member))
            for g, task in enumerate(tasks)
            for member in range(size)
        ]
        done: list[Session] = []

        def on_done(session: Session) -> None:
            done.append(session)
            solved = sum(s.solved for s in done)
            bar.set_description(f"step {step}: {len(done)}/{len(jobs)} sessions, {solved} solved")

        arena = self.arena(self.config.engine.temperature)
        sessions = await play_through_outages(jobs, arena, on_done, self.config.train.outage_seconds)
        return [Group(task.name, sessions[g * size : (g + 1) * size]) for g, task in enumerate(tasks)]

    def arena(self, temperature: float) -> Arena:
        engine = self.config.engine
        return Arena(
            engine=self.parts.engine,
            tokenizer=self.parts.tokenizer,
            judge=self.parts.judge,
            agent=self.config.agent,
            sampling=Sampling(temperature, engine.top_p, engine.top_k),
            knowledge=self.parts.knowledge,
            concurrent=2 * engine.max_batch,  # half may wait for the sandbox while the other half fills the batch
        )

    # ------------------------------------------------------------ the update

    def update(self, step: int, credits: Sequence[Credit]) -> dict[str, Any]:
        """Optimizer steps on one batch of sessions; what the record says about them."""
        config = self.config
        counts = count_trained([credit.trained for credit in credits])
        lr = config.train.lr * min(1.0, step / max(1, config.train.warmup_steps))
        if counts[0] == 0:
            return {"lr": lr, "trained_tokens": 0, "updates": self.updates}
        batches = make_micro_batches(
            credits,
            config.algo,
            config.train.micro_batch_tokens,
            self.longest,
            self.parts.tokenizer.pad_id,
            counts,
        )
        for batch in batches:
            if self.parts.reference is not None:
                batch.ref_logp = self.parts.reference(batch.token_ids)
            if config.train.updates_per_batch > 1:
                batch.old_logp = self.parts.learner.logprobs(batch.token_ids)
        for epoch in range(config.train.updates_per_batch):
            sums = np.zeros(len(STATISTICS))
            for batch in batches:
                sums += self.parts.learner.accumulate(batch.columns(), self.loss_later if epoch else self.loss_first)
            if not np.isfinite(sums).all():
                raise self.diverged(step, batches, dict(zip(STATISTICS, sums.tolist(), strict=True)))
            if not self.audited:
                self.audit(describe_loss(sums)["mismatch"])
            norm = self.parts.learner.apply(lr)["grad_norm"]
            if not np.isfinite(norm):
                raise self.diverged(step, batches, {"grad_norm": norm})
            self.updates += 1
        values = np.concatenate([a[t] for c in credits for a, t in zip(c.advantages, c.trained, strict=True)])
        described = describe_loss(sums)
        if self.parts.reference is None:
            del described["kl"]  # no reference, nothing to diverge from
        return {
            **described,
            "advantage": describe(values),
            "grad_norm": norm,
            "lr": lr,
            "updates": self.updates,
            "trained_tokens": int(counts[0]),
            "padded_tokens": sum(batch.token_ids.size for batch in batches),
            "micro_batches": len(batches),
        }

    def audit(self, mismatch: float) -> None:
        """Before the first update of a process: mean difference of the engine's and the trainer's log-probabilities.

        A difference means that the two do not hold the same policy (weights, positions, temperature); the importance
        weights would hide it and training would go wrong slowly.
        """
        limit = self.config.train.audit_limit
        if mismatch > limit:
            raise UserError(
                f"log-probabilities of engine and trainer differ by {mismatch:.4f} on average "
                f"(train.audit_limit {limit}): they do not hold the same policy; check the engine"
            )
        self.audited = True

    def diverged(self, step: int, batches: Sequence[MicroBatch], values: dict[str, float]) -> Diverged:
        """Save the batch that did it."""
        path = self.run_dir.path / f"failed_step_{step:06d}.npz"
        arrays = {f"{i}_{name}": array for i, b in enumerate(batches) for name, array in b.columns().items()}
        np.savez(path, **arrays)  # type: ignore[arg-type]
        bad = ", ".join(f"{name} = {value}" for name, value in values.items() if not np.isfinite(value))
        return Diverged(f"step {step}: {bad}; the batch is in {path}; lower train.lr or train.max_grad_norm")

    # ------------------------------------------------------------ evaluation

    async def evaluation(self, when: str) -> list[Session]:
        """Sessions on held-out tasks with the current weights; read back if they were played before a kill."""
        path = self.run_dir.evaluation_sessions(when)
        if path.is_file():
            return read_sessions(path)
        jobs = evaluation_jobs(self.parts.held_out_tasks, self.config.eval.sessions, self.config.seed)
        with tqdm(total=len(jobs), desc=f"evaluation {when}", unit="session", disable=not self.progress) as bar:
            sessions = await play_through_outages(
                jobs,
                self.arena(self.config.eval.temperature),
                lambda session: advance(bar),
                self.config.train.outage_seconds,
            )
        write_sessions(path, sessions, self.parts.tokenizer)
        return sessions


def evaluation_jobs(tasks: Sequence[Task], count: int, seed: int) -> list[Job]:
    """`count` sessions spread evenly over the tasks; the same tasks and seeds before and after.

    The order of the tasks does not depend on the seed, so that runs with other seeds meet the same tasks.
    """
    order = np.random.default_rng(0).permutation(len(tasks))
    return [Job(tasks[order[i % len(tasks)]], derive_seed(seed, EVALUATE, i)) for i in range(count)]


def advance(bar: tqdm) -> None:
    bar.update()


# ---------------------------------------------------------------- descriptions for the record


class Clock:
    """Seconds by phase."""

    def __init__(self) -> None:
        self.last, self.seconds = time.monotonic(), {}  # type: float, dict[str, float]

    def lap(self, name: str) -> None:
        now = time.monotonic()
        self.seconds[name], self.last = now - self.last, now


def describe(values: np.ndarray) -> dict[str, float]:
    return {
        "mean": float(values.mean()),
        "std": float(values.std()),
        "min": float(values.min()),
        "max": float(values.max()),
    }


def describe_groups(credited: Sequence[GroupCredit], useful: Sequence[GroupCredit]) -> dict[str, Any]:
    returns = np.concatenate([group.returns for group in credited])
    return {
        "groups": {"sampled": len(credited), "trained": len(useful)},
        "return": describe(returns) if len(returns) else {},
    }


def describe_loss(sums: np.ndarray) -> dict[str, float]:
    """Means over the tokens in the loss from the sums of `PolicyLoss`; the loss itself is a sum."""
    named = dict(zip(STATISTICS, sums.tolist(), strict=True))
    tokens = max(1.0, named.pop("tokens"))
    loss = named.pop("loss")
    return {"loss": loss, **{name: value / tokens for name, value in named.items()}}
