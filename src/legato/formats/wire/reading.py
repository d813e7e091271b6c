"""Read request bodies through the dialects that they are in.

In:  a body, or the bare list of its messages.
Out: a document whose answers have the provider of the body as their origin, so that what is signed can go back there.
"""

from __future__ import annotations

import re

from legato.formats.content import Content
from legato.formats.document import Body, Document
from legato.formats.draft import DocumentDraft
from legato.formats.fields import as_text
from legato.formats.origins import dialect_of, home_of_provider, origin_of, provider_of_model, route_of
from legato.formats.wire.salvage import make_readable
from legato.formats.wire.shapes import WIRE_DIALECTS, WIRE_PROVIDERS, body_of
from legato.model import Dialect, JsonObject
from legato.wire.contract import NotUnderstood
from legato.wire.dialects import dialect_parts

_INDEX = re.compile(r"^(?:messages|contents|input)\[(\d+)\]")


def read(content: Content) -> list[Document]:
    """The conversation in a body."""
    draft = content.draft()
    value = content.value()
    draft.body = Body(body_of(value), WIRE_DIALECTS[draft.format], is_bare=isinstance(value, list))
    read_body(draft.body.value, draft)
    return content.finish(draft)


def read_body(body: JsonObject, draft: DocumentDraft, *, provider: str = "", model: str = "", prefix: str = "") -> None:
    """Fill `draft`, whose format says which dialect the body is in.

    `provider` and `model` are what is known from elsewhere (an address); `prefix` comes before every place.
    """
    dialect = WIRE_DIALECTS[draft.format]
    parts = dialect_parts(dialect)
    field = parts.messages_field
    readable = make_readable(body, dialect)
    parsed = parts.parse(readable.body)
    draft.model = parsed.model or model
    provider = provider or provider_for(draft.format, draft.model)
    draft.route = route_of(provider, draft.model)
    home = home_of_provider(provider, dialect)
    answered = parsed.belonging_to(home).answered_by(origin_of(provider, draft.model))
    draft.entries = answered.entries
    ranges = [_original(parsed.messages_of(index), readable.places) for index in range(len(parsed.entries))]
    draft.places = [prefix + _told(messages, field) for messages in ranges]
    draft.sources = [-1] * len(parsed.entries)
    draft.system = [parsed.system] if parsed.system else []
    if not draft.system and isinstance(body.get("system_prompt"), str):
        draft.system = [as_text(body["system_prompt"])]
    draft.tools = answered.tools
    draft.options = answered.options
    for note in readable.notes:
        draft.note(prefix + note.place, note.message, is_carried=note.is_carried, is_unknown=note.is_unknown)
    for told, is_carried in ((parsed.notes, False), (parsed.adjusted, True)):
        for text in told:
            place, mark, message = text.partition(": ")
            place = _INDEX.sub(lambda found: f"{field}[{readable.places[int(found[1])]}]", place, count=1)
            is_unknown = isinstance(text, NotUnderstood)
            what = message if mark else text
            draft.note(prefix + place if mark else prefix, what, is_carried=is_carried, is_unknown=is_unknown)


def provider_for(format: str, model: str) -> str:  # noqa: A002  # a format is a format
    """The catalogue's provider of a body, empty if it is none of them: chat is spoken by many."""
    if format != "openai-chat" or not model:
        return WIRE_PROVIDERS[format]
    if "/" in model:
        return "openrouter"
    known = provider_of_model(model)
    return known if known and dialect_of(known) is Dialect.OPENAI_CHAT else ""


def _original(messages: range, places: list[int]) -> range:
    """The messages in the body as it was given, where the readable one has left some out."""
    return range(places[messages.start], places[messages[-1]] + 1) if messages and places else messages


def _told(messages: range, field: str) -> str:
    """The place of an entry that was read from these messages: `messages[3]`, `input[3:6]`, or the field as a whole."""
    if len(messages) > 1:
        return f"{field}[{messages.start}:{messages.stop}]"
    return f"{field}[{messages.start}]" if messages else field
