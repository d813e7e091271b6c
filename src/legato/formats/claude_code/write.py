"""Write a conversation as a Claude Code session.

One record an answer, one for all of its results, one for what a human says, each the child of the one before. The ids
are made of the conversation itself, so the same one gives the same file. What such a session has no place for (system
prompt, tool definitions, thoughts of other models) is listed.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from legato.formats.format import Outgoing, Placement, Written, WrittenSession, project_folder, resume_in
from legato.formats.session_writer import CallOutcome, OwnParts, PlainAnswer, PlainSaid, SessionWriter
from legato.formats.writer_context import model_of
from legato.model import HostedTool, IdScheme, Json, JsonObject, Media, NameRule, Origin, Text, Thinking, ToolCall
from legato.model.targets import Dialect
from legato.request.catalogue import resolve
from legato.transcript.units import AnswerBlock, Exchange
from legato.wire.anthropic.encode import grammar
from legato.wire.anthropic.shapes import media_block
from legato.wire.arguments import wire_arguments

VERSION = "2.0.0"
"""the version of Claude Code whose records these are"""


def write_session(out: Outgoing) -> Written:
    """The session, and what it does not hold."""
    return _Writer(out).write()


def place_session(session: WrittenSession) -> Placement:
    """Where Claude Code looks for a session: in the folder of its project, which is named after the path of that."""
    return Placement(f"{project_folder(session.cwd)}/{session.id}.jsonl", resume_in(session, "claude --resume"))


class _Writer(SessionWriter[OwnParts]):
    def __init__(self, out: Outgoing) -> None:
        accepts = grammar(resolve("anthropic/claude-sonnet-4-5")).accepts
        super().__init__(out, IdScheme.TOOLU, NameRule.ANTHROPIC, accepts)
        self.lines: list[bytes] = []
        self.parent: str | None = None

    def data(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    def record(self, kind: str, fields: JsonObject) -> None:
        own = self.context.unique("record", str(len(self.lines)))
        record: JsonObject = {
            "parentUuid": self.parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": self.cwd,
            "sessionId": self.session,
            "version": VERSION,
            "gitBranch": self.out.meta.get("branch", ""),
            "type": kind,
            **fields,
            "uuid": own,
            "timestamp": self.context.stamp(),
        }
        self.lines.append(msgspec.json.encode(record))
        self.parent = own

    def compaction(self, summary: str) -> None:
        """A boundary, behind which the chain begins anew, and what stands for all before it."""
        before, self.parent = self.parent, None
        self.record(
            "system",
            {
                "subtype": "compact_boundary",
                "content": "Conversation compacted",
                "isMeta": False,
                "level": "info",
                "logicalParentUuid": before,
                "compactMetadata": {"trigger": "auto", "preTokens": 0},
            },
        )
        message: JsonObject = {"role": "user", "content": summary}
        self.record("user", {"message": message, "isCompactSummary": True, "isVisibleInTranscriptOnly": True})

    def user(self, content: Json) -> None:
        self.record("user", {"message": {"role": "user", "content": content}})

    def human(self, blocks: Sequence[PlainSaid]) -> None:
        match blocks:
            case [Text(text=text)]:
                self.user(text)
            case _:
                self.user(list(map(_said, blocks)))

    def answer(self, unit: Exchange, blocks: Sequence[PlainAnswer | OwnParts], outcomes: Sequence[CallOutcome]) -> None:
        message: JsonObject = {
            "id": f"msg_{self.context.unique('answer', str(len(self.lines))).replace('-', '')[:24]}",
            "type": "message",
            "role": "assistant",
            "model": model_of(unit.origin) or "unknown",
            "content": [part for block in blocks for part in self.parts(block)],
            "stop_reason": "tool_use" if outcomes else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
        self.record("assistant", {"message": message})
        if outcomes:
            self.user(list(map(_result, outcomes)))

    def parts(self, block: PlainAnswer | OwnParts) -> list[JsonObject]:
        match block:
            case OwnParts():
                return block.parts
            case ToolCall():
                name, wire_id = self.name(block), self.call_id(block)
                return [{"type": "tool_use", "id": wire_id, "name": name, "input": wire_arguments(block)}]
            case Text():
                return [_text(block.text)]
            case Thinking():
                return []  # those that are kept have a form of their own

    def own(self, block: AnswerBlock, origin: Origin | None) -> OwnParts | None:
        native = block.native or {}
        if origin is None or origin.dialect != Dialect.ANTHROPIC:
            return None
        match block:
            case Text() if citations := native.get("citations"):
                return OwnParts([{**_text(block.text), "citations": citations}])
            case Thinking() if thought := _thought(block):
                return OwnParts([thought])
            case HostedTool() if len(native.get("blocks") or []) > 1:  # the use and its result
                return OwnParts(native["blocks"])
            case _:
                return None

    def thought(self, block: Thinking) -> None:
        self.context.lose("a thought that is not signed by an Anthropic model")


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _said(block: PlainSaid) -> JsonObject:
    return media_block(block) if isinstance(block, Media) else _text(block.text)


def _result(outcome: CallOutcome) -> JsonObject:
    content: Json = outcome.text
    if outcome.media:
        content = [*([_text(outcome.text)] if outcome.text else []), *map(media_block, outcome.media)]
    block: JsonObject = {"type": "tool_result", "tool_use_id": outcome.call_id, "content": content}
    return {**block, "is_error": True} if outcome.is_error else block


def _thought(block: Thinking) -> JsonObject | None:
    native = block.native or {}
    if data := native.get("data"):
        return {"type": "redacted_thinking", "data": data}
    if signature := native.get("signature"):
        return {"type": "thinking", "thinking": block.text, "signature": signature}
    return None
