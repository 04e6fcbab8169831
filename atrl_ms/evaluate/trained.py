"""The session that a checkpoint was trained in: a small policy knows no other window, budgets and texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from atrl_ms.config import Config, load_config, validate
from atrl_ms.errors import UserError


def trained_agent(directory: Path) -> dict[str, Any]:
    """The agent section that a checkpoint was trained with (agent.yaml, or its run's config.yaml); empty if unknown.

    Raises:
        UserError: no such directory.
    """
    if not directory.is_dir():
        raise UserError(f"{directory}: no such checkpoint; give a directory or an http:// address with --model")
    own = directory / "agent.yaml"
    if own.is_file():
        return yaml.safe_load(own.read_text()) or {}
    for parent in list(directory.resolve().parents)[:3]:
        if (parent / "config.yaml").is_file():
            return load_config(parent / "config.yaml").agent.model_dump()
    return {}


def as_trained(config: Config) -> Config:
    """The configuration with every agent key that it does not set taken from the checkpoint's own."""
    data = config.model_dump()
    given = config.agent.model_dump(exclude_unset=True) if "agent" in config.model_fields_set else {}
    data["agent"] = {**trained_agent(config.policy.directory), **given}
    return validate(data, config.policy.checkpoint)
