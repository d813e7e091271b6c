"""Write an answer as a response of the Responses API.

In:  an answer, or its deltas, and the name of the model that is to have given it.
Out: what the official client accepts.

Call ids are those of the answer. Item ids are made from the response's id and the item's place, so that the same answer
gives the same bytes; times are zero, because nothing here knows the clock.

A text streams before anyone knows how the answer ends, so it is a refusal only where its block says so; any other
answer that was refused is one that a content filter stopped.
"""

from __future__ import annotations

from msgspec.structs import replace

from legato.model import Answer, Block, CallKind, Ending, HostedTool, JsonObject, Text, Thinking, ToolCall, Usage
from legato.wire.arguments import written_arguments
from legato.wire.growing import Growing, Part, Whole, minted_id
from legato.wire.openai_responses import shapes
from legato.wire.openai_responses.reading import SEARCH_CALL
from legato.wire.replying import Event, EventWriter

ITEM_TYPE = "item_type"
"""in the native data of a call that is to be written as an item of another type than a function's (`client_tools`)"""
REPEATED = frozenset(
    {
        "max_output_tokens",
        "max_tool_calls",
        "metadata",
        "parallel_tool_calls",
        "previous_response_id",
        "prompt_cache_key",
        "reasoning",
        "safety_identifier",
        "store",
        "temperature",
        "text",
        "tool_choice",
        "top_logprobs",
        "top_p",
        "truncation",
        "user",
    }
)
"""what a response says of its request. OpenAI's also have its instructions and tools, in each of three events: for a
coding agent that is far more than the answer, and no client is known that reads them there."""
_STATUS: dict[Ending, tuple[str, str | None]] = {
    Ending.LENGTH: ("incomplete", "max_output_tokens"),
    Ending.CUT: ("incomplete", None),
    Ending.CANCELLED: ("cancelled", None),
    Ending.REFUSED: ("incomplete", "content_filter"),
}
_INNER: dict[type[Block], tuple[str, str]] = {
    Text: ("content_part", "content_index"),
    Thinking: ("reasoning_summary_part", "summary_index"),
}
"""the part of an item that its text is in, and what its number is called"""


class Writer(EventWriter):
    """Writes one response, or its events. Items grow, and are repeated whole when they are done."""

    names_events = True
    free_text = None
    breaks_off = False
    id_prefix = "resp_"
    _sent = 0

    def frame(self, event: JsonObject) -> bytes:
        """One event with its number."""
        number, self._sent = self._sent, self._sent + 1
        return super().frame(event | {"sequence_number": number})

    def item(self, block: Growing, place: int) -> JsonObject:
        """An item."""
        native = block.native or {}
        match block:
            case Text():
                content = shapes.refusal(block.text) if _is_refusal(block) else shapes.output_text(block.text)
                message = shapes.message_item("assistant", [content]) | {"id": self._mint("msg_", place)}
                return message | {"status": "completed"} | {name: native[name] for name in native if name == "phase"}
            case Thinking():
                return native.get("item") or shapes.reasoning_item(self._mint("rs_", place), block.text)
            case ToolCall() if kind := native.get(ITEM_TYPE):
                return self._client_item(block, kind, place)
            case ToolCall():
                # What the model wrote, even where it is not JSON: a client has to cope with that from OpenAI as well.
                is_custom = block.kind is CallKind.CUSTOM
                make, prefix = (shapes.custom_call, "ctc_") if is_custom else (shapes.written_call, "fc_")
                call = make(block.wire_id or self._mint("call_", place), block.name, written_arguments(block))
                call |= {"id": self._mint(prefix, place), "status": "completed" if block.finished else "incomplete"}
                kept = {"namespace": block.namespace, "caller": native.get("caller")}
                return call | {name: value for name, value in kept.items() if value}

    def _client_item(self, call: ToolCall, kind: str, place: int) -> JsonObject:
        """A call of a tool that the client runs, as an item of that tool's own type: what is asked for is in it."""
        prefix = "".join(word[0] for word in kind.split("_"))
        item: JsonObject = {"id": self._mint(f"{prefix}_", place), "type": kind}
        item["call_id"] = call.wire_id or self._mint("call_", place)
        item |= {"execution": "client", "arguments": call.arguments} if kind == SEARCH_CALL else call.arguments
        return item | {"status": "completed" if call.finished else "incomplete"}

    def own(self, block: Whole, place: int) -> list[JsonObject] | None:
        """The item of a tool that the provider ran."""
        item = (block.native or {}).get("item") if isinstance(block, HostedTool) else None
        return None if item is None else [item]

    def body(self, answer: Answer) -> JsonObject:
        """The whole response."""
        status, reason = _STATUS.get(answer.entry.ending or Ending.DONE, ("completed", None))
        if reason == "content_filter" and any(map(_is_refusal, answer.entry.blocks)):
            status, reason = "completed", None
        return self._response() | {
            "status": status,
            "incomplete_details": None if reason is None else {"reason": reason},
            "output": self.output,
            "usage": None if answer.usage is None else _usage(answer.usage),
        }

    def begin(self) -> list[Event]:
        """The response without its output."""
        return [{"type": f"response.{kind}", "response": self._response()} for kind in ("created", "in_progress")]

    def open(self, part: Part) -> list[Event]:
        """An item before it grows."""
        item = self.output[part.place]
        name, beside = _growth(part)
        part.growth = self._event(part, f"{name}.delta", **beside)
        match part.begun:
            case Text():
                begun = _whole("added", part.place, item | {"status": "in_progress", "content": []})
                return [begun, self._inner(part, "added", item["content"][0])]
            case Thinking():
                return [_whole("added", part.place, shapes.reasoning_item(item.get("id", ""), ""))]
            case ToolCall():
                arguments = {} if _has_own_type(part) else _arguments(part, "")
                return [_whole("added", part.place, item | {"status": "in_progress"} | arguments)]

    def grow(self, part: Part, piece: str) -> list[Event]:
        """More of an item."""
        if _has_own_type(part):
            return []  # it has no words for pieces of what it asks for
        events = super().grow(part, piece)
        is_new = isinstance(part.begun, Thinking) and not part.pieces
        return [self._inner(part, "added", shapes.summary_text("")), *events] if is_new else events

    def seal(self, part: Part, block: Growing) -> list[Event]:
        """The whole item, which the end of the response repeats."""
        if isinstance(block, ToolCall) and _has_own_type(part):
            block = replace(block, native=part.native)
        item, begun = self.item(block, part.place), self.output[part.place]
        # The client takes an item for another one if it is not called what it was called when it began.
        item = item | {name: begun[name] for name in ("id", "call_id") if name in item and name in begun}
        is_written = isinstance(block, ToolCall) and not _has_own_type(part)
        self.output[part.place] = item | _arguments(part, part.text) if is_written else item
        return []

    def close(self, part: Part, block: Growing) -> list[Event]:
        """What has grown is repeated, and then the item."""
        item = self.output[part.place]
        name, beside = _growth(part)
        events: list[Event] = []
        if _has_own_type(part):
            pass  # the item is all there is
        elif isinstance(block, ToolCall):
            whole = _arguments(part, part.text) | ({} if part.is_free_text else {"name": block.name})
            events = [self._event(part, f"{name}.done", **whole)]
        elif isinstance(block, Text) or part.pieces:
            whole = {"refusal" if name == "refusal" else "text": part.text}
            inside = item["content"][0] if isinstance(block, Text) else shapes.summary_text(part.text)
            events = [self._event(part, f"{name}.done", **whole, **beside), self._inner(part, "done", inside)]
        return [*events, _whole("done", part.place, item)]

    def put(self, item: JsonObject, place: int) -> list[Event]:
        """An item that comes whole."""
        return [_whole("added", place, item), _whole("done", place, item)]

    def end(self, answer: Answer) -> list[Event]:
        """The whole response."""
        response = self.body(answer)
        kind = "completed" if response["status"] == "completed" else "incomplete"
        return [{"type": f"response.{kind}", "response": response}]

    def _mint(self, prefix: str, place: int) -> str:
        return minted_id(prefix, self.response_id, place)

    def _event(self, part: Part, kind: str, /, **fields: object) -> JsonObject:
        item_id = self.output[part.place].get("id", "")
        return {"type": f"response.{kind}", "output_index": part.place, "item_id": item_id, **fields}

    def _inner(self, part: Part, what: str, inside: JsonObject) -> Event:
        kind, number = _INNER[type(part.begun)]
        return self._event(part, f"{kind}.{what}", part=inside, **{number: 0})

    def _response(self) -> JsonObject:
        """The response before anything is in it."""
        return {
            "id": self.response_id,
            "object": "response",
            "created_at": self.created,
            "status": "in_progress",
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "model": self.model,
            "output": [],
            "parallel_tool_calls": True,
            "temperature": None,
            "tool_choice": "auto",
            "tools": [],
            "top_p": None,
            "usage": None,
            **self.repeated,
        }


def _growth(part: Part) -> tuple[str, JsonObject]:
    """What grows, as the names of its events have it, and what they say beside it."""
    match part.begun:
        case Text() if _is_refusal(part.begun):
            return "refusal", {"content_index": 0}
        case Text():
            return "output_text", {"content_index": 0, "logprobs": []}
        case Thinking():
            return "reasoning_summary_text", {"summary_index": 0}
        case ToolCall():
            return "custom_tool_call_input" if part.is_free_text else "function_call_arguments", {}


def _whole(what: str, place: int, item: JsonObject) -> Event:
    return {"type": f"response.output_item.{what}", "output_index": place, "item": item}


def _arguments(part: Part, text: str) -> JsonObject:
    return {"input" if part.is_free_text else "arguments": text}


def _has_own_type(part: Part) -> bool:
    return ITEM_TYPE in part.native


def _is_refusal(block: Block) -> bool:
    return isinstance(block, Text) and bool((block.native or {}).get("refusal"))


def _usage(usage: Usage) -> JsonObject:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }
