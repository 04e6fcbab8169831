"""Fitted tasks on disk, one line each as soon as it is known: preparing a benchmark may stop at any time and go on."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from atrl_ms.errors import UserError
from sandbox.benchmarks.entry import Entry


class FitLog:
    """A file of JSON lines. A task is found again under its text, its cases and the limits; a changed one is not.

    Safe to use from several threads.
    """

    def __init__(self, path: Path, limits: Mapping[str, Any]) -> None:
        """Open for appending; a line that a kill cut off is removed.

        Raises:
            UserError: the file is something else, or cannot be written.
        """
        self.limits = json.dumps(dict(limits), sort_keys=True)
        self.known: dict[str, Entry] = {}
        self.lock = threading.Lock()
        try:
            data = path.read_bytes() if path.is_file() else b""
            whole = data[: data.rfind(b"\n") + 1]
            for number, line in enumerate(whole.splitlines(), 1):
                try:
                    record = json.loads(line)
                    self.known[record["key"]] = Entry.from_json(record["entry"])
                except (ValueError, KeyError, TypeError) as error:
                    raise UserError(f"{path}:{number}: not a line of prepared tasks; give another file") from error
            path.parent.mkdir(parents=True, exist_ok=True)
            if len(whole) < len(data):
                os.truncate(path, len(whole))
            self.file = path.open("ab")
        except OSError as error:
            raise UserError(f"{path}: cannot be written ({error.strerror})") from error

    def find(self, entry: Entry) -> Entry | None:
        """What came of this task before."""
        return self.known.get(self.key(entry))

    def add(self, entry: Entry, fitted: Entry) -> None:
        record = {"key": self.key(entry), "entry": fitted.to_json()}
        with self.lock:
            self.file.write(json.dumps(record, separators=(",", ":")).encode() + b"\n")
            self.file.flush()

    def key(self, entry: Entry) -> str:
        """Digest of what a fit depends on: the task, the files beside it, the limits and the code that fits."""
        digest = hashlib.sha256(json.dumps(entry.to_json(), sort_keys=True).encode())
        for path in entry.files.values():
            digest.update(Path(path).read_bytes())
        digest.update(self.limits.encode() + code_digest())
        return digest.hexdigest()

    def close(self) -> None:
        self.file.close()


@functools.cache
def code_digest() -> bytes:
    """Digest of the code that decides: results of an older one are not taken over."""
    here = Path(__file__).resolve().parent
    files = [
        *sorted(here.glob("*.py")),
        here.parent / "admission.py",
        here.parent / "task.py",
        here.parent / "compare.py",
    ]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).digest()
