"""What the tests of the scheduler share: a log that remembers, and tools that do what a test tells them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.lowlevel

from legato.model import CallId, JsonObject, ToolCall, ToolResponse, ToolSpec
from legato.model.records import Scope, Verdict
from legato.tools import Approval, Mode, Tool, ToolBox, ToolContext, ToolKind, ToolNote, ToolScheduler
from legato.tools.budget import OutputBudget

ANYTHING: JsonObject = {"type": "object", "properties": {"path": {"type": "string"}}}


async def until(is_so: Callable[[], object]) -> None:
    """Wait for something that no event tells of: another thread, another process, the inside of the scheduler."""
    with anyio.fail_after(60):
        while not is_so():  # noqa: ASYNC110
            await anyio.sleep(0.001)


def call(key: str, name: str = "hold", **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments, wire_id=f"call_{key}", id=CallId(f"hist_tool_{key}"), ordinal=0)


@dataclass
class Recorder:
    """A log that writes down what it is told; `news` holds everything in the order in which it came."""

    news: list[tuple[str, ...]] = field(default_factory=list)
    settled: dict[CallId, ToolResponse] = field(default_factory=dict)
    published: list[CallId] = field(default_factory=list)
    answers: list[tuple[Verdict, Scope, str | None, JsonObject | None]] = field(default_factory=list)
    heard: list[tuple[CallId, str]] = field(default_factory=list)

    async def asked(self, call: ToolCall, digest: str) -> None:
        self.news.append(("asked", call.id))

    async def answered(
        self,
        call: ToolCall,
        verdict: Verdict,
        *,
        scope: Scope = Scope.ONCE,
        reason: str | None = None,
        arguments: JsonObject | None = None,
    ) -> None:
        self.news.append(("answered", call.id, verdict.value))
        self.answers.append((verdict, scope, reason, arguments))

    async def started(self, call: ToolCall, digest: str) -> None:
        await anyio.lowlevel.checkpoint()
        self.news.append(("started", call.id))

    async def settle(self, response: ToolResponse) -> None:
        await anyio.lowlevel.checkpoint()  # whatever commits takes a moment, also in a cancelled scope
        assert response.call_id not in self.settled, "settled twice"
        self.settled[response.call_id] = response
        self.news.append(("settled", response.call_id))

    def publish(self, call: ToolCall, response: ToolResponse) -> None:
        assert self.settled[call.id] == response
        self.published.append(call.id)

    def progress(self, call: ToolCall, text: str) -> None:
        self.heard.append((call.id, text))

    def order(self, kind: str) -> list[str]:
        return [item[1].removeprefix("hist_tool_") for item in self.news if item[0] == kind]


class Stage:
    """Tools whose calls wait until the test lets them go, by the key of the call."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.running: set[str] = set()
        self.most = 0
        self.gates: dict[str, anyio.Event] = {}
        self.outcomes: dict[str, object] = {}
        self.changed = anyio.Event()

    def release(self, key: str, outcome: object = None) -> None:
        self.outcomes[key] = outcome
        self.gates.setdefault(key, anyio.Event()).set()

    async def until(self, is_so: Callable[[], bool]) -> None:
        with anyio.fail_after(60):
            while not is_so():
                self.changed = anyio.Event()
                await self.changed.wait()

    async def perform(self, _: JsonObject, context: ToolContext) -> object:
        key = context.call_id.removeprefix("hist_tool_")
        self.began.append(key)
        self.running.add(key)
        self.most = max(self.most, len(self.running))
        self.changed.set()
        try:
            await self.gates.setdefault(key, anyio.Event()).wait()
        finally:
            self.running.discard(key)
            self.changed.set()
        outcome = self.outcomes.get(key)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome if outcome is not None else f"done {key}"

    def tool(self, name: str = "hold", **traits: Any) -> Tool:
        return Tool(spec=ToolSpec(name, "waits", ANYTHING), run=self.perform, **{"kind": ToolKind.READ, **traits})


def instant(name: str, result: object = "ok", **traits: Any) -> Tool:
    """A tool that gives `result` at once, or raises it."""

    async def run(_: JsonObject, __: ToolContext) -> object:
        if isinstance(result, BaseException):
            raise result
        return result

    return Tool(spec=ToolSpec(name, "", ANYTHING), run=run, **{"kind": ToolKind.READ, **traits})


def scheduler(
    tools: Sequence[Tool], *, approval: Approval | None = None, notes: list[ToolNote] | None = None, **terms: Any
) -> ToolScheduler:
    heard = notes if notes is not None else []
    terms.setdefault("budget", OutputBudget())
    return ToolScheduler(
        ToolBox(tools), approval=approval or Approval(Mode.NEVER), noted=heard.append, **{"grace": 60.0, **terms}
    )


def ok(key: str, result: object, name: str = "hold") -> ToolResponse:
    return ToolResponse(call_id=CallId(f"hist_tool_{key}"), tool_name=name, result=result, is_complete=True)


def bad(key: str, error: str, name: str = "hold", result: object = None) -> ToolResponse:
    return ToolResponse(
        call_id=CallId(f"hist_tool_{key}"), tool_name=name, error=error, result=result, is_complete=True
    )


def closed(key: str, reason: Any, name: str = "hold", **more: Any) -> ToolResponse:
    return ToolResponse(call_id=CallId(f"hist_tool_{key}"), tool_name=name, reason=reason, **more)
