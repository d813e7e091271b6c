"""Marks for the prompt cache.

Where they go among the messages is decided when a request is assembled, for they are no part of what was said; which
block can carry one is a matter of this dialect (https://platform.claude.com/docs/en/build-with-claude/prompt-caching).
The head takes two of the four that the API allows: one behind the tools, one behind the instructions. For the same
reason marks are not kept when a request is read: that there were some is an option (`Options.cache`), and so is how
long they last (`Options.cache_ttl`).
"""

from __future__ import annotations

from legato.model import JsonObject
from legato.model.json_access import as_list, as_object, as_objects
from legato.model.lasting import made_of

_NEVER = frozenset({"thinking", "redacted_thinking"})


def may_carry_mark(block: JsonObject) -> bool:
    """Whether a mark on `block` is accepted: never on thinking, never on text that is empty."""
    kind = block.get("type")
    return kind not in _NEVER and (kind != "text" or bool(str(block.get("text", "")).strip()))


def marked(block: JsonObject, ttl: str = "") -> JsonObject:
    """A copy of `block` that ends a cached prefix, which is kept for `ttl` (`5m`, `1h`) or as long as is usual."""
    return {**block, "cache_control": {"type": "ephemeral", "ttl": ttl} if ttl else {"type": "ephemeral"}}


def mark(block: JsonObject, ttl: str = "") -> list[JsonObject] | None:
    """A copy of `block` that ends a cached prefix; None if it may not."""
    return [marked(block, ttl)] if may_carry_mark(block) else None


def mark_head(fields: JsonObject, ttl: str = "") -> JsonObject:
    """The fields of the head with a mark on the last tool and one on the last instruction."""
    lists = {name: as_list(fields.get(name)) for name in ("tools", "system")}  # `system` may also be a plain string
    return fields | {name: made_of(items, _marked_last, ttl) for name, items in lists.items() if items}


def _marked_last(items: list[JsonObject], ttl: str) -> list[JsonObject]:
    return [*items[:-1], marked(items[-1], ttl)]


def find_marks(body: JsonObject) -> list[JsonObject]:
    """The marks in a request: of the request as a whole, on tools, on instructions and on what messages hold."""
    messages = as_list(body.get("messages"))
    return [*marks_of_head(body), *(mark for message in messages for mark in marks_of_message(as_object(message)))]


def marks_of_head(body: JsonObject) -> list[JsonObject]:
    """Those of them that no message holds."""
    return _marks_on([body, *as_objects(body.get("tools")), *as_objects(body.get("system"))])


def marks_of_message(message: JsonObject) -> list[JsonObject]:
    """The marks on what a message holds."""
    return _marks_on(as_objects(message.get("content")))


def _marks_on(blocks: list[JsonObject]) -> list[JsonObject]:
    return [as_object(block["cache_control"]) for block in blocks if block.get("cache_control")]
