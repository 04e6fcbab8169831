"""Optimizers as graph cells, traced into the learner's jitted step: AdamW, and Muon for the hidden matrices.

AdamW (Loshchilov and Hutter, 2019): decoupled decay on matrices, none on gains and biases.
Muon (Jordan et al., 2024): the momentum of a hidden matrix is replaced by its nearest semi-orthogonal matrix
(quintic Newton-Schulz iteration), times 0.2 * sqrt(max(rows, columns)) so that a step is as large as one of AdamW
(Liu et al., 2025, arXiv 2502.16982). Embeddings, gains and biases keep AdamW.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import mindspore as ms
import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)  # coefficients of the quintic; five iterations bring singular values near 1


@dataclass(frozen=True)
class OptimizerSettings:
    """`muon_ratio` multiplies the learning rate of the matrices that Muon updates."""

    kind: Literal["adamw", "muon"] = "adamw"
    beta1: float = 0.9
    beta2: float = 0.95
    eps: float = 1e-8
    weight_decay: float = 0.0
    max_grad_norm: float = 1.0
    momentum: float = 0.95
    muon_ratio: float = 3.0


def orthogonalise(matrix: Tensor) -> Tensor:
    """About U V^T of the singular value decomposition U S V^T, by five Newton-Schulz iterations."""
    a, b, c = NEWTON_SCHULZ
    rows, columns = matrix.shape
    x = matrix.T if rows > columns else matrix
    x = x / (ops.sqrt(ops.sum(ops.square(x))) + 1e-7)
    for _ in range(5):
        gram = ops.matmul(x, x.T)
        x = a * x + ops.matmul(b * gram + c * ops.matmul(gram, gram), x)
    return x.T if rows > columns else x


class Optimizer(nn.Cell):
    """Holds the moments; `construct` clips, updates parameters and moments, and returns the norm before clipping."""

    def __init__(self, parameters: list[Parameter], row_blocks: dict[str, list[int]], settings: OptimizerSettings):
        """`row_blocks`: for each hidden matrix the heights of the projections that are stacked in it."""
        super().__init__(auto_prefix=False)
        self.settings = settings
        self.parameters = ParameterTuple(parameters)
        self.first = ParameterTuple([zeros_like(p, "first") for p in parameters])
        self.second = ParameterTuple([zeros_like(p, "second") for p in parameters])
        muon = settings.kind == "muon"
        self.row_blocks = tuple(tuple(row_blocks.get(p.name, ())) if muon else () for p in parameters)
        self.decay = tuple(settings.weight_decay if p.ndim == 2 else 0.0 for p in parameters)
        self.beta1, self.beta2, self.eps = settings.beta1, settings.beta2, settings.eps
        self.momentum, self.muon_ratio = settings.momentum, settings.muon_ratio
        self.max_grad_norm = settings.max_grad_norm
        self.adam = ops.Adam()
        self.step_count = 0

    def scalars(self, lr: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Learning rate, beta powers and epsilon of the next step as tensors; advances the step count.

        The kernel adds epsilon before the bias correction of the second moment, the paper after it: hence the factor.
        """
        self.step_count += 1
        power2 = self.beta2**self.step_count
        values = (lr, self.beta1**self.step_count, power2, self.eps * (1 - power2) ** 0.5)
        return tuple(Tensor(np.float32(v)) for v in values)  # type: ignore[return-value]

    def construct(self, grads: tuple[Tensor, ...], lr: Tensor, power1: Tensor, power2: Tensor, eps: Tensor) -> Tensor:
        total = ops.sum(ops.square(grads[0]))
        for i in range(1, len(self.parameters)):
            total = total + ops.sum(ops.square(grads[i]))
        norm = ops.sqrt(total)
        clip = self.max_grad_norm / ops.maximum(norm, ms.Tensor(self.max_grad_norm, ms.float32))
        for i in range(len(self.parameters)):
            parameter = self.parameters[i]
            grad = grads[i] * clip
            if self.decay[i] > 0.0:
                ops.assign(parameter, parameter * (1.0 - lr * self.decay[i]))
            if len(self.row_blocks[i]) > 0:
                momentum = self.first[i] * self.momentum + grad
                ops.assign(self.first[i], momentum)
                update = self.muon_update(grad + momentum * self.momentum, self.row_blocks[i])
                ops.assign(parameter, parameter - update * (lr * self.muon_ratio))
            else:
                self.adam(
                    parameter, self.first[i], self.second[i], power1, power2, lr, self.beta1, self.beta2, eps, grad
                )
        return norm

    def muon_update(self, momentum: Tensor, rows: tuple[int, ...]) -> Tensor:
        """Orthogonalised momentum, each stacked projection for itself."""
        parts = []
        for block in ops.split(momentum, rows, 0):
            parts.append(orthogonalise(block) * (0.2 * max(block.shape) ** 0.5))
        return ops.cat(parts, 0) if len(parts) > 1 else parts[0]

    def state_dict(self) -> dict[str, np.ndarray]:
        """Step count and moments; with the float32 parameters enough for a bit-exact resume."""
        moments = {p.name: p.asnumpy().copy() for p in (*self.first, *self.second)}
        return {"step": np.array(self.step_count), **moments}

    def load_state_dict(self, state: dict[str, np.ndarray]) -> None:
        """Inverse of `state_dict`; KeyError or ValueError when it belongs to another model."""
        for p in (*self.first, *self.second):
            if state[p.name].shape != p.shape:
                raise ValueError(f"optimizer state {p.name}: shape {state[p.name].shape}, expected {p.shape}")
            # in place: compiled graphs do not follow set_data
            ops.assign(p, Tensor(np.ascontiguousarray(state[p.name], np.float32)))
        self.step_count = int(state["step"])


def zeros_like(parameter: Parameter, kind: str) -> Parameter:
    return Parameter(
        Tensor(np.zeros(parameter.shape, np.float32)), name=f"{kind}.{parameter.name}", requires_grad=False
    )
