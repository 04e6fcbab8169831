"""The text that a model reads: short, specific, stable, one line for each kind of failure."""

from __future__ import annotations

import re
from collections.abc import Iterable

CHARACTERS_PER_TOKEN = 4
# Paths, addresses and times differ between runs and machines and tell a model nothing.
_NOISE = (
    (re.compile(r"(?:/[\w.@+-]+){2,}/([\w.@+-]+)"), r"\1"),
    (re.compile(r"\b0x[0-9a-fA-F]{4,}\b"), "0x.."),
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
)


def clean(text: str) -> str:
    """One line without paths, addresses and colour codes."""
    for pattern, replacement in _NOISE:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())


def mask(text: str) -> str:
    """Numbers replaced by #: two failures with the same mask have the same cause."""
    return re.sub(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", "#", text)


def group(failures: Iterable[tuple[str, str]], total: int) -> list[str]:
    """(case, text) failures as one line per kind; the first of each kind is shown, the others are counted."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for case, text in failures:
        kinds.setdefault(mask(text), []).append((case, text))
    lines = []
    for members in kinds.values():
        case, text = members[0]
        count = f"{len(members)} of {total} cases" if total > 1 else ""
        prefix = f"{count}, e.g. {case}" if len(members) > 1 else (f"case {case}" if total > 1 else "")
        lines.append(f"{prefix}: {text}" if prefix else text)
    return lines


def render(stage: str, verdict: str, lines: Iterable[str], tokens: int) -> str:
    """The message within a token budget: what was reached, what failed, whole lines where they fit."""
    head = "pass" if verdict == "pass" else f"{verdict} at {stage}"
    budget = tokens * CHARACTERS_PER_TOKEN
    out = [head]
    used = len(head)
    for line in lines:
        line = clean(line)
        room = budget - used - 1
        if room < 24:
            break
        if len(line) > room:
            line = line[: room - 3] + "..."
        out.append(line)
        used += len(line) + 1
    return "\n".join(out)
