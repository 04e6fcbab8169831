"""The walls hold, each missing tool is named and the rest works, and a pool leaves nothing behind."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from verify_cases import CASES, HEAD, RELU, RELU_TASK, model

from atrl_ms.errors import UserError
from atrl_ms.types import Task
from sandbox import isolation
from sandbox.devices import missing
from sandbox.options import Options
from sandbox.pool import SandboxPool

ROOT = Path(__file__).resolve().parent.parent
TASK = Task("relu", RELU_TASK)
HONEST = HEAD + RELU + model("return run_relu(x)")


def own(name: str) -> tuple[Task, str]:
    _, _, task, candidate = next(c for c in CASES if c[0] == name)
    return Task(name, task), candidate


def spy(body: str) -> str:
    """A candidate that raises what it saw."""
    code = "\n".join("    " + line for line in body.strip().split("\n"))
    return (
        HEAD
        + f"import os, sys, pathlib\ndef look():\n{code}\nraise RuntimeError(repr(look()))\n"
        + RELU
        + model("return x")
    )


@pytest.fixture(scope="module")
def pool():
    with SandboxPool(Options(profile="off"), workers=1) as pool:
        yield pool


def test_candidate_sees_no_reference_no_home_no_other_process(pool):
    body = f"""
found = []
for path in ("{ROOT}/sandbox/tasks/softmax.py", "{ROOT}/tests", "{ROOT}/../shared", "/root/.ssh", "/home"):
    if os.path.exists(path):
        found.append(path)
secrets = [k for k in os.environ if "TOKEN" in k or "SECRET" in k]
return found, secrets, len([p for p in os.listdir("/proc") if p.isdigit()]) < 40
"""
    os.environ["ATRL_TEST_SECRET"] = "1"
    try:
        result = pool.submit(TASK, spy(body)).result()
    finally:
        del os.environ["ATRL_TEST_SECRET"]
    assert "([], [], True)" in result.feedback, result.feedback


def test_candidate_cannot_write_outside_its_scratch_nor_reach_the_network(pool):
    body = f"""
done = []
places = "{ROOT}/sandbox/x {ROOT}/sandbox/tasks/x {sys.prefix}/x /usr/x /etc/x /x /dev/shm/x /dev/x".split()
for path in (*places, os.environ["ATRL_CACHE"] + "/ascend/x"):
    try:
        pathlib.Path(path).write_text("x")
        if not path.startswith(os.environ["ATRL_CACHE"]):
            done.append(path)
    except OSError:
        pass
try:
    import socket
    socket.socket()
    done.append("socket")
except OSError:
    pass
pathlib.Path("kept").write_text("x")
return done
"""
    assert "RuntimeError: []" in pool.submit(TASK, spy(body)).result().feedback
    again = pool.submit(TASK, spy('return os.path.exists("kept")')).result()
    assert "RuntimeError: False" in again.feedback


@pytest.mark.parametrize("hide", [("bwrap",), ("bwrap", "namespaces"), ("seccomp",)])
def test_without_one_wall_the_rest_still_judges(hide):
    walls = isolation.probe(hide=frozenset(hide))
    if not walls.enough:
        pytest.skip("this machine offers no second way to isolate")
    assert any(word in " ".join(walls.losses()) for word in ("bubblewrap", "system-call"))
    with SandboxPool(Options(hide=hide, profile="off"), workers=1) as pool:
        honest = pool.submit(TASK, HONEST)
        writer, code = own("writes_sandbox")
        hostile = pool.submit(writer, code)
        assert honest.result().verdict == "pass", honest.result().feedback
        assert hostile.result().verdict in ("runtime_error", "cheat", "crash")
        assert pool.losses


def test_no_walls_is_refused_unless_allowed():
    hide = ("bwrap", "landlock")
    with (
        SandboxPool(Options(hide=hide, unisolated=False), workers=1) as pool,
        pytest.raises(UserError, match="bubblewrap"),
    ):
        pool.submit(TASK, HONEST).result()
    assert isolation.require(True, frozenset(hide)).enough is False


def test_without_the_ascend_compiler_correctness_is_still_judged():
    with SandboxPool(Options(hide=("bishengir",), profile="off", timeout=60.0), workers=1) as pool:
        result = pool.submit(TASK, HONEST).result()
        assert result.verdict == "pass", result.feedback
        assert result.details["executor"] == "interpreter"
        assert "not compiled for Ascend" in result.details["losses"][0]


def verify_command(tmp_path, *options, **environment):
    """`atrl verify` as a user runs it: (exit code, verdict as JSON, what it said on stderr)."""
    for name, text in (("task.py", TASK.source), ("kernel.py", HONEST)):
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "atrl_ms.cli", "verify", "task.py", "kernel.py", "--json", "-", *options]
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    run = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    return run.returncode, json.loads(run.stdout), run.stderr


def test_path_without_bubblewrap_says_what_is_lost_and_judges(tmp_path):
    if not isolation.probe(hide=frozenset({"bwrap"})).enough:
        pytest.skip("this machine offers no second way to isolate")
    (tmp_path / "bin").mkdir()
    code, result, said = verify_command(tmp_path, PATH=str(tmp_path / "bin"))
    assert (code, result["verdict"], result["details"]["isolation"]) == (0, "pass", "landlock")
    assert "bubblewrap is missing" in said and "install it" in said
    assert result["details"]["executor"] == "native"


def test_compiler_release_that_is_not_installed_says_what_is_lost_and_judges(tmp_path):
    """An empty cache directory holds no releases side by side."""
    cache = str(tmp_path / "cache")
    code, result, said = verify_command(tmp_path, "--cann", "ascendnpu-ir-1.0.0", "--timeout", "90", ATRL_CACHE=cache)
    assert (code, result["verdict"], result["details"]["executor"]) == (0, "pass", "interpreter")
    assert "not compiled for Ascend" in said and "pip install" in said
    assert result["speedup"] is None


def test_npu_that_is_not_there_is_refused_in_one_line():
    if not missing():
        pytest.skip("this machine has an NPU")
    with SandboxPool(Options(device="npu"), workers=1) as pool, pytest.raises(UserError, match="--device npu: "):
        pool.submit(TASK, HONEST).result()


def test_dead_worker_is_replaced_and_its_job_retried(pool):
    pool.start()
    before = pool.restarts
    pids = _descendants(os.getpid())
    worker = next(p for p in pids if b"sandbox.worker" in Path(f"/proc/{p}/cmdline").read_bytes())
    job = pool.submit(TASK, HONEST + "# retried\n")
    os.kill(worker, 9)
    assert job.result().verdict == "pass"
    assert pool.restarts == before + 1


def test_bad_task_is_the_users_mistake(pool):
    with pytest.raises(UserError, match="Model"):
        pool.submit(Task("empty", "x = 1\n"), HONEST).result()


def test_async_interface_and_admission(pool):
    async def both():
        return await asyncio.gather(pool.verify(TASK, HONEST), pool.verify(TASK, "def ("))

    good, bad = asyncio.run(both())
    assert good.verdict == "pass" and bad.verdict == "static_error"
    assert pool.check(TASK).result() == []
    degenerate = RELU_TASK.replace("torch.relu(x)", "torch.clamp(x, -1e9, 1e9)")
    assert "identity" in pool.check(Task("rand", degenerate)).result()[0]
    constant = RELU_TASK.replace("torch.relu(x)", "x.sum() * 0 + torch.zeros(3, 4)")
    assert any("zeros" in p for p in pool.check(Task("zero", constant)).result())


def test_closed_pool_leaves_no_process():
    before = set(_descendants(os.getpid()))
    pool = SandboxPool(Options(profile="off"), workers=1)
    pool.start()
    started = set(_descendants(os.getpid())) - before
    assert len(started) >= 2  # worker and zygote
    running = pool.submit(*own("endless_forward"))
    time.sleep(1.0)
    pool.close()
    assert running.done()
    deadline = time.monotonic() + 10.0
    while any(os.path.exists(f"/proc/{p}") for p in started) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not [p for p in started if os.path.exists(f"/proc/{p}")]
    with pytest.raises(RuntimeError):
        pool.submit(TASK, HONEST + "# late")


def test_parent_imports_neither_torch_nor_triton():
    code = (
        "import sandbox.pool, sandbox.client, sys; sys.exit(bool({'torch', 'triton', 'mindspore'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def _descendants(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            if parent == pid:
                found += [int(entry.name), *_descendants(int(entry.name))]
    return found
