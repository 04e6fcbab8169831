"""A task file as the judge sees it: the reference, its weights, and cases with inputs and expected outputs.

Task files are the user's own and trusted; candidates never see this process.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import os
import random
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import torch

from atrl_ms.errors import UserError
from atrl_ms.types import Task
from sandbox.profile import aten_trace
from sandbox.tensors import digest, is_constant, pack, tree_tensors

Perturb = Literal["each", "alike", "none"]
SETS = ("drawn", "signed", "blocks")


@dataclass
class Case:
    """One comparison: inputs of one group under one set of values."""

    name: str
    group: int
    inputs: list[Any]
    expected: Any
    exact: Any  # the reference in float64, None where it cannot run so
    after: list[torch.Tensor]  # input tensors after the reference ran


@dataclass
class Prepared:
    """A task ready to judge candidates."""

    task: Task
    init: list[Any]
    weight_seed: int
    state: dict[str, torch.Tensor]
    initial: dict[str, str]  # digest of the weights as built, before any was moved (tensors.digest), by name
    moved: dict[str, bool]  # weights moved off their constant, and whether the output shows it
    training: bool
    groups: list[list[Any]]  # one draw of inputs per shape group: shapes, dtypes, strides
    cases: list[Case] = field(default_factory=list)
    aten: list[list[dict[str, Any]]] = field(default_factory=list)  # the reference's operations for each shape group
    eager_us: list[float] | None = None  # of every shape group, once it was measured on a device

    def eager_request(self) -> dict[str, Any]:
        """What the process needs that measures the reference on a device (`sandbox.profile.measured.run`)."""
        return {
            "name": self.task.name,
            "source": self.task.source,
            "directory": self.task.directory,
            "init": pack(self.init),
            "groups": pack(self.groups),
            "weight_seed": self.weight_seed,
            "training": self.training,
        }


def load(task: Task) -> types.ModuleType:
    """Execute a task file.

    Raises:
        UserError: it does not run, or lacks Model or its inputs.
    """
    module = types.ModuleType("task")
    file = os.path.join(task.directory or os.getcwd(), f"{task.name}.py")
    module.__file__ = file
    try:
        exec(compile(task.source, file, "exec"), module.__dict__)
    except Exception as error:
        raise UserError(f"{file}: the task does not run: {type(error).__name__}: {error}") from error
    if not isinstance(getattr(module, "Model", None), type):
        raise UserError(
            f"{file}: no class Model; a task defines Model, get_inputs (or get_input_groups), get_init_inputs"
        )
    if not (hasattr(module, "get_inputs") or hasattr(module, "get_input_groups")):
        raise UserError(f"{file}: neither get_inputs nor get_input_groups; add one")
    return module


def derive_seed(*parts: Any) -> int:
    """A private seed from parts, stable across processes."""
    text = "\x00".join(str(p) for p in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "little")


def set_seeds(seed: int) -> None:
    """Seed every generator that a task may draw from."""
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)


def draw(module: types.ModuleType, seed: int) -> list[list[Any]]:
    """One draw of every input group."""
    set_seeds(seed)
    if hasattr(module, "get_input_groups"):
        return [list(group) for group in module.get_input_groups()]
    return [list(module.get_inputs())]


def prepare(task: Task, seed: int, *, perturb: Perturb = "each", fixed: tuple[int, ...] = ()) -> Prepared:
    """Build the reference, its weights and the cases.

    Args:
        seed: everything drawn follows from it and from the task's text.
        perturb: give constant weights (all ones, all zeros) values that a kernel cannot ignore: "each" its own, or
            "alike", the same for equal weights (so that it does not matter which is which), or "none".
        fixed: inputs that keep their first values in every case of a group, because the candidate's host code reads
            them (sizes, scalars) and was recorded with these values.

    Raises:
        UserError: the task cannot be used; the message says why.
    """
    module = load(task)
    base = derive_seed(task.source, seed, "v1")
    try:
        set_seeds(base + 1)
        init = list(module.get_init_inputs()) if hasattr(module, "get_init_inputs") else []
        torch.manual_seed(base + 2)
        model = module.Model(*init)
        groups = draw(module, base + 3)
    except Exception as error:
        raise UserError(f"{task.name}: the reference cannot be built: {type(error).__name__}: {error}") from error
    try:
        model.train(_trains(model, groups[0]))
    except Exception as error:
        raise UserError(f"{task.name}: the reference fails: {type(error).__name__}: {error}") from error
    built = {k: v for k, v in model.state_dict().items() if isinstance(v, torch.Tensor) and v.is_floating_point()}
    initial = {k: name for k, v in built.items() if (name := digest(v))}
    prepared = Prepared(task, init, base + 2, {}, initial, {}, model.training, groups)
    if perturb != "none":
        prepared.moved = _perturb(model, groups, base + 4, perturb == "alike")
    prepared.state = {k: v.detach().clone() for k, v in model.state_dict().items() if isinstance(v, torch.Tensor)}
    for g in range(len(groups)):
        prepared.aten.append(reference_ops(model, groups[g]))
        kinds = SETS if len(groups) == 1 or g == 0 else (SETS[1 + g % 2],)
        for k, kind in enumerate(kinds):
            values = _values(module, model, g, kind, base + 100 + 10 * g + k)
            if fixed and k:
                first = next(c for c in prepared.cases if c.group == g)
                for i, (own, kept) in enumerate(zip(tree_tensors(values), tree_tensors(first.inputs), strict=True)):
                    if i in fixed:
                        own.copy_(kept)
            prepared.cases.append(make_case(model, f"{kind}[{g}]", g, values))
    return prepared


def make_case(model: torch.nn.Module, name: str, group: int, inputs: list[Any]) -> Case:
    """Run the reference on clones of the inputs."""
    used = copy.deepcopy(inputs)
    expected = run_reference(model, used)
    return Case(name, group, inputs, copy.deepcopy(expected), _exact(model, inputs), tree_tensors(used))


def reference_ops(model: torch.nn.Module, inputs: list[Any]) -> list[dict[str, Any]]:
    """The aten operations of one call: what eager PyTorch would launch on a device."""
    probe, values = copy.deepcopy(model), copy.deepcopy(inputs)
    torch.manual_seed(0)
    try:
        return aten_trace.trace(lambda: probe(*values))[1]
    except Exception as error:
        raise UserError(f"the reference fails: {type(error).__name__}: {error}") from error


def run_reference(model: torch.nn.Module, inputs: list[Any]) -> Any:
    """`model(*inputs)` on a copy of its buffers: running statistics must not move between cases."""
    saved = {k: v.clone() for k, v in model.named_buffers()}
    torch.manual_seed(0)
    try:
        with torch.no_grad():
            return model(*inputs)
    except Exception as error:
        raise UserError(f"the reference fails: {type(error).__name__}: {error}") from error
    finally:
        for k, v in model.named_buffers():
            v.copy_(saved[k])


def _exact(model: torch.nn.Module, inputs: list[Any]) -> Any:
    """The reference in float64, None if it cannot be run so."""

    def widen(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.double() if value.is_floating_point() else value.clone()
        return type(value)(widen(v) for v in value) if isinstance(value, list | tuple) else value

    if not any(t.is_floating_point() for t in tree_tensors(inputs)):
        return None
    try:
        torch.manual_seed(0)
        with torch.no_grad():
            return copy.deepcopy(model).double()(*[widen(v) for v in inputs])
    except Exception:
        return None  # a reference with a fixed dtype: the plain rule alone decides


def _same(a: Any, b: Any) -> bool:
    left, right = tree_tensors(a), tree_tensors(b)
    return len(left) == len(right) and all(
        torch.equal(x.nan_to_num(), y.nan_to_num()) for x, y in zip(left, right, strict=True)
    )


def _trains(model: torch.nn.Module, inputs: list[Any]) -> bool:
    """The mode both modules run in: as constructed, or evaluation if that mode is random (Dropout)."""
    results = []
    for attempt in range(2):
        torch.manual_seed(attempt)
        with torch.no_grad():
            results.append(copy.deepcopy(model)(*copy.deepcopy(inputs)))
    return model.training and _same(*results)


def _perturb(model: torch.nn.Module, groups: list[list[Any]], seed: int, alike: bool) -> dict[str, bool]:
    """Move constant floating-point weights off their constant; undone if the reference then leaves the finite.

    Returns:
        for every weight that was moved, whether the output of the first group shows it (looked at if `alike`).
    """
    parameters = dict(model.named_parameters())
    saved = copy.deepcopy(model.state_dict())
    moved: dict[str, torch.Tensor] = {}
    with torch.no_grad():
        for name, value in model.state_dict().items():
            if not isinstance(value, torch.Tensor) or not is_constant(value):
                continue
            if value.numel() == 1 and name not in parameters:
                continue  # a setting in a buffer, not a weight
            own = derive_seed(seed, digest(value)) if alike else derive_seed(seed, name)
            noise = torch.rand(value.shape, generator=torch.Generator().manual_seed(own)) - 0.5
            if value.numel() == 1 and float(value):
                noise *= float(value)  # keeps its sign: a temperature, an epsilon
            value += noise.to(value.dtype) * 0.5
            moved[name] = value
    if not moved:
        return {}
    try:
        outputs = run_reference(model, copy.deepcopy(groups[0]))
    except UserError:
        outputs = None
    if outputs is None or not _healthy(outputs):
        model.load_state_dict(saved)
        return {}
    shown = dict.fromkeys(moved, True)
    with torch.no_grad():
        for name, value in moved.items() if alike else ():
            now = value.clone()
            value.copy_(saved[name])
            shown[name] = not _same(run_reference(model, copy.deepcopy(groups[0])), outputs)
            value.copy_(now)
    return shown


def _healthy(outputs: Any) -> bool:
    tensors = [t for t in tree_tensors(outputs) if t.is_floating_point()]
    return all(bool(torch.isfinite(t).all()) for t in tensors)


# ---------------------------------------------------------------- sets of values


def _values(module: types.ModuleType, model: torch.nn.Module, group: int, kind: str, seed: int) -> list[Any]:
    """A fresh draw of a group, its floating-point tensors then given other values.

    Falls back to magnitudes, then to the plain draw, where the reference leaves the finite (a logarithm of negative
    numbers): a task's domain is respected.
    """
    plain = draw(module, seed)[group]
    if kind == "drawn":
        return plain
    expected_finite = _healthy(run_reference(model, copy.deepcopy(plain)))
    for positive in (False, True):
        generator = torch.Generator().manual_seed(seed + 1)
        values = _map(plain, functools.partial(_vary, kind=kind, generator=generator, positive=positive))
        try:
            healthy = _healthy(run_reference(model, copy.deepcopy(values)))
        except UserError:
            continue
        if healthy or not expected_finite:
            return values
    return plain


def _map(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, list | tuple):
        return type(value)(_map(v, change) for v in value)
    return {k: _map(v, change) for k, v in value.items()} if isinstance(value, dict) else value


def _vary(tensor: torch.Tensor, kind: str, generator: torch.Generator, positive: bool) -> torch.Tensor:
    """Other values of the same shape, type and strides. Masks, scalars and integers keep theirs."""
    if not tensor.is_floating_point() or tensor.numel() < 2 or tensor.dtype.itemsize < 2:
        return tensor
    if not bool(torch.isfinite(tensor).all()) or len(torch.unique(tensor.flatten()[:4096])) <= 2:
        return tensor
    scale = float(tensor.double().abs().mean())
    noise = torch.randn(tensor.shape, generator=generator, dtype=torch.float64)
    values = noise * (2.0 * scale) if kind == "signed" else _blocks(noise * scale, generator)
    if positive:
        values = values.abs() + 1e-3 * scale
    raw = tensor.untyped_storage().clone()
    out = torch.empty(0, dtype=tensor.dtype).set_(raw, tensor.storage_offset(), tensor.shape, tensor.stride())
    if any(s == 0 and n > 1 for s, n in zip(tensor.stride(), tensor.shape, strict=True)):
        return tensor
    return out.copy_(values.to(tensor.dtype))


def _blocks(values: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Structure that uniform noise lacks: a ramp along the last axis, scales that differ by rows, a few spikes.

    Scales stay within 2^-6 to 4: far below, an honest tanh by exponentials loses relative accuracy to cancellation.
    """
    flat = values.reshape(-1, values.shape[-1]) if values.dim() > 1 else values.reshape(1, -1)
    rows, columns = flat.shape
    if rows > 1:
        exponents = torch.randint(-6, 3, (rows, 1), generator=generator).double()
        flat = flat * torch.exp2(exponents)
    else:
        pieces = max(1, columns // 8)
        exponents = torch.randint(-6, 3, (pieces,), generator=generator).double()
        flat = flat * torch.exp2(exponents.repeat_interleave(-(-columns // pieces))[:columns])
    flat = flat * torch.linspace(0.5, 1.5, columns, dtype=torch.float64)
    out = flat.reshape(values.shape).clone()
    spikes = torch.randint(0, out.numel(), (max(1, out.numel() // 257),), generator=generator)
    out.view(-1)[spikes] *= 12.0
    return out
