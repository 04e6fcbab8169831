"""Output of linear attention: query features times state, normalised, plus the sparse part; 40 programs."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def linear_output(cq, kv, ksum, sparse, out, tiles, length, D: tl.constexpr, BLOCK: tl.constexpr):
    columns = tl.arange(0, D)
    per_head = tl.cdiv(length, BLOCK)
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        head = tile // per_head
        r = (tile % per_head) * BLOCK + tl.arange(0, BLOCK)
        inside = r[:, None] < length
        at = head * length * D + r[:, None] * D + columns[None, :]
        q = tl.load(cq + at, mask=inside, other=0.0)
        state = tl.load(kv + head * D * D + columns[:, None] * D + columns[None, :])
        sums = tl.load(ksum + head * D + columns)
        top = tl.dot(q, state)
        below = tl.sum(q * sums[None, :], 1) + 1e-6
        s = tl.load(sparse + at, mask=inside, other=0.0)
        tl.store(out + at, (top / below[:, None] + s).to(tl.float16), mask=inside)


class ModelNew(nn.Module):
    def forward(self, cq, kv, ksum, sparse):
        heads, length, d = cq.shape
        out = torch.empty(cq.shape, dtype=torch.float16)
        tiles = heads * triton.cdiv(length, 64)
        linear_output[(40,)](cq, kv, ksum, sparse, out, tiles, length, D=d, BLOCK=64)
        return out
