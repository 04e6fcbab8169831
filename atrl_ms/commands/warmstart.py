"""`atrl warmstart`: make demonstrations with the real sandbox and fine-tune the embedded policy on them."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from atrl_ms.config import load_config


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", help="for example configs/warm_start.yaml")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a key")
    parser.add_argument("--install", default="", metavar="DIR", help="copy the checkpoint there when done")


def run(args: argparse.Namespace) -> int:
    from atrl_ms.train.warm_start import warm_start

    config = load_config(args.config, args.set)
    checkpoint = warm_start(config, Path(config.output_dir) / config.name)
    print(f"checkpoint: {checkpoint}")
    if args.install:
        shutil.copytree(checkpoint, args.install, dirs_exist_ok=True)
        print(f"installed: {args.install}")
    return 0
