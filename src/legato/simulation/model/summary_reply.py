"""A summary, when the model is asked for one.

In:  a request for a summary, which may hold the record to condense as lines of JSON, and what the conversation holds.
Out: the results and statements in it, in order, each by its beginning, within the number of words that was allowed.

What is in the record is data: nothing in it is done, however much it sounds like a request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

import msgspec

from legato.model import JsonObject
from legato.simulation.model.memory import Memory, quote

_ASKED = re.compile(
    r"\bwrite a summary\b|\bsummari[sz]e (?:the|this|our) (?:conversation|record|session)\b", re.IGNORECASE
)
_AT_MOST = re.compile(r"\bat most (\d{1,6}) words\b", re.IGNORECASE)
_WORDS = 200
"""words of a summary where the request names no limit: our choice"""

_ASIDE = frozenset({"who", "ended", "type", "id"})


def asks_for_summary(text: str) -> bool:
    """Whether `text` wants the conversation, or a record in it, condensed."""
    return _ASKED.search(text) is not None


def summary_reply(memory: Memory) -> str:
    """The summary that the last thing said asks for."""
    found = _AT_MOST.search(memory.ask)
    left = int(found[1]) if found else _WORDS
    kept: list[str] = []
    for statement in _statements(memory):
        words = len(statement.split())
        if words > left:
            break
        kept.append(statement)
        left -= words
    return "\n".join(kept) or "Nothing has happened yet."


def _statements(memory: Memory) -> Iterator[str]:
    quoted = [line for line in memory.ask.splitlines() if line.startswith("{")]
    if not quoted:
        yield from (result.told() for result in memory.results)
        return
    for line in quoted:
        try:
            record = cast(JsonObject, msgspec.json.decode(line))
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            continue
        texts = [value for name, value in record.items() if name not in _ASIDE and isinstance(value, str) and value]
        if texts:
            yield ": ".join(quote(text) for text in texts)
