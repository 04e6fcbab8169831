"""The scheduler, the loop sampling, the eager model and the comparison: properties that must hold for any constants."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atrl_ms.types import Speedup
from sandbox.profile import advice, eager, machine, memory, picture, schedule, stage, trace
from sandbox.profile.effects import BARRIER, EXEC, SCALAR, SET, WAIT
from sandbox.profile.kernel import time_launch, trace_launch
from sandbox.profile.reader import read
from sandbox.profile.work import Work

ARCH = "Ascend910B4"
HIVM = Path(__file__).parent / "hivm"
LOAD = Work("MTE2", "load", bytes=8192)
ADD = Work("V", "vector", repeats=32.0)
STORE = Work("MTE3", "store", bytes=8192)


def program(name: str):  # type: ignore[no-untyped-def]
    return read((HIVM / f"{name}.mlir").read_text())


# ---------------------------------------------------------------- scheduler


def events(rounds: int, slots: int) -> list[tuple]:
    """Load, compute, store per round with `slots` buffers between the pipes."""
    out: list[tuple] = [(SET, "V", "MTE2", i) for i in range(slots)] + [(SET, "MTE3", "V", i) for i in range(slots)]
    for i in range(rounds):
        slot = i % slots
        out += [(WAIT, "V", "MTE2", slot), (EXEC, LOAD, 0), (SET, "MTE2", "V", slot)]
        out += [(WAIT, "MTE2", "V", slot), (WAIT, "MTE3", "V", slot), (EXEC, ADD, 0), (SET, "V", "MTE2", slot)]
        out += [(SET, "V", "MTE3", slot), (WAIT, "V", "MTE3", slot), (EXEC, STORE, 0), (SET, "MTE3", "V", slot)]
    return [*out, (BARRIER, "ALL")]


def test_two_buffers_overlap_and_one_does_not() -> None:
    constants = machine.load(ARCH)
    (single,) = schedule.run([events(20, 1)], constants)
    (double,) = schedule.run([events(20, 2)], constants)
    assert double.cycles < 0.8 * single.cycles
    # With one buffer a round's compute waits for the last store, latency included.
    assert single.cycles >= 20 * sum(sum(schedule.cost(constants, w)) for w in (ADD, STORE))
    assert single.unmatched == double.unmatched == 0


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 12), st.integers(1, 3))
def test_time_is_bounded_by_the_busiest_pipe_and_by_the_sum(rounds: int, slots: int) -> None:
    constants = machine.load(ARCH)
    (timeline,) = schedule.run([events(rounds, slots)], constants, keep_spans=True)
    occupied = {p: rounds * schedule.cost(constants, w)[0] for p, w in (("MTE2", LOAD), ("V", ADD), ("MTE3", STORE))}
    everything = rounds * sum(sum(schedule.cost(constants, w)) for w in (LOAD, ADD, STORE))
    assert max(occupied.values()) <= timeline.cycles <= everything + timeline.busy["S"] + 1
    for pipe in occupied:
        spans = sorted((s[1], s[2]) for s in timeline.spans if s[0] == pipe)
        assert len(spans) == rounds
        assert all(a[1] <= b[0] + 1e-6 for a, b in itertools.pairwise(spans))  # in order, one at a time


def test_more_scalar_work_never_makes_a_program_faster() -> None:
    constants = machine.load(ARCH)
    plain = events(6, 2)
    slow = [e for event in plain for e in ((SCALAR, 50.0, 0.0, 0.0, 0.0, 0.0), event)]
    assert schedule.run([slow], constants)[0].cycles > schedule.run([plain], constants)[0].cycles


# ---------------------------------------------------------------- sampled loops


@pytest.mark.parametrize(
    ("name", "scalars", "grid", "tolerance"),
    [
        ("gelu", {2: 2048 * 40 * 30 + 777, 3: 40}, (40, 1, 1), 0.02),
        ("mm", {3: 128, 4: 128, 5: 64 * 41 + 5}, (1, 1, 1), 0.02),
        ("mmstr", {3: 64, 4: 64, 5: 64 * 25}, (1, 1, 1), 0.05),
        ("flash", {4: 64 * 33}, (33, 1, 1), 0.05),
        ("gather", {3: 256}, (1, 1, 1), 0.01),
    ],
)
def test_sampling_a_long_loop_gives_the_time_of_running_it(
    name: str, scalars: dict[int, int], grid: tuple[int, int, int], tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    constants = machine.load(ARCH)
    parsed = program(name)
    sampled = time_launch(trace_launch(parsed, scalars, grid), constants)
    monkeypatch.setattr(trace, "RUN_WHOLE", 10**9)
    whole = time_launch(trace_launch(parsed, scalars, grid), constants)
    assert sampled.us == pytest.approx(whole.us, rel=tolerance)
    assert sampled.read_bytes == pytest.approx(whole.read_bytes, rel=tolerance)
    assert sampled.written_bytes == pytest.approx(whole.written_bytes, rel=tolerance)
    assert not sampled.unknown


def test_scalars_read_from_data_steer_the_loops() -> None:
    import numpy as np

    parsed = program("grouped")
    offsets = np.array([0, 32, 32 * 9, 32 * 10], np.int32)
    known = trace_launch(parsed, {}, (3, 1, 1), data={3: offsets})
    assert not any(t.assumptions for s in known.samples for t in s.traces)
    times = [s.traces[0].read.get(0, 0.0) for s in known.samples]
    assert times == [32 * 64 * 4, 8 * 32 * 64 * 4, 32 * 64 * 4]
    guessed = trace_launch(parsed, {}, (3, 1, 1))
    assert any("depends on data" in a for s in guessed.samples for t in s.traces for a in t.assumptions)


# ---------------------------------------------------------------- eager baseline


def tensor(*shape: int, dtype: str = "float32") -> dict[str, object]:
    return {"shape": list(shape), "dtype": dtype, "contiguous": True}


def op(name: str, *inputs: dict[str, object], out: dict[str, object]) -> dict[str, object]:
    return {"op": name, "inputs": list(inputs), "outputs": [out], "scalars": []}


def test_eager_figures_of_the_device() -> None:
    model = eager.load(ARCH)
    large = op("bmm", tensor(4, 2048, 1024), tensor(4, 1024, 512), out=tensor(4, 2048, 512))
    assert model.aten(large) == pytest.approx(134.7, rel=0.25)
    size = (3, 60, 9053, 32)
    cast = op("_to_copy", tensor(*size, dtype="float16"), out=tensor(*size))
    assert model.aten(cast) == pytest.approx(213, rel=0.25)
    assert 1.2 < model.aten(op("mul", tensor(64), tensor(64), out=tensor(64))) < 2.5


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(["mul", "gelu", "sum", "_softmax", "native_layer_norm", "clone", "mm", "cumsum", "new_operator"]),
    # Whole 32-byte rows: a ragged small matrix costs more than a whole larger one.
    st.integers(1, 256).map(lambda n: 8 * n),
    st.integers(1, 256).map(lambda n: 8 * n),
)
def test_eager_time_grows_with_size_and_has_a_floor(name: str, rows: int, columns: int) -> None:
    model = eager.load(ARCH)

    def cost(r: int, c: int) -> float:
        inputs = [tensor(r, c), tensor(c, r)] if name == "mm" else [tensor(r, c)]
        return model.aten(op(name, *inputs, out=tensor(r, r) if name == "mm" else tensor(r, c)))

    assert cost(rows, columns) >= 1.0
    assert cost(4 * rows, 4 * columns) >= cost(rows, columns) * 0.999
    assert math.isfinite(cost(rows, columns))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("bmm a[B,M,K] @ b[B,K,N]", "bmm"),
        ("matmul a[M,K] @ b[N,K]^T (b.T a view)", "mm"),
        ("LayerNorm", "norm"),
        ("native_batch_norm", "norm"),
        ("log_softmax dim=-1", "softmax"),
        ("ReduceMean dim=-2 keepdim", "reduce"),
        ("amax", "reduce"),
        ("TopKV2 k=14", "topk"),
        ("upsample_bilinear2d", "interpolate"),
        ("AvgPool2d", "pool"),
        ("max_pool2d_with_indices", "pool"),
        ("embedding", "gather"),
        ("index_select", "gather"),
        ("index_put_", "scatter"),
        ("Transpose", "copy"),
        ("PadV3", "pad"),
        ("cumsum", "scan"),
        ("aten::convolution", "conv"),
        ("sigmoid", "elementwise"),
        ("something nobody named", "elementwise"),
    ],
)
def test_operators_are_classed_by_their_words(text: str, kind: str) -> None:
    assert eager.class_of(text) == kind


@pytest.mark.parametrize(
    ("row", "same"),
    [
        (
            {"op": "bmm a[B,M,K] @ b[B,K,N]", "shapes": [[4, 64, 128], [4, 128, 64]], "dtype": "float16"},
            op("bmm", tensor(4, 64, 128, dtype="float16"), tensor(4, 128, 64, dtype="float16"),
               out=tensor(4, 64, 64, dtype="float16")),
        ),
        (
            {"op": "torch.mm", "shapes": [[64, 128], [128, 32]], "dtype": "FLOAT"},
            op("mm", tensor(64, 128), tensor(128, 32), out=tensor(64, 32)),
        ),
        ({"op": "softmax", "shapes": [[512, 512]], "dtype": "float32"},
         op("_softmax", tensor(512, 512), out=tensor(512, 512))),
        ({"op": "Mul", "shapes": [[512, 512], [512, 512]], "dtype": "float32"},
         op("mul", tensor(512, 512), tensor(512, 512), out=tensor(512, 512))),
    ],
)  # fmt: skip
def test_a_description_costs_what_the_traced_operation_costs(row: dict, same: dict) -> None:
    model = eager.load(ARCH)
    assert model.described(row) == pytest.approx(model.aten(same), rel=0.05)


def test_any_description_gives_a_positive_time() -> None:
    model = eager.load(ARCH)
    for row in (
        {"op": "???", "shapes": [], "dtype": "N/A"},
        {"op": "x then y + z", "shapes": ["N/A", [3, 4]], "dtype": "float32"},
        {"op": "matmul a @ b", "shapes": [[3], [3]], "dtype": "float16"},
        {"op": "matmul", "shapes": [[3, 4], [5, 6]], "dtype": "float16"},
        {"op": "topk", "shapes": [[7, 9], {"k": 2}], "dtype": "bfloat16"},
        {"op": "sum", "shapes": [[0, 9]], "dtype": "float32"},
    ):
        assert model.described(row) >= 1.0


# ---------------------------------------------------------------- comparison, feedback, picture


def call_report(us: float) -> stage.CallReport:
    profile = time_launch(trace_launch(program("gelu"), {2: 1 << 20, 3: 40}, (40, 1, 1)), machine.load(ARCH), True)
    launch = stage.launch_report("gelu_loop", profile, None, program("gelu").device)
    launch.us = us
    launch.picture = stage.picture_data(profile, REPORT, program("gelu"), machine.load(ARCH))
    return stage.CallReport([launch], 0.0, 0)


REPORT = {
    "aiv": {
        "Record": [
            {
                "scope": "ub",
                "memory_info_array": [
                    {"buffer": "%a <x>", "extent": 65536, "offset": [0, 8192], "life_time_in_ir": [3, 9]},
                    {"buffer": "%b", "extent": 32768, "offset": [16384], "life_time_in_ir": [5, 12], "is_tmpbuf": True},
                ],
            }
        ]
    }
}


def test_speedup_is_a_geometric_mean_over_calls_and_says_that_it_is_modelled() -> None:
    model = eager.load(ARCH)
    ops = [op("mul", tensor(64), out=tensor(64))]
    base = model.total(ops)
    profile = stage.judge([call_report(base / 4), call_report(base)], [ops, ops], ARCH)
    assert profile is not None
    assert profile.speedup == Speedup(pytest.approx(2.0), "modelled")
    assert all("modelled" in line for line in profile.feedback if " us" in line)
    assert profile.to_json()["kind"] == "modelled"
    assert len(profile.feedback) == 3
    assert profile.feedback[2].startswith("hint: ")
    assert stage.judge([stage.CallReport([], 0.0, 0)], [ops], ARCH) is None


def test_reports_survive_json() -> None:
    import json

    report = call_report(3.0)
    assert stage.CallReport.from_json(json.loads(json.dumps(report.to_json()))).to_json() == report.to_json()


def test_every_bottleneck_has_a_hint() -> None:
    for name in ("copy", "gelu", "softmax", "mm", "router", "flash", "transp", "gather", "mmstr", "ln2d"):
        parsed = program(name)
        count = len(parsed.kernels()[0].arguments) - 6
        for grid in ((1, 1, 1), (40, 1, 1), (3000, 1, 1)):
            profile = time_launch(trace_launch(parsed, dict.fromkeys(range(count), 1024), grid), machine.load(ARCH))
            what, key = advice.bottleneck(profile)
            assert any(c.isdigit() for c in what)
            assert "{" not in advice.hint(profile, key)


def test_memory_plan() -> None:
    found = memory.buffers(REPORT)
    assert [b.size for b in found] == [8192, 4096]
    assert memory.peak(found, {"UB_SIZE": 1572864}) == {"UB": {"used": 20480, "capacity": 196608}}
    assert memory.buffers(None) == memory.buffers({"aiv": None}) == []


def test_the_picture_stands_alone_and_marks_every_time() -> None:
    ops = [op("mul", tensor(64), out=tensor(64))]
    profile = stage.judge([call_report(3.0)], [ops], ARCH)
    assert profile is not None
    text = picture.page("task <1>", [("a.py", profile.to_json()), ("b.py", profile.to_json())])
    assert "http" not in text
    assert "<1>" not in text
    drawings = re.findall(r"<svg.*?</svg>", text, re.S)
    assert len(drawings) == 4
    for drawing in drawings:
        boxes = [r.attrib for r in ElementTree.fromstring(drawing).iter("rect")]
        assert all(float(b["width"]) > 0 and 0 <= float(b["x"]) <= picture.LEFT + picture.WIDTH for b in boxes)
    assert text.count("<title>%a &lt;x&gt;: 8192 bytes, 2 copies</title>") == 4
    for pipe in ("vector", "load (MTE2)", "store (MTE3)"):
        assert f"<title>{pipe}: " in text
    assert all("modelled" in title for title in text.split("<title>")[2:] if " us" in title.split("<")[0])


def test_devices_without_constants_are_refused_with_a_reason() -> None:
    from atrl_ms.errors import UserError

    with pytest.raises(UserError, match="no machine constants for Ascend310"):
        machine.load("Ascend310P3")
