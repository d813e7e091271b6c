"""One run of one tool, which can be given up.

In:  a tool, arguments that fit its schema, a context.
Out: one `ToolOutput`, or none if the run ended because it was cancelled.

The run has a task of its own beside the scheduler's: structured concurrency waits for every child, and a tool that
ignores cancellation must not hold the batch. What has been given up may go on in the background; whatever it returns
then is dropped, and said through `late`. This is also the one place where a tool's exception, of any kind,
becomes a value.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

from legato.errors import CallerError, LegatoError
from legato.model import JsonObject, Media
from legato.tools.registry import Tool, ToolContext, ToolOutput
from legato.tools.schema import find_fault

_RUNNING: set[asyncio.Task[None]] = set()
"""the event loop holds tasks only weakly; an abandoned run must still finish"""


class Attempt:
    """A run that has begun. `ended` is called once, when it is over, unless it was given up: then `late` is."""

    def __init__(
        self,
        tool: Tool,
        arguments: JsonObject,
        *,
        context: ToolContext,
        ended: Callable[[], None],
        late: Callable[[], None] = lambda: None,
    ) -> None:
        self.context = context
        self.output: ToolOutput | None = None
        self.is_over = False
        self._ended, self._late = ended, late
        self._given_up = False
        self._task = asyncio.get_running_loop().create_task(self._run(tool, arguments), name=f"tool {tool.name}")
        self._task.add_done_callback(self._end)
        _RUNNING.add(self._task)

    def cancel(self) -> None:
        """Ask the tool to stop; once, because a second time would break into its tidying up."""
        if not self.context.cancelled.is_set():
            self.context.cancelled.set()
            self._task.cancel()

    def give_up(self) -> None:
        """Stop caring: what the tool returns from now on is dropped and said to be late."""
        self._given_up = True
        if self.is_over and self.output is not None:
            self._late()

    async def _run(self, tool: Tool, arguments: JsonObject) -> None:
        try:
            self.output = as_output(await tool.run(arguments, self.context))
        except asyncio.CancelledError:
            if not self.context.cancelled.is_set():
                self.output = ToolOutput(error="The tool was cancelled from within.")
        except (Exception, SystemExit) as error:  # noqa: BLE001  # a tool's failure, whatever it is, is its result
            self.output = ToolOutput(error=describe(error))

    def _end(self, task: asyncio.Task[None]) -> None:
        _RUNNING.discard(task)
        self.is_over = True
        if not self._given_up:
            self._ended()
        elif self.output is not None:
            self._late()


def as_output(value: object) -> ToolOutput:
    """What a tool returned as a `ToolOutput`: media are set apart, everything else is data."""
    if isinstance(value, ToolOutput):
        return value
    if isinstance(value, Media):
        return ToolOutput(media=(value,))
    if isinstance(value, list | tuple) and any(isinstance(item, Media) for item in cast("list[object]", value)):
        items = cast("list[object]", value)
        rest = [item for item in items if not isinstance(item, Media)]
        return ToolOutput(rest[0] if len(rest) == 1 else rest or None, media=_media_in(items))
    return ToolOutput(cast(object, value))


def _media_in(items: list[object]) -> tuple[Media, ...]:
    return tuple(item for item in items if isinstance(item, Media))


def describe(error: BaseException) -> str:
    """`error` in a line for the model."""
    if isinstance(error, LegatoError):
        return error.message
    if isinstance(error, BaseExceptionGroup):
        parts = cast("BaseExceptionGroup[BaseException]", error).exceptions
        return "; ".join(describe(part) for part in parts)
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


async def run_tool(tool: Tool, arguments: JsonObject | None = None) -> ToolOutput:
    """Run one tool where there is no turn loop: a script, a test, an editor.

    Nothing is asked, recorded or published. A failing tool gives an output with an error; only arguments that do not
    fit raise, because here the caller wrote them.
    """
    arguments = arguments or {}
    if fault := find_fault(arguments, tool.spec.parameters):
        raise CallerError(f"the tool {tool.name!r} cannot be run: {fault}", tool=tool.name)
    over = asyncio.Event()
    attempt = Attempt(tool, arguments, context=ToolContext(name=tool.name), ended=over.set)
    try:
        async with asyncio.timeout(tool.timeout):
            await over.wait()
    except TimeoutError:
        attempt.cancel()
        attempt.give_up()
        return ToolOutput(
            attempt.context.partial or None, f"The tool ran longer than {tool.timeout:g} s and was stopped."
        )
    except asyncio.CancelledError:
        attempt.cancel()
        attempt.give_up()
        raise
    return attempt.output or ToolOutput(error="The tool was cancelled.")
