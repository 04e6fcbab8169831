"""Clients of serving engines, token ids in and token ids out: vLLM (vllm-ascend) and SGLang.

They refuse what would corrupt training without a sound: a log-probability count that differs from the token count,
prompt ids that differ from those sent, an unexpected weight version, a missing stop token. They never re-tokenise and
never retry: a request that fails has failed.

Start vLLM with `--logprobs-mode processed_logprobs`, so that log-probabilities are those at the sampling temperature.
Processed log-probabilities are also those after truncation, so top-p and top-k are refused.
"""

from __future__ import annotations

import asyncio
import math
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx

from atrl_ms.errors import UserError
from atrl_ms.rollout.sampling import check_request
from atrl_ms.types import Sample, SampleRequest


class ServingError(RuntimeError):
    """A serving engine failed or broke the contract; the message says how. An infrastructure fault."""


class ServingClient:
    """What both clients share: HTTP, checks, versions.

    Args:
        url: address of the server.
        version: policy version the server holds at the start.
        timeout: seconds for one request.
    """

    name = "serving engine"

    def __init__(self, url: str, version: int = 0, timeout: float = 600.0):
        if not url:
            raise UserError("engine.url is empty; give the address of the serving engine, e.g. http://localhost:8000")
        self.url, self.version = url.rstrip("/"), version
        self.held: tuple[str, int] | None = None  # directory and version that the server loaded last, verified
        self.http = httpx.AsyncClient(base_url=self.url, timeout=httpx.Timeout(timeout, connect=10.0))

    async def close(self) -> None:
        await self.http.aclose()

    async def publish(self, directory: str | Path, version: int) -> None:
        """Give the server new weights as a transaction: pause, load, verify the version, resume.

        When loading or verification fails, the weights before are loaded and verified again and the server resumes
        with them. A server whose weights are not known stays paused.

        Args:
            directory: safetensors checkpoint that the server can read.

        Raises:
            ServingError: the new weights are not in use; the message says which are.
        """
        target = str(Path(directory).resolve())
        await self.pause()
        try:
            await self.load(target, version)
        except ServingError as error:
            if self.held is None:
                await self.resume()  # nothing was published yet: it goes on with what it was started with
                raise
            try:
                await self.load(*self.held)
            except ServingError as second:
                raise ServingError(f"{error}; going back to version {self.held[1]} failed too: {second}") from error
            await self.resume()
            raise ServingError(f"{error}; rolled back to version {self.held[1]}") from error
        self.held, self.version = (target, version), version
        await self.resume()

    async def pause(self) -> None:
        """Finish what is under way and take nothing new; servers that block while they load need nothing."""

    async def resume(self) -> None:
        """Take requests again."""

    async def load(self, directory: str, version: int) -> None:
        """Load and verify; ServingError if the server does not report `version` afterwards."""
        raise NotImplementedError

    async def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """One request; ServingError on anything but a 2xx answer with JSON (or an empty body)."""
        where = f"{self.name} at {self.url}{path}"
        try:
            response = await self.http.request(method, path, json=body)
        except httpx.TimeoutException as error:
            raise ServingError(f"{where}: no answer in time ({type(error).__name__})") from error
        except httpx.HTTPError as error:
            raise ServingError(f"{where}: {type(error).__name__}: {error}") from error
        if not response.is_success:
            raise ServingError(f"{where}: status {response.status_code}: {response.text[:300]}")
        if not response.content:
            return {}
        try:
            return response.json()
        except ValueError as error:
            raise ServingError(f"{where}: the answer is not JSON: {response.text[:200]}") from error

    def check(self, request: SampleRequest) -> None:
        check_request(request)
        if request.top_p < 1 or request.top_k > 0:
            raise UserError(
                f"{self.name} returns log-probabilities after truncation; "
                "set engine.top_p to 1 and engine.top_k to 0 to train with it"
            )

    def sample(
        self,
        request: SampleRequest,
        token_ids: Any,
        logprobs: Any,
        finish: Any,
        prompt_ids: Any = None,
        prompt_count: Any = None,
        version: Any = None,
    ) -> Sample:
        """Check an answer against its request and make it a Sample."""
        if not isinstance(token_ids, list) or not token_ids or not all(type(i) is int for i in token_ids):
            raise ServingError(f"{self.name}: the answer has no token ids: {str(token_ids)[:100]}")
        if not isinstance(logprobs, list) or len(logprobs) != len(token_ids):
            count = len(logprobs) if isinstance(logprobs, list) else 0
            raise ServingError(f"{self.name}: {count} log-probabilities for {len(token_ids)} tokens")
        if not all(isinstance(p, int | float) and math.isfinite(p) and p <= 1e-4 for p in logprobs):
            raise ServingError(f"{self.name}: a log-probability is not a finite number below 0")
        if len(token_ids) > request.max_new_tokens:
            raise ServingError(f"{self.name}: {len(token_ids)} tokens, asked for at most {request.max_new_tokens}")
        if prompt_ids is not None and list(prompt_ids) != list(request.prompt_ids):
            raise ServingError(f"{self.name}: the prompt ids it used differ from those sent; it re-tokenised")
        if prompt_count is not None and prompt_count != len(request.prompt_ids):
            raise ServingError(f"{self.name}: used {prompt_count} prompt tokens, {len(request.prompt_ids)} were sent")
        if version is not None and str(version) != str(self.version):
            raise ServingError(f"{self.name}: answered with weights {version}, expected {self.version}")
        if finish not in ("stop", "length"):
            raise ServingError(f"{self.name}: finish reason {finish!r}")
        if finish == "stop" and token_ids[-1] not in request.stop_ids:
            raise ServingError(f"{self.name}: finished by stop, but the stop token is not the last of the answer")
        return Sample(token_ids, [min(0.0, float(p)) for p in logprobs], finish, self.version)


class VllmClient(ServingClient):
    """vLLM's completion endpoint with token ids.

    Args:
        model: the served model's name; empty for the server's first.
    """

    name = "vLLM"

    def __init__(self, url: str, model: str = "", version: int = 0, timeout: float = 600.0):
        super().__init__(url, version, timeout)
        self.model = model

    async def generate(self, request: SampleRequest) -> Sample:
        self.check(request)
        if not self.model:
            listed = await self.call("GET", "/v1/models")
            try:
                self.model = listed["data"][0]["id"]
            except (KeyError, IndexError, TypeError) as error:
                raise ServingError(f"{self.name} at {self.url}: lists no model: {str(listed)[:200]}") from error
        body = {
            "model": self.model,
            "prompt": list(request.prompt_ids),
            "max_tokens": request.max_new_tokens,  # always sent: the server's default is 16
            "temperature": request.temperature,
            "seed": request.seed,
            "stop_token_ids": list(request.stop_ids),
            "logprobs": 0,
            "return_token_ids": True,
            "skip_special_tokens": False,
            "ignore_eos": True,  # only stop_ids end a reply
        }
        answer = await self.call("POST", "/v1/completions", body)
        try:
            choice = answer["choices"][0]
            logprobs = (choice.get("logprobs") or {}).get("token_logprobs")
            prompt_ids = choice.get("prompt_token_ids", answer.get("prompt_token_ids"))
            token_ids, finish = choice.get("token_ids"), choice.get("finish_reason")
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise ServingError(f"{self.name}: not a completion: {str(answer)[:200]}") from error
        if prompt_ids is None:
            raise ServingError(
                f"{self.name}: the answer lacks prompt_token_ids; a version with return_token_ids is needed"
            )
        version = answer.get("weight_version")
        return self.sample(request, token_ids, logprobs, finish, prompt_ids=prompt_ids, version=version)

    async def pause(self) -> None:
        await self.call("POST", "/pause?mode=wait")

    async def resume(self) -> None:
        await self.call("POST", "/resume")

    async def load(self, directory: str, version: int) -> None:
        info = {"path": directory, "weight_version": str(version)}
        answer = await self.call("POST", "/update_weights", {"update_info": info})
        held = answer.get("weight_version") if isinstance(answer, dict) else None
        if str(held) != str(version):
            raise ServingError(f"{self.name}: reports weights {held} after the update to {version}")


class SglangClient(ServingClient):
    """SGLang's native endpoint."""

    name = "SGLang"

    async def generate(self, request: SampleRequest) -> Sample:
        self.check(request)
        body = {
            "input_ids": list(request.prompt_ids),
            "sampling_params": {
                "max_new_tokens": request.max_new_tokens,
                "temperature": request.temperature,
                "sampling_seed": request.seed,
                "stop_token_ids": list(request.stop_ids),
                "skip_special_tokens": False,
                "no_stop_trim": True,
                "ignore_eos": True,
            },
            "return_logprob": True,
        }
        answer = await self.call("POST", "/generate", body)
        try:
            meta = answer["meta_info"]
            pairs = meta["output_token_logprobs"]
            logprobs, ids = [p[0] for p in pairs], [p[1] for p in pairs]
            token_ids = answer.get("output_ids", ids)
            finish = (meta.get("finish_reason") or {}).get("type")
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise ServingError(f"{self.name}: not a completion: {str(answer)[:200]}") from error
        if ids != list(token_ids)[: len(ids)]:
            raise ServingError(f"{self.name}: log-probabilities belong to other tokens than the answer's")
        count, version = meta.get("prompt_tokens"), meta.get("weight_version")
        return self.sample(request, token_ids, logprobs, finish, prompt_count=count, version=version)

    async def load(self, directory: str, version: int) -> None:
        """The server itself blocks requests while it loads."""
        body = {"model_path": directory, "weight_version": str(version)}
        answer = await self.call("POST", "/update_weights_from_disk", body)
        if not answer.get("success"):
            raise ServingError(f"{self.name}: refused the weights: {answer.get('message', answer)}")
        info = await self.call("GET", "/get_model_info")
        if str(info.get("weight_version")) != str(version):
            raise ServingError(
                f"{self.name}: reports weights {info.get('weight_version')} after the update to {version}"
            )


class PublishingEngine:
    """A serving engine as the training loop's engine: new weights go out as a checkpoint directory.

    The first request publishes the policy's weights, so the server may have been started with any of its checkpoints.
    Requests in flight at an update finish under the version they started with; those that arrive meanwhile wait.

    Args:
        save: writes the policy's current checkpoint to a directory.
        directory: where checkpoints are put, on storage that the server reads too.
    """

    def __init__(self, client: VllmClient | SglangClient, save: Callable[[Path], None], directory: str | Path):
        self.client, self.save, self.directory = client, save, Path(directory)
        self.published = self.updating = False
        self.in_flight = 0
        self.changed = asyncio.Condition()

    async def generate(self, request: SampleRequest) -> Sample:
        async with self.changed:
            await self.changed.wait_for(lambda: not self.updating)
            if not self.published:
                await self.publish(self.client.version)
            self.in_flight += 1
        try:
            return await self.client.generate(request)
        finally:
            async with self.changed:
                self.in_flight -= 1
                self.changed.notify_all()

    async def update_weights(self, version: int) -> None:
        """Save, publish, verify; older checkpoints are deleted. Do not train before this returns."""
        async with self.changed:
            self.updating = True
            try:
                await self.changed.wait_for(lambda: self.in_flight == 0)
                await self.publish(version)
            finally:
                self.updating = False
                self.changed.notify_all()

    async def publish(self, version: int) -> None:
        target = self.directory / f"policy_{version}"
        target.mkdir(parents=True, exist_ok=True)
        self.save(target)
        await self.client.publish(target, version)
        self.published = True
        for stale in self.directory.glob("policy_*"):
            if stale != target:
                shutil.rmtree(stale)


class ReplayEngine:
    """Plays recorded samples back: the same request (prompt, seed, limits) gets the recorded answer.

    For tests and for repeating a session without its model; KeyError for a request that was not recorded.
    """

    def __init__(self, records: Sequence[tuple[SampleRequest, Sample]]):
        self.records = {self.key(request): sample for request, sample in records}

    @staticmethod
    def key(request: SampleRequest) -> tuple[Any, ...]:
        return (tuple(request.prompt_ids), request.seed, request.max_new_tokens, request.temperature)

    async def generate(self, request: SampleRequest) -> Sample:
        key = self.key(request)
        if key not in self.records:
            raise KeyError(f"no recorded answer for a prompt of {len(request.prompt_ids)} tokens, seed {request.seed}")
        return self.records[key]
