"""Warm start: demonstrations judged by the real sandbox, then supervised fine-tuning of the embedded policy.

    drafts -> verdicts -> tokenizer -> sessions -> SFT -> checkpoint directory (weights, config.json, tokenizer.model)

Every stage writes to the run directory and is skipped when its output is there. The loss is the cross-entropy of the
tokens that the writer "sampled" (mask True); context, feedback and knowledge are read but not learned.

Dimension letters: B rows, T tokens.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import yaml
from loguru import logger
from tqdm import tqdm

from agent.knowledge import KnowledgeBase
from atrl_ms.config import Config, WarmStartConfig
from atrl_ms.errors import UserError
from atrl_ms.train.demos.generate import (
    VerdictTable,
    build_menus,
    corpus,
    judge_menus,
    load_segments,
    record_sessions,
    save_sessions,
    train_tokenizer,
)
from sandbox.suite import train_tasks

Segments = list[tuple[np.ndarray, np.ndarray]]  # (ids (T,), mask (T,)) each
SHORTEST = 128  # shorter segments are padded: one graph less to compile


def warm_start(config: Config, run_dir: Path) -> Path:
    """Run all stages; returns the checkpoint directory."""
    run_dir.mkdir(parents=True, exist_ok=True)
    asyncio.run(make_demonstrations(config, run_dir))
    return fine_tune(config, run_dir)


async def make_demonstrations(config: Config, run_dir: Path) -> None:
    """verdicts.jsonl, tokenizer.model and sessions.npz."""
    warm = config.warm_start
    if config.tasks.suite != "builtin":
        raise UserError(f"tasks.suite {config.tasks.suite}: demonstrations exist for the built-in suite only")
    entries = build_menus(train_tasks(config.tasks.families), warm, config.seed)
    verdicts = VerdictTable(run_dir / "verdicts.jsonl", None)
    missing = sum(len(entry.drafts) for entry in entries) - len(verdicts.table)
    if missing > 0 or not (run_dir / "sessions.npz").is_file():
        from atrl_ms.judges import open_pool

        pool = open_pool(config)
        try:
            verdicts.judge = pool
            counts = await judge_menus(entries, verdicts, parallel=2 * config.sandbox.workers)
            logger.info(f"verdicts of drafts: {dict(counts.most_common())}")
            knowledge = KnowledgeBase.load()
            tokenizer_path = run_dir / "tokenizer.model"
            if not tokenizer_path.is_file():
                train_tokenizer(corpus(entries, verdicts, knowledge, config.seed), tokenizer_path, warm.vocab_size)
            from atrl_ms.policy.tokenizer import load_tokenizer

            tokenizer = load_tokenizer(run_dir)
            sessions = await record_sessions(entries, verdicts, tokenizer, knowledge, config.agent, warm, config.seed)
            save_sessions(sessions, run_dir / "sessions.npz")
        finally:
            pool.close()


def batches(segments: Segments, warm: WarmStartConfig, rng: np.random.Generator) -> Iterator[list[int]]:
    """Endless epochs of index lists: rows of similar length, at most `batch_tokens` padded tokens together.

    Both sizes of a batch are the learner's own buckets, so that nothing is padded twice and few graphs are compiled.
    """
    from atrl_ms.train.learner import B_BUCKETS, T_BUCKETS, bucket

    lengths = np.array([max(SHORTEST, bucket(len(ids), T_BUCKETS)) for ids, _ in segments])
    while True:
        epoch = []
        for length in np.unique(lengths):
            rows = rng.permutation(np.flatnonzero(lengths == length))
            size = max(b for b in B_BUCKETS if b == 1 or b * length <= warm.batch_tokens)
            rows = np.resize(rows, -(-len(rows) // size) * size)  # the last batch is filled up: no further graph
            epoch += rows.reshape(-1, size).tolist()
        for k in rng.permutation(len(epoch)):
            yield epoch[int(k)]


def collate(segments: Segments, rows: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """ids (B, T) int32 and weight (B, T) float32; the weights of all learned tokens sum to 1."""
    longest = max(SHORTEST, *(len(segments[r][0]) for r in rows))
    ids_BT = np.zeros((len(rows), longest), np.int32)
    weight_BT = np.zeros((len(rows), longest), np.float32)
    for b, r in enumerate(rows):
        ids, mask = segments[r]
        ids_BT[b, : len(ids)] = ids
        weight_BT[b, : len(ids)] = mask
    return ids_BT, weight_BT / weight_BT.sum()


def learning_rate(step: int, warm: WarmStartConfig) -> float:
    """Linear warm-up over 2 % of the steps, then cosine to a tenth."""
    rise = max(1, warm.schedule_steps // 50)
    if step < rise:
        return warm.lr * (step + 1) / rise
    progress = min(1.0, (step - rise) / max(1, warm.schedule_steps - rise))
    return warm.lr * (0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * progress)))


def fine_tune(config: Config, run_dir: Path) -> Path:
    """SFT on sessions.npz up to step `max_steps` or for `minutes`.

    Every 100 steps checkpoint/ and the optimizer's state are rewritten; a run that was stopped goes on from there.
    """
    from atrl_ms.policy.config import ModelConfig
    from atrl_ms.policy.model import build_model
    from atrl_ms.policy.tokenizer import load_tokenizer
    from atrl_ms.policy.weights import load_weights, save_checkpoint
    from atrl_ms.train.learner import Learner
    from atrl_ms.train.optim import OptimizerSettings

    warm = config.warm_start
    segments = [(ids, mask) for ids, mask in load_segments(run_dir / "sessions.npz") if mask[1:].any()]
    tokenizer = load_tokenizer(run_dir)
    held = segments[: max(1, min(256, len(segments) // 20))]
    train = segments[len(held) :]
    model = build_model(
        ModelConfig(
            model_type="qwen3",
            vocab_size=tokenizer.vocab_size,
            hidden_size=warm.hidden_size,
            intermediate_size=warm.intermediate_size,
            num_hidden_layers=warm.layers,
            num_attention_heads=warm.heads,
            num_key_value_heads=warm.kv_heads,
            head_dim=warm.hidden_size // warm.heads,
            max_position_embeddings=1024,
            eos_token_id=tokenizer.eos_id,
            pad_token_id=tokenizer.pad_id,
        ),
        seed=config.seed,
    )
    learner = Learner(model, OptimizerSettings(kind=warm.optimizer, weight_decay=0.01))
    checkpoint, state = run_dir / "checkpoint", run_dir / "sft_state.npz"
    first = 0
    if state.is_file():
        saved = dict(np.load(state))
        first = int(saved.pop("next_step"))
        load_weights(model, checkpoint)
        learner.load_state_dict(saved)
        logger.info(f"going on at step {first}")
    source = batches(train, warm, np.random.default_rng([config.seed, 3, first]))
    started, tokens, smooth = time.monotonic(), 0, 0.0
    log = (run_dir / "sft.jsonl").open("a")
    with tqdm(total=warm.max_steps, initial=first, desc="sft", mininterval=5) as bar:
        for step in range(first, warm.max_steps):
            ids_BT, weight_BT = collate(train, next(source))
            loss = learner.sft(ids_BT, weight_BT)
            learner.apply(learning_rate(step, warm))
            tokens += ids_BT.size
            smooth = loss if step == first else 0.95 * smooth + 0.05 * loss
            minutes = (time.monotonic() - started) / 60
            bar.update()
            bar.set_postfix(loss=f"{smooth:.3f}", tok_s=f"{tokens / (60 * minutes):.0f}")
            last = step == warm.max_steps - 1 or minutes > warm.minutes
            if step % 100 == 99 or last:
                value = validation_loss(learner, held, warm)
                row = {"step": step + 1, "loss": smooth, "validation": value, "tokens": tokens, "minutes": minutes}
                log.write(json.dumps(row) + "\n")
                log.flush()
                logger.info(row)
                save_checkpoint(model, model.config, checkpoint, dtype="float16")
                (checkpoint / "tokenizer.model").write_bytes((run_dir / "tokenizer.model").read_bytes())
                (checkpoint / "agent.yaml").write_text(yaml.safe_dump(config.agent.model_dump()))
                np.savez(state, next_step=step + 1, **learner.state_dict())
            if last:
                break
    log.close()
    return checkpoint


def validation_loss(learner: object, segments: Segments, warm: WarmStartConfig) -> float:
    """Mean cross-entropy (nats) of the learned tokens of segments that were not trained on."""
    total, count = 0.0, 0.0
    order = sorted(range(len(segments)), key=lambda k: len(segments[k][0]))
    for k in range(0, len(order), 32):
        ids_BT, weight_BT = collate(segments, order[k : k + 32])
        logp_BT = learner.logprobs(ids_BT)  # type: ignore[attr-defined]
        total -= float((logp_BT * (weight_BT > 0)).sum())
        count += float((weight_BT > 0).sum())
    return total / count
