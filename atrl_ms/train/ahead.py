"""Sessions of coming steps, played while the current one trains: at most `staleness` steps ahead.

    staleness 0   step t is played after update t - 1: synchronous, always on-policy
    staleness 1   step t + 1 is played from update t - 1 on, beside update t; its tokens are at most one step old

A session that is under way when new weights arrive goes on with them; every token keeps the version that sampled it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from atrl_ms.types import Group, Task

# play(step, tasks) -> groups, without collectives: ranks need not agree on when it ends
Play = Callable[[int, Sequence[Task]], Awaitable[list[Group]]]


class Ahead:
    """Draws tasks in the order of steps and plays them as background tasks of the event loop."""

    def __init__(self, staleness: int, last_step: int, draw: Callable[[], list[Task]], play: Play) -> None:
        self.staleness, self.last_step, self.draw, self.play = staleness, last_step, draw, play
        self.playing: dict[int, asyncio.Task[list[Group]]] = {}
        self.drawn: dict[int, int] = {}  # tasks drawn for steps that nobody has taken yet

    async def take(self, step: int) -> list[Group]:
        """The groups of `step`; starts those of the steps after it as far as staleness allows."""
        for number in range(step, min(step + self.staleness, self.last_step) + 1):
            if number not in self.playing:
                tasks = self.draw()
                self.drawn[number] = len(tasks)
                self.playing[number] = asyncio.ensure_future(self.play(number, tasks))
        groups = await self.playing[step]
        del self.playing[step], self.drawn[step]
        return groups

    @property
    def untaken(self) -> int:
        """Tasks drawn ahead: a run that resumes draws them again."""
        return sum(self.drawn.values())

    async def close(self) -> None:
        """Cancel what is under way."""
        for task in self.playing.values():
            task.cancel()
        await asyncio.gather(*self.playing.values(), return_exceptions=True)
