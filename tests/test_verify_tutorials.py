"""The tutorials' kernels as whole candidates: recorded, compiled for Ascend, run natively, compared, timed."""

from __future__ import annotations

import inspect
from typing import NamedTuple

import pytest
from kernels import tutorials
from test_native_tutorials import ascend_philox_uniform
from verify_cases import HEAD, model
from verify_cases_honest import task

from atrl_ms.types import Task
from sandbox.options import Options
from sandbox.pool import SandboxPool


class Tutorial(NamedTuple):
    """Reference (arguments, body, inputs), the kernels that a candidate takes from `tutorials`, and its forward."""

    arguments: str
    reference: str
    inputs: str
    kernels: tuple[str, ...]
    forward: str
    before: str = ""  # of the task's class
    kernel_text: str = ""


NORM_BACKWARD = """
mean = x.mean(1, keepdim=True)
rstd = 1 / torch.sqrt(((x - mean) ** 2).mean(1, keepdim=True) + 1e-5)
normal = (x - mean) * rstd
scaled = dy * weight
dx = rstd * (scaled - scaled.mean(1, keepdim=True) - normal * (scaled * normal).mean(1, keepdim=True))
return dx, (dy * normal).sum(0), dy.sum(0)"""

COLUMN_SUM = """
@triton.jit
def column_sum(parts, out, count, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for part in range(count):
        total += tl.load(parts + part * columns + at, mask=at < columns, other=0.0)
    tl.store(out + at, total, mask=at < columns)
"""

POINTER_GROUPS = """
@triton.jit
def grouped(a_table, b_table, c_table, rows, N, K, GROUPS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    tile = tl.program_id(0)
    first = 0
    for group in range(GROUPS):
        M = tl.load(rows + group)
        across = tl.cdiv(N, BN)
        here = tl.cdiv(M, BM) * across
        while tile < first + here:
            local = tile - first
            a = tl.load(a_table + group).to(tl.pointer_type(tl.float16))
            b = tl.load(b_table + group).to(tl.pointer_type(tl.float16))
            c = tl.load(c_table + group).to(tl.pointer_type(tl.float16))
            row = (local // across) * BM + tl.arange(0, BM)
            column = (local % across) * BN + tl.arange(0, BN)
            total = tl.zeros((BM, BN), dtype=tl.float32)
            for start in range(0, K, 16):
                inner = start + tl.arange(0, 16)
                left = tl.load(
                    a + row[:, None] * K + inner[None, :],
                    mask=(row[:, None] < M) & (inner[None, :] < K),
                    other=0.0,
                )
                right = tl.load(
                    b + inner[:, None] * N + column[None, :],
                    mask=(inner[:, None] < K) & (column[None, :] < N),
                    other=0.0,
                )
                total += tl.dot(left, right)
            tl.store(
                c + row[:, None] * N + column[None, :],
                total.to(tl.float16),
                mask=(row[:, None] < M) & (column[None, :] < N),
            )
            tile += tl.num_programs(0)
        first += here
"""

TUTORIALS = {
    "vector add": Tutorial(
        "x, y", "return x + y", "[torch.randn(1073), torch.randn(1073)]", ("vector_add",),
        "out = torch.empty_like(x)\nvector_add[(9,)](x, y, out, x.numel(), BLOCK=128)\nreturn out",
    ),
    "fused softmax": Tutorial(
        "x", "return torch.softmax(x, 1)", "[torch.randn(37, 300)]", ("softmax_rows",),
        "out = torch.empty_like(x)\nsoftmax_rows[(20,)](x, out, *x.shape, x.stride(0), BLOCK=512)\nreturn out",
    ),
    "layer norm": Tutorial(
        "x, w, b", "return torch.nn.functional.layer_norm(x, x.shape[1:], w, b)",
        "[torch.randn(19, 200), torch.randn(200), torch.randn(200)]", ("layer_norm_forward",),
        "out = torch.empty_like(x)\nmean, rstd = torch.empty(2, x.shape[0])\n"
        "layer_norm_forward[(x.shape[0],)](x, out, w, b, mean, rstd, x.shape[1], 1e-5, BLOCK=128)\nreturn out",
    ),
    "layer norm backward": Tutorial(
        "dy, x, weight", NORM_BACKWARD, "[torch.randn(19, 200), torch.randn(19, 200), torch.randn(200)]",
        ("layer_norm_forward", "layer_norm_backward"),
        "rows, columns = x.shape\nmean, rstd = torch.empty(rows), torch.empty(rows)\nout = torch.empty_like(x)\n"
        "layer_norm_forward[(rows,)](x, out, weight, weight, mean, rstd, columns, 1e-5, BLOCK=128)\n"
        "dx, dw, db = torch.empty_like(x), torch.empty(4, columns), torch.empty(4, columns)\n"
        "layer_norm_backward[(4,)](dy, x, weight, mean, rstd, dx, dw, db, rows, columns, BLOCK=256)\n"
        "w, b = torch.empty(columns), torch.empty(columns)\n"
        "column_sum[(1,)](dw, w, 4, columns, BLOCK=256)\ncolumn_sum[(1,)](db, b, 4, columns, BLOCK=256)\n"
        "return dx, w, b", kernel_text=COLUMN_SUM,
    ),
    "matmul": Tutorial(
        "a, b", "return a @ b", "[torch.randn(67, 77).half(), torch.randn(77, 53).half()]", ("matmul",),
        "M, K = a.shape\nN = b.shape[1]\nc = torch.empty(M, N, dtype=a.dtype)\n"
        "grid = lambda meta: (triton.cdiv(M, meta['BM']) * triton.cdiv(N, meta['BN']),)\n"
        "matmul[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), BM=32, BN=16, BK=32)\nreturn c",
    ),
    "fused attention": Tutorial(
        "q, k, v", "return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)",
        "[torch.randn(2, 75, 32).half() for _ in range(3)]", ("attention",),
        "out = torch.empty_like(q)\nheads, length, width = q.shape\nattention[(triton.cdiv(length, 32), heads)]"
        "(q, k, v, out, width**-0.5, length, CAUSAL=True, D=width, BM=32, BN=32)\nreturn out",
    ),
    "grouped GEMM by sizes": Tutorial(
        "a, b, sizes",
        "return torch.cat([p @ w for p, w in zip(torch.split(a, sizes.tolist()), b)])",
        "[torch.randn(55, 48).half(), torch.randn(4, 48, 40).half(), torch.tensor([17, 0, 33, 5]).int()]",
        ("grouped_matmul",),
        "N, K = b.shape[2], a.shape[1]\nc = torch.empty(a.shape[0], N, dtype=a.dtype)\n"
        "grouped_matmul[(5,)](a, b, c, sizes, N, K, BM=16, BN=16, BK=16, GROUPS=b.shape[0])\nreturn c",
    ),
    "grouped GEMM by addresses": Tutorial(
        "a, b", "return [x @ y for x, y in zip(a, b)]",
        "[[torch.randn(m, 48).half() for m in (17, 5, 33)], [torch.randn(48, 40).half() for _ in range(3)]]", (),
        "c = [torch.empty(x.shape[0], y.shape[1], dtype=x.dtype) for x, y in zip(a, b)]\n"
        "tables = [torch.tensor([t.data_ptr() for t in group]) for group in (a, b, c)]\n"
        "rows = torch.tensor([x.shape[0] for x in a], dtype=torch.int32)\n"
        "grouped[(5,)](*tables, rows, 40, 48, GROUPS=3, BM=16, BN=16)\nreturn c", kernel_text=POINTER_GROUPS,
    ),
    "top-k with indices": Tutorial(
        "x", "return tuple(torch.topk(x, 4, dim=1))", "[torch.randn(11, 50)]", ("top_k_rows",),
        "rows = x.shape[0]\nv, i = torch.empty(rows, 4), torch.empty(rows, 4, dtype=torch.int64)\n"
        "top_k_rows[(rows,)](x, v, i, x.shape[1], K=4, BLOCK=64)\nreturn v, i",
    ),
    "cumsum": Tutorial(
        "x", "return torch.cumsum(x, 1)", "[torch.randn(5, 64)]", ("cumsum_rows",),
        "out = torch.empty_like(x)\ncumsum_rows[(x.shape[0],)](x, out, 64, REVERSE=False, BLOCK=64)\nreturn out",
    ),
    "sort": Tutorial(
        "x", "return torch.sort(x, 1, descending=True).values", "[torch.randn(4, 100)]", ("sort_rows",),
        "out = torch.empty_like(x)\nsort_rows[(x.shape[0],)](x, out, DESCENDING=True, BLOCK=100)\nreturn out",
    ),
    "gather and scatter": Tutorial(
        "table, index, x, order",
        "out = torch.empty_like(x)\nout[order.long()] = x\nreturn table[index], out",
        "[torch.randn(30, 70), torch.randint(0, 30, (13,)), torch.randn(200), torch.randperm(200).int()]",
        ("gather_rows", "scatter_elements"),
        "rows = torch.empty(index.numel(), table.shape[1])\nout = torch.empty_like(x)\n"
        "gather_rows[(index.numel(),)](table, index, rows, table.shape[1], BLOCK=64)\n"
        "scatter_elements[(2,)](x, order, out, x.numel(), BLOCK=128)\nreturn rows, out",
    ),
    "dropout by seed": Tutorial(
        "x", "u = torch.from_numpy(ascend_philox_uniform(1234, np.arange(x.numel())))\n"
        "return torch.where(u > 0.4, x / (1 - 0.4), torch.zeros_like(x))", "[torch.randn(1000)]", ("dropout",),
        "out = torch.empty_like(x)\ndropout[(4,)](x, out, x.numel(), 0.4, 1234, BLOCK=256)\nreturn out",
        before="import numpy as np\n" + inspect.getsource(ascend_philox_uniform),
    ),
    "autotuned": Tutorial(
        "x, y", "return x + y", "[torch.randn(1000), torch.randn(1000)]", ("add_tuned",),
        "out = torch.empty_like(x)\nadd_tuned[lambda m: (triton.cdiv(x.numel(), m['BLOCK']),)]"
        "(x, y, out, x.numel())\nreturn out",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def results():
    """Every tutorial at once."""
    with SandboxPool(Options(), workers=2) as pool:
        jobs = {}
        for name, item in TUTORIALS.items():
            text = item.before + task(item.reference, item.inputs, args=item.arguments)
            functions = [getattr(tutorials, kernel) for kernel in item.kernels]
            kernels = [inspect.getsource(getattr(f, "base_fn", None) or f.fn) for f in functions]
            candidate = "\n".join([HEAD, *kernels, item.kernel_text, model(item.forward, arguments=item.arguments)])
            jobs[name] = pool.submit(Task(name, text), candidate)
        yield {name: job.result() for name, job in jobs.items()}


@pytest.mark.parametrize("name", TUTORIALS)
def test_tutorial_passes_natively_and_has_a_modelled_time(results, name):
    result = results[name]
    assert result.verdict == "pass", result.feedback
    assert result.details["executor"] == "native"
    assert result.speedup is not None and result.speedup.kind == "modelled"
