"""What one hardware operation of a HIVM program asks of its pipe, independent of any machine's constants."""

from __future__ import annotations

from typing import NamedTuple

from sandbox.profile.views import View

# Pipes under the compiler's names; msprof calls them aiv_scalar, aiv_vec, aiv_mte2, aiv_mte3, aic_mac, aic_mte1 ...
PIPES = ("S", "V", "MTE1", "MTE2", "MTE3", "M", "FIX")
REPEAT_BYTES = 256  # a vector instruction works on 256 bytes per repeat
BLOCK_BYTES = 32  # UB block: the unit of strided access
SHORT_ROW_BYTES = 64


class Work(NamedTuple):
    """One operation.

    Attributes:
        pipe: one of `PIPES`.
        kind: name of a cost class in the machine table.
        bytes: bytes moved to or from global memory or L1/L0 (transfers).
        bursts: separate contiguous pieces (rows) of a transfer.
        short, ragged: rows of fewer than 64 bytes, and rows that do not start and end on 32-byte boundaries.
        repeats: 256-byte steps of a vector operation, over all its internal steps.
        steps: dependent internal instructions of a library call (a tree reduction has several).
        cycles: cube cycles of a matrix product.
        elements: elements handled one by one on the scalar unit (gather-like access without hardware support).
    """

    pipe: str
    kind: str
    bytes: int = 0
    bursts: int = 1
    short: int = 0
    ragged: int = 0
    repeats: float = 0.0
    steps: int = 1
    cycles: float = 0.0
    elements: int = 0


def vector_repeats(view: View) -> float:
    """256-byte steps that one pass of the vector unit over a buffer needs.

    A dense buffer is cut every 256 bytes. Otherwise each row (the contiguous innermost stretch) starts a new step,
    and elements that do not touch each other fill one 32-byte block each (8 blocks per step).
    """
    count = view.count()
    size = view.element_bits / 8
    row = view.contiguous_elements()
    if row >= count:
        return max(1.0, -(-count * size // REPEAT_BYTES))
    if row == 1:
        return max(1.0, count / (REPEAT_BYTES // BLOCK_BYTES))
    return max(1.0, (count // row) * -(-row * size // REPEAT_BYTES))


# Passes over the data that the vector library makes for one call, by the stem of its name, and the relative cost of a
# pass. Source: instruction list of the Ascend 910B vector unit (add, mul, min, max, cast, compare: one step per
# repeat; exp, log, sqrt, division: several), and what the operation must do where it is a library routine.
VECTOR_PASSES = {
    "vexp": 2.0, "vln": 2.0, "vlog": 2.0, "vsqrt": 2.0, "vrsqrt": 2.0, "vrec": 2.0, "vdiv": 4.0, "vcast": 1.0,
    "vsel": 2.0, "vcmp": 1.0, "vcmps": 1.0, "vpow": 8.0, "vtanh": 8.0, "verf": 12.0, "vsin": 12.0, "vcos": 12.0,
}  # fmt: skip
