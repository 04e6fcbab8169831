"""The HIVM reader keeps the program: nothing is lost, nothing is misread, the unknown is counted."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.profile import library, views
from sandbox.profile.affine import parse_map
from sandbox.profile.mlir_text import HivmError, parse_type
from sandbox.profile.program import MemRefType, walk
from sandbox.profile.reader import read
from sandbox.profile.trace import trace_program
from sandbox.profile.views import View

HIVM = Path(__file__).parent / "hivm"
FILES = sorted(HIVM.glob("*.mlir"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_line_of_a_function_becomes_an_operation(path: Path) -> None:
    text = path.read_text()
    program = read(text)
    body = text[text.index("func.func @") :]
    lines = [line.strip() for line in body.splitlines()]
    printed = [
        line
        for line in lines
        if line and not line.startswith(("}", "^", "func.func", "module", "#")) and line not in ("{",)
    ]
    ops = [op for function in program.functions for op in walk(function.body)]
    assert len(ops) == len(printed)
    assert not program.unknown
    calls = re.findall(r"call @([\w.]+)\(", text)
    assert sorted(calls) == sorted(op.attributes["callee"] for op in ops if op.name == "call")
    assert program.device["VECTOR_CORE_COUNT"] == 2 * program.device["CUBE_CORE_COUNT"]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_flags_balance_and_every_value_is_defined_before_use(path: Path) -> None:
    program = read(path.read_text())
    for function in program.kernels():
        sets = sum(op.name == "hivm.hir.set_flag" for op in walk(function.body))
        waits = sum(op.name == "hivm.hir.wait_flag" for op in walk(function.body))
        assert sets == waits
        defined = set(function.arguments)
        for op in walk(function.body):
            for region in op.regions:
                defined.update(region.arguments)
        for op in walk(function.body):
            defined.update(op.results)
        used = {name for op in walk(function.body) for name in op.operands}
        assert used <= defined, used - defined


def test_unknown_operations_are_kept_counted_and_cost_time() -> None:
    text = (HIVM / "copy.mlir").read_text()
    strange = text.replace(
        "    hivm.hir.pipe_barrier[<PIPE_ALL>]\n",
        '    "hivm.hir.dream"(%7) {depth = 3 : i32} : (memref<1024xf32, #hivm.address_space<ub>>) -> ()\n'
        "    func.call @vdream_1d_float(%cast_4) : (memref<?xf32, strided<[?], offset: ?>>) -> ()\n"
        "    func.call @dream_1d_float(%cast_4) : (memref<?xf32, strided<[?], offset: ?>>) -> ()\n"
        "    hivm.hir.pipe_barrier[<PIPE_ALL>]\n",
    )
    program = read(strange)
    assert program.unknown == {"hivm.hir.dream": 1}
    plain, dreaming = (
        trace_program(p, p.kernels()[0], {2: 4096}, (4, 1, 1), 0) for p in (read(text), program)
    )
    assert dreaming.unknown_calls == {"hivm.hir.dream": 1, "dream_1d_float": 1}
    assert len(dreaming.events) > len(plain.events)
    known = library.vector_work("vadd_1d_float", [view([1024])])
    unknown = library.vector_work("dream_1d_float", [view([1024])])
    assert unknown.repeats > 4 * known.repeats


@pytest.mark.parametrize(
    "text", ["", "module {\n}\n", "nonsense", "module {\n  func.func @f() {\n    %0 = arith.constant 1 : i32\n"]
)
def test_text_that_is_no_module_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(HivmError, match=r"."):
        read(text)


def test_types() -> None:
    kind = parse_type("memref<?x64xf16, strided<[128, 1], offset: ?>, #hivm.address_space<gm>>")
    assert kind == MemRefType((None, 64), "f16", "gm", (128, 1), None)
    assert parse_type("memref<2x3x4xbf16, #hivm.address_space<ub>>") == MemRefType(
        (2, 3, 4), "bf16", "ub", (12, 4, 1), 0
    )
    assert parse_type("i32") == "i32"


def combine(parts: tuple) -> tuple[str, str]:
    """One more level of an expression, as MLIR and as Python."""
    (left, python_left), operator, (right, python_right) = parts
    python = {
        "floordiv": f"({python_left} // {python_right})",
        "ceildiv": f"-(-{python_left} // {python_right})",
        "mod": f"({python_left} % {python_right})",
    }.get(operator, f"({python_left} {operator} {python_right})")
    return f"({left} {operator} {right})", f"({python})"


leaf = st.one_of(st.integers(0, 64).map(str), st.sampled_from(["d0", "s0", "s1"])).map(lambda t: (t, t))
divisor = st.integers(1, 9).map(lambda n: (str(n), str(n)))
expressions = st.recursive(
    leaf,
    lambda inner: (
        st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(combine)
        | st.tuples(inner, st.sampled_from(["floordiv", "mod", "ceildiv"]), divisor).map(combine)
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=60)
@given(expressions, st.lists(st.integers(-50, 50), min_size=3, max_size=3))
def test_affine_maps_agree_with_python(expression: tuple[str, str], values: list[int]) -> None:
    mlir, python = expression
    parsed = parse_map(f"affine_map<(d0)[s0, s1] -> ({mlir}, 7)>")
    assert parsed.apply(list(values)) == [eval(python, {}, dict(zip(("d0", "s0", "s1"), values, strict=True))), 7]


def view(shape: list[int], bits: int = 32) -> View:
    strides = np.empty(shape, np.int8).strides
    return View("ub:0", "ub", "f32", bits, 0, tuple(shape), tuple(strides), tuple(shape))


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_subviews_address_the_elements_that_numpy_addresses(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    offsets = [data.draw(st.integers(0, n - 1)) for n in shape]
    steps = [data.draw(st.integers(1, 2)) for _ in shape]
    sizes = [data.draw(st.integers(1, (n - o + s - 1) // s)) for n, o, s in zip(shape, offsets, steps, strict=True)]
    flat = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    cut = flat[tuple(slice(o, o + z * s, s) for o, z, s in zip(offsets, sizes, steps, strict=True))]
    kind = MemRefType(tuple(sizes), "i32", "ub")
    got = views.subview(view(shape), list(offsets), list(sizes), list(steps), kind)
    assert got.dims() == list(cut.shape)
    assert got.offset == cut.flat[0]
    assert got.count() == cut.size
    run = 1
    for n, s in zip(reversed(cut.shape), reversed([x // 4 for x in cut.strides]), strict=True):
        if n > 1 and s != run:
            break
        run *= n
    assert got.contiguous_elements() == run
