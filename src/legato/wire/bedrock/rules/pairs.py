"""The rules of the Converse API about calls and the results right after them, which `Pairing` reports."""

from __future__ import annotations

from legato.wire.bedrock.rules.sources import UNPAIRED, invalid
from legato.wire.judging_pairs import PairingRules
from legato.wire.rules import risky

_TOO_MANY = (
    "The number of toolResult blocks at messages.{index}.content exceeds the number of toolUse blocks of previous turn."
)

PAIRS = PairingRules(
    unanswered_call=invalid(
        "bedrock/unanswered-call",
        "Every call has its result in the next message.",
        source=UNPAIRED,
        error="Expected toolResult blocks at messages.{next}.content for the following Ids: {id}",
    ),
    result_too_late=invalid(
        "bedrock/result-too-late",
        "The result of a call is in the message right after it.",
        source=UNPAIRED,
        error=_TOO_MANY,
    ),
    orphan_result=invalid(
        "bedrock/orphan-result",
        "A result follows the call that it belongs to.",
        source=UNPAIRED,
        error=_TOO_MANY,
    ),
    unknown_result=invalid(
        "bedrock/unknown-result",
        "A result names a call of the answer before it.",
        source=UNPAIRED,
        error=_TOO_MANY,
    ),
    duplicate_result=invalid(
        "bedrock/duplicate-result",
        "A call has one result.",
        source=UNPAIRED,
        error="The toolResult blocks at messages.{index}.content contain duplicate Ids: {id}",
    ),
    duplicate_call_id=invalid(
        "bedrock/duplicate-call-id",
        "No two calls of an answer share an id.",
        source=UNPAIRED,
        error="The toolUse blocks at messages.{index}.content contain duplicate Ids: {id}",
    ),
    repeated_id=risky("bedrock/repeated-id", "No two calls of a request share an id.", source=UNPAIRED),
)
