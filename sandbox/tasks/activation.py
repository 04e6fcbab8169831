"""An activation function."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = [(37, 29), (64, 100)]


class Model(nn.Module):
    def forward(self, x):
        return F.silu(x)


def get_input_groups():
    return [[torch.randn(s) * 3] for s in SHAPES]


def get_init_inputs():
    return []
