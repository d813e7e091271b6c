"""The rules of Gemini's generateContent.

In:  a request body in camelCase or snake_case, and the target it is meant for.
Out: violations; the body is not changed, and no body makes `check` raise.

    parts      contents and parts by themselves
    pairing    their order, calls and responses, signatures, the end
    envelope   the fields beside the messages
    sources    what several rules are known from
"""

from __future__ import annotations

from legato.wire import judging_json, judging_schemas
from legato.wire.gemini.rules import envelope, pairing, parts
from legato.wire.judge import Ruleset
from legato.wire.rules import declared

__all__ = ["RULES", "RULESET", "check"]

RULES = declared(judging_json, judging_schemas, parts, pairing, envelope, route="gemini/gemini-2.5-flash")
RULESET = Ruleset(
    messages_field="contents",
    mode=lambda fields, target: target.capabilities,
    judge=pairing.OrderJudge,
    head=envelope.examine_head,
    no_messages=envelope.examine_no_messages,
    takes_single=True,
)
check = RULESET.check
