"""Changes to a task's text that make it fit: smaller constants, positional arguments, no missing modules."""

from __future__ import annotations

import ast
from typing import Any

CAPS = (128, 64, 48, 32, 24, 16)
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


def is_size(value: Any) -> bool:
    """An integer, or a tuple or list of integers and of such."""
    return type(value) is int or (isinstance(value, tuple | list) and bool(value) and all(map(is_size, value)))


def capped(source: str, values: dict[str, Any], cap: int, *, derived: bool) -> str:
    """The source with every module-level size at most `cap`.

    Args:
        values: module-level names and what they hold when the file was run as it is.
        derived: also set sizes that are computed from other names; otherwise they are left to follow from those.
    """
    tree = ast.parse(source)
    groups = max((values[n] for n in GROUPS if type(values.get(n)) is int), default=0)
    initial = init_names(tree)
    edits = []
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if not derived and reads_names(node.value):
            continue
        names = [leaf for target in targets for leaf in leaves(target)]
        if not names or not all(n in values and is_size(values[n]) for n in names):
            continue
        floors = {n: CHANNELS_PER_GROUP * groups if n in initial and groups > 1 else 0 for n in names}
        new = {n: values[n] if n in GROUPS else smaller(values[n], cap, floors[n]) for n in names}
        if any(new[n] != values[n] for n in names):
            edits.append((node, "\n".join(f"{n} = {new[n]!r}" for n in names)))
    lines = source.splitlines()
    for node, text in reversed(edits):
        lines[node.lineno - 1 : node.end_lineno] = text.split("\n")
    return "\n".join(lines) + "\n"


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
