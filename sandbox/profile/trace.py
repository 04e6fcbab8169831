"""Executes the scalar control flow of a HIVM function for one program and records what reaches the pipes.

Offsets, sizes, trip counts and conditions are computed from the launch's real scalar arguments and, where a kernel
reads integers that steer it, from the launch's real data. Values that nobody knows (results of vector operations) stay
unknown; a branch or a trip count that depends on one is noted in `Trace.assumptions`.

A long loop is sampled: the first iterations, two in the middle where inner loops may change their length, and the last
ones (with their partial tiles) are executed; the gap between is marked for the scheduler, which fills it with the
average of the measured iterations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sandbox.profile import library, views
from sandbox.profile.arithmetic import ALU_COST, evaluate
from sandbox.profile.program import Block, Function, MemRefType, Op, Program, walk
from sandbox.profile.views import View
from sandbox.profile.work import Work

# Event kinds; each event is a tuple that starts with one of these.
EXEC, SCALAR, SET, WAIT, BARRIER, CROSS_SET, CROSS_WAIT, MARK, SKIP = range(9)
RUN_WHOLE = 6  # loops up to this many iterations are executed completely
UNKNOWN_TRIPS = 4  # iterations assumed for a loop whose bounds depend on unknown data
WHILE_LIMIT = 128  # iterations of an scf.while that are executed
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


def trace_program(
    program: Program,
    function: Function,
    scalars: Mapping[int, int | float],
    grid: tuple[int, int, int],
    block: int,
    sub_block: int = 0,
    data: Mapping[int, np.ndarray] | None = None,
) -> Trace:
    """Trace one program.

    Args:
        scalars: value of every scalar kernel argument, by its position among the kernel's run-time arguments.
        block: linear program id, 0 <= block < product of the grid.
        data: flat contents of integer tensors by argument position, as far as they are known.
    """
    executor = _Executor(program, function, scalars, grid, block, sub_block, data or {})
    executor.block(function.body)
    executor.flush()
    return executor.trace


class _Executor:
    def __init__(self, program, function, scalars, grid, block, sub_block, data):  # type: ignore[no-untyped-def]
        self.trace = Trace()
        self.maps = program.maps
        self.block_id, self.sub_block = block, sub_block
        self.grid = grid
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

    # ------------------------------------------------------------ control flow

    def block(self, block: Block) -> list[Any]:
        """Execute a block; the operands of its terminator."""
        values = self.values
        for op in block.ops:
            name = op.name
            handler = _HANDLERS.get(name)
            if handler is not None:
                handler(self, op)
            elif name in ("scf.yield", "return", "func.return", "scf.condition"):
                return [values.get(o) for o in op.operands]
            elif name.startswith(("arith.", "math.", "index.")):
                self.arithmetic(op)
            else:
                self.unknown(op)
        return []

    def for_loop(self, op: Op) -> None:
        values = self.values
        lower, upper, step = (values.get(o) for o in op.operands[:3])
        carried = [values.get(o) for o in op.operands[3:]]
        induction, *names = op.regions[0].arguments
        if lower is None or upper is None or not step:
            self.assume("a loop bound depends on data that is not known")
            lower, step = lower or 0, step or 1
            upper = lower + UNKNOWN_TRIPS * step
        trips = max(0, -(-(upper - lower) // step))

        def run(iteration: int, carried: list[Any]) -> list[Any]:
            values[induction] = lower + iteration * step
            values.update(zip(names, carried, strict=True))
            self.alu += 2
            return self.block(op.regions[0])

        outer, self.streaming = self.streaming, not any(o.name in _PIPE_OPS for o in walk(op.regions[0]))
        values.update(zip(op.results, self.iterate(trips, carried, run, op), strict=True))
        self.streaming = outer

    def iterate(
        self, trips: int, carried: list[Any], run: Callable[[int, list[Any]], list[Any]], op: Op
    ) -> list[Any]:
        if trips <= RUN_WHOLE:
            for i in range(trips):
                carried = run(i, carried)
            return carried
        before = len(self.trace.events)
        counters = (self.alu, self.local, self.streamed)
        bytes_before = self.traffic()
        carried = run(0, carried)
        if len(self.trace.events) == before:  # purely scalar: no pipe is involved, the counts can be multiplied
            for probe in (trips // 2, trips - 1):
                carried = run(probe, carried)
            factor = trips / 3
            self.fill(bytes_before, self.traffic(), 3, trips - 3)
            for name, base in zip(("alu", "local", "streamed"), counters, strict=True):
                setattr(self, name, base + (getattr(self, name) - base) * factor)
            return carried
        nested = any(r for o in op.regions[0].ops for r in o.regions if o.name in ("scf.for", "scf.while"))
        middle_pair = 2 if nested and trips > RUN_WHOLE + 4 else 0
        gap = (trips - 6 - middle_pair) // 2 * 2  # an even gap keeps the turn of alternating buffers
        halves = (gap // 4 * 2, gap - gap // 4 * 2) if middle_pair else (gap, 0)
        old, carried = carried, run(1, carried)
        a, bytes_a = self.mark(), self.traffic()
        done = 4 if (trips - middle_pair) % 2 == 0 else 5
        for i in range(2, done):
            old, carried = carried, run(i, carried)
        b = self.mark()
        bytes_b = self.traffic()
        period = done - 2
        if middle_pair:
            carried = _advance(old, carried, halves[0])
            old, carried = carried, run(done + halves[0], carried)
            old, carried = carried, run(done + halves[0] + 1, carried)
            c = self.mark()
            bytes_c = self.traffic()
            self.emit(SKIP, halves[0], ((a, b, period), (b, c, 2)), self.crosses(before))
            self.fill(bytes_a, bytes_b, period, halves[0] / 2)
            self.fill(bytes_b, bytes_c, 2, halves[0] / 2)
            a, b, period, bytes_a, bytes_b = b, c, 2, bytes_b, bytes_c
            done += halves[0] + 2
            gap = halves[1]
        carried = _advance(old, carried, gap)
        start = done + gap
        m = self.mark()
        bytes_m = self.traffic()
        for i in range(start, trips):
            carried = run(i, carried)
        e = self.mark()
        bytes_e = self.traffic()
        tail = max(1, trips - start)
        if nested:
            self.emit(SKIP, gap, ((a, b, period), (m, e, tail)), self.crosses(before))
            self.fill(bytes_a, bytes_b, period, gap / 2)
            self.fill(bytes_m, bytes_e, tail, gap / 2)
        else:
            self.emit(SKIP, gap, ((a, b, period),), self.crosses(before))
            self.fill(bytes_a, bytes_b, period, gap)
        return carried

    def crosses(self, start: int) -> bool:
        """Whether the events since `start` synchronise with the other half of the kernel."""
        return any(event[0] in (CROSS_SET, CROSS_WAIT) for event in self.trace.events[start:])

    def traffic(self) -> tuple[dict[int, float], dict[int, float]]:
        return dict(self.trace.read), dict(self.trace.written)

    def fill(self, before: Any, after: Any, period: int, gap: float) -> None:
        """Bytes of skipped iterations, from the measured ones."""
        for total, old, new in zip((self.trace.read, self.trace.written), before, after, strict=True):
            for key, value in new.items():
                total[key] = total.get(key, 0.0) + (value - old.get(key, 0.0)) / period * gap

    def while_loop(self, op: Op) -> None:
        values = self.values
        before, after = op.regions
        carried = [values.get(o) for o in op.operands]
        for _ in range(WHILE_LIMIT):
            values.update(zip(before.arguments, carried, strict=False))
            condition, *forwarded = self.block(before) or [None]
            if condition is None:
                self.assume("a while condition depends on data that is not known")
            if not condition:
                break
            values.update(zip(after.arguments, forwarded, strict=False))
            carried = self.block(after)
        else:
            self.assume(f"a while loop runs longer than {WHILE_LIMIT} iterations; the rest is not counted")
        values.update(zip(op.results, forwarded, strict=False))

    def branch(self, op: Op) -> None:
        condition = self.values.get(op.operands[0])
        self.alu += 1
        if condition is None:
            if "unlikely" in op.attributes.get("flags", ""):
                condition = False
            else:
                self.assume("a branch depends on data that is not known: its first arm is taken")
                condition = True
        if condition:
            results = self.block(op.regions[0])
        elif len(op.regions) > 1:
            results = self.block(op.regions[1])
        else:
            results = []
        self.values.update(zip(op.results, results, strict=False))

    def unknown(self, op: Op) -> None:
        """An operation without a rule: its regions run once, itself costs like a slow vector routine."""
        self.trace.unknown_calls[op.name] = self.trace.unknown_calls.get(op.name, 0) + 1
        for region in op.regions:
            self.block(region)
        for result in op.results:
            self.values[result] = None
        self.emit(EXEC, library.vector_work(op.name, [self.values.get(o) for o in op.operands]), op.line)

    # ------------------------------------------------------------ scalars

    def arithmetic(self, op: Op) -> None:
        self.alu += ALU_COST.get(op.name, 1.0)
        operands = [self.values.get(o) for o in op.operands]
        self.values[op.results[0]] = evaluate(op, operands)

    def constant(self, op: Op) -> None:
        self.values[op.results[0]] = op.attributes["value"]

    def affine(self, op: Op) -> None:
        results = self.maps[op.attributes["map"]].apply([self.values.get(o) for o in op.operands])
        self.alu += 2 * len(results)
        if op.name == "affine.apply" or None in results:
            self.values[op.results[0]] = results[0] if op.name == "affine.apply" else None
        else:
            self.values[op.results[0]] = min(results) if op.name == "affine.min" else max(results)  # type: ignore[type-var]

    def block_index(self, op: Op) -> None:
        self.values[op.results[0]] = self.block_id

    def block_count(self, op: Op) -> None:
        self.values[op.results[0]] = math.prod(self.grid)

    def sub_block_index(self, op: Op) -> None:
        self.values[op.results[0]] = self.sub_block

    def sub_block_count(self, op: Op) -> None:
        self.values[op.results[0]] = 2

    def nothing(self, op: Op) -> None:
        self.alu += 1

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


_PIPE_OPS = {
    "call", "hivm.hir.set_flag", "hivm.hir.wait_flag", "hivm.hir.pipe_barrier", "hivm.hir.sync_block_set",
    "hivm.hir.sync_block_wait",
}  # fmt: skip


def _advance(old: list[Any], new: list[Any], iterations: int) -> list[Any]:
    """Loop-carried values after skipped iterations: integers go on in equal steps, buffers and unknowns stay."""
    return [
        b + (b - a) * iterations if isinstance(a, int) and isinstance(b, int) else b
        for a, b in zip(old, new, strict=True)
    ]


_HANDLERS: dict[str, Callable[[_Executor, Op], None]] = {
    "arith.constant": _Executor.constant,
    "affine.apply": _Executor.affine,
    "affine.min": _Executor.affine,
    "affine.max": _Executor.affine,
    "scf.for": _Executor.for_loop,
    "scf.while": _Executor.while_loop,
    "scf.if": _Executor.branch,
    "call": _Executor.call,
    "memref.load": _Executor.load,
    "memref.store": _Executor.store,
    "memref.dim": _Executor.dimension,
    "memref.extract_strided_metadata": _Executor.metadata,
    "memref.cast": _Executor.view,
    "memref.subview": _Executor.view,
    "memref.reinterpret_cast": _Executor.view,
    "memref.collapse_shape": _Executor.view,
    "memref.expand_shape": _Executor.view,
    "memref.view": _Executor.view,
    "memref.memory_space_cast": _Executor.view,
    "hivm.hir.bitcast": _Executor.view,
    "hivm.hir.pointer_cast": _Executor.pointer,
    "hivm.hir.get_block_idx": _Executor.block_index,
    "hivm.hir.get_block_num": _Executor.block_count,
    "hivm.hir.get_sub_block_idx": _Executor.sub_block_index,
    "hivm.hir.get_sub_block_num": _Executor.sub_block_count,
    "hivm.hir.set_mask_norm": _Executor.nothing,
    "hivm.hir.set_ffts_base_addr": _Executor.nothing,
    "hivm.hir.set_flag": _Executor.set_flag,
    "hivm.hir.wait_flag": _Executor.wait_flag,
    "hivm.hir.pipe_barrier": _Executor.barrier,
    "hivm.hir.sync_block_set": _Executor.cross_set,
    "hivm.hir.sync_block_wait": _Executor.cross_wait,
}
