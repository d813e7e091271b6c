"""What an assistant message holds, read into an `AnswerBuilder`: a whole message, or one delta of it after the other.

Body and stream share this reader, so that both give the same answer. The habits it knows: content as a string or as
chunks (Mistral), thinking in `reasoning_content`, `reasoning`, `reasoning_details` or a chunk, a refusal in a field of
its own, calls of the function and custom kind, and the `function_call` of old.
"""

from __future__ import annotations

from collections.abc import Hashable

from legato.model import CallKind, Json, JsonObject, ingest
from legato.model.json_access import as_list, as_object, as_objects, as_string
from legato.wire.builder import AnswerBuilder
from legato.wire.context import Names
from legato.wire.openai_chat.calls import CallPlaces, Fragment, OpenCall
from legato.wire.openai_chat.growing import ReasoningDetails
from legato.wire.openai_chat.pieces import GrowingMessage, MoreOfCall
from legato.wire.openai_chat.reading import read_argument_text, read_image, read_text

THOUGHT_FIELDS = frozenset({"reasoning_content", "reasoning", "reasoning_details"})
_BESIDE = frozenset({"images", "audio", "refusal"})


class MessageReader:
    """Reads one answer into a builder."""

    def __init__(self, names: Names) -> None:
        self.builder = AnswerBuilder(names)
        self.is_refused = False
        self._places = CallPlaces()
        self._run = 0
        self._run_kind = ""
        self._details = ReasoningDetails()
        self._is_plain = False
        self._last_call: tuple[Hashable, OpenCall | None] | None = None
        self._images = 0

    def read_message(self, message: JsonObject) -> None:
        """Take a whole message."""
        self._read_parts(message)
        for position, item in enumerate(as_objects(message.get("tool_calls"))):
            self._read_call(("call", position), Fragment.read(item), item)
        self._read_legacy_call(message.get("function_call"))

    def read_delta(self, delta: JsonObject) -> None:
        """Take a piece of a message."""
        self._read_parts(delta)
        if "tool_calls" in delta:
            for item in as_objects(delta["tool_calls"]):
                fragment = Fragment.read(item)
                call = self._places.place(fragment)
                if call is not None:
                    self._read_call(("call", call.key), fragment, item, call)
        if "function_call" in delta:
            self._read_legacy_call(delta["function_call"])

    def grow(self, delta: GrowingMessage) -> bool:
        """Take a piece that brings more text, plain thinking, or arguments of a call; False for another call."""
        if delta.tool_calls is not None:
            if delta.content or delta.reasoning_content or delta.reasoning:
                return False
            return self._grow_call(delta.tool_calls[0])
        if thought := delta.reasoning_content or delta.reasoning:
            self._is_plain = True
            self._pass_call()
            self.builder.thinking("reasoning", thought)
        if delta.content:
            self._text(delta.content)
        return True

    # --- text and thinking ---

    def _read_parts(self, message: JsonObject) -> None:
        if not THOUGHT_FIELDS.isdisjoint(message):
            self._read_reasoning(message)
        content: Json = message.get("content")
        if isinstance(content, str):
            self._text(content)
        else:
            for chunk in as_list(content):
                self._read_chunk({"type": "text", "text": chunk} if isinstance(chunk, str) else as_object(chunk))
        if not _BESIDE.isdisjoint(message):
            for part in as_objects(message.get("images")):
                self._read_image(part)
            self._text(as_string(as_object(message.get("audio")).get("transcript")))
            self._read_refusal(message.get("refusal"))

    def _read_reasoning(self, message: JsonObject) -> None:
        details = as_objects(message.get("reasoning_details"))
        piece = as_string(message.get("reasoning_content")) or as_string(message.get("reasoning"))
        self._is_plain = self._is_plain or bool(piece)
        if not self._is_plain:  # the details say the same as the plain field, where there is one
            piece = "".join(as_string(item.get("text")) or as_string(item.get("summary")) for item in details)
        if piece or details:
            self._pass_call()
            self.builder.thinking("reasoning", piece)
        for item in details:
            self._details.add(item)
        if details:
            self.builder.native_later("reasoning", "reasoning_details", self._details.value)

    def _read_chunk(self, chunk: JsonObject) -> None:
        match chunk.get("type"):
            case "text":
                self._text(as_string(chunk.get("text")))
            case "thinking":
                self._thinking_chunk(chunk)
            case "refusal":
                self._read_refusal(chunk.get("refusal"))
            case "image_url":
                self._read_image(chunk)
            case _:
                pass  # references and the like: about the text, not part of it

    def _text(self, piece: str) -> None:
        if piece:
            if self._last_call is not None:
                self._pass_call()
            self.builder.text(self._run if self._run_kind == "text" else self._run_key("text"), piece)

    def _thinking_chunk(self, chunk: JsonObject) -> None:
        piece = read_text(chunk.get("thinking"))
        if piece or chunk.get("signature"):
            self._pass_call()
            native = {"chunk": True, "signature": ingest(chunk.get("signature"))}
            self.builder.thinking(self._run_key("thinking"), piece, native)

    def _run_key(self, kind: str) -> int:
        """Neighbouring pieces of one kind are one block; another kind between them starts a new one."""
        if kind != self._run_kind:
            self.builder.done(self._run)
            self._run += 1
            self._run_kind = kind
        return self._run

    def _read_refusal(self, value: Json) -> None:
        piece = as_string(value)
        if piece:
            self.is_refused = True
            self.builder.text("refusal", piece, {"refusal": True})

    def _read_image(self, part: JsonObject) -> None:
        image = read_image(part)
        if image is not None:
            self.builder.put(("image", self._images), image)
            self._images += 1

    # --- calls ---

    def _read_call(self, key: Hashable, fragment: Fragment, item: JsonObject, call: OpenCall | None = None) -> None:
        self._turn_to(key, call)
        self.builder.call(
            key,
            name=fragment.name,
            wire_id=fragment.wire_id,
            arguments=fragment.arguments,
            kind=CallKind.CUSTOM if fragment.is_custom else CallKind.FUNCTION,
            native={"extra_content": ingest(item["extra_content"])} if "extra_content" in item else None,
        )

    def _grow_call(self, more: MoreOfCall) -> bool:
        call = self._places.at(more.index)
        if call is None:
            return False
        key, piece = ("call", call.key), more.function.arguments or ""
        self._turn_to(key, call)
        if not self.builder.arguments(key, piece):
            return False
        call.arguments.add(piece)
        return True

    def _turn_to(self, key: Hashable, call: OpenCall | None) -> None:
        """What comes is of the call under `key`."""
        if self._last_call is not None and self._last_call[0] != key:
            self._pass_call()
        self._last_call = key, call

    def _pass_call(self) -> None:
        """A call is whole when something else begins; but calls may also grow in turns, as long as they are not."""
        if self._last_call is None:
            return
        (key, call), self._last_call = self._last_call, None
        if call is not None and call.arguments.is_whole():
            self.builder.done(key)
        else:
            self.builder.passed(key)

    def _read_legacy_call(self, value: Json) -> None:
        call = as_object(value)
        fragment = Fragment(None, "", as_string(call.get("name")), read_argument_text(call.get("arguments")))
        if fragment.name or fragment.arguments:  # some servers send the field with nothing in it
            self._read_call("function_call", fragment, {})
