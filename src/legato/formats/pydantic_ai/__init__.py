"""The message history of Pydantic AI: what `ModelMessagesTypeAdapter.dump_json` and `all_messages_json()` give."""

from __future__ import annotations

from legato.formats.fields import as_objects, as_text
from legato.formats.format import Format, Outgoing, Written, marks
from legato.formats.head import Head
from legato.formats.pydantic_ai.reading import read
from legato.model import JsonObject


def _detect(head: Head) -> str:
    held = (item for record in head.records for item in as_objects(record.get("messages")))
    is_one = any(map(_is_message, (*head.records, *head.items, *held)))
    return "requests and responses with parts of a part_kind" if is_one else ""


def _is_message(item: JsonObject) -> bool:
    parts = as_objects(item.get("parts"))
    return as_text(item.get("kind")) in ("request", "response") and any("part_kind" in part for part in parts)


# Writing takes more of the house than reading does, so it is loaded when it is needed.


def _write(out: Outgoing) -> Written:
    from legato.formats.pydantic_ai.write import write_file

    return write_file(out)


FORMAT = Format(
    name="pydantic-ai",
    title="Pydantic AI message history",
    known_from="files of pydantic-ai 2.66.0",
    read=read,
    detect=_detect,
    write=_write,
    marks=marks("kind parts"),
)
