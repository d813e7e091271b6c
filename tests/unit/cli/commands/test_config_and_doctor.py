"""`legato config`, `legato doctor`: what holds, and what is not well."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from legato.cli.settings.layers import every_setting
from legato.cli.settings.schema import ENVIRONMENT, Settings
from legato.request import default_catalogue
from legato.request.model_list import current_model
from legato.tools.sandbox.sandbox import ChosenMechanism, Mechanism, Sandbox
from program import Home

DOCS = Path(__file__).parents[4] / "docs"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


# --- config ---


def test_every_setting_is_shown_with_its_origin(home: Home, monkeypatch: pytest.MonkeyPatch):
    home.configure('model = "a/b"\n[limits]\nmax_turns = 4\n')
    monkeypatch.setenv("LEGATO_COLOR", "never")
    shown = home.legato("config", "show", "--origin").stdout.splitlines()

    assert f'model = "a/b"  # {home.settings}' in shown
    assert 'color = "never"  # the environment variable LEGATO_COLOR' in shown
    assert 'approval.mode = "ask"  # built-in' in shown
    assert "# route is not set  # built-in" in shown
    assert home.legato("config", "show").stdout == 'model = "a/b"\ncolor = "never"\nlimits.max_turns = 4\n'
    assert msgspec.json.decode(home.legato("config", "show", "--json").stdout)["limits.max_turns"] == {
        "value": 4, "origin": str(home.settings),
    }  # fmt: skip


def test_no_secret_is_shown(home: Home):
    home.configure(
        '[keys]\nopenai = "sk-very-secret-1234"\nmistral = "$MINE"\n'
        '[profiles.p]\nroutes = [{ route = "openai/x", headers = { x-team = "hush-hush-1" } }]\n'
    )
    for form in ((), ("--origin",), ("--json",)):
        shown = home.legato("config", "show", *form).stdout
        assert "sk-very-secret" not in shown
        assert "hush-hush" not in shown
        assert "$MINE" in shown
        assert "x-team" in shown


def test_every_capability_of_a_route_says_where_it_comes_from(home: Home):
    home.configure(
        "[providers.openai]\ncapabilities = { window = 32000 }\n"
        '[[families]]\nname = "mine"\nmatch = ["GPT-4o*"]\ncapabilities = { images = false }\n'
    )
    shown = home.legato("config", "--explain", "openai/gpt-4o-mini").stdout.splitlines()

    assert f"window = 32000  # {home.settings}: providers.openai" in shown
    assert f"images = false  # {home.settings}: families: 'mine', because gpt-4o-mini fits GPT-4o*" in shown
    assert "max_output = 16384  # built-in catalogue: families: 'gpt-4o', because gpt-4o-mini fits gpt-4o*" in shown
    assert "developer_role = true  # built-in catalogue: providers.openai" in shown
    assert "audio = false  # default of every model" in shown
    page = "https://developers.openai.com/api/docs/pricing"
    assert f"price_input = 0.15  # built-in catalogue: {page}, seen 2026-05-27" in shown
    assert "price_cache_write = null  # default of every model" in shown
    assert msgspec.json.decode(home.legato("config", "explain", "openai/gpt-4o-mini", "--json").stdout)["window"] == {
        "value": 32_000, "origin": f"{home.settings}: providers.openai",
    }  # fmt: skip


def test_a_route_that_nobody_knows_cannot_be_explained(home: Home):
    asked = home.legato("config", "--explain", "opnai/gpt-4o")

    assert (asked.exit_code, asked.stdout) == (2, "")
    assert "did you mean 'openai'?" in asked.stderr
    assert home.legato("config", "--explain", "openai/gpt-4o", "show").exit_code == 2


def test_nothing_set_is_said(home: Home):
    assert "Nothing is set" in home.legato("config", "show").stderr


def test_an_unknown_setting_is_an_error_that_names_its_place(home: Home):
    home.configure('[approval]\nmodes = "ask"\n')
    result = home.legato("config", "show")

    assert result.exit_code == 2
    assert result.stderr == (
        f"legato: {home.settings}: there is no setting 'approval.modes'; did you mean 'approval.mode'?\n"
    )


def test_a_settings_file_is_begun_once(home: Home):
    result = home.legato("config", "init")

    assert result.stdout.strip() == str(home.settings)
    assert home.legato("config", "show").exit_code == 0
    assert home.legato("config", "init").exit_code == 2
    assert str(home.settings) in home.legato("config", "path").stdout


def test_a_project_is_agreed_to_after_what_it_wants_was_shown(home: Home):
    assert home.legato("config", "trust").stderr == "There is nothing to agree to here.\n"
    (home.work / "legato.toml").write_text('[approval]\nmode = "never"\n')
    (home.work / ".mcp.json").write_text('{"mcpServers": {"one": {"command": "true"}}}')
    assert "does not set: approval.mode" in home.legato("config", "show").stderr
    refused = home.legato("config", "trust")
    assert (refused.exit_code, 'approval.mode = "never"' in refused.stdout, "  │ true" in refused.stdout) == (
        2,
        True,
        True,
    )
    assert home.legato("config", "trust", "--yes").exit_code == 0
    assert home.legato("config", "show").stdout == 'approval.mode = "never"\n'
    assert home.legato("config", "trust").stderr == "There is nothing to agree to here.\n"


def test_every_setting_and_every_variable_is_documented():
    text = (DOCS / "configuration.md").read_text()
    named = {"keys", "endpoints", "profiles", "providers", "families"}
    tables = {key.partition(".")[0] for key, _ in every_setting(Settings()) if "." in key}

    for key, _ in every_setting(Settings()):
        _, dot, name = key.partition(".")
        assert f"`{name if dot else key}`" in text, key
    for name in {*tables, *named}:
        assert f"[{name}" in text, name
    for variable in ENVIRONMENT:
        assert f"`{variable}`" in text


# --- doctor ---


def found(home: Home, *arguments: str) -> dict[str, list[tuple[str, str]]]:
    checks: dict[str, list[tuple[str, str]]] = {}
    for line in home.legato("doctor", "--json", *arguments).stdout.splitlines():
        check = msgspec.json.decode(line)
        checks.setdefault(check["about"], []).append((check["health"], check["told"]))
    return checks


def test_with_nothing_set_up_nothing_is_broken_and_the_way_on_is_told(home: Home):
    result = home.legato("doctor")

    assert result.exit_code == 0
    assert "note    routes    nobody answers yet: set a key" in result.stdout
    assert "ok      store" in result.stdout


def test_keys_are_found_and_never_shown(home: Home, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MISTRAL_API_KEY", "very-secret-1")
    monkeypatch.setenv("MINE", "very-secret-2")
    home.configure('[keys]\nopenai = "$MINE"\nkimi = "very-secret-3"\n')
    home.settings.chmod(0o600)
    text = home.legato("doctor").stdout

    assert "very-secret" not in text
    assert ("ok", "mistral: from MISTRAL_API_KEY") in found(home)["keys"]
    assert ("ok", "openai: from $MINE") in found(home)["keys"]
    assert ("ok", "kimi: from the settings") in found(home)["keys"]
    first = current_model(default_catalogue(), "openai", datetime.now(UTC).date().isoformat())
    assert ("ok", f"openai/{first} answers first") in found(home)["routes"]


def test_a_route_whose_model_has_ended_is_noted_with_what_came_instead(home: Home):
    home.configure('model = "gemini/gemini-3-pro-preview"\n[keys]\ngemini = "secret-12345"\n')

    told = ("note", "gemini/gemini-3-pro-preview ended 2026-03-09; use gemini-3.1-pro-preview")
    assert told in found(home)["routes"]


def test_what_is_broken_is_said_with_what_to_do(home: Home):
    home.configure('route = "p"\n[profiles.p]\nroutes = ["mistral/x", "mistrall/y"]\n[keys]\nopenai = "$NOT_SET"\n')
    home.settings.chmod(0o644)
    result = home.legato("doctor")
    checks = found(home)

    assert result.exit_code == 3
    assert ("broken", "openai: keys.openai names $NOT_SET, which is not set") in checks["keys"]
    assert any(
        told.startswith("p: mistral/x: there is no key for mistral: set MISTRAL") for _, told in checks["routes"]
    )
    assert any(told.startswith("p: mistrall/y: no provider 'mistrall'") for _, told in checks["routes"])
    assert any("chmod 600" in told for _, told in checks["settings"])


def test_a_server_of_ones_own_that_needs_no_key_is_not_broken(home: Home):
    home.configure('model = "openai/mine"\n[endpoints]\nopenai = "http://127.0.0.1:9/v1"\n')

    assert found(home)["routes"] == [("ok", "openai/mine answers first")]


def test_settings_that_cannot_be_read_are_broken(home: Home):
    home.configure("model = ")

    assert found(home)["settings"][0][0] == "broken"


def test_a_store_that_cannot_be_opened_is_broken(home: Home):
    (home.work / "dir.db").mkdir()
    home.configure(f'store = "{home.work / "dir.db"}"')

    assert found(home)["store"][0][0] == "broken"


def test_a_password_in_the_address_of_a_store_is_not_shown(home: Home):
    home.configure('store = "nosuch://me:hidden-word@host/db"')

    assert "hidden-word" not in home.legato("doctor").stdout


def test_servers_are_looked_at(home: Home):
    (home.work / ".mcp.json").write_text('{"mcpServers": {"one": {"command": "true"}}}')
    assert ("note", "not started until somebody agrees: one; `legato config trust`") in found(home)["mcp"]
    (home.work / ".mcp.json").write_text("{")
    assert found(home)["mcp"][0][0] == "broken"


def test_each_route_is_asked_for_a_word_where_that_is_wanted(home: Home, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LEGATO_SIMULATE", "1")
    home.configure(
        'model = "kimi/kimi-k2-thinking"\n[profiles.p]\nroutes = ["mistral/mistral-large-latest", "openai/unknown-x"]\n'
    )
    checks = found(home, "--online")["online"]

    assert [health for health, _ in checks] == ["ok", "ok", "broken"]
    assert checks[0][1].startswith("kimi/kimi-k2-thinking answered: ")
    assert checks[2][1].startswith("openai/unknown-x: ")


@pytest.mark.parametrize(
    ("chosen", "mode", "told"),
    [
        (
            ChosenMechanism(Mechanism.BUBBLEWRAP, ""),
            "read-only",
            "bubblewrap: commands cannot write anywhere but in $TMPDIR",
        ),
        (ChosenMechanism(Mechanism.LANDLOCK, ""), "workspace", "install bubblewrap (bwrap) for more"),
        (ChosenMechanism(None, "nobody built one"), "workspace", "none: nobody built one; --approval never asks about"),
        (ChosenMechanism(None, "nobody built one"), "off", "switched off: commands can do whatever you can"),
    ],
)
def test_doctor_says_what_the_sandbox_holds(
    home: Home, monkeypatch: pytest.MonkeyPatch, chosen: ChosenMechanism, mode: str, told: str
):
    monkeypatch.setattr(Sandbox, "choice", chosen)
    monkeypatch.setenv("LEGATO_SANDBOX", mode)
    assert told in " ".join(home.legato("doctor").stdout.split())
