"""The policy here against the same architecture in transformers on torch, side by side in one run.

    python scripts/bench_policy.py [--json FILE] [--batch 32] [--length 256] [--quick]

Each side runs in processes of its own (torch with 1 and with 2 threads, the better counts), one after the other, so
that neither warms caches or holds memory of the other. Measured: training tokens per second (forward, backward,
clipping, AdamW), decoding tokens per second at batch 1, 16 and 32, peak resident memory. Each speed is given by the
clock and per second of processor time of all threads: on a machine that does other work only the latter compares.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SIZES = {
    "vocab_size": 1024,
    "hidden_size": 256,
    "intermediate_size": 768,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "max_position_embeddings": 1024,
}
DECODE_BATCHES = (1, 16, 32)
PROMPT = 64


def best_seconds(step: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """Least wall and least processor seconds of `repeats` runs after two that warm up."""
    step()
    step()
    times = []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        step()
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    return min(wall for wall, _ in times), min(cpu for _, cpu in times)


def speeds(name: str, tokens: int, seconds: tuple[float, float]) -> dict[str, float]:
    """Tokens per second of the clock and of the processor."""
    return {name: tokens / seconds[0], f"{name} per cpu": tokens / seconds[1]}


def prompts(batch: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, SIZES["vocab_size"], (batch, PROMPT)).astype(np.int32)


def run_here(args: argparse.Namespace) -> dict[str, float]:
    from atrl_ms.policy.config import ModelConfig
    from atrl_ms.policy.model import build_model
    from atrl_ms.rollout.native import NativeEngine
    from atrl_ms.train.learner import Learner
    from atrl_ms.types import SampleRequest

    model = build_model(ModelConfig(**SIZES))  # type: ignore[arg-type]
    learner = Learner(model)
    ids = np.random.default_rng(0).integers(0, SIZES["vocab_size"], (args.batch, args.length)).astype(np.int32)
    weight = np.full(ids.shape, 1 / ids.size, np.float32)
    result = speeds("train", ids.size, best_seconds(lambda: learner.sft_step(ids, weight, 1e-4), args.repeats))
    for batch in DECODE_BATCHES:
        engine = NativeEngine(model, max_batch=batch, max_context=PROMPT + args.new_tokens + 1)
        requests = [SampleRequest(p.tolist(), args.new_tokens, seed=i) for i, p in enumerate(prompts(batch))]

        async def decode(engine: Any = engine, requests: Any = requests) -> None:
            await engine.update_weights(0)  # drops the caches: every run prefills
            await asyncio.gather(*(engine.generate(r) for r in requests))

        seconds = best_seconds(lambda decode=decode: asyncio.run(decode()), args.repeats)  # type: ignore[misc]
        result |= speeds(f"decode {batch}", batch * args.new_tokens, seconds)
    return result


def run_torch(args: argparse.Namespace) -> dict[str, float]:
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.set_num_threads(args.threads)
    model = Qwen3ForCausalLM(Qwen3Config(**SIZES, tie_word_embeddings=True, bos_token_id=None, eos_token_id=None))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    ids = torch.randint(0, SIZES["vocab_size"], (args.batch, args.length))

    def train() -> None:
        optimizer.zero_grad()
        model(input_ids=ids, labels=ids, use_cache=False).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    result = speeds("train", ids.numel(), best_seconds(train, args.repeats))
    model.eval()
    for batch in DECODE_BATCHES:
        given = torch.tensor(prompts(batch)).long()

        def decode(given: Any = given) -> None:
            with torch.inference_mode():
                model.generate(
                    given, attention_mask=torch.ones_like(given), max_new_tokens=args.new_tokens, do_sample=True,
                    top_k=0, pad_token_id=0,
                )  # fmt: skip

        result |= speeds(f"decode {batch}", batch * args.new_tokens, best_seconds(decode, args.repeats))
    return result


def measure(side: str, threads: int, args: argparse.Namespace) -> dict[str, float]:
    """One side in a fresh process."""
    command = [sys.executable, __file__, "--side", side, "--threads", str(threads), "--batch", str(args.batch)]
    command += ["--length", str(args.length), "--repeats", str(args.repeats), "--new-tokens", str(args.new_tokens)]
    env = {**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{side} with {threads} threads failed:\n{done.stderr[-2000:]}")
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def best_of(runs: list[dict[str, float]]) -> dict[str, float]:
    """The better speed of each kind; memory of the run that trained faster."""
    best = {key: max(run[key] for run in runs) for key in runs[0] if key != "peak_mb"}
    return {**best, "peak_mb": max(runs, key=lambda run: run["train"])["peak_mb"]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--length", type=int, default=256)
    parser.add_argument("--new-tokens", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="small batch, few repeats: shows that it runs")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    parser.add_argument("--side", choices=("here", "torch"), help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.side:
        result = (run_here if args.side == "here" else run_torch)(args)
        result["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(result))
        return 0
    if args.quick:
        args.batch, args.length, args.new_tokens, args.repeats = 4, 64, 16, 1
    counts = sorted({1, min(2, os.cpu_count() or 1)})
    runs: dict[str, list[dict[str, float]]] = {"here": [], "torch": []}
    for n in counts:  # alternating, so that a busy minute of the machine does not fall on one side only
        for side, done in runs.items():
            done.append(measure(side, n, args))
    here, torch_side = best_of(runs["here"]), best_of(runs["torch"])
    print(f"{'':18} {'atrl_ms':>10} {'torch':>10} {'ratio':>7}   (tokens per second, best of {counts} threads)")
    for key, value in here.items():
        print(f"{key:18} {value:10.0f} {torch_side[key]:10.0f} {value / torch_side[key]:7.2f}")
    if args.json:
        args.json.write_text(json.dumps({"atrl_ms": here, "torch": torch_side, "settings": vars(args)}, default=str))
    return 0


if __name__ == "__main__":
    sys.exit(main())
