"""One language feature per kernel, compiled for Ascend and run natively, against torch."""

import math

import pytest
import torch
from kernels import features as kernel
from kernels.harness import launch

N, B = 16, 64
SQUARE = (16, 16)


def tile(x, start=0):
    return x[start : start + 256].view(16, 16)


def put(o, values, start=0):
    flat = values.flatten()
    o[start : start + flat.numel()] = flat.to(o.dtype)


def rows(x, count=4):
    return x[: count * B].view(count, B)


def f_cumprod(x, o):
    put(o, rows(x).cumprod(1))


def f_atomic(x, o):
    put(o, rows(x).sum(0))
    put(o, rows(x).max(0).values.clamp(min=0), B)
    put(o, rows(x).min(0).values.clamp(max=0), 2 * B)
    o[3 * B] = x[: 4 * B].sum()


def f_while(x, o):
    put(o, torch.stack([len(range(r, N, 2)) * x[:B] for r in range(4)]))


def f_ifload(x, o):
    total = sum((x[j : j + B] for j in range(N) if x[j] > 0), torch.zeros(B))
    put(o, total.repeat(4))


def f_stride(x, o):
    put(o, torch.stack([x[r : r + N * B : N] for r in range(4)]))


def f_blockptr(x, o):
    put(o, tile(x) * 2)


def f_blkptr_t(x, o):
    put(o, tile(x).T)


def f_indirect(x, o):
    at = torch.arange(B) * 7 % B
    put(o, x[(x[at].abs() * 1000).int() % B].repeat(4))


def f_3d(x, o):
    put(o, x[: 24 * B] * 2)


def f_trans(x, o):
    put(o, tile(x).T)


def f_early(x, o):
    put(o, x[: 2 * B])


def f_join(x, o):
    put(o, torch.stack((x[: B // 2], x[B // 2 : B]), 1))


def f_split(x, o):
    put(o, x[:B].view(-1, 2).T)


def f_umod(x, o):
    at = torch.arange(B)
    put(o, torch.where((at % 3 == 0) & (at // 5 < N), x[:B], 0.0))


def f_cumsum2(x, o):
    t = tile(x)
    put(o, t.cumsum(0) + t.cumsum(1) + t.flip(1).cumsum(1).flip(1))


def f_argsort2(x, o):
    put(o, tile(x).sort(1, descending=True).values)


def f_topk2(x, o):
    put(o, tile(x).topk(4).values)


def f_tanh(x, o):
    v = x[:B]
    put(o, v.tanh() + v.abs().log1p() + v.atan() + v.tan())


def f_recip(x, o):
    v = x[:B]
    exponent = torch.frexp(v).exponent - 1
    # round: half away from zero; ldexp takes its exponent as a float here
    put(o, v.relu() + 1 / (v + 10) + v.sign() * (v.abs() + 0.5).floor() + exponent + v * torch.exp2(v))


def f_isnan(x, o):
    put(o, x[:B] + 2)


def f_pow(x, o):
    put(o, x[:B].abs() ** x[:B])


def f_powi(x, o):
    at = torch.arange(B)
    put(o, at ** (at % 4))


def f_tanh16(x, o):
    v = x[:B].half()
    put(o, v.float().tanh().half().float() + v.relu().float())


def f_acos(x, o):
    v = x[:B]
    put(o, (v * 0.1).acos() + v.sinh() + v.cosh() + v.asinh() + (v * 0.1).atanh() + v.expm1() + v.hypot(v))


def f_math(x, o):
    v = x[:B].double()
    a = v.abs() + 0.5
    total = v.erf() + a.sqrt() + a.rsqrt() + v.floor() + v.ceil() + v.sin() + v.cos() + v.exp2() + a.log2() + a.log()
    put(o, total + v.sigmoid() + (v * v + a) + v / a + a.sqrt())


def f_clamp(x, o):
    put(o, x[:B].clamp(-1, 1) + x[:B].relu() + x[:B].clamp(max=0.5))


def f_bool(x, o):
    v, at = x[:B], torch.arange(B)
    m = ((v > 0) & ~(v > 1)) | (at % 2 == 0)
    put(o, m.float() + (m ^ (v < 0)).float())


def f_red2(x, o):
    t = tile(x)
    put(o, t.sum(0) + t.max(1).values + t.min(0).values + t.argmax(1) + t.argmin(0))


def f_red3(x, o):
    t = x[:512].view(8, 8, 8)
    put(o, t.sum(1) + t.sum(0) + t.sum(2))


def f_xorsum(x, o):
    total = 0
    for value in x[:B].int().tolist():
        total ^= value
    o[0] = total


def f_redprod(x, o):
    o[0] = x[:B].prod()


def f_scan2(x, o):
    value = 0.0
    for i in range(B):
        value = float(x[i]) * 0.1 * value + float(x[i])
        o[i] = value


def f_cat(x, o):
    put(o, torch.cat((x[:B], x[:B] + 1)))


def f_permute(x, o):
    put(o, x[:512].view(8, 8, 8).permute(2, 0, 1))


def f_interleave(x, o):
    put(o, torch.stack((x[:B], -x[:B]), 1))


def f_shift(x, o):
    at = torch.arange(B)
    put(o, (at << 2) ^ (at >> 1) & (at | 3))


def f_i64(x, o):
    put(o, torch.arange(B) * (N * 100000000) // 1000 % 977)


def f_static(x, o):
    put(o, x[: 3 * B].view(3, B).sum(0))


def f_nested(x, o):
    total = torch.zeros(B)
    for j in range(N):
        for k in range(j, N, 3):
            total += x[k * B : k * B + B] if k % 2 == 0 else -1.0
    put(o, total)


def f_ifelse(x, o):
    put(o, torch.cat((x[:B], x[:B] * 2)))


def f_scalarloop(x, o):
    o[0] = x[:N].sum()


def f_whileload(x, o):
    j = 0
    while x[j] < 2.0 and j < N:
        j += 1
    o[0] = j


def f_ifload2(x, o):
    o[0], o[1] = x[:N].max(), x[:N].argmax()


def f_dot3(x, o):
    put(o, x[:512].view(2, 16, 16) @ x[512:1024].view(2, 16, 16))


def f_doti8(x, o):
    a = (tile(x) * 10).to(torch.int8).float()
    put(o, a @ a)


def f_dottrans(x, o):
    a = tile(x).bfloat16().float()
    put(o, (a @ a.T) * 2 + 1)


def f_atomic2d(x, o):
    at = torch.arange(16)
    put(o, torch.where((at < N)[:, None] & (at < 10)[None, :], tile(x), 0.0))


def f_atomicidx(x, o):
    put(o, torch.bincount((x[:B].abs() * 4).int()) * 1.0)


def f_bitcast(x, o):
    put(o, x[:B].abs())


def f_i8(x, o):
    v = (x[:B] * 50).int().to(torch.int8)
    put(o, (v + v).float() + v.to(torch.uint8).float())


def f_slice(x, o):
    put(o, x[8:24])


def f_insert(x, o):
    put(o, torch.cat((x[:8], x[100:116], x[24:B])))


def f_getel(x, o):
    o[0] = x[3]


def f_swizzle(x, o):
    # columns first within groups of two rows of the 4 x 4 grid
    for p in range(4):
        i, j = p // 2, p % 2
        linear = i * 4 + j
        group, inside = linear // 8, linear % 8
        o[p] = (group * 2 + inside % 2) * 10 + inside // 2


def f_cdiv(x, o):
    o[0], o[1], o[2] = -(-N // 5), N % 5, -(N // 5)  # integer division truncates


def f_modf(x, o):
    put(o, torch.fmod(x[:B], 1.5))


def f_2dgather(x, o):
    put(o, tile(x)[torch.arange(16) * 5 % 16])


def f_2dgatherc(x, o):
    put(o, tile(x)[:, torch.arange(16) * 5 % 16])


def f_whereaddr(x, o):
    at = torch.arange(B)
    put(o, x[torch.where(at > N, at - N, at)])


def f_conv(x, o):
    padded = torch.cat((torch.zeros(2), x[: 4 * N], torch.zeros(2)))
    put(o, sum(padded[k : k + B] for k in range(5)))


def f_scatmask(x, o):
    at = (x[64 : 64 + N].abs() * 100).int()
    for i in range(N):
        if x[i] > 0:
            o[at[i]] = x[i]


def f_storecond(x, o):
    put(o, x[:B].relu())


def f_loadcond(x, o):
    put(o, torch.where(x[:B] > 0, x[64:128], 7.0))


def f_scalarmask(x, o):
    put(o, x[:B])


def f_revmask(x, o):
    put(o, torch.where(torch.arange(B) >= N, x[:B].flip(0), 0.0))


def f_2dmask(x, o):
    loaded = torch.where(torch.ones(SQUARE).tril(-1).bool(), tile(x), -1.0)
    put(o, loaded.tril())


def f_stridestore(x, o):
    o[: 3 * 2 * N : 3] = x[: 2 * 2 * N : 2]


def f_negstride(x, o):
    put(o, x[:B].flip(0))


def f_modaddr(x, o):
    put(o, x[:B].roll(-5))


def f_divaddr(x, o):
    at = torch.arange(B)
    put(o, x[at // 4 * 7 + at % 4])


def f_scalarstore(x, o):
    put(o, x[:4] * 2)
    o[10] = N


def f_ptrloop2(x, o):
    put(o, x[:1024] + 1)


def f_carry(x, o):
    a, b = x[:B].double(), x[B : 2 * B].double()
    for _ in range(N):
        a, b = b, a + b * 0.1
    put(o, torch.cat((a, b)))


def f_onlinesm(x, o):
    v = x[: 16 * N]
    o[0], o[1] = v.max(), (v - v.max()).exp().sum()


def f_inplace(x, o):
    put(o, x[:B] * 3)


def f_range1(x, o):
    put(o, x[:B])


def f_reshape(x, o):
    t = x[:B].view(8, 8)
    put(o, t.T)
    put(o, t.sum(1), 64)
    put(o, t, 80)


def f_minidx(x, o):
    put(o, tile(x).min(1).values)
    put(o, tile(x).min(1).indices, 16)


def f_break(x, o):
    o[0] = math.ceil(N / 3) * 3


def f_helper(x, o):
    put(o, (x[:B] + 1) * (x[:B] - 2))


def f_i1store(x, o):
    put(o, (x[:B] > 0) & (torch.arange(B) % 2 == 0))
    o[100] = (x[:B] > 0).sum()


def f_anyall(x, o):
    o[0] = 1.0 if (x[:B] > 2).any() else 2.0


def f_assert(x, o):
    put(o, x[:B])


f_hint = f_assert

GRIDS = {"f_3d": (2, 3, 4), "f_scatmask": (1,)}
EXPECTED = {name: function for name, function in list(globals().items()) if name.startswith("f_")}
ATOMIC_FLOATS = {"f_atomic"}
REPEATED = {"f_atomic2d": 1, "f_atomicidx": 1, "f_inplace": 1}  # programs that would add again


@pytest.mark.parametrize("name", EXPECTED)
def test_feature(name):
    x = torch.randn(4096, generator=torch.Generator().manual_seed(7))
    out, expected = torch.zeros(4096), torch.zeros(4096)
    grid = (REPEATED[name],) if name in REPEATED else GRIDS.get(name, (4,))
    source = {"f_atomicidx": "f_atomidx"}.get(name, name)
    launch(getattr(kernel, source), grid, x, out, N, ordered=name not in ATOMIC_FLOATS, B=B)
    EXPECTED[name](x, expected)
    torch.testing.assert_close(out, expected, rtol=2e-5, atol=2e-5)


def test_rows_swap_in_place():
    x = torch.randn(2 * B)
    before = x.clone()
    launch(kernel.f_swaprows, (1,), x, torch.zeros(1), N, B=B)
    assert torch.equal(x, torch.cat((before[B:], before[:B])))


def test_atomic_add_returns_the_old_value():
    out = torch.zeros(8)
    launch(kernel.f_atomicret, (5,), torch.zeros(1), out, N, ordered=False, B=B)
    assert out[0] == 5 and sorted(out[1:6].tolist()) == [0, 1, 2, 3, 4]


def test_half_arithmetic_rounds_after_every_operation():
    x = torch.randn(B, generator=torch.Generator().manual_seed(3))
    out = torch.zeros(B)
    launch(kernel.f_fp16load, (1,), x, out, N, B=B)
    half = x.half()
    toward_zero = torch.where(half.float().abs() > x.abs(), torch.nextafter(half, torch.zeros(()).half()), half)
    assert torch.equal(out, (half + 1).bfloat16().float() + toward_zero.float())


@pytest.mark.parametrize(("name", "dtype"), (("f_f16", torch.float16), ("f_bf16", torch.bfloat16)))
def test_half_types_against_float32(name, dtype):
    x = torch.randn(B, generator=torch.Generator().manual_seed(3)) * 0.5
    out = torch.zeros(B)
    launch(getattr(kernel, name), (1,), x, out, N, B=B)
    v = x.to(dtype).float()
    exact = (v * v + v).exp() + v.sum() if dtype == torch.float16 else v * v + v + v.max() + v.sum() + v.abs().sqrt()
    unit = torch.finfo(dtype).eps
    torch.testing.assert_close(out, exact, rtol=8 * unit, atol=16 * unit)
