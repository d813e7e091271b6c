"""Read a stream of the AI SDK.

In:  stream parts of a language model (`text-delta`, `tool-call`, `finish`, ...), or of a UI message stream, which names
     some of them differently, as server-sent events.
Out: deltas to show while it runs, and at the end the answer that `decode` gives for the same content.

Ids of texts and thoughts may be used again after their end, so each start opens a new block. What a call was given
counts as its `tool-call` part says; a call whose result comes in the stream was executed at the other end.
"""

from __future__ import annotations

from collections.abc import Hashable

import msgspec

from legato.model import Answer, Block, Ending, HostedTool, Json, JsonObject, Target, ToolCall, ingest
from legato.model.json_access import as_object, as_text
from legato.wire.contract import Delta
from legato.wire.stream import EventDecoder
from legato.wire.vercel.decode import ending_of, provider_error, usage_of
from legato.wire.vercel.reading import Form, native_of, read_call, read_file, read_hosted
from legato.wire.voice import Names


class Decoder(EventDecoder):
    """Reads one streamed answer."""

    def __init__(self, target: Target, names: Names) -> None:
        super().__init__(target, names)
        self._restore = names.restore
        self._open: dict[tuple[str, str], Hashable] = {}
        """the block that is being written under an id"""
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

    def event(self, event: JsonObject) -> list[Delta]:
        """Take one part."""
        kind = as_text(event.get("type"))
        match kind:
            case "text-start" | "reasoning-start":
                self._begin(kind.removesuffix("-start"), event)
            case "text-delta" | "reasoning-delta":
                return self._grow(kind.removesuffix("-delta"), event)
            case "text-end" | "reasoning-end":
                self._sign(self._open.get((kind.removesuffix("-end"), as_text(event.get("id")))), event)
            case "tool-input-start":
                return self._begin_call(event)
            case "tool-input-delta":
                return self._grow_call(event)
            case "tool-call" | "tool-input-available" | "tool-input-error":
                return self._call(event)
            case "tool-result" | "tool-error" | "tool-output-available" | "tool-output-error":
                self._result(event)
            case "file":
                self._put_file(event)
            case "error":
                raise provider_error(event.get("error") or event.get("errorText") or "no message")
            case "finish" | "finish-step":
                self._finish(event, is_last=kind == "finish")
            case _:
                self._learn(event)
        return []

    # Texts and thoughts.

    def _key(self, kind: str, event: JsonObject) -> Hashable:
        name = (kind, as_text(event.get("id")))
        if name not in self._open:
            self._open[name] = (*name, self._opened)
            self._opened += 1
        return self._open[name]

    def _begin(self, kind: str, event: JsonObject) -> None:
        self._open.pop((kind, as_text(event.get("id"))), None)
        self._grow(kind, event)

    def _grow(self, kind: str, event: JsonObject) -> list[Delta]:
        key = self._key(kind, event)
        piece = as_text(event.get("delta")) or as_text(event.get("text"))
        deltas = self.builder.text(key, piece) if kind == "text" else self.builder.thinking(key, piece)
        self._sign(key, event)
        return deltas

    def _sign(self, key: Hashable, event: JsonObject) -> None:
        native = native_of(event)
        if native is not None and key in self.builder:
            self.builder.native(key, **native)

    # Tools.

    def _begin_call(self, event: JsonObject) -> list[Delta]:
        wire_id = _call_id(event)
        if event.get("providerExecuted") is True:
            self._hosted.add(wire_id)
            return []
        return self.builder.call(wire_id, name=as_text(event.get("toolName")), wire_id=wire_id)

    def _grow_call(self, event: JsonObject) -> list[Delta]:
        wire_id = _call_id(event)
        if wire_id in self._hosted:
            return []
        piece = as_text(event.get("delta")) or as_text(event.get("inputTextDelta"))
        return self.builder.call(wire_id, wire_id=wire_id, arguments=piece)

    def _call(self, event: JsonObject) -> list[Delta]:
        wire_id = _call_id(event)
        self._calls[wire_id] = event
        if event.get("providerExecuted") is True:
            self._hosted.add(wire_id)
            return self._execute(wire_id, event, None)
        name, source = as_text(event.get("toolName")), event.get("input")
        whole = source if isinstance(source, str) else msgspec.json.encode(ingest(source)).decode()
        if wire_id in self.builder:
            deltas = self.builder.call(wire_id, name=name)
            self.builder.replace_arguments(wire_id, whole)
        else:
            deltas = self.builder.call(wire_id, name=name, wire_id=wire_id, arguments=whole)
        self.builder.done(wire_id)
        return deltas

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

    def _execute(self, wire_id: str, call: JsonObject | None, result: JsonObject | None) -> list[Delta]:
        """Keep a place for what was executed; it is read once, at the end, however often its result is repeated."""
        self._executed[wire_id] = call, result
        return self.builder.put(("hosted", wire_id), HostedTool("", wire_id=wire_id))

    def _put_file(self, event: JsonObject) -> None:
        media = read_file(event)
        if media is not None:
            self.builder.put(("file", self._opened), media)
            self._opened += 1

    # The answer as a whole.

    def _finish(self, event: JsonObject, *, is_last: bool) -> None:
        self.usage = usage_of(event.get("usage") or event.get("totalUsage")) or self.usage
        self._reason = event.get("finishReason") or self._reason
        self._learn(event)
        if is_last:
            self.ending = ending_of(self._reason, [])

    def _learn(self, event: JsonObject) -> None:
        """What is said about the response as a whole."""
        about = event if event.get("type") == "response-metadata" else as_object(event.get("response"))
        self.served = as_text(about.get("modelId")) or self.served
        self.response_id = as_text(about.get("id")) or self.response_id

    def _answer(self, blocks: tuple[Block, ...], ending: Ending) -> Answer:
        blocks = tuple(self._settled(block) for block in blocks)
        if ending is Ending.DONE:
            ending = ending_of(self._reason, list(blocks))
        return super()._answer(blocks, ending)

    def _settled(self, block: Block) -> Block:
        """A call as its own part says it, or as the hosted tool that its result makes it."""
        if isinstance(block, HostedTool):
            return read_hosted(*self._executed[block.wire_id], self._restore)
        if not isinstance(block, ToolCall) or block.wire_id not in self._calls:
            return block
        part = self._calls[block.wire_id]
        result = self._results.get(block.wire_id)
        if result is not None:
            return read_hosted(part, result, self._restore)
        form = Form.RESULT if part.get("type") == "tool-call" else Form.MESSAGE
        return read_call(part, form, self._restore)


def _call_id(event: JsonObject) -> str:
    return as_text(event.get("toolCallId")) or as_text(event.get("id"))


def _as_result(event: JsonObject) -> JsonObject:
    """What a UI message stream says of a result, in the words of a language model."""
    if event.get("type") == "tool-output-error":
        return {**event, "type": "tool-error", "error": event.get("errorText")}
    return event
