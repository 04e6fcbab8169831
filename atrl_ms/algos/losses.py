"""The policy loss in MindSpore operations, per token and weighted (weights: aggregation.py).

    L = sum_t weight_t * ( -w_t * J_t + beta * KL_t )

    r_t = pi_theta / pi_old           conditioned on the segment's own context
    w_t = min(pi_old / mu, cap)       constant; mu is the rollout engine's probability (truncated importance sampling)

    clip   J = min(r A, clip(r, 1 - eps_low, 1 + eps_high) A); for A < 0 at least c A   (PPO; DAPO; dual clip)
    gspo   the same with r replaced by the segment's geometric mean (arXiv 2507.18071, its token-level form:
           the value is that of the sequence, the gradient flows through each token)
    cispo  J = stop_gradient(min(r, 1 + eps_high)) A log pi_theta                        (MiniMax-M1, arXiv 2506.13585)

    k1 = log(pi / ref)    k2 = log(pi / ref)^2 / 2    k3 = ref / pi - 1 + log(pi / ref)
    In expectation k1 and k3 are KL(pi || ref); as a loss term only k2 has its gradient (k1's is zero on average).

With one update per batch pi_old is pi_theta of the same pass: the ratio is 1 and its gradient that of log pi.
"""

from __future__ import annotations

import mindspore as ms
from mindspore import nn, ops

from atrl_ms.config import AlgoConfig

# Order of the sums that `PolicyLoss` returns. All but the first are sums over the tokens in the loss; "entropy" is that
# of -log pi at the sampled tokens, an unbiased estimate.
STATISTICS = ("loss", "tokens", "ratio", "clipped", "tis", "tis_capped", "kl", "entropy", "mismatch", "dropped")


class PolicyLoss(nn.Cell):
    """Loss of one micro-batch as a part of the optimizer step's sum.

    Args:
        algo: static choices; every branch is decided when the step is compiled.
        on_policy: the batch was sampled by the current weights and pi_old is taken from the same pass.
    """

    def __init__(self, algo: AlgoConfig, on_policy: bool) -> None:
        super().__init__()
        self.kind = algo.loss
        self.on_policy = on_policy
        self.low = 1.0 - algo.clip_low
        self.high = 1.0 + algo.clip_high
        self.dual_clip = algo.dual_clip
        self.tis_cap = algo.tis_cap
        self.kl_coef = algo.kl_coef
        self.kl_kind = algo.kl_kind
        self.ratio_filter = algo.ratio_filter

    def construct(
        self,
        logp: ms.Tensor,
        old_logp: ms.Tensor,
        rollout_logp: ms.Tensor,
        ref_logp: ms.Tensor,
        advantages: ms.Tensor,
        weights: ms.Tensor,
    ) -> tuple[ms.Tensor, ms.Tensor]:
        """All arguments (B, T) float32, one segment a row; a token is in the loss where its weight is above 0.

        Returns:
            the loss (a scalar) and the sums named in `STATISTICS` (10,), both to be added over micro-batches and ranks.
        """
        mask = ops.cast(weights > 0.0, ms.float32)
        current = ops.stop_gradient(logp)
        old = current if self.on_policy else old_logp
        # masked before exp: positions outside the loss hold arbitrary values, and inf * 0 would be NaN
        ratio = ops.exp((logp - old) * mask)
        if self.kind == "gspo":
            log_mean = self.row_mean(current - old, mask)
            ratio = ops.exp(log_mean + (logp - current) * mask)
        mismatch = (old - rollout_logp) * mask
        importance = ops.exp(mismatch)
        tis = ops.minimum(importance, ops.ones_like(importance) * self.tis_cap)
        keep = mask
        if self.ratio_filter > 0.0:
            drift = ops.abs(ops.exp(self.row_mean(old - rollout_logp, mask)) - 1.0)
            keep = mask * ops.cast(drift <= self.ratio_filter, ms.float32)

        surrogate, clipped = self.surrogate(logp, ratio, advantages)
        token_loss = -tis * surrogate
        log_ref_ratio = (logp - ref_logp) * mask
        kl = self.kl(log_ref_ratio)
        if self.kl_coef > 0.0:
            token_loss = token_loss + self.kl_coef * kl
        loss = ops.sum(weights * keep * token_loss)

        statistics = ops.stack(
            [
                ops.stop_gradient(loss),
                ops.sum(mask),
                ops.sum(ops.stop_gradient(ratio) * mask),
                ops.sum(clipped * mask),
                ops.sum(tis * mask),
                ops.sum(ops.cast(importance > self.tis_cap, ms.float32) * mask),
                ops.sum(ops.stop_gradient(kl) * mask),
                -ops.sum(current * mask),
                ops.sum(ops.abs(mismatch)),
                ops.sum(mask - keep),
            ]
        )
        return loss, ops.stop_gradient(statistics)

    def surrogate(self, logp: ms.Tensor, ratio: ms.Tensor, advantages: ms.Tensor) -> tuple[ms.Tensor, ms.Tensor]:
        """J (B, T) and where it was clipped (B, T) float32."""
        if self.kind == "cispo":
            bounded = ops.minimum(ratio, ops.ones_like(ratio) * self.high)
            clipped = ops.cast(ratio > self.high, ms.float32)
            return ops.stop_gradient(bounded) * advantages * logp, clipped
        free = ratio * advantages
        limited = ops.clamp(ratio, self.low, self.high) * advantages
        lower = ops.minimum(free, limited)
        floor = ops.where(advantages < 0.0, self.dual_clip * advantages, lower)
        value = ops.maximum(lower, floor)
        clipped = ops.cast(ops.logical_or(limited < free, floor > lower), ms.float32)
        return value, ops.stop_gradient(clipped)

    def kl(self, log_ratio: ms.Tensor) -> ms.Tensor:
        """The chosen estimator of KL(pi || ref) per token from log(pi / ref) (B, T)."""
        if self.kl_kind == "k1":
            return log_ratio
        if self.kl_kind == "k2":
            return 0.5 * ops.square(log_ratio)
        return ops.exp(-log_ratio) - 1.0 + log_ratio

    def row_mean(self, values: ms.Tensor, mask: ms.Tensor) -> ms.Tensor:
        """Mean over a row's tokens in the loss, repeated over the row, 0 outside the mask: (B, T) from (B, T)."""
        count = ops.clamp(ops.sum(mask, 1, True), 1.0, 1e9)
        return ops.sum(values * mask, 1, True) / count * mask
