"""`atrl profile TASK CANDIDATE`: where does the time of this kernel go, and what fills its memory?"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from atrl_ms.commands.verify import read
from atrl_ms.errors import UserError
from atrl_ms.types import StepFeedback, Task


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", help="KernelBench-style file: Model, get_inputs, get_init_inputs")
    parser.add_argument("candidate", metavar="CANDIDATE", help="file that defines ModelNew")
    parser.add_argument("--compare", metavar="OTHER", help="a second candidate, shown beside the first")
    parser.add_argument("--html", metavar="FILE", help="picture (default: CANDIDATE's name with .profile.html)")
    parser.add_argument("--json", metavar="FILE", help="write the numbers as JSON; - for standard output")
    parser.add_argument("--arch", default="Ascend910B4", help="target (default: %(default)s)")
    parser.add_argument("--cann", default="9.0.0", help="CANN release whose compiler is used (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="S", help="seconds for one evaluation")
    parser.add_argument("--seed", type=int, default=0, help="seed of the private inputs")


def run(args: argparse.Namespace) -> int:
    from sandbox.options import Options
    from sandbox.pool import SandboxPool
    from sandbox.profile.picture import page
    from sandbox.toolchain import compiler_version, device

    if args.timeout <= 0:
        raise UserError(f"--timeout {args.timeout}: give a positive number of seconds")
    device(args.arch)
    compiler_version(args.cann)
    path = Path(args.task)
    task = Task(path.stem, read(args.task, "task"), directory=str(path.resolve().parent))
    names = [args.candidate, *([args.compare] if args.compare else [])]
    sources = [read(name, "candidate") for name in names]
    options = Options(arch=args.arch, cann=args.cann, device="cpu", timeout=args.timeout, profile="picture")
    with SandboxPool(options, workers=1) as pool:
        results = [pool.submit(task, source, seed=args.seed).result() for source in sources]
    labels = [Path(n).name for n in names] if len({Path(n).name for n in names}) == len(names) else names
    profiles: list[tuple[str, dict[str, Any]]] = []
    for name, result in zip(labels, results, strict=True):
        profile = result.details.get("profile")
        if result.verdict != "pass" or profile is None:
            print(f"{name}: {_why(result)}", file=sys.stderr)
            return 1
        profiles.append((name, profile))
    target = Path(args.html) if args.html else Path(Path(args.candidate).stem + ".profile.html")
    _write(target, page(f"{path.stem} on {args.arch}", profiles), "--html")
    text = json.dumps({"arch": args.arch, "profiles": dict(profiles)}, indent=1)
    if args.json == "-":
        print(text)
        return 0
    if args.json:
        _write(Path(args.json), text + "\n", "--json")
    print(table(profiles))
    print(f"picture: {target}")
    return 0


def _why(result: StepFeedback) -> str:
    if result.verdict == "pass":
        notes = result.details.get("notes") or ["nothing was launched"]
        return f"passes, but could not be profiled: {notes[0]}"
    return f"verdict {result.verdict}; only candidates that pass are profiled\n{result.feedback}"


def _write(path: Path, text: str, option: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{option} {path}: cannot be written ({error.strerror})") from None


def table(profiles: list[tuple[str, dict[str, Any]]]) -> str:
    """The heaviest call of every candidate, one column each; every time is marked as modelled."""
    rows: dict[str, list[str]] = {}

    def put(key: str, value: str, column: int) -> None:
        rows.setdefault(key, [""] * len(profiles))[column] = value

    for column, (name, profile) in enumerate(profiles):
        put("candidate", name, column)
        put("speedup (modelled)", f"{profile['speedup']:.2f}x eager", column)
        put("kernel time (modelled)", f"{profile['kernel_us']:.2f} us", column)
        put("eager time (modelled)", f"{profile['eager_us']:.2f} us", column)
        call = max(profile["calls"], key=lambda c: c["us"])
        for number, launch in enumerate(call["launches"], 1):
            prefix = f"{number} " if len(call["launches"]) > 1 else ""
            put(f"{prefix}kernel", launch["kernel"], column)
            put(f"{prefix}time (modelled)", f"{launch['us']:.2f} us", column)
            put(f"{prefix}grid", f"{launch['programs']} on {launch['cores']} {launch['core']} cores", column)
            moved = f"{launch['read_bytes'] / 1e6:.3f} + {launch['written_bytes'] / 1e6:.3f} MB"
            put(f"{prefix}read + written", moved, column)
            for ratio, value in launch["ratios"].items():
                put(f"{prefix}{ratio} (modelled)", f"{100 * value:.0f} %", column)
            for memory, use in launch["memory"].items():
                put(f"{prefix}{memory}", f"{use['used']} of {use['capacity']} bytes", column)
            put(f"{prefix}bottleneck (modelled)", launch["bottleneck"], column)
            put(f"{prefix}hint", launch["hint"], column)
        if call["moves"]:
            put("PyTorch copies (modelled)", f"{call['moves']}, {call['moves_us']:.2f} us", column)
    width = max(len(k) for k in rows)
    if len(profiles) == 1:
        return "\n".join(f"{k:{width}}  {v[0]}" for k, v in rows.items())
    columns = [max(len(v[i]) for v in rows.values()) for i in range(len(profiles))]
    lines = []
    for key, values in rows.items():
        cells = "  ".join(f"{v:{w}}" for v, w in zip(values, columns, strict=True))
        lines.append(f"{key:{width}}  {cells}".rstrip())
    return "\n".join(lines)
