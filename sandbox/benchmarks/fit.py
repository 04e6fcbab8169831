"""Makes a benchmark's task fit this machine: smaller sizes or a choice of cases, then the judge's own preparation.

Runs in a worker process (imports torch); everything here runs the reference, nothing a candidate.
"""

from __future__ import annotations

import contextlib
import copy
import json
import math
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from atrl_ms.errors import UserError
from atrl_ms.types import Task
from sandbox import admission
from sandbox.benchmarks.entry import Entry, materialise
from sandbox.benchmarks.npukernelbench import extent, largest_extent, with_cases
from sandbox.benchmarks.rewrite import is_size, versions
from sandbox.task import draw, load, prepare, set_seeds
from sandbox.tensors import tree_tensors

ROOMY = 1024  # elements from which a case is large enough for a tail and a loop
TRIALS = 24  # cases that are tried before a task is given up
PATIENCE = 8  # of these, degenerate ones without a good one
SHARES = 4  # one version of a task may take this part of its time
TOO_LARGE = "too large"
OUTPUTS = 16  # times the limit that a task may return: every run of the reference and every comparison reads it
SLACK = 4  # how much larger than the limit a tensor may be that only serves to make inputs


@dataclass(frozen=True)
class FitLimits:
    """What a case may take."""

    max_elements: int = 300_000
    max_cases: int = 4
    check: bool = True  # also run the admission filter
    seconds: int = 60  # of computing for one task, all its trials together


class Unfit(Exception):
    """Why a version of a task cannot be used."""


class TooSlow(BaseException):
    """A version took its share of the time. No `Exception`: a task must not take it for a fault of its own."""


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raises Unfit once the block has computed for so long: the next version may be faster."""

    def stop(*_: Any) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    except TooSlow:
        raise Unfit(f"too slow: it was not ready after {seconds:g} s of computing") from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def fit(entry: Entry, limits: FitLimits) -> Entry:
    """The entry with a task that can be judged here, or with the reason why there is none."""
    forms = {"plain": fit_sizes, "rows": fit_rows, "lines": fit_lines}
    try:
        return forms[entry.form](entry, limits)
    except Unfit as error:
        return bare(entry).excluded(first_line(str(error)))


def degenerate(entry: Entry, problems: list[str]) -> Entry:
    """It runs, but says nothing of a kernel."""
    return entry.excluded(f"task_invalid: {first_line('; '.join(problems))}")


def problems_of(task: Task, limits: FitLimits) -> list[str]:
    """What the admission filter says of a task that runs."""
    try:
        return admission.check(task) if limits.check else []
    except UserError as error:
        raise Unfit(str(error)) from error


def bare(entry: Entry) -> Entry:
    """Without the tables that only fitting needs."""
    return replace(entry, files={}, rows=())


def first_line(text: str) -> str:
    return " ".join(text.split())[:300]


# ---------------------------------------------------------------- trying a task


@contextlib.contextmanager
def placed(entry: Entry) -> Iterator[Task]:
    """The entry's task with its files on disk."""
    if not entry.files:
        yield entry.task
        return
    with tempfile.TemporaryDirectory(prefix="atrl-task-") as directory:
        yield materialise(entry, Path(directory)).task


class Bounded(TorchDispatchMode):
    """Refuses to make a tensor from nothing that is far larger than a task may be, before it takes memory or time."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # otherwise the handler is wrapped, which imports torch._dynamo (seconds)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not tree_tensors(args):
            for argument, value in zip(func._schema.arguments, args, strict=False):
                if argument.name == "size" and math.prod(value) > self.most:
                    raise Unfit(f"{TOO_LARGE}: a tensor of {math.prod(value)} elements")
        return func(*args, **(kwargs or {}))


def elements(task: Task, limits: FitLimits, *, real: bool) -> int:
    """Elements of the largest group of inputs and of all parameters.

    Without `real` on the meta device, which allocates nothing, where the task can run there.

    Raises:
        Unfit: it cannot be built.
    """
    try:
        module = load(task)
        with Bounded(SLACK * limits.max_elements) if real else torch.device("meta"):
            set_seeds(0)
            groups = draw(module, 0)
            init = list(module.get_init_inputs()) if hasattr(module, "get_init_inputs") else []
            model = module.Model(*init)
            produced = max((outputs_of(model, group) for group in groups), default=0)
            if produced > OUTPUTS * limits.max_elements:
                raise Unfit(f"{TOO_LARGE}: {produced} elements of outputs")
    except Unfit:
        raise
    except (Exception, SystemExit) as error:
        if not real and not isinstance(error, UserError):
            return elements(task, limits, real=True)
        text = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
        raise Unfit(text) from error
    own = sum(p.numel() for p in [*model.parameters(), *model.buffers()])
    return own + max((sum(t.numel() for t in tree_tensors(group)) for group in groups), default=0)


def outputs_of(model: torch.nn.Module, inputs: list[Any]) -> int:
    """Elements that one call returns, 0 if it cannot be called so (it is tried in earnest later)."""
    try:
        with torch.no_grad():
            return sum(t.numel() for t in tree_tensors(model(*copy.deepcopy(inputs))))
    except Unfit:
        raise
    except Exception:
        return 0


def tried(task: Task, limits: FitLimits, *, real: bool) -> int:
    """Elements of a task that is small enough and that the judge can prepare.

    Raises:
        Unfit: too large, or the reason why it cannot be judged.
    """
    count = elements(task, limits, real=real)
    if count > limits.max_elements:
        raise Unfit(f"{TOO_LARGE}: {count} elements of inputs and parameters, at most {limits.max_elements} fit")
    try:
        prepared = prepare(task, 0)
    except UserError as error:
        raise Unfit(str(error).removeprefix(f"{task.name}: ")) from error
    except Exception as error:
        raise Unfit(f"the judge cannot prepare it: {type(error).__name__}: {error}") from error
    if not any(tree_tensors(case.expected) for case in prepared.cases):
        raise Unfit("the reference returns no tensor")
    return count


# ---------------------------------------------------------------- sizes


def fit_sizes(entry: Entry, limits: FitLimits) -> Entry:
    """As shipped, or with module-level sizes halved until they are at most a cap.

    Sizes computed from others are first left to follow from them, then halved too.
    """
    try:
        with within(limits.seconds / SHARES):
            return admitted(entry, tried(entry.task, limits, real=False), limits)
    except Unfit as error:
        reason = error
    if not str(reason).startswith((TOO_LARGE, "too slow")):
        raise reason
    try:
        with within(limits.seconds / SHARES):
            module = load(entry.task)
    except UserError as error:
        raise Unfit(str(error)) from error
    values = {name: value for name, value in vars(module).items() if is_size(value)}
    failures = []
    for changes, source in versions(entry.task.source, values):
        task = replace(entry.task, source=source)
        try:
            with within(limits.seconds / SHARES):
                return admitted(replace(entry, task=task, cases=changes), tried(task, limits, real=False), limits)
        except Unfit as error:
            failures.append(str(error))
    # The most telling failure: one that is not about size, if there is one.
    others = [text for text in failures if not text.startswith(TOO_LARGE)]
    raise Unfit(others[-1] if others else (failures[-1] if failures else str(reason)))


def admitted(entry: Entry, count: int, limits: FitLimits) -> Entry:
    """The entry as it is used, or as task_invalid."""
    entry = replace(entry, elements=count)
    problems = problems_of(entry.task, limits)
    return degenerate(entry, problems) if problems else entry


# ---------------------------------------------------------------- choice of cases


def in_order(sizes: list[int], limits: FitLimits) -> list[int]:
    """Indices of cases worth trying: those with room for a tail, smallest first, then the others; no empty ones."""
    able = [i for i, size in enumerate(sizes) if 0 < size <= limits.max_elements]
    roomy = sorted((i for i in able if sizes[i] >= ROOMY), key=lambda i: sizes[i])
    return roomy + sorted((i for i in able if sizes[i] < ROOMY), key=lambda i: -sizes[i])


def varied(order: list[int], kinds: list[str]) -> list[int]:
    """The order with the first case of every kind (data types) in front."""
    first = [i for n, i in enumerate(order) if kinds[i] not in [kinds[j] for j in order[:n]]]
    return first + [i for i in order if i not in first]


def fit_rows(entry: Entry, limits: FitLimits) -> Entry:
    """NPUKernelBench (a): rows of the table that can be judged, all with the same constructor arguments."""
    sizes = [max(1, largest_extent(row)) for row in entry.rows]
    kinds = [str(row.get("dtype", "")) for row in entry.rows]
    order = varied(in_order(sizes, limits), kinds)
    if not order:
        raise Unfit(f"{TOO_LARGE}: the smallest of {len(sizes)} cases has about {min(sizes)} elements")

    def with_rows(chosen: list[int]) -> Entry:
        source = with_cases(entry.task.source, [entry.rows[i] for i in chosen])
        return replace(bare(entry), task=replace(entry.task, source=source))

    return fit_cases(order, with_rows, len(sizes), limits)


def fit_lines(entry: Entry, limits: FitLimits) -> Entry:
    """Groups of inputs from JSON Lines: each line is tried alone, only the chosen ones are ever built together."""
    (name, path), *_ = entry.files.items()
    lines = [line for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]
    sizes, kinds = [], []
    for number, line in enumerate(lines, 1):
        try:
            inputs = json.loads(line)["inputs"]
            tensors = [
                i
                for i in inputs
                if i.get("type", "tensor") in ("tensor", "tensor_list") or "shape" in i or "shapes" in i
            ]
            # Tensors made from attributes alone have no size here: such a case is small until it was built.
            sizes.append(sum(shape_elements(i.get("shapes", i.get("shape"))) for i in tensors) if tensors else 1)
            kinds.append(" ".join(str(i.get("dtype")) for i in tensors))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Unfit(f"{name}: line {number} is not a case ({error!r})") from error
    order = varied(in_order(sizes, limits), kinds)
    if not order:
        smallest = min((s for s in sizes if s), default=0)
        raise Unfit(f"{TOO_LARGE}: the smallest of {len(sizes)} cases has {smallest} elements")

    def with_lines(chosen: list[int]) -> Entry:
        return replace(bare(entry), files={name: "".join(lines[i] + "\n" for i in chosen)})

    return fit_cases(order, with_lines, len(lines), limits)


def shape_elements(shape: Any) -> int:
    """Elements of a tensor of that shape (a scalar has one), or of a list of tensors."""
    return 1 if shape == [] else extent(shape)


def fit_cases(order: list[int], version: Callable[[list[int]], Entry], total: int, limits: FitLimits) -> Entry:
    """Try cases one at a time, in `order`, until `limits.max_cases` work; then all of these together.

    Cases that a trivial answer would pass are left out; a task that has no other is task_invalid.

    Args:
        version: the entry with the cases of these indices alone.
    """
    chosen: list[int] = []
    invalid: list[tuple[int, list[str]]] = []
    failures: list[str] = []
    count, init = 0, ""
    begin = time.process_time()
    for i in order[:TRIALS]:
        try:
            with within(limits.seconds / SHARES), placed(version([i])) as task:
                size = tried(task, limits, real=True)
                own = repr(load(task).get_init_inputs()) if "get_init_inputs" in task.source else ""
                problems = problems_of(task, limits)
        except Unfit as error:
            failures.append(str(error))
            continue
        if problems:
            invalid.append((i, problems))
            if len(invalid) == PATIENCE and not chosen:
                break
            continue
        if chosen and own != init:
            continue  # constructed otherwise: a task has one module
        init = own
        chosen.append(i)
        count = max(count, size)
        if len(chosen) == limits.max_cases or time.process_time() - begin > limits.seconds / 3:
            break  # the chosen ones are run once more, together
    if not chosen and invalid:
        return degenerate(version([invalid[0][0]]), invalid[0][1])
    if not chosen:
        raise Unfit(failures[0])
    chosen.sort()
    entry = replace(version(chosen), elements=count, cases=f"{len(chosen)} of {total} cases")
    with placed(entry) as whole:
        tried(whole, limits, real=True)
    return entry
