"""The first look at a candidate: does it parse, can it hold ModelNew and Triton? What it does decides the rest."""

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
            tree = ast.parse(source.removeprefix("\ufeff").encode())
            compile(tree, "candidate.py", "exec", dont_inherit=True)
    except UnicodeEncodeError:
        return Finding("static_error", "the file is not UTF-8 text")
    except SyntaxError as error:
        line = f"{error.lineno}: {(error.text or '').strip()}" if error.lineno else ""
        return Finding("static_error", f"SyntaxError: {error.msg}", line)
    except (ValueError, RecursionError, MemoryError) as error:
        return Finding("static_error", f"the file does not parse: {type(error).__name__}: {error}")
    words = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings do nothing
    names = {name for node in ast.walk(tree) if id(node) not in words for name in _names(node)}
    if "ModelNew" not in names:
        return Finding("static_error", "the file defines no class ModelNew")
    if not any("triton" in name for name in names):
        return Finding("cheat", "no Triton kernel in the file: define one with @triton.jit and launch it in forward")
    return None


def _names(node: ast.AST) -> list[str]:
    """Names that a node brings in, as identifiers or as text that code could import or execute by."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.alias):
        return [node.name, node.asname or ""]
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []
