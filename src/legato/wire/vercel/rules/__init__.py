"""The rules of the Vercel AI SDK for a prompt of ModelMessages.

In:  a request body with `messages`, and the target it is meant for.
Out: violations; the body is not changed, and no body makes `check` raise.

    messages   roles, contents, parts, pairing
"""

from __future__ import annotations

from legato.model import JsonObject, Target
from legato.wire.judge import Ruleset
from legato.wire.judging import Findings, brief, is_object
from legato.wire.judging_schemas import examine_schema
from legato.wire.vercel.rules.messages import PromptJudge

__all__ = ["RULESET", "check"]


_EFFORTS = frozenset({"provider-default", "none", "minimal", "low", "medium", "high", "xhigh"})


def _examine_head(fields: JsonObject, target: Target, found: Findings) -> None:
    """The rest of what stands beside the messages is checked by the provider behind the SDK."""
    effort = fields.get("reasoning")
    if effort is not None and (not isinstance(effort, str) or effort not in _EFFORTS):
        found.refuse("vercel/effort-word", "reasoning", f"{brief(effort)} is no effort")
    tools = fields.get("tools")
    for name, tool in tools.items() if is_object(tools) else ():
        if is_object(tool):
            examine_schema(tool.get("inputSchema"), f"tools.{name}.inputSchema", found)


def _refuse_no_messages(fields: JsonObject, found: Findings) -> None:
    found.refuse("vercel/no-messages", "messages", "`messages` is an array with at least one message")


RULESET = Ruleset(
    messages_field="messages",
    mode=lambda fields, target: None,  # the SDK's own check comes first, whichever model the target names
    judge=PromptJudge,
    head=_examine_head,
    no_messages=_refuse_no_messages,
)
check = RULESET.check
