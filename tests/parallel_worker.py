"""Run by test_learner_parallel.py, alone or under msrun: five steps on fixed sequences shared among the ranks.

Arguments: output directory, rank that dies in step 3 (-1: none).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

from atrl_ms.policy.config import ModelConfig
from atrl_ms.policy.model import build_model
from atrl_ms.policy.weights import export_weights
from atrl_ms.train.learner import Learner
from atrl_ms.train.optim import OptimizerSettings
from atrl_ms.train.parallel import join
from atrl_ms.train.watch import Watch


def main() -> None:
    output, victim = Path(sys.argv[1]), int(sys.argv[2])
    ranks = join()
    config = ModelConfig(vocab_size=31, hidden_size=16, intermediate_size=24, num_hidden_layers=1, head_dim=8)
    model = build_model(config, seed=ranks.rank)  # different on purpose: same_start makes them equal
    learner = Learner(model, OptimizerSettings(), reduce=ranks.reducer())
    ranks.same_start(learner.parameters)
    rng = np.random.default_rng(0)
    sequences = [rng.integers(0, 31, (1, 64)).astype(np.int32) for _ in range(4)]
    losses = []
    with Watch(ranks, dead_after=8.0):
        for step in range(5):
            if ranks.rank == victim and step == 3:
                (output / "died").touch()
                os._exit(9)
            loss = sum(learner.sft(ids, np.full(ids.shape, 1 / 252, np.float32)) for ids in ranks.block(sequences))
            losses.append(float(ranks.total(np.array([loss]))[0]))
            learner.apply(1e-2)
    if ranks.leader:
        np.savez(output / f"result_{ranks.size}.npz", losses=np.array(losses), **export_weights(model))


if __name__ == "__main__":
    main()
