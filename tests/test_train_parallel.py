"""The RL loop over processes: the numbers of one, resume from another number of ranks, deaths that end the job."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from test_learner_parallel import MSRUN, environment, free_port
from trainer_harness import make_config

from atrl_ms.evaluate.sessions import read_sessions
from atrl_ms.train.checkpoint import complete
from atrl_ms.train.metrics import read_metrics
from atrl_ms.train.parallel import Ranks, balance
from atrl_ms.train.run_dir import RunDir

pytestmark = pytest.mark.slow
HARNESS = Path(__file__).parent / "trainer_harness.py"
GROUPS = {"groups_per_step": 4, "group_size": 3}


def launch(run: RunDir, processes: int, *arguments: object, timeout: float = 600) -> subprocess.CompletedProcess[str]:
    command = [sys.executable]
    if processes > 1:
        if not MSRUN.exists():
            pytest.skip("msrun is not installed")
        count = str(processes)
        command = [str(MSRUN), "--worker_num", count, "--local_worker_num", count, "--join", "True"]
        command += ["--master_port", str(free_port()), "--log_dir", str(run.path / "logs"), "python"]
    command += [str(HARNESS), str(run.path), *map(str, arguments)]
    return subprocess.run(
        command, cwd=run.path, env=environment(), capture_output=True, text=True, timeout=timeout, check=False
    )


def finished(job: subprocess.CompletedProcess[str]) -> None:
    assert job.returncode == 0, job.stdout[-3000:] + job.stderr[-3000:]


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    run = RunDir.create(make_config(tmp_path_factory.mktemp("one"), train=GROUPS))
    finished(launch(run, 1))
    return run


def assert_equal_runs(run: RunDir, other: RunDir) -> None:
    """Losses, parameters and played sessions."""
    records, others = read_metrics(run.metrics_file), read_metrics(other.metrics_file)
    assert [r["step"] for r in records] == [r["step"] for r in others]
    for a, b in zip(records, others, strict=True):
        for name in ("loss", "grad_norm", "entropy", "mean_score", "mismatch"):
            assert abs(a[name] - b[name]) <= 1e-6, (a["step"], name)
        assert a["sampled_tokens"] == b["sampled_tokens"] and a["trained_tokens"] == b["trained_tokens"] > 0
        assert a["groups"] == b["groups"]
        played, other_played = (read_sessions(r.step_sessions(a["step"])) for r in (run, other))
        assert [s.seed for s in played] == [s.seed for s in other_played]
    with np.load(run.path / "weights.npz") as left, np.load(other.path / "weights.npz") as right:
        assert max(np.abs(left[name] - right[name]).max() for name in left.files) <= 1e-6


@pytest.mark.parametrize("processes", [2, 4])
def test_several_processes_play_and_learn_what_one_does(one, tmp_path, processes):
    run = RunDir.create(make_config(tmp_path, train=GROUPS))
    finished(launch(run, processes))
    assert read_metrics(run.metrics_file)[0]["ranks"] == processes
    assert_equal_runs(run, one)


def test_resume_from_another_number_of_ranks_gives_the_same_next_steps(one, tmp_path):
    run = RunDir.create(make_config(tmp_path, train={**GROUPS, "steps": 2}))
    finished(launch(run, 2))
    text = run.config_file.read_text()
    run.config_file.write_text(text.replace("  steps: 2\n", "  steps: 4\n"))
    finished(launch(run, 1))
    assert [r["ranks"] for r in read_metrics(run.metrics_file)] == [2, 2, 1, 1]
    assert_equal_runs(run, one)


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_rank_that_dies_or_hangs_ends_the_job_and_only_the_step_in_flight_is_lost(tmp_path, rank, how):
    run = RunDir.create(make_config(tmp_path, train=GROUPS, eval={"sessions": 0}))
    started = time.time()
    job = launch(run, 2, rank, int(how), 40, timeout=120)
    assert job.returncode != 0
    records = read_metrics(run.metrics_file)
    assert 0 < len(records) < 4
    last_step = run.metrics_file.stat().st_mtime
    assert time.time() - max(started, last_step) < 60
    if how == signal.SIGSTOP:  # msrun itself sees a process that died, not one that hangs
        logs = "".join(p.read_text(errors="replace") for p in (run.path / "logs").glob("worker_*.log"))
        assert f"rank {rank} died: no sign of life" in logs
    assert [int(p.name.removeprefix("step_")) for p in complete(run.checkpoints)][-1] == len(records)
    shutil.rmtree(run.path / "logs")
    finished(launch(run, 1))
    assert [r["step"] for r in read_metrics(run.metrics_file)] == [1, 2, 3, 4]


def test_shares_by_cost_are_even_and_complete():
    rng = np.random.default_rng(0)
    for _ in range(50):
        costs = rng.integers(1, 1000, rng.integers(1, 60)).tolist()
        size = int(rng.integers(2, 9))
        owners = balance(costs, size)
        loads = np.bincount(owners, costs, size)
        assert loads.max() <= max(max(costs), 4 / 3 * max(sum(costs) / size, max(costs)))
        items = list(range(len(costs)))
        parts = [Ranks(r, size).share(items, costs) for r in range(size)]
        assert sorted(chain(*parts)) == items and all(part == sorted(part) for part in parts)
        assert list(chain(*(Ranks(r, size).block(items) for r in range(size)))) == items
