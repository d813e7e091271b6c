"""Read the transcripts of Cursor's agent: a message a line, with parts in the form of the Anthropic API.

Most of them hold calls without ids, and no results at all: the program keeps those elsewhere. Where there are results,
order pairs them.
"""

from __future__ import annotations

from legato.formats.chat.messages import ChatReader
from legato.formats.content import Content
from legato.formats.document import Document
from legato.formats.fields import as_object, as_text
from legato.formats.format import FileHome, Format, marks
from legato.formats.head import Head
from legato.formats.origins import origin_of, provider_of_model, route_of
from legato.model import Ending, JsonObject


def read(content: Content) -> list[Document]:
    """The conversation."""
    draft = content.draft()
    reader = ChatReader(draft)
    for item in content.items("messages"):
        record = item.value
        if model := as_text(record.get("model")):
            draft.model, draft.route = model, route_of(provider_of_model(model), model)
            reader.origin = origin_of(provider_of_model(model), model)
        if "role" in record:
            reader.message({**record, "content": as_object(record.get("message")).get("content")}, item.place)
        elif record.get("type") == "turn_ended":
            if record.get("status") != "success":
                draft.end_answer(Ending.CANCELLED if record.get("status") == "aborted" else Ending.CUT)
        else:
            kind = as_text(record.get("type"))
            draft.unknown(item.place, f"a record of type {kind!r}")
    return content.finish(draft)


# --- the format ------------------------------------------------------------------------------------------------------


def _detect(head: Head) -> str:
    are_said = any(map(_is_said, head.records)) and all(_is_said(item) or "role" not in item for item in head.records)
    return "lines with a role and a message of parts" if are_said else ""


def _is_said(record: JsonObject) -> bool:
    content = as_object(record.get("message")).get("content")
    return as_text(record.get("role")) in ("user", "assistant") and isinstance(content, list) and "type" not in record


FORMAT = Format(
    name="cursor",
    title="Cursor agent transcript",
    known_from="published sessions",
    read=read,
    detect=_detect,
    home=FileHome(
        folder="~/.cursor/projects",
        files="*/agent-transcripts/*/*.jsonl",
        source="https://github.com/nick-fullpath/cursor-history",
    ),
    marks=marks("role message"),
    is_lines=True,
    closes_calls=True,  # a transcript leaves results out, and Cursor has them elsewhere
)
