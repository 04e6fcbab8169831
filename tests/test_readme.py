"""The README's tree names every file of the rooms with its phrase, and its commands exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from atrl_ms.cli import COMMANDS

ROOT = Path(__file__).resolve().parent.parent


def test_tree_is_up_to_date():
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: the tree is made of tracked files")
    shown = subprocess.run(
        [sys.executable, "scripts/readme_tree.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert shown in (ROOT / "README.md").read_text(), "run: python scripts/readme_tree.py --write"


def test_every_documented_command_and_file_exists():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = page.read_text()
        for name in re.findall(r"^\s*(?:\.venv/bin/)?atrl (\w+)", text, re.MULTILINE):
            assert name in COMMANDS, f"{page.name}: atrl {name}"
        for path in re.findall(r"\b((?:configs|scripts|docs)/[\w/]+\.(?:yaml|py|sh|md))\b", text):
            assert (ROOT / path).exists(), f"{page.name}: {path}"


def test_every_command_has_a_help_text():
    for name in COMMANDS:
        command = [sys.executable, "-m", "atrl_ms.cli", name, "--help"]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert run.returncode == 0, f"{name}: {run.stderr[-300:]}"
