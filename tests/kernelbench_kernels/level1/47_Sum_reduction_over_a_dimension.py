"""Sum over the middle axis: a block of columns at a time, so that every load is contiguous."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, out_ptr, length, columns, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    batch = tl.program_id(1)
    mask = i < columns
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(length):
        total += tl.load(x_ptr + (batch * length + k) * columns + i, mask=mask, other=0.0)
    tl.store(out_ptr + batch * columns + i, total, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        batch, length, columns = x.shape
        out = torch.empty((batch, 1, columns), dtype=x.dtype, device=x.device)
        block = 256
        kernel[(triton.cdiv(columns, block), batch)](x, out, length, columns, BLOCK=block)
        return out
