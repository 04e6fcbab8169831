"""Each row divided by its Euclidean norm."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = [(37, 29), (64, 100)]


class Model(nn.Module):
    def forward(self, x):
        return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-6)


def get_input_groups():
    return [[torch.randn(s)] for s in SHAPES]


def get_init_inputs():
    return []
