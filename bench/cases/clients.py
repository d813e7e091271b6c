"""A vendor's SDK that asks through `legato.client`, beside the same SDK alone; the backend is in this process for both.

The backend answers at once with what was written down before, so what differs is Legato's work: to read the request,
to know the conversation again, to render it, and to tell the answer in the words of the SDK.
"""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Callable, Iterator
from itertools import count
from statistics import median
from typing import Any, TypeVar

import httpx2
import msgspec
from msgspec import Struct

import legato
from bench import coding_agent
from bench.figures import Figure, Goal, Outcome, Scale, milliseconds
from bench.measure import clock, measured
from legato.model import Target
from legato.request import parse, render, resolve
from legato.transport import KeyRing, WireRequest
from legato.transport.contract import WireResponse, whole_response
from legato.wire.dialects import dialect_parts
from legato.world import World

T = TypeVar("T")

ANTHROPIC, KIMI, OPENAI = "anthropic/claude-opus-4-8", "kimi/kimi-k2-thinking", "openai/gpt-5.2"
ALONE = "the SDK alone"
IN_PROCESS = "parse, render and verify"
REQUESTS = 4
"""requests in one sample, each of another conversation: one alone takes less than a clock can be trusted with"""
_EVENTS = {"content-type": "text/event-stream"}
_STREAMED = re.compile(rb'"stream": ?true')


# --- backends ---------------------------------------------------------------------------------------------------------


class Canned(Struct, frozen=True):
    """What a backend answers: always the same."""

    whole: bytes
    events: list[bytes]

    @classmethod
    def of(cls, target: Target) -> Canned:
        """The answer of `target` in its own words."""
        given, parts = coding_agent.answer(target), dialect_parts(target.dialect)
        return cls(msgspec.json.encode(parts.reply(given, target.model)), list(parts.reply_stream(given, target.model)))


class CannedTransport:
    """A backend for the gateway."""

    def __init__(self, canned: Canned) -> None:
        self._canned = canned

    async def send(self, request: WireRequest) -> WireResponse:
        """What was written down, whatever is asked."""
        if request.stream:
            return whole_response(200, self._canned.events, _EVENTS)
        return whole_response(200, self._canned.whole)


class CannedHttp(httpx2.BaseTransport):
    """The same backend for an SDK alone."""

    def __init__(self, canned: Canned) -> None:
        self._canned = canned

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """What was written down, whatever is asked."""
        if _STREAMED.search(request.read()):
            return httpx2.Response(200, headers=_EVENTS, stream=_Pieces(self._canned.events))
        return httpx2.Response(200, headers={"content-type": "application/json"}, content=self._canned.whole)


class _Pieces(httpx2.SyncByteStream):
    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._pieces)


# --- SDKs -------------------------------------------------------------------------------------------------------------


class Vendor(Struct, frozen=True):
    """An SDK: `ask` sends a request of 80 kB with it, `following` gives the request that comes after the answer."""

    name: str
    home: str
    connect: Callable[[httpx2.Client], Any]
    first: Callable[[int], dict[str, Any]]
    following: Callable[[dict[str, Any], Any], dict[str, Any]]
    ask: Callable[..., Any]


def _vendors() -> list[Vendor]:
    from anthropic import Anthropic  # slow to import, and only this case needs them
    from openai import OpenAI

    return [
        Vendor(
            "Anthropic's SDK",
            ANTHROPIC,
            lambda http: Anthropic(http_client=http, api_key="none", max_retries=0, timeout=60),
            coding_agent.anthropic_request,
            coding_agent.anthropic_next,
            lambda sdk, **arguments: sdk.messages.create(**arguments),
        ),
        Vendor(
            "OpenAI's SDK",
            OPENAI,
            lambda http: OpenAI(http_client=http, api_key="none", max_retries=0, timeout=60),
            coding_agent.chat_request,
            coding_agent.chat_next,
            lambda sdk, **arguments: sdk.chat.completions.create(**arguments),
        ),
    ]


class Caller:
    """One SDK on one backend; every sample is a conversation that was never seen before."""

    def __init__(self, vendor: Vendor, http: httpx2.Client, numbers: Iterator[int]) -> None:
        self._vendor = vendor
        self._sdk = vendor.connect(http)
        self._numbers = numbers

    def cold(self) -> Taken:
        """A first request."""
        requests = [self._vendor.first(next(self._numbers)) for _ in range(REQUESTS)]
        return timed(self._ask, requests)

    def warm(self) -> Taken:
        """The request that follows on an answer."""
        return timed(self._ask, [self._following() for _ in range(REQUESTS)])

    def first_event(self) -> Taken:
        """The same until the first event of a streamed answer is here; such a client streams every answer."""
        streams: list[Any] = []

        def until_first(request: dict[str, Any]) -> None:
            streams.append(stream := self._ask(request, stream=True))
            next(iter(stream))

        taken = timed(until_first, [self._following(stream=True) for _ in range(REQUESTS)])
        for stream in streams:
            stream.close()
        return taken

    def _following(self, *, stream: bool = False) -> dict[str, Any]:
        request = self._vendor.first(next(self._numbers))
        answered = self._ask(request)
        if stream:
            for _ in self._ask(request, stream=True):
                pass
        return self._vendor.following(request, answered)

    def _ask(self, request: dict[str, Any], **more: Any) -> Any:
        return self._vendor.ask(self._sdk, **request, **more)


# --- what is measured -------------------------------------------------------------------------------------------------


class Taken(Struct, frozen=True):
    """Seconds: of the processor, in all threads, and on the wall."""

    processor: float
    wall: float


def timed(work: Callable[[T], object], given: list[T]) -> Taken:
    """What `work` takes for one of `given`."""
    walls: list[float] = []

    def run() -> float:
        begin, began = clock(), time.perf_counter()
        for one in given:
            work(one)
        walls.append(time.perf_counter() - began)
        return clock() - begin

    return Taken(measured(run) / len(given), walls[0] / len(given))


def client(scale: Scale) -> Outcome:
    """A request of 80 kB through `legato.client`, beside the vendor's SDK alone on the same backend in process."""
    figures: list[Figure] = []
    vendors = _vendors()
    gc.freeze()  # the SDKs' own modules are most of the heap and stay: no sample from here on looks through them
    for vendor in vendors:
        other = KIMI if vendor.home == ANTHROPIC else ANTHROPIC
        for route in (vendor.home, other):
            figures += _figures(vendor, route, scale.rounds * 2)
    size = len(msgspec.json.encode(coding_agent.anthropic_request(0)))
    notes = [
        f"the request has {size / 1000:.0f} kB: {coding_agent.TOOLS} tools, instructions, {coding_agent.TURNS} turns",
        "figures are processor time of all threads; in brackets on the wall",
    ]
    return Outcome(figures, notes=notes)


def _figures(vendor: Vendor, route: str, rounds: int) -> list[Figure]:
    target = resolve(route)
    numbers = count(1)
    world = World(transport=CannedTransport(Canned.of(target)), keys=KeyRing({target.provider: "none"}, {}))
    through = Caller(vendor, legato.client(route, world=world), numbers)
    alone = Caller(vendor, httpx2.Client(transport=CannedHttp(Canned.of(resolve(vendor.home)))), numbers)
    works: dict[str, Callable[[], Taken]] = {
        "warm": through.warm,
        "warm alone": alone.warm,
        "cold": through.cold,
        "cold alone": alone.cold,
        "first event": through.first_event,
        "first event alone": alone.first_event,
        IN_PROCESS: lambda: _in_process(vendor, target, numbers),
    }
    taken: dict[str, list[Taken]] = {name: [] for name in works}
    for number in range(rounds + 1):
        for name, work in works.items():
            one = work()
            if number:  # the first round warms up
                taken[name].append(one)
    on = f"{vendor.name} on {target.provider}"
    return [
        _more(f"{on}, warm", taken["warm"], taken["warm alone"], 3),
        _more(f"{on}, first event", taken["first event"], taken["first event alone"], 2),
        _cold(f"{on}, cold: more than {ALONE}", taken["cold"], taken["cold alone"], taken[IN_PROCESS]),
    ]


def _in_process(vendor: Vendor, target: Target, numbers: Iterator[int]) -> Taken:
    """What the same request costs at least: parse, render and verify it, without a gateway."""

    def run(body: bytes) -> None:
        parsed = parse(body, vendor.home)
        talk = parsed.conversation()
        render(talk, target, tools=parsed.tools, system=parsed.system, options=parsed.options).verify()

    requests = [vendor.first(next(numbers)) for _ in range(REQUESTS)]
    return timed(run, [msgspec.json.encode(fields | fields.pop("extra_body", {})) for fields in requests])


def _more(name: str, ones: list[Taken], alone: list[Taken], limit: float) -> Figure:
    pairs = list(zip(ones, alone, strict=True))
    processor = median(one.processor - base.processor for one, base in pairs) * 1000
    wall = median(one.wall - base.wall for one, base in pairs)
    base = milliseconds(median(base.processor for base in alone))
    return Figure(name, processor, "ms", ALONE, f"{base} ({milliseconds(wall)} on the wall)", Goal("at most", limit))


def _cold(name: str, ones: list[Taken], alone: list[Taken], floors: list[Taken]) -> Figure:
    more = [one.processor - base.processor for one, base in zip(ones, alone, strict=True)]
    times = median(added / floor.processor for added, floor in zip(more, floors, strict=True))
    floor = milliseconds(median(floor.processor for floor in floors))
    detail = f"{milliseconds(median(more))} / {floor}"
    return Figure(name, times, against=IN_PROCESS, detail=detail, goal=Goal("at most", 1.5))
