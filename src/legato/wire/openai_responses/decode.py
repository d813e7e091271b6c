"""Read a response body of the Responses API as an answer.

In:  the body, as JSON or as the SDK dumps it (with fields that are null).
Out: one `Answer` with the blocks in the order of the output items.
"""

from __future__ import annotations

from legato.errors import BadAnswer
from legato.model import Answer, Block, Ending, Entry, JsonObject, Speaker, Target, ToolCall, Usage, ingest
from legato.model.json_access import as_count, as_object, as_objects, as_text
from legato.wire.openai_responses.reading import blocks_of
from legato.wire.voice import Names


def decode(body: JsonObject, target: Target, names: Names) -> Answer:
    """The answer in `body`; raises `BadAnswer` for an error, an empty answer, or one that is not finished."""
    raise_error(body)
    output = as_objects(body.get("output"))
    blocks = output_blocks(output, names)
    ending = ending_of(body, output, blocks)
    if not blocks and ending is not Ending.REFUSED:
        raise empty_answer(ending)
    served = as_text(body.get("model"))
    return Answer(
        Entry(Speaker.AI, tuple(blocks), origin=target.origin(served), ending=ending),
        usage=usage_of(body),
        served=served,
        response_id=as_text(body.get("id")),
    )


def output_blocks(output: list[JsonObject], names: Names) -> list[Block]:
    """The blocks of all output items."""
    outputs = {item["call_id"] for item in output if _is_output(item)}
    blocks: list[Block] = []
    for item in output:
        blocks += blocks_of(item, outputs=outputs, restore=names.restore)
    return blocks


def _is_output(item: JsonObject) -> bool:
    return as_text(item.get("type")).endswith("_output") and isinstance(item.get("call_id"), str)


def ending_of(body: JsonObject, output: list[JsonObject], blocks: list[Block]) -> Ending:
    """How the answer ended; raises `BadAnswer` if it has not."""
    status = as_text(body.get("status")) or "completed"  # some compatible servers leave it out
    if status == "incomplete":
        reason = as_object(body.get("incomplete_details")).get("reason")
        return _INCOMPLETE.get(as_text(reason), Ending.CUT)
    if status == "cancelled":
        return Ending.CANCELLED
    if status != "completed":
        raise BadAnswer(f"the response is {status}: wait until it is finished, then read it", layer="decode")
    if any(has_refusal(item) for item in output):
        return Ending.REFUSED
    return Ending.CALLS if any(isinstance(block, ToolCall) for block in blocks) else Ending.DONE


_INCOMPLETE = {"max_output_tokens": Ending.LENGTH, "content_filter": Ending.REFUSED}


def has_refusal(item: JsonObject) -> bool:
    """Whether the model refused in this message."""
    return item.get("type") == "message" and any(
        part.get("type") == "refusal" for part in as_objects(item.get("content"))
    )


def usage_of(body: JsonObject) -> Usage | None:
    """The tokens as the provider counted them."""
    usage = as_object(body.get("usage"))
    if not usage:
        return None
    read = as_object(usage.get("input_tokens_details"))
    written = as_object(usage.get("output_tokens_details"))
    return Usage(
        input=as_count(usage.get("input_tokens")),
        output=as_count(usage.get("output_tokens")),
        cache_read=as_count(read.get("cached_tokens")),
        cache_write=as_count(read.get("cache_write_tokens")),
        reasoning=as_count(written.get("reasoning_tokens")),
    )


def raise_error(body: JsonObject) -> None:
    """Raise `BadAnswer` if `body` is an error rather than an answer."""
    error = body.get("error")
    if not error:
        if body.get("status") == "failed":
            raise BadAnswer("the response failed and the provider does not say why", layer="decode", error={})
        return
    message = as_text(error) or as_text(as_object(error).get("message")) or "an error without a message"
    raise BadAnswer(f"the provider answered with an error: {message}", layer="decode", error=ingest(error))


def empty_answer(ending: Ending) -> BadAnswer:
    """The error for an answer that holds nothing."""
    if ending is Ending.LENGTH:
        return BadAnswer(
            "the answer is empty: all tokens that it was allowed went into thinking; allow more", layer="decode"
        )
    return BadAnswer("the answer is empty", layer="decode")
