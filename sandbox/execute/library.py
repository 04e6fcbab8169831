"""Bodies for the library functions that triton-ascend's lowering only declares (`@triton_sort`, `@__hmf_tanhf` ...).

Each is written as MLIR for the declared shape and inlined into the kernel, so that it goes through the same passes and
the optimiser sees constant axes. Tensors are handled flattened: element k of a line along an axis of length n, with
`inner` elements between neighbours, lies at (outer * n + k) * inner + i.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass


class NoBody(Exception):
    """A library function without a native body; the message names it."""


@dataclass(frozen=True)
class Declaration:
    """`func.func private @name(parameters) -> result`."""

    name: str
    parameters: tuple[str, ...]
    result: str


@dataclass(frozen=True)
class Tensor:
    """A static tensor type."""

    shape: tuple[int, ...]
    element: str

    @staticmethod
    def parse(text: str) -> Tensor:
        match = re.fullmatch(r"tensor<((?:\d+x)*)([a-z]+\d+)>", text.strip())
        if match is None:
            raise NoBody(f"a library call on {text}")
        return Tensor(tuple(int(size) for size in match[1].split("x") if size), match[2])

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def type(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}{self.element}>"

    @property
    def flat(self) -> str:
        return f"tensor<{self.size}x{self.element}>"

    @property
    def buffer(self) -> str:
        return f"memref<{self.size}x{self.element}>"

    @property
    def is_float(self) -> bool:
        return not self.element.startswith("i")


def with_bodies(text: str) -> str:
    """Give every declared library function a body.

    Raises:
        NoBody: a function or a shape that is not known here.
    """
    text, extra = _histograms(text)
    text, casts = _rounding_casts(text)
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


# ---------------------------------------------------------------- tensor functions


def _lines_along(tensor: Tensor, axis: str, axis_type: str) -> str:
    """Constants and %n, %inner, %outer for the axis value (negative counts from the end); %x is the flat tensor."""
    rank = len(tensor.shape)
    text = [
        "%c0 = arith.constant 0 : index",
        "%c1 = arith.constant 1 : index",
        "%c2 = arith.constant 2 : index",
        f"%total = arith.constant {tensor.size} : index",
        f"%axis = arith.index_cast {axis} : {axis_type} to index",
        f"%rank = arith.constant {rank} : index",
        "%negative = arith.cmpi slt, %axis, %c0 : index",
        "%from_end = arith.addi %axis, %rank : index",
        "%dim = arith.select %negative, %from_end, %axis : index",
        f"%n{rank} = arith.constant 1 : index",
        f"%inner{rank} = arith.constant 1 : index",
    ]
    for position in reversed(range(rank)):
        text += [
            f"%pos{position} = arith.constant {position} : index",
            f"%is{position} = arith.cmpi eq, %dim, %pos{position} : index",
            f"%size{position} = arith.constant {tensor.shape[position]} : index",
            f"%step{position} = arith.constant {math.prod(tensor.shape[position + 1 :])} : index",
            f"%n{position} = arith.select %is{position}, %size{position}, %n{position + 1} : index",
            f"%inner{position} = arith.select %is{position}, %step{position}, %inner{position + 1} : index",
        ]
    text += [
        "%line = arith.muli %n0, %inner0 : index",
        "%outer = arith.divui %total, %line : index",
        "%last = arith.subi %n0, %c1 : index",
    ]
    return "\n".join("    " + line for line in text)


def _flatten(source: str, target: str, tensor: Tensor) -> str:
    if len(tensor.shape) == 1:
        return f"    {target} = tensor.cast {source} : {tensor.type} to {tensor.flat}"
    if not tensor.shape:
        return f"    {target} = tensor.expand_shape {source} [] : {tensor.type} into {tensor.flat}"
    axes = ", ".join(str(i) for i in range(len(tensor.shape)))
    return f"    {target} = tensor.collapse_shape {source} [[{axes}]] : {tensor.type} into {tensor.flat}"


def _result(tensor: Tensor) -> str:
    """Return the flat buffer %out as the declared tensor."""
    lines = [f"    %flat = bufferization.to_tensor %out restrict writable : {tensor.buffer}"]
    if len(tensor.shape) == 1:
        return "\n".join([*lines, f"    return %flat : {tensor.type}"])
    axes = ", ".join(str(i) for i in range(len(tensor.shape)))
    shape = ", ".join(str(size) for size in tensor.shape)
    lines.append(
        f"    %shaped = tensor.expand_shape %flat [[{axes}]] output_shape [{shape}] : {tensor.flat} into {tensor.type}"
    )
    return "\n".join([*lines, f"    return %shaped : {tensor.type}"])


def _scan(operation: str) -> Callable[[Declaration], str]:
    """Inclusive cumulative sum or product: (x, axis, reverse)."""

    def body(declaration: Declaration) -> str:
        tensor = Tensor.parse(declaration.parameters[0])
        # Half types accumulate in float32, as the vector unit does for scans.
        wide = "f32" if tensor.element in ("f16", "bf16") else tensor.element
        kind = wide
        combine = f"arith.{operation}{'f' if tensor.is_float else 'i'} %acc, %w : {kind}"
        start = {("add", True): "0.0", ("mul", True): "1.0", ("add", False): "0", ("mul", False): "1"}
        extend = (
            f"%w = arith.extf %v : {tensor.element} to {wide}"
            if wide != tensor.element
            else f"%w = arith.bitcast %v : {kind} to {kind}"
        )
        shrink = (
            f"%s = arith.truncf %next : {wide} to {tensor.element}"
            if wide != tensor.element
            else f"%s = arith.bitcast %next : {kind} to {kind}"
        )
        return f"""{_lines_along(tensor, "%p1", declaration.parameters[1])}
{_flatten("%p0", "%x", tensor)}
    %out = memref.alloc() : {tensor.buffer}
    %start = arith.constant {start[operation, tensor.is_float]} : {kind}
    scf.for %o = %c0 to %outer step %c1 {{
      scf.for %i = %c0 to %inner0 step %c1 {{
        %sum = scf.for %k = %c0 to %n0 step %c1 iter_args(%acc = %start) -> ({kind}) {{
          %mirror = arith.subi %last, %k : index
          %kk = arith.select %p2, %mirror, %k : index
          %a = arith.muli %o, %n0 : index
          %b = arith.addi %a, %kk : index
          %c = arith.muli %b, %inner0 : index
          %at = arith.addi %c, %i : index
          %v = tensor.extract %x[%at] : {tensor.flat}
          {extend}
          %next = {combine}
          {shrink}
          memref.store %s, %out[%at] : {tensor.buffer}
          scf.yield %next : {kind}
        }}
      }}
    }}
{_result(tensor)}"""

    return body


def _flip(declaration: Declaration) -> str:
    """Reverse along an axis: (x, axis)."""
    tensor = Tensor.parse(declaration.parameters[0])
    return f"""{_lines_along(tensor, "%p1", declaration.parameters[1])}
{_flatten("%p0", "%x", tensor)}
    %out = memref.alloc() : {tensor.buffer}
    scf.for %o = %c0 to %outer step %c1 {{
      scf.for %k = %c0 to %n0 step %c1 {{
        scf.for %i = %c0 to %inner0 step %c1 {{
          %mirror = arith.subi %last, %k : index
          %a = arith.muli %o, %n0 : index
          %b = arith.addi %a, %k : index
          %c = arith.muli %b, %inner0 : index
          %from = arith.addi %c, %i : index
          %d = arith.addi %a, %mirror : index
          %e = arith.muli %d, %inner0 : index
          %to = arith.addi %e, %i : index
          %v = tensor.extract %x[%from] : {tensor.flat}
          memref.store %v, %out[%to] : {tensor.buffer}
        }}
      }}
    }}
{_result(tensor)}"""


def _gather(declaration: Declaration) -> str:
    """out[.., j, ..] = x[.., index[.., j, ..], ..] along an axis: (x, index, axis)."""
    source, index = Tensor.parse(declaration.parameters[0]), Tensor.parse(declaration.parameters[1])
    target = Tensor(index.shape, source.element)
    ratio = f"""    %m_axis = arith.constant {index.size} : index
    %groups = arith.muli %outer, %inner0 : index
    %m = arith.divui %m_axis, %groups : index"""
    return f"""{_lines_along(source, "%p2", declaration.parameters[2])}
{_flatten("%p0", "%x", source)}
{_flatten("%p1", "%ix", index)}
{ratio}
    %out = memref.alloc() : {target.buffer}
    scf.for %o = %c0 to %outer step %c1 {{
      scf.for %k = %c0 to %m step %c1 {{
        scf.for %i = %c0 to %inner0 step %c1 {{
          %a = arith.muli %o, %m : index
          %b = arith.addi %a, %k : index
          %c = arith.muli %b, %inner0 : index
          %to = arith.addi %c, %i : index
          %j = tensor.extract %ix[%to] : {index.flat}
          %jj = arith.index_cast %j : {index.element} to index
          %lo = arith.maxsi %jj, %c0 : index
          %hi = arith.minsi %lo, %last : index
          %d = arith.muli %o, %n0 : index
          %e = arith.addi %d, %hi : index
          %f = arith.muli %e, %inner0 : index
          %from = arith.addi %f, %i : index
          %v = tensor.extract %x[%from] : {source.flat}
          memref.store %v, %out[%to] : {target.buffer}
        }}
      }}
    }}
{_result(target)}"""


def _sort(declaration: Declaration) -> str:
    """Sort along an axis: (x, axis, descending). Batcher's merge exchange, for any length; NaN counts as largest."""
    tensor = Tensor.parse(declaration.parameters[0])
    element = tensor.element
    if tensor.is_float:
        greater = f"""%gt = arith.cmpf ogt, %u, %v : {element}
                  %un = arith.cmpf uno, %u, %u : {element}
                  %vn = arith.cmpf uno, %v, %v : {element}
                  %vo = arith.xori %vn, %true : i1
                  %lt = arith.cmpf olt, %u, %v : {element}
                  %uo = arith.xori %un, %true : i1
                  %u_last = arith.andi %un, %vo : i1
                  %v_last = arith.andi %vn, %uo : i1
                  %above = arith.ori %gt, %u_last : i1
                  %below = arith.ori %lt, %v_last : i1"""
    else:
        greater = f"""%above = arith.cmpi sgt, %u, %v : {element}
                  %below = arith.cmpi slt, %u, %v : {element}"""
    return f"""{_lines_along(tensor, "%p1", declaration.parameters[1])}
{_flatten("%p0", "%x", tensor)}
    %true = arith.constant true
    %out = memref.alloc() : {tensor.buffer}
    scf.for %e = %c0 to %total step %c1 {{
      %v = tensor.extract %x[%e] : {tensor.flat}
      memref.store %v, %out[%e] : {tensor.buffer}
    }}
    scf.for %o = %c0 to %outer step %c1 {{
      scf.for %i = %c0 to %inner0 step %c1 {{
        %p_end = scf.while (%p = %c1) : (index) -> index {{
          %more = arith.cmpi ult, %p, %n0 : index
          scf.condition(%more) %p : index
        }} do {{
        ^bb0(%p: index):
          %p_next = arith.muli %p, %c2 : index
          %k_end = scf.while (%k = %p) : (index) -> index {{
            %more = arith.cmpi uge, %k, %c1 : index
            scf.condition(%more) %k : index
          }} do {{
          ^bb0(%k: index):
            %j0 = arith.remui %k, %p : index
            %limit = arith.subi %n0, %k : index
            %stride = arith.muli %k, %c2 : index
            scf.for %j = %j0 to %limit step %stride {{
              %room = arith.subi %limit, %j : index
              %width = arith.minsi %k, %room : index
              scf.for %t = %c0 to %width step %c1 {{
                %first = arith.addi %j, %t : index
                %second = arith.addi %first, %k : index
                %g1 = arith.divui %first, %p_next : index
                %g2 = arith.divui %second, %p_next : index
                %same = arith.cmpi eq, %g1, %g2 : index
                scf.if %same {{
                  %base = arith.muli %o, %n0 : index
                  %a1 = arith.addi %base, %first : index
                  %a2 = arith.addi %base, %second : index
                  %b1 = arith.muli %a1, %inner0 : index
                  %b2 = arith.muli %a2, %inner0 : index
                  %at1 = arith.addi %b1, %i : index
                  %at2 = arith.addi %b2, %i : index
                  %u = memref.load %out[%at1] : {tensor.buffer}
                  %v = memref.load %out[%at2] : {tensor.buffer}
                  {greater}
                  %swap = arith.select %p2, %below, %above : i1
                  %w1 = arith.select %swap, %v, %u : {element}
                  %w2 = arith.select %swap, %u, %v : {element}
                  memref.store %w1, %out[%at1] : {tensor.buffer}
                  memref.store %w2, %out[%at2] : {tensor.buffer}
                }}
              }}
            }}
            %k_next = arith.divui %k, %c2 : index
            scf.yield %k_next : index
          }}
          scf.yield %p_next : index
        }}
      }}
    }}
{_result(tensor)}"""


def _nothing(declaration: Declaration) -> str:
    """Device prints and asserts have no effect on results."""
    return "    return"


_TENSOR_FUNCTIONS: dict[str, Callable[[Declaration], str]] = {
    "triton_cumsum": _scan("add"),
    "triton_cumprod": _scan("mul"),
    "triton_flip": _flip,
    "triton_gather": _gather,
    "triton_sort": _sort,
    "triton_print": _nothing,
    "triton_assert": _nothing,
}


def _histograms(text: str) -> tuple[str, str]:
    """Replace `hfusion.histogram` operations by calls, and return the functions they call.

    Values outside of [0, bins) are not counted; with a mask, only selected elements are.
    """
    functions: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        result, value, bins, mask, source_type, target_type = match.groups()
        source, target = Tensor.parse(source_type.split(",")[0]), Tensor.parse(target_type)
        masked = mask is not None
        name = f"atrl_histogram_{len(functions)}"
        functions[name] = _histogram(name, source, target, int(bins), masked)
        values = f"{value}, {mask}" if masked else value
        kinds = f"{source.type}, {Tensor(source.shape, 'i1').type}" if masked else source.type
        return f"{result} = func.call @{name}({values}) : ({kinds}) -> {target.type}"

    text = re.sub(
        r"(%\w+) = hfusion\.histogram (%\w+), (\d+)(?:,? mask[ =]*(%\w+))?"
        r" : (tensor<[^>]*>(?:, tensor<[^>]*>)?) -> (\S+)",
        replace,
        text,
    )
    return text, "".join(functions.values())


def _histogram(name: str, source: Tensor, target: Tensor, bins: int, masked: bool) -> str:
    mask = Tensor(source.shape, "i1")
    parameters = f"%p0: {source.type}" + (f", %p1: {mask.type}" if masked else "")
    selected = f"%chosen = tensor.extract %m[%e] : {mask.flat}" if masked else "%chosen = arith.constant true"
    return f"""  func.func private @{name}({parameters}) -> {target.type} {{
{_flatten("%p0", "%x", source)}
{_flatten("%p1", "%m", mask) if masked else ""}
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %total = arith.constant {source.size} : index
    %bins = arith.constant {bins} : index
    %zero = arith.constant 0 : {target.element}
    %one = arith.constant 1 : {target.element}
    %out = memref.alloc() : {target.buffer}
    scf.for %e = %c0 to %bins step %c1 {{
      memref.store %zero, %out[%e] : {target.buffer}
    }}
    scf.for %e = %c0 to %total step %c1 {{
      %v = tensor.extract %x[%e] : {source.flat}
      %at = arith.index_cast %v : {source.element} to index
      {selected}
      %fits = arith.cmpi ult, %at, %bins : index
      %count = arith.andi %fits, %chosen : i1
      scf.if %count {{
        %old = memref.load %out[%at] : {target.buffer}
        %new = arith.addi %old, %one : {target.element}
        memref.store %new, %out[%at] : {target.buffer}
      }}
    }}
{_result(target)}
  }}
"""


def _rounding_casts(text: str) -> tuple[str, str]:
    """Replace `hfusion.cast` operations, whose rounding mode the upstream passes would drop, by calls.

    Raises:
        NoBody: a mode or types other than float32 to a half type, rounding toward zero.
    """
    functions: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        result, attributes, value, source_type, target_type = match.groups()
        source, target = Tensor.parse(source_type), Tensor.parse(target_type)
        mode = re.search(r"round_mode<(\w+)>", attributes)
        if mode is None or mode[1] != "trunc" or source.element != "f32" or target.element not in ("f16", "bf16"):
            raise NoBody(f"no native version of hfusion.cast {attributes} from {source.element} to {target.element}")
        name = f"atrl_cast_{len(functions)}"
        functions[name] = _cast_toward_zero(name, source, target)
        return f"{result} = func.call @{name}({value}) : ({source.type}) -> {target.type}"

    text = re.sub(
        r"(%\w+) = hfusion\.cast (\{[^}]*\}) ins\((%\w+) : (tensor<[^>]*>)\) outs\([^)]*\) -> (tensor<[^>]*>)",
        replace,
        text,
    )
    if "hfusion.cast" in text:
        raise NoBody("no native version of this form of hfusion.cast")
    return text, "".join(functions.values())


def _cast_toward_zero(name: str, source: Tensor, target: Tensor) -> str:
    """Round to nearest, then step back where that went away from zero (infinity becomes the largest finite value)."""
    half = target.element
    return f"""  func.func private @{name}(%p0: {source.type}) -> {target.type} {{
{_flatten("%p0", "%x", source)}
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %total = arith.constant {source.size} : index
    %step = arith.constant 1 : i16
    %out = memref.alloc() : {target.buffer}
    scf.for %e = %c0 to %total step %c1 {{
      %v = tensor.extract %x[%e] : {source.flat}
      %near = arith.truncf %v : f32 to {half}
      %back = arith.extf %near : {half} to f32
      %size = math.absf %back : f32
      %limit = math.absf %v : f32
      %beyond = arith.cmpf ogt, %size, %limit : f32
      %bits = arith.bitcast %near : {half} to i16
      %less = arith.subi %bits, %step : i16
      %chosen = arith.select %beyond, %less, %bits : i16
      %w = arith.bitcast %chosen : i16 to {half}
      memref.store %w, %out[%e] : {target.buffer}
    }}
{_result(target)}
  }}
"""
