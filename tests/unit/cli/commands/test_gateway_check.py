"""`legato doctor --gateway`: whether clients get through to a gateway that runs."""

from __future__ import annotations

import json
import shlex
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway_clients import simulated_gateway
from legato.cli.client_settings import CLIENTS, shell_lines
from legato.cli.gateway_check import check_clients, is_address
from legato.gateway.app import GatewayApp, Served
from legato.gateway.gatekeeper import Gatekeeper, digest_of
from program import Home
from serving import on_a_port

GPT = "openai/gpt-4.1"
SURFACES = ["Anthropic", "OpenAI chat", "OpenAI Responses", "Google"]
URL = "http://127.0.0.1:8100"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    home = Home(tmp_path, monkeypatch)
    for name in ("GATEWAY_KEY", "OPENCODE_CONFIG_CONTENT", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return home


def found(home: Home, *arguments: str, about: str = "gateway") -> list[tuple[str, str]]:
    lines = map(json.loads, home.legato("doctor", "--json", *arguments).stdout.splitlines())
    return [(line["health"], line["told"]) for line in lines if line["about"] == about]


def served(**options: Any) -> tuple[GatewayApp, list[Served]]:
    told: list[Served] = []
    return GatewayApp(simulated_gateway(GPT), finished=told.append, **options), told


def test_each_api_is_answered_where_providers_are_simulated(home: Home) -> None:
    app, _ = served(simulated=True)
    with on_a_port(app) as url:
        assert found(home, "--gateway", url) == [
            ("ok", f"{url} runs, with simulated providers"),
            *(("ok", f"{name}: {GPT} answers") for name in SURFACES),
        ]


def test_a_real_provider_is_asked_only_if_somebody_wants_that(home: Home) -> None:
    app, told = served()
    with on_a_port(app) as url:
        checks = found(home, "--gateway", url)
    assert checks[1:] == [("ok", f"{name}: models are listed; --online also asks for an answer") for name in SURFACES]
    assert [one.report for one in told] == [None] * 6  # models and counts, and not one answer

    app, _ = served()
    with on_a_port(app) as url:
        assert found(home, "--gateway", url, "--online")[1:] == [("ok", f"{name}: {GPT} answers") for name in SURFACES]


def test_a_gateway_that_wants_a_key_gets_the_one_of_the_environment(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, _ = served(keeper=Gatekeeper(keys={digest_of("the-key-of-ann"): "ann"}), simulated=True)
    with on_a_port(app) as url:
        checks = found(home, "--gateway", url)
        assert [health for health, _ in checks] == ["ok", *["broken"] * 4]
        assert all("put your key into GATEWAY_KEY" in told for _, told in checks[1:])
        assert home.legato("doctor", "--gateway", url).exit_code == 3
        monkeypatch.setenv("GATEWAY_KEY", "the-key-of-ann")
        assert [health for health, _ in found(home, "--gateway", url)] == ["ok"] * 5
        assert "the-key-of-ann" not in home.legato("doctor", "--gateway", url).output


def test_the_address_is_that_of_the_settings_unless_one_is_given(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    home.configure(f"[serve]\nport = {port}\n")
    [(health, told)] = found(home, "--gateway")
    assert health == "broken"
    assert told.startswith(f"nobody answers at http://127.0.0.1:{port} (ConnectError); start one with `legato serve`")


def test_without_the_option_nothing_is_sent(home: Home) -> None:
    assert (found(home), found(home, about="clients")) == ([], [])


@pytest.mark.parametrize(
    "url", ["localhost:8100", "http://", "http://127.0.0.1:99999", "http://x y", "ftp://x", "http://[::1"]
)
def test_what_is_no_address_is_refused(home: Home, url: str) -> None:
    result = home.legato("doctor", "--gateway", url)
    assert (result.exit_code, "is not an address such as" in result.stderr, is_address(url)) == (2, True, False)


class SomethingElse(GatewayApp):
    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b"[]"})


def test_somebody_else_at_the_address_is_told(home: Home) -> None:
    with on_a_port(SomethingElse(simulated_gateway(GPT))) as url:
        told = f"{url} is no gateway, or one that fails: /healthz is answered 404; check the address"
        assert found(home, "--gateway", url) == [("broken", told)]


# --- clients ---


def exported(client: str, url: str) -> dict[str, str]:
    """The environment of a shell that has read the lines for `client`."""
    pairs = (shlex.split(line, comments=True) for line in shell_lines(client, url))
    return dict(words[1].split("=", 1) for words in pairs if words and words[0] == "export")


def clients(environment: dict[str, str], url: str = URL) -> Iterator[tuple[str, str, str]]:
    for check in check_clients(url, environment):
        client, _, told = check.told.partition(": ")
        yield client, str(check.health), told


@pytest.mark.parametrize("client", [name for name in CLIENTS if name != "codex"])
@pytest.mark.parametrize("url", [URL, "http://localhost:8100", "http://gw.lan:80"])
def test_a_client_that_was_led_here_is_known_and_no_other(tmp_path: Path, client: str, url: str) -> None:
    environment = exported(client, url) | {"HOME": str(tmp_path)}
    here = {name: health for name, health, _ in clients(environment, url.replace("localhost", "127.0.0.1"))}
    assert here == {name: "ok" if name == client else "note" for name in CLIENTS}
    assert {health for _, health, _ in clients(environment, "http://127.0.0.1:9")} == {"note"}


def test_variables_that_lead_here_are_told_in_their_number() -> None:
    told = {
        name: told
        for client in ("claude", "gemini")
        for name, _, told in clients(exported(client, URL))
        if name == client
    }
    assert told == {
        "claude": "ANTHROPIC_BASE_URL leads here",
        "gemini": "GOOGLE_GEMINI_BASE_URL and GOOGLE_VERTEX_BASE_URL lead here",
    }


@pytest.mark.parametrize(
    ("url", "lead"),
    [
        (URL, 'eval "$(legato serve --env claude)" leads it here'),
        ("http://127.0.0.1:9000", 'eval "$(legato serve --env claude --port 9000)" leads it here'),
        ("http://gw.lan", 'eval "$(legato serve --env claude --host gw.lan --port 80)" leads it here'),
        ("https://gw.example/x", "set its base URL to https://gw.example/x"),
    ],
)
def test_a_client_is_led_to_the_gateway_that_was_asked(tmp_path: Path, url: str, lead: str) -> None:
    told = next(told for name, _, told in clients({"HOME": str(tmp_path)}, url) if name == "claude")
    assert told == f"ANTHROPIC_BASE_URL is not set; {lead}"


def test_where_a_client_goes_instead_is_told_without_secrets(tmp_path: Path) -> None:
    environment = {
        "ANTHROPIC_BASE_URL": "https://me:password@proxy.example/v1?token=secret",
        "OPENCODE_CONFIG_CONTENT": json.dumps({"provider": {"x": {"options": {"apiKey": "secret"}}}}),
        "HOME": str(tmp_path),
    }
    told = {name: told for name, _, told in clients(environment)}
    assert told["claude"].startswith("ANTHROPIC_BASE_URL leads to https://proxy.example/v1; eval")
    assert told["opencode"].startswith("OPENCODE_CONFIG_CONTENT leads elsewhere; eval")
    assert told["qwen"].startswith("OPENAI_BASE_URL is not set; eval")
    assert told["gemini"].startswith("GOOGLE_GEMINI_BASE_URL and GOOGLE_VERTEX_BASE_URL are not set; eval")
    assert "secret" not in str(told)
    assert "password" not in str(told)


def test_codex_is_looked_up_in_its_settings(tmp_path: Path) -> None:
    def codex(text: str) -> str:
        (tmp_path / "config.toml").write_text(text)
        return next(health for name, health, _ in clients({"CODEX_HOME": str(tmp_path)}) if name == "codex")

    provider = '[model_providers.legato]\nbase_url = "http://127.0.0.1:8100/v1"\n'
    assert codex('model_provider = "legato"\n' + provider) == "ok"
    assert codex(provider) == "note"  # it is there, and another one is used
    assert codex("model_providers = 3") == "note"
    assert codex("not toml") == "note"
