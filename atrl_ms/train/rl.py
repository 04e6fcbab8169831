"""The RL loop: play sessions, estimate advantages, update the policy, hand the new weights to the engine.

Read `Trainer.run` first, then `Trainer.step`; everything else is called from there in reading order.

    step:  sample groups -> (play sessions | judge kernels) -> advantages -> micro-batches -> update -> engine

With train.staleness above 0 the sessions of the next steps are played while a step trains (ahead.py). Each rank of a
data parallel job plays groups of its own; then all know all sessions, so credit, counts and metrics are computed
everywhere alike, and each rank takes its share of the tokens into the update.

Simplification: data parallel ranks hold whole copies of the policy.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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
from atrl_ms.train.ahead import Ahead
from atrl_ms.train.batching import MicroBatch, make_micro_batches, used_length
from atrl_ms.train.checkpoint import Position
from atrl_ms.train.exchange import gather_groups, gather_sessions, share_state
from atrl_ms.train.metrics import MetricsLog, read_metrics
from atrl_ms.train.parallel import Ranks
from atrl_ms.train.record import Clock, describe, describe_groups, describe_loss, describe_staleness
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

    parameters: list[Any]

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
    ranks: Ranks = field(default_factory=Ranks)


class Trainer:
    """One run, from wherever its directory stands to the last step."""

    def __init__(self, config: Config, run: RunDir, parts: Parts, progress: bool = True) -> None:
        self.config, self.run_dir, self.parts, self.ranks = config, run, parts, parts.ranks
        self.progress = progress and self.ranks.leader
        self.loss_first = PolicyLoss(config.algo, on_policy=True)
        self.loss_later = PolicyLoss(config.algo, on_policy=False)
        self.audited = False
        self.updates = 0
        self.spent = 0  # sampled tokens of all steps so far
        self.longest = config.agent.window  # tokens that a segment may have

    # ------------------------------------------------------------ the run

    async def run(self) -> tuple[list[Session], list[Session]]:
        """Evaluate, train, evaluate; the held-out sessions before and after."""
        config = self.config
        position = await self.restore()
        sampler = TaskSampler(self.parts.train_tasks, config.seed, position.sampler)
        before = await self.evaluation("before")
        bar = tqdm(total=config.train.steps, initial=position.step, unit="step", disable=not self.progress)
        ahead = Ahead(
            config.train.staleness,
            config.train.steps,
            draw=lambda: sampler.draw(config.train.groups_per_step),
            play=lambda step, tasks: self.play_own_groups(step, 0, tasks, bar),
        )
        with self.log(position.step) as log:
            try:
                step = position.step
                while not self.finished(step):
                    step += 1
                    record = await self.step(step, ahead, sampler, bar)
                    if log is not None:
                        log.write(record)
                    bar.update()
                    if self.finished(step) or step % config.train.checkpoint_every == 0:
                        self.save(Position(step, sampler.position - ahead.untaken, self.updates, config.seed))
            finally:
                await ahead.close()
        bar.close()
        after = await self.evaluation("after")
        return before, after

    def log(self, step: int) -> contextlib.AbstractContextManager[MetricsLog | None]:
        """The metrics of steps after `step`; the leader's only."""
        if not self.ranks.leader:
            return contextlib.nullcontext()
        return MetricsLog(self.run_dir.metrics_file, self.run_dir.tensorboard, step)

    def finished(self, step: int) -> bool:
        """Whether training ends with `step`: it is the last one, or the token budget is spent."""
        train = self.config.train
        return step >= train.steps or 0 < train.token_budget <= self.spent

    async def restore(self) -> Position:
        """Load the last complete checkpoint and forget what was written after it; the leader reads for all."""
        position, optimizer = Position(0, 0, 0, self.config.seed), dict[str, np.ndarray]()
        directory = checkpoint.latest(self.run_dir.checkpoints) if self.ranks.leader else None
        if directory is not None:
            position, optimizer = checkpoint.read_position(directory), checkpoint.read_optimizer(directory)
            if position.seed != self.config.seed:
                raise UserError(f"{directory}: is of seed {position.seed}, the configuration says {self.config.seed}")
            self.parts.load_policy(directory)
        position, optimizer = share_state(self.ranks, position, optimizer)
        self.ranks.same_start(self.parts.learner.parameters)
        if position.step > 0:
            self.parts.learner.load_state_dict(optimizer)
            self.updates = position.updates
            logger.info("resumed after step {}", position.step)
        if position.step > 0 or self.ranks.size > 1:
            await self.parts.engine.update_weights(self.updates)
        records = read_metrics(self.run_dir.metrics_file) if self.ranks.leader else []
        spent = np.array([sum(r["sampled_tokens"] for r in records if r["step"] <= position.step)])
        self.spent = int(self.ranks.total(spent)[0])
        if self.ranks.leader and not self.finished(position.step):
            self.run_dir.forget_after(position.step)
        return position

    def save(self, position: Position) -> None:
        """Write a checkpoint; the leader's is everybody's."""
        if self.ranks.leader:
            checkpoint.save(
                self.run_dir.checkpoints,
                position,
                self.parts.save_policy,
                self.parts.learner.state_dict(),
                self.config.train.keep_checkpoints,
            )

    # ------------------------------------------------------------ one step

    async def step(self, step: int, ahead: Ahead, sampler: TaskSampler, bar: tqdm) -> dict[str, Any]:
        """Sample, learn, and describe what happened."""
        clock = Clock()
        groups = await self.sample_groups(step, ahead, sampler, bar)
        clock.lap("sample")
        sessions = [s for group in groups for s in group.sessions]
        if self.ranks.leader:
            write_sessions(self.run_dir.step_sessions(step), sessions, self.parts.tokenizer)
        credited = [self.credit(group) for group in groups]
        useful = [g for g in credited if g.has_variance] if self.config.algo.dynamic_sampling else credited
        credits = [credit for group in useful for credit in group.credits]
        clock.lap("write")
        update = await self.aside(self.update, step, credits)
        clock.lap("update")
        await self.parts.engine.update_weights(self.updates)
        clock.lap("weights")

        record = {"step": step, **statistics(sessions), **describe_groups(credited, useful), **update}
        self.spent += record["sampled_tokens"]
        sampling = clock.seconds["sample"] if self.config.train.staleness == 0 else sum(clock.seconds.values())
        record["tokens_per_s"] = round(record["sampled_tokens"] / sampling, 1)
        record["seconds"] = {name: round(value, 3) for name, value in clock.seconds.items()}
        record["ranks"] = self.ranks.size
        bar.set_postfix_str(
            f"solve {record['solve_rate']:.0%} score {record['mean_score']:.2f} {record['tokens_per_s']:.0f} tok/s"
        )
        return record

    async def aside(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Do what computes or waits for other ranks; in a thread if the event loop has sessions of other steps."""
        if self.config.train.staleness > 0:
            return await asyncio.to_thread(work, *arguments)
        return work(*arguments)

    async def sample_groups(self, step: int, ahead: Ahead, sampler: TaskSampler, bar: tqdm) -> list[Group]:
        """`groups_per_step` groups, and with dynamic sampling others in place of those without variance."""
        train, algo = self.config.train, self.config.algo
        own = await ahead.take(step)
        groups = await self.aside(gather_groups, self.ranks, own, train.group_size)
        while algo.dynamic_sampling:
            useful = sum(self.credit(group).has_variance for group in groups)
            allowed = train.groups_per_step + algo.max_extra_groups - len(groups)
            wanted = min(train.groups_per_step - useful, allowed)
            if wanted <= 0:
                break
            own = await self.play_own_groups(step, len(groups), sampler.draw(wanted), bar)
            groups += await self.aside(gather_groups, self.ranks, own, train.group_size)
        return groups

    def credit(self, group: Group) -> GroupCredit:
        """What the group's tokens are worth; the hook of algorithms with other groups (atrl_ms/tree)."""
        return group_credit(group, self.config.algo)

    async def play_own_groups(self, step: int, first: int, tasks: Sequence[Task], bar: tqdm) -> list[Group]:
        """This rank's block of the groups; a group's seeds depend on its number, not on who plays it."""
        numbers = self.ranks.block(range(first, first + len(tasks)))
        if not numbers:
            return []
        return await self.play_groups(step, numbers[0], self.ranks.block(tasks), bar)

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
        # by the tokens of their rows: padding to the longest row of a micro-batch follows them
        costs = [sum(used_length(t) for t in credit.trained if t.any()) for credit in credits]
        batches = make_micro_batches(
            self.ranks.share(credits, costs),
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
        staleness = describe_staleness(credits, self.updates)
        for epoch in range(config.train.updates_per_batch):
            sums = np.zeros(len(STATISTICS))
            for batch in batches:
                sums += self.parts.learner.accumulate(batch.columns(), self.loss_later if epoch else self.loss_first)
            sums = self.ranks.total(sums)
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
        sizes = self.ranks.total(np.array([sum(batch.token_ids.size for batch in batches), len(batches)]))
        if self.parts.reference is None:
            del described["kl"]  # no reference, nothing to diverge from
        return {
            **described,
            "advantage": describe(values),
            "grad_norm": norm,
            "lr": lr,
            "updates": self.updates,
            "trained_tokens": int(counts[0]),
            "staleness": staleness,
            "padded_tokens": int(sizes[0]),
            "micro_batches": int(sizes[1]),
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
        """Save the batch that did it; every rank its own part."""
        suffix = "" if self.ranks.leader else f"_rank_{self.ranks.rank}"
        path = self.run_dir.path / f"failed_step_{step:06d}{suffix}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)  # another node may have no common disk
        arrays = {f"{i}_{name}": array for i, b in enumerate(batches) for name, array in b.columns().items()}
        np.savez(path, **arrays)  # type: ignore[arg-type]
        bad = ", ".join(f"{name} = {value}" for name, value in values.items() if not np.isfinite(value))
        return Diverged(f"step {step}: {bad}; the batch is in {path}; lower train.lr or train.max_grad_norm")

    # ------------------------------------------------------------ evaluation

    async def evaluation(self, when: str) -> list[Session]:
        """Sessions on held-out tasks with the current weights; read back if they were played before a kill."""
        path = self.run_dir.evaluation_sessions(when)
        if self.ranks.from_leader(b"known" if path.is_file() else b""):
            return read_sessions(path) if self.ranks.leader else []
        jobs = evaluation_jobs(self.parts.held_out_tasks, self.config.eval.sessions, self.config.seed)
        own = self.ranks.block(jobs)
        with tqdm(total=len(own), desc=f"evaluation {when}", unit="session", disable=not self.progress) as bar:
            played = await play_through_outages(
                own,
                self.arena(self.config.eval.temperature),
                lambda session: advance(bar),
                self.config.train.outage_seconds,
            )
        sessions = gather_sessions(self.ranks, played)
        if self.ranks.leader:
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
