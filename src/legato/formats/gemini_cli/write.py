"""Write a conversation as a Gemini CLI chat: a header, then a message a line.

An answer is one record: its thoughts, its text, and its calls, each with its result. Words that stand behind a call
therefore come before it. Gemini CLI itself writes results a second time, as it sent them; it goes on without that.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Never

import msgspec

from legato.formats.format import Outgoing
from legato.formats.gemini_parts import response_part
from legato.formats.session_writer import CallOutcome, PlainAnswer, PlainSaid, SessionWriter
from legato.formats.writer_context import iso_time, model_of
from legato.model import IdScheme, JsonObject, Media, NameRule, Text, Thinking, ToolCall
from legato.transcript.units import Exchange
from legato.wire.arguments import wire_arguments
from legato.wire.gemini.shapes import REACHABLE, media_part, text_part


class GeminiWriter(SessionWriter[Never]):
    """Writes a message a line."""

    def __init__(self, out: Outgoing) -> None:
        super().__init__(out, IdScheme.CALL40, NameRule.GEMINI, REACHABLE.accepts)
        head: JsonObject = {"sessionId": self.session, "projectHash": sha256(self.cwd.encode()).hexdigest()}
        began = iso_time(round(self.context.session.began * 1000))
        self.lines = [msgspec.json.encode({**head, "startTime": began, "lastUpdated": began, "kind": "main"})]

    def data(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    def human(self, blocks: Sequence[PlainSaid]) -> None:
        parts = [media_part(block) if isinstance(block, Media) else text_part(block.text) for block in blocks]
        self._message("user", self.context.stamp(), {"content": parts})

    def answer(self, unit: Exchange, blocks: Sequence[PlainAnswer], outcomes: Sequence[CallOutcome]) -> None:
        now = self.context.stamp()
        message: JsonObject = {"content": "".join(block.text for block in blocks if isinstance(block, Text))}
        message["thoughts"] = [
            {"subject": "", "description": block.text, "timestamp": now}
            for block in blocks
            if isinstance(block, Thinking)
        ]
        if model := model_of(unit.origin):
            message["model"] = model
        calls = [block for block in blocks if isinstance(block, ToolCall)]
        if calls:
            message["toolCalls"] = [
                {
                    "id": outcome.call_id,
                    "name": outcome.name,
                    "args": wire_arguments(call),
                    "status": "error" if outcome.is_error else "success",
                    "timestamp": now,
                    "result": _result(outcome),
                    "resultDisplay": outcome.text,
                }
                for call, outcome in zip(calls, outcomes, strict=True)
            ]
        self._message("gemini", now, message)

    def _message(self, kind: str, now: str, message: JsonObject) -> None:
        own = self.context.unique("message", str(len(self.lines)))
        self.lines.append(msgspec.json.encode({"id": own, "timestamp": now, "type": kind, **message}))


def _result(outcome: CallOutcome) -> list[JsonObject]:
    """What came of a call; media are beside the response, as Gemini CLI has them for every model."""
    response = response_part(outcome.call_id, outcome.name, outcome.text, (), is_error=outcome.is_error)
    return [response, *map(media_part, outcome.media)]
