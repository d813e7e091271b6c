"""Read a response body of the Responses API as an answer.

In:  the body, as JSON or as the SDK dumps it (with fields that are null).
Out: one `Answer` with the blocks in the order of the output items.
"""

from __future__ import annotations

from legato.errors import BadAnswer
from legato.model import Answer, Block, Ending, Entry, JsonObject, Speaker, Target, ToolCall, Usage, ingest
from legato.model.json_access import as_count, as_object, as_objects, as_text
from legato.wire.context import Names
from legato.wire.endings import Ended, ending_of
from legato.wire.openai_responses.reading import blocks_of


def decode(body: JsonObject, target: Target, names: Names) -> Answer:
    """The answer in `body`; raises `BadAnswer` for an error, an empty answer, or one that is not finished."""
    raise_error(body)
    output = as_objects(body.get("output"))
    blocks = output_blocks(output, names)
    ending, new_word = read_ending(body, output, blocks)
    if not blocks and ending is not Ending.REFUSED:
        raise empty_answer(ending)
    served = as_text(body.get("model"))
    return Answer(
        Entry(Speaker.AI, tuple(blocks), origin=target.origin(served), ending=ending),
        usage=usage_of(body),
        served=served,
        response_id=as_text(body.get("id")),
        new_word=new_word,
    )


def output_blocks(output: list[JsonObject], names: Names) -> list[Block]:
    """The blocks of all output items."""
    outputs = call_outputs(output)
    blocks: list[Block] = []
    for item in output:
        blocks += blocks_of(item, outputs=outputs, restore=names.restore)
    return blocks


def call_outputs(output: list[JsonObject]) -> set[str]:
    """The ids of the calls that the provider answered itself."""
    return {item["call_id"] for item in output if _is_output(item)}


def _is_output(item: JsonObject) -> bool:
    return as_text(item.get("type")).endswith("_output") and isinstance(item.get("call_id"), str)


def read_ending(body: JsonObject, output: list[JsonObject], blocks: list[Block]) -> Ended:
    """How the answer ended; raises `BadAnswer` if it has not."""
    status = as_text(body.get("status")) or "completed"  # some compatible servers leave it out
    has_calls = any(isinstance(block, ToolCall) for block in blocks)
    match status:
        case "completed":
            is_refused = any(has_refusal(item) for item in output)
            return Ended(Ending.REFUSED) if is_refused else ending_of("", _INCOMPLETE, has_calls=has_calls)
        case "incomplete":
            reason = as_text(as_object(body.get("incomplete_details")).get("reason"))
            return Ended(ending_of(reason or status, _INCOMPLETE, has_calls=has_calls).ending)  # it is, says the status
        case "cancelled":
            return Ended(Ending.CANCELLED)
        case _:
            raise BadAnswer(f"the response is {status}: wait until it is finished, then read it", layer="decode")


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
