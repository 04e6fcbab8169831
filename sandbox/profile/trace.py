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
from typing import Any

import numpy as np

from sandbox.profile import library
from sandbox.profile.arithmetic import ALU_COST, evaluate
from sandbox.profile.effects import CROSS_SET, CROSS_WAIT, EXEC, SKIP, Effects, Trace
from sandbox.profile.program import Block, Function, Op, Program, walk

RUN_WHOLE = 6  # loops up to this many iterations are executed completely
UNKNOWN_TRIPS = 4  # iterations assumed for a loop whose bounds depend on unknown data
WHILE_LIMIT = 128  # iterations of an scf.while that are executed


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


class _Executor(Effects):
    """Control flow and scalar arithmetic."""

    def __init__(self, program, function, scalars, grid, block, sub_block, data):  # type: ignore[no-untyped-def]
        super().__init__(function, scalars, grid, data)
        self.maps = program.maps
        self.block_id, self.sub_block = block, sub_block
        self.grid = grid

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

    def iterate(self, trips: int, carried: list[Any], run: Callable[[int, list[Any]], list[Any]], op: Op) -> list[Any]:
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
