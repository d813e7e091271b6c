"""Count the reasoning that providers got back.

Only what a provider signed or encrypted counts: the simulation refuses what is not its own, so in a request that it
took all of it is verified. In the chat family nothing is signed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from legato.simulation import Seen

_SEALS = {"signature", "encrypted_content", "thoughtSignature", "data", "redactedContent"}
_PLACEHOLDERS = {"", "skip_thought_signature_validator", "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="}
"""what Gemini is given in place of a signature for calls that it did not make, plain and encoded"""


def thoughts_that_came_home(requests: Iterable[Seen]) -> int:
    """How many there are in all that was asked and not refused."""
    return sum(1 for seen in requests if seen.refusal is None and seen.body for _ in _seals(seen.json))


def _seals(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for name, inner in value.items():
                if name in ("tools", "system", "instructions"):
                    continue
                if name in _SEALS and isinstance(inner, str):
                    if inner not in _PLACEHOLDERS:
                        yield inner
                else:
                    yield from _seals(inner)
        case list():
            for inner in value:
                yield from _seals(inner)
        case _:
            pass
