"""Sessions with given scores, for tests of estimators, batching and reports."""

from __future__ import annotations

import numpy as np

from atrl_ms.types import Compaction, Evaluation, Segment, Session, TokenKind

OBS, ACT, SUM = TokenKind.OBS, TokenKind.ACT, TokenKind.SUM


def make_segment(plan: list[tuple[int, int, int]], rng: np.random.Generator, vocab: int = 50) -> Segment:
    """A segment from runs (kind, length, turn); the leading run with turn -1 is the context."""
    kinds = np.concatenate([np.full(n, kind) for kind, n, _ in plan]).astype(np.uint8)
    turns = np.concatenate([np.full(n, turn) for _, n, turn in plan]).astype(np.int32)
    mask = kinds != OBS
    return Segment(
        token_ids=rng.integers(1, vocab, len(kinds)).astype(np.int32),
        context_len=int((turns == -1).sum()),
        mask=mask,
        logprobs=np.where(mask, -rng.uniform(0.1, 2.0, len(kinds)), 0.0).astype(np.float32),
        kinds=kinds,
        turns=turns,
        versions=np.where(mask, 0, -1).astype(np.int32),
    )


def make_session(scores: list[list[float]], seed: int = 0, act_tokens: int = 4, **fields) -> Session:
    """One segment per entry of `scores`, one turn per score; every segment but the last ends in a summary."""
    rng = np.random.default_rng(seed)
    session = Session(task="t", seed=seed, window=128, **fields)
    turn = 0
    for s, segment_scores in enumerate(scores):
        plan = [(OBS, 3, -1)]
        for score in segment_scores:
            plan += [(ACT, act_tokens, turn), (OBS, 2, turn)]
            verdict = "pass" if score >= 0.4 else "compile_error" if score else "static_error"
            session.evaluations.append(Evaluation(s, turn, score, verdict, f"kernel {turn}"))
            turn += 1
        if s + 1 < len(scores):
            plan += [(SUM, 2, turn - 1)]
            session.compactions.append(Compaction(s, turn - 1, 100, 40, True, "hybrid", "resume"))
        segment = make_segment(plan, rng)
        segment.ended_by = "compaction" if s + 1 < len(scores) else "solved"
        session.segments.append(segment)
    session.finish = fields.get("finish", "solved" if session.solved else "submitted")
    return session
