"""The `atrl` command: finds the subcommand, turns a user's mistake into one line and exit code 2."""

from __future__ import annotations

import argparse
import importlib
import sys

from atrl_ms.errors import UserError

# Each is a module atrl_ms/commands/<name>.py with HELP, add_arguments(parser) and run(args) -> exit code.
# Modules are imported only when asked for: `atrl verify` must not pay for MindSpore.
COMMANDS = {
    "verify": "judge a candidate kernel",
    "serve": "run the sandbox as a service",
    "profile": "show where a kernel's modelled time goes",
    "tasks": "list, show or check tasks",
    "solve": "let a model write the kernel of a task",
    "kb": "read, search and check the knowledge base",
    "warmstart": "make demonstrations and fine-tune the embedded policy on them",
    "train": "train a policy",
    "plan": "print what a configuration asks of machines: memory, tokens, sandbox workers",
    "launch": "train over several processes and nodes",
    "tree": "build and show the prefix trees of a teacher's search",
    "eval": "evaluate a policy",
    "report": "write an HTML report of one or more runs",
}


def build_parser(command: str | None) -> argparse.ArgumentParser:
    """The parser; only `command`'s own arguments are loaded."""
    parser = argparse.ArgumentParser(prog="atrl", description="Triton kernels for Ascend NPUs: judge, write, train.")
    sub = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, help_text in COMMANDS.items():
        child = sub.add_parser(name, help=help_text, description=help_text)
        if name == command:
            module = importlib.import_module(f"atrl_ms.commands.{name}")
            module.add_arguments(child)
            child.set_defaults(run=module.run)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Entry point; returns the process exit code."""
    argv = sys.argv[1:] if argv is None else argv
    command = next((a for a in argv if not a.startswith("-")), None)
    args = build_parser(command).parse_args(argv)
    try:
        return int(args.run(args))
    except UserError as error:
        print(f"atrl {args.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
