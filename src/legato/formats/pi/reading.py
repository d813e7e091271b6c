"""Read pi sessions: JSONL under `~/.pi/agent/sessions`, and files of agents that write the same form.

A line is a `session` header, a `message`, or a change of model or thinking level. Newer files are a tree by `id` and
`parentId`; the last message is on the live branch. An answer says with `stopReason` how it ended: `aborted` and
`error` ones were not finished. Compactions name what the agent replaced by a summary; all of it is still in the file.
"""

from __future__ import annotations

from typing import NamedTuple

from legato.errors import IngestError
from legato.formats.blocks import read_part, read_result, split_content
from legato.formats.content import Content, Item
from legato.formats.document import CompactionMark, Document
from legato.formats.draft import DocumentDraft, keep_known
from legato.formats.fields import as_id, as_list, as_object, as_objects, as_text, as_time, as_usage, first_text
from legato.formats.origins import origin_of, provider_named, route_of
from legato.model import (
    Authority,
    Block,
    Ending,
    Json,
    JsonObject,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    read_json_leniently,
)
from legato.wire.arguments import read_arguments

_META = {"id": "session", "cwd": "cwd", "name": "title"}
_ENDINGS = {
    "stop": Ending.DONE,
    "toolUse": Ending.CALLS,
    "length": Ending.LENGTH,
    "aborted": Ending.CANCELLED,
    "error": Ending.CUT,
}
_WITHOUT_WORDS = frozenset({"thinking_level_change", "custom", "label", "session_info"})
_SIGNATURE_FIELDS = {"anthropic": "signature", "gemini": "thoughtSignature"}
_RESPONSES = "openai-responses"


class _Linked(NamedTuple):
    item: Item
    own: str
    parent: str


def read(content: Content) -> list[Document]:
    """The session."""
    draft = content.draft()
    reader = _Reader(draft)
    for item in _live([_linked(item) for item in content.items("messages", "entries")], draft):
        reader.take(item)
    return content.finish(draft)


def _linked(item: Item) -> _Linked:
    return _Linked(item, as_id(item.value.get("id")), as_id(item.value.get("parentId")))


def _live(linked: list[_Linked], draft: DocumentDraft) -> list[Item]:
    """The items of the live branch: the way from the last one to the root, where the file is a tree at all."""
    known = {entry.own: entry for entry in linked if entry.own}
    calls = {
        as_id(block.get("id")): entry
        for entry in linked
        for block in as_objects(as_object(entry.item.value.get("message")).get("content"))
        if block.get("type") == "toolCall"
    }
    body = [entry for entry in linked if entry.item.value.get("type") != "session"]
    if not any(entry.parent in known for entry in body):
        return [entry.item for entry in linked]
    live: set[int] = set()
    leaf = body[-1] if body else None
    while leaf is not None and id(leaf) not in live:
        live.add(id(leaf))
        # Some writers name a call, not a line, as the parent of its result.
        leaf = (known.get(leaf.parent) or calls.get(leaf.parent)) if leaf.parent else None
    left = [entry for entry in body if id(entry) not in live and entry.item.value.get("type") == "message"]
    if left:
        what = "messages, here first, are on branches that were left behind and are not carried"
        draft.note(left[0].item.place, f"{len(left)} {what}")
    return [entry.item for entry in linked if id(entry) in live or entry.item.value.get("type") == "session"]


class _Reader:
    def __init__(self, draft: DocumentDraft) -> None:
        self.draft = draft
        self.indexes: list[int] = []
        """for each line of the file's body, how many entries there were when it was read"""
        self.at: dict[str, int] = {}

    def take(self, item: Item) -> None:
        """Read one line."""
        record = item.value
        kind = as_text(record.get("type"))
        self.draft.at = as_time(record.get("timestamp"))
        self.indexes.append(len(self.draft.entries))
        if own := as_id(record.get("id")):
            self.at[own] = len(self.draft.entries)
        match kind:
            case "session":
                keep_known(self.draft.meta, record, _META)
                self.route(first_text(record, "provider"), first_text(record, "modelId"))
            case "model_change":
                self.route(first_text(record, "provider"), first_text(record, "modelId"))
            case "message":
                self.message(as_object(record.get("message")), item)
            case "compaction":
                self.compaction(record, item)
            case "branch_summary":
                self.draft.human([Text(as_text(record["summary"]))] if record.get("summary") else [], item.place)
            case "custom_message":
                blocks, _ = split_content(record.get("content"))
                self.draft.say(Speaker.HUMAN, blocks, item.place, authority=Authority.INSTRUCTION)
            case "" if "role" in record:
                self.message(record, item)
            case _ if kind in _WITHOUT_WORDS:
                pass
            case _:
                self.draft.unknown(item.place, f"a record of type {kind!r}")

    def route(self, provider: str, model: str) -> None:
        if model:
            self.draft.model = model
            self.draft.route = route_of(provider_named(provider) or provider, model)

    def message(self, message: JsonObject, item: Item) -> None:
        role = as_text(message.get("role"))
        match role:
            case "user":
                self.draft.human(self._content(message.get("content"), item), item.place)
            case "assistant":
                self.assistant(message, item)
            case "toolResult":
                self.draft.results([read_result({**message, "id": None})], item.place)
            case "bashExecution":
                self.draft.human([Text(_bash(message))], item.place)
            case "system" | "developer":
                blocks = self._content(message.get("content"), item)
                self.draft.human(blocks, item.place, authority=Authority.INSTRUCTION)
            case "custom" | "hookMessage" | "branchSummary" | "compactionSummary":
                source: Json = message.get("content") or message.get("summary")
                self.draft.human(self._content(source, item), item.place)
            case _:
                self.draft.unknown(item.place, f"a message of role {role!r}")

    def assistant(self, message: JsonObject, item: Item) -> None:
        model = as_text(message.get("model"))
        api, provider = as_text(message.get("api")), as_text(message.get("provider"))
        # The interface decides among the faces of one vendor; the vendor decides who it is.
        named = provider_named(provider)
        home = provider_named(api) if named in ("openai", "openai-responses") else named
        home = home or provider
        self.route(home, model)
        ending = _ENDINGS.get(as_text(message.get("stopReason")))
        blocks: list[Block] = []
        content: Json = message.get("content")
        items: list[Json] = [{"type": "text", "text": content}] if isinstance(content, str) else as_list(content)
        for index, part in enumerate(map(as_object, items)):
            block = self._answer_block(part, home, item)
            if block is not None:
                blocks.append(block)
            elif part.get("type") not in ("text", "thinking"):
                self.draft.note_unknown([(index, part)], item.place)
        if ending is Ending.CUT and message.get("errorMessage"):
            self.draft.note(item.place, f"the answer failed: {as_text(message['errorMessage'])[:200]}")
        origin = origin_of(home, model)
        self.draft.say(Speaker.AI, blocks, item.place, origin=origin, answer=item.place, ending=ending)
        if blocks and (usage := as_object(message.get("usage"))):
            self.draft.count(as_usage(usage, "input", "output", "cacheRead", "cacheWrite"))

    def _answer_block(self, part: JsonObject, home: str, item: Item) -> Block | None:
        match part.get("type"):
            case "text":
                return Text(as_text(part["text"])) if part.get("text") else None
            case "thinking":
                text, signature = as_text(part.get("thinking")), as_text(part.get("thinkingSignature"))
                native = _thought_native(home, signature) if signature else None
                return Thinking(text, native=native) if text or native else None
            case "toolCall":
                value, raw, finished = read_arguments(part.get("arguments"))
                name, wire_id = as_text(part.get("name")), as_id(part.get("id"))
                if not read_arguments(part.get("partialJson")).finished:
                    self.draft.note(
                        item.place,
                        f"the arguments of the call {wire_id} break off; they are kept so far",
                        is_carried=True,
                    )
                signature = as_text(part.get("thoughtSignature"))
                native = {"thoughtSignature": signature} if signature and home == "gemini" else None
                return ToolCall(name, value, wire_id, raw=raw, finished=finished, native=native)
            case _:
                return read_part(part)

    def compaction(self, record: JsonObject, item: Item) -> None:
        """Note what the agent replaced: everything before the first entry that it kept."""
        kept_index, kept_id = record.get("firstKeptEntryIndex"), as_id(record.get("firstKeptEntryId"))
        last = self.at.get(kept_id, len(self.draft.entries))
        if isinstance(kept_index, int) and 0 <= kept_index < len(self.indexes):
            last = self.indexes[kept_index]
        summary = as_text(record.get("summary"))
        if last > 0 and summary:
            self.draft.compactions.append(CompactionMark(0, last - 1, summary, item.place))
        what = "the agent put a summary in place of what came before; all of it is read here"
        self.draft.note(item.place, what, is_carried=True)

    def _content(self, content: Json, item: Item) -> list[Block]:
        blocks, unknown = split_content(content)
        self.draft.note_unknown(unknown, item.place)
        return blocks


def _bash(message: JsonObject) -> str:
    """What a person ran by hand, as pi tells it to the model: a command and what it printed."""
    code = message.get("exitCode")
    state = "cancelled" if message.get("cancelled") is True else f"exit code {code}"
    return f"[The user ran: {as_text(message.get('command'))} ({state})]\n{as_text(message.get('output'))}"


def _thought_native(home: str, signature: str) -> JsonObject | None:
    """A signature as the dialect of its provider keeps it; for the Responses API it is the whole item as JSON."""
    if home == _RESPONSES:
        try:
            item = as_object(read_json_leniently(signature))
        except IngestError:
            return None
        return {"item": item} if item.get("encrypted_content") else None
    field = _SIGNATURE_FIELDS.get(home)
    return {field: signature} if field else None
