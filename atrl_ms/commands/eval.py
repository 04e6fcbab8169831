"""`atrl eval`: score a checkpoint, an endpoint or a directory of kernels on a set of tasks; compare two evaluations."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import yaml

from atrl_ms.config import Config, apply_override, load_config, validate
from atrl_ms.errors import UserError
from atrl_ms.train.run_dir import RunDir, write_atomically

# Keys that a continued evaluation may change: they do not alter a finished sample.
CHANGEABLE = ("sandbox.workers", "eval.concurrent", "eval.samples", "eval.k", "output_dir")
NEWEST = "the newest of this configuration"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", nargs="?", help="YAML configuration, for example configs/eval_builtin.yaml")
    parser.add_argument("--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="override a key")
    parser.add_argument(
        "--resume",
        nargs="?",
        const=NEWEST,
        metavar="RUN_DIR",
        help="finish an evaluation; without RUN_DIR the newest one of this configuration's name",
    )
    parser.add_argument("--compare", nargs=2, metavar=("A", "B"), help="paired differences of two finished evaluations")
    parser.add_argument("--json", metavar="FILE", help="with --compare: write the differences here too")


def run(args: argparse.Namespace) -> int:
    """Exit code 0 when every sample was judged, 1 when the machine failed on some."""
    if args.compare:
        return compare(args)
    config, run_dir = resolve(args)
    print(f"run directory: {run_dir.path}", flush=True)
    return evaluate(config, run_dir)


def resolve(args: argparse.Namespace) -> tuple[Config, RunDir]:
    """The configuration and the directory, new or continued."""
    if args.resume is None:
        if args.config is None:
            raise UserError("give a configuration, for example configs/eval_builtin.yaml, or --resume RUN_DIR")
        config = load_evaluation(args.config, args.set)
        return config, RunDir.create(config)
    if args.resume == NEWEST or Path(args.resume).is_file():
        file = args.config or (None if args.resume == NEWEST else args.resume)
        if file is None:
            raise UserError("--resume without a directory needs the configuration: atrl eval CONFIG --resume")
        wanted = load_evaluation(file, args.set)
        run_dir = newest(wanted)
    else:
        run_dir = RunDir.open(args.resume)
        data = run_dir.config().model_dump()
        for item in args.set:
            apply_override(data, item)
        wanted = validate(data, str(run_dir.config_file))
        if args.config is not None:
            wanted = load_evaluation(args.config, args.set)
    refused = fixed_changes(run_dir, wanted)
    if refused:
        raise UserError(f"{run_dir.path}: a continued evaluation cannot change {', '.join(refused)}; start a new one")
    if run_dir.config() != wanted:
        write_atomically(run_dir.config_file, yaml.safe_dump(wanted.model_dump(), sort_keys=False))
    return wanted, run_dir


def load_evaluation(path: str | Path, overrides: list[str]) -> Config:
    """A configuration; sessions of a checkpoint are those it was trained in, where the file does not say otherwise."""
    from atrl_ms.evaluate.trained import as_trained

    config = load_config(path, overrides)
    return as_trained(config) if config.eval.policy == "checkpoint" else config


def fixed_changes(run_dir: RunDir, wanted: Config) -> list[str]:
    """Keys in which a configuration differs from that of an evaluation although they decide its samples."""
    from atrl_ms.commands.train import different_keys

    changed = different_keys(run_dir.config().model_dump(), wanted.model_dump())
    return [key for key in changed if not key.startswith(CHANGEABLE)]


def newest(config: Config) -> RunDir:
    """The last evaluation of that name with these settings, or with others; a new one if there is none of that name."""
    found = sorted(Path(config.output_dir).glob(f"{config.name}-*/config.yaml"), key=lambda p: p.stat().st_mtime)
    runs = [RunDir.open(file.parent) for file in reversed(found)]
    return next((run for run in runs if not fixed_changes(run, config)), runs[0]) if runs else RunDir.create(config)


def evaluate(config: Config, run_dir: RunDir) -> int:
    """Finish the samples, write the files, print the table."""
    from atrl_ms.evaluate.eval_report import summarise, text, write_files
    from atrl_ms.evaluate.evaluation import Evaluation

    entries, records, label = Evaluation(config, run_dir).run()
    if not records:
        raise UserError("no task has a kernel to judge; set eval.missing to 'fail' to count all of them as failed")
    summary = summarise(config, entries, records, label)
    page = write_files(run_dir, summary, records)
    print(text(summary))
    print(f"report: {page}; scores.json, scores.csv and samples.csv beside it")
    return 1 if summary["about"]["infrastructure_faults"] else 0


def compare(args: argparse.Namespace) -> int:
    """Print the differences of two evaluations."""
    from atrl_ms.evaluate.eval_report import compare_runs, comparison_text, read_summary

    result = compare_runs(*(read_summary(Path(path)) for path in args.compare))
    print(comparison_text(result))
    if args.json:
        try:
            write_atomically(Path(args.json), json.dumps(result, indent=1) + "\n")
        except OSError as error:
            raise UserError(f"--json {args.json}: cannot be written ({error.strerror})") from None
    return 0
