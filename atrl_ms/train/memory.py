"""Memory of one device under tensor, pipeline and optimizer parallelism: arithmetic, no measurement.

States      mixed precision with Adam: 2 bytes of weights, 2 or 4 of gradients and 12 of optimizer (float32 weights,
            two moments) for each parameter; what is sharded over D data ranks is divided by D (Rajbhandari et al. 2020,
            ZeRO, section 3.1: stages "os", "os+g", "os+g+p").
Activations bytes kept for the backward pass of a layer, in 16-bit (Korthikanti et al. 2022, Reducing activation
            recomputation, equations 1 to 6), written out per tensor so that gated feed-forward layers, grouped
            key/value heads and flash attention are covered too.

Letters: s tokens of a sequence, b sequences of a micro-batch, h width, a heads, t tensor ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Recompute = Literal["none", "selective", "full"]
Sharded = Literal["none", "os", "os+g", "os+g+p"]


@dataclass(frozen=True)
class Shape:
    """A decoder layer. The defaults of the last three are those of Qwen and Llama; GPT-3 has the opposite ones."""

    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    gated: bool = True  # gate and up projection, no dropout masks
    flash: bool = True  # attention probabilities are never stored
    dropout: bool = False


def state_bytes(
    parameters: float, data_ranks: int = 1, sharded: Sharded = "none", gradient_bytes: int = 2
) -> dict[str, float]:
    """Bytes of weights, gradients and optimizer on a device that holds `parameters`."""
    over = {"none": (1, 1, 1), "os": (1, 1, data_ranks), "os+g": (1, data_ranks, data_ranks)}
    weights, gradients, optimizer = over.get(sharded, (data_ranks,) * 3)
    return {
        "weights (bfloat16)": 2 * parameters / weights,
        f"gradients ({8 * gradient_bytes} bits)": gradient_bytes * parameters / gradients,
        "optimizer (float32 weights, two moments)": 12 * parameters / optimizer,
    }


def layer_activation_bytes(
    shape: Shape,
    s: int,
    b: int,
    tensor: int = 1,
    sequence_parallel: bool = False,
    recompute: Recompute = "none",
) -> float:
    """Bytes that one layer keeps for the backward pass of a micro-batch.

    Args:
        sequence_parallel: the parts outside the tensor-parallel blocks are split over sequences.
        recompute: "selective" computes the attention core again, "full" the whole layer from its input.
    """
    n, t = s * b, tensor
    q, kv, h, f = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim, shape.hidden, shape.intermediate
    masks = 2 * n * h if shape.dropout else 0  # two masks of one byte, behind attention and feed-forward
    # inputs of the two norms, of the attention projections and of the feed-forward projections
    outside = 4 * 2 * n * h + masks
    if recompute == "full":
        return 2 * n * h / (t if sequence_parallel else 1)
    # q, k, v and the input of the output projection
    inside = 2 * n * (q + 2 * kv) + 2 * n * q
    if not shape.flash and recompute == "none":
        # softmax output, dropout mask, dropout output
        inside += (2 + (1 + 2 if shape.dropout else 0)) * shape.heads * s * s * b
    # gate, up, activation and their product; or the activation's input and output
    inside += 2 * n * f * (4 if shape.gated else 2)
    return outside / (t if sequence_parallel else 1) + inside / t


def layers_in_flight(layers: int, stages: int, micro_batches: int) -> int:
    """Layers' activations that the first stage of a 1F1B pipeline holds: layers per stage times micro-batches begun."""
    return -(-layers // stages) * min(stages, micro_batches)


def logits_bytes(vocabulary: int, n: int, tensor: int = 1) -> float:
    """Float32 logits of n tokens, their softmax and their gradient, split over tensor ranks."""
    return 3 * 4 * n * vocabulary / tensor
