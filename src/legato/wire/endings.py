"""How an answer ended, from the word that its provider has for it: one rule for all dialects.

    no reason given             an ordinary end
    an ordinary end             CALLS if the answer asks for tools, else DONE: servers say "stop" where calls are there
                                to see, and "tool_calls" where there are none
    any other that is known     what the dialect's table says
    one that is new to us       CUT: nothing says that the answer is whole

A new reason is more often a new way to break off than a new word for a good end. After CUT a person, or a program, can
ask to go on; the calls of such an answer are made like any others, unless one of them is visibly incomplete. The word
itself is kept, for whoever cannot ask to go on: a gateway's client would ask the same again, and get the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from legato.model import Ending, clean_text

CUT_SHORT = frozenset({Ending.LENGTH, Ending.CUT, Ending.CANCELLED})
"""endings after which the last call may be incomplete even though nothing in it says so"""

_ORDINARY = frozenset({Ending.DONE, Ending.CALLS})


class Ended(NamedTuple):
    """How an answer ended, and the provider's word for it if that is new to us."""

    ending: Ending
    new_word: str = ""


def ending_of(reason: str, known: Mapping[str, Ending], *, has_calls: bool) -> Ended:
    """How an answer ended that gives `reason`, in a dialect whose reasons are `known`."""
    ending = known.get(reason) if reason else Ending.DONE
    if ending is None:
        return Ended(Ending.CUT, clean_text(reason))  # most words are only compared, but this one is kept
    if ending not in _ORDINARY:
        return Ended(ending)
    return Ended(Ending.CALLS if has_calls else Ending.DONE)
