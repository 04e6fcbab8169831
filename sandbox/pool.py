"""A pool of sandbox workers: `submit` gives a future, `verify` awaits one. Imports neither torch nor triton.

Workers are started with `subprocess`, never forked, so that a process with MindSpore's threads may own a pool.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

from atrl_ms.errors import UserError
from atrl_ms.types import Stage, StepFeedback, Task
from sandbox import wire
from sandbox.devices import choose, missing
from sandbox.options import Options

START_SECONDS = 600.0  # torch and triton on a busy machine
GRACE_SECONDS = 90.0  # beyond an evaluation's own timeout before a worker counts as hung
UNCACHED = ("infrastructure_error", "timeout", "crash")  # verdicts that a busy machine can influence


class WorkerFault(Exception):
    """A worker died, hung or broke: infrastructure."""


def read_answer(answer: dict[str, Any]) -> StepFeedback | list[str]:
    """What a worker says of a job: a verdict, or the problems of a task.

    Raises:
        UserError: the task cannot be used.
        WorkerFault: the worker is unusable.
    """
    if "user_error" in answer:
        raise UserError(answer["user_error"])
    if answer.get("healthy"):
        return []
    if "problems" in answer:
        return list(answer["problems"])
    if "feedback" not in answer:
        raise WorkerFault(answer.get("broken", "malformed answer"))
    return StepFeedback.from_json(answer["feedback"])


class _Worker:
    """One worker process and its socket."""

    def __init__(self, options: Options, device: int) -> None:
        ours, theirs = socket.socketpair()
        root = str(Path(__file__).resolve().parent.parent)
        env = {**os.environ, "OMP_NUM_THREADS": "1", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
        env["PYTHONPATH"] = os.pathsep.join(p for p in (root, os.environ.get("PYTHONPATH", "")) if p)
        if options.device == "npu":
            env["ASCEND_RT_VISIBLE_DEVICES"] = str(device)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sandbox.worker", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env=env,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        theirs.close()
        self.sock = ours
        try:
            hello = self._ask({"options": options.to_json()}, START_SECONDS)
            if "user_error" in hello:
                raise UserError(hello["user_error"])
            if "broken" in hello:
                raise WorkerFault(hello["broken"])
        except BaseException:
            self.close()
            raise
        self.losses: list[str] = hello["losses"]

    def _ask(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        try:
            self.sock.settimeout(seconds)
            wire.send(self.sock, message)
            return wire.receive(self.sock, deadline=time.monotonic() + seconds)[0]
        except TimeoutError as error:
            raise WorkerFault(f"no answer within {seconds:.0f} s") from error
        except (wire.WireError, OSError) as error:
            raise WorkerFault("the worker process died") from error

    def judge(self, job: dict[str, Any], seconds: float) -> StepFeedback | list[str]:
        """One evaluation, or the problems of a task.

        Raises:
            UserError: the task cannot be used.
            WorkerFault: the worker is unusable.
        """
        return read_answer(self._ask(job, seconds))

    def close(self) -> None:
        """End the worker; its zygotes and evaluations die with it."""
        self.sock.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5.0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class SandboxPool:
    """Evaluates candidates in `workers` processes.

    Implements the `Judge` protocol (`verify`) and a `concurrent.futures`-like `submit`. Usable from several threads.
    """

    def __init__(
        self, options: Options | None = None, workers: int = 2, max_pending: int = 0, devices: Sequence[int] = ()
    ) -> None:
        """
        Args:
            workers: processes; each judges one candidate at a time.
            max_pending: evaluations that may wait before `submit` blocks; 0 means 64 per worker.
            devices: NPUs that the workers use in turn; empty: worker i uses NPU i.
        """
        self.options = options or Options()
        self.devices = list(devices) or list(range(workers))
        self.losses: list[str] = []
        self._queue: queue.Queue[tuple[Future[Any], dict[str, Any], tuple[Any, ...] | None] | None] = queue.Queue()
        self._slots = threading.BoundedSemaphore(max_pending or 64 * workers)
        self._cache: OrderedDict[tuple[Any, ...], StepFeedback] = OrderedDict()
        self._lock = threading.Lock()
        self._closed = False
        self.restarts = 0
        self._threads = [
            threading.Thread(target=self._serve, args=(i,), name=f"sandbox-{i}", daemon=True) for i in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> SandboxPool:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def start(self) -> None:
        """Start every worker now instead of at its first job, and wait for them.

        Raises:
            UserError: this machine cannot isolate a candidate and nobody allowed to go without.
        """
        barrier: list[Future[Any]] = []
        for _ in self._threads:
            future: Future[Any] = Future()
            barrier.append(future)
            self._enqueue(future, {"health": True}, None)
        for future in barrier:
            future.result()

    @property
    def alive(self) -> bool:
        """Whether jobs are taken: the pool is open and its threads live."""
        return not self._closed and all(thread.is_alive() for thread in self._threads)

    @property
    def waiting(self) -> int:
        """Evaluations that no worker has taken yet."""
        return self._queue.qsize()

    def submit(self, task: Task, candidate: str, *, seed: int = 0) -> Future[StepFeedback]:
        """Queue one evaluation; blocks while too many wait.

        The future raises UserError for a task that cannot be used or a machine that cannot isolate.
        """
        key = (task.source, task.directory, candidate, seed)
        future: Future[StepFeedback] = Future()
        with self._lock:
            known = self._cache.get(key)
            if known is not None:
                self._cache.move_to_end(key)
        if known is not None:
            future.set_result(known)
            return future
        job = {
            "name": task.name,
            "source": task.source,
            "directory": task.directory,
            "candidate": candidate,
            "seed": seed,
        }
        self._enqueue(future, job, key)
        return future

    def check(self, task: Task, *, seed: int = 0) -> Future[list[str]]:
        """Queue an admission check: the future gives the reasons why a task is degenerate, none if it may be used."""
        future: Future[list[str]] = Future()
        job = {"name": task.name, "source": task.source, "directory": task.directory, "check": True, "seed": seed}
        self._enqueue(future, job, None)
        return future

    def _enqueue(self, future: Future[Any], job: dict[str, Any], key: tuple[Any, ...] | None) -> None:
        if self._closed:
            raise RuntimeError("the pool is closed")
        self._slots.acquire()
        future.add_done_callback(lambda _: self._slots.release())
        self._queue.put((future, job, key))

    async def verify(self, task: Task, candidate: str, *, seed: int = 0) -> StepFeedback:
        """Await one evaluation without blocking the event loop."""
        loop = asyncio.get_running_loop()
        future = await loop.run_in_executor(None, lambda: self.submit(task, candidate, seed=seed))
        return await asyncio.wrap_future(future)

    # ------------------------------------------------------------ worker threads

    def _serve(self, index: int) -> None:
        worker: _Worker | None = None
        while True:
            item = self._queue.get()
            if item is None:
                break
            future, job, key = item
            if not future.set_running_or_notify_cancel():
                continue
            result: StepFeedback | list[str] | None = None
            try:
                for _ in range(2):
                    try:
                        worker = worker or self._start(index)
                        result = worker.judge(job, self.options.timeout + GRACE_SECONDS)
                        if isinstance(result, list) or result.verdict != "infrastructure_error":
                            break
                    except WorkerFault as error:
                        if key is None:
                            raise  # an admission check has no verdict to give
                        result = infrastructure(str(error))
                    # A fresh worker: the old one may be poisoned (device fault, full disk, killed child).
                    if worker is not None:
                        worker.close()
                        worker = None
                        self.restarts += 1
                if key is not None and isinstance(result, StepFeedback):
                    self._remember(key, result)
                future.set_result(result)
            except BaseException as error:
                future.set_exception(error)
        if worker is not None:
            worker.close()

    def _start(self, index: int) -> _Worker:
        device = choose(self.options.device, missing() if self.options.device != "cpu" else [])
        worker = _Worker(replace(self.options, device=device), self.devices[index % len(self.devices)])
        self.losses = worker.losses
        return worker

    def _remember(self, key: tuple[Any, ...], result: StepFeedback) -> None:
        if result.verdict in UNCACHED or not self.options.cache_verdicts:
            return
        with self._lock:
            self._cache[key] = result
            while len(self._cache) > self.options.cache_verdicts:
                self._cache.popitem(last=False)

    def close(self) -> None:
        """Finish running evaluations, cancel waiting ones, leave no process."""
        if self._closed:
            return
        self._closed = True
        while True:
            try:
                item = self._queue.get_nowait()
            except queue.Empty:
                break
            if item is not None:
                item[0].cancel()
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()


def infrastructure(message: str) -> StepFeedback:
    stage = Stage("infrastructure", False, 0.0, message[:300])
    return StepFeedback("infrastructure_error", (stage,), 0, 0, 0.0, None, f"infrastructure_error: {message[:300]}", {})
