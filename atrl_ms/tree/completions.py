"""One completion of a prompt and a prefix as a session, judged by the problem's verifier."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from atrl_ms.tree.problems import Problem, verify
from atrl_ms.types import (
    Evaluation,
    RolloutEngine,
    Sample,
    SampleRequest,
    Segment,
    Session,
    Stage,
    StepFeedback,
    Task,
    Tokenizer,
    TokenKind,
)


class ProblemJudge:
    """The verifier behind the `Judge` contract: a candidate is the text of a whole solution."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = {p.name: p for p in problems}

    async def verify(self, task: Task, candidate: str, *, seed: int = 0) -> StepFeedback:
        return self.judge(self.problems[task.name], candidate)

    def judge(self, problem: Problem, candidate: str) -> StepFeedback:
        """Score 1 and `pass` for the right answer, else 0 and `wrong_output`."""
        score = verify(problem, candidate)
        ok = score == 1.0
        stage = Stage("verify", ok, 0.0)
        return StepFeedback(
            "pass" if ok else "wrong_output", (stage,), int(ok), 1, score, None, "right" if ok else "wrong"
        )


async def complete(
    task: Task,
    prefix: list[int],
    seed: int,
    *,
    engine: RolloutEngine,
    tokenizer: Tokenizer,
    judge: ProblemJudge,
    temperature: float,
    top_p: float = 1.0,
    top_k: int = 0,
    max_new_tokens: int = 64,
    window: int = 256,
) -> Session:
    """Sample one completion of a problem's prompt and `prefix` (ids), judge the whole solution."""
    context = [*tokenizer.encode(task.source), *prefix]
    sample = await engine.generate(
        SampleRequest(context, max_new_tokens, temperature, top_p, top_k, (tokenizer.eos_id,), seed)
    )
    stopped = sample.finish_reason == "stop"
    body = sample.token_ids[:-1] if stopped else sample.token_ids
    text = tokenizer.decode([*prefix, *body])
    feedback = await judge.verify(task, text) if stopped else judge.judge(judge.problems[task.name], "")
    session = Session(task.name, seed, window, [completion_segment(context, sample)])
    session.evaluations.append(Evaluation(0, 0, feedback.score, feedback.verdict, text, feedback))
    session.finish = "submitted" if stopped else "max_tokens"
    session.best_candidate, session.best_verdict = text, feedback.verdict
    return session


def completion_segment(context: list[int], sample: Sample) -> Segment:
    """Prompt and prefix as frozen context, the completion as the sampled stream."""
    n, m = len(context), len(sample.token_ids)
    return Segment(
        token_ids=np.array([*context, *sample.token_ids], np.int32),
        context_len=n,
        mask=np.arange(n + m) >= n,
        logprobs=np.array([0.0] * n + list(sample.logprobs), np.float32),
        kinds=np.array([int(TokenKind.OBS)] * n + [int(TokenKind.ACT)] * m, np.uint8),
        turns=np.array([-1] * n + [0] * m, np.int32),
        versions=np.array([-1] * n + [sample.policy_version] * m, np.int32),
        ended_by=sample.finish_reason,
    )
