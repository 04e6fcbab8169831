"""A self-contained HTML page: the pipes of one core over time, and the buffers of UB, L1 and L0C over the program.

An engineer sees whether loads overlap compute, and what fills the memory. Every number on it is modelled, and the page
says so.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from sandbox.profile.memory import SCOPES
from sandbox.profile.work import PIPES

COLOURS = {
    "S": "#8a8f98", "V": "#2f7fd1", "MTE1": "#8e5bb5", "MTE2": "#2a9d63", "MTE3": "#d98324", "M": "#c8413b",
    "FIX": "#b08a1e", "gap": "#e4e6ea",
}  # fmt: skip
NAMES = {
    "S": "scalar", "V": "vector", "MTE1": "L1 → L0 (MTE1)", "MTE2": "load (MTE2)", "MTE3": "store (MTE3)",
    "M": "cube", "FIX": "L0C → out (FIX)",
}  # fmt: skip
WIDTH, ROW, LEFT = 980, 20, 120
MAX_SPANS = 6000
STYLE = """
body{font:14px/1.45 system-ui,sans-serif;margin:24px;color:#1d2129;background:#fff}
h1{font-size:20px;margin:0 0 4px}h2{font-size:16px;margin:28px 0 6px}h3{font-size:14px;margin:14px 0 4px}
table{border-collapse:collapse;margin:6px 0}td,th{padding:2px 12px 2px 0;text-align:left;vertical-align:top}
th{font-weight:600;color:#4b525e}.note{color:#4b525e}.tag{background:#fff3d6;padding:1px 6px;border-radius:3px}
.side{display:flex;gap:32px;flex-wrap:wrap}svg text{font:11px system-ui,sans-serif;fill:#333a45}
"""


def page(title: str, candidates: Sequence[tuple[str, dict[str, Any]]]) -> str:
    """The page of one candidate, or of several side by side.

    Args:
        candidates: (name, profile as `Profile.to_json()` with pictures).
    """
    columns = "".join(f"<div>{_candidate(name, profile)}</div>" for name, profile in candidates)
    return (
        f"<!doctype html><html><head><meta charset='utf-8'><title>{html.escape(title)}</title><style>{STYLE}</style>"
        f"</head><body><h1>{html.escape(title)}</h1><p class='note'>All times on this page are "
        "<span class='tag'>modelled</span> from the compiled program; nothing was measured on a device.</p>"
        f"<div class='side'>{columns}</div></body></html>\n"
    )


def _candidate(name: str, profile: dict[str, Any]) -> str:
    call = max(profile["calls"], key=lambda c: c["us"], default=None)
    lines = "".join(f"<li>{html.escape(line)}</li>" for line in profile["feedback"])
    out = [f"<h2>{html.escape(name)}</h2><ul>{lines}</ul>"]
    if call is None:
        return out[0]
    for launch in call["launches"]:
        out.append(f"<h3>{html.escape(launch['kernel'])}</h3>{table(launch)}")
        data = launch.get("picture")
        if data:
            for stream in data["streams"]:
                out.append(f"<p class='note'>Program 0 on one {_core(stream['core'])} core (modelled)</p>")
                out.append(timeline(stream["spans"]))
            out += [memory_map(data["buffers"], scope, data["capacity"].get(scope, 0)) for scope in SCOPES]
    return "".join(out)


def _core(core: str) -> str:
    return "cube" if core == "AIC" else "vector"


def table(launch: dict[str, Any]) -> str:
    """Numbers of one launch."""
    rows = [
        ("time (modelled)", f"{launch['us']:.2f} us, of which launch {launch['launch_us']:.2f} us"),
        ("grid", f"{launch['programs']} programs on {launch['cores']} {launch['core']} cores"),
        ("longest program (modelled)", f"{launch['program_us']:.2f} us"),
        ("memory", f"{launch['read_bytes'] / 1e6:.3f} MB read, {launch['written_bytes'] / 1e6:.3f} MB written"),
        ("busy (modelled)", ", ".join(f"{k} {100 * v:.0f} %" for k, v in launch["ratios"].items())),
        ("buffers", ", ".join(f"{k} {v['used']} of {v['capacity']} bytes" for k, v in launch["memory"].items())),
        ("bottleneck (modelled)", launch["bottleneck"]),
        ("hint", launch["hint"]),
    ]
    for key in ("assumptions", "unknown"):
        if launch[key]:
            rows.append((key, ", ".join(f"{k} ({v} times)" for k, v in launch[key].items())))
    body = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in rows)
    return f"<table>{body}</table>"


def timeline(spans: Sequence[Sequence[Any]]) -> str:
    """SVG of the pipes of one core; spans are [pipe, start, end, kind, line] in microseconds."""
    shown = list(spans[:MAX_SPANS])
    end = max((s[2] for s in shown), default=0.0) or 1.0
    pipes = [p for p in PIPES if any(s[0] == p for s in shown)]
    height = ROW * (len(pipes) + 2)
    out = [f"<svg width='{LEFT + WIDTH + 20}' height='{height}' role='img'>"]
    for i, pipe in enumerate(pipes):
        out.append(f"<text x='0' y='{ROW * i + 14}'>{NAMES[pipe]}</text>")
        y = ROW * (i + 1)
        out.append(f"<line x1='{LEFT}' x2='{LEFT + WIDTH}' y1='{y}' y2='{y}' stroke='#eceef1'/>")
    for pipe, start, stop, kind, line in shown:
        x = LEFT + WIDTH * start / end
        width = max(0.6, WIDTH * (stop - start) / end)
        if pipe == "gap":
            note = f"{kind} like the ones before, left out"
            out.append(
                f"<rect x='{x:.1f}' y='0' width='{max(2.0, width):.1f}' height='{ROW * len(pipes)}' "
                f"fill='{COLOURS['gap']}'><title>{html.escape(note)}</title></rect>"
            )
            continue
        place = f", module line {line}" if line else ""
        label = f"{NAMES[pipe]}: {kind}, {start:.3f} to {stop:.3f} us (modelled){place}"
        out.append(
            f"<rect x='{x:.1f}' y='{ROW * pipes.index(pipe) + 3}' width='{width:.1f}' height='{ROW - 6}' "
            f"fill='{COLOURS[pipe]}'><title>{html.escape(label)}</title></rect>"
        )
    base = ROW * len(pipes) + 16
    for i in range(6):
        anchor = "start" if i == 0 else "end" if i == 5 else "middle"
        out.append(
            f"<text x='{LEFT + WIDTH * i / 5:.0f}' y='{base}' text-anchor='{anchor}'>{end * i / 5:.2f} us</text>"
        )
    out.append("</svg>")
    if len(spans) > MAX_SPANS:
        out.append(f"<p class='note'>The first {MAX_SPANS} of {len(spans)} operations are drawn.</p>")
    return "".join(out)


def memory_map(buffers: Sequence[dict[str, Any]], scope: str, capacity: int) -> str:
    """SVG of one memory: program order to the right, address upwards; copies of a double buffer share a colour."""
    members = [b for b in buffers if b["scope"] == scope and b["size"] > 0]
    if not members:
        return ""
    top = max(max(b["offsets"], default=0) + b["size"] for b in members)
    first, last = min(b["first"] for b in members), max(b["last"] for b in members)
    length = max(1, last - first)
    height = 170
    palette = ("#2f7fd1", "#2a9d63", "#d98324", "#8e5bb5", "#c8413b", "#b08a1e", "#3aa6a6", "#7a869a")
    share = f", {100 * top / capacity:.0f} % of {capacity} bytes" if capacity else ""
    out = [
        f"<p class='note'>{SCOPES[scope]}: {top} bytes used at most{share} (the compiler's plan)</p>",
        f"<svg width='{LEFT + WIDTH + 20}' height='{height + 22}' role='img'>",
        f"<rect x='{LEFT}' y='0' width='{WIDTH}' height='{height}' fill='none' stroke='#d4d8de'/>",
        f"<text x='0' y='12'>{top} B</text><text x='0' y='{height}'>0</text>",
    ]
    for number, buffer in enumerate(members):
        x = LEFT + WIDTH * (buffer["first"] - first) / length
        width = max(1.5, WIDTH * (buffer["last"] - buffer["first"]) / length)
        kind = "scratch of a routine" if buffer["temporary"] else buffer["text"]
        copies = len(buffer["offsets"])
        label = f"{kind}: {buffer['size']} bytes" + (f", {copies} copies" if copies > 1 else "")
        for offset in buffer["offsets"]:
            tall = max(1.0, height * buffer["size"] / top)
            y = height - height * offset / top - tall
            out.append(
                f"<rect x='{x:.1f}' y='{y:.1f}' width='{width:.1f}' height='{tall:.1f}' "
                f"fill='{palette[number % len(palette)]}' fill-opacity='0.55' stroke='#fff'>"
                f"<title>{html.escape(label)}</title></rect>"
            )
    out.append(f"<text x='{LEFT}' y='{height + 15}'>program order →</text></svg>")
    return "".join(out)
