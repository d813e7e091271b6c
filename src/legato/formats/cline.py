"""Read Cline's messages: `api_conversation_history.json`, or its newer session files with `messages` and more.

The content is that of the Anthropic API, whoever answered; `modelInfo` names the model.
"""

from __future__ import annotations

from legato.formats.blocks import anthropic_answer, split_content
from legato.formats.content import Content
from legato.formats.document import Document
from legato.formats.draft import DocumentDraft, keep_known
from legato.formats.fields import as_list, as_object, as_objects, as_text, as_time, first_text
from legato.formats.format import FileHome, Format, marks
from legato.formats.head import Head, Layout
from legato.formats.origins import origin_of, provider_named, provider_of_model, route_of
from legato.formats.wire.salvage import make_blocks_readable
from legato.model import Json, JsonObject, Speaker

_META = {"sessionId": "session", "agent": "agent", "taskId": "session"}


def read(content: Content) -> list[Document]:
    """The conversation."""
    draft = content.draft()
    reader = _Reader(draft)
    if content.layout is Layout.LINES:
        for item in content.lines():
            reader.message(item.value, item.place)
        return content.finish(draft)
    value = content.value()
    messages: Json = value
    prefix = ""
    if isinstance(value, dict):
        holder = as_object(value)
        keep_known(draft.meta, holder, _META)
        system = first_text(holder, "system_prompt", "systemPrompt")
        draft.system += [system] if system else []
        messages, prefix = holder.get("messages"), "messages"
    for index, message in enumerate(as_list(messages)):
        reader.message(as_object(message), f"{prefix}[{index}]")
    return content.finish(draft)


class _Reader:
    def __init__(self, draft: DocumentDraft) -> None:
        self.draft = draft

    def message(self, message: JsonObject, place: str) -> None:
        self.draft.at = as_time(message.get("ts"))
        role = as_text(message.get("role"))
        if role == "assistant":
            self.assistant(message, place)
        elif role == "user":
            blocks, unknown = split_content(message.get("content"))
            self.draft.note_unknown(unknown, place)
            self.draft.human(blocks, place)
        else:
            self.draft.unknown(place, f"a message of role {role!r}")

    def assistant(self, message: JsonObject, place: str) -> None:
        info = as_object(message.get("modelInfo"))
        model = first_text(info, "id", "modelId")
        provider = provider_named(first_text(info, "provider", "providerId"))
        if model:
            self.draft.model = model
            self.draft.route = route_of(provider or provider_of_model(model), model.rsplit("/", 1)[-1])
        items, notes = make_blocks_readable(message.get("content"))
        for note in notes:
            self.draft.note(place, str(note), is_carried=note.is_carried, is_unknown=note.is_unknown)
        blocks = anthropic_answer(items)
        self.draft.say(Speaker.AI, blocks, place, origin=origin_of(provider, model))


# --- the format ------------------------------------------------------------------------------------------------------


def _detect(head: Head) -> str:
    if reason := _of_messages(head.items):
        return reason
    messages = as_objects(head.holder.get("messages"))
    if messages and "system_prompt" in head.holder and ("agent" in head.holder or "sessionId" in head.holder):
        return "messages beside system_prompt and sessionId"
    return _of_messages(messages) if "model" not in head.holder else ""


def _of_messages(messages: list[JsonObject]) -> str:
    are_messages = all("role" in item and "content" in item for item in messages)
    is_clines = any("ts" in item or "modelInfo" in item for item in messages)
    return "messages with ts or modelInfo" if are_messages and is_clines else ""


FORMAT = Format(
    name="cline",
    title="Cline messages",
    known_from="published sessions",
    read=read,
    detect=_detect,
    home=FileHome(
        folder="~/.cline/data/tasks",
        files="*/api_conversation_history.json",
        source="https://docs.cline.bot/enterprise-solutions/monitoring/prompt-storage",
    ),
    marks=marks("role content"),
)
