"""How much of a conversation is kept for the model, in numbers.

Marks are fractions of the target's window. Compaction begins above the high mark and goes down to the low one, in one
large step, because every rewrite costs the provider's cache from the first changed unit on. A summary is at the
beginning and costs all of it, so where one is needed the step is larger still. What is above the ceiling is not sent.
"""

from __future__ import annotations

from msgspec import Struct

from legato.errors import ConfigError

CURRENT = "current"
"""as `summarization_model`: the model that answers at present"""


class HistorySettings(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is compacted, and when."""

    max_tool_history_length: int = 6
    """the newest calls whose outputs stay whole"""
    truncation_threshold: int = 10_000
    """tokens of calls and outputs above which older outputs are stubbed, however large and full the window is, once
    that frees half as many"""
    summary_cap: int = 500
    """tokens that one summary may have"""
    summarization_model: str | None = None
    """the route that writes summaries, `current` for the one that answers; unset: a digest made without a model"""
    high_mark: float = 0.8
    """above it compaction begins"""
    low_mark: float = 0.5
    """down to it compaction goes; if stubs do not get there, units are covered, down to the cover mark"""
    cover_mark: float = 0.3
    """down to it units are covered, and never less far than to the low mark"""
    ceiling: float = 0.95
    """above it nothing is sent; even what is otherwise spared is shortened"""
    min_gain: float = 0.05
    """what a rewrite has to free to be worth the cache; the truncation threshold asks for half of itself if that is
    less, and above the ceiling nothing is asked for"""
    clip_length: int = 1_000
    """tokens that are left of one of the newest outputs when the ceiling forces it to be shortened"""

    def __post_init__(self) -> None:
        if not 0 < self.low_mark < self.high_mark < self.ceiling <= 1:
            raise ConfigError(
                f"low_mark {self.low_mark}, high_mark {self.high_mark} and ceiling {self.ceiling} have to grow in this "
                "order, from above 0 to at most 1"
            )
        if not 0 <= self.cover_mark <= 1:
            raise ConfigError(f"cover_mark is {self.cover_mark}; it has to be from 0 to 1")
        if not 0 <= self.min_gain < self.high_mark:
            raise ConfigError(f"min_gain is {self.min_gain}; it has to be at least 0 and below the high mark")
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                raise ConfigError(f"{name} is {getattr(self, name)}; it has to be at least {least}")


_LEAST = {"max_tool_history_length": 0, "truncation_threshold": 0, "summary_cap": 50, "clip_length": 50}
