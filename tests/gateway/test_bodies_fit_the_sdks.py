"""What goes out fits the request types of the vendors' own SDKs: from the gateway, and in the golden files.

Our rules say what providers accept as we know it. The types are the vendors' own word, with which none of our code was
written.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialect_support import needs_samples
from gateway_clients import FAMILIES, Recorded, ask, post, recorded, seen_by, simulated_gateway
from recorded_exchanges import exchanged
from vendor_types import misfits

RECORDED = recorded()
GOLDEN = Path(__file__).parents[1] / "golden"
GOLDEN_KINDS = {
    "anthropic": "anthropic",
    "deepseek": "deepseek",
    "deepseek-anthropic": "anthropic",
    "gemini": "gemini",
    "kimi": "kimi",
    "mistral": "mistral",
    "openai": "openai-chat",
    "openai-responses": "openai-responses",
    "vercel-gateway": "openai-responses",
}
"""by provider: the types that its requests have to fit"""


@needs_samples
@pytest.mark.parametrize("family", FAMILIES)
def test_what_the_gateway_makes_of_a_real_client_fits_the_sdk_of_the_backend(family: str) -> None:
    found = {f"{request.client}-{number}": _misfits_of(request, family) for number, request in enumerate(RECORDED)}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def _misfits_of(request: Recorded, family: str) -> list[str]:
    sent = exchanged(request, family, streamed=True).world.requests
    assert sent
    return [wrong for seen in sent for wrong in misfits(seen.json, _kind(request, family))]


def _kind(request: Recorded, family: str) -> str:
    """At home a client may say what its own provider knows and the SDK's types do not."""
    if request.surface == family == "anthropic" and "anthropic-beta" in request.ask.headers:
        return "anthropic beta"
    return "openai-responses as it came" if request.surface == family == "openai-responses" else family


@pytest.mark.parametrize("provider", GOLDEN_KINDS)
def test_golden_requests_fit_the_sdk_of_their_provider(provider: str) -> None:
    bodies = {path.stem: json.loads(path.read_text(encoding="utf-8"))["body"] for path in GOLDEN.glob(f"{provider}/*")}
    assert bodies
    found = {name: misfits(body, GOLDEN_KINDS[provider]) for name, body in bodies.items()}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_details"])
@pytest.mark.parametrize("empty", ["", None, []])
def test_an_empty_place_for_reasoning_does_not_reach_an_api_that_has_none(field: str, empty: Any) -> None:
    gateway = simulated_gateway(FAMILIES["openai-chat"])
    messages = [SAID, {"role": "assistant", "content": "hello", field: empty}, SAID]
    ask(gateway, post("/v1/chat/completions", {"model": "gpt-4.1", "messages": messages}))
    (seen,) = seen_by(gateway.world).requests
    assert misfits(seen.json, "openai-chat") == []


SAID = {"role": "user", "content": "hi"}
CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ANSWER = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}


def _message(*content: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": list(content)}], **fields}


@pytest.mark.parametrize(
    ("kind", "body", "place"),
    [
        ("anthropic", {**_message(), "max_tokens": "many"}, "max_tokens"),
        ("anthropic", _message(effort="high"), "effort"),
        ("anthropic", _message({"type": "text", "text": "x", "of": 1}), "messages.0.content.0.of"),
        ("anthropic", _message({"type": "tool_use", "id": "a", "name": "f", "input": {}, "x": 1}), "messages.0.content.0.x"),
        ("anthropic beta", _message({"type": "thinking", "thinking": "x"}), "messages.0.content.0"),
        ("openai-chat", {"model": "m", "messages": [SAID | {"sender": "me"}]}, "messages.0.sender"),
        ("openai-chat", {"model": "m", "messages": [{"role": "assistant", "reasoning_content": "x"}]}, "messages.0.reasoning_content"),
        ("kimi", {"model": "m", "messages": [{"role": "assistant", "tool_calls": [CALL | {"index": 0}]}]}, "messages.0.tool_calls.0.index"),
        ("deepseek", {"model": "m", "messages": [SAID | {"reasoning_content": "x"}]}, "messages.0.reasoning_content"),
        ("openai-responses", {"model": "m", "input": [{"type": "reasoning", "summary": "x"}]}, "input.0.summary"),
        ("openai-responses", {"model": "m", "input": [ANSWER]}, "input.0"),
        ("mistral", {"model": "m", "messages": [{"role": "tool", "content": "x", "is_error": True}]}, "messages.0.is_error"),
        ("mistral", {"model": "m", "messages": [SAID], "stream": True, "top": 1}, "top"),
        ("gemini", {"contents": [{"role": "user", "parts": [{"text": "x", "id": "a"}]}]}, "0.parts.0.id"),
        ("gemini", {"contents": [], "generationConfig": {"effort": "high"}}, "effort"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_found(kind: str, body: dict[str, Any], place: str) -> None:
    assert place in [wrong.partition(":")[0] for wrong in misfits(body, kind)]


def test_every_family_and_every_golden_request_is_held_against_types() -> None:
    assert set(GOLDEN_KINDS.values()) == set(FAMILIES)
    without = {"bedrock", "vercel"}  # whose clients are not in Python, or declare no types
    assert {path.name for path in GOLDEN.iterdir() if any(path.glob("*.json"))} == {*GOLDEN_KINDS, *without}
