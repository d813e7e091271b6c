"""Write a conversation as the `wire.jsonl` of a Kimi Code session.

A prompt begins a turn and is a message; an answer is a step of the loop, with a record for each part, call and result.
Kimi Code finds the file in the folder of an agent (`agents/main`) of a session, which has a `state.json` about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Never

import msgspec

from legato.formats.format import Outgoing
from legato.formats.session_writer import CallOutcome, PlainAnswer, PlainSaid, SessionWriter
from legato.formats.writer_context import address_of, model_of, provider_of
from legato.model import IdScheme, JsonObject, Media, MediaKind, NameRule, Text, Thinking, ToolCall
from legato.transcript.units import Exchange
from legato.wire.arguments import wire_arguments

PROTOCOL = "1.5"
"""the version of the protocol that these records are in"""

_AGENT = "main"
_ADDRESSES = {MediaKind.IMAGE: "image", MediaKind.AUDIO: "audio", MediaKind.VIDEO: "video"}


class KimiWriter(SessionWriter[Never]):
    """Writes a record a line."""

    def __init__(self, out: Outgoing) -> None:
        super().__init__(out, IdScheme.CALL40, NameRule.KIMI, _is_held)
        first = {"type": "metadata", "protocol_version": PROTOCOL, "created_at": self.context.millis()}
        self.lines = [msgspec.json.encode(first)]
        self.turns = self.steps = self.messages = 0

    def data(self) -> bytes:
        self._end_turn()
        return b"".join(line + b"\n" for line in self.lines)

    def human(self, blocks: Sequence[PlainSaid]) -> None:
        self._end_turn()
        self.turns, self.steps = self.turns + 1, 0
        own = f"msg_{self.context.unique('prompt', str(self.turns)).replace('-', '')[:26]}"
        content = list(map(_part, blocks))
        origin: JsonObject = {"kind": "user"}
        self._record("turn.prompt", input=content, origin=origin, promptId=own, turnId=self.turns - 1)
        message: JsonObject = {"role": "user", "content": content, "id": own, "toolCalls": [], "origin": origin}
        self._record("context.append_message", message=message)
        self.messages += 1

    def answer(self, unit: Exchange, blocks: Sequence[PlainAnswer], outcomes: Sequence[CallOutcome]) -> None:
        self.steps += 1
        step = self.context.unique("step", str(len(self.lines)))
        at: JsonObject = {"turnId": str(max(0, self.turns - 1)), "step": self.steps}
        self._event("step.begin", uuid=step, **at)
        if model := model_of(unit.origin):
            asked: JsonObject = {"provider": provider_of(unit.origin), "model": model, "messageCount": 0}
            self._record("llm.request", kind="loop", **asked, toolSelect=False, systemPromptHash="", toolsHash="")
        at["stepUuid"] = step
        for number, block in enumerate(blocks):
            own = self.context.unique("part", step, str(number))
            if isinstance(block, ToolCall):
                call: JsonObject = {"toolCallId": self.call_id(block), "name": self.name(block)}
                self._event("tool.call", uuid=own, **at, **call, args=wire_arguments(block))
            else:
                self._event("content.part", uuid=own, **at, part=_answer_part(block))
        for outcome in outcomes:
            self._event("tool.result", toolCallId=outcome.call_id, result=_result(outcome))
        self.messages += 1 + len(outcomes)
        reason = "tool_use" if outcomes else "end_turn"
        self._event("step.end", uuid=step, turnId=at["turnId"], step=self.steps, finishReason=reason)

    def compaction(self, summary: str) -> None:
        self._record("context.apply_compaction", summary=summary, contextSummary=summary, compactedCount=self.messages)

    def _end_turn(self) -> None:
        if self.turns and self.steps:
            self._record("turn.ended", turnId=self.turns - 1, reason="completed")

    def _event(self, kind: str, **event: object) -> None:
        self._record("context.append_loop_event", event={"type": kind, **event})

    def _record(self, type_: str, **fields: object) -> None:
        record: JsonObject = {"type": type_, "agentId": _AGENT, **fields, "time": self.context.millis()}
        self.lines.append(msgspec.json.encode(record))


def _is_held(block: Media) -> bool:
    return block.kind in _ADDRESSES


def _part(block: PlainSaid) -> JsonObject:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    family = _ADDRESSES[block.kind]
    return {"type": f"{family}_url", f"{family}Url": {"url": address_of(block)}}


def _answer_part(block: Text | Thinking) -> JsonObject:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    signature = (block.native or {}).get("signature")
    thought: JsonObject = {"type": "think", "think": block.text}
    return {**thought, "encrypted": signature} if signature else thought


def _result(outcome: CallOutcome) -> JsonObject:
    output = [_part(block) for block in (Text(outcome.text), *outcome.media)] if outcome.media else outcome.text
    return {"output": output, "isError": True} if outcome.is_error else {"output": output}
