"""What clouds ask beside the rules of a dialect: versions, and no field that the address says already."""

from __future__ import annotations

import json
from typing import Any

import pytest

from legato.errors import ProtocolRefused, Unauthorized, UnknownModel, WrongEndpoint
from legato.request import default_catalogue
from legato.simulation import Ask, SimulatedWorld
from legato.transport import classify, read_complaint, wire_request

CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
BEDROCK, VERTEX, AZURE = f"bedrock-anthropic/{CLAUDE}", "vertex-anthropic/claude-sonnet-4-5", "azure-deployments/my-gpt"
PATHS = {
    BEDROCK: f"/bedrock-anthropic/model/{CLAUDE}/invoke",
    VERTEX: "/vertex-anthropic/models/claude-sonnet-4-5:rawPredict",
    AZURE: "/azure-deployments/openai/deployments/my-gpt/chat/completions",
    "vertex/gemini-2.5-pro": "/vertex/v1/models/gemini-2.5-pro:generateContent",
}
MESSAGES = [{"role": "user", "content": "hi"}]
ASKED: dict[str, Any] = {"messages": MESSAGES, "max_tokens": 100}
VERSIONS = {BEDROCK: "bedrock-2023-05-31", VERTEX: "vertex-2023-10-16"}


def answered(
    route: str, body: dict[str, Any], *, query: dict[str, str] | None = None, key: str = "some-key", path: str = ""
) -> tuple[int, dict[str, Any], dict[str, str]]:
    world = SimulatedWorld(needs_keys=True)
    ask = Ask(
        method="POST",
        path=path or PATHS[route],
        headers={"authorization": f"Bearer {key}"} if key else {},
        body=json.dumps(body).encode(),
        query=query or {},
    )
    reply = world.provider(route.partition("/")[0]).answer(ask).reply
    return reply.status, json.loads(reply.body), reply.headers


def understood(route: str, status: int, body: dict[str, Any], headers: dict[str, str]) -> type[Exception]:
    """The error that our client makes of a refusal."""
    request = wire_request(default_catalogue().resolve(route, endpoint="http://here"), b"", key=None, stream=False)
    return type(classify(read_complaint(json.dumps(body).encode(), headers), request, status=status, headers=headers))


def message_of(body: dict[str, Any]) -> str:
    return body.get("message") or body["error"]["message"]


@pytest.mark.parametrize(
    ("route", "version", "status"),
    [
        (BEDROCK, VERSIONS[BEDROCK], 200),
        (VERTEX, VERSIONS[VERTEX], 200),
        # What Anthropic's clients send of themselves: not for models with a version in their name at Bedrock.
        (VERTEX, "2026-10-21", 200),
        (BEDROCK, "2026-10-21", 400),
        ("bedrock-anthropic/anthropic.claude-opus-5", "2026-10-21", 200),
    ],
)
def test_claude_in_a_cloud_is_answered_with_a_version_that_it_knows(route: str, version: str, status: int) -> None:
    path = PATHS.get(route, "/bedrock-anthropic/model/anthropic.claude-opus-5/invoke")
    assert answered(route, {**ASKED, "anthropic_version": version}, path=path)[0] == status


@pytest.mark.parametrize(
    ("route", "fields", "said"),
    [
        (BEDROCK, {}, "anthropic_version: Field required"),
        (VERTEX, {}, "anthropic_version: Field required"),
        (BEDROCK, {"anthropic_version": "2023-06-01"}, "anthropic_version: Input should be 'bedrock-2023-05-31'"),
        (VERTEX, {"anthropic_version": VERSIONS[BEDROCK]}, "anthropic_version: Input should be 'vertex-2023-10-16'"),
        (BEDROCK, {"anthropic_version": VERSIONS[BEDROCK], "model": CLAUDE}, "model: Extra inputs are not permitted"),
        (BEDROCK, {"anthropic_version": VERSIONS[BEDROCK], "stream": True}, "stream: Extra inputs are not permitted"),
        (VERTEX, {"anthropic_version": VERSIONS[VERTEX], "model": "x"}, "model: Extra inputs are not permitted"),
    ],
)
def test_claude_in_a_cloud_refuses_what_that_cloud_refuses(route: str, fields: dict[str, Any], said: str) -> None:
    status, body, headers = answered(route, {**ASKED, **fields})

    assert (status, message_of(body)) == (400, said)
    if route == BEDROCK:
        assert headers["x-amzn-errortype"].startswith("ValidationException")
    else:
        assert (body["type"], body["error"]["type"]) == ("error", "invalid_request_error")
    if "Extra inputs" in said:
        assert understood(route, status, body, headers) is ProtocolRefused


@pytest.mark.parametrize(
    ("query", "status", "error"),
    [
        ({}, 404, {"code": "404", "message": "Resource not found"}),
        ({"api-version": "v1"}, 400, {"code": "BadRequest", "message": "API version not supported"}),
    ],
)
def test_a_deployment_of_azure_is_asked_with_a_version(
    query: dict[str, str], status: int, error: dict[str, str]
) -> None:
    told = answered(AZURE, {"messages": MESSAGES}, query=query)
    assert told[:2] == (status, {"error": error})


@pytest.mark.parametrize("version", ["2024-10-21", "2025-04-01-preview"])
def test_a_dated_version_is_taken(version: str) -> None:
    assert answered(AZURE, {"messages": MESSAGES}, query={"api-version": version})[0] == 200


def test_azure_names_a_missing_version_so_that_our_client_points_at_the_endpoint() -> None:
    assert understood(AZURE, *answered(AZURE, {"messages": MESSAGES})) is WrongEndpoint


@pytest.mark.parametrize("route", ["vertex/gemini-2.5-pro", AZURE, BEDROCK])
@pytest.mark.parametrize("key", ["", "bad-key"])
def test_a_cloud_refuses_credentials_in_its_own_words(route: str, key: str) -> None:
    refused = answered(route, ASKED, key=key, query={"api-version": "2024-10-21"})

    assert refused[0] == (403 if route == BEDROCK else 401)
    assert understood(route, *refused) is Unauthorized


@pytest.mark.parametrize(
    ("route", "path"),
    [
        (AZURE, PATHS[AZURE].replace("my-gpt", "unknown-gpt")),
        ("vertex/gemini-2.5-pro", "/vertex/v1/models/unknown-gemini:generateContent"),
    ],
)
def test_a_cloud_without_the_model_says_so_in_its_own_words(route: str, path: str) -> None:
    body = {**ASKED, "model": "unknown-gpt", "contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    refused = answered(route, body, query={"api-version": "2024-10-21"}, path=path)

    assert refused[0] == 404
    assert understood(route, *refused) is UnknownModel
