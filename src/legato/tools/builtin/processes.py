"""Run a program in a process group of its own, and leave nothing behind.

In:  a command line, a folder, an environment, a time limit.
Out: what it wrote, bounded, and how it ended.

However this ends (the program does, the time is over, the tool is cancelled), the whole group is ended with it: first
asked, then killed (`process_groups`). Output goes through a pipe of our own rather than the event loop's, which would
report the end of a program only when everything that inherited its output has ended too.
"""

from __future__ import annotations

import asyncio
import codecs
import os
import signal
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import anyio
from msgspec import Struct

from legato.tools.process_groups import end_group, signal_group
from legato.tools.registry import ToolContext

_KILL_AFTER = 1.0
"""seconds between the polite signal and the other one; less than a scheduler's grace period"""

_DRAIN = 0.5
"""seconds to wait for the rest of the output, in case something left the group and holds the pipe"""


class Finished(Struct, frozen=True):
    """How a program ended; `code` is negative for a signal."""

    output: str
    code: int
    timed_out: bool = False


async def run_program(
    command: Sequence[str],
    context: ToolContext,
    *,
    folder: Path,
    environment: Mapping[str, str],
    seconds: float,
    limit: int,
    descriptors: Sequence[int] = (),
    leads: bool = False,
) -> Finished:
    """Run `command`, which inherits `descriptors`; raises `OSError` where it cannot be started."""
    output = OutputTail(limit, context.progress)
    read_end, write_end = os.pipe()
    try:
        process, interruption = await _start(
            command, folder=folder, environment=environment, output=write_end, descriptors=descriptors
        )
    except BaseException:
        os.close(read_end)
        raise
    finally:
        os.close(write_end)
    reading = asyncio.create_task(_read(read_end, output))
    timed_out = False
    try:
        if interruption is not None:
            raise interruption
        try:
            async with asyncio.timeout(seconds):
                await process.wait()
        except TimeoutError:
            timed_out = True
            await end_group(process, leads=leads, patience=_KILL_AFTER)
    except asyncio.CancelledError:
        context.partial = output.text
        await end_group(process, leads=leads, patience=_KILL_AFTER)
        raise
    finally:
        signal_group(process.pid, signal.SIGKILL)  # also what the program left in the background
        await _insist(process.wait)
        await _insist(lambda: _drain(reading))
        context.partial = output.text
    return Finished(output.text, -signal.SIGKILL if process.returncode is None else process.returncode, timed_out)


async def _start(
    command: Sequence[str], *, folder: Path, environment: Mapping[str, str], output: int, descriptors: Sequence[int]
) -> tuple[asyncio.subprocess.Process, asyncio.CancelledError | None]:
    """The program as it begins, and the cancellation that came meanwhile.

    A cancellation waits until the program is known: by then it may run already, and whoever does not know it can
    neither end its group nor read what it wrote.
    """
    starting = asyncio.create_task(
        asyncio.create_subprocess_exec(
            *command,
            cwd=folder,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=descriptors,
            start_new_session=True,
        )
    )
    interruption: asyncio.CancelledError | None = None
    with anyio.CancelScope(shield=True):
        while not starting.done():
            try:
                await asyncio.wait([starting])
            except asyncio.CancelledError as error:
                interruption = error
    return starting.result(), interruption


async def _read(descriptor: int, output: OutputTail) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    with os.fdopen(descriptor, "rb", buffering=0) as pipe:
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        try:
            while data := await reader.read(65536):
                output.add(data)
        finally:
            output.end()
            transport.close()


async def _drain(reading: asyncio.Task[None]) -> None:
    await asyncio.wait([reading], timeout=_DRAIN)
    if not reading.done():
        reading.cancel()
        await asyncio.wait([reading])


async def _insist(wait: Callable[[], Awaitable[object]]) -> None:
    """Wait for what is near, whoever is in a hurry: a loop that closes before would leave the program unwaited for."""
    with anyio.CancelScope(shield=True):
        while True:
            try:
                await wait()
            except asyncio.CancelledError:
                continue  # of a run that is cancelled already, or whose result is here and stays real
            return


class OutputTail:
    """The beginning and the end of an output, as text, at most `limit` characters; the rest is counted."""

    def __init__(self, limit: int, progress: Callable[[str], None] = lambda _: None) -> None:
        self._half = max(limit // 2, 1)
        self._progress = progress
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head: list[str] = []
        self._room = self._half
        self._tail: deque[str] = deque()
        self._held = 0
        self._lost = 0

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        self._take(self._decoder.decode(data))

    def end(self) -> None:
        """There are no more bytes."""
        self._take(self._decoder.decode(b"", final=True))

    @property
    def text(self) -> str:
        """What is kept, with a line where something is missing."""
        mark = f"\n[cut: {self._lost:,} characters are left out here]\n" if self._lost else ""
        return f"{''.join(self._head)}{mark}{''.join(self._tail)}"

    def _take(self, text: str) -> None:
        if not text:
            return
        self._progress(text)
        head, rest = text[: self._room], text[self._room :]
        self._room -= len(head)
        self._head.append(head)
        self._tail.append(rest)
        self._held += len(rest)
        while self._held > self._half:
            first = self._tail.popleft()
            excess = min(self._held - self._half, len(first))
            self._lost += excess
            self._held -= excess
            if excess < len(first):
                self._tail.appendleft(first[excess:])
