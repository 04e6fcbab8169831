"""The typed program that the HIVM reader produces: a faithful tree of what the compiler printed.

Nothing of the text is lost: every operation keeps its operands, attributes, types, regions and source line, and
operations that the reader has no form for are kept as `Op` with `known=False`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sandbox.profile.affine import AffineMap

ELEMENT_BITS = {
    "i1": 1, "i4": 4, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64, "ui8": 8, "ui16": 16, "ui32": 32,
    "ui64": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class MemRefType:
    """A memref: None stands for a dynamic size, stride or offset.

    Attributes:
        space: gm, ub, cbuf (L1), cc (L0C), ca (L0A), cb (L0B), or "" when the text names none.
        strides: in elements; row-major strides where the text gives none and all sizes are static.
    """

    shape: tuple[int | None, ...]
    element: str
    space: str = ""
    strides: tuple[int | None, ...] = ()
    offset: int | None = 0

    @property
    def element_bits(self) -> int:
        return ELEMENT_BITS.get(self.element, 32)


@dataclass(slots=True)
class Op:
    """One operation.

    Attributes:
        name: dialect name ("arith.addi", "scf.for", "hivm.hir.set_flag"); library calls are "call".
        results, operands: SSA names without "%"; a result group `%3:2` is expanded to "3#0", "3#1".
        attributes: op-specific: `callee`, `predicate`, `value`, `map`, `pipes`, `event`, `static` (mixed static and
            dynamic lists of subview and reinterpret_cast), `flags` (the raw attribute dictionary).
        types: operand types for calls, source and result types for memory views, else the printed types.
        regions: bodies, in printed order (`scf.if`: then, else; `scf.while`: before, after).
    """

    name: str
    results: tuple[str, ...]
    operands: tuple[str, ...]
    attributes: dict[str, Any]
    types: tuple[MemRefType | str, ...]
    regions: list[Block]
    line: int
    text: str
    known: bool = True


@dataclass(slots=True)
class Block:
    """A region's single block."""

    arguments: tuple[str, ...] = ()
    ops: list[Op] = field(default_factory=list)


@dataclass(slots=True)
class Function:
    """A function with a body. `core` is AIV, AIC, or HOST for helper functions that run on the host."""

    name: str
    core: str
    entry: bool
    arguments: tuple[str, ...]
    argument_types: tuple[MemRefType | str, ...]
    body: Block


@dataclass(slots=True)
class Program:
    """A HIVM module.

    Attributes:
        device: integers of the module's target description (AI_CORE_COUNT, VECTOR_CORE_COUNT, UB_SIZE in bits ...).
        unknown: operation name -> number of occurrences, for operations that the reader has no form for.
    """

    device: dict[str, int]
    core_type: str
    functions: list[Function]
    maps: dict[str, AffineMap]
    unknown: dict[str, int]

    def kernels(self) -> list[Function]:
        """The functions that run on the device: one, or the cube and the vector half of a mixed kernel."""
        return [f for f in self.functions if f.core in ("AIV", "AIC")]

    def host_constant(self, suffix: str) -> int | None:
        """Value returned by a host helper function such as `infer_workspace_shape_function`; None if absent."""
        for function in self.functions:
            if function.core == "HOST" and function.name.endswith(suffix):
                for op in function.body.ops:
                    if op.name == "arith.constant" and isinstance(op.attributes["value"], int):
                        return op.attributes["value"]
        return None


def walk(block: Block) -> Iterator[Op]:
    """Every operation of a block and of the regions in it, in printed order."""
    for op in block.ops:
        yield op
        for region in op.regions:
            yield from walk(region)
