"""Units as ModelMessages."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

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
from legato.wire.vercel import DIALECT

PICTURE = Media(MediaKind.IMAGE, "image/png", data="aGk=")
LINK = Media(MediaKind.IMAGE, "image/png", url="https://a.example/b.png")
PDF = Media(MediaKind.DOCUMENT, "application/pdf", data="aGk=", name="a.pdf")
IMAGE_PART: JsonObject = {"type": "image", "image": "aGk=", "mediaType": "image/png"}
FILE_PART: JsonObject = {"type": "file", "data": "aGk=", "mediaType": "application/pdf", "filename": "a.pdf"}
SIGNED: JsonObject = {"providerOptions": {"acme": {"signature": "s"}}}


def target(**capabilities: Any):
    return make_target(Dialect.VERCEL, **{"thinking": ThinkingMode.SWITCH, **capabilities})


HOME = target().origin("model-1-2026")


def encode(
    unit: Unit, *, before: End = End.HUMAN, keep: bool = True, foreign: Foreign = Foreign.DROP, **capabilities: Any
) -> EncodedUnit:
    return DIALECT.encoder(make_context(target(**capabilities), foreign=foreign)).encode(
        unit, before, Thoughts.SHOWN if keep else Thoughts.HELD_BACK
    )


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def user(*parts: JsonObject | str) -> JsonObject:
    return {"role": "user", "content": [text(part) if isinstance(part, str) else part for part in parts]}


def assistant(*parts: JsonObject | str) -> JsonObject:
    return {"role": "assistant", "content": [text(part) if isinstance(part, str) else part for part in parts]}


def tool(*parts: JsonObject) -> JsonObject:
    return {"role": "tool", "content": list(parts)}


def called(key: str, arguments: Any = None, name: str = "read") -> JsonObject:
    return {"type": "tool-call", "toolCallId": f"call_{key}", "toolName": name, "input": arguments or {}}


def result(key: str, kind: str = "text", value: Any = "fine", name: str = "read") -> JsonObject:
    output = {"type": kind, "value": value}
    return {"type": "tool-result", "toolCallId": f"call_{key}", "toolName": name, "output": output}


def test_what_was_said_is_one_user_message() -> None:
    encoded = encode(Said(1, (Text("look"), Code("x = 1", "python"), PICTURE, LINK)))
    assert printed(encoded) == [
        user("look", "```python\nx = 1\n```", IMAGE_PART, {**IMAGE_PART, "image": "https://a.example/b.png"})
    ]
    assert (encoded.end, encoded.decisions) == (End.HUMAN, ())


@pytest.mark.parametrize(
    ("media", "capabilities", "part"),
    [
        (PDF, {"documents": True}, FILE_PART),
        (
            Media(MediaKind.AUDIO, "audio/wav", data="aGk="),
            {"audio": True},
            {"type": "file", "data": "aGk=", "mediaType": "audio/wav"},
        ),
    ],
)
def test_media_that_the_target_takes_are_parts(media: Media, capabilities: dict[str, Any], part: JsonObject) -> None:
    assert printed(encode(Said(1, (media,)), **capabilities)) == [user(part)]


@pytest.mark.parametrize(
    "media",
    [
        PDF,
        Media(MediaKind.AUDIO, "audio/wav", data="aGk="),
        Media(MediaKind.VIDEO, "video/mp4", data="aGk="),
        Media(MediaKind.IMAGE, "image/png"),
    ],
)
def test_media_that_the_target_cannot_take_are_named(media: Media) -> None:
    encoded = encode(Said(1, (media,)))
    assert printed(encoded) == [user(media_omitted(media.kind, media.mime))]
    assert reasons(encoded) == [("converted", "media-omitted")]


def test_a_summary_is_marked_human_side_text() -> None:
    assert printed(encode(Summary(1, "before"))) == [user(SUMMARY_MARK + "before")]


@pytest.mark.parametrize(
    ("blocks", "capabilities", "message", "decided"),
    [
        ((Text("a"), Text("b")), {}, {"role": "system", "content": "a\n\nb"}, []),
        ((Text("a"),), {"middle_system": False}, user(INSTRUCTION_MARK + "a"), ["instruction-as-text"]),
        ((PICTURE, Text("a")), {}, user(IMAGE_PART, INSTRUCTION_MARK + "a"), ["instruction-as-text"]),
        ((PICTURE,), {}, user(INSTRUCTION_MARK.strip(), IMAGE_PART), ["instruction-as-text"]),
    ],
)
def test_an_instruction_in_the_middle_keeps_its_place(
    blocks: Any, capabilities: dict[str, Any], message: JsonObject, decided: list[str]
) -> None:
    encoded = encode(Said(1, blocks, Authority.INSTRUCTION), **capabilities)
    assert printed(encoded) == [message]
    assert reasons(encoded) == [("converted", reason) for reason in decided]


@pytest.mark.req("REQ-915-006", "REQ-915-007", "REQ-915-008")
def test_all_results_of_an_answer_stand_in_one_tool_message_right_after_it() -> None:
    unit = exchange(
        [Text("let me see"), call("a", path="x"), call("b"), call("c")],
        success("a"),
        success("b", {"n": 1}),
        failure("c"),
    )
    encoded = encode(unit)
    assert printed(encoded) == [
        assistant("let me see", called("a", {"path": "x"}), called("b"), called("c")),
        tool(result("a"), result("b", "json", {"n": 1}), result("c", "error-text", "it broke")),
    ]
    assert (encoded.end, encoded.decisions) == (End.RESULTS, ())


def test_an_answer_without_calls_ends_on_an_answer() -> None:
    assert encode(exchange([Text("done")])).end is End.ANSWER


@pytest.mark.parametrize(
    ("completion", "kind", "value"),
    [
        (success("a", ""), "text", ""),
        (success("a", None), "text", ""),
        (success("a", 0), "json", 0),
        (success("a", [1], shortened="cut"), "text", "cut"),
        (
            success("a", [1], ran_with={"x": 1}),
            "text",
            '[The user changed the arguments; the tool ran with {"x":1}]\n[1]',
        ),
        (
            Completion(CallId("a"), CompletionKind.SYNTHETIC, reason=ClosureReason.NO_RESULT),
            "error-text",
            closure_text(ClosureReason.NO_RESULT),
        ),
    ],
)
def test_the_output_says_how_the_call_ended(completion: Completion, kind: str, value: Any) -> None:
    assert printed(encode(exchange([call("a")], completion)))[1] == tool(result("a", kind, value))


def test_an_empty_output_is_named_where_empty_text_is_refused() -> None:
    encoded = encode(exchange([call("a")], success("a", "")), empty_text=False)
    assert printed(encoded)[1] == tool(result("a", "text", EMPTY_RESULT))
    assert reasons(encoded) == [("inserted", "empty-result")]


def test_a_tool_name_that_the_target_refuses_is_projected_on_both_sides() -> None:
    encoded = encode(exchange([call("a", "files.read")], success("a")))
    answer, results = printed(encoded)
    assert answer["content"][0]["toolName"] == results["content"][0]["toolName"]
    assert reasons(encoded) == [("renamed", "tool-name")]


# --- thinking and what else is native ---------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-023", "REQ-915-025")
def test_own_thinking_goes_back_with_its_metadata() -> None:
    unit = exchange(
        [
            Thinking("hm", native=SIGNED),
            Thinking("plain"),
            Thinking(""),
            Text("x", native=SIGNED),
            Text("", native=SIGNED),
            ToolCall("read", {}, "call_a", CallId("a"), native=SIGNED),
        ],
        success("a"),
        origin=HOME,
    )
    assert encode(unit).decisions == ()
    assert printed(encode(unit))[0] == assistant(
        {"type": "reasoning", "text": "hm", **SIGNED},
        {"type": "reasoning", "text": "plain"},
        {**text("x"), **SIGNED},
        {**text(""), **SIGNED},
        {**called("a"), **SIGNED},
    )


@pytest.mark.req("REQ-915-024")
def test_nothing_native_goes_elsewhere() -> None:
    unit = exchange(
        [
            Thinking("hm", native=SIGNED),
            Text("x", native=SIGNED),
            Text(" ", native=SIGNED),
            ToolCall("read", {}, "call_a", CallId("a"), native=SIGNED),
        ],
        success("a"),
    )
    encoded = encode(unit)
    assert printed(encoded)[0] == assistant("x", called("a"))
    assert reasons(encoded) == [("dropped", "foreign-thinking"), ("dropped", "blank-text")]


def test_foreign_thinking_becomes_text_where_the_policy_says_so() -> None:
    encoded = encode(exchange([Thinking("hm"), Thinking(" "), Text("x")]), foreign=Foreign.TEXT)
    assert printed(encoded) == [assistant("hm", "x")]
    assert reasons(encoded) == [("converted", "foreign-thinking"), ("dropped", "foreign-thinking")]


def test_no_thinking_is_printed_where_it_is_not_kept() -> None:
    encoded = encode(exchange([Thinking("hm", native=SIGNED), Text("x")], origin=HOME), keep=False)
    assert (printed(encoded), reasons(encoded)) == ([assistant("x")], [("dropped", "thinking-policy")])


def test_an_exchange_with_nothing_left_to_print_leaves_the_end_as_it_was() -> None:
    encoded = encode(exchange([Thinking("hm")]), before=End.RESULTS)
    assert (encoded.messages, encoded.end) == ((), End.RESULTS)


def test_a_hosted_tool_goes_home_as_its_own_parts_and_elsewhere_as_text() -> None:
    parts = [{"type": "tool-call", "toolCallId": "ws_1", "toolName": "search", "input": {}, "providerExecuted": True}]
    hosted = HostedTool("search", {"q": "x"}, "found", "ws_1", native={"parts": parts})
    assert printed(encode(exchange([hosted], origin=HOME))) == [assistant(*parts)]
    encoded = encode(exchange([hosted]))
    assert printed(encoded) == [assistant('[The provider ran search {"q":"x"}, which gave:]\nfound')]
    assert reasons(encoded) == [("converted", "hosted-tool")]


def test_a_custom_call_goes_home_as_free_text_and_elsewhere_as_an_object() -> None:
    custom = ToolCall("sql", {"input": "select 1"}, "call_a", CallId("a"), kind=CallKind.CUSTOM)
    at_home = printed(encode(exchange([custom], success("a"), origin=HOME)))[0]
    assert at_home == assistant({**called("a", name="sql"), "input": "select 1"})
    assert printed(encode(exchange([custom], success("a"))))[0] == assistant(called("a", {"input": "select 1"}, "sql"))


def test_code_becomes_text_and_generated_media_are_files_at_home_only() -> None:
    unit = exchange([Code("1"), PICTURE, Media(MediaKind.IMAGE, "image/png")], origin=HOME)
    assert printed(encode(unit)) == [
        assistant(
            "```\n1\n```",
            {"type": "file", "data": "aGk=", "mediaType": "image/png"},
            media_omitted("image", "image/png"),
        )
    ]
    encoded = encode(exchange([PICTURE]))
    assert printed(encoded) == [assistant(media_omitted("image", "image/png"))]
    assert reasons(encoded) == [("converted", "media-omitted")]


# --- media in results -------------------------------------------------------------------------------------------------


def test_images_stand_inside_results_where_the_target_takes_them() -> None:
    encoded = encode(
        exchange([call("a"), call("b")], success("a", "seen", media=(PICTURE,)), success("b", "", media=(LINK,))),
        result_images=True,
    )
    image = {"type": "image-data", "data": "aGk=", "mediaType": "image/png"}
    link = {"type": "image-url", "url": "https://a.example/b.png"}
    assert printed(encoded)[1] == tool(result("a", "content", [text("seen"), image]), result("b", "content", [link]))
    assert (encoded.end, encoded.decisions) == (End.RESULTS, ())


def test_media_of_results_follow_after_all_results() -> None:
    unit = exchange([call("a"), call("b")], success("a", "seen", media=(PICTURE, PDF)), failure("b", media=(PICTURE,)))
    caption = MEDIA_CAPTION.format(tool="read")
    for result_images in (False, True):
        encoded = encode(unit, documents=True, result_images=result_images)
        assert printed(encoded)[1]["content"][1] == result("b", "error-text", f"it broke\n{MEDIA_FOLLOWS}")
        assert (encoded.end, reasons(encoded)) == (End.HUMAN, [("converted", "media-moved")] * 2)
    assert printed(encode(unit, documents=True))[2] == user(caption, IMAGE_PART, FILE_PART, caption, IMAGE_PART)


def test_media_of_results_that_the_target_cannot_take_are_named() -> None:
    encoded = encode(exchange([call("a")], success("a", "seen", media=(PICTURE,))), images=False)
    assert printed(encoded)[1] == tool(result("a", "text", "seen\n" + media_omitted("image", "image/png")))
    assert reasons(encoded) == [("converted", "media-omitted")]


# --- limits -----------------------------------------------------------------------------------------------------------


def test_more_calls_than_the_target_takes_are_printed_in_turns() -> None:
    unit = exchange([call("a"), Text("x"), call("b"), call("c")], *map(success, "abc"))
    encoded = encode(unit, max_calls=2)
    assert printed(encoded) == [
        assistant(called("a"), "x", called("b")),
        tool(result("a"), result("b")),
        assistant(called("c")),
        tool(result("c")),
    ]
    assert reasons(encoded) == [("converted", "calls-split")]
    assert encoded.decisions[0].calls == ("a", "b", "c")


def test_text_stands_before_the_calls_where_it_may_not_stand_beside_them() -> None:
    unit = exchange([call("a"), Text("x")], success("a"))
    assert printed(encode(unit, text_beside_calls=False)) == [
        assistant("x"),
        assistant(called("a")),
        tool(result("a")),
    ]


def test_results_are_embedded_as_text_where_calls_are_not_taken() -> None:
    unit = exchange(
        [Text("x"), call("a"), call("b"), call("c")],
        success("a", "seen", media=(PICTURE, PDF)),
        failure("b"),
        failure("c", "[Error] known"),
    )
    encoded = encode(unit, native_tool_history=False)
    assert printed(encoded) == [
        assistant("x"),
        user(EMBEDDED_RESULT + "seen\n" + media_omitted("document", "application/pdf"), IMAGE_PART),
        user(EMBEDDED_RESULT + "[Error] it broke"),
        user(EMBEDDED_RESULT + "[Error] [Error] known"),
    ]
    assert encoded.end is End.HUMAN
    assert reasons(encoded) == [("converted", "media-omitted"), ("converted", "text-embed")]
    assert encoded.decisions[-1].calls == ("a", "b", "c")


@pytest.mark.parametrize("end", [End.START, End.HUMAN, End.RESULTS])
def test_nothing_is_added_where_the_request_may_end(end: End) -> None:
    assert DIALECT.encoder(make_context(target())).tail(end) == EncodedUnit((), end)
    assert DIALECT.encoder(make_context(target(prefill=True))).tail(End.ANSWER) == EncodedUnit((), End.ANSWER)


def test_a_request_does_not_end_on_an_answer() -> None:
    encoded = DIALECT.encoder(make_context(target())).tail(End.ANSWER)
    assert (printed(encoded), encoded.end, reasons(encoded)) == ([user(CONTINUE)], End.HUMAN, [("inserted", "tail")])


# --- the envelope -----------------------------------------------------------------------------------------------------


TOOL = ToolSpec("read", "reads")
DEFINITION: JsonObject = {"description": "reads", "inputSchema": {"type": "object", "properties": {}}}
BASE: JsonObject = {"model": "model-1", "allowSystemInMessages": True}


def head(options: Options | None = None, *, tools: tuple[ToolSpec, ...] = (TOOL,), **capabilities: Any):
    to, options = target(**capabilities), options or Options()
    context = replace(make_context(to), thinking_on=will_think(to, options))
    return DIALECT.head(Envelope("", tools, options), context)


def test_the_head_names_model_instructions_and_tools() -> None:
    printed_head = DIALECT.head(Envelope("be kind", (TOOL,), Options()), make_context(target()))
    assert printed_head.fields == {**BASE, "system": "be kind", "tools": {"read": DEFINITION}}
    assert head(tools=(), middle_system=False).fields == {"model": "model-1"}


@pytest.mark.parametrize(
    ("options", "capabilities", "fields", "decided"),
    [
        (Options(max_tokens=100), {}, {"maxOutputTokens": 100}, []),
        (Options(temperature=0.5), {}, {"temperature": 0.5}, []),
        (Options(temperature=0.5), {"temperature": False}, {}, ["temperature"]),
        (Options(stream=True), {}, {"stream": True}, []),
        (Options(choice=Choice.REQUIRED), {}, {"toolChoice": "required"}, []),
        (Options(tool="read"), {}, {"toolChoice": {"type": "tool", "toolName": "read"}}, []),
        (Options(effort="high"), {}, {"reasoning": "high"}, []),
        (Options(thinking=ThinkingSwitch.ON), {}, {"reasoning": "medium"}, []),
        (Options(thinking=ThinkingSwitch.ON), {"thinking_default": True}, {}, []),
        (Options(thinking_budget=1000), {}, {"reasoning": "low"}, ["thinking-budget"]),
        (Options(thinking_budget=9000), {}, {"reasoning": "high"}, ["thinking-budget"]),
        (Options(effort="low"), {"thinking": ThinkingMode.ALWAYS}, {}, ["effort"]),
        (Options(effort="low"), {"thinking": ThinkingMode.NEVER}, {}, ["thinking-unsupported"]),
        (Options(thinking=ThinkingSwitch.OFF, thinking_budget=9), {}, {"reasoning": "none"}, []),
        (Options(thinking=ThinkingSwitch.OFF), {"thinking": ThinkingMode.NEVER}, {}, []),
        (
            Options(thinking=ThinkingSwitch.OFF),
            {"thinking": ThinkingMode.EFFORT},
            {"reasoning": "low"},
            ["thinking-always-on"],
        ),
        (Options(thinking=ThinkingSwitch.OFF), {"thinking": ThinkingMode.ALWAYS}, {}, ["thinking-always-on"]),
        (Options(extra={"topP": 0.5}), {}, {"topP": 0.5}, []),
    ],
)
def test_options_are_translated_or_adjusted(
    options: Options, capabilities: dict[str, Any], fields: JsonObject, decided: list[str]
) -> None:
    printed_head = head(options, **capabilities)
    assert printed_head.fields == {**BASE, "tools": {"read": DEFINITION}, **fields}
    assert [(str(decision.action), decision.reason) for decision in printed_head.decisions] == [
        ("adjusted", reason) for reason in decided
    ]


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
    printed_head = DIALECT.head(envelope, make_context(target(demands_tools=True)))
    schema = {"inputSchema": DEFINITION["inputSchema"], "description": "No longer available."}
    assert printed_head.fields == {**BASE, "tools": {"read": schema}, "toolChoice": "none"}
    assert [(str(d.action), d.reason) for d in printed_head.decisions] == [("inserted", "dummy-tools")]
    assert DIALECT.head(envelope, make_context(target())).fields == BASE
