"""The loop's bookkeeping over ranks, in threads with a linear learner: fast enough for many ranks and many cases.

The same properties under msrun, with the real learner and collectives: test_train_parallel.py.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import trainer_harness as harness

from atrl_ms.algos.losses import STATISTICS
from atrl_ms.train.metrics import read_metrics
from atrl_ms.train.parallel import Ranks
from atrl_ms.train.rl import Parts, Trainer
from atrl_ms.train.run_dir import RunDir

DIFFERENT = ("seconds", "tokens_per_s", "ranks", "padded_tokens", "micro_batches")


class Hub:
    """Where the threads of a job meet."""

    def __init__(self, size):
        self.slots, self.barrier = [b""] * size, threading.Barrier(size, timeout=60)


@dataclass(frozen=True)
class ThreadRanks(Ranks):
    hub: Hub = field(default_factory=lambda: Hub(1))

    def gather(self, data):
        self.hub.slots[self.rank] = data
        self.hub.barrier.wait()
        parts = list(self.hub.slots)
        self.hub.barrier.wait()
        return parts


class LinearLearner:
    """One weight per token; the gradient is the sum of weight times advantage where the token stands."""

    parameters = ()

    def __init__(self, ranks):
        self.ranks, self.weights, self.gradient, self.rows = ranks, np.zeros(200), np.zeros(200), 0

    def logprobs(self, ids):
        return (-0.5 * np.abs(np.sin(ids + 0.1))).astype(np.float32)

    def accumulate(self, batch, loss):
        product = batch["weight"] * batch["adv"]
        np.add.at(self.gradient, batch["ids"].reshape(-1), product.reshape(-1).astype(np.float64))
        self.rows += int((batch["weight"] > 0).any(axis=1).sum())
        sums = np.zeros(len(STATISTICS))
        sums[:2] = product.sum(), (batch["weight"] > 0).sum()
        return sums

    def apply(self, lr):
        total = self.ranks.total(self.gradient.copy())
        self.weights += lr * total
        self.gradient[:] = 0
        return {"grad_norm": float(np.linalg.norm(total))}

    def state_dict(self):
        return {"weights": self.weights.copy()}

    def load_state_dict(self, state):
        self.weights = state["weights"].copy()


def make_parts(ranks):
    learner, tokenizer = LinearLearner(ranks), harness.WordTokenizer()
    tokenizer.encode(harness.VOCABULARY)
    return Parts(
        engine=harness.BankEngine(learner, tokenizer),
        tokenizer=tokenizer,
        judge=harness.ScoreJudge(),
        learner=learner,
        save_policy=lambda path: (path / "policy").touch(),
        load_policy=lambda path: None,
        train_tasks=harness.TASKS,
        held_out_tasks=harness.TASKS,
        ranks=ranks,
    )


def run_ranks(run: RunDir, size: int) -> list[Parts]:
    """Train on `size` ranks; only the leader sees the run's directory."""
    hub, parts, errors = Hub(size), [], []
    for rank in range(size):
        parts.append(make_parts(ThreadRanks(rank, size, hub)))

    def one(rank):
        directory = run if rank == 0 else RunDir(Path("/nonexistent"))
        try:
            asyncio.run(Trainer(run.config(), directory, parts[rank], progress=False).run())
        except BaseException as error:
            errors.append(error)
            hub.barrier.abort()

    threads = [threading.Thread(target=one, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return parts


def new_run(directory, **train):
    return RunDir.create(harness.make_config(directory, train={"groups_per_step": 4, "group_size": 3, **train}))


def numbers(run):
    return [{k: v for k, v in r.items() if k not in DIFFERENT} for r in read_metrics(run.metrics_file)]


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    run = new_run(tmp_path_factory.mktemp("one"))
    parts = run_ranks(run, 1)[0]
    return run, parts.learner, parts.engine.requests


def assert_same(records, others):
    for a, b in zip(records, others, strict=True):
        assert a.keys() == b.keys()
        for name, value in a.items():
            assert value == (pytest.approx(b[name], abs=1e-6) if isinstance(value, float) else b[name]), name


@pytest.mark.parametrize("size", [2, 3, 4, 6])
def test_ranks_play_and_learn_together_what_one_does(one, tmp_path, size):
    run, alone, one_requests = one
    several = new_run(tmp_path)
    parts = run_ranks(several, size)
    assert_same(numbers(several), numbers(run))
    for p in parts:
        np.testing.assert_allclose(p.learner.weights, alone.weights, atol=1e-12)
    rows = [p.learner.rows for p in parts]
    assert sum(rows) == alone.rows and max(rows) <= 1.5 * alone.rows / size
    assert sum(p.engine.requests for p in parts) == one_requests  # every session is played once, by somebody
    assert np.abs(alone.weights).max() > 0


def test_resume_on_more_and_on_fewer_ranks_continues_alike(one, tmp_path):
    run, alone, _ = one
    several = new_run(tmp_path, steps=1)
    run_ranks(several, 2)
    for steps, size in ((3, 4), (4, 1)):
        text = several.config_file.read_text()
        several.config_file.write_text(text.replace(f"  steps: {1 if steps == 3 else 3}\n", f"  steps: {steps}\n"))
        parts = run_ranks(several, size)
    assert [r["ranks"] for r in read_metrics(several.metrics_file)] == [2, 4, 4, 1]
    assert_same(numbers(several), numbers(run))
    np.testing.assert_allclose(parts[0].learner.weights, alone.weights, atol=1e-12)


def test_sessions_ahead_keep_ranks_in_step(tmp_path):
    run = new_run(tmp_path, staleness=1)
    parts = run_ranks(run, 3)
    assert all((p.learner.weights == parts[0].learner.weights).all() for p in parts)
    assert [r["staleness"]["max"] for r in read_metrics(run.metrics_file)] == [0, 1, 1, 1]
