"""Which tasks may judge kernels: degenerate ones are named, odd but sound ones are not."""

from __future__ import annotations

import pytest
from verify_cases import LINEAR_TASK, RELU_TASK
from verify_cases_honest import task

from atrl_ms.errors import UserError
from atrl_ms.types import Task
from sandbox.admission import check
from sandbox.task import prepare

X = "[torch.randn(33, 65) * 3.0]"


def problems(source: str) -> list[str]:
    return check(Task("t", source))


@pytest.mark.parametrize(
    "source",
    [
        RELU_TASK,
        LINEAR_TASK,
        task("return torch.relu(x)", "[torch.randn(33, 65), torch.randn(3)]", args="x, bias=None"),
        task("return torch.relu(x) + y", "[torch.randn(33, 65), torch.randn(1, 65).expand(33, 65)]", args="x, y"),
        task("return torch.relu(x)", "[torch.randn(33, 65, requires_grad=True)]"),
        task("return torch.relu(xs[0]) - xs[1]", "[[torch.randn(9, 5), torch.randn(9, 5)]]", args="xs"),
    ],
    ids=["plain", "weights", "optional input", "expanded input", "input with gradient", "list of inputs"],
)
def test_sound_task_is_admitted(source):
    assert problems(source) == []


@pytest.mark.parametrize(
    ("source", "word"),
    [
        (task("return torch.clamp(x, -1e9, 1e9)", "[torch.rand(33, 65)]"), "identity"),
        (task("return torch.relu(x - 100)", X), "zeros"),
        (task("return torch.relu(x)", "[torch.randn(33, 65), torch.randn(3)]", args="x, bias"), "input 1"),
        (task("return torch.log(x)", X), "not finite"),
        (task("return x + torch.rand(()).item() + id(object()) % 7", X), "itself"),
        (task("return x @ x", X), "fails"),
        (
            task("return torch.relu(x)", X, "self.w = nn.Parameter(torch.ones(3))"),
            "weight w",
        ),
    ],
    ids=["identity", "zeros", "unused input", "not finite", "random", "failing", "unused weight"],
)
def test_degenerate_task_is_named(source, word):
    found = problems(source)
    assert any(word in problem for problem in found), found


def test_reference_that_fails_is_the_users_mistake():
    with pytest.raises(UserError, match="the reference fails"):
        prepare(Task("t", task("return x @ x", X)), 0)


def test_equal_weights_move_alike_on_request_and_apart_otherwise():
    two = task("return self.b(self.a(x))", "[torch.randn(4, 5)]", "self.a = nn.LayerNorm(5)\nself.b = nn.LayerNorm(5)")
    each, alike, plain = (prepare(Task("t", two), 0, perturb=mode) for mode in ("each", "alike", "none"))
    assert (alike.state["a.weight"] == alike.state["b.weight"]).all()
    assert (each.state["a.weight"] != each.state["b.weight"]).any()
    assert (plain.state["a.weight"] == 1).all() and not plain.moved
    assert set(alike.moved) == {"a.weight", "a.bias", "b.weight", "b.bias"} and all(alike.moved.values())
