"""`atrl launch`: train over several processes and nodes; the same command on every node."""

from __future__ import annotations

import argparse
import os
import shlex
import sys

from atrl_ms.commands import train
from atrl_ms.launch.machine import this_machine
from atrl_ms.launch.plan import PORT, Request, make_launch_plan
from atrl_ms.launch.run import run_plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    train.add_arguments(parser)
    parser.add_argument("--nodes", default="", metavar="HOSTS", help="all nodes, the master first: a,b or node[01-04]")
    parser.add_argument("--node-rank", type=int, help="which of them this is; found out if it can be")
    parser.add_argument("--workers", type=int, help="processes of each node (default: its NPUs, or 1)")
    parser.add_argument("--port", type=int, default=PORT, help="port of the scheduler (default: %(default)s)")
    parser.add_argument("--log-dir", default="msrun_log", help="where the ranks' output goes (default: %(default)s)")


def run(args: argparse.Namespace) -> int:
    """Exit code of this node's processes."""
    train.resolve(args, write=False)  # a mistake in the configuration shows here, not on every rank
    request = Request(args.nodes, args.node_rank, args.workers, args.port, args.log_dir)
    plan = make_launch_plan(os.environ, this_machine(), request)
    arguments = ["train", *([args.config] if args.config else [])]
    arguments += ["--set", *args.set] if args.set else []
    arguments += ["--resume", args.resume] if args.resume else []
    print(plan.text())
    print("command:", shlex.join(plan.command(sys.executable, arguments)), flush=True)
    return 0 if args.dry_run else run_plan(plan, arguments)
