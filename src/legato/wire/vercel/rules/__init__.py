"""The rules of the Vercel AI SDK for a prompt of ModelMessages.

In:  a request body with `messages`, and the target it is meant for.
Out: violations; the body is not changed, and no body makes `check` raise.

    messages   roles, contents, parts, pairing
"""

from __future__ import annotations

from legato.model import JsonObject, Target
from legato.wire.judge import Ruleset
from legato.wire.judging import Findings
from legato.wire.vercel.rules.messages import MessageJudge

__all__ = ["RULESET", "check"]


def _examine_head(fields: JsonObject, target: Target, found: Findings) -> None:
    """Nothing: what stands beside the messages is checked by the provider behind the SDK."""


def _refuse_no_messages(fields: JsonObject, found: Findings) -> None:
    found.refuse("vercel/no-messages", "messages", "`messages` is an array with at least one message")


RULESET = Ruleset(
    messages_field="messages",
    mode=lambda fields, target: None,  # the SDK's own check comes first, whichever model the target names
    judge=MessageJudge,
    head=_examine_head,
    no_messages=_refuse_no_messages,
)
check = RULESET.check
