"""Read Codex rollouts: JSONL under `~/.codex/sessions`.

`response_item` lines hold what was said, as items of the Responses API; `event_msg` lines are for the screen and repeat
it. `turn_context` names the model, `session_meta` the provider and the base instructions, and `compacted` what replaced
everything before it. There is no mark of where an answer begins, so items of the model that follow each other are one.
Older rollouts have the items without an envelope.
"""

from __future__ import annotations

from itertools import groupby

from legato.formats.blocks import response, result_content, split_content
from legato.formats.content import Content, Item
from legato.formats.document import CompactionMark, Document
from legato.formats.draft import DocumentDraft, keep_known
from legato.formats.fields import as_list, as_object, as_objects, as_text, as_time, first_id, first_text
from legato.formats.origins import home_of, origin_of, provider_named, route_of
from legato.model import (
    Authority,
    Block,
    Ending,
    Json,
    JsonObject,
    Media,
    Speaker,
    Text,
    ToolCall,
    ToolResponse,
    ToolSpec,
    Usage,
    ingest,
)
from legato.model.json_access import as_count
from legato.wire.arguments import read_arguments
from legato.wire.openai_responses.reading import blocks_of
from legato.wire.phrases import ERROR_MARK

_USUAL = "openai-responses"
_META = {"id": "session", "cwd": "cwd", "cli_version": "version", "originator": "originator"}
_OUTPUTS = frozenset(
    {"function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_result", "function_result",
     "tool_search_output", "shell_call_output", "apply_patch_call_output"}
)  # fmt: skip
_MODEL_ITEMS = frozenset(
    {"reasoning", "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call",
     "image_generation_call", "shell_call", "apply_patch_call", "mcp_call", "tool_call", "code_interpreter_call"}
)  # fmt: skip
_BARE = _OUTPUTS | _MODEL_ITEMS | {"message"}
"""items that older rollouts hold without an envelope"""
_WITHOUT_WORDS = frozenset({"ghost_snapshot", "other"})


def read(content: Content) -> list[Document]:
    """The session."""
    reader = CodexReader(content.draft())
    for item in content.items():
        reader.take(item)
    return content.finish(reader.draft)


class CodexReader:
    """Reads line after line into a draft."""

    def __init__(self, draft: DocumentDraft) -> None:
        self.draft = draft
        self.provider = _USUAL
        self.model = ""
        self.answers = 0

    def take(self, item: Item) -> None:
        """Read one line."""
        record = item.value
        payload = as_object(record.get("payload"))
        self.draft.at = as_time(record.get("timestamp"))
        match record.get("type"):
            case "session_meta":
                self.session(payload)
            case "turn_context":
                self.model = as_text(payload.get("model")) or self.model
                home = self.home()
                self.draft.model, self.draft.route = self.model, route_of(home, self.model)
            case "response_item":
                self.item(payload, item)
            case "event_msg":
                self.event(payload)
            case "compacted":
                self.compacted(payload, item)
            case None if "record_type" in record:
                pass  # the old form's note about its own state
            case None if "instructions" in record and "role" not in record:
                self.session(record)
            case _ if not payload and ("role" in record or as_text(record.get("type")) in _BARE):
                self.item(record, item)
            case kind:
                self.draft.skip(item.place, f"a record of type {kind!r} is not part of the conversation")

    def event(self, payload: JsonObject) -> None:
        """What the screen was told: that a turn was aborted, and what an answer took."""
        kind = payload.get("type")
        if kind == "turn_aborted":
            self.draft.end_answer(Ending.CANCELLED)
        elif kind == "token_count" and (last := as_object(as_object(payload.get("info")).get("last_token_usage"))):
            self.draft.count(
                Usage(
                    input=as_count(last.get("input_tokens")),
                    output=as_count(last.get("output_tokens")),
                    cache_read=as_count(last.get("cached_input_tokens")),
                    cache_write=as_count(last.get("cache_write_input_tokens")),
                    reasoning=as_count(last.get("reasoning_output_tokens")),
                )
            )

    def home(self) -> str:
        """The provider that answers: the one that the file names, else the model's own."""
        return home_of(self.provider, self.model) if self.provider == _USUAL else self.provider

    def session(self, meta: JsonObject) -> None:
        """What the session is about, and who answers in it."""
        draft = self.draft
        if "session" not in draft.meta:
            keep_known(draft.meta, meta, _META)
            instructions = as_text(as_object(meta.get("base_instructions")).get("text"))
            instructions = instructions or as_text(meta.get("instructions"))
            draft.system += [instructions] if instructions else []
            draft.tools += [tool for spec in as_objects(meta.get("dynamic_tools")) if (tool := _tool(spec))]
        named = as_text(meta.get("model_provider"))
        if named and named != "openai":
            self.provider = provider_named(named) or named

    # --- items --------------------------------------------------------------------------------------------------------

    def item(self, payload: JsonObject, item: Item) -> None:
        """One item of the conversation."""
        kind = as_text(payload.get("type"))
        if kind == "message" or (not kind and "role" in payload):
            self.message(payload, item)
        elif kind in _OUTPUTS:
            self.output(payload, item)
        elif kind in _MODEL_ITEMS:
            self.answer(self._blocks(payload, kind), item)
        elif kind in ("compaction", "compaction_summary", "context_compaction"):
            self.draft.note(item.place, "an encrypted summary that only its provider can read; it was left out")
        elif kind == "agent_message":
            self.draft.skip(item.place, "a message between agents is not carried")
        elif kind not in _WITHOUT_WORDS:
            self.draft.unknown(item.place, f"an item of type {kind!r}")

    def message(self, payload: JsonObject, item: Item) -> None:
        """A message. Calls and outputs in its content are read as the items that they are, where they are."""
        content: Json = payload.get("content")
        for are_items, run in groupby(as_list(content), key=_is_item):
            if are_items:
                self.draft.note(item.place, "calls or outputs stand in a message", is_carried=True)
                for part in run:
                    self.item(as_object(part), item)
            else:
                self.words({**payload, "content": list(run)}, item)
        if not isinstance(content, list):
            self.words(payload, item)

    def words(self, payload: JsonObject, item: Item) -> None:
        """What someone says in a message."""
        role = as_text(payload.get("role"))
        if role == "assistant":
            self.answer(blocks_of({**payload, "type": "message"}), item)
            return
        blocks, unknown = split_content(payload.get("content"))
        self.draft.note_unknown(unknown, item.place)
        instructs = role in ("developer", "system")
        authority = Authority.INSTRUCTION if instructs else Authority.PERSON
        if self.draft.human(blocks, item.place, source=item.source, authority=authority):
            self.answers += 1

    def answer(self, blocks: list[Block], item: Item) -> None:
        """What the model says or calls."""
        origin = origin_of(self.home(), self.model)
        self.draft.say(Speaker.AI, blocks, item.place, source=item.source, origin=origin, answer=self.answer_key)

    @property
    def answer_key(self) -> str:
        """The key of the answer that items of the model belong to now."""
        return f"codex-{self.answers}"

    def _blocks(self, payload: JsonObject, kind: str) -> list[Block]:
        if kind == "tool_call" or (kind == "function_call" and "name" not in payload):
            function = as_object(payload.get("function"))
            source: Json = payload.get("arguments", function.get("arguments"))
            value, raw, finished = read_arguments(source)
            name = first_text(payload, "name") or first_text(function, "name")
            return [ToolCall(name, value, _call_id(payload), raw=raw, finished=finished)]
        if kind == "tool_search_call":
            return [ToolCall("tool_search", read_arguments(payload.get("arguments")).value, _call_id(payload))]
        return blocks_of(payload)

    def output(self, payload: JsonObject, item: Item) -> None:
        """What a tool returned."""
        result = _result(payload, _call_id(payload), first_text(payload, "name", "tool_name"))
        if self.draft.results([result], item.place, source=item.source):
            self.answers += 1

    def compacted(self, payload: JsonObject, item: Item) -> None:
        """What replaced everything before it."""
        history = as_objects(payload.get("replacement_history"))
        text = as_text(payload.get("message")) or "\n\n".join(filter(None, map(_message_text, history)))
        count = len(self.draft.entries)
        if count:
            self.draft.compactions.append(CompactionMark(0, count - 1, text, item.place))
            self.draft.note(
                item.place, f"a summary replaced the {count} entries before; all of them are read here", is_carried=True
            )
            return
        for entry in history:
            self.item(entry, item)
        if not self.draft.entries and text:
            self.draft.human([Text(text)], item.place, source=item.source)


def _call_id(payload: JsonObject) -> str:
    return first_id(payload, "call_id", "id")


def _is_item(part: Json) -> bool:
    return as_text(as_object(part).get("type")) in _OUTPUTS | _MODEL_ITEMS


def _result(payload: JsonObject, wire_id: str, name: str) -> ToolResponse:
    """The output of a call: text, parts, or an object with a content and a mark of success."""
    output: Json = next((payload[key] for key in ("output", "result", "tools", "content") if key in payload), None)
    is_error = False
    if isinstance(output, dict) and "content" in output:
        holder = as_object(output)
        output, is_error = holder["content"], holder.get("success") is False
    media: tuple[Media, ...] = ()
    if payload.get("type") != "tool_search_output":
        output, media = result_content(output)
    if isinstance(output, str) and output.startswith(ERROR_MARK):
        output, is_error = output.removeprefix(ERROR_MARK), True
    return response(wire_id, name, output, is_error=is_error, media=media)


def _message_text(item: JsonObject) -> str:
    return "\n".join(as_text(part.get("text")) for part in as_objects(item.get("content")))


def _tool(spec: JsonObject) -> ToolSpec | None:
    name = as_text(spec.get("name"))
    if not name:
        return None
    schema = as_object(spec.get("inputSchema")) or as_object(spec.get("parameters"))
    described = as_text(spec.get("description"))
    return ToolSpec(name, described, ingest(schema)) if schema else ToolSpec(name, described)
