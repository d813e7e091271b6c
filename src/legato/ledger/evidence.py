"""On what grounds a response was given to its call, and which response has to give way.

    ID      it names the call: by our own id, or by the call's id, after the call
    ORDER   it has no id; the call was the first open one
    PLACE   its id fits nothing; counts and tools left no other call
    EARLY   it came before the call, under the id that the call then had

Everything below ID is a guess: better than nothing, and wrong at times. A history that was trimmed in front begins with
the results of calls that are gone, and where a provider counts its ids anew in every answer, the next call has the same
id. So a guess holds only until a response comes that names the call. The guess is then no duplicate of it: the two are
results of different calls, and the one that gives way goes on elsewhere. Only where both say the same are they one.
"""

from __future__ import annotations

from enum import IntEnum

import msgspec

from legato.ledger.states import CallNews, infer
from legato.model import ToolResponse


class Evidence(IntEnum):
    """How a response found its call, surest first."""

    ID = 0
    ORDER = 1
    PLACE = 2
    EARLY = 3


_REAL = (CallNews.FINISHED, CallNews.FAILED)


def has_news(response: ToolResponse) -> bool:
    """Whether `response` tells how its call ended; a closure that a renderer once wrote does not."""
    return infer(response) not in (None, CallNews.CLOSED)


def gives_way(guess: ToolResponse, to: ToolResponse) -> bool:
    """Whether `guess`, which holds a call so far, must go elsewhere now that `to` names that call.

    Only a real result has somewhere to go: a cancellation that was misplaced says nothing about any other call.
    """
    return infer(guess) in _REAL and has_news(to) and not says_the_same(guess, to)


def are_apart(one: ToolResponse, other: ToolResponse) -> bool:
    """Whether two responses under one id, whose call nobody knows, are two results: both real, and not the same."""
    return infer(one) in _REAL and infer(other) in _REAL and not says_the_same(one, other)


def says_the_same(one: ToolResponse, other: ToolResponse) -> bool:
    """Whether two responses hold the same outcome, so that one of them can be left out and nothing is lost."""
    return _outcome(one) == _outcome(other)


def _outcome(response: ToolResponse) -> tuple[bytes, object, object, object]:
    # As JSON: to Python, 1 equals true and 1.0.
    return msgspec.json.encode(response.result), response.error, response.media, response.reason
