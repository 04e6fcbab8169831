"""Sessions ahead of the step: staleness stays within its bound, tokens know their version, nothing is drawn twice."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from trainer_harness import TASKS, BankEngine, make_config, make_parts, train

from atrl_ms.errors import UserError
from atrl_ms.evaluate.sessions import read_sessions
from atrl_ms.rollout.decoder import NumpyDecoder, Row
from atrl_ms.train import checkpoint
from atrl_ms.train.ahead import Ahead
from atrl_ms.train.metrics import read_metrics
from atrl_ms.train.rollouts import TaskSampler
from atrl_ms.train.run_dir import RunDir
from atrl_ms.types import Sample


class CopyEngine(BankEngine):
    """The bank's replies with log-probabilities of a private copy of the weights, as real engines have."""

    def __init__(self, learner, tokenizer, temperature):
        super().__init__(learner, tokenizer)
        self.temperature, self.during_update, self.updating = temperature, 0, False
        self.decoder = NumpyDecoder(learner.model, 1, 256)

    async def generate(self, request):
        self.during_update += self.updating
        version = self.version
        sample = await super().generate(request)
        ids = [*request.prompt_ids, *sample.token_ids]
        rows = [self.decoder.forward([Row(0, t, [token])])[0] for t, token in enumerate(ids[:-1])]
        scaled = np.array(rows[len(request.prompt_ids) - 1 :], np.float64) / self.temperature
        logp = scaled - np.logaddexp.reduce(scaled, axis=1, keepdims=True)
        chosen = [float(row[token]) for row, token in zip(logp, sample.token_ids, strict=True)]
        return Sample(sample.token_ids, chosen, sample.finish_reason, version)

    async def update_weights(self, version):
        self.decoder.load(self.learner.model)
        self.version = version


class Silent:
    """Stands for the learner inside BankEngine.generate: its graphs are in use by the update."""

    def __init__(self, model):
        self.model = model

    def logprobs(self, ids):
        return np.zeros(ids.shape, np.float32)


def run_with(tmp_path, staleness, steps=4, run=None):
    config = make_config(
        tmp_path, train={"staleness": staleness, "steps": steps, "lr": 5e-3}, eval={"sessions": 0},
        algo={"dynamic_sampling": False},
    )  # fmt: skip
    run = run or RunDir.create(config)
    parts = make_parts(config)
    engine = parts.engine = CopyEngine(Silent(parts.learner.model), parts.tokenizer, config.engine.temperature)
    accumulate = parts.learner.accumulate

    def slow(batch, loss):
        engine.updating = True
        import time

        time.sleep(0.2)  # the loop gets time to play, however fast the update is
        result = accumulate(batch, loss)
        engine.updating = False
        return result

    parts.learner.accumulate = slow
    train(config, run, parts)
    return run, engine


@pytest.mark.parametrize("staleness", [0, 1, 2])
def test_staleness_stays_within_its_bound_and_generation_overlaps_training(tmp_path, staleness):
    run, engine = run_with(tmp_path, staleness)
    records = read_metrics(run.metrics_file)
    assert [r["step"] for r in records] == [1, 2, 3, 4]
    assert max(r["staleness"]["max"] for r in records) == staleness
    assert (engine.during_update > 0) == (staleness > 0)
    assert all(r["trained_tokens"] > 0 for r in records)
    for record in records:
        mismatch = record["mismatch"]  # of the weights that train and those that sampled
        assert (mismatch > 1e-3) == (record["staleness"]["mean"] > 0), (record["step"], mismatch)
        sessions = read_sessions(run.step_sessions(record["step"]))
        versions = np.concatenate([g.versions[g.mask] for s in sessions for g in s.segments])
        assert versions.min() >= record["step"] - 1 - staleness and versions.max() <= record["step"] - 1


def test_a_run_that_resumes_draws_again_what_was_ahead(tmp_path):
    run, _ = run_with(tmp_path, 1, steps=3)
    position = checkpoint.read_position(checkpoint.latest(run.checkpoints))
    assert position.sampler == 3 * 2  # groups of the three steps, none ahead of the last one
    text = run.config_file.read_text()
    assert "steps: 3" in text
    run_with(tmp_path, 1, steps=5, run=run)
    assert [r["step"] for r in read_metrics(run.metrics_file)] == [1, 2, 3, 4, 5]
    names = [t.name for t in TaskSampler(TASKS, seed=3).draw(10)]
    played = [s.task for step in range(1, 6) for s in read_sessions(run.step_sessions(step))[::3]]
    assert played == names


def test_tasks_ahead_count_as_not_taken_and_end_with_the_run():
    started, ended = [], []

    async def play(step, tasks):
        started.append(step)
        try:
            await asyncio.sleep(0 if step == 1 else 60)
        finally:
            ended.append(step)
        return tasks

    async def scenario():
        drawn = iter(range(100))
        ahead = Ahead(2, 4, draw=lambda: [next(drawn), next(drawn)], play=play)
        assert await ahead.take(1) == [0, 1]
        assert started == [1, 2, 3] and ahead.untaken == 4
        await ahead.close()

    asyncio.run(scenario())
    assert sorted(ended) == [1, 2, 3]


def test_a_serving_engine_that_dies_in_mid_step_ends_the_run_with_a_remedy(tmp_path, monkeypatch):
    from contextlib import nullcontext

    from test_clients_serving import Server

    from atrl_ms.commands import train as command
    from atrl_ms.rollout.serving import SglangClient
    from atrl_ms.train import parts as parts_module
    from atrl_ms.train.parallel import Ranks

    config = make_config(tmp_path, eval={"sessions": 0})
    run, parts, server = RunDir.create(config), make_parts(config), Server()
    generate = parts.engine.generate

    async def served_elsewhere(request):
        if parts.engine.requests == 40:
            server.http.shutdown()
            server.http.server_close()
        if parts.engine.requests >= 40:
            await SglangClient(server.url).generate(request)
        return await generate(request)

    parts.engine.generate = served_elsewhere
    monkeypatch.setattr(parts_module, "build_parts", lambda config, run, ranks: nullcontext(parts))
    with pytest.raises(UserError, match=f"SGLang at .*; start the engine again and continue with --resume {run.path}"):
        command.train(config, run, Ranks())
    steps = [r["step"] for r in read_metrics(run.metrics_file)]
    assert 0 < len(steps) < 4
    train(config, run)
    assert [r["step"] for r in read_metrics(run.metrics_file)] == [1, 2, 3, 4]
