"""One conversation, handed from provider to provider: by hand, in rotation, and when one is lost.

Every request goes to simulated providers that refuse what the real ones refuse, and at the end somebody asks what the
first tool returned.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from openai.types.responses import ResponseInputParam
from pydantic import TypeAdapter

from block_support import accepted_by_anthropic, accepted_by_gemini
from chat_support import assert_mistral_accepts, assert_openai_types_accept
from legato.errors import AllRoutesFailed
from legato.model import JsonObject, Options, ThinkingSwitch
from legato.model.records import TurnOutcome
from legato.routing import Policy, Profile, Route
from legato.session import State, World
from legato.simulation import (
    FaultKind,
    Faults,
    InjectedFault,
    Seen,
    SimulatedTransport,
    SimulatedWorld,
    base_urls,
    serve,
)
from legato.transport import HttpTransport, KeyRing, WireRequest, WireResponse
from session_support import CLAUDE, GEMINI, GPT, MISTRAL, HeldTransport, Library, Workshop, session, told, world

from builders import OTHER_ROUTES, ROUTES

pytestmark = pytest.mark.anyio

TOOLS = "think first, use read_file on {0}.txt and {0}.md"
MEMORY = "What did the first tool return?"
THINKING = Options(stream=True, thinking=ThinkingSwitch.ON, thinking_budget=2_000)
PLAIN = Options(stream=True)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def route(name: str) -> Route:
    """The route, thinking where it has to be told to."""
    return Route(name, options=THINKING) if name.startswith("anthropic") else Route(name)


def profile(policy: Policy, names: Sequence[str], **options: Any) -> Profile:
    return Profile("test", tuple(map(route, names)), policy, **options)


def judged(requests: Sequence[Seen]) -> None:
    """The official clients' own request types take every body that was sent."""
    for seen in requests:
        body = seen.json
        match seen.provider:
            case "anthropic":
                accepted_by_anthropic(body)
            case "gemini":
                accepted_by_gemini(body)
            case "openai":
                assert_openai_types_accept(body)
            case "mistral":
                assert_mistral_accepts(body)
            case "openai-responses":
                # The published type demands an id for reasoning items, which a server that stores nothing does not.
                _INPUT.validate_python(
                    [{"id": "rs_1", **item} if _is_thought(item) else item for item in body["input"]]
                )
            case _:
                pass  # no client in this language whose types say more than our own


_INPUT = TypeAdapter[Any](ResponseInputParam)


def _is_thought(item: JsonObject) -> bool:
    return item.get("type") == "reasoning"


# --- by hand ----------------------------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-003", "REQ-915-004", "REQ-915-041")
@pytest.mark.parametrize(("first", "second"), list(itertools.permutations(ROUTES, 2)))
async def test_a_conversation_with_tools_goes_to_any_family_and_comes_back(first: str, second: str) -> None:
    transport = SimulatedTransport()
    async with session(route(first), tools=[Library().read], world=world(transport)) as talk:
        await talk.send(TOOLS.format("one"))
        await talk.switch(route(second))
        assert "contents of two.txt" in (await talk.send(TOOLS.format("two"))).text
        assert "contents of one.txt" in (await talk.send(MEMORY)).text
        await talk.switch(route(first))
        assert "contents of three.md" in (await talk.send(TOOLS.format("three"))).text
        result = await talk.send(MEMORY)
    assert (result.route, "contents of one.txt" in result.text) == (first, True)
    assert transport.refusals == []


@pytest.mark.req("REQ-915-004", "REQ-915-041")
async def test_back_at_claude_with_thinking_on_its_own_thoughts_are_there_and_nobody_elses() -> None:
    transport = SimulatedTransport()
    async with session(route(CLAUDE), tools=[Library().read], world=world(transport)) as talk:
        await talk.send(TOOLS.format("one"))
        for other in ROUTES:
            await talk.switch(route(other))
            await talk.send(TOOLS.format("two"))
        await talk.switch(route(CLAUDE))
        await talk.send(TOOLS.format("three"))
        assert "contents of one.txt" in (await talk.send(MEMORY)).text
    assert transport.refusals == []
    last = transport.requests[-1].json
    assert last["thinking"]["type"] == "enabled"
    thoughts = [block for message in last["messages"] for block in message["content"] if block["type"] == "thinking"]
    own = [seen for seen in transport.requests[:-1] if seen.provider == "anthropic"]
    assert len(thoughts) == len(own), "one signed thought for each of its own answers"


@pytest.mark.req("REQ-915-041")
async def test_routes_that_differ_within_their_family_take_the_conversation_too() -> None:
    transport = SimulatedTransport()
    async with session(route(CLAUDE), tools=[Library().read], world=world(transport)) as talk:
        await talk.send(TOOLS.format("one"))
        for name in (*OTHER_ROUTES, *ROUTES):
            await talk.switch(route(name))
            await talk.send(TOOLS.format("two"))
        assert "contents of one.txt" in (await talk.send(MEMORY)).text
    assert transport.refusals == []


@pytest.mark.req("REQ-915-002", "REQ-915-050")
@pytest.mark.parametrize("second", ROUTES)
async def test_a_switch_asked_for_while_a_tool_runs_binds_the_next_turn(second: str) -> None:
    transport, shop = SimulatedTransport(), Workshop()
    first = MISTRAL if second == CLAUDE else CLAUDE
    async with session(route(first), tools=[shop.hold], world=world(transport)) as talk:
        turn = talk.send("use hold_file on a and b")
        await shop.until(lambda: len(shop.running) == 2)
        assert (await talk.switch(route(second))).deferred
        shop.release("a", "b")
        assert (await turn).route == first
        result = await talk.send(MEMORY)
    assert (result.route, "held a" in result.text) == (second, True)
    providers = [seen.provider for seen in transport.requests]
    assert providers == [first.split("/")[0]] * 2 + [second.split("/")[0]]
    assert transport.refusals == []


@pytest.mark.parametrize(("first", "second"), [(THINKING, PLAIN), (PLAIN, THINKING), (THINKING, THINKING)])
async def test_thinking_may_change_while_results_wait_for_an_answer(first: Options, second: Options) -> None:
    transport, shop = SimulatedTransport(), Workshop()
    async with session(Route(CLAUDE, options=first), tools=[shop.hold], world=world(transport)) as talk:
        turn = talk.send("think first, use hold_file on a and b")
        await shop.until(lambda: len(shop.running) == 2)
        turn.cancel()
        await turn
        await talk.switch(Route(CLAUDE, options=second))
        assert (await talk.send("go on without them")).text
    assert transport.refusals == []
    message = transport.requests[-1].json["messages"][1]
    kinds_sent = [block["type"] for block in message["content"]]
    assert ("thinking" in kinds_sent) is (first is THINKING and second is THINKING)


# --- in rotation ------------------------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-004", "REQ-915-042")
async def test_fifty_turns_in_rotation_with_tools_in_each_are_accepted_by_everybody() -> None:
    transport, library = SimulatedTransport(), Library()
    rotation = profile(Policy.ROUND_ROBIN, ROUTES)
    async with session(rotation, tools=[library.read], world=world(transport)) as talk:
        answered: list[str] = []
        for number in range(50):
            result = await talk.send(TOOLS.format(f"file{number}"))
            assert f"contents of file{number}.md" in result.text
            answered.append(result.route)
        assert "contents of file0.txt" in (await talk.send(MEMORY)).text
    assert answered == [ROUTES[number % len(ROUTES)] for number in range(50)]
    assert len(library.read_paths) == 100
    assert transport.refusals == []
    judged([seen for number, seen in enumerate(transport.requests) if number % 7 == 0 or number > 90])


@pytest.mark.req("REQ-915-042")
async def test_a_rotation_that_is_sticky_keeps_a_route_for_so_many_turns() -> None:
    rotation = profile(Policy.ROUND_ROBIN, [CLAUDE, GPT, GEMINI], sticky_turns=2)
    async with session(rotation, tools=[Library().read]) as talk:
        routes = [(await talk.send(TOOLS.format("one"))).route for _ in range(7)]
    assert routes == [CLAUDE, CLAUDE, GPT, GPT, GEMINI, GEMINI, CLAUDE]


@pytest.mark.req("REQ-915-002")
async def test_a_rotation_moves_between_turns_and_never_within_one() -> None:
    transport = SimulatedTransport()
    rotation = profile(Policy.ROUND_ROBIN, ROUTES[:4])
    async with session(rotation, tools=[Library().read], world=world(transport)) as talk:
        for _ in range(4):
            await talk.send("use read_file on a.txt then use read_file on b.txt")
    providers = [seen.provider for seen in transport.requests]
    assert [[key, len(list(run))] for key, run in itertools.groupby(providers)] == [
        [name.split("/")[0], 3] for name in ROUTES[:4]
    ]


# --- when a route is lost ---------------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-004", "REQ-915-043")
@pytest.mark.parametrize(("lost", "following"), [(one, ROUTES[place - 1]) for place, one in enumerate(ROUTES)])
@pytest.mark.parametrize("number", [0, 1, 2], ids=["first request", "in the tool loop", "a later turn"])
async def test_a_lost_route_hands_over_what_it_had_and_no_tool_runs_twice(
    lost: str, following: str, number: int
) -> None:
    gone = Faults([None] * number + [FaultKind.QUOTA] * 20, provider=lost.split("/")[0])
    transport, library = SimulatedTransport(SimulatedWorld(faults=gone)), Library()
    chain = profile(Policy.FAILOVER, [lost, following])
    async with session(chain, tools=[library.read], world=world(transport)) as talk:
        first = await talk.send(TOOLS.format("one"))
        assert first.route == (lost if number == 2 else following)
        assert (await talk.send(TOOLS.format("two"))).route == following
        assert "contents of one.txt" in (await talk.send(MEMORY)).text
    assert library.read_paths == ["one.txt", "one.md", "two.txt", "two.md"]
    assert transport.refusals == []
    lines = told(talk.talk.log)
    ended = next(place for place, line in enumerate(lines) if line.endswith("ended: failed"))
    assert lines[ended + 1].endswith(f"began on {following}: continuation")


@pytest.mark.req("REQ-915-043")
async def test_when_the_last_route_is_lost_the_turn_fails_and_the_next_message_works() -> None:
    class Outage:
        """Everybody is down until it is over."""

        over = False

        def fault(self, provider: str, number: int) -> InjectedFault | None:
            return None if self.over else InjectedFault(FaultKind.OVERLOADED)

    outage = Outage()
    transport = SimulatedTransport(SimulatedWorld(faults=outage))
    chain = profile(Policy.FAILOVER, [CLAUDE, GPT, GEMINI])
    async with session(chain, tools=[Library().read], world=world(transport)) as talk:
        with pytest.raises(AllRoutesFailed) as caught:
            await talk.send(TOOLS.format("one"))
        assert [name for name, _ in caught.value.causes] == [CLAUDE, GPT, GEMINI]
        assert caught.value.facts["retryable"] is True
        assert talk.state is State.IDLE
        outage.over = True
        assert (await talk.send(TOOLS.format("two"))).outcome is TurnOutcome.DONE
    assert transport.refusals == []


@pytest.mark.req("REQ-915-043")
async def test_the_next_route_is_asked_before_anything_was_visible_and_nobody_after() -> None:
    for after, routes in ((1, [CLAUDE, CLAUDE, GPT]), (3, [CLAUDE])):
        faults = Faults([InjectedFault(FaultKind.CUT, after=after)] * 9, provider="anthropic")
        transport = SimulatedTransport(SimulatedWorld(faults=faults))
        async with session(profile(Policy.FAILOVER, [CLAUDE, GPT]), world=world(transport)) as talk:
            await talk.send("Hello").ended()
        assert [f"{seen.provider}/{seen.model}" for seen in transport.requests] == routes


# --- settings do not leak ---------------------------------------------------------------------------------------------


class Listening:
    """Carries requests, and keeps them as they were sent."""

    def __init__(self, inner: SimulatedTransport) -> None:
        self.inner = inner
        self.heard: list[WireRequest] = []

    async def send(self, request: WireRequest) -> WireResponse:
        self.heard.append(request)
        return await self.inner.send(request)


async def test_keys_headers_and_options_of_one_route_never_reach_another() -> None:
    transport = Listening(SimulatedTransport(SimulatedWorld(needs_keys=True)))
    providers = [name.split("/")[0] for name in ROUTES]
    keys = {provider: f"key-of-{provider}-only" for provider in providers}
    temperatures = {name: 0.11 + 0.01 * place for place, name in enumerate(ROUTES) if name in (GPT, MISTRAL, GEMINI)}
    routes = tuple(
        Route(
            name,
            options=Options(stream=True, max_tokens=3_000 + place, temperature=temperatures.get(name)),
            headers={"x-tag": f"header-of-{name.split('/')[0]}-only"},
        )
        for place, name in enumerate(ROUTES)
    )
    chain = Profile("all", routes, Policy.ROUND_ROBIN)
    async with session(chain, tools=[Library().read], world=world(transport, keys=KeyRing(keys, {}))) as talk:
        for _ in range(2 * len(ROUTES)):
            await talk.send("use read_file on a.txt")
        log = repr(talk.talk.log)
    assert transport.inner.refusals == []
    assert {request.target.provider for request in transport.heard} == set(providers)
    for request in transport.heard:
        sent = repr(sorted(request.sent_headers().items())) + request.url + request.body.decode()
        for place, name in enumerate(ROUTES):
            provider, is_own = name.split("/")[0], name == request.route
            assert (f"key-of-{provider}-only" in sent) == is_own
            assert (f"header-of-{provider}-only" in sent) == is_own
            assert (str(3_000 + place) in request.body.decode()) == is_own
            if name in temperatures:
                assert (f"{temperatures[name]:.2f}" in request.body.decode()) == is_own
    assert "-only" not in log, "keys and headers are not recorded"


async def test_what_one_route_counted_is_not_taken_for_another() -> None:
    async with session(CLAUDE) as talk:
        await talk.send("Hello " * 200)
        before = talk.estimator.of_size(GPT, 10_000)
        own = talk.estimator.of_size(CLAUDE, 10_000)
        await talk.switch(GPT)
        assert talk.estimator.of_size(GPT, 10_000) == before != own


async def test_no_server_side_state_of_a_provider_is_named_to_anybody() -> None:
    transport = SimulatedTransport()
    responses = "openai-responses/gpt-5.1"
    async with session(responses, tools=[Library().read], world=world(transport)) as talk:
        await talk.send(TOOLS.format("one"))
        await talk.switch(CLAUDE)
        await talk.send("Hello")
        await talk.switch(responses)
        await talk.send("Hello")
    assert all("previous_response_id" not in seen.json for seen in transport.requests)


# --- over real sockets ------------------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-041", "REQ-915-042", "REQ-915-043")
async def test_the_same_holds_over_real_sockets() -> None:
    down = Faults([None, FaultKind.OVERLOADED, FaultKind.UNREACHABLE, FaultKind.KEY], provider="gemini")
    simulated, library = SimulatedWorld(needs_keys=True, faults=down), Library()
    keys = KeyRing({name.split("/")[0]: "a-good-key" for name in ROUTES}, {})
    naps: list[float] = []
    answered: list[str] = []

    async def nap(seconds: float) -> None:
        naps.append(seconds)

    async with anyio.create_task_group() as group, HttpTransport() as transport:
        serving = await group.start(lambda *, task_status: serve(port=0, world=simulated, task_status=task_status))
        sockets = World(
            transport=transport, keys=keys, endpoints=base_urls("127.0.0.1", serving), sleep=nap, chance=lambda: 0.5
        )
        rotation = profile(Policy.ROUND_ROBIN, ROUTES)
        async with session(rotation, tools=[library.read], world=sockets) as talk:
            for number in range(len(ROUTES)):
                answered.append((await talk.send(TOOLS.format(f"file{number}"))).route)  # noqa: PERF401
            assert "contents of file0.txt" in (await talk.send(MEMORY)).text
        group.cancel_scope.cancel()
    assert simulated.refusals == []
    lost = ROUTES.index(GEMINI)
    assert answered == [*ROUTES[:lost], ROUTES[lost + 1], *ROUTES[lost + 2 :], ROUTES[0]]
    assert len(naps) == 2
    assert len(library.read_paths) == 2 * len(ROUTES)
    judged(simulated.requests)


async def test_over_sockets_a_cancelled_turn_leaves_a_session_that_goes_on_elsewhere() -> None:
    simulated = SimulatedWorld()
    async with anyio.create_task_group() as group, HttpTransport() as inner:
        serving = await group.start(lambda *, task_status: serve(port=0, world=simulated, task_status=task_status))
        transport = HeldTransport(inner)
        transport.hold(0, after=1)
        sockets = World(transport=transport, keys=KeyRing({}, {}), endpoints=base_urls("127.0.0.1", serving))
        async with session(world=sockets) as talk:
            turn = talk.send("Tell me something long")
            await transport.reached.wait()
            turn.cancel()
            assert (await turn).outcome is TurnOutcome.CANCELLED
            await talk.switch(GPT)
            assert (await talk.send("Hello")).outcome is TurnOutcome.DONE
        group.cancel_scope.cancel()
    assert simulated.refusals == []
