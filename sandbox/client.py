"""A sandbox elsewhere, with the interface of `SandboxPool`. Imports neither torch nor triton."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import httpx

from atrl_ms.errors import UserError
from atrl_ms.types import Stage, StepFeedback, Task

ATTEMPTS = 4
PAUSE = 0.5  # seconds before the second attempt, doubled for each further one


class SandboxClient:
    """Judge over HTTP. A service that cannot be reached gives verdict `infrastructure_error`, never an exception."""

    def __init__(self, url: str, token: str = "", *, timeout: float = 300.0, connections: int = 32) -> None:
        """
        Args:
            url: for example "http://127.0.0.1:8321".
            token: bearer token of the service.
            timeout: seconds for one evaluation, waiting included.
        """
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout)
        self._threads = ThreadPoolExecutor(connections, thread_name_prefix="sandbox-client")

    def __enter__(self) -> SandboxClient:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def start(self) -> None:
        """See whether the service is there.

        Raises:
            UserError: it does not answer.
        """
        try:
            self._http.get("/healthz").raise_for_status()
        except httpx.HTTPError as error:
            kind = type(error).__name__
            raise UserError(f"the sandbox service {self._http.base_url} does not answer ({kind})") from None

    def submit(self, task: Task, candidate: str, *, seed: int = 0) -> Future[StepFeedback]:
        """Queue one evaluation. The future raises UserError for a task or a token that the service refuses."""
        return self._threads.submit(self._verify, task, candidate, seed)

    async def verify(self, task: Task, candidate: str, *, seed: int = 0) -> StepFeedback:
        """Await one evaluation."""
        return await asyncio.wrap_future(self.submit(task, candidate, seed=seed))

    def check(self, task: Task, *, seed: int = 0) -> Future[list[str]]:
        """Queue an admission check of a task."""
        return self._threads.submit(self._check, task, seed)

    def _verify(self, task: Task, candidate: str, seed: int) -> StepFeedback:
        body = {"name": task.name, "source": task.source, "candidate": candidate, "seed": seed}
        try:
            return StepFeedback.from_json(self._post("/v1/verify", body))
        except (httpx.HTTPError, KeyError, ValueError) as error:
            text = f"the sandbox service failed: {type(error).__name__}: {error}"[:300]
            stage = Stage("infrastructure", False, 0.0, text)
            return StepFeedback("infrastructure_error", (stage,), 0, 0, 0.0, None, text)

    def _check(self, task: Task, seed: int) -> list[str]:
        return list(self._post("/v1/check", {"name": task.name, "source": task.source, "seed": seed})["problems"])

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        """POST with retries where the service is busy or gone for a moment."""
        for attempt in range(ATTEMPTS):
            last = attempt + 1 == ATTEMPTS
            try:
                answer = self._http.post(path, json=body)
            except httpx.TransportError:
                if last:
                    raise
                time.sleep(PAUSE * 2**attempt)
                continue
            if answer.status_code in (401, 413, 422):
                raise UserError(f"sandbox service: {answer.json().get('detail', answer.text)}")
            if answer.status_code in (429, 503) and not last:
                time.sleep(PAUSE * 2**attempt)
                continue
            answer.raise_for_status()
            return answer.json()
        raise AssertionError("unreachable")

    def close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._http.close()
