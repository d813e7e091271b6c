"""Read Cline's messages: `api_conversation_history.json`, or its newer session files with `messages` and more.

The content is that of the Anthropic API, whoever answered; `modelInfo` names the model.
"""

from __future__ import annotations

from legato.formats.blocks import response, result_content, split_content
from legato.formats.content import Content
from legato.formats.document import Document, Draft, keep_known
from legato.formats.fields import as_list, as_object, as_text, first_text, well_typed
from legato.formats.head import Layout
from legato.formats.origins import origin_of, provider_named, provider_of_model, route_of
from legato.model import Block, Json, JsonObject, Speaker, Text, ToolCall, ToolResponse
from legato.wire.anthropic.decode import read_blocks

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
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.called: dict[str, str] = {}

    def message(self, message: JsonObject, place: str) -> None:
        role = as_text(message.get("role"))
        content: Json = message.get("content")
        items: list[Json] = [{"type": "text", "text": content}] if isinstance(content, str) else as_list(content)
        if role == "assistant":
            self.assistant(message, items, place)
        elif role == "user":
            self.user(items, place)
        else:
            self.draft.note(place, f"a message of role {role!r} is not understood and was left out")

    def assistant(self, message: JsonObject, items: list[Json], place: str) -> None:
        info = as_object(message.get("modelInfo"))
        model = first_text(info, "id", "modelId")
        provider = provider_named(first_text(info, "provider", "providerId"))
        if model:
            self.draft.model = model
            self.draft.route = route_of(provider or provider_of_model(model), model.rsplit("/", 1)[-1])
        blocks = read_blocks(well_typed(items), str)
        self.called.update((block.wire_id, block.name) for block in blocks if isinstance(block, ToolCall))
        self.draft.say(Speaker.AI, blocks, place, origin=origin_of(provider, model))

    def user(self, items: list[Json], place: str) -> None:
        results: list[ToolResponse] = []
        blocks: list[Block] = []
        for index, item in enumerate(items):
            part = as_object(item)
            if part.get("type") == "tool_result":
                wire_id = as_text(part.get("tool_use_id"))
                value, media = result_content(part.get("content"))
                is_error = part.get("is_error") is True
                results.append(response(wire_id, self.called.get(wire_id, ""), value, is_error=is_error, media=media))
                continue
            read, unknown = split_content(item)
            blocks += [block for block in read if not isinstance(block, Text) or block.text]
            for _, other in unknown:
                kind = as_text(other.get("type"))
                self.draft.note(place, f"content[{index}] of type {kind!r} is not understood and was left out")
        self.draft.results(results, place)
        self.draft.human(blocks, place)
