"""A streamed request of each kind of client, and how each knows the end of its stream."""

from __future__ import annotations

from gateway_clients import post

GEMINI_BODY = {
    "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
    "generationConfig": {"thinkingConfig": {"includeThoughts": True}},
}
CHAT_BODY = {"model": "some-model", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
LOOK = {"type": "object", "properties": {"where": {"type": "string"}}}
ANTHROPIC_BODY = CHAT_BODY | {
    "max_tokens": 8000,
    "thinking": {"type": "enabled", "budget_tokens": 2000},
    "tools": [{"name": "look", "input_schema": LOOK}],
}
ASKS = {
    "anthropic": post("/v1/messages", ANTHROPIC_BODY),
    "chat": post("/v1/chat/completions", CHAT_BODY),
    "mistral": post("/v1/chat/completions", CHAT_BODY, {"user-agent": "mistral-client-python/2.0"}),
    "responses": post("/v1/responses", {"model": "some-model", "stream": True, "input": "hi"}),
    "gemini": post("/v1beta/models/some-model:streamGenerateContent?alt=sse", GEMINI_BODY),
    "gemini array": post("/v1beta/models/some-model:streamGenerateContent", GEMINI_BODY),
}
"""a streamed request of each kind of client; Mistral's did not ask for thinking"""
ENDS = {
    "anthropic": b"message_delta",
    "chat": b"[DONE]",
    "mistral": b"[DONE]",
    "responses": b"response.completed",
    "gemini": b"finishReason",
    "gemini array": b"finishReason",
}
"""what is in the stream of each of them once it is complete, and only then"""
