"""Write a conversation as what `opencode export` prints and `opencode import` takes.

One message for what a person says, one for each answer: its parts, with what came of a call in the call's own part. Ids
are in the order of the conversation, and before all that opencode will give: it asks them what came last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Never

import msgspec

from legato.formats.format import Outgoing
from legato.formats.session_writer import CallOutcome, PlainAnswer, PlainSaid, SessionWriter
from legato.formats.writer_context import address_of, model_of, provider_of
from legato.model import IdScheme, JsonObject, Media, NameRule, Origin, Text, Thinking, ToolCall
from legato.transcript.units import Exchange
from legato.wire.arguments import wire_arguments

VERSION = "1.18.33"
"""the version of opencode whose messages these are"""

_AGENT = "build"
"""the one that opencode begins with"""
_UNNAMED = "unknown"
_TOKENS: JsonObject = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}


class OpencodeWriter(SessionWriter[Never]):
    """Writes the session as one JSON value."""

    def __init__(self, out: Outgoing) -> None:
        super().__init__(out, IdScheme.CALL40, NameRule.OPENAI, _is_held)
        self.messages: list[JsonObject] = []
        self.id = self._id("ses", "session")
        self.asked = self._id("msg", "start")
        """the message that answers belong to"""
        self.model: JsonObject = {"providerID": _UNNAMED, "modelID": _UNNAMED}

    def data(self) -> bytes:
        # Messages of a person name the model that is to answer them.
        for message in self.messages:
            if message["info"]["role"] == "user":
                message["info"]["model"] = self.model
        times = [message["info"]["time"]["created"] for message in self.messages] or [self.context.millis()]
        info: JsonObject = {
            "id": self.id,
            "slug": "imported",
            "projectID": "global",
            "directory": self.cwd,
            "title": self.out.meta.get("title") or "Imported session",
            "version": VERSION,
            "time": {"created": times[0], "updated": times[-1]},
        }
        return msgspec.json.format(msgspec.json.encode({"info": info, "messages": self.messages}), indent=2) + b"\n"

    def human(self, blocks: Sequence[PlainSaid]) -> None:
        self.asked = own = self._id("msg", str(len(self.messages)))
        parts = [self._file(block) if isinstance(block, Media) else _text(block.text) for block in blocks]
        self._message({"id": own, "role": "user", "agent": _AGENT, "time": {"created": self._now()}}, parts)

    def answer(self, unit: Exchange, blocks: Sequence[PlainAnswer], outcomes: Sequence[CallOutcome]) -> None:
        named = _model(unit.origin)
        if named["modelID"] != _UNNAMED:
            self.model = named
        finish = "tool-calls" if outcomes else "stop"
        results = iter(outcomes)
        parts = [self._part(block, results) for block in blocks]
        now = self._now()
        info: JsonObject = {
            "id": self._id("msg", str(len(self.messages))),
            "role": "assistant",
            "parentID": self.asked,
            "mode": _AGENT,
            "agent": _AGENT,
            "path": {"cwd": self.cwd, "root": "/"},
            "cost": 0,
            "tokens": _TOKENS,
            **named,
            "time": {"created": now, "completed": now},
            "finish": finish,
        }
        step: JsonObject = {"type": "step-finish", "reason": finish, "cost": 0, "tokens": _TOKENS}
        self._message(info, [{"type": "step-start"}, *parts, step])

    # --- parts --------------------------------------------------------------------------------------------------------

    def _part(self, block: PlainAnswer, outcomes: Iterator[CallOutcome]) -> JsonObject:
        now = self._now()
        match block:
            case Text():
                return {**_text(block.text), "time": {"start": now, "end": now}}
            case Thinking():
                return {"type": "reasoning", "text": block.text, "time": {"start": now, "end": now}}
            case ToolCall():
                outcome = next(outcomes)
                state = {"input": wire_arguments(block), **self._state(outcome), "time": {"start": now, "end": now}}
                return {"type": "tool", "tool": outcome.name, "callID": outcome.call_id, "state": state}

    def _state(self, outcome: CallOutcome) -> JsonObject:
        """What came of a call. One that failed has no place for media, so with them it counts as completed."""
        if outcome.is_error and not outcome.media:
            return {"status": "error", "error": outcome.text}
        if outcome.is_error:
            self.context.lose("that a call with media in its result failed")
        state: JsonObject = {"status": "completed", "output": outcome.text, "title": "", "metadata": {}}
        if outcome.media:
            files = [self._file(block) for block in outcome.media]
            ids = [self._id("prt", outcome.call_id, str(number)) for number in range(len(files))]
            state["attachments"] = [
                {"id": own, "sessionID": self.id, "messageID": self._id("msg", str(len(self.messages))), **file}
                for own, file in zip(ids, files, strict=True)
            ]
        return state

    def _file(self, block: Media) -> JsonObject:
        part: JsonObject = {"type": "file", "mime": block.mime, "url": address_of(block)}
        return {**part, "filename": block.name} if block.name else part

    def _message(self, info: JsonObject, parts: list[JsonObject]) -> None:
        own = info["id"]
        held = [
            {"id": self._id("prt", own, str(number), order=number), "sessionID": self.id, "messageID": own, **part}
            for number, part in enumerate(parts)
        ]
        self.messages.append({"info": {**info, "sessionID": self.id}, "parts": held})

    def _now(self) -> int:
        return self.context.millis()

    def _id(self, prefix: str, *names: str, order: int | None = None) -> str:
        """An id of opencode's form: twelve digits that say the order, and what makes it differ from others."""
        place = len(self.messages) + 1 if order is None else order
        return f"{prefix}_{place:012x}{self.context.unique(prefix, *names).replace('-', '')[:14]}"


def _is_held(block: Media) -> bool:
    return block.data is not None or (block.url or "").startswith(("https://", "http://"))


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _model(origin: Origin | None) -> JsonObject:
    return {"providerID": provider_of(origin) or _UNNAMED, "modelID": model_of(origin) or _UNNAMED}
