"""The rules of Chat Completions: what OpenAI and the servers that speak its first dialect accept.

In:  a request body, and the target it is meant for, whose host says what is accepted there.
Out: violations; the body is not changed, and no body makes `check` raise.

    checks     the checks that hosts have rules of their own for
    envelope   tools, the choice among them, the switch of thinking
    messages   roles and their order, reasoning, pairing
    contents   what is said in a message
    calls      the calls of a message
    pairs      the rules about calls and their results
    of_hosts   the rules of particular hosts, as `wire.hosts` declares them
    sources    what several rules are known from
"""

from __future__ import annotations

from collections.abc import Mapping

from legato.wire import judging_json, judging_schemas
from legato.wire.judge import Ruleset
from legato.wire.openai_chat.rules import calls, contents, envelope, messages, pairs
from legato.wire.openai_chat.rules.of_hosts import RulesWithHosts
from legato.wire.rules import WireRule, declared
from legato.wire.words_of_hosts import with_words

__all__ = ["RULES", "RULESET", "check"]

_FAMILY = declared(judging_json, judging_schemas, messages, contents, calls, pairs, envelope, route="openai/gpt-4o")

RULES: Mapping[str, WireRule] = RulesWithHosts(with_words(_FAMILY))
RULESET = Ruleset(
    messages_field="messages",
    mode=envelope.mode_of,
    judge=messages.ChatJudge,
    head=envelope.examine_head,
    no_messages=envelope.examine_no_messages,
)
check = RULESET.check
