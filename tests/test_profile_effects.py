"""Effects that every Ascend engineer knows must show in the model, on kernels that the real compiler compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from atrl_ms.errors import UserError
from sandbox.profile import advice, machine
from sandbox.profile.kernel import KernelProfile, time_launch

torch = pytest.importorskip("torch")
capture = pytest.importorskip("sandbox.profile.capture")
ARCH = "Ascend910B4"
HEADER = "import torch\nimport torch.nn as nn\nimport triton\nimport triton.language as tl\n\n\n"

LOOP = """
@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr):
    for block in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        i = block * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + i, tl.load(x + i, mask=i < n) * 2.0 + 1.0, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        scale[(40,)](x, y, x.numel(), BLOCK=4096, multibuffer=MULTIBUFFER)
        return y
"""
FLAT = """
@triton.jit
def flat(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2.0 + 1.0, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        flat[(triton.cdiv(x.numel(), SIZE),)](x, y, x.numel(), BLOCK=SIZE)
        return y
"""
MATMUL = """
@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tiles_n = tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), tl.cdiv(M, BM) * tiles_n, tl.num_programs(0)):
        rm = (tile // tiles_n) * BM + tl.arange(0, BM)
        rn = (tile % tiles_n) * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            rk = k + tl.arange(0, BK)
            x = tl.load(a + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
            y = tl.load(b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
            acc = tl.dot(x, y, acc)
        tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.float16), mask=(rm[:, None] < M) & (rn[None, :] < N))


class ModelNew(nn.Module):
    def forward(self, a, b):
        c = torch.empty(a.shape[0], b.shape[1], dtype=a.dtype)
        matmul[(20,)](a, b, c, a.shape[0], b.shape[1], a.shape[1], BM=TILE_M, BN=TILE_N, BK=TILE_K)
        return c
"""
STRIDED = """
@triton.jit
def pick(x, y, n, step, BLOCK: tl.constexpr):
    for block in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        i = block * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + i, tl.load(x + i * step, mask=i < n), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.numel() // 16)
        pick[(40,)](x, y, y.numel(), STEP, BLOCK=1024)
        return y
"""
SCALAR_STORES = """
@triton.jit
def one_by_one(x, y, BLOCK: tl.constexpr):
    base = tl.program_id(0) * BLOCK
    for j in range(BLOCK):
        tl.store(y + base + j, tl.load(x + base + j) * 2.0)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        one_by_one[(x.numel() // 256,)](x, y, BLOCK=256)
        return y
"""


@pytest.fixture(scope="module")
def capturer() -> object:
    return capture.Capturer(ARCH)


@pytest.fixture
def profile(capturer, tmp_path: Path):  # type: ignore[no-untyped-def]
    """Models the single launch of a candidate given as text."""
    counter = iter(range(100))

    def run(source: str, *shapes: tuple[list[int], str], **names: object) -> KernelProfile:
        for name, value in names.items():
            source = source.replace(name, str(value))
        path = tmp_path / f"candidate_{next(counter)}.py"
        path.write_text(HEADER + source)
        captured = capturer.capture(path, [{"shape": s, "dtype": d} for s, d in shapes])
        (launch,) = captured.launches
        return time_launch(launch, machine.load(ARCH))

    return run


VECTOR = ([1 << 22], "float32")


def test_a_loop_with_multi_buffering_beats_one_without(profile) -> None:  # type: ignore[no-untyped-def]
    with_it = profile(LOOP, VECTOR, MULTIBUFFER=True)
    without = profile(LOOP, VECTOR, MULTIBUFFER=False)
    assert with_it.program_us < 0.9 * without.program_us
    assert with_it.us <= without.us


def test_forty_programs_with_a_loop_beat_forty_thousand(profile) -> None:  # type: ignore[no-untyped-def]
    size = ([40_000 * 256], "float32")
    loop = profile(LOOP, size, MULTIBUFFER=True)
    many = profile(FLAT, size, SIZE=256)
    assert many.programs == 40_000
    assert many.us > 3 * loop.us
    assert many.bound == "dispatch"
    assert "loop" in advice.hint(many, advice.bottleneck(many)[1])


def test_a_tiny_tile_is_bound_by_launch_and_scalar_work(profile) -> None:  # type: ignore[no-untyped-def]
    tiny = profile(FLAT, ([4096], "float32"), SIZE=16)
    fair = profile(FLAT, ([4096], "float32"), SIZE=1024)
    assert tiny.us > 2 * fair.us
    assert tiny.bound == "dispatch"
    assert tiny.ratios["aiv_scalar_ratio"] > tiny.ratios["aiv_vec_ratio"]
    assert advice.bottleneck(fair)[1] in ("launch", "idle", "scalar", "overlap")


def test_a_tile_that_is_too_large_does_not_compile(profile) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UserError, match="overflow"):
        profile(FLAT, ([1 << 20], "float32"), SIZE=65536)


def test_large_matmul_tiles_beat_small_ones(profile) -> None:  # type: ignore[no-untyped-def]
    shapes = ([1024, 1024], "float16"), ([1024, 1024], "float16")
    large = profile(MATMUL, *shapes, TILE_M=128, TILE_N=256, TILE_K=64)
    small = profile(MATMUL, *shapes, TILE_M=16, TILE_N=16, TILE_K=16)
    assert small.us > 3 * large.us
    assert large.ratios["aic_mac_ratio"] > small.ratios["aic_mac_ratio"]
    assert advice.bottleneck(small)[1] == "tiles"


def test_strided_loads_lose_to_contiguous_ones(profile) -> None:  # type: ignore[no-untyped-def]
    contiguous = profile(STRIDED, ([1 << 20], "float32"), STEP=1)
    strided = profile(STRIDED, ([1 << 20], "float32"), STEP=16)
    assert strided.us > 2 * contiguous.us


def test_scalar_stores_in_a_loop_are_bound_by_stores_or_scalar_work(profile) -> None:  # type: ignore[no-untyped-def]
    single = profile(SCALAR_STORES, ([1 << 14], "float32"))
    tiled = profile(FLAT, ([1 << 14], "float32"), SIZE=256)
    assert single.us > 10 * tiled.us
    busiest = max(single.ratios, key=lambda name: single.ratios[name])
    assert busiest in ("aiv_mte3_ratio", "aiv_scalar_ratio")
    assert advice.bottleneck(single)[1] in ("stores", "scalar", "scattered")


def test_more_data_never_takes_less_time(profile) -> None:  # type: ignore[no-untyped-def]
    times = [profile(LOOP, ([n], "float32"), MULTIBUFFER=True).us for n in (1 << 10, 1 << 16, 1 << 20, 1 << 24)]
    assert times == sorted(times)
    # Far beyond L2 the time is the bandwidth's: 2 x 64 MB at 1.4 TB/s are 96 us.
    assert 90 < times[-1] < 180
