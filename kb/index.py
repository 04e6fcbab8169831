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

import re
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from atrl_ms.errors import UserError

FACTS = Path(__file__).parent / "facts"

OperatorClass = Literal[
    "all", "elementwise", "reduction", "softmax", "norm", "matmul", "attention", "gather", "transpose", "halves",
    "broadcast", "loss", "sort", "scan", "atomic", "conv", "pooling", "interpolate",
]  # fmt: skip
Stage = Literal[
    "write", "static_error", "compile_error", "runtime_error", "wrong_output", "timeout", "crash", "cheat", "pass"
]  # fmt: skip


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
    tool: str = ""  # tool and version that the fact was established with
    source: str = ""
    body: str = ""


BLOCK = re.compile(r"^---\n(.*?)^---\n(.*?)(?=^---\n|\Z)", re.DOTALL | re.MULTILINE)


def read_file(path: Path) -> list[Fact]:
    """The facts of one Markdown file.

    Raises:
        UserError: front matter that is not YAML or does not fit `Fact`; the message names file and fact.
    """
    facts = []
    for number, match in enumerate(BLOCK.finditer(path.read_text(encoding="utf-8")), 1):
        try:
            data = yaml.safe_load(match[1])
            facts.append(Fact(**data, body=match[2].strip()))
        except (yaml.YAMLError, TypeError) as error:
            reason = " ".join(str(error).split())
            raise UserError(f"{path}: front matter of fact {number} is not valid YAML: {reason}") from error
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
    if not facts:
        raise UserError(f"{directory}: no knowledge base here (no facts in *.md files)")
    seen: set[str] = set()
    for fact in facts:
        if fact.id in seen:
            raise UserError(f"{directory}: the fact id '{fact.id}' is used twice")
        seen.add(fact.id)
    return facts
