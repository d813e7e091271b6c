"""Read the message history of Pydantic AI.

A request holds what goes to the model: prompts and what tools returned. A response holds what came back. Bytes are in
the URL-safe alphabet of base64. A result says with its `outcome` how the call ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from msgspec.structs import replace

from legato.formats.blocks import as_json, kind_of, response, text_blocks
from legato.formats.content import Content
from legato.formats.document import CompactionMark, Document
from legato.formats.draft import DocumentDraft, keep_known
from legato.formats.fields import as_id, as_list, as_object, as_text, as_time, first_text
from legato.formats.origins import origin_of, provider_named, provider_of_model, route_of
from legato.model import (
    Authority,
    Block,
    ClosureReason,
    Ending,
    HostedTool,
    Json,
    JsonObject,
    Media,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
    clean_text,
    ingest,
)
from legato.wire.arguments import read_arguments

_ENDINGS = {
    "stop": Ending.DONE,
    "length": Ending.LENGTH,
    "content_filter": Ending.REFUSED,
    "tool_call": Ending.CALLS,
    "error": Ending.CUT,
}
_UNFINISHED = {"incomplete": Ending.CUT, "interrupted": Ending.CANCELLED}
_ADDRESSED = {
    "image-url": "image/*",
    "audio-url": "audio/mpeg",
    "video-url": "video/mp4",
    "document-url": "application/pdf",
}
"""kinds of media that are an address, and the type of those that do not say it"""
_WITHOUT_WORDS = frozenset(
    {"instruction-baseline", "tool-availability-delta", "capability-load-delta", "model-settings-delta"}
)
"""what a run notes for itself; no model is ever sent it as words"""
_MADE_UP = re.compile(r"[0-9a-f]{6}")
"""an identifier that Pydantic AI made of the bytes, and that is nobody's name for them"""
_REDACTED = frozenset({"redacted_thinking", "redacted_content"})
_STANDARD = str.maketrans("-_", "+/")


def read(content: Content) -> list[Document]:
    """The conversation."""
    draft = content.draft()
    reader = _Reader(draft)
    for item in content.items("messages"):
        reader.message(item.value, item.place)
    return content.finish(draft)


def read_messages(messages: Iterable[Json], *, name: str = "") -> Document:
    """The conversation in messages as `to_jsonable_python` gives them: what an integration has, without a file."""
    draft = DocumentDraft("pydantic-ai", name)
    reader = _Reader(draft)
    for index, message in enumerate(messages):
        reader.message(as_object(message), f"[{index}]")
    return draft.finish(digest="")


class _Reader:
    def __init__(self, draft: DocumentDraft) -> None:
        self.draft = draft

    def message(self, message: JsonObject, place: str) -> None:
        keep_known(self.draft.meta, message, {"conversation_id": "session"})
        self.draft.at = as_time(message.get("timestamp"))
        parts = list(map(as_object, as_list(message.get("parts"))))
        match message.get("kind"):
            case "request":
                self.request(message, parts, place)
            case "response":
                self.answer(message, parts, place)
            case kind:
                self.draft.unknown(place, f"a message of kind {as_text(kind)!r}")

    # --- requests -----------------------------------------------------------------------------------------------------

    def request(self, message: JsonObject, parts: list[JsonObject], place: str) -> None:
        instructions = as_text(message.get("instructions"))
        if instructions and self.draft.system not in ([], [instructions]):
            self.draft.note(place, "the instructions are other ones from here on; those that hold last are carried")
        self.draft.system = [instructions] if instructions else self.draft.system
        for authority, run in groupby(enumerate(parts), key=lambda pair: _authority(pair[1])):
            blocks = [block for index, part in run for block in self._asked(part, f"{place}.parts[{index}]")]
            self.draft.human(blocks, place, authority=authority)

    def _asked(self, part: JsonObject, place: str) -> list[Block]:
        kind, content = as_text(part.get("part_kind")), part.get("content")
        match kind:
            case "system-prompt" | "instruction-delta":
                return text_blocks(as_text(content))
            case "user-prompt":
                return self._content(content, place)
            case "tool-return":
                return [self._returned(part, place)]
            case "retry-prompt" if part.get("tool_name"):
                return [self._returned({**part, "outcome": "retried"}, place)]
            case "retry-prompt" | "retry-feedback":
                return text_blocks(content if isinstance(content, str) else as_json(content))
            case "compaction":
                return self._compacted(part, place)
            case _:
                return self._either(part, kind, place)

    def _returned(self, part: JsonObject, place: str) -> ToolResponse:
        wire_id, name = as_id(part.get("tool_call_id")), as_text(part.get("tool_name"))
        value, media = self._result(part.get("content"), place)
        outcome = as_text(part.get("outcome"))
        found = response(wire_id, name, value, is_error=outcome in ("failed", "retried"), media=media)
        if outcome == "denied" and found.reason is ClosureReason.DENIED:
            return replace(found, synthetic=False)  # the text is ours, and the outcome says that it is true
        if outcome in ("denied", "interrupted") and found.reason is None:
            said = value if isinstance(value, str) else as_json(value)
            reason = ClosureReason.DENIED if outcome == "denied" else ClosureReason.INTERRUPTED
            return ToolResponse(wire_id=wire_id, tool_name=name, reason=reason, said=clean_text(said) or None)
        return found

    def _result(self, content: Json, place: str) -> tuple[Json, tuple[Media, ...]]:
        """What a tool returned: a value, or words with media among them."""
        items: list[Json] = as_list(content) if isinstance(content, list) else [content]
        blocks = [self._medium(as_object(item), place) for item in items]
        media = tuple(block for block in blocks if isinstance(block, Media))
        if not media:
            return ingest(items if isinstance(content, list) else items[0]), ()
        words = [item for item, block in zip(items, blocks, strict=True) if not isinstance(block, Media)]
        return "\n".join(item if isinstance(item, str) else as_json(item) for item in words), media

    def _content(self, content: Json, place: str) -> list[Block]:
        blocks: list[Block] = []
        for item in [content] if isinstance(content, str) else as_list(content):
            part = as_object(item)
            if isinstance(item, str):
                blocks += text_blocks(item)
            elif part.get("kind") in ("text-content", "structured-content"):
                blocks += text_blocks(as_text(part.get("content")))
            elif part.get("kind") != "cache-point":  # it marks a place, and says nothing
                block = self._medium(part, place)
                blocks += [block] if block is not None else []
                if block is None:
                    what = as_text(part.get("kind"))
                    self.draft.unknown(place, f"a content of kind {what!r}")
        return blocks

    def _medium(self, part: JsonObject, place: str) -> Block | None:
        """Media, or words in place of a file that only its provider has; None if it is neither."""
        kind = as_text(part.get("kind"))
        identifier = as_text(part.get("identifier"))
        name = identifier if identifier and not _MADE_UP.fullmatch(identifier) else None
        mime = first_text(part, "media_type")
        if kind == "binary" and isinstance(part.get("data"), str):
            mime = mime or "application/octet-stream"
            return Media(kind_of(mime), mime, data=as_text(part["data"]).translate(_STANDARD), name=name)
        if kind in _ADDRESSED and part.get("url"):
            mime = mime or _ADDRESSED[kind]
            return Media(kind_of(mime), mime, url=as_text(part["url"]), name=name)
        if kind == "uploaded-file":
            self.draft.note(place, f"refers to the stored file {part.get('file_id')!r}, which cannot be read from here")
            return Text(f"[a file that the provider stores: {as_text(part.get('file_id'))}]")
        return None

    def _compacted(self, part: JsonObject, place: str) -> list[Block]:
        """What came before was replaced by a summary; all that is still in the history is read."""
        if not (summary := as_text(part.get("content"))):
            self.draft.note(place, "a sealed summary of what came before is not carried")
        elif self.draft.entries:
            self.draft.compactions.append(CompactionMark(0, len(self.draft.entries) - 1, summary, place))
            self.draft.note(place, "a summary of what came before stands here; all of it is read", is_carried=True)
        else:
            return text_blocks(summary)
        return []

    def _either(self, part: JsonObject, kind: str, place: str) -> list[Block]:
        """A part that both sides have, or one without words."""
        if kind == "speech":
            audio = self._medium(as_object(part.get("audio")), place)
            return [*text_blocks(as_text(part.get("transcript"))), *([audio] if audio is not None else [])]
        if kind in _WITHOUT_WORDS:
            self.draft.skip(place, f"a part of kind {kind!r} is not part of the conversation")
        else:
            self.draft.unknown(place, f"a part of kind {kind!r}")
        return []

    # --- responses ----------------------------------------------------------------------------------------------------

    def answer(self, message: JsonObject, parts: list[JsonObject], place: str) -> None:
        model = first_text(message, "model_name")
        provider = _provider(message, parts) or provider_of_model(model)
        if model:
            self.draft.model, self.draft.route = model, route_of(provider, model)
        blocks: list[Block] = []
        for index, part in enumerate(parts):
            self._answered(part, f"{place}.parts[{index}]", provider, blocks)
        ending = _UNFINISHED.get(as_text(message.get("state"))) or _ENDINGS.get(as_text(message.get("finish_reason")))
        self.draft.say(Speaker.AI, blocks, place, origin=origin_of(provider, model), ending=ending)

    def _answered(self, part: JsonObject, place: str, provider: str, blocks: list[Block]) -> None:
        kind, name = as_text(part.get("part_kind")), as_text(part.get("tool_name"))
        wire_id = as_id(part.get("tool_call_id"))
        native = _signed(part) if provider in ("gemini", "vertex") else None
        match kind:
            case "text":
                blocks += [replace(block, native=native) for block in text_blocks(as_text(part.get("content")))]
            case "thinking":
                if not _think(part, provider, native, blocks) and part.get("signature"):
                    self.draft.note(place, "a sealed thought of another provider is not carried")
            case "tool-call":
                value, raw, finished = read_arguments(part.get("args"))
                blocks.append(ToolCall(name, value, wire_id, raw=raw, finished=finished, native=native))
            case "builtin-tool-call":
                blocks.append(HostedTool(name, read_arguments(part.get("args")).value, None, wire_id))
            case "builtin-tool-return":
                _give(HostedTool(name, result=ingest(part.get("content")), wire_id=wire_id), blocks)
            case "file":
                medium = self._medium(as_object(part.get("content")), place)
                blocks += [medium] if medium is not None else []
                if medium is None:
                    self.draft.note(place, "a file without its bytes was left out")
            case "tool-return" | "retry-prompt":
                blocks += self._asked(part, place)
            case "compaction":
                blocks += self._compacted(part, place)
            case _:
                blocks += self._either(part, kind, place)


def _authority(part: JsonObject) -> Authority:
    is_rule = part.get("part_kind") in ("system-prompt", "instruction-delta")
    return Authority.INSTRUCTION if is_rule else Authority.PERSON


def _provider(message: JsonObject, parts: list[JsonObject]) -> str:
    """Who answered. Both APIs of OpenAI have one name; ids, and the name the model was asked by, tell them apart."""
    provider = provider_named(first_text(message, "provider_name"), first_text(message, "model_name"))
    if provider != "openai":
        return provider
    is_item = as_text(message.get("provider_response_id")).startswith("resp_") or any(
        part.get("part_kind") == "thinking" and as_text(part.get("id")).startswith("rs_") for part in parts
    )
    is_asked = as_text(message.get("model_id")).startswith("openai-responses:")
    return "openai-responses" if is_item or is_asked else provider


def _signed(part: JsonObject) -> JsonObject | None:
    """The signature of Gemini, which belongs to whichever part it came with."""
    signature = as_text(as_object(part.get("provider_details")).get("thought_signature"))
    return {"thoughtSignature": signature} if signature else None


def _think(part: JsonObject, provider: str, native: JsonObject | None, blocks: list[Block]) -> bool:
    """A thought, with what its provider wants back; whether there was one.

    Summaries of one item of OpenAI are parts with one id.
    """
    text, signature, own = as_text(part.get("content")), as_text(part.get("signature")), as_text(part.get("id"))
    if provider == "openai-responses" and own:
        summary: list[JsonObject] = [{"type": "summary_text", "text": text}] if text else []
        last = blocks[-1] if blocks else None
        held = as_object((last.native or {}).get("item")) if isinstance(last, Thinking) else {}
        if isinstance(last, Thinking) and held.get("id") == own:
            held = {**held, "summary": [*as_list(held.get("summary")), *summary]}
            blocks[-1] = Thinking(f"{last.text}\n\n{text}", native={"item": held})
            return True
        item: JsonObject = {"type": "reasoning", "id": own, "summary": summary, "encrypted_content": signature}
        native = {"item": item} if signature else None
    elif provider in ("anthropic", "bedrock") and signature:
        native = {"data": signature} if own in _REDACTED else {"signature": signature}
    elif provider in ("gemini", "vertex") and signature and native is None:
        native = {"thoughtSignature": signature}
    blocks += [Thinking(text, native=native)] if text or native else []
    return bool(text or native)


def _give(given: HostedTool, blocks: list[Block]) -> None:
    """What a provider's own tool gave, to its call."""
    for at, block in enumerate(blocks):
        if isinstance(block, HostedTool) and block.wire_id == given.wire_id and block.result is None:
            blocks[at] = replace(block, result=given.result)
            return
    blocks.append(given)
