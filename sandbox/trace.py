"""Follows a candidate's tensors: which storage holds what, and every aten operation that touches real data.

Every storage has a level: 0 the host knows its content (constants, allocations), 1 it derives from parameters, 2 it
derives from inputs or from a kernel. Data movement on levels 1 and 2 is recorded; computation on them is a violation,
because then torch does the work. Computation on level 0 (index tables, constants) is the host's business.
"""

from __future__ import annotations

import linecache
import sys
from dataclasses import dataclass, field
from typing import Any

import torch

from sandbox.recording import READ_LIMIT_FLOAT, READ_LIMIT_INT

# Operations that copy their first argument into new memory.
COPIES = {"clone", "_to_copy", "_reshape_copy", "contiguous", "view_copy", "lift_fresh_copy"}
MAX_ADDRESSES = 8192  # words of host data that are searched for addresses


@dataclass
class Storage:
    """One allocation of the candidate's process and the buffer of the recording that stands for it."""

    buffer: int
    keep: torch.Tensor  # keeps the memory alive, so that its identity stays unique
    level: int = 0
    launched: bool = False  # written by a kernel in the current call (directly or through copies)
    sources: frozenset[tuple[str, Any]] = frozenset()  # inputs and parameters it was moved from
    computed: bool = False  # content came out of a kernel: the host cannot know it
    addresses: list[Storage] = field(default_factory=list)  # tensors whose addresses it holds
    folded: str = ""  # torch computed it from weights while the module was built: name of the operation
    folded_line: str = ""
    on_device: bool = False  # the recording holds its content
    host_written: bool = False  # level 0: the host wrote to it since the allocation or the last `set`


@dataclass
class Op:
    """One recorded operation with what is needed to pick it for a call."""

    data: dict[str, Any]
    call: int
    level: int
    writes: set[int]
    reads: set[int]


@dataclass
class Trace:
    """All that is known while a candidate runs."""

    path: str  # file of the candidate, to name lines
    buffers: list[dict[str, Any]] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    blocks: list[bytes] = field(default_factory=list)
    violations: list[dict[str, Any]] = field(default_factory=list)
    reveal: set[int] = field(default_factory=set)
    reveal_params: bool = False
    call: int = -1  # -1 before the first forward
    moved: int = 0
    constructing: bool = False
    # While the module is built nobody knows which tensors will be parameters: (name, outputs, inputs, line).
    construction: list[tuple[str, list[torch.Tensor], list[torch.Tensor], str]] = field(default_factory=list)
    _storages: dict[int, Storage] = field(default_factory=dict)

    # ------------------------------------------------------------ storages

    def storage(self, tensor: torch.Tensor) -> Storage:
        """The storage of a tensor; one seen for the first time is the host's."""
        raw = tensor.untyped_storage()
        found = self._storages.get(raw._cdata)
        if found is None:
            self.buffers.append({"kind": "alloc", "nbytes": raw.nbytes()})
            # A plain view of the same storage: holds the memory, carries no subclass and no graph.
            keep = torch.empty(0, dtype=torch.uint8).set_(raw)
            found = Storage(len(self.buffers) - 1, keep, host_written=True)
            self._storages[raw._cdata] = found
        return found

    def bind(self, tensor: torch.Tensor, kind: str, level: int, **identity: Any) -> None:
        """Declare that a tensor's storage is an input or a parameter."""
        found = self.storage(tensor)
        raw = tensor.untyped_storage()
        self.buffers[found.buffer] = {"kind": kind, "nbytes": raw.nbytes(), **identity}
        found.level, found.on_device = level, True
        found.sources = frozenset({(kind, identity.get("index", identity.get("name")))})

    def bind_parameters(self, state: dict[str, torch.Tensor], names: dict[str, str]) -> None:
        """Declare the module's parameters and buffers, and what was made from them while it was built.

        Copies of a parameter follow it; a tensor that torch computed from parameters is remembered as folded, and
        using it is a violation.

        Args:
            names: the reference's name of each that has one. The content of the others is known here only
                (construction by seed), so the recording must carry it.
        """
        for name, tensor in state.items():
            if name in names:
                self.bind(tensor, "param", 1, name=names[name])
            else:
                storage = self.storage(tensor)
                storage.host_written = True
                self.materialise(tensor)
                storage.level, storage.sources = 1, frozenset({("param", name)})
        own = {self.storage(t).buffer for t in state.values()}
        for name, outs, inputs, line in self.construction:
            levels = [self.storage(t) for t in inputs]
            fresh = [t for t in outs if self.storage(t).buffer not in own]
            if not fresh or all(s.level == 0 and not s.folded for s in levels):
                continue
            if name in COPIES | {"copy_"} and not levels[0].folded:
                self.copy(fresh[0], inputs[0])
            else:
                for tensor in fresh:
                    if self.storage(tensor).buffer not in {s.buffer for s in levels}:
                        self.storage(tensor).folded, self.storage(tensor).folded_line = name, line
        self.construction.clear()

    def begin_call(self, call: int) -> None:
        """Start recording `forward` number `call`: nothing counts as written by a kernel yet."""
        self.call = call
        for storage in self._storages.values():
            storage.launched = False

    def view(self, tensor: torch.Tensor) -> dict[str, Any]:
        return {
            "buffer": self.storage(tensor).buffer,
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "shape": list(tensor.shape),
            "strides": list(tensor.stride()),
            "offset": tensor.storage_offset(),
        }

    # ------------------------------------------------------------ operations

    def add(self, data: dict[str, Any], level: int, writes: set[int], reads: set[int]) -> None:
        self.ops.append(Op(data, self.call, level, writes, reads))

    def materialise(self, tensor: torch.Tensor) -> Storage:
        """Make sure that the recording knows the content of a level 0 storage before something reads it."""
        storage = self.storage(tensor)
        if storage.folded:
            what = {"kind": "compute", "what": f"aten.{storage.folded} on weights", "phase": "construction"}
            self.violations.append({**what, "line": storage.folded_line})
            storage.folded = ""
        if storage.level == 0 and storage.host_written:
            raw = bytes(memoryview(storage.keep.numpy())) if storage.keep.numel() else b""
            target = {"buffer": storage.buffer}
            if raw and raw.count(raw[:1]) == len(raw):
                flat = {**target, "dtype": "uint8", "shape": [len(raw)], "strides": [1], "offset": 0}
                self.add({"op": "fill", "dst": flat, "bits": raw[:1].hex()}, 0, {storage.buffer}, set())
            elif raw:
                self.blocks.append(raw)
                self.add({"op": "set", **target, "block": len(self.blocks) - 1}, 0, {storage.buffer}, set())
                self._relocate(storage)
            storage.host_written = False
        storage.on_device = True
        return storage

    def copy(self, dst: torch.Tensor, src: torch.Tensor) -> None:
        """Record data movement from `src` (broadcast to the shape of `dst`) to `dst`."""
        source = self.materialise(src)
        target = self.materialise(dst)
        if src.shape != dst.shape:
            src = src.expand(dst.shape)
        level = max(source.level, target.level)
        whole = dst.numel() * dst.element_size() >= dst.untyped_storage().nbytes()
        data = {"op": "copy", "dst": self.view(dst), "src": self.view(src)}
        self.add(data, level, {target.buffer}, {source.buffer, target.buffer})
        target.level = level
        target.launched = source.launched or (target.launched and not whole)
        target.computed = source.computed or (target.computed and not whole)
        target.sources = source.sources if whole else source.sources | target.sources
        self.moved += 1

    def fill(self, dst: torch.Tensor) -> None:
        """Record that the host filled `dst` (already done) with one value."""
        if not dst.numel():
            return
        target = self.storage(dst)
        if target.level == 0:
            target.host_written = True
            return
        one = dst.as_strided((1,), (1,), dst.storage_offset()).clone().view(torch.uint8)
        data = {"op": "fill", "dst": self.view(dst), "bits": bytes(one.tolist()).hex()}
        self.add(data, target.level, {target.buffer}, {target.buffer})

    def wrote_by_kernel(self, written: list[Storage], read: list[Storage]) -> None:
        """A kernel stored to `written`, having read `read`: the host no longer knows their content."""
        sources = frozenset().union(*(s.sources for s in read))
        for storage in written:
            storage.level, storage.launched, storage.computed = 2, True, True
            storage.sources = storage.sources | sources

    def _relocate(self, storage: Storage) -> None:
        """Addresses of other tensors inside host data are named, so that a replay can put its own in their place."""
        count = storage.keep.numel() // 8
        if not 0 < count <= MAX_ADDRESSES:
            return
        words = storage.keep[: 8 * count].clone().view(torch.int64).tolist()
        for i, word in enumerate(words):
            for other in self._storages.values():
                start = other.keep.data_ptr()
                if other is not storage and other.keep.numel() and start <= word < start + other.keep.numel():
                    data = {"op": "address", "buffer": storage.buffer, "at": 8 * i}
                    data |= {"target": other.buffer, "offset": word - start}
                    self.add(data, 0, {storage.buffer}, {storage.buffer, other.buffer})
                    storage.addresses.append(other)

    def line(self) -> str:
        """ "LINE: TEXT" of the innermost frame in the candidate's file."""
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == self.path:
                return f"{frame.f_lineno}: {linecache.getline(self.path, frame.f_lineno).strip()}"
            frame = frame.f_back  # type: ignore[assignment]
        return ""

    def violate(self, kind: str, what: str) -> None:
        if len(self.violations) < 64:
            phase = "forward" if self.call >= 0 else "construction"
            self.violations.append({"kind": kind, "what": what, "line": self.line(), "phase": phase})

    def read_by_host(self, tensor: torch.Tensor, what: str) -> None:
        """The host wants values: fine for its own, by request for small inputs, impossible for a kernel's result."""
        storage = self.storage(tensor)
        if storage.level == 0:
            return
        if storage.computed:
            self.violate("host_read", f"{what} of a kernel's result")
            return
        if not may_reveal(tensor):
            self.violate("host_read", f"{what} of a large tensor")
            return
        for kind, identity in storage.sources:
            if kind == "input":
                self.reveal.add(identity)
            else:
                self.reveal_params = True

    def is_metadata(self, tensor: torch.Tensor) -> bool:
        """A small integer input or buffer (lengths, offsets): the host may compute with its values."""
        storage = self.storage(tensor)
        integer = not tensor.is_floating_point() and not tensor.is_complex()
        return integer and storage.level > 0 and not storage.computed and may_reveal(tensor)

    def ops_of_call(self, call: int, output: set[int]) -> list[dict[str, Any]]:
        """The operations of a call, preceded by those earlier ones that made constants it needs."""
        needed = set(output)
        picked: list[dict[str, Any]] = []
        for op in reversed(self.ops):
            if op.call == call or (op.call < call and op.level <= 1 and op.writes & needed):
                picked.append(op.data)
                needed |= op.reads | op.writes
        return picked[::-1]


def may_reveal(tensor: torch.Tensor) -> bool:
    """Small enough for the host to read: sizes and scalars, not the data of a task."""
    limit = READ_LIMIT_FLOAT if tensor.is_floating_point() or tensor.is_complex() else READ_LIMIT_INT
    return tensor.untyped_storage().nbytes() <= limit * tensor.element_size()
