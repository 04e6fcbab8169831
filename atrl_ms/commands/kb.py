"""`atrl kb`: read, search and check the knowledge base."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from tqdm import tqdm

from atrl_ms.errors import UserError
from kb.index import FACTS, Fact, load_facts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    sub = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    outline = sub.add_parser("list", help="the outline: id, title, token cost, status")
    outline.add_argument(
        "--class", dest="operator_class", help="only facts of this operator class, for example softmax"
    )
    outline.add_argument("--stage", help="only facts of this stage, for example compile_error")
    show = sub.add_parser("show", help="one entry in full")
    show.add_argument("id")
    search = sub.add_parser("search", help="entries for an error text or for words")
    search.add_argument("text", nargs="+")
    check = sub.add_parser("check", help="run every probe through the Ascend compiler")
    check.add_argument("ids", nargs="*", help="only these facts")
    check.add_argument("--new", action="store_true", help="only facts that are unchecked or were refuted")
    check.add_argument("--cann", default="9.0.0", help="CANN release whose compiler decides")
    for child in (outline, show, search, check):
        child.add_argument("--dir", type=Path, default=FACTS, help="directory of a knowledge base")


def run(args: argparse.Namespace) -> int:
    from agent.knowledge import KnowledgeBase

    base = KnowledgeBase(load_facts(args.dir))
    if args.action == "list":
        print(base.outline(args.operator_class, args.stage))
    elif args.action == "show":
        if args.id not in base.by_id:
            raise UserError(f"no entry '{args.id}'; `atrl kb list` shows them, `atrl kb search WORDS` finds them")
        print(base.entry(args.id))
        fact = base.by_id[args.id]
        print(
            f"\n[{fact.status}{' by ' + fact.tool if fact.tool else ''}; confidence {fact.confidence}; {fact.source}]"
        )
    elif args.action == "search":
        found = base.search(" ".join(args.text))
        print("\n".join(f"{fact.id:24} {fact.title}" for fact in found) or "nothing found")
    else:
        return check(base.facts, args)
    return 0


def check(facts: list[Fact], args: argparse.Namespace) -> int:
    """Run the probes and record what they say; exit code 1 if a fact is refuted."""
    from kb.check import record, run_probes

    unknown = set(args.ids) - {fact.id for fact in facts}
    if unknown:
        raise UserError(f"no such fact: {', '.join(sorted(unknown))}")
    chosen = [
        fact
        for fact in facts
        if (not args.ids or fact.id in args.ids) and (not args.new or fact.status in ("unchecked", "refuted"))
    ]
    outcomes = []
    with tqdm(total=sum(len(fact.probes) for fact in chosen), desc="probes", unit="probe") as bar:
        for outcome in run_probes(chosen, cann=args.cann):
            bar.update(len(outcome.fact.probes))
            for reason in outcome.reasons:
                bar.write(f"refuted    {outcome.fact.id}: {reason}")
            outcomes.append(outcome)
            if outcome.fact.probes:  # at once, so that a check that is broken off goes on with --new
                record(outcomes, facts, args.dir)
    counts = Counter(outcome.status for outcome in outcomes)
    mix = ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))
    tools = sorted({outcome.tool for outcome in outcomes if outcome.tool})
    print(f"{len(outcomes)} facts: {mix or 'nothing to check'}; {', '.join(tools) or 'no probes'}")
    return 1 if counts["refuted"] else 0
