"""Write an answer as a response of the Responses API: a body, or a stream of events while it arrives.

In:  an answer, or its deltas, and the name of the model that is to have given it.
Out: what the official client accepts.

Call ids are those of the answer. Item ids are made from the response's id and the item's place, so that the same answer
gives the same bytes; times are zero, because nothing here knows the clock.

A text streams before anybody knows how the answer ends, so it is a refusal only where its block says so; any other
answer that was refused is one that a content filter stopped.
"""

from __future__ import annotations

from legato.model import (
    Answer,
    Block,
    CallKind,
    Code,
    Ending,
    HostedTool,
    JsonObject,
    Media,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
    Usage,
)
from legato.wire.arguments import written_arguments
from legato.wire.deltas import answer_id
from legato.wire.growing import Growing, Part, minted_id
from legato.wire.openai_responses.shapes import (
    custom_call,
    function_call,
    message_item,
    output_text,
    reasoning_item,
    refusal,
    summary_text,
)
from legato.wire.plain import told
from legato.wire.replying import Event, EventWriter, tool_response_in_answer


def reply(answer: Answer, model: str) -> JsonObject:
    """`answer` as a response body."""
    response_id = _response_id(answer_id(answer))
    output = [_item(block, response_id, place) for place, block in enumerate(answer.entry.blocks)]
    return _response(model, response_id) | _ended(answer, output)


class Writer(EventWriter):
    """Writes the events of one response. Items grow, and are repeated whole when they are done."""

    names_events = True
    free_text = None

    def __init__(
        self,
        model: str,
        response_id: str,
        usage: Usage | None = None,
        *,
        whole_calls: bool = False,
        joins_usage: bool = False,
    ) -> None:
        super().__init__(model, _response_id(response_id), usage, whole_calls=whole_calls, joins_usage=joins_usage)
        self._sent = 0
        self._items: dict[int, JsonObject] = {}

    def frame(self, event: JsonObject) -> bytes:
        """One event with its number."""
        number, self._sent = self._sent, self._sent + 1
        return super().frame(event | {"sequence_number": number})

    def begin(self) -> list[Event]:
        """The response without its output."""
        response = _response(self.model, self.response_id)
        return [{"type": f"response.{kind}", "response": response} for kind in ("created", "in_progress")]

    def open(self, part: Part) -> list[Event]:
        """An item before it grows."""
        item = self._items[part.place] = _item(part.begun, self.response_id, part.place)
        match part.begun:
            case Text():
                content = item["content"][0]
                begun = {"type": "response.content_part.added", **self._where(part, content_index=0), "part": content}
                return [_added(part.place, item | {"status": "in_progress", "content": []}), begun]
            case Thinking():
                return [_added(part.place, reasoning_item(item.get("id", ""), ""))]
            case ToolCall():
                return [_added(part.place, item | {"status": "in_progress"} | _arguments(part, ""))]

    def grow(self, part: Part, piece: str) -> list[Event]:
        """More of an item."""
        match part.begun:
            case Text():
                return [self._text_event(part, "delta", delta=piece)]
            case Thinking():
                where = self._where(part, summary_index=0)
                growth: Event = {"type": "response.reasoning_summary_text.delta", **where, "delta": piece}
                if part.pieces:
                    return [growth]
                return [{"type": "response.reasoning_summary_part.added", **where, "part": summary_text("")}, growth]
            case ToolCall():
                return [{"type": f"response.{_call_name(part)}.delta", **self._where(part), "delta": piece}]

    def seal(self, part: Part, block: Growing) -> list[Event]:
        """The whole item, which the end of the response repeats."""
        item, begun = _item(block, self.response_id, part.place), self._items[part.place]
        # The client takes an item for another one if it is not called what it was called when it began.
        item = item | {name: begun[name] for name in ("id", "call_id") if name in item and name in begun}
        self._items[part.place] = item | _arguments(part, part.text) if isinstance(block, ToolCall) else item
        return []

    def close(self, part: Part, block: Growing) -> list[Event]:
        """What has grown is repeated, and then the item."""
        item = self._items[part.place]
        events: list[Event] = []
        match block:
            case Text():
                where = self._where(part, content_index=0)
                events = [
                    self._text_event(part, "done", **{"refusal" if _is_refusal(part.begun) else "text": part.text}),
                    {"type": "response.content_part.done", **where, "part": item["content"][0]},
                ]
            case Thinking() if part.pieces:
                where = self._where(part, summary_index=0)
                events = [
                    {"type": "response.reasoning_summary_text.done", **where, "text": part.text},
                    {"type": "response.reasoning_summary_part.done", **where, "part": summary_text(part.text)},
                ]
            case Thinking():
                pass
            case ToolCall():
                whole = _arguments(part, part.text) | ({} if part.is_free_text else {"name": block.name})
                events = [{"type": f"response.{_call_name(part)}.done", **self._where(part), **whole}]
        return [*events, _done(part.place, item)]

    def own(self, block: Code | HostedTool | Media) -> list[Event] | None:
        """The item of a tool that the provider ran."""
        item = _hosted(block)
        if item is None:
            return None
        place, self.places = self.places, self.places + 1
        self._items[place] = item
        return [_added(place, item), _done(place, item)]

    def end(self, answer: Answer) -> list[Event]:
        """The whole response."""
        output = [item for _, item in sorted(self._items.items())]
        response = _response(self.model, self.response_id) | _ended(answer, output)
        kind = "completed" if response["status"] == "completed" else "incomplete"
        return [{"type": f"response.{kind}", "response": response}]

    def _text_event(self, part: Part, what: str, **fields: str) -> Event:
        where: JsonObject = self._where(part, content_index=0) | fields
        if _is_refusal(part.begun):
            return {"type": f"response.refusal.{what}", **where}
        return {"type": f"response.output_text.{what}", **where, "logprobs": []}

    def _where(self, part: Part, **index: int) -> JsonObject:
        return {"output_index": part.place, "item_id": self._items[part.place].get("id", ""), **index}


def _added(place: int, item: JsonObject) -> Event:
    return {"type": "response.output_item.added", "output_index": place, "item": item}


def _done(place: int, item: JsonObject) -> Event:
    return {"type": "response.output_item.done", "output_index": place, "item": item}


def _call_name(part: Part) -> str:
    return "custom_tool_call_input" if part.is_free_text else "function_call_arguments"


def _arguments(part: Part, text: str) -> JsonObject:
    return {"input" if part.is_free_text else "arguments": text}


# --- what both are made of --------------------------------------------------------------------------------------------


def _response_id(given: str) -> str:
    return given if given.startswith("resp_") else minted_id("resp_", given, 0)


def _response(model: str, response_id: str) -> JsonObject:
    return {
        "id": response_id,
        "object": "response",
        "created_at": 0,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": model,
        "output": [],
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": None,
    }


_STATUS: dict[Ending, tuple[str, str | None]] = {
    Ending.LENGTH: ("incomplete", "max_output_tokens"),
    Ending.CUT: ("incomplete", None),
    Ending.CANCELLED: ("cancelled", None),
    Ending.REFUSED: ("incomplete", "content_filter"),
}


def _ended(answer: Answer, output: list[JsonObject]) -> JsonObject:
    status, reason = _STATUS.get(answer.entry.ending or Ending.DONE, ("completed", None))
    if reason == "content_filter" and any(_is_refusal(block) for block in answer.entry.blocks):
        status, reason = "completed", None
    return {
        "status": status,
        "incomplete_details": None if reason is None else {"reason": reason},
        "output": output,
        "usage": None if answer.usage is None else _usage(answer.usage),
    }


def _usage(usage: Usage) -> JsonObject:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


def _item(block: Block, response_id: str, place: int) -> JsonObject:
    native = block.native or {}
    match block:
        case Text():
            content = refusal(block.text) if _is_refusal(block) else output_text(block.text)
            return _message(content, response_id, place) | {name: native[name] for name in native if name == "phase"}
        case Thinking():
            item: JsonObject | None = native.get("item")
            return item if item is not None else reasoning_item(minted_id("rs_", response_id, place), block.text)
        case ToolCall():
            return _call(block, response_id, place)
        case ToolResponse():
            raise tool_response_in_answer()
        case _:
            return _hosted(block) or _message(output_text(told(block)), response_id, place)


def _message(content: JsonObject, response_id: str, place: int) -> JsonObject:
    identity = {"id": minted_id("msg_", response_id, place), "status": "completed"}
    return message_item("assistant", [content]) | identity


def _call(call: ToolCall, response_id: str, place: int) -> JsonObject:
    wire_id, written = call.wire_id or minted_id("call_", response_id, place), written_arguments(call)
    if call.kind is CallKind.CUSTOM:
        item: JsonObject = {"id": minted_id("ctc_", response_id, place)} | custom_call(wire_id, call.name, written)
    else:
        # What the model wrote, even where it is not JSON: a client has to cope with that as from the provider itself.
        item = function_call(wire_id, call.name, call) | {
            "id": minted_id("fc_", response_id, place),
            "arguments": written,
        }
    native = call.native or {}
    kept = {name: native[name] for name in ("namespace", "caller") if name in native}
    if call.namespace:
        kept["namespace"] = call.namespace
    return item | kept | {"status": "completed" if call.finished else "incomplete"}


def _hosted(block: Code | HostedTool | Media) -> JsonObject | None:
    return (block.native or {}).get("item") if isinstance(block, HostedTool) else None


def _is_refusal(block: Block) -> bool:
    return isinstance(block, Text) and bool((block.native or {}).get("refusal"))
