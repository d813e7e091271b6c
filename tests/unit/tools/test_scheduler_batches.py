"""Batches without trouble from outside: overlap, order, limits, failures, faults in calls, budgets."""

import ast
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

import legato.tools
from legato.errors import CallerError, CanonicalError
from legato.model import ClosureReason, Media, MediaKind, Text, ToolCall, ToolResponse, ToolSpec
from legato.tools import (
    Approval,
    Mode,
    NoteKind,
    OutputBudget,
    Tool,
    ToolBox,
    ToolContext,
    ToolKind,
    ToolNote,
    ToolOutput,
    tool,
)
from legato.tools.scheduler import ToolScheduler
from scheduling import Recorder, Stage, bad, call, closed, instant, ok, scheduler, until

pytestmark = pytest.mark.anyio


@pytest.mark.req("REQ-915-031")
async def test_five_calls_overlap_behind_a_barrier() -> None:
    arrived = 0
    everybody = anyio.Event()

    @tool(kind=ToolKind.READ)
    async def meet() -> str:
        nonlocal arrived
        arrived += 1
        if arrived == 5:
            everybody.set()
        with anyio.fail_after(60):
            await everybody.wait()
        return "met"

    log = Recorder()
    responses = await scheduler([meet]).run([call(key, "meet") for key in "abcde"], log)
    assert list(responses) == [ok(key, "met", "meet") for key in "abcde"]


async def test_blocking_functions_overlap_too() -> None:
    import threading

    barrier = threading.Barrier(5, timeout=60)

    @tool(kind=ToolKind.READ)
    def meet() -> str:
        barrier.wait()
        return "met"

    responses = await scheduler([meet]).run([call(key, "meet") for key in "abcde"], Recorder())
    assert [response.result for response in responses] == ["met"] * 5


async def test_results_are_committed_as_they_finish_and_published_in_call_order() -> None:
    stage, log = Stage(), Recorder()
    async with anyio.create_task_group() as group:
        group.start_soon(scheduler([stage.tool()]).run, [call("a"), call("b"), call("c")], log)
        await stage.until(lambda: len(stage.running) == 3)
        for key in "cba":
            stage.release(key)
            await until(lambda key=key: f"hist_tool_{key}" in log.settled)
            if key != "a":
                assert log.published == []
    assert log.order("settled") == ["c", "b", "a"]
    assert log.published == ["hist_tool_a", "hist_tool_b", "hist_tool_c"]


async def test_fast_tools_after_a_slow_first_one_do_not_hang() -> None:
    stage, log = Stage(), Recorder()
    calls = [call("slow"), *[call(f"fast{n}", "fast") for n in range(20)]]
    async with anyio.create_task_group() as group:
        group.start_soon(scheduler([stage.tool(), instant("fast")], limit=2).run, calls, log)
        await until(lambda: len(log.settled) == 20)
        stage.release("slow")
    assert [str(one) for one in log.published] == [one.id for one in calls]


async def test_a_start_is_durable_before_its_tool_runs() -> None:
    log = Recorder()
    seen: list[tuple[str, ...]] = []

    @tool(kind=ToolKind.READ)
    async def look() -> None:
        seen.extend(log.news)

    await scheduler([look]).run([call("a", "look")], log)
    assert seen == [("started", "hist_tool_a")]


async def test_at_most_the_limit_runs_at_once() -> None:
    stage, log = Stage(), Recorder()
    calls = [call(str(n)) for n in range(7)]
    async with anyio.create_task_group() as group:
        group.start_soon(scheduler([stage.tool()], limit=3).run, calls, log)
        for n in range(7):
            await stage.until(lambda n=n: str(n) in stage.running)
            stage.release(str(n))
    assert stage.most == 3
    assert stage.began == [str(n) for n in range(7)]


async def test_writes_to_one_file_keep_call_order_while_others_run() -> None:
    stage, log = Stage(), Recorder()
    write = stage.tool("write", kind=ToolKind.EDIT, writes=lambda arguments: frozenset({arguments["path"]}))
    calls = [call("a1", "write", path="a"), call("a2", "write", path="a"), call("b", "write", path="b"), call("r")]
    async with anyio.create_task_group() as group:
        group.start_soon(scheduler([write, stage.tool()]).run, calls, log)
        await stage.until(lambda: stage.running == {"a1", "b", "r"})
        stage.release("a1")
        await stage.until(lambda: stage.running == {"a2", "b", "r"})
        for key in ("a2", "b", "r"):
            stage.release(key)
    assert log.order("settled")[0] == "a1"


async def test_one_failure_is_its_own() -> None:
    tools = [instant("good"), instant("broken", ValueError("no such thing")), instant("quit", SystemExit(3))]
    responses = await scheduler(tools).run([call("a", "good"), call("b", "broken"), call("c", "quit")], Recorder())
    assert list(responses) == [
        ok("a", "ok", "good"),
        bad("b", "ValueError: no such thing", "broken"),
        bad("c", "SystemExit: 3", "quit"),
    ]


async def test_a_tool_that_cancels_itself_has_failed() -> None:
    import asyncio

    responses = await scheduler([instant("odd", asyncio.CancelledError())]).run([call("a", "odd")], Recorder())
    assert list(responses) == [bad("a", "The tool was cancelled from within.", "odd")]


async def test_a_tool_that_takes_too_long_is_timed_out_and_the_others_are_not() -> None:
    stage, log = Stage(), Recorder()
    stage.release("quick")
    tools = [stage.tool(), stage.tool("brief", timeout=0.01)]
    async with anyio.create_task_group() as group:
        group.start_soon(scheduler(tools).run, [call("long", "brief"), call("quick"), call("patient")], log)
        await stage.until(lambda: "hist_tool_long" in log.settled or "long" not in stage.running)
        await stage.until(lambda: stage.running == {"patient"})
        stage.release("patient")
    assert log.settled[call("long").id] == closed("long", ClosureReason.TIMED_OUT, "brief")
    assert log.settled[call("patient").id] == ok("patient", "done patient")


async def test_the_same_id_twice_runs_once_and_is_noted() -> None:
    stage, log, notes = Stage(), Recorder(), list[ToolNote]()
    stage.release("a")
    runner = scheduler([stage.tool()], notes=notes)
    first = await runner.run([call("a"), call("a")], log)
    again = await runner.run([call("a")], log)
    assert (list(first), list(again), stage.began) == ([ok("a", "done a")], [], ["a"])
    assert [(note.kind, note.call) for note in notes] == [(NoteKind.DUPLICATE, "hist_tool_a")] * 2


async def test_the_same_wire_id_in_a_later_answer_is_another_call_that_runs() -> None:
    stage, log = Stage(), Recorder()
    stage.release("a")
    stage.release("b")
    runner = scheduler([stage.tool()])
    one = call("a")
    other = ToolCall(name="hold", arguments={"path": "y"}, wire_id=one.wire_id, id=call("b").id, ordinal=1)
    await runner.run([one], log)
    await runner.run([other], log)
    assert stage.began == ["a", "b"]


async def test_a_call_without_an_id_of_ours_is_a_fault_of_the_caller() -> None:
    with pytest.raises(CanonicalError, match="record the answer before running it"):
        await scheduler([]).run([ToolCall(name="x")], Recorder())


async def test_a_second_batch_waits_its_turn_by_being_refused() -> None:
    stage, log = Stage(), Recorder()
    runner = scheduler([stage.tool()])
    async with anyio.create_task_group() as group:
        group.start_soon(runner.run, [call("a")], log)
        await stage.until(lambda: "a" in stage.running)
        assert runner.is_running
        with pytest.raises(CallerError, match="one at a time"):
            await runner.run([call("b")], log)
        stage.release("a")
    assert not runner.is_running


# --- calls that cannot run --------------------------------------------------------------------------------------------

NEVER_RUNS = Tool(
    spec=ToolSpec(
        "write_file", "", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    ),
    run=lambda _arguments, _context: pytest.fail("it ran"),
)


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        (call("a", "write_fil"), "There is no tool named 'write_fil'. Did you mean 'write_file'?"),
        (call("a", "zzz"), "There is no tool named 'zzz'. Available: write_file."),
        (call("a", "secret"), "The tool 'secret' is disabled here. Available: write_file."),
        (
            call("a", "write_file"),
            "The arguments do not fit, so the tool 'write_file' did not run: `path` is missing.",
        ),
        (
            call("a", "write_file", path=7),
            "The arguments do not fit, so the tool 'write_file' did not run: `path` must be a string, not an integer.",
        ),
        (
            ToolCall(name="write_file", id=call("a").id, raw='{"path": "a", "con', finished=False),
            (
                "The arguments of this call break off before they are complete, so the tool did not run. "
                "Make the call again; if it is long, split it into several smaller ones."
            ),
        ),
        (
            ToolCall(name="write_file", id=call("a").id, raw='["a"]'),
            "The arguments must be one JSON object, so the tool 'write_file' did not run. They were: [\"a\"]",
        ),
    ],
    ids=["misspelt", "unknown", "disabled", "missing argument", "wrong type", "truncated", "not an object"],
)
async def test_a_call_with_a_fault_gets_an_error_result_and_never_runs(asked: ToolCall, error: str) -> None:
    tools = ToolBox([NEVER_RUNS, instant("secret")], disabled=["secret"])
    log = Recorder()
    responses = await ToolScheduler(tools, approval=Approval(Mode.NEVER)).run([asked], log)
    assert list(responses) == [bad("a", error, asked.name)]
    assert log.order("started") == []


async def test_another_case_is_forgiven_where_only_one_tool_can_be_meant() -> None:
    responses = await scheduler([instant("Read")]).run([call("a", "READ")], Recorder())
    assert list(responses) == [ok("a", "ok", "READ")]
    two = scheduler([instant("Read"), instant("read")])
    (response,) = await two.run([call("b", "READ")], Recorder())
    assert response.error == "There is no tool named 'READ'. Did you mean 'Read' or 'read'?"


async def test_arguments_that_are_no_object_are_nothing_to_a_tool_without_arguments() -> None:
    @tool(kind=ToolKind.READ)
    async def now() -> str:
        return "noon"

    responses = await scheduler([now]).run([ToolCall(name="now", id=call("a").id, raw="[]")], Recorder())
    assert list(responses) == [ok("a", "noon", "now")]


async def test_a_batch_is_run_with_the_tools_of_its_own_request() -> None:
    runner = scheduler([instant("tool", "new")])
    offered = ToolBox([instant("tool", "as it was offered")])
    responses = await runner.run([call("a", "tool")], Recorder(), tools=offered)
    nothing = await runner.run([call("b", "tool")], Recorder(), tools=ToolBox())
    assert [response.result for response in responses] == ["as it was offered"]
    assert [response.error for response in nothing] == ["There is no tool named 'tool'. No tools are available."]


# --- what comes back --------------------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-032")
@pytest.mark.parametrize(
    "returned",
    [
        ToolCall(name="hold", arguments={"path": "x"}),
        [ToolCall(name="hold"), Text(text="and text")],
        {"functionCall": {"name": "hold", "args": {}}},
        ToolOutput(ToolCall(name="hold"), media=(ToolCall(name="hold"),)),  # type: ignore[arg-type]
    ],
    ids=["a call", "calls and text", "a provider's call", "a call among media"],
)
async def test_calls_in_what_a_tool_returns_are_data_in_a_result(returned: object) -> None:
    (response,) = await scheduler([instant("odd", returned)]).run([call("a", "odd")], Recorder())
    assert type(response) is ToolResponse
    assert (response.error, response.media) == (None, ())
    assert isinstance(response.result, dict | list)


async def test_media_are_set_apart_from_the_result() -> None:
    picture = Media(kind=MediaKind.IMAGE, mime="image/png", data="aGk=")
    (response,) = await scheduler([instant("look", ["a cat", picture])]).run([call("a", "look")], Recorder())
    assert (response.result, response.media) == ("a cat", (picture,))


async def test_a_result_that_cannot_be_json_is_an_error_result() -> None:
    def endless() -> object:
        while True:
            yield 1

    (response,) = await scheduler([instant("odd", endless())]).run([call("a", "odd")], Recorder())
    assert response.error is not None
    assert response.error.startswith("The tool ran, but its result cannot be passed on:")


async def test_a_batch_shares_its_budget_and_a_cut_result_says_where_the_whole_is() -> None:
    kept: dict[str, str] = {}

    def spill(text: str, asked: ToolCall) -> str:
        kept[asked.id] = text
        return f"/kept/{asked.id}"

    long = "\n".join(f"line {n}" for n in range(200))
    runner = scheduler(
        [instant("long", long), instant("short", "brief")], budget=OutputBudget(total=400, floor=10), spill=spill
    )
    calls = [call("a", "long"), call("b", "short"), call("c", "short"), call("d", "short")]
    first, *rest = await runner.run(calls, Recorder())
    assert kept == {"hist_tool_a": long}
    head, mark, tail = str(first.result).partition("\n[cut: ")
    said, _, end = tail.partition("]\n")
    assert head == "\n".join(f"line {n}" for n in range(7))
    assert mark
    assert (
        said
        == f"{len(long) - 49 - 44:,} of {len(long):,} characters are left out here; the whole output is in /kept/hist_tool_a"
    )
    assert end == "\n".join(f"line {n}" for n in range(195, 200))
    assert [response.result for response in rest] == ["brief"] * 3


async def test_the_floor_holds_however_many_calls_share_the_budget() -> None:
    assert OutputBudget(total=1000, floor=300).share(100) == 300
    assert OutputBudget(total=1000, floor=300).share(2) == 500


async def test_a_structured_result_is_cut_as_text_and_a_failed_spill_is_said() -> None:
    notes: list[ToolNote] = []

    def spill(_text: str, _call: ToolCall) -> str:
        raise OSError("no space left")

    runner = scheduler(
        [instant("rows", {"rows": list(range(1000))})], notes=notes, spill=spill, budget=OutputBudget(100, 100)
    )
    (response,) = await runner.run([call("a", "rows")], Recorder())
    assert str(response.result).startswith('{"rows":[0,1,2,')
    assert "the whole output was not kept]" in str(response.result)
    assert notes == [ToolNote(NoteKind.NOT_SPILLED, call("a").id, "OSError: no space left")]


# --- a log in trouble ----------------------------------------------------------------------------------------------


class Troubled(Recorder):
    trouble: int = 1

    async def settle(self, response: ToolResponse) -> None:
        if self.trouble and response.call_id == "hist_tool_a":
            self.trouble -= 1
            raise OSError("disk full")
        await super().settle(response)

    def publish(self, call: ToolCall, response: ToolResponse) -> None:
        super().publish(call, response)
        if call.id == "hist_tool_b":
            raise RuntimeError("the window is gone")


async def test_a_commit_that_fails_forces_the_call_to_an_error_and_the_loop_survives() -> None:
    log, notes = Troubled(), list[ToolNote]()
    forced = bad("a", "The tool ran, but how the call ended could not be recorded: OSError: disk full", "good")
    responses = await scheduler([instant("good")], notes=notes).run([call(key, "good") for key in "abc"], log)
    assert list(responses) == [forced, ok("b", "ok", "good"), ok("c", "ok", "good")]
    assert log.settled[call("a").id] == forced
    assert log.published == ["hist_tool_a", "hist_tool_b", "hist_tool_c"]
    assert {note.kind for note in notes} == {NoteKind.NOT_COMMITTED, NoteKind.NOT_PUBLISHED}


async def test_a_commit_that_fails_for_good_still_ends_the_call() -> None:
    log, notes = Troubled(), list[ToolNote]()
    log.trouble = 99
    log.publish = lambda call, response: log.published.append(call.id)
    responses = await scheduler([instant("good")], notes=notes).run([call(key, "good") for key in "ab"], log)
    assert [response.error is None for response in responses] == [False, True]
    assert (list(log.settled), log.published) == (["hist_tool_b"], ["hist_tool_a", "hist_tool_b"])
    assert [note.kind for note in notes] == [NoteKind.NOT_COMMITTED] * 2


async def test_a_start_that_cannot_be_recorded_does_not_happen() -> None:
    class Unstartable(Recorder):
        async def started(self, call: ToolCall, digest: str) -> None:
            raise OSError("disk full")

    stage, log = Stage(), Unstartable()
    responses = await scheduler([stage.tool()]).run([call("a")], log)
    assert list(responses) == [bad("a", "The tool 'hold' did not run: OSError: disk full")]
    assert stage.began == []


async def test_progress_is_passed_on_while_the_tool_runs() -> None:
    log = Recorder()

    @tool(kind=ToolKind.READ)
    async def talk(context: ToolContext) -> str:
        context.progress("half")
        await anyio.lowlevel.checkpoint()
        return "all"

    await scheduler([talk]).run([call("a", "talk")], log)
    assert log.heard == [("hist_tool_a", "half")]


@pytest.mark.req("REQ-915-033")
async def test_one_function_hands_every_end_of_a_call_to_the_log() -> None:
    places: list[str] = []
    for path in sorted(Path(legato.tools.__file__).parent.rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.AsyncFunctionDef | ast.FunctionDef):
                calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
                if any(isinstance(one.func, ast.Attribute) and one.func.attr == "settle" for one in calls):
                    places.append(f"{path.stem}.{function.name}")
    assert places == ["batch._commit"]


async def test_an_empty_batch_is_no_work() -> None:
    assert await scheduler([]).run([], Recorder()) == ()


async def test_a_scheduler_that_could_run_nothing_is_refused() -> None:
    with pytest.raises(CallerError):
        scheduler([], limit=0)
