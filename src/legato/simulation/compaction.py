"""A conversation made shorter by the provider: the Responses API's own compaction.

In:  a request that asks for it: its `input` ends with a `compaction_trigger`, or it came to `/responses/compact`.
Out: one `compaction` item, sealed; in a later request it stands for all that happened before it.

What is in the item is everything that the model remembers, so that it goes on after a compaction as if there had been
none. Codex takes an answer with one such item, and nothing beside it: https://github.com/openai/codex
"""

from __future__ import annotations

from collections.abc import Sequence

from legato.model import Block, HostedTool, JsonObject
from legato.model.hashing import base62
from legato.model.json_access import as_objects, as_text
from legato.simulation.model.memory import Memory
from legato.simulation.seals import Seal

COMPACTION = "compaction"
_TRIGGER = "compaction_trigger"


def asks_for_compaction(body: JsonObject) -> bool:
    """Whether the request wants nothing but a shorter conversation."""
    items = as_objects(body.get("input"))
    return bool(items) and items[-1].get("type") == _TRIGGER


def compact(memory: Memory, seal: Seal, *, seed: str) -> HostedTool:
    """What `memory` holds, as one item."""
    item: JsonObject = {
        "type": COMPACTION,
        "id": "cmp_" + base62("compaction", seed, length=24),
        "encrypted_content": seal.wrap(memory.dump()),
    }
    return HostedTool(COMPACTION, native={"item": item})


def sealed_memory(block: Block) -> str:
    """The sealed content of `block`, if it is a compaction; else nothing."""
    if not isinstance(block, HostedTool):
        return ""
    item: JsonObject = (block.native or {}).get("item") or {}
    return as_text(item.get("encrypted_content")) if item.get("type") == COMPACTION else ""


def compacted_output(body: JsonObject, compaction: HostedTool) -> Sequence[JsonObject]:
    """What `/responses/compact` gives back: all that the user said, and the item."""
    said = [item for item in as_objects(body.get("input")) if item.get("role") == "user"]
    return [*said, (compaction.native or {})["item"]]
