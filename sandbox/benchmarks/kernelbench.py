"""Loaders for files in KernelBench's form: KernelBench, MultiKernelBench with NPUKernelBench set (b), plain folders."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from atrl_ms.errors import UserError
from atrl_ms.types import Task
from sandbox.benchmarks.entry import Entry
from sandbox.benchmarks.rewrite import positional, uses_module, without_modules

DEVICE_MODULES = ("torch_npu",)
NEEDS_NPU = "the reference calls torch_npu, which only exists on a device"


def kernelbench(root: Path) -> list[Entry]:
    """`level{1..4}/<id>_<name>.py`, in a clone or in its folder KernelBench."""
    base = next((d for d in (root / "KernelBench", root) if (d / "level1").is_dir()), None)
    if base is None:
        raise UserError(f"{root}: no folder KernelBench/level1; give the root of a clone of KernelBench")
    entries = []
    for folder in sorted(base.glob("level*")):
        level = folder.name.removeprefix("level")
        for file in sorted(folder.glob("*.py"), key=number):
            name = f"{folder.name}/{file.stem}"
            aliases = []
            if number(file)[0]:
                i = number(file)[0]
                aliases = [f"level{level}/{i}", f"level{level}_{i}", f"{level}_{i}", f"level_{level}_problem_{i}"]
            entries.append(read_entry(file, name, base, level, kind_of(file.stem), tuple(aliases)))
    return entries


def multikernelbench(root: Path, *, set_b: bool) -> list[Entry]:
    """`reference/<category>/*.py`; set (b) of NPUKernelBench in `npukernelbench_level*`, or everything else."""
    base = next((d for d in (root / "reference", root) if (d / "npukernelbench_level0").is_dir()), None)
    if base is None:
        raise UserError(f"{root}: no folder reference/npukernelbench_level0; give a clone of MultiKernelBench")
    entries = []
    for folder in sorted(d for d in base.iterdir() if d.is_dir()):
        if folder.name.startswith("npukernelbench_level") is not set_b:
            continue
        level = folder.name.removeprefix("npukernelbench_level") if set_b else ""
        for file in sorted(folder.glob("*.py"), key=number):
            if not file.name.startswith("_"):
                category = "" if set_b else folder.name
                entries.append(read_entry(file, f"{folder.name}/{file.stem}", base, level, category, ()))
    return entries


def akg_lite(root: Path) -> list[Entry]:
    """`t{1,2,3}/*.py`, in the benchmark's folder or below a clone of AKG; the tier is the level."""
    places = (root, root / "akg_kernels_bench_lite", root / "akg_agents" / "benchmark" / "akg_kernels_bench_lite")
    base = next((d for d in (*places, root / "benchmark" / "akg_kernels_bench_lite") if (d / "t1").is_dir()), None)
    if base is None:
        raise UserError(f"{root}: no folder t1; give the folder akg_kernels_bench_lite")
    files = [file for folder in sorted(base.glob("t[0-9]*")) for file in sorted(folder.glob("*.py"))]
    return [read_entry(f, f"{f.parent.name}/{f.stem}", base, f.parent.name, "", ()) for f in files]


def folder_of_tasks(root: Path) -> list[Entry]:
    """Every file below a directory that defines Model and inputs; sub-folders are categories."""
    if not root.is_dir():
        raise UserError(f"{root}: no such directory of task files")
    entries = []
    for file in sorted(root.rglob("*.py"), key=lambda f: (str(f.parent), number(f))):
        relative = file.relative_to(root)
        if any(part.startswith((".", "_")) for part in relative.parts):
            continue
        entry = read_entry(file, str(relative.with_suffix("")), root, "", str(relative.parent).strip("."), ())
        if is_task(entry.task.source):
            entries.append(entry)
    if not entries:
        raise UserError(f"{root}: no file defines Model and get_inputs or get_input_groups")
    return entries


def read_entry(file: Path, name: str, base: Path, level: str, category: str, aliases: tuple[str, ...]) -> Entry:
    """One file as an entry; what cannot be used carries the reason."""
    text, skip, files, form = "", "", {}, "plain"
    try:
        text = file.read_text(encoding="utf-8")
        ast.parse(text)
    except (OSError, UnicodeDecodeError) as error:
        skip = f"cannot be read as text ({type(error).__name__})"
    except (SyntaxError, ValueError) as error:
        skip = f"not valid Python: {error}"
    if not skip:
        beside = file.with_suffix(".json")
        if "get_input_groups" in text and beside.is_file():
            form, files = "lines", {beside.name: str(beside)}
            text = positional(text)
        text = without_modules(text, DEVICE_MODULES)
        if any(uses_module(text, module) for module in DEVICE_MODULES):
            skip = NEEDS_NPU
    task = Task(name, text, family=category, directory=str(base.resolve()))
    return Entry(task, level, category, aliases, form, skip, files)


def is_task(source: str) -> bool:
    """Whether a file defines Model and a way to make inputs."""
    try:
        names = {n.name for n in ast.parse(source).body if isinstance(n, ast.ClassDef | ast.FunctionDef)}
    except (SyntaxError, ValueError):
        return False
    return "Model" in names and bool(names & {"get_inputs", "get_input_groups"})


def number(file: Path) -> tuple[int, str]:
    """The number in front of a file's name, 0 without one, and the name."""
    match = re.match(r"(\d+)_", file.name)
    return (int(match[1]) if match else 0), file.name


# What a problem is about, from the words of its name; the first that fits.
KINDS = (
    ("activation", r"newgelu"),
    ("attention", r"attention|bert|gpt|transformer|electra|bart|reformer|bigbird|opt_"),
    ("convolution", r"conv"),
    ("matrix product", r"matmul|matrix|gemm|bmm|linear|mlp"),
    ("normalisation", r"norm"),
    ("pooling", r"pool"),
    ("loss", r"loss|cross_?entropy"),
    ("scan", r"cumsum|cumprod|cumulative|scan"),
    ("activation", r"relu|sigmoid|tanh|softmax|swish|gelu|selu|elu|soft|hard"),
    ("reduction", r"sum|mean|product|max|min|arg"),
)


def kind_of(name: str) -> str:
    """Category of a KernelBench problem, which its files do not give."""
    return next((kind for kind, pattern in KINDS if re.search(pattern, name, re.IGNORECASE)), "other")
