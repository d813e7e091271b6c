"""What a provider says when it refuses, in one shape.

In:  the body of an error response, or the error object that was streamed in place of an answer.
Out: a `Complaint`: the provider's words and codes, wherever it put them.

Every family has its own envelope (`error.message`, a bare `message`, `detail` as text or as a list of places, the whole
in an array), and routers wrap the complaint of the provider behind them as text. A body that is no JSON at all, such as
the page of a proxy, gives a complaint without codes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from legato.errors import IngestError
from legato.model import Json, JsonObject, read_json_leniently

LONGEST_MESSAGE = 2_000
"""characters of a provider's message that an error carries; some quote the whole request"""

LONGEST_WORD = 500
"""characters of a type, a code or an id: the longest that are known have fewer than 100"""

_AWS_TYPE = "x-amzn-errortype"

LONGEST_SEARCH = 20_000
"""characters in which a wording is looked for, the message first, so that no body takes long to judge"""


class Complaint(Struct, frozen=True):
    """A refusal in the provider's words. `haystack` is all of it in lower case, for looking up wordings."""

    message: str = ""
    type: str = ""
    code: str = ""
    param: str = ""
    haystack: str = ""
    details: tuple[JsonObject, ...] = ()

    @property
    def status(self) -> int | None:
        """The status that a streamed error names in its code, where the response itself said 200."""
        return int(self.code) if re.fullmatch(r"[45]\d\d", self.code) else None


def read_complaint(body: bytes, headers: Mapping[str, str] | None = None) -> Complaint:
    """The complaint in the body of an error response; AWS names the type of an error in a header."""
    try:
        complaint = complaint_of(read_json_leniently(body))
    except IngestError:
        complaint = _from_page(body)
    kind = (headers or {}).get(_AWS_TYPE, "").partition(":")[0]
    return _typed(complaint, kind) if kind and not complaint.type else complaint


def _typed(complaint: Complaint, kind: str) -> Complaint:
    return replace(complaint, type=kind, haystack=f"{complaint.haystack} {kind.lower()}")


def complaint_of(value: Json) -> Complaint:
    """The complaint in an error that is already parsed."""
    value = _first(value)
    if not isinstance(value, dict):
        text = value if isinstance(value, str) else ""
        return Complaint(message=_short(text), haystack=text[:LONGEST_SEARCH].lower())
    outer = cast(JsonObject, value)
    inner = _inner(outer)
    message = _message(inner) or _message(outer)
    kind = _word(inner, "type", "status") or _word(outer, "type", "__type")
    code = _word(inner, "code") or _word(outer, "code")
    everything = " ".join((message, kind, code, *_texts(outer, 0)))
    return Complaint(
        message=_short(message),
        type=kind,
        code=code,
        param=_word(inner, "param") or _word(outer, "param"),
        haystack=everything[:LONGEST_SEARCH].lower(),
        details=tuple(cast(JsonObject, item) for item in _listed(inner.get("details")) if isinstance(item, dict)),
    )


def _first(value: Json) -> Json:
    """Gemini answers a streaming request that it refuses with an array of one."""
    items = _listed(value)
    return items[0] if items else value


def _inner(outer: JsonObject) -> JsonObject:
    """The object that holds the message: `error`, or the error of the response that a streamed event carries."""
    response = outer.get("response")
    for holder in (outer, response):
        error = cast(JsonObject, holder).get("error") if isinstance(holder, dict) else None
        if isinstance(error, dict):
            return cast(JsonObject, error)
    return cast(JsonObject, response) if isinstance(response, dict) else outer


def _message(value: JsonObject) -> str:
    """The sentence for people, in any of the fields that hold one."""
    for name in ("message", "Message", "detail", "error", "msg"):
        found = value.get(name)
        if isinstance(found, str) and found:
            return found
        if isinstance(found, dict | list) and name != "error":
            places = list(_places(found))
            if places:
                return "; ".join(places)
    return ""


def _places(value: Json) -> Iterator[str]:
    """The messages of a validator that lists what is wrong and where."""
    if isinstance(value, dict):
        value = cast(JsonObject, value).get("detail")
    for item in _listed(value):
        if isinstance(item, dict):
            place = ".".join(str(step) for step in _listed(cast(JsonObject, item).get("loc")))
            said = str(cast(JsonObject, item).get("msg", ""))
            yield f"{place}: {said}" if place else said


def _listed(value: Json) -> list[Json]:
    return cast("list[Json]", value) if isinstance(value, list) else []


def _word(value: JsonObject, *names: str) -> str:
    for name in names:
        found = value.get(name)
        if isinstance(found, str | int) and not isinstance(found, bool) and str(found):
            return str(found)
    return ""


_DEEPEST = 6
"""our choice: deep enough for a router that quotes another, and a hostile body drives no deeper recursion"""


def _texts(value: Json, depth: int) -> Iterator[str]:
    """Every string in the body: a router quotes the refusal of the provider behind it somewhere inside."""
    if isinstance(value, str):
        yield value
    elif depth < _DEEPEST and isinstance(value, dict):
        for item in cast(JsonObject, value).values():
            yield from _texts(item, depth + 1)
    elif depth < _DEEPEST:
        for item in _listed(value):
            yield from _texts(item, depth + 1)


def _from_page(body: bytes) -> Complaint:
    text = body[:LONGEST_SEARCH].decode("utf-8", "replace")
    readable = " ".join(
        re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL | re.IGNORECASE).split()
    )
    return Complaint(message=_short(readable), haystack=readable.lower())


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]}…"
