"""Multi-step problems with exact verifiers: three families of the reasoning-gym package and GSM8K-format files.

A problem is a short prompt that ends with a newline; a solution is a list of lines, one reasoning step a line, the
last of which is `#answer`. The search branches between lines. For example

    s 4-1+7                     prompt (family letter, expression)
    4-1=3                       step
    3+7=10                      step
    #10                         answer, judged by reasoning-gym's own scorer

Held-out problems are chosen by a hash of the prompt, so no problem is ever in both halves whatever the seed.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

from atrl_ms.errors import UserError

STEP_END = "\n"
ANSWER = "#"
STREAM = 1_000_000  # items of one seed
HELD_OUT_OF = 5  # one prompt in this many is held out

# Parameters of the easy setting, which a policy of about a million parameters can learn on a CPU.
EASY: dict[str, dict[str, Any]] = {
    "chain_sum": {"min_terms": 3, "max_terms": 5, "min_digits": 1, "max_digits": 1},
    "simple_equations": {"min_terms": 2, "max_terms": 3, "min_value": 1, "max_value": 9},
    "countdown": {
        "min_numbers": 3,
        "max_numbers": 3,
        "min_value": 1,
        "max_value": 9,
        "min_target": 1,
        "max_target": 20,
    },
}


@dataclass(frozen=True)
class Problem:
    """One problem.

    Attributes:
        family: name in reasoning-gym, or "gsm8k".
        answer: reference answer; `metadata` is what the family's scorer needs besides (JSON-serialisable).
        steps: one reference solution, without the answer line; empty when none is known.
    """

    name: str
    family: str
    prompt: str
    answer: str
    steps: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def solution(self) -> str:
        """The reference solution as a policy would write it."""
        return STEP_END.join([*self.steps, ANSWER + self.answer])

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Problem:
        return Problem(**{**data, "steps": tuple(data["steps"])})


def is_held_out(prompt: str) -> bool:
    """Whether a prompt belongs to the held-out part."""
    return int.from_bytes(hashlib.sha256(prompt.encode()).digest()[:4], "big") % HELD_OUT_OF == 0


def stated_answer(text: str) -> str | None:
    """The answer of a completion: what follows # in its last line, None when that line is no answer line."""
    last = text.rstrip(STEP_END).rsplit(STEP_END, 1)[-1]
    return last.lstrip(ANSWER).strip() if last.startswith(ANSWER) else None


def verify(problem: Problem, text: str) -> float:
    """Reward of a completion `text` (steps and answer line): 1.0 if the answer is exactly right, else 0.0."""
    answer = stated_answer(text)
    if not answer or len(answer) > 64:
        return 0.0
    if problem.family == "gsm8k":
        given, wanted = as_number(answer), as_number(problem.answer)
        return float(given is not None and given == wanted)
    # The scorers evaluate the text with sympy: nothing but small arithmetic may reach them.
    if not re.fullmatch(r"[0-9+\-*/() ]+", answer) or "**" in answer or "//" in answer or re.search(r"\d{7}", answer):
        return 0.0
    score = scorer(problem.family)(answer, {"answer": problem.answer, "metadata": problem.metadata})
    return float(score == 1.0)


def as_number(text: str) -> Decimal | None:
    """A finite number written like 1,234 or $5 or 7.50, else None."""
    try:
        value = Decimal(text.replace(",", "").replace("$", "").rstrip(".%"))
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


# ---------------------------------------------------------------- reasoning-gym


def gym() -> Any:
    """The reasoning-gym package."""
    try:
        import reasoning_gym
    except ImportError as error:
        raise UserError(
            "reasoning problems need the reasoning-gym package: pip install 'atrl_ms[reasoning]'"
        ) from error
    return reasoning_gym


def scorer(family: str) -> Callable[[str, dict[str, Any]], float]:
    """The package's own judge of a family."""
    return gym().get_score_answer_fn(family)


def generate(families: list[str], seed: int, held_out: bool) -> Iterator[Problem]:
    """Endless problems of one half, the families in turn, without repeated prompts.

    Raises:
        UserError: unknown family, or a family whose prompts are exhausted.
    """
    unknown = sorted(set(families) - set(EASY))
    if unknown or not families:
        raise UserError(f"unknown problem family {', '.join(unknown) or '(none)'}; known: {', '.join(EASY)}")
    streams = [_family_stream(family, seed, held_out) for family in families]
    while True:
        for stream in streams:
            yield next(stream)


def _family_stream(family: str, seed: int, held_out: bool) -> Iterator[Problem]:
    seen: set[str] = set()
    misses = 0
    # Item k of a dataset is drawn from seed + k, so different seeds need ranges that do not overlap.
    dataset = gym().create_dataset(family, size=STREAM, seed=seed * STREAM, **EASY[family])
    for k in range(STREAM):
        problem = TRANSLATORS[family](dataset[k])
        if problem.prompt in seen or is_held_out(problem.prompt) != held_out:
            misses += 1
            if misses > 2000:
                raise UserError(f"{family}: no new problem among 2000; ask for fewer problems or more families")
            continue
        misses = 0
        seen.add(problem.prompt)
        yield problem


def _chain_sum(entry: dict[str, Any]) -> Problem:
    expression = entry["metadata"]["expression"].replace(" ", "")
    terms = re.findall(r"[+-]?\d+", expression)
    total, steps = int(terms[0]), []
    for term in terms[1:]:
        steps.append(f"{total}{term}={total + int(term)}")
        total += int(term)
    prompt = f"s {expression}{STEP_END}"
    return Problem(prompt.strip(), "chain_sum", prompt, entry["answer"], tuple(steps))


def _simple_equations(entry: dict[str, Any]) -> Problem:
    variable = entry["metadata"]["variable"]
    equation = entry["metadata"]["equation"].replace(" ", "").replace(variable, "x")  # one name: less to learn
    left, right = equation.split("=")
    tree = compile(ast.parse(left, mode="eval"), "equation", "eval")
    offset = eval(tree, {"__builtins__": {}}, {"x": 0})  # an expression of the package, not of a model
    slope = eval(tree, {"__builtins__": {}}, {"x": 1}) - offset
    steps = [f"{slope}*x={int(right) - offset}"] if offset or slope != 1 else []
    steps.append(f"x={entry['answer']}")
    prompt = f"e {equation}{STEP_END}"
    return Problem(prompt.strip(), "simple_equations", prompt, entry["answer"], tuple(steps))


def _countdown(entry: dict[str, Any]) -> Problem:
    numbers, target = entry["metadata"]["numbers"], entry["metadata"]["target"]
    expression = entry["metadata"]["expression"].replace(" ", "")
    steps: list[str] = []
    _arithmetic_steps(ast.parse(expression, mode="eval").body, steps)
    prompt = f"c {' '.join(map(str, numbers))}={target}{STEP_END}"
    metadata = {"numbers": numbers, "target": target}
    return Problem(prompt.strip(), "countdown", prompt, expression, tuple(steps), metadata)


def _arithmetic_steps(node: ast.expr, steps: list[str]) -> Fraction:
    """Append one line per operation, innermost first; the value of the expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return Fraction(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_arithmetic_steps(node.operand, steps)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        left, right = _arithmetic_steps(node.left, steps), _arithmetic_steps(node.right, steps)
        sign, function = OPERATORS[type(node.op)]
        value = function(left, right)
        steps.append(f"{left}{sign}{right}={value}")
        return value
    raise ValueError(f"not plain arithmetic: {ast.dump(node)}")


OPERATORS: dict[type, tuple[str, Callable[[Fraction, Fraction], Fraction]]] = {
    ast.Add: ("+", lambda a, b: a + b),
    ast.Sub: ("-", lambda a, b: a - b),
    ast.Mult: ("*", lambda a, b: a * b),
    ast.Div: ("/", lambda a, b: a / b),
}
TRANSLATORS: dict[str, Callable[[dict[str, Any]], Problem]] = {
    "chain_sum": _chain_sum,
    "simple_equations": _simple_equations,
    "countdown": _countdown,
}


# ---------------------------------------------------------------- GSM8K format


def load_gsm8k(path: str | Path) -> list[Problem]:
    """Problems of a JSON Lines file with `question` and `answer` (steps as lines, then `#### number`).

    Raises:
        UserError: unreadable file or line; the message names file and line.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from error
    # Not splitlines(): a question may hold other line separators of Unicode.
    numbered = enumerate(text.split("\n"), 1)
    problems = [_gsm8k_problem(path, number, line) for number, line in numbered if line.strip()]
    if not problems:
        raise UserError(f"{path}: holds no problem")
    return problems


def _gsm8k_problem(path: Path, number: int, line: str) -> Problem:
    def fault(what: str) -> UserError:
        return UserError(f"{path}:{number}: {what}")

    try:
        data = json.loads(line)
    except ValueError as error:
        raise fault(f"not valid JSON ({error})") from error
    if not isinstance(data, dict):
        raise fault("not a JSON object; the format is one object with 'question' and 'answer' a line")
    for key in ("question", "answer"):
        if not isinstance(data.get(key), str) or not data[key].strip():
            raise fault(f"{key!r} is missing, empty or not a string")
    body, mark, final = data["answer"].rpartition("####")
    if not mark:
        raise fault("the answer does not end in '#### number'")
    if as_number(final.strip()) is None:
        raise fault(f"the answer {final.strip()!r} after '####' is not a number")
    body = re.sub(r"<<.*?>>", "", body)  # calculator annotations
    steps = tuple(step.strip() for step in body.split("\n") if step.strip())
    prompt = " ".join(data["question"].split()) + STEP_END
    return Problem(f"{path.stem}:{number}", "gsm8k", prompt, final.strip(), steps)
