"""The built-in operator suite: family files in sandbox/tasks/ times the variants of sandbox/tasks/variants.yaml.

A family file is a complete KernelBench-style task. A variant replaces the body of `Model.forward` and the constant
`SHAPES`; nothing else changes. Held-out variants join unseen bodies with unseen shapes.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import yaml

from atrl_ms.errors import UserError
from atrl_ms.types import Task

TASKS_DIR = Path(__file__).parent / "tasks"


@cache
def load_suite() -> tuple[Task, ...]:
    """All variants of all families, training ones first within a family, in a fixed order."""
    table = yaml.safe_load((TASKS_DIR / "variants.yaml").read_text())
    tasks = []
    for family, entry in table["families"].items():
        template = (TASKS_DIR / f"{family}.py").read_text()
        for split in ("train", "held_out"):
            for b, body in enumerate(entry[split]):
                for s, shapes in enumerate(table["shapes"][entry["shapes"]][split]):
                    tasks.append(
                        Task(
                            name=f"{family}/{split}-{b:02d}-{s}",
                            source=render_variant(template, body, shapes),
                            family=family,
                            held_out=split == "held_out",
                        )
                    )
    return tuple(tasks)


def train_tasks(families: list[str] | None = None) -> list[Task]:
    """Tasks that demonstrations and training steps may use."""
    return [t for t in load_suite() if not t.held_out and _wanted(t, families)]


def held_out_tasks(families: list[str] | None = None) -> list[Task]:
    """Tasks for evaluation only."""
    return [t for t in load_suite() if t.held_out and _wanted(t, families)]


def _wanted(task: Task, families: list[str] | None) -> bool:
    if families:
        unknown = set(families) - {t.family for t in load_suite()}
        if unknown:
            raise UserError(f"tasks.families: no such operator: {', '.join(sorted(unknown))}; see `atrl tasks`")
    return not families or task.family in families


def find_task(name: str) -> Task:
    """The variant of that name, for example "softmax/held_out-00-1".

    Raises:
        UserError: no such variant.
    """
    for task in load_suite():
        if task.name == name:
            return task
    raise UserError(f"{name}: no such task in the built-in suite; `atrl tasks` lists them")


def render_variant(template: str, body: str, shapes: str) -> str:
    """`template` with the body of `Model.forward` and the value of `SHAPES` replaced, its docstring dropped."""
    module = ast.parse(template)
    lines = template.splitlines()
    edits: list[tuple[int, int, list[str]]] = []  # first line, one past the last line, replacement
    for node in module.body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            edits.append((node.lineno - 1, node.end_lineno + 1, []))  # type: ignore[operator]
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SHAPES":
            edits.append((node.lineno - 1, node.end_lineno, [f"SHAPES = {shapes}"]))  # type: ignore[arg-type]
        elif isinstance(node, ast.ClassDef) and node.name == "Model":
            forward = next(n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "forward")
            first, last = forward.body[0].lineno - 1, forward.body[-1].end_lineno
            edits.append((first, last, [" " * 8 + line for line in body.splitlines()]))  # type: ignore[arg-type]
    for first, last, replacement in sorted(edits, reverse=True):
        lines[first:last] = replacement
    text = "\n".join(lines) + "\n"
    return text if "F." in text.split("class Model")[1] else text.replace("import torch.nn.functional as F\n", "")
