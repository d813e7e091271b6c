"""`legato mcp`: the servers of a project, added, listed and removed; and what doctor says of them."""

import json
import sys
from pathlib import Path

import anyio
import msgspec
import pytest

from legato.cli.chat.mcp_servers import find_servers
from legato.cli.chat.running_servers import running_servers
from legato.cli.chat.setup import ChatSetup
from legato.cli.providers import initial_profile, open_world
from legato.cli.settings.files import load
from legato.tools.mcp_config import McpServer
from program import Home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path, monkeypatch)


def test_a_server_is_added_agreed_to_listed_and_removed(home: Home):
    (home.work / ".mcp.json").write_text('{"other": 1, "mcpServers": {"old": {"command": "old-server", "x": 2}}}')
    added = home.legato("mcp", "add", "new", "-e", "A=${B}", "--", "npx", "-y", "server")
    web = home.legato("mcp", "add", "web", "--url", "https://example.invalid/mcp", "-H", "X-Key: ${KEY}")
    home.legato("mcp", "add", "brief", "https://example.invalid/brief")

    path = home.work / ".mcp.json"
    assert (added.exit_code, added.stderr) == (0, f"Added new to {path}.\n")
    assert web.exit_code == 0
    assert json.loads(path.read_bytes()) == {
        "other": 1,
        "mcpServers": {
            "old": {"command": "old-server", "x": 2},
            "new": {"command": "npx", "args": ["-y", "server"], "env": {"A": "${B}"}},
            "web": {"url": "https://example.invalid/mcp", "headers": {"X-Key": "${KEY}"}},
            "brief": {"url": "https://example.invalid/brief"},
        },
    }
    assert home.legato("mcp", "list").stdout.splitlines() == [
        "new: npx -y server",
        "web: https://example.invalid/mcp",
        "brief: https://example.invalid/brief",
        "old: old-server  (not agreed to; `legato config trust`)",
    ]
    assert home.legato("mcp", "remove", "new").exit_code == 0
    assert [msgspec.json.decode(line)["name"] for line in home.legato("mcp", "list", "--json").stdout.splitlines()] == [
        "web",
        "brief",
        "old",
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("add", "x"), "a server has a command or a --url; give one of them"),
        (("add", "x", "--url", "https://a.invalid", "y"), "a server has a command or a --url; give one of them"),
        (("add", "x", "-e", "A", "y"), "--env is written as NAME=VALUE"),
        (("add", "a__b", "y"), "rename it"),
        (("remove", "x"), "has no server 'x'; there is none"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(home: Home, arguments: tuple[str, ...], told: str):
    result = home.legato("mcp", *arguments)

    assert result.exit_code == 2
    assert told in result.stderr
    assert not (home.work / ".mcp.json").exists()


def test_no_file_is_no_error(home: Home):
    assert home.legato("mcp", "list").stderr.startswith("No .mcp.json is in this folder or above")


def test_doctor_says_which_server_could_not_be_started(home: Home):
    home.legato("mcp", "add", "gone", "no-such-program-anywhere")
    home.legato("mcp", "add", "unset", "-e", "A=${NOT_SET_ANYWHERE}", "sh")
    home.legato("mcp", "add", "well", "sh")
    checks = [msgspec.json.decode(line) for line in home.legato("doctor", "--json").stdout.splitlines()]

    assert [check["told"] for check in checks if (check["about"], check["health"]) == ("mcp", "broken")] == [
        "gone: there is no program 'no-such-program-anywhere'; install it, or correct .mcp.json",
        "unset: the MCP server 'unset' needs the variable NOT_SET_ANYWHERE, which is not set",
    ]


SERVER = """
import json, sys
TOOL = {"name": "look", "description": "d", "inputSchema": {"type": "object"}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        first = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
        result = first if message["method"] == "initialize" else {"tools": [TOOL]}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def test_servers_start_behind_the_prompt_and_their_tools_are_offered_when_they_are_there(home: Home):
    pytest.importorskip("mcp")
    (home.work / "server.py").write_text(SERVER)
    home.legato("mcp", "add", "good", "--", sys.executable, "-I", "-S", str(home.work / "server.py"))
    home.legato("mcp", "add", "bad", "no-such-program-anywhere")
    told: list[str] = []

    async def main() -> None:
        loaded = load(flags={"simulate": ("--simulate", True)})
        agreed: list[McpServer] = find_servers(home.work).agreed
        async with running_servers(agreed, seconds=300) as servers, open_world(loaded.settings) as world:
            setup = ChatSetup(loaded, world, initial_profile(loaded.settings), folder=home.work, store=None)
            setup.use_servers(servers)
            servers.tell = told.append
            async with setup.open() as session:
                assert servers.conditions == {"good": "starting", "bad": "starting"}
                assert servers.are_starting
                assert "mcp__good__look" not in session.tools
                await servers.ready()
                assert servers.conditions["good"] == "connected, 1 tool"
                assert "mcp__good__look" in session.tools

    anyio.run(main)
    assert told == ["MCP server bad: no-such-program-anywhere: No such file or directory"]
