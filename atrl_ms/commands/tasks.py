"""`atrl tasks`: list the built-in suite, show one task, or check tasks before use."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from atrl_ms.errors import UserError
from atrl_ms.types import Task
from sandbox.suite import find_task, load_suite


def add_arguments(parser: argparse.ArgumentParser) -> None:
    sub = parser.add_subparsers(dest="action", metavar="ACTION")
    listing = sub.add_parser("list", help="families and variants (default)")
    listing.add_argument("--family", default="", help="list the variants of one operator")
    show = sub.add_parser("show", help="print the source of one variant")
    show.add_argument("name", help="for example softmax/held_out-00-1")
    check = sub.add_parser("check", help="may these tasks judge kernels? reports degenerate ones as task_invalid")
    check.add_argument("names", nargs="*", metavar="TASK", help="files or names of the suite (default: whole suite)")
    check.add_argument("--workers", type=int, default=2)
    check.add_argument("--seed", type=int, default=0)
    check.add_argument("--benchmark", metavar="NAME", help="check a benchmark on disk instead, or a directory of tasks")
    check.add_argument("--root", default="", metavar="DIR", help="the benchmark's clone")
    check.add_argument("--level", action="append", default=[], metavar="L", help="only this level; may be repeated")
    check.add_argument(
        "--only", action="append", default=[], metavar="PATTERN", help="only names like this; repeatable"
    )
    check.add_argument("--limit", type=int, default=0, metavar="N", help="at most N tasks, spread over the benchmark")
    check.add_argument("--max-elements", type=int, default=300_000, metavar="N", help="inputs and parameters of a case")
    check.add_argument("--seconds", type=int, default=60, metavar="S", help="computing for one task; more is a reason")
    check.add_argument(
        "--results", metavar="FILE", help="keep results here as they come; tasks it holds are not repeated"
    )


def run(args: argparse.Namespace) -> int:
    if args.action == "show":
        print(find_task(args.name).source, end="")
        return 0
    if args.action == "check" and args.benchmark:
        return check_benchmark(args)
    if args.action == "check":
        return check_tasks(args.names, args.workers, args.seed)
    return list_tasks(getattr(args, "family", ""))


def check_tasks(names: list[str], workers: int, seed: int) -> int:
    """Admission of tasks; 1 if any is degenerate."""
    from sandbox.options import Options
    from sandbox.pool import SandboxPool

    if workers < 1:
        raise UserError(f"--workers {workers}: at least 1")
    tasks = [(name, _task_of(name)) for name in names] or [(t.name, t) for t in load_suite()]
    invalid = 0
    with SandboxPool(Options(), workers=min(workers, len(tasks))) as pool:
        checks = [(name, pool.check(task, seed=seed)) for name, task in tasks]
        for name, future in checks:
            try:
                problems = future.result()
            except UserError as error:
                problems = [str(error)]
            invalid += bool(problems)
            print(f"{'task_invalid' if problems else 'ok':<13}{name}{': ' if problems else ''}{'; '.join(problems)}")
    print(f"{len(tasks) - invalid} of {len(tasks)} tasks may be used")
    return 1 if invalid else 0


def check_benchmark(args: argparse.Namespace) -> int:
    """Fit and admit every task of a benchmark; one line each, then counts; 1 if none may be used."""
    from atrl_ms.config import TasksConfig
    from sandbox.benchmarks.load import check_line, count_lines, fitted_entries

    if args.names:
        raise UserError("--benchmark checks a whole benchmark; leave out the names of tasks")
    if min(args.workers, args.max_elements, args.seconds) < 1 or args.limit < 0:
        raise UserError("--workers, --max-elements and --seconds must be at least 1, --limit at least 0")
    config = TasksConfig(
        suite=args.benchmark,
        root=args.root,
        levels=args.level,
        select=args.only,
        limit=args.limit,
        max_elements=args.max_elements,
        fit_seconds=args.seconds,
    )
    entries = fitted_entries(
        config,
        workers=args.workers,
        progress=True,
        on_done=lambda e: print(check_line(e), flush=True),
        results=Path(args.results) if args.results else None,
    )
    print("\n".join(count_lines(entries)))
    return 0 if any(not entry.skip for entry in entries) else 1


def _task_of(name: str) -> Task:
    """A file, or a variant of the suite."""
    path = Path(name)
    if path.suffix == ".py" or path.is_file():
        try:
            return Task(path.stem, path.read_text(encoding="utf-8"), directory=str(path.resolve().parent))
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"{name}: cannot be read ({type(error).__name__}); give a task file") from None
    return find_task(name)


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
