"""Comparison, score and feedback: what passes, what must not, and what the author is told."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox import feedback
from sandbox.compare import compare
from sandbox.options import Ladder
from sandbox.static_gate import check
from sandbox.verdict import score


def exact_and_eager(kind=torch.float32, n=4096, seed=0):
    torch.manual_seed(seed)
    x = torch.randn(16, n // 16, dtype=torch.float64).to(kind)
    exact = x.double().exp() * x.double()
    return x, exact, (x.exp() * x)


@pytest.mark.parametrize("kind", [torch.float32, torch.float16, torch.bfloat16])
def test_other_rounding_passes(kind):
    _, exact, eager = exact_and_eager(kind)
    assert compare(exact.to(kind), eager, exact, "npu") is None


@pytest.mark.parametrize(("kind", "narrow"), [(torch.float32, torch.float16), (torch.float32, torch.bfloat16)])
def test_narrower_arithmetic_fails(kind, narrow):
    x, exact, eager = exact_and_eager(kind)
    through = (x.to(narrow).exp() * x.to(narrow)).to(kind)
    found = compare(through, eager, exact, "npu")
    assert found is not None and found.kind == "values"


def test_no_worse_than_twice_eager_passes_where_the_plain_rule_would_not():
    # Catastrophic cancellation: eager itself is far off, and an equally good kernel must not be rejected.
    big = torch.full((256,), 1e6) + torch.rand(256)
    eager = (big + 1e-3) - big
    exact = torch.full((256,), 1e-3, dtype=torch.float64)
    assert compare(exact.float(), eager, None, "npu") is not None
    assert compare(exact.float(), eager, exact, "npu") is None
    assert compare(exact.float() + 10 * (eager - exact.float()).abs().max(), eager, exact, "npu") is not None


def test_order_of_checks_and_kinds():
    y = torch.tensor([1.0, 2.0, math.nan, math.inf])
    assert compare(y[:3], y, None, "npu").kind == "shape"
    assert compare(y.double(), y, None, "npu").kind == "dtype"
    assert compare(torch.tensor([1.0, 2.0, 3.0, math.inf]), y, None, "npu").kind == "nan"
    assert compare(torch.tensor([1.0, 2.0, math.nan, -math.inf]), y, None, "npu").kind == "inf"
    assert compare(torch.tensor([1.0, 2.5, math.nan, math.inf]), y, None, "npu").kind == "values"
    assert compare(y.clone(), y, None, "npu") is None


def test_integers_are_exact_and_quantised_ones_within_one():
    y = torch.arange(10, dtype=torch.int8)
    assert compare(y + 1, y, None, "npu") is not None
    assert compare(y + 1, y, None, "npu", quantised=True) is None
    assert compare(y + 2, y, None, "npu", quantised=True) is not None
    flags = torch.tensor([True, False])
    assert compare(~flags, flags, None, "npu", quantised=True) is not None


def test_strides_do_not_matter_and_empty_outputs_pass():
    y = torch.randn(8, 5)
    assert compare(y.t().contiguous().t(), y, None, "npu") is None
    assert compare(torch.empty(0, 4), torch.empty(0, 4), None, "npu") is None


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda y: y[:, 40:].zero_(), "columns from 40"),
        (lambda y: y[3].fill_(math.nan), "row 3"),
        (lambda y: y.view(-1)[1010:].zero_(), "tail from flat index 1010"),
        (lambda y: y.zero_(), "all zero"),
        (lambda y: y[20:].add_(1), "rows from 20"),
        (lambda y: y[:, 7].add_(1), "column 7"),
    ],
)
def test_pattern_of_wrong_elements_is_named(spoil, words):
    torch.manual_seed(1)
    y = torch.randn(24, 50) + 5
    bad = y.clone()
    spoil(bad)
    assert words in compare(bad, y, None, "npu").pattern


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["static_error", "compile_error", "runtime_error", "wrong_output", "timeout", "crash", "pass"]),
    st.sampled_from(["", "static", "compile", "execute"]),
    st.integers(0, 9),
    st.floats(0.01, 100),
)
def test_score_is_bounded_and_monotone(verdict, reached, passed, speedup):
    ladder = Ladder()
    u = score(verdict, reached=reached, passed=passed, total=9, speedup=speedup, ladder=ladder)
    assert 0.0 <= u <= 1.0
    more = score(verdict, reached=reached, passed=min(9, passed + 1), total=9, speedup=speedup * 2, ladder=ladder)
    assert more >= u
    if verdict != "pass":
        assert u <= ladder.compiled + ladder.correct_share
    assert score("cheat", reached=reached, passed=9, total=9, speedup=9.0, ladder=ladder) == 0.0


def test_score_values_of_the_ladder():
    def u(verdict, reached, passed=0, speedup=None):
        return score(verdict, reached=reached, passed=passed, total=4, speedup=speedup, ladder=Ladder())

    assert u("static_error", "") == 0.0
    assert u("compile_error", "static") == 0.05
    assert u("wrong_output", "compile", 2) == pytest.approx(0.225)
    assert u("pass", "execute", 4) == 0.40
    assert u("pass", "execute", 4, 0.5) == 0.40
    assert u("pass", "execute", 4, 3.0) == 1.0
    assert u("pass", "execute", 4, 100.0) == 1.0


def test_failures_with_one_cause_read_as_one():
    lines = feedback.group([(f"case{i}", f"{i * 7} of 100 elements, worst at [{i}, 3]") for i in range(50)], 50)
    assert lines == ["50 of 50 cases, e.g. case0: 0 of 100 elements, worst at [0, 3]"]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=400), max_size=8), st.integers(20, 200))
def test_feedback_keeps_its_budget(lines, tokens):
    text = feedback.render("compile", "compile_error", lines, tokens)
    assert len(text) <= tokens * feedback.CHARACTERS_PER_TOKEN
    assert text.startswith("compile_error at compile")


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300))
def test_gate_answers_every_text(source):
    finding = check(source)
    assert finding is not None and finding.verdict in ("static_error", "cheat")


def test_gate_reads_syntax_not_words():
    kernel = "import triton\n@triton.jit\ndef k(x):\n    '''try: except pass torch.relu'''\n    pass\n"
    assert check(kernel + "class ModelNew:\n    pass\n") is None
    assert check("from triton import jit\n@jit\ndef k(x): pass\nModelNew = make()\n") is None
    assert check('"""@triton.jit"""\nclass ModelNew: pass\n').verdict == "cheat"
    assert check("x = (\n").verdict == "static_error"
