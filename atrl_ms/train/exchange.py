"""What ranks tell each other between steps: the groups each played, and the state that the leader read from disk."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict

import numpy as np

from atrl_ms.evaluate.sessions import session_from_json, session_to_json
from atrl_ms.train.checkpoint import Position
from atrl_ms.train.parallel import Ranks
from atrl_ms.types import Group, Session, Task


def gather_sessions(ranks: Ranks, own: Sequence[Session]) -> list[Session]:
    """The sessions of all ranks in the order of ranks; collective."""
    if ranks.size == 1:
        return list(own)
    text = json.dumps([session_to_json(session) for session in own], separators=(",", ":"))
    parts = ranks.gather(zlib.compress(text.encode(), 1))
    return [session_from_json(record) for part in parts for record in json.loads(zlib.decompress(part))]


def gather_groups(ranks: Ranks, own: Sequence[Group], size: int) -> list[Group]:
    """The groups of `size` sessions of all ranks in the order of ranks; collective."""
    if ranks.size == 1:
        return list(own)
    sessions = gather_sessions(ranks, [session for group in own for session in group.sessions])
    return [Group(sessions[i].task, sessions[i : i + size]) for i in range(0, len(sessions), size)]


def share_state(ranks: Ranks, position: Position, optimizer: dict[str, np.ndarray]) -> tuple[Position, dict]:
    """The leader's position and optimizer arrays on every rank; collective."""
    if ranks.size == 1:
        return position, optimizer
    file = io.BytesIO()
    if ranks.leader:
        np.savez(file, **optimizer)  # type: ignore[arg-type]
    data = json.loads(ranks.from_leader(json.dumps(asdict(position)).encode()))
    with np.load(io.BytesIO(ranks.from_leader(file.getvalue()))) as arrays:
        return Position(**data), dict(arrays)


def share_tasks(ranks: Ranks, find: Callable[[], tuple[list[Task], list[Task]]]) -> tuple[list[Task], list[Task]]:
    """The leader's tasks to train on and to evaluate on, on every rank: only its disk has the run; collective."""
    if ranks.size == 1:
        return find()
    message = json.dumps([[asdict(task) for task in part] for part in find()]) if ranks.leader else ""
    train, held_out = json.loads(ranks.from_leader(message.encode()))
    return [Task(**task) for task in train], [Task(**task) for task in held_out]
