"""One loop, one scheduler, one way into the log: a session used by hand, a one-shot run and a subagent are the same."""

import ast
import inspect
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest

import legato
from legato.model import (
    CallId,
    Foreign,
    JsonObject,
    Record,
    Speaker,
    ThinkingPolicy,
    ToolCall,
    ToolResponse,
    ToolSpec,
)
from legato.model.records import Recorded, Started, TurnOutcome
from legato.request import render
from legato.session import Limits, Session, Spending, events, run, synchronous, task_tool
from legato.simulation import Seen, SimulatedTransport
from legato.store.memory import MemoryStore
from legato.tools import Approval, Mode, NoteKind, Tool, ToolBox, ToolContext, ToolKind, ToolNote, run_tool
from session_support import CLAUDE, GPT, PATH, Library, Workshop, session, told, until, world

from builders import ROUTES

FIVE = "use hold_file on a, b, c, d and e"
SOURCE = Path(legato.__file__).parent


class Barrier:
    """A tool whose calls return only when all `size` of them run at once; then in the order that is asked for."""

    def __init__(self, size: int, *, backwards: bool = False) -> None:
        self.size = size
        self.running = 0
        self.order: list[str] = []
        self._full = anyio.Event()
        self._backwards = backwards
        self._ended: dict[int, anyio.Event] = {}
        self.tool = Tool(spec=ToolSpec("hold_file", "Hold a file.", PATH), run=self._hold, kind=ToolKind.READ)

    async def _hold(self, arguments: JsonObject, _: ToolContext) -> object:
        place = self.running
        self.running += 1
        if self.running == self.size:
            self._full.set()
        with anyio.fail_after(60):
            await self._full.wait()
            if self._backwards and place + 1 < self.size:
                await self._ended.setdefault(place + 1, anyio.Event()).wait()
        self.order.append(arguments["path"])
        self._ended.setdefault(place, anyio.Event()).set()
        return {"held": arguments["path"]}


class Face(NamedTuple):
    """What one face left behind."""

    log: Sequence[Record]
    requests: list[Seen]
    text: str


def by_hand(tool: Tool, **settings: Any) -> Face:
    transport = SimulatedTransport()

    async def interact() -> Face:
        async with session(tools=[tool], world=world(transport), **settings) as talk:
            turn = talk.send(FIVE)
            async for _ in turn:
                pass
            return Face(talk.talk.log, transport.requests, (await turn).text)

    return anyio.run(interact)


def one_shot(tool: Tool, **settings: Any) -> Face:
    transport = SimulatedTransport()
    made: list[Session] = []

    class Noted(Session):
        def __init__(self, *arguments: Any, **more: Any) -> None:
            super().__init__(*arguments, **more)
            made.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(synchronous, "Session", Noted)
        approval = Approval(Mode.NEVER)
        result = run(FIVE, CLAUDE, tools=[tool], world=world(transport), approval=approval, **settings)
    return Face(made[0].talk.log, transport.requests, result.text)


def subagent(tool: Tool, **settings: Any) -> Face:
    transport, parents = SimulatedTransport(), SimulatedTransport()
    made: list[Session] = []

    class Noted(Session):
        def __init__(self, *arguments: Any, **more: Any) -> None:
            super().__init__(*arguments, **more)
            made.append(self)

    async def delegate() -> str:
        approval = Approval(Mode.NEVER)
        task = task_tool(CLAUDE, tools=ToolBox([tool]), world=world(transport), approval=approval, **settings)
        async with session(tools=[task], world=world(parents)) as talk:
            await talk.send(f'call task with {{"prompt": "{FIVE}"}}')
            done = [record.entry for record in talk.talk.log if isinstance(record, Recorded)]
            response = next(entry.blocks[0] for entry in done if entry.speaker is Speaker.TOOL)
            assert isinstance(response, ToolResponse)
            return str(response.result)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(task_tool.__globals__, "Session", Noted)
        text = anyio.run(delegate)
    return Face(made[0].talk.log, transport.requests, text)


FACES: dict[str, Callable[..., Face]] = {"by hand": by_hand, "one-shot": one_shot, "subagent": subagent}


def _in_call_order(log: Sequence[Record]) -> list[Record]:
    """`log` with what parallel calls left in it sorted: starts and results, each in call order."""
    order = [call.id for record in log if isinstance(record, Recorded) for call in record.entry.calls]

    def place(record: Record) -> int | None:
        if isinstance(record, Started):
            return order.index(record.call)
        if isinstance(record, Recorded) and isinstance(record.entry.blocks[0], ToolResponse):
            return len(order) + order.index(record.entry.blocks[0].call_id)
        return None

    result: list[Record] = []
    batch: list[tuple[int, Record]] = []
    for record in log:
        where = place(record)
        if where is not None:
            batch.append((where, record))
        else:
            result += [item for _, item in sorted(batch, key=lambda pair: pair[0])]
            batch = []
            result.append(record)
    return result


@pytest.mark.req("REQ-915-029", "REQ-915-032", "REQ-915-033", "REQ-915-045")
def test_the_same_turn_through_three_faces_leaves_the_same_log_and_sends_the_same_bodies() -> None:
    left = {name: face(Barrier(5).tool) for name, face in FACES.items()}
    logs = {name: list(face.log) for name, face in left.items()}
    assert logs["one-shot"] == logs["by hand"]
    assert logs["subagent"] == logs["by hand"]
    bodies = {name: [seen.body for seen in face.requests] for name, face in left.items()}
    assert bodies["one-shot"] == bodies["by hand"]
    assert bodies["subagent"] == bodies["by hand"]
    assert len({face.text for face in left.values()}) == 1
    assert all(seen.refusal is None for face in left.values() for seen in face.requests)


@pytest.mark.req("REQ-915-045")
def test_the_order_in_which_parallel_calls_finish_changes_neither_the_next_request_nor_the_rest_of_the_log() -> None:
    forwards, backwards = Barrier(5), Barrier(5, backwards=True)
    one, other = by_hand(forwards.tool), subagent(backwards.tool)
    assert (forwards.order, backwards.order) == (list("abcde"), list("edcba"))
    assert [seen.body for seen in one.requests] == [seen.body for seen in other.requests]
    assert list(one.log) != list(other.log)
    assert _in_call_order(one.log) == _in_call_order(other.log)


@pytest.mark.req("REQ-915-031")
@pytest.mark.parametrize("face", FACES)
def test_five_calls_of_one_answer_run_at_once_in_every_face(face: str) -> None:
    barrier = Barrier(5)
    FACES[face](barrier.tool)  # none of them returns before all of them run
    assert (barrier.running, sorted(barrier.order)) == (5, list("abcde"))


@pytest.mark.req("REQ-915-031")
@pytest.mark.parametrize(("parallel", "most"), [(1, 1), (2, 2), (8, 5)])
def test_as_many_calls_overlap_as_the_limit_allows(parallel: int, most: int) -> None:
    async def scenario() -> None:
        shop = Workshop()
        async with session(tools=[shop.hold], limits=Limits(parallel=parallel)) as talk:
            turn = talk.send(FIVE)
            for done in range(5):
                await shop.until(lambda: len(shop.began) == min(5, done + most))  # noqa: B023
                shop.release(shop.began[done])
            await turn
        assert shop.most == most

    anyio.run(scenario)


@pytest.mark.req("REQ-915-032")
@pytest.mark.parametrize("route", ROUTES)
def test_what_goes_back_after_a_batch_are_results_alone(route: str) -> None:
    """The log holds one entry for each result, with nothing in it but the response; a call cannot come in with it."""

    async def scenario() -> Sequence[Record]:
        async with session(route, tools=[Library().read]) as talk:
            await talk.send("use read_file on a.txt and b.txt")
            return talk.talk.log

    log = anyio.run(scenario)
    tools = [record.entry for record in log if isinstance(record, Recorded) and record.entry.speaker is Speaker.TOOL]
    assert len(tools) == 2
    assert [[type(block) for block in entry.blocks] for entry in tools] == [[ToolResponse]] * 2


@pytest.mark.req("REQ-915-032")
@pytest.mark.parametrize("has_begun", [True, False])
def test_what_stands_for_calls_that_were_cancelled_are_results_alone_too(has_begun: bool) -> None:
    async def scenario() -> Sequence[Record]:
        shop = Workshop()
        async with session(tools=[shop.hold], limits=Limits(parallel=2)) as talk:
            turn = talk.send(FIVE)
            if has_begun:
                await shop.until(lambda: len(shop.running) == 2)
                turn.cancel()
            async for event in turn:
                if isinstance(event, events.CallsMade):
                    turn.cancel()
            await turn
            assert bool(shop.began) is has_begun
            return talk.talk.log

    log = anyio.run(scenario)
    tools = [record.entry for record in log if isinstance(record, Recorded) and record.entry.speaker is Speaker.TOOL]
    assert [[type(block) for block in entry.blocks] for entry in tools] == [[ToolResponse]] * 5


@pytest.mark.req("REQ-915-030")
def test_each_session_and_each_subagent_has_a_scheduler_of_its_own_for_as_long_as_it_lives() -> None:
    made: list[Session] = []

    class Noted(Session):
        def __init__(self, *arguments: Any, **more: Any) -> None:
            super().__init__(*arguments, **more)
            made.append(self)

    async def scenario() -> None:
        simulated = world()
        task = task_tool(CLAUDE, tools=ToolBox([Library().read]), world=simulated, approval=Approval(Mode.NEVER))
        async with session(tools=[task], world=simulated) as talk:
            before = talk.scheduler
            prompt = '{"prompt": "use read_file on a.txt"}'
            await talk.send(f"call task with {prompt} and {prompt}")
            await talk.send("Hello")
            assert talk.scheduler is before
        assert len({id(one.scheduler) for one in [talk, *made]}) == 3

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(task_tool.__globals__, "Session", Noted)
        anyio.run(scenario)


@pytest.mark.req("REQ-915-035")
def test_where_there_is_no_loop_one_tool_runs_by_itself() -> None:
    library = Library()
    output = anyio.run(run_tool, library.read, {"path": "a.txt"})
    assert (output.result, output.error) == ("contents of a.txt", None)


# --- one function commits ---------------------------------------------------------------------------------------------


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{node.name}", node
            yield from _functions(node, f"{prefix}{node.name}.")
        else:
            yield from _functions(node, prefix)


def _calls_on(function: ast.AST, receiver: str, *methods: str) -> bool:
    """Whether `function` calls one of `methods` on something whose name ends with `receiver`."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in methods
        and ast.unparse(node.func.value).endswith(receiver)
        for node in ast.walk(function)
    )


def _mentions(function: ast.AST, *names: str) -> bool:
    return any(
        (isinstance(node, ast.Name) and node.id in names) or (isinstance(node, ast.Attribute) and node.attr in names)
        for node in ast.walk(function)
    )


def _found(is_so: Callable[[ast.AST], bool], *, word: str, below: str = "") -> list[str]:
    """The functions of which it is so, in the files that hold `word` at all."""
    return [
        f"{path.relative_to(SOURCE).with_suffix('')}: {name}"
        for path in sorted((SOURCE / below).rglob("*.py"))
        if word in (text := path.read_text())
        for name, function in _functions(ast.parse(text))
        if is_so(function)
    ]


@pytest.mark.req("REQ-915-033", "REQ-915-034")
def test_exactly_one_function_commits_a_tool_response_to_a_journal() -> None:
    def commits_results(function: ast.AST) -> bool:
        return _calls_on(function, "journal", "record", "write") and _mentions(function, "ToolResponse", "TOOL")

    commits = _found(commits_results, word="journal")
    assert commits == ["session/batch_log: SessionBatchLog.settle"]


@pytest.mark.req("REQ-915-033")
def test_the_journal_alone_writes_to_the_conversation_of_a_session() -> None:
    writes = ("apply", "record", "result", "human", "load")
    writers = _found(lambda function: _calls_on(function, "talk", *writes), word="talk.", below="session")
    # A summary is asked for in a conversation of its own.
    assert [name for name in writers if "summariser" not in name] == ["session/journal: Journal.write"]


# --- cancellation -----------------------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-011", "REQ-915-012", "REQ-915-034", "REQ-915-044")
@pytest.mark.parametrize("first", ROUTES)
def test_five_calls_one_completion_cancelled_are_one_real_and_four_closed_for_every_family(first: str) -> None:
    async def scenario() -> None:
        transport, shop = SimulatedTransport(), Workshop()
        async with session(first, tools=[shop.hold], world=world(transport)) as talk:
            turn = talk.send(FIVE)
            await shop.until(lambda: shop.running == set("abcde"))
            shop.release("b")
            await until(lambda: "b done" in told(talk.talk.log))
            turn.cancel()
            assert (await turn).outcome is TurnOutcome.CANCELLED
            assert len(transport.requests) == 1, "no request follows, and still everything is committed"
            ends = sorted(line for line in told(talk.talk.log) if line[1:].startswith((" done", " closed")))
            assert ends == [f"{path} closed: running-when-cancelled" if path != "b" else "b done" for path in "abcde"]
            for route in ROUTES:
                report = render(talk.talk, talk.world.target(route), tools=talk.tools.specs).report
                assert [call.completion for call in report.emitted][:5] == [
                    "cancelled",
                    "success",
                    "cancelled",
                    "cancelled",
                    "cancelled",
                ]
                await talk.switch(route)
                assert "held b" in (await talk.send("What did the second tool return?")).text
        assert transport.refusals == []

    anyio.run(scenario)


# --- subagents --------------------------------------------------------------------------------------------------------


OF_ONE_SESSION = {"conversation", "session_id", "reports", "asker"}
"""what a subagent has no use for: it begins anew, under an id of its own, is watched through its parent, and asks for
approval in the words that describe it"""


@pytest.mark.req("REQ-915-029")
def test_a_subagent_can_be_told_all_that_a_session_can() -> None:
    of_session, of_subagent = (set(inspect.signature(made).parameters) for made in (Session, task_tool))

    assert of_session - of_subagent == OF_ONE_SESSION


class Printer:
    """A tool that puts out more than a model is shown."""

    def __init__(self) -> None:
        self.tool = Tool(spec=ToolSpec("hold_file", "Hold a file.", PATH), run=self._print, kind=ToolKind.READ)

    async def _print(self, arguments: JsonObject, _: ToolContext) -> object:
        return f"line of {arguments['path']}\n" * 50_000


@pytest.mark.req("REQ-915-029", "REQ-915-045")
def test_long_outputs_are_kept_and_thoughts_treated_in_the_same_way_in_every_face() -> None:
    def through(face: str) -> tuple[Any, ...]:
        kept: dict[str, str] = {}

        def keep(text: str, call: ToolCall) -> str:
            kept[str(call.arguments["path"])] = text
            return f"/kept/{call.arguments['path']}"

        left = FACES[face](Printer().tool, spill=keep, thinking=ThinkingPolicy(foreign=Foreign.TEXT))
        results = left.requests[-1].json["messages"][-1]["content"]
        return kept, [block["content"] for block in results], len(left.log)

    first = through("by hand")

    assert sorted(first[0]) == ["a", "b", "c", "d", "e"]
    assert all(f"/kept/{path}" in str(result) for path, result in zip("abcde", first[1], strict=True))
    assert through("one-shot") == first
    assert through("subagent") == first


@pytest.mark.req("REQ-915-029")
def test_the_log_of_a_subagent_is_stored_as_a_session_that_names_its_parent() -> None:
    async def scenario() -> None:
        store, simulated, library = MemoryStore(), world(), Library()
        talks: list[Session] = []
        task = task_tool(
            GPT,
            tools=ToolBox([library.read]),
            world=simulated,
            approval=Approval(Mode.NEVER),
            store=store,
            parent=lambda: talks[0].id,
            meta={"cwd": "/somewhere"},
        )
        async with session(tools=[task], world=simulated, store=store) as talk:
            talks.append(talk)
            await talk.send('call task with {"prompt": "use read_file on a.txt", "description": "look into a"}')
        (child,) = [one for one in await store.list() if one.id != talk.id]
        (call,) = [call for record in talk.talk.log if isinstance(record, Recorded) for call in record.entry.calls]

        assert (child.subagent_of, child.title, child.cwd, child.meta["call"]) == (
            talk.id,
            "look into a",
            "/somewhere",
            call.id,
        )
        lines = told(await store.read(child.id))
        assert lines[2:4] == [f"turn 1 began on {GPT}: message", f"step 1 began on {GPT}, attempt 1"]
        assert lines[-1] == "turn 1 ended: done"
        copy = await store.describe(await store.fork(child.id))
        assert (copy.subagent_of, copy.parent) == (None, child.id)

    anyio.run(scenario)


def test_nothing_of_a_subagent_but_its_last_words_reaches_the_log_of_its_parent() -> None:
    async def scenario() -> None:
        parents, childrens, library = SimulatedTransport(), SimulatedTransport(), Library()
        seen: list[tuple[CallId, events.Event]] = []
        spending = Spending()
        task = task_tool(
            GPT,
            tools=ToolBox([library.read]),
            world=world(childrens),
            approval=Approval(Mode.NEVER),
            spending=spending,
            watch=lambda context, event: seen.append((context.call_id, event)),
        )
        async with session(tools=[task, library.read], world=world(parents), spending=spending) as talk:
            result = await talk.send('call task with {"prompt": "use read_file on secret.txt"}')
        assert told(talk.talk.log)[4:8] == ["ai calls task", "started task", "task done", "step 1 ended"]
        assert library.read_paths == ["secret.txt"]
        assert "contents of secret.txt" in result.text
        names = [call.name for record in talk.talk.log if isinstance(record, Recorded) for call in record.entry.calls]
        assert names == ["task"]
        assert {seen.provider for seen in parents.requests} == {"anthropic"}
        assert {seen.provider for seen in childrens.requests} == {"openai"}
        assert any(isinstance(event, events.ToolBegan) for _, event in seen), "whoever watches sees what it does"
        assert len({call for call, _ in seen}) == 1
        assert set(talk.spending.by_route) == {CLAUDE, GPT}, "what it cost is counted with the parent's"
        assert result.cost == pytest.approx(talk.spending.cost)

    anyio.run(scenario)


def test_subagents_run_side_by_side() -> None:
    async def scenario() -> None:
        barrier, simulated = Barrier(3), world()
        task = task_tool(GPT, tools=ToolBox([barrier.tool]), world=simulated, approval=Approval(Mode.NEVER))
        async with session(tools=[task], world=simulated) as talk:
            prompts = ", ".join(f'{{"prompt": "use hold_file on {name}"}}' for name in "abc")
            await talk.send(f"call task with {prompts}")
        assert sorted(barrier.order) == ["a", "b", "c"]

    anyio.run(scenario)


def test_a_subagent_is_not_offered_the_task_tool() -> None:
    async def scenario() -> None:
        childrens = SimulatedTransport()
        box = ToolBox([Library().read])
        task = task_tool(GPT, tools=box, world=world(childrens), approval=Approval(Mode.NEVER))
        nested = task_tool(GPT, tools=box.extended([task]), world=world(childrens), approval=Approval(Mode.NEVER))
        async with session(tools=[nested]) as talk:
            await talk.send('call task with {"prompt": "Hello"}')
        offered = [tool["function"]["name"] for tool in childrens.requests[0].json["tools"]]
        assert offered == ["read_file"]

    anyio.run(scenario)


@pytest.mark.req("REQ-915-034")
@pytest.mark.parametrize("stubborn", [False, True])
def test_the_cancellation_of_the_parent_reaches_a_subagent_and_its_tools(stubborn: bool) -> None:
    async def scenario() -> None:
        shop, notes = Workshop(stubborn=stubborn), list[ToolNote]()
        children: list[Session] = []

        class Noted(Session):
            def __init__(self, *arguments: Any, **more: Any) -> None:
                super().__init__(*arguments, **more)
                children.append(self)

        simulated = world()
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(task_tool.__globals__, "Session", Noted)
            task = task_tool(
                GPT,
                tools=ToolBox([shop.hold]),
                world=simulated,
                approval=Approval(Mode.NEVER),
                limits=Limits(grace=0.05),
            )
            async with session(tools=[task], world=simulated, limits=Limits(grace=30), noted=notes.append) as talk:
                turn = talk.send('call task with {"prompt": "use hold_file on a and b"}')
                await shop.until(lambda: shop.running == {"a", "b"})
                turn.cancel()
                with anyio.fail_after(60):
                    assert (await turn).outcome is TurnOutcome.CANCELLED
                assert sorted(shop.cancelled) == ["a", "b"]
        assert told(talk.talk.log)[-3:] == [
            "task closed: running-when-cancelled",
            "step 1 ended",
            "turn 1 ended: cancelled",
        ]
        assert told(children[0].talk.log)[-4:] == [
            "a closed: running-when-cancelled",
            "b closed: running-when-cancelled",
            "step 1 ended",
            "turn 1 ended: cancelled",
        ]
        assert [note.kind for note in notes if note.kind is NoteKind.LATE_RETURN] == []
        shop.release("a", "b")

    anyio.run(scenario)


def test_a_subagent_that_fails_is_a_failed_call_of_its_parent() -> None:
    async def scenario() -> None:
        simulated = world()
        task = task_tool(
            GPT, tools=ToolBox(), world=simulated, approval=Approval(Mode.NEVER), limits=Limits(max_turns=0)
        )
        async with session(tools=[task], world=simulated) as talk:
            result = await talk.send('call task with {"prompt": "Hello"} and {"prompt": "fail with 402"}')
        assert told(talk.talk.log)[7:9] == ["task failed", "task failed"]
        assert "the subagent ended early: the limit of 0 requests" in result.text

    anyio.run(scenario)
