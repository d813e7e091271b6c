"""What a session does beside turns: odd answers, progress, undo, compaction by hand, and leaving things tidy."""

from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from legato.errors import CallerError, ContextTooLong, RenderError
from legato.model import Answer, Ending, Entry, JsonObject, Options, Speaker, Text, ThinkingSwitch, ToolSpec
from legato.model.records import TurnOutcome
from legato.routing import Route
from legato.session import Limits, Session, State, ToolHistory, World, task_tool
from legato.session import events as shown
from legato.session.compaction.tool_history import Compaction
from legato.simulation import FaultKind, Faults, InjectedFault, SimulatedTransport, SimulatedWorld
from legato.store.memory import MemoryStore
from legato.tools import Approval, Tool, ToolBox, ToolContext, ToolKind
from legato.transcript import Conversation
from legato.transport import HttpTransport, WireRequest, WireResponse, whole_response
from legato.wire.openai_responses import DIALECT
from session_support import CLAUDE, GEMINI, GPT, MISTRAL, PATH, HeldTransport, Library, Workshop, session, told, world

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Scripted:
    """A provider of the Anthropic family that says what a test wants, one answer after the other."""

    def __init__(self, *answers: tuple[list[JsonObject], str]) -> None:
        self.answers = list(answers)
        self.sent: list[WireRequest] = []

    async def send(self, request: WireRequest) -> WireResponse:
        import msgspec

        self.sent.append(request)
        content, reason = self.answers.pop(0)
        body = {
            "id": f"msg_{len(self.sent)}",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
            "content": content,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }
        return whole_response(200, msgspec.json.encode(body))


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


# --- odd answers ------------------------------------------------------------------------------------------------------


async def test_a_provider_that_only_paused_is_asked_to_go_on() -> None:
    transport = Scripted(([text("Half of")], "pause_turn"), ([text("the answer")], "end_turn"))
    async with session(world=world(transport)) as talk:
        result = await talk.send("Hello")
    assert (result.outcome, result.steps, result.text) == (TurnOutcome.DONE, 2, "Half of\nthe answer")
    assert [line for line in told(talk.talk.log) if line.startswith(("human", "ai"))] == [
        "human: Hello",
        "ai paused",
        "human: Continue.",
        "ai done",
    ]


@pytest.mark.parametrize(
    ("reason", "ending", "outcome", "detail"),
    [
        ("end_turn", Ending.DONE, TurnOutcome.DONE, ""),
        ("stop_sequence", Ending.DONE, TurnOutcome.DONE, ""),
        ("max_tokens", Ending.LENGTH, TurnOutcome.INCOMPLETE, "the answer was cut at the output limit"),
        (
            "model_context_window_exceeded",
            Ending.LENGTH,
            TurnOutcome.INCOMPLETE,
            "the answer was cut at the output limit",
        ),
        ("refusal", Ending.REFUSED, TurnOutcome.REFUSED, "the model refused to answer"),
    ],
)
async def test_how_an_answer_ended_is_in_the_result_the_events_and_the_log(
    reason: str, ending: Ending, outcome: TurnOutcome, detail: str
) -> None:
    async with session(world=world(Scripted(([text("Half of")], reason)))) as talk:
        turn = talk.send("Hello")
        seen = [event async for event in turn]
        result = await turn
        assert talk.state is State.IDLE

    (step,) = [event for event in seen if isinstance(event, shown.StepFinished)]
    (last,) = [event for event in seen if isinstance(event, shown.TurnFinished)]
    assert (result.outcome, result.ending, result.text) == (outcome, ending, "Half of")
    assert (step.ending, last.ending, last.outcome, last.detail) == (ending, ending, outcome, result.detail)
    assert result.detail.startswith(detail)
    assert told(talk.talk.log)[-1] == f"turn 1 ended: {outcome}"


@pytest.mark.parametrize(
    ("route", "words", "outcome"),
    [
        (route, words, outcome)
        for route in (CLAUDE, GPT, GEMINI, MISTRAL, "openai-responses/gpt-5", "vercel-gateway/openai/gpt-5")
        for words, outcome in (
            ("run out of tokens", TurnOutcome.INCOMPLETE),
            ("refuse to answer", TurnOutcome.REFUSED),
            ("hello", TurnOutcome.DONE),
        )
    ],
)
async def test_whatever_a_provider_calls_it_an_answer_that_is_not_whole_is_not_done(
    route: str, words: str, outcome: TurnOutcome
) -> None:
    async with session(route) as talk:
        assert (await talk.send(words)).outcome is outcome


@pytest.mark.parametrize("ending", [Ending.CUT, Ending.CANCELLED])
async def test_an_answer_that_its_provider_broke_off_is_not_done(ending: Ending) -> None:
    class Breaking:
        async def send(self, request: WireRequest) -> WireResponse:
            import msgspec

            answer = Answer(Entry(Speaker.AI, (Text("Half of"),), ending=ending))
            return whole_response(200, msgspec.json.encode(DIALECT.reply(answer, request.target.model)))

    async with session("openai-responses/gpt-5", world=world(Breaking())) as talk:
        result = await talk.send("Hello")

    assert (result.outcome, result.ending, result.text) == (TurnOutcome.INCOMPLETE, ending, "Half of")


async def test_a_provider_that_paused_and_then_was_cut_gave_one_answer_that_is_not_whole() -> None:
    transport = Scripted(([text("Half of")], "pause_turn"), ([text("the ans")], "max_tokens"))
    async with session(world=world(transport)) as talk:
        result = await talk.send("Hello")

    assert (result.outcome, result.text) == (TurnOutcome.INCOMPLETE, "Half of\nthe ans")


async def test_a_subagent_whose_answer_is_not_whole_tells_its_parent() -> None:
    tool = task_tool(CLAUDE, tools=ToolBox(()), world=world(), approval=Approval())
    async with session(tools=[tool]) as talk:
        await talk.send('call task with {"prompt": "run out of tokens"}')
        (entry,) = [entry for entry in talk.talk.entries if entry.speaker is Speaker.TOOL]

    assert "the subagent ended early: the answer was cut" in str(entry.blocks[0])


async def test_an_answer_that_only_thought_says_so_in_a_notice() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    async with session(world=world(Scripted(([thought], "end_turn")))) as talk:
        turn = talk.send("Hello")
        notices = [event.text async for event in turn if isinstance(event, shown.Notice)]
        assert (await turn).outcome is TurnOutcome.DONE
    assert notices == ["the model thought, but said nothing; ask it to go on"]


async def test_truncated_arguments_are_a_failed_call_and_nothing_is_run() -> None:
    library = Library()
    transport = SimulatedTransport(SimulatedWorld(faults=Faults([FaultKind.TRUNCATED])))
    async with session(GPT, tools=[library.read], world=world(transport)) as talk:
        result = await talk.send("use read_file on a.txt")
        entries = [entry for entry in talk.talk.entries if entry.speaker is Speaker.TOOL]
    assert "break off" in str(entries[0].blocks[0])
    assert library.read_paths == []
    assert (result.outcome, transport.refusals) == (TurnOutcome.DONE, [])


async def test_a_request_that_a_provider_would_refuse_never_leaves() -> None:
    transport = SimulatedTransport()
    async with session(world=world(transport), options=Options(extra={"max_tokens": 0})) as talk:
        with pytest.raises(RenderError, match="would be refused") as caught:
            await talk.send("Hello")
        assert talk.state is State.IDLE
    assert transport.requests == []
    assert caught.value.facts["violations"][0]["rule"] == "anthropic/max-tokens"
    assert told(talk.talk.log)[-1] == "turn 1 ended: failed"


# --- what is shown ----------------------------------------------------------------------------------------------------


async def test_the_progress_of_a_tool_is_shown_while_it_runs() -> None:
    async def tell(_: JsonObject, context: ToolContext) -> object:
        for piece in ("one ", "two"):
            context.progress(piece)
            await anyio.sleep(0.001)
        return "done"

    teller = Tool(spec=ToolSpec("tell_file", "Tell.", PATH), run=tell, kind=ToolKind.READ)
    async with session(tools=[teller]) as talk:
        turn = talk.send("use tell_file on a")
        seen = [event async for event in turn]
    assert [event.text for event in seen if isinstance(event, shown.ToolProgress)] == ["one ", "two"]


async def test_a_step_says_which_calls_it_closed_and_why() -> None:
    transport = SimulatedTransport(SimulatedWorld(faults=Faults([InjectedFault(FaultKind.CUT, after=7)])))
    async with session(tools=[Library().read], world=world(transport)) as talk:
        await talk.send("use read_file on a.txt").ended()
        turn = talk.send("Hello")
        steps = [event async for event in turn if isinstance(event, shown.StepStarted)]
    assert [list(step.closed.values()) for step in steps] == [["not-started"]]


# --- history ----------------------------------------------------------------------------------------------------------


async def test_undo_takes_messages_and_what_followed_them_out_of_the_view() -> None:
    async with session(tools=[Library().read]) as talk:
        assert await talk.undo() is False
        with pytest.raises(CallerError, match="at least one"):
            await talk.undo(0)
        for name in ("one", "two", "three"):
            await talk.send(f"use read_file on {name}.txt")
        assert await talk.undo(2) is True
        assert [entry.text for entry in talk.talk.entries if entry.speaker is Speaker.HUMAN] == [
            "use read_file on one.txt"
        ]
        result = await talk.send("What did the last tool return?")
        assert "contents of one.txt" in result.text
        assert await talk.undo(99) is True
        assert talk.talk.entries == []


async def test_history_is_not_changed_under_a_turn() -> None:
    shop = Workshop()
    async with session(tools=[shop.hold]) as talk:
        turn = talk.send("use hold_file on a")
        await shop.until(lambda: shop.running)
        for attempt in (talk.undo, talk.compact):
            with pytest.raises(CallerError, match="a turn is under way"):
                await attempt()
        with pytest.raises(CallerError, match="a turn is under way"):
            talk.ask_again()
        shop.release("a")
        await turn


async def test_compaction_by_hand_tells_what_it_did_and_the_conversation_goes_on() -> None:
    transport = SimulatedTransport()
    async with session(tools=[Library().read], world=world(transport)) as talk:
        assert await talk.compact() is None
        for number in range(12):
            await talk.send(f"use read_file on {'long-' * 60}{number}.txt")
        done = await talk.compact()
        assert done is not None
        assert done.after < done.before
        assert (await talk.send("Hello")).outcome is TurnOutcome.DONE
    assert any(line.startswith("compacted") for line in told(talk.talk.log))
    assert transport.refusals == []


class Measured(ToolHistory):
    """A history that notes the options it is asked to measure with."""

    def __init__(self) -> None:
        super().__init__()
        self.options: list[Options] = []

    async def make_room(self, *arguments: Any, **settings: Any) -> Compaction | None:
        self.options.append(settings["options"])
        return await super().make_room(*arguments, **settings)

    async def compact_now(self, *arguments: Any, **settings: Any) -> Compaction | None:
        self.options.append(settings["options"])
        return await super().compact_now(*arguments, **settings)


async def test_compaction_by_hand_measures_with_the_options_of_the_next_request() -> None:
    general = Options(stream=True, max_tokens=700, thinking=ThinkingSwitch.ON, thinking_budget=1_024)
    own = Route(CLAUDE, options=Options(max_tokens=2_000))
    history = Measured()
    async with session(own, options=general, history=history) as talk:
        await talk.send("Hello")
        await talk.compact()
        await talk.switch(GPT)
        await talk.compact()
    assert history.options == [replace(general, max_tokens=2_000)] * 2 + [general]


async def test_a_message_that_no_window_holds_is_not_sent() -> None:
    transport = SimulatedTransport()
    async with session(GPT, world=world(transport)) as talk:
        with pytest.raises(ContextTooLong, match="nothing more can be left out") as caught:
            await talk.send("x" * 1_200_000)
        assert (talk.state, caught.value.facts["route"]) == (State.IDLE, GPT)
        assert await talk.undo() is True
        assert (await talk.send("Hello")).outcome is TurnOutcome.DONE
    assert len(transport.requests) == 1


async def test_a_conversation_that_is_given_is_the_one_that_goes_on() -> None:
    mine = Conversation()
    async with session(conversation=mine) as talk:
        await talk.send("Hello")
    assert talk.talk is mine
    assert len(mine) > 0


async def test_tools_that_were_offered_with_a_request_are_those_that_its_calls_run_with() -> None:
    library = Library()
    transport = HeldTransport(SimulatedTransport())
    transport.hold(0, after=2)
    async with session(tools=[library.read], world=world(transport)) as talk:
        turn = talk.send("use read_file on a.txt")
        await transport.reached.wait()
        talk.tools = talk.tools.without(["read_file"])
        transport.release()
        await turn
    assert library.read_paths == ["a.txt"]


# --- leaving ----------------------------------------------------------------------------------------------------------


async def test_a_session_closes_the_connections_that_it_made_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[Any] = []

    async def note(transport: HttpTransport) -> None:
        closed.append(transport)

    monkeypatch.setattr(HttpTransport, "aclose", note)
    async with Session(CLAUDE) as own:
        pass
    assert closed == [own.world.transport]
    shared = World(transport=HttpTransport())
    async with Session(CLAUDE, world=shared):
        pass
    assert closed == [own.world.transport]


async def test_a_session_can_be_opened_again_and_costs_are_not_counted_twice() -> None:
    talk = session(store=MemoryStore())
    async with talk:
        first = await talk.send("Hello")
    with pytest.raises(CallerError, match="not open"):
        talk.send("Hello")
    async with talk:
        second = await talk.send("Hello")
    assert talk.spending.cost == pytest.approx((first.cost or 0.0) + (second.cost or 0.0))
    assert [line for line in told(talk.talk.log) if line.startswith("opened")] == ["opened 1", "opened 2"]


async def test_a_message_that_waits_behind_a_cancelled_turn_is_kept_when_the_session_is_left() -> None:
    shop = Workshop()
    async with session(tools=[shop.hold], limits=Limits(grace=30)) as talk:
        first = talk.send("use hold_file on a")
        await shop.until(lambda: shop.running)
        first.cancel()
        second = talk.send("Hello")
    assert (await second).outcome is TurnOutcome.CANCELLED
    assert told(talk.talk.log)[-3:] == [
        "human: Hello",
        f"turn 2 began on {CLAUDE}: message",
        "turn 2 ended: cancelled",
    ]


async def test_when_something_else_breaks_the_session_its_turns_still_come_to_their_ends() -> None:
    shop = Workshop()
    talk = session(tools=[shop.hold], limits=Limits(grace=30))
    turns: list[Any] = []

    async def crash() -> None:
        raise RuntimeError("a fault of ours")

    with pytest.raises(ExceptionGroup):
        async with talk:
            turns.append(talk.send("use hold_file on a"))
            await shop.until(lambda: shop.running)
            turns[0].cancel()
            turns.append(talk.send("Hello"))
            assert talk._group is not None
            talk._group.start_soon(crash)
            await anyio.sleep_forever()
    assert [(await turn).outcome for turn in turns] == [TurnOutcome.CANCELLED] * 2
    assert told(talk.talk.log)[-2:] == ["a closed: running-when-cancelled", "turn 1 ended: cancelled"]
    assert talk.state is State.IDLE


async def test_a_crash_while_tools_run_settles_them_first() -> None:
    shop = Workshop()
    talk = session(tools=[shop.hold])

    async def crash() -> None:
        raise RuntimeError("a fault of ours")

    with pytest.raises(ExceptionGroup):
        async with talk:
            turn = talk.send("use hold_file on a")
            await shop.until(lambda: shop.running)
            assert talk._group is not None
            talk._group.start_soon(crash)
            await turn
    assert told(talk.talk.log)[-2:] == ["a closed: running-when-cancelled", "turn 1 ended: cancelled"]
    assert talk.state is State.IDLE


async def test_turns_that_are_over_are_not_kept_in_memory() -> None:
    import gc
    import weakref

    async with session() as talk:
        turn = talk.send("Hello")
        await turn
        gone = weakref.ref(turn)
        del turn
        for _ in range(2):
            await talk.send("Hello")
        gc.collect()
        assert gone() is None
