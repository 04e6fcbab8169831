"""Flat copy: one program per 1,024 elements."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def flat_copy(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(y + i, tl.load(x + i, mask=inside), mask=inside)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        flat_copy[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)
        return y
