"""Write a conversation as LangChain messages, in the form of `messages_to_dict`: `messages_from_dict` loads them.

Calls are in `tool_calls`, where every integration looks for them. They are also among the parts of the content where
the provider that gave the answer has a form for that, or where something was said behind them: nothing else holds the
order. Thoughts go back only as the parts of that provider; those of others are kept where integrations ignore them.
"""

from __future__ import annotations

import msgspec

from legato.formats.document import FileNote
from legato.formats.fields import as_object, as_objects
from legato.formats.format import Outgoing, Written
from legato.formats.writer_context import WriterContext, media_words, model_of
from legato.model import (
    Authority,
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
from legato.wire.arguments import wire_arguments, wire_arguments_text
from legato.wire.phrases import SUMMARY_MARK
from legato.wire.text_forms import fenced, hosted_text

_PROVIDERS = {"openai-responses": "openai", "gemini": "google_genai", "mistral": "mistralai", "bedrock": "bedrock"}
"""LangChain's names for providers that Legato calls something else"""


def write_file(out: Outgoing) -> Written:
    """A file of one list of messages, and what it does not hold."""
    messages, losses = write_messages(out)
    return Written(msgspec.json.format(msgspec.json.encode(messages), indent=1) + b"\n", losses)


def write_messages(out: Outgoing) -> tuple[list[JsonObject], list[FileNote]]:
    """The messages as plain values, for `messages_from_dict`, and what they do not hold."""
    writer = _Writer(out)
    return writer.write(), writer.context.losses()


class _Writer:
    def __init__(self, out: Outgoing) -> None:
        self.out = out
        self.context = WriterContext(out, IdScheme.CALL40, NameRule.OPENAI)
        self.messages: list[JsonObject] = []

    def write(self) -> list[JsonObject]:
        if self.out.talk.instructions:
            self.message("system", self.out.talk.instructions)
        for unit in self.context.units():
            match unit:
                case Said():
                    self.said(unit)
                case Summary():
                    self.message("human", SUMMARY_MARK + unit.text)
                case Exchange():
                    self.exchange(unit)
        if self.out.tools:
            self.context.lose(f"the definitions of {len(self.out.tools)} tools")
        return self.messages

    def message(self, kind: str, content: Json, **fields: Json) -> None:
        data: JsonObject = {"content": content, "additional_kwargs": {}, "response_metadata": {}, "type": kind}
        self.messages.append({"type": kind, "data": data | fields})

    def said(self, unit: Said) -> None:
        parts: list[JsonObject] = []
        for block in unit.blocks:
            if isinstance(block, Media):
                parts.append(self.media(block))
            else:
                parts.append(_text(block.text if isinstance(block, Text) else fenced(block)))
        self.message("system" if unit.authority is Authority.INSTRUCTION else "human", _content(parts))

    def media(self, block: Media) -> JsonObject:
        kind = "file" if block.kind is MediaKind.DOCUMENT else block.kind.value
        mime: JsonObject = {} if block.mime.endswith("/*") else {"mime_type": block.mime}
        name: JsonObject = {"extras": {"filename": block.name}} if block.name else {}
        if block.data is not None:
            return {"type": kind, "base64": block.data, **mime, **name}
        if block.url is not None:
            return {"type": kind, "url": block.url, **mime, **name}
        self.context.lose(f"a medium of type {block.mime} without data or address")
        return _text(media_words(block))

    # --- answers ------------------------------------------------------------------------------------------------------

    def exchange(self, unit: Exchange) -> None:
        dialect = unit.origin.dialect if unit.origin is not None else ""
        form = _CALLS.get(dialect)
        metadata = _metadata(unit.origin)
        if form is None and _says_more_behind_calls(unit.blocks):
            form = _standard_call
            metadata["output_version"] = "v1"  # says that the parts are LangChain's own
        parts: list[JsonObject] = []
        aside: list[str] = []
        calls: list[JsonObject] = []
        for block in unit.blocks:
            if isinstance(block, ToolCall):
                call = self.call(block)
                calls.append(call)
                parts += [form(call, block)] if form is not None else []
            elif isinstance(block, Thinking):
                own = _own_thought(block, dialect)
                parts += own
                aside += [block.text] if block.text and not own else []
                if not own and not block.text:
                    self.context.lose("a sealed thought that LangChain has no form for")
            else:
                parts += self.answered(block, dialect)
        extra: JsonObject = {"reasoning_content": "\n\n".join(aside)} if aside else {}
        fields: JsonObject = {"tool_calls": calls, "invalid_tool_calls": []}
        self.message("ai", _content(parts), additional_kwargs=extra, response_metadata=metadata, **fields)
        for call, completion in zip(unit.calls, unit.completions, strict=True):
            self.result(call, completion)

    def call(self, call: ToolCall) -> JsonObject:
        name = self.context.tool(call.name, call.namespace)
        return {"name": name, "args": wire_arguments(call), "id": self.context.ids[call.id], "type": "tool_call"}

    def answered(self, block: AnswerBlock, dialect: str) -> list[JsonObject]:
        match block:
            case Text():
                citations = (block.native or {}).get("citations") if dialect == Dialect.ANTHROPIC else None
                return [_text(block.text) | ({"citations": citations} if citations else {})]
            case Code():
                return [_text(fenced(block))]
            case Media():
                return [self.media(block)]
            case HostedTool():
                return self.hosted(block, dialect)
            case Thinking() | ToolCall():
                return []  # they are taken care of where the answer is put together

    def hosted(self, block: HostedTool, dialect: str) -> list[JsonObject]:
        native = block.native or {}
        if dialect == Dialect.ANTHROPIC and (own := as_objects(native.get("blocks"))):
            return own
        if dialect == Dialect.OPENAI_RESPONSES and (item := as_object(native.get("item"))):
            return [item]
        if block.silent:
            self.context.lose(f"a record that another provider keeps for itself ({block.name})")
            return []
        self.context.lose(f"the form of a call to {block.name}, run by its provider; it stands as text")
        return [_text(hosted_text(block))]

    def result(self, call: ToolCall, completion: Completion) -> None:
        text = completion_text(completion)
        media = [self.media(block) for block in completion.media] if completion.shortened is None else []
        content: Json = [*([_text(text)] if text else []), *media] if media else text
        fields: JsonObject = {
            "name": self.context.tool(call.name, call.namespace),
            "tool_call_id": self.context.ids[call.id],
            "status": "error" if completion.is_error else "success",
        }
        self.message("tool", content, **fields)


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _content(parts: list[JsonObject]) -> Json:
    """The parts, or the text where that is all."""
    if not parts:
        return ""
    is_plain = len(parts) == 1 and parts[0].keys() == {"type", "text"}
    return parts[0]["text"] if is_plain else parts


def _metadata(origin: Origin | None) -> JsonObject:
    """Who answered, in the fields that LangChain's integrations fill."""
    if origin is None:
        return {}
    named = {"model_name": model_of(origin), "model_provider": _PROVIDERS.get(origin.provider, origin.provider)}
    kept: JsonObject = {name: value for name, value in named.items() if value}
    return kept | ({"object": "response"} if origin.dialect == Dialect.OPENAI_RESPONSES else {})


def _says_more_behind_calls(blocks: tuple[AnswerBlock, ...]) -> bool:
    kinds = [isinstance(block, ToolCall) for block in blocks if not isinstance(block, Thinking)]
    return kinds != sorted(kinds)


def _own_thought(block: Thinking, dialect: str) -> list[JsonObject]:
    """A thought in the form of the provider that it goes back to; nothing where it cannot."""
    native = block.native or {}
    if dialect == Dialect.ANTHROPIC and native.get("data"):
        return [{"type": "redacted_thinking", "data": native["data"]}]
    if dialect == Dialect.ANTHROPIC and native.get("signature"):
        return [{"type": "thinking", "thinking": block.text, "signature": native["signature"]}]
    item = as_object(native.get("item")) if dialect == Dialect.OPENAI_RESPONSES else {}
    # By its id it would be bound to the very items that followed it; what is sealed in it goes without.
    return [{name: value for name, value in item.items() if name != "id"}] if item.get("encrypted_content") else []


# --- calls among the parts of a content -------------------------------------------------------------------------------


def _anthropic_call(call: JsonObject, block: ToolCall) -> JsonObject:
    return {"type": "tool_use", "id": call["id"], "name": call["name"], "input": call["args"]}


def _responses_call(call: JsonObject, block: ToolCall) -> JsonObject:
    return {
        "type": "function_call",
        "name": call["name"],
        "arguments": wire_arguments_text(block),
        "call_id": call["id"],
    }


def _standard_call(call: JsonObject, block: ToolCall) -> JsonObject:
    return call


_CALLS = {Dialect.ANTHROPIC.value: _anthropic_call, Dialect.OPENAI_RESPONSES.value: _responses_call}
"""the dialects whose integrations put calls among the parts, and in which form"""
