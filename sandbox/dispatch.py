"""Shows every aten operation of a candidate to its `Trace`, and the doors past them to a tensor's data."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from sandbox.trace import COPIES, Trace

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
READS = {"_local_scalar_dense"}
# Python-level doors to a tensor's data that no aten operation shows.
PYTHON_READS = {"tolist", "numpy", "__array__", "__dlpack__"}


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
            return out
        shared = {t.untyped_storage()._cdata for t in inputs}
        if name in ("fill_", "zero_") and all(trace.storage(t).level == 0 for t in inputs[1:]):
            trace.fill(inputs[0])
        elif not written and outs and all(t.untyped_storage()._cdata in shared for t in outs):
            pass  # a view, or nothing to do
        elif name in COPIES and not written and outs and not _rounds(outs[0], inputs[0], trace):
            trace.copy(outs[0], inputs[0])
        elif name in ("cat", "stack") and not written:
            self._cat(outs[0], list(args[0]), kwargs.get("dim", args[1] if len(args) > 1 else 0), name)
        elif name == "constant_pad_nd" and not written:
            self._pad(outs[0], inputs[0], list(args[1]))
        elif not written and all(trace.is_metadata(t) for t in inputs if trace.storage(t).level):
            for t in inputs:
                trace.read_by_host(t, f"{namespace}.{name}")
            for t in outs:
                trace.storage(t).host_written = True
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
        if not quiet and _rounds(dst, src, trace):
            trace.violate("compute", "aten.copy_ from float to integer")
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


def _rounds(dst: torch.Tensor, src: torch.Tensor, trace: Trace) -> bool:
    """A cast that computes: it truncates or tests the task's numbers. Results of a kernel may be cast."""
    return src.is_floating_point() and not dst.is_floating_point() and not trace.storage(src).computed


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
