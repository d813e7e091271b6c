"""What came of one damaged history.

In:  what the providers were asked, and what the framework raised.
Out: one verdict.

An answer is not enough: a framework may have left out what it could not place. So the last request is read, and what
tools had returned has to be in it, as a result or in words.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from legato.model import Speaker
from legato.request import parse
from legato.simulation import Seen
from scripts.frameworks.damages import Damage
from scripts.frameworks.stage import Played
from scripts.frameworks.tool import FILES


class Verdict(StrEnum):
    """The worst first."""

    REFUSED = "refused"
    """a provider refused the request"""
    RAISED = "raised"
    """the framework raised an error before a provider was asked"""
    LOST = "lost"
    """the model answered, and was not told what a tool had returned"""
    ANSWERED = "answered"


class Judged(NamedTuple):
    """A verdict, and why; where a rule was broken, which one."""

    verdict: Verdict
    why: str = ""
    rule: str = ""


def judged(played: Played, damage: Damage) -> Judged:
    """What came of a history."""
    if played.refusals:
        return Judged(Verdict.REFUSED, played.refusals[0], next(iter(played.rules), ""))
    if played.error:
        return Judged(Verdict.RAISED, played.error.splitlines()[0])
    told = _told(played.asked[-1])
    lost = [value for value in _there(damage) if value not in told]
    return Judged(Verdict.LOST, f"not told: {', '.join(lost)}") if lost else Judged(Verdict.ANSWERED)


def _there(damage: Damage) -> list[str]:
    """What tools had returned in the history."""
    match damage:
        case Damage.CANCELLED:
            return []
        case Damage.MISSING:
            return list(FILES.values())[1:]
        case _:
            return list(FILES.values())


def _told(seen: Seen) -> str:
    """All that is not an answer of the model in a request."""
    parsed = parse({**seen.json, "model": seen.model}, f"{seen.provider}/{seen.model}")
    return "\n".join(
        str(block) for entry in parsed.entries if entry.speaker is not Speaker.AI for block in entry.blocks
    )
