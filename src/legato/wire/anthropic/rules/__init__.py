"""The rules of Anthropic's Messages API.

In:  a request body, and the target it is meant for.
Out: violations; the body is not changed, and no body makes `check` raise.

    turns      roles, order, pairing, the place of thinking, the end
    blocks     what each block must hold
    envelope   the fields beside the messages
    pairs      the rules about calls and their results
    sources    what several rules are known from
"""

from __future__ import annotations

from legato.wire import judging_json, judging_schemas
from legato.wire.anthropic.rules import blocks, envelope, pairs, turns
from legato.wire.judge import Ruleset
from legato.wire.rules import declared
from legato.wire.words_of_hosts import with_words

__all__ = ["RULES", "RULESET", "check"]

RULES = with_words(
    declared(judging_json, judging_schemas, blocks, turns, pairs, envelope, route="anthropic/claude-sonnet-4-5")
)
RULESET = Ruleset(
    messages_field="messages",
    mode=envelope.mode_of,
    judge=turns.TurnJudge,
    head=envelope.examine_head,
    no_messages=envelope.examine_no_messages,
)
check = RULESET.check
