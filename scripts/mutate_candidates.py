"""Random damage to candidate files: whatever comes out gets a verdict, never an error of the judge.

    python scripts/mutate_candidates.py --count 2000 [--workers 2] [--seed 0]

Mutations work on lines, tokens and characters of honest candidates. Ends with 1 if an evaluation had no verdict, an
infrastructure error, or a score outside [0, 1].
"""

from __future__ import annotations

import argparse
import ast
import io
import random
import sys
import time
import tokenize
import warnings
from collections import Counter, deque
from pathlib import Path

from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import verify_cases_honest  # noqa: F401 (adds its candidates)
from verify_cases import CASES

from atrl_ms.errors import UserError
from atrl_ms.types import VERDICTS, Task
from sandbox.options import Options
from sandbox.pool import SandboxPool

TOKENS = [
    *"01xni()[]:,+-*/%<>=",
    "-1",
    "16",
    "1000000",
    "None",
    "True",
    "tl",
    "torch",
    "BLOCK",
    "mask=",
    "tl.load",
    "self",
]


def mutate(source: str, rng: random.Random) -> str:
    """One or two random edits; four in five times of those that still parse, so that later stages see them too."""
    edits = (drop_line, copy_line, swap_lines, change_token, drop_token, flip_character)
    tries = 30 if rng.random() < 0.8 else 1
    for _ in range(tries):
        mutated = source
        for edit in rng.choices(edits, weights=(2, 1, 1, 8, 1, 1), k=rng.randint(1, 2)):
            mutated = edit(mutated, rng)
        if mutated != source and (tries == 1 or parses(mutated)):
            break
    return mutated


def parses(source: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


def drop_line(source: str, rng: random.Random) -> str:
    lines = source.split("\n")
    del lines[rng.randrange(len(lines))]
    return "\n".join(lines) or "\n"


def copy_line(source: str, rng: random.Random) -> str:
    lines = source.split("\n")
    lines.insert(rng.randrange(len(lines)), rng.choice(lines))
    return "\n".join(lines)


def swap_lines(source: str, rng: random.Random) -> str:
    lines = source.split("\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    return "\n".join(lines)


def _tokens(source: str) -> list[tokenize.TokenInfo]:
    try:
        found = tokenize.generate_tokens(io.StringIO(source).readline)
        return [t for t in found if t.type in (tokenize.NAME, tokenize.NUMBER, tokenize.OP)]
    except (tokenize.TokenError, SyntaxError):
        return []


def _replace(source: str, token: tokenize.TokenInfo, text: str) -> str:
    lines = source.split("\n")
    row = token.start[0] - 1
    lines[row] = lines[row][: token.start[1]] + text + lines[row][token.end[1] :]
    return "\n".join(lines)


def change_token(source: str, rng: random.Random) -> str:
    tokens = _tokens(source)
    if not tokens:
        return source
    old = rng.choice(tokens)
    alike = [t.string for t in tokens if t.type == old.type]
    return _replace(source, old, rng.choice(alike) if rng.random() < 0.8 else rng.choice(TOKENS))


def drop_token(source: str, rng: random.Random) -> str:
    tokens = _tokens(source)
    return _replace(source, rng.choice(tokens), "") if tokens else source


def flip_character(source: str, rng: random.Random) -> str:
    i = rng.randrange(len(source))
    return (
        source[:i]
        + chr(rng.choice((0, 9, 10, 32, 40, 92, 0x7F, 0xE9, 0x1F600, rng.randrange(33, 127))))
        + source[i + 1 :]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    honest = [case for case in CASES if case[1] == ("pass",)]
    verdicts: Counter[str] = Counter()
    bad: list[str] = []
    begin = time.monotonic()
    with SandboxPool(Options(timeout=10.0, execution=1.0), workers=args.workers) as pool:
        waiting: deque = deque()
        bar = tqdm(total=args.count, unit="candidate")

        def collect() -> None:
            candidate, future = waiting.popleft()
            try:
                result = future.result()
                verdicts[result.verdict] += 1
                if (
                    result.verdict not in VERDICTS
                    or result.verdict == "infrastructure_error"
                    or not 0 <= result.score <= 1
                ):
                    bad.append(f"{result.feedback}\n{candidate}")
            except (UserError, Exception) as error:
                bad.append(f"{type(error).__name__}: {error}\n{candidate}")
            bar.update()

        for _ in range(args.count):
            name, _, task, candidate = rng.choice(honest)
            mutated = mutate(candidate, rng)
            waiting.append((mutated, pool.submit(Task(name, task), mutated)))
            if len(waiting) >= 8 * args.workers:
                collect()
        while waiting:
            collect()
        bar.close()
    seconds = time.monotonic() - begin
    print(f"{args.count} candidates in {seconds:.0f} s ({args.count / seconds:.2f} a second): {dict(verdicts)}")
    for text in bad[:5]:
        print("-" * 80, text, sep="\n")
    print(f"{len(bad)} without a proper verdict")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
