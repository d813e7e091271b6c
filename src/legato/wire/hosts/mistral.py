"""Mistral's own servers: an order of roles of their own, ids of nine characters, and no unknown fields."""

from __future__ import annotations

import re
from collections.abc import Iterator

from legato.model import JsonObject
from legato.wire.hosting import (
    Acceptance,
    Citation,
    ErrorFacts,
    Host,
    HostRule,
    IdHabit,
    Models,
    OptionField,
    RefusalReason,
    RequestStyle,
    ServerHabits,
    Switch,
)
from legato.wire.hosting.acceptance import ANY_ID

VALIDATOR = "https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py"
_API = "https://docs.mistral.ai/api"

_MESSAGE = frozenset({"role", "content"})
_EXTRA_FIELD = "extra_forbidden"
"""the code of the first reader, which refuses fields before anything else looks at the request"""
_INVALID = "invalid_request_error"
_TYPES = {
    "3230": "invalid_request_message_order",
    "3240": "invalid_request_assistant_message",
    "3280": "invalid_function_call",
}
"""what the errors are called that rules name by number"""
_OTHER_TYPES: dict[RefusalReason, tuple[str, str]] = {
    RefusalReason.MODEL: ("invalid_model", "1500"),
    RefusalReason.RATE: ("rate_limited", "1300"),
    RefusalReason.TOO_LONG: ("context_length_exceeded", "3051"),
    RefusalReason.SERVER: ("service_unavailable", "3800"),
    RefusalReason.UPSTREAM: ("service_unavailable", "3800"),
    RefusalReason.SLOW: ("service_unavailable", "3800"),
    RefusalReason.OVERLOADED: ("service_tier_capacity_exceeded", "3505"),
}


def _error(facts: ErrorFacts) -> JsonObject:
    """A bare message for a wrong key, a list of places for unknown fields, else an error with a number."""
    if facts.reason in (RefusalReason.KEY_MISSING, RefusalReason.KEY_WRONG):
        return {"detail": facts.message}
    if facts.status == 422:
        detail: JsonObject = {"type": _EXTRA_FIELD, "loc": ["body", *_steps(facts.path)], "msg": facts.message}
        return {"object": "error", "message": {"detail": [detail]}, "type": _INVALID, "param": None, "code": None}
    kind, code = _OTHER_TYPES.get(facts.reason, (_INVALID, "1000"))
    if facts.code:
        kind, code = _TYPES.get(facts.code, _INVALID), facts.code
    return {
        "object": "error",
        "message": facts.message,
        "type": kind,
        "param": None,
        "code": code,
        "request_id": facts.request_id,
    }


def _steps(path: str) -> Iterator[str | int]:
    """`messages[2].content` as the steps that lead there."""
    for step in re.findall(r"[^.\[\]]+", path):
        yield int(step) if step.isdecimal() else step


_RULES = (
    HostRule(
        id="unknown-role",
        check="unknown-role",
        says="Roles are `system`, `user`, `assistant` and `tool`; there is no `developer`.",
        sources=(VALIDATOR,),
    ),
    HostRule(
        id="role-order",
        check="role-order",
        says="No system message follows an assistant or tool message, and no tool message a user or system message.",
        sources=(VALIDATOR, "swarmauri/swarmauri-sdk#162"),
        error="Unexpected role '{role}' after role '{before}'",
        code="3230",
    ),
    # The published validator allows it since April 2026; servers with older copies do not.
    HostRule(
        id="user-after-tool",
        check="user-after-tool",
        says="Between tool messages and a user message stands an assistant message; newer servers no longer ask for "
        "it.",
        sources=("zed-industries/zed#37021", "mistralai/mistral-common#169"),
        error="Unexpected role 'user' after role 'tool'",
        code="3230",
    ),
    HostRule(
        id="first-message-calls",
        check="first-message-calls",
        says="The first message holds no calls: the validator does not count them, so their results are unknown to it.",
        sources=(VALIDATOR,),
        error="Unexpected tool call id {id} in tool results",
    ),
    HostRule(
        id="lone-message",
        check="lone-message",
        says="A conversation of one message is from the user or the system.",
        sources=(VALIDATOR,),
        error="Conversation must start with a user message or system message",
    ),
    # These are the words of the hosted API; newer versions of the validator say “(or Assistant with prefix)”.
    HostRule(
        id="ends-on-answer",
        check="ends-on-answer",
        says="The last message is from the user or a tool, or an assistant message with `prefix: true`.",
        sources=(VALIDATOR, "NEKOparapa/AiNiee#641"),
        error="Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
        code="3230",
    ),
    HostRule(
        id="prefix-place",
        check="prefix-place",
        says="Only the last message is a prefix.",
        sources=(VALIDATOR,),
        error="Assistant message with prefix True must be last message",
    ),
    HostRule(
        id="id-form",
        check="id-form",
        says="The id of a call has exactly nine letters or digits, in the call and in its result.",
        sources=(VALIDATOR, "editor-code-assistant/eca#233"),
        error="Tool call id was {value} but must be a-z, A-Z, 0-9, with a length of 9",
        code="3280",
    ),
    HostRule(
        id="empty-answer",
        check="empty-answer",
        says="An assistant message has content or calls; an empty text does not count.",
        sources=("OpenHands/OpenHands#8685",),
        error="Assistant message must have either content or tool_calls, but not none",
        code="3240",
    ),
    HostRule(
        id="extra-field",
        check="extra-field",
        says="Messages have no other fields than `role`, `content`, for answers `tool_calls` and `prefix`, for"
        " results `tool_call_id` and `name`.",
        sources=("BerriAI/litellm#30835", "microsoft/autogen#2748"),
        error="Extra inputs are not permitted",
        code=_EXTRA_FIELD,
    ),
    HostRule(
        id="result-name",
        check="result-name",
        says="A tool message carries the tool's name.",
        sources=("microsoft/autogen#2892",),
        is_risky=True,
    ),
)

HOST = Host(
    name="mistral",
    title="Mistral",
    endpoint="https://api.mistral.ai/v1",
    keys=("MISTRAL_API_KEY",),
    example="mistral-large-latest",
    sources=(
        Citation(_API, "The seed is called `random_seed`, and unknown fields are refused."),
        Citation(VALIDATOR, "The order of roles, the form of ids and what an answer may be are checked there."),
    ),
    profile="mistral",
    capabilities={
        "id_scheme": "nine",
        "efforts": ["none", "high"],
        "middle_system": False,
        "user_after_tool": False,
    },
    # Its own servers join the messages of one side themselves; the templates of its models elsewhere do not.
    models=(Models("Mistral at home", ("*",), {"alternates": False}),),
    style=RequestStyle(
        named_results=True,
        calls_first=False,
        system_after_answer=False,
        thinking_chunks=True,
        undocumented_fields=False,
        bare_prefill=False,
        switch=Switch.EFFORT,
        effort_on="high",
        stream_options=False,
        document_urls=True,
        plain_audio=True,
        strict_tools=True,
    ),
    options={"seed": OptionField("random_seed"), "metadata": OptionField("metadata")},
    acceptance=Acceptance(
        roles=frozenset({"system", "user", "assistant", "tool"}),
        follows={
            "system": frozenset({"user", "assistant", "system"}),
            "user": frozenset({"assistant", "system", "user"}),
            "assistant": frozenset({"assistant", "user", "tool"}),
            "tool": frozenset({"assistant", "tool", "user"}),  # whether user may: a capability, judged apart
        },
        fields={
            "system": _MESSAGE,
            "user": _MESSAGE,
            "assistant": _MESSAGE | {"tool_calls", "prefix"},
            "tool": _MESSAGE | {"tool_call_id", "name"},
        },
        id_form=r"[a-zA-Z0-9]{9}",
        id_habit=ANY_ID,
        call_types=frozenset({"function", None}),
        takes_argument_objects=True,
        parses_arguments=False,
        takes_empty_calls=True,
        watches_images=False,
        takes_empty_answers=False,
        warns_of_empty_text=False,
        counts_tools=False,
        refuses_empty_tools=None,
        final_mark="prefix",
        demands_mark=True,
        names_results=True,
    ),
    rules=_RULES,
    own_client=True,
    words={
        "openai-chat/no-messages": "Conversation must have at least one message",
        "openai-chat/unanswered-call": "Not the same number of function calls and responses",
        "openai-chat/result-too-late": "Not the same number of function calls and responses",
        "openai-chat/orphan-result": "Unexpected tool call id {id} in tool results",
        "openai-chat/unknown-result": "Unexpected tool call id {id} in tool results",
        "openai-chat/duplicate-result": "Duplicate tool call id {id} in tool results",
        "openai-chat/duplicate-call-id": "Duplicate tool call id {id} in assistant message",
        "openai-chat/name-form": "Function name was {value} but must be a-z, A-Z, 0-9, or contain underscores and "
        "dashes, with a maximum length of 64",
    },
    server=ServerHabits(
        ids=IdHabit.NINE,
        answers="",
        serves=("*mistral*", "*mixtral*", "*devstral*", "*magistral*", "*codestral*", "*pixtral*", "*voxtral*"),
        unsplit_calls=True,
        joins_usage=True,
        thinking_chunks=True,
        thinks_unasked=("*magistral*",),
        model_card={
            "type": "base",
            "capabilities": {
                "completion_chat": True,
                "function_calling": True,
                "completion_fim": False,
                "fine_tuning": False,
            },
            "aliases": [],
        },
        says={
            RefusalReason.KEY_MISSING: "Unauthorized",
            RefusalReason.KEY_WRONG: "Unauthorized",
            RefusalReason.MODEL: "Invalid model: {model}",
            RefusalReason.RATE: "Requests rate limit exceeded",
            RefusalReason.TOO_LONG: "Prompt contains {tokens} tokens, too large for model with {window} maximum "
            "context length",
        },
        statuses={RefusalReason.MODEL: 400},
        code_statuses={_EXTRA_FIELD: 422},
        error_body=_error,
    ),
)
