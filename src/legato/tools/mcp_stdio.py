"""An MCP server that is a program: messages are lines on its pipes.

In:  what to start.
Out: the streams that the package `mcp` reads and writes, as its own `stdio_client` gives them.

The package's own transport adds every piece to the line before it and has no bound, so a server that sends a line of
200 MB, or one without an end, takes the session with it. Here a line is read in linear time up to `LONGEST_MESSAGE`,
what the server complains about is kept only at its end, and it is ended with everything that it started: on Linux also
with what has left its session or lost its parent, elsewhere with its process group.
"""

from __future__ import annotations

import signal
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import anyio
from anyio.abc import ByteReceiveStream, Process

from legato.errors import IngestError
from legato.model.ingestion import refuse_parts
from legato.tools.process_groups import end_group, signal_group, wait_a_while
from legato.tools.sandbox.supervision import close, supervise

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage

LONGEST_MESSAGE = 16 * 1024 * 1024
"""bytes of one message of a server: our choice, far beyond what any model reads, and little for a machine"""

_MOST_VALUES = 100_000
"""values in one message: our choice; of each the package makes objects that are a hundred times as large as its text,
and while it does nothing else can be done"""

_COMPLAINTS = 4_000
"""bytes kept of what a server writes beside its messages: our choice, its last lines"""

_PATIENCE = 2.0
"""seconds for a server to end once its input is closed, and again once it is told to; the package's own choice"""


class Complaints:
    """What is wrong with a server: the end of what it wrote on its standard error, and why it was given up.

    `ended` is called when it says nothing any more.
    """

    def __init__(self, ended: Callable[[], None] = lambda: None) -> None:
        self.fault = ""
        self.ended = ended
        self._kept = bytearray()

    def add(self, data: bytes) -> None:
        """Take what came."""
        self._kept += data[-_COMPLAINTS:]
        del self._kept[:-_COMPLAINTS]

    def __str__(self) -> str:
        return self._kept.decode("utf-8", "replace").strip()


def refuse_message(message: bytes) -> None:
    """Raise `ValueError` for a message that is too large to be decoded."""
    if len(message) > LONGEST_MESSAGE:
        raise ValueError(f"it sent a message of more than {LONGEST_MESSAGE:,} bytes")
    try:
        refuse_parts(message, _MOST_VALUES)
    except IngestError:
        raise ValueError(f"it sent a message of more than {_MOST_VALUES:,} values") from None


class MessageLines:
    """Collects bytes and gives out whole lines; each byte is looked at once."""

    def __init__(self, longest: int = LONGEST_MESSAGE) -> None:
        self._longest = longest
        self._tail = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes; raises `ValueError` for one that is too long."""
        *lines, rest = data.split(b"\n")
        if lines:
            self._tail += lines[0]
            lines[0] = bytes(self._tail)
            self._tail.clear()
        self._tail += rest
        if len(self._tail) > self._longest or max(map(len, lines), default=0) > self._longest:
            raise ValueError(f"it sent a message of more than {self._longest:,} bytes")
        return lines


@asynccontextmanager
async def stdio_transport(
    command: Sequence[str], *, env: Mapping[str, str], cwd: str | None, complaints: Complaints
) -> AsyncGenerator[TransportStreams]:
    """Start the program, and talk to it for the time of the `async with`; raises `OSError` where it cannot start."""
    from mcp.client.stdio import get_default_environment
    from mcp.shared.message import SessionMessage

    server = supervise(command, get_default_environment() | dict(env), folder=cwd)
    process: Process | None = None
    try:
        with anyio.CancelScope(shield=True):  # whoever gives up meanwhile would not know what to end
            process = await anyio.open_process(
                server.command, env=server.environment, cwd=cwd, start_new_session=True, pass_fds=server.descriptors
            )
    finally:
        close(server.descriptors)
    arriving, inbox = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbox, leaving = anyio.create_memory_object_stream[SessionMessage](0)
    assert process is not None
    assert process.stdout is not None
    assert process.stderr is not None
    async with anyio.create_task_group() as group:
        group.start_soon(_receive, process.stdout, arriving, complaints)
        group.start_soon(_send, process, leaving, arriving)
        group.start_soon(_listen, process.stderr, complaints)
        try:
            yield inbox, outbox
        finally:
            with anyio.CancelScope(shield=True):
                await inbox.aclose()
                await outbox.aclose()
                await _end(process, leads=server.leads)
            group.cancel_scope.cancel()


async def _receive(
    stdout: ByteReceiveStream,
    arriving: MemoryObjectSendStream[SessionMessage | Exception],
    complaints: Complaints,
) -> None:
    """Pass messages on until the server ends or sends too much; then drop the rest, so that it never waits for us."""
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        async with arriving:
            with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                await _pass_on(stdout, arriving, complaints)
            complaints.ended()  # before whoever waits for an answer hears that there is none
        async for _ in stdout:
            pass


async def _pass_on(
    stdout: ByteReceiveStream,
    arriving: MemoryObjectSendStream[SessionMessage | Exception],
    complaints: Complaints,
) -> None:
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    lines = MessageLines()
    async for data in stdout:
        try:
            arrived = lines.feed(data)
            for line in arrived:
                refuse_message(line)
        except ValueError as error:
            complaints.fault = str(error)
            return
        for line in arrived:
            try:
                message = SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
            except ValueError as error:
                await arriving.send(error)
            else:
                await arriving.send(message)


async def _send(
    process: Process,
    leaving: MemoryObjectReceiveStream[SessionMessage],
    arriving: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    assert process.stdin is not None
    try:
        async with leaving:
            async for message in leaving:
                written = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(written.encode() + b"\n")
    except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        await arriving.aclose()  # nobody listens any more; whoever waits for an answer should know


async def _listen(stderr: ByteReceiveStream, complaints: Complaints) -> None:
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        async for data in stderr:
            complaints.add(data)


async def _end(process: Process, *, leads: bool) -> None:
    """End the server and all that it started: close its input, ask, insist."""
    assert process.stdin is not None
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        await process.stdin.aclose()
    if await wait_a_while(process, _PATIENCE):
        signal_group(process.pid, signal.SIGKILL)
    else:
        await end_group(process, leads=leads, patience=_PATIENCE)
