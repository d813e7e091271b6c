"""What earlier versions left on a person's disk opens, resumes, renders and holds with today's code."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec
import pytest

from legato.cli.chat.mcp_servers import find_servers
from legato.cli.settings.files import load
from legato.cli.settings.folders import state_folder
from legato.cli.terminal.prompt import history_of
from legato.formats import read
from legato.model.codec import load_log
from legato.model.records import CompactionKind, Record, TurnOutcome
from legato.request import render
from legato.session import Session
from legato.store import Store, open_store
from legato.tools import Approval, Mode
from legato.transcript import Conversation
from person_on_disk import (
    CANCELLED,
    COMPACTED,
    EVERY,
    IMPORTED,
    PARKED,
    PROJECT,
    READ,
    VARIED,
    WAIT,
    WRITE,
    Answers,
    surroundings,
    write_home,
)
from program import Home
from session_support import told

from builders import OTHER_ROUTES, ROUTES, user

DATA = Path(__file__).parents[1] / "data"
TODAY = "today"
TITLES = {CANCELLED, COMPACTED, EVERY, IMPORTED, PARKED, VARIED}


@pytest.fixture(scope="module")
def written_today(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("today") / "home"
    write_home(folder)
    return folder


@pytest.fixture(params=[TODAY, *sorted(path.name for path in DATA.glob("disk-*"))])
def home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A copy of what was written, as the home of whoever runs the program now, in the project that they trust."""
    source = request.getfixturevalue("written_today") if request.param == TODAY else DATA / request.param
    root = tmp_path / "home"
    shutil.copytree(source, root)
    home = Home(root, monkeypatch)
    monkeypatch.chdir(root / "project")
    return home


@asynccontextmanager
async def stored(home: Home) -> AsyncIterator[tuple[Store, dict[str, str]]]:
    """The store, and the sessions in it by title."""
    async with open_store(home.root / "data" / "legato" / "sessions.db") as store:
        yield store, {summary.title: summary.id for summary in await store.list()}


def logs_of(home: Home) -> dict[str, list[Record]]:
    async def main() -> dict[str, list[Record]]:
        async with stored(home) as (store, ids):
            return {title: list(await store.read(name)) for title, name in ids.items()}

    return anyio.run(main)


# --- sessions ---


def test_every_session_is_listed_and_whole(home: Home) -> None:
    async def main() -> None:
        async with stored(home) as (store, ids):
            assert ids.keys() == TITLES
            assert {summary.cwd for summary in await store.list()} == {PROJECT}
            assert list(await store.check()) == []
            assert len({type(record) for record in await store.read(ids[EVERY])}) >= 15

    anyio.run(main)


def test_what_happened_is_what_is_told(home: Home) -> None:
    logs = logs_of(home)
    kinds = [line for line in told(logs[COMPACTED]) if line.startswith(("compacted", "rewound"))]
    assert kinds[0] == f"compacted: {CompactionKind.STUB}"
    assert kinds[-1] == f"compacted: {CompactionKind.COVER}"
    assert kinds[-2].startswith("rewound")
    lines = told(logs[VARIED])
    assert [line for line in lines if line.startswith("answered")] == [
        "answered notes/a.md: allowed",
        "answered secret.md: denied",
        "answered plan.md: allowed",
    ]
    assert {"missing-0.md failed", "secret.md closed: denied-by-user", "task done"} <= set(lines)
    cancelled = told(logs[CANCELLED])
    assert {"slow.md closed: running-when-cancelled", "ai cancelled", "ai cut"} <= set(cancelled)


@pytest.mark.parametrize("route", [*ROUTES, *OTHER_ROUTES])
def test_every_session_renders_for_every_target(home: Home, route: str) -> None:
    for log in logs_of(home).values():
        request = render(Conversation(log), route, tools=[READ, WRITE, WAIT], tail=[user("go on")])
        request.verify()
        assert msgspec.json.decode(request.json()) == msgspec.json.decode(msgspec.json.encode(request.body))


@pytest.mark.parametrize("route", ROUTES)
def test_what_tools_returned_to_any_provider_reaches_every_other(home: Home, route: str) -> None:
    log = logs_of(home)[VARIED]
    body = render(Conversation(log), route, tools=[READ, WRITE]).json().decode()
    names = [f"{number}-{one.partition('/')[0]}" for number, one in enumerate(ROUTES)]
    asked = [name for name in names if f"{name}.md" in str(log)]  # an earlier version knew fewer families
    assert len(asked) >= 8
    assert [name for name in asked if f"{name}.md: the rehearsal is on Thursday." not in body] == []


@pytest.mark.parametrize("route", [None, *ROUTES])
def test_every_session_goes_on(home: Home, route: str | None) -> None:
    async def main() -> None:
        async with stored(home) as (store, ids):
            for title, name in ids.items():
                # An imported session, and one whose last words were undone, do not say who goes on.
                chosen = route or ("openai/gpt-4o" if title in (IMPORTED, EVERY) else None)
                session = await Session.resume(
                    name,
                    store=store,
                    route=chosen,
                    tools=[READ, WRITE, WAIT],
                    approval=Approval(Mode.NEVER),
                    world=surroundings(),
                )
                async with session:
                    result = await session.send("use read_file on once-more.md")
                assert (title, result.outcome) == (title, TurnOutcome.DONE)
                assert "once-more.md done" in told(await store.read(name))

    anyio.run(main)


def test_an_open_question_is_asked_again(home: Home) -> None:
    async def main() -> None:
        async with stored(home) as (store, ids):
            allows = Approval(approver=Answers({}, {}))
            session = await Session.resume(
                ids[PARKED], store=store, tools=[READ, WRITE], approval=allows, world=surroundings()
            )
            async with session:
                assert [call.arguments["path"] for call in session.parked] == ["b.md", "c.md"]
                result = await session.ask_again()
            assert result.outcome is TurnOutcome.DONE
            lines = told(await store.read(ids[PARKED]))
            assert [line for line in lines if line.startswith(("a.md", "b.md", "c.md"))] == [
                "a.md closed: denied-by-user",
                "b.md done",
                "c.md done",
            ]

    anyio.run(main)


def test_a_long_output_is_still_where_its_call_says(home: Home) -> None:
    (output,) = (home.root / "cache" / "legato" / "outputs").glob("*/*.txt")
    place = output.relative_to(home.root)
    assert f"the whole output is in /home/ada/.{place}]" in repr(logs_of(home)[VARIED])
    assert len(output.read_text().splitlines()) == 480


# --- exports ---


def test_an_exported_log_is_what_the_store_holds(home: Home) -> None:
    exported = home.root / "exported" / "session.legato.jsonl"
    assert list(load_log(exported.read_bytes().splitlines())) == logs_of(home)[VARIED]
    assert read(exported.read_bytes()).format == "legato"


@pytest.mark.parametrize("form", ["claude-code", "codex"])
def test_a_session_that_was_exported_for_another_agent_is_read_again(home: Home, form: str) -> None:
    document = read((home.root / "exported" / f"session.{form}.jsonl").read_bytes())
    assert document.format == form
    talk = document.conversation()
    said = [entry.text for entry in Conversation(logs_of(home)[CANCELLED]).entries if entry.speaker == "human"]
    assert [entry.text for entry in talk.entries if entry.speaker == "human"] == said
    for route in ROUTES:
        render(talk, route, tools=[READ, WAIT]).verify()


# --- settings and grants ---


def test_settings_and_the_rules_that_were_added_to_them_hold(home: Home) -> None:
    loaded = load(folder=home.work)
    assert loaded.settings.model == "anthropic/claude-sonnet-4-5"
    assert loaded.settings.approval.allow == ("write_file(notes/**)",)
    assert loaded.settings.keys == {"mistral": "$ADA_MISTRAL_KEY"}
    assert loaded.settings.limits.max_turns == 40
    assert loaded.settings.history.summary_cap == 400
    assert list(loaded.settings.profiles) == ["work"]


def test_what_a_person_agreed_to_needs_no_second_answer(home: Home) -> None:
    project = home.root / "project"
    trusted = state_folder() / "trusted.json"
    # The agreement names the project's folder, which is somewhere else now.
    trusted.write_text(trusted.read_text().replace(PROJECT, str(project.resolve())))

    loaded = load(folder=project)
    assert loaded.withheld == {}
    assert loaded.settings.route == "work"
    assert loaded.settings.approval.allow == ("write_file(notes/**)", "shell(make test)")
    assert loaded.settings.approval.deny == ("shell(git push *)",)
    assert [server.name for server in find_servers(project).agreed] == ["notes"]


def test_an_agreement_does_not_hold_in_another_folder(home: Home) -> None:
    project = home.root / "project"
    assert load(folder=project).withheld == {"approval.allow": ["shell(make test)"]}
    assert [server.name for server in find_servers(project).unknown] == ["notes"]


def test_what_was_typed_can_be_called_up_again(home: Home) -> None:
    typed = history_of(state_folder() / "history")
    assert list(typed.load_history_strings()) == ["two lines\nin one message", "What is in this folder?"]


def test_the_program_lists_and_shows_it_all(home: Home) -> None:
    listed = home.legato("sessions", "list")
    assert listed.exit_code == 0, listed.output
    assert all(title in listed.output for title in TITLES)
    assert home.legato("sessions", "check").exit_code == 0
    for line in home.legato("sessions", "list", "--json").output.splitlines():
        shown = home.legato("sessions", "show", msgspec.json.decode(line)["id"])
        assert shown.exit_code == 0, shown.output
