"""Staged curriculum: which prefixes of a problem's tree the student completes.

A group mixes depths: `root_fraction` of its members start at the prompt (that is what evaluation asks for), the others
are drawn by weight, without replacement while there are enough prefixes:

    root      only the prompt: ordinary groups
    uniform   all prefixes alike
    depth     weight exp(bias * depth * (1 - 2 progress)): deep, easy prefixes first, shallow ones last
    success   weight V (1 - V) + 0.05 with V from the student's running statistics: prefixes that it half masters
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from atrl_ms.tree.prefix_tree import Node, Path, PrefixTree

Sampling = Literal["root", "uniform", "depth", "success"]


def draw_prefixes(
    tree: PrefixTree,
    count: int,
    *,
    kind: Sampling,
    progress: float,
    value: Callable[[Path], float],
    rng: np.random.Generator,
    root_fraction: float = 0.25,
    depth_bias: float = 1.0,
) -> list[Path]:
    """`count` node paths for one group.

    Args:
        progress: share of the training that is done, 0 to 1 (reverse curriculum).
        value: V of a node, in [0, 1], for "success".
    """
    if kind == "root":
        return [()] * count
    roots = math.ceil(root_fraction * count)
    nodes = [node for node in tree.nodes() if not node.terminal and node.depth > 0]
    if not nodes or roots >= count:
        return [()] * count
    weights = np.array([_weight(node, kind, progress, value, depth_bias) for node in nodes])
    wanted = count - roots
    chosen = rng.choice(len(nodes), size=wanted, replace=wanted > len(nodes), p=weights / weights.sum())
    return [()] * roots + [nodes[k].path for k in chosen]


def _weight(node: Node, kind: Sampling, progress: float, value: Callable[[Path], float], bias: float) -> float:
    if kind == "depth":
        return math.exp(bias * node.depth * (1.0 - 2.0 * progress))
    if kind == "success":
        v = min(1.0, max(0.0, value(node.path)))
        return v * (1.0 - v) + 0.05
    return 1.0
