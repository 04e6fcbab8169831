"""Is an output right? The rule of the NPU benchmark suites, in order: container, shape, dtype, NaN, Inf, values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class Tolerance:
    """Limits of one floating-point type; `small` is where relative errors lose their meaning."""

    atol: float
    rtol: float
    small: float
    small_error: float
    share: float = 0.9  # of the elements that must be within the small-value or the relative limit
    mean_relative: float = math.inf


NPU = {
    torch.float32: Tolerance(1e-3, 2.0**-13, 2.0**-14, 2.0**-30, 0.9, 2.0**-13),
    torch.float16: Tolerance(9e-2, 2.0**-10, 2.0**-11, 2.0**-16, 0.9, 2.0**-10),
    torch.bfloat16: Tolerance(1e-1, 2.0**-7, 2.0**-8, 2.0**-16, 0.9, 2.0**-7),
}
KERNELBENCH = {
    torch.float32: Tolerance(1e-4, 1e-4, 0.0, 0.0, 0.0),
    torch.float16: Tolerance(1e-2, 1e-2, 0.0, 0.0, 0.0),
    torch.bfloat16: Tolerance(1e-2, 1e-2, 0.0, 0.0, 0.0),
}
TABLES = {"npu": NPU, "kernelbench": KERNELBENCH}
EAGER_FACTOR = 2.0  # a kernel whose error is within this factor of eager's own is right


@dataclass(frozen=True)
class Mismatch:
    """Why two tensors differ.

    Attributes:
        kind: "type", "shape", "dtype", "nan", "inf" or "values".
        wrong: elements beyond the elementwise limit, of `total`.
        worst: index, got, expected of the largest error.
        pattern: what the wrong elements have in common, "" if nothing was found.
    """

    kind: str
    message: str
    wrong: int = 0
    total: int = 0
    worst: tuple[list[int], float, float] | None = None
    pattern: str = ""


def compare(
    out: torch.Tensor, ref: torch.Tensor, exact: torch.Tensor | None, table: str, *, quantised: bool = False
) -> Mismatch | None:
    """None if `out` is right.

    Args:
        exact: the reference computed in float64, where it could be.
        quantised: an integer output of floating-point inputs: may differ by 1.
    """
    if out.shape != ref.shape:
        return Mismatch("shape", f"shape {tuple(out.shape)}, expected {tuple(ref.shape)}")
    if out.dtype != ref.dtype:
        return Mismatch("dtype", f"dtype {_name(out.dtype)}, expected {_name(ref.dtype)}")
    if not out.numel():
        return None
    if out.dtype == torch.bool or not out.is_floating_point():
        return _compare_integers(out, ref, 1 if quantised and out.dtype != torch.bool else 0)
    tolerance = TABLES[table].get(out.dtype, TABLES[table][torch.float32])
    x, y = out.double(), ref.double()
    for kind, test in (("nan", torch.isnan), ("inf", torch.isinf)):
        bad = test(x) != test(y)
        if kind == "inf":
            bad |= torch.isinf(x) & (x != y)
        if bool(bad.any()):
            return _mismatch(kind, bad, x, y, f"{kind.upper()} in other places than the reference's")
    finite = torch.isfinite(y)
    error = torch.where(finite, (x - y).abs(), torch.zeros_like(x))
    bad = error > tolerance.atol + tolerance.rtol * y.abs()
    relative_ok = torch.where(
        y.abs() < tolerance.small, error <= tolerance.small_error, error <= tolerance.rtol * y.abs()
    )
    share = float(relative_ok[finite].double().mean()) if bool(finite.any()) else 1.0
    size = float(y[finite].abs().sum())
    mean = float((error / (y.abs() + 1e-7))[finite].mean()) if bool(finite.any()) else 0.0
    if not bool(bad.any()) and share >= tolerance.share and mean < tolerance.mean_relative:
        return None
    if exact is not None and exact.shape == ref.shape and _no_worse_than_eager(x, y, exact.double(), finite):
        return None
    if not bool(bad.any()):
        bad = ~relative_ok & finite
        worst_relative = float((error / (y.abs() + 1e-30))[bad].max()) if bool(bad.any()) else mean
        text = (
            f"too imprecise: {100 * (1 - share):.0f} % of the elements beyond the relative limit"
            f" {tolerance.rtol:.1e}, mean relative error {mean:.1e}"
        )
        if not bool(bad.any()):
            bad = error > 0
        del worst_relative, size
        return _mismatch("values", bad, x, y, text, precision=True)
    return _mismatch("values", bad, x, y, "values differ")


def _no_worse_than_eager(x: torch.Tensor, y: torch.Tensor, exact: torch.Tensor, finite: torch.Tensor) -> bool:
    """Against float64 the kernel errs at most twice as much as eager, at its worst and on average."""
    usable = finite & torch.isfinite(exact)
    if not bool(usable.any()):
        return False
    ours, eager = (x - exact).abs()[usable], (y - exact).abs()[usable]
    return float(ours.max()) <= EAGER_FACTOR * float(eager.max()) and float(ours.mean()) <= EAGER_FACTOR * float(
        eager.mean()
    )


def _compare_integers(out: torch.Tensor, ref: torch.Tensor, slack: int) -> Mismatch | None:
    x, y = out.to(torch.int64), ref.to(torch.int64)
    bad = (x - y).abs() > slack
    if not bool(bad.any()):
        return None
    return _mismatch("values", bad, x.double(), y.double(), "values differ")


def _mismatch(
    kind: str, bad: torch.Tensor, x: torch.Tensor, y: torch.Tensor, text: str, precision: bool = False
) -> Mismatch:
    distance = torch.where(bad, (x - y).abs().nan_to_num(nan=math.inf), torch.full_like(x, -1.0))
    flat = int(distance.flatten().argmax())
    index: list[int] = []
    for size in reversed(bad.shape):
        index.insert(0, flat % size)
        flat //= size
    worst = (index, float(x[tuple(index)]), float(y[tuple(index)]))
    pattern = "" if precision else find_pattern(bad, x, y)
    if precision:
        pattern = "the error of a narrower type: compute in float32"
    return Mismatch(kind, text, int(bad.sum()), bad.numel(), worst, pattern)


def find_pattern(bad: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> str:
    """What wrong elements have in common, in words a kernel author can act on."""
    total, wrong = bad.numel(), int(bad.sum())
    values = x[bad]
    if bool(torch.isnan(values).all()):
        what = "they are all NaN"
    elif bool((values == 0).all()):
        what = "they are all zero"
    elif wrong > 1 and bool((values == values[0]).all()):
        what = f"they all hold {float(values[0]):.6g}"
    else:
        what = ""
    where = _where(bad, total, wrong)
    return ", ".join(p for p in (where, what) if p)


def _where(bad: torch.Tensor, total: int, wrong: int) -> str:
    if wrong == total:
        return "every element is wrong"
    flat = bad.flatten()
    first = int(flat.nonzero()[0])
    if bool(flat[first:].all()):
        if bad.dim() >= 2 and first % bad.shape[-1] == 0:
            return f"only rows from {first // bad.shape[-1]} on are wrong"
        return f"only the tail from flat index {first} is wrong (mask or grid of the last block?)"
    if bad.dim() >= 2:
        rows = bad.reshape(-1, bad.shape[-1])
        wrong_rows, wrong_columns = rows.any(1), rows.any(0)
        if int(wrong_rows.sum()) == 1:
            return f"only row {int(wrong_rows.nonzero()[0])} is wrong"
        if int(wrong_columns.sum()) == 1:
            return f"only column {int(wrong_columns.nonzero()[0])} is wrong"
        start = int(wrong_columns.nonzero()[0])
        if start and bool(wrong_columns[start:].all()) and not bool(wrong_columns[:start].any()):
            return f"only columns from {start} on are wrong (tail of the rows?)"
    return ""


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def structure(value: Any) -> str:
    """A container in words: "2 tensors in a list"."""
    if isinstance(value, torch.Tensor):
        return "a tensor"
    if isinstance(value, list | tuple | dict):
        return f"{len(value)} value{'s' * (len(value) != 1)} in a {type(value).__name__}"
    return f"a {type(value).__name__}"
