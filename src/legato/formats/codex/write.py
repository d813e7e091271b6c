"""Write a conversation as a Codex rollout.

A header, the model of each run of answers, and an item a line; beside every message the event that shows it on the
screen, without which the program lists no session. What a rollout has no place for is listed.
"""

from __future__ import annotations

import time

import msgspec

from legato.formats.fields import as_object
from legato.formats.format import Outgoing, Placement, Written, WrittenSession, resume_in
from legato.formats.writer_context import Covering, WriterContext, iso_time, media_words, model_of
from legato.model import (
    Authority,
    CallKind,
    Code,
    HostedTool,
    IdScheme,
    JsonObject,
    Media,
    MediaKind,
    NameRule,
    Text,
    Thinking,
    ToolCall,
)
from legato.model.targets import Dialect
from legato.request.catalogue import resolve
from legato.transcript.units import AnswerBlock, Completion, CompletionKind, Exchange, Said, Summary, completion_text
from legato.wire.arguments import wire_arguments_text
from legato.wire.openai_responses.encode import grammar
from legato.wire.openai_responses.shapes import media_part, text_part
from legato.wire.phrases import ERROR_MARK, SUMMARY_MARK
from legato.wire.text_forms import fenced, hosted_text

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


class _Writer:
    def __init__(self, out: Outgoing) -> None:
        self.out = out
        self.context = WriterContext(out, IdScheme.CALL64, NameRule.OPENAI)
        self.grammar = grammar(resolve("openai-responses/gpt-5.1"))
        self.model = ""
        self.lines: list[bytes] = []

    def write(self) -> Written:
        self.header()
        for unit in self.context.steps():
            match unit:
                case Covering():
                    self.compaction(unit.text)
                case Said():
                    self.said(unit)
                case Summary():
                    self.message("user", [text_part(SUMMARY_MARK + unit.text)])
                case Exchange():
                    self.exchange(unit)
        self.context.lose_tools()
        data = b"".join(line + b"\n" for line in self.lines)
        return Written(data, self.context.losses(), session=self.context.session)

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
            "id": self.context.session.id,
            "timestamp": iso_time(round(self.context.session.began * 1000)),
            "cwd": self.context.session.cwd,
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
                    "cwd": self.context.session.cwd,
                    "approval_policy": "on-request",
                    "sandbox_policy": {"type": "read-only"},
                    "model": model,
                    "summary": "auto",
                },
            )

    def message(self, role: str, content: list[JsonObject]) -> None:
        self.item({"type": "message", "role": role, "content": content})

    def said(self, unit: Said) -> None:
        parts: list[JsonObject] = []
        for block in unit.blocks:
            if isinstance(block, Media):
                parts.append(self.media(block))
            else:
                parts.append(text_part(block.text if isinstance(block, Text) else fenced(block)))
        if unit.authority is Authority.INSTRUCTION:
            self.message("developer", parts)
            return
        self.message("user", parts)
        text = "\n".join(part["text"] for part in parts if part["type"] == "input_text")
        self.line("event_msg", {"type": "user_message", "message": text, "images": []})

    def media(self, block: Media) -> JsonObject:
        if block.kind is not MediaKind.IMAGE or not self.grammar.accepts(block):
            self.context.lose(f"a medium of type {block.mime}")
            return text_part(media_words(block))
        return {"type": "input_image", "image_url": media_part(block)["image_url"]}

    def exchange(self, unit: Exchange) -> None:
        self.turn_context(model_of(unit.origin))
        is_home = unit.origin is not None and unit.origin.dialect == Dialect.OPENAI_RESPONSES
        for block in unit.blocks:
            self.answer_block(block, is_home=is_home)
        for call, completion in zip(unit.calls, unit.completions, strict=True):
            self.output(call, completion)

    def answer_block(self, block: AnswerBlock, *, is_home: bool) -> None:
        native = as_object((block.native or {}).get("item")) if is_home else {}
        match block:
            case ToolCall():
                self.call(block)
            case Text():
                self.assistant(block.text)
            case Code():
                self.assistant(fenced(block))
            case Thinking() if native:
                self.item(native)
            case Thinking():
                self.context.lose("a thought that is not an encrypted item of the Responses API")
            case HostedTool() if native:
                self.item(native)
            case HostedTool() if block.silent:
                self.context.lose(f"a record that another provider keeps for itself ({block.name})")
            case HostedTool():
                self.context.lose(f"the form of a call to {block.name}, run by its provider; it stands as text")
                self.assistant(hosted_text(block))
            case Media():
                self.context.lose(f"a medium of type {block.mime} in an answer")
                self.assistant(media_words(block))

    def assistant(self, text: str) -> None:
        self.message("assistant", [{"type": "output_text", "text": text}])
        self.line("event_msg", {"type": "agent_message", "message": text})

    def call(self, call: ToolCall) -> None:
        name, call_id = self.context.tool(call.name), self.context.ids[call.id]
        space = {"namespace": call.namespace} if call.namespace else {}
        if call.kind is CallKind.CUSTOM and call.raw is None:
            source = call.arguments.get("input", "")
            self.item({"type": "custom_tool_call", "call_id": call_id, "name": name, "input": source, **space})
        else:
            arguments = wire_arguments_text(call)
            self.item({"type": "function_call", "name": name, "arguments": arguments, "call_id": call_id, **space})

    def output(self, call: ToolCall, completion: Completion) -> None:
        text = completion_text(completion)
        if completion.kind is CompletionKind.ERROR:
            text = ERROR_MARK + text
        is_custom = call.kind is CallKind.CUSTOM and call.raw is None
        kind = "custom_tool_call_output" if is_custom else "function_call_output"
        media = [self.media(block) for block in completion.media] if completion.shortened is None else []
        output = [text_part(text), *media] if media else text
        self.item({"type": kind, "call_id": self.context.ids[call.id], "output": output})
