"""Read `wire.jsonl`: the log of Kimi Code, and the older one of Kimi CLI.

Kimi Code logs changes to what the model is told (`context.*`): messages, the parts of each step of the loop, results,
turns that were taken back. It goes on from those alone, so the events beside them (`kind: event`), which say the same
once more, are passed over. Kimi CLI logs what it shows while it works; a call's arguments may arrive in pieces there.
"""

from __future__ import annotations

from legato.formats.blocks import as_json, response, result_content, split_content
from legato.formats.content import Content, Item
from legato.formats.document import Document
from legato.formats.draft import DocumentDraft, keep_known
from legato.formats.fields import (
    as_id,
    as_list,
    as_object,
    as_objects,
    as_seconds,
    as_text,
    as_time,
    as_usage,
    first_text,
)
from legato.formats.kimi_code.memory import KimiCall, KimiMemory, KimiMessage
from legato.formats.origins import home_of, provider_named
from legato.model import Block, Ending, Json, JsonObject, Media, Speaker, Text, Thinking, ToolResponse, ToolSpec, ingest

_ENDINGS = {
    "end_turn": Ending.DONE,
    "tool_use": Ending.CALLS,
    "max_tokens": Ending.LENGTH,
    "truncated": Ending.LENGTH,
    "filtered": Ending.REFUSED,
    "interrupted": Ending.CANCELLED,
    "error": Ending.CUT,
}
_META = {"cwd": "cwd", "profileName": "profile", "app_version": "version"}
_PERSONS = frozenset({"skill_activation", "plugin_command"})
_ADDRESSES = {"imageUrl": "image_url", "audioUrl": "audio_url", "videoUrl": "video_url"}
_ELSEWHERE = ("blobref:", "kimi-file:")
_SHOWN = frozenset(
    {"StatusUpdate", "TurnEnd", "ApprovalRequest", "ApprovalResponse", "ApprovalRequestResolved", "ToolCallRequest",
     "HookTriggered", "HookResolved", "QuestionRequest", "MCPLoadingBegin", "MCPLoadingEnd", "Notification",
     "PlanDisplay", "CompactionBegin", "StepRetry"}
)  # fmt: skip
"""events of Kimi CLI in which nothing is said to or by a model"""


def read(content: Content) -> list[Document]:
    """The conversation as the program would go on with it."""
    reader = _Reader(content.draft())
    for item in content.items("records"):
        reader.take(item)
    reader.memory.speak(reader.draft)
    return content.finish(reader.draft)


class _Reader:
    def __init__(self, draft: DocumentDraft) -> None:
        self.draft = draft
        self.memory = KimiMemory()
        self.steps = 0

    def take(self, item: Item) -> None:
        """Read one line."""
        record = item.value
        kind = as_text(record.get("type"))
        # Kimi CLI counts seconds.
        self.memory.at = as_seconds(record.get("timestamp")) or as_time(record.get("time"))
        if not kind and isinstance(record.get("message"), dict):
            self.shown(as_object(record["message"]), item.place)
        elif record.get("kind") == "event":
            return
        elif kind == "context.append_message":
            self.message(as_object(record.get("message")), item.place)
        elif kind == "context.append_loop_event":
            self.loop(as_object(record.get("event")), item.place)
        elif kind.startswith("context."):
            self.forget(kind, record, item.place)
        else:
            self.about(kind, record, item.place)

    def about(self, kind: str, record: JsonObject, place: str) -> None:
        """What is known beside the conversation."""
        if kind in ("profile.bind", "config.update", "metadata"):
            keep_known(self.draft.meta, record, _META)
            if prompt := as_text(record.get("systemPrompt")):
                self.draft.system = [prompt]
        elif kind == "llm.tools_snapshot":
            self.draft.tools = [_tool(spec) for spec in as_objects(record.get("tools")) if spec.get("name")]
        elif kind == "llm.request":
            model, named = as_text(record.get("model")), provider_named(as_text(record.get("provider")))
            self.memory.ask(home_of(named or "kimi", model), model)
        elif "message" in record or "event" in record:  # as records of the conversation have it; others are its upkeep
            self.draft.unknown(place, f"a record of type {kind!r}")

    # --- Kimi Code ------------------------------------------------------------------------------------------------

    def message(self, message: JsonObject, place: str) -> None:
        role, origin = as_text(message.get("role")), as_object(message.get("origin"))
        if role == "tool":
            self.memory.result(_tool_message(message), place)
            return
        if role == "assistant":
            step = self.memory.step(as_id(message.get("id")), place)
            step.blocks += self._blocks(message.get("content"), place)
            for call in as_objects(message.get("toolCalls")):
                self.memory.call(_call(call), step.key, place)
            return
        is_reminder = origin.get("kind") == "injection"
        said = KimiMessage(
            place,
            Speaker.HUMAN,
            [*self._blocks(message.get("content"), place)],
            key=as_id(message.get("id")),
            is_prompt=_is_prompt(origin),
            is_reminder=is_reminder,
            owner=as_id(origin.get("ownerPromptId")),
        )
        self.memory.say(said)

    def loop(self, event: JsonObject, place: str) -> None:
        """One event of the loop in which the model is asked and its calls are run."""
        step = as_id(event.get("stepUuid"))
        match event.get("type"):
            case "step.begin":
                self.memory.step(as_id(event.get("uuid")), place)
            case "content.part":
                self.memory.answer(step, place).blocks += self._blocks([event.get("part")], place)
            case "tool.call":
                arguments = _arguments(event.get("args"))
                self.memory.call(
                    KimiCall(as_text(event.get("name")), as_id(event.get("toolCallId")), arguments), step, place
                )
            case "tool.result":
                self.memory.result(_result(as_object(event.get("result")), as_id(event.get("toolCallId"))), place)
            case "step.end":
                counts = as_object(event.get("usage"))
                usage = as_usage(counts, "inputOther", "output", "inputCacheRead", "inputCacheCreation")
                self.memory.end(_ENDINGS.get(as_text(event.get("finishReason"))), usage if counts else None)
            case kind:
                self.draft.unknown(place, f"an event of type {kind!r}")

    def forget(self, kind: str, record: JsonObject, place: str) -> None:
        if kind == "context.apply_compaction":
            summary: Json = record.get("contextSummary") or record.get("summary")
            text = summary if isinstance(summary, str) else _text(as_object(summary).get("content"))
            count = record.get("compactedCount", record.get("count"))
            # Newer versions keep some words of the person instead of the last messages.
            replaced = count if isinstance(count, int) and "keptUserMessageCount" not in record else None
            self.memory.compact(text, replaced, place)
            return
        count = record.get("count")
        gone = 0
        if kind == "context.clear":
            gone = self.memory.clear()
        elif kind == "context.undo":
            gone = self.memory.take_back(count if isinstance(count, int) else 1)
        if gone:
            self.draft.note(place, f"{gone} messages were taken back here and are not carried")

    # --- Kimi CLI -------------------------------------------------------------------------------------------------

    def shown(self, event: JsonObject, place: str) -> None:
        """One event of the older log."""
        kind, payload = as_text(event.get("type")), as_object(event.get("payload"))
        match kind:
            case "TurnBegin" | "SteerInput":
                said = self._blocks(payload.get("user_input"), place)
                self.memory.say(KimiMessage(place, Speaker.HUMAN, [*said], is_prompt=kind == "TurnBegin"))
            case "StepBegin":
                self.steps += 1
                self.memory.step(f"step-{self.steps}", place)
            case "ContentPart":
                self.memory.answer("", place).blocks += self._blocks([payload], place)
            case "ToolCall":
                self.memory.call(_call(payload), "", place)
            case "ToolCallPart":
                if not self.memory.more_arguments(as_text(payload.get("arguments_part"))):
                    self.draft.note(place, "a piece of arguments without a call; it was left out")
            case "ToolResult":
                self.memory.result(
                    _result(as_object(payload.get("return_value")), as_id(payload.get("tool_call_id"))), place
                )
            case "StepInterrupted":
                self.memory.end(Ending.CANCELLED)
            case "SubagentEvent":
                self.draft.skip(place, "events of subagents belong to conversations of their own")
            case "CompactionEnd":
                self.draft.note(place, "a summary that is not in this file replaced what comes before", is_carried=True)
            case _ if kind not in _SHOWN:
                self.draft.skip(place, f"an event of type {kind!r} is not part of the conversation")
            case _:
                pass

    # --- parts --------------------------------------------------------------------------------------------------------

    def _blocks(self, content: Json, place: str) -> list[Block]:
        blocks: list[Block] = []
        for index, item in enumerate([content] if isinstance(content, str | dict) else as_list(content)):
            part = _with_address(as_object(item)) if isinstance(item, dict) else {"type": "text", "text": item}
            if part.get("type") == "think":
                blocks += self._thought(part)
                continue
            read, unknown = split_content([part])
            blocks += [self._held(block, place) for block in read]
            self.draft.note_unknown([(index, other) for _, other in unknown], place)
        return blocks

    def _thought(self, part: JsonObject) -> list[Block]:
        text, sealed = as_text(part.get("think")), as_text(part.get("encrypted"))
        native = {"signature": sealed} if sealed and self.memory.provider == "anthropic" else None
        return [Thinking(text, native=native)] if text or native else []

    def _held(self, block: Block, place: str) -> Block:
        if isinstance(block, Media) and (block.url or "").startswith(_ELSEWHERE):
            self.draft.note(place, "an attachment that is kept in another file; its name stands in its place")
            return Text(f"[{block.kind}: {block.name or block.url}]")
        return block


def _is_prompt(origin: JsonObject) -> bool:
    """Whether a message is one of those by which turns are counted."""
    kind = as_text(origin.get("kind"))
    if origin.get("inTurn") is True:
        return False
    return kind in ("", "user") or (kind in _PERSONS and origin.get("trigger") == "user-slash")


def _with_address(part: JsonObject) -> JsonObject:
    """A part with the address of its media where everybody else has it."""
    return {_ADDRESSES.get(name, name): value for name, value in part.items()}


def _arguments(value: Json) -> JsonObject | str | None:
    return value if isinstance(value, str) else as_object(value)


def _call(source: JsonObject) -> KimiCall:
    function = as_object(source.get("function"))
    arguments: Json = source.get("arguments", function.get("arguments"))
    name = first_text(source, "name") or first_text(function, "name")
    # Arguments that have not begun yet come in pieces.
    return KimiCall(name, as_id(source.get("id")), "" if arguments is None else _arguments(arguments))


def _result(value: JsonObject, wire_id: str) -> ToolResponse:
    """What a tool returned, with what the program says about it to the model."""
    is_error = value.get("isError") is True or value.get("is_error") is True
    output, media = result_content(_addressed(value.get("output")))
    said = as_text(value.get("note")) or (as_text(value.get("message")) if is_error or not output else "")
    if said:
        text = output if isinstance(output, str) else "" if output is None else as_json(output)
        output = "\n".join(filter(None, [text, said]))
    return response(wire_id, "", output, is_error=is_error, media=media)


def _tool_message(message: JsonObject) -> ToolResponse:
    held: JsonObject = {
        "output": message.get("content"),
        "isError": message.get("isError"),
        "note": message.get("note"),
    }
    return _result(held, as_id(message.get("toolCallId")))


def _addressed(output: Json) -> Json:
    if not isinstance(output, list):
        return output
    return [_with_address(as_object(item)) if isinstance(item, dict) else item for item in as_list(output)]


def _text(content: Json) -> str:
    return "\n".join(as_text(part.get("text")) for part in as_objects(content))


def _tool(spec: JsonObject) -> ToolSpec:
    schema = as_object(spec.get("parameters")) or as_object(spec.get("inputSchema"))
    name, described = as_text(spec.get("name")), as_text(spec.get("description"))
    return ToolSpec(name, described, ingest(schema)) if schema else ToolSpec(name, described)
