"""`atrl tree`: build the prefix trees of a teacher's search, look at them."""

from __future__ import annotations

import argparse
from pathlib import Path

from atrl_ms.config import load_config
from atrl_ms.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    build = actions.add_parser("build", help="search the training problems with the teacher; continues after a kill")
    build.add_argument("config", help="for example configs/tree_opo_reasoning.yaml")
    build.add_argument("--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="override a key")
    build.add_argument("--out", metavar="DIR", help="default: tree.directory, else OUTPUT_DIR/NAME-tree")
    show = actions.add_parser("show", help="sizes by depth, success rates, a picture of one tree")
    show.add_argument("directory", help="what `atrl tree build` wrote")
    show.add_argument("--problem", metavar="NAME", help="which problem to print and draw; default: the most mixed one")
    show.add_argument("--picture", metavar="FILE", help="draw it (.svg, .png or .pdf); default: DIRECTORY/tree.svg")


def run(args: argparse.Namespace) -> int:
    return build(args) if args.action == "build" else show(args)


def build(args: argparse.Namespace) -> int:
    """Search, then say what was found."""
    config = load_config(args.config, args.set)
    directory = Path(args.out or config.tree.directory or Path(config.output_dir) / f"{config.name}-tree")
    from atrl_ms.tree.mcts import SearchDirectory
    from atrl_ms.tree.parts import build_trees
    from atrl_ms.tree.show import summary

    trees = build_trees(config, directory)
    print(summary(SearchDirectory(directory), trees))
    return 0


def show(args: argparse.Namespace) -> int:
    """Print and draw; works on an unfinished search too."""
    from atrl_ms.tree.mcts import SearchDirectory
    from atrl_ms.tree.show import draw, most_mixed, summary, tree_text

    files = SearchDirectory(Path(args.directory))
    tokenizer = files.tokenizer()
    trees = files.trees(tokenizer)
    print(summary(files, trees))
    name = args.problem or most_mixed(trees)
    if name not in trees:
        raise UserError(f"{args.directory}: no problem {name!r}; for example {next(iter(trees))!r}")
    problem = next(p for p in files.read_problems() if p.name == name)
    print("\n" + tree_text(problem, trees[name], tokenizer))
    picture = Path(args.picture) if args.picture else files.path / "tree.svg"
    draw(problem, trees[name], tokenizer, picture)
    print(f"\npicture: {picture}")
    return 0
