"""How units, options and tools are printed for the Messages API."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from block_support import accepted_by_anthropic, assemble, claude, context_for
from dialect_support import call, encode_with, exchange, failure, reasons, success, tail_with
from legato.errors import ImpossibleRequest
from legato.model import (
    Authority,
    CallId,
    CallKind,
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
from legato.transcript.units import Completion, CompletionKind, Exchange, Said, Summary, Unit
from legato.wire.anthropic import DIALECT
from legato.wire.anthropic.caching import mark, mark_head, marked, may_carry_mark
from legato.wire.context import EncodeContext, End
from legato.wire.contract import EncodedEnvelope
from legato.wire.encoder import EncodedUnit
from legato.wire.options import Envelope

encode, tail = encode_with(DIALECT), tail_with(DIALECT)
TARGET = claude()
CONTEXT = context_for(TARGET)
HOME = TARGET.origin("model-1-dated")
PNG = Media(MediaKind.IMAGE, "image/png", data="iVBORw0=")
PDF = Media(MediaKind.DOCUMENT, "application/pdf", data="JVBERi0=", name="a.pdf")
WAV = Media(MediaKind.AUDIO, "audio/wav", data="UklGRg==")
SIGNED = Thinking("let me see", native={"signature": "sig=="})
BRIDGE = ("user", {"type": "text", "text": "(continued)"})


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def pairs(encoded: EncodedUnit) -> list[tuple[str, JsonObject]]:
    return [(message["role"], block) for message in encoded.messages for block in message["content"]]


def said(
    unit: Unit, before: End = End.HUMAN, context: EncodeContext = CONTEXT, *, keep: bool = True
) -> list[tuple[str, JsonObject]]:
    return pairs(encode(unit, before, context, keep))


def test_a_human_entry_is_a_user_group_with_its_blocks() -> None:
    unit = Said(1, (Text("look"), PNG, Code("print(1)", "python")))
    assert encode(unit, End.START, CONTEXT, True).end is End.HUMAN
    assert said(unit) == [
        ("user", text("look")),
        ("user", {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0="}}),
        ("user", text("```python\nprint(1)\n```")),
    ]


def test_fences_are_longer_than_those_in_the_code() -> None:
    assert said(Said(1, (Code("```\n````"),))) == [("user", text("`````\n```\n````\n`````"))]


def test_an_instruction_in_the_middle_is_marked_text_of_the_human_side() -> None:
    unit = Said(1, (Text("be brief"), Code("x")), Authority.INSTRUCTION)
    assert said(unit) == [("user", text("[Instruction] be brief")), ("user", text("[Instruction] ```\nx\n```"))]


def test_a_summary_is_marked_text_of_the_human_side() -> None:
    encoded = encode(Summary(1, "they talked"), End.START, CONTEXT, True)
    assert encoded.end is End.HUMAN
    assert pairs(encoded) == [("user", text("[Summary of the conversation so far]\nthey talked"))]


@pytest.mark.parametrize(
    ("media", "block"),
    [
        (PDF, {"source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}, "title": "a.pdf"}),
        (
            Media(MediaKind.DOCUMENT, "text/plain", data=base64.b64encode(b"plain words").decode()),
            {"source": {"type": "text", "media_type": "text/plain", "data": "plain words"}},
        ),
        (
            Media(MediaKind.DOCUMENT, "application/pdf", url="https://a.example/b.pdf"),
            {"source": {"type": "url", "url": "https://a.example/b.pdf"}},
        ),
    ],
)
def test_documents_are_printed_by_their_source(media: Media, block: JsonObject) -> None:
    assert said(Said(1, (media,))) == [("user", {"type": "document", **block})]


@pytest.mark.parametrize(
    ("media", "capabilities"),
    [
        (WAV, {}),
        (Media(MediaKind.VIDEO, "video/mp4", url="https://a.example/v"), {}),
        (PNG, {"images": False}),
        (PDF, {"documents": False}),
        (Media(MediaKind.IMAGE, "image/tiff", data="aaaa"), {}),
        (Media(MediaKind.IMAGE, "image/png", url="http://a.example/b.png"), {}),
        (Media(MediaKind.DOCUMENT, "text/plain", data="a"), {}),
        (Media(MediaKind.DOCUMENT, "text/plain", data="Zürich"), {}),
        (Media(MediaKind.DOCUMENT, "text/plain", data="ICAg"), {}),
        (Media(MediaKind.DOCUMENT, "application/zip", data="aaaa"), {}),
    ],
)
def test_media_that_the_target_cannot_take_are_named_and_never_shown(media: Media, capabilities: Any) -> None:
    encoded = encode(Said(1, (media,)), End.START, context_for(claude(**capabilities)), True)
    assert pairs(encoded) == [
        ("user", text(f"[{media.kind} omitted: {media.mime}, which this model cannot take]")),
    ]
    assert reasons(encoded) == [("converted", "media-omitted")]


@pytest.mark.req("REQ-915-006", "REQ-915-017")
def test_an_exchange_is_an_answer_and_then_all_results() -> None:
    unit = exchange([Text("I look"), call("a", path="x"), call("b")], success("a", "one"), failure("b"))
    encoded = encode(unit, End.HUMAN, CONTEXT, True)
    assert (encoded.end, encoded.decisions) == (End.RESULTS, ())
    assert pairs(encoded) == [
        ("assistant", text("I look")),
        ("assistant", {"type": "tool_use", "id": "call_a", "name": "read", "input": {"path": "x"}}),
        ("assistant", {"type": "tool_use", "id": "call_b", "name": "read", "input": {}}),
        ("user", {"type": "tool_result", "tool_use_id": "call_a", "content": "one"}),
        ("user", {"type": "tool_result", "tool_use_id": "call_b", "content": "it broke", "is_error": True}),
    ]


def test_a_closure_is_an_error_with_its_fixed_text() -> None:
    closed = Completion(CallId("a"), CompletionKind.SYNTHETIC, reason=ClosureReason.NO_RESULT)
    assert said(exchange([call("a")], closed))[1:] == [
        (
            "user",
            {
                "type": "tool_result",
                "tool_use_id": "call_a",
                "content": closure_text(ClosureReason.NO_RESULT),
                "is_error": True,
            },
        )
    ]


@pytest.mark.parametrize("result", ["", " \n", None])
def test_an_empty_result_gets_words(result: Any) -> None:
    encoded = encode(exchange([call("a")], success("a", result)), End.HUMAN, CONTEXT, True)
    assert pairs(encoded)[1] == ("user", {"type": "tool_result", "tool_use_id": "call_a", "content": "(no output)"})
    assert reasons(encoded) == [("inserted", "empty-result")]


def test_an_empty_result_stays_empty_where_that_is_accepted() -> None:
    context = context_for(claude(empty_text=True))
    assert said(exchange([call("a")], success("a", "")), context=context)[1][1]["content"] == ""
    assert said(exchange([call("a")], failure("a", "")), context=context)[1][1]["content"] == "(no output)"


def test_what_a_model_wrote_instead_of_arguments_is_wrapped() -> None:
    broken = ToolCall("read", {}, "w", CallId("a"), raw='{"a": ')
    custom = ToolCall("patch", {"input": "*** Begin"}, "w", CallId("b"), kind=CallKind.CUSTOM)
    printed = said(exchange([broken, custom], success("a"), success("b")))
    assert [block["input"] for _, block in printed[:2]] == [{"raw_arguments": '{"a": '}, {"input": "*** Begin"}]


def test_a_name_that_the_target_refuses_is_projected() -> None:
    encoded = encode(exchange([call("a", "fs.read")], success("a")), End.HUMAN, CONTEXT, True)
    assert pairs(encoded)[0][1]["name"] == CONTEXT.names.project("fs.read") != "fs.read"
    assert [(d.reason, d.calls) for d in encoded.decisions] == [("tool-name", (CallId("a"),))]


def test_text_behind_the_calls_is_moved_before_them() -> None:
    encoded = encode(exchange([Text("a"), call("a"), Text("b"), Code("c")], success("a")), End.HUMAN, CONTEXT, True)
    assert [block["type"] for _, block in pairs(encoded)] == ["text", "text", "text", "tool_use", "tool_result"]
    assert reasons(encoded) == [("moved", "text-before-calls")]


# --- bridges and the tail ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [End.START, End.ANSWER])
def test_an_answer_that_cannot_follow_gets_a_bridge(before: End) -> None:
    encoded = encode(exchange([Text("yes")]), before, CONTEXT, True)
    assert pairs(encoded) == [BRIDGE, ("assistant", text("yes"))]
    assert (encoded.end, reasons(encoded)) == (End.ANSWER, [("inserted", "bridge")])


@pytest.mark.parametrize("before", [End.HUMAN, End.RESULTS])
def test_an_answer_after_the_human_side_needs_no_bridge(before: End) -> None:
    assert said(exchange([Text("yes")]), before) == [("assistant", text("yes"))]


def test_only_a_request_that_ends_on_an_answer_gets_a_tail() -> None:
    assert pairs(tail(End.ANSWER, CONTEXT)) == [("user", text("Continue."))]
    assert reasons(tail(End.ANSWER, CONTEXT)) == [("inserted", "tail")]
    for end in (End.START, End.HUMAN, End.RESULTS):
        assert tail(end, CONTEXT) == EncodedUnit((), end)


def test_a_target_that_continues_answers_gets_a_tail_only_if_it_can_think() -> None:
    assert tail(End.ANSWER, context_for(claude(prefill=True))) == EncodedUnit((), End.ANSWER)
    thinker = context_for(claude(prefill=True, thinking=ThinkingMode.BUDGET))
    assert pairs(tail(End.ANSWER, thinker)) == [("user", text("Continue."))]
    assert said(exchange([Text("yes \n")]), context=thinker) == [("assistant", text("yes \n"))]


def test_an_answer_that_may_be_continued_does_not_end_in_whitespace() -> None:
    encoded = encode(exchange([Text("yes \n")]), End.HUMAN, context_for(claude(prefill=True)), True)
    assert pairs(encoded) == [("assistant", text("yes"))]
    assert reasons(encoded) == [("adjusted", "trailing-whitespace")]


# --- thinking ---------------------------------------------------------------------------------------------------------


def test_signed_thinking_goes_home_as_it_came() -> None:
    secret, unshown = Thinking(native={"data": "ciphertext"}), Thinking(native={"signature": "sig"})
    unit = exchange([SIGNED, secret, unshown, Text("yes"), call("a")], success("a"), origin=HOME)
    assert said(unit)[:3] == [
        ("assistant", {"type": "thinking", "thinking": "let me see", "signature": "sig=="}),
        ("assistant", {"type": "redacted_thinking", "data": "ciphertext"}),
        ("assistant", {"type": "thinking", "thinking": "", "signature": "sig"}),
    ]


@pytest.mark.parametrize(
    ("thought", "origin", "keep", "reason"),
    [
        (SIGNED, None, True, "foreign-thinking"),
        (Thinking("unsigned"), HOME, True, "unsigned-thinking"),
        (SIGNED, HOME, False, "thinking-policy"),
    ],
)
def test_other_thinking_is_left_out_with_its_reason(thought: Thinking, origin: Any, keep: bool, reason: str) -> None:
    encoded = encode(exchange([thought, Text("yes")], origin=origin), End.HUMAN, CONTEXT, keep)
    assert pairs(encoded) == [("assistant", text("yes"))]
    assert reasons(encoded) == [("dropped", reason)]


def test_foreign_thinking_can_be_kept_as_plain_text() -> None:
    context = context_for(TARGET, foreign=Foreign.TEXT)
    encoded = encode(exchange([SIGNED, Thinking(" "), call("a")], success("a")), End.HUMAN, context, True)
    assert pairs(encoded)[0] == ("assistant", text("let me see"))
    assert reasons(encoded) == [("converted", "foreign-thinking"), ("dropped", "foreign-thinking")]
    assert said(exchange([SIGNED, Text("yes")]), context=context, keep=False) == [("assistant", text("yes"))]


def test_an_exchange_of_nothing_but_foreign_thinking_is_not_printed() -> None:
    encoded = encode(exchange([SIGNED]), End.ANSWER, CONTEXT, True)
    assert (encoded.messages, encoded.end) == ((), End.ANSWER)


@pytest.mark.parametrize(
    ("blocks", "kinds"),
    [
        ([SIGNED, call("a"), SIGNED, call("b")], ["thinking", "tool_use", "thinking", "tool_use"]),
        ([SIGNED, Text("x"), SIGNED, Text("y"), call("a"), call("b")], ["thinking", "text"] * 2 + ["tool_use"] * 2),
        ([Text("x"), SIGNED, call("a"), call("b")], ["text", "tool_use", "tool_use"]),
        ([call("a"), SIGNED, call("b")], ["tool_use", "tool_use"]),
        ([SIGNED, call("a"), call("b"), SIGNED], ["thinking", "tool_use", "tool_use"]),
        ([call("a"), call("b"), SIGNED], ["tool_use", "tool_use"]),
    ],
)
def test_thinking_stands_first_and_never_last(blocks: Any, kinds: list[str]) -> None:
    encoded = encode(exchange(blocks, success("a"), success("b"), origin=HOME), End.HUMAN, CONTEXT, True)
    assert [block["type"] for role, block in pairs(encoded) if role == "assistant"] == kinds
    reason = "dangling-thinking" if blocks[-1] is SIGNED else "thinking-order"
    left_out = sum(1 for block in blocks if block is SIGNED) - kinds.count("thinking")
    assert reasons(encoded) == [("dropped", reason)] * left_out


def test_thinking_at_the_end_of_an_answer_without_calls_is_left_out() -> None:
    assert said(exchange([SIGNED, Text("x"), SIGNED], origin=HOME)) == [
        ("assistant", {"type": "thinking", "thinking": "let me see", "signature": "sig=="}),
        ("assistant", text("x")),
    ]
    assert said(exchange([SIGNED], origin=HOME)) == []


def test_citations_go_home_and_nowhere_else() -> None:
    cited = Text("so", native={"citations": [{"type": "char_location", "cited_text": "x", "file_id": None}]})
    blank = Text(" \n", native={"citations": []})
    assert said(exchange([cited, blank], origin=HOME)) == [
        ("assistant", {**text("so"), "citations": [{"type": "char_location", "cited_text": "x"}]})
    ]
    assert said(exchange([cited])) == [("assistant", text("so"))]
    assert said(exchange([Text("so", native={})], origin=HOME)) == [("assistant", text("so"))]
    assert reasons(encode(exchange([cited, blank]), End.HUMAN, CONTEXT, True)) == [("dropped", "blank-text")]


# --- what the provider ran itself -------------------------------------------------------------------------------------

USE: JsonObject = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
FOUND: JsonObject = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


def hosted(*blocks: JsonObject, result: Any = None) -> HostedTool:
    return HostedTool("web_search", {"query": "q"}, result, "srvtoolu_1", native={"blocks": list(blocks)})


def test_what_the_provider_ran_goes_home_as_it_came() -> None:
    encoded = encode(exchange([hosted(USE, FOUND), Text("so")], origin=HOME), End.HUMAN, CONTEXT, True)
    assert pairs(encoded) == [("assistant", USE), ("assistant", FOUND), ("assistant", text("so"))]
    assert encoded.decisions == ()


@pytest.mark.parametrize(
    ("result", "told"), [(None, "]"), ("found", ", which gave:]\nfound"), ([1], ", which gave:]\n[1]")]
)
def test_what_another_provider_ran_is_told_as_text(result: Any, told: str) -> None:
    encoded = encode(exchange([hosted(USE, FOUND, result=result)]), End.HUMAN, CONTEXT, True)
    assert pairs(encoded) == [("assistant", text('[The provider ran web_search {"query":"q"}' + told))]
    assert reasons(encoded) == [("converted", "hosted-tool")]


def test_a_use_without_result_stays_only_while_our_own_tools_are_awaited() -> None:
    waiting = exchange([call("a"), hosted(USE)], success("a"), origin=HOME)
    assert [block["type"] for _, block in said(waiting)] == ["tool_use", "server_tool_use", "tool_result"]
    assert [block["type"] for _, block in said(exchange([hosted(USE)], origin=HOME))] == ["text"]


def test_a_result_without_use_stays_only_right_after_results() -> None:
    late = exchange([hosted(FOUND), Text("so")], origin=HOME)
    assert [block["type"] for _, block in said(late, End.RESULTS)] == ["web_search_tool_result", "text"]
    assert [block["type"] for _, block in said(late, End.HUMAN)] == ["text", "text"]


def test_a_call_that_the_providers_code_made_keeps_its_caller_at_home() -> None:
    caller = {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}
    made = ToolCall("read", {}, "w", CallId("a"), native={"caller": caller})
    assert said(exchange([made], success("a"), origin=HOME))[0][1]["caller"] == caller
    assert "caller" not in said(exchange([made], success("a")))[0][1]


# --- media of results -------------------------------------------------------------------------------------------------

IMAGE_BLOCK = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0="}}


def test_images_of_a_result_stand_inside_it() -> None:
    printed = said(exchange([call("a"), call("b")], success("a", "see", media=(PNG,)), success("b", "", media=(PNG,))))
    assert [block["content"] for _, block in printed[2:]] == [[text("see"), IMAGE_BLOCK], [IMAGE_BLOCK]]


def test_media_that_have_no_place_in_results_follow_after_all_of_them() -> None:
    unit = exchange([call("a"), call("b", "list")], success("a", "see", media=(PNG, PDF)), success("b"))
    encoded = encode(unit, End.HUMAN, context_for(claude(result_images=False)), True)
    results = pairs(encoded)[2:]
    assert [block["type"] for _, block in results] == ["tool_result", "tool_result", "text", "image", "document"]
    assert results[0][1]["content"] == "see\n[The media of this result follow in the next message.]"
    assert results[2] == ("user", text("[Media from the result of read:]"))
    assert reasons(encoded) == [("converted", "media-moved")]


def test_media_of_a_result_that_the_target_cannot_take_are_named_in_it() -> None:
    encoded = encode(exchange([call("a")], success("a", "", media=(WAV,))), End.HUMAN, CONTEXT, True)
    assert pairs(encoded)[1][1]["content"] == "[audio omitted: audio/wav, which this model cannot take]"
    assert reasons(encoded) == [("converted", "media-omitted")]


def test_media_in_an_answer_are_named() -> None:
    encoded = encode(exchange([PNG]), End.HUMAN, CONTEXT, True)
    assert pairs(encoded) == [("assistant", text("[image omitted: image/png, which this model cannot take]"))]
    assert reasons(encoded) == [("converted", "media-omitted")]


# --- narrower targets -------------------------------------------------------------------------------------------------


def test_more_calls_than_a_message_takes_are_split_with_their_results() -> None:
    blocks = [SIGNED, Text("go"), call("a"), SIGNED, call("b"), call("c")]
    unit = exchange(blocks, success("a", "1"), success("b", "2"), success("c", "3", media=(PDF,)), origin=HOME)
    encoded = encode(unit, End.HUMAN, context_for(claude(max_calls=2)), True)
    assert [(message["role"], [block["type"] for block in message["content"]]) for message in encoded.messages] == [
        ("assistant", ["thinking", "text", "tool_use", "thinking", "tool_use"]),
        ("user", ["tool_result", "tool_result"]),
        ("assistant", ["tool_use"]),
        ("user", ["tool_result"]),
        ("user", ["text", "document"]),
    ]
    assert reasons(encoded) == [("converted", "calls-split"), ("converted", "media-moved")]


def test_split_calls_keep_what_the_provider_ran_before_them() -> None:
    unit = exchange([call("a"), hosted(USE), call("b")], success("a"), success("b"), origin=HOME)
    encoded = encode(unit, End.HUMAN, context_for(claude(max_calls=1)), True)
    assert [[block["type"] for block in message["content"]] for message in encoded.messages] == [
        ["tool_use"],
        ["tool_result"],
        ["server_tool_use", "tool_use"],
        ["tool_result"],
    ]


def test_text_stands_apart_from_calls_where_the_target_wants_that() -> None:
    context = context_for(claude(text_beside_calls=False))
    encoded = encode(exchange([Text("go"), call("a")], success("a")), End.HUMAN, context, True)
    assert [(role, block["type"]) for role, block in pairs(encoded)] == [
        ("assistant", "text"),
        ("user", "text"),
        ("assistant", "tool_use"),
        ("user", "tool_result"),
    ]
    assert [role for role, _ in said(exchange([call("a")], success("a")), context=context)] == ["assistant", "user"]


def test_a_target_without_tool_history_reads_results_as_text() -> None:
    context = context_for(claude(native_tool_history=False))
    unit = exchange([Text("go"), call("a"), call("b")], success("a", "one"), success("b", "", media=(PNG, WAV)))
    encoded = encode(unit, End.START, context, True)
    assert encoded.end is End.HUMAN
    assert pairs(encoded) == [
        BRIDGE,
        ("assistant", text("go")),
        ("user", text("Context (tool result):\none")),
        ("user", text("Context (tool result):\n[audio omitted: audio/wav, which this model cannot take]")),
        ("user", IMAGE_BLOCK),
    ]
    assert [(d.reason, d.calls) for d in encoded.decisions] == [
        ("bridge", ()),
        ("media-omitted", (CallId("b"),)),
        ("text-embed", (CallId("a"), CallId("b"))),
    ]
    bare = encode(exchange([call("a")], success("a", "one")), End.ANSWER, context, True)
    assert pairs(bare) == [("user", text("Context (tool result):\none"))]


# --- the envelope -----------------------------------------------------------------------------------------------------

READ = ToolSpec("read", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}})
READ_PRINTED = {"name": "read", "description": "Reads.", "input_schema": READ.parameters}


def printed_head(
    options: Options | None = None,
    *,
    tools: tuple[ToolSpec, ...] = (),
    system: str = "",
    called: tuple[str, ...] = (),
    thinking_on: bool = False,
    **capabilities: Any,
) -> EncodedEnvelope:
    context = context_for(claude(**capabilities), thinking_on=thinking_on)
    return DIALECT.head(Envelope(system, tools, options or Options(), [(name, "") for name in called]), context)


def adjustments(printed: EncodedEnvelope) -> list[str]:
    return [decision.reason for decision in printed.decisions]


def test_a_plain_head_holds_the_model_and_a_limit() -> None:
    assert printed_head().fields == {"model": "model-1", "max_tokens": 8192}
    assert printed_head(system=" \n").fields == {"model": "model-1", "max_tokens": 8192}


def test_system_tools_and_options_are_printed() -> None:
    options = Options(max_tokens=100, temperature=0.5, choice=Choice.AUTO, stream=True, extra={"top_k": 3})
    assert printed_head(options, tools=(READ, ToolSpec("fs.list")), system="be kind").fields == {
        "model": "model-1",
        "max_tokens": 100,
        "system": [{"type": "text", "text": "be kind"}],
        "tools": [
            READ_PRINTED,
            {"name": CONTEXT.names.project("fs.list"), "input_schema": {"type": "object", "properties": {}}},
        ],
        "tool_choice": {"type": "auto"},
        "temperature": 0.5,
        "stream": True,
        "top_k": 3,
    }


def test_a_schema_without_a_type_is_that_of_an_object() -> None:
    tool = ToolSpec("read", "", {"properties": {}})
    assert printed_head(tools=(tool,)).fields["tools"][0]["input_schema"] == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("options", "choice"),
    [
        (Options(), None),
        (Options(choice=Choice.NONE), {"type": "none"}),
        (Options(choice=Choice.REQUIRED), {"type": "any"}),
        (Options(tool="read"), {"type": "tool", "name": "read"}),
    ],
)
def test_the_choice_of_tools_is_translated(options: Options, choice: Any) -> None:
    assert printed_head(options, tools=(READ,)).fields.get("tool_choice") == choice


@pytest.mark.parametrize("options", [Options(choice=Choice.REQUIRED), Options(tool="read")])
def test_no_tool_is_forced_while_the_model_thinks(options: Options) -> None:
    printed = printed_head(options, tools=(READ,), thinking_on=True, thinking=ThinkingMode.ADAPTIVE)
    assert printed.fields["tool_choice"] == {"type": "auto"}
    assert adjustments(printed) == ["forced-tool"]


@pytest.mark.parametrize("options", [Options(choice=Choice.REQUIRED), Options(tool="read")])
def test_a_demand_for_a_tool_that_is_not_offered_is_refused(options: Options) -> None:
    with pytest.raises(ImpossibleRequest, match="no tools are offered"):
        printed_head(options)
    with pytest.raises(ImpossibleRequest, match="not among the tools"):
        printed_head(Options(tool="write"), tools=(READ,))


def test_tools_of_the_provider_stand_beside_ours() -> None:
    search = {"type": "web_search_20250305", "name": "web_search"}
    extra = Options(extra={"tools": [search]})
    assert printed_head(extra, tools=(READ,)).fields["tools"] == [READ_PRINTED, search]
    alone = printed_head(extra, called=("read",))
    assert (alone.fields["tools"], "tool_choice" in alone.fields) == ([search], False)


def test_a_history_with_calls_defines_the_tools_it_called() -> None:
    printed = printed_head(called=("read", "fs.list", "read"))
    assert [tool["name"] for tool in printed.fields["tools"]] == ["read", CONTEXT.names.project("fs.list")]
    assert printed.fields["tool_choice"] == {"type": "none"}
    assert adjustments(printed) == ["dummy-tools"]
    assert "tools" not in printed_head(called=("read",), demands_tools=False).fields
    assert "tools" not in printed_head(called=("read",), native_tool_history=False).fields


@pytest.mark.parametrize(
    ("options", "thinking", "limit", "reasons_given"),
    [
        (Options(), {"type": "enabled", "budget_tokens": 4096}, 8192, []),
        (Options(thinking_budget=2000), {"type": "enabled", "budget_tokens": 2000}, 8192, []),
        (Options(thinking_budget=10), {"type": "enabled", "budget_tokens": 1024}, 8192, ["thinking-budget"]),
        (Options(thinking_budget=9000), {"type": "enabled", "budget_tokens": 4096}, 8192, ["thinking-budget"]),
        (
            Options(thinking_budget=5000, max_tokens=80),
            {"type": "enabled", "budget_tokens": 5000},
            5080,
            ["max-tokens"],
        ),
        (Options(max_tokens=80), {"type": "enabled", "budget_tokens": 1024}, 1104, ["max-tokens"]),
        (Options(max_tokens=9000), {"type": "enabled", "budget_tokens": 4096}, 8192, ["max-tokens"]),
    ],
)
def test_the_budget_for_thinking_leaves_room_for_the_answer(
    options: Options, thinking: Any, limit: int, reasons_given: list[str]
) -> None:
    printed = printed_head(options, thinking_on=True, thinking=ThinkingMode.BUDGET)
    assert (printed.fields["thinking"], printed.fields["max_tokens"]) == (thinking, limit)
    assert adjustments(printed) == reasons_given


def test_a_model_that_writes_too_little_cannot_think() -> None:
    with pytest.raises(ImpossibleRequest, match="too few"):
        printed_head(thinking_on=True, thinking=ThinkingMode.BUDGET, max_output=1000)


@pytest.mark.parametrize(
    ("mode", "options", "on", "default", "fields", "reasons_given"),
    [
        (
            ThinkingMode.ADAPTIVE,
            Options(effort="low"),
            True,
            False,
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}},
            [],
        ),
        (
            ThinkingMode.ADAPTIVE,
            Options(thinking_budget=2000),
            True,
            False,
            {"thinking": {"type": "adaptive"}},
            ["thinking-budget"],
        ),
        (
            ThinkingMode.ADAPTIVE,
            Options(thinking=ThinkingSwitch.OFF),
            False,
            False,
            {"thinking": {"type": "disabled"}},
            [],
        ),
        (ThinkingMode.BUDGET, Options(), False, True, {"thinking": {"type": "disabled"}}, []),
        (ThinkingMode.BUDGET, Options(effort="low"), False, False, {}, ["effort"]),
        (ThinkingMode.EFFORT, Options(effort="low"), True, True, {"output_config": {"effort": "low"}}, []),
        (ThinkingMode.EFFORT, Options(thinking=ThinkingSwitch.OFF), True, True, {}, ["thinking-always-on"]),
        (ThinkingMode.NEVER, Options(thinking=ThinkingSwitch.ON), False, False, {}, ["thinking-unsupported"]),
        (ThinkingMode.NEVER, Options(thinking=ThinkingSwitch.OFF), False, False, {}, []),
    ],
)
def test_thinking_is_switched_as_the_model_allows(
    mode: ThinkingMode, options: Options, on: bool, default: bool, fields: JsonObject, reasons_given: list[str]
) -> None:
    printed = printed_head(options, thinking_on=on, thinking=mode, thinking_default=default)
    assert printed.fields == {"model": "model-1", "max_tokens": 8192, **fields}
    assert adjustments(printed) == reasons_given


@pytest.mark.parametrize(
    ("asked", "on", "capabilities", "sent", "reasons_given"),
    [
        (0.2, False, {}, 0.2, []),
        (1.7, False, {}, 1, ["temperature"]),
        (0.2, True, {}, None, ["temperature"]),
        (1, True, {}, 1, []),
        (0.2, False, {"temperature": False}, None, ["temperature"]),
    ],
)
def test_the_temperature_is_sent_only_where_it_is_taken(
    asked: float, on: bool, capabilities: Any, sent: float | None, reasons_given: list[str]
) -> None:
    options = Options(temperature=asked)
    printed = printed_head(options, thinking_on=on, thinking=ThinkingMode.ADAPTIVE, **capabilities)
    assert (printed.fields.get("temperature"), adjustments(printed)) == (sent, reasons_given)


# --- as a whole -------------------------------------------------------------------------------------------------------


def test_cache_marks_go_on_blocks_that_may_carry_them() -> None:
    assert [
        may_carry_mark(block)
        for block in (
            text("x"),
            text(" "),
            {"type": "thinking", "thinking": "x", "signature": "s"},
            {"type": "redacted_thinking", "data": "x"},
            {"type": "tool_use", "id": "a", "name": "b", "input": {}},
        )
    ] == [True, False, False, False, True]
    assert mark(text(" ")) is None
    assert mark(text("x")) == [marked(text("x"))]
    block = text("x")
    assert marked(block) == {**text("x"), "cache_control": {"type": "ephemeral"}}
    assert block == text("x")


def test_the_head_is_marked_behind_tools_and_instructions() -> None:
    tools = [{"name": "a"}, {"name": "b"}]
    assert mark_head({"model": "m", "tools": tools, "system": [text("x")]}) == {
        "model": "m",
        "tools": [{"name": "a"}, marked({"name": "b"})],
        "system": [marked(text("x"))],
    }
    assert tools == [{"name": "a"}, {"name": "b"}]
    assert mark_head({"model": "m", "system": "x"}) == {"model": "m", "system": "x"}


def conversation() -> list[Unit]:
    return [
        Said(1, (Text("look"), PNG, PDF)),
        exchange(
            [SIGNED, Text("I look"), call("a", path="x"), hosted(USE, FOUND)], success("a", media=(PNG,)), origin=HOME
        ),
        Said(3, (Text("and?"),)),
        Exchange(4, (Text("done"),)),
        exchange([call("b")], failure("b")),
        Exchange(6, (Text("end"),)),
    ]


def test_the_official_types_hold_a_whole_body_and_no_rule_is_broken() -> None:
    options = Options(choice=Choice.AUTO, thinking=ThinkingSwitch.ON)
    target = claude(thinking=ThinkingMode.ADAPTIVE)
    body, decisions = assemble(
        DIALECT, conversation(), context_for(target, thinking_on=True), tools=(READ,), options=options, system="be kind"
    )
    accepted_by_anthropic(body)
    assert [v for v in DIALECT.check(body, target) if v.rule != "anthropic/id-habit"] == []
    assert [d.reason for d in decisions] == ["bridge", "tail"]


def test_a_thought_is_not_shown_to_a_model_that_never_thinks_and_may_continue_the_answer() -> None:
    target = claude(prefill=True)
    answer = Exchange(0, (Thinking("hm", native={"signature": "sig"}), Text("It is")), origin=target.origin())
    body, decisions = assemble(DIALECT, [Said(0, (Text("hi"),)), answer], context_for(target))
    assert body["messages"][-1] == {"role": "assistant", "content": [{"type": "text", "text": "It is"}]}
    assert [decision.reason for decision in decisions] == ["foreign-thinking"]
