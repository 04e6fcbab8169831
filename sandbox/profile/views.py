"""Memory views with run-time offsets, sizes and strides: what memref operations do to a buffer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sandbox.profile.program import MemRefType

Number = int | None  # None: depends on data that the simulator does not have


@dataclass(frozen=True, slots=True)
class View:
    """A strided window of one buffer.

    Attributes:
        root: "gm:ARG" for a kernel argument or a workspace, "SPACE:ADDRESS" for a planned local buffer.
        offset, sizes, strides: in elements of the view's type; None where unknown.
        bounds: upper bounds of the sizes, used where a size is unknown.
    """

    root: str
    space: str
    element: str
    element_bits: int
    offset: Number
    sizes: tuple[Number, ...]
    strides: tuple[Number, ...]
    bounds: tuple[int, ...]

    def dims(self) -> list[int]:
        """Sizes, with the upper bound in place of an unknown one and none below zero."""
        return [max(0, b if s is None else s) for s, b in zip(self.sizes, self.bounds, strict=True)]

    def count(self) -> int:
        """Number of elements."""
        n = 1
        for d in self.dims():
            n *= d
        return n

    def bytes(self) -> int:
        return -(-self.count() * self.element_bits // 8)

    def contiguous_elements(self) -> int:
        """Length of the innermost stretch without gaps: 1 when neighbours in the last axis do not touch."""
        run = 1
        for size, stride in zip(reversed(self.dims()), reversed(self.strides), strict=True):
            if size == 1:
                continue
            if stride != run:
                break
            run *= size
        return run

    def last_stride(self) -> Number:
        """Stride of the last axis longer than one element; 1 for a single element."""
        for size, stride in zip(reversed(self.dims()), reversed(self.strides), strict=True):
            if size > 1:
                return stride
        return 1


def from_type(root: str, kind: MemRefType) -> View:
    """A whole buffer of a type; dynamic sizes are unknown and bounded by 1."""
    return View(
        root,
        kind.space or "gm",
        kind.element,
        kind.element_bits,
        kind.offset,
        kind.shape,
        kind.strides,
        tuple(1 if s is None else s for s in kind.shape),
    )


def subview(
    view: View, offsets: list[Number], sizes: list[Number], strides: list[Number], result: MemRefType
) -> View:
    """`memref.subview`; dimensions that the result type drops must have size 1."""
    offset: Number = view.offset
    for shift, stride in zip(offsets, view.strides, strict=True):
        offset = None if offset is None or shift is None or stride is None else offset + shift * stride
    new_strides = [
        None if a is None or b is None else a * b for a, b in zip(strides, view.strides, strict=True)
    ]
    bounds = [b if s is None else max(0, s) for s, b in zip(sizes, view.dims(), strict=True)]
    keep = list(range(len(sizes)))
    drop = len(sizes) - len(result.shape)
    for axis in range(len(sizes)):
        if drop and sizes[axis] == 1 and (len(keep) - 1 >= len(result.shape)):
            # Rank reduction keeps the axes whose static sizes match the result's.
            remaining = [i for i in keep if i != axis]
            if _matches([sizes[i] for i in remaining], result.shape, drop - 1):
                keep, drop = remaining, drop - 1
    return replace(
        view,
        offset=offset,
        sizes=tuple(sizes[i] for i in keep),
        strides=tuple(new_strides[i] for i in keep),
        bounds=tuple(bounds[i] for i in keep),
    )


def _matches(sizes: list[Number], shape: tuple[int | None, ...], spare: int) -> bool:
    """Whether `shape` can be had from `sizes` by dropping `spare` ones."""
    if len(sizes) - spare != len(shape):
        return False
    if spare == 0:
        return all(t is None or s is None or s == t for s, t in zip(sizes, shape, strict=True))
    return any(s == 1 and _matches(sizes[:i] + sizes[i + 1 :], shape, spare - 1) for i, s in enumerate(sizes))


def reinterpret(view: View, offset: Number, sizes: list[Number], strides: list[Number], result: MemRefType) -> View:
    """`memref.reinterpret_cast`: a new window over the same buffer."""
    pairs = zip(sizes, result.shape, strict=True)
    bounds = tuple((1 if t is None else t) if s is None else max(0, s) for s, t in pairs)
    return replace(
        view,
        element=result.element,
        element_bits=result.element_bits,
        offset=offset,
        sizes=tuple(sizes),
        strides=tuple(strides),
        bounds=bounds,
    )


def collapse(view: View, groups: list[list[int]]) -> View:
    """`memref.collapse_shape`: neighbouring axes become one, with the stride of the innermost one."""
    sizes: list[Number] = []
    bounds: list[int] = []
    strides: list[Number] = []
    dims = view.dims()
    for group in groups:
        size: Number = 1
        bound = 1
        for axis in group:
            s = view.sizes[axis]
            size = None if size is None or s is None else size * s
            bound *= dims[axis]
        inner = [a for a in group if dims[a] != 1] or group
        sizes.append(size)
        bounds.append(bound)
        strides.append(view.strides[inner[-1]] if inner else 1)
    return replace(view, sizes=tuple(sizes), strides=tuple(strides), bounds=tuple(bounds))


def expand(view: View, groups: list[list[int]], sizes: list[Number]) -> View:
    """`memref.expand_shape`: one axis becomes several, row-major within the old stride."""
    strides: list[Number] = [None] * len(sizes)
    bounds = [0] * len(sizes)
    for old, group in enumerate(groups):
        step = view.strides[old]
        spare = view.dims()[old]
        for axis in reversed(group):
            strides[axis] = step
            size = sizes[axis]
            bounds[axis] = spare if size is None else size
            step = None if step is None or size is None else step * size
            if size:
                spare //= max(1, size)
    return replace(view, sizes=tuple(sizes), strides=tuple(strides), bounds=tuple(bounds))
