"""The sandbox as a service: FastAPI over a pool. `atrl serve` runs it; `sandbox.client` speaks to it.

Routes: POST /v1/verify, POST /v1/check, GET /healthz, GET /metrics (Prometheus text).
"""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field

from atrl_ms.errors import UserError
from atrl_ms.types import Task
from sandbox.pool import SandboxPool

BUCKETS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)  # seconds


class TaskBody(BaseModel):
    """A task by its source; files beside the task are not sent, so tasks must stand alone."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(min_length=1, max_length=200)
    source: str
    seed: int = Field(0, ge=0, lt=2**48)


class VerifyBody(TaskBody):
    candidate: str


@dataclass
class Metrics:
    """Counters of the service since its start."""

    begin: float = field(default_factory=time.time)
    verdicts: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    buckets: Counter[float] = field(default_factory=Counter)
    seconds: float = 0.0
    count: int = 0

    def observe(self, verdict: str, seconds: float) -> None:
        self.verdicts[verdict] += 1
        self.count += 1
        self.seconds += seconds
        for bound in BUCKETS:
            if seconds <= bound:
                self.buckets[bound] += 1

    def text(self, pool: SandboxPool, busy: int) -> str:
        """Prometheus exposition format."""
        lines = ["# TYPE atrl_evaluations_total counter"]
        lines += [f'atrl_evaluations_total{{verdict="{v}"}} {n}' for v, n in sorted(self.verdicts.items())]
        lines += ["# TYPE atrl_refused_total counter"]
        lines += [f'atrl_refused_total{{reason="{r}"}} {n}' for r, n in sorted(self.refused.items())]
        lines += ["# TYPE atrl_evaluation_seconds histogram"]
        lines += [f'atrl_evaluation_seconds_bucket{{le="{b}"}} {self.buckets[b]}' for b in BUCKETS]
        lines += [f'atrl_evaluation_seconds_bucket{{le="+Inf"}} {self.count}']
        lines += [f"atrl_evaluation_seconds_sum {self.seconds:.6f}", f"atrl_evaluation_seconds_count {self.count}"]
        for name, value in (
            ("atrl_waiting", pool.waiting),
            ("atrl_in_flight", busy),
            ("atrl_worker_restarts", pool.restarts),
            ("atrl_uptime_seconds", round(time.time() - self.begin, 3)),
        ):
            lines += [f"# TYPE {name} gauge", f"{name} {value}"]
        return "\n".join(lines) + "\n"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def create_app(pool: SandboxPool, *, token: str = "", max_bytes: int = 1 << 20, max_queue: int = 256) -> FastAPI:
    """The application.

    Args:
        token: bearer token that every request but /healthz must carry; empty for none (loopback only).
        max_bytes: size of a request body.
        max_queue: evaluations under way or waiting; more are answered with 429.
    """
    app = FastAPI(title="atrl sandbox", docs_url=None, redoc_url=None, openapi_url=None)
    metrics = Metrics()
    state = {"busy": 0}

    @app.middleware("http")
    async def guard(request: Request, proceed: Any) -> Any:
        if token and request.url.path != "/healthz":
            given = request.headers.get("authorization", "")
            if not secrets.compare_digest(given.encode(), f"Bearer {token}".encode()):
                metrics.refused["unauthorized"] += 1
                return JSONResponse({"detail": "a bearer token is required"}, 401, {"WWW-Authenticate": "Bearer"})
        if request.method == "POST":
            body = bytearray()
            async for chunk in request.stream():
                body += chunk
                if len(body) > max_bytes:
                    metrics.refused["too_large"] += 1
                    return JSONResponse({"detail": f"the request is larger than {max_bytes} bytes"}, 413)
            request._body = bytes(body)  # what Starlette caches after `await request.body()`
        return await proceed(request)

    async def queued(work: Any) -> Any:
        if state["busy"] >= max_queue:
            metrics.refused["queue_full"] += 1
            raise HTTPException(429, "too many evaluations are waiting; try again later", {"Retry-After": "1"})
        state["busy"] += 1
        try:
            return await work()
        except UserError as error:
            metrics.refused["bad_task"] += 1
            raise HTTPException(422, str(error)) from error
        finally:
            state["busy"] -= 1

    @app.post("/v1/verify")
    async def verify(body: VerifyBody) -> Any:
        begin = time.monotonic()
        result = await queued(lambda: pool.verify(Task(body.name, body.source), body.candidate, seed=body.seed))
        metrics.observe(result.verdict, time.monotonic() - begin)
        return result.to_json()

    @app.post("/v1/check")
    async def check(body: TaskBody) -> Any:
        task = Task(body.name, body.source)
        problems = await queued(lambda: asyncio.wrap_future(pool.check(task, seed=body.seed)))
        return {"problems": problems}

    @app.get("/healthz")
    async def healthz() -> Any:
        alive = pool.alive
        return JSONResponse({"status": "ok" if alive else "down", "waiting": pool.waiting}, 200 if alive else 503)

    @app.get("/metrics")
    async def show_metrics() -> Any:
        return PlainTextResponse(metrics.text(pool, state["busy"]), media_type="text/plain; version=0.0.4")

    return app
