"""The interpreter fallback gives the native result where both run, and names its failures."""

from pathlib import Path

import pytest
import torch
from kernels import tutorials
from kernels.harness import launch

from sandbox.execute.interpreter import InterpreterFailed, Launch, Pointer, interpret

SOURCE = Path(tutorials.__file__).read_text()


def interpreted(kernel, grid, arguments, *tensors):
    line = kernel.fn.__code__.co_firstlineno
    return interpret(
        SOURCE, [Launch(kernel.fn.__name__, line, grid, arguments)], [t.numpy().tobytes() for t in tensors], timeout=120
    )


def test_interpreter_and_native_agree_and_storages_come_back():
    x = torch.randn(3, 20)
    native = torch.empty(3, 20)
    launch(tutorials.softmax_rows, (2,), x, native, 3, 20, 20, BLOCK=32)
    arguments = {"x": Pointer(0, 0, "fp32"), "out": Pointer(1, 0, "fp32"), "rows": 3, "columns": 20, "stride": 20}
    same, out = interpreted(tutorials.softmax_rows, (2,), {**arguments, "BLOCK": 32}, x, torch.empty(3, 20))
    assert same == x.numpy().tobytes()
    torch.testing.assert_close(torch.frombuffer(bytearray(out), dtype=torch.float32).view(3, 20), native)


def test_failures_are_named():
    with pytest.raises(InterpreterFailed, match="missing"):
        interpreted(tutorials.vector_add, (1,), {"x": Pointer(0, 0, "fp32")}, torch.zeros(4))
    with pytest.raises(InterpreterFailed, match="longer than"):
        interpret("while True: pass", [Launch("k", 1, (1,), {})], [], timeout=2)
    with pytest.raises(InterpreterFailed, match="ended with code 3"):
        interpret("import os; os._exit(3)", [Launch("k", 1, (1,), {})], [], timeout=120)
