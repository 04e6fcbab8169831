"""Student and teacher for the reasoning problems: one small policy, saved early (student) and late (teacher).

Supervised training on step traces of the training half; held-out accuracy is printed at each checkpoint. Writes
Hugging Face checkpoint directories OUT/reasoning_student and OUT/reasoning_teacher (bf16, about 0.5 MB each).

    python scripts/tree_warm_start.py --out atrl_ms/assets
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from itertools import islice
from pathlib import Path

import numpy as np

from atrl_ms.policy.config import ModelConfig
from atrl_ms.policy.model import Transformer, build_model
from atrl_ms.policy.weights import save_checkpoint
from atrl_ms.rollout.native import NativeEngine
from atrl_ms.train.learner import Learner
from atrl_ms.train.optim import OptimizerSettings
from atrl_ms.tree.completions import ProblemJudge, complete
from atrl_ms.tree.problems import EASY, Problem, generate
from atrl_ms.tree.supervised import fine_tune, solution_pair
from atrl_ms.tree.tokens import ByteTokenizer
from atrl_ms.types import Task

SEED = 1000  # of the traces: the searches of configs use other seeds
COUNTS = {"chain_sum": 3000, "simple_equations": 700, "countdown": 700}


def accuracy(model: Transformer, problems: list[Problem], temperature: float) -> str:
    """Held-out accuracy by family, one completion a problem."""
    tokenizer, judge = ByteTokenizer(), ProblemJudge(problems)
    engine = NativeEngine(model, max_batch=64, max_context=128)

    async def all_of_them() -> list[float]:
        jobs = (
            complete(
                Task(p.name, p.prompt), [], k, engine=engine, tokenizer=tokenizer, judge=judge, temperature=temperature
            )
            for k, p in enumerate(problems)
        )
        return [session.reward for session in await asyncio.gather(*jobs)]

    rewards = asyncio.run(all_of_them())
    parts = []
    for family in sorted({p.family for p in problems}):
        mine = [r for r, p in zip(rewards, problems, strict=True) if p.family == family]
        parts.append(f"{family} {np.mean(mine):.1%}")
    return f"{np.mean(rewards):.1%} ({', '.join(parts)})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--student-steps", type=int, default=300)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--schedule", type=int, default=900, help="steps of the cosine schedule; at least --steps")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--lr", type=float, default=4e-3)
    parser.add_argument("--hidden", type=int, default=96)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--temperature", type=float, default=0.7, help="of the evaluations")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    if not 0 < args.student_steps < args.steps:
        parser.error("--student-steps must be between 0 and --steps")
    if args.schedule < args.steps:
        parser.error("--schedule must be at least --steps")

    tokenizer = ByteTokenizer()
    problems = [p for family, n in COUNTS.items() for p in islice(generate([family], SEED, False), n)]
    held_out = list(islice(generate(list(EASY), SEED, True), 150))
    pairs = [solution_pair(p.prompt, p.solution, tokenizer) for p in problems]
    config = ModelConfig(
        vocab_size=tokenizer.vocab_size,
        hidden_size=args.hidden,
        intermediate_size=8 * args.hidden // 3,
        num_hidden_layers=args.layers,
        num_attention_heads=max(1, args.hidden // 32),
        num_key_value_heads=max(1, args.hidden // 32),
        head_dim=32,
        max_position_embeddings=256,
        eos_token_id=tokenizer.eos_id,
        pad_token_id=tokenizer.pad_id,
    )
    model = build_model(config, args.seed)
    print(f"{len(pairs)} traces, {sum(p.size for p in model.get_parameters()):,} parameters", flush=True)
    learner = Learner(model, OptimizerSettings(kind="muon", weight_decay=0.01))
    started = time.monotonic()

    def on_step(step: int, loss: float) -> None:
        if step % 25 == 0:
            print(f"step {step}: loss {loss:.4f}, {time.monotonic() - started:.0f} s", flush=True)
        name = {args.student_steps: "reasoning_student", args.steps: "reasoning_teacher"}.get(step)
        if name:
            save_checkpoint(model, config, args.out / name, dtype="bfloat16")
            print(f"{name}: held-out accuracy {accuracy(model, held_out, args.temperature)}", flush=True)

    fine_tune(
        learner,
        pairs,
        steps=args.steps,
        schedule=args.schedule,
        batch=args.batch,
        lr=args.lr,
        warmup=10,
        pad_id=tokenizer.pad_id,
        seed=args.seed,
        on_step=on_step,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
