"""A typed Python function as a tool.

In:  a function, with annotations and a docstring.
Out: a `Tool` whose JSON schema comes from the signature and whose words come from the docstring.

    @tool
    def weather(city: str, unit: Literal["C", "F"] = "C") -> str:
        "The weather in a city, today."

The annotations are the schema (msgspec writes it) and the arguments arrive as what they say: dataclasses and structs
are built, not left as dictionaries. A parameter of type `ToolContext` is given by the scheduler and not shown to the
model. Coroutine functions run on the event loop, others in a thread.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, cast, overload

from legato.errors import ConfigError
from legato.model import JsonObject
from legato.model.functions import Signature, describe
from legato.tools.isolation import Isolation
from legato.tools.registry import RunFunction, Tool, ToolContext, ToolKind
from legato.tools.threads import in_thread


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    kind: ToolKind = ToolKind.OTHER,
    timeout: float | None = None,
    writes: Callable[[JsonObject], frozenset[str]] | None = None,
    preview: Callable[[JsonObject], str] | None = None,
    subject: Callable[[JsonObject], str] | None = None,
    isolation: Callable[[], Isolation | None] | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    **traits: Any,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function; see `Tool` for what `kind`, `timeout`, `writes` and the others mean."""
    if function is None:
        return functools.partial(_make_tool, name=name, description=description, **traits)
    return _make_tool(function, name=name, description=description, **traits)


def as_tool(value: Tool | Callable[..., Any]) -> Tool:
    """`value` as a tool: a function becomes the one that `@tool` would make of it."""
    if isinstance(value, Tool):
        return value
    if inspect.isroutine(value):
        return tool(value)
    raise ConfigError(f"{value!r} cannot be run as a tool; pass a function, or a Tool made with @tool")


def _make_tool(function: Callable[..., Any], /, *, name: str | None, description: str | None, **traits: Any) -> Tool:
    signature = Signature(function)
    spec = describe(function, signature, name=name, description=description)
    chosen = {key: value for key, value in traits.items() if value is not None}
    return Tool(spec=spec, run=_runner(function, signature), **chosen)


def _runner(function: Callable[..., Any], signature: Signature) -> RunFunction:
    if inspect.iscoroutinefunction(function):
        coroutine = cast("Callable[..., Awaitable[object]]", function)

        async def run(arguments: JsonObject, context: ToolContext) -> object:
            return await coroutine(**signature.bind(arguments, context))

        return run

    async def run_beside(arguments: JsonObject, context: ToolContext) -> object:
        return await in_thread(functools.partial(function, **signature.bind(arguments, context)), context)

    return run_beside
