"""Read a stream of the AI SDK.

In:  stream parts of a language model (`text-delta`, `tool-call`, `finish`, ...), or of a UI message stream, which names
     some of them differently, as server-sent events.
Out: deltas to show while it runs, and at the end the answer that `decode` gives for the same content.

Ids of texts and thoughts may be used again after their end, so each start opens a new block. What a call was given
counts as its `tool-call` part says; a call whose result comes in the stream was executed at the other end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import msgspec

from legato.model import Answer, Block, Ending, HostedTool, Json, JsonObject, Target, ToolCall, ingest
from legato.model.json_access import as_object, as_string, as_text
from legato.wire.context import Names
from legato.wire.stream import EventDecoder
from legato.wire.vercel.decode import provider_error, read_ending, usage_of
from legato.wire.vercel.pieces import PIECES, StreamPiece
from legato.wire.vercel.reading import Form, native_of, read_call, read_file, read_hosted


class Decoder(EventDecoder):
    """Reads one streamed answer."""

    pieces = PIECES

    def __init__(self, target: Target, names: Names) -> None:
        super().__init__(target, names)
        self._restore = names.restore
        self._texts: dict[str, int] = {}
        """the block that is being written under an id"""
        self._thoughts: dict[str, int] = {}
        self._opened = 0
        self._calls: dict[str, JsonObject] = {}
        """whole calls, by id"""
        self._hosted: set[str] = set()
        """the calls that the provider executes itself"""
        self._executed: dict[str, tuple[JsonObject | None, JsonObject | None]] = {}
        """by id, what was executed at the other end: the call and the result, as far as they are known"""
        self._results: dict[str, JsonObject] = {}
        """results of calls that were executed on the way"""
        self._reason: Json = None

    def read(self, event: JsonObject) -> None:
        """Take one part."""
        read = self._READERS.get(as_string(event.get("type")))
        if read is None:
            self._learn(event)
        else:
            read(self, event)

    def grow(self, piece: StreamPiece) -> bool:
        """Take a delta of what has begun."""
        kind, delta = piece.type, piece.delta
        if not delta:
            return False
        if kind == "tool-input-delta":
            wire_id = piece.call or piece.id or ""
            return wire_id not in self._hosted and self.builder.arguments(wire_id, delta)
        key = (self._texts if kind == "text-delta" else self._thoughts).get(piece.id or "")
        if key is None:
            return False
        if kind == "text-delta":
            self.builder.text(key, delta)
        else:
            self.builder.thinking(key, delta)
        return True

    # Texts and thoughts.

    def _begin_text(self, event: JsonObject) -> None:
        self._texts.pop(as_string(event.get("id")), None)
        self._grow_text(event)

    def _grow_text(self, event: JsonObject) -> None:
        self.builder.text(self._key(self._texts, event), _piece(event), native_of(event))

    def _end_text(self, event: JsonObject) -> None:
        self._end(self._texts, event)

    def _begin_thought(self, event: JsonObject) -> None:
        self._thoughts.pop(as_string(event.get("id")), None)
        self._grow_thought(event)

    def _grow_thought(self, event: JsonObject) -> None:
        self.builder.thinking(self._key(self._thoughts, event), _piece(event), native_of(event))

    def _end_thought(self, event: JsonObject) -> None:
        self._end(self._thoughts, event)

    def _key(self, known: dict[str, int], event: JsonObject) -> int:
        wire_id = as_string(event.get("id"))
        key = known.get(wire_id)
        if key is None:
            key = known[wire_id] = self._opened
            self._opened += 1
        return key

    def _end(self, known: dict[str, int], event: JsonObject) -> None:
        key = known.get(as_string(event.get("id")))
        if key is not None:
            self.builder.native(key, **(native_of(event) or {}))
            self.builder.done(key)

    # Tools.

    def _begin_call(self, event: JsonObject) -> None:
        wire_id = _call_id(event)
        if event.get("providerExecuted") is True:
            self._hosted.add(wire_id)
        else:
            self.builder.call(wire_id, name=as_string(event.get("toolName")), wire_id=wire_id)

    def _grow_call(self, event: JsonObject) -> None:
        wire_id = _call_id(event)
        if wire_id not in self._hosted:
            piece = as_string(event.get("delta")) or as_string(event.get("inputTextDelta"))
            self.builder.call(wire_id, wire_id=wire_id, arguments=piece)

    def _call(self, event: JsonObject) -> None:
        wire_id = _call_id(event)
        self._calls[wire_id] = event
        if event.get("providerExecuted") is True:
            self._hosted.add(wire_id)
            self._execute(wire_id, event, None)
            return
        name, source = as_string(event.get("toolName")), event.get("input")
        whole = ""
        if wire_id not in self.builder:
            whole = source if isinstance(source, str) else msgspec.json.encode(ingest(source)).decode()
        self.builder.call(wire_id, name=name, wire_id=wire_id, arguments=whole)
        form = Form.RESULT if event.get("type") == "tool-call" else Form.MESSAGE
        self.builder.done(wire_id, read_call(event, form, self._restore))

    def _result(self, event: JsonObject) -> None:
        if event.get("preliminary") is True:
            return
        wire_id = _call_id(event)
        event = _as_result(event)
        call = self._calls.get(wire_id)
        if wire_id in self._hosted or call is None:
            event = {**event, "providerExecuted": True} if wire_id in self._hosted else event
            self._execute(wire_id, call, event)
        else:
            self._results[wire_id] = event

    def _execute(self, wire_id: str, call: JsonObject | None, result: JsonObject | None) -> None:
        """What was executed at the other end is told with its first result; one that is repeated is read at the end."""
        is_told = self._executed.get(wire_id, (None, None))[1] is not None
        self._executed[wire_id] = call, result
        if result is None:
            self.builder.hold(("hosted", wire_id), HostedTool("", wire_id=wire_id))
        elif not is_told:
            self.builder.put(("hosted", wire_id), read_hosted(call, result, self._restore))

    def _put_file(self, event: JsonObject) -> None:
        media = read_file(event)
        if media is not None:
            self.builder.put(self._opened, media)
            self._opened += 1

    # The answer as a whole.

    def _finish(self, event: JsonObject) -> None:
        self._finish_step(event)
        for wire_id, (call, result) in self._executed.items():
            if result is None:
                self.builder.hold(("hosted", wire_id), read_hosted(call, result, self._restore))
        self.ending, self.new_word = read_ending(self._reason, has_calls=False)

    def _finish_step(self, event: JsonObject) -> None:
        self.usage = usage_of(event.get("usage") or event.get("totalUsage")) or self.usage
        self._reason = event.get("finishReason") or self._reason
        self._learn(event)

    def _fail(self, event: JsonObject) -> None:
        raise provider_error(event.get("error") or event.get("errorText") or "no message")

    def _learn(self, event: JsonObject) -> None:
        """What is said about the response as a whole."""
        about = event if event.get("type") == "response-metadata" else as_object(event.get("response"))
        self.served = as_text(about.get("modelId")) or self.served
        self.response_id = as_text(about.get("id")) or self.response_id

    def _answer(self, blocks: tuple[Block, ...], ending: Ending) -> Answer:
        blocks = tuple(self._settled(block) for block in blocks)
        if ending is Ending.DONE:
            ending = read_ending(self._reason, has_calls=any(isinstance(block, ToolCall) for block in blocks)).ending
        return super()._answer(blocks, ending)

    def _settled(self, block: Block) -> Block:
        """What was executed at the other end, with its last result; a call of ours that has one was, too."""
        if isinstance(block, HostedTool):
            return read_hosted(*self._executed[block.wire_id], self._restore)
        if isinstance(block, ToolCall) and block.wire_id in self._results:
            return read_hosted(self._calls[block.wire_id], self._results[block.wire_id], self._restore)
        return block

    _READERS: ClassVar[dict[str, Callable[[Decoder, JsonObject], None]]] = {
        "text-start": _begin_text,
        "text-delta": _grow_text,
        "text-end": _end_text,
        "reasoning-start": _begin_thought,
        "reasoning-delta": _grow_thought,
        "reasoning-end": _end_thought,
        "tool-input-start": _begin_call,
        "tool-input-delta": _grow_call,
        "tool-call": _call,
        "tool-input-available": _call,
        "tool-input-error": _call,
        "tool-result": _result,
        "tool-error": _result,
        "tool-output-available": _result,
        "tool-output-error": _result,
        "file": _put_file,
        "error": _fail,
        "finish-step": _finish_step,
        "finish": _finish,
    }
    """what is done with the parts that bring something"""


def _piece(event: JsonObject) -> str:
    return as_string(event.get("delta")) or as_string(event.get("text"))


def _call_id(event: JsonObject) -> str:
    return as_text(event.get("toolCallId")) or as_text(event.get("id"))


def _as_result(event: JsonObject) -> JsonObject:
    """What a UI message stream says of a result, in the words of a language model."""
    if event.get("type") == "tool-output-error":
        return {**event, "type": "tool-error", "error": event.get("errorText")}
    return event
