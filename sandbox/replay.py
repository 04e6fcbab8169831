"""Replays the operations of a recording in guarded memory; whoever calls it supplies the way to run a launch.

Every case is replayed twice, with different placement, poison and order of programs: bytes that differ between the runs
depend on memory that nobody wrote, on memory outside of the tensors, or on the order of programs.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sandbox import movement
from sandbox.execute.memory import ExecutionFault, GuardedMemory, OutOfBounds, Placement
from sandbox.recording import leaves, used_buffers

OVERTIME = 61  # exit code of a replay that took too long
RUNS: tuple[tuple[Placement, int, bool], ...] = (("high", 0xFF, False), ("low", 0x7B, True))
SECOND_RUN_LIMIT = 2.0  # seconds of the first run beyond which there is no second (slow only in the interpreter)

WALL_FACTOR = 10.0  # a replay that waits for the processor may take this many times its CPU seconds
TICK = 0.05  # seconds


@contextmanager
def watchdog(seconds: float) -> Iterator[None]:
    """End the process with exit code OVERTIME when the block uses more CPU seconds than that.

    A thread, because process 1 of a namespace ignores alarms; native code runs without the interpreter lock.
    """
    done = threading.Event()
    cpu, wall = time.process_time(), time.monotonic()

    def watch() -> None:
        while not done.wait(TICK):
            if time.process_time() - cpu > seconds or time.monotonic() - wall > WALL_FACTOR * seconds:
                os._exit(OVERTIME)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


class HostSpace:
    """Guarded memory and data movement on this CPU. `sandbox.execute.npu.DeviceSpace` is the same on a device."""

    def allocate(self, size: int, placement: Placement, poison: int, lenient: bool) -> GuardedMemory:
        return GuardedMemory(size, placement, poison, lenient=lenient)

    @staticmethod
    def _view(memories: dict[int, GuardedMemory], view: dict[str, Any]) -> Any:
        memory = memories[view["buffer"]]
        return movement.array(memory.address, memory.size, view)

    def copy(self, memories: dict[int, GuardedMemory], op: dict[str, Any]) -> None:
        dst, src = op["dst"], op["src"]
        movement.move(self._view(memories, dst), self._view(memories, src), dst["dtype"], src["dtype"])

    def fill(self, memories: dict[int, GuardedMemory], op: dict[str, Any]) -> None:
        movement.fill(self._view(memories, op["dst"]), op["bits"])

    def point(self, memory: GuardedMemory, at: int, value: int) -> None:
        ctypes.memmove(memory.address + at, value.to_bytes(8, "little"), 8)


# launch(operation, memories by buffer, reverse) -> seconds
Launcher = Callable[[dict[str, Any], dict[int, GuardedMemory], bool], float]


def replay(
    recording: dict[str, Any],
    request: dict[str, Any],
    case: dict[str, Any],
    launch: Launcher,
    blocks: list[bytes],
    space: Any = None,
) -> dict[str, Any]:
    """Replay one case twice.

    Args:
        recording: {"buffers", "calls"}.
        request: "blocks" of `set` operations, "params" by name, and optionally "lenient": whether a kernel's lowering
            touches lanes that its masks exclude (see `GuardedMemory`).
        case: "call" and "inputs" (bytes of every input storage).
        blocks: receives the storages of outputs and inputs after the first run, then the second's that differ.
        space: where memory lies; guarded memory of this CPU by default.

    Returns:
        {"error": None or a description, "unstable": positions that differ, "blocks", "seconds", "kernel_seconds"}.
    """
    begin = time.perf_counter()
    result: dict[str, Any] = {"error": None, "unstable": [], "blocks": 0, "seconds": 0.0, "kernel_seconds": 0.0}
    call = recording["calls"][case["call"]]
    runs: list[list[bytes]] = []
    space = space or HostSpace()
    for placement, poison, reverse in RUNS:
        if runs and time.perf_counter() - begin > SECOND_RUN_LIMIT:
            runs.append(runs[0])
            break
        memories: dict[int, GuardedMemory] = {}
        try:
            place(recording, request, case, memories, placement, poison, space)
            result["kernel_seconds"] = operate(call, request, memories, launch, reverse, space)
            runs.append(_collect(recording, call, case, memories))
        except OutOfBounds as error:
            result["error"] = {
                "kind": "out_of_bounds",
                "message": str(error),
                "kernel": error.kernel,
                "arg": error.arg,
                "side": error.side,
                "offset": error.offset,
            }
        except ExecutionFault as error:
            result["error"] = {"kind": "fault", "message": str(error), "kernel": error.kernel}
        except (movement.UnsupportedCast, MemoryError) as error:
            result["error"] = {"kind": "memory", "message": f"{type(error).__name__}: {error}", "kernel": ""}
        finally:
            for memory in memories.values():
                memory.close()
        if result["error"] is not None:
            result["seconds"] = time.perf_counter() - begin
            return result
    first, second = runs
    result["unstable"] = [i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
    result["blocks"] = len(first)
    blocks += first
    blocks += [second[i] for i in result["unstable"]]
    result["seconds"] = time.perf_counter() - begin
    return result


def place(
    recording: dict[str, Any],
    request: dict[str, Any],
    case: dict[str, Any],
    memories: dict[int, Any],
    placement: Placement,
    poison: int,
    space: Any,
) -> None:
    """New guarded memory for every buffer of the call; inputs and parameters get their content."""
    for index in sorted(used_buffers(recording["calls"][case["call"]])):
        buffer = recording["buffers"][index]
        memory = memories[index] = space.allocate(
            buffer["nbytes"], placement, poison, lenient=request.get("lenient", False)
        )
        if buffer["kind"] == "input" and buffer["call"] == case["call"]:
            memory.write(case["inputs"][buffer["index"]])
        elif buffer["kind"] == "param":
            memory.write(request["params"][buffer["name"]])


def operate(
    call: dict[str, Any],
    request: dict[str, Any],
    memories: dict[int, Any],
    launch: Launcher,
    reverse: bool,
    space: Any,
) -> float:
    """Run the operations of a call; returns seconds spent in kernels."""
    seconds = 0.0
    for op in call["ops"]:
        if op["op"] == "set":
            memories[op["buffer"]].write(request["blocks"][op["block"]])
        elif op["op"] == "address":
            space.point(memories[op["buffer"]], op["at"], memories[op["target"]].address + op["offset"])
        elif op["op"] == "fill":
            space.fill(memories, op)
        elif op["op"] == "copy":
            space.copy(memories, op)
        else:
            seconds += launch(op, memories, reverse)
    return seconds


def _collect(
    recording: dict[str, Any], call: dict[str, Any], case: dict[str, Any], memories: dict[int, GuardedMemory]
) -> list[bytes]:
    """Storages of the output leaves in order, then of the inputs."""
    out = [memories[leaf["buffer"]].read() for leaf in leaves(call["output"])]
    where = {
        b["index"]: i for i, b in enumerate(recording["buffers"]) if b["kind"] == "input" and b["call"] == case["call"]
    }
    for i, data in enumerate(case["inputs"]):
        memory = memories.get(where.get(i, -1))
        out.append(memory.read() if memory is not None else bytes(data))
    return out
