"""Pieces of MLIR text: balanced brackets, types, SSA names, numbers."""

from __future__ import annotations

import functools
import re
import struct

from sandbox.profile.program import MemRefType

NAME = r"%[\w$.-]+(?:#\d+)?"
OPERAND = re.compile(NAME)
_OPEN, _CLOSE = "([{<", ")]}>"
_BRACKET = re.compile(r"->|[(\[{<)\]}>]")
_SCANNERS: dict[str, re.Pattern[str]] = {}


class HivmError(ValueError):
    """The text is not a HIVM module that this reader can follow; the message names the line."""


def split_top(text: str, separator: str) -> list[str]:
    """Split at a separator outside all brackets and strings; `->` is not a closing bracket."""
    if separator not in text:
        return [text]
    pattern = _SCANNERS.get(separator)
    if pattern is None:
        pattern = _SCANNERS[separator] = re.compile(rf'"[^"]*"|{re.escape(separator)}|->|[(\[{{<]|[)\]}}>]')
    parts, depth, start = [], 0, 0
    for match in pattern.finditer(text):
        token = match.group()
        if token == separator:
            if depth == 0:
                parts.append(text[start : match.start()])
                start = match.end()
        elif token in _OPEN:
            depth += 1
        elif token in _CLOSE:
            depth -= 1
    parts.append(text[start:])
    return parts


@functools.lru_cache(maxsize=4096)
def parse_type(text: str) -> MemRefType | str:
    """A memref becomes a `MemRefType`; every other type stays text."""
    text = text.strip()
    if not text.startswith("memref<"):
        return text
    shape_part, *rest = (p.strip() for p in split_top(text[len("memref<") : text.rindex(">")], ","))
    *dims, element = shape_part.split("x")
    shape = tuple(None if d == "?" else int(d) for d in dims)
    strides: tuple[int | None, ...] | None = None
    offset: int | None = 0
    space = ""
    for part in rest:
        if part.startswith("strided<"):
            inside = part[len("strided<") : -1]
            listed = inside[1 : inside.index("]")]
            strides = tuple(None if s.strip() == "?" else int(s) for s in listed.split(",") if s.strip())
            found = re.search(r"offset: (\?|-?\d+)", inside)
            offset = 0 if not found else (None if found.group(1) == "?" else int(found.group(1)))
        elif "address_space<" in part:
            space = part[part.index("address_space<") + len("address_space<") : part.rindex(">")]
    if strides is None:
        strides = row_major(shape)
    return MemRefType(shape, element, space, strides, offset)


def row_major(shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """Strides of a dense memref; None left of a dynamic dimension."""
    strides: list[int | None] = []
    step: int | None = 1
    for size in reversed(shape):
        strides.append(step)
        step = None if step is None or size is None else step * size
    return tuple(reversed(strides))


def parse_number(text: str, type_name: str) -> int | float | str:
    """Value of an `arith.constant`; hexadecimal floats are bit patterns of their type. Other attributes stay text."""
    if text in ("true", "false"):
        return int(text == "true")
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if re.fullmatch(r"0x[0-9A-Fa-f]+", text):
        return _float_from_bits(int(text, 16), type_name)
    try:
        return float(text)
    except ValueError:
        return text


def _float_from_bits(bits: int, type_name: str) -> float | int:
    if type_name == "f32":
        return struct.unpack("<f", struct.pack("<I", bits))[0]
    if type_name == "f16":
        return struct.unpack("<e", struct.pack("<H", bits))[0]
    if type_name == "bf16":
        return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    if type_name == "f64":
        return struct.unpack("<d", struct.pack("<Q", bits))[0]
    return bits


def matching(text: str, start: int) -> int:
    depth = 0
    for match in _BRACKET.finditer(text, start):
        token = match.group()
        if token in _OPEN:
            depth += 1
        elif token in _CLOSE:
            depth -= 1
            if depth == 0:
                return match.start()
    raise HivmError(f"unbalanced brackets: {text[:80]}")


def expand(group: str) -> list[str]:
    name, _, count = group.strip()[1:].partition(":")
    return [f"{name}#{i}" for i in range(int(count))] if count else [name]


def names(text: str) -> tuple[str, ...]:
    return tuple(n[1:] for n in OPERAND.findall(text))


def types(text: str) -> tuple[MemRefType | str, ...]:
    return tuple(parse_type(t) for t in split_top(text, ",") if t.strip())


def split_type(text: str) -> tuple[str, str]:
    """Body and type of `body : type`, at the last colon outside brackets."""
    parts = split_top(text, " : ")
    return (" : ".join(parts[:-1]).strip(), parts[-1].strip()) if len(parts) > 1 else (text.strip(), "")


def strip_dictionary(text: str) -> tuple[str, str]:
    """Separate a trailing attribute dictionary."""
    text = text.strip()
    if text.endswith("}") and " {" in f" {text}":
        start = f" {text}".rindex(" {")
        return text[:start].strip(), text[start:].strip()
    return text, ""


def bracketed(text: str, position: int = 0) -> tuple[list[int | str], int]:
    """`[%a, 4, ?]` at or after `position`: integers and SSA names, and the index after the bracket."""
    start = text.index("[", position)
    end = matching(text, start)
    items: list[int | str] = []
    for item in text[start + 1 : end].split(","):
        item = item.strip()
        if item:
            items.append(item[1:] if item.startswith("%") else int(item))
    return items, end + 1
