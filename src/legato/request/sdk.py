"""A request body as keyword arguments of the official Python client.

Clients take the fields they know by name and everything else through `extra_body`; Google's takes `contents` and
`config`. Which fields a client knows is data here, so that nothing is imported to find out.
"""

from __future__ import annotations

from legato.model import Dialect, JsonObject

_CHAT = """
    messages model tools tool_choice temperature top_p max_tokens max_completion_tokens stream stream_options
    parallel_tool_calls reasoning_effort response_format seed stop store metadata user n logprobs top_logprobs
    frequency_penalty presence_penalty service_tier prediction modalities audio verbosity
"""
_RESPONSES = """
    input model instructions tools tool_choice temperature top_p max_output_tokens stream store include reasoning
    parallel_tool_calls previous_response_id metadata text truncation service_tier user conversation
"""
_ANTHROPIC = """
    messages model system tools tool_choice temperature top_p top_k max_tokens stream thinking stop_sequences
    metadata service_tier output_config container
"""
_KNOWN = {
    Dialect.OPENAI_CHAT: frozenset(_CHAT.split()),
    Dialect.OPENAI_RESPONSES: frozenset(_RESPONSES.split()),
    Dialect.ANTHROPIC: frozenset(_ANTHROPIC.split()),
}


def sdk_arguments(dialect: Dialect, body: JsonObject, model: str) -> JsonObject:
    """Keyword arguments for the client's `create` (or `generate_content`) method."""
    if dialect is Dialect.GEMINI:
        return _for_google(body, model)
    known = _KNOWN.get(dialect)
    if known is None:
        return dict(body)
    arguments = {name: value for name, value in body.items() if name in known}
    extra = {name: value for name, value in body.items() if name not in known}
    return {**arguments, "extra_body": extra} if extra else arguments


def _for_google(body: JsonObject, model: str) -> JsonObject:
    config: JsonObject = {}
    for name, value in body.items():
        if name == "generationConfig":
            config.update(value)
        elif name != "contents":
            config[name] = value
    arguments: JsonObject = {"model": model, "contents": body["contents"]}
    return {**arguments, "config": config} if config else arguments
