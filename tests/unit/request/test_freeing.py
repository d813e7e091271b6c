"""A conversation that nobody uses any more is gone at once, with all that was rendered of it."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from legato.request import Request, render
from legato.transcript.conversation import Conversation

from builders import calls, result, user


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def send(request: Request) -> bytes:
    request.verify()
    request.digest()
    return request.json()


@pytest.mark.parametrize("route", ["anthropic/claude-opus-4-8", "openai/gpt-5.2", "openai-responses/gpt-5"])
def test_a_rendered_conversation_needs_no_garbage_collector(route: str):
    talk = Conversation()
    talk.take([user("hi"), calls("a", "b"), result("a")])
    for _ in range(2):
        send(render(talk, route))
        talk.take([result("b"), user("go on")])
    parts = [weakref.ref(talk), weakref.ref(talk.composer)]

    del talk

    assert [part() for part in parts] == [None, None]
