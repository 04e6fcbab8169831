"""What is known of the Ascend kernels without an NPU: they are called with the shapes, layout and mask they want."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest

from atrl_ms.policy import ops as po

ops = ms.ops
G, R, T, E = 4, 2, 16, 8  # groups, query heads a group, time, head size


def random(*shape: int) -> ms.Tensor:
    po.setup_cpu()
    return ms.Tensor(np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32))


def causal() -> ms.Tensor:
    return ms.Tensor(np.tile(np.triu(np.full((T, T), po.MASKED, np.float32), 1), (R, 1)))


@pytest.mark.parametrize(
    ("cell", "inputs", "kernel"),
    [
        (po.FlashAttention(), lambda: (random(G, R * T, E), random(G, T, E), random(G, T, E), causal()), "Flash"),
        (
            po.FlashAttention(),
            lambda: (random(G, R * T, E), random(G, T, E), random(G, T, E), random(G, R * T, T)),
            "Flash",
        ),
        (po.FusedRmsNorm(1e-6), lambda: (random(6, E),), "RmsNorm"),
    ],
)
def test_only_the_kernel_itself_is_missing_on_cpu(cell, inputs, kernel):
    """The graph passes type and shape inference of Ascend's operation and fails where a CPU kernel is looked for."""
    with pytest.raises(RuntimeError, match=rf"Unsupported op \[{kernel}\w*\] on CPU"):
        ms.jit(cell.construct)(*inputs())


def test_flash_attention_means_what_plain_attention_means(monkeypatch):
    """With the kernel replaced by its documented formula the result is that of the CPU's attention, up to bfloat16."""

    def documented(query, key, value, head_num, attn_mask, scalar_value, input_layout):
        assert input_layout == "BNSD" and query.shape[1] == head_num and attn_mask.dtype == ms.uint8
        assert query.dtype == key.dtype == value.dtype == ms.bfloat16
        q, k, v, mask = (x.astype(ms.float32).asnumpy() for x in (query, key, value, attn_mask))
        scores = np.where(mask > 0, -np.inf, scalar_value * q @ k.swapaxes(2, 3))
        probs = np.exp(scores - scores.max(-1, keepdims=True))
        return ms.Tensor((probs / probs.sum(-1, keepdims=True)) @ v)

    monkeypatch.setattr(ops, "flash_attention_score", documented)
    q, k, v = random(G, R * T, E), random(G, T, E) * 0.5, random(G, T, E) + 1.0
    expected = po.Attention()(q, k, v, po.full_mask(causal(), G))[0].asnumpy()
    for mask in (causal(), po.full_mask(causal(), G)):
        assert np.abs(po.FlashAttention()(q, k, v, mask)[0].asnumpy() - expected).max() < 0.05
