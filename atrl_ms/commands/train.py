"""`atrl train`: train a policy, or continue a run."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import yaml

from atrl_ms.config import Config, apply_override, load_config, validate
from atrl_ms.errors import UserError
from atrl_ms.train.parallel import Ranks, join, launched_by_msrun
from atrl_ms.train.run_dir import RunDir, write_atomically
from atrl_ms.train.watch import Watch

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
    """Exit code 0 when the run finished, 1 when it diverged; in a job of several ranks each of them comes here."""
    if args.dry_run:
        from atrl_ms.train.plan import format_plan

        print(format_plan(resolve(args, write=False)[0]))
        return 0
    if launched_by_msrun():
        ranks = join()
        with Watch(ranks):  # from here on a mistake on one rank ends all
            config, run_dir = agree(args, ranks)
            return train(config, run_dir, ranks)
    config, run_dir = open_run(args)
    return train(config, run_dir, Ranks())


def open_run(args: argparse.Namespace) -> tuple[Config, RunDir]:
    """The configuration and the directory of the run, which is made if it is new."""
    config, run_dir = resolve(args)
    run_dir = run_dir or RunDir.create(config)
    print(f"run directory: {run_dir.path}", flush=True)
    return config, run_dir


def agree(args: argparse.Namespace, ranks: Ranks) -> tuple[Config, RunDir]:
    """What the leader found, on every rank: other nodes need not see its disk."""
    message = b""
    if ranks.leader:
        config, run_dir = open_run(args)
        if config.algorithm == "tree_opo":
            raise UserError("algorithm tree_opo trains in one process; start it without atrl launch")
        message = json.dumps({"config": config.model_dump(), "path": str(run_dir.path)}).encode()
    data = json.loads(ranks.from_leader(message))
    return Config.model_validate(data["config"]), RunDir(Path(data["path"]))


def resolve(args: argparse.Namespace, write: bool = True) -> tuple[Config, RunDir | None]:
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
    if changed and write:
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


def train(config: Config, run_dir: RunDir, ranks: Ranks) -> int:
    """Run to the end; the leader prints the table."""
    from loguru import logger
    from tqdm import tqdm

    from atrl_ms.evaluate.report import write_report
    from atrl_ms.evaluate.summary import summarise
    from atrl_ms.rollout.serving import ServingError
    from atrl_ms.train.metrics import read_metrics
    from atrl_ms.train.parts import build_parts
    from atrl_ms.train.rl import Diverged, Trainer

    logger.remove()
    logger.add(lambda text: tqdm.write(text, end="", file=sys.stderr), level="INFO", format="{level}: {message}")
    if ranks.leader:
        logger.add(run_dir.path / "run.log", level="DEBUG")
    try:
        if config.algorithm == "tree_opo":
            from atrl_ms.tree.run import train_tree

            before, after = train_tree(config, run_dir)
        else:
            with build_parts(config, run_dir, ranks) as parts:
                before, after = asyncio.run(Trainer(config, run_dir, parts).run())
    except Diverged as error:
        print(f"atrl train: {error}", file=sys.stderr)
        return 1
    except ServingError as error:  # never retried: what it sampled, and with which weights, is not known
        raise UserError(f"{error}; start the engine again and continue with --resume {run_dir.path}") from error
    if ranks.leader:
        print(summarise(run_dir.path, before, after, read_metrics(run_dir.metrics_file)))
        print(f"report: {write_report([run_dir.path], run_dir.path / 'report.html')}")
    return 0
