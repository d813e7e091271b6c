"""Read what Factory's droid writes: its sessions, and what `droid exec --output-format stream-json` prints.

{"type": "session_start"}, {"type": "message", "message": {...}}    a session; contents as the Anthropic API has them
{"type": "message", "role", "text"}, tool_call, tool_result         a stream; the last words are in `completion`
"""

from __future__ import annotations

from legato.formats.chat.messages import ChatReader
from legato.formats.content import Content, Item
from legato.formats.document import Document
from legato.formats.draft import keep_known
from legato.formats.fields import as_object, as_text, as_time, first_text
from legato.formats.format import FileHome, Format, marks
from legato.formats.head import Head
from legato.formats.origins import origin_of, provider_of_model, route_of
from legato.model import JsonObject, Speaker, Text

_META = {"sessionId": "session", "session_id": "session", "cwd": "cwd"}
_STREAMED = frozenset({"tool_call", "tool_result", "completion"})


def read(content: Content) -> list[Document]:
    """The conversation."""
    reader = _Reader(ChatReader(content.draft()))
    for item in content.items("messages"):
        reader.take(item)
    return content.finish(reader.chat.draft)


class _Reader:
    def __init__(self, chat: ChatReader) -> None:
        self.chat = chat
        self.draft = chat.draft

    def take(self, item: Item) -> None:
        """Read one record."""
        record, kind = item.value, as_text(item.value.get("type"))
        self.draft.at = as_time(record.get("timestamp"))
        keep_known(self.draft.meta, record, _META)
        match kind:
            case "session_start":
                keep_known(self.draft.meta, record, {"id": "session", "title": "title"})
            case "system":
                self.model(first_text(record, "model"))
            case "message":
                inner = as_object(record.get("message"))
                said = inner or {"role": record.get("role"), "content": record.get("text")}
                self.model(first_text(inner, "model"))
                self.chat.message(said, item.place)
            case "tool_call":
                self.chat.call(_called(record), item.place)
            case "tool_result":
                self.chat.result(_called(record), item.place)
            case "completion":
                self.completed(record, item)
            case "error":
                self.draft.note(item.place, f"the run failed: {as_text(record.get('message'))[:200]}", is_carried=True)
            case "todo_state" | "session_end":
                pass
            case _:
                self.draft.unknown(item.place, f"a record of type {kind!r}")

    def model(self, model: str) -> None:
        if model:
            provider = provider_of_model(model)
            self.draft.model, self.draft.route = model, route_of(provider, model)
            self.chat.origin = origin_of(provider, model)

    def completed(self, record: JsonObject, item: Item) -> None:
        """The last words of a run, unless they were said already."""
        text = as_text(record.get("finalText"))
        last = self.draft.entries[-1] if self.draft.entries else None
        if text and (last is None or last.speaker is not Speaker.AI or last.text.strip() != text.strip()):
            self.draft.say(Speaker.AI, [Text(text)], item.place, origin=self.chat.origin)


def _called(record: JsonObject) -> JsonObject:
    """A call or a result of the stream, whose id is that of the call in either."""
    return {**record, "call_id": first_text(record, "toolCallId", "id")}


# --- the format ------------------------------------------------------------------------------------------------------


def _detect(head: Head) -> str:
    kinds = {as_text(record.get("type")) for record in head.records}
    if "session_start" in kinds and any(isinstance(record.get("message"), dict) for record in head.records):
        return "a session_start before messages"
    is_ours = any("sessionId" in record or "session_id" in record for record in head.records)
    is_said = any(record.get("type") == "message" and isinstance(record.get("text"), str) for record in head.records)
    return "messages with a text beside tool_call and completion" if is_ours and is_said and kinds & _STREAMED else ""


FORMAT = Format(
    name="droid",
    title="Factory droid session",
    known_from="published sessions",
    read=read,
    detect=_detect,
    home=FileHome(
        folder="~/.factory/sessions",
        files="*/*.jsonl",
        source="https://github.com/jazzyalex/agent-sessions",
    ),
    marks=marks("type"),
    is_lines=True,
)
