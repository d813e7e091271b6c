"""`legato formats`, and what is said to somebody who looks for files in the wrong place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from legato.cli.app import app
from legato.errors import FormatError
from legato.formats import FORMATS, read


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of somebody who has used Codex."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".codex" / "sessions" / "2026").mkdir(parents=True)
    return tmp_path


def legato(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_every_format_is_listed_with_what_can_be_done_with_it(home: Path) -> None:
    lines = legato("formats").stdout.splitlines()

    assert [line[3:].split()[0] for line in lines[1:]] == list(FORMATS)
    assert any(line.startswith("●  codex ") and "~/.codex/sessions/*/*/*/rollout-*.jsonl" in line for line in lines)
    assert any(line.startswith("   claude-code ") and "read, written, repaired" in line for line in lines)


def test_what_a_reader_was_made_from_is_said_of_every_session_file(home: Path) -> None:
    lines = legato("formats").stdout.splitlines()[1:]

    for line, known in zip(lines, FORMATS.values(), strict=True):
        assert known.is_wire or known.known_from, known.name
        assert line.endswith(known.known_from)


def test_the_list_is_there_for_programs_too(home: Path) -> None:
    known = {one["name"]: one for one in map(json.loads, legato("formats", "--json").stdout.splitlines())}

    assert known["sharegpt"] == {
        "name": "sharegpt",
        "title": "ShareGPT conversations",
        "abilities": ["read"],
        "is_request": False,
        "known_from": "published descriptions",
        "home": None,
    }
    assert known["codex"]["home"]["is_here"] is True
    assert known["pi"]["home"] == {
        "folder": "~/.pi/agent/sessions",
        "files": "*/*.jsonl",
        "moved_by": "PI_CODING_AGENT_DIR",
        "source": FORMATS["pi"].home.source if FORMATS["pi"].home else "",
        "is_here": False,
    }


def test_whoever_names_the_folder_of_an_agent_hears_which_files_are_in_it(home: Path) -> None:
    for folder in (home / ".codex" / "sessions", home / ".codex" / "sessions" / "2026"):
        result = legato("inspect", str(folder))

        assert "name a file in it, such as ~/.codex/sessions/*/*/*/rollout-*.jsonl" in result.stderr


def test_a_folder_that_belongs_to_no_agent_is_only_called_a_folder(home: Path) -> None:
    with pytest.raises(FormatError, match=r"this is a directory; name a file in it$"):
        read(home)


def test_whoever_asks_for_a_format_and_names_no_file_hears_where_its_files_are(home: Path) -> None:
    with pytest.raises(
        FormatError, match=r"no such file or directory; files of kimi-cli are usually ~/\.kimi/sessions/"
    ):
        read(home / "nothing.jsonl", format="kimi-cli")
    with pytest.raises(FormatError, match=r"no such file or directory$"):
        read(home / "nothing.jsonl", format="sharegpt")
    with pytest.raises(FormatError, match=r"no such file or directory$"):
        read(home / "nothing.jsonl")
