"""Read request bodies through the dialects that spell them.

In:  a body, or the bare list of its messages.
Out: a document whose answers have the provider of the body as their origin, so that what is signed can go back there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from legato.formats.content import Content
from legato.formats.document import Body, Document, Draft
from legato.formats.fields import as_list, as_object, as_text
from legato.formats.origins import dialect_of, origin_of, provider_of_model, route_of
from legato.formats.salvage import make_readable
from legato.formats.wire_shapes import WIRE_DIALECTS, WIRE_PROVIDERS, body_of
from legato.model import Dialect, Entry, Json, JsonObject, Media, Speaker, Text, Thinking, ToolCall, ToolResponse
from legato.wire.dialects import dialect_parts

_INDEX = re.compile(r"^(?:messages|contents|input)\[(\d+)\]")
_AHEAD = 64
"""how many messages ahead an entry's own is looked for"""


def read(content: Content) -> list[Document]:
    """The conversation in a body."""
    draft = content.draft()
    value = content.value()
    draft.body = Body(body_of(value), is_bare=isinstance(value, list))
    read_body(draft.body.value, draft)
    return content.finish(draft)


def read_body(body: JsonObject, draft: Draft, *, provider: str = "", model: str = "", prefix: str = "") -> None:
    """Fill `draft`, whose format says which dialect the body is in.

    `provider` and `model` are what is known from elsewhere (an address); `prefix` stands before every place.
    """
    dialect = WIRE_DIALECTS[draft.format]
    parts = dialect_parts(dialect)
    field = parts.messages_field
    readable = make_readable(body, dialect)
    parsed = parts.parse(readable.body)
    draft.model = parsed.model or model
    provider = provider or provider_for(draft.format, draft.model)
    draft.route = route_of(provider, draft.model)
    answered = parsed.answered_by(origin_of(provider, draft.model))
    draft.entries = entries = [entry for entry in answered.entries if entry.blocks]
    draft.places = [prefix + place for place in find_places(entries, body.get(field), field)]
    draft.sources = [-1] * len(entries)
    draft.system = [parsed.system] if parsed.system else []
    if not draft.system and isinstance(body.get("system_prompt"), str):
        draft.system = [as_text(body["system_prompt"])]
    draft.tools = parsed.tools
    draft.options = parsed.options
    for place, message in readable.notes:
        draft.note(prefix + place, message)
    for note in parsed.notes:
        place, mark, message = note.partition(": ")
        place = _INDEX.sub(lambda found: f"{field}[{readable.places[int(found[1])]}]", place, count=1)
        draft.note(prefix + place if mark else prefix, message if mark else note)


def provider_for(format: str, model: str) -> str:  # noqa: A002  # a format is a format
    """The catalogue's provider of a body, empty if it is none of them: chat is spoken by many."""
    if format != "openai-chat" or not model:
        return WIRE_PROVIDERS[format]
    if "/" in model:
        return "openrouter"
    known = provider_of_model(model)
    return known if known and dialect_of(known) is Dialect.OPENAI_CHAT else ""


def find_places(entries: list[Entry], messages: Json, field: str) -> list[str]:
    """For each entry the message that it came from: the next one that holds its words.

    Words behind results may stand in the very message of the results; any other entry is in a later one.
    """
    items = as_list(messages)
    if not items:
        return [field] * len(entries)
    held: dict[int, set[str]] = {}
    places: list[str] = []
    at, before = -1, Speaker.AI
    for entry in entries:
        key = _key(entry)
        shares = before is Speaker.TOOL and entry.speaker is Speaker.HUMAN
        first = max(at, 0) if shares else at + 1
        ahead = range(first, min(first + _AHEAD, len(items))) if key else ()
        found = next((index for index in ahead if _holds(items[index], key, held, index)), at)
        at, before = max(found, 0), entry.speaker
        places.append(f"{field}[{at}]")
    return places


def _holds(item: Json, key: str, held: dict[int, set[str]], index: int) -> bool:
    if index not in held:
        held[index] = set(_strings(item))
    return key in held[index] or any(key in text for text in held[index] if len(text) > len(key))


def _key(entry: Entry) -> str:
    """Words by which an entry can be found again."""
    for block in entry.blocks:
        match block:
            case ToolCall() | ToolResponse() if block.wire_id:
                return block.wire_id
            case ToolCall():
                return block.name
            case ToolResponse() if isinstance(block.result, str) and block.result:
                return block.result.partition("\n")[0]
            case Text() | Thinking() if block.text.strip():
                return block.text
            case Media() if block.data or block.url:
                return block.data or block.url or ""
            case _:
                continue
    return ""


def _strings(value: Json) -> Iterator[str]:
    todo: list[Json] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield item
        else:
            todo += reversed([*as_object(item).values(), *as_list(item)])  # so that the first is the next
