"""Messages between the processes of the sandbox: a JSON header and raw byte blocks over a stream socket.

Never pickle from a process that ran a candidate: `receive` yields plain JSON values and bytes, within a limit.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from typing import Any

_HEAD = struct.Struct("<4sIQ")  # magic, bytes of the header, bytes of all blocks
_MAGIC = b"ATRL"
MAX_BYTES = 1 << 30


class WireError(Exception):
    """The other end closed, was too slow, or sent something malformed."""


def send(sock: socket.socket, header: dict[str, Any], blocks: list[Any] | None = None) -> None:
    """Send `header` (JSON-serialisable) and the byte blocks."""
    views = [memoryview(b).cast("B") for b in blocks or [] if len(memoryview(b))]
    sizes = [memoryview(b).nbytes for b in blocks or []]
    text = json.dumps({"header": header, "sizes": sizes}).encode()
    sock.sendall(_HEAD.pack(_MAGIC, len(text), sum(sizes)) + text)
    for view in views:
        sock.sendall(view)


def _read(sock: socket.socket, count: int, deadline: float | None) -> bytearray:
    data = bytearray(count)
    view = memoryview(data)
    got = 0
    while got < count:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            sock.settimeout(left)
        else:
            sock.settimeout(None)
        n = sock.recv_into(view[got:], min(count - got, 1 << 20))
        if n == 0:
            raise WireError("closed")
        got += n
    return data


def receive(
    sock: socket.socket, *, deadline: float | None = None, limit: int = MAX_BYTES
) -> tuple[dict[str, Any], list[memoryview]]:
    """One message.

    Raises:
        TimeoutError: not complete at `deadline` (time.monotonic seconds).
        WireError: closed, malformed, or larger than `limit` bytes.
    """
    try:
        magic, text_size, block_size = _HEAD.unpack(_read(sock, _HEAD.size, deadline))
        if magic != _MAGIC or text_size + block_size > limit:
            raise WireError("not a message, or too large")
        body = json.loads(bytes(_read(sock, text_size, deadline)))
        header, sizes = body["header"], body["sizes"]
        if (
            not isinstance(header, dict)
            or not all(type(s) is int and s >= 0 for s in sizes)
            or sum(sizes) != block_size
        ):
            raise WireError("malformed message")
        data = memoryview(_read(sock, block_size, deadline))
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        if isinstance(error, TimeoutError):
            raise
        raise WireError(f"malformed message: {type(error).__name__}") from error
    blocks, at = [], 0
    for size in sizes:
        blocks.append(data[at : at + size])
        at += size
    return header, blocks
