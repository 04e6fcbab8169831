"""One feature of the language per kernel: (x, o, n, B) with x random, o zeros, n = 16, B = 64 elements per program."""

import triton
import triton.language as tl
from triton.language.extra.ascend import libdevice as ld


@triton.jit
def mx(a, b):
    return tl.maximum(a, b)


@triton.jit
def prod(a, b):
    return a * b


@triton.jit
def comb(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def helper(a, b, F: tl.constexpr):
    if F:
        return a + b
    else:
        return a - b


@triton.jit
def f_cumprod(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    r = tl.program_id(0)
    v = tl.load(x + r * B + i)
    tl.store(o + r * B + i, tl.cumprod(v, 0))


@triton.jit
def f_rand(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    r = tl.program_id(0)
    v = tl.load(x + r * B + i)
    tl.store(o + r * B + i, tl.where(tl.rand(1234, r * B + i) > 0.5, v, 0.0))


@triton.jit
def f_atomic(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    r = tl.program_id(0)
    v = tl.load(x + r * B + i)
    tl.atomic_add(o + i, v)
    tl.atomic_max(o + B + i, v)
    tl.atomic_min(o + 2 * B + i, v)
    tl.atomic_add(o + 3 * B, tl.sum(v, 0))


@triton.jit
def f_while(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    r = tl.program_id(0)
    acc = tl.zeros((B,), tl.float32)
    j = r
    while j < n:
        acc += tl.load(x + i)
        j += 2
    tl.store(o + r * B + i, acc)


@triton.jit
def f_ifload(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    r = tl.program_id(0)
    acc = tl.zeros((B,), tl.float32)
    for j in range(n):
        f = tl.load(x + j)
        if f > 0:
            acc += tl.load(x + j + i)
    tl.store(o + r * B + i, acc)


@triton.jit
def f_stride(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    r = tl.program_id(0)
    v = tl.load(x + r + i * n)
    tl.store(o + r * B + i, v)


@triton.jit
def f_blockptr(x, o, n, B: tl.constexpr):
    p = tl.make_block_ptr(x, (n, n), (n, 1), (0, 0), (16, 16), (1, 0))
    q = tl.make_block_ptr(o, (n, n), (n, 1), (0, 0), (16, 16), (1, 0))
    v = tl.load(p, boundary_check=(0, 1))
    tl.store(q, v * 2, boundary_check=(0, 1))


@triton.jit
def f_blkptr_t(x, o, n, B: tl.constexpr):
    p = tl.make_block_ptr(x, (n, n), (1, n), (0, 0), (16, 16), (0, 1))
    q = tl.make_block_ptr(o, (n, n), (n, 1), (0, 0), (16, 16), (1, 0))
    tl.store(q, tl.load(p, boundary_check=(0, 1), padding_option="zero"), boundary_check=(0, 1))


@triton.jit
def f_indirect(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    r = tl.program_id(0)
    ix = (i * 7) % B
    idx = tl.load(x + ix)
    j = (tl.abs(idx) * 1000).to(tl.int32) % B
    tl.store(o + r * B + i, tl.load(x + j))


@triton.jit
def f_3d(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = tl.program_id(0) + tl.num_programs(0) * (tl.program_id(1) + tl.num_programs(1) * tl.program_id(2))
    tl.store(o + p * B + i, tl.load(x + p * B + i) * 2)


@triton.jit
def f_trans(x, o, n, B: tl.constexpr):
    i = tl.arange(0, 16)
    v = tl.load(x + i[:, None] * 16 + i[None, :])
    tl.store(o + i[:, None] * 16 + i[None, :], tl.trans(v))


@triton.jit
def f_early(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    r = tl.program_id(0)
    if r >= 2:
        return
    tl.store(o + r * B + i, tl.load(x + r * B + i))


@triton.jit
def f_join(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B // 2)
    a = tl.load(x + i)
    b = tl.load(x + B // 2 + i)
    j = tl.join(a, b)
    tl.store(o + tl.arange(0, B), tl.reshape(j, (B,)))


@triton.jit
def f_split(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    a, b = tl.split(tl.reshape(v, (B // 2, 2)))
    tl.store(o + tl.arange(0, B // 2), a)
    tl.store(o + B // 2 + tl.arange(0, B // 2), b)


@triton.jit
def f_umod(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o + i, v, mask=(i % 3 == 0) & (i // 5 < n))


@triton.jit
def f_cumsum2(x, o, n, B: tl.constexpr):
    i = tl.arange(0, 16)
    v = tl.load(x + i[:, None] * 16 + i[None, :])
    tl.store(o + i[:, None] * 16 + i[None, :], tl.cumsum(v, 0) + tl.cumsum(v, 1) + tl.cumsum(v, 1, reverse=True))


@triton.jit
def f_argsort2(x, o, n, B: tl.constexpr):
    i = tl.arange(0, 16)
    v = tl.load(x + i[:, None] * 16 + i[None, :])
    tl.store(o + i[:, None] * 16 + i[None, :], tl.sort(v, 1, descending=True))


@triton.jit
def f_topk2(x, o, n, B: tl.constexpr):
    i = tl.arange(0, 16)
    j = tl.arange(0, 4)
    v = tl.load(x + i[:, None] * 16 + i[None, :])
    tl.store(o + i[:, None] * 4 + j[None, :], tl.topk(v, 4))


@triton.jit
def f_tanh(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o + i, ld.tanh(v) + ld.log1p(tl.abs(v)) + ld.atan(v) + ld.tan(v))


@triton.jit
def f_recip(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o + i, ld.relu(v) + ld.reciprocal(v + 10) + ld.round(v) + ld.ilogb(v) + ld.ldexp(v, v))


@triton.jit
def f_isnan(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o + i, tl.where(ld.isnan(v), 0.0, v) + tl.where(ld.isinf(v), 1.0, 2.0))


@triton.jit
def f_pow(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o + i, ld.pow(tl.abs(v), v))


@triton.jit
def f_powi(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, ld.pow(i, i % 4).to(tl.float32))


@triton.jit
def f_tanh16(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i).to(tl.float16)
    tl.store(o + i, ld.tanh(v).to(tl.float32) + ld.relu(v).to(tl.float32))


@triton.jit
def f_acos(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(
        o + i,
        ld.acos(v * 0.1) + ld.sinh(v) + ld.cosh(v) + ld.asinh(v) + ld.atanh(v * 0.1) + ld.expm1(v) + ld.hypot(v, v),
    )


@triton.jit
def f_math(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    a = tl.abs(v) + 0.5
    tl.store(
        o + i,
        tl.erf(v)
        + tl.sqrt(a)
        + tl.rsqrt(a)
        + tl.floor(v)
        + tl.ceil(v)
        + tl.sin(v)
        + tl.cos(v)
        + tl.exp2(v)
        + tl.log2(a)
        + tl.log(a)
        + tl.sigmoid(v)
        + tl.fma(v, v, a)
        + tl.math.div_rn(v, a)
        + tl.math.sqrt_rn(a),
    )


@triton.jit
def f_clamp(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o + i, tl.clamp(v, -1.0, 1.0) + tl.maximum(v, 0.0, propagate_nan=tl.PropagateNan.ALL) + tl.minimum(v, 0.5))


@triton.jit
def f_bool(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    m = (v > 0) & ~(v > 1) | (i % 2 == 0)
    tl.store(o + i, m.to(tl.float32) + tl.where(m ^ (v < 0), 1.0, 0.0))


@triton.jit
def f_red2(x, o, n, B: tl.constexpr):
    i = tl.arange(0, 16)
    v = tl.load(x + i[:, None] * 16 + i[None, :])
    tl.store(
        o + i,
        tl.sum(v, 0) + tl.max(v, 1) + tl.min(v, 0) + tl.argmax(v, 1).to(tl.float32) + tl.argmin(v, 0).to(tl.float32),
    )


@triton.jit
def f_red3(x, o, n, B: tl.constexpr):
    i = tl.arange(0, 8)
    v = tl.load(x + i[:, None, None] * 64 + i[None, :, None] * 8 + i[None, None, :])
    s = tl.sum(v, 1)
    tl.store(o + i[:, None] * 8 + i[None, :], s + tl.sum(v, 0) + tl.sum(v, 2))


@triton.jit
def f_xorsum(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i).to(tl.int32)
    tl.store(o, tl.xor_sum(v, 0).to(tl.float32))


@triton.jit
def f_redprod(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o, tl.reduce(v, 0, prod))


@triton.jit
def f_scan2(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    _a, b = tl.associative_scan((v * 0.1, v), 0, comb)
    tl.store(o + i, b)


@triton.jit
def f_cat(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o + tl.arange(0, 2 * B), tl.cat(v, v + 1, can_reorder=True))


@triton.jit
def f_permute(x, o, n, B: tl.constexpr):
    i = tl.arange(0, 8)
    v = tl.load(x + i[:, None, None] * 64 + i[None, :, None] * 8 + i[None, None, :])
    tl.store(o + i[:, None, None] * 64 + i[None, :, None] * 8 + i[None, None, :], tl.permute(v, (2, 0, 1)))


@triton.jit
def f_interleave(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o + tl.arange(0, 2 * B), tl.interleave(v, -v))


@triton.jit
def f_shift(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, ((i << 2) ^ (i >> 1) & (i | 3)).to(tl.float32))


@triton.jit
def f_i64(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B).to(tl.int64) * (n * 100000000)
    tl.store(o + tl.arange(0, B), (i // 1000 % 977).to(tl.float32))


@triton.jit
def f_static(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    for j in tl.static_range(3):
        acc += tl.load(x + j * B + i)
    tl.store(o + i, acc)


@triton.jit
def f_nested(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    for j in range(n):
        for k in range(j, n, 3):
            if k % 2 == 0:
                acc += tl.load(x + k * B + i)
            else:
                acc -= 1.0
    tl.store(o + i, acc)


@triton.jit
def f_ifelse(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    r = tl.program_id(0)
    if r == 0:
        v = tl.load(x + i)
    elif r == 1:
        v = tl.load(x + i) * 2
    else:
        v = tl.zeros((B,), tl.float32)
    tl.store(o + r * B + i, v)


@triton.jit
def f_scalarloop(x, o, n, B: tl.constexpr):
    s = 0.0
    for j in range(n):
        s += tl.load(x + j)
    tl.store(o, s)


@triton.jit
def f_whileload(x, o, n, B: tl.constexpr):
    j = 0
    v = tl.load(x)
    while (v < 2.0) & (j < n):
        j += 1
        v = tl.load(x + j)
    tl.store(o, j.to(tl.float32))


@triton.jit
def f_ifload2(x, o, n, B: tl.constexpr):
    best = -1e30
    at = 0
    for j in range(n):
        f = tl.load(x + j)
        if f > best:
            best = f
            at = j
    tl.store(o, best)
    tl.store(o + 1, at.to(tl.float32))


@triton.jit
def f_dot3(x, o, n, B: tl.constexpr):
    b = tl.arange(0, 2)
    i = tl.arange(0, 16)
    p = b[:, None, None] * 256 + i[None, :, None] * 16 + i[None, None, :]
    tl.store(o + p, tl.dot(tl.load(x + p), tl.load(x + 512 + p)))


@triton.jit
def f_doti8(x, o, n, B: tl.constexpr):
    i = tl.arange(0, 16)
    p = i[:, None] * 16 + i[None, :]
    a = (tl.load(x + p) * 10).to(tl.int8)
    tl.store(o + p, tl.dot(a, a).to(tl.float32))


@triton.jit
def f_dottrans(x, o, n, B: tl.constexpr):
    i = tl.arange(0, 16)
    p = i[:, None] * 16 + i[None, :]
    a = tl.load(x + p).to(tl.bfloat16)
    tl.store(o + p, tl.dot(a, tl.trans(a), out_dtype=tl.float32) * 2 + 1)


@triton.jit
def f_atomic2d(x, o, n, B: tl.constexpr):
    i = tl.arange(0, 16)
    p = i[:, None] * 16 + i[None, :]
    tl.atomic_add(o + p, tl.load(x + p), mask=(i < n)[:, None] & (i < 10)[None, :])


@triton.jit
def f_atomicret(x, o, n, B: tl.constexpr):
    old = tl.atomic_add(o, 1.0)
    tl.store(o + 1 + tl.program_id(0), old)


@triton.jit
def f_atomidx(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    b = (tl.abs(v) * 4).to(tl.int32)
    tl.atomic_add(o + b, 1.0)


@triton.jit
def f_bitcast(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o + i, (v.to(tl.int32, bitcast=True) & 0x7FFFFFFF).to(tl.float32, bitcast=True))


@triton.jit
def f_i8(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = (tl.load(x + i) * 50).to(tl.int8)
    tl.store(o + i, (v + v).to(tl.float32) + v.to(tl.uint8).to(tl.float32))


@triton.jit
def f_f16(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i).to(tl.float16)
    w = v * v + v
    tl.store(o + i, tl.exp(w).to(tl.float32) + tl.sum(v, 0).to(tl.float32))


@triton.jit
def f_bf16(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i).to(tl.bfloat16)
    w = v * v + v
    tl.store(
        o + i,
        w.to(tl.float32)
        + tl.max(v, 0).to(tl.float32)
        + tl.sum(v, 0).to(tl.float32)
        + tl.sqrt(tl.abs(v).to(tl.float32)),
    )


@triton.jit
def f_slice(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    s = tl.extract_slice(v, (8,), (16,), (1,))
    tl.store(o + tl.arange(0, 16), s)


@triton.jit
def f_insert(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    s = tl.load(x + 100 + tl.arange(0, 16))
    tl.store(o + i, tl.insert_slice(v, s, (8,), (16,), (1,)))


@triton.jit
def f_getel(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o, tl.get_element(v, (3,)))


@triton.jit
def f_swizzle(x, o, n, B: tl.constexpr):
    a, b = tl.swizzle2d(tl.program_id(0) // 2, tl.program_id(0) % 2, 4, 4, 2)
    tl.store(o + tl.program_id(0), (a * 10 + b).to(tl.float32))


@triton.jit
def f_cdiv(x, o, n, B: tl.constexpr):
    tl.store(o, tl.cdiv(n, 5).to(tl.float32))
    tl.store(o + 1, (n % 5).to(tl.float32))
    tl.store(o + 2, (-n // 5).to(tl.float32))


@triton.jit
def f_modf(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o + i, v % 1.5)


@triton.jit
def f_2dgather(x, o, n, B: tl.constexpr):
    i = tl.arange(0, 16)
    r = (i * 5) % 16
    tl.store(o + i[:, None] * 16 + i[None, :], tl.load(x + r[:, None] * 16 + i[None, :]))


@triton.jit
def f_2dgatherc(x, o, n, B: tl.constexpr):
    i = tl.arange(0, 16)
    r = (i * 5) % 16
    tl.store(
        o + i[:, None] * 16 + i[None, :], tl.load(x + i[:, None] * 16 + r[None, :], mask=(i < n)[:, None], other=0.0)
    )


@triton.jit
def f_whereaddr(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    j = tl.where(i > n, i - n, i)
    tl.store(o + i, tl.load(x + j))


@triton.jit
def f_conv(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    for k in range(-2, 3):
        j = i + k
        acc += tl.load(x + j, mask=(j >= 0) & (j < n * 4), other=0.0)
    tl.store(o + i, acc)


@triton.jit
def f_scatmask(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    idx = tl.load(x + 64 + i)
    j = (tl.abs(idx) * 100).to(tl.int32)
    tl.store(o + j, v, mask=(i < n) & (v > 0))


@triton.jit
def f_storecond(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o + i, v, mask=v > 0)


@triton.jit
def f_loadcond(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o + i, tl.load(x + 64 + i, mask=v > 0, other=7.0))


@triton.jit
def f_scalarmask(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=n > 3, other=0.0)
    tl.store(o + i, v, mask=n > 3)
    tl.store(o + 100, 1.0, mask=n > 100)


@triton.jit
def f_revmask(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + B - 1 - i, mask=i >= n, other=0.0)
    tl.store(o + i, v)


@triton.jit
def f_2dmask(x, o, n, B: tl.constexpr):
    i = tl.arange(0, 16)
    m = (i[:, None] > i[None, :]) & (i[None, :] < n)
    p = i[:, None] * 16 + i[None, :]
    v = tl.load(x + p, mask=m, other=-1.0)
    tl.store(o + p, v, mask=i[:, None] >= i[None, :])


@triton.jit
def f_stridestore(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i * 3, tl.load(x + i * 2, mask=i < n * 2), mask=i < n * 2)


@triton.jit
def f_negstride(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + (63 - i)))


@triton.jit
def f_modaddr(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + (i + 5) % B))


@triton.jit
def f_divaddr(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + (i // 4) * 7 + i % 4))


@triton.jit
def f_scalarstore(x, o, n, B: tl.constexpr):
    tl.store(o + tl.program_id(0), tl.load(x + tl.program_id(0)) * 2)
    tl.store(o + 10, n)


@triton.jit
def f_ptrloop2(x, o, n, B: tl.constexpr):
    i = tl.arange(0, 16)
    p = x + i[:, None] * 64 + i[None, :]
    q = o + i[:, None] * 64 + i[None, :]
    for _j in range(4):
        tl.store(q, tl.load(p) + 1)
        p += 16
        q += 16


@triton.jit
def f_carry(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    b = tl.load(x + B + i)
    for _j in range(n):
        a, b = b, a + b * 0.1
    tl.store(o + i, a)
    tl.store(o + B + i, b)


@triton.jit
def f_onlinesm(x, o, n, B: tl.constexpr):
    m = -float("inf")
    d = 0.0
    i = tl.arange(0, B)
    for j in range(0, n * 16, B):
        v = tl.load(x + j + i, mask=j + i < n * 16, other=-float("inf"))
        mn = tl.maximum(m, tl.max(v, 0))
        d = d * tl.exp(m - mn) + tl.sum(tl.exp(v - mn), 0)
        m = mn
    tl.store(o, m)
    tl.store(o + 1, d)


@triton.jit
def f_inplace(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    for _j in range(3):
        tl.store(o + i, tl.load(o + i) + tl.load(x + i))
        tl.debug_barrier()


@triton.jit
def f_range1(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    for j in range(1):
        tl.store(o + i, tl.load(x + i) + j)


@triton.jit
def f_swaprows(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    b = tl.load(x + B + i)
    tl.store(x + B + i, a)
    tl.store(x + i, b)


@triton.jit
def f_reshape(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.reshape(tl.load(x + i), (8, 8))
    tl.store(o + i, tl.reshape(tl.trans(v), (B,)))
    tl.store(o + 64 + tl.arange(0, 8), tl.sum(v, 1))
    tl.store(o + 80 + i, tl.ravel(v.to(tl.float32)))


@triton.jit
def f_minidx(x, o, n, B: tl.constexpr):
    i = tl.arange(0, 16)
    v = tl.load(x + i[:, None] * 16 + i[None, :])
    m, ix = tl.min(v, 1, return_indices=True)
    tl.store(o + i, m)
    tl.store(o + 16 + i, ix.to(tl.float32))


@triton.jit
def f_break(x, o, n, B: tl.constexpr):
    j = 0
    while j < n:
        j += 3
    tl.store(o, j.to(tl.float32))


@triton.jit
def f_helper(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o + i, helper(v, 1.0, True) * helper(v, 2.0, False))


@triton.jit
def f_fp16load(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(
        o + i,
        (v.to(tl.float16) + 1).to(tl.bfloat16).to(tl.float32)
        + v.to(tl.float16, fp_downcast_rounding="rtz").to(tl.float32),
    )


@triton.jit
def f_i1store(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i) > 0
    tl.store(o + i, (v & (i % 2 == 0)).to(tl.int8).to(tl.float32))
    tl.store(o + 100, tl.sum(v.to(tl.int32), 0).to(tl.float32))


@triton.jit
def f_anyall(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    a = tl.max((v > 2).to(tl.int32), 0)
    if a > 0:
        tl.store(o, 1.0)
    else:
        tl.store(o, 2.0)


@triton.jit
def f_assert(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.device_assert(n > 0, "n")
    tl.device_print("v", n)
    tl.store(o + i, v)


@triton.jit
def f_hint(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.multibuffer(v, 2)
    tl.store(o + i, v)
    tl.debug_barrier()
