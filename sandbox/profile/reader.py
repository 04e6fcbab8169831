"""HIVM text to a typed program.

The final HIVM module prints one operation per line, regions in braces. The reader knows the forms that the Ascend
compiler leaves in that module (checked against ascendnpu-ir 1.0.0, 1.1.0 and 1.2.0); an operation with another form
is kept with its operands and counted in `Program.unknown`.
"""

from __future__ import annotations

import functools
import re
import struct
from typing import Any

from sandbox.profile.affine import AffineMap, parse_map
from sandbox.profile.program import Block, Function, MemRefType, Op, Program

_NAME = r"%[\w$.-]+(?:#\d+)?"
_OPERAND = re.compile(_NAME)
_LINE = re.compile(rf'^(?:({_NAME}(?::\d+)?(?:, {_NAME}(?::\d+)?)*) = )?"?([\w$]+(?:\.[\w$]+)*)"?(.*)$')
_DEVICE = re.compile(r'#dlti\.dl_entry<"(\w+)", (-?\d+) : i\d+>')
_DUMP = re.compile(r"^// -----// IR Dump After .*$", re.M)
_LOCATION = re.compile(r"\s*loc\((?:[^()]|\([^()]*\))*\)$")
_OPEN, _CLOSE = "([{<", ")]}>"
_BRACKET = re.compile(r"->|[(\[{<)\]}>]")
_SCANNERS: dict[str, re.Pattern[str]] = {}


class HivmError(ValueError):
    """The text is not a HIVM module that this reader can follow; the message names the line."""


def read(text: str) -> Program:
    """Parse compiler output that contains a HIVM module (the last one printed, if there are several).

    Raises:
        HivmError: no module, or a structure (braces, regions) that cannot be followed.
    """
    dumps = list(_DUMP.finditer(text))
    body = text[dumps[-1].end() :] if dumps else text
    return _Reader(body).module()


# ---------------------------------------------------------------- text helpers


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


# ---------------------------------------------------------------- the reader


class _Reader:
    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        self.position = 0
        self.maps: dict[str, AffineMap] = {}
        self.unknown: dict[str, int] = {}

    def module(self) -> Program:
        device: dict[str, int] = {}
        core_type = ""
        functions: list[Function] = []
        found = False
        while self.position < len(self.lines):
            line = self.lines[self.position].strip()
            self.position += 1
            if re.match(r"#[\w$]+ = affine_map<", line):
                name, _, value = line.partition(" = ")
                self.maps[name] = parse_map(value)
            elif line.startswith("module"):
                found = True
                device.update({k: int(v) for k, v in _DEVICE.findall(line)})
                match = re.search(r"module_core_type<(\w+)>", line)
                core_type = match.group(1) if match else core_type
            elif found and line.startswith("func.func") and line.endswith("{"):
                functions.append(self.function(line))
        if not functions:
            raise HivmError("no HIVM module with a function body in this text")
        return Program(device, core_type, functions, self.maps, self.unknown)

    def function(self, line: str) -> Function:
        name = re.search(r"@([\w$.-]+)\(", line)
        if not name:
            raise HivmError(f"line {self.position}: a function without a name: {line[:80]}")
        inside = split_top(line[name.end() - 1 :], " attributes ")[0]
        argument_text = inside[1 : _matching(inside, 0)]
        arguments, types = [], []
        for part in split_top(argument_text, ","):
            if not part.strip():
                continue
            argument, _, type_text = part.strip().partition(": ")
            arguments.append(argument[1:])
            types.append(parse_type(split_top(type_text, " {")[0]))
        core = re.search(r"hivm\.func_core_type<(\w+)>", line)
        host = "function_kind<HOST>" in line
        body = self.block()
        return Function(
            name.group(1),
            "HOST" if host or not core else core.group(1),
            "hacc.entry" in line,
            tuple(arguments),
            tuple(types),
            body,
        )

    def block(self) -> Block:
        """Operations up to the closing brace of the region; leaves the position on the closing line."""
        block = Block()
        while self.position < len(self.lines):
            line = self.lines[self.position].strip()
            if line.startswith("}"):
                return block
            self.position += 1
            if not line or line.startswith("//"):
                continue
            if line.startswith("^"):
                block.arguments += tuple(n[1:] for n in _OPERAND.findall(split_top(line, ": ")[0]))
                continue
            block.ops.append(self.operation(line))
        raise HivmError("the text ends inside a region")

    def operation(self, line: str) -> Op:
        number = self.position
        if line.endswith(")"):
            line = _LOCATION.sub("", line)
        match = _LINE.match(line)
        if not match:
            raise HivmError(f"line {number}: not an operation: {line[:80]}")
        results = tuple(r for group in (match.group(1) or "").split(", ") if group for r in _expand(group))
        name = "call" if match.group(2) in ("call", "func.call") else match.group(2)
        rest = match.group(3).strip()
        regions: list[Block] = []
        if rest.endswith("{"):
            rest = rest[:-1].strip()
            regions, trailer = self.regions()
            rest = f"{rest} {trailer}".strip()
        op = Op(name, results, (), {}, (), regions, number, line)
        form = _FORMS.get(name) or _form_by_dialect(name)
        if form is None:
            self.unknown[name] = self.unknown.get(name, 0) + 1
            op.known = False
            form = _generic
        form(op, rest)
        if "map" in op.attributes and isinstance(op.attributes["map"], str):
            key = op.attributes["map"]
            if key.startswith("affine_map<"):
                self.maps.setdefault(key, parse_map(key))
            elif key not in self.maps:
                raise HivmError(f"line {number}: {key} is not defined")
        return op

    def regions(self) -> tuple[list[Block], str]:
        """The regions of an operation and what follows its last closing brace."""
        regions = [self.block()]
        while True:
            if self.position >= len(self.lines):
                raise HivmError("the text ends inside an operation")
            closing = self.lines[self.position].strip()
            self.position += 1
            if closing.endswith("{") and not closing.startswith("} {"):  # "} else {", "} do {", "}, {"
                regions.append(self.block())
                continue
            return regions, closing[1:].strip()


def _matching(text: str, start: int) -> int:
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


def _expand(group: str) -> list[str]:
    name, _, count = group.strip()[1:].partition(":")
    return [f"{name}#{i}" for i in range(int(count))] if count else [name]


def _names(text: str) -> tuple[str, ...]:
    return tuple(n[1:] for n in _OPERAND.findall(text))


def _types(text: str) -> tuple[MemRefType | str, ...]:
    return tuple(parse_type(t) for t in split_top(text, ",") if t.strip())


def _split_type(text: str) -> tuple[str, str]:
    """Body and type of `body : type`, at the last colon outside brackets."""
    parts = split_top(text, " : ")
    return (" : ".join(parts[:-1]).strip(), parts[-1].strip()) if len(parts) > 1 else (text.strip(), "")


def _strip_dictionary(text: str) -> tuple[str, str]:
    """Separate a trailing attribute dictionary."""
    text = text.strip()
    if text.endswith("}") and " {" in f" {text}":
        start = f" {text}".rindex(" {")
        return text[:start].strip(), text[start:].strip()
    return text, ""


def _bracketed(text: str, position: int = 0) -> tuple[list[int | str], int]:
    """`[%a, 4, ?]` at or after `position`: integers and SSA names, and the index after the bracket."""
    start = text.index("[", position)
    end = _matching(text, start)
    items: list[int | str] = []
    for item in text[start + 1 : end].split(","):
        item = item.strip()
        if item:
            items.append(item[1:] if item.startswith("%") else int(item))
    return items, end + 1


# ---------------------------------------------------------------- one form per kind of operation


def _generic(op: Op, rest: str) -> None:
    body, type_text = _split_type(rest)
    op.operands = _names(body)
    op.types = _types(type_text.replace(" to ", ", ")) if type_text else ()
    op.attributes["raw"] = rest


def _constant(op: Op, rest: str) -> None:
    body, type_text = _split_type(rest)
    body, _ = _strip_dictionary(body)
    if not type_text:
        type_text = "i1" if body in ("true", "false") else ""
    op.types = (parse_type(type_text),)
    op.attributes["value"] = parse_number(body, type_text)


def _arithmetic(op: Op, rest: str) -> None:
    body, type_text = _split_type(rest)
    op.operands = _names(body)
    op.types = _types(type_text.replace(" to ", ", "))
    if op.name.endswith(("cmpi", "cmpf")):
        op.attributes["predicate"] = body.split(",")[0].strip()


def _affine(op: Op, rest: str) -> None:
    end = rest.index("(") if rest.startswith("#") else _matching(rest, rest.index("<")) + 1
    op.attributes["map"] = rest[:end].strip()
    op.operands = _names(rest[end:])


def _view(op: Op, rest: str) -> None:
    """cast, subview, reinterpret_cast, collapse_shape, expand_shape, view: source type `to` result type."""
    body, type_text = _split_type(rest)
    body, flags = _strip_dictionary(body)
    parts = re.split(r" to | into | -> ", type_text)
    op.types = tuple(parse_type(p) for p in parts)
    op.operands = _names(body)
    if flags:
        op.attributes["flags"] = flags
    if op.name == "memref.subview" or op.name == "memref.reinterpret_cast":
        offsets, at = _bracketed(body)
        sizes, at = _bracketed(body, at)
        strides, _ = _bracketed(body, at)
        op.attributes["static"] = (offsets, sizes, strides)
    elif op.name == "memref.view":
        shift, at = _bracketed(body)
        sizes, _ = _bracketed(body, at)
        op.attributes["static"] = (shift, sizes, [])
    elif op.name in ("memref.collapse_shape", "memref.expand_shape"):
        groups = body[body.index("[[") : body.index("]]") + 2]
        op.attributes["groups"] = [
            [int(i) for i in group.split(",") if i.strip()] for group in re.findall(r"\[([\d, ]*)\]", groups)
        ]
        if "output_shape" in body:
            op.attributes["static"] = ([], _bracketed(body, body.index("output_shape"))[0], [])


def _metadata(op: Op, rest: str) -> None:
    """extract_strided_metadata: base buffer, offset, sizes, strides."""
    body, type_text = _split_type(rest)
    op.operands = _names(body)
    op.types = (parse_type(split_top(type_text, "->")[0]),)


def _memory(op: Op, rest: str) -> None:
    """load `%m[%i]` and store `%v, %m[%i]`."""
    body, type_text = _split_type(rest)
    body, flags = _strip_dictionary(body)
    op.operands = _names(body)
    op.types = _types(type_text)
    if flags:
        op.attributes["flags"] = flags
    op.attributes["static"] = (_bracketed(body)[0], [], [])


def _dim(op: Op, rest: str) -> None:
    body, type_text = _split_type(rest)
    op.operands = _names(body)
    op.types = _types(type_text)


def _call(op: Op, rest: str) -> None:
    body, type_text = _split_type(rest)
    op.attributes["callee"] = body[1 : body.index("(")]
    op.operands = _names(body[body.index("(") :])
    if type_text:
        source = split_top(type_text, "->")[0].strip()
        op.types = _types(source[1 : _matching(source, 0)]) if source.startswith("(") else ()


def _for(op: Op, rest: str) -> None:
    head = split_top(rest, " iter_args(")[0]
    head, _ = _split_type(head) if " : " in head else (head, "")
    induction, _, bounds = head.partition("=")
    lower, _, upper = bounds.partition(" to ")
    upper, _, step = upper.partition(" step ")
    op.operands = _names(lower) + _names(upper) + _names(step)[:1]
    names = [_names(induction)[0]]
    if " iter_args(" in rest:
        start = rest.index(" iter_args(") + len(" iter_args")
        pairs = split_top(rest[start + 1 : _matching(rest, start)], ",")
        for pair in pairs:
            left, _, right = pair.partition("=")
            names.append(_names(left)[0])
            op.operands += _names(right)
    op.regions[0].arguments = tuple(names)
    op.attributes["flags"] = _strip_dictionary(rest)[1]


def _if(op: Op, rest: str) -> None:
    body, flags = _strip_dictionary(rest)
    op.operands = _names(body)[:1]
    op.attributes["flags"] = flags


def _while(op: Op, rest: str) -> None:
    start = rest.find("(")
    if start >= 0:
        names = []
        for pair in split_top(rest[start + 1 : _matching(rest, start)], ","):
            left, _, right = pair.partition("=")
            if right:
                names.append(_names(left)[0])
                op.operands += _names(right)
        op.regions[0].arguments = tuple(names)


def _operands_only(op: Op, rest: str) -> None:
    body, type_text = _split_type(rest)
    op.operands = _names(body)
    op.types = _types(type_text)


def _flag(op: Op, rest: str) -> None:
    """set_flag, wait_flag, pipe_barrier: `[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]`, or an SSA value as the event."""
    inside = rest[rest.index("[") + 1 : _matching(rest, rest.index("["))]
    parts = [p.strip() for p in split_top(inside, ",")]
    op.attributes["pipes"] = tuple(p[1:-1].removeprefix("PIPE_") for p in parts if p.startswith("<PIPE"))
    for part in parts:
        if part.startswith("<EVENT_ID"):
            op.attributes["event"] = int(part[len("<EVENT_ID") : -1])
        elif part.startswith("%"):
            op.attributes["event"] = part[1:]
            op.operands = (part[1:],)


def _block_sync(op: Op, rest: str) -> None:
    """sync_block_set / sync_block_wait: `[<CUBE>, <PIPE_FIX>, <PIPE_S>] flag = 0` between the halves of a kernel."""
    inside = rest[rest.index("[") + 1 : _matching(rest, rest.index("["))]
    parts = [p.strip()[1:-1] for p in split_top(inside, ",")]
    op.attributes["core"] = parts[0]
    op.attributes["pipes"] = tuple(p.removeprefix("PIPE_") for p in parts[1:] if p.startswith("PIPE"))
    flag = re.search(rf"flag = (\d+|{_NAME})", rest)
    if flag:
        op.attributes["event"] = int(flag.group(1)) if flag.group(1).isdigit() else flag.group(1)[1:]
    op.operands = _names(rest)


def _pointer(op: Op, rest: str) -> None:
    body, type_text = _split_type(rest)
    op.operands = _names(body)
    op.types = (parse_type(type_text),)


_FORMS: dict[str, Any] = {
    "arith.constant": _constant,
    "affine.apply": _affine,
    "affine.min": _affine,
    "affine.max": _affine,
    "memref.cast": _view,
    "memref.subview": _view,
    "memref.reinterpret_cast": _view,
    "memref.collapse_shape": _view,
    "memref.expand_shape": _view,
    "memref.view": _view,
    "memref.memory_space_cast": _view,
    "memref.extract_strided_metadata": _metadata,
    "memref.load": _memory,
    "memref.store": _memory,
    "memref.dim": _dim,
    "call": _call,
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
    "scf.yield": _operands_only,
    "scf.condition": _operands_only,
    "return": _operands_only,
    "func.return": _operands_only,
    "hivm.hir.set_flag": _flag,
    "hivm.hir.wait_flag": _flag,
    "hivm.hir.pipe_barrier": _flag,
    "hivm.hir.sync_block_set": _block_sync,
    "hivm.hir.sync_block_wait": _block_sync,
    "hivm.hir.pointer_cast": _pointer,
    "hivm.hir.bitcast": _view,
    "hivm.hir.get_block_idx": _operands_only,
    "hivm.hir.get_block_num": _operands_only,
    "hivm.hir.get_sub_block_idx": _operands_only,
    "hivm.hir.get_sub_block_num": _operands_only,
    "hivm.hir.set_mask_norm": _operands_only,
    "hivm.hir.set_ffts_base_addr": _operands_only,
}


def _form_by_dialect(name: str) -> Any:
    return _arithmetic if name.startswith(("arith.", "math.", "index.")) else None
