"""Simulated providers on a real socket: the vendors' own clients and our transport finish a tool turn there."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import anthropic
import mistralai.client as mistral
import openai
import pytest
from google import genai
from google.genai import types

from legato.errors import BadAnswer, ProviderError, RateLimited, TimedOut, Unreachable
from legato.model import Ending, ThinkingSwitch
from legato.simulation import FaultKind, Faults, InjectedFault, SimulatedWorld, base_urls
from legato.transcript import Conversation
from legato.transport import HttpTransport, Timeouts
from simulation_support import READ, Client, running

from builders import OTHER_ROUTES, ROUTES

pytestmark = pytest.mark.anyio

ASK = "think first and use read_file on a.txt and b.txt"
ANSWER = 'read_file returned: "hello a.txt"; read_file returned: "hello b.txt".'
SCHEMA: Any = READ.parameters
Talk = Callable[[str, bool], Awaitable[str]]
BOTH = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def hello(arguments: str | dict[str, Any] | None) -> str:
    read = json.loads(arguments) if isinstance(arguments, str) else arguments or {}
    return f"hello {read['path']}"


# --- the vendors' clients ---------------------------------------------------------------------------------------------


async def talk_with_openai_chat(url: str, stream: bool) -> str:
    tools: Any = [{"type": "function", "function": {"name": "read_file", "parameters": SCHEMA}}]
    messages: list[Any] = [{"role": "user", "content": ASK}]
    async with openai.AsyncOpenAI(api_key="sk-any", base_url=url) as client:
        while True:
            if stream:
                async with client.chat.completions.stream(model="gpt-5", messages=messages, tools=tools) as events:
                    answer = await events.get_final_completion()
            else:
                answer = await client.chat.completions.create(model="gpt-5", messages=messages, tools=tools)
            said = answer.choices[0].message
            if not said.tool_calls:
                return said.content or ""
            calls: list[Any] = [call.model_dump(include={"id", "type", "function"}) for call in said.tool_calls]
            for call in calls:
                call["function"].pop("parsed_arguments", None)
            messages.append({"role": "assistant", "content": said.content, "tool_calls": calls})
            messages += [
                {"role": "tool", "tool_call_id": call["id"], "content": hello(call["function"]["arguments"])}
                for call in calls
            ]


async def talk_with_openai_responses(url: str, stream: bool) -> str:
    tools: Any = [{"type": "function", "name": "read_file", "parameters": SCHEMA, "strict": False}]
    items: list[Any] = [{"role": "user", "content": ASK}]
    asked: Any = {"model": "gpt-5.1", "tools": tools, "reasoning": {"summary": "auto"}, "store": False}
    asked["include"] = ["reasoning.encrypted_content"]
    async with openai.AsyncOpenAI(api_key="sk-any", base_url=url) as client:
        while True:
            if stream:
                async with client.responses.stream(input=items, **asked) as events:
                    answer: Any = await events.get_final_response()
            else:
                answer = await client.responses.create(input=items, **asked)
            assert answer.output[0].type == "reasoning"
            calls = [item for item in answer.output if item.type == "function_call"]
            if not calls:
                return answer.output_text
            items += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in answer.output]
            items += [
                {"type": "function_call_output", "call_id": call.call_id, "output": hello(call.arguments)}
                for call in calls
            ]


async def talk_with_anthropic(url: str, stream: bool) -> str:
    messages: list[Any] = [{"role": "user", "content": ASK}]
    asked: Any = {"model": "claude-haiku-4-5", "max_tokens": 4096}
    asked["tools"] = [{"name": "read_file", "input_schema": SCHEMA}]
    asked["thinking"] = {"type": "enabled", "budget_tokens": 2048}
    async with anthropic.AsyncAnthropic(api_key="sk-any", base_url=url) as client:
        while True:
            if stream:
                async with client.messages.stream(messages=messages, **asked) as events:
                    answer = await events.get_final_message()
            else:
                answer = await client.messages.create(messages=messages, **asked)
            assert answer.content[0].type == "thinking"
            messages.append(
                {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in answer.content]}
            )
            results = [
                {"type": "tool_result", "tool_use_id": block.id, "content": hello(block.input)}
                for block in answer.content
                if block.type == "tool_use"
            ]
            if not results:
                return "".join(block.text for block in answer.content if block.type == "text")
            messages.append({"role": "user", "content": results})


async def talk_with_gemini(url: str, stream: bool) -> str:
    declared = types.FunctionDeclaration(name="read_file", parameters_json_schema=SCHEMA)
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[declared])],
        thinking_config=types.ThinkingConfig(include_thoughts=True),
    )
    contents: list[Any] = [types.Content(role="user", parts=[types.Part(text=ASK)])]
    options = types.HttpOptions(base_url=url.removesuffix("/v1beta"), api_version="v1beta")
    client = genai.Client(api_key="any", http_options=options).aio
    asked: Any = {"model": "gemini-3-pro-preview", "config": config}
    try:
        while True:
            parts: list[types.Part] = []
            if stream:
                async for chunk in await client.models.generate_content_stream(contents=contents, **asked):
                    parts += _parts(chunk)
            else:
                parts = _parts(await client.models.generate_content(contents=contents, **asked))
            contents.append(types.Content(role="model", parts=parts))
            calls = [part.function_call for part in parts if part.function_call]
            if not calls:
                return "".join(part.text or "" for part in parts if not part.thought)
            assert any(part.thought_signature for part in parts)
            answers = [
                types.FunctionResponse(id=call.id, name=call.name, response={"result": hello(call.args)})
                for call in calls
            ]
            contents.append(
                types.Content(role="user", parts=[types.Part(function_response=answer) for answer in answers])
            )
    finally:
        await client.aclose()


def _parts(response: types.GenerateContentResponse) -> list[types.Part]:
    content = response.candidates[0].content if response.candidates else None
    return [part for part in (content.parts if content else None) or [] if part.text != ""]


async def talk_with_mistral(url: str, stream: bool) -> str:
    messages: list[Any] = [{"role": "user", "content": ASK.removeprefix("think first and ")}]
    asked: Any = {"model": "mistral-large-latest"}
    asked["tools"] = [{"type": "function", "function": {"name": "read_file", "parameters": SCHEMA}}]
    async with mistral.Mistral(api_key="any", server_url=url.removesuffix("/v1")) as client:
        while True:
            text, calls = "", []
            if stream:
                async for event in await client.chat.stream_async(messages=messages, **asked):
                    delta = event.data.choices[0].delta if event.data.choices else None
                    text += delta.content if delta and isinstance(delta.content, str) else ""
                    calls += (delta.tool_calls if delta else None) or []
            else:
                said: Any = (await client.chat.complete_async(messages=messages, **asked)).choices[0].message
                text, calls = said.content or "", said.tool_calls or []
            if not calls:
                return text
            spelled = [
                {"id": call.id, "function": {"name": call.function.name, "arguments": call.function.arguments}}
                for call in calls
            ]
            messages.append({"role": "assistant", "content": text, "tool_calls": spelled})
            messages += [
                {
                    "role": "tool",
                    "tool_call_id": call.id,
                    "name": "read_file",
                    "content": hello(call.function.arguments),
                }
                for call in calls
            ]


CLIENTS: dict[str, Talk] = {
    "openai": talk_with_openai_chat,
    "openai-responses": talk_with_openai_responses,
    "anthropic": talk_with_anthropic,
    "gemini": talk_with_gemini,
    "mistral": talk_with_mistral,
}


@BOTH
@pytest.mark.parametrize("provider", CLIENTS)
async def test_the_vendors_own_client_finishes_a_tool_turn(provider: str, stream: bool) -> None:
    world = SimulatedWorld(needs_keys=True)

    async with running(world) as port:
        said = await CLIENTS[provider](base_urls("127.0.0.1", port)[provider], stream)

    assert said == ANSWER
    assert [(seen.provider, seen.status) for seen in world.requests] == [(provider, 200)] * 2


async def test_the_vendors_clients_know_a_refusal_for_what_it_is() -> None:
    world = SimulatedWorld(needs_keys=True)

    async with running(world) as port:
        urls = base_urls("127.0.0.1", port)
        hi: Any = [{"role": "user", "content": "hi"}]
        async with openai.AsyncOpenAI(api_key="bad-key", base_url=urls["openai"], max_retries=0) as client:
            with pytest.raises(openai.AuthenticationError):
                await client.chat.completions.create(model="gpt-5.1", messages=hi)
        async with openai.AsyncOpenAI(api_key="sk-any", base_url=urls["openai"], max_retries=0) as client:
            with pytest.raises(openai.NotFoundError) as missing:
                await client.chat.completions.create(model="unknown-1", messages=hi)
            with pytest.raises(openai.RateLimitError):
                await client.chat.completions.create(
                    model="gpt-5.1", messages=[{"role": "user", "content": "fail with 429"}]
                )
            offered = [model.id async for model in client.models.list()]
        async with anthropic.AsyncAnthropic(api_key="sk-any", base_url=urls["anthropic"], max_retries=0) as claude:
            with pytest.raises(anthropic.BadRequestError) as refused:
                await claude.messages.create(
                    model="claude-haiku-4-5", max_tokens=9, messages=[{"role": "user", "content": " "}]
                )
            counted = await claude.messages.count_tokens(model="claude-haiku-4-5", messages=hi)
    assert missing.value.code == "model_not_found"
    assert "gpt-5.1" in offered
    assert "unknown-1" not in offered
    assert "text content blocks must contain non-whitespace text" in str(refused.value)
    assert counted.input_tokens > 0


# --- our own transport ------------------------------------------------------------------------------------------------


@BOTH
async def test_one_conversation_goes_through_every_family_over_real_sockets(stream: bool) -> None:
    world = SimulatedWorld(needs_keys=True)

    async with running(world) as port, HttpTransport() as transport:
        client = Client(transport, key="sk-any", endpoints=base_urls("127.0.0.1", port))
        talk = Conversation()
        for number, route in enumerate([*ROUTES, *OTHER_ROUTES]):
            said = await client.turn(
                talk, route, f"use read_file on {number}.txt and more.txt", stream=stream, thinking=ThinkingSwitch.ON
            )
            assert f'"the contents of {number}.txt"' in said.text
        said = await client.turn(talk, ROUTES[2], "What was in 0.txt?", stream=stream, thinking=ThinkingSwitch.ON)

    assert '"the contents of 0.txt"' in said.text
    assert world.refusals == []


ERRORS: dict[FaultKind, type[ProviderError]] = {
    FaultKind.RATE_LIMITED: RateLimited,
    FaultKind.UNREACHABLE: Unreachable,
    FaultKind.CUT: BadAnswer,
    FaultKind.GARBAGE: BadAnswer,
    FaultKind.SLOW: TimedOut,
}


@BOTH
@pytest.mark.parametrize("kind", ERRORS)
async def test_a_fault_is_the_same_error_over_a_real_socket(kind: FaultKind, stream: bool) -> None:
    world = SimulatedWorld(faults=Faults([InjectedFault(kind, seconds=30), None]))
    timeouts = Timeouts(first_byte=0.2 if kind is FaultKind.SLOW else 30)

    async with running(world) as port, HttpTransport(timeouts) as transport:
        client = Client(transport, endpoints=base_urls("127.0.0.1", port))
        with pytest.raises(ProviderError) as caught:
            await client.turn(Conversation(), "openai/gpt-4o", "Hello", stream=stream)
        transport.timeouts = Timeouts()
        said = await client.turn(Conversation(), "openai/gpt-4o", "Hello", stream=stream)

    assert type(caught.value) is ERRORS[kind]
    assert (said.text, said.ending) == ('gpt-4o (simulated) heard: "Hello"', Ending.DONE)
