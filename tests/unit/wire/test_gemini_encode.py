"""How units, options and tools are printed for `generateContent`."""

from __future__ import annotations

from typing import Any

import pytest

from block_support import accepted_by_gemini, assemble, context_for, gemini
from dialect_support import call, encode_with, exchange, failure, printed, reasons, success, tail_with
from legato.errors import ImpossibleRequest
from legato.model import (
    Authority,
    CallId,
    Choice,
    ClosureReason,
    Code,
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
from legato.transcript.units import Completion, CompletionKind, Said, Summary, Unit
from legato.wire.context import EncodeContext, End
from legato.wire.contract import EncodedEnvelope
from legato.wire.encoder import EncodedUnit
from legato.wire.gemini import DIALECT
from legato.wire.options import Envelope

encode, tail = encode_with(DIALECT), tail_with(DIALECT)
TARGET = gemini()
CONTEXT = context_for(TARGET)
PLAIN = context_for(gemini(call_signatures=False))
HOME = TARGET.origin("model-1-002")
SIGNATURE = "CokDAb4+9vue"
PLACEHOLDER = "skip_thought_signature_validator"
PNG = Media(MediaKind.IMAGE, "image/png", data="iVBORw0=")
PDF = Media(MediaKind.DOCUMENT, "application/pdf", url="gs://bucket/a.pdf")
ZIP = Media(MediaKind.DOCUMENT, "application/zip", url="file:///a.zip")
THOUGHT = Thinking("let me see", native={"thoughtSignature": SIGNATURE})
BRIDGE = {"role": "user", "parts": [{"text": "(continued)"}]}


def contents(
    unit: Unit, before: End = End.HUMAN, context: EncodeContext = PLAIN, *, keep: bool = True
) -> list[JsonObject]:
    return printed(encode(unit, before, context, keep))


def user(*parts: JsonObject) -> JsonObject:
    return {"role": "user", "parts": list(parts)}


def model(*parts: JsonObject) -> JsonObject:
    return {"role": "model", "parts": list(parts)}


def used(key: str, name: str = "read", **args: Any) -> JsonObject:
    return {"functionCall": {"name": name, "args": args, "id": f"call_{key}"}}


def gave(key: str, name: str = "read", **response: Any) -> JsonObject:
    return {"functionResponse": {"name": name, "response": response, "id": f"call_{key}"}}


def test_a_human_entry_is_a_user_content() -> None:
    unit = Said(1, (Text("look"), PNG, PDF, Code("x", "py")))
    assert encode(unit, End.START, CONTEXT, True).end is End.HUMAN
    assert contents(unit) == [
        user(
            {"text": "look"},
            {"inlineData": {"mimeType": "image/png", "data": "iVBORw0="}},
            {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://bucket/a.pdf"}},
            {"text": "```py\nx\n```"},
        )
    ]


def test_fences_are_longer_than_those_in_the_code() -> None:
    assert contents(Said(1, (Code("```"),))) == [user({"text": "````\n```\n````"})]


def test_an_address_without_a_known_type_is_sent_without_one() -> None:
    media = Media(MediaKind.IMAGE, "image/*", url="https://a.example/b")
    assert contents(Said(1, (media,))) == [user({"fileData": {"fileUri": "https://a.example/b"}})]


@pytest.mark.parametrize(
    ("media", "capabilities"),
    [
        (PNG, {"images": False}),
        (PDF, {"documents": False}),
        (Media(MediaKind.AUDIO, "audio/wav", data="aa=="), {"audio": False}),
        (Media(MediaKind.VIDEO, "video/mp4", data="aa=="), {"audio": False}),
        (ZIP, {}),
    ],
)
def test_media_that_the_target_cannot_take_are_named_and_never_shown(media: Media, capabilities: Any) -> None:
    encoded = encode(Said(1, (media,)), End.START, context_for(gemini(**capabilities)), True)
    assert printed(encoded) == [user({"text": f"[{media.kind} omitted: {media.mime}, which this model cannot take]"})]
    assert reasons(encoded) == [("converted", "media-omitted")]


def test_instructions_and_summaries_are_marked_text_of_the_human_side() -> None:
    assert contents(Said(1, (Text("be brief"), Code("x")), Authority.INSTRUCTION)) == [
        user({"text": "[Instruction] be brief"}, {"text": "```\nx\n```"})
    ]
    assert contents(Summary(1, "they talked")) == [user({"text": "[Summary of the conversation so far]\nthey talked"})]


@pytest.mark.req("REQ-915-006")
def test_an_exchange_is_an_answer_and_then_one_content_of_all_responses() -> None:
    unit = exchange([Text("I look"), call("a", path="x"), call("b"), Text("now")], success("a", "one"), failure("b"))
    encoded = encode(unit, End.HUMAN, PLAIN, True)
    assert (encoded.end, encoded.decisions) == (End.RESULTS, ())
    assert printed(encoded) == [
        model({"text": "I look"}, used("a", path="x"), used("b"), {"text": "now"}),
        user(gave("a", result="one"), gave("b", error="it broke")),
    ]


def test_ids_stand_on_both_sides_or_on_neither() -> None:
    context = context_for(gemini(call_ids=False, call_signatures=False))
    assert contents(exchange([call("a")], success("a", "x")), context=context) == [
        model({"functionCall": {"name": "read", "args": {}}}),
        user({"functionResponse": {"name": "read", "response": {"result": "x"}}}),
    ]


@pytest.mark.parametrize(
    ("completion", "response"),
    [
        (success("a", {"n": 1}), {"result": {"n": 1}}),
        (success("a", [1]), {"result": [1]}),
        (success("a", False), {"result": False}),
        (success("a", {}), {"result": {}}),
        (success("a", {"n": 1}, shortened="cut"), {"result": "cut"}),
        (
            success("a", "x", ran_with={"b": 2}),
            {"result": '[The user changed the arguments; the tool ran with {"b":2}]\nx'},
        ),
        (
            Completion(CallId("a"), CompletionKind.SYNTHETIC, reason=ClosureReason.IN_FLIGHT),
            {"error": closure_text(ClosureReason.IN_FLIGHT)},
        ),
    ],
)
def test_a_response_holds_a_result_or_an_error(completion: Completion, response: JsonObject) -> None:
    assert contents(exchange([call("a")], completion))[1] == user(gave("a", **response))


@pytest.mark.parametrize("result", ["", " \n", None])
def test_an_empty_result_gets_words(result: Any) -> None:
    encoded = encode(exchange([call("a")], success("a", result)), End.HUMAN, PLAIN, True)
    assert printed(encoded)[1] == user(gave("a", result="(no output)"))
    assert reasons(encoded) == [("inserted", "empty-result")]


def test_an_empty_result_stays_empty_where_that_is_accepted() -> None:
    context = context_for(gemini(empty_text=True, call_signatures=False))
    assert contents(exchange([call("a")], success("a", "")), context=context)[1] == user(gave("a", result=""))
    assert contents(exchange([call("a")], failure("a", "")), context=context)[1] == user(gave("a", error="(no output)"))


def test_a_name_that_the_target_refuses_is_projected_in_call_and_response() -> None:
    encoded = encode(exchange([call("a", "2+2")], success("a", "x")), End.HUMAN, PLAIN, True)
    name = PLAIN.names.project("2+2")
    assert printed(encoded) == [model(used("a", name)), user(gave("a", name, result="x"))]
    assert [(d.reason, d.calls) for d in encoded.decisions] == [("tool-name", (CallId("a"),))]


# --- bridges and the tail ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [End.START, End.ANSWER])
def test_an_answer_that_cannot_follow_gets_a_bridge(before: End) -> None:
    encoded = encode(exchange([Text("yes")]), before, CONTEXT, True)
    assert printed(encoded) == [BRIDGE, model({"text": "yes"})]
    assert (encoded.end, reasons(encoded)) == (End.ANSWER, [("inserted", "bridge")])


def test_only_a_request_that_ends_on_an_answer_gets_a_tail() -> None:
    assert printed(tail(End.ANSWER, CONTEXT)) == [user({"text": "Continue."})]
    assert reasons(tail(End.ANSWER, CONTEXT)) == [("inserted", "tail")]
    for end in (End.START, End.HUMAN, End.RESULTS):
        assert tail(end, CONTEXT) == EncodedUnit((), end)
    assert tail(End.ANSWER, context_for(gemini(prefill=True))) == EncodedUnit((), End.ANSWER)


# --- thoughts and signatures ------------------------------------------------------------------------------------------


def test_signatures_go_home_on_the_parts_they_came_with() -> None:
    signed = ToolCall("read", {}, "w", CallId("a"), native={"thoughtSignature": SIGNATURE})
    unit = exchange(
        [THOUGHT, Text("x", native={"thoughtSignature": "AAAA"}), signed, call("b")],
        success("a"),
        success("b"),
        origin=HOME,
    )
    encoded = encode(unit, End.HUMAN, CONTEXT, True)
    assert printed(encoded)[0] == model(
        {"text": "let me see", "thought": True, "thoughtSignature": SIGNATURE},
        {"text": "x", "thoughtSignature": "AAAA"},
        used("a") | {"thoughtSignature": SIGNATURE},
        used("b"),
    )
    assert encoded.decisions == ()


@pytest.mark.parametrize("signature", ["no base64!", "AAAAA", "AAA==", 5, None, ""])
def test_a_signature_that_is_none_counts_as_absent(signature: Any) -> None:
    signed = ToolCall("read", {}, "w", CallId("a"), native={"thoughtSignature": signature})
    encoded = encode(exchange([signed], success("a"), origin=HOME), End.HUMAN, CONTEXT, True)
    assert printed(encoded)[0] == model(used("a") | {"thoughtSignature": PLACEHOLDER})
    assert [(str(d.action), d.reason, d.calls) for d in encoded.decisions] == [
        ("inserted", "placeholder-signature", (CallId("a"),))
    ]


def test_both_alphabets_of_base64_are_signatures() -> None:
    for signature in ("ab-_", "ab+/", "YQ==", "YQ"):
        signed = Text("x", native={"thoughtSignature": signature})
        assert contents(exchange([signed], origin=HOME)) == [model({"text": "x", "thoughtSignature": signature})]


def test_a_foreign_signature_is_never_sent() -> None:
    signed = ToolCall("read", {}, "w", CallId("a"), native={"thoughtSignature": SIGNATURE})
    unit = exchange([Text("x", native={"thoughtSignature": SIGNATURE}), signed], success("a"))
    assert contents(unit) == [model({"text": "x"}, used("a")), user(gave("a", result="fine"))]


def test_only_the_first_call_of_a_content_gets_the_placeholder() -> None:
    unit = exchange([Text("x"), call("a"), call("b")], success("a"), success("b"))
    assert contents(unit, context=CONTEXT)[0] == model(
        {"text": "x"}, used("a") | {"thoughtSignature": PLACEHOLDER}, used("b")
    )


@pytest.mark.parametrize(
    ("thought", "origin", "keep", "reason"),
    [
        (THOUGHT, None, True, "foreign-thinking"),
        (Thinking("unsigned"), HOME, True, "unsigned-thinking"),
        (THOUGHT, HOME, False, "thinking-policy"),
    ],
)
def test_other_thoughts_are_left_out_with_their_reason(thought: Thinking, origin: Any, keep: bool, reason: str) -> None:
    encoded = encode(exchange([thought, Text("yes")], origin=origin), End.HUMAN, CONTEXT, keep)
    assert (printed(encoded), reasons(encoded)) == ([model({"text": "yes"})], [("dropped", reason)])


def test_foreign_thoughts_can_be_kept_as_plain_text() -> None:
    context = context_for(TARGET, foreign=Foreign.TEXT)
    encoded = encode(exchange([THOUGHT, Thinking(" ")]), End.HUMAN, context, True)
    assert printed(encoded) == [model({"text": "let me see"})]
    assert reasons(encoded) == [("converted", "foreign-thinking"), ("dropped", "foreign-thinking")]


def test_an_answer_with_nothing_visible_is_not_printed() -> None:
    empty = Text("", native={"thoughtSignature": SIGNATURE})
    encoded = encode(exchange([THOUGHT, empty], origin=HOME), End.ANSWER, CONTEXT, True)
    assert (encoded.messages, encoded.end) == ((), End.ANSWER)
    assert reasons(encoded) == [("dropped", "blank-text"), ("dropped", "dangling-thinking")]


def test_a_blank_part_stays_only_with_a_signature_of_its_own() -> None:
    blank = Text(" ", native={"thoughtSignature": SIGNATURE})
    assert contents(exchange([blank, Text("x")], origin=HOME))[0]["parts"][0] == {
        "text": " ",
        "thoughtSignature": SIGNATURE,
    }
    assert contents(exchange([blank, Text("x")])) == [model({"text": "x"})]


# --- what the provider ran itself -------------------------------------------------------------------------------------

RAN: list[JsonObject] = [
    {"executableCode": {"language": "PYTHON", "code": "1+1"}, "thoughtSignature": SIGNATURE},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
]


def test_what_the_provider_ran_goes_home_as_it_came() -> None:
    ran = HostedTool("code_execution", {"code": "1+1"}, {"output": "2"}, native={"parts": RAN})
    assert contents(exchange([ran, Text("2")], origin=HOME)) == [model(*RAN, {"text": "2"})]
    encoded = encode(exchange([ran]), End.HUMAN, CONTEXT, True)
    assert printed(encoded) == [
        model({"text": '[The provider ran code_execution {"code":"1+1"}, which gave:]\n{"output":"2"}'})
    ]
    assert reasons(encoded) == [("converted", "hosted-tool")]


def test_where_the_provider_looked_is_told_to_others_only() -> None:
    looked = HostedTool("google_search", {"queries": ["q"]}, native={"groundingMetadata": {"webSearchQueries": ["q"]}})
    encoded = encode(exchange([Text("x"), looked], origin=HOME), End.HUMAN, CONTEXT, True)
    assert (printed(encoded), reasons(encoded)) == ([model({"text": "x"})], [("dropped", "hosted-tool")])
    assert contents(exchange([looked])) == [model({"text": '[The provider ran google_search {"queries":["q"]}]'})]
    assert contents(exchange([HostedTool("search", {}, "found")], origin=HOME)) == [
        model({"text": "[The provider ran search, which gave:]\nfound"})
    ]


def test_media_that_the_model_made_go_home_and_are_named_elsewhere() -> None:
    made = Media(MediaKind.IMAGE, "image/png", data="iVBORw0=", native={"thoughtSignature": SIGNATURE})
    assert contents(exchange([made], origin=HOME)) == [
        model({"inlineData": {"mimeType": "image/png", "data": "iVBORw0="}, "thoughtSignature": SIGNATURE})
    ]
    encoded = encode(exchange([made, Code("x")]), End.HUMAN, CONTEXT, True)
    assert printed(encoded) == [
        model({"text": "[image omitted: image/png, which this model cannot take]"}, {"text": "```\nx\n```"})
    ]
    assert reasons(encoded) == [("converted", "media-omitted")]


# --- media of results -------------------------------------------------------------------------------------------------

IMAGE_PART = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0="}}


def test_images_of_a_result_stand_inside_it_where_the_target_looks_there() -> None:
    context = context_for(gemini(result_images=True, call_signatures=False))
    response = gave("a", result={"n": 1})
    response["functionResponse"]["parts"] = [IMAGE_PART]
    assert contents(exchange([call("a")], success("a", {"n": 1}, media=(PNG,))), context=context)[1] == user(response)
    empty = contents(exchange([call("a")], success("a", "", media=(PNG,))), context=context)[1]
    assert empty["parts"][0]["functionResponse"]["response"] == {"result": ""}


def test_other_media_follow_in_a_content_after_all_responses() -> None:
    unit = exchange([call("a"), call("b")], success("a", {"n": 1}, media=(PNG, ZIP)), success("b", "", media=(PDF,)))
    encoded = encode(unit, End.HUMAN, PLAIN, True)
    follows = "[The media of this result follow in the next message.]"
    assert printed(encoded)[1:] == [
        user(
            gave("a", result='{"n":1}\n[document omitted: application/zip, which this model cannot take]\n' + follows),
            gave("b", result=follows),
        ),
        user(
            {"text": "[Media from the result of read:]"},
            IMAGE_PART,
            {"text": "[Media from the result of read:]"},
            {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://bucket/a.pdf"}},
        ),
    ]
    assert reasons(encoded) == [
        ("converted", "media-omitted"),
        ("converted", "media-moved"),
        ("converted", "media-moved"),
    ]


# --- narrower targets -------------------------------------------------------------------------------------------------


def test_more_calls_than_a_content_takes_are_split_with_their_responses() -> None:
    unit = exchange([Text("go"), call("a"), call("b"), call("c")], *(success(key, key) for key in "abc"))
    encoded = encode(unit, End.HUMAN, context_for(gemini(max_calls=2)), True)
    assert printed(encoded) == [
        model({"text": "go"}, used("a") | {"thoughtSignature": PLACEHOLDER}, used("b")),
        user(gave("a", result="a"), gave("b", result="b")),
        model(used("c") | {"thoughtSignature": PLACEHOLDER}),
        user(gave("c", result="c")),
    ]
    assert [(d.reason, d.calls) for d in encoded.decisions] == [
        ("calls-split", (CallId("a"), CallId("b"), CallId("c"))),
        ("placeholder-signature", (CallId("a"),)),
        ("placeholder-signature", (CallId("c"),)),
    ]


def test_text_stands_apart_from_calls_where_the_target_wants_that() -> None:
    context = context_for(gemini(text_beside_calls=False, call_signatures=False))
    assert contents(exchange([Text("go"), call("a")], success("a", "x")), context=context) == [
        model({"text": "go"}),
        BRIDGE,
        model(used("a")),
        user(gave("a", result="x")),
    ]
    assert len(contents(exchange([call("a")], success("a")), context=context)) == 2


def test_a_target_without_tool_history_reads_results_as_text() -> None:
    context = context_for(gemini(native_tool_history=False))
    unit = exchange([Text("go"), call("a"), call("b")], success("a", "one"), success("b", "", media=(PNG, ZIP)))
    encoded = encode(unit, End.START, context, True)
    assert encoded.end is End.HUMAN
    assert printed(encoded) == [
        BRIDGE,
        model({"text": "go"}),
        user({"text": "Context (tool result):\none"}),
        user(
            {"text": "Context (tool result):\n[document omitted: application/zip, which this model cannot take]"},
            IMAGE_PART,
        ),
    ]
    assert [d.reason for d in encoded.decisions] == ["bridge", "media-omitted", "text-embed"]


# --- the envelope -----------------------------------------------------------------------------------------------------

READ = ToolSpec("read", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}})
READ_PRINTED = {"name": "read", "description": "Reads.", "parametersJsonSchema": READ.parameters}


def printed_head(
    options: Options | None = None,
    *,
    tools: tuple[ToolSpec, ...] = (),
    system: str = "",
    called: tuple[str, ...] = (),
    thinking_on: bool = False,
    **capabilities: Any,
) -> EncodedEnvelope:
    context = context_for(gemini(**capabilities), thinking_on=thinking_on)
    return DIALECT.head(Envelope(system, tools, options or Options(), [(name, "") for name in called]), context)


def adjustments(printed: EncodedEnvelope) -> list[str]:
    return [decision.reason for decision in printed.decisions]


def test_the_model_and_streaming_stand_in_the_address_and_not_in_the_body() -> None:
    assert printed_head(Options(stream=True), system=" ").fields == {}


def test_system_tools_and_options_are_printed() -> None:
    options = Options(
        max_tokens=100,
        temperature=0.5,
        tool="read",
        extra={"generationConfig": {"topP": 0.9}, "tools": [{"googleSearch": {}}], "cachedContent": "c"},
    )
    assert printed_head(options, tools=(READ, ToolSpec("2+2")), system="be kind").fields == {
        "systemInstruction": {"parts": [{"text": "be kind"}]},
        "tools": [
            {
                "functionDeclarations": [
                    READ_PRINTED,
                    {
                        "name": CONTEXT.names.project("2+2"),
                        "parametersJsonSchema": {"type": "object", "properties": {}},
                    },
                ]
            },
            {"googleSearch": {}},
        ],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["read"]}},
        "generationConfig": {"maxOutputTokens": 100, "temperature": 0.5, "topP": 0.9},
        "cachedContent": "c",
    }


@pytest.mark.parametrize(("choice", "mode"), [(Choice.AUTO, "AUTO"), (Choice.NONE, "NONE"), (Choice.REQUIRED, "ANY")])
def test_the_choice_of_tools_is_translated(choice: Choice, mode: str) -> None:
    printed = printed_head(Options(choice=choice), tools=(READ,))
    assert printed.fields["toolConfig"] == {"functionCallingConfig": {"mode": mode}}
    assert "toolConfig" not in printed_head(tools=(READ,)).fields


@pytest.mark.parametrize("options", [Options(choice=Choice.REQUIRED), Options(tool="read")])
def test_a_demand_for_a_tool_that_is_not_offered_is_refused(options: Options) -> None:
    with pytest.raises(ImpossibleRequest, match="no tools are offered"):
        printed_head(options)
    with pytest.raises(ImpossibleRequest, match="not among the tools"):
        printed_head(Options(tool="write"), tools=(READ,))


def test_a_target_that_demands_definitions_gets_those_of_the_called_tools() -> None:
    printed = printed_head(called=("read", "read"), demands_tools=True)
    assert [tool["name"] for tool in printed.fields["tools"][0]["functionDeclarations"]] == ["read"]
    assert printed.fields["toolConfig"] == {"functionCallingConfig": {"mode": "NONE"}}
    assert adjustments(printed) == ["dummy-tools"]
    assert printed_head(called=("read",)).fields == {}


@pytest.mark.parametrize(
    ("options", "capabilities", "config", "reasons_given"),
    [
        (Options(max_tokens=9000), {}, {"maxOutputTokens": 8192}, ["max-tokens"]),
        (Options(temperature=3), {}, {"temperature": 2}, ["temperature"]),
        (Options(temperature=1), {"temperature": False}, None, ["temperature"]),
    ],
)
def test_options_that_the_model_refuses_are_adjusted(
    options: Options, capabilities: Any, config: Any, reasons_given: list[str]
) -> None:
    printed = printed_head(options, **capabilities)
    assert (printed.fields.get("generationConfig"), adjustments(printed)) == (config, reasons_given)


ON, OFF = ThinkingSwitch.ON, ThinkingSwitch.OFF


@pytest.mark.parametrize(
    ("mode", "options", "on", "default", "config", "reasons_given"),
    [
        (ThinkingMode.BUDGET, Options(thinking=ON), True, False, {"includeThoughts": True, "thinkingBudget": -1}, []),
        (
            ThinkingMode.BUDGET,
            Options(thinking_budget=99),
            True,
            True,
            {"includeThoughts": True, "thinkingBudget": 99},
            [],
        ),
        (ThinkingMode.BUDGET, Options(), True, True, None, []),
        (ThinkingMode.BUDGET, Options(thinking=OFF), False, True, {"thinkingBudget": 0}, []),
        (ThinkingMode.BUDGET, Options(effort="low"), False, False, None, ["effort"]),
        (
            ThinkingMode.EFFORT,
            Options(thinking=ON, effort="low"),
            True,
            True,
            {"includeThoughts": True, "thinkingLevel": "low"},
            [],
        ),
        (ThinkingMode.EFFORT, Options(thinking_budget=99), True, True, {"thinkingLevel": "low"}, ["thinking-budget"]),
        (ThinkingMode.EFFORT, Options(thinking=OFF), True, True, {"thinkingLevel": "low"}, ["thinking-always-on"]),
        (ThinkingMode.NEVER, Options(thinking=ON), False, False, None, ["thinking-unsupported"]),
        (ThinkingMode.NEVER, Options(thinking=OFF), False, False, None, []),
    ],
)
def test_thinking_is_switched_as_the_model_allows(
    mode: ThinkingMode, options: Options, on: bool, default: bool, config: Any, reasons_given: list[str]
) -> None:
    printed = printed_head(options, thinking_on=on, thinking=mode, thinking_default=default)
    expected = {} if config is None else {"generationConfig": {"thinkingConfig": config}}
    assert (printed.fields, adjustments(printed)) == (expected, reasons_given)


# --- as a whole -------------------------------------------------------------------------------------------------------


def test_the_official_types_hold_a_whole_body_and_no_rule_is_broken() -> None:
    units: list[Unit] = [
        exchange([Text("first")]),
        Said(1, (Text("look"), PNG, PDF)),
        exchange([THOUGHT, call("a", path="x"), call("b")], success("a", media=(PNG,)), failure("b"), origin=HOME),
        Said(3, (Text("and?"),)),
        exchange([HostedTool("code_execution", native={"parts": RAN}), Text("done")], origin=HOME),
        exchange([call("c")], success("c", {"n": [1]})),
        exchange([Text("end")]),
    ]
    target = gemini(result_images=True, thinking=ThinkingMode.BUDGET)
    options = Options(thinking=ON, choice=Choice.AUTO, max_tokens=50)
    body, decisions = assemble(
        DIALECT, units, context_for(target, thinking_on=True), tools=(READ,), options=options, system="be kind"
    )
    accepted_by_gemini(body)
    assert DIALECT.check(body, target) == []
    assert [d.reason for d in decisions] == [
        "bridge",
        "placeholder-signature",
        "placeholder-signature",
        "bridge",
        "tail",
    ]
