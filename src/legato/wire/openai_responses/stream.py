"""Read a streamed response of the Responses API.

In:  semantic events: items are opened, grow by deltas, and are repeated whole when they are done.
Out: deltas to show while it runs, and at the end the answer that `decode` gives for the same items.

Until the response ends, the deltas are collected under their output index, so that a cut stream still gives what was
visible. At the end the finished items are what counts, those of `output_item.done` first: the provider warns that the
encrypted reasoning in earlier events may be incomplete.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, ClassVar, cast

from legato.errors import BadAnswer
from legato.model import Block, CallKind, Ending, JsonObject, Target
from legato.model.json_access import as_count, as_object, as_objects, as_string, as_text
from legato.wire.context import Names
from legato.wire.openai_responses.decode import (
    call_outputs,
    empty_answer,
    output_blocks,
    raise_error,
    read_ending,
    usage_of,
)
from legato.wire.openai_responses.pieces import PIECES, StreamPiece
from legato.wire.openai_responses.places import ItemPlaces
from legato.wire.openai_responses.reading import blocks_of, call_native, message_native, thinking_text
from legato.wire.stream import EventDecoder

_CALLS = {"function_call": CallKind.FUNCTION, "custom_tool_call": CallKind.CUSTOM}
_GROWING_CALLS = frozenset({"response.function_call_arguments.delta", "response.custom_tool_call_input.delta"})


class Decoder(EventDecoder):
    """Reads one streamed response."""

    pieces = PIECES

    def __init__(self, target: Target, names: Names) -> None:
        super().__init__(target, names)
        self._names = names
        self._items = ItemPlaces()
        self._part: dict[Hashable, Hashable] = {}
        """which part of a reasoning item grew last: parts are set apart by a blank line"""
        self._shells: dict[Hashable, JsonObject] = {}
        """calls of a shell, which may be ours or the provider's"""
        self._whole: tuple[Block, ...] | None = None
        """the blocks of the finished items"""

    def read(self, event: JsonObject) -> None:
        """Take one event; kinds that are new to us say at most something about the response as a whole."""
        read = self._READERS.get(as_string(event.get("type")))
        if read is None:
            self._learn(event)
        else:
            read(self, event)

    def grow(self, piece: StreamPiece) -> bool:
        """Take a delta of an item that has grown before."""
        kind, place = piece.type, piece.output_index
        if place in self._items.shared:
            return False
        if kind == "response.output_text.delta":
            key = (place, piece.content_index or 0)
            if key not in self.builder:
                return False
            self.builder.text(key, piece.delta)
        elif kind in _GROWING_CALLS:
            return place in self._items.begun and self.builder.arguments(place, piece.delta)
        else:
            if self._part.get(place) != (kind, piece.summary_index, piece.content_index):
                return False
            self.builder.thinking(place, piece.delta)
        return True

    # --- items --------------------------------------------------------------------------------------------------------

    def _open(self, event: JsonObject) -> None:
        item = as_object(event.get("item"))
        place = self._items.open(event, item)
        kind = _CALLS.get(as_string(item.get("type")))
        if kind is not None:
            self._name_call(place, item, kind)

    def _speak(self, event: JsonObject) -> None:
        place, piece = self._items.more(event, "message"), as_string(event.get("delta"))
        key = (place, as_count(event.get("content_index")))
        if key in self.builder:
            self.builder.text(key, piece)
        else:
            is_refusal = event["type"] == "response.refusal.delta"
            self.builder.text(key, piece, message_native(self._items.begun[place], is_refusal=is_refusal))

    def _think(self, event: JsonObject) -> None:
        place, piece = self._items.more(event, "reasoning"), as_string(event.get("delta"))
        if not piece:
            return
        part = (event.get("type"), event.get("summary_index"), event.get("content_index"))
        if self._part.setdefault(place, part) != part:
            self._part[place] = part
            piece = "\n\n" + piece
        self.builder.thinking(place, piece)

    def _call(self, event: JsonObject) -> None:
        self.builder.call(self._items.more(event, "function_call"), arguments=as_string(event.get("delta")))

    def _call_freely(self, event: JsonObject) -> None:
        place = self._items.more(event, "custom_tool_call")
        self.builder.call(place, arguments=as_string(event.get("delta")), kind=CallKind.CUSTOM)

    def _close(self, event: JsonObject) -> None:
        """An item is whole: tell of it what no delta has told."""
        item = as_object(event.get("item"))
        place = self._items.close(event, item)
        item = self._items.done[place] = self._first_named(place, item)
        blocks = blocks_of(item, restore=self._names.restore)
        match item.get("type"):
            case "message":
                self._close_message(place, item)
            case "reasoning" if blocks:
                self.builder.thinking(place, "" if place in self.builder else thinking_text(item))
                self.builder.done(place, blocks[0])
            case "function_call" | "custom_tool_call":
                self._close_call(place, item, blocks[0])
            case "shell_call":  # whose shell it is shows at the end: the provider's has its output in the response
                self.builder.hold(place, blocks[0])
                self._shells[place] = item
            case _:
                for block in blocks:
                    self.builder.put(place, block)

    def _close_message(self, place: Hashable, item: JsonObject) -> None:
        for index, part in enumerate(as_objects(item.get("content"))):
            key = (place, index)
            text = "" if key in self.builder else as_string(part.get("text")) or as_string(part.get("refusal"))
            self.builder.text(key, text, message_native(item, is_refusal=part.get("type") == "refusal"))
            self.builder.done(key)

    def _close_call(self, place: Hashable, item: JsonObject, block: Block) -> None:
        kind = _CALLS[as_string(item.get("type"))]
        whole = as_string(item.get("arguments" if kind is CallKind.FUNCTION else "input"))
        self._name_call(place, item, kind, "" if place in self.builder else whole)
        self.builder.done(place, block if whole else None)

    def _name_call(self, place: Hashable, item: JsonObject, kind: CallKind, arguments: str = "") -> None:
        name, wire_id, namespace = (as_string(item.get(field)) for field in ("name", "call_id", "namespace"))
        about = {"name": name, "wire_id": wire_id, "namespace": namespace}
        self.builder.call(place, **about, arguments=arguments, kind=kind, native=call_native(item))

    def _first_named(self, place: Hashable, item: JsonObject) -> JsonObject:
        """`item` under the call id that it began with: that is the one which others may have heard of."""
        first = as_text(self._items.begun.get(place, {}).get("call_id"))
        return {**item, "call_id": first} if first and as_string(item.get("type")) in _CALLS else item

    # --- the response as a whole --------------------------------------------------------------------------------------

    def _learn(self, event: JsonObject) -> None:
        """What an event says about the response as a whole; an error without a type is one too."""
        response = as_object(event.get("response"))
        self.served = as_text(response.get("model")) or self.served
        self.response_id = as_text(response.get("id")) or self.response_id
        if "type" not in event:
            raise_error(event)

    def _fail(self, event: JsonObject) -> None:
        raise_error(event if event.get("error") else {"error": event})

    def _end(self, event: JsonObject) -> None:
        if self.ending is not None:
            return  # a response ends once
        self._learn(event)
        kind, response = as_string(event.get("type")), as_object(event.get("response"))
        if kind == "response.failed":
            response = {"status": "failed", **response}
        raise_error(response)
        self.usage = usage_of(response)
        items = self._whole_items(response)
        if items is not None:
            self._whole = tuple(output_blocks(items, self._names))
            self._tell_unseen(self._whole, call_outputs(items))
        status = response.get("status") or kind.removeprefix("response.")
        blocks = list(self._blocks(cut=False))
        self.ending, self.new_word = read_ending(
            {**response, "status": status}, items or list(self._items.done.values()), blocks
        )

    def _whole_items(self, response: JsonObject) -> list[JsonObject] | None:
        """All items of the response, whole; None if one of them never was."""
        begun, done = self._items.begun, self._items.done
        listed = dict(enumerate(as_objects(response.get("output"))))
        if len(done) == len(begun) >= len(listed):
            places: Iterable[Any] = sorted(cast("Iterable[int]", done)) if self._items.are_numbered else begun
            return [done[place] for place in places]
        if self._items.are_numbered:
            places = sorted({*listed, *cast("Iterable[int]", begun)})
            items = [done.get(place) or listed.get(place) for place in places]
            items = [item and self._first_named(place, item) for place, item in zip(places, items, strict=True)]
        else:
            items = list(listed.values()) or [done.get(place) for place in begun]
        whole = [item for item in items if item is not None]
        return whole if len(whole) == len(items) else None

    def _tell_unseen(self, blocks: tuple[Block, ...], outputs: set[str]) -> None:
        """Tell what is known only now that all items are there; that may be all of them."""
        for place, item in self._shells.items():
            self.builder.put(place, blocks_of(item, outputs=outputs, restore=self._names.restore)[0])
        if self.builder.is_empty:
            for index, block in enumerate(blocks):
                self.builder.put(index, block)

    def _blocks(self, *, cut: bool) -> tuple[Block, ...]:
        return super()._blocks(cut=cut) if self._whole is None else self._whole

    def _empty_answer(self, ending: Ending) -> BadAnswer:
        return empty_answer(ending)

    _READERS: ClassVar[dict[str, Callable[[Decoder, JsonObject], None]]] = {
        "response.output_text.delta": _speak,
        "response.refusal.delta": _speak,
        "response.reasoning_summary_text.delta": _think,
        "response.reasoning_text.delta": _think,
        "response.function_call_arguments.delta": _call,
        "response.custom_tool_call_input.delta": _call_freely,
        "response.output_item.added": _open,
        "response.output_item.done": _close,
        "response.completed": _end,
        "response.incomplete": _end,
        "response.failed": _end,
        "response.cancelled": _end,
        "error": _fail,
    }
    """what is done with the events that bring something"""
