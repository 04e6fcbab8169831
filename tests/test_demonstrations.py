"""Demonstrations: drafts are valid Python, edits reproduce the target text exactly, held-out tasks stay out."""

import numpy as np
import pytest

from agent.tools import apply_edits, parse_reply
from atrl_ms.config import WarmStartConfig
from atrl_ms.train.demos.generate import build_menus
from atrl_ms.train.demos.templates import Draft, possible_faults, render
from atrl_ms.train.demos.writer import ORDER, Habits, Writer, edit, kind, menu
from sandbox.suite import held_out_tasks, load_suite, train_tasks


def one_per_family():
    return {task.family: task for task in load_suite()}.values()


@pytest.mark.parametrize("task", one_per_family(), ids=lambda t: t.family)
def test_drafts_parse_and_every_fault_changes_the_text(task):
    clean = Draft(block=32)
    compile(render(task, clean), task.name, "exec")
    for fault in possible_faults(task):
        text = render(task, clean.including(fault))
        assert text != render(task, clean), fault
        assert kind(fault) in ORDER
        if fault == "missing_colon":
            with pytest.raises(SyntaxError):
                compile(text, task.name, "exec")
        else:
            compile(text, task.name, "exec")


def test_edits_reproduce_the_target_through_the_agents_own_parser():
    rng = np.random.default_rng(0)
    edits = 0
    for task in train_tasks()[::13]:
        texts = [render(task, draft) for draft in menu(task, rng)]
        for old in texts:
            for new in texts:
                if old == new:
                    continue
                call = parse_reply(edit(old, new), "fenced")
                if call.name == "edit_kernel":
                    edits += 1
                    assert apply_edits(old, call.edits) == new
                else:
                    assert call.code == new
    assert edits > 500


def test_writer_reaches_a_clean_draft():
    task = train_tasks(["softmax"])[0]
    rng = np.random.default_rng(1)
    writer = Writer(task, menu(task, rng), rng, Habits(clean_draft=0.0, right_fix=1.0))
    call = parse_reply(writer.first(), "fenced")
    kernel = call.code
    assert writer.known[kernel].faults
    for _ in range(3):
        if not writer.known[kernel].faults:
            break
        call = parse_reply(writer.fix(kernel), "fenced")
        kernel = call.code if call.name == "write_kernel" else apply_edits(kernel, call.edits)
    assert not writer.known[kernel].faults


def test_demonstrations_use_no_held_out_task():
    entries = build_menus(train_tasks(), WarmStartConfig(), seed=0)
    held_out = {task.name for task in held_out_tasks()}
    assert len(entries) > 400  # of bodies 0 to 10 alone
    assert max(int(entry.task.name.split("-")[1]) for entry in entries) == WarmStartConfig().bodies - 1
    assert not {entry.task.name for entry in entries} & held_out
    assert not {entry.task.source for entry in entries} & {task.source for task in held_out_tasks()}
