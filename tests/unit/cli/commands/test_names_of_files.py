"""Names that are not UTF-8, as any file and folder on Linux may have one: in text for people, and in JSON."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from file_samples import CLEAN_BODY, save
from legato.cli.settings.trust import Trust
from legato.formats import FORMATS
from program import Home

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a name is always text")

ODD = os.fsdecode(b"odd\xff")
SHOWN = "odd\\udcff"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A person who works in a folder of an odd name."""
    home = Home(tmp_path, monkeypatch)
    home.work = tmp_path / ODD
    home.work.mkdir()
    monkeypatch.chdir(home.work)
    return home


@pytest.fixture
def file(home: Home) -> str:
    save(home.work / ODD, {**CLEAN_BODY, "messages": [*CLEAN_BODY["messages"], {"role": "user"}]})
    return ODD


def test_lint_names_the_file(home: Home, file: str):
    assert json.loads(home.legato("lint", "--json", file).stdout)["files"][0]["file"] == SHOWN
    run = json.loads(home.legato("lint", "--format", "sarif", file).stdout)["runs"][0]
    assert run["artifacts"] == [{"location": {"uri": "odd%FF"}}]


@pytest.mark.parametrize("option", [(), ("--explain",)])
def test_inspect_names_the_file(home: Home, file: str, option: tuple[str, ...]):
    done = home.legato("inspect", *option, "--json", file)
    assert done.exit_code == 0
    assert SHOWN in json.loads(done.stdout).values()


def test_a_report_of_a_conversion_names_the_file(home: Home, file: str):
    done = home.legato("convert", "--to", "anthropic", "-o", "out.json", "--report", "report.json", file)
    assert done.exit_code == 0
    assert json.loads((home.work / "report.json").read_bytes())["input"]["name"] == SHOWN


@pytest.mark.parametrize("target", sorted(name for name, known in FORMATS.items() if known.home and known.place))
def test_a_session_is_installed_for_a_folder(home: Home, file: str, target: str):
    done = home.legato("convert", "--to", target, "--install", file)
    assert (done.exit_code, done.exception) == (0, None)


def test_a_turn_names_the_folder(home: Home):
    done = home.legato("--simulate", "--output-format", "stream-json", "-p", "hi")
    assert done.exit_code == 0
    first = json.loads(done.stdout.splitlines()[0])
    assert first["cwd"].endswith(SHOWN)


def test_a_server_that_is_added_there_is_agreed_to_and_listed(home: Home):
    assert home.legato("mcp", "add", "one", "--", "true").exit_code == 0
    listed = json.loads(home.legato("mcp", "list", "--json").stdout)
    assert (listed["agreed"], Path(listed["file"]).parent.name) == (True, SHOWN)


def test_what_is_agreed_to_there_holds_there_and_nowhere_else(home: Home):
    (home.work / "legato.toml").write_text('append_system = "odd"\n')
    assert home.legato("config", "trust", "--yes").exit_code == 0

    shown = json.loads(home.legato("config", "show", "--json").stdout)
    assert shown["append_system"]["value"] == "odd"
    (agreed,) = {what for known in json.loads(Trust().path.read_bytes()).values() for what in known}
    assert Trust().knows(home.work, agreed)
    assert not Trust().knows(home.work.with_name(SHOWN), agreed)


@pytest.mark.parametrize("command", ["path", "show", "trust"])
def test_settings_of_such_a_folder_are_named_on_a_terminal_that_takes_utf_8_alone(home: Home, command: str):
    (home.work / "legato.toml").write_text('append_system = "odd"\n')
    done = home.legato("config", command, *(["--yes"] if command == "trust" else []))
    assert done.exit_code == 0
    assert f"{SHOWN}/legato.toml" in done.output
