"""Library functions on tensors that work along an axis, as MLIR: scans, flip, gather, sort.

Tensors are handled flattened: element k of a line along an axis of length n, with `inner` elements between neighbours,
lies at (outer * n + k) * inner + i.
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


def _offset(at: str, k: str, n: str = "%n0") -> str:
    """{at} = (%o * n + k) * %inner0 + %i: where element k of the current line lies, if lines have n elements."""
    return f"""{at}_line = arith.muli %o, {n} : index
          {at}_k = arith.addi {at}_line, {k} : index
          {at}_first = arith.muli {at}_k, %inner0 : index
          {at} = arith.addi {at}_first, %i : index"""


def flatten(source: str, target: str, tensor: Tensor) -> str:
    if len(tensor.shape) == 1:
        return f"    {target} = tensor.cast {source} : {tensor.type} to {tensor.flat}"
    if not tensor.shape:
        return f"    {target} = tensor.expand_shape {source} [] : {tensor.type} into {tensor.flat}"
    axes = ", ".join(str(i) for i in range(len(tensor.shape)))
    return f"    {target} = tensor.collapse_shape {source} [[{axes}]] : {tensor.type} into {tensor.flat}"


def result(tensor: Tensor) -> str:
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


def scan(operation: str) -> Callable[[Declaration], str]:
    """Inclusive cumulative sum or product: (x, axis, reverse)."""

    def body(declaration: Declaration) -> str:
        tensor = Tensor.parse(declaration.parameters[0])
        # Half types accumulate in float32, as the vector unit does for scans.
        wide = "f32" if tensor.element in ("f16", "bf16") else tensor.element
        combine = f"arith.{operation}{'f' if tensor.is_float else 'i'} %acc, %w : {wide}"
        start = {("add", True): "0.0", ("mul", True): "1.0", ("add", False): "0", ("mul", False): "1"}
        extend = (
            f"%w = arith.extf %v : {tensor.element} to {wide}"
            if wide != tensor.element
            else f"%w = arith.bitcast %v : {wide} to {wide}"
        )
        shrink = (
            f"%s = arith.truncf %next : {wide} to {tensor.element}"
            if wide != tensor.element
            else f"%s = arith.bitcast %next : {wide} to {wide}"
        )
        return f"""{_lines_along(tensor, "%p1", declaration.parameters[1])}
{flatten("%p0", "%x", tensor)}
    %out = memref.alloc() : {tensor.buffer}
    %start = arith.constant {start[operation, tensor.is_float]} : {wide}
    scf.for %o = %c0 to %outer step %c1 {{
      scf.for %i = %c0 to %inner0 step %c1 {{
        %sum = scf.for %k = %c0 to %n0 step %c1 iter_args(%acc = %start) -> ({wide}) {{
          %mirror = arith.subi %last, %k : index
          %kk = arith.select %p2, %mirror, %k : index
          {_offset("%at", "%kk")}
          %v = tensor.extract %x[%at] : {tensor.flat}
          {extend}
          %next = {combine}
          {shrink}
          memref.store %s, %out[%at] : {tensor.buffer}
          scf.yield %next : {wide}
        }}
      }}
    }}
{result(tensor)}"""

    return body


def flip(declaration: Declaration) -> str:
    """Reverse along an axis: (x, axis)."""
    tensor = Tensor.parse(declaration.parameters[0])
    return f"""{_lines_along(tensor, "%p1", declaration.parameters[1])}
{flatten("%p0", "%x", tensor)}
    %out = memref.alloc() : {tensor.buffer}
    scf.for %o = %c0 to %outer step %c1 {{
      scf.for %k = %c0 to %n0 step %c1 {{
        scf.for %i = %c0 to %inner0 step %c1 {{
          %mirror = arith.subi %last, %k : index
          {_offset("%from", "%k")}
          {_offset("%to", "%mirror")}
          %v = tensor.extract %x[%from] : {tensor.flat}
          memref.store %v, %out[%to] : {tensor.buffer}
        }}
      }}
    }}
{result(tensor)}"""


def gather(declaration: Declaration) -> str:
    """out[.., j, ..] = x[.., index[.., j, ..], ..] along an axis: (x, index, axis)."""
    source, index = Tensor.parse(declaration.parameters[0]), Tensor.parse(declaration.parameters[1])
    target = Tensor(index.shape, source.element)
    ratio = f"""    %m_axis = arith.constant {index.size} : index
    %groups = arith.muli %outer, %inner0 : index
    %m = arith.divui %m_axis, %groups : index"""
    return f"""{_lines_along(source, "%p2", declaration.parameters[2])}
{flatten("%p0", "%x", source)}
{flatten("%p1", "%ix", index)}
{ratio}
    %out = memref.alloc() : {target.buffer}
    scf.for %o = %c0 to %outer step %c1 {{
      scf.for %k = %c0 to %m step %c1 {{
        scf.for %i = %c0 to %inner0 step %c1 {{
          {_offset("%to", "%k", "%m")}
          %j = tensor.extract %ix[%to] : {index.flat}
          %jj = arith.index_cast %j : {index.element} to index
          %lo = arith.maxsi %jj, %c0 : index
          %hi = arith.minsi %lo, %last : index
          {_offset("%from", "%hi")}
          %v = tensor.extract %x[%from] : {source.flat}
          memref.store %v, %out[%to] : {target.buffer}
        }}
      }}
    }}
{result(target)}"""


def sort(declaration: Declaration) -> str:
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
{flatten("%p0", "%x", tensor)}
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
                  {_offset("%at1", "%first")}
                  {_offset("%at2", "%second")}
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
{result(tensor)}"""


def nothing(declaration: Declaration) -> str:
    """Device prints and asserts have no effect on results."""
    return "    return"
