"""`legato sessions` and `legato import`: what is stored, and what can be done with it."""

import sqlite3
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from legato.cli.sessions.lookup import find_session, last_of_folder, pick_session
from legato.cli.terminal.screen import Screen
from legato.errors import CallerError, SessionNotFound
from legato.store import open_store
from program import Answers, Home

CLAUDE_CODE = [
    {"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": "s", "cwd": "/somewhere", "version": "2.0.0",
     "timestamp": "2026-01-01T00:00:00.000Z", "message": {"role": "user", "content": "read a.txt"}},
    {"type": "assistant", "uuid": "u2", "parentUuid": "u1", "sessionId": "s", "cwd": "/somewhere", "version": "2.0.0",
     "timestamp": "2026-01-01T00:00:01.000Z",
     "message": {"id": "msg_1", "role": "assistant", "model": "claude-sonnet-4-5", "type": "message",
                 "content": [{"type": "tool_use", "id": "toolu_01", "name": "Read", "input": {"path": "a.txt"}}]}},
    {"type": "user", "uuid": "u3", "parentUuid": "u2", "sessionId": "s", "cwd": "/somewhere", "version": "2.0.0",
     "timestamp": "2026-01-01T00:00:02.000Z",
     "message": {"role": "user",
                 "content": [{"type": "tool_result", "tool_use_id": "toolu_01", "content": "forty-two"}]}},
]  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


def listed(home: Home, *arguments: str) -> list[dict[str, Any]]:
    return [
        msgspec.json.decode(line) for line in home.legato("sessions", "list", "--json", *arguments).stdout.splitlines()
    ]


def talk(home: Home, *prompts: str) -> list[str]:
    """Store a session for each prompt; their ids, oldest first."""
    for prompt in prompts:
        assert home.legato("--simulate", "-q", "-p", prompt).exit_code == 0
    return [one["id"] for one in reversed(listed(home))]


# --- sessions ---


def test_sessions_without_a_command_takes_the_options_of_the_list(home: Home):
    one, two = talk(home, "one", "two")

    assert [msgspec.json.decode(line)["id"] for line in home.legato("sessions", "--json").stdout.splitlines()] == [
        two,
        one,
    ]
    assert home.legato("sessions", "-n", "1").stdout.startswith(two)
    assert home.legato("sessions", "--here").stdout.count("\n") == 2
    assert "go behind the command: legato sessions show" in home.legato("sessions", "--json", "show", one).stderr


def test_a_stored_session_is_named_by_its_id_in_the_commands_about_files(home: Home, tmp_path: Path):
    (session,) = talk(home, "hello there")

    assert home.legato("lint", session[:8]).exit_code == 0
    assert f"session {session}: legato, 1 turn" in home.legato("inspect", session).stdout
    converted = msgspec.json.decode(home.legato("convert", session, "--to", "openai-chat").stdout)
    assert converted["messages"][0] == {"role": "user", "content": "hello there"}
    copy = tmp_path / "copy.jsonl"
    assert home.legato("repair", session, "-o", str(copy)).exit_code == 0
    assert copy.read_text() == home.legato("sessions", "export", session).stdout


def test_a_stored_session_is_not_repaired_in_place(home: Home):
    (session,) = talk(home, "hello there")

    result = home.legato("repair", session, "--write")

    assert result.exit_code == 2
    assert "a stored session is never rewritten" in result.stderr


def test_what_is_neither_a_file_nor_a_session_is_said_to_be_neither(home: Home):
    result = home.legato("lint", "nobody")

    assert (result.exit_code, result.stderr) == (
        2,
        "legato: nobody: there is no such file, and no stored session has this id; `legato sessions` lists them\n",
    )


def test_sessions_are_listed_with_route_folder_and_title(home: Home):
    (first,) = talk(home, "hello there")
    result = home.legato("sessions")

    assert result.stdout == f"{first}  just now  anthropic/claude-sonnet-4-5  .  hello there\n"
    assert home.legato("sessions", "list", "--here").stdout == result.stdout


def test_only_those_of_this_folder_are_listed_where_that_is_asked_for(home: Home, monkeypatch: pytest.MonkeyPatch):
    talk(home, "one", "two")
    elsewhere = home.root / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)

    assert listed(home, "--here") == []
    assert len(listed(home)) == 2
    assert len(listed(home, "-n", "1")) == 1
    assert "~/work" in home.legato("sessions").stdout


@pytest.fixture
def family(home: Home) -> tuple[str, str]:
    """A session and that of its subagent."""
    (home.work / "a.txt").write_text("forty-two")
    talk(home, 'call task with {"prompt": "use read on a.txt", "description": "look into a"}')
    parent, child = (one["id"] for one in listed(home))
    return parent, child


def test_the_session_of_a_subagent_stands_under_its_parent(home: Home, family: tuple[str, str]):
    parent, child = family
    talk(home, "something newer")
    shown = [line.split("  ") for line in home.legato("sessions").stdout.splitlines()]

    assert [(row[0], row[-1]) for row in shown[1:]] == [
        (parent, 'call task with {"prompt": "use read on a.txt", "description": "look into a"}'),
        (child, "↳ look into a"),
    ]
    assert [one["id"] for one in listed(home, "-n", "2")][1:] == [parent, child], "it does not count as one"
    assert f"\n  subagent: {child} look into a\n" in home.legato("sessions", "show", parent).stdout
    page = home.legato("sessions", "show", child).stdout
    assert f"\n  subagent of: {parent}\n" in page
    assert "● read a.txt\n\n  forty-two\n" in page


def test_the_last_session_is_never_one_of_a_subagent_but_it_can_be_named(home: Home, family: tuple[str, str]):
    parent, child = family
    home.legato("--simulate", "-q", "-r", child, "-p", "hello subagent")

    assert home.legato("--simulate", "-q", "-c", "-p", "hello parent").exit_code == 0
    assert "hello parent" in home.legato("sessions", "show", parent).stdout
    assert "hello subagent" in home.legato("sessions", "show", child).stdout


def test_a_session_is_forgotten_with_those_of_its_subagents_and_they_are_named(home: Home, family: tuple[str, str]):
    parent, child = family
    deleted = home.legato("sessions", "delete", "--yes", parent)

    assert deleted.stderr == f"Forgotten: {parent}, {child} (subagent of {parent})\n"
    assert listed(home) == []


def test_a_subagents_session_can_be_forgotten_alone(home: Home, family: tuple[str, str]):
    parent, child = family
    home.legato("sessions", "delete", "--yes", child)

    assert [one["id"] for one in listed(home)] == [parent]


def test_a_title_cannot_break_out_of_its_line(home: Home):
    (first,) = talk(home, "a")
    home.legato("sessions", "rename", first, "new\x1b[2J\ntitle")

    assert home.legato("sessions").stdout.endswith("new [2J title\n")
    home.legato("sessions", "rename", first, "")
    assert listed(home)[0]["title"] == "a"


def test_a_session_is_shown_with_its_calls(home: Home):
    (home.work / "a.txt").write_text("forty-two")
    (first,) = talk(home, "use read on a.txt")
    shown = home.legato("sessions", "show", first[:20]).stdout

    assert shown.startswith(f"{first}  use read on a.txt\n")
    assert "[human]\nuse read on a.txt\n" in shown
    assert "● read a.txt\n" in shown
    assert "  forty-two\n" in shown
    assert msgspec.json.decode(home.legato("sessions", "show", "--json", first).stdout)["id"] == first


def test_a_session_is_shown_with_how_its_answers_ended(home: Home):
    assert home.legato("--simulate", "-q", "-p", "run out of tokens").exit_code == 8
    assert home.legato("--simulate", "-q", "-c", "-p", "hello").exit_code == 0
    (first,) = [one["id"] for one in listed(home)]
    shown = home.legato("sessions", "show", first).stdout

    assert shown.count("\n(not whole: it reached the limit of output tokens)\n") == 1
    assert shown.endswith('heard: "hello"\n')


def test_a_session_comes_back_from_its_export(home: Home):
    (home.work / "a.txt").write_text("forty-two")
    (first,) = talk(home, "use read on a.txt")
    assert home.legato("sessions", "export", first, "-o", "out.jsonl").exit_code == 0
    imported = home.legato("import", "out.jsonl", "--title", "again")
    second = imported.stdout.strip()
    answer = home.legato(
        "--simulate", "-q", "-r", second, "-m", "kimi/kimi-k2-thinking", "-p", "what did the tool return?"
    )

    assert "forty-two" in answer.stdout
    assert home.legato("sessions", "export", first).stdout == (home.work / "out.jsonl").read_text()
    assert (home.work / "out.jsonl").stat().st_mode & 0o077 == 0
    assert {one["title"] for one in listed(home)} == {"use read on a.txt", "again"}


def test_an_export_overwrites_nothing(home: Home):
    (first,) = talk(home, "one")
    (home.work / "out.jsonl").write_text("mine")
    result = home.legato("sessions", "export", first, "-o", "out.jsonl")

    assert (result.exit_code, (home.work / "out.jsonl").read_text()) == (2, "mine")


def test_a_session_is_exported_as_what_others_read(home: Home):
    (first,) = talk(home, "hello")
    body = msgspec.json.decode(
        home.legato("sessions", "export", first, "--format", "anthropic", "--model", "claude-sonnet-4-5").stdout
    )

    assert body["messages"][0]["role"] == "user"
    assert home.legato("sessions", "export", first, "--format", "nonsense").exit_code == 2


def test_a_session_is_forgotten_only_on_a_clear_word(home: Home):
    first, second = talk(home, "one", "two")
    assert home.legato("sessions", "delete", first).exit_code == 2
    assert home.legato("sessions", "delete", "--yes", first).exit_code == 0
    assert [one["id"] for one in listed(home)] == [second]


def test_a_session_is_copied_whole_or_in_part(home: Home):
    (first,) = talk(home, "one")
    copy = home.legato("sessions", "fork", first).stdout.strip()
    part = home.legato("sessions", "fork", first, "--at", "2").stdout.strip()
    sessions = {one["id"]: one for one in listed(home)}

    assert sessions[copy]["records"] == sessions[first]["records"]
    assert (sessions[part]["records"], sessions[part]["parent"]) == (2, first)


def test_damage_is_found(home: Home):
    (first,) = talk(home, "one")
    assert home.legato("sessions", "check").exit_code == 0
    assert home.legato("sessions", "check", first).stderr == "All is well.\n"
    path = home.root / "data" / "legato" / "sessions.db"
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE records SET data = x'7b7d' WHERE place = (SELECT min(place) + 1 FROM records)")
    connection.close()
    result = home.legato("sessions", "check")

    assert result.exit_code == 7
    assert first in result.stdout
    assert home.legato("--simulate", "-r", first, "-p", "two").exit_code == 7


def test_the_store_copies_itself(home: Home):
    talk(home, "one")
    assert home.legato("sessions", "backup", "copy.db").exit_code == 0
    home.configure(f'store = "{home.work / "copy.db"}"')
    assert len(listed(home)) == 1
    home.configure('store = "memory:"')
    assert home.legato("sessions", "backup", "other.db").exit_code == 2


# --- import ---


def test_a_session_of_another_agent_goes_on_here(home: Home):
    (home.work / "theirs.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, CLAUDE_CODE)) + b"\n")
    result = home.legato("import", "theirs.jsonl")
    session = result.stdout.strip()
    answer = home.legato("--simulate", "-q", "-r", session, "-m", "openai/gpt-5.1", "-p", "what did the tool return?")

    assert result.exit_code == 0
    assert f"claude-code, 3 entries; go on with: legato -r {session}" in result.stderr
    assert "forty-two" in answer.stdout
    assert listed(home)[0]["cwd"] == "/somewhere"


def test_several_conversations_are_taken_where_all_are_asked_for(home: Home):
    bodies = [
        {"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "yes"}]} for text in "ab"
    ]
    (home.work / "many.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, bodies)) + b"\n")

    assert "--all" in home.legato("import", "many.jsonl").stderr
    assert len(home.legato("import", "--all", "many.jsonl").stdout.splitlines()) == 2


def test_what_cannot_be_read_is_refused_with_one_line(home: Home):
    result = home.legato("import", "none.jsonl")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("legato: ")


# --- which session is meant ---


def test_an_id_may_be_given_in_part_as_long_as_one_session_fits(home: Home):
    async def main() -> None:
        async with open_store("memory:") as store:
            for name in ("20260101-aaa", "20260102-bbb"):
                await store.create(name, meta={"cwd": "/x"})
            assert (await find_session(store, "20260101")).id == "20260101-aaa"
            assert (await find_session(store, "bbb")).id == "20260102-bbb"
            assert (await find_session(store, "20260102-bbb")).id == "20260102-bbb"
            with pytest.raises(CallerError, match="fits 2 sessions"):
                await find_session(store, "2026")
            with pytest.raises(SessionNotFound):
                await find_session(store, "zzz")
            assert (await last_of_folder(store, Path("/x"))).cwd == "/x"
            with pytest.raises(SessionNotFound, match="begin one without -c"):
                await last_of_folder(store, Path("/y"))

    anyio.run(main)


def test_a_picker_shows_this_folder_first_and_takes_a_number(home: Home, capsys: pytest.CaptureFixture[str]):
    import sys

    async def pick(*answers: str | BaseException) -> str | None:
        async with open_store("memory:") as store:
            with pytest.raises(SessionNotFound):
                await pick_session(store, home.work, screen=Screen(sys.stdout), reader=Answers())
            await store.create("far", meta={"cwd": "/far", "title": "far away"})
            await store.create("near", meta={"cwd": str(home.work), "title": "here"})
            picked = await pick_session(store, home.work, screen=Screen(sys.stdout), reader=Answers(*answers))
            return None if picked is None else picked.id

    assert anyio.run(pick, "9", "x", "1") == "near"
    assert anyio.run(pick, "2") == "far"
    assert anyio.run(pick, "") is None
    assert anyio.run(pick, KeyboardInterrupt()) is None
    assert "Go on with\n1  just now  .     here\n2  just now  /far  far away\n" in capsys.readouterr().out
