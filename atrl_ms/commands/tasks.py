"""`atrl tasks`: list the built-in suite, show one task, or check tasks before use."""

from __future__ import annotations

import argparse
from collections import Counter

from atrl_ms.errors import UserError
from sandbox.suite import find_task, load_suite


def add_arguments(parser: argparse.ArgumentParser) -> None:
    sub = parser.add_subparsers(dest="action", metavar="ACTION")
    listing = sub.add_parser("list", help="families and variants (default)")
    listing.add_argument("--family", default="", help="list the variants of one operator")
    show = sub.add_parser("show", help="print the source of one variant")
    show.add_argument("name", help="for example softmax/held_out-00-1")


def run(args: argparse.Namespace) -> int:
    if args.action == "show":
        print(find_task(args.name).source, end="")
        return 0
    return list_tasks(getattr(args, "family", ""))


def list_tasks(family: str) -> int:
    """Print families with counts, or the variants of one family."""
    if family:
        names = [task.name for task in load_suite() if task.family == family]
        if not names:
            raise UserError(f"--family {family}: no such operator; `atrl tasks` lists them")
        print("\n".join(names))
        return 0
    train = Counter(t.family for t in load_suite() if not t.held_out)
    held_out = Counter(t.family for t in load_suite() if t.held_out)
    print(f"{'family':<16}{'train':>7}{'held out':>10}")
    for name in sorted(train):
        print(f"{name:<16}{train[name]:>7}{held_out[name]:>10}")
    print(f"{'total':<16}{sum(train.values()):>7}{sum(held_out.values()):>10}")
    return 0
