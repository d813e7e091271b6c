"""A request body as keyword arguments of the official Python client.

In:  a body and its target.
Out: arguments for `create` and for the helpers beside it (`stream`, `parse`); for Google's client those of
     `generate_content` and `generate_content_stream`, for Mistral's those of `complete` and `stream`, for AWS's (boto3)
     those of `converse` and `converse_stream`.

Clients take the fields they know by name and everything else through `extra_body`. Which fields they know is data here,
so that nothing is imported to find out: those that every version and every helper takes. Anthropic's client, for one,
took `temperature` by name until version 2. `stream` is never among the arguments: a helper that streams takes none, and
for `create` it has to be where type checkers see it.
"""

from __future__ import annotations

from base64 import b64decode

from legato.model import Dialect, Json, JsonObject, Target
from legato.model.json_access import as_object, as_objects
from legato.wire.carriage import carriage_of
from legato.wire.hosts import host_of

_CHAT = """
    messages model tools tool_choice temperature top_p max_tokens max_completion_tokens stream_options
    parallel_tool_calls reasoning_effort response_format seed stop store metadata user n logprobs top_logprobs
    frequency_penalty presence_penalty service_tier prediction modalities audio verbosity
"""
_RESPONSES = """
    input model instructions tools tool_choice temperature top_p max_output_tokens store include reasoning
    parallel_tool_calls previous_response_id metadata text truncation service_tier user conversation
"""
_ANTHROPIC = """
    messages model system tools tool_choice max_tokens thinking stop_sequences metadata service_tier output_config
"""
_GOOGLE = """
    audioTimestamp cachedContent candidateCount frequencyPenalty imageConfig labels logprobs maxOutputTokens
    mediaResolution presencePenalty responseJsonSchema responseLogprobs responseMimeType responseModalities
    responseSchema routingConfig safetySettings seed speechConfig stopSequences systemInstruction temperature
    thinkingConfig toolConfig tools topK topP
"""
KNOWN: dict[Dialect, frozenset[str]] = {
    Dialect.OPENAI_CHAT: frozenset(_CHAT.split()),
    Dialect.OPENAI_RESPONSES: frozenset(_RESPONSES.split()),
    Dialect.ANTHROPIC: frozenset(_ANTHROPIC.split()),
    Dialect.GEMINI: frozenset(_GOOGLE.split()),
}
"""what a client takes by name; of Google's, what its `config` does"""


def sdk_arguments(target: Target, body: JsonObject) -> JsonObject:
    """Keyword arguments for the official client of `target`."""
    # The clients for clouds take the maker's own arguments and put them where the platform wants them. What only the
    # platform has is said all the same: the version that Anthropic's client sends of itself is refused by older models
    # (https://platform.claude.com/docs/en/build-with-claude/claude-on-amazon-bedrock-legacy).
    carriage = carriage_of(target)
    body = carriage.unload({name: value for name, value in body.items() if name != "stream"}, target.model)
    body |= carriage.adds
    if target.dialect is Dialect.GEMINI:
        return _for_google(body, target.model)
    if target.dialect is Dialect.BEDROCK:
        return _for_aws(body, target.model)
    known = KNOWN.get(target.dialect)
    if known is None or (target.dialect is Dialect.OPENAI_CHAT and host_of(target).own_client):
        return body
    arguments = {name: value for name, value in body.items() if name in known}
    extra = {name: value for name, value in body.items() if name not in known}
    return {**arguments, "extra_body": extra} if extra else arguments


def _for_google(body: JsonObject, model: str) -> JsonObject:
    """`generationConfig` is no argument of its own: what is in it is in `config` beside the other fields."""
    known = KNOWN[Dialect.GEMINI]
    settings = as_object(body.get("generationConfig"))
    rest = {name: value for name, value in body.items() if name not in ("contents", "generationConfig")}
    config: JsonObject = {name: value for name, value in (settings | rest).items() if name in known}
    extra: JsonObject = {name: value for name, value in rest.items() if name not in known}
    if unknown := {name: value for name, value in settings.items() if name not in known}:
        extra["generationConfig"] = unknown
    if extra:
        config["httpOptions"] = {"extraBody": extra}
    arguments: JsonObject = {"model": model, "contents": body["contents"]}
    return {**arguments, "config": config} if config else arguments


_MEDIA = frozenset({"image", "document", "video"})


def _for_aws(body: JsonObject, model: str) -> JsonObject:
    """The model is an argument too, and what JSON holds as base64 is bytes."""
    messages = [{**message, "content": _with_bytes(message["content"])} for message in as_objects(body["messages"])]
    return {"modelId": model, **body, "messages": messages}


def _with_bytes(content: Json) -> list[JsonObject]:
    """Blocks with their data as bytes. Those of a call's input and of schemas are no one's data."""
    blocks: list[JsonObject] = []
    for block in as_objects(content):
        [(kind, held)] = block.items()
        if kind in _MEDIA and isinstance(held["source"].get("bytes"), str):
            held = {**held, "source": {"bytes": b64decode(held["source"]["bytes"])}}
        elif kind == "reasoningContent" and "redactedContent" in held:
            held = {"redactedContent": b64decode(held["redactedContent"])}
        elif kind == "toolResult":
            held = {**held, "content": _with_bytes(held["content"])}
        blocks.append({kind: held})
    return blocks
