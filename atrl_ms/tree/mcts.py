"""Teacher search: Monte Carlo tree search per problem, many problems at once, resumable after a kill.

One rollout is one request: from the selected node the teacher completes the solution, the verifier judges it, and
its steps join the tree. Rollouts of a problem run in waves of `wave` that are selected together with virtual loss;
`problems_in_flight` problems run side by side, so that many requests wait at the engine at any time.

A directory holds (all JSON or JSON Lines):
    manifest.json    the settings and the teacher's fingerprint; a resume with others is refused
    problems.jsonl   the problems (atrl_ms/tree/problems.py)
    rollouts.jsonl   the journal: one line a rollout, appended when it is done and never changed
                     {"problem", "index", "path", "seed", "tokens", "logprobs", "reward"}
    nodes.jsonl      the trees, written when the search is complete (prefix_tree.node_to_json)

Resuming replays the journal. A wave's selection depends on complete waves only and a rollout's seed on (seed,
problem, index), so a resumed search asks for exactly the missing rollouts and ends with the tree of an undisturbed one
(given an engine whose samples depend on the request alone).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path as FilePath
from typing import Any, Literal

import numpy as np

from atrl_ms.errors import UserError
from atrl_ms.tree.prefix_tree import Path, PrefixTree, Rollout, node_to_json
from atrl_ms.tree.problems import Problem
from atrl_ms.tree.tokens import tokenizer_of
from atrl_ms.types import RolloutEngine, SampleRequest, Tokenizer

Verifier = Callable[[Problem, str], float]


@dataclass(frozen=True)
class SearchSettings:
    """What decides the outcome of a search; part of the manifest."""

    rollouts: int = 16
    max_depth: int = 5
    branching: int = 5
    rule: Literal["uct", "puct"] = "uct"
    exploration: float = 1.4
    temperature: float = 1.0
    max_new_tokens: int = 64
    window: int = 256
    wave: int = 4
    seed: int = 0
    teacher: str = ""  # fingerprint of the teacher's weights

    def tree(self, problem: Problem, tokenizer: Tokenizer) -> PrefixTree:
        """An empty tree with these limits. A prefix leaves room for at least one token in the window."""
        return PrefixTree(
            tokenizer,
            max_depth=self.max_depth,
            branching=self.branching,
            rule=self.rule,
            exploration=self.exploration,
            max_tokens=self.window - len(tokenizer.encode(problem.prompt)) - 1,
        )


class SearchDirectory:
    """The files of one search."""

    def __init__(self, path: FilePath) -> None:
        self.path = path
        self.manifest = path / "manifest.json"
        self.problems = path / "problems.jsonl"
        self.journal = path / "rollouts.jsonl"
        self.nodes = path / "nodes.jsonl"

    def prepare(self, problems: Sequence[Problem], settings: SearchSettings) -> None:
        """Create the directory, or check that it belongs to the same search.

        Raises:
            UserError: the directory holds a search with other settings or problems.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(p.to_json()) + "\n" for p in problems)
        digest = hashlib.sha256(text.encode()).hexdigest()
        wanted = {**asdict(settings), "problems": len(problems), "problems_sha256": digest}
        if self.manifest.is_file():
            found = read_json(self.manifest)
            changed = sorted(k for k in {*wanted, *found} if wanted.get(k) != found.get(k))
            if changed:
                raise UserError(
                    f"{self.path}: holds a search with other settings ({', '.join(changed)}); "
                    "choose another directory or remove this one"
                )
        write_whole(self.problems, text)
        write_whole(self.manifest, json.dumps(wanted, indent=2) + "\n")

    def tokenizer(self) -> Tokenizer:
        """The teacher's tokenizer, from the files that were copied here, or bytes."""
        return tokenizer_of(self.path)

    def read_settings(self) -> SearchSettings:
        """The settings of the search in this directory."""
        data = read_json(self.manifest)
        return SearchSettings(**{k: v for k, v in data.items() if k in SearchSettings.__dataclass_fields__})

    def read_problems(self) -> list[Problem]:
        return [Problem.from_json(data) for data in read_lines(self.problems)]

    def read_rollouts(self) -> dict[str, dict[int, Rollout]]:
        """Rollouts by problem and index."""
        done: dict[str, dict[int, Rollout]] = {}
        for number, data in enumerate(read_lines(self.journal), 1):
            try:
                rollout = Rollout(
                    data["index"],
                    tuple(data["path"]),
                    data["seed"],
                    tuple(data["tokens"]),
                    tuple(data["logprobs"]),
                    data["reward"],
                )
                known = done.setdefault(data["problem"], {})
            except (KeyError, TypeError) as error:
                raise UserError(f"{self.journal}:{number}: not a rollout ({error!r}); remove the line") from error
            if rollout.index in known:
                raise UserError(f"{self.journal}:{number}: rollout {rollout.index} of {data['problem']!r} is repeated")
            known[rollout.index] = rollout
        return done

    def trees(self, tokenizer: Tokenizer) -> dict[str, PrefixTree]:
        """Trees of all problems from the journal: exact also for a search that is not complete."""
        settings, done = self.read_settings(), self.read_rollouts()
        return {p.name: rebuild(settings.tree(p, tokenizer), done.get(p.name, {})) for p in self.read_problems()}


def rebuild(tree: PrefixTree, rollouts: dict[int, Rollout]) -> PrefixTree:
    """Add rollouts in the order of their index, as the search did."""
    for index in sorted(rollouts):
        tree.add(rollouts[index], selected=False)
    return tree


async def search(
    directory: FilePath,
    problems: Sequence[Problem],
    engine: RolloutEngine,
    tokenizer: Tokenizer,
    verifier: Verifier,
    settings: SearchSettings,
    *,
    problems_in_flight: int = 16,
    on_rollout: Callable[[int], None] = lambda reused: None,
) -> dict[str, PrefixTree]:
    """Search all problems; returns their trees and leaves them in `directory`.

    Args:
        on_rollout: progress; called with the number of rollouts taken from the journal or done.

    Raises:
        UserError: the directory belongs to another search.
    """
    names = [p.name for p in problems]
    if len(set(names)) != len(names):
        raise UserError("problem names must be unique within a search")
    files = SearchDirectory(directory)
    files.prepare(problems, settings)
    cut_torn_line(files.journal)
    done = files.read_rollouts()
    gate = asyncio.Semaphore(problems_in_flight)
    trees: dict[str, PrefixTree] = {}
    with open(files.journal, "ab", buffering=0) as journal:

        async def one(problem: Problem) -> None:
            async with gate:
                trees[problem.name] = await search_problem(
                    problem, engine, tokenizer, verifier, settings, done.get(problem.name, {}), journal, on_rollout
                )

        async with asyncio.TaskGroup() as group:
            for problem in problems:
                group.create_task(one(problem))
        os.fsync(journal.fileno())
    text = "".join(
        json.dumps(node_to_json(node, p.name, tokenizer)) + "\n" for p in problems for node in trees[p.name].nodes()
    )
    write_whole(files.nodes, text)
    return {name: trees[name] for name in names}


async def search_problem(
    problem: Problem,
    engine: RolloutEngine,
    tokenizer: Tokenizer,
    verifier: Verifier,
    settings: SearchSettings,
    done: dict[int, Rollout],
    journal: Any,
    on_rollout: Callable[[int], None],
) -> PrefixTree:
    """Waves of rollouts until the budget is spent or everything within the limits is explored."""
    tree = settings.tree(problem, tokenizer)
    prompt = tokenizer.encode(problem.prompt)

    async def roll(index: int, path: Path) -> Rollout:
        seed = rollout_seed(settings.seed, problem.name, index)
        if index in done:
            if done[index].path != path or done[index].seed != seed:
                raise UserError(
                    f"rollout {index} of {problem.name!r} in the journal started elsewhere than this search would; "
                    "the journal was edited or is of another version: remove the directory"
                )
            on_rollout(1)
            return done[index]
        prefix = tree.prefix(path)
        request = SampleRequest(
            prompt_ids=[*prompt, *prefix],
            max_new_tokens=settings.max_new_tokens,
            temperature=settings.temperature,
            stop_ids=(tokenizer.eos_id,),
            seed=seed,
        )
        sample = await engine.generate(request)
        body = sample.token_ids[:-1] if sample.finish_reason == "stop" else sample.token_ids
        finished = sample.finish_reason == "stop"
        reward = verifier(problem, tokenizer.decode([*prefix, *body])) if finished else 0.0
        logprobs = tuple(round(x, 5) for x in sample.logprobs)
        rollout = Rollout(index, path, seed, tuple(sample.token_ids), logprobs, float(reward))
        # One write call per line: a kill leaves whole lines, or one torn line at the end that a resume cuts off.
        journal.write((json.dumps({"problem": problem.name, **asdict(rollout)}) + "\n").encode())
        on_rollout(1)
        return rollout

    index = 0
    while index < settings.rollouts:
        paths: list[Path] = []
        while len(paths) < min(settings.wave, settings.rollouts - index):
            node = tree.select()
            if node is None:
                break
            paths.append(node.path)
        if not paths:
            on_rollout(settings.rollouts - index)
            break
        for rollout in await asyncio.gather(*(roll(index + k, path) for k, path in enumerate(paths))):
            tree.add(rollout)
        index += len(paths)
    return tree


def rollout_seed(seed: int, problem: str, index: int) -> int:
    """A 31-bit seed that depends on nothing else."""
    name = int.from_bytes(hashlib.sha256(problem.encode()).digest()[:8], "big")
    return int(np.random.SeedSequence([seed, name, index]).generate_state(1)[0] >> 1)


# ---------------------------------------------------------------- files


def cut_torn_line(path: FilePath) -> None:
    """Remove an incomplete last line, which a kill in the middle of a write leaves."""
    if not path.is_file():
        return
    data = path.read_bytes()
    end = data.rfind(b"\n") + 1
    if end < len(data):
        os.truncate(path, end)


def read_lines(path: FilePath) -> list[dict[str, Any]]:
    """All complete lines of a JSON Lines file; an unfinished last line is ignored."""
    if not path.is_file():
        return []
    text = path.read_text(encoding="utf-8")
    rows = []
    for number, line in enumerate(text[: text.rfind("\n") + 1].splitlines(), 1):
        try:
            rows.append(json.loads(line))
        except ValueError as error:
            raise UserError(f"{path}:{number}: not valid JSON ({error}); remove the line") from error
    return rows


def read_json(path: FilePath) -> dict[str, Any]:
    if not path.is_file():
        raise UserError(
            f"{path.parent}: no search here ({path.name} is missing); build one with: atrl tree build CONFIG"
        )
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise UserError(f"{path}: not valid JSON ({error})") from error


def write_whole(path: FilePath, text: str) -> None:
    """Replace a file at once: a reader sees the old or the new content, never a part."""
    temporary = path.with_name(path.name + ".tmp")
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
