"""Ends a rank when another one dies: a collective would wait for it for ever.

Every rank holds a connection to the leader and both sides say something each second. A connection that closes without
a goodbye is a dead process, one that stays silent a dead node or a stopped process. The leader tells the others.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time
from types import TracebackType

from atrl_ms.train.parallel import Ranks

HEARTBEAT_SECONDS = 1.0
DEAD_AFTER_SECONDS = 40.0  # silence; more than the compilation of a graph may hold the interpreter
FAILED = 3  # exit code of a rank that ends because another one did


class Watch:
    """Use as a context manager around training: an error in it ends all ranks at once with the error's text."""

    def __init__(self, ranks: Ranks, dead_after: float = DEAD_AFTER_SECONDS):
        self.ranks, self.dead_after = ranks, dead_after
        self.peers: dict[int, socket.socket] = {}  # the leader's: all others; another rank's: the leader
        self.lock = threading.Lock()
        self.finished = threading.Event()

    def __enter__(self) -> Watch:
        if self.ranks.size > 1:
            self.connect()
            for rank, peer in self.peers.items():
                threading.Thread(target=self.listen, args=(rank, peer), daemon=True).start()
            threading.Thread(target=self.beat, daemon=True).start()
        return self

    def connect(self) -> None:
        """One connection between the leader and each other rank; collective."""
        if self.ranks.leader:
            server = socket.create_server(("", 0), backlog=self.ranks.size)
            self.ranks.from_leader(f"{leader_host()} {server.getsockname()[1]}".encode())
            server.settimeout(self.dead_after)
            with server:
                while len(self.peers) < self.ranks.size - 1:
                    peer, _ = server.accept()
                    self.peers[int(peer.recv(16))] = peer
        else:
            host, port = self.ranks.from_leader().decode().split()
            leader = socket.create_connection((host, int(port)), timeout=self.dead_after)
            leader.sendall(str(self.ranks.rank).encode())
            self.peers[0] = leader
        self.ranks.gather(b"")  # nobody speaks before all are connected

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finished.set()
        self.tell("done" if error is None else f"failed {type(error).__name__}: {one_line(error)}")

    def tell(self, text: str) -> None:
        """One line to every peer; a peer that is gone is its listener's business."""
        with self.lock:
            for peer in self.peers.values():
                with contextlib.suppress(OSError):
                    peer.sendall(text.encode() + b"\n")

    def beat(self) -> None:
        while not self.finished.wait(HEARTBEAT_SECONDS):
            self.tell(".")

    def listen(self, rank: int, peer: socket.socket) -> None:
        """Read a peer's lines until it says goodbye; anything else ends this rank."""
        peer.settimeout(self.dead_after)
        pending = b""
        while not self.finished.is_set():
            try:
                data = peer.recv(4096)
            except TimeoutError:
                return self.end(f"rank {rank} died: no sign of life for {self.dead_after:.0f} s")
            except OSError:
                data = b""
            if not data:
                return self.end(f"rank {rank} died: its connection closed")
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                if line == b"done":
                    return None
                if line.startswith(b"failed"):
                    text = line.decode(errors="replace").removeprefix("failed ")
                    return self.end(text if text.startswith("rank ") else f"rank {rank} failed: {text}")
        return None

    def end(self, fault: str) -> None:
        """Tell the others and leave: a thread stuck in a collective cannot be interrupted."""
        if self.finished.is_set():
            return
        self.tell(f"failed {fault}")
        print(
            f"rank {self.ranks.rank}: {fault}; ending this rank, the job cannot go on; "
            "continue from the last checkpoint with --resume",
            file=sys.stderr,
            flush=True,
        )
        time.sleep(0.1)  # the line to the others leaves before the connection closes
        os._exit(FAILED)


def leader_host() -> str:
    """The address at which other ranks reach the leader: that of the scheduler, which runs beside it."""
    return os.environ.get("MS_SCHED_HOST", "127.0.0.1")


def one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:500]
