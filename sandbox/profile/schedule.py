"""From the events of one program to time: in-order pipes, flags, barriers, and two cores that wait for each other.

The scalar unit issues operations in program order; each pipe works through its own queue in order. A transfer occupies
its pipe for the time its bytes need and is complete a latency later, so that consecutive transfers overlap their
latencies, and a flag or a barrier that waits for one sees the latency.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from sandbox.profile.effects import BARRIER, CROSS_SET, CROSS_WAIT, EXEC, MARK, SCALAR, SET, SKIP, WAIT
from sandbox.profile.machine import Machine
from sandbox.profile.work import PIPES, Work


@dataclass
class Timeline:
    """Result of one program on one core.

    Attributes:
        cycles: from the first instruction to the last completion.
        busy: cycles in which each pipe has work, latencies included (as msprof counts them).
        spans: (pipe, start, end, kind, source line in the module), only when asked for; skipped loop iterations are
            (pipe "gap", start, end, "N iterations", 0), of no length where both cores skip them.
        unmatched: waits that found no flag (0 in a correct program that was followed completely).
    """

    cycles: float = 0.0
    busy: dict[str, float] = field(default_factory=dict)
    spans: list[tuple[str, float, float, str, int]] = field(default_factory=list)
    unmatched: int = 0


def cost(machine: Machine, work: Work) -> tuple[float, float]:
    """Occupancy of the pipe and additional latency until the result is there, in cycles."""
    kind = work.kind
    if work.pipe == "V":
        return work.steps * machine.vector_start + work.repeats * machine.vector_repeat, 0.0
    if work.pipe == "MTE2":
        if kind == "fill":
            return machine.load_issue + work.bytes / machine.l0a_bytes, 0.0
        moved = max(work.bytes / machine.load_bytes, work.bursts * machine.load_burst)
        faults = work.short * machine.load_short_row + work.ragged * machine.load_ragged_row
        return machine.load_issue + moved + faults, machine.load_latency
    if work.pipe == "MTE3":
        moved = max(work.bytes / machine.store_bytes, work.bursts * machine.store_burst)
        factor = machine.atomic if kind == "atomic" else 1.0
        return machine.store_issue + moved * factor, machine.store_latency * factor
    if work.pipe == "MTE1":
        rate = machine.l0b_bytes if kind == "l0b" else machine.l0a_bytes
        return machine.l0_issue + work.bytes / rate, 0.0
    if work.pipe == "M":
        return machine.mma_start + work.cycles, 0.0
    return machine.load_issue + work.bytes / machine.fix_bytes, machine.fix_latency


class _Core:
    """One instruction stream: its events, the clock of its scalar unit and of each pipe."""

    def __init__(self, events: list[tuple], machine: Machine, keep_spans: bool) -> None:
        self.events = events
        self.position = 0
        self.machine = machine
        self.keep = keep_spans
        self.scalar = 0.0
        self.extra = 0.0
        self.free = dict.fromkeys(PIPES, 0.0)
        self.done = dict.fromkeys(PIPES, 0.0)
        self.busy = dict.fromkeys(PIPES, 0.0)
        self.flags: dict[tuple, deque[float]] = {("M", "MTE1", "L0"): deque([0.0, 0.0])}
        self.marks: dict[int, tuple[float, dict[str, float]]] = {}
        self.timeline = Timeline()
        self.costs: dict[Work, tuple[float, float]] = {}

    def front(self) -> float:
        return max(self.scalar, *self.done.values())

    def advance(self, cross: dict[tuple, deque[float]], force: bool) -> bool:
        """Work until the end (True) or until a flag of the other core is missing (False)."""
        machine, events = self.machine, self.events
        free, done, busy, costs = self.free, self.done, self.busy, self.costs
        while self.position < len(events):
            event = events[self.position]
            kind = event[0]
            if kind == EXEC:
                work = event[1]
                price = costs.get(work)
                if price is None:
                    price = costs[work] = cost(machine, work)
                pipe = work.pipe
                start = max(self.scalar, free[pipe])
                end = start + price[0]
                complete = max(done[pipe], end + price[1])
                busy[pipe] += complete - max(start, min(done[pipe], complete))
                free[pipe], done[pipe] = end, complete
                if self.keep:
                    self.timeline.spans.append((pipe, start, end, work.kind, event[2]))
            elif kind == SCALAR:
                _, alu, local, remote, streamed, calls = event
                spent = (
                    alu * machine.alu
                    + local * machine.local_access
                    + remote * machine.remote_access
                    + streamed * machine.scattered_access
                    + calls * machine.call
                )
                if self.keep:
                    self.timeline.spans.append(("S", self.scalar, self.scalar + spent, "scalar", 0))
                self.scalar += spent
                busy["S"] += spent
            elif kind == SET:
                source = event[1]
                self.scalar += machine.flag
                busy["S"] += machine.flag
                time = self.scalar if source == "S" else max(done[source], free[source])
                self.flags.setdefault(event[1:], deque()).append(time)
            elif kind == WAIT:
                target = event[2]
                self.scalar += machine.flag
                busy["S"] += machine.flag
                queue = self.flags.get(event[1:])
                if queue:
                    time = queue.popleft()
                    if target == "S":
                        self.scalar = max(self.scalar, time)
                    else:
                        free[target] = max(free[target], time)
                else:
                    self.timeline.unmatched += 1
            elif kind == BARRIER:
                pipe = event[1]
                self.scalar += machine.flag
                if pipe == "ALL":
                    self.scalar = self.front()
                    for p in PIPES:
                        free[p] = max(free[p], self.scalar)
                elif pipe in free:
                    free[pipe] = max(free[pipe], done[pipe])
            elif kind == CROSS_SET:
                _, core, pipe, flag = event
                time = self.scalar if pipe == "S" else max(self.scalar, done.get(pipe, 0.0))
                cross.setdefault((core, flag), deque()).append(time + machine.cross_latency)
            elif kind == CROSS_WAIT:
                _, core, pipe, flag = event
                other = "VECTOR" if core == "CUBE" else "CUBE"
                queue = cross.get((other, flag))
                if not queue:
                    if not force:
                        return False
                    self.timeline.unmatched += 1
                    force = False
                else:
                    time = queue.popleft()
                    if pipe == "S" or pipe not in free:
                        self.scalar = max(self.scalar, time)
                    else:
                        free[pipe] = max(free[pipe], time)
            elif kind == MARK:
                self.marks[event[1]] = (self.front() + self.extra, dict(busy))
            elif kind == SKIP:
                self.skip(*event[1:])
            self.position += 1
        self.timeline.cycles = self.front() + self.extra
        self.timeline.busy = dict(busy)
        return True

    def skip(self, gap: int, pairs: tuple[tuple[int, int, int], ...], synchronised: bool) -> None:
        """Fill in iterations that were not executed with the average of measured ones.

        Where the other core takes part in the loop it leaves out the same iterations, so both clocks stay as they are
        and the time is added at the end; otherwise everything that follows happens later.
        """
        if gap <= 0:
            return
        shift = 0.0
        for a, b, iterations in pairs:
            (start, busy_a), (end, busy_b) = self.marks[a], self.marks[b]
            weight = gap / len(pairs) / iterations
            shift += (end - start) * weight
            for pipe in PIPES:
                self.busy[pipe] += (busy_b[pipe] - busy_a[pipe]) * weight
        if self.keep:
            now = self.front()
            self.timeline.spans.append(("gap", now, now if synchronised else now + shift, f"{gap} iterations", 0))
        if synchronised:
            self.extra += shift
            return
        self.scalar += shift
        for pipe in PIPES:
            self.free[pipe] += shift
            self.done[pipe] += shift
        for key, queue in self.flags.items():
            self.flags[key] = deque(t + shift for t in queue)


def run(streams: list[list[tuple]], machine: Machine, keep_spans: bool = False) -> list[Timeline]:
    """Schedule one program: one stream, or the cube and the vector stream of a mixed kernel."""
    cores = [_Core(events, machine, keep_spans) for events in streams]
    cross: dict[tuple, deque[float]] = {}
    finished = [False] * len(cores)
    while not all(finished):
        before = [c.position for c in cores]
        for i, core in enumerate(cores):
            if not finished[i]:
                finished[i] = core.advance(cross, force=False)
        if before == [c.position for c in cores] and not all(finished):
            stuck = next(i for i in range(len(cores)) if not finished[i])
            finished[stuck] = cores[stuck].advance(cross, force=True)
    return [c.timeline for c in cores]
