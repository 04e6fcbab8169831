"""Values of scalar operations; None stands for a value that depends on data nobody knows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from sandbox.profile.program import Op
from sandbox.profile.views import View

ALU_COST = {
    "arith.divsi": 8.0, "arith.divui": 8.0, "arith.remsi": 8.0, "arith.remui": 8.0, "arith.divf": 16.0,
    "arith.ceildivsi": 10.0, "arith.floordivsi": 10.0, "math.sqrt": 16.0, "math.rsqrt": 16.0, "math.exp": 32.0,
    "arith.index_cast": 0.0, "arith.extsi": 0.0, "arith.extui": 0.0, "arith.trunci": 0.0, "arith.bitcast": 0.0,
}  # fmt: skip

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "slt": lambda a, b: a < b,
    "sle": lambda a, b: a <= b,
    "sgt": lambda a, b: a > b,
    "sge": lambda a, b: a >= b,
    "ult": lambda a, b: a < b,
    "ule": lambda a, b: a <= b,
    "ugt": lambda a, b: a > b,
    "uge": lambda a, b: a >= b,
}


def _quotient(a: int, b: int) -> int | None:
    """Division toward zero."""
    if b == 0:
        return None
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "divsi": _quotient,
    "divui": _quotient,
    "remsi": lambda a, b: None if b == 0 else a - b * (_quotient(a, b) or 0),
    "remui": lambda a, b: None if b == 0 else a % b,
    "floordivsi": lambda a, b: None if b == 0 else a // b,
    "ceildivsi": lambda a, b: None if b == 0 else -(-a // b),
    "ceildivui": lambda a, b: None if b == 0 else -(-a // b),
    "minsi": min,
    "maxsi": max,
    "minui": min,
    "maxui": max,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "shli": lambda a, b: a << b if 0 <= b < 64 else None,
    "shrsi": lambda a, b: a >> b if b >= 0 else None,
    "shrui": lambda a, b: a >> b if b >= 0 else None,
    "addf": lambda a, b: a + b,
    "subf": lambda a, b: a - b,
    "mulf": lambda a, b: a * b,
    "divf": lambda a, b: None if b == 0 else a / b,
    "minimumf": min,
    "maximumf": max,
    "minnumf": min,
    "maxnumf": max,
}


def evaluate(op: Op, operands: list[Any]) -> Any:
    """Value of an `arith` or `math` operation; None when it depends on something unknown."""
    name = op.name.partition(".")[2]
    if name == "select":
        condition, yes, no = operands
        if condition is None:
            return yes if yes is no or isinstance(yes, View) else None
        return yes if condition else no
    if name in ("index_cast", "index_castui", "extsi", "extui", "trunci", "bitcast", "extf", "truncf"):
        value = operands[0]
        to_bool = op.types and op.types[-1] == "i1"
        return value & 1 if to_bool and isinstance(value, int) else value
    if name in ("sitofp", "uitofp"):
        return None if operands[0] is None else float(operands[0])
    if name in ("fptosi", "fptoui"):
        return None if operands[0] is None or not math.isfinite(operands[0]) else int(operands[0])
    if None in operands or any(isinstance(o, str) for o in operands):
        # and/or with one known operand can be decided
        if name == "andi" and 0 in operands:
            return 0
        if name == "ori" and op.types and op.types[-1] == "i1" and 1 in operands:
            return 1
        return None
    if name == "cmpi":
        return int(_COMPARE[op.attributes["predicate"]](*operands))
    if name == "cmpf":
        predicate = op.attributes["predicate"][1:]
        compare = _COMPARE.get(predicate) or _COMPARE.get(f"s{predicate}")
        return None if compare is None else int(compare(*operands))
    function = _BINARY.get(name)
    if function is None or len(operands) != 2:
        return None
    try:
        return function(*operands)
    except (OverflowError, ValueError, TypeError):
        return None
