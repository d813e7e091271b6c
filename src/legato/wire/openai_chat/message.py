"""What an assistant message holds, read into an `AnswerBuilder`: a whole message, or one delta of it after the other.

Body and stream share this reader, so that both give the same answer. The habits it knows: content as a string or as
chunks (Mistral), thinking in `reasoning_content`, `reasoning`, `reasoning_details` or a chunk, a refusal in a field of
its own, calls of the function and custom kind, and the `function_call` of old.
"""

from __future__ import annotations

from legato.model import CallKind, Json, JsonObject, ingest
from legato.model.json_access import as_object, as_objects, as_string
from legato.wire.contract import Delta
from legato.wire.openai_chat.calls import CallPlaces, Fragment
from legato.wire.openai_chat.growing import ReasoningDetails
from legato.wire.openai_chat.reading import read_argument_text, read_image, read_text
from legato.wire.stream import AnswerBuilder
from legato.wire.voice import Names

_REASONING = "reasoning"
_LEGACY_CALL = "function_call"


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
        self._last_call: object = None
        self._images = 0

    def read_message(self, message: JsonObject) -> None:
        """Take a whole message."""
        self._read_parts(message)
        for position, item in enumerate(as_objects(message.get("tool_calls"))):
            self._read_call(("call", position), Fragment.read(item), item)
        self._read_legacy_call(message)

    def read_delta(self, delta: JsonObject) -> list[Delta]:
        """Take a piece of a message; gives what is new to show."""
        deltas = self._read_parts(delta)
        for item in as_objects(delta.get("tool_calls")):
            fragment = Fragment.read(item)
            call = self._places.place(fragment)
            if call is not None:
                deltas += self._read_call(("call", call.key), fragment, item)
        return deltas + self._read_legacy_call(delta)

    # --- text and thinking ---

    def _read_parts(self, message: JsonObject) -> list[Delta]:
        deltas = self._read_reasoning(message)
        content: Json = message.get("content")
        if isinstance(content, str):
            deltas += self._text(content)
        for chunk in as_objects(content):
            deltas += self._read_chunk(chunk)
        for part in as_objects(message.get("images")):
            self._read_image(part)
        transcript = as_string(as_object(message.get("audio")).get("transcript"))
        return deltas + self._text(transcript) + self._read_refusal(message.get("refusal"))

    def _read_reasoning(self, message: JsonObject) -> list[Delta]:
        details = as_objects(message.get("reasoning_details"))
        piece = as_string(message.get("reasoning_content")) or as_string(message.get("reasoning"))
        self._is_plain = self._is_plain or bool(piece)
        if not self._is_plain:  # the details say the same as the plain field, where there is one
            piece = "".join(as_string(item.get("text")) or as_string(item.get("summary")) for item in details)
        if not piece and not details:
            return []
        deltas = self.builder.thinking(_REASONING, piece)
        if details:
            for item in details:
                self._details.add(item)
            self.builder.native_later(_REASONING, "reasoning_details", self._details.value)
        return deltas

    def _read_chunk(self, chunk: JsonObject) -> list[Delta]:
        match chunk.get("type"):
            case "text":
                return self._text(as_string(chunk.get("text")))
            case "thinking":
                return self._thinking_chunk(chunk)
            case "refusal":
                return self._read_refusal(chunk.get("refusal"))
            case "image_url":
                self._read_image(chunk)
                return []
            case _:
                return []  # references and the like: about the text, not part of it

    def _text(self, piece: str) -> list[Delta]:
        return self.builder.text(self._run_key("text"), piece) if piece else []

    def _thinking_chunk(self, chunk: JsonObject) -> list[Delta]:
        piece = read_text(chunk.get("thinking"))
        if not piece and not chunk.get("signature"):
            return []
        key = self._run_key("thinking")
        deltas = self.builder.thinking(key, piece)
        self.builder.native(key, chunk=True, signature=ingest(chunk.get("signature")))
        return deltas

    def _run_key(self, kind: str) -> tuple[str, int]:
        """Neighbouring pieces of one kind are one block; another kind between them starts a new one."""
        if kind != self._run_kind:
            self._run += 1
            self._run_kind = kind
        return ("content", self._run)

    def _read_refusal(self, value: Json) -> list[Delta]:
        piece = as_string(value)
        if not piece:
            return []
        self.is_refused = True
        deltas = self.builder.text("refusal", piece)
        self.builder.native("refusal", refusal=True)
        return deltas

    def _read_image(self, part: JsonObject) -> None:
        image = read_image(part)
        if image is not None:
            self.builder.put(("image", self._images), image)
            self._images += 1

    # --- calls ---

    def _read_call(self, key: object, fragment: Fragment, item: JsonObject) -> list[Delta]:
        if key != self._last_call:
            self.builder.done(self._last_call)
            self._last_call = key
        deltas = self.builder.call(
            key,
            name=fragment.name,
            wire_id=fragment.wire_id,
            arguments=fragment.arguments,
            kind=CallKind.CUSTOM if fragment.is_custom else CallKind.FUNCTION,
        )
        self.builder.native(key, extra_content=ingest(item.get("extra_content")))
        return deltas

    def _read_legacy_call(self, message: JsonObject) -> list[Delta]:
        call = as_object(message.get("function_call"))
        fragment = Fragment(None, "", as_string(call.get("name")), read_argument_text(call.get("arguments")))
        if not fragment.name and not fragment.arguments:
            return []  # some servers send the field with nothing in it
        return self._read_call(_LEGACY_CALL, fragment, {})
