"""Values V(p) of prefixes that the heuristic advantages subtract, from a batch or from running statistics.

In a batch (the sample itself included), over the subtree of the sample's node:
    expectation  V_E = mean reward        optimistic  V_O = max        pessimistic  V_P = min
    trace        V_T = mean reward over the traces through the node: its ancestors and its subtree
Running (the safe default): mean reward per node over all samples so far, without the sample at hand, shrunk to the
parent: V(node) = (n mean + 4 V(parent)) / (n + 4), V above the root = `prior`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from atrl_ms.algos.sae_edges import NodePath

ValueKind = Literal["expectation", "optimistic", "pessimistic", "trace"]


def batch_values(paths: Sequence[NodePath], rewards: np.ndarray, kind: ValueKind) -> np.ndarray:
    """V of each sample's node from the batch alone, (N,)."""
    subtree: dict[NodePath, list[float]] = {}  # node -> [count, sum, max, min] over its subtree
    direct: dict[NodePath, list[float]] = {}  # node -> [count, sum] of its own samples
    for path, reward in zip(paths, rewards, strict=True):
        r = float(reward)
        for depth in range(1, len(path) + 1):
            node = subtree.setdefault(path[:depth], [0.0, 0.0, -np.inf, np.inf])
            node[0] += 1
            node[1] += r
            node[2] = max(node[2], r)
            node[3] = min(node[3], r)
        own = direct.setdefault(path, [0.0, 0.0])
        own[0] += 1
        own[1] += r

    def value(path: NodePath) -> float:
        count, total, best, worst = subtree[path]
        if kind == "expectation":
            return total / count
        if kind == "optimistic":
            return best
        if kind == "pessimistic":
            return worst
        for depth in range(1, len(path)):
            above = direct.get(path[:depth], (0.0, 0.0))
            count, total = count + above[0], total + above[1]
        return total / count

    known = {path: value(path) for path in subtree if path in direct}
    return np.array([known[path] for path in paths])


class NodeStatistics:
    """Running subtree statistics of every node, with optional forgetting as the policy moves on.

    `decay` multiplies all counts and sums once per `update` (1 = never forget), so that n is an effective count.
    """

    def __init__(self, prior: float = 0.5, shrink: float = 4.0, decay: float = 1.0) -> None:
        if not 0 < decay <= 1:
            raise ValueError(f"decay must be in (0, 1], got {decay}")
        self.prior, self.shrink, self.decay = prior, shrink, decay
        self._nodes: dict[NodePath, tuple[float, float, int]] = {}  # node -> (n, sum, clock of its last touch)
        self._clock = 0

    def _read(self, node: NodePath) -> tuple[float, float]:
        n, total, clock = self._nodes.get(node, (0.0, 0.0, self._clock))
        fade = self.decay ** (self._clock - clock)
        return n * fade, total * fade

    def update(self, paths: Sequence[NodePath], rewards: np.ndarray) -> None:
        """Count a batch of samples in their nodes and all ancestors."""
        self._clock += 1
        for path, reward in zip(paths, rewards, strict=True):
            for depth in range(1, len(path) + 1):
                n, total = self._read(path[:depth])
                self._nodes[path[:depth]] = (n + 1.0, total + float(reward), self._clock)

    def value(self, path: NodePath, without: float | None = None) -> float:
        """V(path); `without` is the reward of a sample at `path`, already counted, that must not see itself."""
        v = self.prior
        for depth in range(1, len(path) + 1):
            n, total = self._read(path[:depth])
            if without is not None:
                n, total = n - 1.0, total - without
            v = (max(total, 0.0) + self.shrink * v) / (max(n, 0.0) + self.shrink)
        return v

    def count(self, path: NodePath) -> float:
        """Effective number of samples counted in the subtree of `path`."""
        return self._read(path)[0]

    def leave_one_out(self, paths: Sequence[NodePath], rewards: np.ndarray) -> np.ndarray:
        """V of each sample's node without that sample, (N,). Call `update` with the same batch first."""
        return np.array([self.value(p, without=float(r)) for p, r in zip(paths, rewards, strict=True)])

    def to_json(self) -> dict[str, Any]:
        """All state, for checkpoints."""
        nodes = [[list(k), n, total, clock] for k, (n, total, clock) in self._nodes.items()]
        settings = {"prior": self.prior, "shrink": self.shrink, "decay": self.decay}
        return {"settings": settings, "clock": self._clock, "nodes": nodes}

    def restore(self, data: dict[str, Any]) -> None:
        """Take over the state that `to_json` gave."""
        settings = data["settings"]
        self.prior, self.shrink, self.decay = settings["prior"], settings["shrink"], settings["decay"]
        self._clock = data["clock"]
        self._nodes = {tuple(path): (n, total, clock) for path, n, total, clock in data["nodes"]}
