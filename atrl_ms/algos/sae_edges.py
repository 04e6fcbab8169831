"""Which advantages must be ordered: pair and triplet constraints between the nodes of a prefix tree.

A sample is one completion of one prefix; its node is the path of child names from the root, and the first entry of
a path names the problem. Samples of one node with one reward are interchangeable in every constraint, so constraints
are kept between *classes* (node, reward): N samples, C classes, M class edges.

Constraints (Tree-OPO, docs/tree_opo.md), with r the reward of a sample:
    pair     i a proper ancestor of j and r_j - r_i > eta (binary rewards: i failed, j succeeded)
    triplet  i, j at sibling nodes, both failed, neither node has a direct success; below i there is a success,
             below j there is none
Each says a_i + delta <= a_j. Ancestors are found by node path, never by comparing text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

NodePath = tuple[Hashable, ...]


@dataclass(frozen=True)
class OrderGraph:
    """Order constraints between classes of samples.

    Attributes:
        classes: (N,) class of each sample.
        sizes: (C,) float, number of samples in each class.
        edges: (M, 2) int, class i and class j of a_i + delta <= a_j.
    """

    classes: np.ndarray
    sizes: np.ndarray
    edges: np.ndarray

    def sample_edges(self) -> np.ndarray:
        """The same constraints between samples, (M', 2); as many as the product of the class sizes of each edge."""
        members = [np.flatnonzero(self.classes == c) for c in range(len(self.sizes))]
        blocks = [
            np.stack(np.meshgrid(members[i], members[j], indexing="ij"), axis=-1).reshape(-1, 2) for i, j in self.edges
        ]
        return np.concatenate(blocks) if blocks else np.zeros((0, 2), dtype=np.int64)

    def has_cycle(self) -> bool:
        """True when the constraints contradict each other (a_i < ... < a_i for delta > 0)."""
        if not len(self.edges):
            return False
        count = len(self.sizes)
        matrix = coo_array((np.ones(len(self.edges)), self.edges.T), shape=(count, count))
        strong, _ = connected_components(matrix, connection="strong")
        return strong < count or bool((self.edges[:, 0] == self.edges[:, 1]).any())

    def fraction_met(self, advantages: np.ndarray, delta: float, tolerance: float = 1e-9) -> float:
        """Share of the sample-level constraints that `advantages` (N,) meet; 1 when there are none."""
        if not len(self.edges):
            return 1.0
        low = np.full(len(self.sizes), np.inf)
        high = np.full(len(self.sizes), -np.inf)
        np.minimum.at(low, self.classes, advantages)
        np.maximum.at(high, self.classes, advantages)
        if np.allclose(low, high, rtol=0, atol=tolerance):  # equal within classes: count classes, weighted
            i, j = self.edges.T
            weight = self.sizes[i] * self.sizes[j]
            return float(weight[low[i] + delta <= low[j] + tolerance].sum() / weight.sum())
        i, j = self.sample_edges().T
        return float(np.mean(advantages[i] + delta <= advantages[j] + tolerance))


def order_graph(
    paths: Sequence[NodePath],
    rewards: np.ndarray,
    *,
    eta: float = 0.0,
    success: float = 1.0,
    pairs: bool = True,
    triplets: bool = True,
) -> OrderGraph:
    """Build the constraints of one batch.

    Args:
        paths: N node paths; entry 0 names the problem, so different problems are never related.
        rewards: (N,) rewards, binary or graded.
        eta: a pair needs r_j - r_i > eta.
        success: a sample with at least this reward succeeded (triplets).
    """
    keys: dict[tuple[NodePath, float], int] = {}
    classes = np.empty(len(paths), dtype=np.int64)
    for n, (path, reward) in enumerate(zip(paths, rewards, strict=True)):
        if not path:
            raise ValueError("a node path needs at least the problem's name")
        classes[n] = keys.setdefault((tuple(path), float(reward)), len(keys))
    at_node: dict[NodePath, list[tuple[int, float]]] = defaultdict(list)  # node -> (class, reward)
    for (path, reward), c in keys.items():
        at_node[path].append((c, reward))

    edges: list[tuple[int, int]] = []
    if pairs:
        for path, below in at_node.items():
            for depth in range(1, len(path)):
                for c_up, r_up in at_node.get(path[:depth], ()):
                    for c_down, r_down in below:
                        if r_down - r_up > eta:
                            edges.append((c_up, c_down))
    if triplets:
        edges.extend(_triplet_edges(at_node, success))
    sizes = np.bincount(classes, minlength=len(keys)).astype(np.float64)
    return OrderGraph(classes, sizes, np.array(edges, dtype=np.int64).reshape(-1, 2))


def _triplet_edges(at_node: dict[NodePath, list[tuple[int, float]]], success: float) -> list[tuple[int, int]]:
    solved_below: set[NodePath] = set()
    siblings: dict[NodePath, list[NodePath]] = defaultdict(list)
    for path, found in at_node.items():
        if max([r for _, r in found]) >= success:
            for depth in range(len(path) - 1, 0, -1):
                if path[:depth] in solved_below:  # then its ancestors are as well
                    break
                solved_below.add(path[:depth])
        elif len(path) > 1:  # roots of different problems are no siblings
            siblings[path[:-1]].append(path)
    edges: list[tuple[int, int]] = []
    for nodes in siblings.values():
        if len(nodes) < 2:
            continue
        promising = [c for node in nodes if node in solved_below for c, _ in at_node[node]]
        hopeless = [c for node in nodes if node not in solved_below for c, _ in at_node[node]]
        edges.extend((i, j) for i in promising for j in hopeless)
    return edges
