"""Answers as Responses bodies and streams, read back by our decoders and by the official client's models."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from dialect_support import make_target, read_every_way
from legato.model import (
    Answer,
    Block,
    CallKind,
    Code,
    Dialect,
    Ending,
    Entry,
    HostedTool,
    JsonObject,
    Media,
    MediaKind,
    NameRule,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from legato.wire.contract import StreamDecoder
from legato.wire.names import NameTable
from legato.wire.openai_responses import DIALECT

TARGET = make_target(Dialect.OPENAI_RESPONSES)
EVENTS: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
REASONING: JsonObject = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "a" * 50}, {"type": "summary_text", "text": "b"}],
    "encrypted_content": "gA",
}


def answer(*blocks: Block, ending: Ending = Ending.DONE, response_id: str = "resp_1") -> Answer:
    entry = Entry(Speaker.AI, blocks, origin=TARGET.origin("served-1"), ending=ending)
    return Answer(entry, usage=Usage(10, 5, 4, 2, 3), served="served-1", response_id=response_id)


def decoder() -> StreamDecoder:
    return DIALECT.decoder(TARGET, NameTable(NameRule.OPENAI))


ANSWERS = {
    "text": answer(Text("hello " * 20), Text("again", native={"phase": "commentary"})),
    "calls": answer(
        Thinking("a" * 50 + "\n\nb", native={"item": REASONING}),
        Text("let me see"),
        ToolCall("read", {"path": "x" * 50}, "call_1", namespace="crm"),
        ToolCall("sql", {"input": "select " * 9}, "call_2", kind=CallKind.CUSTOM),
        ToolCall("bare", {}, "call_3"),
        ToolCall("broken", {}, "call_4", raw="[1]"),
        ending=Ending.CALLS,
    ),
    "cut call": answer(ToolCall("read", {}, "call_1", raw='{"a', finished=False), ending=Ending.LENGTH),
    "refused": answer(Text("I will not"), ending=Ending.REFUSED),
    "filtered": answer(ending=Ending.REFUSED),
    "cut": answer(Text("hel"), ending=Ending.CUT),
    "cancelled": answer(Text("hel"), ending=Ending.CANCELLED),
    "hosted": answer(
        HostedTool(
            "web_search",
            {"action": {"type": "search", "query": "x"}},
            wire_id="ws_1",
            native={
                "item": {
                    "type": "web_search_call",
                    "id": "ws_1",
                    "status": "completed",
                    "action": {"type": "search", "query": "x"},
                }
            },
        ),
        Text("found"),
    ),
}


@pytest.mark.parametrize("said", ANSWERS.values(), ids=ANSWERS.keys())
def test_a_reply_is_read_back_as_the_same_answer(said: Answer) -> None:
    body = DIALECT.reply(said, "served-1")
    assert DIALECT.decode(body, TARGET, NameTable(NameRule.OPENAI)) == said
    stream = b"".join(DIALECT.reply_stream(said, "served-1"))
    assert read_every_way(decoder, stream) == said


@pytest.mark.parametrize("said", ANSWERS.values(), ids=ANSWERS.keys())
def test_the_official_client_accepts_every_reply(said: Answer) -> None:
    body = DIALECT.reply(said, "served-1")
    read = Response.model_validate(body)
    assert read.model == "served-1"
    if said.entry.ending is not Ending.REFUSED:
        assert read.output_text == said.text
    for number, chunk in enumerate(DIALECT.reply_stream(said, "served-1")):
        name, data = chunk.decode().splitlines()[:2]
        event = json.loads(data.removeprefix("data: "))
        assert event["sequence_number"] == number
        assert EVENTS.validate_python(event).type == name.removeprefix("event: ") == event["type"]


def test_an_answer_from_elsewhere_is_printed_with_what_this_dialect_has() -> None:
    foreign = answer(
        Thinking("hm", native={"signature": "s"}),
        Thinking(""),
        HostedTool("search", {"q": 1}, "found"),
        Code("1", "python"),
        Media(MediaKind.IMAGE, "image/png", data="aGk="),
        ToolCall("read", {}),
        response_id="msg_1",
    )
    body = DIALECT.reply(foreign, "asked-1")
    read = DIALECT.decode(body, TARGET, NameTable(NameRule.OPENAI))
    assert Response.model_validate(body).id.startswith("resp_")
    assert read.entry.blocks[:-1] == (
        Thinking("hm"),
        Text('[The provider ran search {"q":1}, which gave:]\nfound'),
        Text("```python\n1\n```"),
        Text("[image omitted: image/png, which this model cannot take]"),
    )
    assert read.calls[0].wire_id.startswith("call_")


def test_the_same_answer_gives_the_same_bytes_and_another_gives_other_ids() -> None:
    first, second = answer(Text("x"), response_id=""), answer(Text("y"), response_id="")
    assert DIALECT.reply(first, "m") == DIALECT.reply(first, "m")
    assert DIALECT.reply(first, "m")["id"] != DIALECT.reply(second, "m")["id"]


def test_a_bare_answer_is_completed_and_has_no_usage() -> None:
    body = DIALECT.reply(Answer(Entry(Speaker.AI, (Text("x"),))), "asked-1")
    assert (body["model"], body["usage"], body["status"]) == ("asked-1", None, "completed")


def test_what_the_model_says_where_it_refuses_is_a_refusal_and_what_a_filter_stopped_is_incomplete() -> None:
    refusal = DIALECT.reply(answer(Text("no", native={"refusal": True}), ending=Ending.REFUSED), "m")
    stopped = DIALECT.reply(answer(Text("so"), ending=Ending.REFUSED), "m")
    assert (refusal["status"], refusal["incomplete_details"]) == ("completed", None)
    assert refusal["output"][0]["content"] == [{"type": "refusal", "refusal": "no"}]
    assert (stopped["status"], stopped["incomplete_details"]) == ("incomplete", {"reason": "content_filter"})
    assert stopped["output"][0]["content"][0]["text"] == "so"
