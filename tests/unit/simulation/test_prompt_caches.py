"""Prompt caches: a prefix that stays is read for less, one that breaks is paid for again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato import Session, World
from legato.model import Dialect, Options, Usage
from legato.request import render
from legato.simulation import Ask, SimulatedProvider, SimulatedTransport
from legato.simulation.prompt_cache import PromptCache
from legato.transcript import Conversation
from legato.transport import HTTP_APIS
from legato.wire.hosts.openai import HOST
from simulation_support import TOOLS, post

LONG = "All work and no play makes Jack a dull boy. "
ROUTES = {
    "openai/gpt-4.1": 1024,
    "openai-responses/gpt-4.1": 1024,
    "anthropic/claude-sonnet-4-5": 1024,
    "gemini/gemini-2.5-flash": 2048,
    "deepseek/deepseek-chat": 64,
    "kimi/kimi-k2.5": 64,
}


class Talker:
    """Asks one provider, turn by turn, and says what each request cost."""

    def __init__(self, route: str, system: str = "") -> None:
        self.route, self.system = route, system
        self.talk = Conversation()
        self.provider = SimulatedProvider(route.partition("/")[0])

    def say(self, text: str, **more: Any) -> Usage:
        self.talk.human(text)
        options = Options(max_tokens=500, **more)
        request = render(self.talk, self.route, system=self.system, tools=TOOLS, options=options)
        outcome = post(self.provider, request.json(), model=request.target.model)
        answer = request.decode(outcome.reply.body)
        self.talk.record(answer)
        assert answer.usage is not None
        return answer.usage


@pytest.mark.parametrize("route", ROUTES)
def test_what_was_sent_before_is_read_from_the_cache(route: str) -> None:
    talker = Talker(route, system=LONG * 600)
    first, second, third = talker.say("Hello"), talker.say("Again"), talker.say("And again")

    assert first.cache_read == 0
    assert second.cache_read > 0.9 * first.input
    assert third.cache_read >= second.cache_read
    assert third.cache_read > 0.9 * second.input


@pytest.mark.parametrize("route", ROUTES)
def test_a_broken_prefix_is_paid_for_again(route: str) -> None:
    talker = Talker(route, system=LONG * 600)
    talker.say("Hello")
    talker.system = "Today is Monday. " + talker.system
    assert talker.say("Again").cache_read < 500  # the tools, which stand before the instructions


@pytest.mark.parametrize("route", ROUTES)
def test_nothing_is_cached_below_the_minimum(route: str) -> None:
    talker = Talker(route, system=LONG * max(0, ROUTES[route] // 25))
    first, second = talker.say("Hello"), talker.say("Again")
    if first.input < ROUTES[route]:
        assert (first.cache_write, second.cache_read) == (0, 0)
    else:  # a minimum that the tools alone exceed
        assert second.cache_read >= ROUTES[route]


def test_one_account_and_one_model_do_not_warm_the_cache_of_another() -> None:
    provider = SimulatedProvider("openai")

    def read(model: str, key: str) -> int:
        body = {"model": model, "messages": [{"role": "user", "content": LONG * 300}]}
        ask = Ask(
            method="POST",
            path=HTTP_APIS[Dialect.OPENAI_CHAT].path,
            headers={"authorization": f"Bearer {key}"},
            body=json.dumps(body).encode(),
        )
        usage = json.loads(provider.answer(ask).reply.body)["usage"]
        return usage["prompt_tokens_details"]["cached_tokens"]

    assert read("gpt-4.1", "sk-one") == 0
    assert read("gpt-4.1", "sk-two") == 0
    assert read("gpt-4o", "sk-one") == 0
    assert read("gpt-4.1", "sk-one") > 1024


# --- Anthropic's marks ------------------------------------------------------------------------------------------------


def claude(provider: SimulatedProvider, *messages: dict[str, Any], **more: Any) -> tuple[int, int, int]:
    """What was read, written, and neither."""
    body = {"model": "claude-sonnet-4-5", "max_tokens": 500, "messages": list(messages), **more}
    usage = json.loads(post(provider, json.dumps(body).encode()).reply.body)["usage"]
    return usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"], usage["input_tokens"]


def block(text: str, *, marked: bool = False) -> dict[str, Any]:
    return {"type": "text", "text": text} | ({"cache_control": {"type": "ephemeral"}} if marked else {})


def says(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def test_anthropic_caches_only_what_is_marked() -> None:
    provider = SimulatedProvider("anthropic")
    for _ in range(2):
        assert claude(provider, says(block(LONG * 300)))[:2] == (0, 0)
    read, written, rest = claude(provider, says(block(LONG * 300, marked=True), block("Hello")))
    assert (read, written > 1024, rest < 100) == (0, True, True)
    assert claude(provider, says(block(LONG * 300, marked=True), block("Good night")))[0] == pytest.approx(
        written, abs=2
    )


def test_a_mark_that_moves_on_breaks_no_prefix() -> None:
    provider = SimulatedProvider("anthropic")
    _, written, _ = claude(provider, says(block(LONG * 300, marked=True)))
    read, more, _ = claude(provider, says(block(LONG * 300), block(LONG * 100, marked=True)))
    assert read == pytest.approx(written, abs=50)
    assert more > 500


def test_a_mark_is_not_found_more_than_twenty_blocks_back() -> None:
    for count, is_found in ((20, True), (21, False)):
        provider = SimulatedProvider("anthropic")
        claude(provider, says(block(LONG * 300, marked=True)))
        more = [block(f"block {number}", marked=number == count - 1) for number in range(count)]
        assert (claude(provider, says(block(LONG * 300), *more))[0] > 0) is is_found


def test_a_request_that_is_marked_as_a_whole_is_cached_to_its_end() -> None:
    provider = SimulatedProvider("anthropic")
    whole = {"cache_control": {"type": "ephemeral"}}
    _, written, rest = claude(provider, says(block(LONG * 300)), **whole)
    assert (written > 1024, rest) == (True, 0)
    assert claude(provider, says(block(LONG * 300)), **whole)[0] == written


def test_switching_thinking_on_leaves_only_tools_and_instructions_in_the_cache() -> None:
    provider = SimulatedProvider("anthropic")
    system = [block(LONG * 200, marked=True)]
    asked = says(block(LONG * 200, marked=True))
    _, written, _ = claude(provider, asked, system=system)
    thinking = {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2000}
    read, again, _ = claude(provider, asked, system=system, **thinking)
    assert read == pytest.approx(written / 2, rel=0.1)
    assert again == pytest.approx(written / 2, rel=0.1)


# --- always -----------------------------------------------------------------------------------------------------------

TEXTS = st.lists(st.sampled_from([LONG * 20, LONG * 40, "Hello", "No"]), min_size=1, max_size=6)


@given(TEXTS, TEXTS)
def test_a_hit_is_never_longer_than_what_two_requests_share(one: list[str], two: list[str]) -> None:
    def take(cache: PromptCache, texts: list[str]) -> int:
        body = {"messages": [{"role": "user", "content": text} for text in texts]}
        tokens = len(json.dumps(body)) // 4
        return cache.take(body, Dialect.OPENAI_CHAT, tokens=tokens, model="gpt-4.1", account="").read

    cache = PromptCache(HOST.server.cache)
    take(cache, one)
    read = take(cache, two)
    shared = next(
        (place for place, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two))
    )
    most = sum(len(text) + 40 for text in two[:shared]) // 4 + len(LONG) * 20 // 4 + 100
    assert read % 128 == 0
    assert read <= most
    if one == two and read == 0:
        assert sum(map(len, two)) // 4 < 1024 + 200


@pytest.mark.anyio
@pytest.mark.parametrize("route", ["openai/gpt-4.1", "anthropic/claude-sonnet-4-5"])
async def test_a_session_pays_less_for_what_stays(route: str) -> None:
    world = World(transport=SimulatedTransport())
    async with Session(route, system=LONG * 600, world=world) as session:
        first, second = await session.send("Hello"), await session.send("Again")
    assert second.usage.cache_read > 0.9 * first.usage.input
    assert second.cost is not None
    assert first.cost is not None
    assert second.cost < first.cost / 2


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
