"""A result whose call is not in the file, told as text: nothing that a tool returned is lost."""

from __future__ import annotations

import re
from typing import NamedTuple

from legato.model import ToolResponse
from legato.transcript.units import Completion, CompletionKind, completion_text

QUOTED = "[Result of a tool call that is not in this conversation]\n"
"""before a result whose call no one knows"""
_NAMED = "[Result of a call of {} that is not in this conversation]\n"
"""the same, where the result says which tool it is of"""
_OPENING = re.compile(
    r"\[Result of a (?:tool call|call of (?P<name>[^\]\n]{1,200})) that is not in this conversation\]\n"
)


class Quoted(NamedTuple):
    """A result that is told as text."""

    tool: str
    words: str


def quotation(response: ToolResponse) -> str:
    """A result whose call no one knows, as words."""
    kind = CompletionKind.SUCCESS if response.error is None else CompletionKind.ERROR
    completion = Completion(
        response.call_id, kind, response.result, response.error, reason=response.reason, said=response.said
    )
    named = _NAMED.format(response.tool_name)
    return (named if _OPENING.fullmatch(named) else QUOTED) + completion_text(completion)


def read_quotation(text: str) -> Quoted | None:
    """The result that is told in `text`; None if it is another text."""
    found = _OPENING.match(text)
    return Quoted(found["name"] or "", text[found.end() :]) if found else None


def opens_quotation(head: str) -> bool:
    """Whether a result that is told as text begins behind `head`."""
    start = head.rfind("[Result of a ")
    found = _OPENING.match(head, start) if start >= 0 else None
    return found is not None and not head[found.end() :].strip()
