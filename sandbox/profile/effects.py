"""What one program does to pipes and memory: the trace, and the operations that write into it.

Global memory is a view with a root "gm:ARGUMENT"; local buffers have their address space as root. Scalar work is
gathered and becomes one event before the next one that reaches a pipe.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sandbox.profile import library, views
from sandbox.profile.program import Function, MemRefType, Op
from sandbox.profile.views import View
from sandbox.profile.work import Work

# Event kinds; each event is a tuple that starts with one of these.
EXEC, SCALAR, SET, WAIT, BARRIER, CROSS_SET, CROSS_WAIT, MARK, SKIP = range(9)
SHADOW_ELEMENTS = 65536  # integer loads up to this size keep their data, so that scalars read from them are known


@dataclass
class Trace:
    """What one program of one core does.

    Attributes:
        events: in program order; see the event kinds.
        read, written: bytes moved from and to global memory, by kernel argument index (-1 for the workspace).
        assumptions: what had to be assumed, in words.
        unknown_calls: library routines that no family covers.
    """

    events: list[tuple] = field(default_factory=list)
    read: dict[int, float] = field(default_factory=dict)
    written: dict[int, float] = field(default_factory=dict)
    assumptions: dict[str, int] = field(default_factory=dict)
    unknown_calls: dict[str, int] = field(default_factory=dict)


class Effects:
    """The state of a program that is being executed, and its operations on memory, flags and pipes."""

    def __init__(
        self,
        function: Function,
        scalars: Mapping[int, int | float],
        grid: tuple[int, int, int],
        data: Mapping[int, np.ndarray],
    ) -> None:
        self.trace = Trace()
        self.data = data
        self.shadow: dict[str, np.ndarray] = {}
        # Scalar work not yet in the trace: instructions, accesses to local buffers, single accesses to global memory,
        # accesses to global memory one element after the other, issued routines.
        self.alu = self.local = self.remote = self.streamed = self.calls = 0.0
        self.marks = 0
        self.streaming = False  # inside a loop that only the scalar unit works on
        self.values: dict[str, Any] = {}
        first, last = 3, len(function.arguments) - 3
        for i, (name, kind) in enumerate(zip(function.arguments, function.argument_types, strict=True)):
            if isinstance(kind, MemRefType):
                root = f"gm:{i - first}" if i >= first else "gm:-1"
                self.values[name] = views.from_type(root, kind)
            elif i >= last:
                self.values[name] = grid[i - last]
            else:
                self.values[name] = scalars.get(i - first)

    # ------------------------------------------------------------ events

    def flush(self) -> None:
        counts = (self.alu, self.local, self.remote, self.streamed, self.calls)
        if any(counts):
            self.trace.events.append((SCALAR, *counts))
            self.alu = self.local = self.remote = self.streamed = self.calls = 0.0

    def emit(self, *event: Any) -> None:
        self.flush()
        self.trace.events.append(event)

    def assume(self, what: str) -> None:
        self.trace.assumptions[what] = self.trace.assumptions.get(what, 0) + 1

    def mark(self) -> int:
        self.marks += 1
        self.emit(MARK, self.marks)
        return self.marks

    # ------------------------------------------------------------ memory

    def resolve(self, items: list[int | str]) -> list[int | None]:
        return [self.values.get(i) if isinstance(i, str) else i for i in items]

    def pointer(self, op: Op) -> None:
        address = self.values.get(op.operands[0])
        kind = op.types[0]
        assert isinstance(kind, MemRefType)
        self.values[op.results[0]] = views.from_type(f"{kind.space}:{address}", kind)

    def view(self, op: Op) -> None:
        source = self.values.get(op.operands[0])
        result = op.types[-1]
        if not isinstance(source, View) or not isinstance(result, MemRefType):
            self.values[op.results[0]] = source
            return
        name = op.name
        if name == "memref.subview":
            offsets, sizes, strides = (self.resolve(x) for x in op.attributes["static"])
            value = views.subview(source, offsets, sizes, strides, result)
        elif name == "memref.reinterpret_cast":
            offsets, sizes, strides = (self.resolve(x) for x in op.attributes["static"])
            value = views.reinterpret(source, offsets[0] if offsets else 0, sizes, strides, result)
        elif name == "memref.collapse_shape":
            value = views.collapse(source, op.attributes["groups"])
        elif name == "memref.expand_shape":
            listed = op.attributes.get("static")
            sizes = self.resolve(listed[1]) if listed else list(result.shape)
            value = views.expand(source, op.attributes["groups"], sizes)
        elif name == "memref.view":
            value = views.from_type(source.root, result)
        elif name == "hivm.hir.bitcast":
            value = views.reinterpret(source, source.offset, list(source.sizes), list(source.strides), result)
        else:  # cast: the view keeps what is known
            value = source
        self.values[op.results[0]] = value

    def metadata(self, op: Op) -> None:
        source = self.values.get(op.operands[0])
        rank = len(op.types[0].shape)  # type: ignore[union-attr]
        if isinstance(source, View):
            values = [source, source.offset, *source.sizes, *source.strides]
        else:
            values = [source, None] + [None] * (2 * rank)
        self.values.update(zip(op.results, values, strict=False))

    def dimension(self, op: Op) -> None:
        source, axis = (self.values.get(o) for o in op.operands[:2])
        self.values[op.results[0]] = source.sizes[axis] if isinstance(source, View) and axis is not None else None

    def load(self, op: Op) -> None:
        source = self.values.get(op.operands[0])
        value = None
        if isinstance(source, View):
            if source.space == "gm":
                self.touch()
                self.count(self.trace.read, source, source.element_bits / 8)
            else:
                self.local += 1
            value = self.peek(source, self.resolve(op.attributes["static"][0]))
        self.values[op.results[0]] = value

    def peek(self, source: View, indices: list[int | None]) -> Any:
        """The stored value, where the data is known; only integers steer control flow."""
        held = self.data.get(int(source.root[3:])) if source.space == "gm" else self.shadow.get(source.root)
        if held is None or source.offset is None or None in indices or None in source.strides:
            return None
        position = source.offset + sum(i * s for i, s in zip(indices, source.strides, strict=True))  # type: ignore[operator,misc]
        return held[position].item() if 0 <= position < len(held) else None

    def store(self, op: Op) -> None:
        target = self.values.get(op.operands[1])
        if isinstance(target, View):
            if target.space == "gm":
                self.touch()
                self.count(self.trace.written, target, target.element_bits / 8)
            else:
                self.local += 1
                self.shadow.pop(target.root, None)

    def touch(self) -> None:
        """One scalar access to global memory."""
        if self.streaming:
            self.streamed += 1
        else:
            self.remote += 1

    def count(self, side: dict[int, float], view: View, amount: float) -> None:
        key = int(view.root[3:])
        side[key] = side.get(key, 0.0) + amount

    # ------------------------------------------------------------ synchronisation

    def event_id(self, op: Op) -> Any:
        event = op.attributes.get("event", 0)
        return self.values.get(event) if isinstance(event, str) else event

    def set_flag(self, op: Op) -> None:
        self.emit(SET, *op.attributes["pipes"], self.event_id(op))

    def wait_flag(self, op: Op) -> None:
        self.emit(WAIT, *op.attributes["pipes"], self.event_id(op))

    def barrier(self, op: Op) -> None:
        self.emit(BARRIER, op.attributes["pipes"][0])

    def cross_set(self, op: Op) -> None:
        self.emit(CROSS_SET, op.attributes["core"], op.attributes["pipes"][0], self.event_id(op))

    def cross_wait(self, op: Op) -> None:
        self.emit(CROSS_WAIT, op.attributes["core"], op.attributes["pipes"][-1], self.event_id(op))

    # ------------------------------------------------------------ library calls

    def call(self, op: Op) -> None:
        callee = op.attributes["callee"]
        arguments = [self.values.get(o) for o in op.operands]
        for result in op.results:
            self.values[result] = None
        self.calls += 1
        if not library.is_known(callee):
            self.trace.unknown_calls[callee] = self.trace.unknown_calls.get(callee, 0) + 1
        if callee.startswith("mma_tile"):
            self.matrix(callee, arguments, op.line)
            return
        buffers = library.views_of(arguments)
        remote = [v for v in buffers if v.space == "gm"]
        local = [v for v in buffers if v.space != "gm"]
        if remote and local:
            self.transfer(callee, arguments, buffers, remote[0], local[0], op.line)
        elif callee.startswith("set_l1"):
            self.emit(EXEC, Work("MTE2", "fill", bytes=local[0].bytes()), op.line)
        else:
            self.emit(EXEC, library.vector_work(callee, arguments), op.line)
            for buffer in local:
                self.shadow.pop(buffer.root, None)

    def transfer(
        self, callee: str, arguments: list[Any], buffers: list[View], gm: View, local: View, line: int
    ) -> None:
        inward = buffers[0].space == "gm"
        if inward:
            pipe, kind = "MTE2", "nd2nz" if local.space == "cbuf" else "load"
            self.keep(gm, local)
        elif local.space == "cc":
            pipe, kind = "FIX", "fixpipe"
        else:
            pipe, kind = "MTE3", "store"
            flag = next((a for a in arguments if isinstance(a, int)), 0)
            if flag:
                kind = "atomic"
        if local.space in ("cbuf", "cc"):
            run = max(1, gm.contiguous_elements())
            rows = max(1, gm.count() // run)
            work = Work(pipe, kind, gm.bytes(), rows, *library.row_faults(gm, run, rows))
        else:
            work = library.transfer(pipe, kind, gm, local)
        self.count(self.trace.read if inward else self.trace.written, gm, gm.bytes())
        if work.elements:
            self.streamed += work.elements
            self.emit(BARRIER, pipe)
        self.emit(EXEC, work._replace(elements=0), line)

    def keep(self, gm: View, local: View) -> None:
        """Remember loaded integers, so that scalars read from the buffer are known."""
        self.shadow.pop(local.root, None)
        held = self.data.get(int(gm.root[3:])) if gm.element.startswith("i") else None
        if held is None or gm.offset is None or len(gm.sizes) != 1 or None in gm.sizes or local.offset:
            return
        size, stride = gm.sizes[0], gm.strides[0]
        if size and stride and size <= SHADOW_ELEMENTS and gm.offset >= 0:
            self.shadow[local.root] = held[gm.offset : gm.offset + size * stride : stride]

    def matrix(self, callee: str, arguments: list[Any], line: int) -> None:
        """The matrix-product routine: L1 -> L0A, L0B (MTE1) in K-chunks, alternating halves, and the cube.

        Arguments: A, B, first-use flag, m, k, n, C, then event ids: wait for A, wait for B (MTE2 -> MTE1), release A,
        release B (MTE1 -> MTE2), -1 where the caller synchronises itself.
        """
        a, _, _, m, k, n, c, *events = arguments
        bits = a.element_bits
        dims_c = c.dims()
        m = dims_c[1] * 16 if m is None else m
        n = dims_c[0] * 16 if n is None else n
        k = a.count() // max(1, m) if k is None else k
        wait_a, wait_b, free_a, free_b = [e if isinstance(e, int) else -1 for e in events[:4]]
        m, k, n = max(1, m), max(1, k), max(1, n)
        chunks, per_slice = library.cube_tiles(m, k, n, bits)
        rows, columns = -(-m // 16) * 16, -(-n // 16) * 16
        if wait_a >= 0:
            self.emit(WAIT, "MTE2", "MTE1", wait_a)
        if wait_b >= 0:
            self.emit(WAIT, "MTE2", "MTE1", wait_b)
        for depth in chunks:
            padded = -(-depth // 16) * 16
            self.emit(WAIT, "M", "MTE1", "L0")
            self.emit(EXEC, Work("MTE1", "l0a", bytes=rows * padded * bits // 8), line)
            self.emit(EXEC, Work("MTE1", "l0b", bytes=columns * padded * bits // 8), line)
            self.emit(SET, "MTE1", "M", "L0")
            self.emit(WAIT, "MTE1", "M", "L0")
            self.emit(EXEC, Work("M", "mma", cycles=per_slice * padded / 16), line)
            self.emit(SET, "M", "MTE1", "L0")
        if free_a >= 0:
            self.emit(SET, "MTE1", "MTE2", free_a)
        if free_b >= 0:
            self.emit(SET, "MTE1", "MTE2", free_b)
