"""Softmax of each row."""

import torch
import torch.nn as nn
import torch.nn.functional as F

SHAPES = [(37, 29), (64, 100)]


class Model(nn.Module):
    def forward(self, x):
        x = x * 0.5
        return torch.softmax(x, dim=-1)


def get_input_groups():
    return [[torch.randn(s) * 4] for s in SHAPES]


def get_init_inputs():
    return []
