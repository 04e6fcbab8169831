"""The machine code of `runtime_ir`, compiled once per process by llvmlite, and calls with fault capture."""

from __future__ import annotations

import ctypes
import functools
import mmap
from dataclasses import dataclass
from typing import Any

from sandbox.execute.runtime_ir import LENIENT_REGIONS, OPENED_PAGES, runtime_ir

ARENA_BYTES = 256 << 20  # per program; Ascend cores have 192 KB of UB and 512 KB of L1, but the CPU path never reuses


class _SigAction(ctypes.Structure):
    """glibc's struct sigaction on 64-bit Linux."""

    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_uint64 * 16),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


class _Stack(ctypes.Structure):
    _fields_ = (("sp", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t))


SIGNALS = (4, 7, 8, 11)  # SIGILL, SIGBUS, SIGFPE, SIGSEGV
_SA_SIGINFO, _SA_ONSTACK = 4, 0x08000000
_ALTERNATE_STACK = 64 * 1024


@dataclass(frozen=True)
class Fault:
    """A hardware fault inside a native kernel: the signal, the address, whether local memory ran out before."""

    signal: int
    address: int
    exhausted: bool


class Runtime:
    """The linked runtime of this process. Use `runtime()`."""

    def __init__(self) -> None:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        llvm.load_library_permanently("libm.so.6")
        self.machine = self.new_machine()
        self.triple = llvm.get_process_triple()
        self.cpu = f"{self.triple} {llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
        self._libc = ctypes.CDLL(None, use_errno=True)
        module = llvm.parse_assembly(runtime_ir())
        module.triple = self.triple
        module.data_layout = str(self.machine.target_data)
        self._engine = llvm.create_mcjit_compiler(module, self.new_machine())
        self._engine.finalize_object()
        address = self._engine.get_function_address
        for name in ("atrl_alloc", "atrl_reset", "memrefCopy", "__truncsfbf2", "__truncdfbf2"):
            llvm.add_symbol(name, address(name))
        self._guarded = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
            address("atrl_guarded_call")
        )
        self._on_fault = address("atrl_on_fault")
        self._fault = (ctypes.c_int64 * 2).from_address(self._engine.get_global_value_address("atrl_fault"))
        self._arena = (ctypes.c_int64 * 4).from_address(self._engine.get_global_value_address("atrl_arena"))
        variable = self._engine.get_global_value_address
        self._lenient = (ctypes.c_int64 * 3 * LENIENT_REGIONS).from_address(variable("atrl_lenient"))
        self._lenient_count = ctypes.c_int64.from_address(variable("atrl_lenient_count"))
        self._opened = (ctypes.c_int64 * OPENED_PAGES).from_address(variable("atrl_opened"))
        self._opened_count = ctypes.c_int64.from_address(variable("atrl_opened_count"))
        self._arena_map: Any = None
        self._stack = ctypes.create_string_buffer(_ALTERNATE_STACK)

    @staticmethod
    def new_machine() -> Any:
        """A target machine for this CPU; every MCJIT engine takes one over, so none is shared.

        The host's name and features matter: with a generic target, float16 conversions become library calls.
        """
        import llvmlite.binding as llvm

        return llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3, jit=True
        )

    def _prepare_arena(self) -> None:
        """Map the arena (pages cost nothing until touched); called in the process that runs, after any fork."""
        if self._arena_map is None:
            # Private: a worker that forks after a warm-up run must not share it with its children.
            self._arena_map = mmap.mmap(-1, ARENA_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            self._arena[0] = ctypes.addressof(ctypes.c_char.from_buffer(self._arena_map))
            self._arena[2] = ARENA_BYTES
        self._arena[3] = 0

    def set_lenient(self, regions: list[tuple[int, int, int]]) -> None:
        """Replace the regions (low, high, poison byte) whose pages open on demand; forget pages outside of them."""
        if len(regions) > LENIENT_REGIONS:
            raise MemoryError(f"more than {LENIENT_REGIONS} lenient regions")
        for slot, region in zip(self._lenient, regions, strict=False):
            slot[:] = region
        self._lenient_count.value = len(regions)
        kept = [page for page in self.opened_pages() if any(low <= page < high for low, high, _ in regions)]
        for index, page in enumerate(kept):
            self._opened[index] = page
        self._opened_count.value = len(kept)

    def opened_pages(self) -> list[int]:
        """Addresses of the pages that were opened in lenient regions."""
        return self._opened[: self._opened_count.value]

    def call(self, entry: int, args: int, grid: int) -> Fault | None:
        """Call a native entry point with fault capture; the previous signal handlers are restored after it."""
        self._prepare_arena()
        action = _SigAction(handler=self._on_fault, flags=_SA_SIGINFO | _SA_ONSTACK)
        stack = _Stack(sp=ctypes.addressof(self._stack), size=_ALTERNATE_STACK)
        old_stack, old = _Stack(), [_SigAction() for _ in SIGNALS]
        self._libc.sigaltstack(ctypes.byref(stack), ctypes.byref(old_stack))
        for number, previous in zip(SIGNALS, old, strict=True):
            self._libc.sigaction(number, ctypes.byref(action), ctypes.byref(previous))
        try:
            signal = self._guarded(entry, args, grid)
        finally:
            for number, previous in zip(SIGNALS, old, strict=True):
                self._libc.sigaction(number, ctypes.byref(previous), None)
            self._libc.sigaltstack(ctypes.byref(old_stack), None)
        return Fault(signal, self._fault[0], bool(self._arena[3])) if signal else None


@functools.cache
def runtime() -> Runtime:
    """The runtime of this process, compiled at first use (about 20 ms)."""
    return Runtime()
