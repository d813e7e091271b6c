"""The connection to one MCP server: opened, kept, and opened again where the server ends by itself.

    starting ──▶ connected ──ended──▶ starting again ──▶ connected
        │                                  │
        └──▶ failed                        └──too often──▶ failed

A server that never answered is not tried again, nor is one that was given up for what it sent: what is wrong with it
stays wrong. One that worked and died may have had a bad moment, so it is started again, after a pause that doubles, and
at most `_MOST_RESTARTS` times in `_WINDOW` seconds. Its tools stay the same objects while they are described the same,
so that nothing changes in a request. A call that was on its way is never made again: it may have had its effect. One
that comes meanwhile waits until the server is back, or given up.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, cast

import anyio
import anyio.to_thread

from legato.errors import CallerError
from legato.model import JsonObject, Media, MediaKind, ToolSpec
from legato.model.trust import Party, Power, has
from legato.tools.attempt import describe
from legato.tools.mcp_config import McpServer, fill_in
from legato.tools.mcp_http import bounded_client
from legato.tools.mcp_stdio import Complaints, stdio_transport
from legato.tools.registry import Tool, ToolContext, ToolKind, ToolOutput

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client import Transport
    from mcp.client._transport import TransportStreams
    from mcp_types import CallToolResult
    from mcp_types import Tool as RemoteTool

_STDERR_SHOWN = 500
"""characters of what a server last complained about: our choice, its last lines"""
_MOST_TOOLS = 1_000
"""of one server: our choice; providers take a few hundred in all"""
_LONGEST_DESCRIPTION = 20_000
"""characters that a server may say about one tool: our choice, every request carries them"""
_MOST_RESTARTS = 3
"""times that a server is started again within `_WINDOW`: our choice, one that dies more often is broken"""
_WINDOW = 600.0
"""seconds: our choice"""
_PAUSE = 0.5
"""seconds before the first restart; it doubles with each: our choice"""


class McpLink:
    """The connection to one server. One task opens it, keeps it and closes it: it must be the same one.

    `changed` is called whenever it is doing better or worse.
    """

    def __init__(
        self,
        server: McpServer,
        environment: Mapping[str, str],
        seconds: float,
        *,
        changed: Callable[[McpLink], None] = lambda _: None,
    ) -> None:
        self.server = server
        self.tools: tuple[Tool, ...] = ()
        self.failure: str | None = None
        """why it is not connected, and will not be"""
        self.ready = anyio.Event()
        """it has connected, or failed"""
        self.restarts = 0
        self._environment = environment
        self._seconds = seconds
        self._changed = changed
        self._complaints = Complaints()
        self._client: Client | None = None
        self._over = anyio.Event()
        self._connecting: anyio.CancelScope | None = None
        self._wake = anyio.Event()
        """there is no reason any more to stay connected: it is over, or the server has ended"""
        self._settled = anyio.Event()
        """it is connected, or will not be: no call has to wait"""
        self._ends: deque[float] = deque(maxlen=_MOST_RESTARTS + 1)
        """when the server has ended by itself"""

    @property
    def condition(self) -> str:
        """How the server is doing, in words."""
        if self.failure is not None:
            return self.failure
        if self._client is None or self._wake.is_set():
            return "starting again" if self.restarts or self._client is not None else "starting"
        again = f", started again {self.restarts} times" if self.restarts > 1 else ""
        again = ", started again" if self.restarts == 1 else again
        return f"connected, {len(self.tools)} tool{'s' * (len(self.tools) != 1)}{again}"

    def end(self) -> None:
        """Close the connection; the task that keeps it ends."""
        self._over.set()
        self._wake.set()
        self._settled.set()
        if self._connecting is not None and self._client is None:
            self._connecting.cancel()

    async def keep(self) -> None:
        """Connect, list the tools, and stay, connecting again where the server ends by itself. Never raises."""
        while not self._over.is_set():
            await self._stay()
            was_connected, self._client = self._client is not None, None
            if self._over.is_set() or (self.failure is not None and not was_connected):
                break
            if self._complaints.fault:
                self._fail("")
                break
            self._ends.append(anyio.current_time())
            if len(self._ends) > _MOST_RESTARTS and self._ends[-1] - self._ends[0] < _WINDOW:
                self._fail(f"it ended {len(self._ends)} times in a short while, and is not started again")
                break
            self.failure = None
            self.restarts += 1
            self._changed(self)
            with anyio.move_on_after(_PAUSE * 2 ** (len(self._ends) - 1)):
                await self._over.wait()
        self.ready.set()
        self._settled.set()
        if not self._over.is_set():
            self._changed(self)

    async def _stay(self) -> None:
        """Connect once, and stay until it is over or the server ends; a failure is data."""
        wake = self._wake = anyio.Event()
        self._complaints = Complaints(lambda: self._lose(wake))
        try:
            with anyio.CancelScope() as self._connecting:
                await self._serve(self._connecting)
            if self._connecting.cancelled_caught:
                self._fail(f"no answer within {self._seconds:g} s")
        except Exception as error:  # noqa: BLE001  # someone else's server and someone else's package
            self._fail(_in_words(error))

    def _lose(self, wake: anyio.Event) -> None:
        """The connection that `wake` is about is of no use any more."""
        if wake is self._wake and self._settled.is_set() and not self._over.is_set():
            self._settled = anyio.Event()
        wake.set()

    async def _serve(self, scope: anyio.CancelScope) -> None:
        # The package takes half a second to load; in a thread of its own, a person can type meanwhile.
        await anyio.to_thread.run_sync(import_module, "mcp")
        _keep_quiet()
        from mcp import Client

        server = fill_in(self.server, self._environment)
        async with AsyncExitStack() as stack:
            transport = _timed(await _transport(server, self._complaints, stack), scope, self._seconds)
            client = await stack.enter_async_context(Client(transport))
            listed = await _list_tools(client)
            tools = tuple(_as_tool(server.name, remote, self._caller(name)) for name, remote in listed.items())
            if [tool.spec for tool in tools] != [tool.spec for tool in self.tools]:
                self.tools = tools  # else those that are offered already stay, and the prompt cache with them
            scope.deadline = float("inf")
            self._client = client
            self.ready.set()
            self._settled.set()
            self._changed(self)
            if not self._over.is_set():
                await self._wake.wait()

    def _caller(self, name: str) -> Callable[[JsonObject], Awaitable[CallToolResult]]:
        async def ask(arguments: JsonObject) -> CallToolResult:
            await self._settled.wait()
            client, complaints = self._client, self._complaints
            if client is None or self._wake.is_set():
                raise CallerError(f"the MCP server {self.server.name!r} has no connection: {self.condition}")
            try:
                return await client.call_tool(name, arguments)
            except Exception as error:
                if complaints.fault:
                    told = f"the MCP server {self.server.name!r} was given up, because {complaints.fault}"
                    raise CallerError(told) from None
                if self._wake.is_set() and not self._over.is_set():
                    told = f"the MCP server {self.server.name!r} ended before it answered, and is started again"
                    raise CallerError(f"{told}; whether the call had an effect is not known") from None
                if self.server.url and not _is_answer(error):
                    self._lose(self._wake)  # the way there is broken: it is looked for again
                raise

        return ask

    def _fail(self, why: str) -> None:
        said = str(self._complaints)[-_STDERR_SHOWN:].strip()
        why = self._complaints.fault or why
        self.failure = f"{why}; it wrote: {said}" if said else why


def _in_words(error: BaseException) -> str:
    """What went wrong, for a person: they know no classes of ours or of the package's."""
    if isinstance(error, BaseExceptionGroup):
        parts = cast("BaseExceptionGroup[BaseException]", error).exceptions
        return "; ".join(dict.fromkeys(_in_words(part) for part in parts))
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or describe(error)


def _is_answer(error: Exception) -> bool:
    """Whether a server answered with `error`, so that the way to it is whole."""
    from mcp import MCPError

    return isinstance(error, MCPError)


@asynccontextmanager
async def _timed(transport: Transport, scope: anyio.CancelScope, seconds: float) -> AsyncGenerator[TransportStreams]:
    """`transport`, and `seconds` from the moment when it is open; then `scope` is cancelled.

    Not before: whoever is cancelled while a program is being started does not know it yet, and leaves it running.
    """
    async with transport as streams:
        scope.deadline = anyio.current_time() + seconds
        yield streams


async def _transport(server: McpServer, complaints: Complaints, stack: AsyncExitStack) -> Transport:
    if server.command:
        command = (server.command, *server.args)
        return stdio_transport(command, env=server.env, cwd=server.cwd, complaints=complaints)
    from mcp.client.streamable_http import streamable_http_client

    client = await stack.enter_async_context(bounded_client(server.headers, complaints))
    return streamable_http_client(server.url, http_client=client)


async def _list_tools(client: Client) -> dict[str, RemoteTool]:
    """The tools by name. Of two with one name the first counts, and a list without an end is cut."""
    tools: dict[str, RemoteTool] = {}
    cursor: str | None = None
    for _ in range(_MOST_TOOLS):
        page = await client.list_tools(cursor=cursor)
        for remote in page.tools:
            tools.setdefault(remote.name, remote)
        cursor = page.next_cursor
        if not cursor or len(tools) >= _MOST_TOOLS:
            break
    return dict(islice(tools.items(), _MOST_TOOLS))


def _as_tool(server: str, remote: RemoteTool, ask: Callable[[JsonObject], Awaitable[CallToolResult]]) -> Tool:
    async def run(arguments: JsonObject, _: ToolContext) -> ToolOutput:
        return _as_output(await ask(arguments))

    # Servers can say of a tool that it only reads (`readOnlyHint`).
    is_believed = has(Party.SERVER, Power.SKIP_QUESTIONS)
    is_reader = is_believed and remote.annotations is not None and bool(remote.annotations.read_only_hint)
    return Tool(
        kind=ToolKind.READ if is_reader else ToolKind.OTHER,
        spec=ToolSpec(
            name=f"mcp__{server}__{remote.name}",
            description=(remote.description or remote.title or "")[:_LONGEST_DESCRIPTION],
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


_NO_HANDLER = logging.NullHandler()


def _keep_quiet() -> None:
    """Where no one has set up logging, Python prints warnings to the terminal. The package warns with a traceback of
    every message that it does not understand, so a server could fill the screen.
    """
    for name in ("mcp", "client"):  # the second is what its sessions are called there
        logging.getLogger(name).addHandler(_NO_HANDLER)
