"""Rows divided by the mean of their magnitudes."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        mask = i < columns
        x = tl.load(x_ptr + row * columns + i, mask=mask, other=0.0)
        y = x / (tl.sum(tl.abs(x), 0) / columns)
        tl.store(out_ptr + row * columns + i, y, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        rows, columns = x.shape
        kernel[(min(40, rows),)](x, out, rows, columns, BLOCK=triton.next_power_of_2(columns))
        return out
