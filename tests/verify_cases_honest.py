# ruff: noqa: E501 (candidates read better on one line)
"""Honest candidates that look odd, on plain tasks and on odd ones: every one of them must pass."""

from __future__ import annotations

from verify_cases import (
    ADD,
    HEAD,
    LINEAR,
    LINEAR_TASK,
    MINMAX_TASK,
    RELU_TASK,
    case,
    indent,
    model,
    raw,
)

K = """
@triton.jit
def k(src, dst, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dst + i, tl.maximum(tl.load(src + i, mask=i < n, other=0.0), 0.0), mask=i < n)
"""
GO = "o = torch.empty_like(x)\nk[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), BLOCK=256)\nreturn o"
raw("future_annotations", "pass", RELU_TASK, "from __future__ import annotations\n" + HEAD + K + model(GO))
raw("bom", "pass", RELU_TASK, "\ufeff" + HEAD + K + model(GO))
raw("crlf", "pass", RELU_TASK, (HEAD + K + model(GO)).replace("\n", "\r\n"))
raw("jit_alias", "pass", RELU_TASK, HEAD + "from triton import jit as T\n" + K.replace("@triton.jit", "@T") + model(GO))
raw(
    "triton_alias",
    "pass",
    RELU_TASK,
    "import torch, triton as tr\nimport torch.nn as nn\nfrom triton import language as L, jit\n"
    + K.replace("triton.jit", "jit").replace("tl.", "L.")
    + model(GO.replace("triton.", "tr.")),
)
case(
    "global_constexpr",
    "pass",
    RELU_TASK,
    "\nB: tl.constexpr = 128\nZERO = tl.constexpr(0.0)\n"
    + """
@triton.jit
def k(src, dst, n):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(dst + i, tl.maximum(tl.load(src + i, mask=i < n, other=ZERO), ZERO), mask=i < n)
"""
    + model("o = torch.empty_like(x)\nk[(triton.cdiv(x.numel(), 128),)](x, o, x.numel())\nreturn o"),
)
case(
    "while_loop",
    "pass",
    RELU_TASK,
    """
@triton.jit
def k(src, dst, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK
    step = tl.num_programs(0) * BLOCK
    while at < n:
        i = at + tl.arange(0, BLOCK)
        tl.store(dst + i, tl.maximum(tl.load(src + i, mask=i < n, other=0.0), 0.0), mask=i < n)
        at += step
"""
    + model("o = torch.empty_like(x)\nk[(3,)](x, o, x.numel(), BLOCK=256)\nreturn o"),
)
case(
    "kernel_in_init",
    "pass",
    RELU_TASK,
    """
def make():
    @triton.jit
    def inner(src, dst, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(dst + i, tl.maximum(tl.load(src + i, mask=i < n, other=0.0), 0.0), mask=i < n)
    return inner
"""
    + model(GO.replace("k[", "self.k["), "self.k = make()"),
)
case(
    "static_method_kernel",
    "pass",
    RELU_TASK,
    """
class ModelNew(nn.Module):
    @staticmethod
    @triton.jit
    def kern(src, dst, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(dst + i, tl.maximum(tl.load(src + i, mask=i < n, other=0.0), 0.0), mask=i < n)

    def forward(self, x):
        o = torch.empty_like(x)
        ModelNew.kern[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), BLOCK=256)
        return o
""",
)
case(
    "helper_returns_tuple",
    "pass",
    MINMAX_TASK,
    """
@triton.jit
def both(x, ok):
    return tl.min(tl.where(ok, x, float("inf")), 0), tl.max(tl.where(ok, x, float("-inf")), 0)
@triton.jit
def mm(x, lo, hi, n, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    a, b = both(tl.load(x + r * n + c, mask=c < n), c < n)
    tl.store(lo + r, a)
    tl.store(hi + r, b)
"""
    + model(
        "lo = x.new_empty(x.shape[0])\nhi = torch.empty_like(lo)\nmm[(x.shape[0], 1, 1)](x, lo, hi, x.shape[1], BLOCK=64)\nreturn lo, hi"
    ),
)
case(
    "grid_list_lambda",
    "pass",
    RELU_TASK,
    K
    + model(
        "o = torch.empty_like(x)\ngrid = lambda META: [triton.cdiv(x.numel(), META['BLOCK'])]\nk[grid](x, o, x.numel(), BLOCK=256)\nreturn o"
    ),
)
case(
    "run_method",
    "pass",
    RELU_TASK,
    K
    + model(
        "o = torch.empty_like(x)\nk.run(x, o, x.numel(), BLOCK=256, grid=(triton.cdiv(x.numel(), 256),), warmup=False)\nreturn o"
    ),
)
case(
    "warmup_first",
    "pass",
    RELU_TASK,
    K
    + model(
        "o = torch.empty_like(x)\nk.warmup(x, o, x.numel(), BLOCK=256, grid=(1,))\nk[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), BLOCK=256)\nreturn o"
    ),
)
case(
    "config_pre_hook",
    "pass",
    RELU_TASK,
    "\ndef zero(args):\n    args['dst'].zero_()\n\n@triton.autotune(configs=[triton.Config({'BLOCK': 128}, pre_hook=zero), triton.Config({'BLOCK': 256}, num_warps=2)], key=['n'])"
    + K
    + model("o = torch.empty_like(x)\nk[lambda m: (triton.cdiv(x.numel(), m['BLOCK']),)](x, o, x.numel())\nreturn o"),
)
case(
    "autotune_reset_restore",
    "pass",
    RELU_TASK,
    "\n@triton.autotune(configs=[triton.Config({'BLOCK': 128}), triton.Config({'BLOCK': 256})], key=['n'], reset_to_zero=['dst'], restore_value=['dst'])"
    + K
    + model("o = torch.empty_like(x)\nk[lambda m: (triton.cdiv(x.numel(), m['BLOCK']),)](x, o, x.numel())\nreturn o"),
)
case(
    "autotune_prune_heuristics",
    "pass",
    RELU_TASK,
    """
def prune(configs, named_args, **kw):
    return [c for c in configs if c.kwargs['BLOCK'] <= 256]
@triton.autotune(configs=[triton.Config({'BLOCK': b}) for b in (128, 256, 65536)], key=['n'], prune_configs_by={'early_config_prune': prune})
@triton.heuristics({'EVEN': lambda a: a['n'] % a['BLOCK'] == 0})
@triton.jit
def k(src, dst, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(dst + i, tl.maximum(tl.load(src + i), 0.0))
    else:
        tl.store(dst + i, tl.maximum(tl.load(src + i, mask=i < n, other=0.0), 0.0), mask=i < n)
"""
    + model("o = torch.empty_like(x)\nk[lambda m: (triton.cdiv(x.numel(), m['BLOCK']),)](x, o, x.numel())\nreturn o"),
)
case(
    "three_d_grid",
    "pass",
    RELU_TASK,
    """
@triton.jit
def k(src, dst, R, C, BLOCK: tl.constexpr):
    r = tl.program_id(2) * 11 + tl.program_id(1)
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = (c < C) & (r < R)
    tl.store(dst + r * C + c, tl.maximum(tl.load(src + r * C + c, mask=ok, other=0.0), 0.0), mask=ok)
"""
    + model("o = torch.empty_like(x)\nk[(triton.cdiv(x.shape[1], 32), 11, 3)](x, o, *x.shape, BLOCK=32)\nreturn o"),
)
case(
    "keywords_only",
    "pass",
    RELU_TASK,
    K
    + model(
        "o = torch.empty_like(x)\nk[(triton.cdiv(x.numel(), 256),)](src=x, dst=o, n=x.numel(), BLOCK=256)\nreturn o"
    ),
)
case(
    "none_and_bool_arguments",
    "pass",
    RELU_TASK,
    """
@triton.jit
def k(src, bias, dst, n, act, HAS: tl.constexpr, MODE: tl.constexpr = "relu", BLOCK: tl.constexpr = 256):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(src + i, mask=i < n, other=0.0)
    if HAS:
        v += tl.load(bias + i, mask=i < n)
    if MODE == "relu":
        v = tl.maximum(v, 0.0)
    if bias is not None:
        v += 1
    tl.store(dst + i, v, mask=i < n)
"""
    + model(
        "o = torch.empty_like(x)\nk[(triton.cdiv(x.numel(), 256),)](x, None, o, x.numel(), True, HAS=False)\nreturn o"
    ),
)
case(
    "not_a_module",
    "pass",
    RELU_TASK,
    K + "\nclass ModelNew:\n    def __call__(self, x):\n" + indent(GO) + "\n",
)
case(
    "subclass_of_model_copy",
    "pass",
    LINEAR_TASK,
    LINEAR
    + """
class Model(nn.Module):
    def __init__(self, fin, fout):
        super().__init__()
        self.fc = nn.Linear(fin, fout)
    def forward(self, x):
        return self.fc(x)
class ModelNew(Model):
    def forward(self, x):
        return run_linear(x, self.fc.weight, self.fc.bias, 1, 48, 21)
""",
)
case(
    "no_grad_decorator",
    "pass",
    RELU_TASK,
    K + "\nclass ModelNew(nn.Module):\n    @torch.no_grad()\n    def forward(self, x):\n" + indent(GO) + "\n",
)
case(
    "inference_mode",
    "pass",
    RELU_TASK,
    K + "\nclass ModelNew(nn.Module):\n    @torch.inference_mode()\n    def forward(self, x):\n" + indent(GO) + "\n",
)
case(
    "checks_and_print",
    "pass",
    RELU_TASK,
    K
    + model(
        "assert x.is_contiguous() and x.dim() == 2 and x.dtype == torch.float32, 'x'\nprint('shape', x.shape, x.device)\nassert x.data_ptr() % 4 == 0\n"
        + GO
    ),
)
case(
    "numpy_math_dataclass",
    "pass",
    RELU_TASK,
    K
    + """
import dataclasses, enum, functools, math, typing
import numpy as np
class Mode(enum.Enum):
    A = 1
@dataclasses.dataclass(frozen=True)
class Cfg:
    block: int = 256
    mode: Mode = Mode.A
@functools.lru_cache(maxsize=None)
def blocks(n: int, b: int) -> int:
    return math.ceil(n / b)
"""
    + model(
        "o = torch.empty_like(x)\nk[(blocks(x.numel(), self.cfg.block),)](x, o, x.numel(), BLOCK=self.cfg.block)\nreturn o",
        "self.cfg = Cfg()",
    ),
)
case(
    "views_everywhere",
    "pass",
    RELU_TASK,
    K
    + model(
        "f = x.view(-1).unsqueeze(0).squeeze(0).flatten()\no = torch.empty(x.numel(), dtype=x.dtype, device=x.device)\na, b = f.split([100, f.numel() - 100])\np, q = o.narrow(0, 0, 100), o[100:]\nk[(1,)](a, p, 100, BLOCK=128)\nk[(triton.cdiv(b.numel(), 256),)](b, q, b.numel(), BLOCK=256)\nreturn o.reshape(x.size())"
    ),
)
case(
    "cat_of_parts",
    "pass",
    RELU_TASK,
    K
    + model(
        "outs = []\nfor part in x.chunk(3, dim=0):\n    o = torch.empty_like(part)\n    k[(triton.cdiv(part.numel(), 256),)](part, o, part.numel(), BLOCK=256)\n    outs.append(o)\nreturn torch.cat(outs, dim=0)"
    ),
)
case(
    "stack_rows",
    "pass",
    RELU_TASK,
    K
    + model(
        "outs = []\nfor row in x.unbind(0):\n    o = torch.empty_like(row)\n    k[(1,)](row, o, row.numel(), BLOCK=128)\n    outs.append(o)\nreturn torch.stack(outs)"
    ),
)
case(
    "strided_columns",
    "pass",
    RELU_TASK,
    """
@triton.jit
def k(src, dst, n, ss, ds, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(dst + i * ds, tl.maximum(tl.load(src + i * ss, mask=i < n, other=0.0), 0.0), mask=i < n)
"""
    + model(
        "o = torch.empty_like(x)\nfor j in range(0, x.shape[1]):\n    k[(1,)](x[:, j], o[:, j], x.shape[0], x.stride(0), o.stride(0), BLOCK=64)\nreturn o"
    ),
)
case(
    "half_and_back",
    "pass",
    RELU_TASK.replace("torch.randn(33, 65) * 3.0", "(torch.randn(33, 65) * 3.0).half()"),
    K
    + model(
        "y = x.float()\no = torch.empty_like(y)\nk[(triton.cdiv(x.numel(), 256),)](y, o, x.numel(), BLOCK=256)\nreturn o.to(x.dtype)"
    ),
)
case(
    "constants_table",
    "pass",
    RELU_TASK,
    """
@triton.jit
def k(src, table, dst, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    z = tl.load(table + 1)
    tl.store(dst + i, tl.maximum(tl.load(src + i, mask=i < n, other=0.0), z), mask=i < n)
"""
    + model(
        "o = torch.full_like(x, -1.0)\nk[(triton.cdiv(x.numel(), 256),)](x, torch.tensor([1.0, 0.0, 3.0]), o, x.numel(), BLOCK=256)\nreturn o"
    ),
)
ROPE_TASK = (
    HEAD
    + """
class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.d = d
    def forward(self, x):
        inv = 1.0 / (100.0 ** (torch.arange(0, self.d, dtype=torch.float32) / self.d))
        return x * torch.cos(torch.arange(x.shape[0], dtype=torch.float32)[:, None] * inv[None, :])
def get_inputs():
    return [torch.randn(17, 24)]
def get_init_inputs():
    return [24]
"""
)
case(
    "buffer_table",
    "pass",
    ROPE_TASK,
    """
@triton.jit
def k(x, f, o, D, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    w = tl.load(f + c, mask=c < D, other=0.0)
    v = tl.load(x + r * D + c, mask=c < D, other=0.0)
    tl.store(o + r * D + c, v * tl.cos(r * w), mask=c < D)
"""
    + model(
        "o = torch.empty_like(x)\nk[(x.shape[0],)](x, self.inv, o, x.shape[1], BLOCK=32)\nreturn o",
        "self.register_buffer('inv', 1.0 / (100.0 ** (torch.arange(0, d).float() / d)), persistent=False)",
        "x",
        "d",
    ),
)
case(
    "table_in_forward",
    "pass",
    ROPE_TASK,
    """
@triton.jit
def k(x, f, o, D, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    w = tl.load(f + r * D + c, mask=c < D, other=0.0)
    v = tl.load(x + r * D + c, mask=c < D, other=0.0)
    tl.store(o + r * D + c, v * w, mask=c < D)
"""
    + model(
        "inv = 1.0 / (100.0 ** (torch.arange(0, self.d, dtype=torch.float32) / self.d))\nt = torch.cos(torch.arange(x.shape[0], dtype=torch.float32)[:, None] * inv[None, :])\no = torch.empty_like(x)\nk[(x.shape[0],)](x, t, o, x.shape[1], BLOCK=32)\nreturn o",
        "self.d = d",
        "x",
        "d",
    ),
)
SUM_TASK = (
    HEAD
    + """
class Model(nn.Module):
    def forward(self, x):
        return x.sum()
def get_inputs():
    return [torch.randn(777)]
def get_init_inputs():
    return []
"""
)
ATOM = """
@triton.jit
def s(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(o, tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))
"""
case(
    "atomic_scalar",
    "pass",
    SUM_TASK,
    ATOM
    + model(
        "o = torch.zeros((), dtype=x.dtype)\ns[(triton.cdiv(x.numel(), 128),)](x, o, x.numel(), BLOCK=128)\nreturn o"
    ),
)
case(
    "atomic_scalar_squeeze",
    "pass",
    SUM_TASK,
    ATOM + model("o = torch.zeros(1)\ns[(triton.cdiv(x.numel(), 128),)](x, o, x.numel(), BLOCK=128)\nreturn o[0]"),
)
case(
    "two_stage",
    "pass",
    SUM_TASK,
    """
@triton.jit
def part(x, p, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(p + tl.program_id(0), tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))
"""
    + model(
        "g = triton.cdiv(x.numel(), 64)\np = torch.empty(g)\npart[(g,)](x, p, x.numel(), BLOCK=64)\no = torch.empty(1)\npart[(1,)](p, o, g, BLOCK=triton.next_power_of_2(g))\nreturn o.squeeze()"
    ),
)
case(
    "registered_new_style",
    "pass",
    RELU_TASK,
    K
    + """
def launch(kernel, *args, grid, **kw):
    return kernel[grid](*args, **kw)
REGISTRY = {"float32": [(k, {"BLOCK": 256})]}
"""
    + model(
        "o = torch.empty_like(x)\nfor kern, cfg in REGISTRY[str(x.dtype).split('.')[1]]:\n    launch(kern, x, o, x.numel(), grid=(triton.cdiv(x.numel(), cfg['BLOCK']),), **cfg)\nreturn o"
    ),
)
case(
    "lambda_forward",
    "pass",
    RELU_TASK,
    K
    + "\ndef go(x):\n"
    + indent(GO, 4)
    + "\nclass ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.forward = lambda x: go(x)\n",
)
case(
    "module_tree",
    "pass",
    RELU_TASK,
    K
    + "\nclass Inner(nn.Module):\n    def forward(self, x):\n"
    + indent(GO)
    + model("return self.seq(x)", "self.seq = nn.Sequential(nn.Identity(), Inner(), nn.Dropout(0.0))"),
)
case(
    "main_guard",
    "pass",
    RELU_TASK,
    K
    + model(GO)
    + "\nif __name__ == '__main__':\n    x = torch.randn(3, 3)\n    print(torch.relu(x) - ModelNew()(x))\n",
)
case(
    "static_range_assert",
    "pass",
    RELU_TASK,
    """
@triton.jit
def k(src, dst, n, BLOCK: tl.constexpr, SUB: tl.constexpr):
    tl.static_assert(BLOCK % SUB == 0)
    base = tl.program_id(0) * BLOCK
    for s in tl.static_range(BLOCK // SUB):
        i = base + s * SUB + tl.arange(0, SUB)
        tl.store(dst + i, tl.maximum(tl.load(src + i, mask=i < n, other=0.0), 0.0), mask=i < n)
"""
    + model("o = torch.empty_like(x)\nk[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), BLOCK=256, SUB=64)\nreturn o"),
)
case(
    "same_tensor_twice_in_output",
    "pass",
    MINMAX_TASK.replace("return x.min(dim=1).values, x.max(dim=1).values", "y = torch.relu(x)\n        return y, y"),
    K + model("o = torch.empty_like(x)\nk[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), BLOCK=256)\nreturn o, o"),
)
case(
    "npu_calls",
    "pass",
    RELU_TASK,
    K
    + "\nimport torch_npu\n"
    + model(
        "assert torch.npu.is_available()\ndev = torch.npu.current_device()\nwith torch.npu.device(x.device):\n    o = torch.empty_like(x)\n    k[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), BLOCK=256)\ntorch.npu.synchronize()\nreturn o"
    ),
)
case(
    "device_assert_print",
    "pass",
    RELU_TASK,
    """
@triton.jit
def k(src, dst, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.device_assert(n > 0)
    tl.store(dst + i, tl.maximum(tl.load(src + i, mask=i < n, other=0.0), 0.0), mask=i < n)
"""
    + model(GO),
)
case(
    "block_pointers",
    "pass",
    RELU_TASK,
    """
@triton.jit
def k(src, dst, R, C, BR: tl.constexpr, BC: tl.constexpr):
    s = tl.make_block_ptr(src, (R, C), (C, 1), (tl.program_id(0) * BR, 0), (BR, BC), (1, 0))
    d = tl.make_block_ptr(dst, (R, C), (C, 1), (tl.program_id(0) * BR, 0), (BR, BC), (1, 0))
    for _ in range(0, tl.cdiv(C, BC)):
        tl.store(d, tl.maximum(tl.load(s, boundary_check=(0, 1), padding_option="zero"), 0.0), boundary_check=(0, 1))
        s = tl.advance(s, (0, BC))
        d = tl.advance(d, (0, BC))
"""
    + model(
        "o = torch.empty_like(x)\nk[(triton.cdiv(x.shape[0], 8),)](x, o, x.shape[0], x.shape[1], BR=8, BC=16)\nreturn o"
    ),
)
case(
    "odd_block_size",
    "pass",
    RELU_TASK,
    K + model("o = torch.empty_like(x)\nk[(triton.cdiv(x.numel(), 100),)](x, o, x.numel(), BLOCK=100)\nreturn o"),
)
case(
    "fill_tail_by_host",
    "pass",
    RELU_TASK,
    K
    + model(
        "o = torch.zeros(40, 70)\no[33:].fill_(0)\no[:, 65:] = 0\nv = torch.empty_like(x)\nk[(triton.cdiv(x.numel(), 256),)](x, v, x.numel(), BLOCK=256)\no[:33, :65] = v\nreturn o[:33, :65].contiguous()"
    ),
)
case(
    "grad_enabled_function", "pass", RELU_TASK, K + model("torch.set_grad_enabled(False)\ntorch.manual_seed(0)\n" + GO)
)
case(
    "exec_kernel_from_file",
    "pass",
    RELU_TASK,
    HEAD
    + '''
import importlib.util, os, tempfile
SRC = """import triton
import triton.language as tl
@triton.jit
def k(src, dst, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dst + i, tl.maximum(tl.load(src + i, mask=i < n, other=0.0), 0.0), mask=i < n)
"""
p = os.path.join(tempfile.mkdtemp(), "gen.py")
open(p, "w").write(SRC)
spec = importlib.util.spec_from_file_location("gen", p)
gen = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gen)
k = gen.k
'''
    + model(GO),
)

# ---------------------------------------------------------------- odd tasks


def task(forward, inputs, init="", init_inputs="[]", args="x", ini_args=""):
    """A task from the bodies of its reference."""
    t = HEAD + "\nclass Model(nn.Module):\n"
    if init:
        t += (
            f"    def __init__(self{', ' + ini_args if ini_args else ''}):\n        super().__init__()\n"
            + indent(init)
            + "\n"
        )
    return (
        t
        + f"    def forward(self, {args}):\n"
        + indent(forward)
        + f"\ndef get_inputs():\n    return {inputs}\ndef get_init_inputs():\n    return {init_inputs}\n"
    )


R = "return torch.relu(x)"
case("t_requires_grad", "pass", task(R, "[torch.randn(33, 65, requires_grad=True)]"), K + model(GO))
case(
    "t_expanded",
    "pass",
    task("return torch.relu(x).contiguous()", "[torch.randn(1, 65).expand(33, 65)]"),
    K + model("x = x.contiguous()\n" + GO),
)
case("t_sliced_input", "pass", task(R, "[torch.randn(33, 80)[:, 5:70]]"), K + model("x = x.contiguous()\n" + GO))
case(
    "t_shared_inputs",
    "pass",
    task("return torch.relu(x) + y", "(lambda t: [t, t])(torch.randn(33, 65))", args="x, y"),
    ADD.replace("tl.load(a + i, mask=ok) +", "tl.maximum(tl.load(a + i, mask=ok), 0.0) +")
    + model(
        "c = torch.empty_like(x)\nadd_kernel[(triton.cdiv(x.numel(), 256),)](x, y, c, x.numel(), BLOCK=256)\nreturn c",
        arguments="x, y",
    ),
)
case(
    "t_scalars_none",
    "pass",
    task(
        "return torch.relu(x) * a if flag else x",
        "[torch.randn(33, 65), 2.5, None, True, 'relu']",
        args="x, a, m, flag, mode",
    ),
    K.replace("n, BLOCK", "n, a, BLOCK").replace("0.0), 0.0)", "0.0), 0.0) * a")
    + model(
        "o = torch.empty_like(x)\nk[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), a, BLOCK=256)\nreturn o",
        arguments="x, a, m=None, flag=True, mode='relu'",
    ),
)
case(
    "t_list_input",
    "pass",
    task("return [torch.relu(x) for x in xs]", "[[torch.randn(n) for n in (5, 100, 33)]]", args="xs"),
    K
    + model(
        "out = []\nfor x in xs:\n    o = torch.empty_like(x)\n    k[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), BLOCK=256)\n    out.append(o)\nreturn out",
        arguments="xs",
    ),
)
case(
    "t_dict_output",
    "pass",
    task("return {'y': torch.relu(x), 'n': x.shape[0], 'none': None}", "[torch.randn(33, 65)]"),
    K + model(GO.replace("return o", "return {'y': o, 'n': x.shape[0], 'none': None}")),
)
case(
    "t_batchnorm_train",
    "pass",
    task("return self.bn(x)", "[torch.randn(40, 12)]", "self.bn = nn.BatchNorm1d(c)", "[12]", ini_args="c"),
    """
@triton.jit
def bn(x, w, b, o, R, C, BLOCK: tl.constexpr):
    c = tl.program_id(0)
    r = tl.arange(0, BLOCK)
    v = tl.load(x + r * C + c, mask=r < R, other=0.0)
    m = tl.sum(v, 0) / R
    d = tl.where(r < R, v - m, 0.0)
    s = tl.sum(d * d, 0) / R
    tl.store(o + r * C + c, d / tl.sqrt(s + 1e-5) * tl.load(w + c) + tl.load(b + c), mask=r < R)
"""
    + model(
        "o = torch.empty_like(x)\nbn[(x.shape[1],)](x, self.bn.weight, self.bn.bias, o, x.shape[0], x.shape[1], BLOCK=64)\nreturn o",
        "self.bn = nn.BatchNorm1d(c)",
        "x",
        "c",
    ),
)
TWO = task(
    "return self.b(self.a(x))",
    "[torch.randn(18, 50)]",
    "self.a = nn.LayerNorm(n)\nself.b = nn.LayerNorm(n)",
    "[50]",
    ini_args="n",
)
LN = """
@triton.jit
def ln(x, w, b, o, n, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + r * n + c, mask=c < n, other=0.0)
    m = tl.sum(v, 0) / n
    d = tl.where(c < n, v - m, 0.0)
    y = d / tl.sqrt(tl.sum(d * d, 0) / n + 1e-5)
    tl.store(o + r * n + c, y * tl.load(w + c, mask=c < n) + tl.load(b + c, mask=c < n), mask=c < n)
"""
L2 = "t = torch.empty_like(x)\nln[(x.shape[0],)](x, {0}, t, x.shape[1], BLOCK=64)\no = torch.empty_like(x)\nln[(x.shape[0],)](t, {1}, o, x.shape[1], BLOCK=64)\nreturn o"
case(
    "two_norms_other_names_and_order",
    "pass",
    TWO,
    LN
    + model(
        L2.format("self.first.weight, self.first.bias", "self.second.weight, self.second.bias"),
        "self.second = nn.LayerNorm(n)\nself.first = nn.LayerNorm(n)",
        "x",
        "n",
    ),
)
case(
    "norm_plain_attributes",
    "pass",
    TWO,
    LN
    + model(
        L2.format("self.w[0], self.bb[0]", "self.w[1], self.bb[1]"),
        "self.w = [torch.ones(n), torch.ones(n)]\nself.bb = [torch.zeros(n) for _ in range(2)]",
        "x",
        "n",
    ),
)
case(
    "norm_not_a_module",
    "pass",
    TWO,
    LN
    + "\nclass ModelNew:\n    def __init__(self, n):\n        self.a = nn.LayerNorm(n)\n        self.b = nn.LayerNorm(n)\n    def __call__(self, x):\n"
    + indent(L2.format("self.a.weight, self.a.bias", "self.b.weight, self.b.bias"))
    + "\n",
)
case(
    "norm_parameter_reshaped",
    "pass",
    TWO,
    LN
    + model(
        L2.format("self.w1, self.b1", "self.w2, self.b2"),
        "self.w1 = nn.Parameter(torch.ones(1, n))\nself.b1 = nn.Parameter(torch.zeros(1, n))\nself.w2 = nn.Parameter(torch.ones(n, 1))\nself.b2 = nn.Parameter(torch.zeros(n, 1))",
        "x",
        "n",
    ),
)
case(
    "norm_parameters_packed",
    "pass",
    TWO,
    LN
    + model(
        L2.format("self.w[0], self.b[0]", "self.w[1], self.b[1]"),
        "self.w = nn.Parameter(torch.ones(2, n))\nself.b = nn.Parameter(torch.zeros(2, n))",
        "x",
        "n",
    ),
)
case(
    "linear_and_norm_with_table_buffer",
    "pass",
    task(
        "return self.n(x) * torch.cos(torch.arange(x.shape[1]).float())",
        "[torch.randn(18, 50)]",
        "self.n = nn.LayerNorm(n)",
        "[50]",
        ini_args="n",
    ),
    LN.replace("def ln(x, w, b, o, n,", "def ln(x, w, b, f, o, n,")
    .replace("tl.load(b + c, mask=c < n), mask", "tl.load(b + c, mask=c < n)) * tl.load(f + c, mask=c < n), mask")
    .replace("y * tl.load(w", "(y * tl.load(w")
    + model(
        "o = torch.empty_like(x)\nln[(x.shape[0],)](x, self.n.weight, self.n.bias, torch.cos(self.pos), o, x.shape[1], BLOCK=64)\nreturn o",
        "self.n = nn.LayerNorm(n)\nself.register_buffer('pos', torch.arange(n).float(), persistent=False)",
        "x",
        "n",
    ),
)
SEQ = task(
    "out = torch.zeros_like(x)\nat = 0\nfor n in lengths.tolist():\n    out[at:at + n] = torch.softmax(x[at:at + n], 0)\n    at += n\nreturn out",
    "[torch.randn(60, 8), torch.tensor([17, 0, 33, 10])]",
    args="x, lengths",
)
VAR = """
@triton.jit
def seg(x, o, start, C, BLOCK: tl.constexpr):
    s = tl.program_id(0)
    a = tl.load(start + s)
    e = tl.load(start + s + 1)
    r = a + tl.arange(0, BLOCK)
    for c in range(0, C):
        v = tl.load(x + r * C + c, mask=r < e, other=-float("inf"))
        m = tl.max(v, 0)
        p = tl.exp(v - m)
        tl.store(o + r * C + c, p / tl.sum(p, 0), mask=r < e)
"""
case(
    "lengths_cumsum_on_host",
    "pass",
    SEQ,
    VAR
    + model(
        "start = torch.nn.functional.pad(torch.cumsum(lengths, 0), (1, 0)).to(torch.int32)\nblock = triton.next_power_of_2(int(lengths.max()))\no = torch.empty_like(x)\nseg[(lengths.numel(),)](x, o, start, x.shape[1], BLOCK=block)\nreturn o",
        arguments="x, lengths",
    ),
)
case(
    "lengths_tolist",
    "pass",
    SEQ,
    VAR
    + "import itertools\n"
    + model(
        "ls = lengths.tolist()\nstart = torch.tensor([0, *itertools.accumulate(ls)], dtype=torch.int32, device=x.device)\no = torch.empty_like(x)\nseg[(len(ls),)](x, o, start, x.shape[1], BLOCK=triton.next_power_of_2(max(ls)))\nreturn o",
        arguments="x, lengths",
    ),
)
case(
    "t_rank0",
    "pass",
    task("return torch.relu(x) * s", "[torch.randn(33, 65), torch.tensor(1.5)]", args="x, s"),
    K.replace("src, dst", "src, s, dst").replace("0.0), 0.0)", "0.0), 0.0) * tl.load(s)")
    + model(
        "o = torch.empty_like(x)\nk[(triton.cdiv(x.numel(), 256),)](x, s, o, x.numel(), BLOCK=256)\nreturn o",
        arguments="x, s",
    ),
)
case(
    "t_rank0_item",
    "pass",
    task("return torch.relu(x) * s", "[torch.randn(33, 65), torch.tensor(1.5)]", args="x, s"),
    K.replace("n, BLOCK", "n, a, BLOCK").replace("0.0), 0.0)", "0.0), 0.0) * a")
    + model(
        "o = torch.empty_like(x)\nk[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), float(s), BLOCK=256)\nreturn o",
        arguments="x, s",
    ),
)
case(
    "t_bool_output",
    "pass",
    task("return x > 0", "[torch.randn(33, 65)]"),
    """
@triton.jit
def gt(src, dst, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dst + i, tl.load(src + i, mask=i < n, other=0.0) > 0, mask=i < n)
"""
    + model(GO.replace("k[", "gt[").replace("torch.empty_like(x)", "torch.empty(x.shape, dtype=torch.bool)")),
)
case(
    "t_bool_output_via_int8",
    "pass",
    task("return x > 0", "[torch.randn(33, 65)]"),
    """
@triton.jit
def gt(src, dst, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dst + i, (tl.load(src + i, mask=i < n, other=0.0) > 0).to(tl.int8), mask=i < n)
"""
    + model(
        GO.replace("k[", "gt[")
        .replace("torch.empty_like(x)", "torch.empty(x.shape, dtype=torch.int8)")
        .replace("return o", "return o.to(torch.bool)")
    ),
)
case(
    "t_bool_view",
    "pass",
    task("return x > 0", "[torch.randn(33, 65)]"),
    """
@triton.jit
def gt(src, dst, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dst + i, (tl.load(src + i, mask=i < n, other=0.0) > 0).to(tl.int8), mask=i < n)
"""
    + model(
        GO.replace("k[", "gt[")
        .replace("torch.empty_like(x)", "torch.empty(x.shape, dtype=torch.int8)")
        .replace("return o", "return o.view(torch.bool)")
    ),
)
case(
    "t_argmax_float_then_long",
    "pass",
    task("return torch.argmax(x, dim=1)", "[torch.randn(33, 65)]"),
    """
@triton.jit
def am(src, dst, n, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(src + r * n + c, mask=c < n, other=-float("inf"))
    tl.store(dst + r, tl.argmax(v, 0).to(tl.float32))
"""
    + model("o = torch.empty(x.shape[0])\nam[(x.shape[0],)](x, o, x.shape[1], BLOCK=128)\nreturn o.long()"),
)
case(
    "t_embedding",
    "pass",
    task(
        "return self.e(ids)",
        "[torch.randint(0, 40, (3, 7))]",
        "self.e = nn.Embedding(v, d)",
        "[40, 24]",
        args="ids",
        ini_args="v, d",
    ),
    """
@triton.jit
def emb(ids, w, o, D, BLOCK: tl.constexpr):
    t = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    tl.store(o + t * D + c, tl.load(w + tl.load(ids + t) * D + c, mask=c < D), mask=c < D)
"""
    + model(
        "o = torch.empty(*ids.shape, self.e.embedding_dim)\nemb[(ids.numel(),)](ids, self.e.weight, o, self.e.embedding_dim, BLOCK=32)\nreturn o",
        "self.e = nn.Embedding(v, d)",
        "ids",
        "v, d",
    ),
)
case(
    "t_uint8_image",
    "pass",
    task("return (x.float() / 255.0 - 0.5)", "[torch.randint(0, 256, (3, 9, 9)).to(torch.uint8)]"),
    K.replace(
        "tl.maximum(tl.load(src + i, mask=i < n, other=0.0), 0.0)",
        "tl.load(src + i, mask=i < n, other=0).to(tl.float32) / 255.0 - 0.5",
    )
    + model(GO.replace("torch.empty_like(x)", "torch.empty(x.shape)")),
)
case(
    "t_int_min",
    "pass",
    task("return torch.clamp(x, min=0)", "[torch.randint(-50, 50, (100,)).int()]"),
    K.replace("other=0.0), 0.0)", "other=0), 0)") + model(GO),
)
case(
    "t_channels_last", "pass", task(R, "[torch.randn(2, 3, 5, 7).to(memory_format=torch.channels_last)]"), K + model(GO)
)
case(
    "t_permuted_output",
    "pass",
    task("return torch.relu(x).permute(1, 0)", "[torch.randn(33, 65)]"),
    K + model(GO.replace("return o", "return o.t()")),
)
case(
    "t_inf_nan",
    "pass",
    task("return torch.where(x > 1, float('inf'), torch.where(x < -1, float('nan'), x))", "[torch.randn(33, 65)]"),
    K.replace(
        "tl.maximum(tl.load(src + i, mask=i < n, other=0.0), 0.0)",
        "tl.where(tl.load(src + i, mask=i < n, other=0.0) > 1, float('inf'), tl.where(tl.load(src + i, mask=i < n, other=0.0) < -1, float('nan'), tl.load(src + i, mask=i < n, other=0.0)))",
    )
    + model(GO),
)
case(
    "t_default_dtype_half_model",
    "pass",
    task(
        "return self.fc(x)",
        "[torch.randn(19, 48).half()]",
        "self.fc = nn.Linear(fin, fout).half()",
        "[48, 21]",
        ini_args="fin, fout",
    ),
    LINEAR
    + model(
        "return run_linear(x, self.fc.weight, self.fc.bias, 1, 48, 21)",
        "self.fc = nn.Linear(fin, fout, dtype=torch.float16)",
        "x",
        "fin, fout",
    ),
)
case(
    "t_tuple_of_one",
    "pass",
    task("return (torch.relu(x),)", "[torch.randn(33, 65)]"),
    K + model(GO.replace("return o", "return (o,)")),
)
case(
    "t_namedtuple_max",
    "pass",
    task("return torch.max(x, dim=1)", "[torch.randn(16, 45)]"),
    """
@triton.jit
def mx(x, v, i, n, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    a = tl.load(x + r * n + c, mask=c < n, other=-float('inf'))
    m, at = tl.max(a, 0, return_indices=True)
    tl.store(v + r, m)
    tl.store(i + r, at.to(tl.int64))
"""
    + model(
        "v = torch.empty(x.shape[0])\ni = torch.empty(x.shape[0], dtype=torch.int64)\nmx[(x.shape[0],)](x, v, i, x.shape[1], BLOCK=64)\nreturn v, i"
    ),
)
case(
    "t_dropout_train_mode",
    "pass",
    task("return self.d(torch.relu(x))", "[torch.randn(33, 65)]", "self.d = nn.Dropout(0.5)"),
    K + model("return self.d(self.go(x))", "self.d = nn.Dropout(0.5)") + "\n    def go(self, x):\n" + indent(GO) + "\n",
)
case(
    "t_weight_tied",
    "pass",
    task(
        "return self.b(self.a(x))",
        "[torch.randn(18, 32)]",
        "self.a = nn.Linear(n, n)\nself.b = self.a",
        "[32]",
        ini_args="n",
    ),
    LINEAR
    + model(
        "return run_linear(run_linear(x, self.a.weight, self.a.bias, 1, 32, 32), self.a.weight, self.a.bias, 1, 32, 32)",
        "self.a = nn.Linear(n, n)\nself.b = self.a",
        "x",
        "n",
    ),
)
case(
    "t_weight_tied_once",
    "pass",
    task(
        "return self.b(self.a(x))",
        "[torch.randn(18, 32)]",
        "self.a = nn.Linear(n, n)\nself.b = self.a",
        "[32]",
        ini_args="n",
    ),
    LINEAR
    + model(
        "return run_linear(run_linear(x, self.a.weight, self.a.bias, 1, 32, 32), self.a.weight, self.a.bias, 1, 32, 32)",
        "self.a = nn.Linear(n, n)",
        "x",
        "n",
    ),
)
case(
    "t_kwargs_init",
    "pass",
    task(R, "[torch.randn(33, 65)]", "self.n = n", "[3]", ini_args="n, m=4"),
    K + model(GO, "self.n = args", "x", "*args, **kw"),
)
case(
    "t_optional_unused",
    "pass",
    task("return torch.relu(x)", "[torch.randn(33, 65), torch.randn(3)]", args="x, bias=None"),
    K + model(GO, arguments="x, bias=None"),
)
