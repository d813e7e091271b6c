"""Whoever answers and whoever asked: what is spoken, sent back and restored is what the model gave."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dialect_support import make_target
from gateway_support import CLIENTS, SILENT_CLIENTS, body_of, events_in, sent_back
from legato.errors import BadAnswer, Overloaded
from legato.gateway.carriers import Provenance, Sealer, restore
from legato.gateway.contract import Delivery
from legato.gateway.speakers import AnswerSpeaker
from legato.model import (
    Answer,
    CallKind,
    Code,
    Dialect,
    Ending,
    Entry,
    HostedTool,
    NameRule,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from legato.wire.deltas import BlockDone, BlockStart, CallDelta, Delta, TextDelta, ThinkingDelta, deltas_of
from legato.wire.dialects import dialect_parts
from legato.wire.names import NameTable
from legato.wire.openai_responses.parse import parse
from legato.wire.openai_responses.reading import client_tools
from reply_strategies import ANSWERS, TEXTS, answer_of

SEALER = Sealer(b"k" * 32)
EVERY_CLIENT = pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS.keys())
BACKENDS = st.sampled_from(Dialect)


def decoded(answer: Answer, backend: Dialect) -> tuple[list[Delta], Answer]:
    """`answer` as a provider of that dialect gives it: the deltas of its stream, and what they come to."""
    decoder = dialect_parts(backend).decoder(make_target(backend), NameTable(NameRule.OPENAI))
    deltas = [
        delta for chunk in dialect_parts(backend).reply_stream(answer, "model-1") for delta in decoder.feed(chunk)
    ]
    return deltas, decoder.finish()


def speaker(client: Delivery, backend: Dialect, served: str = "model-1") -> AnswerSpeaker:
    speaker = AnswerSpeaker(client, SEALER, "answer1")
    speaker.begin(make_target(backend), "acme/model-1")
    speaker.served = served
    return speaker


def spoken(
    client: Delivery, backend: Dialect, deltas: Iterable[Delta], answer: Answer
) -> tuple[AnswerSpeaker, list[bytes]]:
    voice = speaker(client, backend, answer.served)
    chunks = [chunk for delta in deltas for chunk in voice.feed(delta)]
    return voice, [*chunks, *voice.finish(answer)]


def thoughts(entry: Entry) -> list[Thinking]:
    """The thoughts that there is anything in."""
    return [block for block in entry.blocks if isinstance(block, Thinking) and (block.text or block.native)]


def natives(entry: Entry) -> list[object]:
    """The native data of texts, and then of calls, that a text is a refusal aside."""
    signed = [block for block in entry.blocks if isinstance(block, Text | ToolCall) and block.native]
    return [
        (block.text if isinstance(block, Text) else block.wire_id, block.native)
        for block in sorted(signed, key=lambda block: isinstance(block, ToolCall))
        if block.native != {"refusal": True}
    ]


def assert_restored(entry: Entry | None, spoken: Entry, client: Delivery, *, is_streamed: bool = False) -> None:
    if entry is None:  # thoughts alone, which this client is not shown
        assert not spoken.text
        assert not spoken.calls
        return
    restored, known = restore([entry], client.door.dialect, SEALER, client.tenant)
    assert entry.text == restored[0].text
    assert thoughts(restored[0]) == thoughts(spoken)
    # Nothing may come behind the text that ends an answer for this client, so what is known then is only remembered.
    if not (is_streamed and client.door.dialect is Dialect.ANTHROPIC and not spoken.calls):
        assert natives(restored[0]) == natives(spoken)
    assert [call.wire_id for call in restored[0].calls] == [call.wire_id for call in spoken.calls]
    if thoughts(spoken):
        assert known == {0: Provenance("answer1", "acme/model-1")}
        assert restored[0].origin == spoken.origin


@EVERY_CLIENT
@given(backend=BACKENDS, answer=ANSWERS)
def test_what_a_client_sends_back_is_what_the_model_gave(client: Delivery, backend: Dialect, answer: Answer) -> None:
    try:
        deltas, answer = decoded(answer, backend)
    except BadAnswer:
        return  # the provider cannot say it
    voice, chunks = spoken(client, backend, deltas, answer)
    back = sent_back(body_of(chunks, client.door), client.door.dialect)
    assert_restored(back, voice.entry, client, is_streamed=True)
    voice = speaker(client, backend)
    body = json.loads(voice.whole(answer))
    assert_restored(sent_back(body, client.door.dialect), voice.entry, client)


@pytest.mark.parametrize("client", ["anthropic", "responses"])
def test_an_answer_of_anthropics_api_ends_with_its_text(client: str) -> None:
    signed = Text("It is blue.", native={"thoughtSignature": "c2lnbmVk"})
    deltas, answer = decoded(answer_of([Thinking("The sky?"), signed]), Dialect.GEMINI)
    _, chunks = spoken(CLIENTS[client], Dialect.GEMINI, deltas, answer)
    body = body_of(chunks, CLIENTS[client].door)
    kinds = [block["type"] for block in body.get("content") or body["output"]]
    # Claude Code prints what the last block says; Codex looks for the last message.
    assert kinds == {"anthropic": ["thinking", "text"], "responses": ["reasoning", "message", "reasoning"]}[client]


@pytest.mark.parametrize("is_streamed", [True, False])
def test_a_tool_of_a_type_of_its_own_is_called_by_an_item_of_that_type(is_streamed: bool) -> None:
    tools = parse({"input": [], "tools": [{"type": "local_shell"}, {"type": "web_search"}]}).tools
    client = replace(CLIENTS["responses"], own_calls=client_tools(tools))
    action = {"type": "exec", "command": ["ls"]}
    called = {"type": "local_shell_call", "call_id": "call_x", "action": action, "status": "completed"}
    deltas, answer = decoded(answer_of([HostedTool("local_shell", native={"item": called})]), Dialect.OPENAI_RESPONSES)
    if is_streamed:
        voice, chunks = spoken(client, Dialect.OPENAI_RESPONSES, deltas, answer)
        [item] = body_of(chunks, client.door)["output"]
    else:
        voice = speaker(client, Dialect.OPENAI_RESPONSES)
        [item] = json.loads(voice.whole(answer))["output"]
    [call] = voice.entry.calls
    assert {name: item[name] for name in ("type", "action", "status", "call_id")} == called | {"call_id": call.wire_id}


# --- in time, and nothing else ----------------------------------------------------------------------------------------


def shown(deltas: Iterable[Delta]) -> tuple[str, str]:
    """The text and the thinking that `deltas` show."""
    deltas = list(deltas)
    text = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
    return text, "".join(delta.text for delta in deltas if isinstance(delta, ThinkingDelta))


@EVERY_CLIENT
@given(
    answer=st.builds(answer_of, st.lists(st.builds(Text, TEXTS) | st.builds(Thinking, TEXTS), min_size=1, max_size=4))
)
def test_after_each_delta_all_is_out_that_is_known(client: Delivery, answer: Answer) -> None:
    if client.door.as_array:
        return
    voice, dialect = speaker(client, Dialect.ANTHROPIC), client.door.dialect
    decoder = dialect_parts(dialect).decoder(make_target(dialect), NameTable(NameRule.OPENAI))
    came, out = list[Delta](), list[Delta]()
    for delta in deltas_of(answer, 3):
        came.append(delta)
        out += [told for chunk in voice.feed(delta) for told in decoder.feed(chunk)]
        text, thinking = shown(came)
        held = 1 if dialect is Dialect.GEMINI else 0  # its last character waits for what follows
        assert text.startswith(shown(out)[0])
        assert len(shown(out)[0]) >= len(text) - held
        if client.asks_thinking:
            assert len(shown(out)[1]) >= len(thinking) - held
    out += [told for chunk in voice.finish(answer) for told in decoder.feed(chunk)]
    assert shown(out)[0] == answer.text


@pytest.mark.parametrize("client", [*CLIENTS.values(), *SILENT_CLIENTS.values()], ids=[*CLIENTS, *SILENT_CLIENTS])
@given(backend=BACKENDS, answer=ANSWERS)
def test_nobody_reads_what_belongs_to_another_provider(client: Delivery, backend: Dialect, answer: Answer) -> None:
    try:
        deltas, answer = decoded(answer, backend)
    except BadAnswer:
        return
    _, chunks = spoken(client, backend, deltas, answer)
    streamed, whole = b"".join(chunks), speaker(client, backend).whole(answer)
    for data in (streamed, whole):
        assert b"asked/model-1" in data
        assert b'"model-1"' not in data
        if backend is not client.door.dialect:
            assert b'"c2ln"' not in data  # as every signature of the answer is called
            assert b"srvtoolu" not in data
    if client.door.dialect is Dialect.GEMINI and (answer.text or answer.calls):
        assert b'"text":""' not in streamed + whole


@given(answer=ANSWERS)
def test_whoever_did_not_ask_for_thinking_reads_the_text_first(answer: Answer) -> None:
    client = SILENT_CLIENTS["anthropic, unasked"]
    deltas, answer = decoded(answer, Dialect.ANTHROPIC)
    _, chunks = spoken(client, Dialect.ANTHROPIC, deltas, answer)
    for body in (body_of(chunks, client.door), json.loads(speaker(client, Dialect.ANTHROPIC).whole(answer))):
        assert not [block for block in body["content"] if "thinking" in block["type"]]


# --- another route takes over -----------------------------------------------------------------------------------------


@EVERY_CLIENT
def test_thinking_goes_on_when_another_route_takes_over(client: Delivery) -> None:
    voice = speaker(client, Dialect.OPENAI_CHAT)
    chunks = [chunk for delta in (BlockStart(Thinking()), ThinkingDelta("wrong \ud83c")) for chunk in voice.feed(delta)]
    assert not voice.visible
    said = answer_of([Thinking("right", native={"signature": "c2ln"}), Text("hello")])
    said = replace(said, entry=replace(said.entry, origin=make_target(Dialect.ANTHROPIC).origin("model-1")))
    voice.begin(make_target(Dialect.ANTHROPIC), "acme/other")
    voice.served = said.served
    has_spoken = False
    for delta in deltas_of(said):
        chunks += voice.feed(delta)
        has_spoken = has_spoken or isinstance(delta, TextDelta)
        assert voice.visible is has_spoken
    body = body_of([*chunks, *voice.finish(said)], client.door)
    entry = sent_back(body, client.door.dialect)
    assert entry is not None
    if client.asks_thinking:
        shown_thoughts = [block.text for block in entry.blocks if isinstance(block, Thinking) and block.text]
        assert shown_thoughts == ["wrong \n\nright"]
    restored, known = restore([entry], client.door.dialect, SEALER, "")
    assert known == {0: Provenance("answer1", "acme/other")}
    assert restored[0].blocks == said.entry.blocks
    assert restored[0].origin == said.entry.origin


@EVERY_CLIENT
def test_only_words_calls_and_what_tools_did_are_visible(client: Delivery) -> None:
    for said in (TextDelta("x"), BlockStart(ToolCall("read"), 0), CallDelta(0, "read"), BlockDone(Code("ls"))):
        voice = speaker(client, Dialect.ANTHROPIC)
        for unseen in (BlockStart(Thinking()), ThinkingDelta("x"), BlockDone(Thinking("x")), BlockStart(Text(""))):
            voice.feed(unseen)
            assert not voice.visible
        voice.feed(said)
        assert voice.visible


# --- what a client is promised ----------------------------------------------------------------------------------------

CALLING = answer_of([Text("I look."), ToolCall("read", {"path": "a"}), ToolCall("list", {})])


def test_mistrals_client_is_given_whole_calls_short_ids_and_the_usage_beside_the_reason() -> None:
    client = SILENT_CLIENTS["mistral, unasked"]
    voice, chunks = spoken(client, Dialect.ANTHROPIC, deltas_of(CALLING, 2), CALLING)
    events = events_in(chunks, client.door)
    deltas = [event["choices"][0]["delta"] for event in events]  # each has a choice
    calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
    assert [json.loads(call["function"]["arguments"]) for call in calls] == [{"path": "a"}, {}]
    assert [call["id"] for call in calls] == [call.wire_id for call in voice.entry.calls]
    assert all(len(call["id"]) == 9 and call["id"].isalnum() for call in calls)
    (last,) = [event for event in events if event["choices"][0]["finish_reason"]]
    assert last["usage"]["prompt_tokens"] == 20


@pytest.mark.parametrize("wants", [True, False])
def test_a_chat_stream_tells_the_usage_to_whoever_wants_it(wants: bool) -> None:
    client = replace(CLIENTS["chat"], wants_usage=wants)
    _, chunks = spoken(client, Dialect.ANTHROPIC, deltas_of(CALLING), CALLING)
    assert (b'"usage"' in b"".join(chunks)) is wants
    assert b'"usage"' in speaker(client, Dialect.ANTHROPIC).whole(CALLING)


def test_a_message_begins_with_the_usage_that_is_known() -> None:
    voice = AnswerSpeaker(CLIENTS["anthropic"], SEALER, "answer1")
    voice.begin(make_target(Dialect.GEMINI), "acme/model-1", Usage(input=7))
    (first, *_) = events_in(voice.feed(TextDelta("x")), voice.delivery.door)
    assert (first["type"], first["message"]["usage"]["input_tokens"]) == ("message_start", 7)


def test_codex_is_given_its_custom_tools_and_namespaces_back() -> None:
    client = CLIENTS["responses"]
    patch = ToolCall("apply_patch", {"input": "*** x"}, kind=CallKind.CUSTOM)
    said = answer_of([patch, ToolCall("play", {"song": "y"}, namespace="mcp__songs")])
    for body in (
        body_of(spoken(client, Dialect.ANTHROPIC, deltas_of(said), said)[1], client.door),
        json.loads(speaker(client, Dialect.ANTHROPIC).whole(said)),
    ):
        custom, spaced = body["output"]
        assert (custom["type"], custom["input"]) == ("custom_tool_call", "*** x")
        assert (spaced["type"], spaced["name"], spaced["namespace"]) == ("function_call", "play", "mcp__songs")


def test_an_array_is_one_array_and_comes_in_pieces() -> None:
    client = CLIENTS["gemini array"]
    voice = speaker(client, Dialect.ANTHROPIC)
    sofar = b"".join(chunk for delta in deltas_of(CALLING, 2) for chunk in [*voice.feed(delta), voice.keep_alive()])
    assert json.loads(sofar + b"]")
    assert json.loads(sofar + b"".join(voice.finish(CALLING)))[-1]["candidates"][0]["finishReason"] == "STOP"


def test_what_a_provider_tells_of_its_own_tools_reaches_a_client_of_its_own_dialect() -> None:
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    hosted = HostedTool("web_search", {"query": "q"}, [], "srvtoolu_1", native={"blocks": [use, found]})
    cited = Text("found", native={"citations": [{"type": "char_location"}]})
    said = answer_of([hosted, cited])
    body = json.loads(speaker(CLIENTS["anthropic"], Dialect.ANTHROPIC).whole(said))
    assert body["content"] == [use, found, {"type": "text", "text": "found", **cited.native}]  # pyright: ignore[reportGeneralTypeIssues]
    told = speaker(CLIENTS["anthropic"], Dialect.BEDROCK).whole(said)
    assert (b"The provider ran web_search" in told, b"srvtoolu" in told) == (True, False)


# --- failures ---------------------------------------------------------------------------------------------------------


@EVERY_CLIENT
def test_a_failure_is_told_in_the_clients_way_and_never_as_an_end(client: Delivery) -> None:
    voice, dialect = speaker(client, Dialect.ANTHROPIC), client.door.dialect
    chunks = [*voice.feed(TextDelta("half a ")), *voice.feed(TextDelta("sentence"))]
    told = voice.fail(Overloaded("the provider is too busy"))
    if dialect is Dialect.ANTHROPIC or client.door.joins_usage:
        assert told == []  # these clients understand a cut better
        return
    decoder = dialect_parts(dialect).decoder(make_target(dialect), NameTable(NameRule.OPENAI))
    if client.door.as_array:
        assert "error" in json.loads(b"".join([*chunks, *told]) + b"]")[-1]
        return
    for chunk in chunks:
        decoder.feed(chunk)
    with pytest.raises(BadAnswer, match="too busy"):
        [decoder.feed(chunk) for chunk in told]
    if dialect is Dialect.OPENAI_RESPONSES:
        *_, last, failed = events_in([*chunks, *told], client.door)
        assert failed["type"] == "response.failed"
        assert failed["response"]["status"] == "failed"
        assert failed["sequence_number"] == last["sequence_number"] + 1
        assert failed["response"]["id"] == voice.response_id


@EVERY_CLIENT
@pytest.mark.parametrize("ending", [Ending.CUT, Ending.CANCELLED])
def test_an_answer_that_broke_off_never_ends_in_order(client: Delivery, ending: Ending) -> None:
    said = answer_of([Text("half a sentence")], ending)
    voice, chunks = spoken(client, Dialect.ANTHROPIC, deltas_of(said), said)
    assert voice.is_cut is (client.door.dialect is not Dialect.OPENAI_RESPONSES)
    data = b"".join(chunks)
    assert not [mark for mark in (b"message_stop", b"[DONE]", b"finishReason", b"response.completed") if mark in data]
    if client.door.as_array:
        assert not data.endswith(b"]")


@EVERY_CLIENT
def test_a_carrier_tells_the_model_that_served_as_soon_as_it_is_known(client: Delivery) -> None:
    said = answer_of([Thinking("hm"), Text("hello")])
    voice = speaker(client, Dialect.OPENAI_CHAT, served="served-1")
    chunks = [chunk for delta in deltas_of(said) for chunk in voice.feed(delta)]
    chunks += voice.finish(replace(said, served="served-1"))
    entry = sent_back(body_of(chunks, client.door), client.door.dialect)
    assert entry is not None
    (restored,), _ = restore([entry], client.door.dialect, SEALER, "")
    assert restored.origin == voice.entry.origin == make_target(Dialect.OPENAI_CHAT).origin("served-1")


def test_a_partial_answer_is_recorded_under_the_ids_that_the_client_knows() -> None:
    client = CLIENTS["anthropic"]
    voice = speaker(client, Dialect.GEMINI)
    chunks = [chunk for delta in deltas_of(CALLING) for chunk in voice.feed(delta)]
    body = body_of(chunks, client.door)
    recorded = voice.record(CALLING)
    assert [call.wire_id for call in recorded.calls] == [block["id"] for block in body["content"][1:]]
    assert recorded == voice.entry
