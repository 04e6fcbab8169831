"""`atrl solve` from the command line, against a local server and the real sandbox."""

import json
from pathlib import Path

import pytest
from chat_server import Script, chat_server

from atrl_ms.cli import main
from sandbox.suite import find_task

TASK = """import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x * 2 + 1


def get_inputs():
    return [torch.randn(37, 29)]


def get_init_inputs():
    return []
"""
KERNEL = """import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(y + i, v * 2.0 + 2.0, mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
        return y
"""


def test_solve_against_a_server_leaves_kernel_session_and_report(tmp_path, capsys):
    (tmp_path / "double.py").write_text(TASK)
    replies = iter(
        [
            f"First try.\n```write_kernel\n{KERNEL}```",
            "The constant is wrong.\n```edit_kernel\n<<<\nv * 2.0 + 2.0\n===\nv * 2.0 + 1.0\n>>>\n```",
        ]
    )
    script = Script(lambda messages: next(replies))
    out = tmp_path / "out"
    with chat_server(script) as url:
        code = main(["solve", str(tmp_path / "double.py"), "--model", url, "--turns", "4", "--out", str(out)])
    shown = capsys.readouterr()
    assert code == 0, shown
    assert "turn   1/4  wrong_output" in shown.err and "turn   2/4  pass" in shown.err and shown.out.startswith("pass")
    assert "ModelNew" in script.requests[0]["messages"][0]["content"]
    assert "return x * 2 + 1" in script.requests[0]["messages"][1]["content"]
    assert (out / "kernel.py").read_text() == KERNEL.replace("2.0 + 2.0", "2.0 + 1.0")
    record = json.loads((out / "session.json").read_text())
    assert record["finish"] == "solved" and record["model"] == "small-model"
    assert [e["verdict"] for e in record["evaluations"]] == ["wrong_output", "pass"]
    assert record["final"]["verdict"] == "pass" and record["conversation"][0][2]["role"] == "assistant"
    page = (out / "report.html").read_text()
    assert "wrong_output" in page and "clean state" in page and "+    tl.store(y + i, v * 2.0 + 1.0" in page


def test_a_server_with_a_short_context_is_not_asked_for_more(tmp_path, capsys):
    (tmp_path / "double.py").write_text(TASK)
    script = Script(lambda messages: "```submit\n```", context=4096)
    with chat_server(script) as url:
        code = main(["solve", str(tmp_path / "double.py"), "--model", url, "--turns", "1", "--out", str(tmp_path)])
    assert code == 1 and "context is 4096 tokens" in capsys.readouterr().err
    assert script.requests[0]["max_tokens"] <= 2048


def test_the_embedded_policy_is_found_from_any_directory(tmp_path, monkeypatch, capsys):
    """Whether it solves the task is its own affair; what it leaves must be complete either way."""
    monkeypatch.chdir(tmp_path)
    code = main(["solve", "ew_unary/held_out-00-0", "--turns", "2"])
    shown = capsys.readouterr()
    assert code in (0, 1) and "turn   1/2" in shown.err, shown
    record = json.loads((tmp_path / "solve-ew_unary-held_out-00-0" / "session.json").read_text())
    assert record["model"].endswith("warm_start") and record["segments"][0]["text"].startswith("<|system|>")
    page = (tmp_path / "solve-ew_unary-held_out-00-0" / "report.html").read_text()
    for event in record["evaluations"]:
        assert event["verdict"] in page
    if code == 0:
        kernel = (tmp_path / "solve-ew_unary-held_out-00-0" / "kernel.py").read_text()
        assert record["final"]["verdict"] == "pass" and kernel == record["final_kernel"]


@pytest.mark.parametrize(
    "arguments, part",
    [
        (["missing.py"], "no such file"),
        (["no/such-task"], "no such task"),
        (["TASK", "--model", "/nowhere"], "no such checkpoint"),
        (["TASK", "--model", "http://127.0.0.1:9"], "cannot be reached"),
        (["TASK", "--model", "http://127.0.0.1:9", "--set", "agent.windw=3"], "windw"),
        (["TASK", "--model", "http://127.0.0.1:9", "--turns", "0"], "max_turns"),
        (["TASK", "--model", "http://127.0.0.1:9", "--set", "agent.window=900"], "window 900 has no room"),
    ],
)
def test_a_users_mistake_is_one_line(arguments, part, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "TASK").write_text(TASK)
    assert main(["solve", *arguments]) == 2
    error = capsys.readouterr().err.strip()
    assert part in error and len(error.splitlines()) == 1


def test_a_checkpoint_brings_the_session_it_was_trained_with(tmp_path):
    from atrl_ms.evaluate.trained import trained_agent

    own = tmp_path / "own"
    own.mkdir()
    (own / "agent.yaml").write_text("window: 384\nkeep_steps: 0\n")
    assert trained_agent(own) == {"window": 384, "keep_steps": 0}
    run = tmp_path / "run" / "checkpoints" / "step_000004"
    run.mkdir(parents=True)
    (tmp_path / "run" / "config.yaml").write_text("agent:\n  window: 333\n")
    assert trained_agent(run)["window"] == 333
    assert trained_agent(tmp_path) == {}


def test_builtin_tasks_are_found_by_name():
    from atrl_ms.commands.solve import find
    from sandbox.suite import load_suite

    name = load_suite()[0].name
    assert find(name) == find_task(name) and not Path(name).exists()
