"""From the lines of a reference's `forward` to Triton statements, with the mistakes people make.

The reference of a built-in task is a short body such as

    x = x * 0.5
    return torch.softmax(x, dim=-1)

Each line becomes a `Step`: the right Triton lines and, where there is a typical confusion, wrong ones.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

# name -> (right expression, a typical wrong one); {v} is the operand, {a} further arguments.
FUNCTIONS: dict[str, tuple[str, str]] = {
    "relu": ("tl.maximum({v}, 0.0)", "tl.abs({v})"),
    "sigmoid": ("tl.sigmoid({v})", "1.0 / (1.0 + tl.exp({v}))"),
    "tanh": ("tl.math.tanh({v})", "2.0 * tl.sigmoid({v}) - 1.0"),
    "abs": ("tl.abs({v})", "tl.maximum({v}, 0.0)"),
    "square": ("{v} * {v}", "{v} + {v}"),
    "exp": ("tl.exp({v})", "tl.exp2({v})"),
    "clamp": ("tl.minimum(tl.maximum({v}, {a[0]}), {a[1]})", "tl.minimum(tl.maximum({v}, 0.0), {a[1]})"),
    "maximum": ("tl.maximum({v}, {a[0]})", "tl.minimum({v}, {a[0]})"),
    "minimum": ("tl.minimum({v}, {a[0]})", "tl.maximum({v}, {a[0]})"),
    "silu": ("{v} * tl.sigmoid({v})", "tl.sigmoid({v})"),
    "gelu": ("0.5 * {v} * (1.0 + tl.erf({v} * 0.70710678))", "0.5 * {v} * (1.0 + tl.erf({v}))"),
    "softplus": ("tl.where({v} > 20.0, {v}, tl.log(1.0 + tl.exp({v})))", "tl.log(tl.exp({v}))"),
    "leaky_relu": ("tl.where({v} > 0.0, {v}, {v} * {a[0]})", "tl.maximum({v}, 0.0)"),
    "elu": ("tl.where({v} > 0.0, {v}, tl.exp({v}) - 1.0)", "tl.where({v} > 0.0, {v}, tl.exp({v}))"),
    "hardsigmoid": (
        "tl.minimum(tl.maximum({v} / 6.0 + 0.5, 0.0), 1.0)",
        "tl.minimum(tl.maximum({v} + 0.5, 0.0), 1.0)",
    ),
    "hardswish": (
        "{v} * tl.minimum(tl.maximum({v} / 6.0 + 0.5, 0.0), 1.0)",
        "tl.minimum(tl.maximum({v} / 6.0 + 0.5, 0.0), 1.0)",
    ),
    "relu6": ("tl.minimum(tl.maximum({v}, 0.0), 6.0)", "tl.maximum({v}, 0.0)"),
}

CORES = {"softmax", "log_softmax", "logsumexp", "layer_norm", "cross_entropy"}


@dataclass(frozen=True)
class Step:
    """One line of the reference. `core` names a reduction or data movement that a template must handle."""

    lines: tuple[str, ...]
    wrong: tuple[str, ...] | None = None
    core: str = ""


def forward_body(source: str) -> tuple[list[str], list[str]]:
    """Parameter names and body lines of `Model.forward` in a task's source."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef) and node.name == "Model":
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and item.name == "forward":
                    return [a.arg for a in item.args.args[1:]], [ast.unparse(s) for s in item.body]
    raise ValueError("no Model.forward in the source")


def translate(body: list[str]) -> list[Step]:
    """Steps of a body; every step leaves its result in `x`."""
    return [step for line in body if (step := _step(line)) is not None]


def _step(line: str) -> Step | None:
    statement = ast.parse(line.replace("return ", "x = ", 1) if line.startswith("return") else line).body[0]
    assert isinstance(statement, ast.Assign)
    value, text = statement.value, ast.unparse(statement.value)
    if text == "x.shape[1] // 2" or isinstance(value, ast.Tuple):
        return None  # names of halves: the template loads them
    core = _core(value, text)
    if core:
        return Step((), core=core)
    right, wrong = _expression(value, wrong=False), _expression(value, wrong=True)
    return Step((f"x = {right}",), (f"x = {wrong}",) if wrong != right else None)


def _core(value: ast.expr, text: str) -> str:
    """Name of the reduction or movement in a line, "" for element-wise lines."""
    if text in ("x[idx]", "a @ b", "x.t().contiguous()"):
        return {"x[idx]": "gather", "a @ b": "dot", "x.t().contiguous()": "transpose"}[text]
    if "rsqrt(x.square().mean" in text:
        return "rms_w" if text.endswith("* w") else "rms_5"
    if "rsqrt(x.square().sum" in text:
        return "l2"
    if text == "x - x.mean(-1, keepdim=True)":
        return "centre"
    if text == "(x * y).sum(-1)":
        return "row_dot"
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        name, owner = value.func.attr, ast.unparse(value.func.value)
        if owner == "x" and name in ("sum", "mean", "amax", "amin"):
            return name
        if name in CORES:
            return name
        if name == "cat":
            return "rotary:" + "|".join(ast.unparse(e) for e in value.args[0].elts)  # type: ignore[attr-defined]
    return ""


def _expression(node: ast.expr, wrong: bool) -> str:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        operand = _expression(node.args[0], wrong=False)
        rest = [_expression(a, wrong=False) for a in node.args[1:]]
        return FUNCTIONS[node.func.attr][1 if wrong else 0].format(v=operand, a=rest)
    if isinstance(node, ast.BinOp):
        left, right = _expression(node.left, wrong), _expression(node.right, wrong)
        symbol = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}[type(node.op)]
        if wrong and isinstance(node.left, ast.Name):
            symbol = {"+": "-", "-": "+", "*": "+", "/": "*"}[symbol]
        return f"{left} {symbol} {right}"
    if isinstance(node, ast.UnaryOp):
        inner = _expression(node.operand, wrong=False)
        return inner if wrong and isinstance(node.operand, ast.Name) else f"-{inner}"
    if isinstance(node, ast.Subscript):  # s[:, None], x[:, :h], x[:, h:]: the template loads them under these names
        text = ast.unparse(node)
        return {"s[:, None]": "s", "x[:, :h]": "a", "x[:, h:]": "b"}[text]
    return ast.unparse(node)
