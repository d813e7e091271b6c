"""What the cases give back: figures, with a goal where there is one, and the series of the plot."""

from __future__ import annotations

import math
from typing import Literal

from msgspec import Struct


class Goal(Struct, frozen=True):
    """What a figure should be."""

    kind: Literal["at most", "below", "at least", "above"]
    value: float

    def is_met(self, value: float) -> bool:
        """Whether `value` is as it should be."""
        match self.kind:
            case "at most":
                return value <= self.value
            case "below":
                return value < self.value
            case "at least":
                return value >= self.value
            case "above":
                return value > self.value


class Figure(Struct, frozen=True):
    """One measured value. With unit `x` it is a ratio: this many times what `against` names."""

    name: str
    value: float
    unit: str = "x"
    against: str = ""
    detail: str = ""
    goal: Goal | None = None

    @property
    def verdict(self) -> str:
        """Whether the goal is met; empty where there is none."""
        if self.goal is None:
            return ""
        return "met" if self.goal.is_met(self.value) else "not met"


class Series(Struct, frozen=True):
    """A line of the plot."""

    plot: Literal["messages", "turns"]
    name: str
    points: list[tuple[float, float]]
    """(messages or turns, milliseconds)"""


class Outcome(Struct, frozen=True):
    """What one case found."""

    figures: list[Figure]
    series: list[Series] = []
    notes: list[str] = []


class Scale(Struct, frozen=True, kw_only=True):
    """How much to measure."""

    small: int = 1_000
    """messages"""
    large: int = 10_000
    huge: int = 100_000
    sessions: tuple[int, ...] = (200, 400, 2_000)
    """turns"""
    rounds: int = 9
    children: int = 11
    """rounds of new interpreters"""
    compaction: tuple[int, int] = (2_000, 16_000)
    """turns, and tokens of the window"""
    megabytes: int = 100
    """of a session file"""

    @property
    def sizes(self) -> list[int]:
        """Messages, from a tenth of small to huge in steps of ten."""
        return [self.small // 10 * 10**step for step in range(round(math.log10(self.huge / self.small)) + 2)]


QUICK = Scale(
    small=200, large=1_000, huge=2_000, sessions=(10, 20, 50), rounds=2, children=1, compaction=(12, 8_000), megabytes=1
)


def milliseconds(seconds: float) -> str:
    """A duration for people."""
    value = seconds * 1000
    return f"{value:,.0f} ms" if value >= 100 else f"{value:.3g} ms" if value >= 1 else f"{value * 1000:,.0f} µs"
