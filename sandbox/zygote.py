"""A process that imports torch and triton once, inside the walls, and forks for every evaluation.

`python -m sandbox.zygote FD` serves the control socket FD; `Zygote` is the trusted end of it. The zygote itself never
runs a candidate: a fork of it does, behind the inner walls of `sandbox.isolation`, and talks to the worker over a
socket of its own. What ends an evaluation is the death of its first process.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pickle
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sandbox import isolation, wire
from sandbox.isolation import Limits, Walls

# What a fork may do: module and whether it may start processes (compilers) before it runs anything of the candidate.
ROLES = {
    "record": ("sandbox.recorder", False),
    "device": ("sandbox.device", True),
    "interpret": ("sandbox.execute.interpreter", False),
    "eager": ("sandbox.profile.measured", True),
}
REPLY_LIMIT = 512 << 20


@dataclass
class Outcome:
    """How an evaluation process ended. `reply` is None when no valid message arrived: never a success."""

    reply: dict[str, Any] | None
    blocks: list[memoryview] = field(default_factory=list)
    timed_out: bool = False
    signal: int = 0
    exit_code: int = 0
    seconds: float = 0.0


class ZygoteDied(Exception):
    """The zygote itself is gone: an infrastructure fault, never the kernel's."""


class Zygote:
    """The trusted end: starts the isolated process, hands it jobs, collects what they send."""

    def __init__(self, walls: Walls, *, cache: str, interpret: bool = False, npu: bool = False) -> None:
        """`cache` is the directory of compiled kernels; only the compile stage of a device job may write to it."""
        here = Path(__file__).resolve().parent
        self.scratch = tempfile.mkdtemp(prefix="atrl-scratch-") if walls.bwrap is None else isolation.SCRATCH
        self._own_scratch = walls.bwrap is None
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        config = json.dumps({"walls": asdict(walls), "scratch": self.scratch, "cache": cache, "interpret": interpret})
        command = [sys.executable, "-m", "sandbox.zygote", str(theirs.fileno()), config]
        command = isolation.wrap(command, walls, writable=[cache], hidden=[str(here / "tasks")], npu=npu)
        keep = ("PATH", "LD_LIBRARY_PATH", "ASCEND_HOME_PATH", "ASCEND_RT_VISIBLE_DEVICES", "LANG")
        env = {k: os.environ[k] for k in keep if k in os.environ}
        env |= {
            "PYTHONPATH": str(here.parent),
            "HOME": self.scratch,
            "TMPDIR": self.scratch,
            "OMP_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
            "PYTHONHASHSEED": "0",
            "TRITON_CACHE_DIR": f"{self.scratch}/triton",
            "ATRL_CACHE": cache,
        }
        if interpret:
            env["TRITON_INTERPRET"] = "1"
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
        self.process = subprocess.Popen(
            command,
            pass_fds=[theirs.fileno()],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
            cwd=self.scratch if self._own_scratch else "/",  # bubblewrap changes to its own
        )
        theirs.close()

    def wait_ready(self, seconds: float = 500.0) -> None:
        """Block until torch and triton are imported.

        Raises:
            ZygoteDied: it ended instead; the message carries the end of its error output.
        """
        self.control.settimeout(seconds)
        try:
            if self.control.recv(64) == b"ready":
                return
        except OSError:
            pass
        self._log.seek(0)
        raise ZygoteDied(f"the sandbox process did not start: {self._log.read().decode(errors='replace')[-600:]}")

    def run(self, role: str, request: dict[str, Any], limits: Limits) -> Outcome:
        """Run one job to its end.

        Raises:
            ZygoteDied: no answer from the zygote.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        begin = time.monotonic()
        nonce = os.urandom(16).hex()
        outcome = Outcome(None)
        try:
            job = json.dumps({"role": role, "limits": asdict(limits)}).encode()
            socket.send_fds(self.control, [job], [theirs.fileno()])
            theirs.close()
            # The wall clock is enforced by the zygote; this deadline only guards against a zygote that hangs.
            deadline = begin + limits.seconds + 30.0
            try:
                payload = pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL)
                ours.settimeout(limits.seconds + 30.0)
                wire.send(ours, {"nonce": nonce}, [payload])
                reply, blocks = wire.receive(ours, deadline=deadline, limit=REPLY_LIMIT)
                if reply.pop("nonce", None) == nonce:
                    outcome.reply, outcome.blocks = reply, blocks
            except (wire.WireError, OSError):
                pass
            ours.close()
            self.control.settimeout(max(1.0, deadline - time.monotonic()))
            end = json.loads(self.control.recv(4096))
        except (OSError, ValueError) as error:
            raise ZygoteDied(f"the sandbox process stopped answering ({type(error).__name__})") from error
        finally:
            ours.close()
            theirs.close()
        outcome.timed_out, outcome.signal, outcome.exit_code = end["timed_out"], end["signal"], end["exit_code"]
        outcome.seconds = time.monotonic() - begin
        return outcome

    def close(self) -> None:
        """End the zygote and everything below it."""
        self.control.close()
        for step in (self.process.terminate, self.process.kill):
            try:
                self.process.wait(2.0)
                break
            except subprocess.TimeoutExpired:
                step()
        self.process.wait()
        self._log.close()
        if self._own_scratch:
            shutil.rmtree(self.scratch, ignore_errors=True)


# ---------------------------------------------------------------- inside the walls


def _serve(control: socket.socket, config: dict[str, Any]) -> None:
    walls = Walls(**config["walls"])
    control.send(b"ready")
    while True:
        data, fds, _, _ = socket.recv_fds(control, 65536, 1)
        if not data:
            return
        job = json.loads(data)
        limits = Limits(**job["limits"])
        job_socket = socket.socket(fileno=fds[0])
        pid = os.fork()
        if pid == 0:
            control.close()
            _guard(job_socket, job["role"], limits, walls, config)
        job_socket.close()
        timed_out, status = _wait(pid, limits.seconds + 5.0, control)
        _empty(config["scratch"])
        code = os.waitstatus_to_exitcode(status)
        # The guard passes on how its child ended: 0-63 exit code, 64 + n for signal n, 200 for the wall clock.
        timed_out = timed_out or code == 200
        sig = code - 64 if 64 < code < 200 else (-code if code < 0 and not timed_out else 0)
        end = {"timed_out": timed_out, "signal": sig, "exit_code": code if 0 <= code < 64 else 0}
        control.send(json.dumps(end).encode())


def _wait(pid: int, seconds: float, control: socket.socket | None = None) -> tuple[bool, int]:
    """Wait for a child; kill it when its time is up. Returns (killed, wait status)."""
    fd = os.pidfd_open(pid)
    try:
        ready = select.select([fd], [], [], seconds)[0]
        if not ready:
            os.kill(pid, signal.SIGKILL)
        return not ready, os.waitpid(pid, 0)[1]
    finally:
        os.close(fd)


def _guard(job_socket: socket.socket, role: str, limits: Limits, walls: Walls, config: dict[str, Any]) -> None:
    """The parent of one evaluation: makes its namespaces, waits, kills. Runs nothing of the candidate."""
    code = 63
    try:
        isolation.die_with_parent()
        os.setsid()  # a signal to the candidate's process group must reach neither the guard nor the zygote
        if walls.namespaces:
            isolation.new_namespaces()
        pid = os.fork()
        if pid == 0:
            _evaluate(job_socket, role, limits, walls, config)
        job_socket.close()
        killed, status = _wait(pid, limits.seconds)
        raw = os.waitstatus_to_exitcode(status)
        code = 200 if killed else (64 - raw if raw < 0 else min(raw, 62))
    except BaseException as error:
        sys.stderr.write(f"guard: {error!r}\n")
    finally:
        os._exit(code)


def _evaluate(job_socket: socket.socket, role: str, limits: Limits, walls: Walls, config: dict[str, Any]) -> None:
    """Process 1 of the evaluation: take the inner walls, run the role, send its answer, leave."""
    nonce = None
    try:
        isolation.die_with_parent()
        os.setsid()
        module, may_spawn = ROLES[role]
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        if walls.namespaces:
            isolation.mount_scratch(config["scratch"], limits.scratch)
            if not may_spawn:
                isolation.mount_scratch(config["cache"], 4096)
        os.chdir(config["scratch"])
        os.environ["TRITON_CACHE_DIR"] = f"{config['scratch']}/triton"
        if walls.landlock and (walls.bwrap is None or not walls.namespaces):
            writable = [config["scratch"], "/dev/null"] + ([config["cache"]] if may_spawn else [])
            readable = [*isolation.readable_paths(), "/proc", "/dev"] if walls.bwrap is None else None
            isolation.forbid_writes(writable, readable)
        isolation.apply_limits(limits)
        if walls.seccomp:
            isolation.filter_system_calls(allow_processes=may_spawn, allow_signals=may_spawn or walls.namespaces)
        head, blocks = wire.receive(job_socket)
        request = pickle.loads(blocks[0])  # from the trusted worker
        nonce = head["nonce"]
        reply, data = importlib.import_module(module).run(request)
        wire.send(job_socket, {**reply, "nonce": nonce}, data)
        os._exit(0)
    except BaseException as error:
        message = f"{type(error).__name__}: {error}"
        try:
            wire.send(job_socket, {"broken": message[:500], "nonce": nonce})
        finally:
            os._exit(62)


def _empty(directory: str) -> None:
    """Remove what an evaluation left in the scratch directory (only possible where it could not have its own)."""
    for entry in os.scandir(directory):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                os.unlink(entry.path)


def main() -> None:
    """Entry point of the isolated process."""
    control = socket.socket(fileno=int(sys.argv[1]))
    config = json.loads(sys.argv[2])
    importlib.import_module("sandbox.tensors").skip_dynamo()
    for role in ("interpret",) if config["interpret"] else ("record", "device"):
        importlib.import_module(ROLES[role][0]).warm_up()
    _serve(control, config)


if __name__ == "__main__":
    main()
