"""Marks for the prompt cache.

Where they go among the messages is decided when a request is assembled, for they are no part of what was said; which
block can carry one is a matter of this dialect. The head takes two of the four that the API allows: one behind the
tools, one behind the instructions.
"""

from __future__ import annotations

from legato.model import JsonObject
from legato.model.json_access import as_list

_NEVER = frozenset({"thinking", "redacted_thinking"})


def may_carry_mark(block: JsonObject) -> bool:
    """Whether a mark on `block` is accepted: never on thinking, never on text that is empty."""
    kind = block.get("type")
    return kind not in _NEVER and (kind != "text" or bool(str(block.get("text", "")).strip()))


def marked(block: JsonObject) -> JsonObject:
    """A copy of `block` that ends a cached prefix."""
    return {**block, "cache_control": {"type": "ephemeral"}}


def mark(block: JsonObject) -> JsonObject | None:
    """A copy of `block` that ends a cached prefix; None if it may not."""
    return marked(block) if may_carry_mark(block) else None


def mark_head(fields: JsonObject) -> JsonObject:
    """The fields of the head with a mark on the last tool and one on the last instruction."""
    lists = {name: as_list(fields.get(name)) for name in ("tools", "system")}  # `system` may also be a plain string
    return fields | {name: [*items[:-1], marked(items[-1])] for name, items in lists.items() if items}
