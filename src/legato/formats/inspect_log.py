"""Read logs of Inspect, which evaluates models: its `.eval` archives, and JSON, as it writes or prints it.

Each sample is a conversation. Long texts and media are in the sample's `attachments`, under their digest, and stand in
the messages as `attachment://` addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from legato.errors import FormatError
from legato.formats.archive import Archive, ZstandardArchive
from legato.formats.blocks import read_result, split_content
from legato.formats.content import Content
from legato.formats.document import Document
from legato.formats.draft import DocumentDraft
from legato.formats.fields import as_id, as_list, as_object, as_objects, as_text, first_text
from legato.formats.format import Format, marks
from legato.formats.head import Head, Layout
from legato.formats.origins import origin_of, provider_named, provider_of_model, route_of
from legato.model import Authority, Block, HostedTool, Json, JsonObject, Speaker, Thinking, ToolCall, ingest
from legato.model.json_access import as_count
from legato.wire.arguments import read_arguments

_ADDRESS = "attachment://"
_ABOUT = ("header.json", "_journal/start.json")
"""what an archive has about the whole run: at its end, or from its beginning on"""
_SAMPLE = re.compile(r"samples/.*_epoch_[0-9]{1,9}\.json", re.DOTALL)


class _Sample(NamedTuple):
    """A sample, what it is called, where its messages are, and the model that was evaluated."""

    id: str
    value: JsonObject
    place: str
    model: str


def read(content: Content) -> list[Document]:
    """The conversation of every sample."""
    if content.layout is Layout.ARCHIVE:
        with content.archive() as archive:
            drafts = [_read(content, sample) for sample in _packed(archive)]
    else:
        drafts = [_read(content, sample) for sample in _listed(as_object(content.value()))]
    if len(drafts) > 1:
        for draft in drafts:
            draft.name = f"{content.name}, sample {draft.meta['session']}"
    return content.finish(*[draft for draft in drafts if draft.entries or draft.notes])


def _read(content: Content, sample: _Sample) -> DocumentDraft:
    draft = content.draft()
    draft.meta["session"] = sample.id
    _Reader(draft, sample.value, sample.model).messages(sample.place)
    return draft


def _listed(holder: JsonObject) -> Iterator[_Sample]:
    """The samples of a log in JSON, or the one that a file is."""
    model = first_text(as_object(holder.get("eval")), "model")
    is_log = isinstance(holder.get("samples"), list)
    for index, item in enumerate(as_list(holder["samples"]) if is_log else [holder]):
        sample = as_object(item)
        place = f"samples[{index}].messages" if is_log else "messages"
        yield _Sample(as_id(sample.get("id")) or str(index), sample, place, model)


def _packed(archive: Archive) -> Iterator[_Sample]:
    """The samples of an archive, which has a file for each; the same sample again is another epoch of it."""
    try:
        about = next((name for name in _ABOUT if name in archive.names), "")
        model = first_text(as_object(as_object(archive.value(about)).get("eval")), "model") if about else ""
        for name in sorted(filter(_SAMPLE.fullmatch, archive.names), key=_in_order):
            sample = as_object(archive.value(name))
            own, epoch = as_id(sample.get("id")) or name, as_count(sample.get("epoch"))
            yield _Sample(f"{own}, epoch {epoch}" if epoch > 1 else own, sample, f"{name}: messages", model)
    except ZstandardArchive as error:
        raise FormatError(
            f"{error.message}, which cannot be unpacked here; "
            "`inspect log convert FILE --to json --output-dir DIR` writes the log as JSON, and that is read"
        ) from None


def _in_order(name: str) -> tuple[int, int, str]:
    """Epoch by epoch, and numbers as such."""
    own, _, epoch = name.removeprefix("samples/").removesuffix(".json").rpartition("_epoch_")
    is_number = own.isdecimal() and len(own) < 10  # Python does not read any number of digits
    return int(epoch), int(own) if is_number else -1, own


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
                self.draft.unknown(place, f"a message of role {as_text(role)!r}")

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
    if head.layout is Layout.ARCHIVE:
        is_log = any(name in head.members for name in _ABOUT) and any(map(_SAMPLE.fullmatch, head.members))
        return "an archive with a file for each sample" if is_log else ""
    holder = head.holder
    if isinstance(holder.get("eval"), dict) and isinstance(holder.get("samples"), list):
        return "samples of an eval"
    is_sample = {"epoch", "input", "target", "messages"} <= holder.keys()
    return "a sample with its epoch and target" if is_sample else ""


FORMAT = Format(
    name="inspect",
    title="Inspect evaluation log",
    known_from="logs of inspect_ai 0.3.285",
    read=read,
    detect=_detect,
    marks=marks("eval samples"),
)
