"""`legato serve`: a gateway on a port, who may ask it, and what it says about requests."""

from __future__ import annotations

import builtins
import json
import shlex
import signal
import stat
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from legato.cli.client_settings import CLIENTS, shell_lines, url_of
from legato.cli.gateway_server import ServeOptions, gatekeeper_of, lasting_key, profile_of, request_line
from legato.cli.settings.schema import Settings
from legato.errors import ConfigError, UnknownTarget
from legato.gateway.app import Served
from legato.gateway.exchange import RouteAttempt
from legato.gateway.gatekeeper import digest_of
from legato.gateway.reports import RequestReport
from legato.model import Usage
from legato.routing import Policy
from legato.transport.contract import Ask
from program import Home

CLAUDE, KIMI = "anthropic/claude-sonnet-4-5", "kimi/kimi-k2-thinking"
SIMULATED = Settings(simulate=True)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


def options(**changes: Any) -> ServeOptions:
    plain: dict[str, Any] = {"host": "127.0.0.1", "port": 0, "routes": (), "switch": "turn", "keys": None}
    return ServeOptions(**(plain | {"origins": (), "log_file": None} | changes))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_a_gateway_serves_until_a_signal_comes_and_tells_of_every_request(
    home: Home, number: signal.Signals, code: int
) -> None:
    log = home.work / "requests.log"
    arguments = ["serve", "--simulate", "--port", "0", "--route", CLAUDE, "--route", KIMI, "--switch", "request"]
    process = subprocess.Popen(
        [sys.executable, "-c", "from legato.cli import main; main()", *arguments, "--log-file", str(log)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        url = process.stdout.readline().removeprefix("Gateway on ").partition(";")[0]
        routes = [_ask(url) for _ in range(2)]
        process.send_signal(number)
        _, told = process.communicate()
    finally:
        process.kill()
    assert routes == [CLAUDE, KIMI]
    assert f"200 tester/1 gpt-x → {CLAUDE}" in told
    assert process.returncode == code
    logged = [json.loads(line) for line in log.read_text().splitlines()]
    requests = [line for line in logged if line["event"] == "legato.gateway"]
    assert [line["legato.route"] for line in requests] == [CLAUDE, KIMI]
    assert "Traceback" not in told


def _ask(url: str) -> str:
    body = {"model": "gpt-x", "messages": [{"role": "user", "content": "hello"}]}
    request = urllib.request.Request(f"{url}/v1/chat/completions", data=json.dumps(body).encode())
    request.add_header("user-agent", "tester/1 (more)")
    with urllib.request.urlopen(request) as response:
        assert json.load(response)["model"] == "gpt-x"
        return response.headers["x-legato-route"]


# --- who may ask ---


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "gateway.lan"])
def test_another_address_than_this_machines_own_needs_keys(home: Home, host: str) -> None:
    result = home.legato("serve", "--simulate", "--host", host)
    assert result.exit_code == 2
    with pytest.raises(ConfigError, match="keys of its own"):
        gatekeeper_of(options(host=host))


def test_a_new_key_is_shown_once_and_kept_as_a_digest(home: Home) -> None:
    file = home.work / "keys"
    keys = [home.legato("serve", "--keys", str(file), "--new-key", name).stdout.strip() for name in ("ann", "bob")]
    keeper = gatekeeper_of(options(host="0.0.0.0", keys=file))
    assert keeper.keys == {digest_of(keys[0]): "ann", digest_of(keys[1]): "bob"}
    assert not any(key in file.read_text() for key in keys)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["ann\n", "ann sha256:12\n", "ann secret\n", "a b c\n"])
def test_a_file_of_keys_that_cannot_be_read_is_refused_with_its_line(home: Home, text: str) -> None:
    file = home.work / "keys"
    file.write_text("# keys\n" + text)
    with pytest.raises(ConfigError, match="line 2"):
        gatekeeper_of(options(keys=file))


def test_a_file_without_keys_admits_nobody_by_mistake(home: Home) -> None:
    file = home.work / "keys"
    file.write_text("# none yet\n")
    with pytest.raises(ConfigError, match="has no keys"):
        gatekeeper_of(options(host="0.0.0.0", keys=file))


def test_a_new_key_needs_a_file_and_a_name(home: Home) -> None:
    assert home.legato("serve", "--new-key", "ann").exit_code == 2
    assert home.legato("serve", "--new-key", "two words", "--keys", "keys").exit_code == 2
    assert not (home.work / "keys").exists()


def test_what_signs_answers_outlives_the_process_and_is_private(home: Home) -> None:
    assert lasting_key() == lasting_key()
    [file] = home.root.rglob("gateway.key")
    assert (len(file.read_bytes()), stat.S_IMODE(file.stat().st_mode)) == (32, 0o600)


# --- who answers ---


def test_several_routes_take_turns_and_one_answers_alone() -> None:
    both = profile_of(SIMULATED, [CLAUDE, KIMI, CLAUDE])
    assert ([route.name for route in both.routes], both.policy) == ([CLAUDE, KIMI], Policy.ROUND_ROBIN)
    assert [route.name for route in profile_of(SIMULATED, [KIMI]).routes] == [KIMI]
    assert [route.name for route in profile_of(SIMULATED, []).routes] == [CLAUDE]


def test_a_profile_of_the_settings_can_be_named() -> None:
    settings = Settings(simulate=True, profiles={"careful": {"policy": "failover", "routes": [CLAUDE, KIMI]}})
    assert profile_of(settings, ["careful"]).policy is Policy.FAILOVER
    with pytest.raises(ConfigError, match="no profile 'carefull'"):
        profile_of(settings, ["carefull"])


def test_a_route_that_leads_nowhere_is_refused_before_anything_is_served() -> None:
    with pytest.raises(UnknownTarget):
        profile_of(SIMULATED, ["nobody/model"])


# --- what is said ---


def test_a_line_says_who_asked_who_answered_and_what_was_used() -> None:
    ask = Ask(method="POST", path="/v1/messages", headers={"user-agent": "claude-cli/2.1 (external)"}, body=b"")
    report = RequestReport(
        id="req_1", tenant="ann", api="anthropic", asked="opus", usage=Usage(input=1200, output=34),
        attempts=[RouteAttempt(CLAUDE, "Overloaded"), RouteAttempt(KIMI)],
    )  # fmt: skip
    served = Served(ask=ask, tenant="ann", status=200, seconds=1.25, report=report, is_cut=True)
    line = f"200 ann claude-cli/2.1 opus → {KIMI} 1,200 in, 34 out 1.2 s broke off"
    assert request_line(served) == line
    assert request_line(Served(ask=ask, status=404)) == "404 claude-cli/2.1 POST /v1/messages 0.0 s"


def test_a_line_of_a_hostile_client_stays_one_harmless_line() -> None:
    ask = Ask(method="POST", path="/v1\n\x1b[2J", headers={"user-agent": "a\nb\x1b[31m"}, body=b"")
    line = request_line(Served(ask=ask))
    assert "\n" not in line
    assert "\x1b" not in line


@pytest.mark.parametrize("client", CLIENTS)
def test_the_settings_of_a_client_are_lines_that_a_shell_reads(home: Home, client: str) -> None:
    told = home.legato("serve", "--env", client, "--port", "9000").stdout
    script = f"shopt -s expand_aliases\n{told}\nenv; alias"
    shell = subprocess.run(
        ["bash", "-euc", script], capture_output=True, text=True, check=True, env={"PATH": "/usr/bin:/bin"}
    )
    assert "http://127.0.0.1:9000" in shell.stdout
    assert "GATEWAY_KEY=legato" in shell.stdout


def test_the_settings_of_opencode_and_codex_name_the_gateway_as_their_provider() -> None:
    [_, export] = shell_lines("opencode", "http://here")
    [_, assigned] = shlex.split(export)
    content = json.loads(assigned.partition("=")[2])
    assert content["provider"][content["model"].partition("/")[0]]["options"]["baseURL"] == "http://here/v1"
    [_, alias] = shell_lines("codex", "http://here")
    words = shlex.split(shlex.split(alias)[1].partition("=")[2])
    assert {"model_provider=legato", "model_providers.legato.base_url=http://here/v1"} <= set(words)


def test_an_address_is_one_that_a_client_can_use() -> None:
    assert [url_of(host, 1) for host in ("127.0.0.1", "0.0.0.0", "::1", "::", "gw.lan")] == [
        "http://127.0.0.1:1",
        "http://127.0.0.1:1",
        "http://[::1]:1",
        "http://[::1]:1",
        "http://gw.lan:1",
    ]


def test_without_the_extra_it_is_said_how_to_get_it(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name == "uvicorn":
            raise ImportError("No module named 'uvicorn'")
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    result = home.legato("serve", "--simulate")
    assert result.exit_code == 2
    assert "pip install 'legato[serve]'" in result.stderr


def test_a_port_that_is_taken_is_told_in_one_line(home: Home) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = home.legato("serve", "--simulate", "--port", str(taken.getsockname()[1]))
    assert result.exit_code == 2
    assert "cannot listen on 127.0.0.1" in result.stderr
