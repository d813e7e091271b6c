"""Write a conversation as a Qwen Code session.

One record for what a person says, one for each answer, one for each result, each the child of the one before. Qwen Code
finds a session by the name of its file, which is the session's id, below the folder that it was about.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Never

import msgspec

from legato.formats.format import Outgoing
from legato.formats.gemini_parts import response_part
from legato.formats.session_writer import CallOutcome, PlainAnswer, PlainSaid, SessionWriter
from legato.formats.writer_context import model_of
from legato.model import Dialect, IdScheme, JsonObject, Media, NameRule, Origin, Text, Thinking, ToolCall
from legato.transcript.units import Exchange
from legato.wire.gemini.shapes import REACHABLE, function_call, media_part, text_part, thought_part

VERSION = "0.24.4"
"""the version of Qwen Code whose records these are"""

_PROVENANCE = {"user": "real_user", "assistant": "assistant_output"}
_SIGNATURES = {Dialect.GEMINI: "thoughtSignature", Dialect.ANTHROPIC: "signature"}
"""what a thought's signature is called where it comes from; Qwen Code calls all of them as Gemini does"""


class QwenWriter(SessionWriter[Never]):
    """Writes a record a line."""

    def __init__(self, out: Outgoing) -> None:
        super().__init__(out, IdScheme.CALL40, NameRule.OPENAI, REACHABLE.accepts)
        self.lines: list[bytes] = []
        self.parent: str | None = None

    def data(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    def human(self, blocks: Sequence[PlainSaid]) -> None:
        parts = [media_part(block) if isinstance(block, Media) else text_part(block.text) for block in blocks]
        self._message("user", "user", parts)

    def answer(self, unit: Exchange, blocks: Sequence[PlainAnswer], outcomes: Sequence[CallOutcome]) -> None:
        parts = [self._part(block, unit.origin) for block in blocks]
        self._message("assistant", "model", parts, model=model_of(unit.origin) or "unknown")
        for outcome in outcomes:
            status = "error" if outcome.is_error else "success"
            told: JsonObject = {"callId": outcome.call_id, "status": status, "resultDisplay": outcome.text}
            self._message("tool_result", "user", [_response(outcome)], toolCallResult=told)

    def compaction(self, summary: str) -> None:
        history: list[JsonObject] = [{"role": "user", "parts": [text_part(summary)]}]
        told: JsonObject = {"originalTokenCount": 0, "newTokenCount": 0, "compressionStatus": 1}
        payload: JsonObject = {"info": told, "compressedHistory": history}
        self._record("system", subtype="chat_compression", systemPayload=payload)

    def thought(self, block: Thinking) -> Thinking | None:
        # What has a signature and no words is a part of its own there.
        return block if block.native else super().thought(block)

    def _part(self, block: PlainAnswer, origin: Origin | None) -> JsonObject:
        match block:
            case Text():
                return text_part(block.text)
            case Thinking():
                field = _SIGNATURES.get(Dialect(origin.dialect)) if origin is not None and origin.dialect else None
                signature = (block.native or {}).get(field) if field else None
                part = thought_part(block.text)
                return {**part, "thoughtSignature": signature} if signature else part
            case ToolCall():
                return function_call(self.call_id(block), self.name(block), block)

    def _message(self, kind: str, role: str, parts: list[JsonObject], **more: object) -> None:
        self._record(kind, message={"role": role, "parts": parts}, **more)

    def _record(self, kind: str, **fields: object) -> None:
        number = len(self.lines)
        own = self.context.unique("record", str(number))
        record: JsonObject = {
            "uuid": own,
            "parentUuid": self.parent,
            "sessionId": self.session,
            "timestamp": self.context.stamp(),
            "type": kind,
            "provenance": _PROVENANCE.get(kind, kind),
            "cwd": self.cwd,
            "version": VERSION,
        }
        if branch := self.out.meta.get("branch"):
            record["gitBranch"] = branch
        self.lines.append(msgspec.json.encode({**record, **fields}))
        self.parent = own


def _response(outcome: CallOutcome) -> JsonObject:
    return response_part(outcome.call_id, outcome.name, outcome.text, outcome.media, is_error=outcome.is_error)
