"""Tools of MCP servers, as tools of ours.

In:  `.mcp.json`: servers by name, started as a program (stdio) or reached by URL (streamable HTTP).
Out: while connected, one `Tool` for each remote tool, named `mcp__{server}__{tool}`.

Starting a server from a project's file means running what a stranger may have written, so it is asked for first; that
is the session's part. What it needs is here: what would be started, and a digest that changes when that does. A server
that cannot be reached is reported and leaves the others alone. A server's own word that a tool only reads is not
believed: all its tools count as `other`.
"""

from __future__ import annotations

import importlib.util
import os
import re
import tempfile
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import anyio
import msgspec
from msgspec import Struct

from legato.errors import ConfigError, IngestError
from legato.model import JsonObject, Media, MediaKind, ToolSpec, read_json
from legato.model.hashing import digest
from legato.tools.attempt import describe
from legato.tools.registry import Tool, ToolContext, ToolOutput

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client import Transport
    from mcp.client._transport import TransportStreams
    from mcp_types import CallToolResult
    from mcp_types import Tool as RemoteTool

_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")
_STDERR_SHOWN = 500
"""characters of what a server last complained about: our choice, its last lines"""


class McpServer(Struct, frozen=True, omit_defaults=True):
    """One server as the file names it: a `command`, or a `url`. Variables (`${NAME}`) are not filled in yet."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str = ""
    headers: dict[str, str] = {}

    @property
    def digest(self) -> str:
        """A name for what would be started or reached; another one when anything about it changes."""
        return digest(msgspec.json.encode(self, order="sorted"))

    @property
    def shown(self) -> str:
        """What a person is shown before the first start."""
        return self.url or " ".join([self.command, *self.args])


def load_mcp_config(path: str | os.PathLike[str]) -> list[McpServer]:
    """The servers that the file at `path` names; none if it does not exist."""
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ConfigError(f"{os.fspath(path)} cannot be read: {describe(error)}") from error
    return read_mcp_config(content, path)


def read_mcp_config(content: bytes, path: str | os.PathLike[str]) -> list[McpServer]:
    """The servers that the bytes of the file at `path` name."""
    try:
        data = read_json(content)
    except IngestError as error:
        raise ConfigError(f"{os.fspath(path)} cannot be read: {describe(error)}") from error
    servers = cast(JsonObject, data).get("mcpServers") if isinstance(data, dict) else None
    if not isinstance(servers, dict):
        raise ConfigError(f"{os.fspath(path)} has no object `mcpServers`")
    return [_read_server(name, entry, os.fspath(path)) for name, entry in cast(JsonObject, servers).items()]


def _read_server(name: str, entry: Any, path: str) -> McpServer:
    where = f"the server {name!r} in {path}"
    if not isinstance(entry, dict):
        raise ConfigError(f"{where} is not an object")
    known = {key: value for key, value in cast(JsonObject, entry).items() if key in McpServer.__struct_fields__}
    try:
        server = msgspec.convert({**known, "name": name}, McpServer)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where} is not understood: {error}") from error
    if cast(JsonObject, entry).get("type") == "sse":
        raise ConfigError(f"{where} wants the old SSE transport; only stdio and streamable HTTP (`url`) are supported")
    if bool(server.command) == bool(server.url):
        raise ConfigError(f"{where} needs either a `command` or a `url`")
    return server


def fill_in(server: McpServer, environment: Mapping[str, str]) -> McpServer:
    """`server` with its variables; raises `ConfigError` for one that is not set and has no default."""

    def fill(text: str) -> str:
        def value(match: re.Match[str]) -> str:
            name = match["name"]
            default = cast("dict[str, str | None]", match.groupdict())["default"]
            found = environment.get(name, default)
            if found is None:
                raise ConfigError(f"the MCP server {server.name!r} needs the variable {name}, which is not set")
            return found

        return _VARIABLE.sub(value, text)

    return McpServer(
        name=server.name,
        command=fill(server.command),
        args=tuple(fill(arg) for arg in server.args),
        env={key: fill(text) for key, text in server.env.items()},
        cwd=fill(server.cwd) if server.cwd else None,
        url=fill(server.url),
        headers={key: fill(text) for key, text in server.headers.items()},
    )


class McpTools(Struct, frozen=True):
    """What connecting gave: the tools of all servers that answered, and why the others did not."""

    tools: tuple[Tool, ...]
    failures: dict[str, str]


@asynccontextmanager
async def connect_mcp(
    servers: Iterable[McpServer], *, environment: Mapping[str, str] | None = None, seconds: float = 30.0
) -> AsyncGenerator[McpTools]:
    """Connect to `servers`, all at once, for the time of the `async with`; each has `seconds` to answer.

    Enter and leave it in the same task.
    """
    variables = os.environ if environment is None else environment
    links = [_Link(server, variables, seconds) for server in servers]
    if links:
        _require_mcp()
    async with anyio.create_task_group() as group:
        for link in links:
            group.start_soon(link.keep)
        for link in links:
            await link.ready.wait()
        try:
            yield McpTools(
                tools=tuple(tool for link in links for tool in link.tools),
                failures={link.server.name: link.failure for link in links if link.failure is not None},
            )
        finally:
            for link in links:
                link.over.set()


def _require_mcp() -> None:
    if importlib.util.find_spec("mcp") is None:
        raise ConfigError("MCP servers need the package `mcp`; install it with: pip install 'legato[mcp]'")


class _Link:
    """The connection to one server. One task opens it, keeps it and closes it: it must be the same one."""

    def __init__(self, server: McpServer, environment: Mapping[str, str], seconds: float) -> None:
        self.server = server
        self.tools: tuple[Tool, ...] = ()
        self.failure: str | None = None
        self.ready = anyio.Event()
        self.over = anyio.Event()
        self._environment = environment
        self._seconds = seconds

    async def keep(self) -> None:
        """Connect, list the tools, stay until it is over. Never raises: a failure is data."""
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as stderr:
            try:
                with anyio.CancelScope() as scope:
                    await self._serve(stderr, scope)
                if scope.cancelled_caught:
                    self._fail(f"no answer within {self._seconds:g} s", stderr)
            except Exception as error:  # noqa: BLE001  # someone else's server and someone else's package
                self._fail(describe(error), stderr)
            finally:
                self.ready.set()

    async def _serve(self, stderr: IO[str], scope: anyio.CancelScope) -> None:
        from mcp import Client

        server = fill_in(self.server, self._environment)
        async with AsyncExitStack() as stack:
            transport = _timed(await _transport(server, stderr, stack), scope, self._seconds)
            client = await stack.enter_async_context(Client(transport))
            self.tools = tuple([_as_tool(server.name, remote, client) for remote in await _list_tools(client)])
            scope.deadline = float("inf")
            self.ready.set()
            await self.over.wait()

    def _fail(self, why: str, stderr: IO[str]) -> None:
        stderr.seek(0)
        said = stderr.read()[-_STDERR_SHOWN:].strip()
        self.failure = f"{why}; it wrote: {said}" if said else why


@asynccontextmanager
async def _timed(transport: Transport, scope: anyio.CancelScope, seconds: float) -> AsyncGenerator[TransportStreams]:
    """`transport`, and `seconds` from the moment when it is open; then `scope` is cancelled.

    Not before: whoever is cancelled while a program is being started does not know it yet, and leaves it running.
    """
    async with transport as streams:
        scope.deadline = anyio.current_time() + seconds
        yield streams


async def _transport(server: McpServer, stderr: IO[str], stack: AsyncExitStack) -> Transport:
    if server.command:
        from mcp import StdioServerParameters, stdio_client

        parameters = StdioServerParameters(
            command=server.command, args=list(server.args), env=server.env or None, cwd=server.cwd
        )
        return stdio_client(parameters, errlog=cast(Any, stderr))
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    # A server may think for minutes before it answers; connecting must not take that long.
    timeout = httpx2.Timeout(30.0, read=300.0)
    client = await stack.enter_async_context(httpx2.AsyncClient(headers=dict(server.headers), timeout=timeout))
    return streamable_http_client(server.url, http_client=client)


async def _list_tools(client: Client) -> list[RemoteTool]:
    tools: list[RemoteTool] = []
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools.extend(page.tools)
        cursor = page.next_cursor
        if not cursor:
            return tools


def _as_tool(server: str, remote: RemoteTool, client: Client) -> Tool:
    async def run(arguments: JsonObject, _: ToolContext) -> ToolOutput:
        return _as_output(await client.call_tool(remote.name, arguments))

    return Tool(
        spec=ToolSpec(
            name=f"mcp__{server}__{remote.name}",
            description=remote.description or remote.title or "",
            parameters=dict(remote.input_schema),
        ),
        run=run,
    )


def _as_output(reply: CallToolResult) -> ToolOutput:
    texts: list[str] = []
    media: list[Media] = []
    for part in reply.content:
        match part.type:
            case "text":
                texts.append(part.text)
            case "image":
                media.append(Media(kind=MediaKind.IMAGE, mime=part.mime_type, data=part.data))
            case "audio":
                media.append(Media(kind=MediaKind.AUDIO, mime=part.mime_type, data=part.data))
            case "resource_link":
                texts.append(f"[resource {part.uri}]")
            case "resource":
                texts.append(getattr(part.resource, "text", None) or f"[binary resource {part.resource.uri}]")
    text = "\n".join(texts)
    if reply.is_error:
        return ToolOutput(error=text or "The server reported an error without saying which.", media=tuple(media))
    result: object = text if texts or reply.structured_content is None else reply.structured_content
    return ToolOutput(result, media=tuple(media))
