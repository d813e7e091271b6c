"""A campaign of bad days: providers fail at random, people cancel, steer and switch at random, and nothing breaks.

A seed decides everything: who answers, what is asked, which requests fail and how, when somebody cancels or switches.
Time is virtual, so a run takes what its computation takes, and a seed reproduces a run to the last byte.

`make test` runs a few seeds, `make fuzz` as many as there is time for; LEGATO_SEED repeats one.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import Any, NamedTuple

import anyio
import anyio.lowlevel
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from legato.errors import OurFault, ProtocolRefused, ProviderError
from legato.model import JsonObject, Options, Record, ThinkingSwitch, ToolResponse, ToolSpec
from legato.model.records import Recorded, StepBegan, TurnEnded
from legato.request import render
from legato.routing import Policy, Profile, RetryBudget, Route
from legato.session import Limits, Session, State
from legato.session.events import Event
from legato.simulation import FaultKind, FaultPlan, IdHabit, Seen, SimulatedTransport, SimulatedWorld
from legato.store.memory import MemoryStore
from legato.tools import Tool, ToolContext, ToolKind
from legato.transcript import Conversation
from legato.wire.findings import Severity
from session_support import PATH, Time, session, told, world
from tally import count

from builders import ROUTES

_IS_SHORT = os.environ.get("LEGATO_HYPOTHESIS_PROFILE", "default") == "default"
SEEDS = settings(
    max_examples=20 if _IS_SHORT else settings.default.max_examples if settings.default else 20,
    derandomize=_IS_SHORT,
    # A smaller seed is no simpler run.
    phases=tuple(phase for phase in (settings.default or settings()).phases if phase is not Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

MESSAGES = 8
CAPACITY = 10.0
WALL_CLOCK = 120.0
"""seconds after which a run is taken to hang; it needs about a hundredth of that"""

RATES = {
    FaultKind.RATE_LIMITED: 0.06,
    FaultKind.SERVER_ERROR: 0.03,
    FaultKind.OVERLOADED: 0.03,
    FaultKind.UNREACHABLE: 0.04,
    FaultKind.SLOW: 0.05,
    FaultKind.CUT: 0.08,
    FaultKind.GARBAGE: 0.02,
    FaultKind.BROKEN_ARGUMENTS: 0.04,
    FaultKind.TRUNCATED: 0.04,
    FaultKind.EMPTY: 0.02,
    FaultKind.REFUSAL: 0.02,
    FaultKind.QUOTA: 0.01,
    FaultKind.KEY: 0.01,
}
"""nearly every second request has trouble"""

PROMPTS = (
    "use work on a",
    "think first, use work on a, b, c, d and e",
    "use work on a and b then use work on c",
    "use work on a, use fail on b and use work on c",
    "think in secret, use work on a and b with constant ids",
    "use work on a and b without ids",
    "call nothing_like_that anyway",
    "tell me something",
    "What did the first tool return?",
)


class Run(NamedTuple):
    """What one seed led to."""

    requests: list[Seen]
    bodies: list[bytes]
    log: list[str]
    talk: Conversation
    stored: list[Record]
    returned: Counter[str]
    state: State


class Labour:
    """Tools that take a few moments, and a note of what each run of them really returned."""

    def __init__(self, chance: random.Random) -> None:
        self.returned: Counter[str] = Counter()
        self._chance = chance
        self._runs = 0
        spec = ToolSpec("work", "Work on a file.", PATH)
        self.tools = (
            Tool(spec=spec, run=self._work, kind=ToolKind.READ),
            Tool(spec=ToolSpec("fail", "Fail at a file.", PATH), run=self._fail, kind=ToolKind.READ),
        )

    async def _work(self, arguments: JsonObject, _: ToolContext) -> object:
        self._runs += 1
        result = f"run {self._runs} of {arguments['path']}"
        for _moment in range(self._chance.randint(0, 6)):
            await anyio.lowlevel.checkpoint()
        self.returned[result] += 1
        return result

    async def _fail(self, arguments: JsonObject, _: ToolContext) -> object:
        await anyio.lowlevel.checkpoint()
        raise OSError(f"{arguments['path']} is on fire")


def _profile(chance: random.Random) -> Profile:
    names = chance.sample(ROUTES, chance.randint(1, len(ROUTES)))
    policy = chance.choice([Policy.FAILOVER, Policy.ROUND_ROBIN, Policy.FAILOVER])
    return Profile("random", tuple(map(_route, names)), policy, sticky_turns=chance.randint(1, 3))


def _route(name: str) -> Route:
    thinking = Options(thinking=ThinkingSwitch.ON, thinking_budget=2_000) if name.startswith("anthropic") else Options()
    return Route(name, options=thinking)


async def _meddle(talk: Session, chance: random.Random) -> None:
    """Do to a turn what people do, or nothing."""
    match chance.choices(["nothing", "cancel", "switch", "say"], [12, 1, 1, 1])[0]:
        case "cancel":
            talk.cancel()
        case "switch":
            await talk.switch(_route(chance.choice(ROUTES)) if chance.random() < 0.5 else _profile(chance))
        case "say":
            talk.send("by the way, tell me something")
        case _:
            pass


async def _day(seed: int) -> Run:
    chance, time, store = random.Random(seed), Time(), MemoryStore()
    simulated = SimulatedWorld(
        faults=FaultPlan(seed, RATES), sleep=time.sleep, ids=chance.choice([None, None, *IdHabit])
    )
    transport = SimulatedTransport(simulated)
    labour = Labour(chance)
    talk = session(
        _profile(chance),
        tools=labour.tools,
        store=store,
        limits=Limits(parallel=chance.randint(1, 5), max_turns=12),
        options=Options(stream=chance.random() < 0.9),
        world=world(transport, time=time, chance=chance.random, budget=RetryBudget(capacity=CAPACITY, per_request=0.2)),
    )
    with anyio.fail_after(WALL_CLOCK):
        async with talk:
            for _ in range(MESSAGES):
                turn = talk.send(chance.choice(PROMPTS))
                async for event in turn:
                    assert isinstance(event, Event)
                    await _meddle(talk, chance)
                await _ends_well(turn)
                await talk.send("Hello").ended()  # also right behind a turn that was cancelled
                assert talk.state is State.IDLE
    assert talk.id is not None
    stored = list(await store.read(talk.id))
    bodies = [seen.body for seen in transport.requests]
    return Run(transport.requests, bodies, told(talk.talk.log), talk.talk, stored, labour.returned, talk.state)


async def _ends_well(turn: Any) -> None:
    """A turn ends with an answer, or with an error that is the provider's."""
    try:
        await turn
    except (OurFault, ProtocolRefused):
        raise
    except ProviderError:
        pass


def _check(run: Run) -> None:
    assert [(seen.provider, seen.refusal) for seen in run.requests if seen.refusal is not None] == []
    assert run.stored == list(run.talk.log), "memory and store agree"
    real = Counter(
        str(block.result)
        for record in run.talk.log
        if isinstance(record, Recorded)
        for block in record.entry.blocks
        if isinstance(block, ToolResponse) and block.reason is None and block.error is None
    )
    assert real == run.returned, "what a tool returned is recorded, once"
    steps = [record for record in run.talk.log if isinstance(record, StepBegan)]
    first = sum(step.attempt == 1 for step in steps)
    assert len(run.requests) <= len(steps)
    assert len(steps) - first <= 0.2 * first + CAPACITY, "retries stay within their budget"
    count("first attempts on bad days", first)
    count("retries on bad days", len(steps) - first)
    count("turns that ended, on bad days", sum(isinstance(record, TurnEnded) for record in run.talk.log))
    count("real results of tools, none lost, on bad days", sum(run.returned.values()))
    for name in ROUTES:
        request = render(run.talk, name)
        assert [found for found in request.check() if found.severity is Severity.REFUSED] == []
        emitted = Counter(call.completion for call in request.report.emitted)
        assert emitted["success"] == sum(run.returned.values()), "every real result is sent on, to everybody"


@SEEDS
@given(st.integers(0, 2**32 - 1))
@example(int(os.environ.get("LEGATO_SEED", "0")))
def test_a_bad_day_breaks_nothing(seed: int) -> None:
    _check(anyio.run(_day, seed))


@settings(SEEDS, max_examples=max(SEEDS.max_examples // 10, 3))
@given(st.integers(0, 2**32 - 1))
@example(int(os.environ.get("LEGATO_SEED", "0")))
def test_a_seed_reproduces_a_day_to_the_last_byte(seed: int) -> None:
    one, other = anyio.run(_day, seed), anyio.run(_day, seed)
    assert one.bodies == other.bodies
    assert one.log == other.log
    assert one.stored == other.stored
