"""Batches that are ended from outside: by the user, by a newer message, by whoever called."""

import asyncio
import threading

import anyio
import anyio.lowlevel
import pytest

from legato.model import ClosureReason, JsonObject, ToolCall, ToolResponse, ToolSpec
from legato.tools import Approval, ApprovalQueue, Mode, NoteKind, Tool, ToolContext, ToolKind, ToolNote, tool
from scheduling import Recorder, Stage, bad, call, closed, instant, ok, scheduler, until

pytestmark = pytest.mark.anyio

NOT_STARTED, CANCELLED, SKIPPED = (
    ClosureReason.NOT_STARTED,
    ClosureReason.CANCELLED_RUNNING,
    ClosureReason.SKIPPED,
)


@pytest.mark.req("REQ-915-034", "REQ-915-044")
async def test_five_calls_one_done_then_cancelled_are_one_real_and_four_closed() -> None:
    stage, log = Stage(), Recorder()
    runner = scheduler([stage.tool()], limit=3)
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call(key) for key in "abcde"], log)
        await stage.until(lambda: stage.running == {"a", "b", "c"})
        stage.release("a")
        await stage.until(lambda: stage.running == {"b", "c", "d"})
        runner.cancel()
    assert list(log.settled.values()) != []
    assert [log.settled[call(key).id] for key in "abcde"] == [
        ok("a", "done a"),
        closed("b", CANCELLED),
        closed("c", CANCELLED),
        closed("d", CANCELLED),
        closed("e", NOT_STARTED),
    ]
    assert log.published == [call(key).id for key in "abcde"]
    assert "e" not in stage.began


@pytest.mark.req("REQ-915-034")
async def test_when_the_caller_is_cancelled_everything_is_committed_before_it_passes_on() -> None:
    stage, log = Stage(), Recorder()
    after: list[str] = []
    async with anyio.create_task_group() as group:

        async def turn() -> None:
            await scheduler([stage.tool()], limit=1).run([call("a"), call("b")], log)
            after.append("a request follows")

        group.start_soon(turn)
        await stage.until(lambda: "a" in stage.running)
        group.cancel_scope.cancel()
    assert log.settled == {"hist_tool_a": closed("a", CANCELLED), "hist_tool_b": closed("b", NOT_STARTED)}
    assert log.published == ["hist_tool_a", "hist_tool_b"]
    assert after == []


async def test_in_a_scope_that_is_cancelled_already_nothing_starts_and_all_is_committed() -> None:
    stage, log = Stage(), Recorder()
    with anyio.CancelScope() as scope:
        scope.cancel()
        await scheduler([stage.tool()]).run([call("a"), call("b")], log)
    assert scope.cancelled_caught or scope.cancel_called
    assert log.settled == {"hist_tool_a": closed("a", NOT_STARTED), "hist_tool_b": closed("b", NOT_STARTED)}
    assert (stage.began, log.order("started")) == ([], [])


@pytest.mark.req("REQ-915-034")
async def test_a_task_that_is_cancelled_without_any_scope_commits_everything_too() -> None:
    stage, log = Stage(), Recorder()
    task = asyncio.create_task(scheduler([stage.tool()], limit=1).run([call("a"), call("b")], log))
    await stage.until(lambda: "a" in stage.running)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert log.settled == {"hist_tool_a": closed("a", CANCELLED), "hist_tool_b": closed("b", NOT_STARTED)}


async def test_a_result_that_is_there_when_the_cancellation_comes_stays_real() -> None:
    stage, log = Stage(), Recorder()
    runner = scheduler([stage.tool()])
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call("a"), call("b")], log)
        await stage.until(lambda: stage.running == {"a", "b"})
        stage.release("a")
        await stage.until(lambda: stage.running == {"b"})  # returned, not yet committed
        runner.cancel()
    assert log.settled == {"hist_tool_a": ok("a", "done a"), "hist_tool_b": closed("b", CANCELLED)}


def stubborn(let_go: anyio.Event, seen: list[str]) -> Tool:
    async def run(_: JsonObject, context: ToolContext) -> object:
        seen.append("began")
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                seen.append("ignored")
        return "far too late"

    return Tool(spec=ToolSpec("stubborn"), run=run, kind=ToolKind.READ)


async def test_a_tool_that_ignores_cancellation_does_not_hold_the_batch_and_its_late_return_is_noted() -> None:
    let_go, seen, notes, log = anyio.Event(), list[str](), list[ToolNote](), Recorder()
    runner = scheduler([stubborn(let_go, seen)], notes=notes, grace=0.01)
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call("a", "stubborn")], log)
        await until(lambda: seen)
        runner.cancel()
    assert log.settled == {"hist_tool_a": closed("a", CANCELLED, "stubborn")}
    assert notes == []
    let_go.set()
    await until(lambda: notes)
    assert [(note.kind, note.call) for note in notes] == [(NoteKind.LATE_RETURN, "hist_tool_a")]
    assert log.settled == {"hist_tool_a": closed("a", CANCELLED, "stubborn")}


async def test_a_blocking_function_that_never_looks_up_is_left_behind_in_its_thread() -> None:
    began, let_go, notes, log = threading.Event(), threading.Event(), list[ToolNote](), Recorder()

    @tool(kind=ToolKind.READ)
    def block() -> str:
        began.set()
        let_go.wait(60)
        return "late"

    runner = scheduler([block], notes=notes, grace=0.01)
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call("a", "block")], log)
        await until(began.is_set)
        runner.cancel()
    assert log.settled == {"hist_tool_a": closed("a", CANCELLED, "block")}
    let_go.set()
    await until(lambda: notes)
    assert [note.kind for note in notes] == [NoteKind.LATE_RETURN]


async def test_a_blocking_function_that_looks_up_can_end_well_within_the_grace_period() -> None:
    log, began = Recorder(), threading.Event()

    @tool(kind=ToolKind.READ)
    def careful(context: ToolContext) -> str:
        began.set()
        return "stopped in order" if context.cancelled.wait(60) else "never told"

    runner = scheduler([careful])
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call("a", "careful")], log)
        await until(began.is_set)
        runner.cancel()
    assert log.settled == {"hist_tool_a": ok("a", "stopped in order", "careful")}


async def test_cancelling_again_ends_the_grace_period_now() -> None:
    let_go, seen, log = anyio.Event(), list[str](), Recorder()
    runner = scheduler([stubborn(let_go, seen)], grace=3600)
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call("a", "stubborn")], log)
        await until(lambda: seen)
        runner.cancel()
        await until(lambda: "ignored" in seen)
        await anyio.lowlevel.checkpoint()
        assert log.settled == {}
        runner.cancel()
    assert log.settled == {"hist_tool_a": closed("a", CANCELLED, "stubborn")}
    let_go.set()
    await anyio.lowlevel.checkpoint()


async def test_cancelling_the_scheduler_and_its_caller_at_once_counts_once() -> None:
    log, began = Recorder(), anyio.Event()

    async def tidy(_: JsonObject, __: ToolContext) -> object:
        began.set()
        try:
            await anyio.sleep_forever()
        except asyncio.CancelledError:
            await asyncio.sleep(0.02)  # putting things in order takes a moment, within the grace period
            return "tidied"

    runner = scheduler([Tool(spec=ToolSpec("tidy"), run=tidy, kind=ToolKind.READ)])
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call("a", "tidy")], log)
        await began.wait()
        runner.cancel()
        group.cancel_scope.cancel()
    assert log.settled == {"hist_tool_a": ok("a", "tidied", "tidy")}


async def test_what_a_cancelled_tool_had_produced_is_kept_beside_the_reason() -> None:
    log, began = Recorder(), anyio.Event()

    async def chatty(_: JsonObject, context: ToolContext) -> object:
        context.partial = "half of it"
        began.set()
        await anyio.sleep_forever()

    runner = scheduler([Tool(spec=ToolSpec("chatty"), run=chatty, kind=ToolKind.READ)])
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call("a", "chatty")], log)
        await began.wait()
        runner.cancel()
    assert log.settled == {"hist_tool_a": closed("a", CANCELLED, "chatty", result="half of it")}


async def test_of_a_timeout_and_a_cancellation_the_first_is_the_cause() -> None:
    let_go, seen, log, notes = anyio.Event(), list[str](), Recorder(), list[ToolNote]()
    slow = stubborn(let_go, seen)
    limited = Tool(spec=slow.spec, run=slow.run, kind=slow.kind, timeout=0.01)
    runner = scheduler([limited], grace=3600, notes=notes)
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call("a", "stubborn")], log)
        await until(lambda: "ignored" in seen)
        runner.cancel()
        let_go.set()  # it returns within its grace period, but its time was over before
    assert log.settled == {"hist_tool_a": closed("a", ClosureReason.TIMED_OUT, "stubborn")}
    assert [note.kind for note in notes] == [NoteKind.LATE_RETURN]


async def test_a_newer_message_skips_what_has_not_started_and_lets_the_rest_finish() -> None:
    stage, log = Stage(), Recorder()
    runner = scheduler([stage.tool()], limit=1)
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call("a"), call("b"), call("c")], log)
        await stage.until(lambda: "a" in stage.running)
        runner.skip_unstarted()
        stage.release("a")
    assert log.settled == {
        "hist_tool_a": ok("a", "done a"),
        "hist_tool_b": closed("b", SKIPPED),
        "hist_tool_c": closed("c", SKIPPED),
    }
    assert stage.began == ["a"]


async def test_a_skipped_call_stays_skipped_when_the_rest_is_cancelled() -> None:
    stage, log = Stage(), Recorder()
    runner = scheduler([stage.tool()], limit=1)
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call("a"), call("b")], log)
        await stage.until(lambda: "a" in stage.running)
        runner.skip_unstarted()
        runner.cancel()
    assert log.settled == {"hist_tool_a": closed("a", CANCELLED), "hist_tool_b": closed("b", SKIPPED)}


async def test_a_cancellation_withdraws_an_open_question() -> None:
    taken_down: list[str] = []
    queue = ApprovalQueue(withdrawn=lambda question: taken_down.append(question.call))
    log = Recorder()
    runner = scheduler([instant("act", kind=ToolKind.OTHER)], approval=Approval(Mode.ASK, approver=queue))
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call("a", "act"), call("b", "act")], log)
        await until(lambda: queue.questions)
        runner.cancel()
    assert log.settled == {
        "hist_tool_a": closed("a", NOT_STARTED, "act"),
        "hist_tool_b": closed("b", NOT_STARTED, "act"),
    }
    assert (taken_down, queue.questions) == (["hist_tool_a"], ())


async def test_a_cancellation_while_the_start_is_recorded_does_not_start_the_tool() -> None:
    class Slow(Recorder):
        async def started(self, call: ToolCall, digest: str) -> None:
            await super().started(call, digest)
            runner.cancel()
            await anyio.lowlevel.checkpoint()
            self.news.append(("whole", call.id))

    stage, log = Stage(), Slow()
    runner = scheduler([stage.tool()])
    await runner.run([call("a")], log)
    assert log.settled == {"hist_tool_a": closed("a", NOT_STARTED)}
    assert stage.began == []
    assert ("whole", "hist_tool_a") in log.news


async def test_after_a_cancelled_batch_the_next_one_runs_at_once() -> None:
    stage, log = Stage(), Recorder()
    runner = scheduler([stage.tool()])
    runner.cancel()  # without a batch, nothing happens
    runner.skip_unstarted()
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call("a")], log)
        await stage.until(lambda: "a" in stage.running)
        runner.cancel()
    stage.release("b")
    assert await runner.run([call("b")], log) == (ok("b", "done b"),)


async def test_a_log_in_trouble_does_not_keep_a_cancelled_call_open() -> None:
    class Troubled(Recorder):
        async def settle(self, response: ToolResponse) -> None:
            if response.reason is not None:
                raise OSError("disk full")
            await super().settle(response)

    stage, log = Stage(), Troubled()
    runner = scheduler([stage.tool()], limit=1)
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call("a"), call("b")], log)
        await stage.until(lambda: "a" in stage.running)
        runner.cancel()
    said = "but how the call ended could not be recorded: OSError: disk full"
    assert log.settled == {
        "hist_tool_a": bad("a", f"The tool ran, {said}"),
        "hist_tool_b": bad("b", f"The tool did not run, {said}"),
    }
