"""Checkpoints: policy, optimizer and position in one directory, complete or not there.

    checkpoints/step_000010/
        model.safetensors, config.json, tokenizer   the policy, loadable as `policy.checkpoint`
        optimizer.npz                               the learner's other arrays
        state.json                                  step, sampler position, seed
        COMPLETE                                    written last

All randomness of a run is derived from (seed, step, group, session, call), see rollouts.py, so the position is all the
random state there is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from atrl_ms.errors import UserError
from atrl_ms.train.run_dir import remove_tree

MARKER = "COMPLETE"


@dataclass(frozen=True)
class Position:
    """Where a run stands: steps done, tasks drawn from the sampler, optimizer updates, and the seed of both."""

    step: int
    sampler: int
    updates: int
    seed: int


def save(
    root: Path,
    position: Position,
    save_policy: Callable[[Path], None],
    optimizer: dict[str, np.ndarray],
    keep: int,
) -> Path:
    """Write the checkpoint of a step, then remove all but the `keep` newest complete ones.

    Args:
        root: the run's `checkpoints` directory.
        save_policy: writes the policy's files into the directory that it is given.
    """
    final = root / f"step_{position.step:06d}"
    temporary = root / f"tmp_{position.step:06d}"
    remove_tree(temporary)
    temporary.mkdir(parents=True)
    save_policy(temporary)
    with (temporary / "optimizer.npz").open("wb") as file:
        np.savez(file, **optimizer)  # type: ignore[arg-type]
    (temporary / "state.json").write_text(json.dumps(asdict(position)) + "\n")
    for path in temporary.iterdir():
        flush(path)
    (temporary / MARKER).touch()
    flush(temporary / MARKER)
    flush(temporary)
    discard(final)
    os.replace(temporary, final)
    flush(root)
    for old in complete(root)[:-keep]:
        discard(old)
    return final


def complete(root: Path) -> list[Path]:
    """Complete checkpoints, oldest first."""
    return sorted(path for path in root.glob("step_*") if (path / MARKER).is_file())


def latest(root: Path) -> Path | None:
    """The newest complete checkpoint, or None."""
    found = complete(root)
    return found[-1] if found else None


def read_position(directory: Path) -> Position:
    """The position that a checkpoint holds."""
    try:
        return Position(**json.loads((directory / "state.json").read_text()))
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"{directory}: damaged checkpoint ({error}); remove it to use the one before") from error


def read_optimizer(directory: Path) -> dict[str, np.ndarray]:
    """The learner's arrays that a checkpoint holds."""
    try:
        with np.load(directory / "optimizer.npz") as data:
            return dict(data)
    except (OSError, ValueError) as error:
        raise UserError(f"{directory}: damaged checkpoint ({error}); remove it to use the one before") from error


def discard(directory: Path) -> None:
    """Remove a checkpoint, the marker first: a kill in between must not leave something that looks complete."""
    (directory / MARKER).unlink(missing_ok=True)
    remove_tree(directory)


def flush(path: Path) -> None:
    """Force a file or a directory entry to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
