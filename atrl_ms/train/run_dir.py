"""The directory of a run: what it holds and how files in it are written so that a kill leaves no half file.

    config.yaml            the resolved configuration
    versions.json          versions, machine, seed, command line
    metrics.jsonl          one line per step
    tensorboard/           the same numbers as events
    checkpoints/           policy, optimizer, position (checkpoint.py)
    sessions/              one JSON Lines file per step and per evaluation
    evaluation.json        before, after, difference; evaluation.png, report.html
"""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import Any

import yaml

from atrl_ms.config import Config, load_config
from atrl_ms.errors import UserError

PACKAGES = ("mindspore", "numpy", "triton-ascend", "ascendnpu-ir", "torch", "mindformers")


class RunDir:
    """Paths of one run. Create with `create` or `open`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config_file = path / "config.yaml"
        self.metrics_file = path / "metrics.jsonl"
        self.checkpoints = path / "checkpoints"
        self.sessions = path / "sessions"
        self.tensorboard = path / "tensorboard"

    @staticmethod
    def create(config: Config) -> RunDir:
        """A fresh directory `output_dir/name-<date>-<time>` with the resolved configuration and the versions."""
        stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
        base = Path(config.output_dir) / f"{config.name}-{stamp}"
        path, number = base, 1
        while True:
            try:
                path.mkdir(parents=True)
                break
            except FileExistsError:
                number += 1
                path = base.with_name(f"{base.name}-{number}")
            except OSError as error:
                raise UserError(f"output_dir: cannot create {path}: {error.strerror}") from error
        run = RunDir(path)
        run.sessions.mkdir()
        run.checkpoints.mkdir()
        write_atomically(path / "versions.json", json.dumps(versions(config), indent=2) + "\n")
        write_atomically(run.config_file, yaml.safe_dump(config.model_dump(), sort_keys=False))
        return run

    @staticmethod
    def open(path: str | Path) -> RunDir:
        """An existing run.

        Raises:
            UserError: not a run directory.
        """
        run = RunDir(Path(path))
        if not run.config_file.is_file():
            raise UserError(f"{path}: not a run directory (it has no config.yaml)")
        run.sessions.mkdir(exist_ok=True)
        run.checkpoints.mkdir(exist_ok=True)
        return run

    def config(self) -> Config:
        return load_config(self.config_file)

    def step_sessions(self, step: int) -> Path:
        """Where the sessions of a training step are kept."""
        return self.sessions / f"step_{step:06d}.jsonl"

    def evaluation_sessions(self, when: str) -> Path:
        """Where the sessions of an evaluation are kept; `when` is "before" or "after"."""
        return self.sessions / f"evaluation_{when}.jsonl"

    def forget_after(self, step: int) -> None:
        """Remove what later steps wrote, so that a resumed run does not count them twice."""
        for path in self.sessions.glob("step_*.jsonl"):
            if int(path.stem.removeprefix("step_")) > step:
                path.unlink()
        self.evaluation_sessions("after").unlink(missing_ok=True)


def versions(config: Config) -> dict[str, Any]:
    """Versions and circumstances that a reader needs to repeat the run."""
    found: dict[str, str | None] = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return {
        "atrl_ms": importlib.metadata.version("atrl_ms"),
        "python": platform.python_version(),
        "packages": found,
        "machine": {"platform": platform.platform(), "cpus": os.cpu_count()},
        "seed": config.seed,
        "command": sys.argv,
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def write_atomically(path: Path, text: str) -> None:
    """Write a whole file or none of it: a temporary file beside it, flushed to disk, then renamed."""
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def remove_tree(path: Path) -> None:
    """Remove a directory that may be half gone already."""
    shutil.rmtree(path, ignore_errors=True)
