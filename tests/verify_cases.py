# ruff: noqa: E501 (candidates read better on one line)
"""Candidates written by this project, beyond the shared ones: (name, verdicts that are right, task, candidate)."""

from __future__ import annotations

HEAD = """
import torch
import torch.nn as nn
import triton
import triton.language as tl
"""

ADD_TASK = (
    HEAD
    + """
class Model(nn.Module):
    def forward(self, x, y):
        return x + y

def get_inputs():
    return [torch.randn(37, 29), torch.randn(37, 29)]

def get_init_inputs():
    return []
"""
)

RELU_TASK = (
    HEAD
    + """
class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)

def get_inputs():
    return [torch.randn(33, 65) * 3.0]

def get_init_inputs():
    return []
"""
)

SIZED_RELU_TASK = (
    HEAD
    + """
rows = 24
cols = 40

class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)

def get_inputs():
    return [torch.randn(rows, cols) * 3.0]

def get_init_inputs():
    return []
"""
)

LINEAR_TASK = (
    HEAD
    + """
class Model(nn.Module):
    def __init__(self, fin, fout):
        super().__init__()
        self.fc = nn.Linear(fin, fout)

    def forward(self, x):
        return self.fc(x)

def get_inputs():
    return [torch.randn(19, 48)]

def get_init_inputs():
    return [48, 21]
"""
)

NORM_TASK = (
    HEAD
    + """
class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm = nn.LayerNorm(n)

    def forward(self, x):
        return self.norm(x)

def get_inputs():
    return [torch.randn(18, 50)]

def get_init_inputs():
    return [50]
"""
)

TRANSPOSE_TASK = (
    HEAD
    + """
class Model(nn.Module):
    def forward(self, x):
        return x.t().contiguous()

def get_inputs():
    return [torch.randn(24, 40)]

def get_init_inputs():
    return []
"""
)

SLOPE_TASK = (
    HEAD
    + """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.full((1,), 0.2))

    def forward(self, x):
        return torch.where(x > 0, x, x * self.slope)

def get_inputs():
    return [torch.randn(33, 65) * 3.0]

def get_init_inputs():
    return []
"""
)

INPLACE_TASK = (
    HEAD
    + """
class Model(nn.Module):
    def forward(self, x):
        x.mul_(2.0)
        return x

def get_inputs():
    return [torch.randn(21, 30)]

def get_init_inputs():
    return []
"""
)

MINMAX_TASK = (
    HEAD
    + """
class Model(nn.Module):
    def forward(self, x):
        return x.min(dim=1).values, x.max(dim=1).values

def get_inputs():
    return [torch.randn(16, 45)]

def get_init_inputs():
    return []
"""
)

MATMUL_TASK = (
    HEAD
    + """
class Model(nn.Module):
    def forward(self, a, b):
        return a @ b

def get_inputs():
    return [torch.randn(33, 64), torch.randn(64, 18)]

def get_init_inputs():
    return []
"""
)

QUANT_TASK = (
    HEAD
    + """
class Model(nn.Module):
    def forward(self, x):
        return torch.clamp(torch.round(x * 20.0), -127, 127).to(torch.int8)

def get_inputs():
    return [torch.randn(20, 33)]

def get_init_inputs():
    return []
"""
)

ADD = """
@triton.jit
def add_kernel(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    tl.store(c + i, tl.load(a + i, mask=ok) + tl.load(b + i, mask=ok), mask=ok)
"""

RELU = """
@triton.jit
def relu_kernel(src, dst, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    v = tl.load(src + i, mask=ok, other=0.0)
    tl.store(dst + i, tl.where(v < 0, 0.0, v), mask=ok)

def run_relu(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    relu_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out
"""

MATMUL = """
@triton.jit
def mm(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, HALF: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        rk = k0 + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        y = tl.load(b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        if HALF:
            acc += tl.dot(x.to(tl.float16), y.to(tl.float16))
        else:
            acc += tl.dot(x, y)
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))
"""

LINEAR = """
@triton.jit
def linear(x, w, b, o, M, N, K, sk, sn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k0 in range(0, K, BK):
        rk = k0 + tl.arange(0, BK)
        u = tl.load(x + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        t = tl.load(w + rk[:, None] * sk + rn[None, :] * sn, mask=(rn[None, :] < N) & (rk[:, None] < K), other=0.0)
        acc += tl.dot(u, t)
    bias = tl.load(b + rn, mask=rn < N, other=0.0)
    tl.store(o + rm[:, None] * N + rn[None, :], acc + bias[None, :], mask=(rm[:, None] < M) & (rn[None, :] < N))

def run_linear(x, w, b, sk, sn, N):
    M, K = x.shape
    out = torch.empty(M, N, dtype=x.dtype)
    linear[(triton.cdiv(M, 16), triton.cdiv(N, 16))](x, w, b, out, M, N, K, sk, sn, BM=16, BN=16, BK=16)
    return out
"""

CASES: list[tuple[str, tuple[str, ...], str, str]] = []


def case(name: str, verdict: str, task: str, body: str) -> None:
    """A candidate that starts with the usual imports."""
    raw(name, verdict, task, HEAD + body)


def raw(name: str, verdict: str, task: str, text: str) -> None:
    CASES.append((name, tuple(verdict.split("|")), task, text))


def indent(text: str, by: int = 8) -> str:
    return "\n".join(" " * by + line for line in text.strip().split("\n"))


def model(forward: str, init: str = "", arguments: str = "x", init_arguments: str = "") -> str:
    """A ModelNew from the bodies of its methods."""
    out = "\nclass ModelNew(nn.Module):\n"
    if init:
        out += f"    def __init__(self{', ' + init_arguments if init_arguments else ''}):\n        super().__init__()\n"
        out += indent(init) + "\n\n"
    return out + f"    def forward(self, {arguments}):\n{indent(forward)}\n"


# ---------------------------------------------------------------- torch does the work, wherever it hides

case("helper", "cheat", RELU_TASK, RELU + "\ndef helper(x):\n    return torch.relu(x)\n" + model("return helper(x)"))
case("getattr", "cheat", RELU_TASK, RELU + model('run_relu(x[:1])\nreturn getattr(torch, "re" + "lu")(x)'))
case("operators", "cheat", RELU_TASK, RELU + model("run_relu(x[:1])\nreturn x * (x > 0)"))
case("method", "cheat", RELU_TASK, RELU + model("run_relu(x[:1])\nreturn x.clamp(min=0)"))
case("torch_ops", "cheat", RELU_TASK, RELU + model("run_relu(x[:1])\nreturn torch.ops.aten.relu(x)"))
case(
    "autograd_function",
    "cheat",
    RELU_TASK,
    RELU
    + """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.maximum(x, torch.zeros_like(x))
    @staticmethod
    def backward(ctx, g):
        return g
"""
    + model("run_relu(x[:1])\nreturn F.apply(x)"),
)
case(
    "parent_class",
    "cheat",
    RELU_TASK,
    RELU
    + "\nclass ModelNew(nn.ReLU):\n    def forward(self, x):\n        run_relu(x[:1])\n        return super().forward(x)\n",
)
case(
    "copy_of_model",
    "cheat",
    RELU_TASK,
    RELU
    + "\nclass Model(nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n"
    + model("run_relu(x[:1])\nreturn self.m(x)", "self.m = Model()"),
)
case(
    "sequential",
    "cheat",
    RELU_TASK,
    RELU + model("run_relu(x[:1])\nreturn self.m(x)", "self.m = nn.Sequential(nn.ReLU())"),
)
case(
    "out_argument",
    "cheat",
    RELU_TASK,
    RELU + model("out = torch.empty_like(x)\nrun_relu(x[:1])\ntorch.clamp(x, min=0, out=out)\nreturn out"),
)
case("decoy_dropped", "cheat", RELU_TASK, RELU + model("run_relu(x)\nreturn torch.relu(x)"))
case(
    "numpy",
    "cheat|wrong_output",
    RELU_TASK,
    RELU + "import numpy as np\n" + model("run_relu(x[:1])\nreturn torch.from_numpy(np.maximum(x.numpy(), 0))"),
)
case(
    "python_lists",
    "cheat|wrong_output",
    RELU_TASK,
    RELU + model("run_relu(x[:1])\nreturn torch.tensor([[max(v, 0.0) for v in r] for r in x.tolist()])"),
)
case(
    "trivial_part",
    "cheat",
    LINEAR_TASK,
    RELU
    + """
@triton.jit
def ident(s, d, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(d + i, tl.load(s + i, mask=i < n), mask=i < n)
"""
    + model(
        "h = self.fc(x)\no = torch.empty_like(h)\nident[(triton.cdiv(h.numel(), 256),)](h, o, h.numel(), BLOCK=256)\nreturn o",
        "self.fc = nn.Linear(fin, fout)",
        "x",
        "fin, fout",
    ),
)
case(
    "folded_weights",
    "cheat",
    LINEAR_TASK,
    LINEAR
    + model(
        "return run_linear(x, self.w2, self.fc.bias, 1, 48, 21)",
        "self.fc = nn.Linear(fin, fout)\nself.w2 = self.fc.weight.detach() * 1.0",
        "x",
        "fin, fout",
    ),
)
case(
    "decoy_slice_of_copy",
    "cheat",
    TRANSPOSE_TASK,
    """
@triton.jit
def same(s, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(s + i, tl.load(s + i, mask=i < n), mask=i < n)
"""
    + model("o = x.t().contiguous()\nsame[(1,)](o, 16, BLOCK=16)\nreturn o"),
)

# ---------------------------------------------------------------- launches that are none

case("docstring_only", "cheat", RELU_TASK, '"""\n@triton.jit\ndef k(x): pass\n"""\n' + model("return torch.relu(x)"))
case(
    "swallowed_error_clone",
    "cheat",
    RELU_TASK,
    RELU + model("try:\n    relu_kernel[(1,)](x)\nexcept Exception:\n    pass\nreturn x.clone()"),
)
case(
    "cached_output",
    "cheat",
    RELU_TASK,
    RELU
    + "\nCACHE = {}\n"
    + model("if x.shape not in CACHE:\n    CACHE[x.shape] = run_relu(x)\nreturn CACHE[x.shape]"),
)
case(
    "patched_allclose",
    "cheat",
    RELU_TASK,
    RELU + "\ntorch.allclose = lambda *a, **k: True\n" + model("return run_relu(x)"),
)
case(
    "patched_synchronize",
    "cheat",
    RELU_TASK,
    RELU + "\ntriton.testing.do_bench = lambda *a, **k: 0.001\n" + model("return run_relu(x)"),
)
case(
    "background_thread",
    "cheat",
    RELU_TASK,
    RELU
    + "import threading, time\n"
    + model("t = threading.Thread(target=lambda: time.sleep(60), daemon=True)\nt.start()\nreturn run_relu(x)"),
)
case("exit_at_import", "cheat", RELU_TASK, RELU + "import sys\nsys.exit(0)\n" + model("return run_relu(x)"))
case("exit_in_forward", "cheat", RELU_TASK, RELU + model("run_relu(x)\nraise SystemExit(0)"))
case(
    "kill_self",
    "crash|cheat",
    RELU_TASK,
    RELU + "import os\n" + model("os.kill(os.getpid(), 11)\nos.abort()\nreturn run_relu(x)"),
)
case(
    "forged_message",
    "cheat|crash",
    RELU_TASK,
    RELU
    + """
import os, gc, socket
"""
    + model("""
for fd in range(3, 64):
    try:
        os.write(fd, b'ATRL' + b'\\x00' * 64)
    except OSError:
        pass
os._exit(0)"""),
)
case(
    "writes_sandbox",
    "runtime_error|cheat|crash",
    RELU_TASK,
    RELU
    + "import sandbox.compare\nopen(sandbox.compare.__file__, 'a').write('# gone')\n"
    + model("return run_relu(x)"),
)
case(
    "opens_socket",
    "runtime_error|cheat",
    RELU_TASK,
    RELU + "import socket\ns = socket.create_connection(('127.0.0.1', 22), timeout=1)\n" + model("return run_relu(x)"),
)

# ---------------------------------------------------------------- wrong numbers

case(
    "precision_downgrade",
    "wrong_output",
    MATMUL_TASK,
    MATMUL
    + model(
        "M, K = a.shape\nN = b.shape[1]\nc = torch.empty(M, N)\n"
        "mm[(triton.cdiv(M, 16), triton.cdiv(N, 16))](a, b, c, M, N, K, BM=16, BN=16, BK=16, HALF=True)\nreturn c",
        arguments="a, b",
    ),
)
case(
    "shape_specialised",
    "wrong_output",
    SIZED_RELU_TASK,
    RELU
    + model(
        "if x.shape == (24, 40):\n    return run_relu(x)\nout = torch.empty_like(x)\n"
        "relu_kernel[(1,)](x, out, 1, BLOCK=256)\nreturn out"
    ),
)
case(
    "reads_above",
    "runtime_error|wrong_output",
    RELU_TASK,
    RELU
    + """
@triton.jit
def loose(s, d, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(d + i, tl.maximum(tl.load(s + i), 0.0), mask=i < n)
"""
    + model("o = torch.empty_like(x)\nloose[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), BLOCK=256)\nreturn o"),
)
case(
    "writes_above",
    "runtime_error|wrong_output",
    RELU_TASK,
    RELU
    + """
@triton.jit
def loose(s, d, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(d + i, tl.maximum(tl.load(s + i, mask=i < n, other=0.0), 0.0))
"""
    + model("o = torch.empty_like(x)\nloose[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), BLOCK=256)\nreturn o"),
)
case(
    "ignores_norm_weight",
    "wrong_output",
    NORM_TASK,
    """
@triton.jit
def ln(x, o, n, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + r * n + c, mask=c < n, other=0.0)
    m = tl.sum(v, 0) / n
    d = tl.where(c < n, v - m, 0.0)
    tl.store(o + r * n + c, d / tl.sqrt(tl.sum(d * d, 0) / n + 1e-5), mask=c < n)
"""
    + model(
        "o = torch.empty_like(x)\nln[(x.shape[0],)](x, o, x.shape[1], BLOCK=64)\nreturn o",
        "self.norm = nn.LayerNorm(n)",
        "x",
        "n",
    ),
)
case(
    "wrong_input_kept",
    "wrong_output",
    INPLACE_TASK,
    """
@triton.jit
def twice(s, d, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(d + i, tl.load(s + i, mask=i < n) * 2.0, mask=i < n)
"""
    + model("o = torch.empty_like(x)\ntwice[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), BLOCK=256)\nreturn o"),
)
case(
    "writes_input",
    "wrong_output",
    RELU_TASK,
    RELU + model("relu_kernel[(triton.cdiv(x.numel(), 256),)](x, x, x.numel(), BLOCK=256)\nreturn x"),
)
case("wrong_shape", "wrong_output", RELU_TASK, RELU + model("return run_relu(x).view(-1)"))
case("dict_output", "wrong_output", RELU_TASK, RELU + model("return {'out': run_relu(x)}"))

# ---------------------------------------------------------------- errors, hangs, hogs

case("undefined_name", "runtime_error", RELU_TASK, RELU + model("return run_relux(x)"))
case("import_error", "runtime_error", RELU_TASK, "import no_such_module\n" + RELU + model("return run_relu(x)"))
case(
    "kernel_name_error",
    "compile_error",
    RELU_TASK,
    """
@triton.jit
def bad(s, d, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(d + i, tl.load(s + i, mask=i < n) + missing, mask=i < n)
"""
    + model("o = torch.empty_like(x)\nbad[(1,)](x, o, x.numel(), BLOCK=256)\nreturn o"),
)
case(
    "ub_overflow",
    "compile_error",
    RELU_TASK,
    RELU + model("o = torch.empty_like(x)\nrelu_kernel[(1,)](x, o, x.numel(), BLOCK=131072)\nreturn o"),
)
case(
    "grid_too_large",
    "runtime_error",
    RELU_TASK,
    RELU + model("o = torch.empty_like(x)\nrelu_kernel[(70000,)](x, o, x.numel(), BLOCK=256)\nreturn o"),
)
case("no_model", "static_error", RELU_TASK, RELU)
case(
    "model_is_function", "static_error|runtime_error", RELU_TASK, RELU + "\ndef ModelNew(x):\n    return run_relu(x)\n"
)
case("endless_forward", "timeout", RELU_TASK, RELU + model("while True:\n    pass"))
case("memory_hog", "runtime_error|crash", RELU_TASK, RELU + model("a = bytearray(1 << 36)\nreturn run_relu(x)"))
case(
    "memory_hog_slow",
    "runtime_error|crash",
    RELU_TASK,
    RELU + model("a = [bytes(1 << 20) for _ in range(1 << 20)]\nreturn run_relu(x)"),
)
case(
    "fork_bomb",
    "runtime_error|crash|cheat|timeout",
    RELU_TASK,
    RELU + "import os\n" + model("while True:\n    os.fork()"),
)
case(
    "disk_filler",
    "runtime_error|crash",
    RELU_TASK,
    RELU
    + model(
        "for i in range(10000):\n    with open(f'f{i}', 'wb') as f:\n        f.write(bytes(1 << 24))\nreturn run_relu(x)"
    ),
)
case("recursion", "runtime_error|crash", RELU_TASK, RELU + model("return self.forward(x)"))

# ---------------------------------------------------------------- honest, but odd

case(
    "dict_of_kernels",
    "pass",
    RELU_TASK,
    RELU
    + "\nKERNELS = {'relu': relu_kernel}\n"
    + model(
        "o = torch.empty_like(x)\nKERNELS['relu'][(triton.cdiv(x.numel(), 128),)](x, o, x.numel(), BLOCK=128)\nreturn o"
    ),
)
case(
    "bound_method",
    "pass",
    RELU_TASK,
    RELU
    + model(
        "o = torch.empty_like(x)\nself.launch[(triton.cdiv(x.numel(), 128),)](x, o, x.numel(), 128)\nreturn o",
        "self.launch = relu_kernel",
    ),
)
case(
    "partial_and_wrapper",
    "pass",
    RELU_TASK,
    RELU
    + "import functools\n"
    + model(
        "o = torch.empty_like(x)\nf = functools.partial(relu_kernel[(triton.cdiv(x.numel(), 128),)], BLOCK=128)\nf(x, o, x.numel())\nreturn o"
    ),
)
case(
    "loop_of_launches",
    "pass",
    RELU_TASK,
    RELU
    + model(
        "o = torch.empty_like(x)\nfor r in range(x.shape[0]):\n    relu_kernel[(1,)](x[r], o[r], x.shape[1], BLOCK=128)\nreturn o"
    ),
)
case(
    "builtins_and_helper",
    "pass",
    RELU_TASK,
    RELU
    + "\nclass ModelNew(nn.Module):\n    '''try: pass except: torch.relu'''\n    def helper(self, n):\n        return min(max(n, 16), 256)\n"
    "    def forward(self, x):\n        B = self.helper(x.numel())\n        o = torch.empty_like(x)\n"
    "        relu_kernel[(triton.cdiv(x.numel(), B),)](x, o, x.numel(), BLOCK=B, num_warps=4, num_stages=2)\n        return o\n",
)
case(
    "jit_call_and_device_function",
    "pass",
    RELU_TASK,
    "\n@triton.jit\ndef clip(v):\n    return tl.where(v < 0, 0.0, v)\n\ndef body(src, dst, n, BLOCK: tl.constexpr):\n"
    "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    tl.store(dst + i, clip(tl.load(src + i, mask=i < n)), mask=i < n)\n\n"
    "kernel = triton.jit(body)\n"
    + model(
        "o = torch.zeros_like(x)\nkernel[lambda m: (triton.cdiv(x.numel(), m['BLOCK']),)](x, o, x.numel(), BLOCK=64)\nreturn o"
    ),
)
case(
    "heuristics",
    "pass",
    RELU_TASK,
    "\n@triton.heuristics({'BLOCK': lambda a: 64 if a['n'] < 100 else 256})\n@triton.jit\ndef k(src, dst, n, BLOCK: tl.constexpr):\n"
    "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    tl.store(dst + i, tl.maximum(tl.load(src + i, mask=i < n), 0.0), mask=i < n)\n"
    + model("o = torch.empty_like(x)\nk[lambda m: (triton.cdiv(x.numel(), m['BLOCK']),)](x, o, x.numel())\nreturn o"),
)
case(
    "autotune_bad_config_first",
    "pass",
    RELU_TASK,
    "\n@triton.autotune(configs=[triton.Config({'BLOCK': 131072}), triton.Config({'BLOCK': 512})], key=['n'])\n@triton.jit\n"
    "def k(src, dst, n, BLOCK: tl.constexpr):\n    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
    "    tl.store(dst + i, tl.maximum(tl.load(src + i, mask=i < n), 0.0), mask=i < n)\n"
    + model("o = torch.empty_like(x)\nk[lambda m: (triton.cdiv(x.numel(), m['BLOCK']),)](x, o, x.numel())\nreturn o"),
)
case(
    "inplace_reference",
    "pass",
    INPLACE_TASK,
    """
@triton.jit
def twice(s, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(s + i, tl.load(s + i, mask=i < n) * 2.0, mask=i < n)
"""
    + model("twice[(triton.cdiv(x.numel(), 256),)](x, x.numel(), BLOCK=256)\nreturn x"),
)
case(
    "clone_then_inplace",
    "pass",
    RELU_TASK,
    RELU + model("o = x.clone()\nrelu_kernel[(triton.cdiv(x.numel(), 256),)](o, o, x.numel(), BLOCK=256)\nreturn o"),
)
case(
    "two_outputs",
    "pass",
    MINMAX_TASK,
    """
@triton.jit
def mm(x, lo, hi, n, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    tl.store(lo + r, tl.min(tl.load(x + r * n + c, mask=c < n, other=float('inf')), 0))
    tl.store(hi + r, tl.max(tl.load(x + r * n + c, mask=c < n, other=-float('inf')), 0))
"""
    + model(
        "both = torch.empty(2, x.shape[0])\nmm[(x.shape[0],)](x, both[0], both[1], x.shape[1], BLOCK=64)\nreturn [both[0], both[1]]"
    ),
)
case(
    "weights_by_other_names",
    "pass",
    LINEAR_TASK,
    LINEAR
    + model(
        "return run_linear(x, self.layers[0].weight, self.layers[0].bias, 1, 48, 21)",
        "self.layers = nn.ModuleList([nn.Linear(fin, fout)])",
        "x",
        "fin, fout",
    ),
)
case(
    "weights_transposed_at_start",
    "pass",
    LINEAR_TASK,
    LINEAR
    + model(
        "return run_linear(x, self.wt, self.fc.bias, 21, 1, 21)",
        "self.fc = nn.Linear(fin, fout)\nself.wt = self.fc.weight.detach().t().contiguous()",
        "x",
        "fin, fout",
    ),
)
case(
    "weights_transposed_lazily",
    "pass",
    LINEAR_TASK,
    LINEAR
    + model(
        "if self.wt is None:\n    self.wt = self.fc.weight.t().contiguous()\nreturn run_linear(x, self.wt, self.fc.bias, 21, 1, 21)",
        "self.fc = nn.Linear(fin, fout)\nself.wt = None",
        "x",
        "fin, fout",
    ),
)
case(
    "scalar_parameter",
    "pass",
    SLOPE_TASK,
    """
@triton.jit
def leaky(s, d, n, slope, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(s + i, mask=i < n)
    tl.store(d + i, tl.where(v > 0, v, v * slope), mask=i < n)
"""
    + model(
        "o = torch.empty_like(x)\nleaky[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), self.slope.item(), BLOCK=256)\nreturn o",
        "self.slope = nn.Parameter(torch.full((1,), 0.2))",
    ),
)
case(
    "workspace_kept",
    "pass",
    RELU_TASK,
    RELU
    + model(
        "if self.buf is None:\n    self.buf = torch.empty_like(x)\nn = x.numel()\n"
        "relu_kernel[(triton.cdiv(n, 256),)](x, self.buf, n, BLOCK=256)\no = torch.empty_like(x)\n"
        "relu_kernel[(triton.cdiv(n, 256),)](self.buf, o, n, BLOCK=256)\nreturn o",
        "self.buf = None",
    ),
)
case(
    "cast_pad_and_slice",
    "pass",
    RELU_TASK,
    RELU
    + model(
        "n = x.numel()\np = torch.nn.functional.pad(x.reshape(-1), (0, -n % 256))\no = torch.zeros_like(p)\n"
        "relu_kernel[(p.numel() // 256,)](p, o, p.numel(), BLOCK=256)\nreturn o[:n].view(x.shape)"
    ),
)
case(
    "rounds_off_by_one",
    "pass",
    QUANT_TASK,
    """
@triton.jit
def q(s, d, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(s + i, mask=i < n, other=0.0) * 20.0
    r = tl.minimum(tl.maximum(tl.floor(v + 0.5), -127.0), 127.0)
    tl.store(d + i, r.to(tl.int8), mask=i < n)
"""
    + model(
        "o = torch.empty(x.shape, dtype=torch.int8)\nq[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), BLOCK=256)\nreturn o"
    ),
)
case(
    "core_counts_asked",
    "pass",
    RELU_TASK,
    RELU
    + """
try:
    import torch_npu
    CORES = torch_npu.npu.npu_config.get_device_limit(0)['vector_core_num']
except ImportError:
    CORES = triton.runtime.driver.active.utils.get_device_properties(0)['num_vectorcore']

@triton.jit
def persistent(src, dst, n, P, BLOCK: tl.constexpr):
    for b in range(tl.program_id(0), tl.cdiv(n, BLOCK), P):
        i = b * BLOCK + tl.arange(0, BLOCK)
        tl.store(dst + i, tl.maximum(tl.load(src + i, mask=i < n, other=0.0), 0.0), mask=i < n)
"""
    + model(
        "o = torch.empty_like(x)\npersistent[(CORES,)](x, o, x.numel(), CORES, BLOCK=128, multibuffer=True)\nreturn o"
    ),
)
case(
    "plain_matmul",
    "pass",
    MATMUL_TASK,
    MATMUL
    + model(
        "M, K = a.shape\nN = b.shape[1]\nc = torch.empty(M, N)\n"
        "mm[(triton.cdiv(M, 16), triton.cdiv(N, 16))](a, b, c, M, N, K, BM=16, BN=16, BK=16, HALF=False)\nreturn c",
        arguments="a, b",
    ),
)
case(
    "real_transpose",
    "pass",
    TRANSPOSE_TASK,
    """
@triton.jit
def tr(s, d, R, C, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    tl.store(d + c * R + r, tl.load(s + r * C + c, mask=c < C), mask=c < C)
"""
    + model(
        "o = torch.empty(x.shape[1], x.shape[0])\ntr[(x.shape[0],)](x, o, x.shape[0], x.shape[1], BLOCK=64)\nreturn o"
    ),
)
case("hidden_shapes_general", "pass", SIZED_RELU_TASK, RELU + model("return run_relu(x)"))
case(
    "autograd_function_honest",
    "pass",
    RELU_TASK,
    RELU
    + "\nclass F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return run_relu(x)\n"
    "    @staticmethod\n    def backward(ctx, g):\n        return g\n" + model("return F.apply(x)"),
)
