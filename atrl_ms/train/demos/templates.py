"""Triton modules for the built-in operators, rendered from a task's reference and a set of faults.

A `Draft` is what a writer of kernels decides: style (block size, loop over programs) and faults, that is, wrong
decisions. Rendering is pure; fixing a kernel is rendering the draft with one fault less.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache

from atrl_ms.train.demos.translate import Step, forward_body, translate
from atrl_ms.types import Task

HEADER = "import torch\nimport triton\nimport triton.language as tl\n\n\n@triton.jit\n"
FLAT = ("ew_unary", "ew_binary", "ew_ternary", "activation", "gated")
MATMUL = ("matmul", "matmul_bias", "matmul_act")
NEG_INF = '-float("inf")'

# How each reduction continues after its operand `x` was set to the neutral element beyond the row's end.
REDUCTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "sum": ("0.0", ("x = tl.sum(x, 0)",)),
    "mean": ("0.0", ("x = tl.sum(x, 0) / cols",)),
    "amax": (NEG_INF, ("x = tl.max(x, 0)",)),
    "amin": ('float("inf")', ("x = tl.min(x, 0)",)),
    "row_dot": ("0.0", ("x = tl.sum(x * y, 0)",)),
    "softmax": (NEG_INF, ("x = tl.exp(x - tl.max(x, 0))", "x = x / tl.sum(x, 0)")),
    "log_softmax": (NEG_INF, ("x = x - tl.max(x, 0)", "x = x - tl.log(tl.sum(tl.exp(x), 0))")),
    "logsumexp": (NEG_INF, ("k = tl.max(x, 0)", "x = k + tl.log(tl.sum(tl.exp(x - k), 0))")),
    "centre": ("0.0", ("x = x - tl.sum(x, 0) / cols",)),
    "rms_5": ("0.0", ("x = x * tl.rsqrt(tl.sum(x * x, 0) / cols + 1e-5)",)),
    "rms_w": ("0.0", ("x = x * tl.rsqrt(tl.sum(x * x, 0) / cols + 1e-6) * w",)),
    "l2": ("0.0", ("x = x * tl.rsqrt(tl.sum(x * x, 0) + 1e-6)",)),
    "layer_norm": (
        "0.0",
        (
            "x = tl.where(m, x - tl.sum(x, 0) / cols, 0.0)",
            "x = x * tl.rsqrt(tl.sum(x * x, 0) / cols + 1e-5) * w + b",
        ),
    ),
    "cross_entropy": (
        NEG_INF,
        (
            "k = tl.max(x, 0)",
            "k = k + tl.log(tl.sum(tl.exp(x - k), 0))",
            "x = k - tl.sum(tl.where(c == t, x, 0.0), 0)",
        ),
    ),
}
SCALAR_RESULT = ("row_sum", "row_extreme", "row_dot", "logsumexp", "cross_entropy")
DIVIDES = ("mean", "centre", "rms_5", "rms_w", "layer_norm")


@dataclass(frozen=True)
class Draft:
    """A writer's decisions for one task."""

    block: int = 1024  # elements of a flat block, or rows and columns of a tile
    loop: bool = False  # programs loop over their share instead of one program per block or row
    faults: frozenset[str] = field(default_factory=frozenset)

    def without(self, fault: str) -> Draft:
        return replace(self, faults=self.faults - {fault})

    def including(self, fault: str) -> Draft:
        return replace(self, faults=self.faults | {fault})


def possible_faults(task: Task) -> list[str]:
    """Names of the faults that make sense for a task; "skip:k" and "wrong:k" are about line k of the reference."""
    _, body = forward_body(task.source)
    steps = translate(body)
    faults = ["missing_colon", "missing_argument"]
    if task.family in FLAT:
        faults += ["floor_grid", "no_mask", "huge_block", "half_output"]
    elif task.family in MATMUL:
        faults += ["huge_block", "no_k_mask", "wrong_stride"]
        faults += ["seed_bias"] if task.family == "matmul_bias" else []
    elif task.family == "transpose":
        faults += ["no_mask", "wrong_stride", "huge_block"]
    else:
        faults += ["fixed_block", "no_mask"]
        faults += ["no_neutral"] if any(s.core in REDUCTIONS for s in steps) else []
        faults += ["divide_by_block"] if any(s.core in DIVIDES for s in steps) else []
    for k, step in enumerate(steps):
        if step.lines and len(steps) > 1:
            faults.append(f"skip:{k}")
        if step.wrong:
            faults.append(f"wrong:{k}")
    return faults


@lru_cache(maxsize=65536)  # a writer renders the same drafts again and again
def render(task: Task, draft: Draft) -> str:
    """The whole Python module of a candidate."""
    names, body = forward_body(task.source)
    steps = [s for k, s in enumerate(translate(body)) if f"skip:{k}" not in draft.faults]
    numbers = [k for k in range(len(translate(body))) if f"skip:{k}" not in draft.faults]
    steps = [
        Step(s.wrong, None, s.core) if f"wrong:{k}" in draft.faults and s.wrong else s
        for k, s in zip(numbers, steps, strict=True)
    ]
    if task.family in FLAT:
        text = _flat(names, steps, draft)
    elif task.family in MATMUL:
        text = _matmul(names, steps, draft)
    elif task.family == "transpose":
        text = _transpose(steps, draft)
    else:
        text = _rows(task.family, names, steps, draft)
    if "missing_colon" in draft.faults:
        text = text.replace("constexpr):", "constexpr)", 1)
    return text


def _assemble(kernel_args: list[str], body: list[str], names: list[str], host: list[str]) -> str:
    kernel = f"def kernel({', '.join(kernel_args)}):\n" + "".join(f"    {line}\n" for line in body)
    forward = "".join(f"        {line}\n" for line in host)
    module = f"class ModelNew(torch.nn.Module):\n    def forward(self, {', '.join(names)}):\n{forward}"
    return f"{HEADER}{kernel}\n\n{module}"


def _indent(lines: list[str], loop: str | None) -> list[str]:
    return lines if loop is None else [loop] + [f"    {line}" for line in lines]


def _flat(names: list[str], steps: list[Step], draft: Draft) -> str:
    mask = "" if "no_mask" in draft.faults else ", mask=m"
    block = 1048576 if "huge_block" in draft.faults else draft.block
    work = ["i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)"]
    loop = None
    if draft.loop:
        loop = "for s in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):"
        work = ["i = s + tl.arange(0, BLOCK)"]
    work += [] if "no_mask" in draft.faults else ["m = i < n"]
    work += [f"{v} = tl.load({v}_ptr + i{mask})" for v in names]
    work += [line for step in steps for line in step.lines]
    work += [f"tl.store(o_ptr + i, x{mask})"]
    blocks = f"n // {block}" if "floor_grid" in draft.faults else f"triton.cdiv(n, {block})"
    grid = f"(min({blocks}, 40),)" if draft.loop else f"({blocks},)"
    size = "" if "missing_argument" in draft.faults else " n,"
    output = "torch.empty_like(x, dtype=torch.float16)" if "half_output" in draft.faults else "torch.empty_like(x)"
    host = [f"o = {output}", "n = x.numel()", f"kernel[{grid}]({', '.join(names)}, o,{size} BLOCK={block})", "return o"]
    args = [f"{v}_ptr" for v in names] + ["o_ptr", "n", "BLOCK: tl.constexpr"]
    return _assemble(args, _indent(work, loop), names, host)


def _rows(family: str, names: list[str], steps: list[Step], draft: Draft) -> str:
    mask = "" if "no_mask" in draft.faults else ", mask=m"
    halves = family in ("swiglu_halves", "rotary")
    width = "h" if halves else "cols"
    row = f"r * {width}"
    work = [] if draft.loop else ["r = tl.program_id(0)"]
    work += ["c = tl.arange(0, BLOCK)", f"m = c < {width}"]
    other = ", other=0.0" if mask else ""
    for name in names:
        if name == "x" and halves:
            work += [f"a = tl.load(x_ptr + r * 2 * h + c{mask}{other})"]
            work += [f"b = tl.load(x_ptr + r * 2 * h + h + c{mask}{other})"]
        elif name == "x" and family == "gather_rows":
            work += ["k = tl.load(idx_ptr + r)", f"x = tl.load(x_ptr + k * cols + c{mask}{other})"]
        elif name in ("s", "t"):
            work += [f"{name} = tl.load({name}_ptr + r)"]
        elif name in ("w", "b"):
            work += [f"{name} = tl.load({name}_ptr + c{mask}{other})"]
        elif name != "idx":
            work += [f"{name} = tl.load({name}_ptr + {row} + c{mask}{other})"]
    stores = [f"tl.store(o_ptr + {row} + c, x{mask})"]
    for step in steps:
        if step.core.startswith("rotary:"):
            first, second = step.core.removeprefix("rotary:").split("|")
            stores = [f"tl.store(o_ptr + r * 2 * h + c, {first}{mask})"]
            stores += [f"tl.store(o_ptr + r * 2 * h + h + c, {second}{mask})"]
        elif step.core in REDUCTIONS:
            neutral, lines = REDUCTIONS[step.core]
            work += [] if "no_neutral" in draft.faults else [f"x = tl.where(m, x, {neutral})"]
            work += [line.replace("/ cols", "/ BLOCK") if "divide_by_block" in draft.faults else line for line in lines]
        else:
            work += step.lines
    if family in SCALAR_RESULT:
        stores = ["tl.store(o_ptr + r, x)"]
    work += stores
    loop = "for r in range(tl.program_id(0), rows, tl.num_programs(0)):" if draft.loop else None
    sizes = ["rows", width] if draft.loop else [width]
    grid = "(min(rows, 40),)" if draft.loop else "(rows,)"
    if family == "gather_rows":
        host = ["rows, cols = idx.numel(), x.shape[1]", "o = x.new_empty(rows, cols)"]
    elif halves:
        host = ["rows, h = x.shape[0], x.shape[1] // 2"]
        host += ["o = torch.empty_like(x)"] if family == "rotary" else ["o = x.new_empty(rows, h)"]
    else:
        host = ["rows, cols = x.shape"]
        host += ["o = x.new_empty(rows)"] if family in SCALAR_RESULT else ["o = torch.empty_like(x)"]
    block = "32" if "fixed_block" in draft.faults else f"triton.next_power_of_2({width})"
    passed = sizes[:-1] if "missing_argument" in draft.faults else sizes
    host += [f"kernel[{grid}]({', '.join([*names, 'o', *passed])}, BLOCK={block})", "return o"]
    args = [f"{v}_ptr" for v in names] + ["o_ptr", *sizes, "BLOCK: tl.constexpr"]
    return _assemble(args, _indent(work, loop), names, host)


def _transpose(steps: list[Step], draft: Draft) -> str:
    block = 1024 if "huge_block" in draft.faults else draft.block
    mask = "" if "no_mask" in draft.faults else ", mask=m"
    stride = "cols" if "wrong_stride" in draft.faults else "rows"
    work = ["i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)", "j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)"]
    work += ["m = (i[:, None] < rows) & (j[None, :] < cols)"]
    work += [f"x = tl.load(x_ptr + i[:, None] * cols + j[None, :]{mask})"]
    work += [line for step in steps for line in step.lines]
    work += [f"tl.store(o_ptr + j[None, :] * {stride} + i[:, None], x{mask})"]
    size = "rows" if "missing_argument" in draft.faults else "rows, cols"
    host = ["rows, cols = x.shape", "o = x.new_empty(cols, rows)"]
    grid = f"(triton.cdiv(rows, {block}), triton.cdiv(cols, {block}))"
    host += [f"kernel[{grid}](x, o, {size}, BLOCK={block})", "return o"]
    return _assemble(["x_ptr", "o_ptr", "rows", "cols", "BLOCK: tl.constexpr"], work, ["x"], host)


def _matmul(names: list[str], steps: list[Step], draft: Draft) -> str:
    block = 256 if "huge_block" in draft.faults else draft.block
    stride = "M" if "wrong_stride" in draft.faults else "K"
    bias = "c" in names
    edges = ["(i[:, None] < M)", "(j[None, :] < N)"]
    if "no_k_mask" not in draft.faults:
        edges = ["(i[:, None] < M) & (k[None, :] < K)", "(k[:, None] < K) & (j[None, :] < N)"]
    work = ["i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)", "j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)"]
    load_bias = ["c = tl.load(c_ptr + j, mask=j < N, other=0.0)[None, :]"] if bias else []
    seeded = bias and "seed_bias" in draft.faults
    work += load_bias if seeded else []
    work += ["x = tl.zeros((BLOCK, BLOCK), tl.float32)" + (" + c" if seeded else "")]
    work += ["for s in range(0, K, BLOCK):", "    k = s + tl.arange(0, BLOCK)"]
    work += [f"    a = tl.load(a_ptr + i[:, None] * {stride} + k[None, :], mask={edges[0]}, other=0.0)"]
    work += [f"    b = tl.load(b_ptr + k[:, None] * N + j[None, :], mask={edges[1]}, other=0.0)"]
    work += ["    x += tl.dot(a, b)"]
    work += [] if seeded else load_bias
    lines = [line for step in steps for line in step.lines]
    work += lines[1:] if seeded and lines and lines[0] == "x = x + c" else lines
    work += ["tl.store(o_ptr + i[:, None] * N + j[None, :], x, mask=(i[:, None] < M) & (j[None, :] < N))"]
    size = "M, N" if "missing_argument" in draft.faults else "M, N, K"
    host = ["M, K = a.shape", "N = b.shape[1]", "o = a.new_empty(M, N)"]
    grid = f"(triton.cdiv(M, {block}), triton.cdiv(N, {block}))"
    host += [f"kernel[{grid}]({', '.join(names)}, o, {size}, BLOCK={block})"]
    args = [f"{v}_ptr" for v in names] + ["o_ptr", "M", "N", "K", "BLOCK: tl.constexpr"]
    return _assemble(args, work, names, [*host, "return o"])
