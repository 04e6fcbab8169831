"""Kernels that do what an NPU does not forgive, and honest ones that look as if they did."""

import triton
import triton.language as tl


@triton.jit
def shifted_copy(x, out, n, read_offset, write_offset, BLOCK: tl.constexpr):
    """Copies n elements from x[read_offset:] to out[write_offset:]."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at + write_offset, tl.load(x + at + read_offset, mask=inside), mask=inside)


@triton.jit
def indirect_copy(x, index, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + tl.load(index + at, mask=inside, other=0), mask=inside, other=0.0), mask=inside)


@triton.jit
def wild_scalar(x, out, far):
    tl.store(out, tl.load(x + far))


@triton.jit
def sum_without_other(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out, tl.sum(tl.load(x + at, mask=at < n), axis=0))


@triton.jit
def integer_divide(x, y, quotient, remainder, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < n
    a = tl.load(x + at, mask=inside, other=0)
    b = tl.load(y + at, mask=inside, other=0)
    tl.store(quotient + at, a // b, mask=inside)
    tl.store(remainder + at, a % b, mask=inside)


@triton.jit
def to_integer(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n, other=0.0).to(tl.int32), mask=at < n)


@triton.jit
def endless(x, out):
    value = tl.load(x)
    while value > -1.0:
        value = value + 1.0
    tl.store(out, value)


@triton.jit
def strided_rows(x, out, rows, columns, stride, M: tl.constexpr, N: tl.constexpr):
    """Reads a tile of a matrix through its strides; the last row is not padded to the stride."""
    r = tl.arange(0, M)[:, None]
    c = tl.arange(0, N)[None, :]
    inside = (r < rows) & (c < columns)
    tl.store(out + r * columns + c, tl.load(x + r * stride + c, mask=inside, other=0.0), mask=inside)


@triton.jit
def every_second(x, out, n, step, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at * step, mask=at < n, other=0.0), mask=at < n)


@triton.jit
def column(x, out, rows, width, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at * width, tl.load(x + at * width, mask=at < rows, other=0.0) + 1.0, mask=at < rows)


@triton.jit
def doubly_masked(x, out, n, BLOCK: tl.constexpr):
    """Masks that depend on loaded values and on the bound: the lowering may load more than it selects."""
    at = tl.arange(0, BLOCK)
    inside = at < n
    first = tl.load(x + at, mask=inside, other=0.0)
    second = tl.load(x + at, mask=inside & (first > 0), other=-1.0)
    third = tl.load(x + at, mask=inside & (at % 3 == 0), other=-2.0)
    tl.store(out + at, second + third, mask=inside & (first < 1))


@triton.jit
def triangle(x, out, n, BLOCK: tl.constexpr):
    """A mask over two axes that is no rectangle, on a matrix of exactly n x n elements."""
    row = tl.arange(0, BLOCK)[:, None]
    column = tl.arange(0, BLOCK)[None, :]
    inside = (row < n) & (column < n) & (column <= row)
    at = row * n + column
    tl.store(out + at, tl.load(x + at, mask=inside, other=0.0), mask=inside)
