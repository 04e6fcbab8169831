"""The patterns of real kernels: row operations, norms, matmul, attention, grouped matmul, top-k, scans, dropout."""

import triton
import triton.language as tl


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def softmax_rows(x, out, rows, columns, stride, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        values = tl.load(x + row * stride + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        shifted = tl.exp(values - tl.max(values, axis=0))
        result = shifted / tl.sum(shifted, axis=0)
        tl.store(out + row * stride + at, result.to(out.dtype.element_ty), mask=at < columns)


@triton.jit
def layer_norm_forward(x, out, weight, bias, mean_out, rstd_out, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    square = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        values = tl.load(x + row * columns + at, mask=at < columns, other=0.0).to(tl.float32)
        centred = tl.where(at < columns, values - mean, 0.0)
        square += centred * centred
    rstd = 1 / tl.sqrt(tl.sum(square, axis=0) / columns + eps)
    tl.store(mean_out + row, mean)
    tl.store(rstd_out + row, rstd)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < columns
        values = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
        scale = tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
        shift = tl.load(bias + at, mask=inside, other=0.0).to(tl.float32)
        tl.store(out + row * columns + at, (values - mean) * rstd * scale + shift, mask=inside)


@triton.jit
def layer_norm_backward(dy, x, weight, mean_in, rstd_in, dx, dweight, dbias, rows, columns, BLOCK: tl.constexpr):
    """One program takes every num_programs-th row; weight gradients go into this program's own partial row."""
    program = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    scale = tl.load(weight + at, mask=inside, other=0.0)
    weight_sum = tl.zeros((BLOCK,), dtype=tl.float32)
    bias_sum = tl.zeros((BLOCK,), dtype=tl.float32)
    for row in range(program, rows, tl.num_programs(0)):
        mean = tl.load(mean_in + row)
        rstd = tl.load(rstd_in + row)
        values = tl.load(x + row * columns + at, mask=inside, other=0.0)
        gradient = tl.load(dy + row * columns + at, mask=inside, other=0.0)
        normal = tl.where(inside, (values - mean) * rstd, 0.0)
        scaled = scale * gradient
        c1 = tl.sum(normal * scaled, axis=0) / columns
        c2 = tl.sum(scaled, axis=0) / columns
        tl.store(dx + row * columns + at, (scaled - (normal * c1 + c2)) * rstd, mask=inside)
        weight_sum += gradient * normal
        bias_sum += gradient
    tl.store(dweight + program * columns + at, weight_sum, mask=inside)
    tl.store(dbias + program * columns + at, bias_sum, mask=inside)


@triton.jit
def matmul(
    a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    blocks_n = tl.cdiv(N, BN)
    row = (tl.program_id(0) // blocks_n) * BM + tl.arange(0, BM)
    column = (tl.program_id(0) % blocks_n) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        inner = start + tl.arange(0, BK)
        left = tl.load(
            a + row[:, None] * stride_am + inner[None, :] * stride_ak,
            mask=(row[:, None] < M) & (inner[None, :] < K),
            other=0.0,
        )
        right = tl.load(
            b + inner[:, None] * stride_bk + column[None, :] * stride_bn,
            mask=(inner[:, None] < K) & (column[None, :] < N),
            other=0.0,
        )
        total = tl.dot(left, right, total)
    tl.store(
        c + row[:, None] * N + column[None, :],
        total.to(c.dtype.element_ty),
        mask=(row[:, None] < M) & (column[None, :] < N),
    )


@triton.jit
def matmul_block_pointers(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    left = tl.make_block_ptr(a, (M, K), (K, 1), (row, 0), (BM, BK), (1, 0))
    right = tl.make_block_ptr(b, (K, N), (N, 1), (0, column), (BK, BN), (1, 0))
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        total += tl.dot(tl.load(left, boundary_check=(0, 1)), tl.load(right, boundary_check=(0, 1)))
        left = tl.advance(left, (0, BK))
        right = tl.advance(right, (BK, 0))
    out = tl.make_block_ptr(c, (M, N), (N, 1), (row, column), (BM, BN), (1, 0))
    tl.store(out, total.to(c.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def attention(q, k, v, out, scale, length, CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Fused attention over (heads, length, D), one program per block of queries of one head."""
    base = tl.program_id(1) * length * D
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + base + rows[:, None] * D + d[None, :], mask=rows[:, None] < length, other=0.0)
    maximum = tl.full((BM,), -1.0e30, dtype=tl.float32)
    norm = tl.zeros((BM,), dtype=tl.float32)
    total = tl.zeros((BM, D), dtype=tl.float32)
    end = length
    if CAUSAL:
        end = tl.minimum(length, (tl.program_id(0) + 1) * BM)
    for start in range(0, end, BN):
        columns = start + tl.arange(0, BN)
        key = tl.load(k + base + columns[:, None] * D + d[None, :], mask=columns[:, None] < length, other=0.0)
        value = tl.load(v + base + columns[:, None] * D + d[None, :], mask=columns[:, None] < length, other=0.0)
        score = tl.dot(query, tl.trans(key)) * scale
        allowed = columns[None, :] < length
        if CAUSAL:
            allowed = allowed & (rows[:, None] >= columns[None, :])
        score = tl.where(allowed, score, -1.0e30)
        new_maximum = tl.maximum(maximum, tl.max(score, axis=1))
        weight = tl.exp(score - new_maximum[:, None])
        correction = tl.exp(maximum - new_maximum)
        norm = norm * correction + tl.sum(weight, axis=1)
        total = total * correction[:, None] + tl.dot(weight.to(query.dtype), value)
        maximum = new_maximum
    tl.store(
        out + base + rows[:, None] * D + d[None, :],
        (total / norm[:, None]).to(out.dtype.element_ty),
        mask=rows[:, None] < length,
    )


@triton.jit
def grouped_matmul(a, b, c, sizes, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUPS: tl.constexpr):
    """Rows of a belong to groups of the given sizes, one after another; group g multiplies b[g]."""
    tile = tl.program_id(0)
    first_tile = 0
    first_row = 0
    blocks_n = tl.cdiv(N, BN)
    for group in range(GROUPS):
        rows_here = tl.load(sizes + group)
        tiles_here = tl.cdiv(rows_here, BM) * blocks_n
        while tile < first_tile + tiles_here:
            local = tile - first_tile
            row = (local // blocks_n) * BM + tl.arange(0, BM)
            column = (local % blocks_n) * BN + tl.arange(0, BN)
            total = tl.zeros((BM, BN), dtype=tl.float32)
            for start in range(0, K, BK):
                inner = start + tl.arange(0, BK)
                left = tl.load(
                    a + (first_row + row[:, None]) * K + inner[None, :],
                    mask=(row[:, None] < rows_here) & (inner[None, :] < K),
                    other=0.0,
                )
                right = tl.load(
                    b + group * K * N + inner[:, None] * N + column[None, :],
                    mask=(inner[:, None] < K) & (column[None, :] < N),
                    other=0.0,
                )
                total += tl.dot(left, right)
            tl.store(
                c + (first_row + row[:, None]) * N + column[None, :],
                total.to(c.dtype.element_ty),
                mask=(row[:, None] < rows_here) & (column[None, :] < N),
            )
            tile += tl.num_programs(0)
        first_tile += tiles_here
        first_row += rows_here


@triton.jit
def top_k_rows(x, values_out, indices_out, columns, K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf")).to(tl.float32)
    for rank in range(K):
        best, where = tl.max(values, axis=0, return_indices=True)
        tl.store(values_out + row * K + rank, best)
        tl.store(indices_out + row * K + rank, where.to(tl.int64))
        values = tl.where(at == where, -float("inf"), values)


@triton.jit
def cumsum_rows(x, out, columns, REVERSE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=0.0)
    tl.store(out + row * columns + at, tl.cumsum(values, axis=0, reverse=REVERSE), mask=at < columns)


@triton.jit
def cumsum_tile(x, out, AXIS: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.cumsum(tl.load(x + at), axis=AXIS))


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def running_maximum(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.associative_scan(tl.load(x + at), 0, larger))


@triton.jit
def sort_rows(x, out, DESCENDING: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.sort(tl.load(x + at), descending=DESCENDING))


@triton.jit
def flip_tile(x, out, AXIS: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.flip(tl.load(x + at), AXIS))


@triton.jit
def gather_rows(table, index, out, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    source = tl.load(index + row)
    for start in range(0, width, BLOCK):
        at = start + tl.arange(0, BLOCK)
        tl.store(out + row * width + at, tl.load(table + source * width + at, mask=at < width), mask=at < width)


@triton.jit
def gather_elements(x, index, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    chosen = tl.load(index + at, mask=inside, other=0)
    tl.store(out + at, tl.load(x + chosen, mask=inside, other=0.0), mask=inside)


@triton.jit
def gather_in_register(x, index, out, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.gather(tl.load(x + at), tl.load(index + at), 1))


@triton.jit
def scatter_elements(x, index, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + tl.load(index + at, mask=inside, other=0), tl.load(x + at, mask=inside, other=0.0), mask=inside)


@triton.jit
def scatter_add_rows(x, index, out, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    target = tl.load(index + row)
    at = tl.arange(0, BLOCK)
    inside = at < width
    tl.atomic_add(out + target * width + at, tl.load(x + row * width + at, mask=inside, other=0.0), mask=inside)


@triton.jit
def dropout(x, out, n, probability, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    keep = tl.rand(seed, at) > probability
    values = tl.load(x + at, mask=inside, other=0.0)
    tl.store(out + at, tl.where(keep, values / (1 - probability), 0.0), mask=inside)


@triton.autotune(configs=[triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 512})], key=["n"])
@triton.jit
def add_tuned(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def histogram(x, out, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + tl.arange(0, BINS), tl.histogram(tl.load(x + at), BINS))
