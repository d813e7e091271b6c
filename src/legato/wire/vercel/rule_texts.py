"""The rules of the AI SDK for model messages, each declared once."""

from __future__ import annotations

from functools import partial

from legato.wire.rule_texts import json_rules
from legato.wire.rules import RESULT_OF_NO_CALL, RESULT_WITHOUT_CALLS, SECOND_RESULT, WireRule, by_id, refused, risky

_ROUTE = "vercel/openai/gpt-4o"

_MESSAGES = "https://ai-sdk.dev/docs/reference/ai-sdk-core/model-message"
_REASONING = "https://ai-sdk.dev/docs/ai-sdk-core/reasoning"
_MISSING_RESULTS = "https://ai-sdk.dev/docs/troubleshooting/missing-tool-results-error"

_NOT_MESSAGES = "The messages must be a ModelMessage[]"
_NO_RESULT = "Tool result is missing for tool call {id}"

_refused = partial(refused, route=_ROUTE)
_risky = partial(risky, route=_ROUTE)

_SHAPE = (
    _refused(
        "vercel/effort-word",
        "`reasoning` is `provider-default`, `none`, `minimal`, `low`, `medium`, `high` or `xhigh`.",
        source=_REASONING,
    ),
    _refused(
        "vercel/no-messages",
        "`messages` is an array with at least one message.",
        source=_MESSAGES,
    ),
    _refused(
        "vercel/unknown-role",
        "A message is an object whose role is `system`, `user`, `assistant` or `tool`.",
        source=(_MESSAGES, "vercel/ai#8520"),
        error=_NOT_MESSAGES,
    ),
    _refused(
        "vercel/content-form",
        "The content of a system message is a string, of a tool message an array of parts, of the others either.",
        source=(_MESSAGES, "vercel/ai#8520"),
        error=_NOT_MESSAGES,
    ),
    _refused(
        "vercel/part-type",
        "Each part is of a type that its message may hold: calls in assistant messages, results in tool messages.",
        source=(_MESSAGES, "vercel/ai#8520"),
        error=_NOT_MESSAGES,
    ),
    _refused(
        "vercel/text-form",
        "A text part holds a string.",
        source=(_MESSAGES, "vercel/ai#8520"),
        error=_NOT_MESSAGES,
    ),
    _refused(
        "vercel/call-form",
        "A call has `toolCallId`, `toolName` and `input`.",
        source=(_MESSAGES, "vercel/ai#8520"),
        error=_NOT_MESSAGES,
    ),
    _refused(
        "vercel/result-form",
        "A result has `toolCallId` and `toolName`.",
        source=(_MESSAGES, "vercel/ai#8520"),
        error=_NOT_MESSAGES,
    ),
    _refused(
        "vercel/output-form",
        "The output of a result is an object with a type (`text`, `json`, `error-text`, `error-json`, "
        "`content`, `execution-denied`) and a fitting value.",
        source=(_MESSAGES, "vercel/ai#8520"),
        error=_NOT_MESSAGES,
    ),
)

_CALLS = (
    _refused(
        "vercel/unanswered-call",
        "Each call has a result, or an approval response, in the tool messages right after it.",
        source=_MISSING_RESULTS,
        error=_NO_RESULT,
        code="AI_MissingToolResultsError",
    ),
    _refused(
        "vercel/result-too-late",
        "Nothing stands between a call and its result.",
        source=_MISSING_RESULTS,
        error=_NO_RESULT,
        code="AI_MissingToolResultsError",
    ),
    # The SDK does not look for this one and the next three: the provider behind it refuses them, in its own words.
    _refused(
        "vercel/orphan-result",
        "A result follows calls.",
        source="miurla/morphic#136",
        error=RESULT_WITHOUT_CALLS,
    ),
    _refused(
        "vercel/unknown-result",
        "A result names one of the calls before it.",
        source="dapr/dapr-agents#145",
        error=RESULT_OF_NO_CALL,
    ),
    _refused(
        "vercel/duplicate-result",
        "A call has one result.",
        source="agno-agi/agno#5116",
        error=SECOND_RESULT,
    ),
    _refused(
        "vercel/duplicate-call-id",
        "The calls of one answer have different ids.",
        source="vercel/ai#13307",
        error=SECOND_RESULT,
    ),
    _risky(
        "vercel/repeated-id",
        "No id is used in two turns.",
        source="vercel/ai#13307",
    ),
    _risky(
        "vercel/id-habit",
        "The id of a call begins with `call_`, which every provider behind the SDK takes.",
        source="octos-org/octos#32",
    ),
    _risky(
        "vercel/empty-text",
        "A message says something: empty text parts are dropped, and the message may end up empty.",
        source="vercel/ai#5576",
    ),
)

RULES: dict[str, WireRule] = by_id(*json_rules(_ROUTE), *_SHAPE, *_CALLS)
