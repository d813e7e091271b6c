"""The habits of models in naming their calls.

In:  a habit, the tool's name, the place of the call in its answer, and a seed that differs from answer to answer.
Out: the id that such a model would give. Nothing is random: the same request gets the same ids.

The bad habits are real ones. Kimi numbers the calls of each response from zero again, some servers give every call one
constant id, some give none. Whoever records such answers must keep the calls apart.
"""

from __future__ import annotations

from legato.model.hashing import base62
from legato.wire.hosting import IdHabit


def name_call(habit: IdHabit, name: str, place: int, *, seed: str) -> str:
    """The id of the call at `place` of an answer."""
    match habit:
        case IdHabit.CALL:
            return "call_" + base62(seed, place, length=24)
        case IdHabit.TOOLU:
            return "toolu_01" + base62(seed, place, length=22)
        case IdHabit.TOOLUSE:
            return "tooluse_" + base62(seed, place, length=22)
        case IdHabit.SHORT:
            return base62(seed, place, length=8)
        case IdHabit.NINE:
            return base62(seed, place, length=9)
        case IdHabit.NUMBERED:
            return f"functions.{name}:{place}"
        case IdHabit.PLACED:
            return f"call_{place:02}_{base62(seed, place, length=20)}"
        case IdHabit.CONSTANT:
            return "call_1"
        case IdHabit.EMPTY:
            return ""
