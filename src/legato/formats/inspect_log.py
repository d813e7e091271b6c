"""Read logs of Inspect, which evaluates models: JSON, as it writes it or as `inspect log dump` prints it.

Each sample is a conversation. Long texts and media are in the sample's `attachments`, under their digest, and stand in
the messages as `attachment://` addresses.
"""

from __future__ import annotations

from legato.formats.blocks import read_result, split_content
from legato.formats.content import Content
from legato.formats.document import Document, DocumentDraft
from legato.formats.fields import as_id, as_list, as_object, as_objects, as_text, first_text
from legato.formats.format import Format, marks
from legato.formats.head import Head
from legato.formats.origins import origin_of, provider_named, provider_of_model, route_of
from legato.model import Authority, Block, HostedTool, Json, JsonObject, Speaker, Thinking, ToolCall, ingest
from legato.wire.arguments import read_arguments

_ADDRESS = "attachment://"


def read(content: Content) -> list[Document]:
    """The conversation of every sample."""
    holder = as_object(content.value())
    model = first_text(as_object(holder.get("eval")), "model")
    samples = as_list(holder["samples"]) if isinstance(holder.get("samples"), list) else [holder]
    drafts: list[DocumentDraft] = []
    for index, item in enumerate(samples):
        sample = as_object(item)
        own = as_id(sample.get("id")) or str(index)
        draft = content.draft(f"{content.name}, sample {own}" if len(samples) > 1 else "")
        draft.meta["session"] = own
        prefix = f"samples[{index}]." if "samples" in holder else ""
        _Reader(draft, sample, model).messages(f"{prefix}messages")
        drafts.append(draft)
    return content.finish(*[draft for draft in drafts if draft.entries or draft.notes])


class _Reader:
    def __init__(self, draft: DocumentDraft, sample: JsonObject, model: str) -> None:
        self.draft = draft
        self.sample = sample
        self.attached = as_object(sample.get("attachments"))
        self.provider = ""
        self.model(model)

    def model(self, model: str) -> None:
        """Inspect names a model with its provider before it."""
        if not model:
            return
        provider, slash, bare = model.partition("/")
        self.provider = (provider_named(provider) if slash else "") or provider_of_model(model)
        self.draft.model = bare if slash else model
        self.draft.route = route_of(self.provider, self.draft.model)

    def messages(self, place: str) -> None:
        for index, item in enumerate(as_list(self.sample.get("messages"))):
            self.message(as_object(self._whole(item)), f"{place}[{index}]")

    def _whole(self, value: Json) -> Json:
        """A value with what is attached in its place."""
        if isinstance(value, str) and value.startswith(_ADDRESS):
            return self.attached.get(value.removeprefix(_ADDRESS), value)
        if isinstance(value, list):
            return [self._whole(item) for item in as_list(value)]
        if isinstance(value, dict):
            return {name: self._whole(item) for name, item in as_object(value).items()}
        return value

    def message(self, message: JsonObject, place: str) -> None:
        match message.get("role"):
            case "system":
                self.draft.human(self._content(message, place), place, authority=Authority.INSTRUCTION)
            case "user":
                self.draft.human(self._content(message, place), place)
            case "assistant":
                blocks = [*self._content(message, place), *_calls(message)]
                origin = origin_of(self.provider, self.draft.model)
                self.draft.say(Speaker.AI, blocks, place, origin=origin)
            case "tool":
                self.draft.results([read_result(_result(message))], place)
            case role:
                self.draft.note(place, f"a message of role {as_text(role)!r} is not understood and was left out")

    def _content(self, message: JsonObject, place: str) -> list[Block]:
        content: Json = message.get("content")
        blocks: list[Block] = []
        for index, item in enumerate([content] if isinstance(content, str) else as_list(content)):
            part = as_object(item)
            match part.get("type"):
                case "reasoning":
                    blocks += self._thought(part, place)
                case "tool_use":  # of the provider's own tools: those of the program are beside the content
                    arguments = read_arguments(part.get("arguments")).value
                    result: Json = part.get("error") or part.get("result")
                    blocks.append(
                        HostedTool(as_text(part.get("name")), arguments, ingest(result), as_id(part.get("id")))
                    )
                case _:
                    read, unknown = split_content(item)
                    blocks += read
                    self.draft.note_unknown([(index, other) for _, other in unknown], place)
        return blocks

    def _thought(self, part: JsonObject, place: str) -> list[Block]:
        text, signature = as_text(part.get("reasoning")), as_text(part.get("signature"))
        is_sealed = part.get("redacted") is True
        if self.provider == "anthropic" and is_sealed:
            return [Thinking(native={"data": text})] if text else []
        if is_sealed:
            summary = as_text(part.get("summary"))
            if not summary:
                self.draft.note(place, "a sealed thought is not carried")
            return [Thinking(summary)] if summary else []
        native = {"signature": signature} if signature and self.provider == "anthropic" else None
        return [Thinking(text, native=native)] if text or native else []


def _calls(message: JsonObject) -> list[ToolCall]:
    calls: list[ToolCall] = []
    for call in as_objects(message.get("tool_calls")):
        value, raw, finished = read_arguments(call.get("arguments"))
        calls.append(ToolCall(as_text(call.get("function")), value, as_id(call.get("id")), raw=raw, finished=finished))
    return calls


def _result(message: JsonObject) -> JsonObject:
    """A result in the usual form; why a call failed is beside the content, which is then mostly empty."""
    error = as_object(message.get("error"))
    told = message.get("content") or first_text(error, "message")
    name = as_text(message.get("function"))
    return {"tool_call_id": message.get("tool_call_id"), "name": name, "content": told, "is_error": bool(error)}


# --- the format ------------------------------------------------------------------------------------------------------


def _detect(head: Head) -> str:
    holder = head.holder
    if isinstance(holder.get("eval"), dict) and isinstance(holder.get("samples"), list):
        return "samples of an eval"
    is_sample = {"epoch", "input", "target", "messages"} <= holder.keys()
    return "a sample with its epoch and target" if is_sample else ""


FORMAT = Format(
    name="inspect",
    title="Inspect evaluation log",
    read=read,
    detect=_detect,
    marks=marks("eval samples"),
)
