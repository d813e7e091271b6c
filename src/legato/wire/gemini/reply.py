"""Write an answer as this provider's response: a body, or a stream of events while it arrives.

In:  an answer, or its deltas, and the name of the model that seems to give it.
Out: what the official client accepts. Ids and signatures are those of the answer, unchanged.

Text streams as parts without a mark where a block ends. A call is one part, so it is written when it is whole.
"""

from __future__ import annotations

from legato.model import (
    Answer,
    Block,
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
from legato.wire.deltas import answer_id, spoken
from legato.wire.gemini.shapes import REACHABLE, function_call, media_part, model, text_part, thought_part
from legato.wire.growing import Growing, Part
from legato.wire.plain import told
from legato.wire.replying import Event, EventWriter, tool_response_in_answer

_FINISH_REASONS = {Ending.LENGTH: "MAX_TOKENS", Ending.REFUSED: "SAFETY"}
_SIGNATURE = "thoughtSignature"
_BESIDE = ("groundingMetadata", "urlContextMetadata")


def reply(answer: Answer, model: str) -> JsonObject:
    """The answer as a response body."""
    parts = [part for block in spoken(answer) for part in _parts(block)]
    return _ended(_response(parts, model, answer_id(answer)), answer)


class Writer(EventWriter):
    """Writes the events of one response: each has its form, with the parts that are new."""

    newline = b"\r\n"

    def __init__(
        self,
        model: str,
        response_id: str,
        usage: Usage | None = None,
        *,
        whole_calls: bool = True,
        joins_usage: bool = True,
    ) -> None:
        super().__init__(model, response_id, usage, whole_calls=True, joins_usage=True)

    def begin(self) -> list[Event]:
        """Nothing is said before the first part."""
        return []

    def open(self, part: Part) -> list[Event]:
        """Nor does a part begin before there is something in it."""
        return []

    def grow(self, part: Part, piece: str) -> list[Event]:
        """A part with more text; one that is known to be signed comes whole, as its signature is that of all of it."""
        if _SIGNATURE in part.native or isinstance(part.begun, ToolCall):
            return []
        return [self._event(_text(part.begun, piece))]

    def seal(self, part: Part, block: Growing) -> list[Event]:
        """A signature that comes after its text stands in a part with an empty one, as the provider itself sends it."""
        signature = _signature(block)
        if not signature or _SIGNATURE in part.native or isinstance(block, ToolCall):
            return []
        return [self._event(_text(block, "") | signature)]

    def close(self, part: Part, block: Growing) -> list[Event]:
        """The part, if it comes whole."""
        if _SIGNATURE in part.native or isinstance(block, ToolCall):
            return [self._event(printed) for printed in _parts(block)]
        return []

    def own(self, block: Code | HostedTool | Media) -> list[Event] | None:
        """The parts of a tool that the provider ran, or of an attachment."""
        parts = _own(block)
        return None if parts is None else [self._event(part) for part in parts]

    def end(self, answer: Answer) -> list[Event]:
        """How the response ended, what it cost, and where the provider looked.

        The provider's own streams end on an empty text. A content without parts would not do: Google's client takes
        an answer with one for invalid and forgets the turn.
        """
        return [_ended(_response([text_part("")], self.model, self.response_id), answer)]

    def _event(self, part: JsonObject) -> Event:
        return _response([part], self.model, self.response_id)


# --- what both are made of --------------------------------------------------------------------------------------------


def _response(parts: list[JsonObject], name: str, response_id: str) -> JsonObject:
    candidate: JsonObject = {"content": model(parts), "index": 0}
    return {"candidates": [candidate], "modelVersion": name, "responseId": response_id}


def _ended(response: JsonObject, answer: Answer) -> JsonObject:
    candidate = response["candidates"][0]
    candidate["finishReason"] = _FINISH_REASONS.get(answer.entry.ending or Ending.DONE, "STOP")
    for block in answer.entry.blocks:
        if isinstance(block, HostedTool) and block.native is not None:
            candidate |= {name: block.native[name] for name in _BESIDE if name in block.native}
    return response | {"usageMetadata": _usage(answer.usage or Usage())}


def _parts(block: Block) -> list[JsonObject]:
    match block:
        case Text() | Thinking():
            return [_text(block, block.text) | _signature(block)]
        case ToolCall():
            return [function_call(block.wire_id, block.name, block) | _signature(block)]
        case ToolResponse():
            raise tool_response_in_answer()
        case _:
            parts = _own(block)
            return [text_part(told(block))] if parts is None else parts


def _text(block: Growing, text: str) -> JsonObject:
    return thought_part(text) if isinstance(block, Thinking) else text_part(text)


def _signature(block: Block) -> JsonObject:
    signature = (block.native or {}).get(_SIGNATURE)
    return {_SIGNATURE: signature} if signature else {}


def _own(block: Code | HostedTool | Media) -> list[JsonObject] | None:
    """What the provider tells of its tools stands in parts, or beside them."""
    native = block.native or {}
    if isinstance(block, HostedTool):
        return native.get("parts") or ([] if any(name in native for name in _BESIDE) else None)
    if isinstance(block, Media) and REACHABLE.accepts(block):
        return [media_part(block) | _signature(block)]
    return None


def _usage(usage: Usage) -> JsonObject:
    printed: JsonObject = {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "totalTokenCount": usage.input + usage.output,
    }
    if usage.reasoning:
        printed["thoughtsTokenCount"] = usage.reasoning
    if usage.cache_read:
        printed["cachedContentTokenCount"] = usage.cache_read
    return printed
