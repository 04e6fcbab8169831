"""Kernels that one of the compiler's stages refuses, and their neighbours that it accepts."""

import triton
import triton.language as tl


@triton.jit
def undefined_name(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + at)
    tl.store(out + at, missing(value))  # noqa: F821


@triton.jit
def shapes_differ(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    wide = tl.arange(0, 2 * BLOCK)
    tl.store(out + at, tl.load(x + at) + tl.load(x + wide))


@triton.jit
def helper_with_a_fault(value):
    return value.no_such_method()


@triton.jit
def fault_in_helper(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, helper_with_a_fault(tl.load(x + at)))


@triton.jit
def square_tile(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + 1.0, mask=inside)


@triton.jit
def bias_seeded_dot(a, b, bias, c, K, BLOCK: tl.constexpr):
    """An accumulator that starts as a broadcast row: the cube's buffer cannot hold it."""
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32) + tl.load(bias + at)[None, :]
    for start in range(0, K, BLOCK):
        inner = start + tl.arange(0, BLOCK)
        left = tl.load(a + at[:, None] * K + inner[None, :])
        total += tl.dot(left, tl.load(b + inner[:, None] * BLOCK + at[None, :]))
    tl.store(c + at[:, None] * BLOCK + at[None, :], total)


@triton.jit
def many_kinds(
    pointer, half, nothing, one, wide, flag, real, plain, aligned, BLOCK: tl.constexpr, NAME: tl.constexpr = "x"
):
    tl.store(pointer, one + wide + plain + aligned)
