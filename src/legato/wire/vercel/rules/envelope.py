"""Judge what surrounds the messages of an AI SDK prompt."""

from __future__ import annotations

from legato.model import JsonObject, Target
from legato.wire.judging import Findings, brief, is_object
from legato.wire.judging_schemas import examine_schema
from legato.wire.rules import refused
from legato.wire.vercel.rules.messages import MESSAGES

_REASONING = "https://ai-sdk.dev/docs/ai-sdk-core/reasoning"

EFFORT_WORD = refused(
    "vercel/effort-word",
    "`reasoning` is `provider-default`, `none`, `minimal`, `low`, `medium`, `high` or `xhigh`.",
    source=_REASONING,
)
NO_MESSAGES = refused(
    "vercel/no-messages",
    "`messages` is an array with at least one message.",
    source=MESSAGES,
)

_EFFORTS = frozenset({"provider-default", "none", "minimal", "low", "medium", "high", "xhigh"})


def examine_head(fields: JsonObject, target: Target, found: Findings) -> None:
    """The rest of what is beside the messages is checked by the provider behind the SDK."""
    effort = fields.get("reasoning")
    if effort is not None and (not isinstance(effort, str) or effort not in _EFFORTS):
        found.report(EFFORT_WORD, "reasoning", f"{brief(effort)} is no effort")
    tools = fields.get("tools")
    for name, tool in tools.items() if is_object(tools) else ():
        if is_object(tool):
            examine_schema(tool.get("inputSchema"), f"tools.{name}.inputSchema", found)


def examine_no_messages(fields: JsonObject, found: Findings) -> None:
    """Judge a body without messages."""
    found.report(NO_MESSAGES, "messages", "`messages` is an array with at least one message")
