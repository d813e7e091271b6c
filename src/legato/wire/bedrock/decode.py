"""Read a response body as an `Answer`.

In:  the body of a Converse response, and the target it came from.
Out: an entry with the blocks in the provider's order, each thought with its signature; or `BadAnswer`.

`read_block` also serves `parse`: an assistant message in a request has the same blocks.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from legato.errors import BadAnswer
from legato.model import (
    Answer,
    Block,
    Ending,
    Entry,
    HostedTool,
    Json,
    JsonObject,
    Speaker,
    Target,
    Text,
    Thinking,
    ToolCall,
    Usage,
    ingest,
)
from legato.model.json_access import as_count, as_id, as_list, as_object, as_objects, as_text, present
from legato.wire.arguments import read_arguments
from legato.wire.bedrock.media import read_media
from legato.wire.context import Names
from legato.wire.endings import Ended, ending_of
from legato.wire.text_forms import REFUSED

_ENDINGS = {  # https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
    "end_turn": Ending.DONE,
    "stop_sequence": Ending.DONE,
    "tool_use": Ending.CALLS,
    "max_tokens": Ending.LENGTH,
    "model_context_window_exceeded": Ending.LENGTH,
    "guardrail_intervened": Ending.REFUSED,
    "content_filtered": Ending.REFUSED,
}
SERVER_TOOL = "server_tool_use"
"""the type of a call that the service runs itself"""


def decode(body: JsonObject, target: Target, names: Names) -> Answer:
    """The answer in a response body; raises `BadAnswer` for an error, or if there is none."""
    refuse_error(body)
    message = as_object(as_object(body.get("output")).get("message"))
    blocks = tuple(read_blocks(as_list(message.get("content")), names.restore))
    has_calls = any(isinstance(block, ToolCall) for block in blocks)
    ending, new_word = read_ending(body.get("stopReason"), has_calls=has_calls)
    blocks = settle(blocks, ending)
    if not blocks:
        raise BadAnswer("the answer is empty", layer="decode", stop_reason=body.get("stopReason"))
    entry = Entry(Speaker.AI, blocks, origin=target.origin(), ending=ending)
    return Answer(entry, read_usage(as_object(body.get("usage"))), new_word=new_word)


def refuse_error(body: JsonObject) -> None:
    """Raise `BadAnswer` if `body` is an error: it holds a message and no output."""
    said = as_text(body.get("message")) or as_text(body.get("Message"))
    if said and "output" not in body:
        raise BadAnswer(f"the provider answered with an error: {said}", layer="decode", error=ingest(body))


def read_ending(stop_reason: Json, *, has_calls: bool) -> Ended:
    """How the answer ended."""
    return ending_of(as_text(stop_reason), _ENDINGS, has_calls=has_calls)


def settle(blocks: tuple[Block, ...], ending: Ending) -> tuple[Block, ...]:
    """What the ending says about the blocks: a limit cuts the last call, and a guardrail may leave nothing at all."""
    if ending is Ending.LENGTH and blocks and isinstance(blocks[-1], ToolCall):
        return (*blocks[:-1], replace(blocks[-1], finished=False))
    if ending is Ending.REFUSED and not blocks:
        return (Text(REFUSED),)
    return blocks


def read_blocks(content: Iterable[Json], restore: Callable[[str], str]) -> list[Block]:
    """The content of an assistant message as blocks."""
    blocks = (read_block(as_object(item), restore) for item in content)
    return [block for block in blocks if block is not None]


def read_block(item: JsonObject, restore: Callable[[str], str]) -> Block | None:
    """One block of an assistant message; None if there is nothing in it."""
    kind = kind_of(item)
    match kind:
        case "text":
            text = as_text(item["text"])
            return Text(text) if text else None
        case "citationsContent":
            text = "".join(as_text(part.get("text")) for part in as_objects(as_object(item[kind]).get("content")))
            return Text(text) if text else None
        case "reasoningContent":
            return read_reasoning(as_object(item[kind]))
        case "toolUse" if as_object(item[kind]).get("type") != SERVER_TOOL:
            return _read_call(as_object(item[kind]), restore)
        case "image" | "document" | "video":
            return read_media(item) or _read_hosted(kind, item)
        case "" | "cachePoint":
            return None
        case _:
            return _read_hosted(kind, item)


def kind_of(item: JsonObject) -> str:
    """The one member of a block that says what it is; SDKs dump the others as null."""
    return next((name for name, value in item.items() if value is not None), "")


def _read_call(call: JsonObject, restore: Callable[[str], str]) -> ToolCall:
    value, raw, finished = read_arguments(call.get("input"))
    name, wire_id = restore(as_text(call.get("name"))), as_id(call.get("toolUseId"))
    return ToolCall(name, value, wire_id, raw=raw, finished=finished)


def _read_hosted(kind: str, item: JsonObject) -> HostedTool:
    """A tool that the service ran, what it gave, or a block of a kind that is new to us."""
    held = as_object(item[kind])
    name = as_text(held.get("name")) or as_text(kind)
    kept: JsonObject = {"blocks": [ingest(present(item))]}
    if kind == "toolUse":
        wire_id = as_text(held.get("toolUseId"))
        return HostedTool(name, read_arguments(held.get("input")).value, wire_id=wire_id, native=kept)
    result = held.get("content") if kind == "toolResult" else held or item[kind]
    return HostedTool(name, result=ingest(result), wire_id=as_text(held.get("toolUseId")), native=kept)


def read_reasoning(content: JsonObject) -> Thinking | None:
    """A thought with its signature, or one that only the provider can read; None if there is nothing in it."""
    if data := as_base64(content.get("redactedContent")):
        return Thinking(native={"data": data})
    said = as_object(content.get("reasoningText"))
    text, signature = as_text(said.get("text")), as_text(said.get("signature"))
    return Thinking(text, native={"signature": signature} if signature else None) if text or signature else None


def as_base64(value: object) -> str:
    """Data as the JSON of the service has it; its Python client gives bytes."""
    return b64encode(value).decode() if isinstance(value, bytes) else as_text(value)


def read_usage(usage: JsonObject) -> Usage | None:
    """Tokens; the service counts what went through its cache apart from the rest of the input."""
    if not usage:
        return None
    written, read = as_count(usage.get("cacheWriteInputTokens")), as_count(usage.get("cacheReadInputTokens"))
    return Usage(
        input=as_count(usage.get("inputTokens")) + written + read,
        output=as_count(usage.get("outputTokens")),
        cache_read=read,
        cache_write=written,
    )
