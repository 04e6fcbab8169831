#!/usr/bin/env bash
# Environment (if missing) and all checks: lint, types, import rules, tests.
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/setup.sh dev,mindformers,reasoning,real_model
export OMP_NUM_THREADS=1
.venv/bin/ruff check .
.venv/bin/mypy
.venv/bin/lint-imports
.venv/bin/python -m pytest -n 2 --dist loadfile "$@"
