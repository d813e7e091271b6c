"""What a server says beside its answers, in the shape that the clients of its dialect read.

Which models it has, and how many tokens a request is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from legato.model import Capabilities, Dialect, JsonObject
from legato.wire.hosting import ServerHabits


class ModelCard(NamedTuple):
    """A model under the name by which it is asked for."""

    name: str
    owner: str
    capabilities: Capabilities


def one_model(card: ModelCard, dialect: Dialect, habits: ServerHabits) -> JsonObject:
    """What a server of `dialect` says about a model."""
    name, owner, capabilities = card
    match dialect:
        case Dialect.GEMINI:
            return {
                "name": f"models/{name}",
                "version": "001",
                "displayName": name,
                "description": f"A model of {owner}.",
                "inputTokenLimit": capabilities.window,
                "outputTokenLimit": capabilities.max_output,
                "supportedGenerationMethods": ["generateContent", "countTokens"],
            }
        case Dialect.ANTHROPIC:
            return {
                "type": "model",
                "id": name,
                "display_name": name,
                "created_at": _LONG_AGO,
                "lifecycle": "active",
                "max_input_tokens": capabilities.window,
                "max_tokens": capabilities.max_output,
            }
        case Dialect.BEDROCK:
            # https://docs.aws.amazon.com/bedrock/latest/APIReference/API_FoundationModelSummary.html
            return {
                "modelArn": f"arn:aws:bedrock:us-east-1::foundation-model/{name}",
                "modelId": name,
                "modelName": name,
                "providerName": owner,
                "inputModalities": ["TEXT", "IMAGE"] if capabilities.images else ["TEXT"],
                "outputModalities": ["TEXT"],
                "responseStreamingSupported": True,
                "inferenceTypesSupported": ["ON_DEMAND"],
                "modelLifecycle": {"status": "ACTIVE"},
            }
        case _:
            said: JsonObject = {"id": name, "object": "model", "created": 0, "owned_by": owner}
            return said | habits.model_card


def list_models(cards: Sequence[ModelCard], dialect: Dialect, habits: ServerHabits) -> JsonObject:
    """The list of the models of a server."""
    models = [one_model(card, dialect, habits) for card in cards]
    match dialect:
        case Dialect.GEMINI:
            return {"models": models}
        case Dialect.ANTHROPIC:
            first, last = (cards[0].name, cards[-1].name) if cards else (None, None)
            return {"data": models, "has_more": False, "first_id": first, "last_id": last}
        case Dialect.BEDROCK:
            return {"modelSummaries": models}
        case _:
            return {"object": "list", "data": models}


_LONG_AGO = "2025-01-01T00:00:00Z"

_COUNTED = {Dialect.GEMINI: "totalTokens", Dialect.BEDROCK: "inputTokens"}


def count_body(tokens: int, dialect: Dialect) -> JsonObject:
    """How a server of `dialect` says that a request has `tokens`."""
    counted: JsonObject = {_COUNTED.get(dialect, "input_tokens"): tokens}
    return {"object": "response.input_tokens", **counted} if dialect is Dialect.OPENAI_RESPONSES else counted
