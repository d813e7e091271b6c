"""Lent credentials that a provider refuses are asked for once more; then the refusal is what it is."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from legato.errors import Unauthorized
from legato.request import Request, default_catalogue, render
from legato.session import World
from legato.transcript import Conversation
from legato.transport import KeyRing, WireRequest, WireResponse, whole_response

pytestmark = pytest.mark.anyio

NOW = 1_777_593_600.0
ANSWER = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hello."}]}, "finishReason": "STOP"}]}
CONVERSE = {
    "output": {"message": {"role": "assistant", "content": [{"text": "Hello."}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
}
STALE = {
    "error": {"code": 401, "message": "Request had invalid authentication credentials.", "status": "UNAUTHENTICATED"}
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Door:
    """A provider that accepts a request whose authorisation holds `good`; `refused` runs after each refusal."""

    def __init__(
        self, good: str, *, refusal: tuple[int, Any] = (401, STALE), refused: Callable[[], object] = lambda: None
    ) -> None:
        self.good = good
        self.refusal = refusal
        self.refused = refused
        self.seen: list[str] = []

    async def send(self, request: WireRequest) -> WireResponse:
        headers = request.sent_headers()
        self.seen.append(headers["authorization"])
        if self.good in headers["authorization"]:
            return whole_response(
                200, json.dumps(CONVERSE if request.target.provider == "bedrock" else ANSWER).encode()
            )
        self.refused()
        status, body = self.refusal
        return whole_response(status, json.dumps(body).encode())


def world(door: Door, route: str, environment: dict[str, str], **fields: str) -> World:
    provider = route.partition("/")[0]
    known = default_catalogue().extended({"providers": {provider: fields}})
    return World(transport=door, catalogue=known, keys=KeyRing({}, environment, known), clock=lambda: NOW)


async def answer_of(here: World, route: str) -> str:
    talk = Conversation()
    talk.human("Hi")
    request: Request = render(talk, here.target(route))
    async with await here.open_answer(request, body=request.json(), stream=False) as stream:
        return (await stream.finish()).text


VERTEX, GOOGLE = "vertex/gemini-2.5-pro", {"GOOGLE_CLOUD_PROJECT": "mine", "HOME": "/nowhere"}


def counting(tmp_path: Path, form: str = "token-%s") -> str:
    """A command that prints another token each time it is run."""
    tally = shlex.quote(str(tmp_path / "tally"))
    return shlex.join(["sh", "-c", f'printf x >> {tally}; printf "$0" "$(wc -c < {tally} | tr -d " ")"', form])


async def test_a_command_is_run_once_more_after_a_refusal(tmp_path: Path):
    door = Door("token-2")
    here = world(door, VERTEX, GOOGLE, token_command=counting(tmp_path))

    assert [await answer_of(here, VERTEX) for _ in range(2)] == ["Hello.", "Hello."]
    assert door.seen == ["Bearer token-1", "Bearer token-2", "Bearer token-2"]


async def test_a_second_refusal_is_told(tmp_path: Path):
    door = Door("token-9")
    with pytest.raises(Unauthorized, match="Request had invalid authentication credentials"):
        await answer_of(world(door, VERTEX, GOOGLE, token_command=counting(tmp_path)), VERTEX)

    assert door.seen == ["Bearer token-1", "Bearer token-2"]


async def test_a_file_is_read_once_more_after_a_refusal(tmp_path: Path):
    file = tmp_path / "token"
    file.write_text("old")
    door = Door("new", refused=lambda: file.write_text("new"))

    assert await answer_of(world(door, VERTEX, GOOGLE, token_file=str(file)), VERTEX) == "Hello."
    assert door.seen == ["Bearer old", "Bearer new"]


@pytest.mark.parametrize(
    ("environment", "fields"),
    [
        ({"GOOGLE_ACCESS_TOKEN": "same"}, {}),
        ({}, {"token_command": "printf same"}),
    ],
)
async def test_what_would_be_the_same_again_is_not_sent_again(environment: dict[str, str], fields: dict[str, str]):
    door = Door("other")
    with pytest.raises(Unauthorized):
        await answer_of(world(door, VERTEX, {**GOOGLE, **environment}, **fields), VERTEX)

    assert door.seen == ["Bearer same"]


async def test_a_library_is_asked_once_more_after_a_refusal(monkeypatch: pytest.MonkeyPatch):
    class Credentials:
        asked = 0
        token = ""
        expiry = None

        def refresh(self, _request: object) -> None:
            type(self).asked += 1
            self.token = f"token-{type(self).asked}"

    library: Any = ModuleType("google.auth")
    library.default = lambda scopes: (Credentials(), scopes)
    requests: Any = ModuleType("google.auth.transport.requests")
    requests.Request = object
    monkeypatch.setitem(sys.modules, "google.auth", library)
    monkeypatch.setitem(sys.modules, "google.auth.transport.requests", requests)
    monkeypatch.setattr("legato.transport.credentials.tokens.find_spec", lambda name: name)
    door = Door("token-2")

    assert await answer_of(world(door, VERTEX, GOOGLE), VERTEX) == "Hello."
    assert door.seen == ["Bearer token-1", "Bearer token-2"]


EXPIRED = {"message": "The security token included in the request is expired"}
NOT_ALLOWED = {"message": "User is not authorized to perform: bedrock:InvokeModel"}


@pytest.mark.parametrize(("said", "requests"), [(EXPIRED, 2), (NOT_ALLOWED, 1)])
async def test_aws_refuses_old_keys_with_403_and_so_what_is_said_decides(tmp_path: Path, said: Any, requests: int):
    printed = json.dumps({"Version": 1, "AccessKeyId": "ASIA%s", "SecretAccessKey": "s", "SessionToken": "t%s"})
    door = Door("Credential=ASIA2/", refusal=(403, said))
    route = "bedrock/amazon.nova-pro-v1:0"
    here = world(door, route, {"AWS_REGION": "eu-central-1"}, token_command=counting(tmp_path, printed))
    if requests == 2:
        assert await answer_of(here, route) == "Hello."
    else:
        with pytest.raises(Unauthorized, match="not authorized"):
            await answer_of(here, route)

    assert len(door.seen) == requests


async def test_whoever_comes_second_takes_what_the_first_was_lent(tmp_path: Path):
    door = Door("token-2")
    here = world(door, VERTEX, GOOGLE, token_command=counting(tmp_path))
    refused = await here.outgoing(here.target(VERTEX), b"{}", stream=False)
    await answer_of(here, VERTEX)
    from legato.transport.credentials import renew

    renewed = await renew(refused, here.catalogue.providers["vertex"], here.keys, now=NOW)
    assert renewed is not None
    assert renewed.sent_headers()["authorization"] == "Bearer token-2"
    assert (tmp_path / "tally").read_text() == "xx"
