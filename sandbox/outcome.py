"""The judge's checks on what a replay sent: containers, shapes and values against the reference's."""

from __future__ import annotations

from typing import Any

import torch

from sandbox import tensors
from sandbox.checks import Failure, first_cases
from sandbox.compare import Mismatch, compare
from sandbox.options import Options
from sandbox.recording import leaves
from sandbox.task import Case, Prepared
from sandbox.tensors import tree_tensors


def _kind(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return "tensor"
    if isinstance(value, list | tuple):
        return "sequence"
    return "dict" if isinstance(value, dict) else "value"


def _tree_mismatch(tree: dict[str, Any], expected: Any, path: str = "") -> str:
    """How an output's container differs from the reference's, "" if it does not."""
    kind = {"list": "sequence", "tuple": "sequence"}.get(tree["type"], tree["type"])
    want = _kind(expected)
    name = f"output{path}"
    if kind != want:
        got = {
            "sequence": f"a {tree['type']} of {len(tree['items'])}",
            "value": tree.get("repr", ""),
            "other": tree.get("repr", ""),
        }.get(kind, f"a {kind}")
        size = f" of {len(expected)}" if want in ("sequence", "dict") else ""
        return f"{name} is {got}, the reference returns a {want}{size}"
    if kind == "tensor":
        if list(expected.shape) != tree["shape"]:
            return f"{name} has shape {tuple(tree['shape'])}, expected {tuple(expected.shape)}"
        dtype = str(expected.dtype).removeprefix("torch.")
        return "" if dtype == tree["dtype"] else f"{name} has dtype {tree['dtype']}, expected {dtype}"
    if kind == "value":
        return "" if repr(expected)[:100] == tree["repr"] else f"{name} is {tree['repr']}, expected {expected!r}"[:200]
    items = list(expected.values()) if kind == "dict" else list(expected)
    if len(items) != len(tree["items"]):
        return f"{len(tree['items'])} values returned{' in ' + name if path else ''}, expected {len(items)}"
    if kind == "dict" and [str(k) for k in expected] != tree["keys"]:
        return f"{name} has keys {tree['keys']}, expected {list(expected)}"[:200]
    for i, (item, want_item) in enumerate(zip(tree["items"], items, strict=True)):
        found = _tree_mismatch(item, want_item, f"{path}[{i}]")
        if found:
            return found
    return ""


def structure_failure(header: dict[str, Any], prepared: Prepared) -> Failure | None:
    """A wrong container, count, shape or dtype is known before anything runs."""
    for case in first_cases(prepared):
        found = _tree_mismatch(header["calls"][case.group]["output"], case.expected)
        if found:
            return Failure("wrong_output", "execute", [found], {"case": case.name})
    return None


def judge_cases(
    header: dict[str, Any], blocks: list[memoryview], recording: dict[str, Any], prepared: Prepared, options: Options
) -> tuple[list[Failure], int]:
    """Compare every replayed case. Returns (failures, number of cases passed)."""
    failures: list[Failure] = []
    passed, at = 0, 0

    def take(result: dict[str, Any], case: Case) -> list[str]:
        """Compare the next case of the message."""
        nonlocal at
        count, unstable = result["blocks"], result["unstable"]
        first = blocks[at : at + count]
        second = list(first)
        for position, block in zip(unstable, blocks[at + count : at + count + len(unstable)], strict=True):
            second[position] = block
        at += count + len(unstable)
        return _judge_case(recording["calls"][case.group]["output"], first, second, case, options)

    for result, case in zip(header["cases"], prepared.cases, strict=False):
        if result["error"] is not None:
            failures.append(_fault(result["error"], case))
            break
        lines = take(result, case)
        if lines:
            failures.append(Failure("wrong_output", "execute", lines, {"case": case.name}))
        else:
            passed += 1
    if not failures and passed < len(prepared.cases):
        failures.append(Failure("crash", "execute", ["the replay ended early"], {"case": "?"}))
    bare = header.get("bare")
    if not failures and bare is not None and bare["error"] is None and not take(bare, prepared.cases[0]):
        text = "the result is the same without the kernels: copies by torch make it, the launches change nothing"
        failures.append(Failure("cheat", "execute", [text], {"case": prepared.cases[0].name}))
    if not failures and _ignores_inputs(recording, prepared):
        text = "no kernel that writes the output ever gets an input: a constant answer (the task is degenerate)"
        failures.append(Failure("cheat", "execute", [text], {"case": prepared.cases[0].name}))
    return failures, passed


def _ignores_inputs(recording: dict[str, Any], prepared: Prepared) -> bool:
    """Every answer is one and the same number, and no input flows into the outputs."""
    values = [t.double().flatten() for c in prepared.cases for t in tree_tensors(c.expected) if t.numel()]
    constant = bool(values) and all(bool((v == values[0][0]).all()) for v in values)
    if not constant or not any(t.numel() for t in tree_tensors(prepared.groups[0])):
        return False
    call = recording["calls"][0]
    reached = {i for i, b in enumerate(recording["buffers"]) if b["kind"] == "input"}
    for op in call["ops"]:
        if op["op"] == "launch":
            buffers = {arg[0] for variant in op["variants"] for arg in variant["args"] if isinstance(arg, list)}
            if buffers & reached:
                reached |= buffers
        elif op["op"] == "copy" and op["src"]["buffer"] in reached:
            reached.add(op["dst"]["buffer"])
    return not any(leaf["buffer"] in reached for leaf in leaves(call["output"]))


def _fault(error: dict[str, Any], case: Case) -> Failure:
    return Failure("runtime_error", "execute", [error["message"]], {"case": case.name, "fault": error})


def _judge_case(
    tree: dict[str, Any], first: list[memoryview], second: list[memoryview], case: Case, options: Options
) -> list[str]:
    """Lines that say what is wrong with one case, empty if it passes."""
    outputs = list(leaves(tree))
    expected = tree_tensors(case.expected)
    exact = tree_tensors(case.exact) if case.exact is not None else []
    floats = any(t.is_floating_point() for t in tree_tensors(case.inputs))
    lines = []
    for i, (leaf, want) in enumerate(zip(outputs, expected, strict=True)):
        view = (leaf["dtype"], leaf["shape"], leaf["strides"], leaf["offset"])
        one, two = tensors.build(*view, first[i]), tensors.build(*view, second[i])
        precise = exact[i] if i < len(exact) and exact[i].shape == want.shape else None
        quantised = floats and not want.is_floating_point()
        found = compare(one, want, precise, options.tolerance, quantised=quantised)
        if found is None and first[i] is not second[i]:
            found = compare(two, want, precise, options.tolerance, quantised=quantised)
        if found is not None:
            name = "" if len(outputs) == 1 else f"output {i}: "
            lines.append(name + _describe(found, one, two))
    lines += _changed_inputs(first[len(outputs) :], case)
    return lines


def _describe(found: Mismatch, one: torch.Tensor, two: torch.Tensor) -> str:
    never = (tensors.element_bytes(one) == 0xFF).all(-1) & (tensors.element_bytes(two) == 0x7B).all(-1)
    text = found.message
    if found.worst is not None:
        index, got, want = found.worst
        text += f": {found.wrong} of {found.total} elements"
        text += f", worst at {index}: got {got:.6g}, expected {want:.6g}"
    if bool(never.any()):
        text += f"; {int(never.sum())} elements were never written"
    elif not tensors.same_bits(one, two):
        text += "; the result depends on memory outside of the tensors or never written"
    return text + (f"; {found.pattern}" if found.pattern else "")


def _changed_inputs(blocks: list[memoryview], case: Case) -> list[str]:
    """Inputs must be as the reference leaves them."""
    lines = []
    for i, (block, before, after) in enumerate(zip(blocks, tree_tensors(case.inputs), case.after, strict=True)):
        dtype = str(before.dtype).removeprefix("torch.")
        now = tensors.build(dtype, list(before.shape), list(before.stride()), before.storage_offset(), block)
        touched = not tensors.same_bits(before, after)
        if not touched and not tensors.same_bits(now, before):
            lines.append(f"input {i} was changed, the reference leaves it alone")
        elif touched:
            found = compare(now, after, None, "npu")
            if found is not None:
                lines.append(f"input {i}, which the reference changes in place: {_describe(found, now, now)}")
    return lines
