#!/usr/bin/env bash
# The main job on a fresh machine: environment, then train the embedded policy with ATRL and compare before and after.
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/setup.sh
exec .venv/bin/atrl train configs/quickstart.yaml "$@"
