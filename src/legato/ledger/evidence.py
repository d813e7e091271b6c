"""How a response is known to belong to a call, and what follows when two responses want the same one.

This is the ranking of evidence, surest first. There is no other place that ranks.

    its id        recorded                                       evidence
    ------------  ---------------------------------------------  ---------
    the call's    after the call                                 NAMED
    the call's    before the call, and no one spoke in between   EARLY
    respelled     after it, or before it as above                RESPELLED
    unknown       in the call's round, counts and tools agree    PLACE
    missing       in the call's round                            PLACE
    missing       later                                          ELSEWHERE
    anything else                                                none: the response gets a name of its own

*Respelled* is the same id under another prefix (`call_x`, `toolu_x`, `x`), or our own name for the call in the field
for the provider's id: histories of other programs hold ids that look like our names. A *round* is what the model says
until a result comes, a person speaks or the answer breaks off. A response that names its tool is never guessed to
belong to a call of another tool.

Only NAMED is no guess. When better evidence comes for a call, the guess that held it makes room, because the two are
results of different calls (`makes_room`). It goes to the next call that it may belong to, or back to a name of its own,
and it is dropped only if it says exactly what the better one says and has nowhere else to go. Two responses that both
name the call are duplicates: they are news about one call, and `states.RANK` says which of them counts.
"""

from __future__ import annotations

from enum import IntEnum

import msgspec

from legato.ledger.states import CallNews, infer
from legato.ledger.stems import PREFIX, bare
from legato.model import CallId, ToolResponse


class Evidence(IntEnum):
    """How a response is known to belong to its call: the rows of the table above, surest first."""

    NAMED = 0
    EARLY = 1
    RESPELLED = 2
    PLACE = 3
    ELSEWHERE = 4


_REAL = (CallNews.FINISHED, CallNews.FAILED)


def evidence_of(response: ToolResponse, call_id: CallId, wire_id: str) -> Evidence:
    """What `response`, as it is recorded, has for belonging to the call with these ids.

    A record does not say whether a response without an id came in the round of its call; both are a guess by place.
    """
    if response.call_id == call_id and not response.guessed:
        return Evidence.NAMED
    given = response.wire_id
    if given and given == wire_id:
        return Evidence.EARLY
    if given and is_respelled(given, call_id, wire_id):
        return Evidence.RESPELLED
    return Evidence.PLACE


def is_respelled(given: str, call_id: CallId, wire_id: str) -> bool:
    """Whether `given` is the id of the call in another spelling, or our own name for it."""
    return given == call_id or (bool(wire_id) and bare(given) == bare(wire_id))


def looks_like_ours(wire_id: str) -> bool:
    """Whether a provider's id has the form of our own names."""
    return wire_id.startswith(PREFIX)


def is_real(response: ToolResponse) -> bool:
    """Whether a tool really ended, well or badly."""
    return infer(response) in _REAL


def has_news(response: ToolResponse) -> bool:
    """Whether `response` tells how its call ended; a closure that a renderer once wrote does not."""
    return infer(response) not in (None, CallNews.CLOSED)


def makes_room(guess: ToolResponse, to: ToolResponse) -> bool:
    """Whether `guess`, which holds a call so far, has to leave it now that better evidence speaks for `to`.

    Only a real result has somewhere to go: a cancellation that was misplaced says nothing about any other call.
    """
    return is_real(guess) and has_news(to)


def says_the_same(one: ToolResponse, other: ToolResponse) -> bool:
    """Whether two responses hold the same outcome, so that one of them can be left out and nothing is lost."""
    return outcome(one) == outcome(other)


def outcome(response: ToolResponse) -> bytes:
    """The content of `response`, for comparison: as JSON, because to Python 1 equals true and 1.0."""
    return msgspec.json.encode((response.result, response.error, response.media, response.reason))
