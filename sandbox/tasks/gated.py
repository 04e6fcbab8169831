"""A gated linear unit on two tensors (SwiGLU and its relatives)."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = [(37, 29), (64, 100)]


class Model(nn.Module):
    def forward(self, x, y):
        x = F.silu(x)
        return x * y


def get_input_groups():
    return [[torch.randn(s), torch.randn(s)] for s in SHAPES]


def get_init_inputs():
    return []
