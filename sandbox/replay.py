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


# launch(operation, memories by buffer, reverse) -> seconds
Launcher = Callable[[dict[str, Any], dict[int, GuardedMemory], bool], float]


def replay(
    recording: dict[str, Any], request: dict[str, Any], case: dict[str, Any], launch: Launcher, blocks: list[bytes]
) -> dict[str, Any]:
    """Replay one case twice.

    Args:
        recording: {"buffers", "calls"}.
        request: "blocks" of `set` operations, "params" by name, and optionally "lenient": whether a kernel's lowering
            touches lanes that its masks exclude (see `GuardedMemory`).
        case: "call" and "inputs" (bytes of every input storage).
        blocks: receives the storages of outputs and inputs after the first run, then the second's that differ.

    Returns:
        {"error": None or a description, "unstable": positions that differ, "blocks", "seconds", "kernel_seconds"}.
    """
    begin = time.perf_counter()
    result: dict[str, Any] = {"error": None, "unstable": [], "blocks": 0, "seconds": 0.0, "kernel_seconds": 0.0}
    call = recording["calls"][case["call"]]
    runs: list[list[bytes]] = []
    for placement, poison, reverse in RUNS:
        if runs and time.perf_counter() - begin > SECOND_RUN_LIMIT:
            runs.append(runs[0])
            break
        memories: dict[int, GuardedMemory] = {}
        try:
            _place(recording, request, case, memories, placement, poison)
            result["kernel_seconds"] = _operate(call, request, memories, launch, reverse)
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


def _place(
    recording: dict[str, Any],
    request: dict[str, Any],
    case: dict[str, Any],
    memories: dict[int, GuardedMemory],
    placement: Placement,
    poison: int,
) -> None:
    """New guarded memory for every buffer of the call; inputs and parameters get their content."""
    for index in sorted(used_buffers(recording["calls"][case["call"]])):
        buffer = recording["buffers"][index]
        memory = memories[index] = GuardedMemory(
            buffer["nbytes"], placement, poison, lenient=request.get("lenient", False)
        )
        if buffer["kind"] == "input" and buffer["call"] == case["call"]:
            memory.write(case["inputs"][buffer["index"]])
        elif buffer["kind"] == "param":
            memory.write(request["params"][buffer["name"]])


def _operate(
    call: dict[str, Any], request: dict[str, Any], memories: dict[int, GuardedMemory], launch: Launcher, reverse: bool
) -> float:
    """Run the operations of a call; returns seconds spent in kernels."""

    def view(data: dict[str, Any]) -> Any:
        memory = memories[data["buffer"]]
        return movement.array(memory.address, memory.size, data)

    seconds = 0.0
    for op in call["ops"]:
        if op["op"] == "set":
            memories[op["buffer"]].write(request["blocks"][op["block"]])
        elif op["op"] == "address":
            value = memories[op["target"]].address + op["offset"]
            ctypes.memmove(memories[op["buffer"]].address + op["at"], value.to_bytes(8, "little"), 8)
        elif op["op"] == "fill":
            movement.fill(view(op["dst"]), op["bits"])
        elif op["op"] == "copy":
            movement.move(view(op["dst"]), view(op["src"]), op["dst"]["dtype"], op["src"]["dtype"])
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
