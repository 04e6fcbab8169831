"""Teacher search: budgets, counts, virtual loss, and resuming without losing or repeating a rollout."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from atrl_ms.errors import UserError
from atrl_ms.tree.mcts import SearchDirectory, SearchSettings, search
from atrl_ms.tree.prefix_tree import PrefixTree, Rollout, split_steps
from atrl_ms.tree.problems import Problem, verify
from atrl_ms.tree.tokens import ByteTokenizer
from atrl_ms.types import Sample

TOKENIZER = ByteTokenizer()


class Walker:
    """A policy over lines "L" and "R": three steps, then an answer, each uniformly at random from the seed."""

    def __init__(self, stop_after=None):
        self.requests, self.stop_after, self.waiting, self.most_waiting = [], stop_after, 0, 0

    async def generate(self, request):
        if self.stop_after is not None and len(self.requests) >= self.stop_after:
            raise ConnectionError("engine gone")
        self.requests.append((tuple(request.prompt_ids), request.seed))
        self.waiting += 1
        self.most_waiting = max(self.most_waiting, self.waiting)
        await asyncio.sleep(0)
        self.waiting -= 1
        rng = np.random.default_rng(request.seed)
        done = bytes(request.prompt_ids).decode().count("\n") - 1
        lines = [rng.choice(["L", "R"]) for _ in range(3 - done)]
        text = "".join(line + "\n" for line in lines) + f"#{rng.integers(2)}"
        ids = [*TOKENIZER.encode(text), TOKENIZER.eos_id]
        return Sample(ids, [-0.5 / len(ids)] * len(ids), "stop", 0)


def problems(count):
    return [Problem(f"p{k}", "gsm8k", f"question {k}\n", "1") for k in range(count)]


def run(directory, engine, count=6, **changes):
    settings = SearchSettings(**{"rollouts": 12, "max_depth": 4, "branching": 2, "wave": 3, **changes})
    return asyncio.run(search(directory, problems(count), engine, TOKENIZER, verify, settings, problems_in_flight=4))


def shape(tree):
    return [(n.path, n.tokens, n.visits, n.total, n.draws, n.pending, n.terminal) for n in tree.nodes()]


@pytest.mark.parametrize("rule", ["uct", "puct"])
def test_counts_limits_and_journal_agree(tmp_path, rule):
    engine = Walker()
    trees = run(tmp_path, engine, rule=rule)
    journal = [json.loads(line) for line in (tmp_path / "rollouts.jsonl").read_text().splitlines()]
    assert len(journal) == len(engine.requests)
    assert max(Counter((r["problem"], r["index"]) for r in journal).values()) == 1
    for name, tree in trees.items():
        mine = [r for r in journal if r["problem"] == name]
        assert tree.root.visits == len(mine) <= 12
        assert tree.root.total == sum(r["reward"] for r in mine)
        for node in tree.nodes():
            assert node.pending == 0 and node.depth <= 4 and len(node.children) <= 2 and node.draws <= 2
            assert node.visits >= sum(c.visits for c in node.children)
            assert not (node.terminal and node.children)
            if node.terminal:
                text = TOKENIZER.decode(tree.prefix(node.path)[:-1])
                assert node.value == verify(Problem("", "gsm8k", "", "1"), text)
    assert engine.most_waiting > 3  # several problems wait at the engine together
    rebuilt = SearchDirectory(tmp_path).trees(TOKENIZER)
    assert {k: shape(t) for k, t in rebuilt.items()} == {k: shape(t) for k, t in trees.items()}
    nodes = (tmp_path / "nodes.jsonl").read_text().splitlines()
    assert len(nodes) == sum(len(shape(t)) for t in trees.values())


@pytest.mark.parametrize("stop_after", [1, 5, 17, 40])
def test_interrupted_search_resumes_to_the_same_trees(tmp_path, stop_after):
    whole = {k: shape(t) for k, t in run(tmp_path / "whole", Walker()).items()}
    first = Walker(stop_after)
    with pytest.raises(ExceptionGroup):
        run(tmp_path / "cut", first)
    kept = len((tmp_path / "cut" / "rollouts.jsonl").read_bytes().splitlines())
    with open(tmp_path / "cut" / "rollouts.jsonl", "ab") as file:
        file.write(b'{"problem": "p0", "index": 3, "pa')  # the line that a kill tore
    second = Walker()
    resumed = {k: shape(t) for k, t in run(tmp_path / "cut", second).items()}
    assert resumed == whole
    total = sum(s[0][2] for s in whole.values())
    assert kept + len(second.requests) == total
    again = Walker()
    run(tmp_path / "cut", again)
    assert again.requests == []


def test_killed_process_resumes_without_losing_or_repeating(tmp_path):
    script = textwrap.dedent(
        f"""
        import sys, asyncio; sys.path[:0] = [{os.path.dirname(__file__)!r}, {os.getcwd()!r}]
        from pathlib import Path
        import test_tree_search as t
        class Slow(t.Walker):
            async def generate(self, request):
                await asyncio.sleep(0.01)
                return await super().generate(request)
        t.run(Path({str(tmp_path / "killed")!r}), Slow())
        """
    )
    process = subprocess.Popen([sys.executable, "-c", script])
    journal = tmp_path / "killed" / "rollouts.jsonl"
    while process.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") < 10):
        pass
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = journal.read_bytes().count(b"\n")
    assert 10 <= kept < 72
    engine = Walker()
    trees = run(tmp_path / "killed", engine)
    assert kept + len(engine.requests) == sum(t.root.visits for t in trees.values())
    rows = [json.loads(line) for line in journal.read_text().splitlines()]
    assert max(Counter((r["problem"], r["index"]) for r in rows).values()) == 1
    whole = run(tmp_path / "whole", Walker())
    assert {k: shape(t) for k, t in trees.items()} == {k: shape(t) for k, t in whole.items()}


def test_other_settings_are_refused(tmp_path):
    run(tmp_path, Walker())
    with pytest.raises(UserError, match="temperature"):
        run(tmp_path, Walker(), temperature=0.5)
    with pytest.raises(UserError, match="problems"):
        run(tmp_path, Walker(), count=7)


def test_repeated_or_broken_journal_lines_are_refused(tmp_path):
    run(tmp_path, Walker())
    journal = tmp_path / "rollouts.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines, lines[0]]))
    with pytest.raises(UserError, match="repeated"):
        run(tmp_path, Walker())
    journal.write_bytes(b"".join([b"not json\n", *lines]))
    with pytest.raises(UserError, match=r"rollouts\.jsonl:1"):
        run(tmp_path, Walker())


def test_uct_prefers_the_better_child_and_virtual_loss_spreads_a_wave():
    tree = PrefixTree(TOKENIZER, max_depth=3, branching=2, exploration=0.5)
    for index, (text, reward) in enumerate([("L\n#1", 1.0), ("R\n#0", 0.0)]):
        ids = (*TOKENIZER.encode(text), TOKENIZER.eos_id)
        tree.add(Rollout(index, (), 0, ids, (-0.1,) * len(ids), reward), selected=False)
    first = tree.select()
    assert first.path[0] == 0  # below the child that succeeded
    chosen = [first, *(tree.select() for _ in range(3))]
    assert {node.path[0] for node in chosen} == {0, 1}


def test_puct_weighs_by_the_teachers_probability():
    tree = PrefixTree(TOKENIZER, max_depth=3, branching=3, rule="puct", exploration=2.0)
    for index, (text, logprob) in enumerate([("L\n#0", -0.05), ("R\n#0", -4.0)]):
        ids = (*TOKENIZER.encode(text), TOKENIZER.eos_id)
        tree.add(Rollout(index, (), 0, ids, (logprob,) * len(ids), 0.0), selected=False)
    assert tree.select().path == (0,)


def test_steps_join_to_the_sampled_tokens_and_a_cut_step_is_dropped():
    ids = [*TOKENIZER.encode("1+2=3\n#3"), TOKENIZER.eos_id]
    steps = split_steps(ids, TOKENIZER)
    assert [t for s in steps for t in s] == ids and len(steps) == 2
    assert split_steps(TOKENIZER.encode("1+2=3\n3+"), TOKENIZER) == steps[:1]


def test_prefixes_leave_room_in_the_window():
    tree = PrefixTree(TOKENIZER, max_depth=5, branching=2, max_tokens=4)
    ids = TOKENIZER.encode("L\nR\nL\n")
    tree.add(Rollout(0, (), 0, tuple(ids), (-0.1,) * 6, 0.0), selected=False)
    tree.add(Rollout(1, (0,), 0, tuple(ids), (-0.1,) * 6, 0.0), selected=False)
    assert max(len(tree.prefix(node.path)) for node in tree.nodes()) == 4 and tree.root.visits == 2


def test_a_fully_explored_problem_ends_early(tmp_path):
    trees = run(tmp_path, Walker(), count=1, rollouts=500, branching=2)
    tree = trees["p0"]
    assert tree.root.visits < 500 and tree.exhausted(tree.root)
    assert all(a.visits >= b.visits for a, b in pairwise([tree.root, tree.root.children[0]]))
