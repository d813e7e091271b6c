"""Read a streamed response of the Responses API.

In:  semantic events: items are opened, grow by deltas, and are repeated whole when they are done.
Out: deltas to show while it runs, and at the end the answer that `decode` gives for the same items.

Until the response ends, the deltas are collected under their output index, so that a cut stream still gives what was
visible. At the end the finished items are what counts, those of `output_item.done` first: the provider warns that the
encrypted reasoning in earlier events may be incomplete.
"""

from __future__ import annotations

from collections.abc import Hashable

from legato.model import Answer, CallKind, Ending, JsonObject, Target, ingest
from legato.model.json_access import as_count, as_object, as_objects, as_string, as_text
from legato.wire.contract import Delta
from legato.wire.openai_responses.decode import empty_answer, ending_of, output_blocks, raise_error, usage_of
from legato.wire.openai_responses.reading import blocks_of, thinking_text
from legato.wire.stream import AnswerBuilder, EventDecoder
from legato.wire.voice import Names

_CALLS = {"function_call": CallKind.FUNCTION, "custom_tool_call": CallKind.CUSTOM}
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})


class Decoder(EventDecoder):
    """Reads one streamed response."""

    def __init__(self, target: Target, names: Names) -> None:
        super().__init__(target, names)
        self._names = names
        self._done: dict[Hashable, JsonObject] = {}
        self._begun: dict[Hashable, None] = {}
        """the items that were seen, in order, by output index"""
        self._part: dict[Hashable, Hashable] = {}
        """which part of a reasoning item grew last: parts are set apart by a blank line"""

    def event(self, event: JsonObject) -> list[Delta]:
        """Take one event."""
        kind = as_string(event.get("type"))
        if kind in _ENDS:
            return self._end(as_object(event.get("response")), kind)
        match kind:
            case "response.output_item.added":
                return self._open(_place(event), as_object(event.get("item")))
            case "response.output_item.done":
                return self._close(_place(event), as_object(event.get("item")))
            case "response.output_text.delta" | "response.refusal.delta":
                place = self._begin(event)
                return self.builder.text((place, as_count(event.get("content_index"))), as_string(event.get("delta")))
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return self._think(event)
            case "response.function_call_arguments.delta":
                return self.builder.call(self._begin(event), arguments=as_string(event.get("delta")))
            case "response.custom_tool_call_input.delta":
                place = self._begin(event)
                return self.builder.call(place, arguments=as_string(event.get("delta")), kind=CallKind.CUSTOM)
            case "error":
                raise_error(event if event.get("error") else {"error": event})
            case _:
                self._learn(event)
        return []

    def finish(self) -> Answer:
        """The whole answer."""
        self._events(self._sse.close())
        if self.ending is not None and self.ending is not Ending.REFUSED and self.builder.is_empty:
            raise empty_answer(self.ending)
        return super().finish()

    def _learn(self, event: JsonObject) -> None:
        """What an event says about the response as a whole; an error without a type is one too."""
        response = as_object(event.get("response"))
        self.served = as_text(response.get("model")) or self.served
        self.response_id = as_text(response.get("id")) or self.response_id
        if "type" not in event:
            raise_error(event)

    def _begin(self, event: JsonObject) -> Hashable:
        place = _place(event)
        self._begun.setdefault(place)
        return place

    def _open(self, place: Hashable, item: JsonObject) -> list[Delta]:
        self._begun.setdefault(place)
        kind = _CALLS.get(as_string(item.get("type")))
        if kind is not None:
            name, wire_id = as_string(item.get("name")), as_string(item.get("call_id"))
            return self.builder.call(place, name=name, wire_id=wire_id, kind=kind)
        return []

    def _think(self, event: JsonObject) -> list[Delta]:
        place = self._begin(event)
        piece = as_string(event.get("delta"))
        if not piece:
            return []
        part = (event.get("type"), event.get("summary_index"), event.get("content_index"))
        if self._part.setdefault(place, part) != part:
            self._part[place] = part
            piece = "\n\n" + piece
        return self.builder.thinking(place, piece)

    def _close(self, place: Hashable, item: JsonObject) -> list[Delta]:
        """An item is whole; show what no delta has shown."""
        self._begun.setdefault(place)
        self._done[place] = item
        kind = as_string(item.get("type"))
        if kind in _CALLS:
            return self._close_call(place, item)
        if kind == "reasoning":
            return self._close_reasoning(place, item)
        if kind == "message":
            return self._close_message(place, item)
        for block in blocks_of(item):
            self.builder.put(place, block)
        return []

    def _close_reasoning(self, place: Hashable, item: JsonObject) -> list[Delta]:
        deltas = [] if place in self.builder else self.builder.thinking(place, thinking_text(item))
        if item.get("encrypted_content"):
            self.builder.native(place, item=ingest(item))
        return deltas

    def _close_message(self, place: Hashable, item: JsonObject) -> list[Delta]:
        deltas: list[Delta] = []
        for index, part in enumerate(as_objects(item.get("content"))):
            if (place, index) not in self.builder:
                deltas += self.builder.text(
                    (place, index), as_string(part.get("text")) or as_string(part.get("refusal"))
                )
            self.builder.native((place, index), phase=item.get("phase"))
        return deltas

    def _close_call(self, place: Hashable, item: JsonObject) -> list[Delta]:
        kind = _CALLS[as_string(item.get("type"))]
        whole = as_string(item.get("arguments" if kind is CallKind.FUNCTION else "input"))
        name, wire_id = as_string(item.get("name")), as_string(item.get("call_id"))
        if place in self.builder:
            deltas = self.builder.call(place, name=name, wire_id=wire_id, kind=kind)
            if whole:
                self.builder.replace_arguments(place, whole)
        else:
            deltas = self.builder.call(place, name=name, wire_id=wire_id, arguments=whole, kind=kind)
        self.builder.done(place)
        return deltas

    def _end(self, response: JsonObject, kind: str) -> list[Delta]:
        if self.ending is not None:
            return []  # a response ends once
        self._learn({"type": kind, "response": response})
        if kind == "response.failed":
            response = {"status": "failed", **response}
        raise_error(response)
        self.usage = usage_of(response)
        items = self._items(response)
        if items is not None:
            self._settle(items)
        blocks = list(self.builder.blocks())
        status = response.get("status") or kind.removeprefix("response.")
        self.ending = ending_of({**response, "status": status}, items or list(self._done.values()), blocks)
        return []

    def _items(self, response: JsonObject) -> list[JsonObject] | None:
        """All items of the response, whole; None if one of them never was."""
        listed = dict(enumerate(as_objects(response.get("output"))))
        numbered = [place for place in self._begun if isinstance(place, int)]
        if len(numbered) == len(self._begun):
            places = sorted({*listed, *numbered})
            items = [self._done.get(place) or listed.get(place) for place in places]
        else:  # items are known by their ids alone
            items = list(listed.values()) or [self._done.get(place) for place in self._begun]
        whole = [item for item in items if item is not None]
        return whole if len(whole) == len(items) else None

    def _settle(self, items: list[JsonObject]) -> None:
        self.builder = AnswerBuilder(self._names, self.builder.bounds)
        for index, block in enumerate(output_blocks(items, self._names)):
            self.builder.put(index, block)


def _place(event: JsonObject) -> Hashable:
    """The output index names an item; servers that leave it out name it by id."""
    index = event.get("output_index")
    if type(index) is int:
        return index
    return as_string(event.get("item_id")) or as_string(as_object(event.get("item")).get("id"))
