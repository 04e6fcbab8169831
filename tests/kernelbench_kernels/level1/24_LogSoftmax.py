"""Log-softmax of each row."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        mask = i < columns
        x = tl.load(x_ptr + row * columns + i, mask=mask, other=-float("inf"))
        shifted = x - tl.max(x, 0)
        y = shifted - tl.log(tl.sum(tl.exp(shifted), 0))
        tl.store(out_ptr + row * columns + i, y, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, dim=1):
        super().__init__()

    def forward(self, x):
        out = torch.empty_like(x)
        rows, columns = x.shape
        kernel[(min(40, rows),)](x, out, rows, columns, BLOCK=triton.next_power_of_2(columns))
        return out
