"""Reads the knowledge base: facts in Markdown, several per file, each under its own front matter.

---
id: grid-limit
title: A grid has at most 65,535 programs
classes: [all]            operator classes it applies to
stages: [write]           when it helps: write, or the verdict of the last evaluation
---
Text in Markdown. A fenced block with the info string "python probe" is the fact's probe.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from atrl_ms.errors import UserError

FACTS = Path(__file__).parent / "facts"
CHECKED = "checked.json"

Status = Literal["confirmed", "refuted", "unchecked", "untestable"]

OperatorClass = Literal[
    "all", "elementwise", "reduction", "softmax", "norm", "matmul", "attention", "gather", "transpose", "halves",
    "broadcast", "loss", "sort", "scan", "atomic", "conv", "pooling", "interpolate",
]  # fmt: skip
Stage = Literal[
    "write", "static_error", "compile_error", "runtime_error", "wrong_output", "timeout", "crash", "cheat", "pass"
]  # fmt: skip


class Probe(BaseModel):
    """A question to the compiler: a kernel, the arguments of its launch, and what must come of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    expect: Literal["compiles", "error"]
    args: dict[str, Any] = {}  # "*fp32" stands for a tensor; see sandbox/probe.py
    options: dict[str, Any] = {}
    arch: str = "Ascend910B4"
    block: int = 0  # which of the fact's kernels
    match: str = ""  # regular expression that the error line contains
    has: str = ""  # regular expression that the compiled kernel contains
    lacks: str = ""  # regular expression that the compiled kernel does not contain
    module: str = ""  # regular expression that the compiled module, device description included, contains


class Fact(BaseModel):
    """One entry of the knowledge base."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    title: str
    classes: tuple[OperatorClass, ...]
    stages: tuple[Stage, ...]
    devices: tuple[str, ...] = ("all",)
    header: str = ""  # the line that goes into a prompt; most facts have none and are read by id
    rank: int = 100  # order of header lines of equal fit, small first
    errors: tuple[str, ...] = ()  # error texts (regular expressions) that this fact explains
    confidence: Literal["high", "medium", "low"] = "medium"
    source: str = ""
    probes: tuple[Probe, ...] = ()
    body: str = ""
    kernels: tuple[str, ...] = ()  # of the probes
    status: Status = "untestable"  # what the compiler said of the probes; unchecked if it has not been asked
    tool: str = ""  # tools and versions that said it

    @property
    def probe_digest(self) -> str:
        """Changes when a probe or its kernel changes."""
        content = [[probe.model_dump() for probe in self.probes], self.kernels]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    @model_validator(mode="after")
    def probes_have_kernels(self) -> Fact:
        for probe in self.probes:
            if probe.block >= len(self.kernels):
                raise ValueError(
                    f"probe of kernel {probe.block}, but there are {len(self.kernels)} python probe blocks"
                )
        patterns = [p for probe in self.probes for p in (probe.match, probe.has, probe.lacks, probe.module)]
        for pattern in (*patterns, *self.errors):
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"'{pattern}' is not a regular expression ({error})") from error
        return self


KERNEL = re.compile(r"^```python probe\n(.*?)^```\n?", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"^---\n(.*?)^---\n(.*?)(?=^---\n|\Z)", re.DOTALL | re.MULTILINE)


def read_file(path: Path) -> list[Fact]:
    """The facts of one Markdown file.

    Raises:
        UserError: front matter that is not YAML or does not fit `Fact`; the message names file and fact.
    """
    facts = []
    text = path.read_text(encoding="utf-8")
    if text.strip() and not BLOCK.match(text):
        raise UserError(f"{path}: the file must begin with front matter: a line ---, YAML, a line ---")
    for number, match in enumerate(BLOCK.finditer(text), 1):
        try:
            data = yaml.safe_load(match[1])
            kernels = tuple(KERNEL.findall(match[2] + "\n"))
            facts.append(Fact(**data, body=KERNEL.sub("", match[2] + "\n").strip(), kernels=kernels))
        except (yaml.YAMLError, TypeError) as error:
            reason = " ".join(str(error).split())
            raise UserError(f"{path}: front matter of fact {number} cannot be read: {reason}") from error
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            raise UserError(f"{path}: fact {number} ({data.get('id', 'no id')}): {key}: {first['msg']}") from error
    return facts


def load_facts(directory: Path = FACTS) -> list[Fact]:
    """All facts of a directory in file order; ids are unique.

    Raises:
        UserError: no facts there, a broken file, an id used twice.
    """
    facts = [fact for path in sorted(directory.glob("*.md")) for fact in read_file(path)]
    checked = directory / CHECKED
    known = json.loads(checked.read_text()) if checked.is_file() else {}
    for number, fact in enumerate(facts):
        if fact.probes:
            found = known.get(fact.id, {})
            valid = found.get("digest") == fact.probe_digest
            update = {"status": found["status"], "tool": found["tool"]} if valid else {"status": "unchecked"}
            facts[number] = fact.model_copy(update=update)
    if not facts:
        raise UserError(f"{directory}: no knowledge base here (no facts in *.md files)")
    seen: set[str] = set()
    for fact in facts:
        if fact.id in seen:
            raise UserError(f"{directory}: the fact id '{fact.id}' is used twice")
        seen.add(fact.id)
    return facts
