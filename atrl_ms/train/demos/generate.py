"""Demonstrations: judge the writer's drafts, train the tokenizer, record sessions.

Three stages, each resumable and written to the working directory:
    verdicts.jsonl    every draft of every menu with the sandbox's real verdict
    tokenizer.model   SentencePiece, trained on the tasks, kernels, feedback and fixed phrases
    sessions.npz      the token streams of scripted sessions (ids, mask, kinds, one row per segment)
Held-out tasks are never touched.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from loguru import logger
from tqdm import tqdm

from agent.knowledge import KnowledgeBase
from agent.prompt import fixed_phrases, task_text
from agent.scripted import ScriptedEngine
from agent.session import SessionState, run_session
from atrl_ms.config import AgentConfig, WarmStartConfig
from atrl_ms.train.demos.templates import Draft, render
from atrl_ms.train.demos.writer import NOTES, Habits, Writer, edit, menu
from atrl_ms.types import Judge, SampleRequest, Session, StepFeedback, Task, Tokenizer

LINE_END = "\u2400"  # marks the ends of lines in the tokenizer's corpus only; no text of the project holds it


@dataclass(frozen=True)
class Entry:
    """A task with the drafts that its demonstrations may use."""

    task: Task
    drafts: list[Draft]


def build_menus(tasks: list[Task], config: WarmStartConfig, seed: int) -> list[Entry]:
    """The tasks to demonstrate: the first `bodies` bodies of every family with `shape_sets` of their shape sets."""
    by_body: dict[str, list[Task]] = {}
    for task in tasks:
        body = task.name.rpartition("-")[0]  # family/train-NN
        if int(body.rpartition("-")[2]) < config.bodies:
            by_body.setdefault(body, []).append(task)
    entries = []
    for body, variants in by_body.items():
        rng = np.random.default_rng([seed, 0, zlib.crc32(body.encode())])  # whatever `bodies` is
        picks = rng.permutation(len(variants))[: config.shape_sets]
        for task in (variants[int(k)] for k in sorted(picks)):
            entries.append(Entry(task, menu(task, rng, config.faults_per_task, config.loops)))
    return entries


class VerdictTable:
    """Verdicts by (task, kernel) on disk; asks the sandbox for what is missing. Implements `Judge`."""

    def __init__(self, path: Path, judge: Judge | None) -> None:
        self.path, self.judge = path, judge
        self.table: dict[tuple[str, str], StepFeedback] = {}
        if path.is_file():
            for line in path.read_text().splitlines():
                try:
                    row = json.loads(line)
                except json.JSONDecodeError:
                    continue  # the line that a kill cut short
                self.table[row["task"], row["kernel"]] = StepFeedback.from_json(row["feedback"])

    async def verify(self, task: Task, candidate: str, *, seed: int = 0) -> StepFeedback:
        key = (task.name, candidate)
        if key not in self.table:
            if self.judge is None:
                raise LookupError(f"no verdict for a kernel of {task.name}")
            feedback = await self.judge.verify(task, candidate, seed=seed)
            if feedback.verdict == "infrastructure_error":
                return feedback
            self.table[key] = feedback
            with self.path.open("a") as file:
                file.write(json.dumps({"task": task.name, "kernel": candidate, "feedback": feedback.to_json()}) + "\n")
        return self.table[key]


async def judge_menus(entries: list[Entry], verdicts: VerdictTable, parallel: int) -> Counter[str]:
    """Verdicts of all drafts; returns how often each verdict came."""
    jobs = [(entry.task, render(entry.task, draft)) for entry in entries for draft in entry.drafts]
    np.random.default_rng(0).shuffle(jobs)  # type: ignore[arg-type]  # so that a part of them is a fair sample
    gate = asyncio.Semaphore(parallel)
    counts: Counter[str] = Counter()
    with tqdm(total=len(jobs), desc="verdicts", mininterval=5) as bar:

        async def one(task: Task, kernel: str) -> None:
            async with gate:
                counts[(await verdicts.verify(task, kernel)).verdict] += 1
                bar.update()

        await asyncio.gather(*(one(task, kernel) for task, kernel in jobs))
    return counts


def corpus(entries: list[Entry], verdicts: VerdictTable, knowledge: KnowledgeBase, seed: int) -> Iterator[str]:
    """Texts for the tokenizer: what the policy will read and write."""
    rng = np.random.default_rng([seed, 1])
    for entry in entries:
        header = knowledge.header(entry.task.source, None, lambda text: len(text) < 200)
        yield task_text(entry.task.source, header)
        yield from fixed_phrases()  # as often as in sessions, so that each becomes a single token
        learned, following = list(NOTES.values())[int(rng.integers(len(NOTES)))]
        yield f"learned: {learned}\nnext: {following}"
        texts = [render(entry.task, draft) for draft in entry.drafts]
        for text in texts:
            yield f"```write_kernel\n{text}```"
            feedback = verdicts.table.get((entry.task.name, text))
            if feedback is not None:
                yield feedback.feedback
        for _ in range(3):
            old, new = rng.choice(len(texts), 2)
            yield edit(texts[int(old)], texts[int(new)])


def train_tokenizer(texts: Iterator[str], path: Path, vocab_size: int) -> None:
    """SentencePiece BPE whose pieces may span words but not lines.

    Set phrases and whole statements become single tokens, and the same line has the same tokens wherever it stands.
    """
    import io

    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=(text.replace("\n", "\n" + LINE_END) for text in texts if text),
        model_writer=model,
        vocab_size=vocab_size,
        model_type="bpe",
        pretokenization_delimiter=LINE_END,
        normalization_rule_name="identity",
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        split_by_whitespace=False,
        split_by_unicode_script=False,
        split_by_number=False,
        byte_fallback=True,
        character_coverage=1.0,
        max_sentencepiece_length=96,
        max_sentence_length=20000,
        control_symbols=["<|system|>", "<|user|>", "<|assistant|>", "<|end|>"],
        pad_id=0,
        unk_id=1,
        bos_id=-1,
        eos_id=-1,
        num_threads=1,
        minloglevel=2,
    )
    path.write_bytes(model.getvalue())


async def record_sessions(
    entries: list[Entry],
    verdicts: VerdictTable,
    tokenizer: Tokenizer,
    knowledge: KnowledgeBase,
    agent: AgentConfig,
    config: WarmStartConfig,
    seed: int,
) -> list[Session]:
    """`config.sessions` scripted sessions over the menus, in a fixed order given the seed."""
    habits = Habits(config.clean_draft, config.two_faults, config.right_fix, config.edit)
    sessions = []
    for number in tqdm(range(config.sessions), desc="sessions", mininterval=5):
        rng = np.random.default_rng([seed, 2, number])
        entry = entries[int(rng.integers(len(entries)))]
        writer = Writer(entry.task, entry.drafts, rng, habits)

        def script(request: SampleRequest, state: SessionState, writer: Writer = writer) -> str:
            if state.purpose == "summary":
                return writer.notes(state.kernel)
            return writer.fix(state.kernel) if state.kernel else writer.first()

        engine = ScriptedEngine(script, tokenizer)
        sessions.append(
            await run_session(
                entry.task,
                engine=engine,
                tokenizer=tokenizer,
                judge=verdicts,
                config=agent,
                seed=number,
                knowledge=knowledge,
                watch=engine.bind,
            )
        )
    solved = np.mean([s.solved for s in sessions])
    compactions = sum(len(s.compactions) for s in sessions)
    tokens = sum(len(g.token_ids) for s in sessions for g in s.segments)
    logger.info(f"{len(sessions)} sessions, {tokens} tokens, {solved:.1%} solved, {compactions} compactions")
    return sessions


def save_sessions(sessions: list[Session], path: Path) -> None:
    """Ids and masks of all segments, concatenated, with offsets."""
    segments = [segment for session in sessions for segment in session.segments]
    lengths = np.array([len(segment.token_ids) for segment in segments])
    np.savez_compressed(
        path,
        ids=np.concatenate([segment.token_ids for segment in segments]).astype(np.uint16),
        mask=np.concatenate([segment.mask for segment in segments]),
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
    )


def load_segments(path: Path) -> list[tuple[np.ndarray, np.ndarray]]:
    """(ids (T,) int32, mask (T,) bool) of every segment."""
    data = np.load(path)
    bounds = zip(data["offsets"][:-1], data["offsets"][1:], strict=True)
    ids, mask = data["ids"].astype(np.int32), data["mask"]
    return [(ids[a:b], mask[a:b]) for a, b in bounds]
