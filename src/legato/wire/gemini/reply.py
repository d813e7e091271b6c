"""Write an answer as a response of `generateContent`.

In:  an answer, or its deltas, and the name of the model that seems to give it.
Out: what the official client accepts. Ids and signatures are those of the answer, unchanged.

Text streams as parts without a mark where a block ends. A call is one part, so it is written when it is whole.
"""

from __future__ import annotations

from legato.model import Answer, Block, Ending, HostedTool, JsonObject, Media, Thinking, ToolCall, Usage
from legato.wire.gemini.shapes import REACHABLE, function_call, media_part, model, text_part, thought_part
from legato.wire.growing import Growing, Part, Whole
from legato.wire.replying import Event, EventWriter

_FINISH_REASONS = dict.fromkeys(Ending, "STOP") | {
    Ending.LENGTH: "MAX_TOKENS",
    Ending.REFUSED: "SAFETY",
    Ending.CUT: "OTHER",  # a body without a reason would be taken for a good one
    Ending.CANCELLED: "OTHER",
}
_SIGNATURE = "thoughtSignature"
_BESIDE = ("groundingMetadata", "urlContextMetadata")


class Writer(EventWriter):
    """Writes one response, or events that each have its form, with the parts that are new."""

    newline = b"\r\n"
    calls_come_whole = True
    reasons = _FINISH_REASONS

    def item(self, block: Growing, place: int) -> JsonObject:
        """A part."""
        if isinstance(block, ToolCall):
            return function_call(block.wire_id, block.name, block) | _signature(block)
        return _prose(block, block.text) | _signature(block)

    def own(self, block: Whole, place: int) -> list[JsonObject] | None:
        """What the provider tells of its tools, in parts or beside them, or an attachment."""
        native = block.native or {}
        if isinstance(block, HostedTool):
            return native.get("parts") or ([] if any(name in native for name in _BESIDE) else None)
        if isinstance(block, Media) and REACHABLE.accepts(block):
            return [media_part(block) | _signature(block)]
        return None

    def body(self, answer: Answer) -> JsonObject:
        """The response."""
        return self._ended(self.output, answer)

    def grow(self, part: Part, piece: str) -> list[Event]:
        """A part with more text; one that is known to be signed comes whole, as its signature is that of all of it."""
        return [] if _comes_whole(part) else [self._response([_prose(part.begun, piece)])]

    def seal(self, part: Part, block: Growing) -> list[Event]:
        """A signature that comes after its text is in a part with an empty one, as the provider itself sends it."""
        signature = _signature(block)
        if not signature or _comes_whole(part):
            return []
        return [self._response([_prose(block, "") | signature])]

    def close(self, part: Part, block: Growing) -> list[Event]:
        """The part, if it comes whole."""
        return self.put(self.item(block, part.place), part.place) if _comes_whole(part) else []

    def put(self, item: JsonObject, place: int) -> list[Event]:
        """A part that comes whole."""
        return [self._response([item])]

    def end(self, answer: Answer) -> list[Event]:
        """How the response ended, what it cost, and where the provider looked.

        The provider's own streams end on an empty text. A content without parts would not do: Google's client takes
        an answer with one for invalid and forgets the turn.
        """
        return [self._ended([text_part("")], answer)]

    def _response(self, parts: list[JsonObject]) -> JsonObject:
        candidate: JsonObject = {"content": model(parts), "index": 0}
        return {"candidates": [candidate], "modelVersion": self.model, "responseId": self.response_id}

    def _ended(self, parts: list[JsonObject], answer: Answer) -> JsonObject:
        response = self._response(parts)
        candidate = response["candidates"][0]
        candidate["finishReason"] = self.reason(answer)
        for block in answer.entry.blocks:
            if isinstance(block, HostedTool) and block.native is not None:
                candidate |= {name: block.native[name] for name in _BESIDE if name in block.native}
        return response | {"usageMetadata": _usage(answer.usage or self.usage)}


def _prose(block: Growing, text: str) -> JsonObject:
    return thought_part(text) if isinstance(block, Thinking) else text_part(text)


def _comes_whole(part: Part) -> bool:
    return isinstance(part.begun, ToolCall) or _SIGNATURE in part.native


def _signature(block: Block) -> JsonObject:
    signature = (block.native or {}).get(_SIGNATURE)
    return {_SIGNATURE: signature} if signature else {}


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
