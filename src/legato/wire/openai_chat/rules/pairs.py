"""The rules of Chat Completions about calls and the results right after them, which `Pairing` reports."""

from __future__ import annotations

from legato.wire.judging_pairs import PairingRules
from legato.wire.rules import RESULT_OF_NO_CALL, RESULT_WITHOUT_CALLS, SECOND_RESULT, refused, risky

_NO_RESULT = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'"
)
_UNANSWERED = _NO_RESULT + ". The following tool_call_ids did not have response messages: {id}"

PAIRS = PairingRules(
    unanswered_call=refused(
        "openai-chat/unanswered-call",
        "After an assistant message with calls stands one tool message for each of them, before anything "
        "else; at the end of the history too.",
        source="BerriAI/litellm#10083",
        error=_UNANSWERED,
    ),
    result_too_late=refused(
        "openai-chat/result-too-late",
        "Nothing stands between an assistant message with calls and their results.",
        source="BerriAI/litellm#10083",
        error=_UNANSWERED,
    ),
    orphan_result=refused(
        "openai-chat/orphan-result",
        "A tool message follows an assistant message with calls, or another result of that message.",
        source=("miurla/morphic#136", "langgenius/dify#32222"),
        error=RESULT_WITHOUT_CALLS,
    ),
    unknown_result=refused(
        "openai-chat/unknown-result",
        "The id of a tool message is the id of one of the calls before it.",
        source=("dapr/dapr-agents#145", "MoonshotAI/kimi-cli#2405"),
        error=RESULT_OF_NO_CALL,
    ),
    duplicate_result=refused(
        "openai-chat/duplicate-result",
        "A call is answered once.",
        source="agno-agi/agno#5116",
        error=SECOND_RESULT,
    ),
    duplicate_call_id=refused(
        "openai-chat/duplicate-call-id",
        "The calls of one message have different ids, because each has to be answered once.",
        source="can1357/oh-my-pi#2055",
    ),
    # Some models number their calls anew in every answer, so the same ids come back in the next turn.
    repeated_id=risky(
        "openai-chat/repeated-id",
        "No id is used twice in a request, not even in different turns.",
        source="can1357/oh-my-pi#2055",
    ),
)
