"""RMS over the channels of an image: a block of pixels at a time, channels in a loop."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, out_ptr, channels, pixels, eps, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    image = tl.program_id(1) * channels * pixels
    mask = i < pixels
    squares = tl.zeros((BLOCK,), tl.float32)
    for c in range(channels):
        x = tl.load(x_ptr + image + c * pixels + i, mask=mask, other=0.0)
        squares += x * x
    scale = 1.0 / tl.sqrt(squares / channels + eps)
    for c in range(channels):
        x = tl.load(x_ptr + image + c * pixels + i, mask=mask, other=0.0)
        tl.store(out_ptr + image + c * pixels + i, x * scale, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        out = torch.empty_like(x)
        batch, channels = x.shape[0], x.shape[1]
        pixels = x.numel() // (batch * channels)
        block = 1024
        kernel[(triton.cdiv(pixels, block), batch)](x, out, channels, pixels, self.eps, BLOCK=block)
        return out
