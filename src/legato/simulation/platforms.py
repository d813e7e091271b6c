"""What a cloud asks of a request beside the rules of the dialect that it serves.

In:  a request, its body, and the platform that it came to.
Out: a refusal in the words of the cloud; None if it has all it wants.

It is written from what the clouds document, and not from `wire.carriage`, which writes such requests.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from legato.model import Dialect, JsonObject, Platform
from legato.simulation.refusals import SimulatedRefusal
from legato.transport.contract import Ask
from legato.wire.hosting import RefusalReason


class Demand(NamedTuple):
    """A version that has to stand in the body, and fields that may not."""

    version: str
    without: tuple[str, ...]


DEMANDS: Mapping[tuple[Dialect, Platform], Demand] = {
    # https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html
    (Dialect.ANTHROPIC, Platform.BEDROCK): Demand("bedrock-2023-05-31", ("model", "stream")),
    # https://docs.anthropic.com/en/api/claude-on-vertex-ai
    (Dialect.ANTHROPIC, Platform.VERTEX): Demand("vertex-2023-10-16", ("model",)),
}

_LATER = "2026-10-21"
"""what Anthropic's clients send to clouds since their version 2; at Bedrock, models whose names end in a version of
their own do not know it (https://platform.claude.com/docs/en/build-with-claude/claude-on-amazon-bedrock-legacy)"""
_OWN_VERSION = re.compile(r"-v\d+(?::\d+)?$")
_API_VERSION = re.compile(r"\d{4}-\d{2}-\d{2}(?:-preview)?")


def refuse_url(ask: Ask, platform: Platform) -> SimulatedRefusal | None:
    """What is wrong with the address of `ask`."""
    if platform is not Platform.AZURE_DEPLOYMENTS:
        return None
    version = ask.query.get("api-version", "")
    if not version:  # a path without a version is none (MicrosoftDocs/azure-docs#114602, ThinkInAIXYZ/deepchat#262)
        return SimulatedRefusal(reason=RefusalReason.PATH, message="Resource not found", rule="api-version")
    if not _API_VERSION.fullmatch(version):  # earendil-works/pi#2528
        return SimulatedRefusal(reason=RefusalReason.SHAPE, message="API version not supported", rule="api-version")
    return None


def refuse_fields(body: JsonObject, dialect: Dialect, platform: Platform, *, model: str) -> SimulatedRefusal | None:
    """What is wrong with the fields of `body`, for `model`, that belong to the platform.

    Missing ones are told as in QuantumNous/new-api#3339, others that are too much as in anthropics/claude-code#37746.
    """
    demand = DEMANDS.get((dialect, platform))
    if demand is None:
        return None
    for field in demand.without:
        if field in body:
            return _of_field(field, f"{field}: Extra inputs are not permitted")
    if "anthropic_version" not in body:
        return _of_field("anthropic_version", "anthropic_version: Field required")
    takes_later = platform is not Platform.BEDROCK or not _OWN_VERSION.search(model)
    if body["anthropic_version"] not in (demand.version, _LATER if takes_later else demand.version):
        return _of_field("anthropic_version", f"anthropic_version: Input should be '{demand.version}'")
    return None


def _of_field(field: str, message: str) -> SimulatedRefusal:
    return SimulatedRefusal(reason=RefusalReason.SHAPE, message=message, path=field, rule=f"cloud/{field}")
