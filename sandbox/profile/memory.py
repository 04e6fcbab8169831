"""The compiler's memory report: which buffer sits where in UB, L1 and L0C, and from when to when."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

SCOPES = {"ub": "UB", "cbuf": "L1", "cc": "L0C", "ca": "L0A", "cb": "L0B"}
CAPACITY = {"ub": "UB_SIZE", "cbuf": "L1_SIZE", "cc": "L0C_SIZE", "ca": "L0A_SIZE", "cb": "L0B_SIZE"}


@dataclass(frozen=True)
class Buffer:
    """One planned buffer.

    Attributes:
        scope: ub, cbuf (L1), cc (L0C), ca, cb.
        offsets: byte addresses; two for a double-buffered one.
        size: bytes of one copy.
        first, last: position of its first and last use in the compiler's program order.
        text: the allocation as the compiler prints it; temporary: a scratch buffer of a library routine.
    """

    core: str
    scope: str
    offsets: tuple[int, ...]
    size: int
    first: int
    last: int
    text: str
    temporary: bool


def buffers(report: dict[str, Any] | None) -> list[Buffer]:
    """Buffers of a memory report by core, each once; records that are not understood are left out."""
    found: dict[tuple[Any, ...], Buffer] = {}
    for core, content in (report or {}).items():
        for record in (content or {}).get("Record", []):
            for item in record.get("memory_info_array", []):
                life = item.get("life_time_in_ir") or [0, 0]
                offsets = item.get("offset", [])
                buffer = Buffer(
                    core=core,
                    scope=record.get("scope", ""),
                    offsets=tuple(offsets if isinstance(offsets, list) else [offsets]),
                    size=int(item.get("extent", 0)) // 8,
                    first=int(life[0]),
                    last=int(life[-1]),
                    text=str(item.get("buffer", "")),
                    temporary=bool(item.get("is_tmpbuf")),
                )
                found[buffer.core, buffer.scope, buffer.offsets, buffer.size, buffer.first, buffer.last] = buffer
    return list(found.values())


def peak(found: Iterable[Buffer], device: dict[str, int]) -> dict[str, dict[str, int]]:
    """Bytes in use (highest address) and capacity by memory name: {"UB": {"used": ..., "capacity": ...}}."""
    used: dict[str, int] = {}
    for buffer in found:
        top = max((o + buffer.size for o in buffer.offsets), default=0)
        used[buffer.scope] = max(used.get(buffer.scope, 0), top)
    return {
        SCOPES[scope]: {"used": top, "capacity": device.get(CAPACITY[scope], 0) // 8}
        for scope, top in used.items()
        if scope in SCOPES
    }
