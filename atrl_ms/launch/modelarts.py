"""The boot file of a ModelArts job, for a custom image and for the preset Ascend engine in both of its run methods.

    python scripts/modelarts/boot.py --config configs/... [--data_url URL] [--train_url URL] [--set KEY=VALUE ...]

`--data_url`: a directory in which relative `policy.checkpoint` and `tasks.root` are looked up first. `--train_url`: the
output directory. A run of the same name that is there and not finished is continued: a job that the platform restarts
loses the step in flight. Arguments that nobody here knows are the platform's and are ignored.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

from atrl_ms.config import Config, load_config
from atrl_ms.errors import UserError
from atrl_ms.launch.machine import this_machine
from atrl_ms.launch.plan import PORT, LaunchPlan, Request, make_launch_plan
from atrl_ms.launch.run import run_plan
from atrl_ms.launch.storage import Mirror, fetch, is_remote
from atrl_ms.train.checkpoint import latest

CACHE = "/cache"  # the local disk of a ModelArts node


def parse(argv: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Our arguments, and the platform's, which nobody reads."""
    parser = argparse.ArgumentParser(prog="boot.py", description="Train on ModelArts.", allow_abbrev=False)
    parser.add_argument("--config", default="configs/quickstart.yaml")
    parser.add_argument("--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE")
    parser.add_argument("--data_url", default="")
    parser.add_argument("--train_url", default="")
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--dry-run", action="store_true")
    return parser.parse_known_args(argv)


def main(argv: list[str], environment: Mapping[str, str] = os.environ) -> int:
    """Exit code of this node's processes, 2 for a mistake."""
    args, ignored = parse(argv)
    try:
        if ignored:
            print(f"ignored arguments of the platform: {' '.join(ignored)}")
        cache = Path(environment.get("ATRL_CACHE") or (CACHE if os.access(CACHE, os.W_OK) else "/tmp")) / "atrl"
        plan = make_launch_plan(environment, this_machine(environment), Request(port=args.port))
        print(plan.text(), flush=True)
        output = Path(args.train_url or "runs") if not is_remote(args.train_url) else cache / "runs"
        scheduler = environment.get("MS_ROLE") == "MS_SCHED"
        data = fetch(args.data_url, cache / "data") if args.data_url and not scheduler else None
        arguments = train_arguments(args.config, args.set, data, output, args.train_url, plan, environment)
        if args.dry_run:
            print("atrl", *arguments)
            return 0
        mirrored = is_remote(args.train_url) and leads(plan, environment)
        with Mirror(output, args.train_url).running() if mirrored else nullcontext():
            return run_plan(plan, arguments)
    except UserError as error:
        print(f"boot.py: {error}", flush=True)
        return 2


def train_arguments(
    config_file: str,
    overrides: list[str],
    data: Path | None,
    output: Path,
    train_url: str,
    plan: LaunchPlan,
    environment: Mapping[str, str],
) -> list[str]:
    """Arguments of `atrl` for this job: train, with paths of the platform, or resume."""
    config = load_config(config_file, overrides)
    paths = [f"output_dir={output}"]
    if data is not None:
        for key, value in (("policy.checkpoint", config.policy.checkpoint), ("tasks.root", config.tasks.root)):
            if value and (data / value).exists():
                paths.append(f"{key}={data / value}")
    if leads(plan, environment):
        if is_remote(train_url):
            fetch(train_url, output, missing_ok=True)
        unfinished = unfinished_run(config, output)
        if unfinished is not None:
            return ["train", "--resume", str(unfinished)]
    return ["train", config_file, "--set", *overrides, *paths]


def leads(plan: LaunchPlan, environment: Mapping[str, str]) -> bool:
    """Whether this process, or one that it starts, is rank 0: the one that reads and writes runs."""
    if plan.mode == "inside":
        return environment.get("MS_ROLE") == "MS_WORKER" and environment.get("RANK_ID") == "0"
    return plan.rank == 0 if plan.mode == "worker" else plan.node_rank == 0


def unfinished_run(config: Config, output: Path) -> Path | None:
    """The newest run of this name with a checkpoint and without a result."""
    for path in sorted(output.glob(f"{config.name}-*"), reverse=True):
        done = (path / "evaluation.json").is_file()
        if (path / "config.yaml").is_file() and not done and latest(path / "checkpoints") is not None:
            return path
    return None
