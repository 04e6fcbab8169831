"""Each row with its mean removed and divided by its standard deviation."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = [(37, 29), (64, 100)]


class Model(nn.Module):
    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)


def get_input_groups():
    return [[torch.randn(s) + 1] for s in SHAPES]


def get_init_inputs():
    return []
