"""Conversations that grow to 2 MB, request by request, through a gateway without a socket.

In:  an API that a client speaks, and the route that answers.
Out: what each request cost beside one decoding of its JSON, which no reader of it can do without.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from statistics import median
from typing import Any

import msgspec
from msgspec import Struct

from bench import coding_agent, workload
from bench.cases.clients import Canned, CannedTransport
from bench.measure import clock, measured
from legato.gateway.gateway import Gateway
from legato.request import resolve
from legato.transport import KeyRing
from legato.transport.contract import Ask
from legato.world import World

_RESULT = 3_700
"""characters of a result: with what is around it, 4 kB a request"""
_NEAR = 10
"""requests of which a figure is the median"""


class Client(Struct, frozen=True):
    """How a client begins a conversation, and what it makes of an answer."""

    path: str
    route: str
    begin: Callable[[], dict[str, Any]]
    go_on: Callable[[dict[str, Any], Any, str], None]


class Cost(Struct, frozen=True):
    """Seconds of the processor that a request took beyond decoding it, and how large it was."""

    beyond: float
    decoding: float
    size: int


def grow(client: Client, requests: int) -> list[Cost]:
    """What each of the requests of one conversation cost."""
    target = resolve(client.route)
    world = World(transport=CannedTransport(Canned.of(target)), keys=KeyRing({target.provider: "none"}, {}))
    gateway, body = Gateway(world, client.route), client.begin()
    text = (workload.output(9, 9) * _RESULT)[:_RESULT]
    costs: list[Cost] = []
    with asyncio.Runner() as runner:
        for number in range(requests):
            data = msgspec.json.encode(body)
            answers: list[bytes] = []

            def ask(data: bytes = data, answers: list[bytes] = answers) -> float:
                begin = clock()
                answers.append(runner.run(_answer(gateway, client.path, data)))
                return clock() - begin

            taken, floor = measured(ask), min(_decoding(data) for _ in range(3))
            costs.append(Cost(taken - floor, floor, len(data)))
            client.go_on(body, msgspec.json.decode(answers[0]), f"{number} {text}")
    return costs


def around(costs: list[Cost], number: int) -> Cost:
    """The median of the requests up to that number."""
    near = costs[max(number - _NEAR, 0) : number]
    return Cost(median(cost.beyond for cost in near), median(cost.decoding for cost in near), near[-1].size)


async def _answer(gateway: Gateway, path: str, data: bytes) -> bytes:
    response = await gateway.answer(Ask(method="POST", path=path, headers={}, body=data))
    answer = b"".join([chunk async for chunk in response.chunks])
    if response.status != 200:
        raise RuntimeError(answer.decode())
    return answer


def _decoding(data: bytes) -> float:
    begin = clock()
    msgspec.json.decode(data)
    return clock() - begin


# --- clients ----------------------------------------------------------------------------------------------------------


def _begin_anthropic() -> dict[str, Any]:
    body = coding_agent.anthropic_request(1)
    return body | body.pop("extra_body")


def _go_on_anthropic(body: dict[str, Any], answer: Any, text: str) -> None:
    """As Claude Code does: the mark for the cache moves on to the newest result."""
    for message in body["messages"][-2:]:
        for block in message["content"]:
            block.pop("cache_control", None)
    marked = {"content": text, "cache_control": {"type": "ephemeral"}}
    calls = [block["id"] for block in answer["content"] if block["type"] == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": call, **marked} for call in calls]
    body["messages"] += [{"role": "assistant", "content": answer["content"]}, {"role": "user", "content": results}]


def _go_on_chat(body: dict[str, Any], answer: Any, text: str) -> None:
    message = answer["choices"][0]["message"]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": text} for call in message["tool_calls"]]
    body["messages"] += [message, *results]


def _begin_responses() -> dict[str, Any]:
    chat = coding_agent.chat_request(1)
    return {
        "model": "gpt-5",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "instructions": chat["messages"][0]["content"],
        "tools": [{"type": "function", **tool["function"]} for tool in chat["tools"]],
        "input": [{"type": "message", "role": "user", "content": chat["messages"][-1]["content"]}],
    }


def _go_on_responses(body: dict[str, Any], answer: Any, text: str) -> None:
    calls = [item["call_id"] for item in answer["output"] if item["type"] == "function_call"]
    results = [{"type": "function_call_output", "call_id": call, "output": text} for call in calls]
    body["input"] += [*answer["output"], *results]


def _begin_gemini() -> dict[str, Any]:
    chat = coding_agent.chat_request(1)
    declared = [
        {**tool["function"], "parametersJsonSchema": tool["function"]["parameters"], "parameters": None}
        for tool in chat["tools"]
    ]
    return {
        "systemInstruction": {"parts": [{"text": chat["messages"][0]["content"]}]},
        "tools": [{"functionDeclarations": declared}],
        "contents": [{"role": "user", "parts": [{"text": chat["messages"][-1]["content"]}]}],
    }


def _go_on_gemini(body: dict[str, Any], answer: Any, text: str) -> None:
    content = answer["candidates"][0]["content"]
    calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
    results = [{"id": call["id"], "name": call["name"], "response": {"output": text}} for call in calls]
    parts = [{"functionResponse": result} for result in results]
    body["contents"] += [content, {"role": "user", "parts": parts}]


CLIENTS = {
    "Messages": Client("/v1/messages", "anthropic/claude-opus-4-8", _begin_anthropic, _go_on_anthropic),
    "Chat Completions": Client(
        "/v1/chat/completions", "openai/gpt-5.2", lambda: coding_agent.chat_request(1), _go_on_chat
    ),
    "Responses": Client("/v1/responses", "openai-responses/gpt-5", _begin_responses, _go_on_responses),
    "Gemini": Client(
        "/v1beta/models/gemini-3-pro-preview:generateContent",
        "gemini/gemini-3-pro-preview",
        _begin_gemini,
        _go_on_gemini,
    ),
}
"""by the API that they speak; each is answered by its own vendor"""
