"""Tensors as plain bytes: what crosses process boundaries is (dtype, shape, strides, offset, storage bytes)."""

from __future__ import annotations

import hashlib
from typing import Any

import torch


def skip_dynamo() -> None:
    """Let `torch.manual_seed` and its like run without importing torch._dynamo, which takes seconds.

    torch wraps them so that a compiler leaves them alone; nothing is compiled here.
    """
    for function in (torch.manual_seed, torch.seed, torch.set_rng_state, torch.get_rng_state):
        inner = getattr(function, "__wrapped__", None)
        if inner is not None:
            setattr(inner, "__dynamo_disable", inner)


def dtype_of(name: str) -> torch.dtype:
    """torch dtype of a name such as "float32"."""
    return getattr(torch, name)


def pack(value: Any) -> Any:
    """A tree of tensors and plain Python values as picklable data without torch objects."""
    if isinstance(value, torch.Tensor):
        value = value.detach()
        raw = torch.empty(0, dtype=torch.uint8).set_(value.untyped_storage())
        return {
            "__tensor__": True,
            "dtype": str(value.dtype).removeprefix("torch."),
            "shape": list(value.shape),
            "strides": list(value.stride()),
            "offset": value.storage_offset(),
            "data": bytes(memoryview(raw.numpy())),
        }
    if isinstance(value, list):
        return [pack(v) for v in value]
    if isinstance(value, tuple):
        return tuple(pack(v) for v in value)
    if isinstance(value, dict):
        return {k: pack(v) for k, v in value.items()}
    return value


def unpack(value: Any) -> Any:
    """Inverse of `pack`; every tensor gets new storage."""
    if isinstance(value, dict):
        if "__tensor__" in value:
            return build(value["dtype"], value["shape"], value["strides"], value["offset"], value["data"])
        return {k: unpack(v) for k, v in value.items()}
    if isinstance(value, list):
        return [unpack(v) for v in value]
    if isinstance(value, tuple):
        return tuple(unpack(v) for v in value)
    return value


def build(dtype: str, shape: list[int], strides: list[int], offset: int, data: Any) -> torch.Tensor:
    """A tensor over a copy of the storage bytes."""
    raw = torch.empty(len(data), dtype=torch.uint8)
    if len(data):
        raw.copy_(torch.frombuffer(bytearray(data), dtype=torch.uint8))
    out = torch.empty(0, dtype=dtype_of(dtype))
    return out.set_(raw.untyped_storage(), offset, shape, strides)


def tree_tensors(value: Any) -> list[torch.Tensor]:
    """Every tensor of a tree in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        return [t for v in value.values() for t in tree_tensors(v)]
    if isinstance(value, list | tuple):
        return [t for v in value for t in tree_tensors(v)]
    return []


def digest(tensor: torch.Tensor) -> str:
    """Names the content of a tensor that fills its storage in row-major order, whatever its shape; else "".

    Two tensors with one digest may stand in for each other byte by byte.
    """
    if not tensor.is_contiguous() or tensor.storage_offset() or not tensor.numel():
        return ""
    data = bytes(memoryview(torch.empty(0, dtype=torch.uint8).set_(tensor.detach().untyped_storage()).numpy()))
    if len(data) != tensor.numel() * tensor.element_size():
        return ""
    return f"{tensor.dtype} {hashlib.sha256(data).hexdigest()}"


def is_constant(tensor: torch.Tensor) -> bool:
    """A floating-point tensor of one value, as weights of normalisations are before training."""
    return bool(tensor.is_floating_point() and tensor.numel() and (tensor == tensor.flatten()[0]).all())


def element_bytes(tensor: torch.Tensor) -> torch.Tensor:
    """(..., bytes per element)."""
    return tensor.contiguous().unsqueeze(-1).view(torch.uint8)


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Equal shapes and bytes: NaN equals itself, -0.0 does not equal 0.0."""
    return a.shape == b.shape and torch.equal(element_bytes(a), element_bytes(b))
