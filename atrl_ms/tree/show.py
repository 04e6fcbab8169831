"""A search in words and as a picture."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from atrl_ms.errors import UserError
from atrl_ms.tree.mcts import SearchDirectory
from atrl_ms.tree.prefix_tree import Node, PrefixTree
from atrl_ms.tree.problems import Problem
from atrl_ms.types import Tokenizer


def summary(files: SearchDirectory, trees: dict[str, PrefixTree]) -> str:
    """Sizes and success rates by depth, over all trees of the search."""
    settings = files.read_settings()
    problems = {p.name: p for p in files.read_problems()}
    rollouts = sum(t.root.visits for t in trees.values())
    successes = sum(t.root.total for t in trees.values())
    solved = sum(t.root.total > 0 for t in trees.values())
    lines = [
        f"{files.path}: {len(trees)} problems, {rollouts} rollouts of at most {len(trees) * settings.rollouts} "
        f"({settings.rule}, temperature {settings.temperature:g}, depth {settings.max_depth}, "
        f"branching {settings.branching})",
        f"solved at least once: {solved} of {len(trees)} problems; successful rollouts: {_rate(successes, rollouts)}",
        "",
        "depth   nodes  prefixes   visits  success rate  per tree",
    ]
    by_depth: dict[int, list[Node]] = defaultdict(list)
    for tree in trees.values():
        for node in tree.nodes():
            by_depth[node.depth].append(node)
    for depth, nodes in sorted(by_depth.items()):
        visits = sum(n.visits for n in nodes)
        prefixes = sum(not n.terminal for n in nodes)
        lines.append(
            f"{depth:5d} {len(nodes):7d} {prefixes:9d} {visits:8d} {_rate(sum(n.total for n in nodes), visits):>13s} "
            f"{len(nodes) / len(trees):9.1f}"
        )
    lines += ["", "family              problems  successful rollouts"]
    for family in sorted({p.family for p in problems.values()}):
        roots = [trees[name].root for name, p in problems.items() if p.family == family]
        lines.append(
            f"{family:19s} {len(roots):8d}  {_rate(sum(r.total for r in roots), sum(r.visits for r in roots)):>19s}"
        )
    return "\n".join(lines)


def _rate(total: float, count: int) -> str:
    return f"{total / count:.1%}" if count else "-"


def tree_text(problem: Problem, tree: PrefixTree, tokenizer: Tokenizer) -> str:
    """One tree, a line per node: step, visits, success rate."""
    lines = [f"{problem.prompt.strip()}   (reference: {problem.answer})"]
    for node in tree.nodes():
        if node.depth:
            step = tokenizer.decode(node.tokens).strip()
            lines.append(f"{'  ' * node.depth}{step}   [{node.visits} visits, {_rate(node.total, node.visits)}]")
    return "\n".join(lines)


def most_mixed(trees: dict[str, PrefixTree]) -> str:
    """The problem whose tree shows most: success rate nearest to a half, then the largest tree."""
    return min(
        trees, key=lambda name: (round(abs(trees[name].root.value - 0.5), 1), -sum(1 for _ in trees[name].nodes()))
    )


def draw(problem: Problem, tree: PrefixTree, tokenizer: Tokenizer, path: Path) -> None:
    """A picture of one tree; the suffix of `path` (svg, png, pdf) decides the format. Colour is the success rate."""
    if path.suffix.lower() not in (".svg", ".png", ".pdf"):
        raise UserError(f"{path}: pictures are .svg, .png or .pdf")
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    place: dict[tuple[int, ...], tuple[float, float]] = {}
    rows = 0

    def lay_out(node: Node) -> float:
        nonlocal rows
        if node.children:
            y = float(np.mean([lay_out(child) for child in node.children]))
        else:
            y, rows = float(rows), rows + 1
        place[node.path] = (float(node.depth), -y)
        return y

    lay_out(tree.root)
    nodes = list(tree.nodes())
    depth = max(n.depth for n in nodes)
    figure, axes = plt.subplots(figsize=(2.4 * (depth + 1), max(2.0, 0.42 * rows + 1.0)))
    colours = plt.get_cmap("RdYlGn")
    for node in nodes:
        x, y = place[node.path]
        for child in node.children:
            cx, cy = place[child.path]
            axes.plot([x, cx], [y, cy], color="0.7", linewidth=0.6 + 2.4 * child.visits / tree.root.visits, zorder=1)
        text = tokenizer.decode(node.tokens).strip() if node.depth else problem.prompt.strip()
        axes.text(
            x,
            y,
            f"{text}\n{node.total:g}/{node.visits}",
            ha="center",
            va="center",
            fontsize=7,
            family="monospace",
            zorder=2,
            bbox={
                "boxstyle": "square,pad=0.25" if node.terminal else "round,pad=0.35",
                "facecolor": colours(0.15 + 0.7 * node.value),
                "edgecolor": "0.4",
                "linewidth": 0.6,
            },
        )
    axes.set_xlim(-0.6, depth + 0.6)
    axes.set_ylim(-rows + 0.4, 0.6)
    axes.set_title("steps of one problem: successes/visits, red to green by success rate", fontsize=8)
    axes.axis("off")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, bbox_inches="tight", dpi=150)
    plt.close(figure)
