"""Verdicts of the real Ascend compiler: messages, source lines, cache keys, releases, launch limits."""

import concurrent.futures
import importlib
import importlib.util
import re
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import refused, tutorials
from kernels.harness import lower

from atrl_ms.errors import UserError
from sandbox import toolchain
from sandbox.compile import compile_for_ascend
from sandbox.execute.standin import install_driver_stand_in
from sandbox.ttir import CompileError, KernelIR, lower_to_ttir, specialise

SOURCE = Path(refused.__file__).read_text().split("\n")


@pytest.fixture
def fresh_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ATRL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def ttir(kernel, *args, **meta):
    signature, constants, attrs, _ = specialise(kernel, args, meta)
    return lower_to_ttir(kernel, signature, constants, attrs, options=meta)


def line_of(text):
    return 1 + next(i for i, line in enumerate(SOURCE) if text in line)


@pytest.mark.parametrize(
    ("kernel", "message", "source"),
    (
        (refused.undefined_name, "missing is not defined", "tl.store(out + at, missing(value))"),
        (
            refused.shapes_differ,
            "incompatible dimensions at index 0: 64 and 128",
            "tl.load(x + at) + tl.load(x + wide)",
        ),
    ),
)
def test_front_end_errors_carry_message_and_line(kernel, message, source):
    x = torch.zeros(128)
    with pytest.raises(CompileError) as caught:
        ttir(kernel, x, x, BLOCK=64)
    assert caught.value.stage == "ttir"
    assert message in caught.value.line and "\n" not in caught.value.line
    assert caught.value.source_line.startswith(f"{line_of(source)}: ")
    assert source in caught.value.source_line


def test_an_error_in_a_helper_names_its_own_words():
    x = torch.zeros(128)
    with pytest.raises(CompileError) as caught:
        ttir(refused.fault_in_helper, x, x, BLOCK=64)
    assert "no_such_method" in caught.value.line
    assert "helper_with_a_fault" in caught.value.source_line or "no_such_method" in caught.value.source_line


def test_buffer_overflow_is_the_compilers_own_line_with_its_numbers():
    x = torch.zeros(512 * 512)
    linalg, _ = lower(refused.square_tile, (x, x, 512 * 512), {"BLOCK": 512})
    artifact = compile_for_ascend(linalg)
    assert not artifact.ok and artifact.hivm is None
    bits = re.match(r"ub overflow, requires (\d+) bits while 1572864 bits available", artifact.error)
    assert bits and int(bits[1]) >= 512 * 512 * 32
    assert artifact.source_line.startswith(f"{line_of('def square_tile')}: def square_tile")
    plan = next(iter(artifact.memory.values()))  # also written when planning fails
    assert plan["Header"]["KernelName"] == "square_tile"
    smaller, _ = lower(refused.square_tile, (x, x, 64 * 64), {"BLOCK": 64})
    accepted = compile_for_ascend(smaller)
    assert accepted.ok and accepted.error == ""
    assert "square_tile" in accepted.hivm and '"UB_SIZE", 1572864' in accepted.hivm


def test_a_bias_seeded_accumulator_is_refused_as_on_the_device():
    a = torch.zeros(32, 64).half()
    linalg, _ = lower(refused.bias_seeded_dot, (a, a, torch.zeros(32), torch.zeros(32, 32), 64), {"BLOCK": 32})
    artifact = compile_for_ascend(linalg)
    assert not artifact.ok
    assert artifact.error and not artifact.error.startswith(("Failed to run", "[ERROR]"))


def test_verdicts_and_failures_are_cached(fresh_cache):
    x = torch.zeros(512 * 512)
    for block in (512, 64):
        linalg, _ = lower(refused.square_tile, (x, x, 512 * 512), {"BLOCK": block})
        first, second = compile_for_ascend(linalg), compile_for_ascend(linalg)
        assert first.seconds > 0 and second.seconds == 0
        assert (first.ok, first.error, first.hivm, first.source_line) == (
            second.ok, second.error, second.hivm, second.source_line,
        )  # fmt: skip


def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    monkeypatch.setenv("ATRL_CACHE", str(blocked))
    linalg, _ = lower(tutorials.vector_add, (torch.zeros(64),) * 3 + (64,), {"BLOCK": 64})
    assert compile_for_ascend(linalg).seconds > 0
    assert compile_for_ascend(linalg).seconds > 0


def test_cache_survives_concurrent_writers_and_keys_do_not_collide(fresh_cache):
    cache = toolchain.Cache("test")
    key = toolchain.Cache.key("k")
    values = [bytes([i]) * 100_000 for i in range(8)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda data: [cache.put(key, data) for _ in range(20)], values))
    assert cache.get(key) in values
    assert not list(fresh_cache.rglob(".new-*"))
    assert toolchain.Cache.key("ab", "c") != toolchain.Cache.key("a", "bc")


def test_key_depends_on_everything_that_changes_the_result():
    x = torch.zeros(64)

    def key(arch="Ascend910B4", cann="9.0.0", n=64, **meta):
        return ttir(tutorials.vector_add, x, x, x, n, **{"BLOCK": 64, **meta}).key(arch, cann)

    keys = [
        key(),
        key(arch="Ascend910B1"),
        key(cann="ascendnpu-ir-1.2.0"),
        key(BLOCK=32),
        key(multibuffer=False),
        key(n=1),
    ]
    assert len(set(keys)) == len(keys)
    assert key(num_warps=8, num_stages=3) == key()  # no effect on Ascend
    assert key(n=96) == key(n=64) != key(n=63)  # divisibility by 16 is part of it, the value is not


def test_key_ignores_where_the_file_lies(tmp_path):
    text = (
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef k(x):\n    tl.store(x, tl.load(x) + 1.0)\n"
    )
    found = []
    for name, prefix in (("one", ""), ("two", "# a comment\n" * 7)):
        path = tmp_path / f"{name}.py"
        path.write_text(prefix + text)
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found.append(ttir(module.k, torch.zeros(4)))
    assert found[0].key() == found[1].key()
    assert [ir.source_line(2) for ir in found] == [f"{n}: tl.store(x, tl.load(x) + 1.0)" for n in (7, 14)]
    assert KernelIR.from_json(found[1].to_json()) == found[1]


kind_of_value = st.one_of(
    st.integers(-(2**40), 2**40), st.sampled_from([0, 1, 16, -16, 2**31 - 1, 2**31, True, False, 1.0, 0.5, None])
)


@settings(max_examples=60, deadline=None)
@given(values=st.tuples(*[kind_of_value] * 6))
def test_specialisation_agrees_with_tritons_own_binder(values):
    from triton.backends.ascend.compiler import AscendBackend
    from triton.backends.compiler import GPUTarget

    kernel = refused.many_kinds
    args = (torch.zeros(4), torch.zeros(4).half()[1:], None, *values)
    signature, constants, attrs, runtime = specialise(kernel, args, {"BLOCK": 64, "num_warps": 4})
    backend = AscendBackend(GPUTarget("npu", "Ascend910B4", 0))
    kernel.create_binder(backend)
    bound, keys, _, others, excess = kernel.binder(*args, BLOCK=64, num_warps=4)
    theirs = dict(zip([p.name for p in kernel.params if not p.is_constexpr], keys, strict=False))
    assert signature == {name: "*i8" if kind == "none" else kind for name, kind in theirs.items()}
    own = backend.get_attrs_descriptor(kernel.params, tuple(bound.values()))
    assert attrs.to_dict() == own.to_dict()
    fixed = {p.name: v for v, p in zip(bound.values(), kernel.params, strict=True)
             if p.is_constexpr or p.num in own.get_constants() or v is None}  # fmt: skip
    assert constants == fixed and excess == {"num_warps": 4}
    dynamic = [v for v, p in zip(bound.values(), kernel.params, strict=True) if p.name not in fixed]
    assert all(a is b for a, b in zip(runtime, dynamic, strict=True)) and len(others) == 9


def test_wrong_launch_arguments_are_python_errors():
    x = torch.zeros(4)
    with pytest.raises(TypeError, match="'n'"):
        specialise(tutorials.vector_add, (x, x, x), {"BLOCK": 64})
    with pytest.raises(TypeError, match="too many"):
        specialise(tutorials.vector_add, (x, x, x, 4, 64, 5), {})
    with pytest.raises(TypeError, match="Callable"):
        specialise(tutorials.vector_add, (x, x, x, 4), {"BLOCK": len})
    with pytest.raises(KeyError, match="blok"):
        specialise(tutorials.vector_add, (x, x, x, 4), {"BLOCK": 64, "blok": 64})


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(UserError, match=r"--cann 7\.0.*9\.0\.0"):
        toolchain.compiler_version("7.0")
    with pytest.raises(UserError, match=r"--arch A100.*Ascend910B4"):
        toolchain.device("A100")


def test_missing_compilers_say_what_is_lost_and_how_to_get_them(fresh_cache, monkeypatch):
    linalg, _ = lower(tutorials.vector_add, (torch.zeros(64),) * 3 + (64,), {"BLOCK": 64})
    with pytest.raises(toolchain.ToolMissing, match=r"1\.2\.0.*pip install --no-deps --target .*ascendnpu-ir==1\.2\.0"):
        compile_for_ascend(linalg, cann="ascendnpu-ir-1.2.0")
    monkeypatch.setattr(toolchain, "_package_directory", lambda name: None)
    with pytest.raises(toolchain.ToolMissing, match="no kernel can be compiled for Ascend"):
        compile_for_ascend(linalg)
    with pytest.raises(toolchain.ToolMissing, match="no native execution"):
        toolchain.bishengir_opt()
    with pytest.raises(toolchain.ToolMissing, match="triton-adapter-opt"):
        toolchain.adapter_opt()


@pytest.mark.parametrize("cann", ("ascendnpu-ir-1.0.0", "ascendnpu-ir-1.2.0"))
def test_other_releases_give_their_own_verdicts(cann):
    try:
        toolchain.bishengir("bishengir-compile", cann)
    except toolchain.ToolMissing as error:
        pytest.skip(str(error))
    x = torch.zeros(512 * 512)
    refusing, _ = lower(refused.square_tile, (x, x, 512 * 512), {"BLOCK": 512})
    accepting, _ = lower(refused.square_tile, (x, x, 64 * 64), {"BLOCK": 64})
    no, yes = (compile_for_ascend(linalg, cann=cann) for linalg in (refusing, accepting))
    assert yes.ok and not no.ok and "ub overflow" in no.error
    assert toolchain.compiler_version(cann) in yes.version


@pytest.mark.parametrize(
    ("grid", "problem"),
    (
        ((1,), None),
        ((65535,), None),
        ((65535, 1, 1), None),
        ((0, 70000), None),
        ((65536,), "UINT16_MAX"),
        ((300, 300), "90000"),
        ((1, 1, 65536), "grid z"),
        ((-1,), "negative"),
        ((1.0,), "integer"),
        ((), "1 to 3"),
        ((1, 1, 1, 1), "1 to 3"),
    ),
)
def test_launch_limits_of_the_device(grid, problem):
    message = toolchain.check_launch(grid)
    assert (message is None) if problem is None else (problem in message)
    if problem in ("UINT16_MAX", "90000", "grid z"):
        assert "fewer programs" in message


def test_kernel_names_are_cut_as_the_device_cuts_them():
    assert toolchain.device_kernel_name("a" * 60 + "tail") == "a" * 45 + "tail"


@pytest.mark.parametrize(("arch", "cube", "vector"), (("Ascend910B1", 24, 48), ("Ascend910B4", 20, 40)))
def test_stand_in_answers_with_the_targets_numbers(arch, cube, vector):
    import triton

    try:
        install_driver_stand_in(arch)
        torch_npu = importlib.import_module("torch_npu")
        active = triton.runtime.driver.active
        properties = active.utils.get_device_properties(torch.npu.current_device())
        assert (properties["num_aicore"], properties["num_vectorcore"]) == (cube, vector)
        limit = torch_npu.npu.npu_config.get_device_limit(0)
        assert (limit["cube_core_num"], limit["vector_core_num"]) == (cube, vector)
        assert active.get_current_target().arch == arch
        assert triton.testing is not None and active.get_benchmarker()(lambda: 1 / 0, quantiles=(0.5, 0.2)) == [
            1.0,
            1.0,
        ]
    finally:
        install_driver_stand_in()
