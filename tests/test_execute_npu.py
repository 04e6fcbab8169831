"""The parts of the NPU path that need no NPU: choosing the device, its errors, memory and movement, the speedup."""

from __future__ import annotations

import math

import numpy as np
import pytest

from atrl_ms.errors import UserError
from sandbox.devices import choose, kernel_fault
from sandbox.execute.npu import BAND, DeviceMemory, DeviceSpace
from sandbox.profile import measured
from sandbox.replay import HostSpace, replay

VIEW = {"dtype": "float32", "shape": [2, 3], "strides": [3, 1], "offset": 0}
RECORDING = {
    "buffers": [
        {"kind": "input", "call": 0, "index": 0, "nbytes": 24},
        {"kind": "alloc", "nbytes": 25},
        {"kind": "alloc", "nbytes": 12},
        {"kind": "param", "name": "w", "nbytes": 24},
    ],
    "calls": [
        {
            "ops": [
                {"op": "fill", "dst": {**VIEW, "buffer": 1}, "bits": "0000803f"},
                {"op": "copy", "dst": {**VIEW, "buffer": 1, "shape": [3, 2], "strides": [1, 3]},
                 "src": {**VIEW, "buffer": 0, "shape": [3, 2], "strides": [2, 1]}},
                {"op": "copy", "dst": {"buffer": 2, "dtype": "bfloat16", "shape": [3], "strides": [2], "offset": 1},
                 "src": {**VIEW, "buffer": 3, "shape": [3], "strides": [2]}},
                {"op": "set", "buffer": 2, "block": 0},
            ],
            "output": {"type": "tuple", "items": [
                {"type": "tensor", "buffer": 1, **VIEW, "items": []},
                {"type": "tensor", "buffer": 2, **VIEW, "items": []},
            ]},
        }
    ],
}  # fmt: skip


def test_data_movement_on_a_torch_device_equals_guarded_memory():
    values = np.random.default_rng(0).standard_normal(12).astype(np.float32)
    request = {"blocks": [b"ab"], "params": {"w": values[6:].tobytes()}}
    case = {"call": 0, "inputs": [values[:6].tobytes()]}
    results = []
    for space in (HostSpace(), DeviceSpace("cpu")):
        blocks: list[bytes] = []
        result = replay(RECORDING, request, case, lambda *_: 0.0, blocks, space)
        assert result["error"] is None
        results.append((result["unstable"], blocks))
    assert results[0] == results[1]
    assert results[0][0], "buffers that are not written fully must differ between the two poisons"


def test_device_memory_shows_writes_beside_it():
    memory = DeviceMemory(10, 0x7B, "cpu")
    memory.write(b"0123456789")
    assert memory.read() == b"0123456789" and memory.slack_intact()
    DeviceSpace("cpu").point(memory, 0, 0x0102030405060708)
    assert memory.read() == bytes(range(8, 0, -1)) + b"89"
    for at in (BAND - 1, BAND + 10):
        memory = DeviceMemory(10, 0x7B, "cpu")
        memory._all[at] = 0
        assert not memory.slack_intact()


@pytest.mark.parametrize(
    ("wanted", "lacking", "chosen"),
    [("auto", [], "npu"), ("auto", ["x"], "cpu"), ("cpu", [], "cpu"), ("npu", [], "npu")],
)
def test_device_is_chosen_by_what_is_there(wanted, lacking, chosen):
    assert choose(wanted, lacking) == chosen


def test_npu_that_is_not_there_is_a_clear_mistake():
    with pytest.raises(UserError, match="torch_npu is not installed; use --device cpu"):
        choose("npu", ["torch_npu is not installed"])


@pytest.mark.parametrize(
    ("message", "mine"),
    [
        ("NPU function error: aclrtSynchronizeStream, error code is 507035", True),
        ("[ERROR] vector core timeout, error code 507034, device 0", True),
        ("aclrtSetDevice failed, error code is 507033", False),
        ("EE9999: inner error! 507057", False),
        ("no code at all", False),
    ],
)
def test_device_errors_are_blamed_on_the_right_side(message, mine):
    assert bool(kernel_fault(message)) is mine


def test_measured_speedup_is_a_geometric_mean_and_never_beats_memory():
    times = [measured.CallTime(10.0, 10.0, 0.5, 2.0, []), measured.CallTime(1.0, 1.0, math.nan, 4.0, ["odd"])]
    assert measured.from_json(measured.to_json(times))[0] == times[0]
    assert math.isnan(measured.from_json(measured.to_json(times))[1].spread_us)
    profile = measured.judge(times, [20.0, 32.0], [], ["hint"])
    assert profile is not None
    assert profile.speedup.kind == "measured"
    assert profile.speedup.value == pytest.approx(math.sqrt(2.0 * 8.0))  # 32 us against 4, not against 1
    assert "measured" in profile.feedback[0] and profile.feedback[1] == "hint"
    assert measured.judge([], [], [], []) is None


def test_least_time_counts_inputs_parameters_and_outputs_once():
    full = measured.least_us(RECORDING, 0, "Ascend910B4")
    twice = {**RECORDING, "buffers": [{**b, "nbytes": 2 * b["nbytes"]} for b in RECORDING["buffers"]]}
    assert measured.least_us(twice, 0, "Ascend910B4") == pytest.approx(2 * full)
    assert full == pytest.approx((24 + 25 + 12 + 24) / (measured.machine.load("Ascend910B4").hbm_tbps * 1e6))
