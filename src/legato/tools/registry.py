"""What can be done: tools, and the box in which a session finds them.

A `Tool` is what the model is shown (its spec) together with how it is run and what has to be known before it runs: how
dangerous it is, how long it may take, which files it writes, what a person sees when asked, and what rules are matched
against. A `ToolBox` is a fixed set of tools: a batch is run with the box whose specs its request carried, so a tool
that was added or removed meanwhile changes nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, TypeAlias

import msgspec
from msgspec import Struct, field

from legato.errors import ConfigError
from legato.model import UNMINTED, CallId, JsonObject, Media, ToolSpec
from legato.tools.isolation import Isolation


class ToolKind(StrEnum):
    """What a tool does to the world; approval modes decide by it."""

    READ = "read"
    EDIT = "edit"
    EXECUTE = "execute"
    OTHER = "other"


class ToolOutput(Struct, frozen=True):
    """What one run of a tool gave. With `error` it failed; `result` may then hold what it had produced so far."""

    result: object = None
    error: str | None = None
    media: tuple[Media, ...] = ()


async def _offer_nothing(_: str) -> bool:
    return False


class ToolContext(Struct):
    """What a running tool may know and say.

    `cancelled` is set when it should stop; a function in a thread can only see it there. `partial` is what the tool has
    produced so far, kept if it is cancelled. `progress` shows a piece of output while the tool runs. `writes` is what
    the tool said it would write when the call was allowed; a tool that finds itself elsewhere should not write.
    `unreadable` are globs of what rules withhold: a tool that goes through folders leaves those files out.
    `offer` asks a person whether the call may run again outside of the sandbox, for the reason given; without a person
    the answer is no.
    """

    is_given_to_tools: ClassVar[bool] = True
    """a parameter of this type is no argument that the model writes"""

    name: str = ""
    call_id: CallId = UNMINTED
    cancelled: threading.Event = field(default_factory=threading.Event)
    partial: str = ""
    progress: Callable[[str], None] = lambda _: None
    writes: frozenset[str] = frozenset()
    unreadable: tuple[str, ...] = ()
    offer: Callable[[str], Awaitable[bool]] = _offer_nothing


RunFunction: TypeAlias = Callable[[JsonObject, ToolContext], Awaitable[object]]


def _writes_nothing(_: JsonObject) -> frozenset[str]:
    return frozenset()


def _show_arguments(arguments: JsonObject) -> str:
    return msgspec.json.format(msgspec.json.encode(arguments), indent=2).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool.

    `run` gets arguments that fit the schema and returns a `ToolOutput`, a `Media`, or any value that can become JSON;
    an exception is the tool's failure. `timeout` is in seconds. `writes` names the files that a call writes, so that
    writes to one file keep their order and protected files are recognised; a file may have several names. `preview` is
    the exact command or diff that a person is shown; raising says that the call cannot work, and then it is not shown.
    `subject` is what rules are matched against: a path or a command. `isolation` says whether the programs that it
    starts are in a sandbox; None where it starts none.
    """

    spec: ToolSpec
    run: RunFunction
    kind: ToolKind = ToolKind.OTHER
    timeout: float | None = None
    writes: Callable[[JsonObject], frozenset[str]] = _writes_nothing
    preview: Callable[[JsonObject], str] = _show_arguments
    subject: Callable[[JsonObject], str] = lambda arguments: msgspec.json.encode(arguments, order="sorted").decode()
    isolation: Callable[[], Isolation | None] = lambda: None

    @property
    def name(self) -> str:
        """The name under which people and rules know it: the model's name for it, with the namespace if it has one."""
        return self.spec.qualified

    @property
    def takes_arguments(self) -> bool:
        """Whether there is anything to pass."""
        return bool(self.spec.parameters.get("properties")) or bool(self.spec.parameters.get("required"))


class Missing(Struct, frozen=True):
    """There is no such tool to run; `message` says what there is instead."""

    message: str


class ToolBox:
    """A fixed set of tools, some of them perhaps disabled. Names are unique."""

    def __init__(self, tools: Iterable[Tool] = (), *, disabled: Iterable[str] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        self.disabled = frozenset(disabled)
        for tool in tools:
            if tool.name in self._tools:
                raise ConfigError(f"two tools are named {tool.name!r}; rename one of them", tool=tool.name)
            self._tools[tool.name] = tool

    def __iter__(self) -> Iterator[Tool]:
        """The tools that are enabled."""
        return (tool for name, tool in self._tools.items() if name not in self.disabled)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in self._tools and name not in self.disabled

    @property
    def names(self) -> tuple[str, ...]:
        """Every tool by name, also those that are disabled."""
        return tuple(self._tools)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is shown: the enabled tools."""
        return tuple(tool.spec for tool in self)

    def extended(self, tools: Iterable[Tool]) -> ToolBox:
        """This box and `tools`."""
        return ToolBox([*self._tools.values(), *tools], disabled=self.disabled)

    def without(self, names: Iterable[str]) -> ToolBox:
        """This box with `names` disabled as well."""
        return ToolBox(self._tools.values(), disabled=self.disabled | frozenset(names))

    def find(self, name: str) -> Tool | Missing:
        """The tool that `name` means. Another case is forgiven where it can mean only one."""
        tool = self._tools.get(name) or self._folded(name)
        if tool is None:
            return Missing(f"There is no tool named {name!r}. {self._suggest(name)}")
        if tool.name in self.disabled:
            return Missing(f"The tool {tool.name!r} is disabled here. {self._suggest(name)}")
        return tool

    def _folded(self, name: str) -> Tool | None:
        alike = [tool for other, tool in self._tools.items() if other.casefold() == name.casefold()]
        return alike[0] if len(alike) == 1 else None

    def _suggest(self, name: str) -> str:
        from difflib import get_close_matches  # rarely needed, and slow to load

        names = sorted(tool.name for tool in self)
        alike = [one for one in names if one.casefold() == name.casefold()]
        near = alike or get_close_matches(name, names, n=3)
        if near:
            return f"Did you mean {' or '.join(repr(one) for one in near)}?"
        return f"Available: {', '.join(names)}." if names else "No tools are available."
