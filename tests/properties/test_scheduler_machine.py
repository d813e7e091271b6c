"""Whatever happens to a batch, in whatever order, every call ends once and everything about it is on record.

Hypothesis plays the world: it starts a batch, lets tools finish, fail or tidy up late, answers questions, lets time
pass, sends newer messages, cancels once or twice, through the scheduler or through the task that runs it. The event loop
is stepped by hand and its clock is the machine's own, so nothing here waits.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from legato.model import CallId, ClosureReason, JsonObject, ToolCall, ToolResponse, ToolSpec
from legato.model.records import Scope, Verdict
from legato.tools import (
    Approval,
    ApprovalQueue,
    Mode,
    NoteKind,
    Ruling,
    Tool,
    ToolBox,
    ToolContext,
    ToolKind,
    ToolNote,
    ToolScheduler,
)

GRACE, LIMIT, TIMEOUT = 10.0, 2, 30.0
KINDS = ("read", "write", "stubborn", "brief", "act", "unknown", "truncated")


class SteppedLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes only when the machine says so."""

    now = 0.0

    def time(self) -> float:
        return self.now


class World:
    """The log and the tools of one batch; remembers the order of everything."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str]] = []
        self.settled: dict[str, ToolResponse] = {}
        self.published: list[str] = []
        self.doors: dict[str, asyncio.Future[object]] = {}
        self.inside: set[str] = set()
        self.ends: dict[str, str] = {}
        self.paths: dict[str, str] = {}

    # the log

    async def asked(self, call: ToolCall, digest: str) -> None:
        self.events.append(("asked", call.id))

    async def answered(
        self,
        call: ToolCall,
        verdict: Verdict,
        *,
        scope: Scope = Scope.ONCE,
        reason: str | None = None,
        arguments: JsonObject | None = None,
    ) -> None:
        self.events.append((f"answered {verdict.value}", call.id))

    async def started(self, call: ToolCall, digest: str) -> None:
        await asyncio.sleep(0)
        self.events.append(("started", call.id))

    async def settle(self, response: ToolResponse) -> None:
        await asyncio.sleep(0)
        assert response.call_id not in self.settled, "a call was settled twice"
        self.settled[response.call_id] = response
        self.events.append(("settled", response.call_id))

    def publish(self, call: ToolCall, response: ToolResponse) -> None:
        assert self.settled[call.id] is response
        self.published.append(call.id)

    def progress(self, call: ToolCall, text: str) -> None:
        self.events.append(("progress", call.id))

    # the tools

    async def perform(self, arguments: JsonObject, context: ToolContext) -> object:
        key = context.call_id
        assert ("started", key) in self.events, "a tool ran before its start was on record"
        assert ("ran", key) not in self.events, "a tool ran twice"
        assert key not in self.settled, "a tool ran after its call was settled"
        self.events.append(("ran", key))
        door = self.doors[key] = asyncio.get_running_loop().create_future()
        with self._inside(key, arguments):
            while True:
                try:
                    return await asyncio.shield(door)
                except asyncio.CancelledError:
                    if context.name != "stubborn":
                        raise

    @contextlib.contextmanager
    def _inside(self, key: str, arguments: JsonObject) -> Any:
        self.inside.add(key)
        self.paths[key] = arguments.get("path", "")
        try:
            yield
        finally:
            self.inside.discard(key)


class SchedulerMachine(RuleBasedStateMachine):
    """One batch and everything that can happen to it."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = SteppedLoop()
        self.world = World()
        self.notes: list[ToolNote] = []
        self.queue = ApprovalQueue()
        self.calls: list[ToolCall] = []
        self.task: asyncio.Task[tuple[ToolResponse, ...]] | None = None
        self.scope: anyio.CancelScope | None = None
        self.denied: set[str] = set()
        self.was_cancelled = self.was_skipped = False

    # --- how the machine drives ---

    def step(self, action: Callable[[], object] = lambda: None, seconds: float = 0.0) -> None:
        """Let `seconds` pass, do `action`, then let everything happen that can."""
        self.loop.now += seconds

        async def spin() -> None:
            action()
            for _ in range(40):
                await asyncio.sleep(0)

        self.loop.run_until_complete(spin())

    @property
    def is_over(self) -> bool:
        return self.task is not None and self.task.done()

    @property
    def held(self) -> list[str]:
        """The tools that are running and can be let go."""
        return [key for key, door in self.world.doors.items() if key in self.world.inside and not door.done()]

    async def turn(self) -> tuple[ToolResponse, ...]:
        with anyio.CancelScope() as self.scope:
            return await self.scheduler.run(self.calls, self.world)
        return ()

    @initialize(kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=7), twice=st.booleans())
    def begin(self, kinds: list[str], twice: bool) -> None:
        def tool(name: str, kind: ToolKind, **traits: Any) -> Tool:
            spec = ToolSpec(name, "", {"type": "object", "properties": {"path": {"type": "string"}}})
            return Tool(spec=spec, run=self.world.perform, kind=kind, **traits)

        self.scheduler = ToolScheduler(
            ToolBox(
                [
                    tool("read", ToolKind.READ),
                    tool("write", ToolKind.READ, writes=lambda arguments: frozenset({arguments["path"]})),
                    tool("stubborn", ToolKind.READ),
                    tool("brief", ToolKind.READ, timeout=TIMEOUT),
                    tool("act", ToolKind.EXECUTE),
                ]
            ),
            approval=Approval(Mode.ASK, approver=self.queue),
            limit=LIMIT,
            grace=GRACE,
            noted=self.notes.append,
        )
        for index, kind in enumerate(kinds):
            self.calls.append(
                ToolCall(
                    name="read" if kind == "truncated" else kind,
                    arguments={"path": "shared"},
                    id=CallId(f"hist_tool_{index}"),
                    ordinal=index,
                    finished=kind != "truncated",
                )
            )
        if twice:
            self.calls.append(self.calls[0])
        self.task = self.loop.create_task(self.turn())
        self.step()

    # --- what can happen ---

    @precondition(lambda self: self.held)
    @rule(data=st.data(), fails=st.booleans())
    def a_tool_comes_to_its_end(self, data: st.DataObject, fails: bool) -> None:
        key = data.draw(st.sampled_from(self.held))
        if key not in self.world.settled:
            self.world.ends[key] = "error" if fails else "result"
        door = self.world.doors[key]
        self.step(lambda: door.set_exception(ValueError(key)) if fails else door.set_result(key))

    @precondition(lambda self: self.queue.questions)
    @rule(verdict=st.sampled_from([Verdict.ALLOWED, Verdict.DENIED]), scope=st.sampled_from(Scope), twice=st.booleans())
    def a_person_answers(self, verdict: Verdict, scope: Scope, twice: bool) -> None:
        question = self.queue.questions[0]
        ruling = Ruling(
            question.call, question.digest, verdict, scope, "because" if verdict is Verdict.DENIED else None
        )
        if verdict is Verdict.DENIED:
            self.denied.add(question.call)
        counted: list[bool] = []
        self.step(lambda: counted.extend(self.queue.rule(ruling) for _ in range(1 + twice)))
        assert counted == [True, False][: 1 + twice]

    @precondition(lambda self: self.queue.questions)
    @rule(stray=st.sampled_from(["call", "digest"]))
    def somebody_answers_another_question(self, stray: str) -> None:
        question = self.queue.questions[0]
        call = CallId("hist_tool_other") if stray == "call" else question.call
        assert not self.queue.rule(Ruling(call, "stale" if stray == "digest" else question.digest))
        self.step()

    @rule(seconds=st.sampled_from([1.0, GRACE, TIMEOUT]))
    def time_passes(self, seconds: float) -> None:
        self.step(seconds=seconds)

    @precondition(lambda self: not self.is_over)
    @rule()
    def the_user_cancels(self) -> None:
        self.was_cancelled = True
        self.step(self.scheduler.cancel)

    @precondition(lambda self: not self.is_over and not self.was_cancelled)
    @rule()
    def the_task_around_it_is_cancelled(self) -> None:
        assert self.scope is not None
        self.was_cancelled = True
        self.step(self.scope.cancel)

    @precondition(lambda self: not self.is_over)
    @rule()
    def a_newer_message_comes(self) -> None:
        self.was_skipped = True
        self.step(self.scheduler.skip_unstarted)

    # --- what always holds ---

    @invariant()
    def results_are_published_in_call_order_and_only_when_settled(self) -> None:
        order = list(dict.fromkeys(call.id for call in self.calls))
        assert self.world.published == order[: len(self.world.published)]
        ready = 0
        while ready < len(order) and order[ready] in self.world.settled:
            ready += 1
        assert len(self.world.published) == ready

    @invariant()
    def no_more_run_than_may_and_no_two_write_one_file(self) -> None:
        running = {key for key in self.world.inside if key not in self.world.settled}
        assert len(running) <= LIMIT
        names = {call.id: call.name for call in self.calls}
        assert sum(names[CallId(key)] == "write" for key in running) <= 1

    @invariant()
    def writes_begin_in_call_order(self) -> None:
        names = {call.id: call.name for call in self.calls}
        ran = [key for event, key in self.world.events if event == "ran" and names[CallId(key)] == "write"]
        assert ran == sorted(ran)

    @invariant()
    def every_end_is_true(self) -> None:
        ran = {key for event, key in self.world.events if event == "ran"}
        for key, response in self.world.settled.items():
            if response.reason is None:
                if response.error is None:
                    assert self.world.ends.get(key) == "result"
                elif key in ran:
                    assert self.world.ends.get(key) == "error"
                else:
                    assert "did not run" in response.error or "There is no tool" in response.error
                continue
            match response.reason:
                case ClosureReason.NOT_STARTED:
                    assert key not in ran
                    assert self.was_cancelled
                case ClosureReason.SKIPPED:
                    assert key not in ran
                    assert self.was_skipped
                case ClosureReason.DENIED:
                    assert key in self.denied
                    assert key not in ran
                    assert response.said == "because"
                case ClosureReason.CANCELLED_RUNNING:
                    assert key in ran
                    assert self.was_cancelled
                case ClosureReason.TIMED_OUT:
                    assert response.tool_name == "brief"
                    assert key in ran
                case _:
                    raise AssertionError(f"{key} ended as {response.reason}")

    @invariant()
    def the_records_of_a_call_are_in_their_order(self) -> None:
        ranks = {"asked": 0, "answered allowed": 1, "answered denied": 1, "started": 2, "ran": 3, "settled": 4}
        seen: dict[str, int] = {}
        for event, key in self.world.events:
            assert ranks[event] > seen.get(key, -1), f"{event} of {key} comes too late"
            seen[key] = ranks[event]

    def teardown(self) -> None:
        if self.task is None:
            self.loop.close()
            return
        # However it stands: once everything has been cancelled and the time is over, everything is on record.
        if not self.is_over:
            self.was_cancelled = True
            self.step(self.scheduler.cancel)
            self.step(seconds=GRACE)
        assert self.task.done(), "the batch did not end"
        order = list(dict.fromkeys(call.id for call in self.calls))
        assert sorted(self.world.settled) == sorted(order)
        self.results_are_published_in_call_order_and_only_when_settled()
        self.every_end_is_true()
        assert self.queue.questions == ()
        duplicates = [note for note in self.notes if note.kind is NoteKind.DUPLICATE]
        assert len(duplicates) == len(self.calls) - len(order)
        # What ignored its cancellation may come back now: it is noted, and changes nothing.
        before = dict(self.world.settled)
        late = self.held
        self.step(lambda: [self.world.doors[key].set_result("late") for key in late])
        assert self.world.settled == before
        noted = {note.call for note in self.notes if note.kind is NoteKind.LATE_RETURN}
        assert noted >= set(late)
        self.loop.run_until_complete(self.task)
        self.loop.close()


async def call_at_once(function: Callable[..., Any], *arguments: Any, abandon_on_cancel: bool = False) -> Any:
    """In place of a thread: threads cannot be stepped."""
    await asyncio.sleep(0)
    return function(*arguments)


@pytest.mark.req("REQ-915-029", "REQ-915-031", "REQ-915-034")
def test_every_call_of_a_batch_ends_exactly_once_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anyio.to_thread.run_sync", call_at_once)
    run_state_machine_as_test(SchedulerMachine, settings=settings(settings.default, stateful_step_count=25))
