"""Modelled device time of eager PyTorch operators on an NPU (torch_npu's aclnn kernels).

An operator costs the floor of its class plus the largest of: its traffic over the shared bandwidth, its traffic over
the bandwidth of the cores that its size keeps busy, and its arithmetic over the peak of its unit. Matrix products are
costed by output tiles: few tiles keep few cores busy, and every tile reads its strip of both operands.

Constants: `eager` in the machine table. The fitted ones come from scripts/calibrate.py; those of classes that no
measurement covers are marked as assumed there.
"""

from __future__ import annotations

import functools
import json
import math
import re
from dataclasses import dataclass
from typing import Any

from atrl_ms.errors import UserError
from sandbox.profile import machine

DTYPE_BYTES = {
    "float64": 8, "double": 8, "int64": 8, "long": 8, "complex64": 8, "float32": 4, "float": 4, "fp32": 4, "int32": 4,
    "int": 4, "float16": 2, "half": 2, "fp16": 2, "bfloat16": 2, "bf16": 2, "int16": 2, "int8": 1, "uint8": 1,
    "bool": 1,
}  # fmt: skip
L2_REUSE = 0.5  # a working set up to this share of L2 stays there between repeats

# Operator words, most specific first: the class of an aten name or of a word in a description.
CLASSES: list[tuple[str, str]] = [
    (r"_to_copy|\bcast\b|dequant|quantize", "elementwise"),
    (r"upsample|interpolate|resize|grid_sampl|bilinear|bicubic", "interpolate"),
    (r"conv", "conv"),
    (r"addbmm|baddbmm|\bbmm|batch_?matmul", "bmm"),
    (r"addmm|\bmm\b|_mm\b|matmul|\blinear|einsum|grouped|gemm|\bmv\b|\bdot\b|addmv|inner", "mm"),
    (r"attention|sdpa", "attention"),
    (r"log_softmax|softmax", "softmax"),
    (r"layer_?norm|group_?norm|batch_?norm|instance_?norm|rms_?norm|\bnorm_|normalize", "norm"),
    (r"top_?k|kthvalue", "topk"),
    (r"\bsort|argsort|unique|msort", "sort"),
    (r"cumsum|cumprod|cummax|cummin|logcumsumexp|\bscan", "scan"),
    (r"pool", "pool"),
    (r"scatter|index_put|index_add|index_copy|index_fill|embedding.*backward|masked_scatter|bincount|histc", "scatter"),
    (r"gather|index_select|embedding|take|\bindex\b|index_tensor|masked_select|nonzero", "gather"),
    (r"nll_loss|cross_entropy|kl_div|mse_loss|smooth_l1|huber|loss", "reduce"),
    (r"argmax|argmin|\bsum|mean|amax|amin|\bmax\.|\bmin\.|prod|\bstd|\bvar|logsumexp|reduce|\bnorm|\bany\b|\ball\b"
     r"|linalg_vector_norm|aminmax|median|count_nonzero", "reduce"),
    (r"constant_pad|\bpad|padv3|reflection_pad|replication_pad", "pad"),
    (r"permute|transpose|\bt\b|contiguous|clone|copy|repeat|tile|roll|flip|stack|\bcat\b|concat|unfold|im2col|col2im"
     r"|fold|pixel_shuffle|channel_shuffle|tril|triu|split", "copy"),
    (r"fill|zeros|ones|full|arange|range|memset|\beye", "fill"),
]  # fmt: skip
COMPILED = [(re.compile(pattern), name) for pattern, name in CLASSES]

# Vector passes per element beyond one load and store (element-wise routines), by word.
PASSES: list[tuple[str, float]] = [
    (r"gelu|erf", 24.0),
    (r"mish|softplus|pow|sinh|cosh|tan|asin|acos|atan|log1p|expm1", 16.0),
    (r"silu|swish|sigmoid|tanh|elu|selu|celu|softsign|\bsin|\bcos|hardswish|glu", 10.0),
    (r"exp|log|sqrt|div|reciprocal|rsqrt", 4.0),
]
COMPILED_PASSES = [(re.compile(pattern), value) for pattern, value in PASSES]
MATRIX = ("mm", "bmm")
TILES = ((64, 64), (96, 96), (192, 96))  # effective output tiles that a library chooses from
LARGE_TILE = (256, 128)  # where even these keep all cores busy


def class_of(name: str) -> str:
    """Cost class of an operator name or of a description's word."""
    text = name.lower()
    for pattern, found in COMPILED:
        if pattern.search(text):
            return found
    return "elementwise"


def passes_of(name: str) -> float:
    text = name.lower()
    return next((value for pattern, value in COMPILED_PASSES if pattern.search(text)), 2.0)


def bytes_per_element(dtype: str) -> int:
    """Size of a type under any of the names that torch, aclnn and people use; 4 if unknown."""
    plain = re.split(r"[;,>\s-]", dtype.replace("torch.", "").strip().lower())[0]
    return DTYPE_BYTES.get(plain, DTYPE_BYTES.get(plain.removeprefix("dt_"), 4))


def elements(shape: list[Any]) -> int:
    return math.prod(int(d) for d in shape)


@dataclass(frozen=True)
class EagerModel:
    """Constants of the eager model.

    Attributes:
        floors: microseconds of an operator of no size, by class.
        rates: TB/s beyond L2, by class; `cached` times as fast while the working set stays in L2.
        values: the rest (see `DEFAULTS`).
    """

    floors: dict[str, float]
    rates: dict[str, float]
    values: dict[str, float]
    l2_bytes: float

    # ------------------------------------------------------------ matrix products

    def matmul(self, batch: int, m: int, n: int, k: int, size: int, kind: str, transposed: bool = False) -> float:
        """Microseconds of `batch` products (m x k) @ (k x n) with `size` bytes per element."""
        v = self.values
        if not batch * m * n * k:
            return self.floors[kind]
        written = batch * m * n * size / (self.rates["elementwise"] * 1e6)
        aligned = all(d * size % 32 == 0 for d in (k, n))
        rows = min(m, 128) + min(n if transposed else k, 128)  # of the operands, read one by one
        penalty = 0.0 if aligned or m * n * k == 1 else v["unaligned_us"] + rows * v["ragged_row_us"]
        floor = self.floors["bmm" if transposed else kind]
        large = batch * m * n >= 20 * LARGE_TILE[0] * LARGE_TILE[1]
        choices = [self._tiled(batch, m, n, k, size, *edges) for edges in (*TILES, *([LARGE_TILE] if large else []))]
        return floor + penalty + min(choices) + written

    def _tiled(self, batch: int, m: int, n: int, k: int, size: int, high: int, broad: int) -> float:
        """Microseconds of a product in output tiles of at most high x broad."""
        v = self.values
        edge_m, edge_n = min(high, -(-m // 16) * 16), min(broad, -(-n // 16) * 16)
        tiles = batch * math.ceil(m / edge_m) * math.ceil(n / edge_n)
        cores, rounds = min(20, tiles), math.ceil(tiles / 20)
        strip = (edge_m + edge_n) * k * size
        per_core = rounds * (strip / v["core_gbps"] * 1e-3)
        shared = tiles * strip / (v["matrix_tbps"] * 1e6)
        peak = v["cube_tflops"] * (0.25 if size == 4 else 1.0)
        work = rounds * 2.0 * edge_m * edge_n * k / (peak / 20 * 1e6)
        return v["cores_us"] * (1 - 1 / cores) + max(per_core, shared, work)

    # ------------------------------------------------------------ everything else

    def stream(self, kind: str, moved: float, name: str = "", count: int = 0, int64: bool = False) -> float:
        """An operator that reads and writes `moved` bytes and computes on `count` elements."""
        v = self.values
        rate = self.rates.get(kind, self.rates["elementwise"])
        if moved < L2_REUSE * self.l2_bytes:
            rate *= v["cached"]
        if int64 and kind in ("elementwise", "broadcast", "reduce") and not re.search("cast|_to_copy|copy", name):
            rate *= v["int64"]  # no 64-bit vector arithmetic
        cores = min(40.0, max(1.0, moved / v["core_bytes"]))
        shared, single = moved / (rate * 1e6), moved / (cores * v["stream_gbps"] * 1e3)
        arithmetic = count * passes_of(name) / (v["vector_tops"] * 1e6) if kind in ("elementwise", "norm") else 0.0
        return self.floors.get(kind, self.floors["elementwise"]) + max(shared, single, arithmetic)

    def topk(self, rows: int, width: int, k: int) -> float:
        if k >= 8:
            return self.floors["topk"] + rows * self.values["topk_wide_us"]
        return self.floors["topk"] + rows * self.values["topk_row_us"] / (1 + rows / self.values["topk_rows"])

    def aten(self, op: dict[str, Any]) -> float:
        """Microseconds of one operation of an `AtenTrace`."""
        name = op["op"]
        kind = class_of(name)
        inputs, outputs = op["inputs"], op["outputs"]
        size = max((bytes_per_element(t["dtype"]) for t in inputs + outputs), default=4)
        moved = float(sum(elements(t["shape"]) * bytes_per_element(t["dtype"]) for t in inputs + outputs))
        count = max((elements(t["shape"]) for t in outputs), default=0)
        if kind in MATRIX and len(inputs) >= 2 and outputs:
            a, b = [t for t in inputs if len(t["shape"]) >= 1][-2:]
            dims = _matrix_dims(a["shape"], b["shape"])
            if dims is not None:
                swapped = len(b["shape"]) > 1 and not b.get("contiguous", True)
                extra = self.stream("elementwise", moved, name, count) if "add" in name else 0.0
                return self.matmul(*dims, bytes_per_element(a["dtype"]), kind, swapped) + 0.2 * extra
        if kind == "conv" and len(inputs) >= 2 and outputs:
            weight = inputs[1]["shape"]
            flops = 2.0 * count * elements(weight[1:])
            peak = self.values["cube_tflops"] * (0.25 if size == 4 else 1.0) * 0.5
            return self.floors["conv"] + max(flops / (peak * 1e6), moved / (self.rates["conv"] * 1e6))
        if kind == "attention" and len(inputs) >= 2:
            return self._attention(inputs[0]["shape"], inputs[1]["shape"], size)
        if kind == "topk" and inputs:
            shape = inputs[0]["shape"] or [1]
            k = next((s for s in op.get("scalars", []) if isinstance(s, int)), shape[-1])
            return self.topk(elements(shape[:-1]), shape[-1], k)
        if kind == "softmax" and inputs:
            return self.stream(kind, moved, name, count)
        dense = all(t.get("contiguous", True) for t in inputs)
        if kind == "elementwise" and not dense:
            kind = "copy"
        elif dense and re.search(r"^(clone|copy_?|contiguous)$", name):
            kind = "elementwise"
        int64 = any("int64" in t["dtype"] for t in inputs)
        if kind == "sort" and int64:
            return self.values["aicpu_us"]
        if kind == "gather" and outputs:  # only the picked elements are read
            moved = 2.0 * sum(elements(t["shape"]) * bytes_per_element(t["dtype"]) for t in outputs)
        return self.stream(kind, moved, name, count, int64)

    def _attention(self, q: list[int], k: list[int], size: int) -> float:
        batch, rows, depth = elements(q[:-2]), q[-2] if len(q) > 1 else 1, q[-1]
        keys = k[-2] if len(k) > 1 else 1
        flops = 4.0 * batch * rows * keys * depth
        peak = self.values["cube_tflops"] * (0.25 if size == 4 else 1.0) * 0.3
        return self.floors["attention"] + flops / (peak * 1e6)

    def total(self, ops: list[dict[str, Any]]) -> float:
        """Microseconds of a trace."""
        return sum(self.aten(op) for op in ops)

    # ------------------------------------------------------------ measurement files

    def described(self, row: dict[str, Any]) -> float:
        """Microseconds of a line of `eager_ops.jsonl`: an aten name or a description, with shapes."""
        shapes = [s for s in row["shapes"] if isinstance(s, list)]
        extras = {k: v for s in row["shapes"] if isinstance(s, dict) for k, v in s.items()}
        text = re.sub(r"\[[^\]]*\]", " ", str(row["op"])).lower()
        size = bytes_per_element(str(row.get("dtype", "float32")))
        total = 0.0
        for word, kind in _steps(text):
            total += self._step(word, kind, text, shapes, extras, size, row)
        return total

    def _step(
        self, word: str, kind: str, text: str, shapes: list[list[int]], extras: dict[str, Any], size: int,
        row: dict[str, Any],
    ) -> float:  # fmt: skip
        transposed = bool(re.search(r"\^t|\bt\(|transpos|\.t\b|\bnt\b|linear", text))
        if kind in MATRIX and len(shapes) >= 2:
            a, b = shapes[0], shapes[1]
            swap = transposed and a[-1] == b[-1] and not (len(b) > 1 and a[-1] == b[-2] and b[-1] != a[-1])
            dims = _matrix_dims(a, [*b[:-2], b[-1], b[-2]] if swap and len(b) > 1 else b)
            if dims is not None:
                return self.matmul(*dims, size, "bmm" if dims[0] > 1 or len(a) > 2 else "mm", swap)
        outs = [s for s in row.get("out_shapes") or [] if isinstance(s, list)]
        out_size = bytes_per_element(str(row.get("out_dtype", row.get("dtype", "float32"))))
        read = sum(elements(s) for s in shapes) * size
        count = max([elements(s) for s in shapes + outs] or [1])
        if outs:
            written = sum(elements(s) for s in outs) * out_size
        else:
            written = (elements(_broadcast(shapes)) if kind == "elementwise" else count) * size
            written = 0 if kind in ("reduce",) else written
        moved = float(row["bytes"]) if row.get("bytes") else float(read + written)
        if kind == "topk":
            shape = shapes[0] if shapes else [1]
            k = next((int(v) for key, v in extras.items() if "k" in key.lower()), 0) or _number(text, "k")
            return self.topk(elements(shape[:-1]), shape[-1], k or 1)
        if kind == "conv" and len(shapes) >= 2 and row.get("flop"):
            peak = self.values["cube_tflops"] * (0.25 if size == 4 else 1.0) * 0.5
            return self.floors["conv"] + max(float(row["flop"]) / (peak * 1e6), moved / (self.rates["conv"] * 1e6))
        int64 = "int64" in str(row.get("dtype", "")).lower() or "int64" in text
        if kind == "sort" and int64:
            return self.values["aicpu_us"]
        if kind == "elementwise" and len({tuple(s) for s in shapes}) > 1:
            kind = "broadcast"
        return self.stream(kind, moved, word, count, int64)


def _steps(text: str) -> list[tuple[str, str]]:
    """The operators that a description names, in order; one step for a plain operator name."""
    pieces = re.split(r"\bthen\b|\+|→|->(?!f|i|b)|;|\band\b|,\s*(?=[a-z_]+\()", text)
    parts = [p for p in pieces if re.search("[a-z]", p)]
    if len(parts) <= 1:
        return [(text, class_of(text))]
    steps = []
    for part in parts:
        kind = class_of(part)
        if kind == "elementwise" and not re.search(r"[a-z]{2,}", part):
            continue
        steps.append((part, kind))
    return steps or [(text, class_of(text))]


def _number(text: str, key: str) -> int:
    found = re.search(rf"\b{key}\s*=\s*(\d+)", text)
    return int(found.group(1)) if found else 0


def _broadcast(shapes: list[list[int]]) -> list[int]:
    rank = max((len(s) for s in shapes), default=0)
    padded = [[1] * (rank - len(s)) + list(s) for s in shapes]
    return [max(s[i] for s in padded) for i in range(rank)]


def _matrix_dims(a: list[int], b: list[int]) -> tuple[int, int, int, int] | None:
    """(batch, m, n, k) of a product, None if the shapes do not fit."""
    if not a or not b:
        return None
    a2 = a if len(a) > 1 else [1, *a]
    b2 = b if len(b) > 1 else [*b, 1]
    k = a2[-1]
    if b2[-2] != k:
        if b2[-1] != k:
            return None
        b2 = [*b2[:-2], b2[-1], b2[-2]]
    if len(b2) == 2 and len(a2) > 2:  # a linear layer: the batch folds into the rows
        return 1, elements(a2[:-1]), b2[-1], k
    return elements(_broadcast([a2[:-2], b2[:-2]])), a2[-2], b2[-1], k


# ---------------------------------------------------------------- table


@functools.cache
def load(arch: str, *, prior: bool = False) -> EagerModel:
    """The eager model of a device, from its table; with `prior` the nominal constants that a fit starts from."""
    data = json.loads(machine.table_path(arch).read_text())
    if "eager" not in data:
        raise UserError(f"{machine.table_path(arch)}: no eager constants; run scripts/calibrate.py")
    part = data["eager"]["prior"] if prior else data["eager"]
    return EagerModel(part["floors"], part["rates"], part["values"], machine.load(arch).l2_bytes)


def save(arch: str, model: EagerModel) -> None:
    """Write the constants into the device's table."""
    path = machine.table_path(arch)
    data = json.loads(path.read_text())
    data["eager"] |= {"floors": model.floors, "rates": model.rates, "values": model.values}
    path.write_text(json.dumps(data, indent=1) + "\n")
    load.cache_clear()


FITTED_FLOORS = ("mm", "bmm", "softmax", "topk", "fill")
FITTED_RATES = ("reduce", "pad")
FITTED_VALUES = (
    "core_gbps", "matrix_tbps", "cores_us", "unaligned_us", "ragged_row_us",
    "int64", "stream_gbps", "topk_row_us",
    "topk_wide_us", "topk_rows",
)  # fmt: skip


def fit(rows: list[dict[str, Any]], start: EagerModel, prior: float = 0.1) -> EagerModel:
    """Fit the constants that the rows can tell: least squares on log2 of latencies, pulled towards `start`."""
    import numpy as np
    from scipy import optimize

    names = [("floors", n) for n in FITTED_FLOORS] + [("rates", n) for n in FITTED_RATES]
    names += [("values", n) for n in FITTED_VALUES]
    origin = np.log([getattr(start, part)[n] for part, n in names])
    groups: dict[str, int] = {}
    for row in rows:
        groups[row["group"]] = groups.get(row["group"], 0) + 1

    def build(x: Any) -> EagerModel:
        parts = {p: dict(getattr(start, p)) for p in ("floors", "rates", "values")}
        for (part, n), value in zip(names, np.exp(x).tolist(), strict=True):
            parts[part][n] = float(f"{value:.4g}")
        return EagerModel(**parts, l2_bytes=start.l2_bytes)

    def residuals(x: Any) -> Any:
        model = build(x)
        found = [
            groups[row["group"]] ** -0.25 * math.log2(model.described(row) / float(row["latency_us"])) for row in rows
        ]
        return np.array(found + list(prior * (x - origin)))

    result = optimize.least_squares(residuals, origin, loss="soft_l1", f_scale=0.5, diff_step=0.03, max_nfev=40)
    return build(result.x)
