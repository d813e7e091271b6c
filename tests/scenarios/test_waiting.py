"""A route that fails for minutes: it is waited for, with a countdown, until it answers or another one is chosen."""

from collections.abc import Sequence

import anyio
import pytest

from legato.errors import CallerError, Overloaded
from legato.model.records import TurnOutcome
from legato.routing import Patience, Policy, Profile, Route
from legato.session import State
from legato.session import events as shown
from legato.session.switching import Switched
from legato.simulation import FaultKind, Faults, SimulatedTransport, SimulatedWorld
from session_support import CLAUDE, GPT, Time, session, told, world

pytestmark = pytest.mark.anyio

PATIENT = Patience(single_route=300.0)


def simulated(faults: Sequence[FaultKind] = ()) -> SimulatedTransport:
    return SimulatedTransport(SimulatedWorld(faults=Faults(faults, provider="anthropic")))


async def test_the_only_route_is_tried_for_minutes_and_every_wait_tells_what_is_left() -> None:
    time, transport = Time(), simulated([FaultKind.OVERLOADED] * 8)
    async with session(world=world(transport, time=time, patience=PATIENT)) as talk:
        turn = talk.send("Hello")
        seen = [event async for event in turn if isinstance(event, shown.Waiting)]
        assert (await turn).outcome is TurnOutcome.DONE
    assert [event.attempt for event in seen] == list(range(1, 9))
    assert {event.reason for event in seen} == {f"overloaded or failing (attempt {n})" for n in range(1, 9)}
    assert {event.route for event in seen} == {CLAUDE}
    left = [event.left for event in seen]
    spent = [sum(time.naps[:place]) for place in range(len(seen))]
    assert left == pytest.approx([300.0 - seconds for seconds in spent])
    assert [round(event.seconds, 2) for event in seen] == [0.25, 0.5, 1.5, 3.0, 6.0, 12.0, 22.5, 22.5]


async def test_patience_ends_and_the_turn_fails_with_what_the_provider_said() -> None:
    time, transport = Time(), simulated([FaultKind.OVERLOADED] * 500)
    async with session(world=world(transport, time=time, patience=PATIENT)) as talk:
        with pytest.raises(Overloaded):
            await talk.send("Hello")
    assert sum(time.naps) == pytest.approx(300.0)
    assert len(transport.requests) < 25, "an outage of minutes is no reason to send a request every second"


async def test_a_chain_is_walked_at_once_and_only_its_last_route_is_waited_for() -> None:
    time, transport = Time(), simulated([FaultKind.OVERLOADED] * 500)
    chain = Profile("chain", (Route(GPT), Route(CLAUDE)), Policy.FAILOVER)
    async with session(chain, world=world(transport, time=time, patience=PATIENT)) as talk:
        turn = talk.send("Hello, and fail with 529 on openai")
        seen = [event async for event in turn if isinstance(event, shown.Waiting)]
        assert turn.error is not None
    first = [event.left for event in seen if event.route == GPT]
    last = [event.left for event in seen if event.route == CLAUDE]
    assert (first, len(last) > 8, None in last) == ([None, None], True, False)


async def test_a_switch_while_a_route_is_waited_for_lets_the_other_one_answer_the_same_message() -> None:
    time, transport = Time(), simulated([FaultKind.OVERLOADED] * 3)
    time.lasts = anyio.Event()
    async with session(world=world(transport, time=time, patience=PATIENT)) as talk:
        turn = talk.send("Hello")
        await time.asleep.wait()
        assert talk.state is State.WAITING
        assert await talk.switch(GPT) == Switched(GPT, deferred=False), "this very message"
        result = await turn
    assert (result.outcome, result.route) == (TurnOutcome.DONE, GPT)
    said = [line for line in told(talk.talk.log) if line.startswith("human")]
    assert said == ["human: Hello"]


async def test_the_next_attempt_can_be_made_at_once() -> None:
    time, transport = Time(), simulated([FaultKind.OVERLOADED])
    time.lasts = anyio.Event()
    async with session(world=world(transport, time=time, patience=PATIENT)) as talk:
        assert not talk.hurry(), "nothing is waited for"
        turn = talk.send("Hello")
        await time.asleep.wait()
        assert talk.hurry()
        assert (await turn).outcome is TurnOutcome.DONE
        assert not talk.hurry()
    assert len(transport.requests) == 2


async def test_a_wait_can_be_cancelled() -> None:
    time = Time()
    time.lasts = anyio.Event()
    async with session(world=world(simulated([FaultKind.OVERLOADED]), time=time, patience=PATIENT)) as talk:
        turn = talk.send("Hello")
        await time.asleep.wait()
        turn.cancel()
        assert (await turn).outcome is TurnOutcome.CANCELLED


# --- asking again -----------------------------------------------------------------------------------------------------


async def test_an_answer_that_did_not_come_is_asked_for_again_without_saying_the_message_twice() -> None:
    transport = simulated([FaultKind.KEY])
    async with session(world=world(transport)) as talk:
        with pytest.raises(Exception, match="401"):
            await talk.send("Hello")
        result = await talk.retry()
        assert (result.outcome, result.text) == (TurnOutcome.DONE, 'claude-sonnet-4-5 (simulated) heard: "Hello"')
        with pytest.raises(CallerError, match="nothing waits for an answer"):
            talk.retry()
    assert [line for line in told(talk.talk.log) if line.startswith("human")] == ["human: Hello"]
    assert transport.requests[1].body == transport.requests[0].body


async def test_a_failed_message_that_is_sent_again_is_in_the_conversation_once() -> None:
    async with session(world=world(simulated([FaultKind.KEY, FaultKind.KEY]))) as talk:
        for _ in range(2):
            with pytest.raises(Exception, match="401"):
                await talk.send("Hello")
        assert (await talk.send("Hello")).outcome is TurnOutcome.DONE
        await talk.send("Hello")
    assert [line for line in told(talk.talk.log) if line.startswith("human")] == ["human: Hello", "human: Hello"]


async def test_another_message_after_a_failed_one_follows_it() -> None:
    async with session(world=world(simulated([FaultKind.KEY]))) as talk:
        with pytest.raises(Exception, match="401"):
            await talk.send("Hello")
        await talk.send("Hello again")
    assert [line for line in told(talk.talk.log) if line.startswith("human")] == ["human: Hello", "human: Hello again"]
