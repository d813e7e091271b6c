"""Write a conversation as LangChain messages, in the form of `messages_to_dict`: `messages_from_dict` loads them.

Calls are in `tool_calls`, where every integration looks for them. They are also among the parts of the content where
the provider that gave the answer has a form for that, or where something was said behind them: nothing else holds the
order. Thoughts go back only as the parts of that provider; those of others are kept where integrations ignore them.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from legato.formats.document import FileNote
from legato.formats.fields import as_object, as_objects, as_text
from legato.formats.format import Outgoing, Written
from legato.formats.langchain.forms import CALL_SIGNATURES
from legato.formats.session_writer import CallOutcome, OwnParts, PlainAnswer, PlainSaid, SessionWriter
from legato.formats.writer_context import has_place, model_of
from legato.model import (
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
from legato.wire.arguments import wire_arguments, wire_arguments_text

_PROVIDERS = {"openai-responses": "openai", "gemini": "google_genai", "mistral": "mistralai", "bedrock": "bedrock"}
"""LangChain's names for providers that Legato calls something else"""


def write_file(out: Outgoing) -> Written:
    """A file of one list of messages, and what it does not hold."""
    return _Writer(out).write()


def write_messages(out: Outgoing) -> tuple[list[JsonObject], list[FileNote]]:
    """The messages as plain values, for `messages_from_dict`, and what they do not hold."""
    writer = _Writer(out)
    return writer.messages, writer.write().losses


class _Writer(SessionWriter[OwnParts]):
    def __init__(self, out: Outgoing) -> None:
        super().__init__(out, IdScheme.CALL40, NameRule.OPENAI, has_place)
        self.messages: list[JsonObject] = []
        if out.talk.instructions:
            self.message("system", out.talk.instructions)

    def data(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self.messages), indent=1) + b"\n"

    def lose_surroundings(self) -> None:
        self.context.lose_tools()  # the system prompt is the first message

    def message(self, kind: str, content: Json, **fields: Json) -> None:
        data: JsonObject = {"content": content, "additional_kwargs": {}, "response_metadata": {}, "type": kind}
        self.messages.append({"type": kind, "data": data | fields})

    def human(self, blocks: Sequence[PlainSaid]) -> None:
        self.message("human", _content(list(map(_said, blocks))))

    def instruction(self, blocks: Sequence[PlainSaid]) -> None:
        self.message("system", _content(list(map(_said, blocks))))

    # --- answers ------------------------------------------------------------------------------------------------------

    def answer(self, unit: Exchange, blocks: Sequence[PlainAnswer | OwnParts], outcomes: Sequence[CallOutcome]) -> None:
        form = _CALLS.get(unit.origin.dialect if unit.origin is not None else "")
        metadata = _metadata(unit.origin)
        if form is None and _says_more_behind_calls(unit.blocks):
            form = _standard_call
            metadata["output_version"] = "v1"  # says that the parts are LangChain's own
        parts: list[JsonObject] = []
        aside: list[str] = []
        calls: list[JsonObject] = []
        for block in blocks:
            match block:
                case OwnParts():
                    parts += block.parts
                case ToolCall():
                    call = self.call(block)
                    calls.append(call)
                    parts += [form(call, block)] if form is not None else []
                case Text():
                    parts.append(_text(block.text))
                case Thinking():
                    aside.append(block.text)
        extra: JsonObject = {"reasoning_content": "\n\n".join(aside)} if aside else {}
        signed: JsonObject = {self.call_id(call): seal for call in unit.calls if (seal := _seal(call, unit.origin))}
        extra |= {CALL_SIGNATURES: signed} if signed else {}
        fields: JsonObject = {"tool_calls": calls, "invalid_tool_calls": []}
        self.message("ai", _content(parts), additional_kwargs=extra, response_metadata=metadata, **fields)
        for outcome in outcomes:
            self.result(outcome)

    def own(self, block: AnswerBlock, origin: Origin | None) -> OwnParts | None:
        native, dialect = block.native or {}, origin.dialect if origin is not None else ""
        parts: list[JsonObject] = []
        match block:
            case Text() if dialect == Dialect.ANTHROPIC and native.get("citations"):
                parts = [_text(block.text) | {"citations": native["citations"]}]
            case Text() if seal := _seal(block, origin):
                parts = [_text(block.text) | {"extras": {"signature": seal}}]
            case Thinking():
                parts = _own_thought(block, dialect)
            case Media() if has_place(block):
                parts = [_said(block)]
            case HostedTool() if dialect == Dialect.ANTHROPIC:
                parts = as_objects(native.get("blocks"))
            case HostedTool() if dialect == Dialect.OPENAI_RESPONSES and (item := as_object(native.get("item"))):
                parts = [item]
            case _:
                pass
        return OwnParts(parts) if parts else None

    def call(self, call: ToolCall) -> JsonObject:
        return {"name": self.name(call), "args": wire_arguments(call), "id": self.call_id(call), "type": "tool_call"}

    def result(self, outcome: CallOutcome) -> None:
        media = list(map(_said, outcome.media))
        fields: JsonObject = {
            "name": outcome.name,
            "tool_call_id": outcome.call_id,
            "status": "error" if outcome.is_error else "success",
        }
        content: Json = [*([_text(outcome.text)] if outcome.text else []), *media] if media else outcome.text
        self.message("tool", content, **fields)


def _said(block: PlainSaid) -> JsonObject:
    if isinstance(block, Text):
        return _text(block.text)
    kind = "file" if block.kind is MediaKind.DOCUMENT else block.kind.value
    held: JsonObject = {"base64": block.data} if block.data is not None else {"url": block.url}
    mime: JsonObject = {} if block.mime.endswith("/*") else {"mime_type": block.mime}
    name: JsonObject = {"extras": {"filename": block.name}} if block.name else {}
    return {"type": kind, **held, **mime, **name}


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


def _seal(block: Text | ToolCall, origin: Origin | None) -> str:
    """Gemini's signature, which belongs to whatever it came with."""
    is_own = origin is not None and origin.dialect == Dialect.GEMINI
    return as_text((block.native or {}).get("thoughtSignature")) if is_own else ""


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
    if dialect == Dialect.GEMINI and native.get("thoughtSignature"):
        return [{"type": "thinking", "thinking": block.text, "signature": native["thoughtSignature"]}]
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
