"""A small run for tests of the loop: the real learner on a tiny model, an engine that speaks from a bank of replies.

Run as a script it trains or resumes in a process, or under msrun in several, that a test can kill.
"""

from __future__ import annotations

import asyncio
import os
import sys
from copy import copy
from functools import cache
from pathlib import Path

import numpy as np
from agent_helpers import WordTokenizer, write
from mindspore import Tensor, ops

from agent.prompt import fixed_phrases
from atrl_ms.algos.losses import PolicyLoss
from atrl_ms.config import AlgoConfig, Config
from atrl_ms.policy.config import ModelConfig
from atrl_ms.policy.model import build_model
from atrl_ms.policy.weights import export_weights, import_weights, load_weights, save_checkpoint
from atrl_ms.train import rl
from atrl_ms.train.learner import Learner
from atrl_ms.train.parallel import Ranks, join
from atrl_ms.train.rl import Parts, Trainer
from atrl_ms.train.run_dir import RunDir
from atrl_ms.train.watch import Watch
from atrl_ms.types import Sample, Stage, StepFeedback, Task

SCORES = {"k0": 0.0, "k1": 0.05, "k2": 0.15, "k3": 0.3, "k4": 1.0}
# Known from the start: the ids of a growing vocabulary would depend on the order in which sessions are played.
VOCABULARY = " ".join(
    [*fixed_phrases(), *SCORES, "one two three four five learned next a b x * score . 0 1 2 3 4 05 15"]
)
TASKS = [Task(f"double/{i}", f"x * {i}", family="double") for i in range(5)]


class BankEngine:
    """Replies are drawn from a bank by the request's seed; log-probabilities are those of the learner's model."""

    def __init__(self, learner, tokenizer):
        self.learner, self.tokenizer, self.version, self.requests = learner, tokenizer, 0, 0

    async def generate(self, request):
        self.requests += 1
        await asyncio.sleep(0)
        draw = np.random.default_rng(request.seed).choice(len(SCORES))
        text = "one two three four five\n" + write(f"k{draw}") if request.max_new_tokens > 12 else "learned: a\nnext: b"
        ids = [*self.tokenizer.encode(text), request.stop_ids[0]][: request.max_new_tokens]
        prompt = list(request.prompt_ids)
        padded = np.zeros((1, 192), np.int32)  # one shape, one compilation; what follows a token cannot matter
        padded[0, : len(prompt) + len(ids)] = prompt + ids
        logp = self.learner.logprobs(padded)[0, len(prompt) : len(prompt) + len(ids)]
        return Sample(ids, [float(x) for x in logp], "stop", self.version)

    async def update_weights(self, version):
        self.version = version


class ScoreJudge:
    """The score of a kernel is what its text says; can be told to be down."""

    def __init__(self):
        self.down = lambda call: False
        self.calls = 0

    async def verify(self, task, candidate, *, seed=0):
        self.calls += 1
        await asyncio.sleep(0.001 * (seed % 3))  # answers arrive in another order than they were asked for
        if self.down(self.calls):
            return StepFeedback("infrastructure_error", (), 0, 0, 0.0, None, "down")
        score = SCORES[candidate.strip()]
        verdict = {0.0: "static_error", 1.0: "pass"}.get(score, "compile_error")
        return StepFeedback(verdict, (Stage("static", score > 0, 0.0),), 0, 1, score, None, f"score {score}")


def make_config(directory: Path, **sections) -> Config:
    data = {
        "seed": 3,
        "output_dir": str(directory),
        "agent": {
            "window": 156, "max_turns": 2, "max_reply_tokens": 30, "feedback_tokens": 16, "max_summary_tokens": 12,
            "knowledge_tokens": 0, "max_session_tokens": 400,
        },
        "train": {"steps": 4, "groups_per_step": 2, "group_size": 3, "lr": 1e-3, "checkpoint_every": 1},
        "eval": {"sessions": 4},
    }  # fmt: skip
    for section, values in sections.items():
        data[section] = {**data.get(section, {}), **values} if isinstance(values, dict) else values
    return Config.model_validate(data)


@cache
def shared_learner(temperature):
    """Compiling its graphs takes seconds: one learner serves all runs of a process, reset for each."""
    model = build_model(
        ModelConfig(
            model_type="qwen3", vocab_size=160, hidden_size=16, intermediate_size=32, num_hidden_layers=1,
            num_attention_heads=2, num_key_value_heads=1, head_dim=8, max_position_embeddings=256,
        ),
        seed=1,
    )  # fmt: skip
    learner = Learner(model, temperature=temperature)
    # copied: arrays of parameters share their memory
    weights = {name: value.copy() for name, value in export_weights(model).items()}
    return model, learner, weights, learner.state_dict()


@cache
def shared_loss(algo_json, on_policy):
    return PolicyLoss(AlgoConfig.model_validate_json(algo_json), on_policy)


rl.PolicyLoss = lambda algo, on_policy: shared_loss(algo.model_dump_json(), on_policy)


def make_parts(config: Config, ranks: Ranks | None = None) -> Parts:
    model, shared, weights, state = shared_learner(config.engine.temperature)
    import_weights(model, weights)
    shared.load_state_dict(state)
    for total in shared.sums:
        ops.assign(total, Tensor(np.zeros(total.shape, np.float32)))
    learner = copy(shared)  # tests replace methods
    ranks = ranks or Ranks()
    learner.reduce = ranks.reducer()
    tokenizer = WordTokenizer()
    tokenizer.encode(VOCABULARY)
    return Parts(
        engine=BankEngine(learner, tokenizer),
        tokenizer=tokenizer,
        judge=ScoreJudge(),
        learner=learner,
        save_policy=lambda path: save_checkpoint(model, model.config, path),
        load_policy=lambda path: load_weights(model, path),
        train_tasks=TASKS,
        held_out_tasks=TASKS,
        ranks=ranks,
    )


def train(config: Config, run: RunDir, parts: Parts | None = None):
    return asyncio.run(Trainer(config, run, parts or make_parts(config), progress=False).run())


class FailingJudge(ScoreJudge):
    """Ends this process, or stops it, at the `call`-th verdict."""

    def __init__(self, call, how):
        super().__init__()
        self.call, self.how = call, how

    async def verify(self, task, candidate, *, seed=0):
        if self.calls >= self.call:
            os.kill(os.getpid(), self.how)
        return await super().verify(task, candidate, seed=seed)


def main():
    """RUN_DIR [RANK SIGNAL CALL]: train or resume, alone or under msrun; one rank may be hit by a signal."""
    ranks = join()
    with Watch(ranks, dead_after=10.0):
        run_dir = RunDir.open(sys.argv[1])
        parts = make_parts(run_dir.config(), ranks)
        if len(sys.argv) > 2 and ranks.rank == int(sys.argv[2]):
            parts.judge = FailingJudge(int(sys.argv[4]), int(sys.argv[3]))
        train(run_dir.config(), run_dir, parts)
        if ranks.leader:
            np.savez(run_dir.path / "weights.npz", **export_weights(shared_learner(0.8)[0]))


if __name__ == "__main__":
    main()
