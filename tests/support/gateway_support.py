"""What the tests of the gateway's voice need: clients, what they make of a stream, and what they send back."""

from __future__ import annotations

import json
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from legato.gateway.contract import CallIdForm, Delivery, Door
from legato.model import Dialect, Entry, JsonObject
from legato.transport.operations import Operation
from legato.wire.dialects import dialect_parts
from legato.wire.sse import SSEParser

T = TypeVar("T")


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """What `work` returns, which waits for nothing: the state in memory answers at once."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waits for something")


def door(dialect: Dialect, **fields: Any) -> Door:
    if dialect is Dialect.ANTHROPIC:
        fields = {"call_ids": CallIdForm.ANTHROPIC} | fields
    return Door(dialect=dialect, operation=Operation.ANSWER, **fields)


def delivery(of: Door, **fields: Any) -> Delivery:
    return Delivery(**({"door": of, "model": "asked/model-1", "stream": True, "asks_thinking": True} | fields))


CLIENTS: dict[str, Delivery] = {
    "anthropic": delivery(door(Dialect.ANTHROPIC)),
    "responses": delivery(door(Dialect.OPENAI_RESPONSES)),
    "responses, unasked": delivery(door(Dialect.OPENAI_RESPONSES), asks_thinking=False),
    "gemini": delivery(door(Dialect.GEMINI)),
    "gemini, unasked": delivery(door(Dialect.GEMINI), asks_thinking=False),
    "gemini array": delivery(door(Dialect.GEMINI, as_array=True)),
    "chat": delivery(door(Dialect.OPENAI_CHAT)),
    "mistral": delivery(door(Dialect.OPENAI_CHAT, call_ids=CallIdForm.MISTRAL, unsplit_calls=True, joins_usage=True)),
}
"""the clients that carry"""

SILENT_CLIENTS: dict[str, Delivery] = {
    "anthropic, unasked": delivery(door(Dialect.ANTHROPIC), asks_thinking=False),
    "mistral, unasked": delivery(
        door(Dialect.OPENAI_CHAT, call_ids=CallIdForm.MISTRAL, unsplit_calls=True, joins_usage=True),
        asks_thinking=False,
    ),
}
"""those that get no thinking and no carriers"""


def events_in(chunks: Iterable[bytes], of: Door) -> list[JsonObject]:
    """The events of a stream, as JSON."""
    data = b"".join(chunks)
    if of.as_array:
        return json.loads(data)
    parser = SSEParser()
    return [json.loads(event) for event in [*parser.feed(data), *parser.close()] if event.strip() != b"[DONE]"]


def body_of(chunks: Iterable[bytes], of: Door) -> JsonObject:
    """What a client makes of a stream: the body that it would have been given at once."""
    events = events_in(chunks, of)
    match of.dialect:
        case Dialect.ANTHROPIC:
            return _message(events)
        case Dialect.OPENAI_RESPONSES:
            done = [event for event in events if event["type"] == "response.output_item.done"]
            items = [event["item"] for event in sorted(done, key=lambda event: event["output_index"])]
            assert items == events[-1]["response"]["output"]
            return events[-1]["response"]
        case Dialect.GEMINI:
            parts = [part for event in events for part in event["candidates"][0]["content"]["parts"]]
            return {"candidates": [{"content": {"role": "model", "parts": parts}}]}
        case _:
            return _completion(events)


def _message(events: list[JsonObject]) -> JsonObject:
    content: list[JsonObject] = []
    for event in events:
        match event["type"]:
            case "content_block_start":
                assert event["index"] == len(content)
                content.append(dict(event["content_block"]))
            case "content_block_delta":
                block, delta = content[event["index"]], event["delta"]
                match delta["type"]:
                    case "input_json_delta":
                        block["json"] = block.get("json", "") + delta["partial_json"]
                    case "citations_delta":
                        block["citations"] = [*(block["citations"] or []), delta["citation"]]
                    case kind:
                        name = kind.removesuffix("_delta")
                        block[name] = block[name] + delta[name]
            case "content_block_stop":
                if (written := content[event["index"]].pop("json", None)) is not None:
                    content[event["index"]]["input"] = _loaded(written)
            case _:
                pass
    return {"role": "assistant", "content": content}


def _loaded(written: str) -> Any:
    try:
        return json.loads(written)
    except json.JSONDecodeError:
        return {"raw_arguments": written}


def _completion(events: list[JsonObject]) -> JsonObject:
    message: JsonObject = {"role": "assistant"}
    calls: dict[int, JsonObject] = {}
    for event in events:
        for choice in event["choices"]:
            for name, value in choice["delta"].items():
                if name == "tool_calls":
                    for call in value:
                        _grow(calls.setdefault(call["index"], {}), call)
                elif name == "content" and list in (type(value), type(message.get(name))):
                    message[name] = _chunks(message.get(name)) + _chunks(value)
                elif isinstance(value, list):
                    message[name] = [*message.get(name, []), *value]
                elif name != "role" and value is not None:
                    message[name] = message.get(name, "") + value
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return {"choices": [{"message": message}]}


def _chunks(content: Any) -> list[JsonObject]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []


def _grow(grown: JsonObject, piece: JsonObject) -> None:
    for name, value in piece.items():
        if isinstance(value, dict) and isinstance(grown.get(name), dict):
            _grow(grown[name], value)
        elif isinstance(value, str) and name in ("arguments", "input"):
            grown[name] = grown.get(name, "") + value
        else:
            grown[name] = value


def sent_back(body: JsonObject, dialect: Dialect) -> Entry | None:
    """The answer in `body` as the client's next request holds it, read by the gateway; None if nothing is in it."""
    match dialect:
        case Dialect.ANTHROPIC:
            request = {"messages": [{"role": "user", "content": "hi"}, body]}
        case Dialect.OPENAI_RESPONSES:
            request = {"input": [{"role": "user", "content": "hi"}, *body["output"]]}
        case Dialect.GEMINI:
            user = {"role": "user", "parts": [{"text": "hi"}]}
            request = {"contents": [user, body["candidates"][0]["content"]]}
        case _:
            request = {"messages": [{"role": "user", "content": "hi"}, body["choices"][0]["message"]]}
    entries = dialect_parts(dialect).parse(request).entries
    assert len(entries) < 3
    return entries[1] if len(entries) == 2 else None
