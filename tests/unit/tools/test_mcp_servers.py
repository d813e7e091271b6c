"""Tools of MCP servers: what `.mcp.json` says, and servers that are really started."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import Process

from legato.errors import ConfigError
from legato.model import Media, MediaKind
from legato.tools import ToolKind, ToolOutput, run_tool
from legato.tools.mcp import McpServer, connect_mcp, fill_in, load_mcp_config
from scheduling import Recorder, call, ok, scheduler

pytestmark = pytest.mark.anyio

PATIENCE = 300.0
"""seconds that a server may take to answer; on a busy machine an interpreter starts slowly"""

SERVER = '''
import os
import sys

import mcp_types as types
from mcp.server.mcpserver import Image, MCPServer

server = MCPServer("demo")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def fail() -> str:
    raise ValueError("it broke")


@server.tool()
def picture() -> Image:
    return Image(data=b"hi", format="png")


@server.tool()
def mixed() -> list:
    return [
        types.TextContent(text="words"),
        types.AudioContent(data="aGk=", mime_type="audio/wav"),
        types.ResourceLink(name="r", uri="file:///r"),
        types.EmbeddedResource(resource=types.TextResourceContents(uri="file:///t", text="inside")),
        types.EmbeddedResource(resource=types.BlobResourceContents(uri="file:///b", blob="aGk=")),
    ]


@server.tool()
def environment() -> str:
    return " ".join(sorted(name for name in os.environ if name.endswith("_API_KEY")))


if len(sys.argv) > 1:
    import uvicorn

    uvicorn.run(server.streamable_http_app(), fd=int(sys.argv[1]), log_level="warning")
else:
    server.run("stdio")
'''


def write_config(folder: Path, text: str) -> Path:
    path = folder / ".mcp.json"
    path.write_text(text)
    return path


async def test_a_file_names_its_servers(tmp_path: Path) -> None:
    path = write_config(
        tmp_path,
        """{"mcpServers": {
            "files": {"command": "npx", "args": ["-y", "files"], "env": {"A": "${A:-b}"}, "disabled": false},
            "web": {"type": "http", "url": "http://127.0.0.1:1/mcp", "headers": {"X": "${TOKEN}"}}
        }}""",
    )
    assert load_mcp_config(path) == [
        McpServer("files", command="npx", args=("-y", "files"), env={"A": "${A:-b}"}),
        McpServer("web", url="http://127.0.0.1:1/mcp", headers={"X": "${TOKEN}"}),
    ]
    assert [server.shown for server in load_mcp_config(path)] == ["npx -y files", "http://127.0.0.1:1/mcp"]
    assert load_mcp_config(tmp_path / "nowhere.json") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read: not valid JSON"),
        ("[]", "has no object `mcpServers`"),
        ('{"mcpServers": {"a": 1}}', "the server 'a' in"),
        ('{"mcpServers": {"a": {}}}', "needs either a `command` or a `url`"),
        ('{"mcpServers": {"a": {"command": "x", "url": "y"}}}', "needs either a `command` or a `url`"),
        ('{"mcpServers": {"a": {"command": "x", "args": "y"}}}', "is not understood: Expected `array`"),
        ('{"mcpServers": {"a": {"type": "sse", "url": "y"}}}', "wants the old SSE transport"),
    ],
)
async def test_a_file_that_is_not_understood_says_where(tmp_path: Path, text: str, message: str) -> None:
    path = write_config(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_mcp_config(path)
    assert message in caught.value.message
    assert str(path) in caught.value.message


async def test_the_digest_changes_with_what_would_be_started_and_not_with_its_secrets() -> None:
    server = McpServer("a", command="run", args=("x",), env={"KEY": "${SECRET}"})
    assert server.digest == McpServer("a", command="run", args=("x",), env={"KEY": "${SECRET}"}).digest
    others = [McpServer("a", command="run", args=("y",)), McpServer("a", command="run", args=("x",))]
    assert server.digest not in {other.digest for other in others}
    assert fill_in(server, {"SECRET": "s"}).env == {"KEY": "s"}


async def test_variables_are_filled_in_when_the_server_is_started() -> None:
    server = McpServer("a", command="${HOME}/run", args=("${X:-fallback}", "${Y:-}"), cwd="${HOME}")
    filled = fill_in(server, {"HOME": "/home/me"})
    assert filled == McpServer("a", command="/home/me/run", args=("fallback", ""), cwd="/home/me")
    with pytest.raises(ConfigError, match="needs the variable HOME"):
        fill_in(server, {})


@pytest.fixture
def program(tmp_path: Path) -> Path:
    pytest.importorskip("mcp")
    path = tmp_path / "server.py"
    path.write_text(SERVER)
    return path


async def test_the_tools_of_a_started_server_are_tools(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    server = McpServer("demo", command=sys.executable, args=(str(program),))
    async with connect_mcp([server], seconds=PATIENCE) as connected:
        assert connected.failures == {}
        tools = {tool.name: tool for tool in connected.tools}
        assert list(tools) == [
            "mcp__demo__add",
            "mcp__demo__fail",
            "mcp__demo__picture",
            "mcp__demo__mixed",
            "mcp__demo__environment",
        ]
        add = tools["mcp__demo__add"]
        assert (add.spec.description, add.kind) == ("Add two numbers.", ToolKind.OTHER)
        assert add.spec.parameters["required"] == ["a", "b"]

        log = Recorder()
        calls = [call("a", "mcp__demo__add", a=1, b=2), call("b", "mcp__demo__add", a="one")]
        first, second = await scheduler(connected.tools).run(calls, log)
        assert first == ok("a", "3", "mcp__demo__add")
        assert second.error is not None
        assert "`b` is missing" in second.error

        failed = await run_tool(tools["mcp__demo__fail"])
        assert (failed.result, failed.error) == (None, "Error executing tool fail")
        assert await run_tool(tools["mcp__demo__picture"]) == ToolOutput(
            "", media=(Media(kind=MediaKind.IMAGE, mime="image/png", data="aGk="),)
        )
        assert await run_tool(tools["mcp__demo__mixed"]) == ToolOutput(
            "words\n[resource file:///r]\ninside\n[binary resource file:///b]",
            media=(Media(kind=MediaKind.AUDIO, mime="audio/wav", data="aGk="),),
        )
        assert await run_tool(tools["mcp__demo__environment"]) == ToolOutput("")


async def test_servers_that_do_not_work_are_reported_and_leave_the_others_alone(program: Path) -> None:
    servers = [
        McpServer("absent", command="/nowhere/server"),
        McpServer("dies", command=sys.executable, args=("-c", "import sys; sys.exit('out of order')")),
        McpServer("works", command=sys.executable, args=(str(program),)),
        McpServer("unset", command="x", env={"A": "${NOT_SET_ANYWHERE}"}),
    ]
    async with connect_mcp(servers, seconds=PATIENCE) as connected:
        assert {tool.name.split("__")[1] for tool in connected.tools} == {"works"}
    assert list(connected.failures) == ["absent", "dies", "unset"]
    assert "No such file" in connected.failures["absent"]
    assert connected.failures["dies"].endswith("it wrote: out of order")
    assert connected.failures["unset"] == "the MCP server 'unset' needs the variable NOT_SET_ANYWHERE, which is not set"


async def test_a_server_that_says_nothing_is_given_up() -> None:
    silent = McpServer("silent", command=sys.executable, args=("-c", "import sys; sys.stdin.read()"))
    async with connect_mcp([silent], seconds=0.5) as connected:
        assert connected.tools == ()
    assert connected.failures == {"silent": "no answer within 0.5 s"}


async def test_the_time_of_a_server_begins_when_it_has_been_started(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mcp")
    start, started = anyio.open_process, list[Process]()

    async def start_slowly(*command: Any, **options: Any) -> Process:
        started.append(await start(*command, **options))
        await anyio.sleep(0.2)  # whoever gives up now does not know yet what there is to end
        return started[0]

    monkeypatch.setattr(anyio, "open_process", start_slowly)
    silent = McpServer("silent", command=sys.executable, args=("-c", "import sys; sys.stdin.read()"))
    async with connect_mcp([silent], seconds=0.05) as connected:
        assert connected.tools == ()
    assert connected.failures == {"silent": "no answer within 0.05 s"}
    assert [process.returncode is None for process in started] == [False]


@pytest.fixture
def port(program: Path) -> Iterator[int]:
    """The port on which the same server listens for HTTP.

    It is handed a socket that listens already: nobody else can take the port, and whoever comes early waits in line.
    """
    with socket.create_server(("127.0.0.1", 0)) as listener:
        command = [sys.executable, str(program), str(listener.fileno())]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, pass_fds=[listener.fileno()]) as process:
            yield listener.getsockname()[1]
            process.kill()


async def test_a_server_can_be_reached_by_url(port: int) -> None:
    web = McpServer("web", url=f"http://127.0.0.1:{port}/mcp")
    async with connect_mcp([web], seconds=PATIENCE) as connected:
        assert connected.failures == {}
        add = next(tool for tool in connected.tools if tool.name == "mcp__web__add")
        assert await run_tool(add, {"a": 20, "b": 22}) == ToolOutput("42")


async def test_without_the_package_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"legato\[mcp\]"):
        async with connect_mcp([McpServer("a", command="x")]):
            pass


async def test_no_servers_need_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    async with connect_mcp([]) as connected:
        assert (connected.tools, connected.failures) == ((), {})
