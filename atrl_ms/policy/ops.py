"""The operations the policy uses, each in the form that runs on CPU and on Ascend.

On Ascend the fused kernels are used (RmsNorm, flash attention); on CPU, which lacks them, plain composites.
Only `ops.X` forms with a CPU kernel appear here. Dimension letters: N rows (batch x time), B batch, T time, D width,
H query heads, K key/value heads, R = H / K, E head size, V vocabulary.
"""

from __future__ import annotations

import math

import mindspore as ms
from mindspore import Tensor, ops

MASKED = -1e9  # additive mask; finite so that a fully masked row gives no NaN

_matmul_t = ops.MatMul(transpose_b=True)
_batch_matmul = ops.BatchMatMul()
_batch_matmul_t = ops.BatchMatMul(transpose_b=True)
_log_softmax = ops.LogSoftmax(-1)
_transpose = ops.Transpose()


def setup_cpu() -> None:
    """Call once before the first tensor: without it every small operation pays 2 to 7 ms of thread hand-offs."""
    if ms.get_context("device_target") == "CPU":
        ms.set_context(pynative_synchronize=True)


def on_ascend() -> bool:
    return bool(ms.get_context("device_target") == "Ascend")


def linear(x_NI: Tensor, weight_OI: Tensor) -> Tensor:
    """(N, I) x (O, I) -> (N, O)."""
    return _matmul_t(x_NI, weight_OI)


def rms_norm(x_ND: Tensor, eps: float) -> Tensor:
    """x / sqrt(mean(x^2) + eps) over the last axis, without gain: gains are folded into what follows."""
    return x_ND * ops.rsqrt(ops.mean(ops.square(x_ND), -1, True) + eps)


def silu_gate(gate_NF: Tensor, up_NF: Tensor) -> Tensor:
    """SwiGLU's activation: silu(gate) * up."""
    return ops.silu(gate_NF) * up_NF


def swap_halves(x_ME: Tensor, half: int) -> Tensor:
    """Exchange the two halves of the last axis (M, E)."""
    first, second = ops.split(x_ME, half, -1)
    return ops.cat((second, first), -1)


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """softmax(q k^T + mask) v for grouped heads; q is already scaled.

    q (G, R*T, E) with G = B*K groups, k and v (G, C, E), mask broadcastable to (G, R*T, C). Returns (G, R*T, E).
    The R query heads of a group are rows of one matrix: keys and values are never repeated.
    """
    scores = _batch_matmul_t(q, k) + mask
    return _batch_matmul(ops.softmax(scores, -1), v)


def log_softmax(logits_NV: Tensor) -> Tensor:
    return _log_softmax(logits_NV)


def pick(values_NV: Tensor, index_N: Tensor) -> Tensor:
    """values[n, index[n]] -> (N,)."""
    return ops.gather_d(values_NV, 1, index_N.reshape(-1, 1)).reshape(-1)


def scale_of(head_dim: int) -> float:
    return 1.0 / math.sqrt(head_dim)
