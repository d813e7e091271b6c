"""Servers that end by themselves: started again within a bound, with the same tools, and no call made twice."""

import os
import signal
import sys
from pathlib import Path

import anyio
import pytest

from legato.tools import ToolOutput, run_tool
from legato.tools import mcp_link as links
from legato.tools.mcp import McpLink, McpServer, start_mcp
from program import until

pytest.importorskip("mcp")
pytestmark = pytest.mark.anyio

PATIENCE = 300.0
"""seconds that a server may take to answer; on a busy machine an interpreter starts slowly"""

# A server without the package, which starts at once. It says who it is, or dies in the middle of a call.
SERVER = """
import json, os, sys
TOOL = {"name": "who", "description": "d", "inputSchema": {"type": "object"}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    params = message.get("params") or {}
    if message["method"] == "initialize":
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "x", "version": "1"}}
    elif message["method"] == "tools/list":
        result = {"tools": [TOOL]}
    elif params.get("arguments", {}).get("die"):
        os._exit(1)
    else:
        result = {"content": [{"type": "text", "text": str(os.getpid())}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> McpServer:
    monkeypatch.setattr(links, "_PAUSE", 0.0)
    (tmp_path / "server.py").write_text(SERVER)
    return McpServer("frail", command=sys.executable, args=("-I", "-S", str(tmp_path / "server.py")))


async def pid_of(link: McpLink) -> int:
    told = await run_tool(link.tools[0])
    assert isinstance(told.result, str)
    return int(told.result)


async def test_a_server_that_dies_is_started_again_and_offers_the_same_tools(server: McpServer) -> None:
    told: list[str] = []
    async with start_mcp([server], seconds=PATIENCE, changed=lambda link: told.append(link.condition)) as (link,):
        assert link.condition == "starting"
        await link.ready.wait()
        first, tools = await pid_of(link), link.tools
        os.kill(first, signal.SIGKILL)
        await until(lambda: link.condition == "connected, 1 tool, started again")
        assert link.tools is tools, "so that no request changes"
        assert await pid_of(link) != first
    assert told == ["connected, 1 tool", "starting again", "connected, 1 tool, started again"]


async def test_a_call_during_which_its_server_dies_is_not_made_again(server: McpServer) -> None:
    async with start_mcp([server], seconds=PATIENCE) as (link,):
        await link.ready.wait()
        died = await run_tool(link.tools[0], {"die": True})
        assert died == ToolOutput(
            error="the MCP server 'frail' ended before it answered, and is started again; whether the call had an "
            "effect is not known"
        )
        await until(lambda: link.condition.startswith("connected"))
        assert (await run_tool(link.tools[0])).error is None


async def test_a_call_that_comes_while_its_server_is_started_again_waits_for_it(server: McpServer) -> None:
    async with start_mcp([server], seconds=PATIENCE) as (link,):
        await link.ready.wait()
        first = await pid_of(link)
        os.kill(first, signal.SIGKILL)
        await until(lambda: link.condition == "starting again")
        assert await pid_of(link) != first


async def test_a_server_that_dies_again_and_again_is_given_up(server: McpServer) -> None:
    async with start_mcp([server], seconds=PATIENCE) as (link,):
        await link.ready.wait()
        for _ in range(4):
            ended = await pid_of(link)
            os.kill(ended, signal.SIGKILL)
            await until(lambda: not link.condition.startswith("connected"))
            await until(lambda: link.condition != "starting again")
        assert link.condition == "it ended 4 times in a short while, and is not started again"
        refused = await run_tool(link.tools[0])
        assert refused.error == f"the MCP server 'frail' has no connection: {link.condition}"


async def test_leaving_does_not_wait_for_a_server_that_never_answers() -> None:
    silent = McpServer("silent", command=sys.executable, args=("-I", "-S", "-c", "import sys; sys.stdin.read()"))
    with anyio.fail_after(60):
        async with start_mcp([silent], seconds=PATIENCE) as (link,):
            assert not link.ready.is_set()
