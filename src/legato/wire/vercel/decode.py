"""Read what the AI SDK gives for one step as an answer.

In:  the result of a language model's `doGenerate` (also as `generateText` returns it), or `{messages: [...]}` as in
     `response.messages`; both in the forms that the versions of the SDK use.
Out: one `Answer`. Sources and warnings are not the model's word and stay out of it.
"""

from __future__ import annotations

from legato.errors import BadAnswer
from legato.model import Answer, Block, Ending, Entry, Json, JsonObject, Speaker, Target, ToolCall, Usage, ingest
from legato.model.json_access import as_count, as_object, as_objects, as_text
from legato.wire.context import Names
from legato.wire.endings import Ended, ending_of
from legato.wire.vercel.reading import Form, answer_blocks


def decode(body: JsonObject, target: Target, names: Names) -> Answer:
    """The answer in `body`; raises `BadAnswer` for an error or an empty answer."""
    if body.get("error"):
        raise provider_error(body["error"])
    response = as_object(body.get("response"))
    blocks = _blocks(body, response, names)
    has_calls = any(isinstance(block, ToolCall) for block in blocks)
    ending, new_word = read_ending(body.get("finishReason"), has_calls=has_calls)
    if not blocks and ending is not Ending.REFUSED:
        raise BadAnswer("the answer is empty", layer="decode")
    served = as_text(response.get("modelId"))
    return Answer(
        Entry(Speaker.AI, tuple(blocks), origin=target.origin(served), ending=ending),
        usage=usage_of(body.get("usage")),
        served=served,
        response_id=as_text(response.get("id")),
        new_word=new_word,
    )


def _blocks(body: JsonObject, response: JsonObject, names: Names) -> list[Block]:
    if isinstance(body.get("content"), list):
        return answer_blocks(as_objects(body["content"]), Form.RESULT, names.restore)
    parts: list[JsonObject] = []
    for message in as_objects(body.get("messages") or response.get("messages")):
        content = message.get("content")
        parts += [{"type": "text", "text": content}] if isinstance(content, str) else as_objects(content)
    return answer_blocks(parts, Form.MESSAGE, names.restore)


def read_ending(reason: Json, *, has_calls: bool) -> Ended:
    """How the answer ended, from the finish reason in any of its forms."""
    unified = as_text(as_object(reason).get("unified")) or as_text(reason)
    if unified == "error":
        raise provider_error({"finishReason": ingest(reason)})
    return ending_of(unified, _ENDINGS, has_calls=has_calls)


_ENDINGS = {  # https://ai-sdk.dev/docs/reference/ai-sdk-core/generate-text
    "other": Ending.CUT,
    "stop": Ending.DONE,
    "tool-calls": Ending.CALLS,
    "length": Ending.LENGTH,
    "content-filter": Ending.REFUSED,
    "interrupted": Ending.CUT,
    "unknown": Ending.DONE,  # the provider gave none
}


def usage_of(usage: Json) -> Usage | None:
    """Tokens, as numbers side by side (older versions) or grouped."""
    counts = as_object(usage)
    if not counts:
        return None
    read, written = counts.get("inputTokens"), counts.get("outputTokens")
    if isinstance(read, dict) or isinstance(written, dict):
        read, written = as_object(read), as_object(written)
        return Usage(
            input=as_count(read.get("total")),
            output=as_count(written.get("total")),
            cache_read=as_count(read.get("cacheRead")),
            cache_write=as_count(read.get("cacheWrite")),
            reasoning=as_count(written.get("reasoning")),
        )
    return Usage(
        input=as_count(read),
        output=as_count(written),
        cache_read=as_count(counts.get("cachedInputTokens")),
        reasoning=as_count(counts.get("reasoningTokens")),
    )


def provider_error(error: Json) -> BadAnswer:
    """The error that stands for one which came in place of an answer."""
    message = as_text(error) or as_text(as_object(error).get("message")) or "no message"
    return BadAnswer(f"the provider answered with an error: {message}", layer="decode", error=ingest(error))
