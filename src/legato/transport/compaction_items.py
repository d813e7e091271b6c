"""A conversation made shorter by its server: how the Responses API asks for it, and how it is answered.

In:  a request whose `input` ends with a `compaction_trigger`, or one that came to `/responses/compact`.
Out: one `compaction` item, whose sealed content stands for all that happened before it in every later request.

What is in the item is the server's own affair. Codex takes an answer with one such item, and nothing beside it:
https://github.com/openai/codex
"""

from __future__ import annotations

from typing import cast

from legato.model import Block, HostedTool, JsonObject
from legato.model.hashing import base62
from legato.model.json_access import as_list, as_object, as_objects, as_string
from legato.transport.stored_responses import given_out, input_items
from legato.wire.growing import minted_id

TRIGGER = "compaction_trigger"
COMPACTION = "compaction"
_KINDS = frozenset({COMPACTION, "compaction_summary", "context_compaction"})
"""what clients of different ages call the item when they send it back"""
_SAID = "said before"
"""in front of a response's id: what the user said never has the id of an item that the response gave"""


def ends_with_trigger(body: JsonObject) -> bool:
    """Whether the request wants nothing but a shorter conversation."""
    items = filter(None, map(as_object, reversed(as_list(body.get("input")))))
    return next(items, cast(JsonObject, {})).get("type") == TRIGGER


def is_trigger(block: Block) -> bool:
    """Whether `block` is what asked for a compaction."""
    return _item(block).get("type") == TRIGGER


def compaction_block(content: str, *, seed: str) -> HostedTool:
    """The block of an answer that is a compaction, with its sealed content."""
    item_id = "cmp_" + base62("compaction", seed, length=24)
    item: JsonObject = {"type": COMPACTION, "id": item_id, "encrypted_content": content}
    return HostedTool(COMPACTION, native={"item": item})


def compacted_content(block: Block) -> str:
    """The sealed content of `block`, if it is a compaction; else nothing."""
    item = _item(block)
    return as_string(item.get("encrypted_content")) if item.get("type") in _KINDS else ""


def compaction_body(body: JsonObject, response: JsonObject) -> JsonObject:
    """What `/responses/compact` answers to `body` with: all that the user said, and the item of `response`."""
    asked = [item for item in as_objects(input_items(body)) if item.get("role") == "user"]
    seed = f"{_SAID} {response['id']}"
    said = [given_out(item, minted_id("msg_", seed, place)) for place, item in enumerate(asked)]
    return {
        "id": response["id"],
        "object": "response.compaction",
        "created_at": response["created_at"],
        "output": [*said, *response["output"]],
        "usage": response["usage"],
    }


def _item(block: Block) -> JsonObject:
    return as_object((block.native or {}).get("item")) if isinstance(block, HostedTool) else {}
