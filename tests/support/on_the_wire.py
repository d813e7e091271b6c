"""What a provider reads in a request body: words, thoughts, calls and results, in order.

Written from the providers' documents and apart from the library's own parsers, so that a test can look at what is really
sent, and neither a report nor a table of ours has to be believed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from legato import resolve
from legato.request import Request


class Words(NamedTuple):
    """Text that somebody says."""

    role: str
    text: str


class Thought(NamedTuple):
    """Reasoning that goes back to its model."""

    text: str


class WireCall(NamedTuple):
    """A call as the model is shown it."""

    id: str
    name: str
    arguments: Any


class WireResult(NamedTuple):
    """A result as the model is shown it; `failed` is None where the format has no flag for that."""

    id: str
    value: Any
    failed: bool | None = None


Item: TypeAlias = Words | Thought | WireCall | WireResult


def sent(request: Request) -> list[Item]:
    """Everything in `request`, from the very bytes that would leave."""
    return read_body(json.loads(request.json()), request.target.route)


def read_body(body: Mapping[str, Any], route: str) -> list[Item]:
    """Everything in a body that was sent to `route`."""
    match resolve(route).dialect:
        case "anthropic":
            return [item for message in body["messages"] for item in _anthropic(message)]
        case "gemini":
            return [item for content in body["contents"] for item in _gemini(content)]
        case "openai_responses":
            return [item for entry in body["input"] for item in _responses(entry)]
        case "vercel":
            return [item for message in body["messages"] for item in _vercel(message)]
        case "bedrock":
            return [item for message in body["messages"] for item in _bedrock(message)]
        case _:
            return [item for message in body["messages"] for item in _chat(message)]


def tools_of(body: Mapping[str, Any]) -> Any:
    """The tools that a body defines, in the form of its dialect."""
    return body["toolConfig"]["tools"] if "tools" not in body and "toolConfig" in body else body.get("tools", [])


def calls_of(items: list[Item]) -> list[WireCall]:
    return [item for item in items if isinstance(item, WireCall)]


def results_of(items: list[Item]) -> list[WireResult]:
    return [item for item in items if isinstance(item, WireResult)]


def unpaired(items: list[Item]) -> list[str]:
    """What is wrong with the pairs: an id on two open calls, a result without an earlier call, a call without one.

    Formats without ids pair by order, so there the ids are all empty and only their number counts.
    """
    faults: list[str] = []
    waiting: list[str] = []
    for item in items:
        if isinstance(item, WireCall):
            faults += [f"two calls are {item.id}"] if item.id and item.id in waiting else []
            waiting.append(item.id)
        elif isinstance(item, WireResult):
            if item.id in waiting:
                waiting.remove(item.id)
            else:
                faults.append(f"{item.id} has a result and no call before it")
        elif isinstance(item, Words) and item.role != "assistant":
            faults += [f"{call} has no result when somebody speaks" for call in waiting]
            waiting = []
    return faults + [f"{call} has no result" for call in waiting]


# --- the formats ------------------------------------------------------------------------------------------------------


def _texts(role: str, content: Any) -> Iterator[Words]:
    if isinstance(content, str):
        yield from [Words(role, content)] if content else []
        return
    for part in content or ():
        if isinstance(part.get("text"), str):
            yield Words(role, part["text"])


def _chat(message: Any) -> Iterator[Item]:
    if message["role"] == "tool":
        yield WireResult(message["tool_call_id"], message["content"])
        return
    if message.get("reasoning_content"):
        yield Thought(message["reasoning_content"])
    if isinstance(message.get("content"), list):
        for part in message["content"]:
            if part["type"] == "thinking":
                yield Thought("".join(chunk["text"] for chunk in part["thinking"]))
    yield from _texts(message["role"], message.get("content"))
    for call in message.get("tool_calls") or ():
        if "custom" in call:
            yield WireCall(call["id"], call["custom"]["name"], {"input": call["custom"]["input"]})
        else:
            yield WireCall(call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))


def _responses(item: Any) -> Iterator[Item]:
    match item["type"]:
        case "reasoning":
            yield Thought("".join(part["text"] for part in item["summary"]))
        case "function_call":
            yield WireCall(item["call_id"], item["name"], json.loads(item["arguments"]))
        case "custom_tool_call":
            yield WireCall(item["call_id"], item["name"], {"input": item["input"]})
        case "function_call_output" | "custom_tool_call_output":
            yield WireResult(item["call_id"], item["output"])
        case _:
            yield from _texts(item["role"], item["content"])


def _anthropic(message: Any) -> Iterator[Item]:
    for block in message["content"]:
        match block["type"]:
            case "thinking":
                yield Thought(block["thinking"])
            case "tool_use":
                yield WireCall(block["id"], block["name"], block["input"])
            case "tool_result":
                yield WireResult(block["tool_use_id"], block["content"], block.get("is_error", False))
            case _:
                yield from _texts(message["role"], [block])


def _bedrock(message: Any) -> Iterator[Item]:
    for block in message["content"]:
        if thought := block.get("reasoningContent"):
            yield Thought(thought.get("reasoningText", {}).get("text", ""))
        elif call := block.get("toolUse"):
            yield WireCall(call["toolUseId"], call["name"], call["input"])
        elif result := block.get("toolResult"):
            value = "\n".join(part["text"] for part in result["content"] if "text" in part)
            yield WireResult(result["toolUseId"], value, result["status"] == "error")
        else:
            yield from _texts(message["role"], [block])


def _gemini(content: Any) -> Iterator[Item]:
    for part in content["parts"]:
        if part.get("thought"):
            yield Thought(part["text"])
        elif call := part.get("functionCall"):
            yield WireCall(call.get("id", ""), call["name"], call["args"])
        elif result := part.get("functionResponse"):
            response = result["response"]
            yield WireResult(result.get("id", ""), response.get("error", response.get("result")), "error" in response)
        else:
            yield from _texts("assistant" if content["role"] == "model" else "user", [part])


def _vercel(message: Any) -> Iterator[Item]:
    if isinstance(message["content"], str):
        yield Words(message["role"], message["content"])
        return
    for part in message["content"]:
        match part["type"]:
            case "reasoning":
                yield Thought(part["text"])
            case "tool-call":
                yield WireCall(part["toolCallId"], part["toolName"], part["input"])
            case "tool-result":
                output = part["output"]
                yield WireResult(part["toolCallId"], output["value"], output["type"].startswith("error"))
            case _:
                yield from _texts(message["role"], [part])
