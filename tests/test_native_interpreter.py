"""The interpreter fallback gives the verdicts of the native path, and says so; what it cannot run is named."""

from __future__ import annotations

import pytest
import verify_cases_honest
from verify_cases import CASES, RELU_TASK

from atrl_ms.types import Task
from sandbox.options import Options
from sandbox.pool import SandboxPool

SAME = ("two_outputs", "plain_matmul", "weights_transposed_at_start", "writes_input", "wrong_shape", "atomic_scalar")


@pytest.fixture(scope="module")
def interpreting():
    """Without the Ascend compiler every kernel goes through the interpreter."""
    with SandboxPool(Options(hide=("bishengir",), profile="off", timeout=60.0), workers=1) as pool:
        yield pool


@pytest.mark.parametrize("name", SAME)
def test_verdicts_agree_with_the_native_path(interpreting, name):
    _, allowed, task, candidate = next(case for case in CASES if case[0] == name)
    result = interpreting.submit(Task(name, task), candidate).result()
    assert result.verdict in allowed, result.feedback
    if result.verdict == "pass":
        assert result.details["executor"] == "interpreter"


def test_kernel_made_after_the_import_is_named_and_not_blamed(interpreting):
    _, _, task, candidate = next(case for case in CASES if case[0] == "kernel_in_init")
    result = interpreting.submit(Task("kernel_in_init", task), candidate).result()
    assert result.verdict == "infrastructure_error"
    assert "inner is not defined when the file is imported" in result.feedback


def test_endless_kernel_ends(interpreting):
    body = "    z = 0\n    while z < n:\n        z = z * 2\n    tl.store(dst, z)\n"
    head = verify_cases_honest.HEAD + "@triton.jit\ndef k(src, dst, n, BLOCK: tl.constexpr):\n"
    candidate = head + body + verify_cases_honest.model(verify_cases_honest.GO)
    with SandboxPool(Options(hide=("bishengir",), profile="off", timeout=5.0, execution=1.0), workers=1) as pool:
        assert pool.submit(Task("endless", RELU_TASK), candidate).result().verdict == "timeout"
