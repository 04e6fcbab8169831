"""The tools a model may call, the two formats in which it calls them, and what it is told when the form is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.prompt import ToolFormat

TOOL_NAMES = ("write_kernel", "edit_kernel", "verify", "profile", "read_knowledge", "submit")
EDIT_FORM = "form: <<<, old text, ===, new text, >>> each on its own line"


@dataclass(frozen=True)
class ToolCall:
    """A well-formed call: `code` of write_kernel, `edits` (old, new) of edit_kernel, `entry` of read_knowledge."""

    name: str
    code: str = ""
    edits: tuple[tuple[str, str], ...] = ()
    entry: str = ""


class FormatError(Exception):
    """The reply holds no usable tool call; the message is what the model reads."""


def parse_reply(text: str, tool_format: ToolFormat) -> ToolCall:
    """Find the one tool call of a reply.

    Raises:
        FormatError: no call, more than one, or arguments that do not fit; with the right form in one or two lines.
    """
    text = text.rpartition("</think>")[2]
    return parse_fenced(text) if tool_format == "fenced" else parse_qwen(text)


# ---------------------------------------------------------------- fenced blocks


def fenced_blocks(text: str) -> list[tuple[str, str, bool]]:
    """All fenced blocks as (info string, body, closed). A block ends at a line that is ``` alone."""
    blocks: list[tuple[str, str, bool]] = []
    info: str | None = None
    body: list[str] = []
    for line in text.split("\n"):
        if info is None:
            if line.startswith("```"):
                info, body = line[3:].strip(), []
        elif line.rstrip() == "```":
            blocks.append((info, "\n".join(body), True))
            info = None
        else:
            body.append(line)
    if info is not None:
        blocks.append((info, "\n".join(body), False))
    return blocks


def parse_fenced(text: str) -> ToolCall:
    """```tool_name, arguments, ``` (see prompt.TOOLS_FENCED)."""
    blocks = fenced_blocks(text)
    calls = [(info.split(), body, closed) for info, body, closed in blocks if info.partition(" ")[0] in TOOL_NAMES]
    if not calls:
        if blocks:
            raise FormatError(f"format error: no tool named '{blocks[-1][0]}'. Begin the block with ```write_kernel")
        raise FormatError("format error: no tool block. End the reply with ```write_kernel, the module, ```")
    if len(calls) > 1:
        raise FormatError(f"format error: {len(calls)} tool blocks. Give exactly one per reply")
    (name, *words), body, closed = calls[0]
    if not closed:
        raise FormatError(f"format error: the {name} block is not closed. End it with a line ```")
    if name == "edit_kernel":
        return ToolCall(name, edits=parse_hunks(body))
    return checked_call(name, code=body, entry=" ".join(words) or body.strip())


def parse_hunks(body: str) -> tuple[tuple[str, str], ...]:
    """The <<< old === new >>> hunks of an edit."""
    edits: list[tuple[str, str]] = []
    part: str | None = None  # None outside, "old", "new"
    old: list[str] = []
    new: list[str] = []
    for line in body.split("\n"):
        mark = line.rstrip()
        if part is None:
            if mark == "<<<":
                part, old, new = "old", [], []
            elif mark:
                raise FormatError(f"format error: '{mark[:40]}' stands outside a hunk; {EDIT_FORM}")
        elif part == "old" and mark == "===":
            part = "new"
        elif part == "new" and mark == ">>>":
            edits.append(("\n".join(old), "\n".join(new)))
            part = None
        else:
            (old if part == "old" else new).append(line)
    if part is not None or not edits:
        raise FormatError(f"format error: the edit has no complete hunk; {EDIT_FORM}")
    return checked_edits(edits)


# ---------------------------------------------------------------- <tool_call> JSON

CALL_PATTERN = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
QWEN_FORM = '<tool_call>{"name": "write_kernel", "arguments": {"code": "..."}}</tool_call>'


def parse_qwen(text: str) -> ToolCall:
    """<tool_call>{"name": ..., "arguments": {...}}</tool_call>."""
    calls = CALL_PATTERN.findall(text)
    if not calls:
        reason = "the tool call is not closed" if "<tool_call>" in text else "no tool call"
        raise FormatError(f"format error: {reason}. Write {QWEN_FORM}")
    if len(calls) > 1:
        raise FormatError(f"format error: {len(calls)} tool calls. Give exactly one per reply")
    try:
        data = json.loads(calls[0])
    except (json.JSONDecodeError, RecursionError) as error:
        raise FormatError(f"format error: the call is not JSON ({error}). Write {QWEN_FORM}") from None
    name = data.get("name") if isinstance(data, dict) else None
    arguments = data.get("arguments", {}) if isinstance(data, dict) else None
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise FormatError(f"format error: name and arguments are needed. Write {QWEN_FORM}")
    if name not in TOOL_NAMES:
        raise FormatError(f"format error: no tool named '{name[:40]}'. Tools: {', '.join(TOOL_NAMES)}")
    if name == "edit_kernel":
        edits = arguments.get("edits")
        pairs = [(e.get("old"), e.get("new")) for e in edits if isinstance(e, dict)] if isinstance(edits, list) else []
        texts = [(old, new) for old, new in pairs if isinstance(old, str) and isinstance(new, str)]
        if not texts or len(texts) != len(edits or []):
            raise FormatError('format error: edit_kernel needs "edits": [{"old": "...", "new": "..."}]')
        return ToolCall(name, edits=checked_edits(texts))
    code, entry = arguments.get("code", ""), arguments.get("id", "")
    if not isinstance(code, str) or not isinstance(entry, str):
        raise FormatError("format error: code and id are strings")
    return checked_call(name, code=code, entry=entry)


# ---------------------------------------------------------------- shared checks


def checked_call(name: str, code: str, entry: str) -> ToolCall:
    """A call of any tool but edit_kernel, with the arguments it needs and no others."""
    if name == "write_kernel":
        if not code.strip():
            raise FormatError("format error: write_kernel is empty. It takes the whole Python module")
        return ToolCall(name, code=code.rstrip() + "\n")
    if name == "read_knowledge":
        if not entry:
            raise FormatError("format error: read_knowledge takes the id of an entry")
        return ToolCall(name, entry=entry)
    return ToolCall(name)


def checked_edits(edits: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    if any(not old.strip() for old, _ in edits):
        raise FormatError(f"format error: a hunk has no old text; {EDIT_FORM}")
    return tuple(edits)


def apply_edits(kernel: str, edits: Sequence[tuple[str, str]]) -> str:
    """Apply exact replacements in order; all or none.

    Raises:
        FormatError: no kernel yet, or an old text that does not occur exactly once.
    """
    if not kernel:
        raise FormatError("edit error: there is no kernel yet. Use write_kernel first")
    for number, (old, new) in enumerate(edits, 1):
        count = kernel.count(old)
        if count != 1:
            first = old.strip().splitlines()[0][:60]
            many = f"occurs {count} times; give more lines around it"
            problem = many if count else "is not in the current kernel"
            raise FormatError(f"edit error: hunk {number}, old text '{first}' {problem}")
        kernel = kernel.replace(old, new)
    return kernel
