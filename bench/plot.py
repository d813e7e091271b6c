"""The plot of the figures, written as plain SVG.

In:  series of (messages or turns, milliseconds).
Out: two panels with logarithmic axes, where the diagonal of a cell means: ten times the work, ten times the time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from bench.figures import Series

WIDTH, HEIGHT = 470, 380
LEFT, RIGHT, TOP, BOTTOM = 62, 20, 44, 132
COLOURS = {"Legato": "#0b6e4f", "plain converter": "#8a8a8a", "orjson.dumps of the body": "#c4c4c4"}
OTHERS = ("#b5532a", "#3b5ba5", "#a33b6f", "#8c6d1f", "#5f4b8b", "#2a8fa8", "#7a3b2e")


class Axis(NamedTuple):
    """A logarithmic axis: powers of ten, and where they lie."""

    low: int
    high: int
    start: float
    end: float

    def place(self, value: float) -> float:
        """Where `value` lies."""
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    @property
    def ticks(self) -> list[int]:
        """The powers of ten on the axis."""
        return list(range(self.low, self.high + 1))


def plot(series: Sequence[Series]) -> str:
    """The whole picture."""
    others = sorted({line.name for line in series} - set(COLOURS))
    colours = COLOURS | {name: OTHERS[number % len(OTHERS)] for number, name in enumerate(others)}
    messages = [line for line in series if line.plot == "messages"]
    turns = [line for line in series if line.plot == "turns"]
    panels = [
        _panel(messages, colours, "One conversion of the whole", "messages", 0),
        _panel(turns, colours, "A session, every turn converted", "turns", WIDTH),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {HEIGHT}" '
        f'font-family="system-ui, sans-serif" font-size="11" fill="#333">\n'
        f'<rect width="{2 * WIDTH}" height="{HEIGHT}" fill="#fff"/>\n' + "\n".join(panels) + "\n</svg>\n"
    )


def _panel(series: Sequence[Series], colours: Mapping[str, str], title: str, unit: str, offset: int) -> str:
    points = [(x, y) for line in series for x, y in line.points if x > 0 and y > 0]
    if not points:
        return ""
    across = _axis([x for x, _ in points], offset + LEFT, offset + WIDTH - RIGHT)
    up = _axis([y for _, y in points], HEIGHT - BOTTOM, TOP)
    parts = [f'<text x="{offset + LEFT}" y="20" font-size="13" font-weight="600">{escape(title)}</text>']
    parts += _grid(across, up, unit)
    for number, line in enumerate(series):
        colour = colours[line.name]
        parts += _line(line, across, up, colour)
        row, column = divmod(number, 2)
        x, y = offset + LEFT + column * 190, HEIGHT - BOTTOM + 52 + row * 16
        parts.append(f'<rect x="{x}" y="{y - 8}" width="9" height="9" fill="{colour}"/>')
        parts.append(f'<text x="{x + 14}" y="{y}">{escape(line.name)}</text>')
    return "\n".join(parts)


def _axis(values: Sequence[float], start: float, end: float) -> Axis:
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return Axis(low, max(high, low + 1), start, end)


def _grid(across: Axis, up: Axis, unit: str) -> list[str]:
    parts: list[str] = []
    for tick in across.ticks:
        x = across.place(10**tick)
        parts.append(f'<line x1="{x:.1f}" y1="{up.start}" x2="{x:.1f}" y2="{up.end}" stroke="#eee"/>')
        parts.append(f'<text x="{x:.1f}" y="{up.start + 16}" text-anchor="middle">{10**tick:,}</text>')
    for tick in up.ticks:
        y = up.place(10**tick)
        parts.append(f'<line x1="{across.start}" y1="{y:.1f}" x2="{across.end}" y2="{y:.1f}" stroke="#eee"/>')
        parts.append(f'<text x="{across.start - 6}" y="{y + 4:.1f}" text-anchor="end">{_duration(tick)}</text>')
    middle = (across.start + across.end) / 2
    parts.append(f'<text x="{middle}" y="{up.start + 32}" text-anchor="middle">{unit}</text>')
    return parts


def _duration(tick: int) -> str:
    """A power of ten of milliseconds, in words."""
    if tick >= 3:
        return f"{10 ** (tick - 3):,} s"
    return f"{10**tick} ms" if tick >= 0 else f"{10 ** (tick + 3)} µs"


def _line(series: Series, across: Axis, up: Axis, colour: str) -> list[str]:
    places = [(across.place(x), up.place(y)) for x, y in series.points]
    dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>', *dots]
