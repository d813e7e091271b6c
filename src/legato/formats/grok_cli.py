"""Read the `chat_history.jsonl` of Grok's command line: messages of the chat API, named by their `type`."""

from __future__ import annotations

from legato.formats.chat.messages import ChatReader
from legato.formats.content import Content
from legato.formats.document import Document
from legato.formats.fields import as_text
from legato.formats.format import Format, marks
from legato.formats.head import Head
from legato.formats.origins import origin_of, provider_of_model, route_of
from legato.model import JsonObject

_ROLES = {"system": "system", "user": "user", "assistant": "assistant", "tool_result": "tool"}


def read(content: Content) -> list[Document]:
    """The conversation."""
    draft = content.draft()
    reader = ChatReader(draft)
    for item in content.items("messages"):
        kind = as_text(item.value.get("type"))
        if model := as_text(item.value.get("model_id")):
            provider = provider_of_model(model)
            draft.model, draft.route = model, route_of(provider, model)
            reader.origin = origin_of(provider, model)
        if kind in _ROLES:
            reader.message({**item.value, "role": _ROLES[kind]}, item.place)
        else:
            draft.unknown(item.place, f"a record of type {kind!r}")
    return content.finish(draft)


# --- the format ------------------------------------------------------------------------------------------------------


def _detect(head: Head) -> str:
    if not head.records or not all(_is_message(record) for record in head.records):
        return ""
    is_own = any("model_id" in record or "prompt_index" in record for record in head.records)
    return "messages named by type, with model_id or prompt_index" if is_own else ""


def _is_message(record: JsonObject) -> bool:
    return "role" not in record and "content" in record and "message" not in record


FORMAT = Format(
    name="grok-cli",
    title="Grok CLI chat history",
    known_from="published sessions",
    read=read,
    detect=_detect,
    marks=marks("type content"),
    is_lines=True,
)
