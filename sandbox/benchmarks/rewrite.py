"""Changes to a task's text that make it fit: smaller constants, positional arguments, no missing modules."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

CAPS = (128, 64, 48, 32, 24, 16)
LAST_CAPS = (12, 8)  # leave little room for a tail: only where nothing else fits
BATCHES = (4, 1)  # sizes of a batch where the caps alone do not make a task small enough
HALVINGS = 8
UNDIVIDED = 12  # sizes below are not divided in proportion
GROUPS = ("num_groups", "groups", "n_groups")
CHANNELS_PER_GROUP = 4  # fewer make a group normalisation degenerate


def halved(value: int, cap: int, floor: int = 0) -> int:
    """`value` halved, rounding up, until it is at most `cap`; never below `floor`."""
    while value > cap and (value + 1) // 2 >= floor:
        value = (value + 1) // 2
    return value


def smaller(value: Any, cap: int, floor: int = 0) -> Any:
    """A size, or a tuple or list of sizes, made smaller; anything else as it is."""
    if type(value) is int:
        return halved(value, cap, floor)
    if isinstance(value, tuple | list):
        return type(value)(smaller(v, cap, floor) for v in value)
    return value


def divided(value: Any, halvings: int) -> Any:
    """A size, or a tuple or list of sizes, halved, rounding up; those below UNDIVIDED (kernels, strides) are left."""
    if type(value) is int:
        return -(-value >> halvings) if value >= UNDIVIDED else value
    if isinstance(value, tuple | list):
        return type(value)(divided(v, halvings) for v in value)
    return value


def is_size(value: Any) -> bool:
    """An integer, or a tuple or list of integers and of such."""
    return type(value) is int or (isinstance(value, tuple | list) and bool(value) and all(map(is_size, value)))


@dataclass(frozen=True)
class Plan:
    """How sizes are made smaller.

    Attributes:
        cap: most that a size may be; 0 for no cap.
        batch: a smaller cap for names of batches, 0 for the same.
        halvings: halve every size of at least UNDIVIDED this often, numbers of groups too: ratios stay.
        derived: also set sizes that are computed from other names; otherwise they are left to follow from those.
    """

    cap: int = 0
    batch: int = 0
    halvings: int = 0
    derived: bool = False

    def __str__(self) -> str:
        """What is told of the task."""
        if self.halvings:
            return f"sizes divided by {2**self.halvings}"
        return f"sizes capped at {self.cap}" + (f", batch at {self.batch}" if self.batch else "")


def plans() -> list[Plan]:
    """From mild to severe: caps alone, then small batches, then all sizes in proportion, then tiny sizes."""
    found = [Plan(cap, batch) for batch in (0, *BATCHES) for cap in CAPS]
    found += [Plan(halvings=n) for n in range(1, HALVINGS + 1)]
    found += [Plan(cap, batch) for cap in LAST_CAPS for batch in (0, *BATCHES)]
    return [replace(plan, derived=derived) for plan in found for derived in (False, True)]


def resized(source: str, values: dict[str, Any], plan: Plan) -> str:
    """The source with smaller module-level sizes.

    Args:
        values: module-level names and what they hold when the file was run as it is.
    """
    tree = ast.parse(source)
    groups = max((values[n] for n in literal_names(tree) & {*GROUPS} if type(values.get(n)) is int), default=0)
    initial = init_names(tree)

    def reduced(name: str) -> Any:
        if plan.halvings:
            return divided(values[name], plan.halvings)
        if name in GROUPS:
            return values[name]
        floor = CHANNELS_PER_GROUP * groups if name in initial and groups > 1 else 0
        return smaller(values[name], plan.batch if plan.batch and "batch" in name.lower() else plan.cap, floor)

    edits = []
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if not plan.derived and reads_names(node.value):
            continue
        names = [leaf for target in targets for leaf in leaves(target)]
        if not names or not all(n in values and is_size(values[n]) for n in names):
            continue
        new = {n: reduced(n) for n in names}
        if any(new[n] != values[n] for n in names):
            edits.append((node, "; ".join(f"{n} = {new[n]!r}" for n in names)))
    return replaced(source, edits)


def replaced(source: str, edits: Sequence[tuple[ast.stmt, str]]) -> str:
    """The source with statements, in order, replaced by texts of one line. A line may hold several statements."""
    lines = [line.encode() for line in source.splitlines(keepends=True)]  # columns of the parser count bytes
    for node, text in reversed(edits):
        assert node.end_lineno is not None and node.end_col_offset is not None
        head, tail = lines[node.lineno - 1][: node.col_offset], lines[node.end_lineno - 1][node.end_col_offset :]
        lines[node.lineno - 1 : node.end_lineno] = [head + text.encode() + tail]
    return b"".join(lines).decode()


def versions(source: str, values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(what was changed, source) with ever smaller sizes, each text once."""
    seen = {source}
    for plan in plans():
        text = resized(source, values, plan)
        if text not in seen:
            seen.add(text)
            yield str(plan), text


def literal_names(tree: ast.Module) -> set[str]:
    """Module-level names whose values are written out, not computed from others."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and not reads_names(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {name for target in targets for name in leaves(target)}
    return found


def leaves(target: ast.expr) -> list[str]:
    """Names that an assignment target binds, [] if it binds anything else."""
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, ast.Tuple | ast.List):
        found = [leaves(element) for element in target.elts]
        return [name for names in found for name in names] if all(found) else []
    return []


def reads_names(value: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) for node in ast.walk(value))


def init_names(tree: ast.Module) -> set[str]:
    """Names that get_init_inputs reads: widths of layers, not extents of the data."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "get_init_inputs":
            return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return set()


def positional(source: str) -> str:
    """`Model.forward` with its keyword-only arguments made positional: groups of inputs are lists."""
    tree = ast.parse(source)
    for node in tree.body:
        if not (isinstance(node, ast.ClassDef) and node.name == "Model"):
            continue
        for item in node.body:
            if isinstance(item, ast.FunctionDef) and item.name == "forward" and item.args.kwonlyargs:
                arguments = item.args
                if any(d is None for d in arguments.kw_defaults) and arguments.defaults:
                    return source  # a required argument after optional ones cannot be positional
                arguments.args += arguments.kwonlyargs
                arguments.defaults += [d for d in arguments.kw_defaults if d is not None]
                arguments.kwonlyargs, arguments.kw_defaults = [], []
                return ast.unparse(tree) + "\n"
    return source


def uses_module(source: str, name: str) -> bool:
    """Whether the text reads something of a module, beyond importing it."""
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(ast.parse(source)))


class WithoutModules(ast.NodeTransformer):
    """Drops imports of modules that are only there on a device, wherever they stand."""

    def __init__(self, modules: tuple[str, ...]) -> None:
        self.modules = modules

    def gone(self, name: str | None) -> bool:
        return name is not None and name.split(".")[0] in self.modules

    def visit_Import(self, node: ast.Import) -> ast.AST | None:
        node.names = [alias for alias in node.names if not self.gone(alias.name)]
        return node if node.names else None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        return None if self.gone(node.module) else node


def without_modules(source: str, modules: tuple[str, ...]) -> str:
    """The source without imports of `modules`; unchanged text if there are none."""
    tree = ast.parse(source)
    before = ast.dump(tree)
    tree = WithoutModules(modules).visit(tree)
    for node in ast.walk(tree):  # a body must not become empty
        if isinstance(node, ast.FunctionDef | ast.If | ast.Try | ast.ClassDef) and not node.body:
            node.body = [ast.Pass()]
    return source if ast.dump(tree) == before else ast.unparse(ast.fix_missing_locations(tree)) + "\n"
