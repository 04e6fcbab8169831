"""`atrl verify TASK CANDIDATE`: is this kernel honest, does it compile for Ascend, is it right, how fast is it?"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from atrl_ms.errors import UserError
from atrl_ms.types import StepFeedback, Task


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", help="KernelBench-style file: Model, get_inputs, get_init_inputs")
    parser.add_argument("candidate", metavar="CANDIDATE", help="file that defines ModelNew")
    parser.add_argument("--json", metavar="FILE", help="write the verdict as JSON; - for standard output")
    parser.add_argument("--arch", default="Ascend910B4", help="target (default: %(default)s)")
    parser.add_argument("--cann", default="9.0.0", help="CANN release whose compiler judges (default: %(default)s)")
    parser.add_argument("--device", choices=("auto", "cpu", "npu"), default="auto", help="where kernels run")
    parser.add_argument("--timeout", type=float, default=20.0, metavar="S", help="seconds for the evaluation")
    parser.add_argument("--seed", type=int, default=0, help="seed of the private inputs")


def read(path: str, what: str, errors: str = "strict") -> str:
    """Text of a file the user named.

    Args:
        errors: how to decode bytes that are not UTF-8.

    Raises:
        UserError: missing or unreadable.
    """
    try:
        return Path(path).read_text(encoding="utf-8", errors=errors)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; give the {what} file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as text ({error.__class__.__name__}); give the {what} file") from None


def run(args: argparse.Namespace) -> int:
    from sandbox.options import Options
    from sandbox.pool import SandboxPool
    from sandbox.toolchain import compiler_version, device

    if args.timeout <= 0:
        raise UserError(f"--timeout {args.timeout}: give a positive number of seconds")
    device(args.arch)
    compiler_version(args.cann)
    path = Path(args.task)
    task = Task(path.stem, read(args.task, "task"), directory=str(path.resolve().parent))
    candidate = read(args.candidate, "candidate", "surrogateescape")  # not UTF-8: a verdict
    options = Options(arch=args.arch, cann=args.cann, device=args.device, timeout=args.timeout)
    with SandboxPool(options, workers=1) as pool:
        result = pool.submit(task, candidate, seed=args.seed).result()
        for loss in [*pool.losses, *result.details.get("losses", [])]:
            print(f"note: {loss}", file=sys.stderr)
    text = json.dumps(result.to_json(), indent=1)
    if args.json == "-":
        print(text)
    else:
        if args.json:
            try:
                Path(args.json).write_text(text + "\n", encoding="utf-8")
            except OSError as error:
                raise UserError(f"--json {args.json}: cannot be written ({error.strerror})") from None
        print(_summary(result))
    return 0 if result.verdict == "pass" else 1


def _summary(result: StepFeedback) -> str:
    lines = [
        f"{'ok  ' if stage.ok else 'FAIL'} {stage.name:8} {stage.seconds:7.3f} s  {stage.detail}"
        for stage in result.stages
    ]
    speed = "not profiled" if result.speedup is None else f"{result.speedup.value:.2f}x ({result.speedup.kind})"
    lines.append(f"verdict {result.verdict}, score {result.score:.2f}, speedup {speed}")
    for note in ("executor", "compiler", "launches"):
        if result.details.get(note):
            lines.append(f"{note}: {result.details[note]}")
    return "\n".join([*lines, "", result.feedback])
