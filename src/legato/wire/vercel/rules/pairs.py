"""The rules of the Vercel AI SDK about calls and the results right after them, which `Pairing` reports."""

from __future__ import annotations

from legato.wire.judging_pairs import PairingRules
from legato.wire.rules import RESULT_OF_NO_CALL, RESULT_WITHOUT_CALLS, SECOND_RESULT, refused, risky

_MISSING_RESULTS = "https://ai-sdk.dev/docs/troubleshooting/missing-tool-results-error"
_NO_RESULT = "Tool result is missing for tool call {id}"

PAIRS = PairingRules(
    unanswered_call=refused(
        "vercel/unanswered-call",
        "Each call has a result, or an approval response, in the tool messages right after it.",
        source=_MISSING_RESULTS,
        error=_NO_RESULT,
        code="AI_MissingToolResultsError",
    ),
    result_too_late=refused(
        "vercel/result-too-late",
        "Nothing stands between a call and its result.",
        source=_MISSING_RESULTS,
        error=_NO_RESULT,
        code="AI_MissingToolResultsError",
    ),
    # The SDK does not look for this one and the next three: the provider behind it refuses them, in its own words.
    orphan_result=refused(
        "vercel/orphan-result",
        "A result follows calls.",
        source="miurla/morphic#136",
        error=RESULT_WITHOUT_CALLS,
    ),
    unknown_result=refused(
        "vercel/unknown-result",
        "A result names one of the calls before it.",
        source="dapr/dapr-agents#145",
        error=RESULT_OF_NO_CALL,
    ),
    duplicate_result=refused(
        "vercel/duplicate-result",
        "A call has one result.",
        source="agno-agi/agno#5116",
        error=SECOND_RESULT,
    ),
    duplicate_call_id=refused(
        "vercel/duplicate-call-id",
        "The calls of one answer have different ids.",
        source="vercel/ai#13307",
        error=SECOND_RESULT,
    ),
    repeated_id=risky(
        "vercel/repeated-id",
        "No id is used in two turns.",
        source="vercel/ai#13307",
    ),
)
