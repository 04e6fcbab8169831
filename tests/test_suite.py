"""The built-in suite: every variant is a valid task, and held-out variants share nothing with training ones."""

import ast
import runpy
from pathlib import Path

import pytest
import torch

from atrl_ms.errors import UserError
from atrl_ms.train.demos.translate import forward_body
from sandbox.suite import TASKS_DIR, find_task, held_out_tasks, load_suite, render_variant, train_tasks

FAMILY_FILES = sorted(TASKS_DIR.glob("*.py"))


def shapes_of(source: str) -> str:
    return next(line for line in source.splitlines() if line.startswith("SHAPES"))


@pytest.mark.parametrize("path", FAMILY_FILES, ids=lambda p: p.stem)
def test_family_file_is_a_task_on_its_own(path: Path):
    module = runpy.run_path(str(path))
    model = module["Model"](*module["get_init_inputs"]())
    groups = module["get_input_groups"]()
    assert len(groups) >= 2
    for inputs in groups:
        assert torch.isfinite(model(*inputs)).all()


def test_every_family_has_a_file_and_both_splits():
    families = {task.family for task in load_suite()}
    assert families == {path.stem for path in FAMILY_FILES}
    assert len(families) >= 16
    for family in families:
        assert train_tasks([family]) and held_out_tasks([family])


def test_held_out_bodies_and_shapes_never_occur_in_training():
    train = {(t.family, tuple(forward_body(t.source)[1])) for t in train_tasks()}
    train_shapes = {shapes_of(t.source) for t in train_tasks()}
    for task in held_out_tasks():
        assert (task.family, tuple(forward_body(task.source)[1])) not in train
        assert shapes_of(task.source) not in train_shapes


def test_variants_run_and_depend_on_their_inputs():
    for task in held_out_tasks() + train_tasks()[::4]:
        space: dict = {}
        exec(compile(task.source, task.name, "exec"), space)
        torch.manual_seed(0)
        for inputs in space["get_input_groups"]():
            out = space["Model"]()(*inputs)
            assert torch.isfinite(out).all(), task.name
            assert out.std() > 0.02 * out.abs().max(), task.name


def test_names_are_unique_and_found():
    names = [task.name for task in load_suite()]
    assert len(set(names)) == len(names)
    assert find_task(names[17]).name == names[17]
    with pytest.raises(UserError, match="no such task"):
        find_task("softmax/nothing")
    with pytest.raises(UserError, match="no such operator"):
        train_tasks(["softmaxx"])


def test_render_changes_only_body_and_shapes():
    template = (TASKS_DIR / "softmax.py").read_text()
    source = render_variant(template, "return torch.softmax(x, dim=-1) * 3.0", "[(2, 5)]")
    tree = ast.parse(source)
    assert not ast.get_docstring(tree)
    assert "SHAPES = [(2, 5)]" in source
    assert forward_body(source) == (["x"], ["return torch.softmax(x, dim=-1) * 3.0"])
    assert "get_input_groups" in source and "get_init_inputs" in source
