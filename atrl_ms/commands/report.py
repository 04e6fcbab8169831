"""`atrl report`: one HTML file about one or more runs."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN_DIR", help="runs that differ in the seed only form one arm")
    parser.add_argument("--output", metavar="FILE", help="default: report.html in the first run directory")
    parser.add_argument("--sessions", type=int, default=10_000, metavar="N", help="embed at most N sessions")


def run(args: argparse.Namespace) -> int:
    from atrl_ms.evaluate.report import write_report

    output = Path(args.output) if args.output else Path(args.runs[0]) / "report.html"
    print(write_report(args.runs, output, max(1, args.sessions)))
    return 0
