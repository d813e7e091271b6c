"""Write a conversation as a Claude Code session.

One record an answer, one for all of its results, one for what a human says, each the child of the one before. The ids
are made of the conversation itself, so the same one gives the same file. What such a session has no place for (system
prompt, tool definitions, thoughts of other models) is listed.
"""

from __future__ import annotations

import msgspec

from legato.formats.format import Outgoing, Placement, Written, WrittenSession, project_folder, resume_in
from legato.formats.writer_context import Covering, WriterContext, media_words, model_of
from legato.model import (
    Authority,
    Code,
    HostedTool,
    IdScheme,
    Json,
    JsonObject,
    Media,
    NameRule,
    Text,
    Thinking,
    ToolCall,
)
from legato.model.targets import Dialect
from legato.request.catalogue import resolve
from legato.transcript.units import AnswerBlock, Completion, Exchange, Said, Summary, completion_text
from legato.wire.anthropic.encode import grammar
from legato.wire.anthropic.shapes import media_block
from legato.wire.arguments import wire_arguments
from legato.wire.phrases import INSTRUCTION_MARK, SUMMARY_MARK
from legato.wire.text_forms import fenced, hosted_text

VERSION = "2.0.0"
"""the version of Claude Code whose records these are"""


def write_session(out: Outgoing) -> Written:
    """The session, and what it does not hold."""
    return _Writer(out).write()


def place_session(session: WrittenSession) -> Placement:
    """Where Claude Code looks for a session: in the folder of its project, which is named after the path of that."""
    return Placement(f"{project_folder(session.cwd)}/{session.id}.jsonl", resume_in(session, "claude --resume"))


class _Writer:
    def __init__(self, out: Outgoing) -> None:
        self.out = out
        self.context = WriterContext(out, IdScheme.TOOLU, NameRule.ANTHROPIC)
        self.grammar = grammar(resolve("anthropic/claude-sonnet-4-5"))
        self.lines: list[bytes] = []
        self.parent: str | None = None

    def write(self) -> Written:
        for unit in self.context.steps():
            match unit:
                case Covering():
                    self.compaction(unit.text)
                case Said():
                    self.said(unit)
                case Summary():
                    self.user(SUMMARY_MARK + unit.text)
                case Exchange():
                    self.exchange(unit)
        if self.out.talk.instructions:
            self.context.lose("the system prompt")
        self.context.lose_tools()
        data = b"".join(line + b"\n" for line in self.lines)
        return Written(data, self.context.losses(), session=self.context.session)

    def record(self, kind: str, fields: JsonObject) -> None:
        own = self.context.unique("record", str(len(self.lines)))
        record: JsonObject = {
            "parentUuid": self.parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": self.context.session.cwd,
            "sessionId": self.context.session.id,
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

    def said(self, unit: Said) -> None:
        blocks: list[JsonObject] = []
        for block in unit.blocks:
            if isinstance(block, Media):
                blocks.append(self.media(block))
            else:
                blocks.append({"type": "text", "text": block.text if isinstance(block, Text) else fenced(block)})
        if unit.authority is Authority.INSTRUCTION:
            self.context.lose("the authority of an instruction in the middle; it stands there as marked text")
            blocks.insert(0, {"type": "text", "text": INSTRUCTION_MARK.strip()})
        if len(blocks) == 1 and blocks[0]["type"] == "text":
            self.user(blocks[0]["text"])
        else:
            self.user(blocks)

    def media(self, block: Media) -> JsonObject:
        if not self.grammar.accepts(block):
            self.context.lose(f"a medium of type {block.mime}")
            return {"type": "text", "text": media_words(block)}
        return media_block(block)

    def exchange(self, unit: Exchange) -> None:
        is_home = unit.origin is not None and unit.origin.dialect == Dialect.ANTHROPIC
        content = [printed for block in unit.blocks for printed in self.answer_block(block, is_home=is_home)]
        calls = unit.calls
        if content:
            message: JsonObject = {
                "id": f"msg_{self.context.unique('answer', str(len(self.lines))).replace('-', '')[:24]}",
                "type": "message",
                "role": "assistant",
                "model": model_of(unit.origin) or "unknown",
                "content": content,
                "stop_reason": "tool_use" if calls else "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": 0, "output_tokens": 0},
            }
            self.record("assistant", {"message": message})
        if calls:
            self.user([self.result(completion) for completion in unit.completions])

    def result(self, completion: Completion) -> JsonObject:
        text = completion_text(completion)
        media = [self.media(block) for block in completion.media] if completion.shortened is None else []
        content: Json = text
        if media:
            content = [{"type": "text", "text": text}, *media] if text else media
        block: JsonObject = {
            "type": "tool_result",
            "tool_use_id": self.context.ids[completion.call_id],
            "content": content,
        }
        return {**block, "is_error": True} if completion.is_error else block

    def answer_block(self, block: AnswerBlock, *, is_home: bool) -> list[JsonObject]:
        match block:
            case ToolCall():
                name, wire_id = self.context.tool(block.name, block.namespace), self.context.ids[block.id]
                return [{"type": "tool_use", "id": wire_id, "name": name, "input": wire_arguments(block)}]
            case Text():
                citations = (block.native or {}).get("citations") if is_home else None
                printed: JsonObject = {"type": "text", "text": block.text}
                return [{**printed, "citations": citations} if citations else printed]
            case Thinking():
                thought = _thought(block) if is_home else None
                if thought is None:
                    self.context.lose("a thought that is not signed by an Anthropic model")
                return [] if thought is None else [thought]
            case HostedTool():
                own: list[JsonObject] = (block.native or {}).get("blocks") or [] if is_home else []
                if len(own) > 1:  # the use and its result
                    return own
                if block.silent:
                    self.context.lose(f"a record that another provider keeps for itself ({block.name})")
                    return []
                self.context.lose(f"the form of a call to {block.name}, run by its provider; it stands as text")
                return [{"type": "text", "text": hosted_text(block)}]
            case Media():
                self.context.lose(f"a medium of type {block.mime} in an answer")
                return [{"type": "text", "text": media_words(block)}]
            case Code():
                return [{"type": "text", "text": fenced(block)}]


def _thought(block: Thinking) -> JsonObject | None:
    native = block.native or {}
    if data := native.get("data"):
        return {"type": "redacted_thinking", "data": data}
    if signature := native.get("signature"):
        return {"type": "thinking", "thinking": block.text, "signature": signature}
    return None
