"""Data movement between byte buffers as numpy array operations: strided views, casts, fills."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

# bfloat16 has no numpy type: its bits travel as uint16 and are widened where a cast needs values.
NUMPY = {
    "float64": np.float64,
    "float32": np.float32,
    "float16": np.float16,
    "bfloat16": np.uint16,
    "int64": np.int64,
    "int32": np.int32,
    "int16": np.int16,
    "int8": np.int8,
    "uint8": np.uint8,
    "uint16": np.uint16,
    "uint32": np.uint32,
    "uint64": np.uint64,
    "bool": np.bool_,
    "float8_e4m3fn": np.uint8,
    "float8_e5m2": np.uint8,
    "float8_e4m3fnuz": np.uint8,
    "float8_e5m2fnuz": np.uint8,
}


class UnsupportedCast(Exception):
    """A cast that data movement does not cover (8-bit floats)."""


def array(address: int, size: int, view: dict[str, Any]) -> np.ndarray:
    """The numpy view of `view` over the `size` bytes at `address`; bounds were checked by the judge."""
    dtype = np.dtype(NUMPY[view["dtype"]])
    if 0 in view["shape"]:
        return np.empty(view["shape"], dtype)
    raw = (ctypes.c_uint8 * size).from_address(address)
    strides = tuple(s * dtype.itemsize for s in view["strides"])
    return np.ndarray(tuple(view["shape"]), dtype, memoryview(raw), view["offset"] * dtype.itemsize, strides)


def to_bfloat16(values: np.ndarray) -> np.ndarray:
    """float32 to bfloat16 bits, round to nearest even, NaN kept."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = ((bits + (0x7FFF + ((bits >> 16) & 1))) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded)


def from_bfloat16(bits: np.ndarray) -> np.ndarray:
    """bfloat16 bits to float32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def move(dst: np.ndarray, src: np.ndarray, dst_type: str, src_type: str) -> None:
    """Copy with the cast that torch would do."""
    if dst_type == src_type:
        dst[...] = src
        return
    if "float8" in dst_type or "float8" in src_type:
        raise UnsupportedCast(f"cast from {src_type} to {dst_type}")
    values = from_bfloat16(np.ascontiguousarray(src)) if src_type == "bfloat16" else src
    with np.errstate(all="ignore"):
        if dst_type == "bfloat16":
            dst[...] = to_bfloat16(values.astype(np.float32))
        else:
            dst[...] = values.astype(NUMPY[dst_type])


def fill(dst: np.ndarray, bits: str) -> None:
    """Every element takes the value of the given little-endian bytes (hex)."""
    dst[...] = np.frombuffer(bytes.fromhex(bits), dst.dtype)[0]
