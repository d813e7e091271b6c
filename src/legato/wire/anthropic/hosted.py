"""Tools that the provider runs itself: a use and its result, two blocks of one answer, as one `HostedTool`.

Both blocks are kept as they came under `native["blocks"]`, because the API checks their encrypted parts when they come
back. A use may lack its result (the answer paused, or it waits for tools of ours that its code called); the result
then begins a later answer and stands alone there.
"""

from __future__ import annotations

from legato.model import HostedTool, JsonObject, ingest
from legato.model.json_access import as_object, as_text, present
from legato.model.native import halves
from legato.wire.arguments import read_arguments

_USES = frozenset({"server_tool_use", "mcp_tool_use"})
_RESULT = "_tool_result"


def is_use(block: JsonObject) -> bool:
    """Whether `block` says that the provider ran a tool."""
    return as_text(block.get("type")) in _USES


def is_result(block: JsonObject) -> bool:
    """Whether `block` is what such a tool gave; a plain `tool_result` is one of ours."""
    return as_text(block.get("type")).endswith(_RESULT)


def read_hosted(block: JsonObject) -> HostedTool:
    """One such block, or one of a kind that we do not know, which its provider will."""
    kind = as_text(block.get("type"))
    kept: JsonObject = {"blocks": [ingest(present(block))]}
    if is_use(block):
        name = as_text(block.get("name")) or kind
        return HostedTool(name, read_arguments(block.get("input")).value, wire_id=as_text(block.get("id")), native=kept)
    if not kind:  # it never goes back, so all that it holds is told
        held = {name: item for name, item in block.items() if item not in (None, "")}
        return HostedTool("unknown", result=ingest(held) or None, native=kept)
    name = kind.removesuffix(_RESULT) if is_result(block) else kind
    return HostedTool(
        name or "unknown", result=ingest(block.get("content")), wire_id=as_text(block.get("tool_use_id")), native=kept
    )


def joined(use: HostedTool, result: HostedTool) -> HostedTool:
    """A use with its result."""
    blocks = [*as_object(use.native)["blocks"], *as_object(result.native)["blocks"]]
    return HostedTool(use.name, use.arguments, result.result, use.wire_id, native={"blocks": blocks})


def own_blocks(block: HostedTool, *, may_wait: bool, may_end: bool) -> list[JsonObject] | None:
    """The blocks as they came; None where they can only be told as text.

    The API takes a use without its result only while it waits for the results of our own tools (`may_wait`), and a
    result without its use only directly after them (`may_end`).
    """
    blocks: list[JsonObject] = (block.native or {}).get("blocks") or []
    waiting, late = halves(block)
    if not blocks or (waiting and not may_wait) or (late and not may_end):
        return None
    return blocks
