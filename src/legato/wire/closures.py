"""Closures that come back: a transcript that we rendered once, read in again."""

from __future__ import annotations

from legato.model import ToolResponse, recognise_closure


def read_closure(text: str, *, wire_id: str, tool_name: str) -> ToolResponse | None:
    """The response that `text` stands for if it is one of our closures: none that counts against a real result."""
    closure = recognise_closure(text)
    if closure is None:
        return None
    return ToolResponse(
        wire_id=wire_id,
        tool_name=tool_name,
        result=closure.output,
        reason=closure.reason,
        said=closure.said,
        synthetic=True,
    )
