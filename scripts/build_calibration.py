"""Turns the described measurements of ../shared/npu_measurements into the measurement directory of this repository.

The kernels in scripts/calibration/ were written from the descriptions; this script pairs each measured line with the
candidate of its structure and with the inputs that its shapes mean. Run once; the result is committed.

    python scripts/build_calibration.py [SOURCE] [TARGET]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CANDIDATES = {
    "router_rowtopk": "router_rowtopk.py",
    "flat_copy": "flat_copy.py",
    "bmm_v3": "bmm_static.py",
    "bmm_b": "bmm_runtime.py",
    "bmm_v2": "bmm_static_plain.py",
    "grouped_a": "grouped_tile.py",
    "grouped_b": "grouped_loop.py",
    "transb_v7": "transb_tuned.py",
    "transb_b": "transb_simple.py",
    "transb_v3": "transb_strided.py",
    "transb_v4": "transb_fixed.py",
    "transb_v6": "transb_tuned_plain.py",
    "strided_attn": "strided_attention.py",
    "sla_fmap": "sla_fmap.py",
    "sla_kv": "sla_kv.py",
    "sla_out": "sla_out.py",
    "sla_sparse": "sla_sparse.py",
}
TENSOR_TYPE = {"float32": "float32", "float16": "float16", "bfloat16": "bfloat16"}


def tensor(shape: list[int], dtype: str) -> dict[str, Any]:
    return {"shape": shape, "dtype": dtype}


def inputs_of(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The arguments of `ModelNew.forward` for one measured line."""
    kernel, shapes = row["kernel_id"], row["shapes"]
    dtype = row["dtype"]
    if kernel == "router_rowtopk":
        return [tensor(shapes[0], dtype), {"value": shapes[1]["topk"]}]
    if kernel == "strided_attn":
        return [tensor(shapes[0], dtype), {"value": shapes[1]["heads"]}, {"value": shapes[1]["stride"]}]
    if kernel == "grouped_a" and len(shapes) > 2:
        groups = shapes[2]["groups"]
        rows = shapes[0][0] // groups
        offsets = {"shape": [groups + 1], "dtype": "int32", "values": [rows * g for g in range(groups + 1)]}
        return [tensor(shapes[0], dtype), tensor(shapes[1], dtype), offsets]
    if kernel == "sla_fmap":
        return [tensor(shapes[0], "float16")]
    if kernel == "sla_kv":
        return [tensor(shapes[0], "float32"), tensor(shapes[0], "float16")]
    if kernel == "sla_out":
        heads, length, d = shapes[0]
        return [
            tensor([heads, length, d], "float32"),
            tensor([heads, d, d], "float32"),
            tensor([heads, d], "float32"),
            tensor([heads, length, d], "float32"),
        ]
    if kernel == "sla_sparse":
        batch, heads, length, d = shapes[0]
        flat = [batch * heads, length, d]
        blocks = batch * heads * -(-length // 128)
        return [*(tensor(flat, "float16") for _ in range(3)), tensor([blocks * 896], "int32")]
    return [tensor(s, dtype) for s in shapes if isinstance(s, list)]


def main(source: Path, target: Path) -> None:
    rows = [json.loads(line) for line in (source / "kernels_described.jsonl").read_text().splitlines()]
    lines, means = [], []
    cases: dict[str, list[list[dict[str, Any]]]] = {}
    for row in rows:
        name = CANDIDATES.get(row["kernel_id"])
        if name is None or row.get("aggregate"):
            continue
        inputs = inputs_of(row)
        base = row["kernel_id"].split("_")[0]
        cases.setdefault(base, [])
        if inputs not in cases[base]:
            cases[base].append(inputs)
        line = {"candidate": name, "inputs": inputs, "latency_us": row["latency_us"], "group": row["group"]}
        ratios = row.get("pipe_ratios") or {}
        if ratios and not any(k.endswith("_us") for k in ratios):
            line["pipe_ratios"] = {f"{k}_ratio": v for k, v in ratios.items() if k != "cube_util_pct"}
        lines.append(line)
    measured = {line["candidate"] for line in lines}
    for row in rows:
        name = CANDIDATES.get(row["kernel_id"])
        if name and row.get("aggregate") and name not in measured:  # the others have a line per shape
            listed = cases.get(row["kernel_id"].split("_")[0], [])
            means.append(
                {"candidate": name, "cases": listed, "latency_us": row["latency_us"], "group": row["group"]}
            )
    eager = [json.loads(line) for line in (source / "eager_ops.jsonl").read_text().splitlines()]
    write(target / "kernels.jsonl", lines)
    write(target / "means.jsonl", means)
    write(target / "eager_ops.jsonl", eager)
    print(f"{len(lines)} kernel lines, {len(means)} means, {len(eager)} eager lines in {target}")


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))


if __name__ == "__main__":
    given = [Path(a) for a in sys.argv[1:]]
    main(
        given[0] if given else ROOT.parent / "shared" / "npu_measurements",
        given[1] if len(given) > 1 else ROOT / "scripts" / "calibration",
    )
