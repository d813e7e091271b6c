"""Write a conversation as the message history of Pydantic AI: `ModelMessagesTypeAdapter` validates it.

No times are written: a field that is missing is filled when the history is loaded, and the same conversation gives the
same file. Of the outcomes of a call only those are used that every version with outcomes knows.
"""

from __future__ import annotations

import msgspec

from legato.formats.document import FileNote
from legato.formats.fields import as_list, as_object, as_text
from legato.formats.format import Outgoing, Written
from legato.formats.writer_context import WriterContext, media_words, model_of
from legato.model import (
    Authority,
    ClosureReason,
    Code,
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
from legato.transcript.units import AnswerBlock, Completion, Exchange, Said, Summary, completion_text
from legato.wire.arguments import wire_arguments
from legato.wire.phrases import SUMMARY_MARK
from legato.wire.text_forms import fenced, hosted_text

_PROVIDERS = {"openai-responses": "openai", "gemini": "google", "vertex": "google-cloud", "kimi": "moonshotai"}
"""Pydantic AI's names for providers that Legato calls something else"""
_URL_SAFE = str.maketrans("+/", "-_")
_SIGNED = (Dialect.ANTHROPIC, Dialect.BEDROCK)
_REDACTED = {Dialect.ANTHROPIC.value: "redacted_thinking", Dialect.BEDROCK.value: "redacted_content"}


def write_file(out: Outgoing) -> Written:
    """A file of one list of messages, and what it does not hold."""
    messages, losses = write_messages(out)
    return Written(msgspec.json.format(msgspec.json.encode(messages), indent=1) + b"\n", losses)


def write_messages(out: Outgoing) -> tuple[list[JsonObject], list[FileNote]]:
    """The messages as plain values, for `ModelMessagesTypeAdapter.validate_python`, and what they do not hold."""
    writer = _Writer(out)
    return writer.write(), writer.context.losses()


class _Writer:
    def __init__(self, out: Outgoing) -> None:
        self.out = out
        self.context = WriterContext(out, IdScheme.CALL40, NameRule.OPENAI)
        self.messages: list[JsonObject] = []

    def write(self) -> list[JsonObject]:
        if self.out.talk.instructions:
            self.request([{"content": self.out.talk.instructions, "part_kind": "system-prompt"}])
        for unit in self.context.units():
            match unit:
                case Said():
                    self.said(unit)
                case Summary():
                    self.request([{"content": SUMMARY_MARK + unit.text, "part_kind": "user-prompt"}])
                case Exchange():
                    self.exchange(unit)
        if self.out.tools:
            self.context.lose(f"the definitions of {len(self.out.tools)} tools")
        return self.messages

    def request(self, parts: list[JsonObject]) -> None:
        self.messages.append({"parts": parts, "kind": "request"})

    def said(self, unit: Said) -> None:
        if unit.authority is Authority.INSTRUCTION:
            self.request([self.rule(block) for block in unit.blocks])
            return
        content: list[Json] = []
        for block in unit.blocks:
            match block:
                case Media():
                    content.append(self.media(block))
                case Text():
                    content.append(block.text)
                case Code():
                    content.append(fenced(block))
        is_plain = len(content) == 1 and isinstance(content[0], str)
        self.request([{"content": content[0] if is_plain else content, "part_kind": "user-prompt"}])

    def rule(self, block: Text | Media | Code) -> JsonObject:
        if isinstance(block, Media):
            self.context.lose(f"the authority of a medium of type {block.mime}; it stands there as a person's")
            return {"content": [self.media(block)], "part_kind": "user-prompt"}
        return {"content": block.text if isinstance(block, Text) else fenced(block), "part_kind": "system-prompt"}

    def media(self, block: Media) -> Json:
        named: JsonObject = {"identifier": block.name} if block.name else {}
        if block.data is not None:
            data = block.data.translate(_URL_SAFE)
            return {"data": data, "media_type": block.mime, **named, "kind": "binary"}
        if block.url is not None:
            mime: JsonObject = {} if block.mime.endswith("/*") else {"media_type": block.mime}
            kind = "document" if block.kind is MediaKind.DOCUMENT else block.kind.value
            return {"url": block.url, **mime, **named, "kind": f"{kind}-url"}
        self.context.lose(f"a medium of type {block.mime} without data or address")
        return media_words(block)

    # --- answers ------------------------------------------------------------------------------------------------------

    def exchange(self, unit: Exchange) -> None:
        parts = [part for block in unit.blocks for part in self.answered(block, unit.origin)]
        response: JsonObject = {"parts": parts, **_named(unit.origin)}
        response["finish_reason"] = "tool_call" if unit.completions else "stop"
        self.messages.append({**response, "kind": "response"})
        if unit.completions:
            pairs = zip(unit.calls, unit.completions, strict=True)
            self.request([self.result(call, completion) for call, completion in pairs])

    def answered(self, block: AnswerBlock, origin: Origin | None) -> list[JsonObject]:
        signed = _signature(block, origin)
        match block:
            case ToolCall():
                name, wire_id = self.context.tool(block.name, block.namespace), self.context.ids[block.id]
                call: JsonObject = {"tool_name": name, "args": wire_arguments(block), "tool_call_id": wire_id}
                return [{**call, **signed, "part_kind": "tool-call"}]
            case Text():
                return [{"content": block.text, **signed, "part_kind": "text"}]
            case Code():
                return [{"content": fenced(block), "part_kind": "text"}]
            case Thinking():
                parts = _thoughts(block, origin) or (
                    [{"content": block.text, **signed, "part_kind": "thinking"}] if block.text or signed else []
                )
                if not parts:
                    self.context.lose("a sealed thought that Pydantic AI has no form for")
                return parts
            case Media() if block.data is not None:
                return [{"content": self.media(block), "part_kind": "file"}]
            case Media():
                self.context.lose(f"a medium of type {block.mime} in an answer")
                return [{"content": media_words(block), "part_kind": "text"}]
            case HostedTool():
                return self.hosted(block, origin)

    def hosted(self, block: HostedTool, origin: Origin | None) -> list[JsonObject]:
        if block.silent:
            self.context.lose(f"a record that its provider keeps for itself ({block.name})")
            return []
        provider = _named(origin).get("provider_name")
        if not provider:
            self.context.lose(f"the form of a call to {block.name}, run by its provider; it stands as text")
            return [{"content": hosted_text(block), "part_kind": "text"}]
        wire_id = block.wire_id or self.context.unique("hosted", block.name, str(len(self.messages)))
        common: JsonObject = {"tool_name": block.name, "tool_call_id": wire_id, "provider_name": provider}
        return [
            {**common, "args": block.arguments, "part_kind": "builtin-tool-call"},
            {**common, "content": block.result, "part_kind": "builtin-tool-return"},
        ]

    def result(self, call: ToolCall, completion: Completion) -> JsonObject:
        text = completion_text(completion)
        media = [self.media(block) for block in completion.media] if completion.shortened is None else []
        outcome = "failed" if completion.is_error else "success"
        return {
            "tool_name": self.context.tool(call.name, call.namespace),
            "content": [*([text] if text else []), *media] if media else text,
            "tool_call_id": self.context.ids[call.id],
            "outcome": "denied" if completion.reason is ClosureReason.DENIED else outcome,
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
