"""Runs inside the walls: imports a candidate, builds `ModelNew`, calls `forward` on stand-in data, records.

Nothing here is trusted by the judge. The candidate shares this process, so whatever it forges can only be another
recording, and a recording is executed elsewhere on data that this process never saw.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
import traceback
from typing import Any

import torch

from sandbox import tensors
from sandbox.dispatch import Dispatch, PythonReads
from sandbox.execute.standin import install_driver_stand_in
from sandbox.launches import LaunchRecorder, recording_launches
from sandbox.trace import Trace
from sandbox.ttir import CompileError

MODULE = "candidate"


class Stop(Exception):
    """The candidate cannot be recorded; carries what the judge is told."""

    def __init__(self, kind: str, message: str, line: str = "", stage: str = "") -> None:
        super().__init__(message)
        self.data = {"kind": kind, "message": message[:600], "line": line[:200], "stage": stage}


def warm_up() -> None:
    """What every recording needs, done once before the forks (seeding loads device modules lazily)."""
    torch.manual_seed(0)
    watched()


def run(request: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """Record a candidate.

    Args:
        request: source; init (packed arguments of the constructor); weight_seed; state (packed state_dict or None);
            training; arch; groups: packed inputs of each call.

    Returns:
        header {"kernels", "buffers", "calls", "violations", "launch_errors", "reveal", "reveal_params", "facts"} or
        with "stop" {"kind", "message", "line", "stage"} as well, and the byte blocks of `set` operations.
    """
    path = os.path.join(os.getcwd(), f"{MODULE}.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(request["source"])
    install_driver_stand_in(request["arch"])
    trace = Trace(path)
    recorder = LaunchRecorder(trace, request["arch"])
    facts: dict[str, Any] = {}
    header: dict[str, Any] = {"calls": []}
    before = watched()
    threads = _threads()
    try:
        with torch.no_grad(), recording_launches(recorder):
            module = import_candidate(path, trace)
            model = _construct(module, request, trace, facts)
            for index, group in enumerate(request["groups"]):
                header["calls"].append(_call(model, index, group, trace, recorder))
    except Stop as stop:
        header["stop"] = stop.data
    facts["patched"] = sorted(name for name, value in watched().items() if before.get(name, value) is not value)
    facts["threads"] = max(0, _threads() - threads)
    header |= {
        "kernels": recorder.kernels,
        "sources": recorder.sources,
        "buffers": trace.buffers,
        "violations": trace.violations,
        "launch_errors": recorder.errors,
        "reveal": sorted(trace.reveal),
        "reveal_params": trace.reveal_params,
        "facts": facts,
    }
    return header, trace.blocks


def import_candidate(path: str, trace: Trace) -> Any:
    """Execute the candidate's file as a module.

    Raises:
        Stop: it raised, exited, or defines no ModelNew.
    """
    spec = importlib.util.spec_from_file_location(MODULE, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE] = module
    _guarded(lambda: spec.loader.exec_module(module), "importing the file", trace)
    if not isinstance(getattr(module, "ModelNew", None), type):
        raise Stop("static_error", "the file defines no class ModelNew")
    return module


def _construct(module: Any, request: dict[str, Any], trace: Trace, facts: dict[str, Any]) -> Any:
    """Build ModelNew with the weights of the reference."""
    init = tensors.unpack(request["init"])
    torch.manual_seed(request["weight_seed"])

    def build() -> Any:
        with PythonReads(trace), Dispatch(trace):
            return module.ModelNew(*init)

    trace.constructing = True
    model = _guarded(build, "ModelNew(*get_init_inputs())", trace)
    trace.constructing = False
    if not isinstance(model, torch.nn.Module) and not callable(model):
        raise Stop("runtime_error", "ModelNew is not callable")
    _bind_weights(model, request, trace, facts)
    if isinstance(model, torch.nn.Module):
        model.train(request["training"])
    return model


def _bind_weights(model: Any, request: dict[str, Any], trace: Trace, facts: dict[str, Any]) -> None:
    """Give the candidate the reference's weights: by name where all names agree, else by content.

    Both modules were built from the same seed, so a tensor that holds exactly what a weight of the reference held
    then is that weight, whatever its name. Everything else keeps the value that it was built with.
    """
    state = tensors.unpack(request["state"])
    held, attributes = _held(model)
    facts["weights"] = "seed" if state or held else "none"
    if state and isinstance(model, torch.nn.Module) and _same_names(model.state_dict(), state):

        def load() -> None:
            with PythonReads(trace), Dispatch(trace):
                model.load_state_dict(state, strict=True)

        _guarded(load, "load_state_dict", trace)
        facts["weights"] = "loaded"
        names = {name: name for name in held if name in state}
    else:
        by_content = {digest: name for name, digest in request["initial"].items()}
        known = held | attributes
        digests = {name: tensors.digest(tensor) for name, tensor in known.items()}
        names = {name: by_content[digest] for name, digest in digests.items() if digest in by_content}
        with torch.no_grad():
            for name, found in names.items():
                known[name].copy_(state[found].reshape(known[name].shape))
        facts["matched"] = sorted(n for n, digest in request["initial"].items() if digest in digests.values())
        facts["other_constants"] = any(tensors.is_constant(t) for n, t in held.items() if n not in names)
    trace.bind_parameters(held | {n: t for n, t in attributes.items() if n in names}, names)


def _same_names(own: dict[str, Any], state: dict[str, torch.Tensor]) -> bool:
    return set(own) == set(state) and all(own[k].shape == v.shape for k, v in state.items())


def _held(model: Any) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """(parameters and stored buffers, other tensors that the module or its attributes hold), by name.

    The second kind is the host's own (tables, constants) unless its content says that it is a weight.
    """
    found: dict[str, torch.Tensor] = {}

    def walk(value: Any, name: str, depth: int) -> None:
        if isinstance(value, torch.Tensor):
            found[name] = value
        elif isinstance(value, torch.nn.Module):
            found.update({f"{name}.{k}": t for k, t in value.named_parameters(remove_duplicate=False)})
            found.update({f"{name}.{k}": t for k, t in value.named_buffers(remove_duplicate=False)})
            for path, module in value.named_modules():
                walk({k: v for k, v in vars(module).items() if not k.startswith("_")}, f"{name}.{path}", depth + 1)
        elif depth < 4 and isinstance(value, dict | list | tuple):
            for key, item in value.items() if isinstance(value, dict) else enumerate(value):
                walk(item, f"{name}.{key}", depth + 1)

    held: dict[str, torch.Tensor] = {}
    if isinstance(model, torch.nn.Module):
        stored = model.state_dict(keep_vars=True)
        held = {k: t for k, t in model.named_parameters(remove_duplicate=False) if t is not None}
        held |= {k: t for k, t in model.named_buffers(remove_duplicate=False) if t is not None and k in stored}
    walk(model if isinstance(model, torch.nn.Module) else dict(getattr(model, "__dict__", {})), "", 0)
    mine = {id(t) for t in held.values()}
    return held, {name: t for name, t in found.items() if id(t) not in mine}


def _call(model: Any, index: int, group: Any, trace: Trace, recorder: LaunchRecorder) -> dict[str, Any]:
    """One `forward`: operations and outputs."""
    inputs = tensors.unpack(group)
    trace.begin_call(index)
    recorder.count = 0
    for i, tensor in enumerate(tensors.tree_tensors(inputs)):
        trace.bind(tensor, "input", 2, call=index, index=i)

    def forward() -> Any:
        with PythonReads(trace), Dispatch(trace):
            return model(*inputs)

    output = _guarded(forward, "forward", trace)
    tree = _guarded(lambda: _describe(output, trace), "reading the output", trace)
    needed = {leaf for leaf in _output_buffers(tree)} | {trace.storage(t).buffer for t in tensors.tree_tensors(inputs)}
    return {"ops": trace.ops_of_call(index, needed), "output": tree, "launches": recorder.count}


def _describe(value: Any, trace: Trace, depth: int = 0) -> dict[str, Any]:
    if isinstance(value, torch.Tensor):
        plain = type(value) in (torch.Tensor, torch.nn.Parameter) and value.layout == torch.strided
        name = "Tensor" if plain else type(value).__name__
        if not plain:
            return {"type": "other", "repr": f"tensor subclass {name}"[:100], "items": []}
        storage = trace.materialise(value)
        return {"type": "tensor", **trace.view(value), "written": storage.launched, "class": name, "items": []}
    if isinstance(value, list | tuple) and depth < 6:
        kind = "list" if isinstance(value, list) else "tuple"
        return {"type": kind, "items": [_describe(v, trace, depth + 1) for v in value]}
    if isinstance(value, dict) and depth < 6:
        items = [_describe(v, trace, depth + 1) for v in value.values()]
        return {"type": "dict", "keys": [str(k) for k in value], "items": items}
    kind = "value" if value is None or isinstance(value, bool | int | float | str) else "other"
    return {"type": kind, "repr": repr(value)[:100] if kind == "value" else type(value).__name__, "items": []}


def _output_buffers(tree: dict[str, Any]) -> set[int]:
    own = {tree["buffer"]} if tree["type"] == "tensor" else set()
    return own.union(*(_output_buffers(item) for item in tree["items"]))


def _guarded(action: Any, what: str, trace: Trace) -> Any:
    """Run the candidate's code; whatever it raises becomes a `Stop` with its line."""
    try:
        return action()
    except CompileError as error:
        raise Stop("compile_error", error.line, error.source_line or _line_of(error, trace), error.stage) from error
    except (SystemExit, KeyboardInterrupt) as error:
        raise Stop("exit", f"{what} called exit: {type(error).__name__}", _line_of(error, trace)) from error
    except RecursionError as error:
        raise Stop("runtime_error", f"{what}: RecursionError", _line_of(error, trace)) from error
    except BaseException as error:
        try:
            text = " ".join(f"{type(error).__name__}: {error}".split())
        except BaseException:
            text = type(error).__name__  # its own __str__ fails
        raise Stop("runtime_error", text, _line_of(error, trace), what) from error


def _line_of(error: BaseException, trace: Trace) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == trace.path]
    return f"{frames[-1].lineno}: {(frames[-1].line or '').strip()}" if frames else ""


def _threads() -> int:
    return max(threading.active_count(), len(os.listdir("/proc/self/task")))


def watched() -> dict[str, Any]:
    """Functions whose replacement is tampering: clocks, comparisons, torch's and Triton's own entry points."""
    import builtins
    import json
    import time

    import triton
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    places: list[Any] = [
        time,
        os,
        json,
        builtins,
        torch,
        torch.Tensor,
        torch.nn.functional,
        torch.nn.Module,
        torch.testing,
        triton,
        triton.testing,
        triton.language,
        triton.language.core,
        JITFunction,
        Autotuner,
        sys,
        threading,
    ]
    found = {}
    for place in places:
        for name, value in vars(place).items():
            if callable(value) and not (place is sys and name in ("excepthook", "displayhook")):
                found[f"{place.__name__}.{name}"] = value
    return found
