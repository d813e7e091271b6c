"""How fast an answer leaves: `20/s` is twenty pieces of a stream in a second.

A simulated answer is ready at once, and without a pace it arrives in one burst. Nothing that goes wrong while text
streams (a status line over half a sentence, a key pressed in the middle of an answer) can be seen then. A pace spreads
the pieces of a stream over time, as a real provider does. The wait before the first byte is not a matter of pace, and a
body that is not a stream has only one piece.
"""

from __future__ import annotations

import math
import re

from legato.errors import ConfigError

_PACE = re.compile(r"(\d+(?:\.\d+)?)(?:/s)?")


def read_pace(text: str) -> float:
    """Pieces in a second from `20/s`, or just `20`; raises `ConfigError` for anything else."""
    found = _PACE.fullmatch(text.strip())
    if found is None:
        raise ConfigError(f"{text!r} is no pace; write how many pieces leave in a second, such as 20/s")
    return check_pace(float(found[1]))


def check_pace(pace: float) -> float:
    """`pace`, if something can be sent at it; raises `ConfigError` otherwise."""
    if not pace > 0 or math.isinf(pace):
        raise ConfigError(f"nothing can be sent at a pace of {pace:g} pieces in a second; give a number above 0")
    return pace


def pause_between(pace: float | None) -> float:
    """The seconds between two pieces of a stream; 0 without a pace."""
    return 0.0 if pace is None else 1 / check_pace(pace)
