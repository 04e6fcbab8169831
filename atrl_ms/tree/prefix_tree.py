"""The prefix tree of one problem: nodes are partial solutions, an edge is one reasoning step, counts are of rollouts.

A node's path is the list of child numbers from the root, so `(problem, *path)` is the node path of staged advantages.
Steps are cut at token level: a step is the tokens up to and including one whose text holds a newline, or the end
token. Joining the steps of a path gives back exactly the sampled tokens.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from atrl_ms.types import Tokenizer

Path = tuple[int, ...]


@dataclass
class Node:
    """One prefix.

    Attributes:
        tokens: ids of the node's own step; empty at the root.
        prior: the teacher's probability of the step when it was first sampled.
        terminal: the step ended the solution, so nothing can follow.
        draws: rollouts started at this very node.
        visits, total: rollouts that passed through the node (or started there), and the sum of their rewards.
        pending: rollouts in flight below (virtual loss).
    """

    path: Path
    tokens: tuple[int, ...] = ()
    prior: float = 1.0
    terminal: bool = False
    draws: int = 0
    visits: int = 0
    total: float = 0.0
    pending: int = 0
    children: list[Node] = field(default_factory=list)

    @property
    def depth(self) -> int:
        return len(self.path)

    @property
    def value(self) -> float:
        """Mean reward, 0 without visits."""
        return self.total / self.visits if self.visits else 0.0


@dataclass(frozen=True)
class Rollout:
    """One completion by the teacher from a node, with the verifier's reward."""

    index: int
    path: Path
    seed: int
    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]
    reward: float


class PrefixTree:
    """Grows by rollouts; every step of a rollout becomes a node until the depth or branching limit.

    Args:
        rule: how a child is chosen. "uct": value + c sqrt(ln N / n). "puct": value + c prior sqrt(N) / (1 + n), where
            the probability mass that no child has yet competes as a child of its own.
        branching: at most this many children, and at most this many rollouts started at one node.
        max_tokens: the longest prefix that becomes a node.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        max_depth: int,
        branching: int,
        rule: Literal["uct", "puct"] = "uct",
        exploration: float = 1.4,
        max_tokens: float = math.inf,
    ) -> None:
        self.tokenizer, self.max_tokens = tokenizer, max_tokens
        self.max_depth, self.branching, self.rule, self.exploration = max_depth, branching, rule, exploration
        self.root = Node(())

    # ------------------------------------------------------------ selection

    def select(self) -> Node | None:
        """The node to start the next rollout from, with virtual loss added on the way.

        None if everything within the limits is explored, or may be once the rollouts in flight are added.
        """
        if self.exhausted(self.root):
            return None
        node = self.root
        while True:
            node.pending += 1
            chosen = self.choose(node)
            if chosen is None:
                node.draws += 1
                return node
            node = chosen

    def exhausted(self, node: Node) -> bool:
        """No rollout may start at the node or below, as far as is known (rollouts in flight may add children)."""
        return node.terminal or (node.draws >= self.branching and all(self.exhausted(c) for c in node.children))

    def choose(self, node: Node) -> Node | None:
        """A child to descend to, or None to start a rollout here."""
        may_draw = node.draws < self.branching
        open_children = [child for child in node.children if not self.exhausted(child)]
        if not open_children or (self.rule == "uct" and may_draw):
            return None
        visits = node.visits + node.pending
        best = max(open_children, key=lambda child: (self.score(child, visits), -child.path[-1]))
        if may_draw:
            unseen = max(0.0, 1.0 - sum(child.prior for child in node.children))
            if node.value + self.exploration * unseen * math.sqrt(visits) / (1 + node.draws) > self.score(best, visits):
                return None
        return best

    def score(self, child: Node, parent_visits: int) -> float:
        """UCT or PUCT; rollouts in flight count as failures (virtual loss)."""
        n = child.visits + child.pending
        value = child.total / n if n else 0.0
        if self.rule == "puct":
            return value + self.exploration * child.prior * math.sqrt(parent_visits) / (1 + n)
        return math.inf if n == 0 else value + self.exploration * math.sqrt(math.log(max(parent_visits, 1)) / n)

    # ------------------------------------------------------------ growth

    def add(self, rollout: Rollout, selected: bool = True) -> None:
        """Count a rollout and add its steps as nodes.

        Args:
            selected: the rollout comes from `select`, whose virtual loss is taken back; False counts the draw here.
        """
        node = self.root
        trail = [node]
        for k in rollout.path:
            node = node.children[k]
            trail.append(node)
        for passed in trail:
            passed.pending -= selected
        node.draws += not selected
        start, before = 0, sum(len(passed.tokens) for passed in trail)
        for step in split_steps(rollout.tokens, self.tokenizer):
            child = next((c for c in node.children if c.tokens == step), None)
            if child is None:
                full = before + start + len(step) > self.max_tokens
                if full or node.depth >= self.max_depth or len(node.children) >= self.branching:
                    break
                prior = math.exp(min(0.0, sum(rollout.logprobs[start : start + len(step)])))
                terminal = step[-1] == self.tokenizer.eos_id
                child = Node((*node.path, len(node.children)), step, prior, terminal)
                node.children.append(child)
            start += len(step)
            node = child
            trail.append(node)
        for passed in trail:
            passed.visits += 1
            passed.total += rollout.reward

    def prefix(self, path: Path) -> list[int]:
        """Token ids from the prompt's end to the node."""
        node = self.root
        ids: list[int] = []
        for k in path:
            node = node.children[k]
            ids.extend(node.tokens)
        return ids

    def nodes(self) -> Iterator[Node]:
        """All nodes, parents first."""
        stack = [self.root]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))


def split_steps(ids: Sequence[int], tokenizer: Tokenizer) -> list[tuple[int, ...]]:
    """Complete steps of a completion; a last step that was cut off by the length limit is dropped."""
    steps, current = [], []
    for token in ids:
        current.append(int(token))
        if token == tokenizer.eos_id or "\n" in tokenizer.decode([token]):
            steps.append(tuple(current))
            current = []
    return steps


def node_to_json(node: Node, problem: str, tokenizer: Tokenizer) -> dict[str, Any]:
    """One line of nodes.jsonl."""
    return {
        "problem": problem,
        "path": list(node.path),
        "depth": node.depth,
        "text": tokenizer.decode(node.tokens),
        "tokens": list(node.tokens),
        "visits": node.visits,
        "total": node.total,
        "draws": node.draws,
        "prior": round(node.prior, 6),
        "terminal": node.terminal,
    }
