"""What a loader finds: tasks with their place in a benchmark, or why one cannot be used."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from atrl_ms.types import Task

NO_KERNEL_GIVEN = "no kernel given"  # the reason of a task that was not prepared, because nobody wrote a kernel for it


@dataclass(frozen=True)
class Entry:
    """One task of a benchmark.

    Attributes:
        task: source text and directory; from disk it is as its authors wrote it, ready to be judged once fitted.
        level, category: "" where the benchmark has none.
        aliases: other names under which people keep a kernel of this task ("1_19", "level1/19").
        form: how its cases are given: "plain" (get_inputs or groups), "rows" (a table beside it), "lines" (JSON Lines).
        skip: why it cannot be used, known from the text alone; "" if it may be usable.
        files: names and texts of files that must lie beside the task; paths in place of texts before it was fitted.
        rows: the table of cases of form "rows" before it was fitted.
        cases: what its numbers cover ("as shipped", "sizes capped at 64", "3 of 12 cases").
        elements: of the largest case's inputs and the parameters; 0 if not counted.
    """

    task: Task
    level: str = ""
    category: str = ""
    aliases: tuple[str, ...] = ()
    form: str = "plain"
    skip: str = ""
    files: dict[str, str] = field(default_factory=dict)
    rows: tuple[dict[str, Any], ...] = ()
    cases: str = "as shipped"
    elements: int = 0

    @property
    def name(self) -> str:
        return self.task.name

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Entry:
        """Inverse of `to_json`, after a trip through JSON text."""
        lists = {key: tuple(data[key]) for key in ("aliases", "rows")}
        return Entry(**{**data, **lists, "task": Task(**data["task"])})

    def excluded(self, reason: str) -> Entry:
        return replace(self, skip=reason)


def materialise(entry: Entry, directory: Path) -> Entry:
    """Write a fitted entry's files where its task looks for them: beside `directory`/NAME.py."""
    if not entry.files:
        return entry
    target = (directory / f"{entry.name}.py").parent
    target.mkdir(parents=True, exist_ok=True)
    for name, text in entry.files.items():
        (target / name).write_text(text, encoding="utf-8")
    return replace(entry, task=replace(entry.task, directory=str(directory.resolve())))
