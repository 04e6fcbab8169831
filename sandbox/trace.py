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
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

ALLOCATE = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "empty_permuted"}
# The result depends on the arguments' shape and type only.
METADATA = ALLOCATE | {
    "zeros_like",
    "ones_like",
    "full_like",
    "new_zeros",
    "new_ones",
    "new_full",
    "rand_like",
    "randn_like",
    "randint_like",
    "is_same_size",
    "sym_size",
    "sym_stride",
    "sym_numel",
    "sym_storage_offset",
    "is_contiguous",
    "dim",
    "size",
    "stride",
    "numel",
    "is_pinned",
    "_has_compatible_shallow_copy_type",
    "is_non_overlapping_and_dense",
}
COPIES = {"clone", "_to_copy", "_reshape_copy", "contiguous", "view_copy", "lift_fresh_copy"}
READS = {"_local_scalar_dense"}
# Python-level doors to a tensor's data that no aten operation shows.
PYTHON_READS = {"tolist", "numpy", "__array__", "__dlpack__"}
# How many elements of an input the host may read: sizes and scalars, not the data of the task.
READ_LIMIT_FLOAT, READ_LIMIT_INT = 16, 4096


@dataclass
class Storage:
    """One allocation of the candidate's process and the buffer of the recording that stands for it."""

    buffer: int
    keep: torch.Tensor  # keeps the memory alive, so that its identity stays unique
    level: int = 0
    launched: bool = False  # written by a kernel in the current call (directly or through copies)
    sources: frozenset[tuple[str, Any]] = frozenset()  # inputs and parameters it was moved from
    computed: bool = False  # content came out of a kernel: the host cannot know it
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

    def bind_parameters(self, state: dict[str, torch.Tensor], *, by_value: bool) -> None:
        """Declare the module's parameters and buffers, and what was made from them while it was built.

        Copies of a parameter follow it; a tensor that torch computed from parameters is remembered as folded, and
        using it is a violation.

        Args:
            by_value: their content is known here only (construction by seed), so the recording must carry it.
        """
        for name, tensor in state.items():
            if by_value:
                storage = self.storage(tensor)
                storage.host_written = True
                self.materialise(tensor)
                storage.level, storage.sources = 1, frozenset({("param", name)})
            else:
                self.bind(tensor, "param", 1, name=name)
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

    def wrote_by_kernel(self, tensor: torch.Tensor) -> None:
        storage = self.storage(tensor)
        storage.level, storage.launched, storage.computed = 2, True, True

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
        limit = READ_LIMIT_FLOAT if tensor.is_floating_point() else READ_LIMIT_INT
        if storage.keep.numel() > limit * tensor.element_size():
            self.violate("host_read", f"{what} of a large tensor")
            return
        for kind, identity in storage.sources:
            if kind == "input":
                self.reveal.add(identity)
            else:
                self.reveal_params = True

    def ops_of_call(self, call: int, output: set[int]) -> list[dict[str, Any]]:
        """The operations of a call, preceded by those earlier ones that made constants it needs."""
        needed = set(output)
        picked: list[dict[str, Any]] = []
        for op in reversed(self.ops):
            if op.call == call or (op.call < call and op.level <= 1 and op.writes & needed):
                picked.append(op.data)
                needed |= op.reads | op.writes
        return picked[::-1]


class Dispatch(TorchDispatchMode):
    """Runs every aten operation and tells the trace about it."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self.trace = trace

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # nothing is compiled here, and wrapping the handler would import torch._dynamo (seconds)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        trace = self.trace
        name = func._schema.name.split("::")[-1]
        namespace = func._schema.name.split("::")[0]
        inputs = [t for t in _tensors(args) + _tensors(tuple(kwargs.values()))]
        if name in READS and inputs:
            trace.read_by_host(inputs[0], ".item()")
            return func(*args, **kwargs)
        if name == "copy_" and namespace == "aten":
            return self._copy(func, args, kwargs)
        out = func(*args, **kwargs)
        outs = _tensors((out,))
        if trace.constructing and inputs and outs and name not in METADATA:
            trace.construction.append((name, outs, inputs, trace.line()))
        if name in METADATA and namespace in ("aten", "prim", "prims"):
            for t in outs:
                storage = trace.storage(t)
                storage.host_written = name not in ALLOCATE
                if name in ALLOCATE:
                    t.untyped_storage().fill_(0xA5)  # never the leftovers of another tensor
            return out
        level = max((trace.storage(t).level for t in inputs), default=0)
        written = [t for t, arg in _written(func, args, kwargs)]
        if level == 0:
            for t in [*outs, *written]:
                trace.storage(t).host_written = True
                if not inputs and name == "empty":
                    trace.storage(t).host_written = False
            return out
        shared = {t.untyped_storage()._cdata for t in inputs}
        if name in ("fill_", "zero_") and all(trace.storage(t).level == 0 for t in inputs[1:]):
            trace.fill(inputs[0])
        elif not written and outs and all(t.untyped_storage()._cdata in shared for t in outs):
            pass  # a view, or nothing to do
        elif name in COPIES and not written and outs:
            trace.copy(outs[0], inputs[0])
        elif name in ("cat", "stack") and not written:
            self._cat(outs[0], list(args[0]), kwargs.get("dim", args[1] if len(args) > 1 else 0), name)
        elif name == "constant_pad_nd" and not written:
            self._pad(outs[0], inputs[0], list(args[1]))
        else:
            trace.violate("compute", f"{namespace}.{name}")
            for t in [*outs, *written]:
                storage = trace.materialise(t)
                storage.level, storage.computed = max(storage.level, level), True
        return out

    def _copy(self, func: Any, args: Any, kwargs: Any) -> Any:
        dst, src = args[0], args[1]
        trace = self.trace
        quiet = trace.storage(src).level == 0 and trace.storage(dst).level == 0
        if not quiet:
            trace.copy(dst, src)
        out = func(*args, **kwargs)
        if quiet:
            trace.storage(dst).host_written = True
            if trace.constructing:
                trace.construction.append(("copy_", [dst], [src], trace.line()))
        return out

    def _cat(self, out: torch.Tensor, parts: list[torch.Tensor], dim: int, name: str) -> None:
        at = 0
        self.trace.storage(out).host_written = False
        for part in parts:
            if name == "stack":
                self.trace.copy(out.select(dim, at), part)
                at += 1
            elif part.numel():
                self.trace.copy(out.narrow(dim, at, part.shape[dim]), part)
                at += part.shape[dim]

    def _pad(self, out: torch.Tensor, src: torch.Tensor, pad: list[int]) -> None:
        inner, source = out, src
        self.trace.storage(out).host_written = True  # the padding value; the rest is overwritten by the copy
        for i in range(len(pad) // 2):
            dim, (left, right) = out.dim() - 1 - i, (pad[2 * i], pad[2 * i + 1])
            source = source.narrow(dim, max(0, -left), source.shape[dim] - max(0, -left) - max(0, -right))
            inner = inner.narrow(dim, max(0, left), source.shape[dim])
        self.trace.copy(inner, source)


class PythonReads(TorchFunctionMode):
    """Notices the doors through which Python code reads data without an aten operation."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self.trace = trace

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        if name in PYTHON_READS and args and isinstance(args[0], torch.Tensor):
            self.trace.read_by_host(args[0], f".{name}()")
        return func(*args, **(kwargs or {}))


def _tensors(values: Any) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, list | tuple):
            found += _tensors(value)
        elif isinstance(value, dict):
            found += _tensors(tuple(value.values()))
    return found


def _written(func: Any, args: Any, kwargs: Any) -> list[tuple[torch.Tensor, str]]:
    """Arguments that the operation's schema says it writes to."""
    found = []
    for i, spec in enumerate(func._schema.arguments):
        if spec.alias_info is None or not spec.alias_info.is_write:
            continue
        value = args[i] if i < len(args) else kwargs.get(spec.name)
        found += [(t, spec.name) for t in _tensors((value,))]
    return found
