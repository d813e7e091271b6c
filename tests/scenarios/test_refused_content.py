"""A provider that cannot read what a tool's result holds: a note stands in its place, there and from then on."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from legato.errors import BadRequest
from legato.model import JsonObject, Media, MediaKind, ToolSpec
from legato.model.records import TurnOutcome
from legato.request import render
from legato.session import Session, events
from legato.simulation import SimulatedTransport, SimulatedWorld
from legato.store.memory import MemoryStore
from legato.tools import Tool, ToolContext, ToolKind, ToolOutput
from legato.transport import WireRequest, WireResponse
from session_support import CLAUDE, GEMINI, GPT, PATH, Time, session, told, world

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


BROKEN, GOOD = "QlJPS0VO", "R09PRElNQUdF"
SAID = {
    CLAUDE: "messages.2.content.0.tool_result.content.1.image.source.base64.data: Could not process image",
    GPT: "Invalid image data: the image could not be decoded",
    GEMINI: "Unable to process input image. Please retry or report in the developer community",
}


class Choosy:
    """Simulated providers, some of which cannot read one image."""

    def __init__(self, *providers: str) -> None:
        self.inner = SimulatedTransport(SimulatedWorld(sleep=Time().sleep))
        self.providers = providers
        self.refused = 0
        self.bodies: list[bytes] = []

    async def send(self, request: WireRequest) -> WireResponse:
        self.bodies.append(request.body)
        provider = request.route.partition("/")[0]
        if provider not in self.providers or BROKEN.encode() not in request.body:
            return await self.inner.send(request)
        self.refused += 1
        words = next(said for route, said in SAID.items() if route.startswith(f"{provider}/"))

        async def chunks() -> AsyncIterator[bytes]:
            yield json.dumps({"error": {"message": words, "type": "invalid_request_error"}}).encode()

        return WireResponse(400, {}, chunks())


async def _look(arguments: JsonObject, _: ToolContext) -> object:
    data = BROKEN if arguments["path"] == "broken.png" else GOOD
    return ToolOutput(
        f"looked at {arguments['path']}", media=(Media(kind=MediaKind.IMAGE, mime="image/png", data=data),)
    )


LOOK = Tool(spec=ToolSpec("look_at", "Look at an image.", PATH), run=_look, kind=ToolKind.READ)


@pytest.mark.parametrize("route", [CLAUDE, GPT, GEMINI])
async def test_an_image_that_the_provider_cannot_read_does_not_poison_the_session(route: str) -> None:
    choosy = Choosy(route.partition("/")[0])
    async with session(route, tools=[LOOK], world=world(choosy)) as talk:
        turn = talk.send("use look_at on broken.png")
        seen = [event async for event in turn]
        assert (await turn).outcome is TurnOutcome.DONE
        assert (await talk.send("and now?")).outcome is TurnOutcome.DONE
    assert choosy.refused == 1, "it is not sent again"
    assert f"content refused by {route.partition('/')[0]}: broken.png" in told(talk.talk.log)
    assert [event.text for event in seen if isinstance(event, events.Notice)] == [
        f"{route} cannot read what a tool's result holds; sending a note in its place"
    ]
    assert b"looked at broken.png" in choosy.bodies[-1], "only the image is gone"


async def test_what_was_answered_before_is_not_taken_for_the_cause() -> None:
    choosy = Choosy("anthropic")
    async with session(CLAUDE, tools=[LOOK], world=world(choosy)) as talk:
        await talk.send("use look_at on good.png")
        await talk.send("use look_at on broken.png")
    assert choosy.refused == 1
    assert GOOD.encode() in choosy.bodies[-1]
    assert BROKEN.encode() not in choosy.bodies[-1]


async def test_another_provider_still_gets_the_image_and_the_report_says_who_does_not() -> None:
    choosy = Choosy("anthropic")
    async with session(CLAUDE, tools=[LOOK], world=world(choosy)) as talk:
        await talk.send("use look_at on broken.png")
        await talk.switch(GEMINI)
        await talk.send("and now?")
        assert BROKEN.encode() in choosy.bodies[-1]
        report = render(talk.talk, talk.world.target(CLAUDE), tools=talk.tools.specs).report
    (call,) = report.calls_seen
    assert [
        (decision.reason, decision.calls) for decision in report.decisions if decision.reason == "media-refused"
    ] == [("media-refused", (call,))]


async def test_a_resumed_session_remembers_what_was_refused() -> None:
    store, choosy = MemoryStore(), Choosy("anthropic")
    async with session(CLAUDE, tools=[LOOK], world=world(choosy), store=store) as talk:
        await talk.send("use look_at on broken.png")
    again = await Session.resume(str(talk.id), store=store, tools=[LOOK], world=world(choosy))
    async with again:
        assert (await again.send("and now?")).outcome is TurnOutcome.DONE
    assert choosy.refused == 1


async def test_what_a_person_attached_is_left_to_the_person() -> None:
    choosy = Choosy("anthropic")
    async with session(CLAUDE, tools=[LOOK], world=world(choosy)) as talk:
        turn = talk.send("what is this?", Media(kind=MediaKind.IMAGE, mime="image/png", data=BROKEN))
        with pytest.raises(BadRequest):
            await turn
    assert choosy.refused == 1
    assert not [line for line in told(talk.talk.log) if line.startswith("content refused")]
