"""Blocks that a dialect has no form for, as text."""

from __future__ import annotations

import re

import msgspec

from legato.model import Code, HostedTool, Media
from legato.wire.phrases import media_omitted

_LONGEST_RESULT = 2_000
"""characters of a hosted tool's result that are quoted to a model which did not see it"""


REFUSED = "[The model refused to answer.]"
"""what a refusal says that says nothing: an entry is never empty"""


def fenced(code: Code) -> str:
    """Code in a fence that the code itself does not contain."""
    longest = max(map(len, re.findall("`{3,}", code.code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{code.language}\n{code.code}\n{fence}"


def hosted_text(block: HostedTool) -> str:
    """What another provider's tool did, for a model that cannot read the native record of it."""
    arguments = f" {_json(block.arguments)}" if block.arguments else ""
    if block.result in (None, ""):
        return f"[The provider ran {block.name}{arguments}]"
    result = block.result if isinstance(block.result, str) else _json(block.result)
    if len(result) > _LONGEST_RESULT:
        result = f"{result[:_LONGEST_RESULT]}…"
    return f"[The provider ran {block.name}{arguments}, which gave:]\n{result}"


def block_text(block: Code | HostedTool | Media) -> str:
    """A block of an answer for a reader that has no form for it."""
    match block:
        case Code():
            return fenced(block)
        case HostedTool():
            return hosted_text(block)
        case Media():
            return media_omitted(block.kind, block.mime)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
