"""What `make clients` stands on, without npm: the pins, the clients' command lines and answers, the page of the record."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from legato.cli.client_settings import CLIENTS as LED
from legato.simulation import RefusalReason, Seen, SimulatedRefusal, SimulatedWorld
from legato.transport.contract import Ask
from scripts.clients import isolation
from scripts.clients.clients import CLIENTS, SONGS, Client, Going, Place, Said
from scripts.clients.installing import PACKAGES, cache, installed, version_of
from scripts.clients.results import PAGE, RECORD, Cell, page, read, summary, table
from scripts.clients.stage import BACKENDS, ROUTES, Traffic
from scripts.clients.tasks import TASKS, Outcome
from scripts.clients.thoughts import thoughts_that_came_home

PLACE = Place(Path("/home/x"), Path("/home/x/project"), 8100, Path("/home/x/songs.jsonl"), "W1")
EACH = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.title)


@pytest.mark.parametrize("package", sorted(path.name for path in PACKAGES.iterdir()))
def test_every_package_is_pinned_by_its_digest_and_names_no_registry(package: str) -> None:
    lock = json.loads((PACKAGES / package / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: one for name, one in lock["packages"].items() if name}
    assert re.fullmatch(r"\d+\.\d+\.\d+", version_of(package))
    assert [name for name, one in packages.items() if "integrity" not in one and not one.get("inBundle")] == []
    assert [name for name, one in packages.items() if "resolved" in one] == []


def test_every_client_that_the_gateway_has_lines_for_is_tried() -> None:
    assert {client.env for client in CLIENTS if client.env} == set(LED)
    assert {client.package for client in CLIENTS} == {path.name for path in PACKAGES.iterdir()}


@EACH
def test_a_new_conversation_the_newest_and_a_named_one_are_three_commands(client: Client) -> None:
    commands = [client.command(PLACE, "a message", going, "s-1") for going in Going]
    assert len({tuple(command) for command in commands}) == 3
    assert [("s-1" in command) for command in commands] == [False, False, True]
    assert all(("a message" in command) is not client.takes_stdin for command in commands)


@EACH
def test_a_client_is_given_settings_that_can_be_read(client: Client) -> None:
    for name, text in client.files(PLACE).items():
        if name.endswith(".json"):
            json.loads(text)
        assert client.song == "" or str(SONGS) in text


PRINTED: dict[str, Any] = {
    "claude": {"result": "hi", "session_id": "s"},
    "qwen": [{"type": "system"}, {"result": "hi", "session_id": "s"}],
    "gemini": {"response": "hi", "session_id": "s"},
}
LINES: dict[str, list[Any]] = {
    "codex": [
        {"type": "thread.started", "thread_id": "s"},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "first"}},
        {"type": "item.completed", "item": {"type": "command_execution"}},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "hi"}},
    ],
    "opencode": [
        {"type": "step_start", "sessionID": "s", "part": {}},
        {"type": "text", "sessionID": "s", "part": {"text": "hi"}},
    ],
    "pi": [
        {"type": "session", "id": "s"},
        {"type": "message_end", "message": {"role": "assistant", "content": [{"type": "text", "text": "hi"}]}},
        {"type": "message_end", "message": {"role": "user", "content": []}},
    ],
}


@EACH
def test_what_a_client_prints_is_read(client: Client) -> None:
    if client.package in PRINTED:
        printed = json.dumps(PRINTED[client.package])
    else:
        printed = "\n".join(["a warning", *map(json.dumps, LINES[client.package])])
    assert client.read(printed) == Said("hi", "s")


def test_the_songs_are_found_by_an_mcp_client(tmp_path: Path) -> None:
    notes = tmp_path / "notes.jsonl"
    asked = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {"id": 3, "method": "tools/call", "params": {"name": "find_song", "arguments": {"title": "Blue"}}},
    ]
    done = subprocess.run(
        [sys.executable, str(SONGS), str(notes), "W1"],
        input="\n".join(map(json.dumps, asked)),
        capture_output=True,
        text=True,
        check=True,
    )
    first, tools, called = (json.loads(line)["result"] for line in done.stdout.splitlines())
    assert first["protocolVersion"] == "2025-06-18"
    assert [tool["name"] for tool in tools["tools"]] == ["find_song"]
    assert "W1" in called["content"][0]["text"]
    assert json.loads(notes.read_text())["arguments"] == {"title": "Blue"}


# --- judging ----------------------------------------------------------------------------------------------------------


def ask(world: SimulatedWorld, *messages: Any) -> None:
    body = {"model": "kimi-k2-thinking", "messages": messages}
    data = json.dumps(body).encode()
    world.reply(world.provider("kimi"), Ask(method="POST", path="/v1/chat/completions", headers={}, body=data))


def test_what_a_provider_refused_and_what_the_gateway_did_not_answer_are_told() -> None:
    world = SimulatedWorld()
    ask(world, {"role": "user", "content": "hello"})
    ask(world, {"role": "tool", "tool_call_id": "x", "content": "from nowhere"})
    taken = [{"legato.status": status, "legato.path": "/v1/messages", "legato.cut": False} for status in (200, 502)]
    traffic = Traffic(world.requests, taken)
    assert [one.partition(":")[0] for one in traffic.refused] == ["kimi"]
    assert traffic.failed == ["502 for /v1/messages"]


def test_thoughts_are_counted_where_they_came_home() -> None:
    call = {"functionCall": {"name": "a", "args": {}}}
    standing_in = {**call, "thoughtSignature": "skip_thought_signature_validator"}
    parts = [{**call, "thoughtSignature": "c2lnbmVk"}, standing_in, call, {"text": "signature"}]
    body = {"contents": [{"role": "model", "parts": parts}], "tools": [{"data": "x"}]}
    seen = Seen(provider="gemini", model="m", method="POST", path="/", body=json.dumps(body).encode(), status=200)
    refused = replace(seen, refusal=SimulatedRefusal(reason=RefusalReason.REASONING, message="no"))
    assert thoughts_that_came_home([seen, refused]) == 1


# --- isolation and installing -----------------------------------------------------------------------------------------


def test_a_client_is_installed_where_the_variable_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LEGATO_CLIENTS_CACHE", str(tmp_path))
    assert cache() == tmp_path
    assert installed("codex") is None


def test_proxies_lead_everything_but_loopback_nowhere() -> None:
    around = isolation.proxies()
    assert around["HTTPS_PROXY"] == around["https_proxy"] == "http://127.0.0.1:9"
    assert "127.0.0.1" in around["NO_PROXY"]


def test_a_network_of_its_own_has_loopback_alone() -> None:
    program = (
        "import socket, sys\n"
        "from scripts.clients import isolation\n"
        "isolation.move_into_own_network([])\n"
        "assert isolation.is_alone()\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname()).close()\n"
    )
    entry = ["unshare", "--user", "--map-root-user", "--net"]
    try:
        if subprocess.run([*entry, "true"], capture_output=True, check=False).returncode:
            pytest.skip("networks of one's own are not allowed here")
    except FileNotFoundError:
        pytest.skip("there is no unshare here")
    inside = os.environ | {"LEGATO_CLIENTS_INSIDE": "1"}
    subprocess.run([*entry, sys.executable, "-c", program], check=True, env=inside, cwd=PACKAGES.parents[2])


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_table_counts_what_was_done() -> None:
    done, failed = Outcome("one call", "", 2, 0, 1), Outcome("an edit", "it was not", 3, 1, 0)
    cells = [Cell("Codex", "Kimi", [done, done]), Cell("Codex", "Gemini", [done, failed])]
    assert table(cells, {"Codex": "1.2.3"}) == [
        "| client | version | Gemini | Kimi |",
        "|---|---|---|---|",
        "| Codex | 1.2.3 | 1/2 | 2/2 |",
    ]
    assert summary(cells) == "3/4"
    assert cells[1].lines() == ["Codex on Gemini: 1/2", "    an edit: it was not"]


@pytest.mark.skipif(not RECORD.exists(), reason="the documentation is not here")
def test_the_page_says_what_the_newest_run_found() -> None:
    record = read()
    assert PAGE.read_text(encoding="utf-8") == page(record)
    assert record.versions == {client.title: version_of(client.package) for client in CLIENTS}
    assert {(cell.client, cell.backend) for cell in record.cells} == {
        (client.title, backend) for client in CLIENTS for backend in BACKENDS
    }
    assert {outcome.task for cell in record.cells for outcome in cell.outcomes} == set(TASKS)
    assert len(ROUTES) == len(BACKENDS) - 1
