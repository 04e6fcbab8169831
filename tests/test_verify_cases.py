"""Every verdict must be right: the shared cases where they are at hand, and this project's own of the same kinds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from verify_cases import CASES

from atrl_ms.types import StepFeedback, Task
from sandbox.options import Options
from sandbox.pool import SandboxPool

SHARED = Path(__file__).resolve().parent.parent.parent / "shared" / "cases"


@pytest.fixture(scope="module")
def pool():
    with SandboxPool(Options(), workers=2) as pool:
        yield pool


def shared_cases() -> list[tuple[str, tuple[str, ...], str, str]]:
    manifest = SHARED / "manifest.json"
    if not manifest.is_file():
        return []
    found = []
    for case in json.loads(manifest.read_text())["cases"]:
        allowed = (case["expected"], *case.get("also_acceptable", ()))
        found.append((case["id"], allowed, *((SHARED / case[k]).read_text() for k in ("task", "candidate"))))
    return found


@pytest.fixture(scope="module")
def verdicts(pool) -> dict[str, StepFeedback]:
    """All of them at once: the pool works while pytest waits for the first."""
    every = [*shared_cases(), *CASES]
    futures = {name: pool.submit(Task(name, task), candidate) for name, _, task, candidate in every}
    return {name: future.result() for name, future in futures.items()}


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/cases is not on this machine")
@pytest.mark.parametrize("name", [case[0] for case in shared_cases()])
def test_shared_case_gets_its_verdict(verdicts, name):
    allowed = next(case[1] for case in shared_cases() if case[0] == name)
    assert verdicts[name].verdict in allowed, verdicts[name].feedback


@pytest.mark.parametrize("name", [case[0] for case in CASES])
def test_own_case_gets_its_verdict(verdicts, name):
    allowed = next(case[1] for case in CASES if case[0] == name)
    assert verdicts[name].verdict in allowed, verdicts[name].feedback


def test_score_follows_the_ladder(verdicts):
    for name, result in verdicts.items():
        assert 0.0 <= result.score <= 1.0
        if result.verdict == "cheat":
            assert result.score == 0.0, name
        elif result.verdict == "pass":
            assert result.score >= 0.40, name
            assert result.cases_passed == result.cases_total >= 3, name
        elif result.verdict == "wrong_output":
            assert 0.15 <= result.score < 0.30 + 1e-9, name


def test_result_says_what_ran(verdicts):
    for name, result in verdicts.items():
        if result.verdict == "pass":
            assert result.details["executor"] in ("native", "interpreter"), name
            assert "ascendnpu-ir" in result.details["compiler"] or not result.details["kernels"], name
        assert [s.ok for s in result.stages[:-1]] == [True] * (len(result.stages) - 1), name
        assert StepFeedback.from_json(json.loads(json.dumps(result.to_json()))) == result


def test_feedback_names_cause_and_line_without_noise(verdicts):
    assert "x * (x > 0)" in verdicts["operators"].feedback
    assert "ub overflow, requires" in verdicts["ub_overflow"].feedback
    assert "+ missing" in verdicts["kernel_name_error"].feedback
    assert "'s'" in verdicts["reads_above"].feedback and "above" in verdicts["reads_above"].feedback
    assert "at another shape" in verdicts["shape_specialised"].feedback
    for result in verdicts.values():
        said = "\n".join(line for line in result.feedback.split("\n") if not line.startswith("line "))
        assert not re.search(r"/tmp/|/usr/|site-packages|0x[0-9a-f]{6}", said), said
        assert len(result.feedback) <= 4 * Options().feedback_tokens + 40


def test_same_evaluation_twice_reads_the_same(pool, verdicts):
    name, _, task, candidate = next(c for c in CASES if c[0] == "ignores_norm_weight")
    fresh = pool.submit(Task(name + "_again", task + "\n"), candidate + "\n")
    again = pool.submit(Task(name + "_once_more", task + "\n"), candidate + "\n# another comment\n")
    assert fresh.result().feedback == again.result().feedback
