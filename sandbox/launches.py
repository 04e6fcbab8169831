"""Stands in for Triton's launch: every `kernel[grid](...)` is lowered to TTIR and recorded instead of run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import torch
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from sandbox import ttir
from sandbox.stores import written_arguments
from sandbox.toolchain import check_launch
from sandbox.trace import Trace

# Arguments of `JITFunction.run` that are neither kernel arguments nor compiler options.
LAUNCH_KEYWORDS = {"grid", "warmup", "stream", "debug"}
MAX_LAUNCHES = 4096


class LaunchRecorder:
    """Records launches into a trace.

    Attributes:
        kernels: distinct specialisations, as JSON values of `KernelIR`.
        errors: every exception that came out of a launch, caught by the candidate or not.
        count: launches in the current call.
    """

    def __init__(self, trace: Trace, arch: str) -> None:
        self.trace = trace
        self.arch = arch
        self.kernels: list[dict[str, Any]] = []
        self.sources: list[dict[str, Any]] = []  # how the interpreter finds each kernel: name, line, constants
        self._written: list[set[int]] = []  # run-time arguments that each kernel stores to
        self.errors: list[dict[str, str]] = []
        self.count = 0
        self._cache: dict[tuple[Any, ...], int] = {}
        self._variants: list[dict[str, Any]] | None = None  # collected while an autotuner tries configurations
        self._chosen: list[dict[str, Any]] | None = None
        self._configs: list[dict[str, Any]] = []  # accepted configurations of the autotuner at work

    # ------------------------------------------------------------ one launch

    def launch(self, jit_fn: JITFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        try:
            variant, pointers, outputs = self._describe(jit_fn, args, kwargs)
        except Exception as error:
            if self._variants is None:
                self._note(error, jit_fn)
            raise
        if self._variants is not None:
            self._variants.append(variant)
            return
        if kwargs.get("warmup"):
            return
        variants, self._chosen = (self._chosen or [variant]), None
        if self.count >= MAX_LAUNCHES:
            raise RuntimeError(f"more than {MAX_LAUNCHES} launches in one forward")
        self.count += 1
        trace = self.trace
        touched = [trace.materialise(tensor) for tensor in pointers]
        written = [trace.storage(tensor) for tensor in outputs]
        # Addresses inside a tensor (grouped kernels) lead to tensors that the kernel may write as well.
        behind = [target for storage in touched for target in storage.addresses]
        for storage in behind:
            trace.materialise(storage.keep)
        buffers = {storage.buffer for storage in [*touched, *behind]}
        trace.add({"op": "launch", "variants": variants}, 2, buffers, buffers)
        trace.wrote_by_kernel([*written, *behind], touched)

    def _describe(
        self, jit_fn: JITFunction, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[dict[str, Any], list[torch.Tensor], list[torch.Tensor]]:
        """The launch as data, the tensors among its arguments, and those that the kernel stores to."""
        for hook in jit_fn.pre_run_hooks:
            hook(*args, **{k: v for k, v in kwargs.items() if k not in LAUNCH_KEYWORDS})
        plain = {k: v for k, v in kwargs.items() if k not in LAUNCH_KEYWORDS}
        plain |= dict(jit_fn.bishengir_option or {})
        self._check_tensors([*args, *plain.values()])
        signature, constants, attrs, runtime = ttir.specialise(jit_fn, args, plain)
        names = set(jit_fn.signature.parameters)
        options = {k: v for k, v in plain.items() if k not in names}
        key = (
            id(jit_fn),
            tuple(signature.items()),
            tuple((k, repr(v)) for k, v in constants.items()),
            repr(attrs.to_dict() if hasattr(attrs, "to_dict") else attrs),
            repr(sorted(options.items(), key=str)),
        )
        index = self._cache.get(key)
        if index is None:
            lowered = ttir.lower_to_ttir(jit_fn, signature, constants, attrs, self.arch, options)
            self.kernels.append(lowered.to_json())
            self._written.append(written_arguments(lowered.ttir, lowered.arg_types))
            self.sources.append(
                {"name": jit_fn.__name__, "line": jit_fn.starting_line_number, "constants": _plain(constants)}
            )
            index = self._cache[key] = len(self.kernels) - 1
        grid = kwargs.get("grid")
        if callable(grid):
            bound = jit_fn.signature.bind(*args, **{k: v for k, v in plain.items() if k in names})
            bound.apply_defaults()
            grid = grid(dict(bound.arguments))
        grid = self._grid(grid, kwargs.get("warmup", False))
        refusal = check_launch(tuple(grid), self.arch)
        if refusal:
            raise RuntimeError(refusal)
        values: list[Any] = []
        pointers, outputs = [], []
        for position, value in enumerate(runtime):
            if isinstance(value, torch.Tensor):
                pointers.append(value)
                if position in self._written[index]:
                    outputs.append(value)
                offset = value.storage_offset() * value.element_size()
                values.append([self.trace.storage(value).buffer, offset])
            else:
                values.append(_scalar(value, self.kernels[index], position))
        return {"kernel": index, "grid": grid, "args": values}, pointers, outputs

    @staticmethod
    def _grid(grid: Any, warmup: bool) -> list[int]:
        if grid is None and warmup:
            return [1, 1, 1]
        if isinstance(grid, int):
            grid = (grid,)
        if not isinstance(grid, tuple | list) or not 1 <= len(grid) <= 3:
            raise TypeError(f"the grid must be a tuple of 1 to 3 integers, not {grid!r}"[:200])
        out = []
        for n in grid:
            if isinstance(n, float) or not hasattr(n, "__index__"):
                raise TypeError(f"the grid must be made of integers, not {n!r}"[:200])
            if n.__index__() < 0:
                raise ValueError(f"a grid dimension is negative: {n}")
            out.append(n.__index__())
        return [*out, 1, 1][:3]

    @staticmethod
    def _check_tensors(values: list[Any]) -> None:
        for value in values:
            if isinstance(value, torch.Tensor) and type(value) not in (torch.Tensor, torch.nn.Parameter):
                raise TypeError(f"a kernel argument is a {type(value).__name__}, not a plain tensor")

    def _note(self, error: Exception, jit_fn: Any) -> None:
        stage = error.stage if isinstance(error, ttir.CompileError) else "launch"
        line = error.source_line if isinstance(error, ttir.CompileError) else self.trace.line()
        message = error.line if isinstance(error, ttir.CompileError) else f"{type(error).__name__}: {error}"
        name = getattr(jit_fn, "__name__", "kernel")
        self.errors.append(
            {"stage": stage, "kernel": name, "message": message[:500], "line": line or self.trace.line()}
        )

    # ------------------------------------------------------------ autotune

    def bench(self, tuner: Autotuner, args: tuple[Any, ...], config: Any, meta: dict[str, Any]) -> float:
        """Try one configuration: 0 if it reaches TTIR, else infinity. The first good one is launched; the device takes
        the first that the Ascend compiler accepts."""
        collected, self._variants = self._variants, []
        try:
            current = dict(meta, **config.all_kwargs())
            tuner.fn.run(*args, **current)
            tried = self._variants
        except ttir.CompileError:
            return float("inf")
        finally:
            self._variants = collected
        self._configs.append(tried[0])
        return 0.0

    def tuned(self, run: Callable[..., Any], tuner: Autotuner, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`Autotuner.run` with the accepted configurations kept as variants of the launch."""
        self._configs = []
        tuner.cache.clear()  # every call looks alike
        try:
            self._chosen = self._configs if len(tuner.configs) > 1 else None
            return run(tuner, *args, **kwargs)
        finally:
            self._chosen = None


def _scalar(value: Any, kernel: dict[str, Any], position: int) -> int | float | bool:
    """A scalar argument as a launcher would take it.

    Raises:
        TypeError: not a number, or a fraction where the kernel's annotation says integer.
        OverflowError: beyond 64 bits.
    """
    name, kind = kernel["arg_names"][position], kernel["arg_types"][position]
    if kind[:1] in ("i", "u"):
        if isinstance(value, float) or not hasattr(value, "__index__"):
            raise TypeError(f"argument {name} is {kind}, got {type(value).__name__}")
        value = value if isinstance(value, bool) else int(value)
        if not -(1 << 63) <= value < 1 << 64:
            raise OverflowError(f"argument {name} does not fit in 64 bits")
        return value
    if not hasattr(value, "__float__"):
        raise TypeError(f"argument {name} is {kind}, got {type(value).__name__}")
    return value if isinstance(value, int) else float(value)


def _plain(constants: dict[str, Any]) -> dict[str, Any]:
    """Constants as JSON values; a Triton type becomes {"dtype": name}, anything else {"unknown": text}."""
    out: dict[str, Any] = {}
    for name, value in constants.items():
        value = getattr(value, "value", value) if type(value).__name__ == "constexpr" else value
        if value is None or isinstance(value, bool | int | float | str):
            out[name] = value
        elif type(value).__name__ == "dtype" and hasattr(value, "name"):
            out[name] = {"dtype": value.name}
        else:
            out[name] = {"unknown": repr(value)[:80]}
    return out


@contextmanager
def recording_launches(recorder: LaunchRecorder) -> Any:
    """Replace Triton's launch and its autotuner's timing for the duration."""
    launch, bench, tuned = JITFunction.run, Autotuner._bench, Autotuner.run

    def run(self: JITFunction, *args: Any, **kwargs: Any) -> None:
        recorder.launch(self, args, kwargs)

    def timing(self: Autotuner, *args: Any, config: Any, **meta: Any) -> list[float]:
        return [recorder.bench(self, args, config, meta)] * 3

    def autotuned(self: Autotuner, *args: Any, **kwargs: Any) -> Any:
        return recorder.tuned(tuned, self, args, kwargs)

    JITFunction.run, Autotuner._bench, Autotuner.run = run, timing, autotuned
    try:
        yield recorder
    finally:
        JITFunction.run, Autotuner._bench, Autotuner.run = launch, bench, tuned
