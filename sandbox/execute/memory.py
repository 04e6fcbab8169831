"""Tensor memory with inaccessible pages at both ends, poisoned before use.

A tensor rarely fills its pages, so an overrun of a few elements would stay inside: data lies flush against the upper
guard ("high") or the lower one ("low"), and a judge runs a kernel once with each.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Sequence
from typing import Literal

from sandbox.execute.runtime import Fault, runtime

Placement = Literal["high", "low"]

GUARD_BYTES = 16 << 20  # inaccessible at either end; address space only
PAGE = mmap.PAGESIZE
SIGNAL_NAMES = {4: "illegal instruction", 7: "bus error", 8: "arithmetic fault", 11: "segmentation fault"}

_PROT_NONE, _PROT_READ_WRITE = 0, 3
_MAP_PRIVATE_ANONYMOUS_NORESERVE = 0x02 | 0x20 | 0x4000

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


class ExecutionFault(Exception):
    """A native kernel died: the message says how."""

    def __init__(self, kernel: str, message: str):
        self.kernel = kernel
        super().__init__(f"{kernel}: {message}")


class OutOfBounds(ExecutionFault):
    """A kernel touched memory outside of its tensors.

    Attributes:
        arg: parameter whose guard was hit; None when the address is far from every tensor.
        side: "below" or "above" the tensor; "beside" for a write that damaged the slack of its pages and was found
            after the run; "" when arg is None.
        offset: bytes from the tensor's start (below, negative) or from its end (above).
    """

    def __init__(self, kernel: str, arg: str | None, side: str, offset: int):
        self.arg, self.side, self.offset = arg, side, offset
        if arg is None:
            where = "an access far outside of every tensor"
        elif side == "beside":
            where = f"a write just outside of '{arg}'"
        else:
            where = f"an access {abs(offset)} bytes {side} the {'start' if side == 'below' else 'end'} of '{arg}'"
        super().__init__(kernel, where)


class GuardedMemory:
    """`size` bytes between two guards.

    Args:
        size: bytes of the tensor's storage; 0 gives an address that must not be touched.
        placement: "high" puts the end at the upper guard, "low" the start at the lower one.
        poison: byte that fills the storage and the slack beside it.
        lenient: let accesses into the guards happen, on pages that appear filled with poison. For kernels whose
            lowering loads or stores back lanes that the user masked out (`NativeKernel.wide`): such accesses are
            harmless, but a result that depends on them differs between two poisons, and `slack_intact` finds writes.
    """

    def __init__(self, size: int, placement: Placement = "high", poison: int = 0xFF, lenient: bool = False):
        self.size = size
        body = max(PAGE, -(-size // PAGE) * PAGE)
        self._length = body + 2 * GUARD_BYTES
        base = _libc.mmap(None, self._length, _PROT_NONE, _MAP_PRIVATE_ANONYMOUS_NORESERVE, -1, 0)
        if base in (None, ctypes.c_void_p(-1).value):
            raise MemoryError(f"cannot map {self._length} bytes of guarded memory")
        self._base = base
        start = base + GUARD_BYTES
        if _libc.mprotect(start, body, _PROT_READ_WRITE) != 0:
            self.close()
            raise MemoryError(f"cannot map {body} bytes of guarded memory")
        ctypes.memset(start, poison, body)
        self._body = (start, body)
        self._poison = poison
        self._lenient = lenient
        self.address = start if placement == "low" else start + body - size
        _LIVE[self._base] = self
        if lenient:
            _update_lenient()

    def write(self, data: bytes) -> None:
        """Fill the storage from its start."""
        if len(data) > self.size:
            raise ValueError(f"{len(data)} bytes do not fit into {self.size}")
        ctypes.memmove(self.address, data, len(data))

    def read(self) -> bytes:
        """The storage's bytes."""
        return ctypes.string_at(self.address, self.size)

    def slack_intact(self) -> bool:
        """Whether the bytes between the storage and the pages' ends still hold the poison (no write overran)."""
        start, body = self._body
        before = ctypes.string_at(start, self.address - start)
        after = ctypes.string_at(self.address + self.size, start + body - self.address - self.size)
        opened = [page for page in runtime().opened_pages() if self._base <= page < self._base + self._length]
        beside = [before, after, *(ctypes.string_at(page, PAGE) for page in opened)]
        return not any(data.strip(bytes([self._poison])) for data in beside)

    def distance(self, address: int) -> int | None:
        """Bytes below the start (negative) or above the end (0 or more) if the address lies in this mapping."""
        if not self._base <= address < self._base + self._length:
            return None
        return address - self.address if address < self.address else address - (self.address + self.size)

    def close(self) -> None:
        """Unmap; the address must not be used any more."""
        if self._base:
            if _LIVE.pop(self._base, None) is not None and self._lenient:
                _update_lenient()
            _libc.munmap(self._base, self._length)
            self._base = 0

    def __enter__(self) -> GuardedMemory:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def guards(self) -> list[tuple[int, int, int]]:
        """(low, high, poison) of the two guards."""
        start, body = self._body
        return [(self._base, start, self._poison), (start + body, self._base + self._length, self._poison)]


_LIVE: dict[int, GuardedMemory] = {}  # by base address: a fault has only an address to go by


def _update_lenient() -> None:
    runtime().set_lenient([guard for memory in _LIVE.values() if memory._lenient for guard in memory.guards()])


def classify(fault: Fault, kernel: str, pointers: Sequence[tuple[str, int]]) -> ExecutionFault:
    """Turn a hardware fault into the exception that names the argument.

    Args:
        pointers: (parameter name, address) of the launch's tensor arguments; several may share one storage.
    """
    if fault.exhausted:
        return ExecutionFault(kernel, "local buffers of one program exceed the limit of the native run")
    if fault.signal != 11:
        return ExecutionFault(kernel, SIGNAL_NAMES.get(fault.signal, f"signal {fault.signal}"))
    for memory in _LIVE.values():
        distance = memory.distance(fault.address)
        if distance is None:
            continue
        names = [name for name, address in pointers if memory.address <= address <= memory.address + memory.size]
        side = "below" if fault.address < memory.address else "above"
        return OutOfBounds(kernel, names[0] if names else None, side if names else "", distance)
    return OutOfBounds(kernel, None, "", 0)
