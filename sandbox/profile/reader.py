"""HIVM text to a typed program.

The final HIVM module prints one operation per line, regions in braces. The reader knows the forms that the Ascend
compiler leaves in that module (checked against ascendnpu-ir 1.1.0); an operation with another form is kept with its
operands and counted in `Program.unknown`.
"""

from __future__ import annotations

import re

from sandbox.profile import forms
from sandbox.profile.affine import AffineMap, parse_map
from sandbox.profile.mlir_text import NAME, OPERAND, HivmError, expand, matching, parse_type, split_top
from sandbox.profile.program import Block, Function, Op, Program

_LINE = re.compile(rf'^(?:({NAME}(?::\d+)?(?:, {NAME}(?::\d+)?)*) = )?"?([\w$]+(?:\.[\w$]+)*)"?(.*)$')
_DEVICE = re.compile(r'#dlti\.dl_entry<"(\w+)", (-?\d+) : i\d+>')
_DUMP = re.compile(r"^// -----// IR Dump After .*$", re.M)
_LOCATION = re.compile(r"\s*loc\((?:[^()]|\([^()]*\))*\)$")


def read(text: str) -> Program:
    """Parse compiler output that contains a HIVM module (the last one printed, if there are several).

    Raises:
        HivmError: no module, or a structure (braces, regions) that cannot be followed.
    """
    dumps = list(_DUMP.finditer(text))
    body = text[dumps[-1].end() :] if dumps else text
    return _Reader(body).module()


class _Reader:
    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        self.position = 0
        self.maps: dict[str, AffineMap] = {}
        self.unknown: dict[str, int] = {}

    def module(self) -> Program:
        device: dict[str, int] = {}
        core_type = ""
        functions: list[Function] = []
        found = False
        while self.position < len(self.lines):
            line = self.lines[self.position].strip()
            self.position += 1
            if re.match(r"#[\w$]+ = affine_map<", line):
                name, _, value = line.partition(" = ")
                self.maps[name] = parse_map(value)
            elif line.startswith("module"):
                found = True
                device.update({k: int(v) for k, v in _DEVICE.findall(line)})
                match = re.search(r"module_core_type<(\w+)>", line)
                core_type = match.group(1) if match else core_type
            elif found and line.startswith("func.func") and line.endswith("{"):
                functions.append(self.function(line))
        if not functions:
            raise HivmError("no HIVM module with a function body in this text")
        return Program(device, core_type, functions, self.maps, self.unknown)

    def function(self, line: str) -> Function:
        name = re.search(r"@([\w$.-]+)\(", line)
        if not name:
            raise HivmError(f"line {self.position}: a function without a name: {line[:80]}")
        inside = split_top(line[name.end() - 1 :], " attributes ")[0]
        argument_text = inside[1 : matching(inside, 0)]
        arguments, types = [], []
        for part in split_top(argument_text, ","):
            if not part.strip():
                continue
            argument, _, type_text = part.strip().partition(": ")
            arguments.append(argument[1:])
            types.append(parse_type(split_top(type_text, " {")[0]))
        core = re.search(r"hivm\.func_core_type<(\w+)>", line)
        host = "function_kind<HOST>" in line
        body = self.block()
        return Function(
            name.group(1),
            "HOST" if host or not core else core.group(1),
            "hacc.entry" in line,
            tuple(arguments),
            tuple(types),
            body,
        )

    def block(self) -> Block:
        """Operations up to the closing brace of the region; leaves the position on the closing line."""
        block = Block()
        while self.position < len(self.lines):
            line = self.lines[self.position].strip()
            if line.startswith("}"):
                return block
            self.position += 1
            if not line or line.startswith("//"):
                continue
            if line.startswith("^"):
                block.arguments += tuple(n[1:] for n in OPERAND.findall(split_top(line, ": ")[0]))
                continue
            block.ops.append(self.operation(line))
        raise HivmError("the text ends inside a region")

    def operation(self, line: str) -> Op:
        number = self.position
        if line.endswith(")"):
            line = _LOCATION.sub("", line)
        match = _LINE.match(line)
        if not match:
            raise HivmError(f"line {number}: not an operation: {line[:80]}")
        results = tuple(r for group in (match.group(1) or "").split(", ") if group for r in expand(group))
        name = "call" if match.group(2) in ("call", "func.call") else match.group(2)
        rest = match.group(3).strip()
        regions: list[Block] = []
        if rest.endswith("{"):
            rest = rest[:-1].strip()
            regions, trailer = self.regions()
            rest = f"{rest} {trailer}".strip()
        op = Op(name, results, (), {}, (), regions, number, line)
        form = forms.form_of(name)
        if form is None:
            self.unknown[name] = self.unknown.get(name, 0) + 1
            op.known = False
            form = forms.generic
        form(op, rest)
        if "map" in op.attributes and isinstance(op.attributes["map"], str):
            key = op.attributes["map"]
            if key.startswith("affine_map<"):
                self.maps.setdefault(key, parse_map(key))
            elif key not in self.maps:
                raise HivmError(f"line {number}: {key} is not defined")
        return op

    def regions(self) -> tuple[list[Block], str]:
        """The regions of an operation and what follows its last closing brace."""
        regions = [self.block()]
        while True:
            if self.position >= len(self.lines):
                raise HivmError("the text ends inside an operation")
            closing = self.lines[self.position].strip()
            self.position += 1
            if closing.endswith("{") and not closing.startswith("} {"):  # "} else {", "} do {", "}, {"
                regions.append(self.block())
                continue
            return regions, closing[1:].strip()
