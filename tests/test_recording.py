"""A recording comes from a hostile process: whatever is wrong with it is refused, and nothing else happens."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox import checks
from sandbox.recording import InvalidRecording, validate, validate_header
from sandbox.stores import written_arguments

VIEW = {"buffer": 0, "dtype": "float32", "shape": [4], "strides": [1], "offset": 0}
GOOD = {
    "kernels": [
        {
            "name": "k",
            "ttir": "module {}",
            "arg_types": ["*fp32", "*fp32", "i32"],
            "arg_names": ["a", "b", "n"],
            "options": {},
            "first_line": 3,
            "source": {"1": "def k", "-2": "def helper"},
        }
    ],
    "sources": [{"name": "k", "line": 3, "constants": {}}],
    "buffers": [
        {"kind": "input", "call": 0, "index": 0, "nbytes": 16},
        {"kind": "param", "name": "w", "nbytes": 16},
        {"kind": "alloc", "nbytes": 16},
    ],
    "calls": [
        {
            "ops": [
                {"op": "fill", "dst": {**VIEW, "buffer": 2}, "bits": "00000000"},
                {"op": "copy", "dst": {**VIEW, "buffer": 2}, "src": VIEW},
                {"op": "set", "buffer": 2, "block": 0},
                {"op": "address", "buffer": 2, "at": 8, "target": 0, "offset": 4},
                {"op": "launch", "variants": [{"kernel": 0, "grid": [1, 1, 1], "args": [[0, 0], [2, 4], 7]}]},
            ],
            "output": {"type": "tensor", **VIEW, "buffer": 2, "written": True, "class": "Tensor", "items": []},
            "launches": 1,
        }
    ],
    "violations": [],
    "launch_errors": [],
    "reveal": [],
    "reveal_params": False,
    "facts": {"weights": "seed", "matched": ["w"], "other_constants": False, "patched": [], "threads": 0},
}
FINDING = {"kind": "compute", "what": "aten.relu", "line": "3: x", "phase": "forward"}
LAUNCH_ERROR = {"stage": "ttir", "kernel": "k", "message": "no", "line": ""}


def check(data):
    """What the judge does with a header before anything runs."""
    validate_header(data)
    checks.check_stop(data)
    validate(data, 1, [[16]], {"w": 16})
    checks.check_recording(data)


def test_honest_recording_is_accepted():
    check(copy.deepcopy(GOOD))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["calls", 0, "ops", 0, "dst", "offset"], 1),
        (["calls", 0, "ops", 0, "dst", "offset"], -1),
        (["calls", 0, "ops", 0, "dst", "strides"], [2]),
        (["calls", 0, "ops", 0, "dst", "buffer"], 3),
        (["calls", 0, "ops", 0, "dst", "dtype"], "float32; rm"),
        (["calls", 0, "ops", 0, "bits"], "zz"),
        (["calls", 0, "ops", 1, "src", "shape"], [3]),
        (["calls", 0, "ops", 2, "block"], 1),
        (["calls", 0, "ops", 2, "op"], "exec"),
        (["calls", 0, "ops", 3, "at"], 12),
        (["calls", 0, "ops", 3, "target"], 9),
        (["calls", 0, "ops", 4, "variants", 0, "args"], [[0, 0], [2, 17], 7]),
        (["calls", 0, "ops", 4, "variants", 0, "args"], [[0, 0], [2, 0]]),
        (["calls", 0, "ops", 4, "variants", 0, "args"], [[0, 0], [2, 0], "7"]),
        (["calls", 0, "ops", 4, "variants", 0, "grid"], [1.5, 1, 1]),
        (["calls", 0, "ops", 4, "variants", 0, "kernel"], True),
        (["calls", 0, "output", "shape"], [1 << 50]),
        (["buffers", 0, "nbytes"], 32),
        (["buffers", 1, "name"], "secret"),
        (["buffers", 2, "nbytes"], 1 << 60),
        (["kernels", 0, "name"], ""),
        (["calls"], []),
        (["calls", 0, "launches"], "1"),
        (["calls", 0, "ops", 4, "variants", 0, "args"], [[0, 0], [2, 0], 7.5]),
        (["kernels", 0, "source"], {"1" * 5000: "x"}),
        (["stop"], {"kind": "pass", "message": "", "line": "", "stage": ""}),
        (["violations"], [{}]),
        (["launch_errors"], {}),
        (["reveal"], [[0]]),
        (["reveal_params"], 1),
        (["facts"], None),
        (["facts", "weights"], "mine"),
        (["facts", "matched"], 3),
    ],
)
def test_each_lie_is_refused(path, value):
    data = copy.deepcopy(GOOD)
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(InvalidRecording):
        check(data)


junk = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(st.data(), junk)
def test_random_damage_never_gets_past_or_crashes(data, value):
    """Replace any node by anything: refused with the errors that the judge expects, or still a valid recording."""
    damaged = copy.deepcopy(GOOD | {"violations": [FINDING], "launch_errors": [LAUNCH_ERROR], "reveal": [0]})
    place = damaged
    while True:
        key = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else list(range(len(place)))))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = value
    try:
        check(damaged)
    except (InvalidRecording, KeyError, TypeError, AttributeError, checks.Failure):
        return
    json.dumps(damaged)  # what passes is plain data


TTIR = """
  tt.func public @k(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %c: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %0 = tt.splat %a : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %1 = tt.addptr %0, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %2 = tt.load %1 : tensor<16x!tt.ptr<f32>>
    %3 = scf.for %i = %x to %y step %z iter_args(%p = %c) -> (tensor<16x!tt.ptr<f32>>)  : i32 {
      tt.store %p, %2 : tensor<16x!tt.ptr<f32>>
      %4 = tt.addptr %p, %r : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
      scf.yield %4 : tensor<16x!tt.ptr<f32>>
    }
"""


def test_stores_are_followed_through_loops():
    assert written_arguments(TTIR, ["*fp32", "*fp32", "*fp32", "i32"]) == {2}


def test_store_through_a_loaded_address_counts_for_all():
    text = TTIR.replace("tt.store %p, %2", "tt.store %unknown, %2")
    assert written_arguments(text, ["*fp32", "*fp32", "*fp32", "i32"]) == {0, 1, 2}
