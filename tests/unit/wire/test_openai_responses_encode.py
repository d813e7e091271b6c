"""Units as Responses items, judged by whole values, by our rules and by the official client's request types."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from openai.types.responses import ResponseInputParam
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import TypeAdapter

from dialect_support import call, exchange, failure, make_context, make_target, printed, reasons, success
from legato.errors import ImpossibleRequest
from legato.model import (
    Authority,
    CallId,
    CallKind,
    Choice,
    ClosureReason,
    Code,
    Dialect,
    Foreign,
    HostedTool,
    JsonObject,
    Media,
    MediaKind,
    Options,
    Text,
    Thinking,
    ThinkingMode,
    ThinkingSwitch,
    ToolCall,
    ToolSpec,
    closure_text,
)
from legato.request.thinking import will_think
from legato.transcript.units import Completion, CompletionKind, Said, Summary, Unit
from legato.wire.context import End, Thoughts
from legato.wire.encoder import EncodedUnit
from legato.wire.openai_responses import DIALECT
from legato.wire.options import Envelope
from legato.wire.phrases import (
    CONTINUE,
    EMBEDDED_RESULT,
    EMPTY_RESULT,
    INSTRUCTION_MARK,
    MEDIA_CAPTION,
    MEDIA_FOLLOWS,
    SUMMARY_MARK,
    media_omitted,
)

PICTURE = Media(MediaKind.IMAGE, "image/png", data="aGk=")
PDF = Media(MediaKind.DOCUMENT, "application/pdf", data="aGk=", name="a.pdf")
REASONING: JsonObject = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "hm"}],
    "encrypted_content": "gAAA",
}
SENT_REASONING: JsonObject = {"type": "reasoning", "summary": REASONING["summary"], "encrypted_content": "gAAA"}
THOUGHT = Thinking("hm", native={"item": REASONING})


def target(**capabilities: Any):
    return make_target(Dialect.OPENAI_RESPONSES, **{"thinking": ThinkingMode.EFFORT, **capabilities})


HOME = target().origin("model-1-2026")


def encode(
    unit: Unit, *, before: End = End.HUMAN, keep: bool = True, foreign: Foreign = Foreign.DROP, **capabilities: Any
) -> EncodedUnit:
    return DIALECT.encoder(make_context(target(**capabilities), foreign=foreign)).encode(
        unit, before, Thoughts.SHOWN if keep else Thoughts.HELD_BACK
    )


def assistant(text: str) -> JsonObject:
    return {"type": "message", "role": "assistant", "content": text}


def user(*parts: JsonObject | str) -> JsonObject:
    content = [{"type": "input_text", "text": part} if isinstance(part, str) else part for part in parts]
    return {"type": "message", "role": "user", "content": content}


def called(key: str, arguments: str = "{}", name: str = "read") -> JsonObject:
    return {"type": "function_call", "call_id": f"call_{key}", "name": name, "arguments": arguments}


def output(key: str, value: Any = "fine") -> JsonObject:
    return {"type": "function_call_output", "call_id": f"call_{key}", "output": value}


IMAGE_PART: JsonObject = {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,aGk="}
FILE_PART: JsonObject = {
    "type": "input_file",
    "filename": "a.pdf",
    "file_data": "data:application/pdf;base64,aGk=",
}


def test_what_was_said_is_one_user_item() -> None:
    said = Said(1, (Text("look"), Code("x = 1", "python"), PICTURE))
    assert encode(said) == EncodedUnit(encode(said).messages, End.HUMAN)
    assert printed(encode(said)) == [user("look", "```python\nx = 1\n```", IMAGE_PART)]


def test_a_fence_is_longer_than_the_fences_in_the_code() -> None:
    assert printed(encode(Said(1, (Code("```"),)))) == [user("````\n```\n````")]


@pytest.mark.parametrize(
    ("media", "capabilities", "part"),
    [
        (PICTURE, {}, IMAGE_PART),
        (
            Media(MediaKind.IMAGE, "image/png", url="https://a.example/b.png"),
            {},
            {"type": "input_image", "detail": "auto", "image_url": "https://a.example/b.png"},
        ),
        (PDF, {"documents": True}, FILE_PART),
        (
            Media(MediaKind.DOCUMENT, "application/pdf", data="aGk="),
            {"documents": True},
            {**FILE_PART, "filename": "document.pdf"},
        ),
        (
            Media(MediaKind.DOCUMENT, "text/csv", url="https://a.example/b.csv"),
            {"documents": True},
            {"type": "input_file", "file_url": "https://a.example/b.csv"},
        ),
    ],
)
def test_media_that_the_target_takes_are_parts(media: Media, capabilities: dict[str, Any], part: JsonObject) -> None:
    encoded = encode(Said(1, (media,)), **capabilities)
    assert (printed(encoded), reasons(encoded)) == ([user(part)], [])


@pytest.mark.parametrize(
    ("media", "capabilities"),
    [
        (PICTURE, {"images": False}),
        (PDF, {}),
        (Media(MediaKind.AUDIO, "audio/wav", data="aGk="), {"audio": True}),
        (Media(MediaKind.IMAGE, "image/png"), {}),
        (Media(MediaKind.DOCUMENT, "application/pdf"), {"documents": True}),
    ],
)
def test_media_that_the_target_cannot_take_are_named(media: Media, capabilities: dict[str, Any]) -> None:
    encoded = encode(Said(1, (media,)), **capabilities)
    assert printed(encoded) == [user(media_omitted(media.kind, media.mime))]
    assert reasons(encoded) == [("converted", "media-omitted")]


def test_a_summary_is_marked_human_side_text() -> None:
    assert printed(encode(Summary(1, "before"))) == [user(SUMMARY_MARK + "before")]


@pytest.mark.parametrize(
    ("capabilities", "item", "decided"),
    [
        ({}, {**user("be brief"), "role": "system"}, []),
        ({"developer_role": True}, {**user("be brief"), "role": "developer"}, []),
        ({"middle_system": False}, user(INSTRUCTION_MARK + "be brief"), [("converted", "instruction-as-text")]),
    ],
)
def test_an_instruction_in_the_middle_keeps_its_place(
    capabilities: dict[str, Any], item: JsonObject, decided: list[tuple[str, str]]
) -> None:
    encoded = encode(Said(1, (Text("be brief"),), Authority.INSTRUCTION), **capabilities)
    assert (printed(encoded), reasons(encoded)) == ([item], decided)


def test_an_instruction_without_text_is_marked_all_the_same() -> None:
    encoded = encode(Said(1, (PICTURE,), Authority.INSTRUCTION), middle_system=False)
    assert printed(encoded) == [user(INSTRUCTION_MARK.strip(), IMAGE_PART)]


@pytest.mark.req("REQ-915-006", "REQ-915-007", "REQ-915-017")
def test_every_call_is_followed_by_its_output_under_the_same_id() -> None:
    unit = exchange([Text("let me see"), call("a", path="x"), call("b")], success("a"), success("b", {"n": 1}))
    encoded = encode(unit)
    assert printed(encoded) == [
        assistant("let me see"),
        called("a", '{"path":"x"}'),
        called("b"),
        output("a"),
        output("b", '{"n":1}'),
    ]
    assert (encoded.end, encoded.decisions) == (End.RESULTS, ())


def test_an_answer_without_calls_ends_on_an_answer() -> None:
    assert encode(exchange([Text("done")])).end is End.ANSWER


def test_arguments_that_are_no_object_are_wrapped() -> None:
    broken = ToolCall("read", {}, "call_a", CallId("a"), raw="[1")
    assert printed(encode(exchange([broken], success("a"))))[0] == called("a", '{"raw_arguments":"[1"}')


@pytest.mark.parametrize(
    ("completion", "text"),
    [
        (success("a", ""), ""),
        (success("a", None), ""),
        (failure("a", "no such file"), "[Error] no such file"),
        (failure("a", ""), "[Error] (no output)"),
        (
            Completion(CallId("a"), CompletionKind.SYNTHETIC, reason=ClosureReason.NO_RESULT),
            closure_text(ClosureReason.NO_RESULT),
        ),
        (
            Completion(CallId("a"), CompletionKind.CANCELLED, reason=ClosureReason.DENIED, said="no"),
            closure_text(ClosureReason.DENIED, "no"),
        ),
    ],
)
def test_the_output_says_how_the_call_ended(completion: Completion, text: str) -> None:
    assert printed(encode(exchange([call("a")], completion)))[1] == output("a", text)


def test_an_empty_output_is_named_where_empty_text_is_refused() -> None:
    encoded = encode(exchange([call("a")], success("a", "")), empty_text=False)
    assert (printed(encoded)[1], reasons(encoded)) == (output("a", EMPTY_RESULT), [("inserted", "empty-result")])


def test_a_tool_name_that_the_target_refuses_is_projected() -> None:
    encoded = encode(exchange([call("a", "files.read")], success("a")))
    assert printed(encoded)[0]["name"].startswith("files_read_")
    assert reasons(encoded) == [("renamed", "tool-name")]
    assert encoded.decisions[0].calls == (CallId("a"),)


# --- thinking ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-023", "REQ-915-025")
def test_reasoning_at_home_stands_before_the_item_it_led_to_and_has_no_id() -> None:
    unit = exchange([THOUGHT, call("a"), THOUGHT, Text("and"), call("b")], success("a"), success("b"), origin=HOME)
    encoded = encode(unit)
    assert printed(encoded) == [
        SENT_REASONING,
        called("a"),
        SENT_REASONING,
        assistant("and"),
        called("b"),
        output("a"),
        output("b"),
    ]
    assert encoded.decisions == ()


def test_an_empty_summary_is_sent_as_an_empty_list() -> None:
    silent = Thinking(native={"item": {"type": "reasoning", "encrypted_content": "g", "summary": None, "content": []}})
    assert printed(encode(exchange([silent, Text("x")], origin=HOME)))[0] == {
        "type": "reasoning",
        "summary": [],
        "encrypted_content": "g",
    }


def test_reasoning_text_of_an_open_model_is_sent_back() -> None:
    content = [{"type": "reasoning_text", "text": "hm"}]
    own = Thinking("hm", native={"item": {**REASONING, "content": content}})
    assert printed(encode(exchange([own, Text("x")], origin=HOME)))[0] == {**SENT_REASONING, "content": content}


def test_reasoning_that_led_to_nothing_is_left_out() -> None:
    encoded = encode(exchange([Text("x"), THOUGHT], origin=HOME))
    assert (printed(encoded), reasons(encoded)) == ([assistant("x")], [("dropped", "dangling-thinking")])


@pytest.mark.req("REQ-915-024")
def test_foreign_reasoning_is_dropped_and_the_pair_stays() -> None:
    encoded = encode(exchange([THOUGHT, call("a")], success("a")))
    assert (printed(encoded), reasons(encoded)) == ([called("a"), output("a")], [("dropped", "foreign-thinking")])


def test_foreign_reasoning_becomes_text_where_the_policy_says_so() -> None:
    encoded = encode(exchange([THOUGHT, Thinking(" "), call("a")], success("a")), foreign=Foreign.TEXT)
    assert printed(encoded) == [assistant("hm"), called("a"), output("a")]
    assert reasons(encoded) == [("converted", "foreign-thinking"), ("dropped", "foreign-thinking")]


@pytest.mark.parametrize(
    ("foreign", "items", "decided"),
    [
        (Foreign.DROP, [assistant("x")], [("dropped", "unsigned-thinking")]),
        (Foreign.TEXT, [assistant("hm"), assistant("x")], [("converted", "unsigned-thinking")]),
    ],
)
def test_own_thinking_without_its_encrypted_form_is_treated_as_foreign(
    foreign: Foreign, items: list[JsonObject], decided: list[tuple[str, str]]
) -> None:
    encoded = encode(exchange([Thinking("hm"), Text("x")], origin=HOME), foreign=foreign)
    assert (printed(encoded), reasons(encoded)) == (items, decided)


@pytest.mark.req("REQ-915-024")
def test_no_thinking_is_printed_where_it_is_not_kept() -> None:
    encoded = encode(exchange([THOUGHT, Text("x")], origin=HOME), keep=False, foreign=Foreign.TEXT)
    assert (printed(encoded), reasons(encoded)) == ([assistant("x")], [("dropped", "thinking-policy")])


def test_an_exchange_with_nothing_left_to_print_leaves_the_end_as_it_was() -> None:
    encoded = encode(exchange([Thinking("hm")]), before=End.RESULTS)
    assert (encoded.messages, encoded.end, reasons(encoded)) == ((), End.RESULTS, [("dropped", "foreign-thinking")])


def test_the_phase_of_a_message_goes_home_and_nowhere_else() -> None:
    text = Text("x", native={"phase": "commentary"})
    assert printed(encode(exchange([text], origin=HOME))) == [{**assistant("x"), "phase": "commentary"}]
    assert printed(encode(exchange([text]))) == [assistant("x")]


def test_blank_text_with_native_data_is_not_printed() -> None:
    assert printed(encode(exchange([Text(" ", native={"phase": "final_answer"}), Text("x")], origin=HOME))) == [
        assistant("x")
    ]


# --- other kinds of calls ---------------------------------------------------------------------------------------------


CUSTOM = ToolCall("sql", {"input": "select 1"}, "call_a", CallId("a"), kind=CallKind.CUSTOM)


def test_a_custom_call_goes_home_as_free_text() -> None:
    assert printed(encode(exchange([CUSTOM], success("a"), origin=HOME))) == [
        {"type": "custom_tool_call", "call_id": "call_a", "name": "sql", "input": "select 1"},
        {"type": "custom_tool_call_output", "call_id": "call_a", "output": "fine"},
    ]


def test_a_custom_call_is_a_function_elsewhere() -> None:
    assert printed(encode(exchange([CUSTOM], success("a")))) == [
        called("a", '{"input":"select 1"}', "sql"),
        output("a"),
    ]


def test_the_caller_of_a_call_goes_home() -> None:
    native: JsonObject = {"caller": {"type": "program", "caller_id": "call_p"}}
    own = ToolCall("read", {}, "call_a", CallId("a"), native=native)
    assert printed(encode(exchange([own], success("a"), origin=HOME))) == [
        {**called("a"), **native},
        {**output("a"), **native},
    ]
    assert printed(encode(exchange([own], success("a")))) == [called("a"), output("a")]


def test_a_hosted_tool_goes_home_as_its_own_item() -> None:
    item: JsonObject = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
    hosted = HostedTool("web_search", {"q": "x"}, None, "ws_1", native={"item": item})
    assert printed(encode(exchange([THOUGHT, hosted, Text("x")], origin=HOME))) == [
        SENT_REASONING,
        item,
        assistant("x"),
    ]


@pytest.mark.parametrize(
    ("hosted", "text"),
    [
        (HostedTool("web_search"), "[The provider ran web_search]"),
        (HostedTool("web_search", {"q": "x"}, "found"), '[The provider ran web_search {"q":"x"}, which gave:]\nfound'),
        (HostedTool("search", {}, ["a"]), '[The provider ran search, which gave:]\n["a"]'),
        (HostedTool("search", {}, "y" * 3000), "[The provider ran search, which gave:]\n" + "y" * 2000 + "…"),
    ],
)
def test_a_hosted_tool_is_text_elsewhere(hosted: HostedTool, text: str) -> None:
    encoded = encode(exchange([hosted]))
    assert (printed(encoded), reasons(encoded)) == ([assistant(text)], [("converted", "hosted-tool")])


def test_code_and_media_in_an_answer_become_text() -> None:
    encoded = encode(exchange([Code("1"), PICTURE]))
    assert printed(encoded) == [assistant("```\n1\n```"), assistant(media_omitted("image", "image/png"))]
    assert reasons(encoded) == [("converted", "media-omitted")]


# --- media in results -------------------------------------------------------------------------------------------------


def test_images_stand_inside_results_where_the_target_takes_them() -> None:
    encoded = encode(exchange([call("a")], success("a", "seen", media=(PICTURE,))), result_images=True)
    assert printed(encoded)[1] == output("a", [{"type": "input_text", "text": "seen"}, IMAGE_PART])
    assert (encoded.end, encoded.decisions) == (End.RESULTS, ())


def test_media_of_results_follow_after_all_results() -> None:
    unit = exchange([call("a"), call("b")], success("a", "", media=(PICTURE, PDF)), success("b"))
    encoded = encode(unit, documents=True)
    assert printed(encoded)[2:] == [
        output("a", MEDIA_FOLLOWS),
        output("b"),
        user(MEDIA_CAPTION.format(tool="read"), IMAGE_PART, FILE_PART),
    ]
    assert (encoded.end, reasons(encoded)) == (End.HUMAN, [("converted", "media-moved")])


def test_media_of_results_that_the_target_cannot_take_are_named() -> None:
    encoded = encode(exchange([call("a")], success("a", "seen", media=(PICTURE,))), images=False)
    assert printed(encoded)[1] == output("a", "seen\n" + media_omitted("image", "image/png"))
    assert reasons(encoded) == [("converted", "media-omitted")]


# --- limits -----------------------------------------------------------------------------------------------------------


def test_more_calls_than_the_target_takes_are_printed_in_turns() -> None:
    unit = exchange([Text("x"), call("a"), THOUGHT, call("b"), call("c")], *map(success, "abc"), origin=HOME)
    encoded = encode(unit, max_calls=1)
    assert printed(encoded) == [
        assistant("x"),
        called("a"),
        output("a"),
        SENT_REASONING,
        called("b"),
        output("b"),
        called("c"),
        output("c"),
    ]
    assert reasons(encoded) == [("converted", "calls-split")]
    assert encoded.decisions[0].calls == ("a", "b", "c")


def test_results_are_embedded_as_text_where_call_items_are_not_taken() -> None:
    unit = exchange(
        [THOUGHT, Text("x"), THOUGHT, call("a"), call("b")],
        success("a", "seen", media=(PICTURE, PDF)),
        failure("b"),
        origin=HOME,
    )
    encoded = encode(unit, native_tool_history=False, max_calls=1)
    assert printed(encoded) == [
        SENT_REASONING,
        assistant("x"),
        user(EMBEDDED_RESULT + "seen\n" + media_omitted("document", "application/pdf"), IMAGE_PART),
        user(EMBEDDED_RESULT + "[Error] it broke"),
    ]
    assert encoded.end is End.HUMAN
    assert reasons(encoded) == [
        ("dropped", "dangling-thinking"),
        ("converted", "media-omitted"),
        ("converted", "text-embed"),
    ]
    assert encoded.decisions[-1].calls == ("a", "b")


@pytest.mark.parametrize("end", [End.START, End.HUMAN, End.RESULTS])
def test_nothing_is_added_where_the_request_may_end(end: End) -> None:
    assert DIALECT.encoder(make_context(target())).tail(end) == EncodedUnit((), end)
    assert DIALECT.encoder(make_context(target(prefill=True))).tail(End.ANSWER) == EncodedUnit((), End.ANSWER)


def test_a_request_does_not_end_on_an_answer() -> None:
    encoded = DIALECT.encoder(make_context(target())).tail(End.ANSWER)
    assert (printed(encoded), encoded.end, reasons(encoded)) == ([user(CONTINUE)], End.HUMAN, [("inserted", "tail")])


# --- the envelope -----------------------------------------------------------------------------------------------------


TOOL = ToolSpec("read", "reads")
DEFINITION: JsonObject = {
    "type": "function",
    "name": "read",
    "description": "reads",
    "parameters": {"type": "object", "properties": {}},
    "strict": False,
}
STATELESS: JsonObject = {"model": "model-1", "store": False, "include": ["reasoning.encrypted_content"]}


def head(options: Options | None = None, *, tools: tuple[ToolSpec, ...] = (TOOL,), **capabilities: Any):
    to, options = target(**capabilities), options or Options()
    context = replace(make_context(to), thinking_on=will_think(to, options))
    return DIALECT.head(Envelope("", tools, options), context)


def test_the_head_is_stateless_and_asks_for_encrypted_reasoning() -> None:
    printed_head = DIALECT.head(Envelope("be kind", (TOOL,), Options()), make_context(target()))
    assert printed_head.fields == {**STATELESS, "instructions": "be kind", "tools": [DEFINITION]}
    assert (printed_head.first, printed_head.decisions) == ((), ())


def test_a_model_that_does_not_think_is_not_asked_for_reasoning() -> None:
    assert head(tools=(), thinking=ThinkingMode.NEVER).fields == {"model": "model-1", "store": False}


@pytest.mark.parametrize(
    ("options", "capabilities", "fields", "decided"),
    [
        (Options(max_tokens=100), {}, {"max_output_tokens": 100}, []),
        (Options(max_tokens=5), {}, {"max_output_tokens": 16}, ["max-tokens"]),
        (Options(temperature=0.5), {}, {"temperature": 0.5}, []),
        (Options(temperature=0.5), {"temperature": False}, {}, ["temperature"]),
        (Options(stream=True), {}, {"stream": True}, []),
        (Options(choice=Choice.REQUIRED), {}, {"tool_choice": "required"}, []),
        (Options(tool="read"), {}, {"tool_choice": {"type": "function", "name": "read"}}, []),
        (Options(), {"max_calls": 1}, {"parallel_tool_calls": False}, []),
        (Options(effort="high"), {}, {"reasoning": {"effort": "high"}}, []),
        (Options(thinking=ThinkingSwitch.ON), {}, {"reasoning": {"summary": "auto"}}, []),
        (
            Options(thinking=ThinkingSwitch.ON),
            {"thinking": ThinkingMode.SWITCH},
            {"reasoning": {"effort": "medium", "summary": "auto"}},
            [],
        ),
        (Options(thinking_budget=1000), {}, {"reasoning": {"effort": "low"}}, ["thinking-budget"]),
        (Options(thinking_budget=9000), {}, {"reasoning": {"effort": "high"}}, ["thinking-budget"]),
        (Options(effort="low"), {"thinking": ThinkingMode.ALWAYS}, {}, ["effort"]),
        (Options(thinking=ThinkingSwitch.OFF), {}, {"reasoning": {"effort": "low"}}, ["thinking-always-on"]),
        (Options(thinking=ThinkingSwitch.OFF), {"thinking": ThinkingMode.ALWAYS}, {}, ["thinking-always-on"]),
        (
            Options(thinking=ThinkingSwitch.OFF, effort="high"),
            {"thinking": ThinkingMode.SWITCH},
            {"reasoning": {"effort": "none"}},
            [],
        ),
        (Options(extra={"service_tier": "flex"}), {}, {"service_tier": "flex"}, []),
        (
            Options(extra={"tools": [{"type": "web_search"}]}),
            {},
            {"tools": [DEFINITION, {"type": "web_search"}]},
            [],
        ),
    ],
)
def test_options_are_translated_or_adjusted(
    options: Options, capabilities: dict[str, Any], fields: JsonObject, decided: list[str]
) -> None:
    result = head(options, **capabilities)
    assert result.fields == {**STATELESS, "tools": [DEFINITION], **fields}
    assert [(str(decision.action), decision.reason) for decision in result.decisions] == [
        ("adjusted", reason) for reason in decided
    ]


@pytest.mark.parametrize(
    ("options", "decided"),
    [
        (Options(effort="high"), ["thinking-unsupported"]),
        (Options(thinking=ThinkingSwitch.ON), ["thinking-unsupported"]),
        (Options(thinking=ThinkingSwitch.OFF), []),
        (Options(), []),
    ],
)
def test_a_model_that_does_not_think_is_not_told_to(options: Options, decided: list[str]) -> None:
    result = head(options, thinking=ThinkingMode.NEVER)
    assert result.fields == {"model": "model-1", "store": False, "tools": [DEFINITION]}
    assert [decision.reason for decision in result.decisions] == decided


def test_without_tools_there_is_no_choice() -> None:
    assert head(Options(choice=Choice.AUTO), tools=()).fields == STATELESS


@pytest.mark.parametrize(
    ("options", "tools"),
    [(Options(choice=Choice.REQUIRED), ()), (Options(tool="read"), ()), (Options(tool="write"), (TOOL,))],
)
def test_a_forced_call_of_a_tool_that_is_not_offered_is_impossible(
    options: Options, tools: tuple[ToolSpec, ...]
) -> None:
    with pytest.raises(ImpossibleRequest):
        head(options, tools=tools)


def test_definitions_are_made_up_where_the_target_demands_them() -> None:
    envelope = Envelope("", (), Options(), called=(("read", ""),))
    result = DIALECT.head(envelope, make_context(target(demands_tools=True)))
    assert result.fields == {
        **STATELESS,
        "tools": [{**DEFINITION, "description": "No longer available."}],
        "tool_choice": "none",
    }
    assert [(str(d.action), d.reason) for d in result.decisions] == [("inserted", "dummy-tools")]
    embedded = DIALECT.head(envelope, make_context(target(demands_tools=True, native_tool_history=False)))
    assert embedded.fields == STATELESS


# --- second opinions --------------------------------------------------------------------------------------------------

EVERYTHING: list[Unit] = [
    Said(1, (Text("hi"), PICTURE)),
    exchange(
        [THOUGHT, Text("x", native={"phase": "commentary"}), call("a", path="x"), call("b")],
        success("a", "seen", media=(PICTURE, PDF)),
        failure("b"),
        origin=HOME,
    ),
    Said(2, (Text("be brief"),), Authority.INSTRUCTION),
    exchange([ToolCall("sql", {"input": "1"}, "call_c", CallId("c"), kind=CallKind.CUSTOM)], success("c"), origin=HOME),
    exchange([HostedTool("web_search", {"q": "x"}, "found"), Thinking("hm"), Text("done")]),
    Summary(3, "so far"),
]


@pytest.mark.parametrize(
    "capabilities",
    [
        {"documents": True, "result_images": True},
        {"documents": True},
        {"images": False},
        {"native_tool_history": False},
        {"max_calls": 1, "middle_system": False},
    ],
)
def test_bodies_satisfy_the_official_types_and_our_rules(capabilities: dict[str, Any]) -> None:
    context = make_context(target(**capabilities), foreign=Foreign.TEXT)
    end, items = End.START, list[JsonObject]()
    for unit in EVERYTHING:
        encoded = DIALECT.encoder(context).encode(unit, end)
        items += printed(encoded)
        end = encoded.end
    options = Options(max_tokens=100, choice=Choice.AUTO, effort="low")
    body = {**DIALECT.head(Envelope("be kind", (TOOL,), options), context).fields, "input": items}
    assert DIALECT.check(body, context.target) == []
    # The published type demands an id for reasoning items, which a server that stores nothing does not.
    typed = [{"id": "rs_1", **item} if item["type"] == "reasoning" else item for item in items]
    TypeAdapter(ResponseInputParam).validate_python(typed, strict=False)
    TypeAdapter(ResponseCreateParamsNonStreaming).validate_python({**body, "input": typed})
