"""Gradients and updates of the policy as jitted functions with static, bucketed shapes.

Weights inside a batch carry the global normaliser: micro-batches and ranks simply add up.
Dimension letters: B sequences, T tokens, V vocabulary.

Inside the graphs everything is shifted by one: column t holds what belongs to the prediction of token t + 1, so no
graph slices or pads; the public methods take and return arrays aligned with the tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

from atrl_ms.policy import ops as po
from atrl_ms.policy.model import causal_constants
from atrl_ms.policy.weights import fused_layout
from atrl_ms.train.optim import Optimizer, OptimizerSettings, zeros_like

T_BUCKETS = (64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 16384, 32768)
B_BUCKETS = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256)
BATCH_KEYS = ("old_logp", "mu_logp", "ref_logp", "adv", "weight")  # in the order of a token loss's arguments

# token_loss(logp, old_logp, mu_logp, ref_logp, adv, weight), all (B, T) -> (scalar loss, (K,) sums of statistics)
TokenLoss = Callable[..., Any]


def bucket(size: int, buckets: tuple[int, ...]) -> int:
    """The smallest bucket that holds `size`."""
    for candidate in buckets:
        if size <= candidate:
            return candidate
    raise ValueError(f"size {size} exceeds the largest bucket {buckets[-1]}")


class Forward(nn.Cell):
    """Log-probabilities of given next tokens under softmax(logits / temperature)."""

    def __init__(self, model: nn.Cell, temperature: float = 1.0):
        super().__init__(auto_prefix=False)
        self.model = model
        self.sharpness = 1.0 / temperature
        self.token_logprob = po.TokenLogProb()

    def construct(self, ids_BT: Tensor, targets_BT: Tensor, cos: Tensor, sin: Tensor, mask: Tensor) -> Tensor:
        logits = self.model(ids_BT, cos, sin, mask)
        if self.sharpness != 1.0:
            logits = logits * self.sharpness
        logp, _ = self.token_logprob(logits, targets_BT.reshape(-1))
        return logp.reshape(ids_BT.shape)


class CrossEntropy(nn.Cell):
    """The token loss of supervised training: -weight * logp; statistics: sum of loss."""

    def construct(self, logp, old_logp, mu_logp, ref_logp, adv, weight):  # type: ignore[no-untyped-def]
        loss = -ops.sum(weight * logp)
        return loss, ops.stop_gradient(loss).reshape(1)


class Learner:
    """Trains one model. Not thread-safe; one instance per process.

    Args:
        model: the policy (atrl_ms.policy.policy); its trainable parameters are updated in place.
        settings: optimizer and clipping.
        reduce: sums a list of gradient arrays over ranks (atrl_ms.train.parallel); None for one process.
        recompute: compute each layer again in the backward pass instead of keeping its activations.
        temperature: of the distribution whose log-probabilities are trained: that of sampling, so that the ratio to
            the rollout engine's probabilities is 1 on fresh samples.
    """

    def __init__(
        self,
        model: nn.Cell,
        settings: OptimizerSettings | None = None,
        reduce: Callable[[list[Tensor]], list[Tensor]] | None = None,
        temperature: float = 1.0,
        recompute: bool = False,
    ):
        self.model = model
        if recompute:
            for block in model.blocks:
                block.recompute()
        self.config = model.config
        self.settings = settings or OptimizerSettings()
        self.parameters: list[Parameter] = list(model.trainable_params())
        hidden = {
            own: [rows for _, rows in parts]
            for own, parts in fused_layout(model.config).items()
            if own.startswith("blocks.") and own.split(".")[-1] in ("qkv", "out", "gate_up", "down")
        }
        self.optimizer = Optimizer(self.parameters, hidden, self.settings)
        self.sums = ms.ParameterTuple([zeros_like(p, "sum") for p in self.parameters])
        self.reduce = reduce
        self.forward = Forward(model, temperature)
        self.constants: dict[int, tuple[Tensor, Tensor, Tensor]] = {}
        self.graphs: dict[Any, Callable[..., Any]] = {}
        self.signatures: set[tuple[Any, ...]] = set()  # one compilation each
        self.cross_entropy = CrossEntropy()

    # ------------------------------------------------------------ public

    def logprobs(self, ids_BT: np.ndarray) -> np.ndarray:
        """Log-probability of every token given those before it, (B, T) float32; position 0 is 0."""
        rows, time = ids_BT.shape
        inputs = self.inputs(ids_BT)
        logp = self.run("logprobs", self.graph("logprobs", lambda: ms.jit(self.forward.construct)), *inputs)
        result = np.zeros((rows, time), np.float32)
        result[:, 1:] = logp.asnumpy()[:rows, : time - 1]
        return result

    def accumulate(self, batch: dict[str, np.ndarray], loss: TokenLoss) -> np.ndarray:
        """Add the gradient of `loss` on one micro-batch to the accumulator; returns the loss's statistics (K,).

        `batch` holds (B, T) arrays: ids, weight, adv, old_logp, mu_logp, ref_logp; missing ones are zeros.
        `loss` is a Cell or a plain function that jit can trace; one graph per object and shape.
        """
        inputs = self.inputs(batch["ids"])
        shape = inputs[0].shape
        extra = [self.shifted(batch.get(key), batch["ids"].shape, shape) for key in BATCH_KEYS]
        graph = self.graph(("accumulate", loss), lambda: self.build_accumulate(loss))
        return np.asarray(self.run(("accumulate", loss), graph, *inputs, *extra).asnumpy())

    def sft(self, ids_BT: np.ndarray, weight_BT: np.ndarray) -> float:
        """Accumulate the weighted cross-entropy's gradient; returns the weighted loss."""
        return float(self.accumulate({"ids": ids_BT, "weight": weight_BT}, self.cross_entropy)[0])

    def sft_step(self, ids_BT: np.ndarray, weight_BT: np.ndarray, lr: float) -> dict[str, float]:
        """Forward, gradient and update in one graph (no accumulation); loss and gradient norm."""
        if self.reduce is not None:
            loss = self.sft(ids_BT, weight_BT)
            return {"loss": loss, **self.apply(lr)}
        inputs = self.inputs(ids_BT)
        weight = self.shifted(weight_BT, ids_BT.shape, inputs[0].shape)
        graph = self.graph("sft_step", self.build_sft_step)
        loss, norm = self.run("sft_step", graph, *inputs, weight, *self.optimizer.scalars(lr))
        return {"loss": float(loss.asnumpy()), "grad_norm": float(norm.asnumpy())}

    def apply(self, lr: float) -> dict[str, float]:
        """Clip the accumulated gradient by its global norm, update, zero the accumulator."""
        if self.reduce is not None:
            for total, reduced in zip(self.sums, self.reduce(list(self.sums)), strict=True):
                ops.assign(total, reduced)  # in place: compiled graphs do not follow set_data
        norm = self.run("apply", self.graph("apply", self.build_apply), *self.optimizer.scalars(lr))
        return {"grad_norm": float(norm.asnumpy())}

    def state_dict(self) -> dict[str, np.ndarray]:
        """Optimizer state for a bit-exact resume (parameters are saved by the checkpoint)."""
        return self.optimizer.state_dict()

    def load_state_dict(self, state: dict[str, np.ndarray]) -> None:
        self.optimizer.load_state_dict(state)

    @property
    def compilations(self) -> int:
        """Graphs compiled so far: distinct functions times distinct shapes."""
        return len(self.signatures)

    # ------------------------------------------------------------ graphs

    def build_accumulate(self, loss: TokenLoss) -> Callable[..., Any]:
        forward, sums = self.forward, self.sums

        def compute(ids, targets, cos, sin, mask, old_logp, mu_logp, ref_logp, adv, weight):  # type: ignore[no-untyped-def]
            logp = forward(ids, targets, cos, sin, mask)
            return loss(logp, old_logp, mu_logp, ref_logp, adv, weight)

        gradient = ms.value_and_grad(compute, None, ms.ParameterTuple(self.parameters), has_aux=True)

        def step(ids, targets, cos, sin, mask, old_logp, mu_logp, ref_logp, adv, weight):  # type: ignore[no-untyped-def]
            (_, statistics), grads = gradient(ids, targets, cos, sin, mask, old_logp, mu_logp, ref_logp, adv, weight)
            for i in range(len(sums)):
                ops.assign_add(sums[i], grads[i])
            return statistics

        return ms.jit(step)

    def build_apply(self) -> Callable[..., Any]:
        optimizer, sums = self.optimizer, self.sums

        def step(lr, power1, power2, eps):  # type: ignore[no-untyped-def]
            norm = optimizer(tuple(sums), lr, power1, power2, eps)
            for i in range(len(sums)):
                ops.assign(sums[i], ops.zeros_like(sums[i]))
            return norm

        return ms.jit(step)

    def build_sft_step(self) -> Callable[..., Any]:
        forward, optimizer = self.forward, self.optimizer

        def compute(ids, targets, cos, sin, mask, weight):  # type: ignore[no-untyped-def]
            return -ops.sum(weight * forward(ids, targets, cos, sin, mask))

        gradient = ms.value_and_grad(compute, None, ms.ParameterTuple(self.parameters))

        def step(ids, targets, cos, sin, mask, weight, lr, power1, power2, eps):  # type: ignore[no-untyped-def]
            loss, grads = gradient(ids, targets, cos, sin, mask, weight)
            return loss, optimizer(grads, lr, power1, power2, eps)

        return ms.jit(step)

    def graph(self, key: Any, build: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
        if key not in self.graphs:
            self.graphs[key] = build()
        return self.graphs[key]

    def run(self, key: Any, graph: Callable[..., Any], *inputs: Tensor) -> Any:
        self.signatures.add((key, *(x.shape for x in inputs)))
        return graph(*inputs)

    # ------------------------------------------------------------ inputs

    def inputs(self, ids_BT: np.ndarray) -> tuple[Tensor, ...]:
        """ids, next ids, cos, sin, mask; padded to bucket sizes."""
        rows, time = ids_BT.shape
        padded = np.zeros((bucket(rows, B_BUCKETS), bucket(time, T_BUCKETS)), np.int32)
        padded[:rows, :time] = ids_BT
        targets = np.zeros_like(padded)
        targets[:, :-1] = padded[:, 1:]
        length = padded.shape[1]
        if length not in self.constants:
            self.constants[length] = causal_constants(self.config, length)
        return (Tensor(padded), Tensor(targets), *self.constants[length])

    def shifted(self, value_BT: np.ndarray | None, shape: tuple[int, ...], padded: tuple[int, ...]) -> Tensor:
        """Column t + 1 moved to column t, padded with zeros."""
        result = np.zeros(padded, np.float32)
        if value_BT is not None:
            if value_BT.shape != shape:
                raise ValueError(f"batch array of shape {value_BT.shape}, ids have {shape}")
            result[: shape[0], : shape[1] - 1] = value_BT[:, 1:]
        return Tensor(result)
