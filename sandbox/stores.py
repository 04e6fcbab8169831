"""Which pointer arguments a kernel writes to, read off its TTIR."""

from __future__ import annotations

import re

_DEFINES = re.compile(r"^\s*(%[\w]+)(?::(\d+))?\s*=\s*(.*)$")
_VALUE = re.compile(r"%[\w]+")
_ITER = re.compile(r"(%[\w]+)\s*=\s*(%[\w]+)")
_WRITES = ("tt.store", "tt.atomic_rmw", "tt.atomic_cas", "tt.experimental_descriptor_store", "tt.descriptor_store")
# Ways for a pointer to travel that this reading of the text does not follow.
_OPAQUE = re.compile(r"(?<!\w)(?:scf\.if|scf\.while|cf\.|tt\.call|tt\.extern|tt\.elementwise_inline)")


def written_arguments(ttir: str, arg_types: list[str]) -> set[int]:
    """Positions of the arguments that the kernel stores to; all pointers where the text leaves a doubt."""
    pointers = {i for i, kind in enumerate(arg_types) if kind.startswith("*")}
    head = re.search(r"tt\.func public @[^(]*\((.*)", ttir)
    if head is None:
        return pointers
    names = re.findall(r"(%\w+): ", head[1])[: len(arg_types)]
    roots: dict[str, set[int]] = {name: {i} for i, name in enumerate(names) if i in pointers}
    found: set[int] = set()
    # Sets only grow: a few passes carry them around nested loops.
    loops: set[str] = set()  # loop-carried values that may be pointers
    for _ in range(3):
        for line in ttir.split("\n"):
            body = line.split(" loc(")[0]
            define = _DEFINES.match(body)
            text = define[3] if define else body.strip()
            values = _VALUE.findall(text)
            used = set().union(*(roots.get(v, set()) for v in values))
            if used and _OPAQUE.search(text):
                return pointers
            if text.startswith(_WRITES):
                if not values or not roots.get(values[0]):
                    return pointers  # an address that came out of memory
                found |= roots[values[0]]
            if "iter_args" in text:
                for inner, outer in _ITER.findall(text):
                    roots.setdefault(inner, set()).update(roots.get(outer, set()))
                    loops.add(inner)
            if text.startswith("scf.yield"):
                for inner in loops:
                    if roots.get(inner):
                        roots[inner] |= used
            if define and used and not text.startswith("tt.load"):
                roots.setdefault(define[1], set()).update(used)
    return found
