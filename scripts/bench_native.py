"""Native execution against the triton-ascend interpreter, kernel by kernel, on this machine, in one run.

    python scripts/bench_native.py [--repeats N] [--json FILE]

Both run the same launch on the same inputs; the table gives the CPU time of one launch (mean of the repeats for native,
one run for the interpreter), of the native build in its own process, and the largest difference of the outputs. CPU
time, so that a busy machine does not favour either.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
os.environ.setdefault("OMP_NUM_THREADS", "1")


def cases(
    torch: Any, kernels: Any
) -> list[tuple[str, str, tuple[int, ...], tuple[Any, ...], dict[str, Any], list[int]]]:
    """(title, kernel, grid, arguments, constexprs, positions of outputs) with inputs of a fixed seed."""
    rng = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> Any:
        return torch.randn(*shape, generator=rng)

    x, y, w = normal(16, 256), normal(16, 256), normal(256)
    a, b = normal(48, 96), normal(96, 64)
    q, k, v = (normal(2, 64, 32) for _ in range(3))
    order = torch.randperm(1024, generator=rng).int()
    places = torch.randint(0, 16, (16,), generator=rng)
    flat = normal(1024)
    sizes = torch.tensor([27, 0, 21], dtype=torch.int32)

    def like(t: Any) -> Any:
        return torch.zeros_like(t)

    strides = (*a.stride(), *b.stride())
    c = torch.zeros(48, 64)
    rows, columns = x.shape
    sums, parts = torch.zeros(rows), torch.zeros(4, columns)
    tiles = {"BM": 16, "BN": 16, "BK": 32}
    half = [t.half() for t in (a, b, c)]
    best = (torch.zeros(rows, 4), torch.zeros(rows, 4, dtype=torch.int64))
    return [
        ("vector add", "vector_add", (4,), (x, y, like(x), x.numel()), {"BLOCK": 1024}, [2]),
        ("softmax", "softmax_rows", (8,), (x, like(x), rows, columns, columns), {"BLOCK": 256}, [1]),
        (
            "layer norm forward", "layer_norm_forward", (rows,),
            (x, like(x), w, w, sums, like(sums), columns, 1e-5), {"BLOCK": 256}, [1, 4, 5],
        ),
        (
            "layer norm backward", "layer_norm_backward", (4,),
            (x, y, w, normal(rows), normal(rows), like(x), parts, like(parts), rows, columns), {"BLOCK": 256},
            [5, 6, 7],
        ),
        ("matmul fp32", "matmul", (12,), (a, b, c, 48, 64, 96, *strides), tiles, [2]),
        ("matmul fp16", "matmul", (12,), (*half, 48, 64, 96, *strides), tiles, [2]),
        ("matmul block pointers", "matmul_block_pointers", (3, 4), (a, b, like(c), 48, 64, 96), tiles, [2]),
        (
            "attention", "attention", (2, 2), (q, k, v, like(q), 32**-0.5, 64),
            {"CAUSAL": True, "D": 32, "BM": 32, "BN": 32}, [3],
        ),
        (
            "grouped matmul", "grouped_matmul", (4,), (a, normal(3, 96, 64), like(c), sizes, 64, 96),
            {**tiles, "GROUPS": 3}, [2],
        ),
        ("top-k", "top_k_rows", (rows,), (x, *best, columns), {"K": 4, "BLOCK": 256}, [1, 2]),
        ("cumsum", "cumsum_rows", (rows,), (x, like(x), columns), {"REVERSE": False, "BLOCK": 256}, [1]),
        ("sort", "sort_rows", (rows,), (x, like(x)), {"DESCENDING": False, "BLOCK": 256}, [1]),
        ("gather rows", "gather_rows", (rows,), (x, places, like(x), columns), {"BLOCK": 256}, [2]),
        ("gather elements", "gather_elements", (4,), (flat, order, like(flat), 1024), {"BLOCK": 256}, [2]),
        ("scatter elements", "scatter_elements", (4,), (flat, order, like(flat), 1024), {"BLOCK": 256}, [2]),
        ("scatter add", "scatter_add_rows", (rows,), (x, places.int(), like(x), columns), {"BLOCK": 256}, [2]),
    ]  # fmt: skip


def native_child(repeats: int, out: Path) -> None:
    """Time every case natively; outputs go to files for comparison."""
    import torch
    from kernels import tutorials
    from kernels.harness import lower

    from sandbox.execute.native import build_native
    from sandbox.execute.runtime import runtime

    runtime()
    result = []
    for title, name, grid, args, meta, outputs in cases(torch, tutorials):
        linalg, runtime_args = lower(getattr(tutorials, name), args, meta)
        begin = time.process_time()
        kernel = build_native(linalg)
        built = time.process_time() - begin
        fresh = [args[i].clone() for i in outputs]
        values = [(v.data_ptr(), v.numel()) if isinstance(v, torch.Tensor) else v for v in runtime_args]
        begin = time.process_time()
        for _ in range(repeats):
            for i, start in zip(outputs, fresh, strict=True):
                args[i].copy_(start)
            kernel.run(grid, values)
        seconds = (time.process_time() - begin) / repeats
        torch.save([args[i] for i in outputs], out / f"native-{title}.pt")
        result.append({"title": title, "native": seconds, "build": built})
    (out / "native.json").write_text(json.dumps(result))


def interpreter_child(out: Path) -> None:
    """Time every case under TRITON_INTERPRET=1 and compare with the native outputs."""
    import torch
    from kernels import tutorials

    result = []
    for title, name, grid, args, meta, outputs in cases(torch, tutorials):
        begin = time.process_time()
        try:
            getattr(tutorials, name)[grid](*args, **meta)
        except Exception as error:
            result.append({"title": title, "interpreter": None, "note": f"interpreter: {type(error).__name__}"})
            continue
        seconds = time.process_time() - begin
        native = torch.load(out / f"native-{title}.pt")
        gap = max(float((args[i].double() - n.double()).abs().max()) for i, n in zip(outputs, native, strict=True))
        result.append({"title": title, "interpreter": seconds, "gap": gap})
    (out / "interpreter.json").write_text(json.dumps(result))


def measure(repeats: int) -> dict[str, Any]:
    """Run both children one after the other and join their tables."""
    import subprocess

    with tempfile.TemporaryDirectory() as folder:
        base = {**os.environ, "ATRL_CACHE": str(Path(folder) / "cache")}
        for child, extra in (("native", {}), ("interpreter", {"TRITON_INTERPRET": "1"})):
            command = [sys.executable, __file__, "--child", child, "--folder", folder, "--repeats", str(repeats)]
            subprocess.run(command, check=True, env={**base, **extra}, stdout=subprocess.DEVNULL)
        native = json.loads((Path(folder) / "native.json").read_text())
        slow = json.loads((Path(folder) / "interpreter.json").read_text())
    rows = [{**n, **s} for n, s in zip(native, slow, strict=True)]
    ratios = [row["interpreter"] / row["native"] for row in rows if row["interpreter"] is not None]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return {"kernels": rows, "compared": len(ratios), "geometric_mean": mean}


def show(report: dict[str, Any]) -> None:
    """Print the table of `measure`."""
    print(
        f"{'kernel':24s} {'native ms':>10s} {'interpreter ms':>15s} {'ratio':>8s} {'build ms':>9s} {'largest gap':>12s}"
    )
    for row in report["kernels"]:
        slow = row["interpreter"]
        tail = f"{slow * 1e3:15.1f} {slow / row['native']:8.0f}" if slow is not None else f"{'-':>15s} {'-':>8s}"
        gap = f"{row['gap']:12.1e}" if slow is not None else f"  {row['note']}"
        print(f"{row['title']:24s} {row['native'] * 1e3:10.3f} {tail} {row['build'] * 1e3:9.0f} {gap}")
    print(f"geometric mean over {report['compared']} kernels: {report['geometric_mean']:.0f} x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--json", help="also write the measurements to this file")
    parser.add_argument("--child", choices=("native", "interpreter"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child == "native":
        native_child(options.repeats, Path(options.folder))
    elif options.child == "interpreter":
        interpreter_child(Path(options.folder))
    else:
        report = measure(options.repeats)
        show(report)
        if options.json:
            Path(options.json).write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
