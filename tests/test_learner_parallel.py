"""Two processes train as one; a rank that dies ends the job with a message."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

WORKER = Path(__file__).parent / "parallel_worker.py"
MSRUN = Path(sys.executable).parent / "msrun"


def environment() -> dict[str, str]:
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
    env["PYTHONPATH"] = str(WORKER.parents[1])
    return env


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def msrun(directory: Path, victim: int, timeout: float) -> subprocess.CompletedProcess[str]:
    if not (MSRUN.exists() or shutil.which("msrun")):
        pytest.skip("msrun is not installed")
    command = [str(MSRUN), "--worker_num", "2", "--local_worker_num", "2", "--join", "True", "--master_port"]
    command += [str(free_port()), "--log_dir", str(directory / "logs"), str(WORKER), str(directory), str(victim)]
    return subprocess.run(
        command, cwd=directory, env=environment(), capture_output=True, text=True, timeout=timeout, check=False
    )


@pytest.mark.slow
def test_two_processes_give_the_losses_and_parameters_of_one(tmp_path):
    single = subprocess.run(
        [sys.executable, str(WORKER), str(tmp_path), "-1"],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert single.returncode == 0, single.stderr[-2000:]
    double = msrun(tmp_path, -1, 600)
    assert double.returncode == 0, double.stdout[-2000:] + double.stderr[-2000:]
    one, two = np.load(tmp_path / "result_1.npz"), np.load(tmp_path / "result_2.npz")
    assert set(one.files) == set(two.files)
    for name in one.files:
        assert np.abs(one[name] - two[name]).max() <= 1e-6, name
    assert one["losses"][4] < one["losses"][0]  # it learned, so equal parameters are not those of the start


@pytest.mark.slow
def test_a_rank_that_dies_ends_the_whole_job_with_a_message_within_a_minute(tmp_path):
    job = msrun(tmp_path, 1, 600)
    seconds = time.time() - (tmp_path / "died").stat().st_mtime
    assert job.returncode != 0
    logs = "".join(p.read_text(errors="replace") for p in (tmp_path / "logs").rglob("*.log"))
    # The survivor's watch says it, or the scheduler, when the survivor is stuck inside a collective.
    said = re.search(r"rank 1 (died|failed)|worker 1 is the first one timed out", job.stdout + job.stderr + logs)
    assert said, logs[-2000:] + job.stdout[-1000:]
    assert not (tmp_path / "result_2.npz").exists()
    assert seconds < 60  # not for ever, which is what a collective waits for
    assert not [line for line in processes() if str(tmp_path) in line]  # nothing of the job is left


def processes() -> list[str]:
    """Command lines of all processes that can be read."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return lines
