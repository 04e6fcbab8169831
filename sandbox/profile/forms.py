"""The printed form of every operation that the Ascend compiler leaves in the final HIVM module."""

from __future__ import annotations

import re
from typing import Any

from sandbox.profile.mlir_text import (
    NAME,
    bracketed,
    matching,
    names,
    parse_number,
    parse_type,
    split_top,
    split_type,
    strip_dictionary,
    types,
)
from sandbox.profile.program import Op


def generic(op: Op, rest: str) -> None:
    """An operation without a form: operands, types and the text are kept."""
    body, type_text = split_type(rest)
    op.operands = names(body)
    op.types = types(type_text.replace(" to ", ", ")) if type_text else ()
    op.attributes["raw"] = rest


def _constant(op: Op, rest: str) -> None:
    body, type_text = split_type(rest)
    body, _ = strip_dictionary(body)
    if not type_text:
        type_text = "i1" if body in ("true", "false") else ""
    op.types = (parse_type(type_text),)
    op.attributes["value"] = parse_number(body, type_text)


def _arithmetic(op: Op, rest: str) -> None:
    body, type_text = split_type(rest)
    op.operands = names(body)
    op.types = types(type_text.replace(" to ", ", "))
    if op.name.endswith(("cmpi", "cmpf")):
        op.attributes["predicate"] = body.split(",")[0].strip()


def _affine(op: Op, rest: str) -> None:
    end = rest.index("(") if rest.startswith("#") else matching(rest, rest.index("<")) + 1
    op.attributes["map"] = rest[:end].strip()
    op.operands = names(rest[end:])


def _view(op: Op, rest: str) -> None:
    """cast, subview, reinterpret_cast, collapse_shape, expand_shape, view: source type `to` result type."""
    body, type_text = split_type(rest)
    body, flags = strip_dictionary(body)
    parts = re.split(r" to | into | -> ", type_text)
    op.types = tuple(parse_type(p) for p in parts)
    op.operands = names(body)
    if flags:
        op.attributes["flags"] = flags
    if op.name == "memref.subview" or op.name == "memref.reinterpret_cast":
        offsets, at = bracketed(body)
        sizes, at = bracketed(body, at)
        strides, _ = bracketed(body, at)
        op.attributes["static"] = (offsets, sizes, strides)
    elif op.name == "memref.view":
        shift, at = bracketed(body)
        sizes, _ = bracketed(body, at)
        op.attributes["static"] = (shift, sizes, [])
    elif op.name in ("memref.collapse_shape", "memref.expand_shape"):
        groups = body[body.index("[[") : body.index("]]") + 2]
        op.attributes["groups"] = [
            [int(i) for i in group.split(",") if i.strip()] for group in re.findall(r"\[([\d, ]*)\]", groups)
        ]
        if "output_shape" in body:
            op.attributes["static"] = ([], bracketed(body, body.index("output_shape"))[0], [])


def _metadata(op: Op, rest: str) -> None:
    """extract_strided_metadata: base buffer, offset, sizes, strides."""
    body, type_text = split_type(rest)
    op.operands = names(body)
    op.types = (parse_type(split_top(type_text, "->")[0]),)


def _memory(op: Op, rest: str) -> None:
    """load `%m[%i]` and store `%v, %m[%i]`."""
    body, type_text = split_type(rest)
    body, flags = strip_dictionary(body)
    op.operands = names(body)
    op.types = types(type_text)
    if flags:
        op.attributes["flags"] = flags
    op.attributes["static"] = (bracketed(body)[0], [], [])


def _dim(op: Op, rest: str) -> None:
    body, type_text = split_type(rest)
    op.operands = names(body)
    op.types = types(type_text)


def _call(op: Op, rest: str) -> None:
    body, type_text = split_type(rest)
    op.attributes["callee"] = body[1 : body.index("(")]
    op.operands = names(body[body.index("(") :])
    if type_text:
        source = split_top(type_text, "->")[0].strip()
        op.types = types(source[1 : matching(source, 0)]) if source.startswith("(") else ()


def _for(op: Op, rest: str) -> None:
    head = split_top(rest, " iter_args(")[0]
    head, _ = split_type(head) if " : " in head else (head, "")
    induction, _, bounds = head.partition("=")
    lower, _, upper = bounds.partition(" to ")
    upper, _, step = upper.partition(" step ")
    op.operands = names(lower) + names(upper) + names(step)[:1]
    arguments = [names(induction)[0]]
    if " iter_args(" in rest:
        start = rest.index(" iter_args(") + len(" iter_args")
        pairs = split_top(rest[start + 1 : matching(rest, start)], ",")
        for pair in pairs:
            left, _, right = pair.partition("=")
            arguments.append(names(left)[0])
            op.operands += names(right)
    op.regions[0].arguments = tuple(arguments)
    op.attributes["flags"] = strip_dictionary(rest)[1]


def _if(op: Op, rest: str) -> None:
    body, flags = strip_dictionary(rest)
    op.operands = names(body)[:1]
    op.attributes["flags"] = flags


def _while(op: Op, rest: str) -> None:
    start = rest.find("(")
    if start >= 0:
        arguments: list[str] = []
        for pair in split_top(rest[start + 1 : matching(rest, start)], ","):
            left, _, right = pair.partition("=")
            if right:
                arguments.append(names(left)[0])
                op.operands += names(right)
        op.regions[0].arguments = tuple(arguments)


def _operands_only(op: Op, rest: str) -> None:
    body, type_text = split_type(rest)
    op.operands = names(body)
    op.types = types(type_text)


def _flag(op: Op, rest: str) -> None:
    """set_flag, wait_flag, pipe_barrier: `[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]`, or an SSA value as the event."""
    inside = rest[rest.index("[") + 1 : matching(rest, rest.index("["))]
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
    inside = rest[rest.index("[") + 1 : matching(rest, rest.index("["))]
    parts = [p.strip()[1:-1] for p in split_top(inside, ",")]
    op.attributes["core"] = parts[0]
    op.attributes["pipes"] = tuple(p.removeprefix("PIPE_") for p in parts[1:] if p.startswith("PIPE"))
    flag = re.search(rf"flag = (\d+|{NAME})", rest)
    if flag:
        op.attributes["event"] = int(flag.group(1)) if flag.group(1).isdigit() else flag.group(1)[1:]
    op.operands = names(rest)


def _pointer(op: Op, rest: str) -> None:
    body, type_text = split_type(rest)
    op.operands = names(body)
    op.types = (parse_type(type_text),)


FORMS: dict[str, Any] = {
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


def form_of(name: str) -> Any:
    """The form of an operation; None for one that the reader does not know."""
    return FORMS.get(name) or (_arithmetic if name.startswith(("arith.", "math.", "index.")) else None)
