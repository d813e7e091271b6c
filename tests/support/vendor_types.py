"""Whether a request body is of the type that the vendor's own SDK declares for it.

Validators are built from the pinned SDKs' request types: TypedDicts of Anthropic and OpenAI, pydantic models of Google
and Mistral. Left to themselves these let much through: fields that no type knows, and the items of an `Iterable`, which
pydantic looks at only when somebody asks for them. Here both are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, cast

from anthropic.types import message_create_params as anthropic_params
from anthropic.types.beta import message_create_params as anthropic_beta_params
from google.genai import types as google_types
from mistralai.client import models as mistral_models
from msgspec import Struct
from openai.types.chat import completion_create_params as chat_params
from openai.types.responses import response_create_params as responses_params
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, SchemaValidator, core_schema

from legato.model import JsonObject

Fields = Mapping[str, Mapping[str, core_schema.CoreSchema]]
"""by the name of a TypedDict: fields that are taken beside those that it declares"""


class Declared(Struct, frozen=True):
    """A request type, and what is taken all the same."""

    type: Any
    beside: Fields = {}
    unneeded: Mapping[str, tuple[str, ...]] = {}
    """by the name of a TypedDict: fields that it demands and the API does not"""


_TEXT, _NUMBER, _ANYTHING = core_schema.str_schema(), core_schema.float_schema(), core_schema.any_schema()

# The API takes these for the models that always had them; the client takes them through `extra_body` since version 2.
_SAMPLING = {"temperature": _NUMBER, "top_p": _NUMBER, "top_k": core_schema.int_schema()}
_SAMPLED: Fields = {f"MessageCreateParams{end}": _SAMPLING for end in ("Streaming", "NonStreaming")}

# Both read a model's thoughts from where they were told, and switch them by a field of their own:
# https://api-docs.deepseek.com/guides/thinking_mode, https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model
_THINKS: Fields = {
    "ChatCompletionAssistantMessageParam": {"reasoning_content": _TEXT},
    **{f"CompletionCreateParams{end}": {"thinking": _ANYTHING} for end in ("Streaming", "NonStreaming")},
}

# What Codex sends to its own provider, and no SDK knows.
_MARKED = {"internal_chat_message_metadata_passthrough": _ANYTHING}
_CODEX: Fields = {
    **{f"ResponseCreateParams{end}": {"client_metadata": _ANYTHING} for end in ("Streaming", "NonStreaming")},
    "EasyInputMessageParam": {"id": _TEXT, **_MARKED},
    "Message": {"id": _TEXT, **_MARKED},
    "WebSearchToolParam": {"search_content_types": _ANYTHING},
}

# A server that stores nothing gives reasoning no id; OpenCode (the AI SDK) gives back no more of an answer than its text.
_UNSTORED = {"ResponseReasoningItemParam": ("id",)}
_BARE = {"ResponseOutputMessageParam": ("id", "status", "type"), "ResponseOutputTextParam": ("annotations",)}

DECLARED = {
    "anthropic": Declared(anthropic_params.MessageCreateParams, _SAMPLED),
    "anthropic beta": Declared(anthropic_beta_params.MessageCreateParams, _SAMPLED),
    "openai-chat": Declared(chat_params.CompletionCreateParams),
    "openai-responses": Declared(responses_params.ResponseCreateParams, unneeded=_UNSTORED),
    "openai-responses as it came": Declared(responses_params.ResponseCreateParams, _CODEX, _UNSTORED | _BARE),
    "kimi": Declared(chat_params.CompletionCreateParams, _THINKS),
    "deepseek": Declared(chat_params.CompletionCreateParams, _THINKS),
    "mistral": Declared(mistral_models.ChatCompletionRequest),
    "mistral stream": Declared(mistral_models.ChatCompletionStreamRequest),
    "gemini contents": Declared(list[google_types.Content]),
    "gemini config": Declared(google_types.GenerateContentConfig),
}


def misfits(body: JsonObject, kind: str) -> list[str]:
    """Where `body`, a request of that `kind`, is not what the vendor's types say."""
    match kind:
        case "gemini":
            # The client's `config` holds what the API has in `generationConfig` and beside it.
            rest = {name: value for name, value in body.items() if name not in ("contents", "generationConfig")}
            config = {**body.get("generationConfig", {}), **rest}
            parts = {"gemini contents": body["contents"], "gemini config": config}
        case "mistral" if body.get("stream"):
            parts = {"mistral stream": body}
        case _:
            parts = {kind: body}
    return [found for name, value in parts.items() for found in dict.fromkeys(_misfits(value, _validator(name)))]


@cache
def _validator(name: str) -> SchemaValidator:
    declared = DECLARED[name]
    adapter = TypeAdapter[Any](declared.type)
    adapter.rebuild(force=True)  # Google's models are otherwise built at first use
    schema = cast(core_schema.CoreSchema, _searching(adapter.core_schema, declared))
    return SchemaValidator(schema, _use_prebuilt=False)  # else models bring the validators that they were built with


def _searching(schema: Any, declared: Declared) -> Any:
    """`schema`, but that nothing is put off and nothing unknown is let through."""
    if isinstance(schema, list | tuple):
        return type(schema)(_searching(item, declared) for item in cast("list[Any]", schema))
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") == "model" and schema["cls"].model_config.get("extra") == "allow":
        # An object of an answer, which may be given back as it is. No JSON is one, though it would pass for one.
        return {"type": "is-instance", "cls": schema["cls"], "ref": schema.get("ref")}
    searching: dict[str, Any] = {
        name: _searching(value, declared) for name, value in cast("dict[str, Any]", schema).items()
    }
    match searching.get("type"):
        case "generator":
            searching["type"] = "list"
        case "typed-dict":
            fields, of = searching["fields"], searching["cls"].__name__
            for name, taken in declared.beside.get(of, {}).items():
                fields.setdefault(name, core_schema.typed_dict_field(taken, required=False))
            for name in declared.unneeded.get(of, ()):
                fields[name]["required"] = False
        case _:
            pass
    if searching.get("type") in ("typed-dict", "model-fields") and "extras_schema" not in searching:
        searching["extra_behavior"] = "forbid"
    return searching


def _misfits(value: Any, validator: SchemaValidator) -> Iterator[str]:
    try:
        validator.validate_python(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False)
        for item in _of_its_kind(found):
            yield f"{_path(value, item['loc'])}: {'.'.join(map(str, item['loc'][-2:]))}: {item['msg']}"


def _of_its_kind(found: list[ErrorDetails]) -> list[ErrorDetails]:
    """What is wrong by the type that is meant; of a union, each of the types complains, also those of other kinds."""
    others = {
        item["loc"][:-1]
        for item in found
        if item["loc"][-1] in ("type", "role", "stream") and item["type"] in ("literal_error", "missing")
    }
    meant = [item for item in found if not any(item["loc"][:end] in others for end in range(1, len(item["loc"])))]
    return meant or found


def _path(value: Any, steps: tuple[int | str, ...]) -> str:
    """The steps that lead through `value`; the others name types."""
    path: list[str] = []
    for step in steps:
        if (isinstance(value, dict) and step in value) or (isinstance(value, list) and isinstance(step, int)):
            path.append(str(step))
            value = cast(Any, value)[step]
    return ".".join(path)
