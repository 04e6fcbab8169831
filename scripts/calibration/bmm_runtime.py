"""Batched matrix product with run-time sizes; one tile per program, or 20 programs that walk the tiles."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

CORES = 20


@triton.jit
def bmm_runtime(
    a, b, c, tiles, M, N, K, sab, sam, sbb, sbk, scb, scm,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    tiles_n = tl.cdiv(N, BN)
    per_batch = tl.cdiv(M, BM) * tiles_n
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        batch = tile // per_batch
        inner = tile % per_batch
        rm = (inner // tiles_n) * BM + tl.arange(0, BM)
        rn = (inner % tiles_n) * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            rk = k + tl.arange(0, BK)
            x = tl.load(
                a + batch * sab + rm[:, None] * sam + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0
            )
            y = tl.load(
                b + batch * sbb + rk[:, None] * sbk + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0
            )
            acc = tl.dot(x, y, acc)
        target = c + batch * scb + rm[:, None] * scm + rn[None, :]
        tl.store(target, acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def bmm_runtime_one(
    a, b, c, M, N, K, sab, sam, sbb, sbk, scb, scm,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    tiles_n = tl.cdiv(N, BN)
    per_batch = tl.cdiv(M, BM) * tiles_n
    tile = tl.program_id(0)
    batch = tile // per_batch
    inner = tile % per_batch
    rm = (inner // tiles_n) * BM + tl.arange(0, BM)
    rn = (inner % tiles_n) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(
            a + batch * sab + rm[:, None] * sam + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0
        )
        y = tl.load(
            b + batch * sbb + rk[:, None] * sbk + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0
        )
        acc = tl.dot(x, y, acc)
    target = c + batch * scb + rm[:, None] * scm + rn[None, :]
    tl.store(target, acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


def block(n, low, high):
    return min(high, max(low, triton.next_power_of_2(n)))


class ModelNew(nn.Module):
    def forward(self, a, b):
        batch, m, k = a.shape
        n = b.shape[2]
        c = torch.empty(batch, m, n, dtype=a.dtype)
        bm, bn, bk = block(m, 16, 64), block(n, 16, 64), block(k, 16, 256)
        tiles = batch * triton.cdiv(m, bm) * triton.cdiv(n, bn)
        strides = (a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1))
        if tiles <= CORES:
            bmm_runtime_one[(tiles,)](a, b, c, m, n, k, *strides, BM=bm, BN=bn, BK=bk)
        else:
            bmm_runtime[(CORES,)](a, b, c, tiles, m, n, k, *strides, BM=bm, BN=bn, BK=bk)
        return c
