"""The rules of Chat Completions: what OpenAI and the servers that speak its first dialect accept.

In:  a request body, and the target it is meant for, whose host says what is accepted there.
Out: violations; the body is not changed, and no body makes `check` raise.

    checks     the checks that hosts have rules of their own for
    envelope   tools, the choice among them, the switch of thinking
    messages   roles and their order, calls, pairing
    contents   what is said in a message
"""

from __future__ import annotations

from legato.model import JsonObject, Target
from legato.wire.hosts import host_of
from legato.wire.judge import Ruleset
from legato.wire.judging import Findings
from legato.wire.openai_chat.rules.checks import checks_for
from legato.wire.openai_chat.rules.envelope import examine_envelope, thinks
from legato.wire.openai_chat.rules.messages import ChatJudge, JudgingMode

__all__ = ["RULESET", "check"]


def _mode(fields: JsonObject, target: Target) -> JudgingMode:
    return JudgingMode(host_of(target).name, target.capabilities, thinks(fields, target.capabilities))


def _examine_head(fields: JsonObject, target: Target, found: Findings) -> None:
    examine_envelope(fields, checks_for(host_of(target).name), target.capabilities, found)


def _refuse_no_messages(fields: JsonObject, found: Findings) -> None:
    found.refuse("openai-chat/no-messages", "messages", "`messages` is an array with at least one message")


RULESET = Ruleset(
    messages_field="messages",
    mode=_mode,
    judge=ChatJudge,
    head=_examine_head,
    no_messages=_refuse_no_messages,
)
check = RULESET.check
