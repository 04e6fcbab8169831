"""Feature map of linear attention: softmax over rows of 32 columns, 40 programs, 64 rows per step."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def feature_map(x, y, rows, D: tl.constexpr, BLOCK: tl.constexpr):
    columns = tl.arange(0, D)
    for tile in range(tl.program_id(0), tl.cdiv(rows, BLOCK), tl.num_programs(0)):
        r = tile * BLOCK + tl.arange(0, BLOCK)
        inside = r[:, None] < rows
        v = tl.load(x + r[:, None] * D + columns[None, :], mask=inside, other=0.0).to(tl.float32)
        e = tl.exp(v - tl.max(v, 1)[:, None])
        tl.store(y + r[:, None] * D + columns[None, :], e / tl.sum(e, 1)[:, None], mask=inside)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape, dtype=torch.float32)
        rows = x.numel() // x.shape[-1]
        feature_map[(40,)](x, y, rows, D=x.shape[-1], BLOCK=64)
        return y
