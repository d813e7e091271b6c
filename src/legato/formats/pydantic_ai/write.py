"""Write a conversation as the message history of Pydantic AI: `ModelMessagesTypeAdapter` validates it.

No times are written: a field that is missing is filled when the history is loaded, and the same conversation gives the
same file. Of the outcomes of a call only those are used that every version with outcomes knows.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from legato.formats.document import FileNote
from legato.formats.fields import as_list, as_object, as_text
from legato.formats.format import Outgoing, Written
from legato.formats.session_writer import CallOutcome, OwnParts, PlainAnswer, PlainSaid, SessionWriter
from legato.formats.writer_context import has_place, model_of
from legato.model import (
    ClosureReason,
    Dialect,
    HostedTool,
    IdScheme,
    Json,
    JsonObject,
    Media,
    MediaKind,
    NameRule,
    Origin,
    Text,
    Thinking,
    ToolCall,
)
from legato.transcript.units import AnswerBlock, Exchange
from legato.wire.arguments import wire_arguments

_PROVIDERS = {"openai-responses": "openai", "gemini": "google", "vertex": "google-cloud", "kimi": "moonshotai"}
"""Pydantic AI's names for providers that Legato calls something else"""
_URL_SAFE = str.maketrans("+/", "-_")
_SIGNED = (Dialect.ANTHROPIC, Dialect.BEDROCK)
_REDACTED = {Dialect.ANTHROPIC.value: "redacted_thinking", Dialect.BEDROCK.value: "redacted_content"}


def write_file(out: Outgoing) -> Written:
    """A file of one list of messages, and what it does not hold."""
    return _Writer(out).write()


def write_messages(out: Outgoing) -> tuple[list[JsonObject], list[FileNote]]:
    """The messages as plain values, for `ModelMessagesTypeAdapter.validate_python`, and what they do not hold."""
    writer = _Writer(out)
    return writer.messages, writer.write().losses


class _Writer(SessionWriter[OwnParts]):
    def __init__(self, out: Outgoing) -> None:
        super().__init__(out, IdScheme.CALL40, NameRule.OPENAI, has_place)
        self.messages: list[JsonObject] = []
        if out.talk.instructions:
            self.request([{"content": out.talk.instructions, "part_kind": "system-prompt"}])

    def data(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self.messages), indent=1) + b"\n"

    def lose_surroundings(self) -> None:
        self.context.lose_tools()  # the system prompt is in the first message

    def request(self, parts: list[JsonObject]) -> None:
        self.messages.append({"parts": parts, "kind": "request"})

    def human(self, blocks: Sequence[PlainSaid]) -> None:
        content = list(map(_said, blocks))
        is_plain = len(content) == 1 and isinstance(content[0], str)
        self.request([{"content": content[0] if is_plain else content, "part_kind": "user-prompt"}])

    def instruction(self, blocks: Sequence[PlainSaid]) -> None:
        self.request(list(map(self.rule, blocks)))

    def rule(self, block: PlainSaid) -> JsonObject:
        if isinstance(block, Media):
            self.context.lose(f"the authority of a medium of type {block.mime}; it stands there as a person's")
            return {"content": [_said(block)], "part_kind": "user-prompt"}
        return {"content": block.text, "part_kind": "system-prompt"}

    # --- answers ------------------------------------------------------------------------------------------------------

    def answer(self, unit: Exchange, blocks: Sequence[PlainAnswer | OwnParts], outcomes: Sequence[CallOutcome]) -> None:
        parts = [part for block in blocks for part in self.parts(block, unit.origin)]
        reason = "tool_call" if outcomes else "stop"
        self.messages.append({"parts": parts, **_named(unit.origin), "finish_reason": reason, "kind": "response"})
        if outcomes:
            self.request(list(map(_result, outcomes)))

    def parts(self, block: PlainAnswer | OwnParts, origin: Origin | None) -> list[JsonObject]:
        match block:
            case OwnParts():
                return block.parts
            case ToolCall():
                name, wire_id = self.name(block), self.call_id(block)
                call: JsonObject = {"tool_name": name, "args": wire_arguments(block), "tool_call_id": wire_id}
                return [{**call, **_signature(block, origin), "part_kind": "tool-call"}]
            case Text():
                return [{"content": block.text, **_signature(block, origin), "part_kind": "text"}]
            case Thinking():
                return [{"content": block.text, "part_kind": "thinking"}]

    def own(self, block: AnswerBlock, origin: Origin | None) -> OwnParts | None:
        parts: list[JsonObject] = []
        match block:
            case Thinking():
                parts = _thoughts(block, origin)
            case Media() if block.data is not None:
                parts = [{"content": _said(block), "part_kind": "file"}]
            case HostedTool() if not block.silent and (provider := _named(origin).get("provider_name")):
                wire_id = block.wire_id or self.context.unique("hosted", block.name, str(len(self.messages)))
                common: JsonObject = {"tool_name": block.name, "tool_call_id": wire_id, "provider_name": provider}
                parts = [
                    {**common, "args": block.arguments, "part_kind": "builtin-tool-call"},
                    {**common, "content": block.result, "part_kind": "builtin-tool-return"},
                ]
            case _:
                pass
        return OwnParts(parts) if parts else None


def _said(block: PlainSaid) -> Json:
    if isinstance(block, Text):
        return block.text
    named: JsonObject = {"identifier": block.name} if block.name else {}
    if block.data is not None:
        return {"data": block.data.translate(_URL_SAFE), "media_type": block.mime, **named, "kind": "binary"}
    mime: JsonObject = {} if block.mime.endswith("/*") else {"media_type": block.mime}
    kind = "document" if block.kind is MediaKind.DOCUMENT else block.kind.value
    return {"url": block.url, **mime, **named, "kind": f"{kind}-url"}


def _result(outcome: CallOutcome) -> JsonObject:
    text, media = outcome.text, list(map(_said, outcome.media))
    known = "failed" if outcome.is_error else "success"
    return {
        "tool_name": outcome.name,
        "content": [*([text] if text else []), *media] if media else text,
        "tool_call_id": outcome.call_id,
        "outcome": "denied" if outcome.completion.reason is ClosureReason.DENIED else known,
        "part_kind": "tool-return",
    }


def _named(origin: Origin | None) -> JsonObject:
    """Who answered. The model's id tells the two APIs of OpenAI apart, which have one name."""
    if origin is None:
        return {}
    model = model_of(origin)
    named = {"model_name": model, "provider_name": _PROVIDERS.get(origin.provider, origin.provider)}
    kept: JsonObject = {name: value for name, value in named.items() if value}
    is_items = origin.provider == "openai-responses" and model
    return kept | ({"model_id": f"{origin.provider}:{model}"} if is_items else {})


def _signature(block: AnswerBlock, origin: Origin | None) -> JsonObject:
    """Gemini's signature, on the part that it came with."""
    signature = as_text((block.native or {}).get("thoughtSignature"))
    if not signature or origin is None or origin.dialect != Dialect.GEMINI:
        return {}
    return {"provider_name": _named(origin)["provider_name"], "provider_details": {"thought_signature": signature}}


def _thoughts(block: Thinking, origin: Origin | None) -> list[JsonObject]:
    """A thought with what its provider wants back; nothing where there is no such thing."""
    native = block.native or {}
    if origin is None:
        return []
    if signed := _signature(block, origin):
        return [{"content": block.text, **signed, "part_kind": "thinking"}]
    owner: JsonObject = {"provider_name": _named(origin).get("provider_name"), "part_kind": "thinking"}
    if origin.dialect in _SIGNED and native.get("data"):
        return [{"content": "", "id": _REDACTED[origin.dialect], "signature": native["data"], **owner}]
    if origin.dialect in _SIGNED and native.get("signature"):
        return [{"content": block.text, "signature": native["signature"], **owner}]
    item = as_object(native.get("item")) if origin.dialect == Dialect.OPENAI_RESPONSES else {}
    if not item.get("encrypted_content") or not item.get("id"):
        return []
    texts = [as_text(as_object(part).get("text")) for part in as_list(item.get("summary"))] or [""]
    # Pydantic AI keeps what is sealed once, with the first summary.
    sealed: list[JsonObject] = [{"signature": item["encrypted_content"]}, *({} for _ in texts[1:])]
    return [{"content": text, "id": item["id"], **seal, **owner} for text, seal in zip(texts, sealed, strict=True)]
