"""Records the aten operations of a callable with shapes, types and layout: the work that eager PyTorch would launch.

Imports torch; only used in worker processes and scripts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

# Operations that launch nothing on a device: allocation, views, metadata, random state.
FREE = {
    "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "empty_permuted", "detach", "alias",
    "view", "_unsafe_view", "reshape", "expand", "permute", "transpose", "t", "select", "slice", "squeeze", "unsqueeze",
    "as_strided", "split", "split_with_sizes", "chunk", "unbind", "unfold", "diagonal", "narrow", "view_as_real",
    "view_as_complex", "lift_fresh", "is_same_size", "sym_size", "sym_stride", "sym_numel", "sym_storage_offset",
    "_reshape_alias", "resolve_conj", "resolve_neg", "real", "imag", "set_", "swapaxes", "movedim", "numpy_T", "mT",
    "unsafe_split", "unsafe_chunk", "_local_scalar_dense", "item", "is_pinned",
}  # fmt: skip


def describe(tensor: torch.Tensor) -> dict[str, Any]:
    """Shape, type and whether the memory is dense and in order."""
    return {
        "shape": list(tensor.shape),
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "contiguous": tensor.is_contiguous(),
        "strides": list(tensor.stride()),
    }


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Tensors of a nest of lists, tuples and dictionaries, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [t for item in value for t in tensors_in(item)]
    return []


class AtenTrace(TorchDispatchMode):
    """A dispatch mode; `ops` holds {"op", "inputs", "outputs", "scalars"} in order of execution."""

    def __init__(self) -> None:
        super().__init__()
        self.ops: list[dict[str, Any]] = []

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # nothing is compiled here, and wrapping the handler would import torch._dynamo (seconds)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        namespace, _, name = func._schema.name.partition("::")
        if name not in FREE and namespace in ("aten", "prims", "torch"):
            inputs = tensors_in([args, kwargs or {}])
            self.ops.append(
                {
                    "op": name,
                    "inputs": [describe(t) for t in inputs],
                    "outputs": [describe(t) for t in tensors_in(out)],
                    "scalars": [a for a in args if isinstance(a, int | float | bool | list) and not tensors_in(a)],
                }
            )
        return out


def trace(function: Callable[[], Any]) -> tuple[Any, list[dict[str, Any]]]:
    """Call a function; its result and the aten operations it ran."""
    mode = AtenTrace()
    with torch.no_grad(), mode:
        result = function()
    return result, mode.ops
