"""What a candidate's `forward` asked the device to do, as plain data.

A recording is a program of a few kinds of operations over byte buffers:

    set     buffer, block           host data, known when recorded (constants made by the candidate)
    fill    dst view, value bits    one element value everywhere
    copy    dst view, src view      data movement, with a cast if the types differ
    address buffer, at, target     the address of another buffer, where a tensor of pointers holds it
    launch  kernel, grid, args      a Triton kernel; variants of an autotuned kernel in the order of its configurations

Buffers are whole storages: an input, a parameter, or an allocation. A view is (buffer, dtype, shape, strides, offset),
strides and offset in elements. The recording comes from a hostile process: `validate` checks every index, size and name
before anything is done with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

# Bytes per element of every dtype that may appear.
DTYPES = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
    "bool": 1,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
    "float8_e4m3fnuz": 1,
    "float8_e5m2fnuz": 1,
}
MAX_BUFFERS, MAX_OPS, MAX_TOTAL_BYTES = 4096, 20000, 2 << 30
MAX_TTIR = 8 << 20  # characters
# How many elements of an input the host may read: sizes and scalars, not the data of the task.
READ_LIMIT_FLOAT, READ_LIMIT_INT = 16, 4096
STOPS = ("static_error", "compile_error", "runtime_error", "exit")


class InvalidRecording(Exception):
    """The recorder sent something that no honest recorder sends."""


def _need(condition: bool, what: str) -> None:
    if not condition:
        raise InvalidRecording(what)


def _count(value: Any, limit: int = 1 << 48) -> int:
    _need(type(value) is int and 0 <= value <= limit, "a size is not a natural number")
    return int(value)


def check_view(view: Any, sizes: list[int]) -> None:
    """A view lies inside its buffer."""
    _need(isinstance(view, dict), "not a view")
    _need(view.get("dtype") in DTYPES, f"unknown dtype {str(view.get('dtype'))[:30]}")
    shape, strides = view.get("shape"), view.get("strides")
    _need(isinstance(shape, list) and isinstance(strides, list) and len(shape) == len(strides) <= 32, "bad view")
    buffer = _count(view.get("buffer"), len(sizes) - 1)
    offset = _count(view.get("offset"))
    for size, stride in zip(shape, strides, strict=True):
        _count(size, 1 << 40)
        _count(stride)
    if math.prod(shape) == 0:
        return
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    _need((last + 1) * DTYPES[view["dtype"]] <= sizes[buffer], "a view leaves its buffer")
    _need(math.prod(shape) * DTYPES[view["dtype"]] <= MAX_TOTAL_BYTES, "a view is too large")


def leaves(output: Any) -> Iterator[dict[str, Any]]:
    """The tensors of an output tree, in order."""
    if output["type"] == "tensor":
        yield output
    for item in output.get("items", []):
        yield from leaves(item)


def _check_output(tree: Any, sizes: list[int], depth: int = 0) -> None:
    _need(isinstance(tree, dict) and depth < 8, "bad output tree")
    kind = tree.get("type")
    if kind == "tensor":
        check_view(tree, sizes)
        _need(isinstance(tree.get("written"), bool) and isinstance(tree.get("class"), str), "bad output")
    elif kind in ("list", "tuple", "dict"):
        items = tree.get("items")
        _need(isinstance(items, list) and len(items) <= 256, "bad output container")
        _need(kind != "dict" or (isinstance(tree.get("keys"), list) and len(tree["keys"]) == len(items)), "bad dict")
        for item in items:
            _check_output(item, sizes, depth + 1)
    else:
        _need(kind in ("value", "other") and isinstance(tree.get("repr"), str), "unknown output")


def _check_launch(op: dict[str, Any], kernels: list[dict[str, Any]], sizes: list[int]) -> None:
    variants = op.get("variants")
    _need(isinstance(variants, list) and 1 <= len(variants) <= 256, "a launch without kernel")
    for variant in variants or []:
        kernel = kernels[_count(variant.get("kernel"), len(kernels) - 1)]
        grid, args = variant.get("grid"), variant.get("args")
        _need(isinstance(grid, list) and len(grid) == 3, "bad grid")
        for n in grid or []:
            _count(n, 1 << 40)
        _need(isinstance(args, list), "bad kernel arguments")
        args = list(args or [])
        _need(len(args) == len(kernel["arg_types"]), "wrong number of kernel arguments")
        for arg, kind in zip(args, kernel["arg_types"], strict=True):
            if kind.startswith("*"):
                _need(isinstance(arg, list) and len(arg) == 2, "a pointer argument is not (buffer, byte offset)")
                offset = _count(arg[1])
                _need(offset <= sizes[_count(arg[0], len(sizes) - 1)], "a pointer lies outside its buffer")
            else:
                whole = kind[:1] in ("i", "u")
                _need(type(arg) in ((int, bool) if whole else (int, float, bool)), "a scalar argument is not a number")
                _need(not isinstance(arg, int) or -(1 << 63) <= arg < 1 << 64, "a scalar argument is too large")


def _check_kernel(kernel: Any) -> None:
    fields: dict[str, Callable[[Any], bool]] = {
        "name": lambda v: isinstance(v, str) and 0 < len(v) < 1000,
        "ttir": lambda v: isinstance(v, str) and len(v) <= MAX_TTIR,
        "arg_types": lambda v: isinstance(v, list) and all(isinstance(t, str) and len(t) < 32 for t in v),
        "arg_names": lambda v: isinstance(v, list) and all(isinstance(t, str) for t in v),
        "options": lambda v: isinstance(v, dict),
        "first_line": lambda v: type(v) is int,
        "source": lambda v: isinstance(v, dict) and all(_is_line(k) and isinstance(t, str) for k, t in v.items()),
    }
    _need(isinstance(kernel, dict) and set(kernel) == set(fields), "bad kernel")
    for name, valid in fields.items():
        _need(valid(kernel[name]), f"bad kernel field {name}")
    _need(len(kernel["arg_names"]) == len(kernel["arg_types"]), "bad kernel arguments")


def _texts(value: Any, *names: str) -> None:
    _need(isinstance(value, dict) and all(isinstance(value.get(n), str) for n in names), "a message is not text")


def validate_header(header: dict[str, Any]) -> None:
    """Check what the recorder says beside the recording: its findings, and whether it got to the end.

    Raises:
        InvalidRecording: with the first thing that is wrong.
    """
    stop = header.get("stop")
    if stop is not None:
        _texts(stop, "kind", "message", "line", "stage")
        _need(stop["kind"] in STOPS, "unknown end of a recording")
    for name, fields in (
        ("violations", ("kind", "what", "line", "phase")),
        ("launch_errors", ("stage", "kernel", "message", "line")),
    ):
        items = header.get(name)
        _need(isinstance(items, list) and len(items) <= 8192, f"bad {name}")
        for item in items or []:
            _texts(item, *fields)
    facts = header.get("facts")
    _need(isinstance(facts, dict), "bad facts")
    assert facts is not None
    for name in ("patched", "matched"):
        found = facts.get(name, [])
        _need(isinstance(found, list) and all(isinstance(n, str) for n in found), f"bad fact {name}")
    _count(facts.get("threads", 0))
    _need(facts.get("weights", "none") in ("none", "loaded", "seed"), "bad fact weights")
    _need(isinstance(facts.get("other_constants", False), bool), "bad fact other_constants")
    reveal = header.get("reveal")
    _need(isinstance(reveal, list) and isinstance(header.get("reveal_params"), bool), "bad wish for values")
    for index in reveal or []:
        _count(index, 1 << 16)
    calls = header.get("calls")
    _need(isinstance(calls, list), "bad calls")
    for call in calls or []:
        _need(isinstance(call, dict), "bad call")
        _count(call.get("launches"))


def validate(data: Any, blocks: int, inputs: list[list[int]], params: dict[str, int]) -> None:
    """Check a recording.

    Args:
        data: {"kernels", "sources", "buffers", "calls"} as the recorder sent it.
        blocks: number of byte blocks that came with it.
        inputs: for each call, the storage size in bytes of each input tensor.
        params: storage size in bytes of each parameter and module buffer.

    Raises:
        InvalidRecording: with the first thing that is wrong.
    """
    _need(isinstance(data, dict), "not a recording")
    kernels, buffers, calls = data.get("kernels"), data.get("buffers"), data.get("calls")
    _need(isinstance(kernels, list) and len(kernels) <= 512, "bad kernel list")
    _need(isinstance(buffers, list) and len(buffers) <= MAX_BUFFERS, "too many tensors")
    _need(isinstance(calls, list) and len(calls) == len(inputs), "wrong number of calls")
    for kernel in kernels:
        _check_kernel(kernel)
    sources = data.get("sources")
    _need(isinstance(sources, list) and len(sources) == len(kernels), "bad source list")
    for source in sources:
        _need(isinstance(source, dict) and set(source) == {"name", "line", "constants"}, "bad kernel source")
    sizes = []
    for buffer in buffers:
        _need(isinstance(buffer, dict), "bad buffer")
        sizes.append(_count(buffer.get("nbytes"), MAX_TOTAL_BYTES))
        kind = buffer.get("kind")
        if kind == "input":
            call = _count(buffer.get("call"), len(calls) - 1)
            index = _count(buffer.get("index"), len(inputs[call]) - 1)
            _need(sizes[-1] == inputs[call][index], "an input buffer has another size")
        elif kind == "param":
            _need(buffer.get("name") in params and params[buffer["name"]] == sizes[-1], "unknown parameter")
        else:
            _need(kind == "alloc", "unknown buffer kind")
    for call in calls:
        ops = call.get("ops") if isinstance(call, dict) else None
        _need(isinstance(ops, list) and len(ops) <= MAX_OPS, "too many operations")
        for op in ops or []:
            kind = op.get("op") if isinstance(op, dict) else None
            if kind == "launch":
                _check_launch(op, kernels, sizes)
            elif kind == "copy":
                check_view(op.get("src"), sizes)
                check_view(op.get("dst"), sizes)
                _need(math.prod(op["src"]["shape"]) == math.prod(op["dst"]["shape"]), "copy between different sizes")
                _need(op["src"]["shape"] == op["dst"]["shape"], "copy between different shapes")
            elif kind == "fill":
                check_view(op.get("dst"), sizes)
                value = op.get("bits")
                width = DTYPES[op["dst"]["dtype"]]
                _need(isinstance(value, str) and len(value) == 2 * width and _is_hex(value), "bad fill value")
            elif kind == "address":
                at = _count(op.get("at"))
                _need(at % 8 == 0 and at + 8 <= sizes[_count(op.get("buffer"), len(sizes) - 1)], "bad address")
                _need(_count(op.get("offset")) <= sizes[_count(op.get("target"), len(sizes) - 1)], "bad address")
            else:
                _need(kind == "set", "unknown operation")
                _count(op.get("buffer"), len(sizes) - 1)
                _count(op.get("block"), blocks - 1)
        _check_output(call.get("output"), sizes)


def _is_line(text: str) -> bool:
    return len(text) < 10 and text.removeprefix("-").isdecimal()


def _is_hex(text: str) -> bool:
    return all(c in "0123456789abcdef" for c in text)


def used_buffers(call: dict[str, Any]) -> set[int]:
    """Every buffer that a call touches."""
    used = {leaf["buffer"] for leaf in leaves(call["output"])}
    for op in call["ops"]:
        if op["op"] == "launch":
            used |= {arg[0] for v in op["variants"] for arg in v["args"] if isinstance(arg, list)}
        elif op["op"] == "set":
            used.add(op["buffer"])
        elif op["op"] == "address":
            used |= {op["buffer"], op["target"]}
        else:
            used |= {op[k]["buffer"] for k in ("src", "dst") if k in op}
    return used
