"""The rules between the rooms hold (pyproject.toml, import-linter)."""

import subprocess
import sys
from pathlib import Path


def test_rooms_import_only_what_they_may():
    linter = Path(sys.executable).with_name("lint-imports")
    run = subprocess.run([str(linter)], cwd=Path(__file__).resolve().parent.parent, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-500:]
