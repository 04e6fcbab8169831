"""The service: same verdicts as the pool, and doors that stay shut."""

from __future__ import annotations

import asyncio
import socket
import threading
import time

import httpx
import pytest
import uvicorn
from verify_cases import CASES

from atrl_ms.commands import serve
from atrl_ms.errors import UserError
from atrl_ms.types import Stage, StepFeedback, Task
from sandbox.client import SandboxClient
from sandbox.options import Options
from sandbox.pool import SandboxPool
from sandbox.server import create_app, is_loopback

TOKEN = "correct horse"


class Running:
    """A server of its own thread on a free port."""

    def __init__(self, app) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.server = uvicorn.Server(uvicorn.Config(app, port=self.port, log_level="error"))
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.02)
        self.url = f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self.server.should_exit = True
        self.thread.join()


@pytest.fixture(scope="module")
def service():
    with SandboxPool(Options(profile="off"), workers=1) as pool:
        running = Running(create_app(pool, token=TOKEN, max_bytes=20000, max_queue=4))
        yield running
        running.close()


def test_client_gives_the_pools_verdicts(service):
    wanted = {name: allowed for name, allowed, *_ in CASES if name in ("getattr", "no_model", "bound_method")}
    with SandboxClient(service.url, TOKEN) as client:
        jobs = {n: client.submit(Task(n, t), c) for n, _, t, c in CASES if n in wanted}
        for name, job in jobs.items():
            assert job.result().verdict in wanted[name], job.result().feedback
        name, _, task, candidate = next(c for c in CASES if c[0] == "getattr")
        assert asyncio.run(client.verify(Task(name, task), candidate)).verdict == "cheat"
        assert client.check(Task(name, task)).result() == []
        with pytest.raises(UserError, match="Model"):
            client.submit(Task("broken", "x = 1"), candidate).result()


def test_token_is_required_but_health_is_open(service):
    assert httpx.get(service.url + "/healthz").json()["status"] == "ok"
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}):
        assert httpx.get(service.url + "/metrics", headers=headers).status_code == 401
        assert httpx.post(service.url + "/v1/verify", json={}, headers=headers).status_code == 401
    with SandboxClient(service.url, "wrong") as client, pytest.raises(UserError, match="token"):
        client.submit(Task("t", "x"), "y").result()


def test_size_and_shape_of_requests_are_limited(service):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    body = {"name": "t", "source": "x" * 30000, "candidate": "y"}
    assert httpx.post(service.url + "/v1/verify", json=body, headers=headers).status_code == 413
    chunks = (b"x" * 5000 for _ in range(10))  # no content length to trust
    assert httpx.post(service.url + "/v1/verify", content=chunks, headers=headers).status_code == 413
    for wrong in ({"name": "t"}, {**body, "source": "x", "extra": 1}, {**body, "source": "x", "seed": -1}):
        assert httpx.post(service.url + "/v1/verify", json=wrong, headers=headers).status_code == 422
    assert httpx.get(service.url + "/docs", headers=headers).status_code == 404


def test_metrics_count_what_happened(service):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    name, _, task, candidate = next(c for c in CASES if c[0] == "no_model")
    httpx.post(service.url + "/v1/verify", json={"name": name, "source": task, "candidate": candidate}, headers=headers)
    text = httpx.get(service.url + "/metrics", headers=headers).text
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert float(values['atrl_evaluations_total{verdict="static_error"}']) >= 1
    assert float(values['atrl_refused_total{reason="unauthorized"}']) >= 1
    assert values['atrl_evaluation_seconds_bucket{le="+Inf"}'] == values["atrl_evaluation_seconds_count"]


class SlowPool:
    """Just enough of a pool to fill the queue of a service."""

    restarts, waiting, alive = 0, 0, True

    def __init__(self) -> None:
        self.gate = threading.Event()

    async def verify(self, task, candidate, *, seed=0):
        await asyncio.get_running_loop().run_in_executor(None, self.gate.wait)
        return StepFeedback("pass", (Stage("static", True, 0.0),), 1, 1, 0.4, None, "pass")


def test_full_queue_is_refused_and_recovers():
    pool = SlowPool()
    running = Running(create_app(pool, max_queue=2))
    body = {"name": "t", "source": "x", "candidate": "y"}
    answers: list[httpx.Response] = []

    def post() -> None:
        answers.append(httpx.post(running.url + "/v1/verify", json=body, timeout=30))

    threads = [threading.Thread(target=post) for _ in range(2)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 20
    while "atrl_in_flight 2" not in httpx.get(running.url + "/metrics").text:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert httpx.post(running.url + "/v1/verify", json=body, timeout=30).status_code == 429
    pool.gate.set()
    for thread in threads:
        thread.join()
    assert [a.status_code for a in answers] == [200, 200]
    assert httpx.post(running.url + "/v1/verify", json=body, timeout=30).status_code == 200
    running.close()


def test_service_that_is_gone_is_infrastructure(monkeypatch):
    monkeypatch.setattr("sandbox.client.PAUSE", 0.01)
    with SandboxClient("http://127.0.0.1:9", timeout=2.0) as client:
        assert client.submit(Task("t", "x"), "y").result().verdict == "infrastructure_error"


def test_other_addresses_need_a_token(monkeypatch):
    import argparse

    monkeypatch.delenv("ATRL_TOKEN", raising=False)
    parser = argparse.ArgumentParser()
    serve.add_arguments(parser)
    with pytest.raises(UserError, match="ATRL_TOKEN"):
        serve.run(parser.parse_args(["--host", "0.0.0.0"]))
    assert is_loopback("127.0.0.1") and is_loopback("::1") and is_loopback("localhost")
    assert not is_loopback("0.0.0.0") and not is_loopback("example.org")
