"""NPUKernelBench set (a): AscendC tasks with a PyTorch reference, a function of inputs and a table of cases."""

from __future__ import annotations

import ast
import csv
import math
from pathlib import Path
from typing import Any

from atrl_ms.errors import UserError
from atrl_ms.types import Task
from sandbox.benchmarks.entry import Entry
from sandbox.benchmarks.kernelbench import DEVICE_MODULES, NEEDS_NPU
from sandbox.benchmarks.rewrite import WithoutModules, uses_module

MODULES = (*DEVICE_MODULES, "kernel_gen_ops", "framework")  # of the device, of the benchmark's own harness
DROPPED = ("ModelNew", "custom_check_precision")  # the shipped candidate, and checks that the sandbox replaces
RENAMED = {"get_inputs": "case_inputs", "get_init_inputs": "case_init_inputs"}
MISSING = ("", "NA", "NaN", "nan", "N/A", "null", "NULL", "None", "n/a")

RANDN = '''
def _randn(*size, dtype=None, **options):
    """torch.randn, which has no integers: those are drawn as floats and cast."""
    if dtype is None or dtype.is_floating_point or dtype.is_complex:
        return torch.randn(*size, dtype=dtype, **options)
    return torch.randn(*size, **options).to(dtype)
'''

INTERFACE = """
def get_input_groups():
    return [list(case_inputs(dict(case), device="cpu")) for case in CASES]


def get_init_inputs():
    return list(case_init_inputs(dict(CASES[0]), device="cpu"))
"""


def npukernelbench(root: Path) -> list[Entry]:
    """`tasks/level{1,2,3}/Category/Op/validation/`."""
    base = next((d for d in (root / "tasks", root) if (d / "level1").is_dir()), None)
    files = sorted(base.glob("level*/*/*/validation/module.py")) if base else []
    if base is None or not files:
        raise UserError(f"{root}: no tasks/level1/Category/Op/validation; give the root of a clone of NPUKernelBench")
    entries = []
    for file in files:
        operator = file.parent.parent
        level, category = operator.parent.parent.name, operator.parent.name
        name = f"{level}/{category}/{operator.name}"
        try:
            source, skip = model_text(file.parent), ""
            rows = tuple(read_cases(file.parent / "test_cases.csv"))
            if not rows:
                skip = "test_cases.csv has no case"
            elif any(uses_module(source, module) for module in DEVICE_MODULES):
                skip = NEEDS_NPU
        except (OSError, SyntaxError, ValueError) as error:
            source, rows, skip = "", (), f"cannot be read: {type(error).__name__}: {error}"
        task = Task(name, source, family=category, directory=str(base.resolve()))
        entries.append(Entry(task, level.removeprefix("level"), category, (operator.name,), "rows", skip, {}, rows))
    return entries


def model_text(folder: Path) -> str:
    """Model, and the functions of inputs under other names, in one text without the modules of a device."""
    body: list[ast.stmt] = []
    for name in ("module.py", "prepare_inputs.py"):
        tree = ast.parse((folder / name).read_text(encoding="utf-8"))
        tree = RandnOfIntegers().visit(WithoutModules(MODULES).visit(tree))
        body += [node for node in tree.body if getattr(node, "name", "") not in DROPPED]
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            strip_docstrings(node)
    body = [node for i, node in enumerate(body) if not (is_import(node) and is_repeated(node, body[:i]))]
    body.sort(key=lambda node: not is_import(node))
    module = ast.fix_missing_locations(ast.Module(body, []))
    text = ast.unparse(module)
    first = text.find("\nclass ")
    helper = RANDN if "_randn(" in text else ""
    return text[:first] + "\n" + helper + text[first:] + "\n" if first >= 0 else text + helper + "\n"


def is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def is_repeated(node: ast.stmt, before: list[ast.stmt]) -> bool:
    return any(ast.dump(node) == ast.dump(other) for other in before)


class RandnOfIntegers(ast.NodeTransformer):
    """torch.randn becomes _randn; the functions of inputs get their new names."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr == "randn" and isinstance(node.value, ast.Name) and node.value.id == "torch":
            return ast.Name("_randn", node.ctx)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.name = RENAMED.get(node.name, node.name)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(RENAMED.get(node.id, node.id), node.ctx)


def strip_docstrings(node: ast.FunctionDef | ast.ClassDef) -> None:
    """Remove documentation texts: a reference is shown to models without them."""
    for item in ast.walk(node):
        if isinstance(item, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(item, clean=False) is not None:
            item.body = item.body[1:] or [ast.Pass()]


def with_cases(source: str, cases: list[dict[str, Any]]) -> str:
    """The complete task: the reference with these cases."""
    text = f"{source}\n\nnan = float('nan')\nCASES = [\n" + "".join(f"    {case!r},\n" for case in cases) + "]\n"
    return text + "\n" + INTERFACE


def read_cases(file: Path) -> list[dict[str, Any]]:
    """The rows of a table of cases, with the types that a data frame would give its columns.

    Raises:
        ValueError: not such a table.
    """
    with file.open(encoding="utf-8-sig", newline="") as stream:
        table = [row for row in csv.reader(stream, delimiter=";") if any(cell.strip() for cell in row)]
    if not table:
        return []
    header = [cell.strip() for cell in table[0]]
    for number, row in enumerate(table[1:], 2):
        if len(row) > len(header):
            raise ValueError(f"{file.name}: row {number} has {len(row)} cells, the header {len(header)}")
    columns = []
    for i in range(len(header)):
        columns.append(typed_column([row[i] if i < len(row) else "" for row in table[1:]]))
    return [dict(zip(header, values, strict=True)) for values in zip(*columns, strict=True)]


def typed_column(cells: list[str]) -> list[Any]:
    """One column: integers, numbers or truth values if all cells are, else text; missing ones are NaN."""
    stripped = [cell.strip() for cell in cells]
    present = [cell for cell in stripped if cell not in MISSING]
    missing = len(present) < len(stripped)
    if present and all(cell.lower() in ("true", "false") for cell in present):
        return [math.nan if cell in MISSING else cell.lower() == "true" for cell in stripped]
    for kind in (int, float):
        try:
            values = [kind(cell) for cell in present]
        except ValueError:
            continue
        numbers = iter([float(v) for v in values] if missing else values)
        return [math.nan if cell in MISSING else next(numbers) for cell in stripped]
    return [math.nan if cell in MISSING else cell for cell in stripped]


def largest_extent(case: dict[str, Any]) -> int:
    """Elements of the largest list of sizes among a row's cells: what orders the cases before anything is built."""
    found = 0
    for cell in case.values():
        try:
            value = ast.literal_eval(cell) if isinstance(cell, str) else cell
        except (ValueError, SyntaxError):
            continue
        found = max(found, extent(value))
    return found


def extent(value: Any) -> int:
    """Product of a list of integers; of nested lists their sum; an integer is itself."""
    if type(value) is int:
        return value
    if isinstance(value, list | tuple) and value:
        if all(type(v) is int for v in value):
            return math.prod(abs(v) for v in value)
        return sum(extent(v) for v in value if isinstance(v, list | tuple))
    return 0
