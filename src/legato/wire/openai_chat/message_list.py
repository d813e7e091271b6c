"""The messages of a chat request as entries.

In:  `messages`, ours or anyone's.
Out: the leading instructions, entries in order, and a note for everything that was not understood.

There are two roads, for one reason: a long conversation is thousands of messages of a few shapes, and copying and
questioning every field of them takes several times as long as making the entries. Of a message of a simple shape
(`simple_batch`) only the texts that are kept are cleaned. Any other one is ingested and read part by part. Both roads
end in the same `EntryBuilder`, and what both can read gives the same on both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from legato.model import Block, Json, JsonObject, Origin, Text, Thinking, ToolCall, ingest
from legato.model.ingestion import MAX_NODES, too_many_parts
from legato.model.json_access import as_id, as_list, as_object, as_string
from legato.wire.contract import NotUnderstood
from legato.wire.openai_chat.entry_builder import EntryBuilder
from legato.wire.openai_chat.message import MessageReader
from legato.wire.openai_chat.reading import read_part
from legato.wire.openai_chat.simple_batch import read_batch
from legato.wire.openai_chat.simple_messages import MOST_PARTS, Portion, SimpleMessage, match_simple
from legato.wire.readback import read_parts, read_result

_INSTRUCTING = ("system", "developer")
_KNOWN_FIELDS = {
    "user": frozenset({"role", "content"}),
    "system": frozenset({"role", "content"}),
    "developer": frozenset({"role", "content"}),
    "tool": frozenset({"role", "content", "tool_call_id", "name"}),
    "function": frozenset({"role", "content", "name"}),
    "assistant": frozenset(
        {
            "role",
            "content",
            "tool_calls",
            "function_call",
            "refusal",
            "reasoning_content",
            "reasoning",
            "reasoning_details",
            "images",
        }
    ),
}
_CALLING, _RETURNING = ("assistant",), ("tool", "function")
_PORTION = 64
"""messages whose shapes are found before they are read"""
_ANSWER_PARTS = frozenset({"text", "refusal", "thinking", "image_url"})


class _SameNames:
    """A request that comes in holds the names as they were on the wire; no one here knows others."""

    def project(self, name: str, namespace: str = "") -> str:
        return name

    def restore(self, wire_name: str) -> str:
        return wire_name

    def namespaced(self, wire_name: str) -> None:
        return None


class MessageListReader:
    """Reads one list of messages."""

    def __init__(self, origin: Origin | None = None) -> None:
        self.notes: list[str] = []
        self.adjusted: list[str] = []
        self.builder = EntryBuilder(origin)
        self._number = 0
        """that of the message that is being read"""

    def save(self) -> Any:
        """The state, for `restore`."""
        return self.notes.copy(), self.adjusted.copy(), self.builder.save()

    def restore(self, saved: Any) -> None:
        """Go back to an earlier state; the lists that were given out until now stay as they are."""
        notes, adjusted, builder = saved
        self.notes, self.adjusted = notes.copy(), adjusted.copy()
        self.builder.restore(builder)

    def read(self, messages: Sequence[Json], first: int, *, ends: bool) -> None:
        """Take the next messages; raises `IngestError` if all of them have too many parts."""
        for start in range(0, len(messages), _PORTION):
            portion = messages[start : start + _PORTION]
            self._read_portion(portion, first + start, ends=ends and start + len(portion) == len(messages))
        if self._are_too_many(0):
            raise too_many_parts()

    def _read_portion(self, messages: Sequence[Json], first: int, *, ends: bool) -> None:
        builder, items = self.builder, list[Any](messages)
        simple = match_simple(items)
        index = read_batch(simple, 0, builder, before=first, ends=ends)
        while index < len(simple):
            item, items[index] = items[index], ()
            message = _ingested(item)
            builder.parts += _parts_in(message)
            self._read_any(first + index, message, is_last=ends and index == len(simple) - 1)
            index = read_batch(simple, index + 1, builder, before=first, ends=ends)
        builder.parts += len(items) + sum(map(len, items))

    def read_simple(self, portions: Iterable[Portion | None]) -> bool:
        """Read messages of simple shapes; false, with who knows what read, if there is more to one of them."""
        count = 0
        for portion in portions:
            if portion is None:
                return False
            messages = cast("list[SimpleMessage | None]", portion.messages)
            if read_batch(messages, 0, self.builder, before=count, ends=portion.ends) < len(messages):
                return False
            count += len(messages)
            if self._are_too_many(MOST_PARTS * count):
                return False
        return True

    def _are_too_many(self, parts: int) -> bool:
        return parts + self.builder.parts > MAX_NODES

    # --- messages of any shape ---

    def _read_any(self, number: int, item: object, *, is_last: bool) -> None:
        self._number, path = number, f"messages[{number}]"
        if not isinstance(item, dict):
            self._unknown(path, "not an object")
            return
        message = cast(JsonObject, item)
        role = as_string(message.get("role"))
        known = _KNOWN_FIELDS.get(role)
        if known is None:
            self.adjusted.append(f"{path}.role: there is no role {role!r}; the message was read as the user's")
            known = _KNOWN_FIELDS["user"]
        if role not in _CALLING and message.get("tool_calls"):
            self._read_calls(path, message)
        if role not in _RETURNING and message.get("tool_call_id") not in (None, "") and not message.get("tool_calls"):
            self.adjusted.append(f"{path}.role: a result stands in a message of role {role!r}")
            role, known = "tool", _KNOWN_FIELDS["tool"]
        for name, value in message.items():
            if value and name not in known and name != "tool_calls":
                self.notes.append(f"{path}.{name}: not understood; it was left out")
        match role:
            case "system" | "developer":
                self._read_instruction(path, message)
            case "assistant":
                self._read_answer(path, message)
            case "tool" | "function":
                self._read_result(path, message)
            case _:
                self._read_human(path, message, is_last=is_last)
        self.builder.has_begun = self.builder.has_begun or role not in _INSTRUCTING

    def _read_calls(self, path: str, message: JsonObject) -> None:
        """The calls in a message that is not the model's: no one else calls."""
        self.adjusted.append(f"{path}.tool_calls: calls stand in a message of role {message.get('role')!r}")
        self._read_answer(path, {"role": "assistant", "tool_calls": message["tool_calls"]})

    def _read_instruction(self, path: str, message: JsonObject) -> None:
        blocks = self._read_parts(path, message.get("content"))
        text = "".join(block.text for block in blocks if isinstance(block, Text))
        if not text:
            self.notes.append(f"{path}.content: an instruction without text; it was left out")
        else:
            self.builder.take_instruction(text, self._number)

    def _read_human(self, path: str, message: JsonObject, *, is_last: bool) -> None:
        blocks = self._read_parts(path, message.get("content"))
        if not blocks:
            self.notes.append(f"{path}.content: a message that says nothing; it was left out")
        else:
            self.builder.take_human(blocks, self._number, is_last=is_last)

    def _unknown(self, path: str, what: str) -> None:
        """Something at `path` is not understood."""
        self.notes.append(NotUnderstood(f"{path}: {what}; it was left out"))

    def _read_parts(self, path: str, content: Json) -> list[Block]:
        if isinstance(content, str):
            return [Text(content)] if content else []
        if not isinstance(content, list):
            if content is not None:
                self._unknown(f"{path}.content", "neither text nor a list of parts")
            return []
        blocks: list[Block] = []
        for index, item in enumerate(cast("list[object]", content)):
            block = Text(item) if isinstance(item, str) else read_part(as_object(item))
            if block is None:
                self._unknown(f"{path}.content[{index}]", "a part that is not understood")
            elif not isinstance(block, Text) or block.text:
                blocks.append(block)
        return blocks

    def _read_answer(self, path: str, message: JsonObject) -> None:
        if self.builder.is_bridge(message.get("content"), message.get("tool_calls")):
            return
        self._note_answer(path, message)
        reader = MessageReader(_SameNames())
        reader.read_message(message)
        blocks: list[Block] = []
        for block in reader.builder.blocks():
            if isinstance(block, ToolCall) and not block.name:
                self._unknown(f"{path}.tool_calls", "a call without a name")
            elif not isinstance(block, Thinking) or block.native is not None or block.text.strip():
                blocks.append(block)
        if blocks:
            self.builder.take_answer(blocks, self._number)
        else:
            self.notes.append(f"{path}: an answer that says nothing; it was left out")

    def _note_answer(self, path: str, message: JsonObject) -> None:
        """Note what the reader of answers, which is made for what servers send, passes over."""
        content: Json = message.get("content")
        if isinstance(content, list):
            for index, part in enumerate(cast("list[object]", content)):
                if not isinstance(part, str) and as_string(as_object(part).get("type")) not in _ANSWER_PARTS:
                    self._unknown(f"{path}.content[{index}]", "a part that is not understood")
        elif content is not None and not isinstance(content, str):
            self._unknown(f"{path}.content", "neither text nor a list of parts")
        calls: Json = message.get("tool_calls")
        if isinstance(calls, list):
            for index, call in enumerate(cast("list[object]", calls)):
                if not isinstance(call, dict):
                    self._unknown(f"{path}.tool_calls[{index}]", "not an object")
        elif calls is not None:
            self._unknown(f"{path}.tool_calls", "not a list")

    def _read_result(self, path: str, message: JsonObject) -> None:
        texts, media = read_parts(
            message.get("content"), f"{path}.content", lambda part, _: read_part(part), self.adjusted
        )
        wire_id = as_id(message.get("tool_call_id"))
        tool_name = as_string(message.get("name")) or self.builder.tool_of(wire_id)
        self.builder.take_result(read_result("".join(texts), wire_id, tool_name, media), self._number)


def _ingested(message: object) -> Json:
    """`message`, as safe as if the body around it had been ingested: what is nested too deeply counts from there."""
    body: Any = ingest([[message]])
    return body[0][0]


def _parts_in(value: Json) -> int:
    """How many parts `value` holds."""
    held = list(as_object(value).values()) or as_list(value)
    return len(held) + sum(map(_parts_in, held))
