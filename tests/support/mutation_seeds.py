"""What mutations start from: answers and request bodies as providers and clients really write them.

Answers made by our own `reply` writers are always there; recorded ones are added where the samples are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from event_frames import events_of
from legato import render, resolve
from legato.model import (
    Answer,
    Dialect,
    Ending,
    Entry,
    HostedTool,
    JsonObject,
    Media,
    MediaKind,
    Speaker,
    Text,
    ToolCall,
)
from legato.model.blocks import Block, CallKind
from legato.wire.dialects import dialect_parts

from builders import ROUTES, origin, thought
from cases import CASES

Events: TypeAlias = list[JsonObject]

SAMPLES = Path(__file__).resolve().parents[3] / "shared" / "samples"
FOLDERS = ("vercel-ai-streams", "goose", "opencode-recordings", "gemini-cli", "provider-exchanges")
LARGEST = 20_000
"""characters of a recorded answer that is used: a larger one costs more time and holds nothing new"""

ROUTE_OF = {
    Dialect.OPENAI_CHAT: "openai/gpt-4o",
    Dialect.OPENAI_RESPONSES: "openai-responses/gpt-5.1",
    Dialect.ANTHROPIC: "anthropic/claude-sonnet-4-5",
    Dialect.GEMINI: "gemini/gemini-3-pro-preview",
    Dialect.VERCEL: "vercel/any",
    Dialect.BEDROCK: "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}

# --- our own ----------------------------------------------------------------------------------------------------------

_SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
_FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result"}]}
_RAN = {"type": "tool-call", "toolCallId": "call_9", "toolName": "search", "input": {}, "providerExecuted": True}
_GAVE = {"type": "tool-result", "toolCallId": "call_9", "toolName": "search", "output": {"type": "text", "value": "x"}}
_SERVED = {"toolUse": {"toolUseId": "tooluse_9", "name": "search", "input": {}, "type": "server_tool_use"}}
_CITED = {"toolResult": {"toolUseId": "tooluse_9", "type": "nova_grounding_result", "content": [{"text": "x"}]}}
_THOUGHTS: dict[Dialect, list[JsonObject]] = {
    Dialect.ANTHROPIC: [{"signature": "c2ln"}, {"data": "c2ln"}],
    Dialect.GEMINI: [{"thoughtSignature": "c2ln"}],
    Dialect.OPENAI_RESPONSES: [
        {
            "item": {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "hm"}],
                "encrypted_content": "c2ln",
            }
        }
    ],
    Dialect.OPENAI_CHAT: [
        {"chunk": True, "signature": "c2ln"},
        {"reasoning_details": [{"type": "reasoning.encrypted", "data": "c2ln", "index": 0}]},
    ],
    Dialect.VERCEL: [{"providerOptions": {"acme": {"signature": "c2ln"}}}],
    Dialect.BEDROCK: [{"signature": "c2ln"}, {"data": "c2ln"}],
}
_HOSTED: dict[Dialect, list[JsonObject]] = {
    Dialect.ANTHROPIC: [{"blocks": [_SEARCH, _FOUND]}, {"blocks": [_SEARCH]}],
    Dialect.GEMINI: [
        {"parts": [{"executableCode": {"language": "PYTHON", "code": "1"}}, {"codeExecutionResult": {"output": "1"}}]}
    ],
    Dialect.OPENAI_RESPONSES: [
        {"item": {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}}
    ],
    Dialect.OPENAI_CHAT: [],
    Dialect.VERCEL: [{"parts": [_RAN, _GAVE]}],
    Dialect.BEDROCK: [{"blocks": [_SERVED, _CITED]}, {"blocks": [_SERVED]}],
}
_CALLS: dict[Dialect, JsonObject] = {
    Dialect.ANTHROPIC: {"caller": {"type": "direct"}},
    Dialect.GEMINI: {"thoughtSignature": "c2ln"},
    Dialect.OPENAI_RESPONSES: {"namespace": "crm"},
    Dialect.OPENAI_CHAT: {"extra_content": {"google": {"thought_signature": "c2ln"}}},
    Dialect.VERCEL: {"providerOptions": {"acme": {"itemId": "i"}}},
    Dialect.BEDROCK: {},
}


def _written_answers(dialect: Dialect) -> Iterator[Answer]:
    """Answers with everything that this dialect has a form for."""
    read = ToolCall("read", {"path": "a.txt"}, "call_1")
    signed = ToolCall("list", {"path": ".", "deep": {"n": [1, 2]}}, "call_2", native=_CALLS[dialect] or None)
    free = ToolCall("sql", {"input": "select 1"}, "call_3", kind=CallKind.CUSTOM)
    thoughts = [thought("hm", **native) for native in _THOUGHTS[dialect]]
    hosted = [HostedTool("web_search", {"query": "q"}, "found", "srvtoolu_1", native=n) for n in _HOSTED[dialect]]
    picture = Media(MediaKind.IMAGE, "image/png", data="aGk=")
    said: list[tuple[Block, ...]] = [
        (Text("Hello."),),
        (thoughts[0], Text("I look."), read),
        (*thoughts, Text("Both."), read, signed),
        (thought("no signature"), free, Text("and on"), read),
        (thoughts[-1], *hosted, Text("Found it."), picture),
        *((thoughts[0], one, read) for one in hosted),
    ]
    for blocks in said:
        has_calls = any(isinstance(block, ToolCall) for block in blocks)
        entry = Entry(
            Speaker.AI,
            blocks,
            origin=origin(ROUTE_OF[dialect]),
            ending=Ending.CALLS if has_calls else Ending.DONE,
        )
        yield Answer(entry, served="m", response_id="resp_1")


# --- recorded ---------------------------------------------------------------------------------------------------------


def _documents(path: Path) -> Iterator[Any]:
    """The JSON in a file, whole or a line each, and streams in it as lists of events."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if "data: " in text[:200]:
        yield events_of(text.encode())
        return
    try:
        yield json.loads(text)
        return
    except ValueError:
        pass
    values: list[Any] = []
    for line in text.splitlines():
        try:
            values.append(json.loads(line))
        except ValueError:
            continue
    yield values  # the chunks of one stream
    yield from values


def _parts(value: Any) -> Iterator[Any]:
    """`value` and everything inside it that may be an answer, streams in texts too."""
    yield value
    if isinstance(value, dict):
        for item in value.values():
            yield from _parts(item)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict | list):
                yield from _parts(item)
    elif isinstance(value, str) and "data: {" in value:
        yield events_of(value.encode())


def _dialect_of(body: JsonObject) -> Dialect | None:
    """Whose answer `body` is, if it is one."""
    if isinstance(body.get("candidates"), list):
        return Dialect.GEMINI
    if isinstance(body.get("choices"), list) and body["choices"]:
        return Dialect.OPENAI_CHAT
    if body.get("object") == "response" and isinstance(body.get("output"), list):
        return Dialect.OPENAI_RESPONSES
    if isinstance(body.get("output"), dict) and "stopReason" in body:
        return Dialect.BEDROCK
    if body.get("type") == "message" and isinstance(body.get("content"), list):
        return Dialect.ANTHROPIC
    return None


def _is_chunk(body: JsonObject) -> bool:
    choices = body.get("choices")
    return isinstance(choices, list) and "delta" in choices[0]


def _dialect_of_stream(events: list[Any]) -> Dialect | None:
    if not all(isinstance(event, dict) for event in events):
        return None
    kind = events[0].get("type") if events else None
    if kind == "message_start":
        return Dialect.ANTHROPIC
    if kind == "response.created":
        return Dialect.OPENAI_RESPONSES
    return _dialect_of(events[0]) if events and kind is None else None


@cache
def _recorded() -> tuple[dict[Dialect, list[JsonObject]], dict[Dialect, list[Events]]]:
    """The whole answers and the streams in the samples, none if those are not here."""
    whole: dict[Dialect, list[JsonObject]] = {dialect: [] for dialect in Dialect}
    streamed: dict[Dialect, list[Events]] = {dialect: [] for dialect in Dialect}
    seen: set[str] = set()
    paths = [path for folder in FOLDERS for path in sorted((SAMPLES / folder).glob("*"))]
    for value in chain.from_iterable(map(_parts, chain.from_iterable(map(_documents, paths)))):
        text = json.dumps(value)
        if len(text) > LARGEST or text in seen:
            continue
        seen.add(text)
        if isinstance(value, dict):
            if (dialect := _dialect_of(value)) and not _is_chunk(value):
                whole[dialect].append(value)
        elif isinstance(value, list) and (dialect := _dialect_of_stream(value)):
            streamed[dialect].append(value)
    return whole, streamed


# --- what there is ----------------------------------------------------------------------------------------------------


@cache
def answers(dialect: Dialect, *, recorded: bool = True) -> list[JsonObject]:
    """Whole answers of a provider that speaks `dialect`."""
    written = [dialect_parts(dialect).reply(answer, "m") for answer in _written_answers(dialect)]
    return [*written, *(_recorded()[0][dialect] if recorded else ())]


@cache
def streams(dialect: Dialect, *, recorded: bool = True) -> list[Events]:
    """Streamed answers of a provider that speaks `dialect`, as their events."""
    parts = dialect_parts(dialect)
    written = [events_of(b"".join(parts.reply_stream(answer, "m")), dialect) for answer in _written_answers(dialect)]
    return [*written, *(_recorded()[1][dialect] if recorded else ())]


@cache
def bodies(dialect: Dialect, *, recorded: bool = True) -> list[JsonObject]:
    """Request bodies of clients that speak `dialect`."""
    routes = [route for route in ROUTES if resolve(route).dialect is dialect]
    written = [render(make(), route).copy() for route in routes for make in CASES.values()]
    return [*written, *(_recorded_bodies()[dialect] if recorded else ())]


_FIELDS = {
    Dialect.ANTHROPIC: ("messages", "/v1/messages"),
    Dialect.GEMINI: ("contents", "enerateContent"),
    Dialect.OPENAI_RESPONSES: ("input", "/responses"),
    Dialect.OPENAI_CHAT: ("messages", "/chat/completions"),
    Dialect.BEDROCK: ("messages", "/converse"),
}


@cache
def _recorded_bodies() -> dict[Dialect, list[JsonObject]]:
    found: dict[Dialect, list[JsonObject]] = {dialect: [] for dialect in Dialect}
    paths = [
        path for folder in ("clients", "provider-exchanges") for path in sorted((SAMPLES / folder).glob("*.jsonl"))
    ]
    for record in chain.from_iterable(map(_documents, paths)):
        body = record.get("body") or record.get("request") if isinstance(record, dict) else None
        if not isinstance(body, dict) or len(json.dumps(body)) > LARGEST:
            continue
        for dialect, (field, ending) in _FIELDS.items():
            if field in body and ending in str(record.get("path", "")):
                found[dialect].append(body)
    return found
