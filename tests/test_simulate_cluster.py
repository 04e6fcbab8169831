"""The cluster simulation against cases that can be worked out by hand."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

spec = importlib.util.spec_from_file_location(
    "simulate_cluster", Path(__file__).parents[1] / "scripts" / "simulate_cluster.py"
)
sim = importlib.util.module_from_spec(spec)
sys.modules["simulate_cluster"] = sim
spec.loader.exec_module(sim)

FAST = sim.Engine(1e9, 0.0, 64)


def measured(steps, sample, workers=2, batch=8, groups=2):
    zero = [0.0] * len(steps)
    return sim.Measured(steps, sample, zero, zero, [1] * len(steps), 2, groups, batch, workers, 1000)


def test_an_engine_shares_its_speed_and_a_batch_has_its_limit():
    sessions = [[sim.Turn(100, 0.0)] for _ in range(4)]
    assert sim.play(sessions, sim.Engine(100.0, 0.0, 4), 1).seconds == pytest.approx(4.0)
    assert sim.play(sessions, sim.Engine(100.0, 0.0, 1), 1).seconds == pytest.approx(4.0)
    # with K = 1 a lone sequence gets half the speed: one at a time is slower than together
    assert sim.play(sessions, sim.Engine(100.0, 1.0, 1), 1).seconds == pytest.approx(8.0)
    assert sim.play(sessions, sim.Engine(100.0, 1.0, 4), 1).seconds == pytest.approx(5.0)


def test_evaluations_queue_for_workers():
    sessions = [[sim.Turn(1, 3.0)] for _ in range(5)]
    for workers, seconds in ((1, 15.0), (2, 9.0), (5, 3.0)):
        played = sim.play(sessions, FAST, workers)
        assert played.seconds == pytest.approx(seconds, rel=1e-6)
        assert played.judge_busy == pytest.approx(15.0) and played.starved == pytest.approx(seconds, rel=1e-6)


def test_while_one_session_waits_for_the_sandbox_another_is_decoded():
    sessions = [[sim.Turn(10, 5.0), sim.Turn(10, 0.0)], [sim.Turn(50, 0.0)]]
    # 20 tokens together (2 s), then the second alone: its 40 left take 4 s of the 5; the first ends at 2 + 5 + 1
    assert sim.play(sessions, sim.Engine(10.0, 0.0, 8), 1).seconds == pytest.approx(8.0)


def test_the_fit_finds_the_engine_that_made_the_measurements():
    rng = np.random.default_rng(0)
    steps = [
        [[[sim.Turn(int(rng.integers(20, 200)), float(rng.exponential(1.0))) for _ in range(3)] for _ in range(2)]
         for _ in range(int(rng.integers(1, 5)))]
        for _ in range(6)
    ]  # fmt: skip
    true = sim.Engine(300.0, 4.0, 8)
    m = measured(steps, [])
    m.sample = [sim.sampling_seconds(m, step, true, 2) for step in steps]
    m.update = m.rest = [0.0] * 6
    found = sim.fit_engine(m, range(6))
    assert found.half == 4.0 and found.speed == pytest.approx(300.0, rel=0.02)


def test_pipelining_hides_the_shorter_part_and_never_more():
    assert sim.pipelined([3.0] * 100, [1.0] * 100) == pytest.approx(3.0, rel=0.02)
    assert sim.pipelined([1.0] * 100, [3.0] * 100) == pytest.approx(3.0, rel=0.02)
    rng = np.random.default_rng(1)
    samples, updates = rng.exponential(1.0, 50).tolist(), rng.exponential(1.0, 50).tolist()
    seconds = sim.pipelined(samples, updates)
    assert max(np.mean(samples), np.mean(updates)) <= seconds <= np.mean(samples) + np.mean(updates)


def test_more_devices_wait_longer_for_the_slowest_and_a_small_pool_is_the_bottleneck():
    rng = np.random.default_rng(2)
    steps = [[[[sim.Turn(5, float(rng.exponential(4.0)))] for _ in range(2)] for _ in range(2)] for _ in range(8)]
    m = measured(steps, [1.0] * 8, workers=1)

    def row(devices, workers):
        cluster = sim.Cluster(devices, workers, sim.Engine(1000.0, 0.0, 8), 0.0, 0.0, 0.0, 1.0, 2 * devices)
        return cluster, sim.simulate(m, cluster, 6)

    cluster, one = row(1, 1)
    assert one.bottleneck == "sandbox" and one.judge > 0.9
    assert sim.workers_needed(m, cluster, 6) >= 4
    _, many = row(64, 1)
    assert many.seconds > 1.3 * one.seconds and many.parts["stragglers"] > 0
    assert sum(many.parts.values()) == pytest.approx(many.seconds)
    assert row(64, 8)[1].seconds < many.seconds
