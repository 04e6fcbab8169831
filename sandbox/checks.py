"""The judge's checks on what the recorder sent: was it honest? Whether it is right: sandbox/outcome.py."""

from __future__ import annotations

from typing import Any

import torch

from atrl_ms.types import Verdict
from sandbox import tensors
from sandbox.recording import leaves
from sandbox.task import Case, Perturb, Prepared
from sandbox.tensors import tree_tensors
from sandbox.trace import may_reveal


class Failure(Exception):
    """A verdict other than pass: stage and the lines that a model reads."""

    def __init__(self, verdict: str, stage: str, lines: list[str], details: dict[str, Any] | None = None) -> None:
        super().__init__("; ".join(lines))
        self.verdict: Verdict = verdict  # type: ignore[assignment]
        self.stage, self.lines, self.details = stage, lines, details or {}


def storage_bytes(tensor: torch.Tensor) -> bytes:
    """All bytes of a tensor's storage."""
    raw = torch.empty(0, dtype=torch.uint8).set_(tensor.detach().untyped_storage())
    return bytes(memoryview(raw.numpy()))


# ---------------------------------------------------------------- stand-ins


def stand_in(group: list[Any], seed: int) -> list[Any]:
    """Inputs of the same shapes, types and strides with unrelated values; integers stay in the observed range."""
    generator = torch.Generator().manual_seed(seed + 77)

    def change(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return _random_like(value, generator)
        if isinstance(value, list | tuple):
            return type(value)(change(v) for v in value)
        return {k: change(v) for k, v in value.items()} if isinstance(value, dict) else value

    return change(list(group))


def _random_like(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    raw = torch.zeros(tensor.untyped_storage().nbytes(), dtype=torch.uint8)
    out = torch.empty(0, dtype=tensor.dtype).set_(
        raw.untyped_storage(), tensor.storage_offset(), tensor.shape, tensor.stride()
    )
    if not tensor.numel():
        return out
    flat = torch.empty(0, dtype=tensor.dtype).set_(raw.untyped_storage())
    if tensor.is_floating_point():
        flat.copy_(torch.rand(flat.shape, generator=generator).to(tensor.dtype))
    elif tensor.dtype == torch.bool:
        flat.copy_(torch.rand(flat.shape, generator=generator) < 0.5)
    elif not tensor.is_complex():
        low, high = int(tensor.min()), int(tensor.max())
        span = min(high - low + 1, 2**31)
        flat.copy_((torch.rand(flat.shape, generator=generator, dtype=torch.float64) * span).floor() + low)
    return out


def stand_in_state(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Weights of the same shapes with other values; module counters and scalars keep theirs."""
    generator = torch.Generator().manual_seed(99)
    return {k: _random_like(v, generator) if v.is_floating_point() and v.numel() > 1 else v for k, v in state.items()}


def first_cases(prepared: Prepared) -> list[Case]:
    """The first case of every group."""
    return [next(c for c in prepared.cases if c.group == g) for g in range(len(prepared.groups))]


def reveal(standin: list[Any], inputs: list[Any], indices: list[int]) -> list[Any]:
    """The stand-ins with the real values of the asked inputs."""
    for i, (fake, real) in enumerate(zip(tree_tensors(standin), tree_tensors(inputs), strict=True)):
        if i in indices:
            fake.copy_(real)
    return standin


def check_reveal(indices: list[int], prepared: Prepared) -> None:
    """Only inputs that hold sizes and scalars may be shown to the host.

    Raises:
        Failure: verdict cheat, because the recorder of an honest candidate would not have asked.
    """
    for group in prepared.groups:
        inputs = tree_tensors(group)
        if any(i >= len(inputs) or not may_reveal(inputs[i]) for i in indices):
            raise Failure("cheat", "record", ["the candidate forged a request for the values of a large input"])


def check_revealed(free: Prepared, fixed: Prepared) -> None:
    """The host may not read the very inputs that alone decide an output: then it knows the answer.

    Args:
        free: the cases with all inputs drawn anew.
        fixed: the cases in which the inputs that the host reads keep their values.

    Raises:
        Failure: verdict cheat.
    """
    for group in range(len(free.groups)):
        changing = [[tree_tensors(c.expected) for c in p.cases if c.group == group] for p in (free, fixed)]
        if len(changing[0]) < 2:
            continue
        for i in range(len(changing[0][0])):
            varied, kept = (not all(tensors.same_bits(c[i], cases[0][i]) for c in cases) for cases in changing)
            if varied and not kept:
                text = f"forward reads on the host all the data that output {i} is made of: compute it in a kernel"
                raise Failure("cheat", "record", [text])


def perturbation(header: dict[str, Any], alike: Prepared) -> Perturb:
    """Which weights the reference may have when the candidate's parameters go by other names.

    Args:
        alike: the task with equal weights moved alike.

    Raises:
        Failure: the candidate has no parameter for a weight of the reference on which the output depends.
    """
    facts = header["facts"]
    missing = [name for name, shown in alike.moved.items() if shown and name not in facts.get("matched", [])]
    if not missing:
        return "alike" if alike.moved else "none"
    if facts.get("other_constants"):
        return "none"  # perhaps the same weight in another form
    check_recording(header)
    text = f"no parameter of ModelNew stands for {missing[0]} of Model: the output must follow the trained weights"
    raise Failure("wrong_output", "execute", [text])


# ---------------------------------------------------------------- honest?


def check_stop(header: dict[str, Any]) -> None:
    """The candidate could not be recorded.

    Raises:
        Failure: with the candidate's own error, or as a cheat if torch had already done the work.
    """
    stop = header.get("stop")
    if stop is None:
        return
    cheating = _violation_lines(header)
    if stop["kind"] == "exit":
        raise Failure("cheat", "record", [stop["message"], stop["line"]])
    if cheating:
        raise Failure("cheat", "record", cheating)
    stage = {"static_error": "static", "compile_error": "compile"}.get(stop["kind"], "record")
    lines = [stop["message"], *([f"line {stop['line']}"] if stop["line"] else [])]
    raise Failure(stop["kind"], stage, lines, {"compile_stage": stop["stage"]} if stop["stage"] else None)


def _violation_lines(header: dict[str, Any]) -> list[str]:
    """One line for each distinct violation."""
    lines: list[str] = []
    for violation in header["violations"]:
        where = f" (line {violation['line']})" if violation["line"] else ""
        if violation["kind"] == "compute":
            text = f"{violation['what']} computes in torch in {violation['phase']}{where}: do it in a Triton kernel"
        else:
            text = f"{violation['what']} in {violation['phase']}{where}: the host must not read tensor data"
        if text not in lines:
            lines.append(text)
    return lines


def check_recording(header: dict[str, Any]) -> None:
    """Was the work done by kernels, and by kernels alone?

    Raises:
        Failure: verdict cheat, or the error of a launch that the candidate swallowed.
    """
    facts = header["facts"]
    unwritten = _unwritten(header)
    cheating = _violation_lines(header)
    if facts.get("patched"):
        names = ", ".join(facts["patched"][:4])
        raise Failure("cheat", "record", [f"the candidate replaced functions that it does not own: {names}"])
    if facts.get("threads"):
        raise Failure("cheat", "record", [f"{facts['threads']} thread(s) left running after forward"])
    if header["launch_errors"]:
        error = header["launch_errors"][0]
        text = f"launch of {error['kernel']} failed: {error['message']}"
        where = [f"line {error['line']}"] if error["line"] else []
        if cheating or unwritten:
            raise Failure("cheat", "record", [f"{text}; a fallback without the kernel is not allowed", *where])
        verdict = "compile_error" if error["stage"] in ("ttir", "linalg") else "runtime_error"
        raise Failure(verdict, "compile" if verdict == "compile_error" else "record", [text, *where])
    if cheating:
        raise Failure("cheat", "record", cheating)
    if unwritten:
        raise Failure("cheat", "record", [unwritten])
    first, again = header["calls"][0], header["calls"][-1]
    if first["launches"] != again["launches"]:
        text = f"{first['launches']} launches in the first call, {again['launches']} in the second with the same shapes"
        raise Failure("cheat", "record", [text])


def _unwritten(header: dict[str, Any]) -> str:
    """A tensor output that no kernel wrote, "" if there is none."""
    for call in header["calls"]:
        found = list(leaves(call["output"]))
        subclass = [o for o in _nodes(call["output"]) if o["type"] == "other" and "subclass" in o["repr"]]
        if subclass:
            return f"an output is a {subclass[0]['repr']}, not a plain tensor"
        for i, leaf in enumerate(found):
            if 0 in leaf["shape"] or leaf["written"]:
                continue
            name = "the output" if len(found) == 1 else f"output {i}"
            if not call["launches"]:
                return "no kernel was launched in forward"
            return f"{name} was not written by any launched kernel"
    return ""


def _nodes(tree: dict[str, Any]) -> list[dict[str, Any]]:
    return [tree, *(n for item in tree["items"] for n in _nodes(item))]
