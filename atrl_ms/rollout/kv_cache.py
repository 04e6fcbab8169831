"""Which tokens each cache slot holds: sessions keep theirs between turns, the least recently used goes first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


def common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    """Number of leading ids that agree."""
    limit = min(len(a), len(b))
    low = 0
    while low < limit and a[low] == b[low]:
        low += 1
    return low


@dataclass
class Slot:
    tokens: list[int] = field(default_factory=list)  # whose keys and values are in the cache
    session_id: str = ""
    busy: bool = False
    last_used: int = 0


class SlotTable:
    """Assigns slots to requests."""

    def __init__(self, slots: int):
        self.slots = [Slot() for _ in range(slots)]
        self.by_session: dict[str, int] = {}
        self.clock = 0

    def acquire(self, session_id: str) -> int | None:
        """The session's own slot, else the least recently used free one; None when all are busy."""
        self.clock += 1
        index = self.by_session.get(session_id) if session_id else None
        if index is None or self.slots[index].busy:
            free = [i for i, slot in enumerate(self.slots) if not slot.busy]
            if not free:
                return None
            # Empty slots first, then slots of no session, then the session that has waited longest.
            index = min(
                free,
                key=lambda i: (bool(self.slots[i].tokens), self.slots[i].session_id != "", self.slots[i].last_used),
            )
            if self.slots[index].session_id:
                self.by_session.pop(self.slots[index].session_id, None)
        slot = self.slots[index]
        slot.busy, slot.session_id, slot.last_used = True, session_id, self.clock
        if session_id:
            self.by_session[session_id] = index
        return index

    def release(self, index: int) -> None:
        self.clock += 1
        self.slots[index].busy = False
        self.slots[index].last_used = self.clock

    def best_prefix(self, prompt: Sequence[int]) -> tuple[int, int]:
        """(slot, length) of the longest prefix of `prompt` that any slot holds; slot -1 if none."""
        lengths = [common_prefix(slot.tokens, prompt) for slot in self.slots]
        best = max(range(len(lengths)), key=lengths.__getitem__)
        return (best, lengths[best]) if lengths[best] else (-1, 0)

    def forget(self) -> None:
        """The weights have changed: nothing cached is valid."""
        for slot in self.slots:
            slot.tokens, slot.session_id = [], ""
        self.by_session.clear()
