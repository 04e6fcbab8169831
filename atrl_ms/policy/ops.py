"""The operations the policy uses, each in the form that runs on CPU and on Ascend.

On Ascend the fused kernels are used (RmsNorm, flash attention); on CPU, which lacks them, plain composites.
Only `ops.X` forms with a CPU kernel appear here. On CPU an element-wise operation on operands of equal shape is faster
than one that broadcasts, so small operands are tiled first (`over_columns`, `over_rows`). The code for Ascend follows
the documented kernels and has not been run on an NPU.

Dimension letters: N rows (batch x time), B batch, T time, D width, H query heads, K key/value heads, R = H / K,
E head size, C cached positions, V vocabulary.
"""

from __future__ import annotations

import math
import os

import mindspore as ms
from mindspore import Tensor, nn, ops

MASKED = -1e9  # additive mask; finite so that a fully masked row gives no NaN

_matmul = ops.MatMul()
_matmul_t = ops.MatMul(transpose_b=True)
_matmul_ta = ops.MatMul(transpose_a=True)
_transpose = ops.Transpose()
_batch_matmul = ops.BatchMatMul()
_batch_matmul_ta = ops.BatchMatMul(transpose_a=True)
_batch_matmul_t = ops.BatchMatMul(transpose_b=True)
_mean = ops.ReduceMean(keep_dims=True)  # primitives: written-out gradients are compiled, and cannot hold ops.mean
_sum = ops.ReduceSum(keep_dims=True)
_softmax = ops.Softmax(-1)
_tile = ops.Tile()


def setup_cpu() -> None:
    """Call before the first tensor. Does nothing on Ascend.

    Without synchronous PyNative every small operation pays 2 to 7 ms of thread hand-offs. Without a blocking run the
    main thread spins until a graph has finished, which costs one of the cores that compute it.
    """
    if ms.get_context("device_target") == "CPU":
        os.environ.setdefault("MS_DEV_HOST_BLOCKING_RUN", "1")
        ms.set_context(pynative_synchronize=True)


def on_ascend() -> bool:
    return bool(ms.get_context("device_target") == "Ascend")


class Linear(nn.Cell):
    """(N, I) x (O, I) -> (N, O).

    The gradient of a wide weight is computed transposed: the CPU kernel of x^T dy, with the narrower operand first,
    takes two thirds of the time of that of dy^T x.
    """

    def construct(self, x_NI: Tensor, weight_OI: Tensor) -> Tensor:
        return _matmul_t(x_NI, weight_OI)

    def bprop(self, x_NI, weight_OI, out, dout):  # type: ignore[no-untyped-def]
        if weight_OI.shape[0] > weight_OI.shape[1]:
            dweight = _transpose(_matmul_ta(x_NI, dout), (1, 0))
        else:
            dweight = _matmul_ta(dout, x_NI)
        return _matmul(dout, weight_OI), dweight


def over_columns(x_N1: Tensor, columns: int) -> Tensor:
    """(N, 1) -> (N, columns)."""
    return _tile(x_N1, (1, columns))


def over_rows(x_D: Tensor, rows: int) -> Tensor:
    """(D,) -> (rows, D)."""
    return _tile(x_D.reshape(1, -1), (rows, 1))


def scaled(weight_OI: Tensor, gain_I: Tensor) -> Tensor:
    """A weight with the gain of the norm before it folded in: (O, I) times (I,)."""
    return weight_OI * over_rows(gain_I, weight_OI.shape[0])


def full_mask(mask: Tensor, groups: int) -> Tensor:
    """One mask for each group, as attention on CPU wants it: (R*T, C) -> (G, R*T, C)."""
    return _tile(mask.reshape(1, *mask.shape), (groups, 1, 1))


def rms_norm(eps: float) -> nn.Cell:
    """RMSNorm of this device: x (N, D) -> (normalised (N, D), something the caller ignores)."""
    return FusedRmsNorm(eps) if on_ascend() else RmsNorm(eps)


def attention() -> nn.Cell:
    """Attention of this device, with the interface of `Attention`."""
    return FlashAttention() if on_ascend() else Attention()


class FusedRmsNorm(nn.Cell):
    """RmsNorm by Ascend's kernel. The gain is 1: gains are folded into what follows."""

    def __init__(self, eps: float):
        super().__init__()
        self.eps = eps

    def construct(self, x_ND: Tensor) -> tuple[Tensor, Tensor]:
        return ops.rms_norm(x_ND, ops.ones(x_ND.shape[-1:], x_ND.dtype), self.eps)


class FlashAttention(nn.Cell):
    """Attention by Ascend's flash attention kernel, which wants half precision and a mask that is 1 where hidden.

    A group of query heads with its keys is one batch entry with one head, so that the mask may differ between groups.
    """

    def construct(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        groups, rows, width = q.shape
        hidden = ops.cast(mask < 0, ms.uint8)
        if hidden.ndim == 3:
            hidden = hidden.reshape(groups, 1, rows, mask.shape[-1])
        y = ops.flash_attention_score(
            ops.cast(q.reshape(groups, 1, rows, width), ms.bfloat16),
            ops.cast(k.reshape(groups, 1, -1, width), ms.bfloat16),
            ops.cast(v.reshape(groups, 1, -1, width), ms.bfloat16),
            1,
            attn_mask=hidden,
            scalar_value=1.0,  # q is scaled
            input_layout="BNSD",
        )
        y = ops.cast(y.reshape(groups, rows, width), q.dtype)
        return y, y


class RmsNorm(nn.Cell):
    """x / sqrt(mean(x^2) + eps) over the last axis, without gain: gains are folded into what follows.

    The gradient is written out: with y the output and r the reciprocal root, dx = r (dy - y mean(dy y)); automatic
    differentiation takes twice as many passes over memory.
    """

    def __init__(self, eps: float):
        super().__init__()
        self.eps = eps

    def construct(self, x_ND: Tensor) -> tuple[Tensor, Tensor]:
        root = ops.rsqrt(_mean(x_ND * x_ND, -1) + self.eps)
        return x_ND * over_columns(root, x_ND.shape[1]), root

    def bprop(self, x_ND, out, dout):  # type: ignore[no-untyped-def]
        y, root = out
        dy, columns = dout[0], x_ND.shape[1]
        return ((dy - y * over_columns(_mean(dy * y, -1), columns)) * over_columns(root, columns),)


class Attention(nn.Cell):
    """softmax(q k^T + mask) v for grouped heads; q is already scaled.

    q (G, R*T, E) with G = B*K groups, k and v (G, C, E), mask (G, R*T, C) additive, constant.
    Returns (G, R*T, E). The R query heads of a group are rows of one matrix: keys and values are never repeated.

    The gradient is written out with sum(dP P) = sum(dO O) (Dao et al., 2022), a sum over E instead of C; the CPU kernel
    of softmax's gradient is several times slower.
    """

    def construct(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        probs = ops.softmax(_batch_matmul_t(q, k) + mask, -1)
        return _batch_matmul(probs, v), probs

    def bprop(self, q, k, v, mask, out, dout):  # type: ignore[no-untyped-def]
        y, probs = out
        dy = dout[0]
        sums = over_columns(_sum(dy * y, -1).reshape(-1, 1), probs.shape[2]).reshape(probs.shape)
        dscores = probs * (_batch_matmul_t(dy, v) - sums)
        dv = _batch_matmul_ta(probs, dy)
        return _batch_matmul(dscores, k), _batch_matmul_ta(dscores, q), dv, ops.zeros_like(mask)


class TokenLogProb(nn.Cell):
    """log softmax(logits)[n, index[n]]: (N, V) and (N,) -> (N,), at least log(1e-37) = -85.2.

    One pass over (N, V) instead of the two of a log-softmax and its exponential, and the gradient d (onehot - softmax)
    is written out. The floor keeps the logarithm finite where float32 holds no smaller probability.
    """

    def construct(self, logits_NV: Tensor, index_N: Tensor) -> tuple[Tensor, Tensor]:
        probs = _softmax(logits_NV)
        chosen = ops.gather_d(probs, 1, index_N.reshape(-1, 1)).reshape(-1)
        return ops.log(ops.clamp(chosen, 1e-37)), probs

    def bprop(self, logits_NV, index_N, out, dout):  # type: ignore[no-untyped-def]
        index, d = index_N.reshape(-1, 1), dout[0].reshape(-1, 1)
        dlogits = out[1] * over_columns(-d, logits_NV.shape[1])
        return ops.tensor_scatter_elements(dlogits, index, d, 1, "add"), ops.zeros_like(index_N)


class SiluGate(nn.Cell):
    """SwiGLU's activation silu(gate) * up, (N, F) each; the gradient is written out to reuse the sigmoid."""

    def construct(self, gate_NF: Tensor, up_NF: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        sigmoid = ops.sigmoid(gate_NF)
        silu = gate_NF * sigmoid
        return silu * up_NF, sigmoid, silu

    def bprop(self, gate_NF, up_NF, out, dout):  # type: ignore[no-untyped-def]
        _, sigmoid, silu = out
        dy = dout[0]
        return dy * up_NF * (sigmoid + silu - silu * sigmoid), dy * silu


def swap_halves(x_ME: Tensor, half: int) -> Tensor:
    """Exchange the two halves of the last axis (M, E)."""
    first, second = ops.split(x_ME, half, -1)
    return ops.cat((second, first), -1)


def scale_of(head_dim: int) -> float:
    return 1.0 / math.sqrt(head_dim)
