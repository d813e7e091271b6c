"""Every row of the turn table, as a whole turn over simulated providers."""

from typing import Any

import anyio
import msgspec
import pytest

from legato.errors import (
    AllRoutesFailed,
    BadAnswer,
    CallerError,
    ContextTooLong,
    InvalidEntry,
    Overloaded,
    ProtocolRefused,
    RateLimited,
    StoreUnavailable,
)
from legato.model import Ending, Include, Options, Speaker, ThinkingPolicy, ThinkingSwitch, ToolResponse
from legato.model.hashing import digest
from legato.model.records import Compacted, Recorded, StepBegan, TurnOutcome, Verdict
from legato.request.render_cache import RenderCache
from legato.routing import Patience, Policy, Profile, Route
from legato.session import Limits, State
from legato.session import events as shown
from legato.simulation import FaultKind, Faults, InjectedFault, SimulatedProvider, SimulatedTransport, SimulatedWorld
from legato.store.memory import MemoryStore, Shelf
from legato.tools import Approval, ApprovalQueue, Mode, Question, Ruling, ToolKind
from session_support import (
    CLAUDE,
    GEMINI,
    GPT,
    MISTRAL,
    HeldTransport,
    Library,
    Time,
    Workshop,
    kinds,
    session,
    told,
    until,
    world,
)

pytestmark = pytest.mark.anyio

CHAIN = Profile("chain", (Route(CLAUDE), Route(GPT), Route(MISTRAL)), Policy.FAILOVER)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def simulated(faults: Any = None, *, at: str | None = None) -> SimulatedTransport:
    """Simulated providers; `faults` befall the first requests, at the provider `at` or at each of them."""
    return SimulatedTransport(SimulatedWorld(faults=Faults(faults, provider=at) if faults else None))


# --- from a message to an answer --------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-033")
async def test_a_message_is_recorded_then_asked_then_answered() -> None:
    async with session() as talk:
        turn = talk.send("Hello there")
        seen = [event async for event in turn]
        result = await turn
        assert talk.state is State.IDLE
    assert told(talk.talk.log) == [
        "opened 1",
        "human: Hello there",
        f"turn 1 began on {CLAUDE}: message",
        f"step 1 began on {CLAUDE}, attempt 1",
        "ai done",
        "step 1 ended",
        "turn 1 ended: done",
    ]
    assert kinds(seen) == ["TurnStarted", "StepStarted", "TextShown", "StepFinished", "TurnFinished"]
    assert (result.outcome, result.route, result.steps) == (TurnOutcome.DONE, CLAUDE, 1)
    assert "Hello there" in result.text
    assert result.text == "".join(event.text for event in seen if isinstance(event, shown.TextShown))


@pytest.mark.req("REQ-915-033")
async def test_the_records_of_a_call_come_in_their_order_and_the_step_ends_with_its_batch() -> None:
    async with session(tools=[Library().read]) as talk:
        await talk.send("use read_file on a.txt")
    assert told(talk.talk.log) == [
        "opened 1",
        "human: use read_file on a.txt",
        f"turn 1 began on {CLAUDE}: message",
        f"step 1 began on {CLAUDE}, attempt 1",
        "ai calls a.txt",
        "started a.txt",
        "a.txt done",
        "step 1 ended",
        f"step 2 began on {CLAUDE}, attempt 1",
        "ai done",
        "step 2 ended",
        "turn 1 ended: done",
    ]


async def test_an_answer_that_is_not_streamed_makes_the_same_log() -> None:
    logs: list[list[str]] = []
    for stream in (True, False):
        async with session(tools=[Library().read], options=Options(stream=stream)) as talk:
            await talk.send("use read_file on a.txt")
        logs.append(told(talk.talk.log))
    assert logs[0] == logs[1]


async def test_events_are_plain_data() -> None:
    async with session(tools=[Library().read]) as talk:
        turn = talk.send("think first, use read_file on a.txt")
        seen = [event async for event in turn]
    for event in seen:
        encoded = msgspec.json.encode(event)
        assert msgspec.json.decode(encoded, type=shown.Event) == event


async def test_a_refusal_is_recorded_as_an_answer_and_the_turn_says_so() -> None:
    async with session(tools=[Library().read]) as talk:
        result = await talk.send("refuse to answer")
    assert (result.outcome, result.text) == (TurnOutcome.REFUSED, "I cannot help with that.")


async def test_an_empty_message_is_refused_at_once() -> None:
    async with session() as talk:
        with pytest.raises(InvalidEntry, match="says nothing"):
            talk.send("  ")
        assert told(talk.talk.log) == ["opened 1"]


@pytest.mark.parametrize("doing", ["send", "ask_again", "switch", "undo", "compact"])
async def test_a_session_that_was_not_opened_says_how_to_open_it(doing: str) -> None:
    closed = session()
    attempts = {
        "send": lambda: closed.send("Hello"),
        "ask_again": closed.ask_again,
        "switch": lambda: closed.switch(GPT),
        "undo": closed.undo,
        "compact": closed.compact,
    }
    with pytest.raises(CallerError, match="async with Session"):
        made = attempts[doing]()
        await made


async def test_whoever_leaves_a_session_with_an_error_gets_that_very_error() -> None:
    class Mine(Exception):
        pass

    with pytest.raises(Mine):
        async with session() as talk:
            await talk.send("Hello")
            raise Mine


# --- switching --------------------------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-003")
async def test_a_switch_at_rest_binds_the_next_request_only() -> None:
    transport = simulated()
    async with session(tools=[Library().read], world=world(transport)) as talk:
        await talk.send("use read_file on a.txt")
        switched = await talk.switch(GPT)
        assert (switched.deferred, talk.route) == (False, GPT)
        await talk.send("Hello")
    assert [seen.provider for seen in transport.requests] == ["anthropic", "anthropic", "openai"]
    assert told(talk.talk.log)[-5:-3] == [f"turn 2 began on {GPT}: message", f"step 1 began on {GPT}, attempt 1"]


@pytest.mark.req("REQ-915-003")
async def test_a_switch_to_another_model_of_the_same_provider_binds_the_next_request_too() -> None:
    transport = simulated()
    models = ["claude-sonnet-4-5", "claude-opus-4-8", "claude-sonnet-4-5"]
    async with session(f"anthropic/{models[0]}", world=world(transport)) as talk:
        await talk.send("Hello")
        for model in models[1:]:
            await talk.switch(f"anthropic/{model}")
            await talk.send("Hello")
    assert [seen.json["model"] for seen in transport.requests] == models


@pytest.mark.req("REQ-915-002", "REQ-915-050")
async def test_a_switch_while_a_tool_runs_waits_for_the_next_turn() -> None:
    transport, shop = simulated(), Workshop()
    async with session(tools=[shop.hold], world=world(transport)) as talk:
        turn = talk.send("use hold_file on a")
        await shop.until(lambda: shop.running)
        switched = await talk.switch(GPT)
        assert (switched.deferred, talk.state) == (True, State.RUNNING)
        shop.release("a")
        seen = [event async for event in turn]
        await talk.send("Hello")
    assert [seen.provider for seen in transport.requests] == ["anthropic", "anthropic", "openai"]
    assert shown.SwitchDeferred(route=GPT) in seen
    assert f"selected {GPT}" in told(talk.talk.log)[:8]
    assert transport.refusals == []


@pytest.mark.req("REQ-915-002", "REQ-915-050")
async def test_a_switch_while_an_answer_streams_waits_and_the_last_one_wins() -> None:
    transport = HeldTransport(simulated())
    transport.hold(0, after=4)
    async with session(world=world(transport)) as talk:
        turn = talk.send("Hello")
        await transport.reached.wait()
        assert talk.state is State.STREAMING
        assert [(await talk.switch(route)).deferred for route in (GPT, GEMINI)] == [True, True]
        transport.release()
        assert (await turn).route == CLAUDE
        assert (await talk.send("Hello again")).route == GEMINI


async def test_a_switch_to_a_route_that_names_nothing_is_refused_and_changes_nothing() -> None:
    async with session() as talk:
        with pytest.raises(CallerError, match="did you mean"):
            await talk.switch("antropic/claude")
        assert talk.route == CLAUDE
        assert told(talk.talk.log) == ["opened 1"]


@pytest.mark.req("REQ-915-043")
async def test_a_deferred_switch_binds_also_the_continuation_of_a_lost_route() -> None:
    transport = HeldTransport(simulated([FaultKind.KEY], at="anthropic"))
    transport.hold(0)
    async with session(CHAIN, world=world(transport)) as talk:
        turn = talk.send("Hello")
        await transport.reached.wait()
        await talk.switch(GEMINI)
        transport.release()
        assert (await turn).route == GEMINI
    assert [request.target.provider for request in transport.sent] == ["anthropic", "gemini"]


# --- steering ---------------------------------------------------------------------------------------------------------


async def test_a_message_during_tools_is_recorded_at_once_and_enters_behind_the_results() -> None:
    transport, shop = simulated(), Workshop()
    async with session(tools=[shop.hold], world=world(transport)) as talk:
        turn = talk.send("use hold_file on a")
        await shop.until(lambda: shop.running)
        assert talk.send("What did a return?") is turn
        await until(lambda: told(talk.talk.log)[-1] == "human: What did a return?")
        shop.release("a")
        result = await turn
    assert told(talk.talk.log)[4:] == [
        "ai calls a",
        "started a",
        "human: What did a return?",
        "a done",
        "step 1 ended",
        f"step 2 began on {CLAUDE}, attempt 1",
        "ai done",
        "step 2 ended",
        "turn 1 ended: done",
    ]
    roles = [message["role"] for message in transport.requests[1].json["messages"]]
    last = transport.requests[1].json["messages"][-1]["content"]
    assert roles == ["user", "assistant", "user"]
    assert [block["type"] for block in last] == ["tool_result", "text"]
    assert "held a" in result.text
    assert len(transport.requests) == 2, "an answered message is not asked again"


async def test_a_message_during_tools_skips_the_calls_that_have_not_started() -> None:
    shop = Workshop()
    async with session(tools=[shop.hold], limits=Limits(parallel=1)) as talk:
        turn = talk.send("use hold_file on a, b and c")
        await shop.until(lambda: shop.running)
        talk.send("Never mind")
        shop.release("a")
        await turn
    assert shop.began == ["a"]
    closed = [line for line in told(talk.talk.log) if "closed" in line or "done" in line]
    assert sorted(closed[:3]) == [
        "a done",
        "b closed: skipped-for-newer-message",
        "c closed: skipped-for-newer-message",
    ]


@pytest.mark.parametrize("after", [0, 4])
async def test_a_message_while_an_answer_is_on_its_way_enters_behind_that_answer(after: int) -> None:
    inner = simulated()
    transport = HeldTransport(inner)
    transport.hold(0, after=after)
    async with session(world=world(transport)) as talk:
        turn = talk.send("Hello")
        await transport.reached.wait()
        talk.send("And the weather")
        talk.send("And the news")
        transport.release()
        result = await turn
    assert told(talk.talk.log)[3:] == [
        f"step 1 began on {CLAUDE}, attempt 1",
        "ai done",
        "step 1 ended",
        "human: And the weather",
        "human: And the news",
        f"step 2 began on {CLAUDE}, attempt 1",
        "ai done",
        "step 2 ended",
        "turn 1 ended: done",
    ]
    assert (result.steps, "the news" in result.text) == (2, True)
    assert inner.refusals == []


async def test_a_message_during_a_wait_does_not_change_the_body_that_is_sent_again() -> None:
    time, transport = Time(), simulated([InjectedFault(FaultKind.RATE_LIMITED, seconds=2)])
    time.lasts = anyio.Event()
    async with session(world=world(transport, time=time)) as talk:
        turn = talk.send("Hello")
        await time.asleep.wait()
        assert talk.state is State.WAITING
        talk.send("And the weather")
        time.lasts.set()
        await turn
    bodies = [seen.body for seen in transport.requests]
    assert len(bodies) == 3
    assert bodies[0] == bodies[1]
    assert b"weather" in bodies[2]


async def test_a_message_after_a_cancellation_begins_a_turn_of_its_own_behind_it() -> None:
    shop = Workshop(stubborn=True)
    async with session(tools=[shop.hold], limits=Limits(grace=60)) as talk:
        first = talk.send("use hold_file on a")
        await shop.until(lambda: shop.running)
        first.cancel()
        assert talk.state is State.SETTLING
        second = talk.send("Hello")
        third = talk.send("And the weather")
        assert second is not first
        assert third is second
        shop.release("a")
        assert (await first).outcome is TurnOutcome.CANCELLED
        assert (await second).outcome is TurnOutcome.DONE
    assert told(talk.talk.log)[4:] == [
        "ai calls a",
        "started a",
        "a done",
        "step 1 ended",
        "turn 1 ended: cancelled",
        "human: Hello",
        f"turn 2 began on {CLAUDE}: message",
        "human: And the weather",
        f"step 1 began on {CLAUDE}, attempt 1",
        "ai done",
        "step 1 ended",
        "turn 2 ended: done",
    ]


async def test_messages_sent_as_soon_as_a_turn_ends_are_each_answered() -> None:
    """Whatever the moment: either the message joins the turn, or it begins one."""
    transport = simulated()
    async with session(world=world(transport)) as talk:
        sent = 0
        turn = talk.send("number 0")
        with anyio.fail_after(60):
            while sent < 40:
                await anyio.lowlevel.checkpoint()
                sent += 1
                turn = talk.send(f"number {sent}")
            await turn
    said = [line for line in told(talk.talk.log) if line.startswith("human")]
    assert said == [f"human: number {number}" for number in range(41)]
    assert b"number 40" in transport.requests[-1].body
    assert talk.state is State.IDLE


# --- waiting and retrying ---------------------------------------------------------------------------------------------


async def test_a_transient_error_waits_and_sends_the_same_body_again() -> None:
    time, transport = Time(), simulated([InjectedFault(FaultKind.RATE_LIMITED, seconds=7), FaultKind.OVERLOADED])
    async with session(world=world(transport, time=time)) as talk:
        turn = talk.send("Hello")
        seen = [event async for event in turn]
        assert (await turn).outcome is TurnOutcome.DONE
    assert [seen.body for seen in transport.requests] == [transport.requests[0].body] * 3
    assert [line for line in told(talk.talk.log) if "step" in line] == [
        f"step 1 began on {CLAUDE}, attempt 1",
        f"step 1 began on {CLAUDE}, attempt 2",
        f"step 1 began on {CLAUDE}, attempt 3",
        "step 1 ended",
    ]
    assert time.naps == [event.seconds for event in seen if isinstance(event, shown.Waiting)]
    assert time.naps[0] == 7.25, "what the provider asked for, and the jitter on top"
    steps = [record for record in talk.talk.log if isinstance(record, StepBegan)]
    assert len({step.digest for step in steps}) == 1


@pytest.mark.parametrize("switch", ThinkingSwitch)
@pytest.mark.parametrize("route", [CLAUDE, "kimi/kimi-k2.5"])
async def test_what_is_measured_before_a_step_is_what_its_request_is_made_from(
    route: str, switch: ThinkingSwitch
) -> None:
    transport = simulated()
    thinking = ThinkingPolicy(Include.CURRENT_TURN)
    options = Options(thinking=switch)
    library = Library()
    async with session(route, world=world(transport), tools=[library.read], options=options, thinking=thinking) as talk:
        for number in range(3):
            await talk.send(f"use read_file on {number}.txt")
        assert len(library.read_paths) == 3
        assert len(RenderCache.of(talk.talk)._encoded) == 1
    steps = [record for record in talk.talk.log if isinstance(record, StepBegan)]
    assert [step.digest for step in steps] == [digest(seen.body) for seen in transport.requests]


async def test_a_cancellation_during_a_wait_ends_the_turn_and_nobody_else_is_asked() -> None:
    time, transport = Time(), simulated([FaultKind.RATE_LIMITED])
    time.lasts = anyio.Event()
    async with session(CHAIN, world=world(transport, time=time)) as talk:
        turn = talk.send("Hello")
        await time.asleep.wait()
        turn.cancel()
        assert (await turn).outcome is TurnOutcome.CANCELLED
        assert talk.state is State.IDLE
    assert len(transport.requests) == 1
    assert told(talk.talk.log)[-2:] == [f"step 1 began on {CLAUDE}, attempt 1", "turn 1 ended: cancelled"]


async def test_a_cancellation_before_anything_came_records_no_answer() -> None:
    transport = HeldTransport(simulated())
    transport.hold(0)
    async with session(world=world(transport)) as talk:
        turn = talk.send("Hello")
        await transport.reached.wait()
        assert talk.state is State.SENDING
        turn.cancel()
        assert (await turn).outcome is TurnOutcome.CANCELLED
        assert (await talk.send("Hello again")).outcome is TurnOutcome.DONE
    assert told(talk.talk.log)[3:6] == [
        f"step 1 began on {CLAUDE}, attempt 1",
        "turn 1 ended: cancelled",
        "human: Hello again",
    ]


async def test_a_cancellation_right_after_sending_keeps_the_message_and_sends_nothing() -> None:
    transport = simulated()
    async with session(world=world(transport)) as talk:
        turn = talk.send("Hello")
        turn.cancel()
        assert (await turn).outcome is TurnOutcome.CANCELLED
    assert told(talk.talk.log)[1:] == [
        "human: Hello",
        f"turn 1 began on {CLAUDE}: message",
        "turn 1 ended: cancelled",
    ]
    assert transport.requests == []


async def test_a_cancelled_stream_keeps_what_was_visible_and_says_so() -> None:
    inner = simulated()
    transport = HeldTransport(inner)
    transport.hold(0, after=5)
    async with session(world=world(transport)) as talk:
        turn = talk.send("Hello, tell me something long please")
        await transport.reached.wait()
        assert talk.state is State.STREAMING
        turn.cancel()
        result = await turn
        assert result.outcome is TurnOutcome.CANCELLED
        kept = [entry for entry in talk.talk.entries if entry.speaker is Speaker.AI]
        assert [entry.ending for entry in kept] == [Ending.CANCELLED]
        assert result.text == kept[0].text != ""
        await talk.switch(GEMINI)
        assert (await talk.send("Go on")).outcome is TurnOutcome.DONE
    assert inner.refusals == []


# --- failing ----------------------------------------------------------------------------------------------------------


async def test_a_stream_that_breaks_after_visible_output_fails_and_nobody_else_is_asked() -> None:
    transport = simulated([InjectedFault(FaultKind.CUT, after=3)], at="anthropic")
    async with session(CHAIN, world=world(transport)) as talk:
        turn = talk.send("Hello")
        with pytest.raises(BadAnswer):
            await turn
        assert talk.state is State.IDLE
        assert [entry.ending for entry in talk.talk.entries if entry.speaker is Speaker.AI] == [Ending.CUT]
        assert [seen.provider for seen in transport.requests] == ["anthropic"]
        assert (await talk.send("Again")).route == GPT, "the route that broke off rests for a while"
    assert transport.refusals == []


async def test_calls_of_an_answer_that_broke_off_are_never_run() -> None:
    library, transport = Library(), simulated([InjectedFault(FaultKind.CUT, after=10)])
    async with session(tools=[library.read], world=world(transport)) as talk:
        with pytest.raises(BadAnswer):
            await talk.send("use read_file on a.txt and b.txt")
        kept = next(entry for entry in talk.talk.entries if entry.speaker is Speaker.AI)
        assert (kept.ending, len(kept.calls)) == (Ending.CUT, 2)
        assert library.read_paths == []
        await talk.send("Hello")
    assert told(talk.talk.log)[-4] == f"step 1 began on {CLAUDE}, attempt 1, a.txt not-started, b.txt not-started"
    assert transport.refusals == []


@pytest.mark.req("REQ-915-043")
async def test_a_lost_route_ends_its_turn_and_a_continuation_begins_on_the_next() -> None:
    transport = simulated([FaultKind.KEY], at="anthropic")
    async with session(CHAIN, tools=[Library().read], world=world(transport)) as talk:
        turn = talk.send("use read_file on a.txt")
        seen = [event async for event in turn]
        assert (await turn).route == GPT
    assert told(talk.talk.log)[:8] == [
        "opened 1",
        "human: use read_file on a.txt",
        f"turn 1 began on {CLAUDE}: message",
        f"step 1 began on {CLAUDE}, attempt 1",
        "turn 1 ended: failed",
        f"turn 2 began on {GPT}: continuation",
        f"step 2 began on {GPT}, attempt 1",
        "ai calls a.txt",
    ]
    lost = [event for event in seen if isinstance(event, shown.RouteLost)]
    assert [(event.route, event.following) for event in lost] == [(CLAUDE, GPT)]
    assert [event.continues for event in seen if isinstance(event, shown.TurnStarted)] == [False, True]
    assert transport.refusals == []


@pytest.mark.req("REQ-915-043")
async def test_when_every_route_failed_all_causes_are_reported() -> None:
    transport = simulated([FaultKind.KEY, FaultKind.KEY])
    async with session(CHAIN, world=world(transport)) as talk:
        turn = talk.send("Hello")
        with pytest.raises(AllRoutesFailed) as caught:
            await turn
        assert [(route, type(cause).__name__) for route, cause in caught.value.causes] == [
            (CLAUDE, "Unauthorized"),
            (GPT, "Unauthorized"),
            (MISTRAL, "Unauthorized"),
        ]
        assert talk.state is State.IDLE
        assert turn.error is caught.value
    ends = [line for line in told(talk.talk.log) if "ended" in line]
    assert ends[:3] == [f"turn {number} ended: failed" for number in (1, 2, 3)]


class Fussy:
    """A transport whose provider refuses the shape of every request."""

    def __init__(self, inner: SimulatedTransport) -> None:
        self.inner = inner

    async def send(self, request: Any) -> Any:
        spoiled = msgspec.json.decode(request.body)
        spoiled["messages"] = [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_x"}]}]
        return await self.inner.send(msgspec.structs.replace(request, body=msgspec.json.encode(spoiled)))


async def test_a_protocol_refusal_stops_with_a_diagnosis_and_never_walks_the_chain() -> None:
    inner = simulated()
    async with session(CHAIN, tools=[Library().read], world=world(Fussy(inner))) as talk:
        turn = talk.send("Hello")
        with pytest.raises(ProtocolRefused) as caught:
            await turn
        assert talk.state is State.IDLE
    assert [seen.provider for seen in inner.requests] == ["anthropic"]
    facts = caught.value.facts
    assert (facts["report"]["route"], facts["report"]["format"]) == (CLAUDE, "anthropic/anthropic")
    assert (facts["violations"], facts["rules"]) == ([], [])
    assert msgspec.json.encode(facts), "plain data"
    assert told(talk.talk.log)[-1] == "turn 1 ended: failed"


async def test_reasoning_that_its_own_provider_refuses_is_stripped_once_and_stays_stripped() -> None:
    transport = simulated()
    thinking = Options(stream=True, thinking=ThinkingSwitch.ON, thinking_budget=2_000)
    async with session(tools=[Library().read], world=world(transport), options=thinking) as talk:
        await talk.send("think first, use read_file on a.txt")
        assert b'"signature"' in transport.requests[-1].body
        transport.world.put(SimulatedProvider("anthropic", secret="another account"))
        assert (await talk.send("Hello")).outcome is TurnOutcome.DONE
        assert len(transport.refusals) == 1
        await talk.send("Hello again")
    assert len(transport.refusals) == 1
    lines = told(talk.talk.log)
    place = lines.index("reasoning refused by anthropic")
    assert lines[place - 1] == f"step 1 began on {CLAUDE}, attempt 1"
    assert lines[place + 1] == f"step 1 began on {CLAUDE}, attempt 2"


# --- limits -----------------------------------------------------------------------------------------------------------


async def test_a_limit_on_requests_ends_the_turn_when_its_batch_is_settled() -> None:
    transport = simulated()
    async with session(tools=[Library().read], limits=Limits(max_turns=1), world=world(transport)) as talk:
        result = await talk.send("use read_file on a.txt")
        assert (result.outcome, result.steps) == (TurnOutcome.LIMIT, 1)
        assert "1 requests" in result.detail
        assert (await talk.send("Hello")).outcome is TurnOutcome.DONE
    assert told(talk.talk.log)[4:9] == [
        "ai calls a.txt",
        "started a.txt",
        "a.txt done",
        "step 1 ended",
        "turn 1 ended: limit",
    ]
    assert transport.refusals == []


async def test_a_limit_on_dollars_holds_for_the_whole_session_and_before_the_first_request() -> None:
    transport = simulated()
    async with session(tools=[Library().read], limits=Limits(max_cost=0.000_001), world=world(transport)) as talk:
        first = await talk.send("use read_file on a.txt")
        assert (first.outcome, (first.cost or 0.0) > 0) == (TurnOutcome.LIMIT, True)
        second = await talk.send("Hello")
        assert (second.outcome, second.steps) == (TurnOutcome.LIMIT, 0)
    assert len(transport.requests) == 1


async def test_usage_and_cost_are_counted_for_each_turn_and_each_route() -> None:
    async with session() as talk:
        first = await talk.send("Hello")
        await talk.switch(GPT)
        second = await talk.send("Hello")
    assert first.cost is not None
    assert second.cost is not None
    assert set(talk.spending.by_route) == {CLAUDE, GPT}
    assert talk.spending.by_route[CLAUDE] == (first.usage, first.cost)
    assert talk.spending.by_route[GPT] == (second.usage, pytest.approx(second.cost))
    assert talk.spending.cost == pytest.approx(first.cost + second.cost)
    assert min(first.usage.input, first.usage.output, first.cost) > 0


async def test_a_turn_on_a_route_without_a_price_costs_an_unknown_amount_and_a_limit_on_dollars_says_that() -> None:
    nowhere = "ollama/qwen3"
    async with session(nowhere, limits=Limits(max_cost=1.0)) as talk:
        turn = talk.send("Hello")
        told = [event async for event in turn]
        first = await turn
        await talk.switch(CLAUDE)
        second = await talk.send("Hello")
    assert (first.outcome, first.cost, second.outcome) == (TurnOutcome.DONE, None, TurnOutcome.DONE)
    assert [event.cost for event in told if isinstance(event, shown.StepFinished | shown.TurnFinished)] == [None, None]
    assert [event.text for event in told if isinstance(event, shown.Notice)] == [
        (
            f"the limit of $1 leaves out what is not known: the price of {nowhere}; "
            "set price_input and price_output in the settings"
        )
    ]
    assert second.cost is not None, "the turn before has no say in what this one cost"
    assert (talk.spending.cost, talk.spending.known) == (None, second.cost)


# --- too long ---------------------------------------------------------------------------------------------------------


async def test_a_conversation_that_a_provider_finds_too_long_is_compacted_once_and_sent_again() -> None:
    transport = simulated()
    async with session(tools=[Library().read], world=world(transport)) as talk:
        for number in range(12):
            await talk.send(f"use read_file on {'x' * 400}-{number}.txt")
        transport.world.put(SimulatedProvider("anthropic", window=len(transport.requests[-1].body) // 4 - 200))
        turn = talk.send("Hello")
        seen = [event async for event in turn]
        assert (await turn).outcome is TurnOutcome.DONE
    assert any(isinstance(event, shown.HistoryCompacted) for event in seen)
    assert [type(event).__name__ for event in seen].count("StepStarted") == 2


async def test_a_conversation_that_stays_too_long_fails_and_says_what_helps() -> None:
    transport = simulated()
    transport.world.put(SimulatedProvider("anthropic", window=5))
    async with session(world=world(transport)) as talk:
        with pytest.raises(ContextTooLong):
            await talk.send("Hello " * 40)
        assert talk.state is State.IDLE
    assert len(transport.requests) <= 2


async def test_a_message_that_is_too_long_by_itself_costs_the_conversation_nothing() -> None:
    async with session(tools=[Library().read]) as talk:
        for number in range(12):
            await talk.send(f"use read_file on {'x' * 400}-{number}.txt")
        before = list(talk.talk.entries)
        with pytest.raises(ContextTooLong, match="undo the last message"):
            await talk.send("word " * 1_000_000)
        assert not any(isinstance(record, Compacted) for record in talk.talk.log)
        await talk.undo()
        assert talk.talk.entries == before


# --- cancelling while tools run ---------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-034")
async def test_cancelled_tools_get_a_grace_period_and_everything_is_settled_in_the_log() -> None:
    shop, library, transport = Workshop(), Library(), simulated()
    async with session(
        tools=[shop.hold, library.read], limits=Limits(parallel=2, grace=30), world=world(transport)
    ) as talk:
        turn = talk.send("use hold_file on a, b and c")
        await shop.until(lambda: shop.running == {"a", "b"})
        turn.cancel()
        result = await turn
        assert (result.outcome, talk.state) == (TurnOutcome.CANCELLED, State.IDLE)
        assert (await talk.send("Hello")).outcome is TurnOutcome.DONE
    assert shop.cancelled == ["a", "b"]
    lines = told(talk.talk.log)
    assert sorted(line for line in lines if "closed" in line) == [
        "a closed: running-when-cancelled",
        "b closed: running-when-cancelled",
        "c closed: not-started",
    ]
    assert lines.index("turn 1 ended: cancelled") == lines.index("step 1 ended") + 1
    assert transport.refusals == []


@pytest.mark.req("REQ-915-034")
async def test_a_second_cancellation_ends_the_grace_period_at_once() -> None:
    shop = Workshop(stubborn=True)
    async with session(tools=[shop.hold], limits=Limits(grace=3_600)) as talk:
        turn = talk.send("use hold_file on a")
        await shop.until(lambda: shop.running)
        turn.cancel()
        await shop.until(lambda: shop.cancelled == ["a"])
        assert talk.state is State.SETTLING
        turn.cancel()
        with anyio.fail_after(60):
            assert (await turn).outcome is TurnOutcome.CANCELLED
        shop.release("a")
    assert "a closed: running-when-cancelled" in told(talk.talk.log)


@pytest.mark.req("REQ-915-034")
async def test_leaving_the_session_settles_what_runs_and_ends_the_turn() -> None:
    shop = Workshop()
    async with session(tools=[shop.hold]) as talk:
        turn = talk.send("use hold_file on a")
        await shop.until(lambda: shop.running)
    assert (await turn).outcome is TurnOutcome.CANCELLED
    assert told(talk.talk.log)[-3:] == ["a closed: running-when-cancelled", "step 1 ended", "turn 1 ended: cancelled"]


@pytest.mark.req("REQ-915-034")
@pytest.mark.parametrize("phase", ["running", "streaming"])
async def test_a_session_that_is_cancelled_from_outside_still_writes_its_end(phase: str) -> None:
    shop, transport = Workshop(), HeldTransport(simulated())
    if phase == "streaming":
        transport.hold(0, after=5)
    turns: list[Any] = []
    talk = session(tools=[shop.hold], world=world(transport))
    with anyio.CancelScope() as scope:
        async with talk:
            turns.append(talk.send("use hold_file on a" if phase == "running" else "Hello"))
            if phase == "running":
                await shop.until(lambda: shop.running)
            else:
                await transport.reached.wait()
            scope.cancel()
            await anyio.sleep_forever()
    assert (await turns[0]).outcome is TurnOutcome.CANCELLED
    kept = "a closed: running-when-cancelled" if phase == "running" else "ai cancelled"
    assert told(talk.talk.log)[-2:] == [kept, "turn 1 ended: cancelled"]
    assert talk.state is State.IDLE


# --- crash and reopen -------------------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-046")
async def test_after_a_crash_started_calls_are_interrupted_and_unstarted_ones_are_not_started() -> None:
    shelf: Shelf = {}
    shop, store = Workshop(), MemoryStore(shelf)
    first = session(tools=[shop.hold], limits=Limits(parallel=2), store=store)
    async with anyio.create_task_group() as process:

        async def work() -> None:
            async with first:
                first.send("use hold_file on a, b and c")
                await anyio.sleep_forever()

        process.start_soon(work)
        await shop.until(lambda: shop.running == {"a", "b"})
        shop.release("a")
        await shop.until(lambda: shop.running == {"b", "c"})
        await until(lambda: "a done" in told(first.talk.log))
        await store.close()  # from here on nothing that the first process does is stored
        process.cancel_scope.cancel()
    transport = simulated()
    async with session(
        GPT, tools=[shop.hold], store=MemoryStore(shelf), session_id=first.id, world=world(transport)
    ) as second:
        assert told(second.talk.log)[-1] == "opened 2"
        assert second.state is State.IDLE
        assert "held a" in (await second.send("What did the first tool return?")).text
    assert told(second.talk.log)[-4:] == [
        f"step 1 began on {GPT}, attempt 1, b interrupted, c interrupted",
        "ai done",
        "step 1 ended",
        "turn 2 ended: done",
    ]
    assert transport.refusals == []


class Closing(ApprovalQueue):
    """A queue that tells when a question was put on it."""

    def __init__(self) -> None:
        super().__init__(shown=lambda _: self.shown_one.set())
        self.shown_one = anyio.Event()


async def _leave_a_question_open(shelf: Shelf, shop: Workshop) -> str:
    queue, store = Closing(), MemoryStore(shelf)
    asking = Approval(Mode.ASK, approver=queue)
    tool = _asking(shop)
    first = session(tools=[tool], approval=asking, store=store)
    async with anyio.create_task_group() as process:

        async def work() -> None:
            async with first:
                first.send("use hold_file on a and b")
                await anyio.sleep_forever()

        process.start_soon(work)
        await queue.shown_one.wait()
        await store.close()
        process.cancel_scope.cancel()
    assert first.id is not None
    return first.id


def _asking(shop: Workshop) -> Any:
    import dataclasses

    return dataclasses.replace(shop.hold, kind=ToolKind.EXECUTE)


async def test_a_question_that_was_open_is_asked_again_and_the_verdict_resumes_the_turn() -> None:
    shelf: Shelf = {}
    shop, transport = Workshop(), simulated()
    session_id = await _leave_a_question_open(shelf, shop)
    asked: list[str] = []

    class Person:
        async def ask(self, question: Question) -> Ruling:
            asked.append(question.arguments["path"])
            return Ruling(question.call, question.digest, Verdict.ALLOWED)

    shop.release("a", "b")
    async with session(
        tools=[_asking(shop)],
        approval=Approval(Mode.ASK, approver=Person()),
        store=MemoryStore(shelf),
        session_id=session_id,
        world=world(transport),
    ) as talk:
        assert talk.state is State.PARKED
        assert [call.arguments["path"] for call in talk.parked] == ["a", "b"]
        result = await talk.ask_again()
        assert (result.outcome, asked) == (TurnOutcome.DONE, ["a", "b"])
        with pytest.raises(CallerError, match="nothing waits"):
            talk.ask_again()
    lines = told(talk.talk.log)
    assert lines[lines.index("opened 2") :][:3] == [
        "opened 2",
        f"turn 2 began on {CLAUDE}: continuation",
        "asked about a",
    ]
    assert transport.refusals == []


async def test_a_tool_that_begins_is_shown_with_the_arguments_that_the_user_gave_it() -> None:
    class Person:
        async def ask(self, question: Question) -> Ruling:
            return Ruling(question.call, question.digest, arguments={"path": "b"})

    shop = Workshop()
    shop.release("b")
    async with session(tools=[_asking(shop)], approval=Approval(Mode.ASK, approver=Person())) as talk:
        seen = [event async for event in talk.send("use hold_file on a")]
    assert shop.began == ["b"]
    assert [event.arguments for event in seen if isinstance(event, shown.ToolBegan)] == [{"path": "b"}]


@pytest.mark.req("REQ-915-032")
async def test_a_message_instead_of_a_verdict_skips_the_calls_that_wait() -> None:
    shelf: Shelf = {}
    shop, transport = Workshop(), simulated()
    session_id = await _leave_a_question_open(shelf, shop)
    async with session(
        GPT, tools=[_asking(shop)], store=MemoryStore(shelf), session_id=session_id, world=world(transport)
    ) as talk:
        assert (await talk.switch(GEMINI)).deferred is False
        assert talk.state is State.PARKED
        assert (await talk.send("Never mind")).outcome is TurnOutcome.DONE
        assert talk.parked == ()
    assert told(talk.talk.log)[-8:-4] == [
        "a closed: skipped-for-newer-message",
        "b closed: skipped-for-newer-message",
        "human: Never mind",
        f"turn 2 began on {GEMINI}: message",
    ]
    tools = [
        record.entry
        for record in talk.talk.log
        if isinstance(record, Recorded) and record.entry.speaker is Speaker.TOOL
    ]
    assert [[type(block) for block in entry.blocks] for entry in tools] == [[ToolResponse]] * 2
    assert shop.began == []
    assert transport.refusals == []


@pytest.mark.parametrize("begun", [False, True])
async def test_a_resumed_turn_that_is_cancelled_at_once_asks_nobody(begun: bool) -> None:
    shelf: Shelf = {}
    shop, queue = Workshop(), Closing()
    session_id = await _leave_a_question_open(shelf, shop)
    async with session(
        tools=[_asking(shop)],
        approval=Approval(Mode.ASK, approver=queue),
        store=MemoryStore(shelf),
        session_id=session_id,
    ) as talk:
        turn = talk.ask_again()
        while begun and talk.state is not State.RUNNING:  # until the turn has begun, and its batch has not
            await anyio.lowlevel.checkpoint()
        turn.cancel()
        assert (await turn).outcome is TurnOutcome.CANCELLED
        assert (queue.questions, talk.state, talk.parked) == ((), State.IDLE, ())
    assert told(talk.talk.log)[-3:] == [
        "a closed: not-started",
        "b closed: not-started",
        "turn 2 ended: cancelled",
    ]


async def test_an_undone_message_takes_its_open_question_with_it() -> None:
    shelf: Shelf = {}
    session_id = await _leave_a_question_open(shelf, Workshop())
    async with session(store=MemoryStore(shelf), session_id=session_id) as talk:
        assert talk.state is State.PARKED
        assert await talk.undo()
        assert (talk.state, talk.parked) == (State.IDLE, ())


# --- the store fails --------------------------------------------------------------------------------------------------


class FailingStore(MemoryStore):
    """A store that fails at appends, from the `first` one on, so many times."""

    def __init__(self, first: int, times: int = 10_000) -> None:
        super().__init__()
        self.first, self.times, self.appends = first, times, 0

    async def append(self, lease: Any, expected: int, records: Any) -> int:
        self.appends += 1
        if self.first <= self.appends - 1 < self.first + self.times:
            raise StoreUnavailable("the disk is full")
        return await super().append(lease, expected, records)


@pytest.mark.parametrize("first", range(10))
async def test_a_store_that_fails_anywhere_fails_the_turn_cleanly_and_memory_is_not_ahead(first: int) -> None:
    store = FailingStore(first)
    async with session(tools=[Library().read], store=store) as talk:
        turn = talk.send("use read_file on a.txt")
        with anyio.fail_after(60), pytest.raises(StoreUnavailable, match="disk is full"):
            await turn
        assert talk.state is State.IDLE
        assert talk.id is not None
        assert list(talk.talk.log) == list(await store.read(talk.id))


@pytest.mark.parametrize("first", range(10))
async def test_when_the_store_is_back_the_next_message_works_and_nothing_was_run_twice(first: int) -> None:
    library, transport = Library(), simulated()
    store = FailingStore(first, times=3)
    async with session(tools=[library.read], store=store, world=world(transport)) as talk:
        with anyio.fail_after(60):
            await talk.send("use read_file on a.txt").ended()
            store.times = 0
            assert (await talk.send("Hello")).outcome is TurnOutcome.DONE
        assert talk.id is not None
        assert list(talk.talk.log) == list(await store.read(talk.id))
    assert len(library.read_paths) <= 1
    assert transport.refusals == []
    assert not any("in-flight" in line for line in told(talk.talk.log)), "nothing runs any more, so nothing says so"


async def test_a_session_that_cannot_be_opened_is_left_free_for_others() -> None:
    store = FailingStore(0, times=1)
    session_id = await store.create()
    with pytest.raises(StoreUnavailable):
        async with session(store=store, session_id=session_id):
            raise AssertionError("never reached")
    async with session(store=store, session_id=session_id) as talk:
        assert told(talk.talk.log) == ["opened 1"]


async def test_what_a_session_cost_is_known_when_it_is_opened_again() -> None:
    store = MemoryStore()
    async with session(store=store) as first:
        await first.send("Hello")
    async with session(GPT, store=store, session_id=first.id) as second:
        assert second.spending.by_route == first.spending.by_route
        assert (second.turns, second.spending.known > 0) == (1, True)


# --- patience ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "error"), [(FaultKind.RATE_LIMITED, RateLimited), (FaultKind.SERVER_ERROR, Overloaded)]
)
async def test_without_another_route_the_last_error_is_what_the_turn_fails_with(kind: FaultKind, error: type) -> None:
    transport = simulated([kind] * 5)
    async with session(world=world(transport, patience=Patience(attempts=3))) as talk:
        with pytest.raises(error) as caught:
            await talk.send("Hello")
        assert caught.value.facts["retryable"] is True
    assert len(transport.requests) == 3
    assert [record for record in talk.talk.log if isinstance(record, Recorded)][1:] == []
