"""What happens to the histories of agents, done to any framework's messages.

In:  messages, each of which is something said, an answer, or the result of one call.
Out: the same list with one damage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TypeVar

T = TypeVar("T")


class Role(StrEnum):
    """What a message is."""

    SAID = "said"
    ANSWER = "answer"
    RESULT = "result"


class Damage(StrEnum):
    """One thing that goes wrong; nothing, to compare with."""

    NONE = "none"
    MISSING = "missing"
    LATE = "late"
    DUPLICATE = "duplicate"
    FOREIGN_ID = "foreign id"
    FOREIGN_THINKING = "foreign thinking"
    CANCELLED = "cancelled"
    TRIMMED = "trimmed in front"


FOREIGN = frozenset({Damage.FOREIGN_ID, Damage.FOREIGN_THINKING})
"""these need nothing done to a history: it is that of another family"""

TOLD = {
    Damage.NONE: "nothing: the framework's own history, on the family that it was had with",
    Damage.MISSING: "one of two parallel calls has no result: its tool crashed, or a store lost a row",
    Damage.LATE: "a result comes after the next message: a tool ran in the background while the user went on",
    Damage.DUPLICATE: "a result is there twice: a retried write",
    Damage.FOREIGN_ID: "the calls have the ids of another family",
    Damage.FOREIGN_THINKING: "the answers hold signed or encrypted thoughts of another family",
    Damage.CANCELLED: "the user stopped the run while its tools ran, and says something else",
    Damage.TRIMMED: "the oldest messages were cut off, and the list begins with a result",
}


def damaged(history: Sequence[T], damage: Damage, *, role: Callable[[T], Role], twin: Callable[[T], T]) -> list[T]:
    """`history`, which holds two parallel calls, their results and an answer, after the damage.

    `twin` makes a message that says the same as another one: written twice, it may have an id of its own.
    """
    messages = list(history)
    results = [at for at, message in enumerate(messages) if role(message) is Role.RESULT]
    first = results[0]
    match damage:
        case Damage.MISSING:
            del messages[first]
        case Damage.LATE:
            messages.append(messages.pop(first))
        case Damage.DUPLICATE:
            messages.insert(results[-1] + 1, twin(messages[first]))
        case Damage.CANCELLED:
            del messages[first:]
        case Damage.TRIMMED:
            del messages[:first]
        case Damage.NONE | Damage.FOREIGN_ID | Damage.FOREIGN_THINKING:
            pass
    return messages
