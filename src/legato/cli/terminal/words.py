"""Calls and results in a few words for a person."""

from __future__ import annotations

import msgspec

from legato.model import ClosureReason, Ending, Entry, JsonObject, ToolResponse, Usage

_SUBJECTS = ("command", "path", "pattern", "description", "query", "url")
"""the argument that says most about a call, where it has one of these"""


_CLOSED = {
    ClosureReason.NOT_STARTED: "not started",
    ClosureReason.CANCELLED_RUNNING: "cancelled while it ran",
    ClosureReason.DENIED: "denied",
    ClosureReason.APPROVAL_UNAVAILABLE: "not run: it needs an approval, and nobody is there to give it",
    ClosureReason.PROTECTED: "not run: it may reach a protected file, and nobody is there to allow that",
    ClosureReason.TIMED_OUT: "stopped: it took too long",
    ClosureReason.INTERRUPTED: "interrupted: the program ended while it ran; it may have taken effect",
    ClosureReason.LOST_IN_COMPACTION: "its result was left out when the conversation was shortened",
    ClosureReason.MISSING_IN_IMPORT: "no result in the imported file",
    ClosureReason.SKIPPED: "skipped for a newer message",
    ClosureReason.IN_FLIGHT: "still running",
    ClosureReason.NO_RESULT: "no result was recorded",
}


_ENDED = {
    Ending.LENGTH: "not whole: it reached the limit of output tokens",
    Ending.CUT: "not whole: it broke off",
    Ending.CANCELLED: "not whole: it was cancelled",
    Ending.REFUSED: "refused",
}


def closed_in_words(reason: ClosureReason) -> str:
    """Why a call has no result."""
    return _CLOSED[reason]


def how_it_ended(answer: Entry) -> str:
    """Why an answer is not all that was to be said; empty if it is."""
    return _ENDED.get(answer.ending, "") if answer.ending is not None else ""


def subject_of(arguments: JsonObject) -> str:
    """What a call is about: its command, its path, or all of its arguments."""
    for name in _SUBJECTS:
        value = arguments.get(name)
        if isinstance(value, str) and value:
            others = ", ".join(key for key in arguments if key != name and not isinstance(arguments[key], str))
            return f"{value}  ({others})" if others else value
    return msgspec.json.encode(arguments).decode() if arguments else ""


def result_text(response: ToolResponse) -> str:
    """What came back, as text."""
    told = response.error or ""
    if response.reason is not None:
        told = closed_in_words(response.reason) + (f": {response.said}" if response.said else "")
    body = response.result
    text = body if isinstance(body, str) else "" if body is None else _as_json(body)
    attached = "\n".join(f"[{media.kind} {media.mime}]" for media in response.media)
    return "\n".join(part for part in (told, text, attached) if part)


def is_failure(response: ToolResponse) -> bool:
    """Whether the call did not do what was asked."""
    return response.error is not None or response.reason is not None


def tokens(usage: Usage) -> str:
    """`1.2k in, 345 out`."""
    cached = f" ({_short(usage.cache_read)} cached)" if usage.cache_read else ""
    return f"{_short(usage.input)} in{cached}, {_short(usage.output)} out"


def dollars(cost: float | None, *, known: float = 0.0) -> str:
    """`$0.0123`, as exact as it needs to be; of a cost that is not known, how much it is at least."""
    if cost is None:
        return f"at least {dollars(known)}" if known else "price unknown"
    return f"${cost:.2f}" if cost >= 1 else f"${cost:.4f}"


def seconds(elapsed: float) -> str:
    """`4.2 s`, `3 min 5 s`, `5 min`."""
    if (tenths := round(elapsed, 1)) < 60:
        return f"{tenths:.1f} s"
    minutes, rest = divmod(round(elapsed), 60)
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


def _short(count: int) -> str:
    if count < 1_000:
        return str(count)
    return f"{count / 1_000:.1f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"


def _as_json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def about_route(route: str, facts: str, width: int) -> str:
    """`route` with `facts` behind it, as one line; where that is wider than `width`, the provider is left out."""
    line = f"{route} · {facts}"
    return line if len(line) <= width else f"{route.rpartition('/')[2]} · {facts}"
