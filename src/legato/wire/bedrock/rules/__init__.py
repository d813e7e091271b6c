"""The rules of the Converse API.

In:  a request body, and the target it is meant for.
Out: violations; the body is not changed, and no body makes `check` raise.

    turns      roles, order, pairing, the place of reasoning, the end
    blocks     what each block must hold
    envelope   the fields beside the messages
    pairs      the rules about calls and their results
    sources    what several rules are known from
"""

from __future__ import annotations

from legato.wire import judging_json, judging_schemas
from legato.wire.bedrock.rules import blocks, envelope, pairs, turns
from legato.wire.bedrock.rules.sources import CLAUDE
from legato.wire.judge import Ruleset
from legato.wire.rules import declared

__all__ = ["RULES", "RULESET", "check"]

RULES = declared(judging_json, judging_schemas, blocks, turns, pairs, envelope, route=CLAUDE)
RULESET = Ruleset(
    messages_field="messages",
    mode=envelope.mode_of,
    judge=turns.TurnJudge,
    head=envelope.examine_head,
    no_messages=envelope.examine_no_messages,
)
check = RULESET.check
