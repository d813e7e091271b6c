"""`legato serve`: a gateway on a port, who may ask it, and what it says about requests."""

from __future__ import annotations

import builtins
import json
import os
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway_clients import simulated_world
from legato.cli.client_settings import CLIENTS, fish_lines, shell_lines, url_of
from legato.cli.gateway_server import Remembering, gatekeeper_of, gateway_of, lasting_key, profile_of, request_line
from legato.cli.settings.files import load
from legato.cli.settings.schema import ServeKey, ServeSettings, Settings
from legato.errors import ConfigError, UnknownTarget
from legato.gateway.app import GatewayApp, Served
from legato.gateway.gatekeeper import digest_of
from legato.gateway.gateway import Gateway
from legato.gateway.reports import RequestReport, RouteAttempt
from legato.gateway.state import MemoryState
from legato.model import Action, CallId, Decision, Fault, Usage
from legato.routing import Policy
from legato.serving.contract import ConnectionPatience
from legato.transport.contract import Ask
from program import Home
from serving import HELLO, Caller

CLAUDE, KIMI = "anthropic/claude-sonnet-4-5", "kimi/kimi-k2-thinking"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


def answered_by(*routes: str, **changes: Any) -> Settings:
    """Settings in which these answer at the gateway."""
    return Settings(simulate=True, serve=ServeSettings(routes=routes), **changes)


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
    assert "keys of its own" in result.stderr
    with pytest.raises(ConfigError, match="keys of its own"):
        gatekeeper_of(ServeSettings(host=host))


def test_a_new_key_is_shown_once_and_kept_as_a_digest(home: Home) -> None:
    home.configure("# mine\n[serve]\nport = 9000 # why\n")
    keys = [home.legato("serve", "--new-key", name).stdout.strip() for name in ("ann", "bob", "ann")]
    serve = load().settings.serve
    assert gatekeeper_of(serve).keys == {
        digest_of(keys[0]): "ann", digest_of(keys[1]): "bob", digest_of(keys[2]): "ann",
    }  # fmt: skip
    assert serve.port == 9000
    text = home.settings.read_text()
    assert text.startswith("# mine\n[serve]\nport = 9000 # why\n")
    assert not any(key in text for key in keys)
    assert stat.S_IMODE(home.settings.stat().st_mode) == 0o600


def test_a_new_key_begins_a_file_that_is_not_there(home: Home) -> None:
    other = home.work / "gateway.toml"
    key = home.legato("serve", "--new-key", "ann", "--config", str(other)).stdout.strip()
    assert gatekeeper_of(load(config=other).settings.serve).keys == {digest_of(key): "ann"}
    assert not home.settings.exists()


def test_a_new_key_needs_a_name(home: Home) -> None:
    for name in ("two words", ""):
        assert home.legato("serve", "--new-key", name).exit_code == 2
    assert not home.settings.exists()


def test_one_key_is_not_for_two_and_a_name_without_a_key_admits_nobody_by_mistake() -> None:
    key = ServeKey(digests=(digest_of("k"),))
    with pytest.raises(ConfigError, match="ann and bob have the same key"):
        gatekeeper_of(ServeSettings(keys={"ann": key, "bob": key}))
    with pytest.raises(ConfigError, match="no digests"):
        gatekeeper_of(ServeSettings(keys={"ann": ServeKey(digests=())}))


def test_a_page_that_no_browser_would_name_so_is_refused_with_its_right_name(home: Home) -> None:
    for page, hint in (("https://chat.example/", "write https://chat.example"), ("*", "as https://chat.example.org")):
        result = home.legato("serve", "--simulate", "--allow-origin", page)
        assert result.exit_code == 2
        assert repr(page) in result.stderr
        assert hint in " ".join(result.stderr.split())


def test_what_signs_answers_outlives_the_process_and_is_private(home: Home) -> None:
    assert lasting_key() == lasting_key()
    [file] = home.root.rglob("gateway.key")
    assert (len(file.read_bytes()), stat.S_IMODE(file.stat().st_mode)) == (32, 0o600)


# --- who answers ---


def test_several_routes_take_turns_and_one_answers_alone() -> None:
    both = profile_of(answered_by(CLAUDE, KIMI, CLAUDE))
    assert ([route.name for route in both.routes], both.policy) == ([CLAUDE, KIMI], Policy.ROUND_ROBIN)
    assert [route.name for route in profile_of(answered_by(KIMI)).routes] == [KIMI]
    assert [route.name for route in profile_of(answered_by()).routes] == [CLAUDE]
    assert [route.name for route in profile_of(answered_by(model=KIMI)).routes] == [KIMI]


def test_a_profile_of_the_settings_can_be_named() -> None:
    profiles = {"careful": {"policy": "failover", "routes": [CLAUDE, KIMI]}}
    assert profile_of(answered_by("careful", profiles=profiles)).policy is Policy.FAILOVER
    with pytest.raises(ConfigError, match="no profile 'carefull'"):
        profile_of(answered_by("carefull", profiles=profiles))


def test_a_route_that_leads_nowhere_is_refused_before_anything_is_served() -> None:
    with pytest.raises(UnknownTarget):
        profile_of(answered_by("nobody/model"))


def _gateway(models: dict[str, str], **changes: Any) -> Gateway:
    settings = Settings(simulate=True, serve=ServeSettings(models=models), **changes)
    return gateway_of(settings, simulated_world(), profile_of(settings), Remembering(MemoryState(), b"a key for tests"))


def test_models_are_answered_by_whom_the_settings_say() -> None:
    profiles = {"careful": {"policy": "failover", "routes": [KIMI]}}
    names = _gateway({"claude-haiku-*": "careful", "*": "openai/gpt-4.1"}, profiles=profiles).names
    assert [names.find(model).routes[0].name for model in ("claude-haiku-4-5", "claude-opus", CLAUDE)] == [
        KIMI, "openai/gpt-4.1", CLAUDE,
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["nobody", "nobody/model"])
def test_models_that_are_answered_by_nobody_are_refused_before_anything_is_served(name: str) -> None:
    with pytest.raises(ConfigError, match=r"serve\.models: the models that fit 'claude-\*' are to go to 'nobody"):
        _gateway({"claude-*": name})


# --- where it is set ---


def test_the_command_line_goes_before_the_settings(home: Home) -> None:
    home.configure('[serve]\nhost = "localhost"\nport = 9000\n')
    assert "export ANTHROPIC_BASE_URL=http://localhost:9000" in home.legato("serve", "--env", "claude").stdout
    changed = home.legato("serve", "--env", "claude", "--port", "9001", "--host", "127.0.0.1")
    assert "export ANTHROPIC_BASE_URL=http://127.0.0.1:9001" in changed.stdout


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ('routes = ["nobody/any"]', "serve.routes (--route): no provider 'nobody'"),
        ('routes = ["nobody"]', "serve.routes (--route): there is no profile 'nobody'"),
        ('retention = "30"', "serve.retention: '30' is no time"),
        ('origins = ["*"]', "serve.origins (--allow-origin): '*'"),
        ('[serve.models]\n"gpt-*" = "nobody"', "serve.models: the models that fit 'gpt-*'"),
        ("[serve.keys.ann]\ndigests = []", "serve.keys has names and no digests"),
    ],
)
def test_a_setting_that_means_nothing_is_refused_with_its_file_and_name(home: Home, setting: str, told: str) -> None:
    home.configure(f"[serve]\n{setting}\n")
    result = home.legato("serve", "--simulate", "--port", "0")
    assert (result.exit_code, f"{home.settings}: {told}" in result.stderr) == (2, True), result.stderr


def test_an_option_that_means_nothing_is_refused_by_its_name(home: Home) -> None:
    home.configure('[serve]\nroutes = ["openai/gpt-4.1"]\n')
    result = home.legato("serve", "--simulate", "--port", "0", "--route", "nobody/any")
    assert result.stderr.startswith("legato: serve.routes (--route): no provider 'nobody'")


def test_a_route_without_a_key_is_told_at_the_start(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    from legato.cli import gateway_server

    async def announced(_: Any, announce: Callable[[], None]) -> signal.Signals:
        announce()
        return signal.SIGINT

    monkeypatch.setattr(gateway_server, "run_until_signalled", announced)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    routes = ("serve", "--port", "0", "--route", CLAUDE, "--route", KIMI)
    told = home.legato(*routes).stderr
    assert told.startswith(f"legato: {KIMI} cannot answer: there is no key for kimi: set MOONSHOT_API_KEY")
    assert CLAUDE not in told
    assert home.legato(*routes, "--pass-keys").stderr == home.legato(*routes, "--simulate").stderr == ""


def test_a_strangers_project_does_not_change_the_gateway(home: Home) -> None:
    (home.work / "legato.toml").write_text("[serve]\nport = 9000\n")
    result = home.legato("serve", "--env", "claude")
    assert "http://127.0.0.1:8100\n" in result.stdout
    assert "is not trusted, so it does not set: serve.port" in result.stderr


def test_the_settings_reach_the_server(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    from legato.cli import gateway_server

    home.configure(
        "[serve]\nbody = 1000\nidle = 5\nfirst_sign = 7\npatience = {head = 2.5, reading = 9}\n[serve.limits]\nconcurrent = 3\nrequests_per_minute = 2\n"
        f'[serve.keys.ann]\ndigests = ["{digest_of("k")}"]\n[serve.models]\n"gpt-*" = "{KIMI}"\n'
    )
    met: list[tuple[int, str, int]] = []

    class Server:
        is_busy = is_awaited = False

        def __init__(self, app: GatewayApp, listener: Any, *, idle: int, patience: ConnectionPatience) -> None:
            self.app, self.idle = app, idle
            assert patience == ConnectionPatience(head=2.5, reading=9.0)
            assert app.limits.first_sign == 7.0

        async def run(self) -> None:
            hello = {"model": "gpt-x", "messages": [{"role": "user", "content": "hello"}]}
            for body in (hello | {"x": "y" * 1000}, hello, hello):
                caller = await Caller(self.app, "/v1/chat/completions", body, x_api_key="k").call()
                met.append((caller.status, caller.headers.get("x-legato-route", ""), self.idle))

    monkeypatch.setattr(gateway_server, "HttpServer", Server)
    assert home.legato("serve", "--simulate", "--port", "0").exit_code == 143
    assert met == [(413, "", 5), (200, KIMI, 5), (429, "", 5)]


# --- what is said ---


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("first_sign = 0", "serve.first_sign"),
        ("first_sign = 'soon'", "serve.first_sign"),
        ("patience = {head = -1}", "serve.patience.head"),
        ("patience = {reed = 1}", "serve.patience"),
    ],
)
def test_a_time_to_wait_that_is_none_is_refused_where_it_stands(home: Home, setting: str, told: str) -> None:
    home.configure(f"[serve]\n{setting}\n")
    result = home.legato("serve", "--simulate")
    assert result.exit_code == 2
    assert told in result.stderr
    assert "Traceback" not in result.stderr


def test_a_line_says_who_asked_who_answered_and_what_was_used() -> None:
    ask = Ask(method="POST", path="/v1/messages", headers={"user-agent": "claude-cli/2.1 (external)"}, body=b"")
    report = RequestReport(
        id="req_1", tenant="ann", api="anthropic", asked="opus", usage=Usage(input=1200, output=34),
        attempts=[RouteAttempt(CLAUDE, "Overloaded"), RouteAttempt(KIMI)],
    )  # fmt: skip
    served = Served(ask=ask, tenant="ann", status=200, seconds=1.25, report=report, is_cut=True)
    line = f"200 ann claude-cli/2.1 opus → {KIMI} 1,200 in, 34 out 1.2 s broke off [{CLAUDE}: Overloaded]"
    assert request_line(served) == line
    assert request_line(Served(ask=ask, status=404)) == "404 claude-cli/2.1 POST /v1/messages 0.0 s"


def test_a_line_says_what_was_done_and_what_would_have_been() -> None:
    ask = Ask(method="POST", path="/v1/messages", headers={}, body=b"")
    decisions = (
        Decision(Action.CLOSED, "open", Fault.RENDERING, calls=(CallId("a"),)),
        Decision(Action.DROPPED, "foreign", Fault.PROJECTION),
        Decision(Action.DROPPED, "foreign", Fault.PROJECTION),
        Decision(Action.MOVED, "late", Fault.RENDERING, calls=(CallId("b"), CallId("c"))),
    )
    report = RequestReport(
        id="req_1", tenant="", api="anthropic", asked="opus", attempts=[RouteAttempt(CLAUDE)], decisions=decisions
    )
    line = f"200 ? opus → {CLAUDE} 0.0 s (closed 1 call, dropped 2, moved 2 calls)"
    assert request_line(Served(ask=ask, status=200, report=report)) == line
    report.passthrough = True
    assert request_line(Served(ask=ask, status=200, report=report)) == line.replace("(closed", "(would have closed")


def test_a_line_of_a_request_that_could_not_be_read_says_where_it_went_and_why_not() -> None:
    ask = Ask(method="POST", path="/v1/messages", headers={}, body=b"")
    report = RequestReport(
        id="req_1", tenant="", api="anthropic", asked="", error="FormatError", message="the body has no 'messages'"
    )
    line = "400 ? POST /v1/messages → nobody 0.0 s [the body has no 'messages']"
    assert request_line(Served(ask=ask, status=400, report=report)) == line


def test_a_line_of_a_request_that_was_not_let_in_says_why() -> None:
    ask = Ask(method="POST", path="/v1/messages", headers={}, body=b"")
    line = request_line(Served(ask=ask, status=401, refused="this gateway asks\nfor a key of its own"))
    assert line == "401 ? POST /v1/messages 0.0 s [this gateway asks for a key of its own]"
    secret = "sk-ant-api03-" + "abcdEFGH0123" * 4
    assert secret not in request_line(Served(ask=ask, status=404, refused=f"there is no {secret}"))
    assert len(request_line(Served(ask=ask, status=401, refused="x" * 900))) < 220


def test_names_of_a_client_do_not_fill_the_screen() -> None:
    ask = Ask(method="POST", path="/" + "x" * 500, headers={"user-agent": "y" * 500}, body=b"")
    report = RequestReport(id="req_1", tenant="z" * 500, api="anthropic", asked="m" * 500)
    for served in (Served(ask=ask, tenant="z" * 500), Served(ask=ask, tenant="z" * 500, report=report)):
        assert len(request_line(served)) < 220


def test_requests_are_answered_also_when_nobody_reads_the_lines(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    from legato.cli import gateway_server

    statuses: list[int] = []

    class Server:
        is_busy = is_awaited = False

        def __init__(self, app: GatewayApp, listener: Any, **_: Any) -> None:
            self.app = app

        async def run(self) -> None:
            def gone(*_: object, **__: object) -> None:
                raise BrokenPipeError

            monkeypatch.setattr(gateway_server, "say", gone)
            statuses.append((await Caller(self.app, "/v1/messages", HELLO).call()).status)

    monkeypatch.setattr(gateway_server, "HttpServer", Server)
    assert home.legato("serve", "--simulate", "--port", "0").exit_code == 143
    assert statuses == [200]


def test_a_line_of_a_hostile_client_stays_one_harmless_line() -> None:
    ask = Ask(method="POST", path="/v1\n\x1b[2J", headers={"user-agent": "a\nb\x1b[31m"}, body=b"")
    line = request_line(Served(ask=ask))
    assert "\n" not in line
    assert "\x1b" not in line


@pytest.mark.parametrize("client", CLIENTS)
def test_the_settings_of_a_client_are_lines_that_a_shell_reads(
    home: Home, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/bin/zsh")
    told = home.legato("serve", "--env", client, "--port", "9000").stdout
    script = f"shopt -s expand_aliases\n{told}\nenv; alias"
    shell = subprocess.run(
        ["bash", "-euc", script], capture_output=True, text=True, check=True, env={"PATH": "/usr/bin:/bin"}
    )
    assert "http://127.0.0.1:9000" in shell.stdout
    assert "GATEWAY_KEY=legato" in shell.stdout


def test_fish_gets_lines_of_its_own(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    lines = [line for client in CLIENTS for line in home.legato("serve", "--env", client).stdout.splitlines()]
    assert 'set -gx GATEWAY_KEY (test -n "$GATEWAY_KEY"; and echo "$GATEWAY_KEY"; or echo legato)' in lines
    assert "set -gx ANTHROPIC_BASE_URL http://127.0.0.1:8100" in lines
    assert 'set -gx ANTHROPIC_AUTH_TOKEN "$GATEWAY_KEY"' in lines
    assert not any("${" in line or line.startswith("export") for line in lines)


SHELLS = {"zsh": ["zsh", "-f", "-c"], "fish": ["fish", "--no-config", "-c"], "bash": ["bash", "-euc"]}


@pytest.mark.parametrize("given", [None, "", "gateway key"])
@pytest.mark.parametrize("shell", SHELLS)
def test_what_is_printed_arrives_in_each_shell(tmp_path: Path, shell: str, given: str | None) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not here")
    codex = tmp_path / "codex"
    codex.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    codex.chmod(0o700)
    prefix = {"bash": "shopt -s expand_aliases"}.get(shell, "true")
    told = [line for client in CLIENTS for line in shell_lines(client, "http://[::1]:9000")]
    lines = fish_lines(told) if shell == "fish" else told
    before = [] if given is None else [f"set GATEWAY_KEY '{given}'" if shell == "fish" else f"GATEWAY_KEY='{given}'"]
    script = "\n".join([prefix, *before, *lines, "env", "codex resume" if shell == "fish" else "eval codex resume"])
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    ran = subprocess.run([*SHELLS[shell], script], capture_output=True, text=True, check=True, env=environment)
    assert ran.stderr == ""
    found = dict(line.split("=", 1) for line in ran.stdout.splitlines() if "=" in line)
    key = given or "legato"
    names = ("GATEWAY_KEY", "ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY")
    assert {name: found.get(name) for name in names} == dict.fromkeys(names, key)
    assert found["ANTHROPIC_BASE_URL"] == found["GOOGLE_GEMINI_BASE_URL"] == "http://[::1]:9000"
    assert found["OPENAI_BASE_URL"] == "http://[::1]:9000/v1"
    assert json.loads(found["OPENCODE_CONFIG_CONTENT"])["model"] == "legato/default"
    words = ran.stdout.splitlines()
    assert ["model_providers.legato.base_url=http://[::1]:9000/v1", words[-1]] == [words[-6], "resume"]


def test_the_settings_of_opencode_and_codex_name_the_gateway_as_their_provider() -> None:
    [_, export] = shell_lines("opencode", "http://here")
    [_, assigned] = shlex.split(export)
    content = json.loads(assigned.partition("=")[2])
    assert content["provider"][content["model"].partition("/")[0]]["options"]["baseURL"] == "http://here/v1"
    [_, alias] = shell_lines("codex", "http://here")
    words = shlex.split(shlex.split(alias)[1].partition("=")[2])
    assert {"model_provider=legato", "model_providers.legato.base_url=http://here/v1"} <= set(words)


@pytest.mark.parametrize("place", ["option", "settings"])
def test_a_client_whose_own_key_is_passed_on_keeps_it(home: Home, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/zsh")
    if place == "settings":
        home.configure("[serve]\npass_keys = true\n")
    given = ["--pass-keys"] if place == "option" else []
    told = "\n".join(home.legato("serve", "--env", client, *given).stdout for client in CLIENTS)
    assert "GATEWAY_KEY" not in told
    keys = {"ANTHROPIC_API_KEY": "own-a", "OPENAI_API_KEY": "own-o", "GEMINI_API_KEY": "own-g"}
    environment = {"PATH": "/usr/bin:/bin", **keys}
    ran = subprocess.run(
        ["bash", "-c", f"{told}\nenv; alias"], capture_output=True, text=True, check=True, env=environment
    )
    found = dict(line.split("=", 1) for line in ran.stdout.splitlines() if "=" in line)
    assert found.items() >= {**keys, "GOOGLE_API_KEY": "own-g", "OPENAI_BASE_URL": "http://127.0.0.1:8100/v1"}.items()
    assert "ANTHROPIC_AUTH_TOKEN" not in found
    assert "legato.env_key=OPENAI_API_KEY" in ran.stdout
    assert "{env:OPENAI_API_KEY}" in found["OPENCODE_CONFIG_CONTENT"]


def test_gemini_cli_is_led_here_by_whichever_way_it_logs_in() -> None:
    exported = dict(
        line.removeprefix("export ").split("=", 1) for line in shell_lines("gemini", "http://here") if "export" in line
    )
    key = '"$GATEWAY_KEY"'
    assert exported.items() >= {"GOOGLE_GEMINI_BASE_URL": "http://here", "GEMINI_API_KEY": key}.items()
    # Before anybody has chosen, it takes this way: it refuses the one that the first variable makes it take.
    vertex = {"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_VERTEX_BASE_URL": "http://here", "GOOGLE_API_KEY": key}
    assert exported.items() >= vertex.items()


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
        taken_port = taken.getsockname()[1]
        result = home.legato("serve", "--simulate", "--port", str(taken_port))
    assert result.exit_code == 2
    told = f"cannot listen on 127.0.0.1:{taken_port}: address already in use; choose another port or host"
    assert told in result.stderr
