"""The rules of the Responses API.

In:  a request body, and the target it is meant for.
Out: violations; the body is not changed, and no body makes `check` raise.

    items      messages, calls and outputs, reasoning, item ids

A body that continues what the server holds (`previous_response_id`, `conversation`, an item reference) may answer calls
that it does not show.
    envelope   the fields beside the messages
    sources    what several rules are known from
"""

from __future__ import annotations

from legato.wire import judging_json, judging_schemas
from legato.wire.judge import Ruleset
from legato.wire.openai_responses.rules import envelope, items
from legato.wire.rules import declared

__all__ = ["RULES", "RULESET", "check"]

RULES = declared(judging_json, judging_schemas, items, envelope, route="openai/gpt-5")
RULESET = Ruleset(
    messages_field="input",
    mode=envelope.mode_of,
    judge=items.ItemJudge,
    head=envelope.examine_head,
    no_messages=envelope.examine_other_input,
    takes_none=True,
)
check = RULESET.check
