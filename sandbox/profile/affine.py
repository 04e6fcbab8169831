"""Affine maps as the compiler prints them: `affine_map<(d0)[s0, s1] -> (s0 floordiv 64, d0 * 4 + s1)>`."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(r"\s*(floordiv|ceildiv|mod|[ds]\d+|\d+|[-+*(),])")
_MAP = re.compile(r"affine_map<\(([^)]*)\)(?:\[([^\]]*)\])?\s*->\s*\((.*)\)>$")

# An expression is an int, a name, or (operator, left, right).
Expr = int | str | tuple


@dataclass(frozen=True)
class AffineMap:
    """Dimensions, symbols and result expressions of one map."""

    dims: tuple[str, ...]
    symbols: tuple[str, ...]
    results: tuple[Expr, ...]

    def apply(self, values: list[int | None]) -> list[int | None]:
        """Results for operands in the order dimensions, then symbols; None where an operand is unknown."""
        names = dict(zip(self.dims + self.symbols, values, strict=True))
        return [_evaluate(e, names) for e in self.results]


def _evaluate(e: Expr, names: dict[str, int | None]) -> int | None:
    if isinstance(e, int):
        return e
    if isinstance(e, str):
        return names[e]
    left, right = _evaluate(e[1], names), _evaluate(e[2], names)
    if left is None or right is None:
        return None
    operator = e[0]
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    if right == 0:
        return None
    if operator == "floordiv":
        return left // right
    if operator == "ceildiv":
        return -(-left // right)
    return left % right


def parse_map(text: str) -> AffineMap:
    """Parse `affine_map<...>`.

    Raises:
        ValueError: the text is not an affine map.
    """
    match = _MAP.match(text.strip())
    if not match:
        raise ValueError(f"not an affine map: {text}")
    names = [tuple(n.strip() for n in (g or "").split(",") if n.strip()) for g in match.groups()[:2]]
    tokens = _TOKEN.findall(match.group(3))
    parser = _Parser(tokens)
    results = [parser.sum()]
    while parser.peek() == ",":
        parser.take()
        results.append(parser.sum())
    if parser.peek():
        raise ValueError(f"unexpected '{parser.peek()}' in {text}")
    return AffineMap(names[0], names[1], tuple(results))


class _Parser:
    """Recursive descent: sum of products of signed atoms; floordiv, ceildiv and mod bind like the product."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.position = 0

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.position += 1
        return token

    def sum(self) -> Expr:
        left = self.product()
        while self.peek() in ("+", "-"):
            left = (self.take(), left, self.product())
        return left

    def product(self) -> Expr:
        left = self.atom()
        while self.peek() in ("*", "floordiv", "ceildiv", "mod"):
            left = (self.take(), left, self.atom())
        return left

    def atom(self) -> Expr:
        token = self.take()
        if token == "-":
            return ("-", 0, self.atom())
        if token == "(":
            inner = self.sum()
            if self.take() != ")":
                raise ValueError("missing ')' in an affine map")
            return inner
        if not token:
            raise ValueError("an affine map ends too early")
        return int(token) if token.isdigit() else token
