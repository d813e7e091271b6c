"""A tiny client for tests against simulated providers: render, send, decode, record, run the tools, again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
from msgspec.structs import replace

from legato.model import Entry, Options, Target, ToolCall, ToolSpec
from legato.request import render, resolve
from legato.simulation import Ask, Outcome, SimulatedProvider, SimulatedWorld, serve
from legato.transcript import Conversation
from legato.transport import HTTP_APIS, Key, Transport, open_answer, wire_request

READ = ToolSpec(
    "read_file",
    "Read a file.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
LIST = ToolSpec(
    "list_folder",
    "List a folder.",
    {"type": "object", "properties": {"folder": {"type": "string"}, "deep": {"type": "boolean"}}},
)
TOOLS = (READ, LIST)


def run_tool(call: ToolCall) -> str:
    """What the tools of these tests return: a text that tells which call it answers."""
    return f"the contents of {call.arguments.get('path') or call.arguments.get('folder')}"


class Client:
    """Talks to a transport. Nothing is repaired, retried or hidden here."""

    def __init__(
        self, transport: Transport, *, key: str | None = None, endpoints: dict[str, str] | None = None
    ) -> None:
        self.transport = transport
        self.key = None if key is None else Key(key)
        self.endpoints = endpoints or {}

    def target(self, route: str) -> Target:
        found = resolve(route)
        account = "" if self.key is None else self.key.account
        return replace(found, account=account, endpoint=self.endpoints.get(found.provider, found.endpoint))

    async def ask(self, talk: Conversation, route: str, *, stream: bool = True, **options: Any) -> Entry:
        """One request; its answer as it was recorded."""
        target = self.target(route)
        request = render(talk, target, tools=TOOLS, options=Options(stream=stream, **options))
        wire = wire_request(target, request.json(), key=self.key, stream=stream)
        async with open_answer(self.transport, wire, request.decoder(), decode=request.decode) as answering:
            answer = await answering.finish()
        return talk.record(answer)

    async def turn(self, talk: Conversation, route: str, text: str, *, stream: bool = True, **options: Any) -> Entry:
        """What the model says in the end, after all the tools it wanted."""
        talk.human(text)
        for _ in range(10):
            said = await self.ask(talk, route, stream=stream, **options)
            if not said.calls:
                return said
            for call in said.calls:
                talk.result(call, run_tool(call))
        raise AssertionError("the model calls tools for ever")


def post(
    provider: SimulatedProvider, body: bytes, *, model: str = "", headers: dict[str, str] | None = None
) -> Outcome:
    """What `provider` does with a body that somebody else wrote."""
    path = HTTP_APIS[provider.dialect].path.format(model=model)
    query = {"api-version": "2024-10-21"}  # which some deployments demand, and nobody minds
    return provider.answer(Ask(method="POST", path=path, headers=headers or {}, body=body, query=query))


@asynccontextmanager
async def running(world: SimulatedWorld) -> AsyncIterator[int]:
    """A server on this machine; gives its port."""
    async with anyio.create_task_group() as group:
        yield await group.start(partial(serve, world=world), "127.0.0.1", 0)
        group.cancel_scope.cancel()
