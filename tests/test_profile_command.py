"""`atrl profile`: the table, the picture, and the speed in the score of the cascade."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from atrl_ms.cli import main

pytest.importorskip("torch")
pytest.importorskip("triton")
TASK = """
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x * 2.0)


def get_inputs():
    return [torch.randn(128, 64)]


def get_init_inputs():
    return []
"""
CANDIDATE = """
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def double_relu(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, tl.maximum(v * 2.0, 0.0), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        double_relu[(triton.cdiv(x.numel(), SIZE),)](x, y, x.numel(), BLOCK=SIZE)
        return y
"""


def test_two_kernels_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task, fast, slow = tmp_path / "task.py", tmp_path / "fast.py", tmp_path / "slow.py"
    task.write_text(TASK)
    fast.write_text(CANDIDATE.replace("SIZE", "2048"))
    slow.write_text(CANDIDATE.replace("SIZE", "16"))
    page, numbers = tmp_path / "page.html", tmp_path / "numbers.json"
    arguments = [str(task), str(fast), "--compare", str(slow), "--html", str(page), "--json", str(numbers)]
    code = main(["profile", *arguments, "--timeout", "300"])
    shown = capsys.readouterr()
    assert code == 0, shown.err
    profiles = json.loads(numbers.read_text())["profiles"]
    assert profiles["fast.py"]["kind"] == profiles["slow.py"]["kind"] == "modelled"
    assert profiles["fast.py"]["speedup"] > 2 * profiles["slow.py"]["speedup"]
    launch = profiles["slow.py"]["calls"][0]["launches"][0]
    assert launch["programs"] == 512
    assert launch["memory"]["UB"]["capacity"] == 196608
    for line in shown.out.splitlines():
        if re.search(r"\d us\b", line):
            assert "modelled" in line
    html = page.read_text()
    assert html.count("<svg") >= 4
    assert "double_relu" in html
    assert "modelled" in html
    # The score of a passing kernel contains its speed, and says what kind of number it is.
    code = main(["verify", str(task), str(fast), "--json", "-", "--timeout", "300"])
    verdict = json.loads(capsys.readouterr().out)
    assert code == 0
    assert verdict["speedup"]["kind"] == "modelled"
    assert verdict["speedup"]["value"] == pytest.approx(profiles["fast.py"]["speedup"], rel=1e-3)
    assert verdict["score"] > 0.4
    assert "modelled" in verdict["feedback"]
    assert verdict["stages"][-1]["name"] == "profile"


def test_a_candidate_that_fails_is_not_profiled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task, wrong = tmp_path / "task.py", tmp_path / "wrong.py"
    task.write_text(TASK)
    wrong.write_text(CANDIDATE.replace("SIZE", "256").replace("v * 2.0", "v * 3.0"))
    page = tmp_path / "page.html"
    assert main(["profile", str(task), str(wrong), "--html", str(page), "--timeout", "300"]) == 1
    assert "wrong_output" in capsys.readouterr().err
    assert not page.exists()


def test_mistakes_of_the_user_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", str(tmp_path / "none.py"), str(tmp_path / "none.py")]) == 2
    assert "no such file" in capsys.readouterr().err
    task = tmp_path / "task.py"
    task.write_text(TASK)
    assert main(["profile", str(task), str(task), "--arch", "Ascend310"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
