"""The vendors' own clients, each of them answered with what a gateway says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import anthropic
import anyio
import httpx2
import mistralai.client as mistral
import openai
from google import genai
from google.genai import types

from legato.gateway.contract import CallIdForm, Door
from legato.model import Dialect
from legato.transport.contract import WireResponse
from legato.transport.operations import Operation

HI: Any = [{"role": "user", "content": "hi"}]


class Answering:
    """A connection on which every request is answered alike. `asked` counts the requests."""

    def __init__(self, response: WireResponse) -> None:
        self.asked = 0
        self.status, self.headers, self.body = response.status, dict(response.headers), body_of(response)

    def client(self) -> httpx2.Client:
        return httpx2.Client(transport=httpx2.MockTransport(self._answer))

    def _answer(self, _: httpx2.Request) -> httpx2.Response:
        self.asked += 1
        return httpx2.Response(self.status, headers=self.headers, content=self.body)


def answering(data: bytes, kind: str = "text/event-stream") -> httpx2.Client:
    """A connection on which every request is answered with `data`."""
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, headers={"content-type": kind}, content=data))
    return httpx2.Client(transport=transport)


def body_of(response: WireResponse) -> bytes:
    async def read() -> bytes:
        return b"".join([chunk async for chunk in response.chunks])

    return anyio.run(read)


def ask_anthropic(here: Answering, retries: int) -> Any:
    client = anthropic.Anthropic(api_key="any", http_client=here.client(), max_retries=retries)
    return client.messages.create(model="any", max_tokens=9, messages=HI)


def ask_openai_chat(here: Answering, retries: int) -> Any:
    client = openai.OpenAI(api_key="any", http_client=here.client(), max_retries=retries)
    return client.chat.completions.create(model="any", messages=HI)


def ask_openai_responses(here: Answering, retries: int) -> Any:
    client = openai.OpenAI(api_key="any", http_client=here.client(), max_retries=retries)
    return client.responses.create(model="any", input="hi")


def ask_google(here: Answering, _: int) -> Any:
    options = types.HttpOptions(httpx_client=here.client())
    return genai.Client(api_key="any", http_options=options).models.generate_content(model="any", contents="hi")


def ask_mistral(here: Answering, _: int) -> Any:
    with mistral.Mistral(api_key="any", client=here.client()) as client:
        return client.chat.complete(model="any", messages=HI)


class Official(NamedTuple):
    """A client, and the door at which it stands."""

    door: Door
    ask: Callable[[Answering, int], Any]


def door(dialect: Dialect, form: CallIdForm = CallIdForm.OPENAI, operation: Operation = Operation.ANSWER) -> Door:
    return Door(dialect=dialect, operation=operation, call_ids=form)


OFFICIAL: dict[str, Official] = {
    "anthropic": Official(door(Dialect.ANTHROPIC, CallIdForm.ANTHROPIC), ask_anthropic),
    "openai-chat": Official(door(Dialect.OPENAI_CHAT), ask_openai_chat),
    "openai-responses": Official(door(Dialect.OPENAI_RESPONSES), ask_openai_responses),
    "google": Official(door(Dialect.GEMINI), ask_google),
    "mistral": Official(door(Dialect.OPENAI_CHAT, CallIdForm.MISTRAL), ask_mistral),
}
