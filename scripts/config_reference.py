"""Prints docs/configuration.md, made from the classes of atrl_ms/config.py; `--write` writes it."""

from __future__ import annotations

import inspect
import sys
import types
import typing
from pathlib import Path
from typing import Any, Literal

import annotated_types
from pydantic.fields import FieldInfo

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from atrl_ms.config import Config, Section  # noqa: E402

PAGE = ROOT / "docs" / "configuration.md"
HEAD = """# Configuration

Every command that takes a YAML file takes this one configuration; sections and keys that are not given have the
defaults below. Unknown keys and values out of range are refused with one line that names the key.
`--set section.key=value` overrides a key on the command line; a run directory holds the resolved file.
Examples: `configs/`.

This page is made from `atrl_ms/config.py` by `python scripts/config_reference.py --write`.
"""
BOUNDS = (
    (annotated_types.Ge, "ge", ">="),
    (annotated_types.Gt, "gt", ">"),
    (annotated_types.Le, "le", "<="),
    (annotated_types.Lt, "lt", "<"),
)


def kind(annotation: Any, field: FieldInfo) -> str:
    """What a value may be: its choices, or its type with bounds."""
    if typing.get_origin(annotation) is Literal:
        return ", ".join(f"`{choice}`" for choice in typing.get_args(annotation))
    if typing.get_origin(annotation) is list:
        item = typing.get_args(annotation)[0]
        return f"list of {kind(item, field)}"
    if typing.get_origin(annotation) is types.UnionType:
        return " or ".join("none" if part is type(None) else part.__name__ for part in typing.get_args(annotation))
    found = [(sign, getattr(m, name)) for m in field.metadata for cls, name, sign in BOUNDS if isinstance(m, cls)]
    bounds = [f"{sign} {value:g}" for sign, value in found]
    return " ".join([annotation.__name__, ", ".join(bounds)]).strip()


def default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if value == "":
        return "empty"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def table(fields: dict[str, FieldInfo], prefix: str) -> str:
    """One row per key that is not a section."""
    rows = [
        f"| `{prefix}{name}` | {kind(field.annotation, field)} | {default(field)} | {field.description} |"
        for name, field in fields.items()
        if not is_section(field)
    ]
    return "\n".join(["| key | value | default | meaning |", "|---|---|---|---|", *rows])


def is_section(field: FieldInfo) -> bool:
    return inspect.isclass(field.annotation) and issubclass(field.annotation, Section)


def page() -> str:
    """The whole page."""
    fields = Config.model_fields
    parts = [HEAD, f"## Of the whole run\n\n{table(fields, '')}\n"]
    for name, field in fields.items():
        if is_section(field):
            section = typing.cast(type[Section], field.annotation)
            text = (inspect.getdoc(section) or "").replace("\n", " ")
            parts.append(f"## `{name}`\n\n{text}\n\n{table(section.model_fields, name + '.')}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(page(), end="")
