"""Runs the probes of the knowledge base through the real Ascend compiler, in a process of its own.

A fact is confirmed if every probe comes out as it says, refuted if one does not, untestable without probes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atrl_ms.errors import UserError
from kb.index import CHECKED, Fact, Probe, Status


@dataclass(frozen=True)
class Outcome:
    """What became of one fact: `reasons` says of every probe that failed why."""

    fact: Fact
    status: Status
    reasons: tuple[str, ...] = ()


def judge_probe(probe: Probe, answer: dict[str, Any]) -> str:
    """ "" if the compiler's answer is what the probe expects, else the difference in one line."""
    if probe.expect == "error":
        if answer["ok"]:
            return "it compiles, an error was expected"
        return "" if re.search(probe.match, answer["error"]) else f"another error: {answer['error'][:200]}"
    if not answer["ok"]:
        return f"{answer['stage']}: {answer['error'][:200]}"
    kernel = kernel_body(answer["hivm"])
    for pattern, text, wanted in (
        (probe.has, kernel, True),
        (probe.lacks, kernel, False),
        (probe.module, answer["hivm"], True),
    ):
        if pattern and bool(re.search(pattern, text)) != wanted:
            return f"the compiled kernel {'lacks' if wanted else 'has'} '{pattern}'"
    return ""


def kernel_body(hivm: str) -> str:
    """The module from its first device function on; what stands before are declarations of everything it may call."""
    marks = [m.start() for m in re.finditer(r"^  func\.func @(?!\w*infer_\w+function)", hivm, re.MULTILINE)]
    return hivm[marks[0] :] if marks else hivm


def run_probes(
    facts: Sequence[Fact], *, cann: str = "9.0.0", progress: Callable[[int, int], object] | None = None
) -> tuple[list[Outcome], str]:
    """The outcome of every fact and the versions of the tools that decided.

    Args:
        progress: called with (probes done, probes in all).

    Raises:
        UserError: the compiler is not installed, or the probe process died.
    """
    jobs = [(fact, probe) for fact in facts for probe in fact.probes]
    command = [sys.executable, "-m", "sandbox.probe"]
    failures: dict[str, list[str]] = {fact.id: [] for fact in facts}
    version = ""
    with (
        tempfile.TemporaryFile("w+") as errors,  # a pipe that nobody reads would fill and stop the process
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=Path(__file__).parents[1],
        ) as process,
    ):
        assert process.stdin and process.stdout
        for done, (fact, probe) in enumerate(jobs, 1):
            question = {"source": fact.kernels[probe.block], "cann": cann}
            question |= probe.model_dump(include={"args", "options", "arch"})
            try:
                process.stdin.write(json.dumps(question) + "\n")
                process.stdin.flush()
                line = process.stdout.readline()
            except BrokenPipeError:
                line = ""
            if not line:
                process.wait()
                errors.seek(0)
                reason = (errors.read().strip().splitlines() or ["no message"])[-1]
                raise UserError(f"the probe process ended at fact '{fact.id}': {reason}")
            answer = json.loads(line)
            version = answer["version"]
            difference = judge_probe(probe, answer)
            if difference:
                failures[fact.id].append(f"kernel {probe.block}, {probe.args}: {difference}")
            if progress:
                progress(done, len(jobs))
        process.stdin.close()
    outcomes = []
    for fact in facts:
        status: Status = "untestable" if not fact.probes else "refuted" if failures[fact.id] else "confirmed"
        outcomes.append(Outcome(fact, status, tuple(failures[fact.id])))
    return outcomes, version


def save(outcomes: Sequence[Outcome], version: str, directory: Path) -> None:
    """Write what was found beside the facts."""
    status = {outcome.fact.id: outcome.status for outcome in outcomes if outcome.fact.probes}
    (directory / CHECKED).write_text(json.dumps({"tool": version, "status": status}, indent=1) + "\n")
