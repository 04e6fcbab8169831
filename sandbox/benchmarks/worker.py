"""A process that fits entries one at a time, each in a fork with its own limits of memory and time.

`python -m sandbox.benchmarks.worker` reads requests as lines of JSON and answers each with one.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import warnings

import torch

from sandbox.benchmarks.entry import Entry
from sandbox.benchmarks.fit import FitLimits, bare, fit
from sandbox.isolation import die_with_parent
from sandbox.profile import aten_trace
from sandbox.tensors import skip_dynamo

SECONDS = 900.0  # of a fork that only waits; computing is limited by FitLimits.seconds, whatever else the machine does
MEMORY = 6 << 30  # address space of a fork


def main() -> None:
    """Serve until the input ends, or whoever asks is gone."""
    die_with_parent()
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a task prints must not be taken for an answer
    warm_up()
    for line in sys.stdin:
        request = json.loads(line)
        entry = Entry.from_json(request["entry"])
        answer = in_fork(entry, FitLimits(**request["limits"]))
        out.write(json.dumps(answer.to_json()) + "\n")
        out.flush()


def warm_up() -> None:
    """Import what torch imports on first use, seconds in all, before forks would each do it again."""
    skip_dynamo()
    with torch.device("meta"):
        logits = torch.nn.Linear(8, 8)(torch.rand(4, 8))
        torch.nn.functional.cross_entropy(logits, torch.zeros(4, dtype=torch.int64))
    aten_trace.trace(lambda: torch.zeros(4) + 1)


def in_fork(entry: Entry, limits: FitLimits) -> Entry:
    """Fit in a child: its memory comes back, and its death is an answer."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        child(entry, limits, writing)
    os.close(writing)
    data = b""
    timed_out = False
    with os.fdopen(reading, "rb") as stream:
        while True:
            if not select.select([stream], [], [], SECONDS)[0]:
                timed_out = True
                os.kill(pid, signal.SIGKILL)
                break
            piece = stream.read1(1 << 20)
            if not piece:
                break
            data += piece
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if timed_out:
        return bare(entry).excluded(f"the reference was not ready after {SECONDS:.0f} s")
    try:
        return Entry.from_json(json.loads(data))
    except ValueError:
        if code == -signal.SIGXCPU:
            return bare(entry).excluded(f"it was not ready after {limits.seconds} s of computing")
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return bare(entry).excluded(f"the reference ended its process ({how}): out of memory or a crash")


def child(entry: Entry, limits: FitLimits, writing: int) -> None:
    """Fit under the limits, write the answer, leave."""
    code = 1
    try:
        os.setsid()
        die_with_parent()
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        warnings.simplefilter("ignore")
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (limits.seconds, limits.seconds + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            answer = fit(entry, limits)
        except Exception as error:  # the reference is the benchmark's: whatever it raises is a reason, not a crash
            answer = bare(entry).excluded(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
        with os.fdopen(writing, "wb") as stream:
            stream.write(json.dumps(answer.to_json()).encode())
        code = 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
