"""Which sessions are played, with which seeds, and how they run side by side.

Every session is an asyncio task: while one waits for the sandbox, the engine decodes for the others. Nothing depends on
which finishes first: sessions are returned in the order they were asked for, and every seed follows from
(run seed, purpose, step, group, member).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from loguru import logger

from agent.session import Sampling, run_session
from atrl_ms.config import AgentConfig
from atrl_ms.errors import UserError
from atrl_ms.types import Judge, RolloutEngine, Session, Task, Tokenizer

TRAIN, EVALUATE = 1, 2  # purposes, the first number after the run's seed
RETRIES = 2  # repetitions of a session that met a fault while the sandbox was answering others
LONGEST_WAIT = 30.0  # seconds between attempts during an outage


@dataclass(frozen=True)
class Arena:
    """All that a session needs besides its task and seed."""

    engine: RolloutEngine
    tokenizer: Tokenizer
    judge: Judge
    agent: AgentConfig
    sampling: Sampling
    knowledge: Any = None  # agent.session.Knowledge
    concurrent: int = 64  # sessions in flight


@dataclass(frozen=True)
class Job:
    """One session to play."""

    task: Task
    seed: int


def derive_seed(run_seed: int, *path: int) -> int:
    """A 31-bit seed for the item at `path`, independent of the seeds of all other items."""
    return int(np.random.SeedSequence([run_seed, *path]).generate_state(1)[0] >> 1)


class TaskSampler:
    """Tasks in epochs, each epoch a new order. The position is the whole state: orders follow from (seed, epoch)."""

    def __init__(self, tasks: Sequence[Task], seed: int, position: int = 0) -> None:
        self.tasks, self.seed, self.position = list(tasks), seed, position

    def draw(self, count: int) -> list[Task]:
        drawn = []
        for _ in range(count):
            epoch, index = divmod(self.position, len(self.tasks))
            order = np.random.default_rng([self.seed, epoch]).permutation(len(self.tasks))
            drawn.append(self.tasks[order[index]])
            self.position += 1
        return drawn


async def play(jobs: Sequence[Job], arena: Arena, on_done: Callable[[Session], None]) -> list[Session]:
    """Play all jobs at once, at most `arena.concurrent` in flight; sessions in the order of `jobs`.

    An error in one session cancels the others and is raised.
    """
    places = asyncio.Semaphore(arena.concurrent)

    async def one(job: Job) -> Session:
        async with places:
            session = await run_session(
                job.task,
                engine=arena.engine,
                tokenizer=arena.tokenizer,
                judge=arena.judge,
                config=arena.agent,
                seed=job.seed,
                sampling=arena.sampling,
                knowledge=arena.knowledge,
            )
        on_done(session)
        return session

    tasks = [asyncio.ensure_future(one(job)) for job in jobs]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()


async def play_through_outages(
    jobs: Sequence[Job], arena: Arena, on_done: Callable[[Session], None], patience: float
) -> list[Session]:
    """`play`, with sessions that met an infrastructure fault played again from the same seed.

    If nothing was judged in a round and most sessions wait, the sandbox is down: wait and try again for `patience`
    seconds. If others were judged, in this round or before, a session is repeated `RETRIES` times and then kept with
    its fault, which leaves the statistics.

    Raises:
        UserError: the outage outlasted `patience`, or no task fits the window.
    """
    sessions: list[Session | None] = [None] * len(jobs)
    attempts = [0] * len(jobs)
    waiting = list(range(len(jobs)))
    pause, deadline = 1.0, time.monotonic() + patience
    while waiting:
        played = await play([jobs[i] for i in waiting], arena, lambda s: None if is_fault(s) else on_done(s))
        for i, session in zip(waiting, played, strict=True):
            sessions[i] = session
        judged = any(event.feedback is not None for session in played for event in session.evaluations)
        if judged or 2 * len(waiting) <= len(jobs):
            pause, deadline = 1.0, time.monotonic() + patience
            for i in waiting:
                attempts[i] += 1
            waiting = [i for i in waiting if is_fault(sessions[i]) and attempts[i] <= RETRIES]
            continue
        waiting = [i for i in waiting if is_fault(sessions[i])]
        if waiting:
            if time.monotonic() + pause > deadline:
                raise UserError(
                    f"the sandbox judged nothing for {patience:.0f} s (train.outage_seconds); "
                    "start it again and continue with --resume"
                )
            logger.warning("sandbox outage: {} sessions wait, next attempt in {:.0f} s", len(waiting), pause)
            await asyncio.sleep(pause)
            pause = min(LONGEST_WAIT, 2 * pause)
    finished = [session for session in sessions if session is not None]
    if finished and not any(session.segments for session in finished):
        raise UserError(
            f"agent.window {arena.agent.window} leaves no room for any task and the reserves of a reply, its feedback "
            "and a summary: raise agent.window or lower agent.max_reply_tokens, feedback_tokens, knowledge_tokens"
        )
    return finished


def is_fault(session: Session | None) -> bool:
    return session is not None and session.finish == "infrastructure"
