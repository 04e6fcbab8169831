"""Ascend's device library, as the final HIVM module calls it: what each call does on which pipe.

The compiler names a call by operation, rank and type (`vadd_1d_float`, `load_gm_to_ubuf_2d_half`,
`mma_tile_float_to_float_tb`). Families are recognised by their stem; a call of an unknown family is costed as a slow
vector routine (or as a transfer, if its buffers say so) and counted by the caller.
"""

from __future__ import annotations

import math
import re
from typing import Any

from sandbox.profile.views import View
from sandbox.profile.work import BLOCK_BYTES, SHORT_ROW_BYTES, VECTOR_PASSES, Work, vector_repeats

L0_HALF_BYTES = 32 * 1024  # half of L0A or L0B: the library alternates between the two halves
CUBE_EDGE = 16
UNKNOWN_PASSES, UNKNOWN_STEPS = 16.0, 8  # an unknown routine: deliberately dear
LIBRARY_ROUTINE = re.compile(
    r"^(v[a-z]+|reduce_|enablevc_|broadcast_|arange|copy_ubuf|transpose|sort|cum|gather|flip|pad|concat|interleave|"
    r"deinterleave|mulext|histogram|load_|store_|nd2nz|fixpipe|set_l1|mma_tile)"
)


def is_known(callee: str) -> bool:
    return bool(LIBRARY_ROUTINE.match(callee))


def views_of(arguments: list[Any]) -> list[View]:
    return [a for a in arguments if isinstance(a, View)]


def transfer(pipe: str, kind: str, gm: View, local: View) -> Work:
    """A copy between global memory and a local buffer.

    Pieces are counted on the side that is more broken up. The DMA engine needs each piece to start on a 32-byte
    block of the local buffer; where elements lie scattered in global memory and dense in the local buffer, the library
    moves them one by one on the scalar unit.
    """
    count = min(gm.count(), local.count())
    run = max(1, min(gm.contiguous_elements(), local.contiguous_elements() if local.space == "ub" else count))
    bursts = max(1, -(-count // run))
    scattered = run == 1 and count > 1 and local.space == "ub"
    if scattered and (local.last_stride() or 1) * local.element_bits // 8 < 32:
        return Work(pipe, kind, bytes=gm.bytes(), bursts=1, elements=count)
    short, ragged = row_faults(gm, run, bursts)
    return Work(pipe, kind, -(-count * gm.element_bits // 8), bursts, short, ragged)


def row_faults(gm: View, run: int, rows: int) -> tuple[int, int]:
    """How many of a transfer's rows are short, and how many are not aligned; a single row costs nothing extra."""
    if rows <= 1:
        return 0, 0
    size = run * gm.element_bits // 8
    steps = [s for s, d in zip(gm.strides, gm.dims(), strict=True) if d > 1 and s is not None and s >= run]
    aligned = size % BLOCK_BYTES == 0 and all(s * gm.element_bits // 8 % BLOCK_BYTES == 0 for s in steps)
    return (rows if size < SHORT_ROW_BYTES else 0), (0 if aligned else rows)


def cube_tiles(m: int, k: int, n: int, bits: int) -> tuple[list[int], float]:
    """K-chunks that fit in half of L0A and L0B, and cube cycles of one 16-deep slice of the product.

    The cube multiplies 16 x 16 x 16 half values per cycle (8,192 flop), int8 twice and float32 a quarter of that.
    """
    edge = max(m, n)
    depth = max(CUBE_EDGE, L0_HALF_BYTES * 8 // (bits * edge) // CUBE_EDGE * CUBE_EDGE)
    chunks = [min(depth, k - start) for start in range(0, k, depth)]
    slices = -(-m // CUBE_EDGE) * -(-n // CUBE_EDGE)
    per_slice = {8: 0.5, 16: 1.0, 32: 4.0}.get(bits, 4.0)
    return chunks, slices * per_slice


def vector_work(callee: str, arguments: list[Any]) -> Work:
    """Cost features of a routine that works inside the unified buffer."""
    views = views_of(arguments)
    main = max(views, key=lambda v: v.count(), default=None)
    if main is None:
        return Work("V", "vector", repeats=1.0)
    repeats = max(vector_repeats(v) for v in views if v.count() > 0) if main.count() else 1.0
    passes, steps = 1.0, 1
    stem = callee.split("_")[0]
    count = max(1, main.count())
    if callee.startswith(("enablevc_reduce", "reduce_")):
        repeats, steps = _reduction(callee, main, repeats)
        kind = "reduce"
    elif callee.startswith("transpose"):
        passes, steps, kind = 2.0, 2, "vector"
    elif callee.startswith(("sort", "topk")):
        merges = max(1, math.ceil(math.log2(max(2, count) / 32)))
        passes, steps, kind = 4.0 + 4.0 * merges, 2 + 2 * merges, "vector"
    elif callee.startswith(("cum", "gather", "flip", "histogram", "interleave", "deinterleave")):
        passes, steps, kind = 8.0, 8, "vector"
    elif stem in VECTOR_PASSES:
        passes, kind = VECTOR_PASSES[stem], "vector"
    elif is_known(callee):
        kind = "vector"
    else:
        passes, steps, kind = UNKNOWN_PASSES, UNKNOWN_STEPS, "vector"
    if re.search(r"_[2-5]d_", callee) and _broadcasts(views):
        passes, steps = passes + 1.0, steps + 1
    if main.element_bits == 64:
        passes, steps = passes * 8.0, steps * 4
    return Work("V", kind, repeats=repeats * passes, steps=steps)


def _broadcasts(views: list[View]) -> bool:
    """An operand with a single element along an axis where another has many is spread first."""
    shapes = {v.dims()[-1] for v in views if len(v.sizes) > 1}
    return 1 in shapes and len(shapes) > 1


def _reduction(callee: str, source: View, repeats: float) -> tuple[float, int]:
    """Repeats and dependent steps of a reduction of the whole, of the last axis (`ar`) or of the first (`ra`)."""
    per_repeat = max(1, 256 * 8 // source.element_bits)
    dims = source.dims()
    if "_ra_" in callee:
        rows = max(1, dims[0])
        return repeats, max(1, math.ceil(math.log2(max(2, rows))))
    row = max(1, dims[-1])
    levels = max(1, math.ceil(math.log(max(2, row), per_repeat)))
    if not callee.startswith("enablevc"):
        levels = max(1, math.ceil(math.log2(max(2, row))))
    if "with_index" in callee:
        levels += 2
        repeats *= 2.0
    return repeats, levels
