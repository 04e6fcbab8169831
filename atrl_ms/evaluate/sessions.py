"""Sessions on disk: one JSON object per line, exact enough to recompute advantages and to show in a report.

Arrays that repeat are run-length coded: kinds, turns, versions as [[value, count], ...]. `text` holds the segment in
words for whoever reads the file; it is not read back.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from atrl_ms.errors import UserError
from atrl_ms.types import Compaction, Evaluation, Segment, Session, StepFeedback, Tokenizer


def runs(values: np.ndarray) -> list[list[int]]:
    """Run-length code of an integer array."""
    starts = np.flatnonzero(np.diff(values, prepend=values[0] - 1)) if len(values) else np.zeros(0, int)
    ends = np.append(starts[1:], len(values))
    return [[int(values[i]), int(n)] for i, n in zip(starts, ends - starts, strict=True)]


def expand(coded: list[list[int]], dtype: Any) -> np.ndarray:
    """Inverse of `runs`."""
    return np.repeat([v for v, _ in coded], [n for _, n in coded]).astype(dtype)


def segment_to_json(segment: Segment, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """One segment; log-probabilities of sampled tokens only, as shortest decimals that give the float32 back."""
    sampled = segment.logprobs[segment.mask]
    return {
        "context_len": segment.context_len,
        "ended_by": segment.ended_by,
        "ids": segment.token_ids.tolist(),
        "mask": runs(segment.mask.astype(np.int8)),
        "kinds": runs(segment.kinds.astype(np.int64)),
        "turns": runs(segment.turns),
        "versions": runs(segment.versions),
        "logprobs": [float(str(value)) for value in sampled],
        "text": "" if tokenizer is None else tokenizer.decode(segment.token_ids.tolist()),
    }


def segment_from_json(data: dict[str, Any]) -> Segment:
    """Inverse of `segment_to_json`."""
    mask = expand(data["mask"], bool)
    logprobs = np.zeros(len(mask), np.float32)
    logprobs[mask] = data["logprobs"]
    return Segment(
        token_ids=np.asarray(data["ids"], np.int32),
        context_len=data["context_len"],
        mask=mask,
        logprobs=logprobs,
        kinds=expand(data["kinds"], np.uint8),
        turns=expand(data["turns"], np.int32),
        versions=expand(data["versions"], np.int32),
        ended_by=data["ended_by"],
    )


def session_to_json(session: Session, tokenizer: Tokenizer | None = None) -> dict[str, Any]:
    """A JSON-serialisable record of a session."""
    return {
        "task": session.task,
        "seed": session.seed,
        "window": session.window,
        "finish": session.finish,
        "reward": session.reward,
        "solved": session.solved,
        "best_candidate": session.best_candidate,
        "best_verdict": session.best_verdict,
        "seconds": round(session.seconds, 3),
        "evaluations": [
            {
                "segment": e.segment,
                "turn": e.turn,
                "score": e.score,
                "verdict": e.verdict,
                "candidate": e.candidate,
                "feedback": None if e.feedback is None else e.feedback.to_json(),
            }
            for e in session.evaluations
        ],
        "compactions": [vars(c) for c in session.compactions],
        "segments": [segment_to_json(segment, tokenizer) for segment in session.segments],
    }


def session_from_json(data: dict[str, Any]) -> Session:
    """Inverse of `session_to_json`."""
    return Session(
        task=data["task"],
        seed=data["seed"],
        window=data["window"],
        segments=[segment_from_json(s) for s in data["segments"]],
        evaluations=[
            Evaluation(
                e["segment"],
                e["turn"],
                e["score"],
                e["verdict"],
                e["candidate"],
                None if e["feedback"] is None else StepFeedback.from_json(e["feedback"]),
            )
            for e in data["evaluations"]
        ],
        compactions=[Compaction(**c) for c in data["compactions"]],
        finish=data["finish"],
        best_candidate=data["best_candidate"],
        best_verdict=data["best_verdict"],
        seconds=data["seconds"],
    )


def write_sessions(path: Path, sessions: Iterable[Session], tokenizer: Tokenizer | None = None) -> None:
    """Write a whole file of sessions or none of it."""
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("w") as file:
        for session in sessions:
            file.write(json.dumps(session_to_json(session, tokenizer), separators=(",", ":")) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON records of a file of sessions.

    Raises:
        UserError: a line that is not a session.
    """
    with path.open() as file:
        for number, line in enumerate(file, 1):
            try:
                record = json.loads(line)
                record["task"], record["evaluations"], record["segments"]
            except (ValueError, KeyError, TypeError) as error:
                raise UserError(f"{path}:{number}: not a session record ({error!r})") from error
            yield record


def read_sessions(path: Path) -> list[Session]:
    """All sessions of a file."""
    return [session_from_json(record) for record in read_records(path)]
