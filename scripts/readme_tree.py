"""Prints the file tree of the rooms, one phrase per file, from their docstrings; `--write` puts it in README.md."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("atrl_ms", "agent", "sandbox", "kb", "scripts", "configs")
BEGIN, END = "<!-- tree: scripts/readme_tree.py --write -->\n```text\n", "```\n<!-- end of tree -->"
WIDTH = 150


def phrase(path: Path) -> str:
    """The first line of a module docstring or of a file's leading comment."""
    text = path.read_text()
    if path.suffix == ".py":
        return (ast.get_docstring(ast.parse(text)) or "").split("\n")[0]
    lines = [line.lstrip("# ") for line in text.splitlines() if line.startswith("#") and not line.startswith("#!")]
    return lines[0] if lines else ""


def tracked() -> list[Path]:
    """Files git knows in the rooms, without package markers, tasks and binary assets."""
    listed = subprocess.run(["git", "ls-files", *ROOMS], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [Path(line) for line in listed.splitlines()]
    wanted = (".py", ".sh", ".yaml")
    skipped = ("sandbox/tasks/", "sandbox/profile/calibration/", "sandbox/profile/constants/", "atrl_ms/assets/")
    return [
        p
        for p in paths
        if p.suffix in wanted
        and p.name != "__init__.py"
        and not str(p).startswith(skipped)
        and (ROOT / p).is_file()
    ]


def tree() -> str:
    """One line per file, indented below its directory."""
    lines: list[str] = []
    seen: set[Path] = set()
    for path in sorted(tracked(), key=lambda p: [(part, 0) for part in p.parts]):
        for depth, parent in enumerate(reversed(path.parents[:-1])):
            if parent not in seen:
                seen.add(parent)
                lines.append("  " * depth + parent.name + "/")
        indent = "  " * (len(path.parts) - 1)
        line = f"{indent}{path.name:<{30 - len(indent)}} {phrase(ROOT / path)}"
        lines.append(line if len(line) <= WIDTH else line[: WIDTH - 3].rstrip() + "...")
    return "\n".join(lines) + "\n"


def main() -> None:
    if "--write" not in sys.argv:
        print(tree(), end="")
        return
    readme = ROOT / "README.md"
    text = readme.read_text()
    start, stop = text.index(BEGIN) + len(BEGIN), text.index(END)
    readme.write_text(text[:start] + tree() + text[stop:])


if __name__ == "__main__":
    main()
