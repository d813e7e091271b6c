"""The models that a provider says it has, in the shape that its own client reads."""

from __future__ import annotations

from collections.abc import Sequence

from legato.model import Dialect, JsonObject, Target
from legato.wire.hosting import ServerHabits


def one_model(target: Target, owner: str, habits: ServerHabits) -> JsonObject:
    """What the provider says about the model of `target`."""
    name, capabilities = target.model, target.capabilities
    match target.dialect:
        case Dialect.GEMINI:
            return {
                "name": f"models/{name}",
                "version": "001",
                "displayName": name,
                "description": "A simulated model.",
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
            card: JsonObject = {"id": name, "object": "model", "created": 0, "owned_by": owner}
            return card | habits.model_card


def list_models(targets: Sequence[Target], owner: str, habits: ServerHabits) -> JsonObject:
    """The list of the models of `targets`, which are at least one."""
    models = [one_model(target, owner, habits) for target in targets]
    match targets[0].dialect:
        case Dialect.GEMINI:
            return {"models": models}
        case Dialect.ANTHROPIC:
            return {"data": models, "has_more": False, "first_id": targets[0].model, "last_id": targets[-1].model}
        case Dialect.BEDROCK:
            return {"modelSummaries": models}
        case _:
            return {"object": "list", "data": models}


_LONG_AGO = "2025-01-01T00:00:00Z"
