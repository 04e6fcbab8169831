# ruff: noqa: E501 (candidates read better on one line)
"""Candidates that cheat, lie to the judge, crash, or hide a wrong answer: none may pass, none may hurt the judge."""

from __future__ import annotations

from verify_cases import (
    HEAD,
    LINEAR,
    LINEAR_TASK,
    NORM_TASK,
    RELU_TASK,
    SLOPE_TASK,
    case,
    model,
    raw,
)
from verify_cases_honest import GO, K

NOT_PASS = "cheat|wrong_output|runtime_error|crash|compile_error|static_error"

HARDCODE_NORM = """
@triton.jit
def ln(x, o, n, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + r * n + c, mask=c < n, other=0.0)
    m = tl.sum(v, 0) / n
    d = tl.where(c < n, v - m, 0.0)
    tl.store(o + r * n + c, d / tl.sqrt(tl.sum(d * d, 0) / n + 1e-5), mask=c < n)
"""
NGO = "o = torch.empty_like(x)\nln[(x.shape[0],)](x, o, x.shape[1], BLOCK=64)\nreturn o"
case("no_norm_parameters", "wrong_output|cheat", NORM_TASK, HARDCODE_NORM + model(NGO, "self.n = n", "x", "n"))
case(
    "norm_parameters_other_name_ignored",
    "wrong_output|cheat",
    NORM_TASK,
    HARDCODE_NORM + model(NGO, "self.ln = nn.LayerNorm(n)", "x", "n"),
)
case(
    "hardcoded_slope",
    "wrong_output|cheat",
    SLOPE_TASK,
    """
@triton.jit
def leaky(s, d, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(s + i, mask=i < n)
    tl.store(d + i, tl.where(v > 0, v, v * 0.2), mask=i < n)
"""
    + model(
        "o = torch.empty_like(x)\nleaky[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), BLOCK=256)\nreturn o",
        "self.slope = nn.Parameter(torch.full((1,), 0.2))",
    ),
)
IDS_TASK = (
    HEAD
    + """
class Model(nn.Module):
    def forward(self, ids):
        return torch.cumsum(ids, 0)
def get_inputs():
    return [torch.randint(0, 50, (200,))]
def get_init_inputs():
    return []
"""
)
COPY = """
@triton.jit
def cp(s, d, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(d + i, tl.load(s + i, mask=i < n), mask=i < n)
"""
case(
    "host_computes_small_ints",
    "cheat",
    IDS_TASK,
    COPY
    + model(
        "acc, out = 0, []\nfor v in ids.tolist():\n    acc += v\n    out.append(acc)\nt = torch.tensor(out)\no = torch.empty_like(t)\ncp[(1,)](t, o, t.numel(), BLOCK=256)\nreturn o",
        arguments="ids",
    ),
)
case(
    "torch_computes_small_ints",
    "cheat",
    IDS_TASK,
    COPY
    + model(
        "t = torch.cumsum(ids, 0)\no = torch.empty_like(t)\ncp[(1,)](t, o, t.numel(), BLOCK=256)\nreturn o",
        arguments="ids",
    ),
)
TINY_TASK = (
    HEAD
    + """
class Model(nn.Module):
    def forward(self, x):
        return torch.exp(x)
def get_inputs():
    return [torch.randn(2, 5)]
def get_init_inputs():
    return []
"""
)
case(
    "host_computes_few_floats",
    "cheat",
    TINY_TASK,
    COPY
    + "import math\n"
    + model(
        "t = torch.tensor([[math.exp(v) for v in r] for r in x.tolist()])\no = torch.empty_like(t)\ncp[(1,)](t, o, t.numel(), BLOCK=16)\nreturn o"
    ),
)
case(
    "host_few_floats_as_scalars",
    "cheat",
    TINY_TASK,
    """
import math
@triton.jit
def put(d, v):
    tl.store(d, v)
"""
    + model(
        "o = torch.empty_like(x)\nfor i in range(2):\n    for j in range(5):\n        put[(1,)](o[i, j], math.exp(x[i, j].item()))\nreturn o"
    ),
)
case(
    "forged_reveal",
    "cheat|wrong_output",
    RELU_TASK,
    COPY
    + """
import gc
from torch.utils._python_dispatch import _disable_current_modes
"""
    + model("""
for o in gc.get_objects():
    if type(o).__name__ == "Trace" and hasattr(o, "reveal"):
        o.reveal.add(0)
with _disable_current_modes():
    y = torch.relu(x).clone()
o = torch.empty_like(x)
cp[(triton.cdiv(x.numel(), 256),)](y, o, x.numel(), BLOCK=256)
return o"""),
)
case(
    "hidden_dispatch",
    NOT_PASS,
    RELU_TASK,
    COPY
    + "from torch.utils._python_dispatch import _disable_current_modes\n"
    + model(
        "with _disable_current_modes():\n    y = torch.relu(x).clone()\no = torch.empty_like(x)\ncp[(triton.cdiv(x.numel(), 256),)](y, o, x.numel(), BLOCK=256)\nreturn o"
    ),
)
case(
    "numpy_then_copy",
    NOT_PASS,
    RELU_TASK,
    COPY
    + "import numpy as np\n"
    + model(
        "y = torch.from_numpy(np.maximum(np.asarray(x), 0))\no = torch.empty_like(x)\ncp[(triton.cdiv(x.numel(), 256),)](y, o, x.numel(), BLOCK=256)\nreturn o"
    ),
)
case(
    "ctypes_read",
    NOT_PASS,
    RELU_TASK,
    COPY
    + "import ctypes, struct\n"
    + model(
        "raw = ctypes.string_at(x.data_ptr(), 4 * x.numel())\ny = torch.tensor([max(v, 0.0) for v in struct.unpack(f'{x.numel()}f', raw)]).view(x.shape)\no = torch.empty_like(x)\ncp[(triton.cdiv(x.numel(), 256),)](y, o, x.numel(), BLOCK=256)\nreturn o"
    ),
)
case(
    "torch_save_bytes",
    NOT_PASS,
    RELU_TASK,
    COPY
    + "import io\n"
    + model(
        "b = io.BytesIO()\ntorch.save(x, b)\nb.seek(0)\ny = torch.load(b).relu()\no = torch.empty_like(x)\ncp[(triton.cdiv(x.numel(), 256),)](y, o, x.numel(), BLOCK=256)\nreturn o"
    ),
)
case(
    "forward_hook",
    "cheat",
    RELU_TASK,
    COPY
    + """
class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_forward_pre_hook(lambda m, a: (torch.relu(a[0]),))
    def forward(self, x):
        o = torch.empty_like(x)
        cp[(triton.cdiv(x.numel(), 256),)](x, o, x.numel(), BLOCK=256)
        return o
""",
)
case(
    "trunc_by_cast",
    "cheat",
    RELU_TASK.replace("torch.relu(x)", "torch.trunc(x)"),
    COPY
    + model(
        "y = x.to(torch.int32).to(torch.float32)\no = torch.empty_like(y)\ncp[(triton.cdiv(x.numel(), 256),)](y, o, x.numel(), BLOCK=256)\nreturn o"
    ),
)
case(
    "nonzero_by_cast",
    "cheat",
    RELU_TASK.replace("torch.relu(x)", "(x != 0).float() + x.relu().to(torch.int32)"),
    COPY
    + model(
        "y = x.bool().float()\no = torch.empty_like(y)\ncp[(triton.cdiv(x.numel(), 256),)](y, o, x.numel(), BLOCK=256)\nreturn o"
    ),
)
case(
    "python_lists_then_kernel_launched",
    NOT_PASS,
    RELU_TASK,
    COPY
    + model(
        "y = torch.tensor([[max(v, 0.0) for v in r] for r in x.tolist()])\no = torch.empty_like(x)\ncp[(triton.cdiv(x.numel(), 256),)](y, o, x.numel(), BLOCK=256)\nreturn o"
    ),
)
case(
    "einsum_in_init_then",
    "cheat",
    LINEAR_TASK,
    LINEAR
    + model(
        "return run_linear(x, self.w2, self.fc.bias, 1, 48, 21)",
        "self.fc = nn.Linear(fin, fout)\nself.w2 = torch.einsum('ij->ij', self.fc.weight.detach() + 0)",
        "x",
        "fin, fout",
    ),
)
case(
    "lstm_module",
    "cheat",
    RELU_TASK,
    K + model("k[(1,)](x, torch.empty_like(x), 1, BLOCK=16)\nreturn self.l(x)", "self.l = nn.Hardswish()"),
)
case(
    "compiled",
    "cheat|runtime_error|crash",
    RELU_TASK,
    K
    + "f = torch.compile(lambda x: torch.relu(x), backend='eager')\n"
    + model("k[(1,)](x, torch.empty_like(x), 1, BLOCK=16)\nreturn f(x)"),
)
case(
    "jit_script",
    "cheat|runtime_error",
    RELU_TASK,
    K
    + "@torch.jit.script\ndef f(x):\n    return torch.relu(x)\n"
    + model("k[(1,)](x, torch.empty_like(x), 1, BLOCK=16)\nreturn f(x)"),
)
case(
    "vmap",
    "cheat|runtime_error",
    RELU_TASK,
    K + model("k[(1,)](x, torch.empty_like(x), 1, BLOCK=16)\nreturn torch.vmap(torch.relu)(x)"),
)
case(
    "thread_pool_compute",
    "cheat|wrong_output|runtime_error",
    RELU_TASK,
    COPY
    + "from concurrent.futures import ThreadPoolExecutor\n"
    + model(
        "with ThreadPoolExecutor(1) as p:\n    y = p.submit(torch.relu, x).result()\no = torch.empty_like(x)\ncp[(triton.cdiv(x.numel(), 256),)](y, o, x.numel(), BLOCK=256)\nreturn o"
    ),
)
case(
    "monkeypatched_launch",
    NOT_PASS,
    RELU_TASK,
    K
    + model(
        "from triton.runtime.jit import JITFunction\nJITFunction.run = lambda self, *a, **kw: None\nk[(1,)](x, x, 1, BLOCK=16)\nreturn torch.relu(x)"
    ),
)
case(
    "forged_written_flag",
    NOT_PASS,
    RELU_TASK,
    COPY
    + "import gc\nfrom torch.utils._python_dispatch import _disable_current_modes\n"
    + model("""
cp[(1,)](x, torch.empty_like(x), 1, BLOCK=16)
with _disable_current_modes():
    y = torch.relu(x).clone()
for o in gc.get_objects():
    if type(o).__name__ == "Trace" and hasattr(o, "violations"):
        o.violations.clear()
        o.storage(y).launched = True
return y"""),
)
case(
    "forged_header",
    "cheat|crash|wrong_output",
    RELU_TASK,
    COPY
    + "import sandbox.recorder as r\n"
    + """
import sys, gc
from sandbox import wire
real = wire.send
def send(sock, header, blocks=None):
    header = {"nonce": header.get("nonce"), "calls": [], "facts": 3, "violations": {}, "reveal": [[1]], "kernels": 5}
    real(sock, header, blocks)
wire.send = send
"""
    + model(GO.replace("k[", "cp[")),
)
FORGED = (
    'header["reveal"] = [[1], {}]',
    'header["facts"] = None',
    'header["violations"] = [{"kind": []}]',
    'header["stop"] = {"kind": "infrastructure_error", "message": "x", "line": "", "stage": ""}',
    'header["calls"][0]["launches"] = "many"',
    'header["calls"][0]["output"]["shape"] = [-1, 5]',
    'header["kernels"][0]["ttir"] = "garbage"',
    'header["kernels"][0]["arg_types"] = ["i64", "*fp32", "i32"]',
    'header["kernels"][0]["source"] = {"1" * 5000: "x"}',
    'header["calls"][0]["ops"][-1]["variants"][0]["args"][2] = float("nan")',
    'header["buffers"][0]["nbytes"] = 2**31',
    'header["x"] = eval("[" * 50 + "]" * 50)',
)
for number, patch in enumerate(FORGED):
    case(
        f"forged_header_{number}",
        "cheat|crash|wrong_output|compile_error|runtime_error|static_error",
        RELU_TASK,
        COPY
        + f"""
from sandbox import wire
real = wire.send
def send(sock, header, blocks=None):
    {patch}
    real(sock, header, blocks)
wire.send = send
"""
        + model(GO.replace("k[", "cp[")),
    )

# ---------------------------------------------------------------- odd ends

ANY = "cheat|wrong_output|runtime_error|crash|compile_error|static_error|timeout"
raw("surrogate_source", "static_error", RELU_TASK, HEAD + K + model(GO) + "\ns = '\ud800'\n")
raw("null_byte", "static_error", RELU_TASK, HEAD + K + model(GO) + "\x00")
raw("empty", "static_error", RELU_TASK, "")
raw("deep_nesting", "static_error|runtime_error", RELU_TASK, HEAD + K + model(GO) + "\nz = " + "(" * 3000 + ")" * 3000)
raw(
    "long_expression",
    "static_error|runtime_error|crash|pass",
    RELU_TASK,
    HEAD + K + model(GO) + "\nz = " + "+".join(["1"] * 20000),
)


def fwd(name, verdict, body, init=""):
    case(name, verdict, RELU_TASK, K + model(body, init))


fwd(
    "evil_exception_str",
    "runtime_error",
    "class E(Exception):\n    def __str__(self):\n        raise ValueError('x')\nraise E()",
)
fwd("evil_base_exception", "runtime_error|cheat", "class E(BaseException):\n    pass\nraise E('a' * 10**7)")
fwd("generator_exit", "runtime_error|cheat", "raise GeneratorExit()")
fwd("returns_none", "wrong_output|cheat", "o = torch.empty_like(x)\nk[(9,)](x, o, x.numel(), BLOCK=256)")
fwd("returns_number", "wrong_output|cheat", "k[(9,)](x, torch.empty_like(x), x.numel(), BLOCK=256)\nreturn 3.0")
fwd("returns_generator", "wrong_output|cheat", "yield x")
case(
    "returns_coroutine",
    "wrong_output|cheat",
    RELU_TASK,
    K + "\nclass ModelNew(nn.Module):\n    async def forward(self, x):\n        return x\n",
)
fwd(
    "self_referential",
    "wrong_output|cheat",
    "l = []\nl.append(l)\nk[(9,)](x, torch.empty_like(x), x.numel(), BLOCK=256)\nreturn l",
)
fwd(
    "deep_output",
    "wrong_output|cheat",
    "o = torch.empty_like(x)\nk[(9,)](x, o, x.numel(), BLOCK=256)\nfor _ in range(50):\n    o = [o]\nreturn o",
)
fwd(
    "many_outputs",
    "wrong_output|cheat",
    "o = torch.empty_like(x)\nk[(9,)](x, o, x.numel(), BLOCK=256)\nreturn [o] * 5000",
)
fwd(
    "evil_dict_keys",
    "wrong_output|cheat",
    "class D:\n    def __str__(self):\n        raise ValueError()\n    def __hash__(self):\n        return 1\nk[(9,)](x, torch.empty_like(x), x.numel(), BLOCK=256)\nreturn {D(): x}",
)
fwd(
    "evil_class_property",
    "wrong_output|cheat|runtime_error",
    "class E:\n    @property\n    def __class__(self):\n        raise ValueError()\nk[(9,)](x, torch.empty_like(x), x.numel(), BLOCK=256)\nreturn E()",
)
fwd(
    "lazy_list",
    ANY,
    "class L(list):\n    def __iter__(self):\n        return iter([x.relu()])\n    def __len__(self):\n        return 1\nreturn L()",
)
fwd("sigstop", "pass|timeout|crash", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n" + GO)
fwd("alarm", ANY, "import signal\nsignal.alarm(1)\nimport time\ntime.sleep(3)\nraise ValueError")
fwd("sleep", "timeout", "import time\ntime.sleep(100)")
fwd("close_fds", "cheat|crash", "import os\nos.closerange(0, 256)\n" + GO)
fwd("segfault_ctypes", "crash", "import ctypes\nctypes.string_at(0)\n" + GO)
fwd("stack_overflow_c", ANY, "import sys\nsys.setrecursionlimit(10**8)\ndef f():\n    f()\nf()")
fwd(
    "delete_builtins",
    ANY,
    "import builtins\nfor n in list(vars(builtins)):\n    if n not in ('__import__',):\n        delattr(builtins, n)\nreturn x",
)
fwd("sys_modules_clear", ANY, "import sys\nsys.modules.clear()\n" + GO)
fwd(
    "stdout_none_and_flood",
    "pass",
    "import sys\nfor _ in range(2000):\n    print('x' * 1000)\nsys.stderr.write('y' * 10**6)\n" + GO,
)
fwd("huge_allocation", "runtime_error|crash", "y = torch.empty(1 << 42)\n" + GO)
fwd("big_but_virtual", ANY + "|pass", "y = torch.empty(1 << 27)\n" + GO)
fwd("kernel_returns_early_exit", ANY, "import os\nos._exit(0)")
fwd("setrlimit_chdir", ANY, "import os, resource\nos.chdir('/')\nopen('/x', 'w')\n" + GO)
fwd("ptrace_parent", ANY, "import ctypes, os\nassert ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) == 0\n" + GO)
fwd("kill_all", ANY, "import os\nos.kill(-1, 9)\nraise ValueError")
fwd("kill_parent", ANY, "import os\nos.kill(os.getppid(), 9)\nraise ValueError")


def ker(name, verdict, text, go=GO):
    case(name, verdict, RELU_TASK, text + model(go))


ker(
    "recursive_kernel",
    "compile_error",
    "\n@triton.jit\ndef f(v, n):\n    return f(v, n)\n"
    + K.replace(
        "tl.maximum(tl.load(src + i, mask=i < n, other=0.0), 0.0)", "f(tl.load(src + i, mask=i < n, other=0.0), n)"
    ),
)
ker(
    "static_range_5000",
    "compile_error|timeout|wrong_output|runtime_error",
    "\n@triton.jit\ndef k(src, dst, n, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n    v = tl.load(src + i)\n    for j in tl.static_range(3000):\n        v = v * 1.5 + j\n    tl.store(dst + i, v)\n",
)
ker(
    "extern_exit",
    ANY,
    """
from triton.language import core
@core.extern
def bye(x, _builder=None):
    return core.extern_elementwise("", "", [x], {(core.dtype("fp32"),): ("exit", core.dtype("fp32"))}, is_pure=False, _builder=_builder)
"""
    + K.replace(
        "tl.maximum(tl.load(src + i, mask=i < n, other=0.0), 0.0)", "bye(tl.load(src + i, mask=i < n, other=0.0))"
    ),
)
ker(
    "extern_abort_hmf",
    ANY,
    """
from triton.language import core
@core.extern
def bye(x, _builder=None):
    return core.extern_elementwise("", "", [x], {(core.dtype("fp32"),): ("abort", core.dtype("fp32"))}, is_pure=True, _builder=_builder)
"""
    + K.replace(
        "tl.maximum(tl.load(src + i, mask=i < n, other=0.0), 0.0)", "bye(tl.load(src + i, mask=i < n, other=0.0))"
    ),
)
ker(
    "inline_asm",
    ANY,
    K.replace(
        "tl.maximum(tl.load(src + i, mask=i < n, other=0.0), 0.0)",
        "tl.inline_asm_elementwise('mov $$60, %rax; xor %rdi, %rdi; syscall', '=r,r', [tl.load(src + i, mask=i < n, other=0.0)], dtype=tl.float32, is_pure=False, pack=1)",
    ),
)
ker(
    "infinite_while",
    "timeout",
    "\n@triton.jit\ndef k(src, dst, n, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n    z = 0\n    while z < n:\n        z = z * 2\n    tl.store(dst + i, tl.load(src + i) + z)\n",
)
ker(
    "wild_store_loop",
    "runtime_error|timeout|wrong_output",
    "\n@triton.jit\ndef k(src, dst, n, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n    for j in range(0, 100000000):\n        tl.store(dst + i + j * 1000, i * 1.0)\n",
)
ker(
    "int_to_pointer",
    ANY,
    "\n@triton.jit\ndef k(src, dst, n, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n    p = (n * 0 + 4096).to(tl.int64).to(tl.pointer_type(tl.float32))\n    tl.store(p + i, i * 1.0)\n",
)
ker(
    "race_on_output",
    "wrong_output",
    "\n@triton.jit\ndef k(src, dst, n, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n    for j in range(0, tl.cdiv(n, BLOCK)):\n        c = j * BLOCK + i\n        v = tl.load(src + c, mask=c < n, other=0.0)\n        tl.store(dst + c, tl.maximum(v, 0.0) + tl.program_id(0) * 0.001, mask=c < n)\n",
)
ker(
    "read_uninitialised",
    "wrong_output",
    K.replace("tl.maximum(", "tl.maximum(tl.load(dst + i, mask=i < n, other=0.0) * 0 + "),
)
ker(
    "no_store",
    "cheat",
    "\n@triton.jit\ndef k(src, dst, n, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n    v = tl.load(src + i)\n",
)
ker(
    "kernel_never_launched_empty_grid",
    "cheat|wrong_output",
    K,
    "o = torch.zeros_like(x)\nk[(0,)](x, o, x.numel(), BLOCK=256)\nreturn o",
)
ker(
    "off_by_one_row",
    "wrong_output",
    K,
    "o = torch.zeros_like(x)\nn = x.numel() - x.shape[1]\nk[(triton.cdiv(n, 256),)](x, o, n, BLOCK=256)\nreturn o",
)
ker(
    "abs_instead",
    "wrong_output",
    K.replace(
        "tl.maximum(tl.load(src + i, mask=i < n, other=0.0), 0.0)", "tl.abs(tl.load(src + i, mask=i < n, other=0.0))"
    ),
)
SOFT = (
    HEAD
    + """
class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1)
def get_inputs():
    return [torch.randn(3, 16384)]
def get_init_inputs():
    return []
"""
)
SK = """
@triton.jit
def s(x, o, n, N, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    m = -float("inf")
    for b in range(0, n, BLOCK):
        c = b + tl.arange(0, BLOCK)
        m = tl.maximum(m, tl.max(tl.load(x + r * N + c, mask=c < n, other=-float("inf")), 0))
    d = 0.0
    for b in range(0, n, BLOCK):
        c = b + tl.arange(0, BLOCK)
        d += tl.sum(tl.exp(tl.load(x + r * N + c, mask=c < n, other=-float("inf")) - m), 0)
    for b in range(0, n, BLOCK):
        c = b + tl.arange(0, BLOCK)
        tl.store(o + r * N + c, tl.exp(tl.load(x + r * N + c, mask=c < n, other=0.0) - m) / d, mask=c < n)
"""
case(
    "softmax_last_column_zero",
    "wrong_output",
    SOFT,
    SK + model("o = torch.zeros_like(x)\ns[(x.shape[0],)](x, o, x.shape[1] - 1, x.shape[1], BLOCK=2048)\nreturn o"),
)
case(
    "softmax_right",
    "pass",
    SOFT,
    SK + model("o = torch.zeros_like(x)\ns[(x.shape[0],)](x, o, x.shape[1], x.shape[1], BLOCK=2048)\nreturn o"),
)
MEAN = (
    HEAD
    + """
class Model(nn.Module):
    def forward(self, x):
        return x.mean(dim=0) * 1e-3
def get_inputs():
    return [torch.randn(64, 4096)]
def get_init_inputs():
    return []
"""
)
case(
    "tiny_outputs_wrong_element",
    "wrong_output",
    MEAN,
    """
@triton.jit
def m(x, o, R, C, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.zeros((BLOCK,), tl.float32)
    for r in range(0, R):
        a += tl.load(x + r * C + c, mask=c < C, other=0.0)
    a = a / R * 1e-3
    a = tl.where(c == C - 1, 0.0, a)
    tl.store(o + c, a, mask=c < C)
"""
    + model(
        "o = torch.empty(x.shape[1])\nm[(triton.cdiv(x.shape[1], 256),)](x, o, x.shape[0], x.shape[1], BLOCK=256)\nreturn o"
    ),
)
