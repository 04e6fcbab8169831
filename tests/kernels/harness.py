"""Launch a kernel as a test: Ascend verdict, native runs in guarded memory with both placements, results in place."""

from __future__ import annotations

from typing import Any

import torch

from sandbox.compile import LinalgModule, compile_for_ascend, lower_to_linalg
from sandbox.execute.memory import GuardedMemory
from sandbox.execute.native import build_native
from sandbox.ttir import lower_to_ttir, specialise


def lower(kernel: Any, args: tuple[Any, ...], meta: dict[str, Any]) -> tuple[LinalgModule, list[Any]]:
    """linalg of one launch, and its run-time arguments."""
    signature, constants, attrs, runtime = specialise(kernel, args, meta)
    return lower_to_linalg(lower_to_ttir(kernel, signature, constants, attrs, options=meta)), runtime


def launch(kernel: Any, grid: tuple[int, ...], *args: Any, ordered: bool = True, **meta: Any) -> None:
    """Run a kernel on CPU tensors in place. Two runs differ in placement, poison and program order.

    Args:
        ordered: whether the two runs must agree bit for bit (not so with float atomics between programs).
    """
    linalg, runtime = lower(kernel, args, meta)
    artifact = compile_for_ascend(linalg)
    assert artifact.ok, artifact.error
    native = build_native(linalg)
    results = []
    for placement, poison, reverse in (("high", 0xFF, False), ("low", 0x5A, ordered)):
        memories: dict[int, GuardedMemory] = {}
        values: list[Any] = []
        for arg in runtime:
            if not isinstance(arg, torch.Tensor):
                values.append(arg)
                continue
            storage = arg.untyped_storage()
            if storage.data_ptr() not in memories:
                memory = GuardedMemory(storage.nbytes(), placement, poison, lenient=native.wide)
                memories[storage.data_ptr()] = memory
                memory.write(bytes(storage))
            address = memories[storage.data_ptr()].address + arg.storage_offset() * arg.element_size()
            values.append((address, storage.nbytes() // arg.element_size() - arg.storage_offset()))
        native.run(grid, values, reverse=reverse)
        assert all(memory.slack_intact() for memory in memories.values())
        results.append({pointer: memory.read() for pointer, memory in memories.items()})
        for memory in memories.values():
            memory.close()
    assert not ordered or results[0] == results[1], "the result depends on placement, poison or program order"
    for arg in runtime:
        if isinstance(arg, torch.Tensor):
            storage = arg.untyped_storage()
            data = torch.frombuffer(bytearray(results[0][storage.data_ptr()]), dtype=torch.uint8)
            storage.copy_(data.untyped_storage())
