"""Recorded launches on a real NPU: triton-ascend compiles the TTIR to a binary, torch_npu holds the memory.

Memory and data movement run on any torch device and are tested on the CPU; `NpuLauncher` needs CANN, torch_npu and a
device, and was not run where this was written.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from sandbox.devices import kernel_fault
from sandbox.ttir import KernelIR

BAND = 4096  # bytes of pattern before and after every tensor: an NPU has no pages that fault


class DeviceMemory:
    """`size` bytes of device memory between two bands of the poison byte, filled with it."""

    def __init__(self, size: int, poison: int, device: str) -> None:
        import torch

        self.size, self._poison = size, poison
        self._all = torch.full((size + 2 * BAND,), poison, dtype=torch.uint8, device=device)
        self.body = self._all[BAND : BAND + size]
        self.address: int = self._all.data_ptr() + BAND

    def write(self, data: bytes) -> None:
        """Fill the storage from its start."""
        import torch

        if data:
            self.body[: len(data)].copy_(torch.frombuffer(bytearray(data), dtype=torch.uint8))

    def read(self) -> bytes:
        """The storage's bytes."""
        return self.body.cpu().numpy().tobytes()

    def slack_intact(self) -> bool:
        """Whether both bands still hold the poison."""
        bands = (self._all[:BAND], self._all[BAND + self.size :])
        return all(bool((band == self._poison).all()) for band in bands)

    def close(self) -> None:
        """Nothing to do: the allocator takes the memory back."""


class DeviceSpace:
    """Memory and data movement on a torch device, in the form that `sandbox.replay` asks for."""

    def __init__(self, device: str = "npu") -> None:
        self.device = device

    def allocate(self, size: int, placement: str, poison: int, lenient: bool) -> DeviceMemory:
        return DeviceMemory(size, poison, self.device)

    @staticmethod
    def _view(memories: dict[int, Any], view: dict[str, Any]) -> Any:
        import torch

        dtype = getattr(torch, view["dtype"])
        body = memories[view["buffer"]].body
        whole = body[: body.numel() // dtype.itemsize * dtype.itemsize].view(dtype)
        return whole.as_strided(view["shape"], view["strides"], whole.storage_offset() + view["offset"])

    def copy(self, memories: dict[int, Any], op: dict[str, Any]) -> None:
        self._view(memories, op["dst"]).copy_(self._view(memories, op["src"]))

    def fill(self, memories: dict[int, Any], op: dict[str, Any]) -> None:
        import torch

        dtype = getattr(torch, op["dst"]["dtype"])
        value = torch.frombuffer(bytearray(bytes.fromhex(op["bits"])), dtype=torch.uint8).view(dtype)
        self._view(memories, op["dst"]).copy_(value.to(self.device))

    def point(self, memory: DeviceMemory, at: int, value: int) -> None:
        import torch

        data = torch.frombuffer(bytearray(value.to_bytes(8, "little")), dtype=torch.uint8)
        memory.body[at : at + 8].copy_(data)


class NpuLauncher:
    """Compiles each recorded kernel once and launches it. One per process: a device fault poisons the process."""

    def __init__(self, kernels: list[dict[str, Any]]) -> None:
        self._irs = [KernelIR.from_json(kernel) for kernel in kernels]
        self._compiled: dict[int, Any] = {}

    def _kernel(self, index: int) -> Any:
        import torch_npu  # noqa: F401 (registers the device and Triton's driver for it)
        import triton

        if index not in self._compiled:
            ir = self._irs[index]
            with tempfile.TemporaryDirectory(prefix="atrl-npu-") as folder:
                path = Path(folder) / "kernel.ttir"
                path.write_text(ir.ttir)
                self._compiled[index] = triton.compile(str(path), options=dict(ir.options))
        return self._compiled[index]

    def queue(self, op: dict[str, Any], memories: dict[int, Any]) -> None:
        """Put one launch on the stream."""
        variant = op["variants"][op["use"]]
        if 0 in variant["grid"]:
            return
        args = [memories[a[0]].address + a[1] if isinstance(a, list) else a for a in variant["args"]]
        self._kernel(variant["kernel"])[tuple(variant["grid"])](*args)

    def launch(self, op: dict[str, Any], memories: dict[int, Any], reverse: bool) -> float:
        """One launch to its end; the order of programs is the device's own.

        Raises:
            ExecutionFault: the kernel's own fault.
            RuntimeError: the device's.
        """
        import torch

        from sandbox.execute.memory import ExecutionFault, OutOfBounds

        variant = op["variants"][op["use"]]
        ir = self._irs[variant["kernel"]]
        begin = time.perf_counter()
        try:
            self.queue(op, memories)
            torch.npu.synchronize()
        except RuntimeError as error:
            fault = kernel_fault(str(error))
            if fault:
                raise ExecutionFault(ir.name, fault) from error
            raise
        seconds = time.perf_counter() - begin
        for name, arg in zip(ir.arg_names, variant["args"], strict=True):
            if isinstance(arg, list) and not memories[arg[0]].slack_intact():
                raise OutOfBounds(ir.name, name, "beside", 0)
        return seconds
