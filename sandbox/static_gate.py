"""The first look at a candidate: does it parse, define ModelNew and a Triton kernel? Syntax trees only, no names."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass

MAX_SOURCE = 400_000  # characters


@dataclass(frozen=True)
class Finding:
    """Why a candidate stops here: verdict, one line, and the user's source line."""

    verdict: str
    message: str
    line: str = ""


def check(source: str) -> Finding | None:
    """None if the candidate may be run; whether it is honest is decided by what it does."""
    if len(source) > MAX_SOURCE:
        return Finding("static_error", f"the file is longer than {MAX_SOURCE} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            compile(tree, "candidate.py", "exec", dont_inherit=True)
    except SyntaxError as error:
        line = f"{error.lineno}: {(error.text or '').strip()}" if error.lineno else ""
        return Finding("static_error", f"SyntaxError: {error.msg}", line)
    except (ValueError, RecursionError, MemoryError) as error:
        return Finding("static_error", f"the file does not parse: {type(error).__name__}: {error}")
    if not any(_binds(node, "ModelNew") for node in ast.walk(tree)):
        return Finding("static_error", "the file defines no class ModelNew")
    if not any(_is_kernel(node) for node in ast.walk(tree)):
        return Finding("cheat", "no Triton kernel in the file: define one with @triton.jit and launch it in forward")
    return None


def _binds(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.ClassDef):
        return node.name == name
    if isinstance(node, ast.Name):
        return node.id == name and isinstance(node.ctx, ast.Store)
    return isinstance(node, ast.alias) and (node.asname or node.name) == name


def _is_kernel(node: ast.AST) -> bool:
    """A function decorated with ...jit, or a call of ...jit(function)."""
    if isinstance(node, ast.FunctionDef):
        return any(_names_jit(d) for d in node.decorator_list)
    return isinstance(node, ast.Call) and bool(node.args) and _names_jit(node.func)


def _names_jit(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        node = node.func
    return (isinstance(node, ast.Attribute) and node.attr == "jit") or (
        isinstance(node, ast.Name) and "jit" in node.id.lower()
    )
