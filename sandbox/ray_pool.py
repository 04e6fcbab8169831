"""A pool whose workers run on the hosts of a Ray cluster: the interface of `SandboxPool`, back-pressure included.

Each worker is a Ray actor that needs one CPU, or one NPU when kernels run on NPUs, and owns a local pool of one process
with all its walls. Actors spread over hosts. When a host is lost its evaluations go to other workers; only when no
worker can be placed any more do waiting evaluations end as `infrastructure_error`.

Hosts need this package at the same path, or installed. Files beside a task must be there too.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from atrl_ms.errors import UserError
from atrl_ms.types import StepFeedback, Task
from sandbox.options import Options
from sandbox.pool import GRACE_SECONDS, SandboxPool, WorkerFault, infrastructure, read_answer

PLACE_SECONDS = 45.0  # for an actor to be placed and its torch to be imported, before others get the evaluations
ATTEMPTS = 3  # workers that an evaluation may lose

Item = tuple[Future[Any], dict[str, Any], tuple[Any, ...] | None]


class HostWorker:
    """Runs on a host, as an actor: one worker process of the local sandbox."""

    def __init__(self, options: dict[str, Any]) -> None:
        import ray

        npus = ray.get_runtime_context().get_accelerator_ids().get("NPU", [])
        self.pool = SandboxPool(Options.from_json(options), workers=1, devices=[int(i) for i in npus])

    def start(self) -> dict[str, Any]:
        """Start the process; what the walls lack on this host, or why it cannot be used."""
        try:
            self.pool.start()
        except UserError as error:
            return {"user_error": str(error)}
        return {"losses": self.pool.losses}

    def judge(self, job: dict[str, Any]) -> dict[str, Any]:
        """One job of the pool, answered in its form."""
        task = Task(job["name"], job["source"], directory=job.get("directory"))
        try:
            if job.get("check"):
                return {"problems": self.pool.check(task, seed=job["seed"]).result()}
            return {"feedback": self.pool.submit(task, job["candidate"], seed=job["seed"]).result().to_json()}
        except UserError as error:
            return {"user_error": str(error)}
        except WorkerFault as error:
            return {"broken": str(error)}


class _RayWorker:
    """The actor as the pool's threads see it."""

    def __init__(self, options: Options, seconds: float) -> None:
        import ray

        needs: dict[str, Any] = {"num_cpus": 1}
        if options.device == "npu":
            needs = {"num_cpus": 0, "resources": {"NPU": 1}}
        root = str(Path(__file__).resolve().parent.parent)
        self.actor = (
            ray.remote(HostWorker)
            .options(**needs, scheduling_strategy="SPREAD", runtime_env={"env_vars": {"PYTHONPATH": root}})
            .remote(options.to_json())
        )
        try:
            answer = self._get(self.actor.start.remote(), seconds)
            if "user_error" in answer:
                raise UserError(answer["user_error"])
        except BaseException:
            self.close()
            raise
        self.losses: list[str] = answer["losses"]

    def _get(self, reference: Any, seconds: float) -> dict[str, Any]:
        import ray

        try:
            answer: dict[str, Any] = ray.get(reference, timeout=seconds)
        except ray.exceptions.GetTimeoutError as error:
            raise WorkerFault(f"no answer within {seconds:.0f} s") from error
        except ray.exceptions.RayError as error:
            raise WorkerFault(f"the host of a worker was lost ({type(error).__name__})") from error
        return answer

    def judge(self, job: dict[str, Any], seconds: float) -> StepFeedback | list[str]:
        """As a local worker's: raises UserError or WorkerFault."""
        return read_answer(self._get(self.actor.judge.remote(job), seconds))

    def close(self) -> None:
        import ray

        with contextlib.suppress(Exception):  # it may be gone, and the cluster too
            ray.kill(self.actor)


class RayPool(SandboxPool):
    """Evaluates candidates on the hosts of a Ray cluster."""

    def __init__(
        self, options: Options | None = None, workers: int = 2, max_pending: int = 0, address: str = "auto"
    ) -> None:
        """
        Args:
            workers: actors over all hosts; each judges one candidate at a time.
            address: of the cluster, "host:port", or "auto".

        Raises:
            UserError: Ray is not installed, no cluster there, or it lacks NPUs.
        """
        try:
            import ray
        except ImportError:
            raise UserError("sandbox.ray needs the extra `ray`: pip install 'atrl_ms[ray]'") from None
        try:
            ray.init(address, ignore_reinit_error=True, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())[:200]
            raise UserError(f"sandbox.ray: no Ray cluster at {address!r}: {reason}; `ray start --head`") from error
        chosen = options or Options()
        kind = "NPU" if chosen.device == "npu" else "CPU"
        total = int(ray.cluster_resources().get(kind, 0))
        if total < workers:
            raise UserError(f"sandbox.workers {workers}: the Ray cluster has {total} {kind}s in all")
        self._lost: dict[int, int] = {}  # attempts by identity of the future
        self._placed = 0
        self._count = threading.Lock()
        super().__init__(chosen, workers, max_pending)

    def start(self) -> None:
        """Nothing to do: the cluster was asked when the pool was made, and workers are placed before they take jobs."""

    def _serve(self, index: int) -> None:
        """Place a worker before taking a job: jobs wait for workers, never for a host that is not there."""
        worker: _RayWorker | None = None
        while True:
            worker = worker or self._place()
            if worker is None:
                if self._closed:
                    break
                continue
            item = self._queue.get()
            if item is None:
                break
            worker = self._one(worker, item)
        if worker is not None:
            worker.close()

    def _one(self, worker: _RayWorker, item: Item) -> _RayWorker | None:
        """Judge one job; the worker if it may be used again."""
        future, job, key = item
        if not future.running() and not future.set_running_or_notify_cancel():
            return worker
        try:
            result = [] if job.get("health") else worker.judge(job, self.options.timeout + GRACE_SECONDS)
        except WorkerFault as error:
            worker.close()
            with self._count:
                self.restarts += 1
                self._placed -= 1
                self._lost[id(future)] = self._lost.get(id(future), 0) + 1
                spent = self._lost[id(future)] >= ATTEMPTS or self._closed
            if spent:
                self._finish(future, infrastructure(str(error)) if key is not None else error)
            else:
                self._queue.put(item)
            return None
        except BaseException as error:
            self._finish(future, error)
            return worker
        if key is not None and isinstance(result, StepFeedback):
            self._remember(key, result)
        self._finish(future, result)
        return worker

    def _finish(self, future: Future[Any], result: Any) -> None:
        with self._count:
            self._lost.pop(id(future), None)
        if isinstance(result, BaseException):
            future.set_exception(result)
        else:
            future.set_result(result)

    def _place(self) -> _RayWorker | None:
        """A new worker; None if no host takes it for now."""
        try:
            worker = _RayWorker(self.options, PLACE_SECONDS)
        except (WorkerFault, UserError) as error:
            if self._placed == 0:
                self._answer_waiting(error)
            time.sleep(1.0)
            return None
        with self._count:
            self._placed += 1
        self.losses = worker.losses
        return worker

    def _answer_waiting(self, error: Exception) -> None:
        """No worker anywhere: what waits must not wait for ever."""
        while True:
            try:
                item = self._queue.get_nowait()
            except queue.Empty:
                return
            if item is None:
                self._queue.put(None)
                return
            future, _, key = item
            if not future.running() and not future.set_running_or_notify_cancel():
                continue
            lasting = isinstance(error, UserError) or key is None
            self._finish(future, error if lasting else infrastructure(f"no worker could be placed: {error}"))
