"""`atrl train`: train a policy, or continue a run."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import Any

import yaml

from atrl_ms.config import Config, apply_override, load_config, validate
from atrl_ms.errors import UserError
from atrl_ms.train.run_dir import RunDir, write_atomically

# Keys that a resumed run may change: they do not alter what has been computed so far.
CHANGEABLE = (
    "train.steps",
    "train.token_budget",
    "train.checkpoint_every",
    "train.keep_checkpoints",
    "train.outage_seconds",
    "sandbox.",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", nargs="?", help="YAML configuration; may be left out with --resume")
    parser.add_argument("--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="override a key")
    parser.add_argument("--resume", metavar="RUN_DIR", help="continue a run from its last complete checkpoint")
    parser.add_argument("--dry-run", action="store_true", help="check the configuration and print the plan only")


def run(args: argparse.Namespace) -> int:
    """Exit code 0 when the run finished, 1 when it diverged."""
    config, run_dir = resolve(args)
    if args.dry_run:
        from atrl_ms.train.plan import format_plan

        print(format_plan(config))
        return 0
    run_dir = run_dir or RunDir.create(config)
    print(f"run directory: {run_dir.path}", flush=True)
    return train(config, run_dir)


def resolve(args: argparse.Namespace) -> tuple[Config, RunDir | None]:
    """The configuration, and the run directory if one is continued."""
    if args.resume is None:
        if args.config is None:
            raise UserError("give a configuration, for example configs/quickstart.yaml, or --resume RUN_DIR")
        return load_config(args.config, args.set), None
    run_dir = RunDir.open(args.resume)
    stored = run_dir.config()
    if args.config is not None:
        wanted = load_config(args.config, args.set)
    else:
        data = stored.model_dump()
        for item in args.set:
            apply_override(data, item)
        wanted = validate(data, str(run_dir.config_file))
    changed = different_keys(stored.model_dump(), wanted.model_dump())
    refused = [key for key in changed if not key.startswith(CHANGEABLE)]
    if refused:
        raise UserError(f"{args.resume}: a resumed run cannot change {', '.join(refused)}; start a new run")
    if changed and not args.dry_run:
        write_atomically(run_dir.config_file, yaml.safe_dump(wanted.model_dump(), sort_keys=False))
    return wanted, run_dir


def different_keys(a: dict[str, Any], b: dict[str, Any], prefix: str = "") -> list[str]:
    """Dotted names of the leaves in which two nested mappings of the same shape differ."""
    names = []
    for key in a:
        if isinstance(a[key], dict) and isinstance(b[key], dict):
            names += different_keys(a[key], b[key], f"{prefix}{key}.")
        elif a[key] != b[key]:
            names.append(prefix + key)
    return names


def train(config: Config, run_dir: RunDir) -> int:
    """Run to the end and print the table."""
    from loguru import logger
    from tqdm import tqdm

    from atrl_ms.evaluate.report import write_report
    from atrl_ms.evaluate.summary import summarise
    from atrl_ms.train.metrics import read_metrics
    from atrl_ms.train.parts import build_parts
    from atrl_ms.train.rl import Diverged, Trainer

    logger.remove()
    logger.add(lambda text: tqdm.write(text, end="", file=sys.stderr), level="INFO", format="{level}: {message}")
    logger.add(run_dir.path / "run.log", level="DEBUG")
    try:
        if config.algorithm == "tree_opo":
            from atrl_ms.tree.run import train_tree

            before, after = train_tree(config, run_dir)
        else:
            with build_parts(config, run_dir) as parts:
                before, after = asyncio.run(Trainer(config, run_dir, parts).run())
    except Diverged as error:
        print(f"atrl train: {error}", file=sys.stderr)
        return 1
    print(summarise(run_dir.path, before, after, read_metrics(run_dir.metrics_file)))
    print(f"report: {write_report([run_dir.path], run_dir.path / 'report.html')}")
    return 0
