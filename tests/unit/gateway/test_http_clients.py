"""The clients that the official SDKs are given, and what each SDK makes of them."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any, NoReturn

import anthropic
import anyio
import anyio.lowlevel
import httpx
import httpx2
import mistralai.client as mistral
import openai
import pytest
from google import genai
from google.genai import types

import legato
from legato.errors import ConfigError, UnknownTarget
from legato.routing import Policy, Profile, Route
from legato.simulation import FaultKind, Faults, InjectedFault, SimulatedTransport, SimulatedWorld
from legato.transport import HttpTransport, KeyRing
from legato.world import World

CLAUDE, GPT, LARGE = "anthropic/claude-sonnet-4-5", "openai/gpt-5.1", "mistral/mistral-large-latest"
HELLO: Any = [{"role": "user", "content": "hello"}]
HEARD = 'claude-sonnet-4-5 (simulated) heard: "hello"'


@pytest.fixture(autouse=True)
def no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here may leave the process."""

    def refuse(*_: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)


# --- each SDK -----------------------------------------------------------------------------------------------------------


def claude(http_client: Any) -> anthropic.Anthropic:
    return anthropic.Anthropic(http_client=http_client, api_key="any", max_retries=0)


def gpt(http_client: Any) -> openai.OpenAI:
    return openai.OpenAI(http_client=http_client, api_key="any", max_retries=0)


def gemini(http_client: Any) -> genai.Client:
    return genai.Client(api_key="any", http_options=types.HttpOptions(httpx_client=http_client))


def large(http_client: Any) -> mistral.Mistral:
    return mistral.Mistral(client=http_client, api_key="any")


def _gemini_text(http_client: Any) -> str:
    return gemini(http_client).models.generate_content(model="gemini-2.5-pro", contents="hello").text or ""


def _mistral_text(http_client: Any) -> str:
    said: Any = large(http_client).chat.complete(model="mistral-large-latest", messages=HELLO)
    return said.choices[0].message.content


def _mistral_stream(http_client: Any) -> str:
    events: Any = large(http_client).chat.stream(model="mistral-large-latest", messages=HELLO)
    return "".join(event.data.choices[0].delta.content or "" for event in events)


def _claude_stream(http_client: Any) -> str:
    with claude(http_client).messages.stream(model="claude-opus-4-8", max_tokens=500, messages=HELLO) as stream:
        return "".join(stream.text_stream)


def _claude_text(http_client: Any) -> str:
    block = claude(http_client).messages.create(model="claude-opus-4-8", max_tokens=500, messages=HELLO).content[0]
    return block.text if block.type == "text" else ""


SYNCHRONOUS: dict[str, Callable[[Any], str | None]] = {
    "anthropic": _claude_text,
    "anthropic, streamed": _claude_stream,
    "openai": lambda http: gpt(http).chat.completions.create(model="m", messages=HELLO).choices[0].message.content,
    "openai, streamed": lambda http: "".join(
        chunk.choices[0].delta.content or ""
        for chunk in gpt(http).chat.completions.create(model="m", messages=HELLO, stream=True)
        if chunk.choices
    ),
    "responses": lambda http: gpt(http).responses.create(model="m", input="hello").output_text,
    "responses, streamed": lambda http: "".join(
        event.delta
        for event in gpt(http).responses.create(model="m", input="hello", stream=True)
        if event.type == "response.output_text.delta"
    ),
    "google": _gemini_text,
    "google, streamed": lambda http: "".join(
        chunk.text or ""
        for chunk in gemini(http).models.generate_content_stream(model="gemini-2.5-pro", contents="hello")
    ),
    "mistral": _mistral_text,
    "mistral, streamed": _mistral_stream,
}


@pytest.mark.parametrize("sdk", SYNCHRONOUS)
def test_every_sdk_is_answered_by_the_route(sdk: str) -> None:
    with legato.client(CLAUDE, simulate=True) as http_client:
        assert SYNCHRONOUS[sdk](http_client) == HEARD


async def _async_claude(http_client: Any) -> str:
    client = anthropic.AsyncAnthropic(http_client=http_client, api_key="any", max_retries=0)
    async with client.messages.stream(model="claude-opus-4-8", max_tokens=500, messages=HELLO) as stream:
        return "".join([text async for text in stream.text_stream])


async def _async_gpt(http_client: Any) -> str:
    client = openai.AsyncOpenAI(http_client=http_client, api_key="any", max_retries=0)
    chunks = await client.chat.completions.create(model="m", messages=HELLO, stream=True)
    return "".join([chunk.choices[0].delta.content or "" async for chunk in chunks if chunk.choices])


async def _async_responses(http_client: Any) -> str:
    client = openai.AsyncOpenAI(http_client=http_client, api_key="any", max_retries=0)
    return (await client.responses.create(model="m", input="hello")).output_text


async def _async_gemini(http_client: Any) -> str:
    client = genai.Client(api_key="any", http_options=types.HttpOptions(httpx_async_client=http_client))
    chunks = await client.aio.models.generate_content_stream(model="gemini-2.5-pro", contents="hello")
    return "".join([chunk.text or "" async for chunk in chunks])


async def _async_mistral(http_client: Any) -> str:
    client = mistral.Mistral(async_client=http_client, api_key="any")
    events: Any = await client.chat.stream_async(model="mistral-large-latest", messages=HELLO)
    return "".join([event.data.choices[0].delta.content or "" async for event in events])


@pytest.mark.parametrize("ask", [_async_claude, _async_gpt, _async_responses, _async_gemini, _async_mistral])
def test_every_asynchronous_sdk_is_answered_by_the_route(ask: Callable[[Any], Any]) -> None:
    async def asked() -> str:
        async with legato.async_client(CLAUDE, simulate=True) as http_client:
            return await ask(http_client)

    assert anyio.run(asked) == HEARD


@pytest.mark.parametrize("sdk", ["openai", "openai, streamed", "google", "google, streamed"])
def test_the_sdks_that_still_take_httpx_are_answered_through_it(sdk: str) -> None:
    with legato.client(CLAUDE, simulate=True, library="httpx") as http_client:
        assert SYNCHRONOUS[sdk](http_client) == HEARD


# --- what goes wrong ------------------------------------------------------------------------------------------------------


async def _no_wait(_: float) -> None:
    await anyio.lowlevel.checkpoint()


def failing(faults: Faults, routes: str | Profile = CLAUDE) -> httpx2.Client:
    transport = SimulatedTransport(SimulatedWorld(faults=faults))
    return legato.client(routes, world=World(transport=transport, sleep=_no_wait))


@pytest.mark.parametrize(
    ("sdk", "error"),
    [
        ("anthropic, streamed", httpx2.RemoteProtocolError),  # what this SDK makes of a network's cut, too
        ("openai, streamed", openai.APIError),
        ("responses, streamed", openai.APIConnectionError),
        ("google, streamed", genai.errors.APIError),
        ("mistral, streamed", httpx2.RemoteProtocolError),
    ],
)
def test_an_answer_that_breaks_off_in_its_middle_does_not_seem_whole(sdk: str, error: type[Exception]) -> None:
    cuts = Faults([InjectedFault(FaultKind.CUT, after=after) for after in [4] * 20])
    with failing(cuts) as http_client, pytest.raises(error):
        SYNCHRONOUS[sdk](http_client)


def test_a_provider_that_refuses_is_an_error_with_its_status() -> None:
    limits = Faults([FaultKind.RATE_LIMITED] * 20)
    with failing(limits) as http_client, pytest.raises(openai.RateLimitError):
        gpt(http_client).chat.completions.create(model="m", messages=HELLO)


def test_a_profile_goes_on_where_its_first_route_fails() -> None:
    chain = Profile("chain", (Route(CLAUDE), Route(GPT)), Policy.FAILOVER)
    with failing(Faults([FaultKind.QUOTA], provider="anthropic"), chain) as http_client:
        said = gpt(http_client).chat.completions.with_raw_response.create(model="m", messages=HELLO)
    assert said.headers["x-legato-route"] == GPT
    assert said.headers["x-legato-request"].startswith("req_")


def test_a_body_beyond_all_measure_is_refused_in_the_words_of_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("legato.gateway.in_process.LARGEST_BODY", 50)
    with legato.client(CLAUDE, simulate=True) as http_client:
        with pytest.raises(anthropic.RequestTooLargeError, match="longer than 50 bytes"):
            SYNCHRONOUS["anthropic"](http_client)
        with pytest.raises(openai.APIStatusError, match="longer than 50 bytes"):
            SYNCHRONOUS["openai"](http_client)


def test_a_route_that_nobody_knows_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(UnknownTarget):
        legato.client("nobody/any")
    with pytest.raises(UnknownTarget):
        legato.async_client("claude")
    with pytest.raises(UnknownTarget):
        legato.client(CLAUDE, profiles=[Profile("other", (Route("nobody/any"),))])


@pytest.mark.parametrize("face", [legato.client, legato.async_client])
def test_a_moment_to_switch_at_that_is_none_is_refused(face: Callable[..., Any]) -> None:
    with pytest.raises(ConfigError, match="moves on at every turn or request"):
        face(CLAUDE, switch="never")


def test_a_library_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="choose httpx2 or httpx"):
        legato.client(CLAUDE, library="requests")  # pyright: ignore[reportCallIssue, reportArgumentType]


# --- settings ---------------------------------------------------------------------------------------------------------------


def test_clients_are_those_of_the_library_and_say_what_they_are() -> None:
    assert isinstance(legato.client(CLAUDE), httpx2.Client)
    assert isinstance(legato.async_client(CLAUDE), httpx2.AsyncClient)
    assert isinstance(legato.client(CLAUDE, library="httpx"), httpx.Client)
    assert isinstance(legato.async_client(CLAUDE, library="httpx"), httpx.AsyncClient)
    assert repr(legato.client(CLAUDE)) == f"<legato.client {CLAUDE!r} on httpx2>"
    told = repr(legato.async_client(Route(GPT), simulate=True, library="httpx"))
    assert told == f"<legato.async_client {GPT!r} (simulated) on httpx>"


def test_further_settings_are_those_of_the_library() -> None:
    with legato.client(CLAUDE, simulate=True, timeout=3, headers={"x-mine": "1"}) as http_client:
        assert (http_client.timeout.read, http_client.headers["x-mine"]) == (3, "1")
        assert http_client.get("/v1/models").status_code == 200
    assert legato.client(CLAUDE).timeout.read is None


def answering(http_client: httpx2.Client, model: str) -> str:
    response = http_client.post("/v1/chat/completions", json={"model": model, "messages": HELLO})
    return response.headers["x-legato-route"]


def test_a_request_may_name_a_profile_or_a_pattern_leads_to_one() -> None:
    careful = Profile("careful", (Route(GPT),))
    models = {"small-*": LARGE}
    with legato.client(CLAUDE, profiles=[careful], models=models, simulate=True) as http_client:
        asked = {model: answering(http_client, model) for model in ("anything", "careful", "small-1")}
    assert asked == {"anything": CLAUDE, "careful": GPT, "small-1": LARGE}
    with legato.client("careful", profiles=[careful], simulate=True) as http_client:
        assert answering(http_client, "anything") == GPT


class Untouched(KeyRing):
    """Keys that nobody may look at."""

    def find(self, provider: str) -> NoReturn:
        raise AssertionError(f"the key of {provider} was looked for")


def test_simulated_providers_are_asked_without_a_key() -> None:
    with legato.client(CLAUDE, world=World(keys=Untouched({}, {})), simulate=True) as http_client:
        assert answering(http_client, "m") == CLAUDE


class Watched(HttpTransport):
    """A transport without a network that counts how often it was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = 0
        self._simulated = SimulatedTransport()

    async def send(self, request: Any) -> Any:
        return await self._simulated.send(request)

    async def aclose(self) -> None:
        self.closed += 1


def test_the_last_client_of_a_world_closes_its_connections() -> None:
    transport = Watched()
    world = World(transport=transport)
    first, second, unused = (legato.client(CLAUDE, world=world) for _ in range(3))
    assert (answering(first, "m"), answering(second, "m")) == (CLAUDE, CLAUDE)
    unused.close()
    first.close()
    assert transport.closed == 0
    second.close()
    assert transport.closed == 1


def test_the_last_asynchronous_client_of_a_world_closes_its_connections() -> None:
    transport = Watched()
    world = World(transport=transport)

    async def use() -> None:
        async with legato.async_client(CLAUDE, world=world) as first:
            async with legato.async_client(CLAUDE, world=world) as second:
                for each in (first, second):
                    await each.post("/v1/chat/completions", json={"model": "m", "messages": HELLO})
            assert transport.closed == 0
        assert transport.closed == 1

    anyio.run(use)
