"""Sizes that a candidate is not shown: the module-level integer constants of a task made prime, smaller and larger."""

from __future__ import annotations

import ast
from dataclasses import replace

import torch

from atrl_ms.types import Task
from sandbox.task import draw, load, set_seeds
from sandbox.tensors import tree_tensors

MAX_SIZE = 1 << 22  # elements that a hidden shape may have per input


def hidden_variants(task: Task) -> list[Task]:
    """The task at other sizes: its module-level integer constants made prime, smaller and larger.

    Only for tasks with a single shape. Sizes at which the reference does not run are left out; where constants depend
    on each other (heads and width), the first one that may change alone does.
    """
    module = load(task)
    if hasattr(module, "get_input_groups"):
        return []
    sizes = _size_constants(task.source)
    if not sizes:
        return []
    smaller = {name: _prime_below(value) for name, value in sizes.items() if value > 4}
    found = []
    for name, choices in (
        ("smaller", [smaller, *({n: v} for n, v in smaller.items())]),
        ("larger", [{n: _prime_above(v)} for n, v in sizes.items()]),
    ):
        variants = (_with_constants(task, f"{task.name} {name}", choice) for choice in choices if choice)
        found += [v for v in variants if _runs(v)][:1]
    return found


def _size_constants(source: str) -> dict[str, int]:
    """Top-level `NAME = INTEGER` with a value of at least 2, in order."""
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value = node.value.value if isinstance(node.value, ast.Constant) else None
            if type(value) is int and value >= 2:
                found[node.targets[0].id] = value
    return found


def _with_constants(task: Task, name: str, values: dict[str, int]) -> Task:
    tree = ast.parse(task.source)
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in values:
            node.value = ast.Constant(values[node.targets[0].id])
    return replace(task, name=name, source=ast.unparse(ast.fix_missing_locations(tree)))


def _runs(task: Task) -> bool:
    """The reference accepts the sizes, within the memory that a case may take."""
    try:
        module = load(task)
        set_seeds(0)
        model = module.Model(*(module.get_init_inputs() if hasattr(module, "get_init_inputs") else []))
        inputs = draw(module, 0)[0]
        if any(t.numel() > MAX_SIZE for t in tree_tensors(inputs)):
            return False
        with torch.no_grad():
            outputs = tree_tensors(model(*inputs))
    except Exception:
        return False
    return all(t.numel() for t in outputs)


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))


def _prime_below(n: int) -> int:
    return next(p for p in range(n - 1, 1, -1) if _is_prime(p))


def _prime_above(n: int) -> int:
    return next(p for p in range(n + 1, 2 * n + 2) if _is_prime(p))
