"""Write a conversation as a Codex rollout.

A header, the model of each run of answers, and an item a line; beside every message the event that shows it on the
screen, without which the program lists no session. What a rollout has no place for is listed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from legato.formats.fields import as_object
from legato.formats.format import Outgoing, Placement, Written, WrittenSession, resume_in
from legato.formats.session_writer import CallOutcome, OwnParts, PlainAnswer, PlainSaid, SessionWriter
from legato.formats.writer_context import iso_time, model_of
from legato.model import (
    CallKind,
    HostedTool,
    IdScheme,
    JsonObject,
    Media,
    MediaKind,
    NameRule,
    Origin,
    Text,
    Thinking,
    ToolCall,
)
from legato.model.targets import Dialect
from legato.request.catalogue import resolve
from legato.transcript.units import AnswerBlock, CompletionKind, Exchange
from legato.wire.arguments import wire_arguments_text
from legato.wire.openai_responses.encode import grammar
from legato.wire.openai_responses.shapes import media_part, text_part
from legato.wire.phrases import ERROR_MARK

VERSION = "0.50.0"
"""the version of Codex whose lines these are"""


def write_session(out: Outgoing) -> Written:
    """The rollout, and what it does not hold."""
    return _Writer(out).write()


def place_session(session: WrittenSession) -> Placement:
    """Where Codex looks for a session: in the folder of its day."""
    began = time.gmtime(session.began)
    name = f"rollout-{time.strftime('%Y-%m-%dT%H-%M-%S', began)}-{session.id}.jsonl"
    return Placement(f"{time.strftime('%Y/%m/%d', began)}/{name}", resume_in(session, "codex resume"))


class _Writer(SessionWriter[OwnParts]):
    def __init__(self, out: Outgoing) -> None:
        takes = grammar(resolve("openai-responses/gpt-5.1"))
        super().__init__(
            out,
            IdScheme.CALL64,
            NameRule.OPENAI,
            lambda block: block.kind is MediaKind.IMAGE and takes.accepts(block),
        )
        self.model = ""
        self.lines: list[bytes] = []
        self.header()

    def data(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    def lose_surroundings(self) -> None:
        self.context.lose_tools()  # the system prompt is in the header

    def line(self, kind: str, payload: JsonObject) -> None:
        self.lines.append(msgspec.json.encode({"timestamp": self.context.stamp(), "type": kind, "payload": payload}))

    def compaction(self, summary: str) -> None:
        """What stands for all before it when the session goes on."""
        history: list[JsonObject] = [{"type": "message", "role": "user", "content": [text_part(summary)]}]
        self.line("compacted", {"message": summary, "replacement_history": history})

    def item(self, payload: JsonObject) -> None:
        self.line("response_item", payload)

    def header(self) -> None:
        # No `model_provider`: Codex goes on only with sessions of the provider that it is set to, whoever that is.
        meta: JsonObject = {
            "id": self.session,
            "timestamp": iso_time(round(self.context.session.began * 1000)),
            "cwd": self.cwd,
            "originator": "codex_cli_rs",
            "cli_version": VERSION,
            "source": "cli",
        }
        if self.out.talk.instructions:
            meta["base_instructions"] = {"text": self.out.talk.instructions}
        self.line("session_meta", meta)

    def turn_context(self, model: str) -> None:
        if model and model != self.model:
            self.model = model
            self.line(
                "turn_context",
                {
                    "cwd": self.cwd,
                    "approval_policy": "on-request",
                    "sandbox_policy": {"type": "read-only"},
                    "model": model,
                    "summary": "auto",
                },
            )

    def message(self, role: str, content: list[JsonObject]) -> None:
        self.item({"type": "message", "role": role, "content": content})

    def human(self, blocks: Sequence[PlainSaid]) -> None:
        self.message("user", list(map(_said, blocks)))
        text = "\n".join(block.text for block in blocks if isinstance(block, Text))
        self.line("event_msg", {"type": "user_message", "message": text, "images": []})

    def instruction(self, blocks: Sequence[PlainSaid]) -> None:
        self.message("developer", list(map(_said, blocks)))

    def name(self, call: ToolCall) -> str:
        return self.context.tool(call.name)  # its namespace is a field of the call

    def answer(self, unit: Exchange, blocks: Sequence[PlainAnswer | OwnParts], outcomes: Sequence[CallOutcome]) -> None:
        self.turn_context(model_of(unit.origin))
        for block in blocks:
            match block:
                case OwnParts(items):
                    for item in items:
                        self.item(item)
                case ToolCall():
                    self.call(block)
                case Text():
                    self.assistant(block.text)
                case Thinking():
                    pass  # those that are kept are items of their own
        for outcome in outcomes:
            self.output(outcome)

    def own(self, block: AnswerBlock, origin: Origin | None) -> OwnParts | None:
        is_home = origin is not None and origin.dialect == Dialect.OPENAI_RESPONSES
        item = as_object((block.native or {}).get("item")) if is_home else {}
        return OwnParts([item]) if item and isinstance(block, Thinking | HostedTool) else None

    def thought(self, block: Thinking) -> None:
        self.context.lose("a thought that is not an encrypted item of the Responses API")

    def assistant(self, text: str) -> None:
        self.message("assistant", [{"type": "output_text", "text": text}])
        self.line("event_msg", {"type": "agent_message", "message": text})

    def call(self, call: ToolCall) -> None:
        name, call_id = self.name(call), self.call_id(call)
        space = {"namespace": call.namespace} if call.namespace else {}
        if _is_custom(call):
            source = call.arguments.get("input", "")
            self.item({"type": "custom_tool_call", "call_id": call_id, "name": name, "input": source, **space})
        else:
            arguments = wire_arguments_text(call)
            self.item({"type": "function_call", "name": name, "arguments": arguments, "call_id": call_id, **space})

    def output(self, outcome: CallOutcome) -> None:
        text = ERROR_MARK + outcome.text if outcome.completion.kind is CompletionKind.ERROR else outcome.text
        kind = "custom_tool_call_output" if _is_custom(outcome.call) else "function_call_output"
        output = [text_part(text), *map(_said, outcome.media)] if outcome.media else text
        self.item({"type": kind, "call_id": outcome.call_id, "output": output})


def _is_custom(call: ToolCall) -> bool:
    return call.kind is CallKind.CUSTOM and call.raw is None


def _said(block: PlainSaid) -> JsonObject:
    if isinstance(block, Media):
        return {"type": "input_image", "image_url": media_part(block)["image_url"]}
    return text_part(block.text)
