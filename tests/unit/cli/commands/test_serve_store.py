"""`legato serve --store`: what was answered outlives the process, and can be deleted."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest

from legato.cli.gateway_server import lasting_key, open_memory, seconds_of
from legato.cli.settings.files import load
from legato.cli.settings.schema import ServeSettings, Settings
from legato.errors import ConfigError
from legato.gateway.sqlite_state import SqliteState
from legato.gateway.state import GivenAnswer
from program import Home

from builders import ai

CLAUDE, KIMI = "anthropic/claude-sonnet-4-5", "kimi/kimi-k2-thinking"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


@contextmanager
def served(*arguments: str) -> Iterator[str]:
    """A gateway of its own process, which is killed at the end, in the middle of whatever it does."""
    process = subprocess.Popen(
        [sys.executable, "-c", "from legato.cli import main; main()", "serve", "--simulate", "--port", "0", *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield process.stdout.readline().removeprefix("Gateway on ").partition(";")[0]
    finally:
        process.kill()
        process.communicate()


class Heard(NamedTuple):
    status: int
    json: Any
    request: str
    """the id of its report"""
    route: str


def call(url: str, body: Any = None, method: str | None = None) -> Heard:
    data = None if body is None else json.dumps(body).encode()
    try:
        response = urllib.request.urlopen(urllib.request.Request(url, data=data, method=method))
    except urllib.error.HTTPError as error:
        response = error
    with response:
        headers = response.headers
        request, route = headers.get("x-legato-request", ""), headers.get("x-legato-route", "")
        return Heard(response.status or 0, json.load(response), request, route)


TOOLS = [{"name": "read_file", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}}]


def test_a_gateway_that_is_killed_loses_nothing_that_it_answered(home: Home) -> None:
    on_file = ("--store", str(home.work / "state.db"), "--route", CLAUDE, "--route", KIMI)
    asked = [{"role": "user", "content": "use read_file on a.txt"}]
    body = {"model": "m", "max_tokens": 4000, "tools": TOOLS, "messages": asked}
    with served(*on_file) as url:
        first = call(f"{url}/v1/responses", {"model": "m", "input": "hello"})
        second = call(f"{url}/v1/messages", body)
    assert (first.route, second.route) == (CLAUDE, KIMI)
    used = [block for block in second.json["content"] if block["type"] == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": block["id"], "content": "x"} for block in used]
    said = [*asked, {"role": "assistant", "content": used}, {"role": "user", "content": results}]
    with served(*on_file) as url:
        # Nothing in the request says who asked for the calls: for a stranger's Claude would be next.
        assert call(f"{url}/v1/messages", body | {"messages": said}).route == KIMI
        report = call(f"{url}/legato/requests/{first.request}")
        assert (report.status, report.json["route"]) == (200, CLAUDE)
        response = f"{url}/v1/responses/{first.json['id']}"
        assert call(response).json == first.json
        more = {"model": "m", "input": "and now?", "previous_response_id": first.json["id"]}
        assert call(f"{url}/v1/responses", more).status == 200
        assert call(response, method="DELETE").status == 200
        assert call(response).status == 404


def test_without_a_store_nothing_is_on_the_disk(home: Home) -> None:
    with served() as url:
        heard = call(f"{url}/v1/responses", {"model": "m", "input": "hello"})
        assert call(f"{url}/v1/responses/{heard.json['id']}").status == 200
    assert [file for file in home.root.rglob("*") if file.is_file()] == []


# --- what signs carriers ---


def key_with(**serve: Any) -> bytes:
    """What signs carriers with these settings."""

    async def run() -> bytes:
        async with open_memory(Settings(serve=ServeSettings(**serve))) as memory:
            return memory.key

    return anyio.run(run)


def test_the_key_that_signs_carriers_goes_with_the_store(home: Home) -> None:
    here, there = str(home.work / "here.db"), str(home.work / "there.db")
    first = key_with(store=here)
    assert not list(home.root.rglob("gateway.key"))  # it is in the store, and nowhere else
    assert key_with(store=here) == first
    assert key_with(store=there) != first


def test_a_store_goes_on_with_the_key_that_was_used_without_one(home: Home) -> None:
    assert key_with() == lasting_key() == key_with(store=str(home.work / "state.db"))


# --- how long it stays ---


def test_a_retention_is_hours_days_or_weeks() -> None:
    assert [seconds_of(text) for text in ("12h", "30d", " 4w ")] == [43_200, 2_592_000, 2_419_200]


@pytest.mark.parametrize("text", ["", "30", "d", "0d", "-1d", "1.5d", "30 days", "9999999w"])
def test_anything_else_is_no_retention(home: Home, text: str) -> None:
    with pytest.raises(ConfigError, match=r"serve\.retention: .* is no time; write hours, days or weeks"):
        seconds_of(text)
    for store in (
        f'store = "{home.work / "state.db"}"\n',
        "",
    ):  # nobody is to find out on the day that a store is named
        home.configure(f'[serve]\nretention = "{text}"\n{store}')
        result = home.legato("serve", "--simulate", "--port", "0")
        assert (result.exit_code, "is no time" in result.stderr) == (2, True)


@pytest.mark.parametrize("store", ["sqlite:///state.db", "postgresql://here/db", "memory:"])
def test_a_store_is_a_file_and_no_place_of_sessions(home: Home, store: str) -> None:
    result = home.legato("serve", "--simulate", "--port", "0", "--store", store)
    assert (result.exit_code, f"serve.store (--store): '{store}' is no file" in result.stderr) == (2, True)
    assert [file for file in home.root.rglob("*") if file.is_file()] == []


def test_the_store_and_its_retention_come_from_the_settings_and_the_command_line(home: Home) -> None:
    home.configure('[serve]\nstore = "a.db"\nretention = "4w"\n')
    serve = load(flags={"serve.retention": ("--retention", "12h")}).settings.serve
    assert (serve.store, serve.retention) == ("a.db", "12h")


def test_a_strangers_project_does_not_say_where_conversations_are_kept(home: Home) -> None:
    (home.work / "legato.toml").write_text('[serve]\nstore = "theirs.db"\n')
    result = home.legato("serve", "--forget", "all")
    assert result.exit_code == 2
    assert "add --store FILE" in result.stderr


# --- deleting it ---


def fill(path: Path) -> None:
    async def run() -> None:
        async with SqliteState(path) as state:
            for tenant in ("ann", "bob", ""):
                for number in range(2):
                    await state.remember(tenant, [f"call {number}"], GivenAnswer(ai("x"), KIMI))

    anyio.run(run)


def test_what_is_kept_can_be_deleted_for_one_key_and_for_all(home: Home) -> None:
    path = home.work / "state.db"
    fill(path)
    home.configure(f'[serve]\nstore = "{path}"\n')
    told = [home.legato("serve", "--forget", name) for name in ("ann", "ann", "all")]
    assert [one.stdout for one in told] == [
        f"Deleted of ann in {path}: 2 answers.\n",
        f"Deleted of ann in {path}: nothing, because there was nothing.\n",
        f"Deleted of everybody in {path}: 4 answers.\n",
    ]
    assert [one.exit_code for one in told] == [0, 0, 0]


def test_nobody_is_called_everybody(home: Home) -> None:
    result = home.legato("serve", "--new-key", "all")
    assert result.exit_code == 2
    assert "it means everybody for --forget" in result.stderr
    assert not home.settings.exists()


def test_a_store_that_cannot_be_used_is_told_in_one_line_before_anything_is_served(home: Home) -> None:
    result = home.legato("serve", "--simulate", "--port", "0", "--store", str(home.work))
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == (
        f"legato: {home.work} is a folder: gateway state cannot be stored there; name a file for it with --store (the"
        " setting `serve.store`), or leave that out to keep nothing on disk\n"
    )
