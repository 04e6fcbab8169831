"""May a task be used to judge kernels? A task that a trivial answer solves teaches nothing and rewards cheats.

Runs in a worker (imports torch); `SandboxPool.check` asks for it.
"""

from __future__ import annotations

import copy
import functools
import inspect
import time
from collections.abc import Callable
from typing import Any

import torch

from atrl_ms.errors import UserError
from atrl_ms.types import Task
from sandbox.compare import compare
from sandbox.task import Case, derive_seed, draw, load, prepare, run_reference, set_seeds
from sandbox.tensors import tree_tensors

SEEDS = 4
MAX_SECONDS = 20.0
MAX_BYTES = 4 << 30
TINY = 1e-6  # spread below this, relative to the size of the output, is none


def check(task: Task, seed: int = 0) -> list[str]:
    """Why the task is degenerate, empty if it may be used.

    At every size: the reference agrees with itself in other memory; zeros, a constant and the identity fail; the
    output depends on every input and weight; it varies over seeds and along every axis; it is finite; time and memory.

    Raises:
        UserError: the file is no task at all.
    """
    module = load(task)
    base = derive_seed(task.source, seed, "admission")
    set_seeds(base)
    try:
        init = list(module.get_init_inputs()) if hasattr(module, "get_init_inputs") else []
        model = module.Model(*init)
        draws = [draw(module, base + i) for i in range(SEEDS)]
    except Exception as error:
        raise UserError(f"{task.name}: the reference cannot be built: {type(error).__name__}: {error}") from error
    problems: list[str] = []
    cases = functools.cache(lambda: prepare(task, seed).cases)
    for group in range(len(draws[0])):
        judged = functools.partial(lambda g: [case for case in cases() if case.group == g], group)
        found = _check_group(model, [d[group] for d in draws], base, judged)
        prefix = f"inputs {group}: " if len(draws[0]) > 1 else ""
        problems += [prefix + p for p in found if prefix + p not in problems]
    return problems


def _check_group(
    model: torch.nn.Module, draws: list[list[Any]], seed: int, judged: Callable[[], list[Case]]
) -> list[str]:
    """Problems of one group of inputs; `judged` are the cases on which the judge would compare."""
    inputs = draws[0]
    size = sum(t.untyped_storage().nbytes() for t in tree_tensors(inputs))
    if size > MAX_BYTES:
        return [f"inputs take {size >> 20} MB, more than {MAX_BYTES >> 20}"]
    begin = time.monotonic()
    try:
        outputs = [tree_tensors(run_reference(model, copy.deepcopy(d))) for d in draws]
        again = tree_tensors(run_reference(model, copy.deepcopy(inputs)))
    except UserError as error:
        return [str(error)]
    if time.monotonic() - begin > MAX_SECONDS * (len(draws) + 1):
        return [f"the reference takes more than {MAX_SECONDS:.0f} s"]
    reference = outputs[0]
    if not any(t.numel() for t in reference):
        return []  # a zero-size case has nothing to get wrong
    problems = []
    if any(not bool(torch.isfinite(t).all()) for t in reference if t.is_floating_point()):
        problems.append("the output is not finite")
    if not _agree(again, reference):
        problems.append("the reference does not agree with itself on equal inputs in other memory (random or stateful)")
        return problems
    trivial = _trivial(reference, inputs)
    for case in judged() if trivial else []:
        # The judge also draws values of its own: an answer that fails on these does not pass the task.
        still = _trivial(tree_tensors(case.expected), case.inputs)
        trivial = [problem for problem in trivial if problem in still]
    problems += trivial
    problems += _variation(outputs)
    if not problems:
        problems += _dependence(model, draws, reference, seed)
    return problems


def _agree(outputs: list[torch.Tensor], reference: list[torch.Tensor]) -> bool:
    """Equal under the judge's rule or under the looser one of KernelBench."""
    if len(outputs) != len(reference):
        return False
    return any(
        all(compare(o, r, None, table) is None for o, r in zip(outputs, reference, strict=True))
        for table in ("npu", "kernelbench")
    )


def _trivial(reference: list[torch.Tensor], inputs: list[Any]) -> list[str]:
    """Answers that need no computing."""
    floats = [t for t in reference if t.numel()]
    answers = {"zeros": [torch.zeros_like(t) for t in floats]}
    answers["a constant"] = [
        torch.full_like(t, t.double().mean().to(t.dtype).item() if t.is_floating_point() else t.flatten()[0].item())
        for t in floats
    ]
    problems = [f"{name} would pass" for name, answer in answers.items() if _agree(answer, floats)]
    if len(floats) == 1 and floats[0].numel() == 1 and problems == ["a constant would pass"]:
        problems = []  # a single number is its own mean; the spread over seeds decides
    for i, tensor in enumerate(tree_tensors(inputs)):
        same = [t for t in floats if t.shape == tensor.shape and t.dtype == tensor.dtype]
        if len(same) == len(floats) and _agree([tensor.detach()] * len(floats), floats):
            problems.append(f"the identity (input {i}) would pass")
    return problems


def _variation(outputs: list[list[torch.Tensor]]) -> list[str]:
    """Spread over seeds and along each axis."""
    problems = []
    for i, versions in enumerate(zip(*outputs, strict=True)):
        if any(v.shape != versions[0].shape for v in versions) or not versions[0].numel():
            continue
        stack = torch.stack([v.double() for v in versions])  # (seeds, ...)
        size = float(stack.abs().mean()) + 1e-30
        name = f"output {i}" if len(outputs[0]) > 1 else "the output"
        if float(stack.std(0).mean()) <= TINY * size:
            problems.append(f"{name} hardly varies over seeds")
            continue
        for axis in range(1, stack.dim()):
            if stack.shape[axis] > 1 and float(stack.std(axis).mean()) <= TINY * size:
                problems.append(f"{name} hardly varies along axis {axis - 1}")
    return problems


def _dependence(model: torch.nn.Module, draws: list[list[Any]], reference: list[torch.Tensor], seed: int) -> list[str]:
    """Every input and every weight changes the output."""
    problems = []
    originals = tree_tensors(draws[0])
    optional = _optional(model, draws[0])
    for i, tensor in enumerate(originals):
        if not tensor.numel() or i in optional:
            continue
        variants = [tree_tensors(d)[i] for d in draws[1:]]
        if all(torch.equal(v, tensor) for v in variants if v.shape == tensor.shape):
            variants = [_shifted(tensor, seed)]
        if not any(_changes(model, draws[0], i, v, reference) for v in variants if v.shape == tensor.shape):
            problems.append(f"the output does not depend on input {i}")
    with torch.no_grad():
        for name, weight in model.named_parameters():
            saved = weight.detach().clone()
            weight.copy_(_shifted(saved, seed))
            try:
                same = _agree(tree_tensors(run_reference(model, copy.deepcopy(draws[0]))), reference)
            except UserError:
                same = False
            weight.copy_(saved)
            if same:
                problems.append(f"the output does not depend on weight {name}")
    return problems


def _optional(model: torch.nn.Module, inputs: list[Any]) -> set[int]:
    """Tensors given for parameters of `forward` that have a default: a reference may leave those unused."""
    try:
        parameters = list(inspect.signature(model.forward).parameters.values())
    except (TypeError, ValueError):
        return set()
    found, at = set(), 0
    for value, parameter in zip(inputs, parameters, strict=False):
        count = len(tree_tensors(value))
        if parameter.default is not inspect.Parameter.empty:
            found |= set(range(at, at + count))
        at += count
    return found


def _shifted(tensor: torch.Tensor, seed: int) -> torch.Tensor:
    """Clearly other values in the same domain."""
    generator = torch.Generator().manual_seed(seed)
    if tensor.dtype == torch.bool:
        return ~tensor
    if not tensor.is_floating_point():
        return tensor.flip(0) if tensor.dim() and tensor.shape[0] > 1 else tensor + 1
    scale = float(tensor.double().abs().mean()) + 0.1
    return tensor + (torch.rand(tensor.shape, generator=generator) * scale).to(tensor.dtype)


def _changes(
    model: torch.nn.Module, inputs: list[Any], index: int, value: torch.Tensor, reference: list[torch.Tensor]
) -> bool:
    changed = copy.deepcopy(inputs)
    with torch.no_grad():
        own = value.clone(memory_format=torch.contiguous_format)  # the tensor itself may be expanded
        tree_tensors(changed)[index].set_(own.untyped_storage(), 0, own.shape, own.stride())
    try:
        return not _agree(tree_tensors(run_reference(model, changed)), reference)
    except UserError:
        return True
