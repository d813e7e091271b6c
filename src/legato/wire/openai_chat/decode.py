"""A chat completion, as a body, read into an `Answer`.

The first choice counts. Its message is read by the same reader as a stream's deltas.
"""

from __future__ import annotations

from legato.errors import BadAnswer
from legato.model import Answer, Ending, Entry, JsonObject, Speaker, Target, ingest
from legato.model.json_access import as_object, as_objects, as_string
from legato.wire.context import Names
from legato.wire.endings import CUT_SHORT
from legato.wire.openai_chat.message import MessageReader
from legato.wire.openai_chat.reading import raise_for_error, read_ending, read_usage


def decode(body: JsonObject, target: Target, names: Names) -> Answer:
    """The answer in a response body; raises `BadAnswer` for an error object or an empty answer."""
    body = as_object(ingest(body))
    raise_for_error(body)
    choices = as_objects(body.get("choices"))
    if not choices:
        raise BadAnswer("the response holds no choices, so there is no answer in it", layer="decode", body=body)
    choice = choices[0]
    raise_for_error(choice)
    reader = MessageReader(names)
    reader.read_message(as_object(choice.get("message")))
    ending, new_word = read_ending(
        as_string(choice.get("finish_reason")), has_calls=reader.builder.has_calls, is_refused=reader.is_refused
    )
    blocks = reader.builder.blocks(cut=ending in CUT_SHORT)
    if not blocks and ending is not Ending.REFUSED:
        raise BadAnswer("the answer is empty", layer="decode", finish_reason=choice.get("finish_reason"))
    served = as_string(body.get("model"))
    return Answer(
        Entry(Speaker.AI, blocks, origin=target.origin(served), ending=ending),
        usage=read_usage(body.get("usage")),
        served=served,
        response_id=as_string(body.get("id")),
        new_word=new_word,
    )
