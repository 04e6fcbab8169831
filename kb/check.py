"""Runs the probes of the knowledge base through the real Ascend compiler, in a process of its own.

A fact is confirmed if every probe comes out as it says, refuted if one does not, unchecked if the compiler did not
finish in time, untestable without probes. What was found is kept in checked.json beside the facts, with a digest of the
fact's probes: a fact that changes is unchecked again.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atrl_ms.errors import UserError
from kb.index import CHECKED, Fact, Probe, Status


@dataclass(frozen=True)
class Outcome:
    """What became of one fact: `reasons` says of every probe that failed why; `tool` names who decided."""

    fact: Fact
    status: Status
    reasons: tuple[str, ...] = ()
    tool: str = ""


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


class Compiler:
    """The probe process: a question in, an answer out."""

    def __init__(self, process: subprocess.Popen[str], errors: Any, cann: str) -> None:
        self.process, self.errors, self.cann = process, errors, cann

    def ask(self, fact: Fact, probe: Probe) -> dict[str, Any]:
        """The compiler's answer to one probe.

        Raises:
            UserError: the process died, for example because the compiler is not installed.
        """
        assert self.process.stdin and self.process.stdout
        question = {"source": fact.kernels[probe.block], "cann": self.cann}
        question |= probe.model_dump(include={"args", "options", "arch"})
        try:
            self.process.stdin.write(json.dumps(question) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if line:
            return json.loads(line)
        self.process.wait()
        self.errors.seek(0)
        reason = (self.errors.read().strip().splitlines() or ["no message"])[-1]
        raise UserError(f"the probe process ended at fact '{fact.id}': {reason}")


@contextmanager
def compiler(cann: str) -> Iterator[Compiler]:
    """A running probe process."""
    command = [sys.executable, "-m", "sandbox.probe"]
    root = Path(__file__).parents[1]
    # Errors go to a file: a pipe that nobody reads would fill and stop the process.
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=root
        )
        try:
            yield Compiler(process, errors, cann)
        finally:
            process.kill()
            process.communicate()


def run_probes(facts: Iterable[Fact], *, cann: str = "9.0.0") -> Iterator[Outcome]:
    """The outcome of each fact as it is found.

    Raises:
        UserError: the compiler is not installed, or the probe process died.
    """
    with compiler(cann) as process:
        for fact in facts:
            reasons, tool, undecided = [], "", False
            for probe in fact.probes:
                answer = process.ask(fact, probe)
                tool = answer["version"]
                if "took longer than" in answer["error"]:  # the machine's fault as likely as the kernel's
                    undecided = True
                    continue
                difference = judge_probe(probe, answer)
                if difference:
                    reasons.append(f"kernel {probe.block}, {probe.args}: {difference}")
            status: Status = "refuted" if reasons else "unchecked" if undecided else "confirmed"
            if not fact.probes:
                status = "untestable"
            yield Outcome(fact, status, tuple(reasons), tool)


def record(outcomes: Sequence[Outcome], facts: Sequence[Fact], directory: Path) -> None:
    """Write `outcomes` beside the facts; what is known of other facts that did not change stays.

    Args:
        facts: all facts of the directory; records of facts that are no longer there are dropped.
    """
    known = {
        fact.id: {"digest": fact.probe_digest, "status": fact.status, "tool": fact.tool}
        for fact in facts
        if fact.status in ("confirmed", "refuted")
    }
    known |= {
        outcome.fact.id: {"digest": outcome.fact.probe_digest, "status": outcome.status, "tool": outcome.tool}
        for outcome in outcomes
        if outcome.status in ("confirmed", "refuted")
    }
    temporary = directory / (CHECKED + ".tmp")
    temporary.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n")
    os.replace(temporary, directory / CHECKED)
