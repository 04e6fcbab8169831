"""The named fallback: a launch under Triton's interpreter, in a fresh process.

It is slow (one element at a time where it does not know the combine function), its semantics are not Ascend's in every
corner, and the kernel's Python runs beside the data: used only where the native path has no lowering, and the result
says so. TRITON_INTERPRET=1 changes triton at import, so the process that compiles cannot interpret.
"""

from __future__ import annotations

import base64
import dataclasses
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class InterpreterFailed(Exception):
    """The interpreter could not run the launch; the message is its own."""


@dataclass(frozen=True)
class Pointer:
    """A tensor argument: byte offset into a storage, and the type it points at ("fp32", "i64" ...)."""

    storage: int
    offset: int
    dtype: str


@dataclass(frozen=True)
class Launch:
    """One launch: `kernel` is the function's name, `line` the first line of its definition (decorators included)."""

    kernel: str
    line: int
    grid: tuple[int, ...]
    arguments: dict[str, Pointer | int | float | bool | None]


def interpret(
    source: str,
    launches: Sequence[Launch],
    storages: Sequence[bytes],
    *,
    timeout: float,
    wrap: Sequence[str] = (),
) -> list[bytes]:
    """Run launches of kernels defined in `source` one after another on shared storages.

    Args:
        storages: contents before the first launch.
        timeout: seconds for everything.
        wrap: command prefix that isolates the process.

    Returns:
        contents of the storages after the last launch.

    Raises:
        InterpreterFailed: the kernel failed, or the process died or took too long.
    """
    request = {
        "source": source,
        "launches": [dataclasses.asdict(launch) for launch in launches],
        "storages": [base64.b64encode(data).decode() for data in storages],
    }
    environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(
        [str(Path(__file__).resolve().parents[2]), environment.get("PYTHONPATH", "")]
    )
    try:
        run = subprocess.run(
            [*wrap, sys.executable, "-m", "sandbox.execute.interpreter"],
            input=json.dumps(request).encode(),
            capture_output=True,
            timeout=timeout,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        raise InterpreterFailed(f"the interpreter took longer than {timeout:.0f} s") from None
    try:
        answer = json.loads(run.stdout.decode().splitlines()[-1])
        if "error" in answer:
            raise InterpreterFailed(str(answer["error"]))
        results = [base64.b64decode(data, validate=True) for data in answer["storages"]]
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise InterpreterFailed(f"the interpreter's process ended with code {run.returncode}") from error
    if [len(data) for data in results] != [len(data) for data in storages]:
        raise InterpreterFailed("the interpreter's process returned storages of other sizes")
    return results


# ---------------------------------------------------------------- in the fresh process


def _kernels(module: types.ModuleType) -> Iterator[Any]:
    """Everything in a module, its classes and containers that looks like a Triton kernel, wrappers unpacked."""
    queue: list[Any] = list(vars(module).values())
    seen: set[int] = set()
    while queue:
        item = queue.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, dict):
            queue += item.values()
        elif isinstance(item, (list, tuple)):
            queue += item
        elif isinstance(item, type) and item.__module__ == module.__name__:
            queue += vars(item).values()
        elif hasattr(item, "fn") and not isinstance(item, type):
            if isinstance(item.fn, types.FunctionType):
                yield item
            else:
                queue.append(item.fn)


def _find(module: types.ModuleType, launch: dict[str, Any]) -> Any:
    named = [item for item in _kernels(module) if item.fn.__name__ == launch["kernel"]]
    exact = [item for item in named if item.fn.__code__.co_firstlineno == launch["line"]]
    if not named:
        raise InterpreterFailed(f"kernel {launch['kernel']} is not a module-level kernel of the file")
    return (exact or named)[0]


def _run(request: dict[str, Any]) -> list[bytes]:
    import torch

    from sandbox.execute.standin import install_driver_stand_in

    install_driver_stand_in()
    types_of = {
        "fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32, "fp64": torch.float64,
        "i1": torch.bool, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
        "u8": torch.uint8, "u16": torch.uint16, "u32": torch.uint32, "u64": torch.uint64,
    }  # fmt: skip
    storages = [
        torch.frombuffer(bytearray(base64.b64decode(d) or b"\0"), dtype=torch.uint8) for d in request["storages"]
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "candidate.py"
        path.write_text(request["source"])
        spec = importlib.util.spec_from_file_location("candidate", path)
        assert spec is not None and spec.loader is not None
        module = sys.modules["candidate"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for launch in request["launches"]:
            values = {}
            for name, value in launch["arguments"].items():
                if isinstance(value, dict):
                    kind = types_of[value["dtype"].lstrip("*k")]
                    flat = storages[value["storage"]][value["offset"] :]
                    values[name] = flat[: len(flat) // kind.itemsize * kind.itemsize].view(kind)
                else:
                    values[name] = value
            _find(module, launch)[tuple(launch["grid"])](**values)
    sizes = [len(base64.b64decode(data)) for data in request["storages"]]
    return [bytes(data.numpy().tobytes()[:size]) for data, size in zip(storages, sizes, strict=True)]


def main() -> None:
    """Read a request on stdin, answer on stdout; what the candidate prints goes nowhere."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    request = json.loads(sys.stdin.read())
    try:
        answer: dict[str, Any] = {"storages": [base64.b64encode(data).decode() for data in _run(request)]}
    except Exception as error:
        cause = error.__cause__ or error
        answer = {"error": " ".join(f"{type(cause).__name__}: {cause}".split())[:400]}
    answers.write("\n" + json.dumps(answer) + "\n")
    answers.flush()
    os._exit(0)  # no exit handler of the candidate runs


if __name__ == "__main__":
    main()
