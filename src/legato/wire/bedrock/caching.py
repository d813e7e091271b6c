"""Marks for the prompt cache: a block of its own behind what is to be cached.

Where they go among the messages is decided when a request is assembled, for they are no part of what was said. For the
same reason they are not kept when a request is read: that there were some is an option
(https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html).
"""

from __future__ import annotations

from legato.model import JsonObject
from legato.model.json_access import as_list, as_object, as_objects

_NEVER = frozenset({"reasoningContent", "cachePoint"})


def cache_point(ttl: str = "") -> JsonObject:
    """The mark, for what is kept for `ttl` (`5m`, `1h`) or as long as is usual."""
    return {"cachePoint": {"type": "default", "ttl": ttl} if ttl else {"type": "default"}}


def mark(block: JsonObject, ttl: str = "") -> list[JsonObject] | None:
    """`block` with a mark behind it; None if a mark may not follow it."""
    return None if block.keys() & _NEVER else [block, cache_point(ttl)]


def mark_head(fields: JsonObject, ttl: str = "") -> JsonObject:
    """The fields of the head with a mark behind the tools and one behind the instructions."""
    marked = dict(fields)
    if system := as_list(fields.get("system")):
        marked["system"] = [*system, cache_point(ttl)]
    config = as_object(fields.get("toolConfig"))
    if tools := as_list(config.get("tools")):
        marked["toolConfig"] = {**config, "tools": [*tools, cache_point(ttl)]}
    return marked


def find_marks(body: JsonObject) -> list[JsonObject]:
    """The marks in a request: behind tools, behind instructions and among what messages hold."""
    messages = [as_objects(as_object(message).get("content")) for message in as_list(body.get("messages"))]
    places = [as_objects(as_object(body.get("toolConfig")).get("tools")), as_objects(body.get("system")), *messages]
    return [as_object(block["cachePoint"]) for place in places for block in place if block.get("cachePoint")]
