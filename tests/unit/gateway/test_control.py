"""Compaction that a client asks for: one item for the client, a summary for whoever answers next."""

from __future__ import annotations

import hmac
import json
import zlib
from base64 import b64decode, b64encode
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import openai
import pytest
from openai.types.responses import CompactedResponse

from legato import parse, render
from legato.errors import BadAnswer
from legato.gateway.contract import Door
from legato.gateway.control import (
    SUMMARY_REQUEST,
    UNREADABLE,
    asks_for_compaction,
    compact_body,
    compaction_answer,
    read_compactions_of,
    sealed_summary,
    summary_request,
)
from legato.model import (
    Answer,
    Choice,
    Dialect,
    Ending,
    Entry,
    HostedTool,
    JsonObject,
    Options,
    OutputFormat,
    Speaker,
    Text,
    ToolSpec,
    Usage,
)
from legato.transcript import Conversation
from legato.transport.contract import whole_response
from legato.transport.operations import Operation
from legato.wire.contract import Parsed
from legato.wire.dialects import dialect_parts
from legato.wire.phrases import SUMMARY_MARK
from official_clients import Answering

from builders import OTHER_ROUTES, ROUTES, ai, calls, result, user

RESPONSES = "openai-responses/gpt-5.1"
SUMMARY = "The person wants the hall painted. Äpfel were bought. /home/a.txt was read."
TRIGGER: JsonObject = {"type": "compaction_trigger"}


def seal(data: bytes, key: bytes = b"ours") -> bytes:
    return hmac.new(key, data, sha256).digest() + data


def unseal(data: bytes, key: bytes = b"ours") -> bytes | None:
    return data[32:] if hmac.compare_digest(hmac.new(key, data[32:], sha256).digest(), data[:32]) else None


def door(operation: Operation = Operation.ANSWER, dialect: Dialect = Dialect.OPENAI_RESPONSES) -> Door:
    return Door(dialect=dialect, operation=operation)


def summarised(text: str = SUMMARY, ending: Ending = Ending.DONE, usage: Usage | None = None) -> Answer:
    return Answer(ai(text, ending=ending), usage, "kimi-k2", "resp_1")


def item_of(answer: Answer) -> JsonObject:
    [block] = answer.entry.blocks
    assert isinstance(block, HostedTool)
    return (block.native or {})["item"]


# --- asking -----------------------------------------------------------------------------------------------------------


def test_a_trigger_at_the_end_or_an_address_of_its_own_asks_for_a_compaction() -> None:
    body = {"input": [{"role": "user", "content": "hi"}, TRIGGER]}
    assert asks_for_compaction(door(), body)
    assert asks_for_compaction(door(Operation.COMPACT), {"input": "hi"})
    assert not asks_for_compaction(door(), {"input": [TRIGGER, {"role": "user", "content": "hi"}]})
    assert not asks_for_compaction(door(), {"input": "compaction_trigger"})
    assert not asks_for_compaction(door(dialect=Dialect.ANTHROPIC), body)


def sample() -> JsonObject:
    path = Path(__file__).parents[4] / "shared/samples/clients/codex.jsonl"
    if not path.exists():
        pytest.skip("the recorded requests are not here")
    bodies = [json.loads(line)["body"] for line in path.read_text(encoding="utf-8").splitlines()]
    return next(body for body in bodies if asks_for_compaction(door(), body))


@pytest.mark.parametrize("route", [*ROUTES, *OTHER_ROUTES])
def test_every_route_can_be_asked_for_the_summary_that_codex_wants(route: str) -> None:
    parsed = read_compactions_of(parse(sample(), RESPONSES), unseal)
    asked = summary_request(parsed.options)
    request = render(parsed.conversation(), route, tools=parsed.tools, options=asked.options, tail=asked.tail)
    request.verify()
    assert SUMMARY_REQUEST.splitlines()[1] in msgspec.json.decode(request.json(), type=Any).__repr__()
    assert b"compaction_trigger" not in request.json()
    assert b"exec_command" in request.json()


@pytest.mark.parametrize("route", ROUTES)
def test_a_summary_can_be_asked_for_in_the_middle_of_a_turn_and_without_tools(route: str) -> None:
    talk = Conversation()
    talk.take([user("go"), calls("a", "b"), result("a"), result("b")])
    asked = summary_request(Options())
    render(talk, route, options=asked.options, tail=asked.tail).verify()


def test_tools_stay_defined_and_may_not_be_called() -> None:
    talk = Conversation()
    talk.human("go")
    options = Options(choice=Choice.REQUIRED, output=OutputFormat({"type": "object"}), stop=("x",), temperature=0.5)
    asked = summary_request(options)
    tool = ToolSpec("read", "Read it.", {"type": "object", "properties": {}})
    body: Any = render(talk, RESPONSES, tools=[tool], options=asked.options, tail=asked.tail).body
    assert (body["tool_choice"], [tool["name"] for tool in body["tools"]]) == ("none", ["read"])
    assert asked.options.temperature == 0.5
    assert (asked.options.output, asked.options.stop) == (None, ())


# --- answering --------------------------------------------------------------------------------------------------------


def test_the_answer_is_exactly_one_item_in_the_stream_and_in_the_whole() -> None:
    answer = compaction_answer(summarised(usage=Usage(input=9, output=3)), seal, seed="req_1")
    parts = dialect_parts(Dialect.OPENAI_RESPONSES)
    assert [item["type"] for item in parts.reply(answer, "gpt-5.5")["output"]] == ["compaction"]

    streamed = whole_response(200, list(parts.reply_stream(answer, "gpt-5.5")), {"content-type": "text/event-stream"})
    client = openai.OpenAI(api_key="any", http_client=Answering(streamed).client(), max_retries=0)
    with client.responses.stream(model="gpt-5.5", input="hi") as events:
        kinds = [event.type for event in events]
        response = events.get_final_response()
    assert kinds.count("response.output_item.done") == 1
    assert not any("text" in kind for kind in kinds)
    [item] = response.output
    assert item.type == "compaction"
    assert item.encrypted_content == item_of(answer)["encrypted_content"]
    assert SUMMARY not in response.model_dump_json()


def test_the_summary_is_readable_without_any_key() -> None:
    content = b64decode(sealed_summary(SUMMARY * 50, seal))
    assert len(content) < len(SUMMARY) * 5
    assert zlib.decompress(content[content.index(b"\x78\xda") :]).decode() == SUMMARY * 50


@pytest.mark.parametrize("ending", [Ending.LENGTH, Ending.CUT, Ending.REFUSED])
def test_half_a_summary_is_none(ending: Ending) -> None:
    with pytest.raises(BadAnswer, match="no whole summary"):
        compaction_answer(summarised(ending=ending), seal, seed="req_1")


def test_an_answer_that_only_calls_tools_is_no_summary() -> None:
    with pytest.raises(BadAnswer, match="kimi-k2 wrote no whole summary"):
        compaction_answer(Answer(calls("a", ending=Ending.CALLS), None, "kimi-k2"), seal, seed="req_1")


@pytest.mark.parametrize("usage", [None, Usage(input=9, output=3)])
def test_the_official_client_takes_what_the_address_for_compaction_gives(usage: Usage | None) -> None:
    said: JsonObject = {"role": "user", "content": [{"type": "input_text", "text": "and this"}]}
    items = [{"role": "user", "content": "do it"}, {"role": "assistant", "content": "done"}, said]
    for given, texts in ((items, ["do it", "and this"]), ("do it", ["do it"])):
        answer = compaction_answer(summarised(usage=usage), seal, seed="req_1")
        body = compact_body({"model": "gpt-5.5", "input": given}, answer, "gpt-5.5", created=1_800_000_000)
        here = Answering(whole_response(200, msgspec.json.encode(body)))
        client = openai.OpenAI(api_key="any", http_client=here.client(), max_retries=0)
        compacted = client.responses.compact(model="gpt-5.5", input="any")
        *messages, last = compacted.output
        assert (compacted.object, compacted.created_at) == ("response.compaction", 1_800_000_000)
        assert compacted.usage.input_tokens == (usage or Usage()).input
        assert [message.content[0].text for message in messages] == texts  # pyright: ignore
        assert all(message.id and message.status == "completed" for message in messages)  # pyright: ignore
        assert last.type == "compaction"
        assert body["output"][-1] == item_of(answer)
        # The client's own types know no messages of a user there, although the API gives them.
        CompactedResponse.model_validate(body | {"output": [item_of(answer)]}, strict=True)


# --- reading ----------------------------------------------------------------------------------------------------------


def back(content: str, opens: Any = unseal, **more: Any) -> list[Entry]:
    """The entries of a request in which an item with `content` stands."""
    items: list[Any] = [
        {"role": "user", "content": "do it"},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": content, **more},
        {"role": "user", "content": "go on"},
    ]
    return read_compactions_of(parse({"model": "gpt-5.1", "input": items}, RESPONSES), opens).entries


@pytest.mark.parametrize("kind", ["compaction", "compaction_summary", "context_compaction"])
def test_a_compaction_comes_back_as_its_summary(kind: str) -> None:
    content = item_of(compaction_answer(summarised(), seal, seed="req_1"))["encrypted_content"]
    entries = back(content, type=kind)
    assert [(entry.speaker, entry.text) for entry in entries] == [
        (Speaker.HUMAN, "do it"),
        (Speaker.HUMAN, SUMMARY_MARK + SUMMARY),
        (Speaker.HUMAN, "go on"),
    ]


@pytest.mark.parametrize("route", ROUTES)
def test_every_route_goes_on_from_a_summary(route: str) -> None:
    talk = Conversation()
    talk.take(back(sealed_summary(SUMMARY, seal)))
    request = render(talk, route)
    request.verify()
    assert "The person wants the hall painted." in request.json().decode()
    assert b"cmp_1" not in request.json()


def test_the_compaction_of_a_provider_stays_for_that_provider() -> None:
    for content in ("gAAAAABo", b64encode(b"something else").decode(), "not base64!"):
        [_, entry, _] = back(content)
        [block] = entry.blocks
        assert isinstance(block, HostedTool)
        assert (block.native or {})["item"]["encrypted_content"] == content


@pytest.mark.parametrize(
    "opens",
    [
        partial(unseal, key=b"another deployment's, or another tenant's"),
        lambda _: zlib.compress(b"something else that was sealed with the same key"),
        lambda _: b"legato-compaction\x01 but damaged",
    ],
)
def test_a_summary_that_does_not_verify_leaves_a_gap_that_the_model_knows_of(opens: Any) -> None:
    [first, gap, last] = back(sealed_summary(SUMMARY, seal), opens)
    assert (first.text, gap.text, last.text) == ("do it", UNREADABLE, "go on")


def test_what_stands_in_one_answer_with_a_compaction_is_kept_on_both_sides() -> None:
    item = item_of(compaction_answer(summarised(), seal, seed="req_1"))
    block = HostedTool("compaction", native={"item": item}, silent=True)
    trigger = HostedTool("compaction_trigger", native={"item": TRIGGER}, silent=True)
    entry = Entry(Speaker.AI, (Text("before"), block, Text("after"), trigger), answer="one")
    parsed = Parsed([entry, Entry(Speaker.AI, (trigger,))], places=[0, 1])
    read = read_compactions_of(parsed, unseal)
    assert read.places == [0, 0, 0]
    assert [(part.speaker, part.text, part.answer) for part in read.entries] == [
        (Speaker.AI, "before", "one"),
        (Speaker.HUMAN, SUMMARY_MARK + SUMMARY, None),
        (Speaker.AI, "after", None),
    ]


def test_entries_without_control_items_are_left_alone() -> None:
    parsed = Parsed([user("hi"), ai("hello"), calls("a"), result("a")], places=[0, 1, 2, 3])
    assert read_compactions_of(parsed, unseal) is parsed


def test_a_request_still_knows_where_its_entries_stood() -> None:
    items = [
        {"role": "user", "content": "do it"},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": sealed_summary(SUMMARY, seal)},
        {"role": "user", "content": "go on"},
        {"role": "assistant", "content": "yes"},
        TRIGGER,
    ]
    parsed = read_compactions_of(parse({"model": "gpt-5.1", "input": items}, RESPONSES), unseal)
    assert [entry.text for entry in parsed.entries] == ["do it", SUMMARY_MARK + SUMMARY, "go on", "yes"]
    assert [parsed.messages_of(index)[0] for index in range(4)] == [0, 1, 2, 3]
