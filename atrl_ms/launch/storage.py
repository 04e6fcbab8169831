"""Where a platform keeps data and results: local directories, or obs:// through moxing when it is there."""

from __future__ import annotations

import fcntl
import importlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from atrl_ms.errors import UserError
from atrl_ms.train.checkpoint import MARKER

SYNC_SECONDS = 60.0


def is_remote(url: str) -> bool:
    return url.startswith(("obs://", "s3://"))


def moxing(url: str) -> ModuleType:
    """The file interface of moxing.

    Raises:
        UserError: it is not installed.
    """
    try:
        return importlib.import_module("moxing").file  # type: ignore[no-any-return]
    except ImportError:
        raise UserError(f"{url}: reading obs:// needs moxing, which ModelArts images have; or mount it") from None


def fetch(url: str, cache: Path, missing_ok: bool = False) -> Path:
    """A local directory with what `url` holds; downloaded once per node, whichever of its processes comes first."""
    if not is_remote(url):
        if not Path(url).is_dir():
            raise UserError(f"{url}: no such directory")
        return Path(url)
    file = moxing(url)
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = cache / ".fetched"
        if not done.is_file() or done.read_text() != url:
            if file.exists(url) or not missing_ok:
                file.copy_parallel(url, str(cache))
            done.write_text(url)
    return cache


class Mirror:
    """Copies a directory to a remote one, new and changed files only.

    The markers of complete checkpoints go last and are removed first: what looks complete there is complete.
    """

    def __init__(self, local: Path, url: str) -> None:
        self.local, self.url, self.file = local, url.rstrip("/"), moxing(url)
        self.sent: dict[str, tuple[int, int]] = {}  # name: (size, time of change)

    def sync(self) -> None:
        """Bring the remote directory up to date."""
        found = {}
        for path in self.local.rglob("*"):
            try:
                if path.is_file() and not path.name.startswith(".") and not path.name.endswith(".tmp"):
                    found[str(path.relative_to(self.local))] = (path.stat().st_size, path.stat().st_mtime_ns)
            except OSError:
                continue  # pruned meanwhile
        gone = sorted(self.sent.keys() - found.keys(), key=lambda name: not name.endswith(MARKER))
        for name in gone:
            self.file.remove(f"{self.url}/{name}")
            del self.sent[name]
        changed = [name for name, state in found.items() if self.sent.get(name) != state]
        for name in sorted(changed, key=lambda name: (name.endswith(MARKER), name)):
            try:
                self.file.copy(str(self.local / name), f"{self.url}/{name}")
            except FileNotFoundError:
                continue
            self.sent[name] = found[name]

    @contextmanager
    def running(self, seconds: float = SYNC_SECONDS) -> Iterator[None]:
        """Sync now and then, and at the end."""
        stop = threading.Event()

        def loop() -> None:
            while not stop.wait(seconds):
                try:
                    self.sync()
                except Exception as error:  # the storage may be away for a while: the next round tries again
                    print(f"note: {self.url}: {type(error).__name__}: {error}", flush=True)

        thread = threading.Thread(target=loop, daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
            self.sync()
