"""Whatever a file holds, repair keeps it or refuses; and a file that is only broken is mended.

Every text, argument, result, description and mark in a generated file is a word that stands nowhere else in it, so what
is lost is seen in the bytes alone, without any reader.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from legato.errors import RepairRefused
from legato.formats import lint_document, mend, read
from legato.formats.findings import refused
from legato.formats.mending.inventory import take_inventory
from session_files import answered, codex_message, gave, item, said, text, use

WORD = re.compile(rb"word\d+x")
Body = dict[str, Any]


class Words:
    """Words of which each is used once."""

    def __init__(self) -> None:
        self._numbers = count()

    def __call__(self) -> str:
        return f"word{next(self._numbers)}x"


# --- conversations ----------------------------------------------------------------------------------------------------

IDS = st.lists(st.sampled_from(["call_a", "call_b", "call_c"]), min_size=1, max_size=2, unique=True)
STEP = st.one_of(
    st.tuples(st.just("say"), st.just([])),
    st.tuples(st.just("answer"), st.just([])),
    st.tuples(st.just("call"), IDS),
    st.tuples(st.just("result"), IDS),
    st.tuples(st.just("instruct"), st.just([])),
)
STEPS = st.lists(STEP, min_size=1, max_size=7)


@st.composite
def interrupted(draw: st.DrawFn) -> list[tuple[str, list[str]]]:
    """Steps of a conversation in which results are missing, or late, and nothing else is wrong."""
    numbers = count()
    steps: list[tuple[str, list[str]]] = []
    waiting: list[str] = []
    for kind in draw(st.lists(st.sampled_from(["say", "answer", "call", "result"]), min_size=1, max_size=7)):
        ids: list[str] = []
        if kind == "call":
            ids = [f"call_{next(numbers)}" for _ in range(draw(st.integers(1, 2)))]
            waiting += ids
        elif kind == "result":
            ids = [one for one in waiting if draw(st.booleans())]
            waiting = [one for one in waiting if one not in ids]
        if ids or kind in ("say", "answer"):
            steps.append((kind, ids))
    return steps


def anthropic(steps: list[tuple[str, list[str]]], word: Words) -> Body:
    messages: list[Body] = [{"role": "user", "content": word()}]
    for kind, ids in steps:
        match kind:
            case "say":
                messages.append({"role": "user", "content": [{"type": "text", "text": word()}]})
            case "answer":
                messages.append({"role": "assistant", "content": [{"type": "text", "text": word()}]})
            case "call":
                uses = [{"type": "tool_use", "id": one, "name": "run", "input": {"x": word()}} for one in ids]
                messages.append({"role": "assistant", "content": [{"type": "text", "text": word()}, *uses]})
            case "result":
                results = [{"type": "tool_result", "tool_use_id": one, "content": word()} for one in ids]
                messages.append({"role": "user", "content": results})
            case _:
                messages.append({"role": "system", "content": word()})
    tools = [{"name": "run", "description": word(), "input_schema": {"type": "object"}}]
    return {"model": "claude-sonnet-4-5", "max_tokens": 64, "system": word(), "tools": tools, "messages": messages}


def chat(steps: list[tuple[str, list[str]]], word: Words, model: str = "gpt-4o") -> Body:
    messages: list[Body] = [{"role": "system", "content": word()}, {"role": "user", "content": word()}]
    for kind, ids in steps:
        match kind:
            case "say":
                messages.append({"role": "user", "content": [{"type": "text", "text": word()}]})
            case "answer":
                messages.append({"role": "assistant", "content": word()})
            case "call":
                calls = [
                    {"id": one, "type": "function", "function": {"name": "run", "arguments": json.dumps({"x": word()})}}
                    for one in ids
                ]
                messages.append({"role": "assistant", "content": word(), "tool_calls": calls})
            case "result":
                messages += [{"role": "tool", "tool_call_id": one, "content": word()} for one in ids]
            case _:
                messages.append({"role": "system", "content": word()})
    function = {"name": "run", "description": word(), "parameters": {"type": "object", "properties": {}}}
    return {"model": model, "messages": messages, "tools": [{"type": "function", "function": function}]}


def mistral(steps: list[tuple[str, list[str]]], word: Words) -> Body:
    return chat(steps, word, "mistral-large-latest")


def gemini(steps: list[tuple[str, list[str]]], word: Words) -> Body:
    contents: list[Body] = [{"role": "user", "parts": [{"text": word()}]}]
    for kind, ids in steps:
        match kind:
            case "say":
                contents.append({"role": "user", "parts": [{"text": word()}]})
            case "answer":
                contents.append({"role": "model", "parts": [{"text": word()}]})
            case "call":
                contents.append({"role": "model", "parts": [{"functionCall": _gemini_call(word)} for _ in ids]})
            case "result":
                answers = [{"functionResponse": {"name": "run", "response": {"result": word()}}} for _ in ids]
                contents.append({"role": "user", "parts": answers})
            case _:
                contents.append({"role": "system", "parts": [{"text": word()}]})
    declared = [{"name": "run", "description": word(), "parameters": {"type": "object", "properties": {}}}]
    return {
        "model": "gemini-2.5-pro",
        "systemInstruction": {"parts": [{"text": word()}]},
        "contents": contents,
        "tools": [{"functionDeclarations": declared}],
    }


def _gemini_call(word: Words) -> Body:
    return {"name": "run", "args": {"x": word()}}


def responses(steps: list[tuple[str, list[str]]], word: Words) -> Body:
    items: list[Body] = [{"role": "user", "content": word()}]
    for kind, ids in steps:
        match kind:
            case "say":
                items.append({"role": "user", "content": [{"type": "input_text", "text": word()}]})
            case "answer":
                content = [{"type": "output_text", "text": word()}]
                items.append({"type": "message", "role": "assistant", "content": content})
            case "call":
                items += [
                    {"type": "function_call", "call_id": one, "name": "run", "arguments": json.dumps({"x": word()})}
                    for one in ids
                ]
            case "result":
                items += [{"type": "function_call_output", "call_id": one, "output": word()} for one in ids]
            case _:
                items.append({"role": "developer", "content": word()})
    tool = {"type": "function", "name": "run", "description": word(), "parameters": {"type": "object"}}
    return {"model": "gpt-5.1", "instructions": word(), "input": items, "tools": [tool]}


def vercel(steps: list[tuple[str, list[str]]], word: Words) -> Body:
    messages: list[Body] = [{"role": "system", "content": word()}, {"role": "user", "content": word()}]
    for kind, ids in steps:
        match kind:
            case "say":
                messages.append({"role": "user", "content": [{"type": "text", "text": word()}]})
            case "answer":
                messages.append({"role": "assistant", "content": word()})
            case "call":
                calls = [
                    {"type": "tool-call", "toolCallId": one, "toolName": "run", "input": {"x": word()}} for one in ids
                ]
                messages.append({"role": "assistant", "content": [{"type": "text", "text": word()}, *calls]})
            case "result":
                results = [
                    {"type": "tool-result", "toolCallId": one, "toolName": "run",
                     "output": {"type": "text", "value": word()}}
                    for one in ids
                ]  # fmt: skip
                messages.append({"role": "tool", "content": results})
            case _:
                messages.append({"role": "system", "content": word()})
    return {"messages": messages}


def bedrock(steps: list[tuple[str, list[str]]], word: Words) -> Body:
    messages: list[Body] = [{"role": "user", "content": [{"text": word()}]}]
    for kind, ids in steps:
        match kind:
            case "answer":
                messages.append({"role": "assistant", "content": [{"text": word()}]})
            case "call":
                calls = [{"toolUse": {"toolUseId": one, "name": "run", "input": {"x": word()}}} for one in ids]
                messages.append({"role": "assistant", "content": [{"text": word()}, *calls]})
            case "result":
                results = [{"toolResult": {"toolUseId": one, "content": [{"text": word()}]}} for one in ids]
                messages.append({"role": "user", "content": results})
            case _:
                messages.append({"role": "user", "content": [{"text": word()}]})
    spec = {"name": "run", "description": word(), "inputSchema": {"json": {"type": "object"}}}
    return {"system": [{"text": word()}], "messages": messages, "toolConfig": {"tools": [{"toolSpec": spec}]}}


SHAPES: dict[str, Callable[[list[tuple[str, list[str]]], Words], Body]] = {
    "anthropic": anthropic,
    "openai-chat": chat,
    "mistral": mistral,
    "gemini": gemini,
    "openai-responses": responses,
    "vercel": vercel,
    "bedrock": bedrock,
}


def claude_code(steps: list[tuple[str, list[str]]], word: Words) -> Body:
    records = [said("r0", None, word())]
    for number, (kind, ids) in enumerate(steps, 1):
        own, parent = f"r{number}", f"r{number - 1}"
        match kind:
            case "answer":
                records.append(answered(own, parent, f"m{number}", text(word())))
            case "call":
                records.append(answered(own, parent, f"m{number}", *(use(one, x=word()) for one in ids)))
            case "result":
                records.append(said(own, parent, [gave(one, word()) for one in ids], toolUseResult={"x": word()}))
            case _:
                records.append(said(own, parent, [text(word())]))
    return {"messages": records}


def codex(steps: list[tuple[str, list[str]]], word: Words) -> Body:
    lines: list[Body] = [{"timestamp": "t", "type": "session_meta", "payload": {"id": "c", "instructions": word()}}]
    for kind, ids in steps:
        match kind:
            case "answer":
                lines.append(codex_message("assistant", word()))
            case "call":
                arguments = [json.dumps({"x": word()}) for _ in ids]
                pairs = zip(ids, arguments, strict=True)
                lines += [item("function_call", name="run", arguments=given, call_id=one) for one, given in pairs]
            case "result":
                lines += [item("function_call_output", call_id=one, output=word()) for one in ids]
            case _:
                lines.append(codex_message("developer" if kind == "instruct" else "user", word()))
    return {"messages": lines}


SESSIONS = {"claude-code": claude_code, "codex": codex}
SHAPES |= SESSIONS


def encoded(shape: str, body: Body) -> bytes:
    """A body, or the lines of a session."""
    if shape not in SESSIONS:
        return json.dumps(body).encode()
    return b"".join(json.dumps(record).encode() + b"\n" for record in body["messages"])


# --- what nobody foresaw ----------------------------------------------------------------------------------------------

EXTRAS: list[Callable[[Words], Any]] = [
    lambda word: {"text": word()},
    lambda word: {"kind": "text", "value": word()},
    lambda word: {"type": "hologram", "data": word(), "more": [{"text": word()}]},
    lambda word: {"type": "text", "text": word(), "cache_control": {"type": "ephemeral", "ttl": word()}},
    lambda word: {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": word()}},
    lambda word: {"type": "image_url", "image_url": {"url": f"https://x.example/{word()}", "detail": word()}},
    lambda word: {"type": "thinking", "thinking": word(), "signature": word()},
    lambda word: {"inlineData": {"mimeType": "image/png", "data": word()}},
    lambda word: {"type": "tool_use", "id": "call_z", "name": word(), "input": {"deep": [{"er": word()}]}},
    lambda word: {"type": "tool_result", "tool_use_id": "call_z", "content": [{"type": "text", "text": word()}]},
    lambda word: {"role": "critic", "content": word(), "parts": [{"text": word()}]},
    lambda word: word(),
    lambda word: [word()],
]
"""parts, messages and items in anybody's form"""
FIELDS = ("cache_control", "name", "citations", "annotations", "thoughtSignature", "phase", "note", "reasoning_content")


@st.composite
def odd_bodies(draw: st.DrawFn, shape: str) -> Body:
    """A body with things in it that nobody foresaw."""
    word = Words()
    body = SHAPES[shape](draw(STEPS), word)
    for _ in range(draw(st.integers(0, 3))):
        lists = [item for item in inside(body) if isinstance(item, list)]
        objects = [item for item in inside(body) if isinstance(item, dict)]
        if draw(st.booleans()):
            place = draw(st.sampled_from(lists))
            place.insert(draw(st.integers(0, len(place))), draw(st.sampled_from(EXTRAS))(word))
        else:
            value = draw(st.sampled_from([word(), {"type": word()}, [word()]]))
            draw(st.sampled_from(objects)).setdefault(draw(st.sampled_from(FIELDS)), value)
    return body


def inside(body: Body) -> list[Any]:
    """Every list and object of what is said and of the tools; not the body itself, whose fields are settings."""
    found: list[Any] = []
    waiting: list[Any] = [body.get(name) for name in ("messages", "contents", "input", "tools")]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list | dict):
            found.append(value)
            waiting += value.values() if isinstance(value, dict) else value
    return found


@pytest.mark.parametrize("shape", SHAPES)
@given(source=st.data())
def test_repair_keeps_every_word_or_refuses(shape: str, source: st.DataObject) -> None:
    data = encoded(shape, source.draw(odd_bodies(shape)))
    document = read(data, format=shape)
    try:
        mended = mend(document)
    except RepairRefused:
        event("refused")
        return
    event("mended" if mended.changes else "left as it is")
    assert set(WORD.findall(data)) - set(WORD.findall(mended.data)) == set()
    assert mended.changes or mended.data == data
    again = read(mended.data, format=shape)
    assert refused(lint_document(again)) == []
    assert mend(again).data == mended.data


@pytest.mark.parametrize("shape", SHAPES)
@example(steps=[("call", ["call_0"]), ("answer", []), ("result", ["call_0"])])  # words behind the calls of an answer
@example(steps=[("call", ["call_0"]), ("call", ["call_1"]), ("result", ["call_0"]), ("result", ["call_1"])])  # apart
@given(steps=interrupted())
def test_a_body_that_is_only_broken_is_mended(shape: str, steps: list[tuple[str, list[str]]]) -> None:
    data = encoded(shape, SHAPES[shape](steps, Words()))
    assert mend(read(data, format=shape), force=True).losses == []


@pytest.mark.parametrize("shape", SHAPES)
@given(source=st.data())
def test_an_inventory_holds_every_word(shape: str, source: st.DataObject) -> None:
    body = source.draw(odd_bodies(shape))
    whole = [("", body)] if shape not in SESSIONS else [(f"line {n}", one) for n, one in enumerate(body["messages"])]
    words = set(WORD.findall(json.dumps(body).encode()))
    items = take_inventory(whole)
    assert words - set(WORD.findall(json.dumps([(item.key, item.name) for item in items]).encode())) == set()
