"""The rules of the Vercel AI SDK for a prompt of ModelMessages.

In:  a request body with `messages`, and the target it is meant for.
Out: violations; the body is not changed, and no body makes `check` raise.

    messages   roles, contents, parts, pairing
    envelope   the fields beside the messages
    pairs      the rules about calls and their results
"""

from __future__ import annotations

from legato.wire import judging_json, judging_schemas
from legato.wire.judge import Ruleset
from legato.wire.rules import declared
from legato.wire.vercel.rules import envelope, messages, pairs

__all__ = ["RULES", "RULESET", "check"]

RULES = declared(judging_json, judging_schemas, messages, pairs, envelope, route="vercel/openai/gpt-4o")
RULESET = Ruleset(
    messages_field="messages",
    mode=lambda fields, target: None,  # the SDK's own check comes first, whichever model the target names
    judge=messages.PromptJudge,
    head=envelope.examine_head,
    no_messages=envelope.examine_no_messages,
)
check = RULESET.check
