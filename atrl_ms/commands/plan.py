"""`atrl plan`: what a configuration asks of machines, without loading weights."""

from __future__ import annotations

import argparse
from pathlib import Path

import yaml

from atrl_ms.config import load_config


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", help="YAML configuration")
    parser.add_argument("--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="override a key")
    parser.add_argument("--settings", metavar="FILE", help="write the sections of a MindFormers YAML file that say so")


def run(args: argparse.Namespace) -> int:
    """Exit code 0; 1 if the policy does not fit the NPUs."""
    from atrl_ms.train.plan import format_plan, make_plan

    config = load_config(args.config, args.set)
    plan = make_plan(config)
    print(format_plan(config))
    if plan.spread is None:
        return 0
    if args.settings:
        Path(args.settings).write_text(yaml.safe_dump(plan.spread.settings, sort_keys=False))
    return 0 if plan.spread.fits(plan.total) else 1
