"""The rules of the Messages API about calls and the results right after them, which `Pairing` reports."""

from __future__ import annotations

from legato.wire.anthropic.rules.sources import NO_RESULT
from legato.wire.judging_pairs import PairingRules
from legato.wire.rules import OBSERVED, refused, risky

_NO_CALL = "unexpected `tool_use_id` found in `tool_result` blocks: {id}"

PAIRS = PairingRules(
    unanswered_call=refused(
        "anthropic/unanswered-call",
        "Each call is answered in the message right after it.",
        source="anthropics/claude-code#5989",
        error=NO_RESULT + ": {id}",
    ),
    result_too_late=refused(
        "anthropic/result-too-late",
        "Nothing stands between a call's message and that of its result.",
        source="anthropics/claude-code#13460",
        error=_NO_CALL,
    ),
    orphan_result=refused(
        "anthropic/orphan-result",
        "A result follows a message of the assistant with calls.",
        source="anthropics/claude-code#13460",
        error=_NO_CALL,
    ),
    unknown_result=refused(
        "anthropic/unknown-result",
        "A result names one of the calls of the message before.",
        source="anthropics/claude-code#13460",
        error=_NO_CALL,
    ),
    duplicate_result=refused(
        "anthropic/duplicate-result",
        "A call has one result.",
        source="anthropics/claude-code#14110",
        error="each tool_use must have a single result",
    ),
    duplicate_call_id=refused(
        "anthropic/duplicate-call-id",
        "The calls of one answer have different ids.",
        source="anthropics/claude-code#20693",
        error="`tool_use` ids must be unique",
    ),
    repeated_id=risky(
        "anthropic/repeated-id",
        "No id is used in two turns; this was refused and was also seen accepted.",
        source=("anthropics/claude-code#21317", OBSERVED),
        error="`tool_use` ids must be unique",
    ),
)
