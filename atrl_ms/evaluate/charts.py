"""Line and stacked charts as SVG text, for reports that must open without a network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

WIDTH, HEIGHT = 460, 230
LEFT, RIGHT, TOP, BOTTOM = 52, 10, 26, 30
COLOURS = ("#3366cc", "#dc7633", "#2e8b57", "#9b59b6", "#c0392b", "#7f8c8d", "#16a085", "#b7950b", "#5d6d7e", "#ec7063")


@dataclass(frozen=True)
class Series:
    """One curve: x and y (N,), and where there are several seeds the bounds of the interval (N,)."""

    label: str
    x: np.ndarray
    y: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None


def ticks(low: float, high: float, count: int = 4) -> list[float]:
    """Round values (1, 2 or 5 times a power of ten apart) within [low, high]."""
    span = high - low
    raw = span / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def number(value: float) -> str:
    """A short decimal."""
    text = f"{value:.3g}" if abs(value) < 1e5 else f"{value:.0e}"
    return "0" if float(text) == 0 else text


class Frame:
    """Axes of one chart: maps data to pixels and draws what surrounds the curves."""

    def __init__(self, title: str, x: tuple[float, float], y: tuple[float, float]) -> None:
        self.x = x if x[1] > x[0] else (x[0] - 0.5, x[0] + 0.5)
        margin = 0.05 * abs(y[0]) + 1e-9
        self.y = y if y[1] > y[0] else (y[0] - margin, y[0] + margin)
        self.parts = [
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">',
            f'<text x="{LEFT}" y="15" class="title">{escape(title)}</text>',
        ]
        for value in ticks(*self.y):
            y_px = self.py(value)
            self.parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y_px:.1f}" y2="{y_px:.1f}" class="grid"/>')
            self.parts.append(f'<text x="{LEFT - 6}" y="{y_px + 4:.1f}" class="y">{number(value)}</text>')
        for value in (v for v in ticks(*self.x) if v == int(v)):  # steps are whole
            self.parts.append(f'<text x="{self.px(value):.1f}" y="{HEIGHT - 12}" class="x">{number(value)}</text>')

    def px(self, x: float) -> float:
        return LEFT + (x - self.x[0]) / (self.x[1] - self.x[0]) * (WIDTH - LEFT - RIGHT)

    def py(self, y: float) -> float:
        return HEIGHT - BOTTOM - (y - self.y[0]) / (self.y[1] - self.y[0]) * (HEIGHT - TOP - BOTTOM)

    def points(self, x: np.ndarray, y: np.ndarray) -> str:
        return " ".join(f"{self.px(a):.1f},{self.py(b):.1f}" for a, b in zip(x, y, strict=True))

    def band(self, x: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str, opacity: float) -> None:
        outline = self.points(np.concatenate([x, x[::-1]]), np.concatenate([high, low[::-1]]))
        self.parts.append(f'<polygon points="{outline}" fill="{colour}" fill-opacity="{opacity}"/>')

    def line(self, x: np.ndarray, y: np.ndarray, colour: str) -> None:
        self.parts.append(f'<polyline points="{self.points(x, y)}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        if len(x) == 1:
            self.parts.append(f'<circle cx="{self.px(x[0]):.1f}" cy="{self.py(y[0]):.1f}" r="3" fill="{colour}"/>')

    def finish(self, labels: Sequence[str]) -> str:
        """The chart with its legend as an HTML figure."""
        legend = "".join(
            f'<span><i style="background:{COLOURS[i % len(COLOURS)]}"></i>{escape(label)}</span>'
            for i, label in enumerate(labels)
        )
        return f'<figure>{"".join(self.parts)}</svg><figcaption>{legend}</figcaption></figure>'


def line_chart(title: str, series: Sequence[Series], bounds: tuple[float, float] | None = None) -> str:
    """Curves over steps, with a band where a series has an interval. Empty text without data."""
    series = [s for s in series if len(s.x)]
    if not series:
        return ""
    values = np.concatenate([v for s in series for v in (s.y, s.low, s.high) if v is not None])
    x = np.concatenate([s.x for s in series])
    frame = Frame(title, (float(x.min()), float(x.max())), bounds or (float(values.min()), float(values.max())))
    for i, s in enumerate(series):
        colour = COLOURS[i % len(COLOURS)]
        if s.low is not None and s.high is not None:
            low, high = (np.clip(v, *frame.y) for v in (s.low, s.high))
            frame.band(s.x, low, high, colour, 0.18)
        frame.line(s.x, np.clip(s.y, *frame.y), colour)
    return frame.finish([s.label for s in series])


def stacked_chart(title: str, series: Sequence[Series]) -> str:
    """Areas on top of each other, all over the same x; bounded values such as shares add up to the top line."""
    series = [s for s in series if len(s.x)]
    if not series:
        return ""
    total = np.sum([s.y for s in series], axis=0)
    x = series[0].x
    frame = Frame(title, (float(x.min()), float(x.max())), (0.0, float(max(total.max(), 1e-9))))
    floor = np.zeros(len(x))
    wide = np.array([x[0] - 0.5, x[0] + 0.5]) if len(x) == 1 else x
    for i, s in enumerate(series):
        top = floor + s.y
        low, high = (np.resize(v, len(wide)) for v in (floor, top))
        frame.band(wide, low, high, COLOURS[i % len(COLOURS)], 0.85)
        floor = top
    return frame.finish([s.label for s in series])
