"""Root-mean-square normalisation with weight."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = [(37, 29), (64, 100)]


class Model(nn.Module):
    def forward(self, x, w):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w


def get_input_groups():
    return [[torch.randn(s), torch.randn(s[1])] for s in SHAPES]


def get_init_inputs():
    return []
