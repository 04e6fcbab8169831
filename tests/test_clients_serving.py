"""Serving clients against a small server with the documented schemas: every misbehaviour is refused."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from atrl_ms.config import EngineConfig
from atrl_ms.errors import UserError
from atrl_ms.rollout.engines import open_engine
from atrl_ms.rollout.serving import PublishingEngine, ReplayEngine, ServingError, SglangClient, VllmClient
from atrl_ms.types import Sample, SampleRequest

REQUEST = SampleRequest([5, 6, 7], 8, temperature=0.7, seed=3, stop_ids=(2,))
TOKENS, LOGPROBS = [11, 12, 2], [-0.5, -1.25, -0.125]


class Server:
    """Answers like vLLM and SGLang; `fault` names what it does wrong."""

    def __init__(self, fault: str = ""):
        self.fault, self.version, self.calls, self.paused = fault, "0", [], False
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args):
                pass

            def answer(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                status, reply = outer.reply(self.path, body)
                data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = answer

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def asked(self):
        return any(path in ("/generate", "/v1/completions") for path, _ in self.calls)

    def reply(self, path, body):
        self.calls.append((path, body))
        if self.fault == "status 500":
            return 500, {"error": "engine dead"}
        if self.fault == "timeout":
            time.sleep(1.5)
        if self.fault == "slow" and path in ("/generate", "/v1/completions"):
            time.sleep(0.3)
        if self.fault == "not json":
            return 200, b"<html>busy</html>"
        if path.startswith(("/pause", "/resume")):
            self.paused = path.startswith("/pause")
            return 200, {"status": "ok"}
        if path in ("/update_weights", "/update_weights_from_disk"):
            info = body.get("update_info", body)
            wanted = info["weight_version"]
            self.loaded = info.get("path") or info.get("model_path")
            if self.fault == "server dies in update" and wanted == "2":
                self.fault = "status 500"
                return 500, {"error": "killed"}
            wrong = self.fault == "update ignored" or (self.fault == "second update goes wrong" and wanted == "2")
            self.version = self.version if self.fault == "update ignored" else "corrupt" if wrong else wanted
            return 200, {"success": self.fault != "update refused", "message": "", "weight_version": self.version}
        if path == "/get_model_info":
            return 200, {"model_path": "x", "weight_version": self.version}
        if path == "/v1/models":
            return 200, {"data": [{"id": "policy"}]}
        return 200, self.completion(path, body)

    def completion(self, path, body):
        tokens, logprobs, version, finish = list(TOKENS), list(LOGPROBS), self.version, "stop"
        prompt = list(body.get("prompt") or body.get("input_ids"))
        if self.fault == "wrong count":
            logprobs.pop()
        if self.fault == "retokenised prompt":
            prompt.append(99)
        if self.fault == "stale version":
            version = "41"
        if self.fault == "stop token dropped":
            tokens.pop(), logprobs.pop()
        if self.fault == "nan":
            logprobs[1] = float("nan")
        if self.fault == "aborted":
            finish = "abort"
        if self.fault == "empty":
            tokens, logprobs = [], []
        if path == "/generate":
            return {
                "text": "",
                "output_ids": tokens,
                "meta_info": {
                    "prompt_tokens": len(prompt),
                    "finish_reason": {"type": finish},
                    "weight_version": version,
                    "output_token_logprobs": [[p, t, None] for p, t in zip(logprobs, tokens, strict=False)],
                },
            }
        choice = {"text": "", "token_ids": tokens, "prompt_token_ids": prompt, "finish_reason": finish}
        choice["logprobs"] = {"token_logprobs": logprobs}
        return {"choices": [choice], "weight_version": version}


def ask(kind, server, action, timeout=30.0):
    async def run():
        client = kind(server.url, timeout=timeout)
        try:
            return await action(client)
        finally:
            await client.close()

    try:
        return asyncio.run(run())
    finally:
        server.http.shutdown()
        server.http.server_close()


@pytest.mark.parametrize("kind", [VllmClient, SglangClient])
def test_an_honest_answer_becomes_a_sample_with_its_stop_token(kind):
    server = Server()
    answer = ask(kind, server, lambda c: c.generate(REQUEST))
    assert answer == Sample(TOKENS, LOGPROBS, "stop", 0)
    body = server.calls[-1][1]
    settings = body.get("sampling_params", body)
    assert (body.get("prompt") or body["input_ids"]) == [5, 6, 7]  # ids, never text
    assert settings.get("max_tokens", settings.get("max_new_tokens")) == 8
    assert settings["temperature"] == 0.7 and settings["stop_token_ids"] == [2]


FAULTS = {
    "wrong count": "2 log-probabilities for 3 tokens|other tokens",
    "retokenised prompt": "prompt",
    "stale version": "weights 41, expected 0",
    "stop token dropped": "stop token",
    "nan": "finite",
    "aborted": "finish reason 'abort'",
    "empty": "no token ids",
    "status 500": "status 500: .*engine dead",
    "not json": "not JSON",
    "timeout": "no answer in time",
}


@pytest.mark.parametrize("kind", [VllmClient, SglangClient])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_misbehaving_server_is_refused_and_never_asked_again(kind, fault):
    server = Server(fault)
    with pytest.raises(ServingError, match=FAULTS[fault]):
        ask(kind, server, lambda c: c.generate(REQUEST), timeout=0.5 if fault == "timeout" else 30.0)
    assert sum(path in ("/generate", "/v1/completions") for path, _ in server.calls) <= 1


@pytest.mark.parametrize("kind", [VllmClient, SglangClient])
def test_publishing_weights_changes_the_version_of_samples(kind, tmp_path):
    server = Server()

    async def action(client):
        await client.publish(tmp_path, 4)
        return await client.generate(REQUEST)

    assert ask(kind, server, action).policy_version == 4
    assert not server.paused


@pytest.mark.parametrize("kind", [VllmClient, SglangClient])
def test_an_update_that_did_not_happen_is_noticed_and_the_server_resumed(kind, tmp_path):
    server = Server("update ignored")
    with pytest.raises(ServingError, match="after the update to 4"):
        ask(kind, server, lambda c: c.publish(tmp_path, 4))
    assert not server.paused


@pytest.mark.parametrize("kind", [VllmClient, SglangClient])
def test_weights_that_fail_verification_are_rolled_back(kind, tmp_path):
    server = Server("second update goes wrong")
    old, new = tmp_path / "old", tmp_path / "new"

    async def action(client):
        await client.publish(old, 1)
        with pytest.raises(ServingError, match=r"reports weights corrupt.*rolled back to version 1"):
            await client.publish(new, 2)
        return await client.generate(REQUEST)

    assert ask(kind, server, action).policy_version == 1
    assert server.loaded == str(old) and server.version == "1" and not server.paused


@pytest.mark.parametrize("kind", [VllmClient, SglangClient])
def test_a_server_that_dies_in_an_update_is_named_and_never_resumed_with_unknown_weights(kind, tmp_path):
    server = Server("server dies in update")

    async def action(client):
        await client.publish(tmp_path / "old", 1)
        with pytest.raises(ServingError, match="going back to version 1 failed too"):
            await client.publish(tmp_path / "new", 2)

    ask(kind, server, action)
    resumed = [path for path, _ in server.calls if path == "/resume"]
    assert len(resumed) == (1 if kind is VllmClient else 0)


@pytest.mark.parametrize("kind", [VllmClient, SglangClient])
def test_truncation_is_refused_because_its_log_probabilities_are_not_the_policys(kind):
    server = Server()
    with pytest.raises(UserError, match="top_p"):
        ask(kind, server, lambda c: c.generate(SampleRequest([1], 2, top_p=0.9)))
    assert not server.calls


def test_an_unreachable_server_and_an_empty_address_are_named():
    server = Server()
    server.http.shutdown()
    server.http.server_close()

    async def run():
        await SglangClient(server.url).generate(REQUEST)

    with pytest.raises(ServingError, match="Connect"):
        asyncio.run(run())
    with pytest.raises(UserError, match=r"engine\.url"):
        VllmClient("")


def test_the_training_loops_engine_saves_publishes_and_cleans_up(tmp_path):
    server = Server()

    async def action(client):
        engine = PublishingEngine(client, lambda d: (d / "model.safetensors").write_bytes(b"x"), tmp_path)
        await engine.update_weights(1)
        await engine.update_weights(2)
        return await engine.generate(REQUEST)

    assert ask(SglangClient, server, action).policy_version == 2
    assert [p.name for p in tmp_path.iterdir()] == ["policy_2"]
    published = [body["model_path"] for path, body in server.calls if path == "/update_weights_from_disk"]
    assert published[-1] == str(tmp_path / "policy_2")


@pytest.mark.parametrize("kind", [VllmClient, SglangClient])
def test_requests_in_flight_at_an_update_finish_under_their_version_and_later_ones_wait(kind, tmp_path):
    server = Server("slow")

    async def action(client):
        engine = PublishingEngine(client, lambda d: None, tmp_path)
        flight = [asyncio.create_task(engine.generate(REQUEST)) for _ in range(3)]
        while not server.asked():
            await asyncio.sleep(0.01)
        update = asyncio.create_task(engine.update_weights(1))
        await asyncio.sleep(0)
        later = asyncio.create_task(engine.generate(REQUEST))
        return [a.policy_version for a in await asyncio.gather(*flight)], (await later).policy_version, await update

    before, after, _ = ask(kind, server, action)
    assert before == [0, 0, 0] and after == 1
    paths = [path.split("?")[0] for path, _ in server.calls]
    updates = [i for i, path in enumerate(paths) if path.startswith("/update")]
    samples = [i for i, path in enumerate(paths) if path in ("/generate", "/v1/completions")]
    # The start, three requests, the update, the request that waited.
    assert len(updates) == 2 and [sum(s < u for s in samples) for u in updates] == [0, 3] and len(samples) == 4


@pytest.mark.parametrize("kind", ["vllm", "sglang"])
def test_the_configured_engine_publishes_the_policys_weights_before_the_first_sample(kind):
    server = Server()
    settings = EngineConfig(kind=kind, url=server.url)
    saved = []
    with open_engine(settings, None, 64, saved.append) as engine:
        try:
            answer = asyncio.run(engine.generate(REQUEST))
        finally:
            server.http.shutdown()
            server.http.server_close()
    assert answer.token_ids == TOKENS and len(saved) == 1
    paths = [path.split("?")[0] for path, _ in server.calls]
    update = "/update_weights" if kind == "vllm" else "/update_weights_from_disk"
    assert paths.index(update) < paths.index("/v1/completions" if kind == "vllm" else "/generate")
    with pytest.raises(UserError, match=r"engine\.url"), open_engine(EngineConfig(kind=kind), None, 64, saved.append):
        pass


def test_replay_returns_the_recorded_answer_only_for_its_own_request():
    sample = Sample(TOKENS, LOGPROBS, "stop", 0)
    engine = ReplayEngine([(REQUEST, sample)])
    assert asyncio.run(engine.generate(REQUEST)) == sample
    with pytest.raises(KeyError):
        asyncio.run(engine.generate(SampleRequest([5, 6, 7], 8, temperature=0.7, seed=4, stop_ids=(2,))))
