"""Memory errors of kernels are found and named; honest accesses up to the last element are not."""

import ctypes

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import faults as kernel
from kernels.harness import launch, lower

from sandbox.execute.memory import PAGE, ExecutionFault, GuardedMemory, OutOfBounds
from sandbox.execute.native import build_native


def run_shifted(n, read_offset, write_offset, placement, dtype=torch.float32):
    """Returns the two memories' contents; buffers are exactly n elements."""
    x = torch.arange(n).to(dtype)
    # Offsets of 1 would become constants: the same machine code must serve every offset.
    linalg, _ = lower(kernel.shifted_copy, (x, x, n, 7, 7), {"BLOCK": 64})
    native = build_native(linalg)
    size = x.element_size()
    with GuardedMemory(n * size, placement) as source, GuardedMemory(n * size, placement) as target:
        source.write(bytes(x.untyped_storage()))
        native.run((-(-n // 64),), [(source.address, n), (target.address, n), n, read_offset, write_offset])
        return target.read(), source.slack_intact() and target.slack_intact()


@pytest.mark.parametrize(
    ("read", "write", "placement", "arg", "side"),
    (
        (1, 0, "high", "x", "above"),
        (-1, 0, "low", "x", "below"),
        (0, 1, "high", "out", "above"),
        (0, -1, "low", "out", "below"),
        (5000, 0, "high", "x", "above"),
        (-70000, 0, "low", "x", "below"),
    ),
)
def test_one_element_out_of_bounds_names_argument_and_side(read, write, placement, arg, side):
    with pytest.raises(OutOfBounds) as caught:
        run_shifted(1001, read, write, placement)
    assert (caught.value.kernel, caught.value.arg, caught.value.side) == ("shifted_copy", arg, side)
    assert arg in str(caught.value) and side in str(caught.value)
    run_shifted(1001, 0, 0, placement)  # the process survives and the next run is clean


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(2, 3000),
    read=st.integers(-40, 40),
    write=st.integers(-40, 40),
    dtype=st.sampled_from((torch.float32, torch.float16, torch.int64)),
)
def test_two_placements_find_every_overrun(n, read, write, dtype):
    found = set()
    for placement in ("high", "low"):
        try:
            _, clean = run_shifted(n, read, write, placement, dtype)
            if not clean:
                found.add("slack")
        except OutOfBounds as error:
            found.add(error.side)
    above, below = max(read, write) > 0, min(read, write) < 0
    assert bool(found) == (above or below)
    # With both, the first fault may hide the other.
    assert below or not above or found & {"above", "slack"}
    assert above or not below or found & {"below", "slack"}


def test_indirect_index_out_of_bounds():
    x, index = torch.randn(100), torch.tensor([0, 99, 100, 3], dtype=torch.int32)
    with pytest.raises(OutOfBounds) as caught:
        launch(kernel.indirect_copy, (1,), x, index, torch.empty(4), 4, BLOCK=4)
    assert (caught.value.arg, caught.value.side) == ("x", "above")
    index[2] = 50
    out = torch.empty(4)
    launch(kernel.indirect_copy, (1,), x, index, out, 4, BLOCK=4)
    assert torch.equal(out, x[index])


def test_wild_pointer_is_an_error_not_a_crash():
    with pytest.raises(OutOfBounds) as caught:
        launch(kernel.wild_scalar, (1,), torch.randn(4), torch.empty(1), 1 << 44)
    assert caught.value.arg is None
    assert "far outside" in str(caught.value)


def test_division_by_zero_and_conversion_overflow_do_not_kill_the_process():
    x = torch.tensor([7, -7, 8, -(2**31), 5], dtype=torch.int32)
    y = torch.tensor([2, 2, -3, -1, 0], dtype=torch.int32)
    quotient, remainder = torch.empty_like(x), torch.empty_like(x)
    launch(kernel.integer_divide, (1,), x, y, quotient, remainder, 5, BLOCK=16)
    assert quotient[:3].tolist() == [3, -3, -2]
    assert remainder[:3].tolist() == [1, -1, 2]
    out = torch.empty(5, dtype=torch.int32)
    values = torch.tensor([1.9, -1.9, 1e20, -1e20, float("nan")])
    launch(kernel.to_integer, (1,), values, out, 5, BLOCK=8)
    assert out.tolist() == [1, -1, 2**31 - 1, -(2**31), 0]


def test_strided_accesses_touch_nothing_beyond_the_last_element():
    base = torch.randn(6, 50)
    view = base.flatten()[: 5 * 50 + 30].clone()  # the last row ends with its 30th element
    out = torch.empty(6, 30)
    launch(kernel.strided_rows, (1,), view, out, 6, 30, 50, M=8, N=32)
    assert torch.equal(out, base[:, :30])
    x, picked = torch.randn(1 + 9 * 3), torch.empty(10)
    launch(kernel.every_second, (1,), x, picked, 10, 3, BLOCK=16)
    assert torch.equal(picked, x[::3])
    matrix, result = torch.randn(9, 7), torch.zeros(9, 7)
    launch(kernel.column, (1,), matrix, result, 9, 7, BLOCK=16)
    assert torch.equal(result[:, 0], matrix[:, 0] + 1) and not result[:, 1:].any()


def test_guarded_memory_is_poisoned_and_flush():
    for placement in ("high", "low"):
        with GuardedMemory(100, placement, poison=0x5A) as memory:
            assert memory.read() == b"\x5a" * 100
            assert (memory.address % PAGE == 0) if placement == "low" else ((memory.address + 100) % PAGE == 0)
            ctypes.memset(memory.address, 1, 100)
            assert memory.slack_intact()
            outside = memory.address + 100 if placement == "low" else memory.address - 1
            ctypes.memset(outside, 1, 1)
            assert not memory.slack_intact()
            with pytest.raises(ValueError):
                memory.write(bytes(101))


def test_wrong_argument_lists_are_refused():
    linalg, _ = lower(kernel.wild_scalar, (torch.randn(4), torch.randn(4), 5), {})
    native = build_native(linalg)
    with pytest.raises(ValueError, match="3 run-time arguments"):
        native.run((1,), [(0, 0)])
    with pytest.raises(ValueError, match="address"):
        native.run((1,), [1, 2, 3])


def test_local_memory_is_limited(monkeypatch):
    from kernels import tutorials

    from sandbox.execute import runtime

    x = torch.randn(4, 512)
    linalg, _ = lower(tutorials.softmax_rows, (x, x, 4, 512, 512), {"BLOCK": 512})
    native = build_native(linalg)
    linked = runtime.runtime()
    native.run((1,), [(x.data_ptr(), x.numel()), (x.data_ptr(), x.numel()), 4, 512, 512])
    linked._arena[2] = 1024
    try:
        with pytest.raises(ExecutionFault, match="local buffers"):
            native.run((1,), [(x.data_ptr(), x.numel()), (x.data_ptr(), x.numel()), 4, 512, 512])
    finally:
        linked._arena[2] = runtime.ARENA_BYTES


def test_lanes_that_a_mask_excludes_are_not_touched():
    x, out = torch.randn(50), torch.full((50,), 9.0)
    launch(kernel.doubly_masked, (1,), x, out, 50, BLOCK=64)
    third = torch.where(torch.arange(50) % 3 == 0, x, -2.0)
    assert torch.equal(out, torch.where(x < 1, torch.where(x > 0, x, -1.0) + third, 9.0))
    matrix, lower_half = torch.randn(13, 13), torch.zeros(13, 13)
    launch(kernel.triangle, (1,), matrix, lower_half, 13, BLOCK=16)
    assert torch.equal(lower_half, matrix.tril())
