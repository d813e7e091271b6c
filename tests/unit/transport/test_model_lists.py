"""A provider's list of models: asked for as its API wants it, read whatever stands in it, ended whatever it sends."""

from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import anyio
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.errors import BadAnswer, ConfigError, TimedOut, Unauthorized
from legato.request import default_catalogue
from legato.simulation import SimulatedTransport, SimulatedWorld
from legato.transport import Bounds, HttpTransport, Key, Timeouts, WireRequest, WireResponse, whole_response
from legato.transport.model_lists import OfferedModel, fetch_models, models_request
from loopback import loopback

pytestmark = pytest.mark.anyio
KEY = Key("sk-test-0123456789")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Provider:
    """A transport that answers with what it is told to, by the query of the request."""

    def __init__(self, answer: Callable[[dict[str, str]], Any]) -> None:
        self.answer = answer
        self.requests: list[WireRequest] = []

    async def send(self, request: WireRequest) -> WireResponse:
        self.requests.append(request)
        said = self.answer(dict(parse_qsl(urlsplit(request.url).query)))
        return whole_response(200, said if isinstance(said, bytes) else msgspec.json.encode(said))


async def fetched(route: str, answer: Any) -> list[OfferedModel]:
    return await fetch_models(Provider(lambda _: answer), default_catalogue().resolve(route), key=KEY)


@pytest.mark.parametrize(
    ("route", "url", "header"),
    [
        ("openai/gpt-4o", "https://api.openai.com/v1/models", "authorization"),
        ("openai-responses/gpt-4o", "https://api.openai.com/v1/models", "authorization"),
        ("anthropic/claude-opus-4-8", "https://api.anthropic.com/v1/models?limit=1000", "x-api-key"),
        (
            "gemini/gemini-3.8-flash",
            "https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000",
            "x-goog-api-key",
        ),
    ],
)
def test_a_list_is_asked_for_where_the_provider_keeps_it(route: str, url: str, header: str):
    request = models_request(default_catalogue().resolve(route), key=KEY)

    assert (request.method, request.url, request.body, list(request.secrets)) == ("GET", url, b"", [header])
    assert "content-type" not in request.headers


def test_a_provider_without_a_list_says_so():
    with pytest.raises(ConfigError, match="vercel has no list of models"):
        models_request(default_catalogue().resolve("vercel/any"), key=None)


@pytest.mark.parametrize(
    ("route", "answer", "models"),
    [
        (
            "openai/gpt-4o",
            {"data": [{"id": "a", "shutdown_date": "2026-12-11"}, {"id": "b", "shutdown_date": None}]},
            [OfferedModel(name="a", retires="2026-12-11"), OfferedModel(name="b")],
        ),
        (
            "anthropic/claude-opus-4-8",
            {"data": [{"id": "a", "max_input_tokens": 9, "max_tokens": 3}], "has_more": False},
            [OfferedModel(name="a", window=9, max_output=3)],
        ),
        (
            "gemini/gemini-3.8-flash",
            {"models": [{"name": "models/a", "inputTokenLimit": 9, "outputTokenLimit": 3}]},
            [OfferedModel(name="a", window=9, max_output=3)],
        ),
        (
            "mistral/mistral-large-latest",
            {"data": [{"id": "a", "max_context_length": 9, "deprecation": "2026-05-22T00:00:00Z"}]},
            [OfferedModel(name="a", window=9, retires="2026-05-22")],
        ),
        ("together/any", [{"id": "a", "context_length": 9}], [OfferedModel(name="a", window=9)]),
        ("vllm/any", {"data": [{"id": "a", "max_model_len": True}, {"id": 1}, None, {}]}, [OfferedModel(name="a")]),
    ],
)
async def test_each_shape_of_list_is_read(route: str, answer: Any, models: list[OfferedModel]):
    assert await fetched(route, answer) == models


async def test_all_pages_of_a_list_are_read():
    pages = {
        "": {"data": [{"id": "a"}], "has_more": True, "last_id": "a"},
        "a": {"data": [{"id": "b"}], "has_more": True, "last_id": "b"},
        "b": {"data": [{"id": "c"}], "has_more": False, "last_id": "c"},
    }
    provider = Provider(lambda query: pages[query.get("after_id", "")])
    found = await fetch_models(provider, default_catalogue().resolve("anthropic/x"), key=KEY)

    assert [model.name for model in found] == ["a", "b", "c"]


async def test_a_list_that_never_ends_is_left_after_some_pages():
    provider = Provider(lambda query: {"models": [], "nextPageToken": query.get("pageToken", "") + "x"})

    assert await fetch_models(provider, default_catalogue().resolve("gemini/x"), key=KEY) == []
    assert len(provider.requests) == 50


@pytest.mark.parametrize("body", [b"", b"hello", b"<html>", b"{}", b'{"data": {}}', b"3", b"[" * 100_000])
async def test_what_is_no_list_is_a_bad_answer(body: bytes):
    with pytest.raises(
        BadAnswer, match=r"the list of models of openai at https://api\.openai\.com/v1/models cannot be"
    ):
        await fetched("openai/gpt-4o", body)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("2026-01-01"),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["data", "models", "id", "name", "max_tokens", "has_more", "last_id"]), inner
            )
        ),
        max_leaves=12,
    )
)
def test_whatever_json_comes_is_read_or_refused(value: Any):
    async def ask() -> list[OfferedModel]:
        try:
            return await fetched("anthropic/x", value)
        except BadAnswer:
            return []

    assert all(model.name for model in anyio.run(ask))


async def test_a_list_that_is_too_long_is_left_before_its_end():
    taken = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal taken
        while True:
            taken += 1
            yield b" " * 1_000

    class Endless:
        async def send(self, request: WireRequest) -> WireResponse:
            return WireResponse(200, {}, endless(), bounds=Bounds(body=10_000))

    with pytest.raises(BadAnswer, match="it is longer than 10,000 bytes"):
        await fetch_models(Endless(), default_catalogue().resolve("openai/x"), key=KEY)
    assert taken == 11


async def test_a_silent_server_is_not_waited_for():
    async def silence(reader: Any, writer: Any) -> None:
        await anyio.sleep_forever()

    async with loopback(silence) as server, HttpTransport(Timeouts(first_byte=0.01)) as transport:
        target = default_catalogue().resolve("openai/x", endpoint=server.url)
        with pytest.raises(TimedOut, match="was silent for longer"):
            await fetch_models(transport, target, key=KEY)


async def test_a_provider_of_a_vendor_is_not_asked_without_a_key():
    async with HttpTransport() as transport:
        with pytest.raises(Unauthorized, match="there is no key for openai"):
            await fetch_models(transport, default_catalogue().resolve("openai/x"), key=None)


async def test_a_wrong_key_is_refused_by_a_simulated_provider_and_not_shown():
    transport = SimulatedTransport(SimulatedWorld(needs_keys=True))
    with pytest.raises(Unauthorized) as raised:
        await fetch_models(transport, default_catalogue().resolve("openai/gpt-4o"), key=Key("bad-key-0123456789"))
    assert "bad-key" not in raised.value.message
