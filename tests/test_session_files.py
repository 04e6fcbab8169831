"""Sessions on disk come back exactly: rewards, masks, log-probabilities to the last bit."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from session_factory import make_session

from atrl_ms.errors import UserError
from atrl_ms.evaluate.sessions import expand, read_sessions, runs, write_sessions
from atrl_ms.types import Speedup, Stage, StepFeedback


def test_sessions_survive_the_round_trip(tmp_path):
    sessions = [make_session([[0.0, 0.15], [1.0]], seed=3), make_session([[0.05]], finish="max_turns")]
    sessions[0].evaluations[-1].feedback = StepFeedback(
        "pass", (Stage("static", True, 0.25),), 3, 3, 1.0, Speedup(1.5, "modelled"), "passed", {"kernels": 1}
    )
    write_sessions(tmp_path / "s.jsonl", sessions)
    for a, b in zip(sessions, read_sessions(tmp_path / "s.jsonl"), strict=True):
        for field in dataclasses.fields(a):
            if field.name != "segments":
                assert getattr(a, field.name) == getattr(b, field.name), field.name
        for x, y in zip(a.segments, b.segments, strict=True):
            for field in dataclasses.fields(x):
                left, right = getattr(x, field.name), getattr(y, field.name)
                assert np.array_equal(left, right) and np.asarray(left).dtype == np.asarray(right).dtype, field.name


def test_a_damaged_line_is_named(tmp_path):
    write_sessions(tmp_path / "s.jsonl", [make_session([[0.0]])])
    with (tmp_path / "s.jsonl").open("a") as file:
        file.write('{"task": 1}\n')
    with pytest.raises(UserError, match=r"s\.jsonl:2"):
        read_sessions(tmp_path / "s.jsonl")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-1, 2), max_size=30))
def test_run_length_code_is_lossless(values):
    assert expand(runs(np.array(values, np.int32)), np.int32).tolist() == values
