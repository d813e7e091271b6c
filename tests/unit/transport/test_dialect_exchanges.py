"""Every dialect's own replies, carried to its own decoders: over the seam without a socket."""

from __future__ import annotations

import json

import pytest

from event_frames import framed
from legato.errors import Overloaded, ProviderError
from legato.model import Answer, Dialect, Ending, Entry, Speaker, Target, Text, ToolCall
from legato.transport import WireRequest, WireResponse, open_answer, whole_response, wire_request
from legato.wire.contract import DialectParts
from legato.wire.dialects import dialect_parts
from legato.wire.names import NameTable

pytestmark = pytest.mark.anyio

ENDPOINT = "http://127.0.0.1:1/v1"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=list(Dialect))
def parts(request: pytest.FixtureRequest) -> DialectParts:
    return dialect_parts(request.param)


def target_of(parts: DialectParts) -> Target:
    return Target(dialect=parts.name, profile="openai", provider="p", model="m-1", endpoint=ENDPOINT)


class Canned:
    def __init__(self, response: WireResponse) -> None:
        self.response = response

    async def send(self, request: WireRequest) -> WireResponse:
        return self.response


def spoken(target: Target) -> Answer:
    blocks = (Text("I look."), ToolCall("read", {"path": "a"}, "call_abcdefgh1"))
    return Answer(Entry(Speaker.AI, blocks, origin=target.origin("m-1"), ending=Ending.CALLS), served="m-1")


async def answer_to(parts: DialectParts, response: WireResponse, *, stream: bool) -> Answer:
    target = target_of(parts)
    names = NameTable(target.capabilities.name_rule)
    request = wire_request(target, b"{}", key=None, stream=stream)
    async with open_answer(
        Canned(response), request, parts.decoder(target, names), decode=lambda body: parts.decode(body, target, names)
    ) as answer:
        return await answer.finish()


def heard(answer: Answer) -> tuple[str, list[tuple[str, object]], Ending | None]:
    return answer.text, [(call.name, call.arguments) for call in answer.calls], answer.entry.ending


EXPECTED = ("I look.", [("read", {"path": "a"})], Ending.CALLS)


async def test_an_answer_streamed_by_a_dialect_is_read_by_it(parts: DialectParts) -> None:
    pieces = list(parts.reply_stream(spoken(target_of(parts)), "m-1"))
    response = whole_response(200, pieces, {"content-type": "text/event-stream"})
    assert heard(await answer_to(parts, response, stream=True)) == EXPECTED


async def test_an_answer_given_whole_by_a_dialect_is_read_by_it(parts: DialectParts) -> None:
    body = json.dumps(parts.reply(spoken(target_of(parts)), "m-1")).encode()
    assert heard(await answer_to(parts, whole_response(200, body), stream=False)) == EXPECTED


STREAMED_ERRORS: dict[Dialect, object] = {
    Dialect.OPENAI_CHAT: {"error": {"message": "The server had an error", "type": "server_error"}},
    Dialect.OPENAI_RESPONSES: {"type": "error", "code": "server_error", "message": "The server had an error"},
    Dialect.ANTHROPIC: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    Dialect.GEMINI: {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}},
    Dialect.VERCEL: {"type": "error", "errorText": "The server is overloaded"},
    Dialect.BEDROCK: {"serviceUnavailableException": {"message": "Bedrock cannot serve this now"}},
}


async def test_an_error_in_place_of_an_answer_is_typed_for_every_dialect(parts: DialectParts) -> None:
    event = framed(STREAMED_ERRORS[parts.name], parts.name)
    with pytest.raises(ProviderError) as caught:
        await answer_to(parts, whole_response(200, event), stream=True)
    assert type(caught.value) is Overloaded
