"""Death of a rank ends all ranks with a reason: processes that hold the watch only, many times over; the exchange."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from session_factory import make_session

from atrl_ms.train.checkpoint import Position
from atrl_ms.train.exchange import gather_groups, share_state, share_tasks
from atrl_ms.train.parallel import Ranks
from atrl_ms.train.watch import FAILED
from atrl_ms.types import Group, Task

WORKER = Path(__file__).parent / "watch_worker.py"


def run(directory: Path, size: int, what: str) -> list[tuple[int, str]]:
    directory.mkdir(exist_ok=True)
    env = {**os.environ, "PYTHONPATH": str(WORKER.parents[1])}
    command = [sys.executable, str(WORKER), str(directory)]
    jobs = [
        subprocess.Popen([*command, str(r), str(size), what], env=env, stderr=subprocess.PIPE, text=True)
        for r in range(size)
    ]
    victim = 0 if what.startswith("leader") else size - 1
    results = {}
    for r in sorted(range(size), key=lambda r: r == victim):
        if r == victim and "stop" in what:
            jobs[r].kill()  # a stopped process ends no other way
        text = jobs[r].communicate(timeout=60)[1]
        results[r] = (jobs[r].returncode, text)
    return [results[r] for r in range(size)]


@pytest.mark.parametrize("size", [2, 4])
def test_ranks_that_end_well_end_without_a_word(tmp_path, size):
    assert run(tmp_path, size, "nothing") == [(0, "")] * size


@pytest.mark.parametrize("what", ["kill", "stop", "raise", "leader kill", "leader stop", "leader raise"])
def test_every_other_rank_ends_with_the_reason(tmp_path, what):
    size = 3
    victim = 0 if what.startswith("leader") else size - 1
    reason = {"kill": "connection closed", "stop": "no sign of life", "raise": "failed: ValueError: out of memory"}
    results = run(tmp_path, size, what)
    for rank, (code, text) in enumerate(results):
        if rank != victim:
            assert code == FAILED, text
            assert f"rank {victim} " in text and reason[what.split()[-1]] in text and "--resume" in text


@pytest.mark.slow
def test_killing_a_rank_ends_the_job_ten_times_out_of_ten(tmp_path):
    for i in range(10):
        codes = [code for code, _ in run(tmp_path / str(i), 2, "kill" if i % 2 else "leader kill")]
        assert sorted(codes) == sorted([-signal.SIGKILL, FAILED])


@dataclass(frozen=True)
class OneOfTwo(Ranks):
    """A rank that sees the bytes of both."""

    parts: tuple[bytes, ...] = ()

    def gather(self, data: bytes) -> list[bytes]:
        return [*self.parts, data] if self.rank else [data, *self.parts]


def test_sessions_of_other_ranks_arrive_exactly_and_in_order():
    mine = [Group("b", [make_session([[0.0], [0.3, 1.0]], seed=3), make_session([[0.0], [0.3, 1.0]], seed=4)])]
    theirs = [Group("a", [make_session([[0.0], [0.3, 1.0]], seed=1), make_session([[0.0], [0.3, 1.0]], seed=2)])]
    sent = []

    @dataclass(frozen=True)
    class Sender(Ranks):
        def gather(self, data: bytes) -> list[bytes]:
            sent.append(data)
            return [data, data]

    gather_groups(Sender(0, 2), theirs, 2)
    groups = gather_groups(OneOfTwo(1, 2, (sent[0],)), mine, 2)
    assert [[s.seed for s in g.sessions] for g in groups] == [[1, 2], [3, 4]]
    for got, was in zip(groups[0].sessions, theirs[0].sessions, strict=True):
        for a, b in zip(got.segments, was.segments, strict=True):
            for name in ("token_ids", "logprobs", "mask", "kinds", "turns", "versions"):
                np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
        assert got.reward == was.reward and got.segment_rewards().tolist() == was.segment_rewards().tolist()


def test_state_and_sums_travel_without_loss():
    state = {"first.w": np.float32([0.1, -3e-38]), "step": np.array(7)}
    sent = []

    @dataclass(frozen=True)
    class Leader(Ranks):
        def gather(self, data: bytes) -> list[bytes]:
            sent.append(data)
            return [data, b""]

    position = Position(7, 28, 9, 3)
    share_state(Leader(0, 2), position, state)

    @dataclass(frozen=True)
    class Follower(Ranks):
        def gather(self, data: bytes) -> list[bytes]:
            return [sent.pop(0), data]

    got, arrays = share_state(Follower(1, 2), Position(0, 0, 0, 3), {})
    assert got == position and arrays["first.w"].tobytes() == state["first.w"].tobytes() and arrays["step"] == 7
    tasks = [Task("a", "code", "f", directory="/d")], [Task("b", "other", held_out=True)]
    share_tasks(Leader(0, 2), lambda: tasks)
    assert share_tasks(Follower(1, 2), lambda: ([], [])) == tasks
    big = np.array([2.0**53 - 1, 1.0, 0.1])
    total = OneOfTwo(1, 2, (np.zeros(3).tobytes(),)).total(big)
    assert total.tolist() == big.tolist()
