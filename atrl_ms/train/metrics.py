"""metrics.jsonl and TensorBoard events: one record per step, no gap and no double step after a resume."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from atrl_ms.train.run_dir import write_atomically


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """All whole records of a metrics file; a last line cut off by a kill is ignored."""
    records: list[dict[str, Any]] = []
    if not path.is_file():
        return records
    for line in path.read_text().splitlines():
        try:
            records.append(json.loads(line))
        except ValueError:
            break
    return records


def truncate_metrics(path: Path, step: int) -> None:
    """Keep the records of steps 1..`step`."""
    kept = [record for record in read_metrics(path) if record["step"] <= step]
    write_atomically(path, "".join(json.dumps(record) + "\n" for record in kept))


def flatten(record: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Finite numbers of a nested record as ("a/b", value)."""
    for key, value in record.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{prefix}{key}/")
        elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            yield prefix + key, float(value)


class MetricsLog:
    """Appends records to metrics.jsonl and TensorBoard. Use as a context manager."""

    def __init__(self, path: Path, tensorboard: Path, step: int) -> None:
        """Continue after `step`; later records in the file are dropped."""
        from tensorboardX import SummaryWriter

        truncate_metrics(path, step)
        self.file = path.open("a")
        self.events = SummaryWriter(str(tensorboard), purge_step=step + 1 if step else None)

    def __enter__(self) -> MetricsLog:
        return self

    def __exit__(self, *exc: object) -> None:
        self.file.close()
        self.events.close()

    def write(self, record: dict[str, Any]) -> None:
        """Append one record; it must have a "step"."""
        self.file.write(json.dumps(record) + "\n")
        self.file.flush()
        os.fsync(self.file.fileno())
        for name, value in flatten(record):
            self.events.add_scalar(name, value, record["step"])
        self.events.flush()
