"""Write a conversation as a pi session: a header, then a message a line, each the child of the one before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Never

import msgspec

from legato.formats.fields import as_text
from legato.formats.format import Outgoing
from legato.formats.session_writer import CallOutcome, PlainAnswer, PlainSaid, SessionWriter
from legato.formats.writer_context import model_of, provider_of
from legato.model import Dialect, IdScheme, JsonObject, Media, MediaKind, NameRule, Origin, Text, Thinking, ToolCall
from legato.transcript.units import Exchange
from legato.wire.arguments import wire_arguments

VERSION = 3
"""the version of pi's session format"""

_UNNAMED = "unknown"
_APIS = {
    Dialect.ANTHROPIC: "anthropic-messages",
    Dialect.OPENAI_CHAT: "openai-completions",
    Dialect.OPENAI_RESPONSES: "openai-responses",
    Dialect.GEMINI: "google-generative-ai",
    Dialect.BEDROCK: "bedrock-converse-stream",
}
_COST: JsonObject = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
_USAGE: JsonObject = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0, "cost": _COST}


class PiWriter(SessionWriter[Never]):
    """Writes an entry a line."""

    def __init__(self, out: Outgoing) -> None:
        super().__init__(out, IdScheme.CALL40, NameRule.OPENAI, _is_held)
        head: JsonObject = {
            "type": "session",
            "version": VERSION,
            "id": self.session,
            "timestamp": self.context.stamp(),
        }
        self.lines = [msgspec.json.encode({**head, "cwd": self.cwd})]
        self.parent: str | None = None
        self.model: tuple[str, str] = ("", "")

    def data(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    def human(self, blocks: Sequence[PlainSaid]) -> None:
        self._message({"role": "user", "content": list(map(_said, blocks))})

    def answer(self, unit: Exchange, blocks: Sequence[PlainAnswer], outcomes: Sequence[CallOutcome]) -> None:
        origin = unit.origin
        provider, model = provider_of(origin) or _UNNAMED, model_of(origin) or _UNNAMED
        if (provider, model) != self.model and model != _UNNAMED:
            self.model = provider, model
            self._entry({"type": "model_change", "provider": provider, "modelId": model})
        dialect = Dialect(origin.dialect) if origin is not None and origin.dialect else None
        self._message(
            {
                "role": "assistant",
                "content": [self._block(block, origin) for block in blocks],
                "api": _APIS.get(dialect, _UNNAMED) if dialect else _UNNAMED,
                "provider": provider,
                "model": model,
                "usage": _USAGE,
                "stopReason": "toolUse" if outcomes else "stop",
            }
        )
        for outcome in outcomes:
            text: list[PlainSaid] = [Text(outcome.text)] if outcome.text or not outcome.media else []
            message: JsonObject = {"role": "toolResult", "toolCallId": outcome.call_id, "toolName": outcome.name}
            content = list(map(_said, [*text, *outcome.media]))
            self._message({**message, "content": content, "isError": outcome.is_error})

    def thought(self, block: Thinking) -> Thinking | None:
        return block if as_text((block.native or {}).get("signature")) else super().thought(block)

    def _block(self, block: PlainAnswer, origin: Origin | None) -> JsonObject:
        match block:
            case Text():
                return {"type": "text", "text": block.text}
            case Thinking():
                signature = _signature(block, origin)
                thought: JsonObject = {"type": "thinking", "thinking": block.text}
                return {**thought, "thinkingSignature": signature} if signature else thought
            case ToolCall():
                call: JsonObject = {"type": "toolCall", "id": self.call_id(block), "name": self.name(block)}
                return {**call, "arguments": wire_arguments(block)}

    def _message(self, message: JsonObject) -> None:
        self._entry({"type": "message", "message": {**message, "timestamp": self.context.millis()}})

    def compaction(self, summary: str) -> None:
        # It keeps what stands between an entry and itself: here nothing.
        own = self._id()
        self._entry({"type": "compaction", "summary": summary, "firstKeptEntryId": own, "tokensBefore": 0})

    def _id(self) -> str:
        """The id of the next entry."""
        return self.context.unique("entry", str(len(self.lines))).replace("-", "")[:8]

    def _entry(self, entry: JsonObject) -> None:
        own = self._id()
        known: JsonObject = {"id": own, "parentId": self.parent, "timestamp": self.context.stamp()}
        self.lines.append(msgspec.json.encode({"type": entry["type"], **known, **entry}))
        self.parent = own


def _said(block: PlainSaid) -> JsonObject:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    return {"type": "image", "data": block.data, "mimeType": block.mime}


def _is_held(block: Media) -> bool:
    return block.kind is MediaKind.IMAGE and block.data is not None


def _signature(block: Thinking, origin: Origin | None) -> str:
    """What pi keeps of a thought for the provider that it comes from; for the Responses API that is the whole item."""
    native = block.native or {}
    match origin.dialect if origin is not None else "":
        case Dialect.ANTHROPIC:
            return as_text(native.get("signature"))
        case Dialect.GEMINI:
            return as_text(native.get("thoughtSignature"))
        case Dialect.OPENAI_RESPONSES if native.get("item"):
            return msgspec.json.encode(native["item"]).decode()
        case _:
            return ""
