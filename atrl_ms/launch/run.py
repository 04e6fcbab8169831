"""Carries out a launch plan: the processes of this node, until they end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from atrl_ms.launch.plan import LaunchPlan

SCHEDULER_SECONDS = 60.0  # for the scheduler to end after its workers


def run_plan(plan: LaunchPlan, arguments: list[str]) -> int:
    """Run `atrl ARGUMENTS` as the plan says; the exit code of this node."""
    env = {**os.environ, **plan.environment}
    # msrun starts "python": it must be this one
    env["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), env.get("PATH", "")])
    root = str(Path(__file__).resolve().parents[2])
    env["PYTHONPATH"] = os.pathsep.join(part for part in (root, env.get("PYTHONPATH", "")) if part)
    command = plan.command(sys.executable, arguments)
    scheduler = None
    if plan.mode == "worker" and plan.rank == 0:
        scheduler = subprocess.Popen(command, env={**env, "MS_ROLE": "MS_SCHED"}, stdin=subprocess.DEVNULL)
    code = subprocess.call(command, env=env)
    if scheduler is not None:
        try:
            scheduler.wait(SCHEDULER_SECONDS)
        except subprocess.TimeoutExpired:
            scheduler.kill()
            scheduler.wait()
    return code
