from __future__ import annotations

import pytest
from msgspec.structs import replace
from rich.pretty import pretty_repr

from legato import __version__
from legato.errors import ConfigError
from legato.model import Dialect, Platform, Target
from legato.transport import HTTP_APIS, Key, WireRequest, shown_url, wire_request

KEY = Key("sk-test-0123456789abcdef")


def target(dialect: Dialect, endpoint: str, *, model: str = "m-1", provider: str = "p") -> Target:
    return Target(dialect=dialect, profile=provider, provider=provider, model=model, endpoint=endpoint)


OPENAI = target(Dialect.OPENAI_CHAT, "https://api.openai.com/v1", provider="openai")
ANTHROPIC = target(Dialect.ANTHROPIC, "https://api.anthropic.com", provider="anthropic")


@pytest.mark.parametrize(
    ("dialect", "endpoint", "stream", "url", "key_header"),
    [
        (
            Dialect.OPENAI_CHAT,
            "https://api.openai.com/v1",
            False,
            "https://api.openai.com/v1/chat/completions",
            "authorization",
        ),
        (
            Dialect.OPENAI_CHAT,
            "http://127.0.0.1:8080/",
            True,
            "http://127.0.0.1:8080/chat/completions",
            "authorization",
        ),
        (
            Dialect.OPENAI_RESPONSES,
            "https://x.example/openai/v1?api-version=preview",
            True,
            "https://x.example/openai/v1/responses?api-version=preview",
            "authorization",
        ),
        (Dialect.ANTHROPIC, "https://api.anthropic.com", True, "https://api.anthropic.com/v1/messages", "x-api-key"),
        (Dialect.ANTHROPIC, "https://a.example/v1/", False, "https://a.example/v1/messages", "x-api-key"),
        (
            Dialect.GEMINI,
            "https://g.example/v1beta",
            False,
            "https://g.example/v1beta/models/m-1:generateContent",
            "x-goog-api-key",
        ),
        (
            Dialect.GEMINI,
            "https://g.example/v1beta?x=1",
            True,
            "https://g.example/v1beta/models/m-1:streamGenerateContent?x=1&alt=sse",
            "x-goog-api-key",
        ),
        (Dialect.VERCEL, "https://v.example/api", True, "https://v.example/api/chat", "authorization"),
        (Dialect.BEDROCK, "https://b.example", False, "https://b.example/model/m-1/converse", "authorization"),
        (Dialect.BEDROCK, "https://b.example/", True, "https://b.example/model/m-1/converse-stream", "authorization"),
    ],
)
def test_each_dialect_knocks_at_its_own_door(
    dialect: Dialect, endpoint: str, stream: bool, url: str, key_header: str
) -> None:
    request = wire_request(target(dialect, endpoint), b"{}", key=KEY, stream=stream)
    assert (request.method, request.url, list(request.secrets)) == ("POST", url, [key_header])
    prefix = "Bearer " if key_header == "authorization" else ""
    assert request.sent_headers()[key_header] == prefix + KEY.reveal()


def test_every_dialect_has_a_door() -> None:
    assert set(HTTP_APIS) == set(Dialect)


def test_an_anthropic_request_is_complete() -> None:
    request = wire_request(ANTHROPIC, b'{"model": "m-1"}', key=KEY, stream=True)
    assert request == WireRequest(
        method="POST",
        url="https://api.anthropic.com/v1/messages",
        headers={
            "content-type": "application/json",
            "accept": "text/event-stream",
            "user-agent": f"legato/{__version__}",
            "anthropic-version": "2023-06-01",
        },
        secrets={"x-api-key": KEY},
        body=b'{"model": "m-1"}',
        stream=True,
        target=ANTHROPIC,
    )
    assert (request.dialect, request.route) == (Dialect.ANTHROPIC, "anthropic/m-1")


def test_a_server_that_asks_for_no_key_gets_none() -> None:
    request = wire_request(OPENAI, b"{}", key=None, stream=False)
    assert request.secrets == {}
    assert request.sent_headers() == request.headers
    assert request.headers["accept"] == "application/json"


def test_no_form_of_a_request_shows_a_secret() -> None:
    request = wire_request(
        target(Dialect.OPENAI_CHAT, "https://user:pass-word@gate.example/v1?token=tok-123456"),
        b'{"prompt": "private words"}',
        key=KEY,
        stream=False,
        headers={"X-Gateway": "gate-secret"},
    )
    shown = repr(request) + str(request) + pretty_repr(request)
    assert not [
        secret
        for secret in (KEY.reveal(), "gate-secret", "pass-word", "tok-123456", "private words")
        if secret in shown
    ]
    assert repr(request) == (
        "WireRequest(POST https://gate.example/v1/chat/completions, route='p/m-1', "
        "headers=[accept, authorization, content-type, user-agent, x-gateway], body=27 bytes, stream=False)"
    )


def test_headers_of_one_route_never_reach_another() -> None:
    first = wire_request(OPENAI, b"{}", key=KEY, stream=False, headers={"X-Team": "blue-team"})
    second = wire_request(ANTHROPIC, b"{}", key=Key("other-key"), stream=False)
    assert first.sent_headers()["x-team"] == "blue-team"
    assert set(second.sent_headers()) == {"content-type", "accept", "user-agent", "anthropic-version", "x-api-key"}
    assert KEY.reveal() not in second.sent_headers().values()


def test_a_route_may_replace_a_header_of_ours() -> None:
    request = wire_request(ANTHROPIC, b"{}", key=KEY, stream=False, headers={"Anthropic-Version": "2030-01-01"})
    assert request.sent_headers()["anthropic-version"] == "2030-01-01"
    assert "anthropic-version" not in request.headers


@pytest.mark.parametrize("name", ["bad name", "", "Content-Length", "host", "x\r\ny"])
def test_a_header_that_cannot_be_sent_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be sent a header"):
        wire_request(OPENAI, b"{}", key=KEY, stream=False, headers={name: "v"})


def test_a_header_value_that_breaks_a_line_is_refused_without_showing_it() -> None:
    with pytest.raises(ConfigError) as caught:
        wire_request(OPENAI, b"{}", key=None, stream=False, headers={"x-a": "secret\r\nx-b: c"})
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    "endpoint",
    ["", "api.openai.com/v1", "ftp://x.example", "https://", "http://[::1/v1", "http://h:99999/v1", "http://h:0"],
)
def test_an_endpoint_that_is_no_base_url_is_refused(endpoint: str) -> None:
    with pytest.raises(ConfigError, match="is not a base URL"):
        wire_request(target(Dialect.OPENAI_CHAT, endpoint), b"{}", key=KEY, stream=False)


def test_a_model_name_cannot_leave_its_place_in_the_path() -> None:
    request = wire_request(
        target(Dialect.GEMINI, "https://g.example/v1", model="../../a?b#c"), b"{}", key=KEY, stream=False
    )
    assert request.url == "https://g.example/v1/models/..%2F..%2Fa%3Fb%23c:generateContent"


def test_a_shown_url_has_no_user_and_no_query() -> None:
    assert shown_url("https://u:p@h.example:81/a?key=k#f") == "https://h.example:81/a"


@pytest.mark.parametrize(
    ("dialect", "platform", "model", "endpoint", "paths", "key_header"),
    [
        (
            Dialect.GEMINI,
            Platform.VERTEX,
            "gemini-2.5-pro",
            "https://v.example/v1/projects/p/locations/global/publishers/google",
            ("/models/gemini-2.5-pro:generateContent", "/models/gemini-2.5-pro:streamGenerateContent?alt=sse"),
            "authorization",
        ),
        (
            Dialect.ANTHROPIC,
            Platform.VERTEX,
            "claude-sonnet-4-5@20250929",
            "https://v.example/v1/projects/p/locations/global/publishers/anthropic",
            ("/models/claude-sonnet-4-5@20250929:rawPredict", "/models/claude-sonnet-4-5@20250929:streamRawPredict"),
            "authorization",
        ),
        (
            Dialect.ANTHROPIC,
            Platform.BEDROCK,
            "us.anthropic.claude-v1:0",
            "https://b.example",
            (
                "/model/us.anthropic.claude-v1%3A0/invoke",
                "/model/us.anthropic.claude-v1%3A0/invoke-with-response-stream",
            ),
            "authorization",
        ),
        (
            Dialect.OPENAI_CHAT,
            Platform.AZURE,
            "my-gpt",
            "https://a.example/openai/v1",
            ("/chat/completions", "/chat/completions"),
            "api-key",
        ),
        (
            Dialect.OPENAI_RESPONSES,
            Platform.AZURE,
            "my-gpt",
            "https://a.example/openai/v1",
            ("/responses", "/responses"),
            "api-key",
        ),
    ],
)
def test_a_platform_has_paths_and_a_key_header_of_its_own(
    dialect: Dialect, platform: Platform, model: str, endpoint: str, paths: tuple[str, str], key_header: str
) -> None:
    there = replace(target(dialect, endpoint, model=model), platform=platform)
    requests = [wire_request(there, b"{}", key=KEY, stream=stream) for stream in (False, True)]

    assert [(request.url, list(request.secrets)) for request in requests] == [
        (endpoint + path, [key_header]) for path in paths
    ]
    assert "anthropic-version" not in requests[0].headers


def test_a_deployment_is_in_the_path_and_the_dated_version_in_the_query() -> None:
    there = replace(
        target(Dialect.OPENAI_CHAT, "https://a.example/openai?api-version=2024-10-21", model="my-gpt"),
        platform=Platform.AZURE_DEPLOYMENTS,
    )
    assert wire_request(there, b"{}", key=KEY, stream=True).url == (
        "https://a.example/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"
    )
