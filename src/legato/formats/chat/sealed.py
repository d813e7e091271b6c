"""What LiteLLM puts beside a chat message so that a model gets its thoughts back.

`thinking_blocks` are the blocks of Claude as they came. A signature of Gemini is in the `provider_specific_fields` of a
call, or behind `__thought__` in the id of it, for programs that keep nothing but ids (BerriAI/litellm,
`litellm_core_utils/prompt_templates/factory.py`).
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from legato.formats.fields import as_object, as_objects, as_text
from legato.model import Json, JsonObject, Thinking, ToolCall, ToolResponse

_MARK = "__thought__"


def read_thinking_blocks(blocks: Json) -> list[Thinking]:
    """The thoughts in `thinking_blocks`."""
    thoughts: list[Thinking] = []
    for block in as_objects(blocks):
        text, signature, data = (as_text(block.get(name)) for name in ("thinking", "signature", "data"))
        native: JsonObject | None = {"data": data} if data else {"signature": signature} if signature else None
        if text or native:
            thoughts.append(Thinking(text, native=native))
    return thoughts


def write_thinking_blocks(thoughts: Iterable[Thinking]) -> list[JsonObject]:
    """The same the other way; only what is signed or sealed."""
    written: list[JsonObject] = []
    for thought in thoughts:
        native = thought.native or {}
        if native.get("data"):
            written.append({"type": "redacted_thinking", "data": native["data"]})
        elif native.get("signature"):
            written.append({"type": "thinking", "thinking": thought.text, "signature": native["signature"]})
    return written


def with_signature(call: ToolCall, source: JsonObject) -> ToolCall:
    """A call with the signature of Gemini that came with it, and its id without."""
    wire_id, _, hidden = call.wire_id.partition(_MARK)
    told = (source, as_object(source.get("function")))
    signatures = (as_text(as_object(one.get("provider_specific_fields")).get("thought_signature")) for one in told)
    signature = next(filter(None, signatures), "") or hidden
    if not signature:
        return call
    return replace(call, wire_id=wire_id, native={"thoughtSignature": signature})


def without_signature(result: ToolResponse) -> ToolResponse:
    """A result under the id that its call has without a signature."""
    return replace(result, wire_id=result.wire_id.partition(_MARK)[0]) if _MARK in result.wire_id else result
