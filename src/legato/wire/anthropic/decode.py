"""Read a response body as an `Answer`.

In:  the body of a message, as JSON or as an SDK object dumps it, and the target it came from.
Out: an entry with the blocks in the provider's order, each with its own signature; or `BadAnswer`.

`read_blocks` also serves `parse`: an assistant message in a request has the same blocks. Tools that the provider ran
are two blocks there and one `HostedTool` here.
"""

from __future__ import annotations

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
from legato.model.json_access import as_count, as_id, as_list, as_object, as_text, present
from legato.wire.anthropic.hosted import is_result, is_use, joined, read_hosted
from legato.wire.arguments import read_arguments
from legato.wire.context import Names
from legato.wire.endings import Ended, ending_of
from legato.wire.text_forms import REFUSED

_ENDINGS = {  # https://docs.anthropic.com/en/api/handling-stop-reasons
    "end_turn": Ending.DONE,
    "stop_sequence": Ending.DONE,
    "tool_use": Ending.CALLS,
    "max_tokens": Ending.LENGTH,
    "model_context_window_exceeded": Ending.LENGTH,
    "pause_turn": Ending.PAUSED,
    "refusal": Ending.REFUSED,
}


def decode(body: JsonObject, target: Target, names: Names) -> Answer:
    """The answer in a response body; raises `BadAnswer` for an error object, or if there is none."""
    refuse_error(body)
    blocks = tuple(read_blocks(as_list(body.get("content")), names.restore))
    has_calls = any(isinstance(block, ToolCall) for block in blocks)
    ending, new_word = read_ending(body.get("stop_reason"), has_calls=has_calls)
    blocks, ending = settle(blocks, ending, body.get("stop_details"))
    if not blocks:
        raise BadAnswer("the answer is empty", layer="decode", stop_reason=body.get("stop_reason"))
    served = as_text(body.get("model"))
    entry = Entry(Speaker.AI, blocks, origin=target.origin(served), ending=ending)
    return Answer(entry, read_usage(as_object(body.get("usage"))), served, as_text(body.get("id")), new_word)


def refuse_error(body: JsonObject) -> None:
    """Raise `BadAnswer` if `body` is an error object."""
    error = as_object(body.get("error"))
    if error or body.get("type") == "error":
        said = as_text(error.get("message")) or "no reason given"
        raise BadAnswer(f"the provider answered with an error: {said}", layer="decode", error=ingest(error or body))


def read_ending(stop_reason: Json, *, has_calls: bool) -> Ended:
    """How the answer ended."""
    return ending_of(as_text(stop_reason), _ENDINGS, has_calls=has_calls)


def settle(blocks: tuple[Block, ...], ending: Ending, details: Json) -> tuple[tuple[Block, ...], Ending]:
    """What the ending says about the blocks.

    An answer that ran into its limit was cut inside its last block: a call there is unfinished, even if its arguments
    can be read.
    """
    if ending is Ending.LENGTH and blocks and isinstance(blocks[-1], ToolCall):
        return (*blocks[:-1], replace(blocks[-1], finished=False)), ending
    if ending is Ending.REFUSED and not blocks:
        return (Text(as_text(as_object(details).get("explanation")) or REFUSED),), ending
    return blocks, ending


def read_blocks(content: Iterable[Json], restore: Callable[[str], str]) -> list[Block]:
    """The content of an assistant message as blocks."""
    blocks: list[Block] = []
    uses: dict[str, int] = {}
    for item in content:
        block = read_block(as_object(item), restore)
        if block is None:
            continue
        if isinstance(block, HostedTool) and block.wire_id:
            if is_result(as_object(item)) and (at := uses.pop(block.wire_id, None)) is not None:
                blocks[at] = joined(_hosted(blocks[at]), block)
                continue
            if is_use(as_object(item)):
                uses[block.wire_id] = len(blocks)
        blocks.append(block)
    return blocks


def read_block(item: JsonObject, restore: Callable[[str], str]) -> Block | None:
    """One block of an assistant message; None if there is nothing in it."""
    match item.get("type"):
        case "text":
            text, native = as_text(item.get("text")), read_citations(item.get("citations"))
            return Text(text, native=native) if text or native else None
        case "thinking":
            return read_thinking(item)
        case "redacted_thinking":
            return Thinking(native={"data": as_text(item.get("data"))})
        case "tool_use":
            value, raw, finished = read_arguments(item.get("input"))
            return ToolCall(
                restore(as_text(item.get("name"))),
                value,
                as_id(item.get("id")),
                raw=raw,
                finished=finished,
                native=read_caller(item.get("caller")),
            )
        case _:
            return read_hosted(item) if item else None


def read_thinking(item: JsonObject) -> Thinking | None:
    """A thought with its signature; None if it has neither."""
    text, signature = as_text(item.get("thinking")), as_text(item.get("signature"))
    if not signature and not text:
        return None
    return Thinking(text, native={"signature": signature} if signature else None)


def read_citations(citations: Json) -> JsonObject | None:
    """The citations of a text, to go back with it."""
    if not citations:
        return None
    kept = [ingest(present(as_object(citation))) for citation in as_list(citations)]
    return {"citations": kept} if kept else None


def read_caller(caller: Json) -> JsonObject | None:
    """Who made a call, if it was not the model itself but code that it wrote."""
    value = present(as_object(caller))
    return {"caller": ingest(value)} if value and value.get("type") != "direct" else None


def read_usage(usage: JsonObject) -> Usage | None:
    """Tokens; the provider counts what went through its cache apart from the rest of the input."""
    if not usage:
        return None
    written = as_count(usage.get("cache_creation_input_tokens"))
    read = as_count(usage.get("cache_read_input_tokens"))
    return Usage(
        input=as_count(usage.get("input_tokens")) + written + read,
        output=as_count(usage.get("output_tokens")),
        cache_read=read,
        cache_write=written,
        reasoning=as_count(as_object(usage.get("output_tokens_details")).get("thinking_tokens")),
    )


def _hosted(block: Block) -> HostedTool:
    assert isinstance(block, HostedTool)  # `uses` holds the places of these alone
    return block
