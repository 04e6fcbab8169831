"""Reasoning problems: exact verifiers, reference solutions, disjoint halves, files in GSM8K format."""

import json
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atrl_ms.errors import UserError
from atrl_ms.tree.problems import EASY, Problem, generate, is_held_out, load_gsm8k, stated_answer, verify
from atrl_ms.tree.tokens import ByteTokenizer

pytest.importorskip("reasoning_gym", reason="the reasoning extra is not installed")


@pytest.mark.parametrize("family", list(EASY))
def test_reference_solutions_are_right_and_every_step_is_true(family):
    for problem in islice(generate([family], 3, False), 40):
        assert verify(problem, problem.solution) == 1.0
        assert verify(Problem.from_json(json.loads(json.dumps(problem.to_json()))), problem.solution) == 1.0
        assert problem.steps
        for step in problem.steps:
            left, right = step.split("=")
            if "x" in left:  # an equation: true for the answer
                assert eval(left.replace("x", f"({problem.answer})")) == int(right)
            else:
                assert eval(left) == pytest.approx(eval(right))
        assert verify(problem, problem.solution + "1") == 0.0
        assert verify(problem, "\n".join(problem.steps)) == 0.0  # no answer line


def test_halves_are_disjoint_for_all_seeds():
    train = {p.prompt for seed in (0, 1) for p in islice(generate(list(EASY), seed, False), 120)}
    held = {p.prompt for seed in (0, 1) for p in islice(generate(list(EASY), seed, True), 60)}
    assert not train & held
    assert all(is_held_out(p) for p in held) and not any(is_held_out(p) for p in train)


def test_seeds_give_other_problems():
    one, two = ({p.prompt for p in islice(generate(["chain_sum"], s, False), 100)} for s in (1, 2))
    assert len(one & two) < 20


def test_countdown_must_use_the_numbers():
    problem = Problem("c", "countdown", "c 2 7 4=1\n", "7-4-2", (), {"numbers": [2, 7, 4], "target": 1})
    assert verify(problem, "7-4=3\n3-2=1\n#7-4-2") == 1.0
    assert verify(problem, "#(7-4)-2") == 1.0
    for wrong in ("#1", "#7-4-2+0", "#2-1", "#7-4", "#7-4-2=1", "#"):
        assert verify(problem, wrong) == 0.0, wrong


@pytest.mark.parametrize(
    "attack", ["#__import__('os').getpid()", "#9**9**9**9", "#9999999*9999999", "#(lambda:1)()", "#7-4-2#", "#1e400"]
)
def test_answers_that_are_not_small_arithmetic_never_reach_the_evaluating_scorer(attack):
    problem = Problem("c", "countdown", "c 2 7 4=1\n", "7-4-2", (), {"numbers": [2, 7, 4], "target": 1})
    assert verify(problem, attack) == 0.0


@given(st.text(max_size=40))
def test_verifiers_survive_any_text(text):
    for family, metadata in (("chain_sum", {}), ("countdown", {"numbers": [1, 2, 3], "target": 6}), ("gsm8k", {})):
        assert verify(Problem("p", family, "q\n", "6", (), metadata), text) in (0.0, 1.0)


@given(st.text())
def test_byte_tokenizer_round_trips(text):
    tokenizer = ByteTokenizer()
    assert tokenizer.decode([*tokenizer.encode(text), tokenizer.eos_id, tokenizer.pad_id]) == text


def test_only_the_last_line_is_the_answer():
    assert stated_answer("#5\n1+1=2\n#2") == "2" and stated_answer("#5\n1+1=2") is None
    assert stated_answer("#### 42\n") == "42"


def test_gsm8k_file(tmp_path):
    path = tmp_path / "train.jsonl"
    rows = [
        {"question": "Ann has 3 pens\nand buys 4.", "answer": "3+4=<<3+4=7>>7 pens\nShe pays $1,200.\n#### 1,207"},
        {"question": "x", "answer": "#### -2.50"},
    ]
    path.write_text("\n".join(json.dumps(r) for r in rows) + "\n\n")
    first, second = load_gsm8k(path)
    assert first.prompt == "Ann has 3 pens and buys 4.\n" and first.steps == ("3+4=7 pens", "She pays $1,200.")
    assert verify(first, first.solution) == verify(first, "#### 1207.0") == verify(second, "#-2.5") == 1.0
    assert verify(first, "#1208") == verify(first, "#NaN") == 0.0


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('{"question": "q"}', "'answer' is missing"),
        ('{"answer": "#### 1"}', "'question' is missing"),
        ('{"question": " ", "answer": "#### 1"}', "'question' is missing, empty"),
        ('{"question": 1, "answer": "#### 2"}', "'question' is missing, empty or not a string"),
        ("[1]", "not a JSON object"),
        ('{"question": "torn', "not valid JSON"),
        ('{"question": "q", "answer": "no number"}', "#### number"),
        ('{"question": "q", "answer": "#### seven"}', "'seven'"),
        ('{"question": "q", "answer": "#### NaN"}', "'NaN'"),
    ],
)
def test_gsm8k_faults_name_file_line_and_fault(tmp_path, line, what):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"question": "q", "answer": "#### 1"}\n' + line + "\n")
    with pytest.raises(UserError, match=rf"bad\.jsonl:2: .*{what}") as caught:
        load_gsm8k(path)
    assert "\n" not in str(caught.value)


def test_gsm8k_reads_what_editors_write(tmp_path):
    """A byte order mark, Windows line ends, and Unicode's line separator within a question."""
    path = tmp_path / "odd.jsonl"
    row = json.dumps({"question": "one\u2028two", "answer": "a\u2028b\n#### 3"}, ensure_ascii=False)
    path.write_bytes(("\ufeff" + row + "\r\n" + row + "\r\n").encode())
    assert [p.prompt for p in load_gsm8k(path)] == ["one two\n"] * 2


def test_unknown_family_is_named():
    with pytest.raises(UserError, match="sudoku"):
        next(generate(["sudoku"], 0, False))
