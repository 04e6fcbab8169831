"""A writer of demonstration replies: drafts with faults, then fixes that the feedback calls for, some of them wrong.

The writer speaks through the ordinary agent session, so a demonstration has exactly the tokens that the policy will
see. It is deliberately imperfect: first drafts often carry faults and some fixes miss, which leaves reinforcement
learning something to improve.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

import numpy as np

from atrl_ms.train.demos.templates import FLAT, MATMUL, Draft, possible_faults, render
from atrl_ms.types import Task

# Faults in the order in which the cascade reports them, with the notes a writer would leave at a compaction.
NOTES: dict[str, tuple[str, str]] = {
    "missing_colon": ("the def line lacks its colon", "add the colon"),
    "missing_argument": ("the launch lacks an argument", "pass every size"),
    "seed_bias": ("the bias cannot seed the accumulator", "add the bias after the loop"),
    "huge_block": ("the tile does not fit on chip", "use a smaller block"),
    "no_mask": ("the tail runs out of bounds", "mask loads and stores"),
    "fixed_block": ("the block is narrower than the row", "use next_power_of_2"),
    "floor_grid": ("the last block is missing", "use cdiv for the grid"),
    "half_output": ("the output has the wrong dtype", "use empty_like"),
    "wrong_stride": ("the stride is wrong", "fix the stride"),
    "no_k_mask": ("the K tail is not masked", "mask along K"),
    "no_neutral": ("padding spoils the reduction", "use the neutral element"),
    "divide_by_block": ("the mean divides by the block", "divide by cols"),
    "skip": ("an operation is missing", "add the operation"),
    "wrong": ("an operation is wrong", "correct the operation"),
}
ORDER = {name: k for k, name in enumerate(NOTES)}


@dataclass(frozen=True)
class Habits:
    """How good the writer is; probabilities."""

    clean_draft: float = 0.35  # a first draft without fault
    two_faults: float = 0.3  # of the faulty ones, a second fault
    right_fix: float = 0.7  # a fix that addresses what the feedback says
    edit: float = 0.75  # a fix as an edit instead of a rewrite


def kind(fault: str) -> str:
    """The fault's name without the line it is about."""
    return fault.split(":")[0]


def menu(task: Task, rng: np.random.Generator, faults: int = 5, loops: bool = True) -> list[Draft]:
    """Drafts to choose from: two clean styles, single faults, a few pairs. Bounded, so verdicts are reused.

    Without `loops` only those remain whose programs do one block or row each.
    """
    tiles = task.family in MATMUL or task.family == "transpose"
    blocks = [16, 32, 64] if tiles else [256, 512, 1024, 2048]
    if task.family == "transpose":
        blocks = [16, 32]  # the compiler pads a transposing tile of 64 x 64 beyond UB
    styles = [Draft(int(b), bool(not tiles and rng.random() < 0.4)) for b in rng.choice(blocks, 2, replace=False)]
    if task.family not in FLAT and not tiles:
        styles = [Draft(loop=False), Draft(loop=True)]
    names = list(rng.permutation(possible_faults(task)))[:faults]
    drafts = [*styles]
    drafts += [styles[int(rng.integers(2))].including(str(f)) for f in names]
    drafts += [d.including(str(f)) for d in drafts[2:4] for f in names[-2:-1] if f not in d.faults]
    if loops:
        return drafts
    flat = [d for d in drafts if not d.loop]
    return flat if any(not d.faults for d in flat) else [Draft(styles[0].block), *flat]


class Writer:
    """Writes the replies of one session."""

    def __init__(self, task: Task, drafts: list[Draft], rng: np.random.Generator, habits: Habits) -> None:
        self.task, self.drafts, self.rng, self.habits = task, drafts, rng, habits
        self.known = {render(task, draft): draft for draft in drafts}  # text -> draft

    def first(self) -> str:
        """A whole module, right or faulty."""
        clean = self.rng.random() < self.habits.clean_draft
        pairs = self.rng.random() < self.habits.two_faults
        fits = [d for d in self.drafts if (len(d.faults) == 0) == clean] or self.drafts
        if not clean:
            fits = [d for d in fits if (len(d.faults) > 1) == pairs] or fits
        return self.write(self._pick(fits))

    def fix(self, kernel: str) -> str:
        """An edit or a rewrite of `kernel`, which must be one of this writer's."""
        draft = self.known[kernel]
        faults = sorted(draft.faults, key=lambda f: ORDER[kind(f)])
        if not faults:  # the feedback was not the writer's doing (a device limit, say): try the other style
            return self.write(self._pick([d for d in self.drafts if not d.faults]))
        better = draft.without(faults[0])
        if self.rng.random() > self.habits.right_fix:
            others = [d for d in self.drafts if d.faults and d != draft]
            better = draft.without(faults[-1]) if len(faults) > 1 else self._pick(others) if others else better
        text = render(self.task, better)
        self.known[text] = better
        change = edit(kernel, text)
        short = len(change) < 0.7 * len(text)  # a long edit costs more than it saves
        return change if short and self.rng.random() < self.habits.edit else self.write(better)

    def notes(self, kernel: str) -> str:
        """The two lines of a compaction summary."""
        draft = self.known.get(kernel)
        faults = sorted(draft.faults, key=lambda f: ORDER[kind(f)]) if draft else []
        learned, following = NOTES[kind(faults[0])] if faults else ("no kernel passed yet", "write a simpler kernel")
        return f"learned: {learned}\nnext: {following}"

    def write(self, draft: Draft) -> str:
        """A write_kernel block."""
        text = render(self.task, draft)
        self.known[text] = draft
        return f"```write_kernel\n{text}```"

    def _pick(self, drafts: list[Draft]) -> Draft:
        return drafts[int(self.rng.integers(len(drafts)))]


def edit(old: str, new: str) -> str:
    """An edit_kernel block with one hunk per changed run of lines, or a rewrite where exact replacement cannot work."""
    a, b = old.splitlines(), new.splitlines()
    hunks, text = [], old
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        while i1 > 0 and (i1 == i2 or old.count("\n".join(a[i1:i2])) != 1):  # grow upwards until unique
            i1, j1 = i1 - 1, j1 - 1
        before, after = "\n".join(a[i1:i2]), "\n".join(b[j1:j2])
        if not before or text.count(before) != 1:
            return f"```write_kernel\n{new}```"
        text = text.replace(before, after)
        hunks.append(f"<<<\n{before}\n===\n{after}\n>>>\n")
    return "```edit_kernel\n" + "".join(hunks) + "```" if text == new else f"```write_kernel\n{new}```"
