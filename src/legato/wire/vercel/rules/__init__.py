"""The rules of the Vercel AI SDK for a prompt of ModelMessages.

In:  a request body with `messages`, and the target it is meant for.
Out: violations; the body is not changed, and no body makes `check` raise.

    messages   roles, contents, parts, pairing
"""

from __future__ import annotations

from legato.model import JsonObject, Target
from legato.wire.findings import Violation
from legato.wire.judging import Findings, examine_json, is_list
from legato.wire.vercel.rules.messages import MessageJudge

__all__ = ["check"]


def check(body: JsonObject, target: Target) -> list[Violation]:
    """What the SDK would hold against `body`, whichever model `target` names: its own check comes first."""
    found = Findings()
    if not examine_json(body, found):
        return found.violations
    messages = body.get("messages")
    if not is_list(messages) or not messages:
        found.refuse("vercel/no-messages", "messages", "`messages` is an array with at least one message")
        return found.violations
    judge = MessageJudge(found)
    for index, message in enumerate(messages):
        judge.message(index, message)
    judge.end()
    return found.violations
