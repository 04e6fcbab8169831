"""Bodies for the library functions that triton-ascend's lowering only declares (`@triton_sort`, `@__hmf_tanhf` ...).

Each is written as MLIR for the declared shape and inlined into the kernel, so that it goes through the same passes and
the optimiser sees constant axes.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sandbox.execute.library_ops import histograms, rounding_casts
from sandbox.execute.library_tensors import Declaration, NoBody, flip, gather, nothing, scan, sort

_TENSOR_FUNCTIONS: dict[str, Callable[[Declaration], str]] = {
    "triton_cumsum": scan("add"),
    "triton_cumprod": scan("mul"),
    "triton_flip": flip,
    "triton_gather": gather,
    "triton_sort": sort,
    "triton_print": nothing,
    "triton_assert": nothing,
}


def with_bodies(text: str) -> str:
    """Give every declared library function a body.

    Raises:
        NoBody: a function or a shape that is not known here.
    """
    text, extra = histograms(text)
    text, casts = rounding_casts(text)
    extra += casts
    text = re.sub(
        r"^\s*func\.func private @([\w.$]+)\(([^)]*)\)(?: -> ([^\s{]+))?(?: attributes \{[^}]*\})?\s*$",
        lambda match: _body(Declaration(match[1], _split(match[2]), match[3] or "")),
        text,
        flags=re.MULTILINE,
    )
    end = text.rindex("}")
    return text[:end] + extra + text[end:]


def _split(parameters: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in parameters.split(",") if part.strip())


def _body(declaration: Declaration) -> str:
    name = re.sub(r"_\d+$", "", declaration.name)
    if declaration.name.startswith("__hmf_"):
        lines = _math(declaration)
    elif name in _TENSOR_FUNCTIONS:
        lines = _TENSOR_FUNCTIONS[name](declaration)
    else:
        raise NoBody(f"no native version of the library call {declaration.name}")
    parameters = ", ".join(f"%p{i}: {kind}" for i, kind in enumerate(declaration.parameters))
    result = f" -> {declaration.result}" if declaration.result else ""
    return f"  func.func private @{declaration.name}({parameters}){result} {{\n{lines}\n  }}\n"


# ---------------------------------------------------------------- scalar functions

# name after __hmf_ -> operation on f32 values; "@f" is libm's f.
_UNARY = {
    "tanh": "math.tanh",
    "tan": "math.tan",
    "atan": "math.atan",
    "log1p": "math.log1p",
    "round": "math.round",
}


def _math(declaration: Declaration) -> str:
    """A device-library function on scalars, computed in float32."""
    name = re.fullmatch(r"__hmf_(\w+?)(?:f|Dh)?", declaration.name)
    base = name[1] if name else ""
    if declaration.name in ("__hmf_isinf", "__hmf_powi"):
        base = declaration.name.removeprefix("__hmf_")
    kind, result = declaration.parameters[0], declaration.result
    if base == "powi":
        return _integer_power(kind)
    lines = [_widen(f"%p{i}", f"%x{i}", declared) for i, declared in enumerate(declaration.parameters)]
    if base in ("isnan", "isinf"):
        check = (
            ["%r = arith.cmpf uno, %x0, %x0 : f32"]
            if base == "isnan"
            else [
                "%inf = arith.constant 0x7F800000 : f32",
                "%abs = math.absf %x0 : f32",
                "%r = arith.cmpf oeq, %abs, %inf : f32",
            ]
        )
        return "\n".join("    " + line for line in [*lines, *check, f"return %r : {result}"])
    if base in _UNARY:
        lines.append(f"%y = {_UNARY[base]} %x0 : f32")
    elif base == "pow":
        lines.append("%y = math.powf %x0, %x1 : f32")
    elif base == "recip":
        lines += ["%one = arith.constant 1.0 : f32", "%y = arith.divf %one, %x0 : f32"]
    elif base == "relu":
        lines += ["%zero = arith.constant 0.0 : f32", "%y = arith.maximumf %x0, %zero : f32"]
    elif base == "ldexp":
        lines += ["%scale = math.exp2 %x1 : f32", "%y = arith.mulf %x0, %scale : f32"]
    elif base == "ilogb":
        lines += [
            "%bits = arith.bitcast %x0 : f32 to i32",
            "%mask = arith.constant 255 : i32",
            "%shift = arith.constant 23 : i32",
            "%bias = arith.constant 127 : i32",
            "%high = arith.shrui %bits, %shift : i32",
            "%exponent = arith.andi %high, %mask : i32",
            "%unbiased = arith.subi %exponent, %bias : i32",
            "%y = arith.sitofp %unbiased : i32 to f32",
        ]
    else:
        raise NoBody(f"no native version of the library call {declaration.name}")
    lines.append("%r = arith.bitcast %y : f32 to f32" if result == "f32" else f"%r = arith.truncf %y : f32 to {result}")
    return "\n".join("    " + line for line in [*lines, f"return %r : {result}"])


def _integer_power(kind: str) -> str:
    """a ** b by squaring; a negative exponent gives 1 / a ** -b rounded to zero, so 0 except for a = 1 and a = -1."""
    return f"""    %zero = arith.constant 0 : {kind}
    %one = arith.constant 1 : {kind}
    %minus = arith.constant -1 : {kind}
    %end:3 = scf.while (%b = %p1, %base = %p0, %acc = %one) : ({kind}, {kind}, {kind}) -> ({kind}, {kind}, {kind}) {{
      %more = arith.cmpi sgt, %b, %zero : {kind}
      scf.condition(%more) %b, %base, %acc : {kind}, {kind}, {kind}
    }} do {{
    ^bb0(%b: {kind}, %base: {kind}, %acc: {kind}):
      %low = arith.andi %b, %one : {kind}
      %odd = arith.cmpi eq, %low, %one : {kind}
      %product = arith.muli %acc, %base : {kind}
      %next = arith.select %odd, %product, %acc : {kind}
      %square = arith.muli %base, %base : {kind}
      %half = arith.shrsi %b, %one : {kind}
      scf.yield %half, %square, %next : {kind}, {kind}, {kind}
    }}
    %negative = arith.cmpi slt, %p1, %zero : {kind}
    %is_one = arith.cmpi eq, %p0, %one : {kind}
    %is_minus = arith.cmpi eq, %p0, %minus : {kind}
    %parity = arith.andi %p1, %one : {kind}
    %even = arith.cmpi eq, %parity, %zero : {kind}
    %sign = arith.select %even, %one, %minus : {kind}
    %unit = arith.select %is_minus, %sign, %zero : {kind}
    %inverse = arith.select %is_one, %one, %unit : {kind}
    %r = arith.select %negative, %inverse, %end#2 : {kind}
    return %r : {kind}"""


def _widen(source: str, target: str, kind: str) -> str:
    if kind == "f32":
        return f"{target} = arith.bitcast {source} : f32 to f32"
    return f"{target} = arith.extf {source} : {kind} to f32"
