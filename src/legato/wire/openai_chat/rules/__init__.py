"""The rules of Chat Completions: what OpenAI and the servers that speak its first dialect accept.

In:  a request body, and the target it is meant for, whose profile says which server's habits count.
Out: violations; the body is not changed, and no body makes `check` raise.

    profiles   how the servers differ, as data
    envelope   tools, the choice among them, the switch of thinking
    messages   roles and their order, calls, pairing
    contents   what is said in a message
"""

from __future__ import annotations

from legato.model import JsonObject, Target
from legato.wire.findings import Violation
from legato.wire.judging import Findings, examine_json, is_list
from legato.wire.openai_chat.rules.envelope import examine_envelope, thinks
from legato.wire.openai_chat.rules.messages import MessageJudge
from legato.wire.openai_chat.rules.profiles import profile_of

__all__ = ["check"]


def check(body: JsonObject, target: Target) -> list[Violation]:
    """What `target` would hold against `body`."""
    found = Findings()
    if not examine_json(body, found):
        return found.violations
    profile, capabilities = profile_of(target), target.capabilities
    thinking = thinks(body, capabilities)
    examine_envelope(body, profile, found, thinking=thinking)
    messages = body.get("messages")
    if not is_list(messages) or not messages:
        found.refuse("openai-chat/no-messages", "messages", "`messages` is an array with at least one message")
        return found.violations
    judge = MessageJudge(profile, capabilities, found, thinks=thinking)
    for index, message in enumerate(messages):
        judge.message(index, message)
    judge.end(messages)
    return found.violations
