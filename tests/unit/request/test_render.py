"""From a conversation to a request, and back from its answer."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from legato import Conversation, render, resolve
from legato.errors import BadAnswer, ImpossibleRequest, RenderError, UnknownTarget
from legato.model import (
    Action,
    CallId,
    Entry,
    Foreign,
    Include,
    Media,
    MediaKind,
    Options,
    Origin,
    PrefixCause,
    Thinking,
    ThinkingPolicy,
    ThinkingSwitch,
    ToolCall,
    ToolSpec,
)
from legato.model.records import Compacted, CompactionKind, Opened, ReasoningRefused, Restored, Rewound, Started
from legato.request import PrefixChange, with_capabilities
from legato.request.render_cache import RenderCache
from legato.wire.findings import Severity
from on_the_wire import tools_of

from builders import OTHER_ROUTES, ROUTES, ai, call, calls, instruction, origin, result, talk, thought, user

CLAUDE = "anthropic/claude-sonnet-4-5"
OLD_CLAUDE = "anthropic/claude-3-5-haiku-latest"


def own(*blocks: Any, route: str = CLAUDE, **fields: Any) -> Entry:
    return ai(*blocks, origin=origin(route), **fields)


# --- what is asked for ------------------------------------------------------------------------------------------------


def test_a_route_that_names_nothing_is_refused_with_what_is_near() -> None:
    with pytest.raises(UnknownTarget, match="did you mean 'mistral'"):
        render(Conversation(), "mistrl/large")
    with pytest.raises(UnknownTarget, match="write for example 'mistral/mistral-large-latest'"):
        render(Conversation(), "mistral")


@pytest.mark.parametrize(
    "tool",
    [
        ToolSpec("read", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}}),
        {"name": "read", "description": "Reads.", "input_schema": {"type": "object"}},
        {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}},
        {"type": "function", "name": "read"},
    ],
)
def test_tools_may_be_described_as_any_provider_describes_them(tool: object) -> None:
    body = render(talk(user("hi")), "openai/gpt-4o", tools=[tool]).copy()
    assert body["tools"][0]["function"]["name"] == "read"


@pytest.mark.parametrize("tool", [7, {"no": "name"}, "read"])
def test_what_describes_no_tool_is_refused(tool: object) -> None:
    with pytest.raises(ImpossibleRequest, match="does not describe a tool"):
        render(talk(user("hi")), CLAUDE, tools=[tool])


def test_instructions_at_the_beginning_and_the_callers_system_are_joined() -> None:
    request = render(
        talk(instruction("be kind"), user("hi")), OLD_CLAUDE, system="be brief", options=Options(cache=False)
    )
    assert request.body["system"] == [{"type": "text", "text": "be kind\n\nbe brief"}]


# --- the tail ---------------------------------------------------------------------------------------------------------


def test_what_is_not_recorded_yet_can_be_rendered_as_if_it_were() -> None:
    conversation = talk(user("hi"), calls("a", "b"), result("a"))
    request = render(conversation, "openai/gpt-4o", tail=[result("b"), user("next")])
    roles = [message["role"] for message in request.body["messages"]]
    assert roles == ["user", "assistant", "tool", "tool", "user"]
    assert len(conversation) == 3
    assert request.report.synthetic == []


def test_an_open_call_is_closed_before_a_message_in_the_tail() -> None:
    request = render(talk(user("hi"), calls("a")), "openai/gpt-4o", tail=[user("next")])
    assert [message["role"] for message in request.body["messages"]] == ["user", "assistant", "tool", "user"]


def test_a_request_that_may_not_end_on_an_answer_gets_a_tail_that_is_no_part_of_the_prefix() -> None:
    conversation = talk(user("hi"), ai("done"))
    request = render(conversation, "anthropic/claude-opus-4-8")
    assert request.body["messages"][-1]["role"] == "user"
    assert [d.reason for d in request.report.of(Action.INSERTED)] == ["tail"]
    conversation.human("really next")
    later = render(conversation, "anthropic/claude-opus-4-8")
    assert later.prefix_change is None


# --- thinking ---------------------------------------------------------------------------------------------------------


def thoughts(body: Any) -> list[str]:
    return [
        block["thinking"] for message in body["messages"] for block in message["content"] if block["type"] == "thinking"
    ]


TWO_TURNS = (
    user("one"),
    own(thought("first", signature="s1"), "a"),
    user("two"),
    own(thought("second", signature="s2"), call("x")),
    result("x"),
)


@pytest.mark.req("REQ-915-023", "REQ-915-024")
@pytest.mark.parametrize(
    ("include", "kept"),
    [(Include.ALL, ["first", "second"]), (Include.CURRENT_TURN, ["second"]), (Include.NONE, [])],
)
def test_own_thoughts_are_replayed_as_the_policy_says_and_pairs_do_not_depend_on_it(
    include: Include, kept: list[str]
) -> None:
    request = render(talk(*TWO_TURNS), CLAUDE, thinking=ThinkingPolicy(include), options=THINK)
    assert thoughts(request.body) == kept
    assert [(one.call_id, one.completion) for one in request.report.emitted] == [("hist_tool_x", "success")]


def test_when_a_turn_begins_the_thoughts_of_the_last_one_go_and_the_cause_is_named() -> None:
    conversation = talk(*TWO_TURNS)
    policy = ThinkingPolicy(Include.CURRENT_TURN)
    render(conversation, CLAUDE, thinking=policy, options=THINK)
    conversation.record(own("so"))
    conversation.human("three")
    request = render(conversation, CLAUDE, thinking=policy, options=THINK)
    assert thoughts(request.body) == []
    assert request.prefix_change == PrefixChange(PrefixCause.THINKING_POLICY, 3)


@pytest.mark.parametrize(
    "elsewhere",
    [
        origin("anthropic/claude-opus-4-5"),
        Origin("anthropic", "anthropic", "https://proxy.invalid", "", "claude-sonnet-4-5"),
        origin("gemini/gemini-3-pro-preview"),
        None,
    ],
)
def test_a_thought_from_elsewhere_is_dropped_and_its_call_kept(elsewhere: Origin | None) -> None:
    conversation = talk(user("hi"), ai(thought("mine", signature="s"), call("x"), origin=elsewhere), result("x"))
    request = render(conversation, CLAUDE)
    assert thoughts(request.body) == []
    assert [d.reason for d in request.report.of(Action.DROPPED)] == ["foreign-thinking"]
    assert len(request.report.emitted) == 1


def test_a_thought_from_elsewhere_may_be_kept_as_plain_text() -> None:
    conversation = talk(user("hi"), ai(thought("visible", signature="s"), "said"))
    request = render(conversation, OLD_CLAUDE, thinking=ThinkingPolicy(foreign=Foreign.TEXT))
    texts = [block["text"] for block in request.body["messages"][1]["content"]]
    assert texts == ["visible", "said"]


def test_a_thought_goes_home_also_under_the_name_of_the_model_that_served_it() -> None:
    target = resolve(CLAUDE)
    made = Origin("anthropic", "anthropic", "HTTPS://API.ANTHROPIC.COM:443/", "", "alias", "claude-sonnet-4-5")
    request = render(talk(user("hi"), ai(thought("t", signature="s"), "x", origin=made)), target)
    assert thoughts(request.body) == ["t"]


THINK = Options(thinking=ThinkingSwitch.ON, thinking_budget=2000, max_tokens=4000)


def test_in_a_tool_loop_that_another_model_began_thinking_is_switched_off_for_this_request() -> None:
    conversation = talk(user("hi"), ai(call("x"), origin=origin("openai/gpt-4o")), result("x"))
    request = render(conversation, CLAUDE, options=THINK)
    assert request.body.get("thinking", {}).get("type") != "enabled"
    (decision,) = request.report.of(Action.ADJUSTED)
    assert (decision.reason, decision.calls) == ("thinking-off-in-foreign-loop", ("hist_tool_x",))
    assert request.check() == [] or all(v.severity is not Severity.REFUSED for v in request.check())


@pytest.mark.parametrize(
    "news",
    [
        (user("hi"), own(thought("t", signature="s"), call("x")), result("x")),
        (user("hi"), ai(call("x")), result("x"), own("done"), user("next")),
    ],
)
def test_thinking_stays_on_where_the_loop_is_the_models_own_or_closed(news: tuple[Entry, ...]) -> None:
    assert render(talk(*news), CLAUDE, options=THINK).body["thinking"]["type"] == "enabled"


def test_a_model_that_cannot_stop_thinking_refuses_a_foreign_loop_before_the_provider_does() -> None:
    target = with_capabilities(resolve(CLAUDE), thinking="always", thinking_default=True)
    conversation = talk(user("hi"), ai(call("x")), result("x"))
    with pytest.raises(ImpossibleRequest, match="which another model began"):
        render(conversation, target)


def test_after_a_provider_refused_its_own_reasoning_it_is_stripped_there() -> None:
    conversation = talk(*TWO_TURNS)
    render(conversation, CLAUDE)
    conversation.apply([ReasoningRefused(origin=resolve(CLAUDE).origin())])
    request = render(conversation, CLAUDE)
    assert thoughts(request.body) == []
    assert request.prefix_change == PrefixChange(PrefixCause.REASONING_REFUSED, 1)


# --- prefix stability -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", ROUTES)
def test_a_conversation_that_only_grows_is_extended(route: str) -> None:
    conversation = Conversation()
    for item in (user("a"), calls("x", "y"), result("y"), result("x"), ai("so"), user("b"), ai("end"), user("c")):
        conversation.record(item)
        if item.speaker == "human":
            assert render(conversation, route, tools=[{"name": "read"}]).prefix_change is None


@pytest.mark.parametrize(
    ("before", "news", "cause", "unit"),
    [
        ([user("a"), calls("x"), user("b")], [result("x")], PrefixCause.LATE_RESULT, 1),
        ([user("a"), result("x"), ai("hm")], [calls("x")], PrefixCause.LATE_CALL, 1),
        ([user("a"), ai("x", answer="k"), user("b")], [ai("y", answer="k")], PrefixCause.ANSWER_CONTINUED, 1),
        ([user("a"), ai("x"), user("b")], [Rewound(to=2)], PrefixCause.UNDO, 2),
        (
            [user("a"), ai("x"), user("b")],
            [Compacted(kind=CompactionKind.COVER, text="s", window=10**9, first=0, last=1)],
            PrefixCause.COMPACTION,
            0,
        ),
        (
            [user("a"), calls("x"), result("x"), user("b")],
            [Compacted(kind=CompactionKind.STUB, text="s", window=10**9, call=CallId("hist_tool_x"))],
            PrefixCause.COMPACTION,
            1,
        ),
        (
            [Opened(incarnation=1), user("a"), calls("x"), user("b")],
            [Started(call=CallId("hist_tool_x"))],
            PrefixCause.LATE_RESULT,
            2,
        ),
    ],
)
def test_a_change_in_the_prefix_names_its_cause_and_the_first_unit(
    before: list[Any], news: list[Any], cause: PrefixCause, unit: int
) -> None:
    conversation = talk(*before)
    render(conversation, "openai/gpt-4o")
    conversation.apply(conversation.prepare(news))
    assert render(conversation, "openai/gpt-4o").prefix_change == PrefixChange(cause, unit)


@pytest.mark.parametrize("route", ROUTES)
def test_another_system_prompt_is_a_change_of_the_envelope(route: str) -> None:
    conversation = talk(user("a"))
    render(conversation, route)
    assert render(conversation, route, system="new").prefix_change == PrefixChange(PrefixCause.ENVELOPE, -1)
    assert render(conversation, route, system="new").prefix_change is None


def test_a_blank_instruction_at_the_beginning_says_nothing() -> None:
    conversation = talk(instruction("be kind"))
    before = render(conversation, "openai/gpt-4o").body
    conversation.instruct(" ")
    assert render(conversation, "openai/gpt-4o").body == before


def test_a_compaction_holds_for_small_windows_and_a_larger_target_sees_the_truth() -> None:
    cover = Compacted(kind=CompactionKind.COVER, text="in short", window=200_000, first=0, last=1)
    conversation = talk(user("long story"), ai("noted"), user("next"), cover)
    small, large = render(conversation, CLAUDE).json(), render(conversation, "gemini/gemini-3-pro-preview").json()
    assert b"in short" in small
    assert b"long story" not in small
    assert b"long story" in large
    conversation.apply([Restored(compaction=3)])
    assert b"long story" in render(conversation, CLAUDE).json()


# --- work done --------------------------------------------------------------------------------------------------------


def test_a_turn_costs_what_is_new() -> None:
    conversation = talk(user("start"))
    spelled: list[int] = []
    for number in range(60):
        conversation.record(calls(f"c{number}"))
        conversation.record(result(f"c{number}"))
        conversation.record(user("next"))
        render(conversation, CLAUDE)
        ((_, encoded),) = RenderCache.of(conversation)._encoded.items()
        spelled.append(encoded.units_encoded)
    assert [after - before for before, after in itertools.pairwise(spelled)] == [2] * 59


@pytest.mark.parametrize("include", Include)
def test_a_late_result_prints_nothing_again_that_stands_before_its_call(include: Include) -> None:
    policy = ThinkingPolicy(include)
    conversation = talk(*(item for n in range(9) for item in (user("next"), calls(f"c{n}"), result(f"c{n}"))))
    for item in (user("and now?"), calls("late"), user("never mind")):
        conversation.record(item)
    before = render(conversation, CLAUDE, thinking=policy)
    conversation.record(result("late"))
    after = render(conversation, CLAUDE, thinking=policy)
    kept = [old is new for old, new in zip(before.body["messages"], after.body["messages"], strict=True)]
    assert kept == [True] * (len(kept) - 2) + [False] * 2  # the late result's message, and what was marked for caching
    assert after.prefix_change == PrefixChange(PrefixCause.LATE_RESULT, 28)


@pytest.mark.req("REQ-915-039")
def test_a_change_in_the_middle_keeps_what_was_decided_for_the_places_before_it() -> None:
    sound = Media(MediaKind.AUDIO, "audio/wav", data="aGk=")
    conversation = talk(user("listen", sound), calls("late"), user("never mind"))
    before = render(conversation, CLAUDE).report.decisions
    conversation.record(result("late"))
    after = render(conversation, CLAUDE).report.decisions
    assert [decision.reason for decision in before] == ["media-omitted", "no-result-recorded", "dummy-tools"]
    assert [decision.reason for decision in after] == ["media-omitted", "late-result", "dummy-tools"]


def test_a_render_that_failed_leaves_nothing_half_printed_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = talk(user("first"), ai("one"))
    render(conversation, CLAUDE)
    for item in (user("second"), ai(thought("hm"), "two"), user("third")):
        conversation.record(item)
    with monkeypatch.context() as broken:
        broken.setattr("legato.wire.projection.project.AnswerMessage", None)
        with pytest.raises(TypeError):
            render(conversation, CLAUDE)
    request, fresh = render(conversation, CLAUDE), render(conversation.copy(), CLAUDE)
    assert without_marks(request.body["messages"]) == without_marks(fresh.body["messages"])
    assert request.report.decisions == fresh.report.decisions


def without_marks(messages: list[Any]) -> list[Any]:
    return [
        [{key: value for key, value in block.items() if key != "cache_control"} for block in message["content"]]
        for message in messages
    ]


def test_encoded_conversations_that_hold_too_much_are_dropped_oldest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("legato.request.render_cache.MAX_BYTES_HELD", 10)
    conversation = talk(user("something long enough"))
    for route in ROUTES:
        render(conversation, route).json()
    assert len(RenderCache.of(conversation)._encoded) <= 2
    assert render(conversation, ROUTES[0]).body == render(conversation.copy(), ROUTES[0]).body


def test_a_change_in_a_unit_that_prints_nothing_leaves_its_neighbours_as_they_were() -> None:
    conversation = talk(user("see"), ai(thought("hm"), answer="k"), user("hello"))
    render(conversation, "anthropic/claude-opus-4-8")
    conversation.record(ai(thought("still"), answer="k"))
    assert render(conversation, "anthropic/claude-opus-4-8").body["messages"] == [
        {"role": "user", "content": [
            {"type": "text", "text": "see"},
            {"type": "text", "text": "hello", "cache_control": {"type": "ephemeral"}},
        ]}
    ]  # fmt: skip


# --- what leaves ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", ROUTES)
def test_json_body_and_copy_are_the_same_request(route: str) -> None:
    conversation = talk(user("hi"), calls("a", "b"), result("a"), user("ü"))
    request = render(conversation, route, tools=[{"name": "read"}], system="s")
    first = request.json()
    assert json.loads(first) == request.body == request.copy()
    conversation.human("later")
    render(conversation, route).json()
    assert request.json() == first


def test_a_copy_may_be_changed() -> None:
    request = render(talk(user("hi")), CLAUDE)
    request.copy()["messages"].clear()
    assert request.body["messages"]


@pytest.mark.req("REQ-915-005")
def test_a_request_that_would_be_refused_is_not_let_out() -> None:
    conversation = talk(user("hi"), calls("a"), result("a"))
    request = render(conversation, "openai/gpt-4o")
    request.verify()
    request.body["messages"][-1]["tool_call_id"] = "call_of_nobody"
    with pytest.raises(RenderError, match="would be refused by openai/gpt-4o") as caught:
        request.verify()
    assert list(caught.value.facts["report"]["calls_seen"]) == ["hist_tool_a"]
    assert caught.value.facts["violations"][0]["rule"].startswith("openai-chat/")


def test_fields_that_the_official_client_does_not_know_go_into_extra_body() -> None:
    request = render(talk(user("hi")), "kimi/kimi-k2.5", options=Options(thinking=ThinkingSwitch.OFF))
    assert request.sdk()["extra_body"] == {"thinking": {"type": "disabled"}}
    assert "extra_body" not in render(talk(user("hi")), "openai/gpt-4o").sdk()


def test_googles_client_gets_contents_and_config() -> None:
    request = render(
        talk(user("hi")), "gemini/gemini-3-pro-preview", system="s", options=Options(max_tokens=5, temperature=0.5)
    )
    arguments = request.sdk()
    assert arguments["model"] == "gemini-3-pro-preview"
    assert arguments["contents"] == request.body["contents"]
    assert arguments["config"]["maxOutputTokens"] == 5
    assert arguments["config"]["systemInstruction"] == request.body["systemInstruction"]
    assert render(talk(user("hi")), "vercel/any").sdk()["messages"]


# --- cache marks ------------------------------------------------------------------------------------------------------


def marks(body: Any) -> list[tuple[int, int]]:
    return [
        (number, place)
        for number, message in enumerate(body["messages"])
        for place, block in enumerate(message["content"])
        if "cache_control" in block
    ]


def test_the_end_of_this_request_and_of_the_one_before_are_marked_for_the_cache() -> None:
    conversation = talk(user("a"), calls("x"), result("x"))
    tools = [{"name": "read"}]
    first = render(conversation, CLAUDE, tools=tools, system="s")
    assert marks(first.body) == [(2, 0)]
    conversation.human("b")
    second = render(conversation, CLAUDE, tools=tools, system="s")
    assert marks(second.body) == [(2, 0), (2, 1)]
    assert json.loads(second.json()) == second.body
    assert "cache_control" in second.body["system"][-1]
    assert "cache_control" in second.body["tools"][-1]
    assert second.prefix_change is None


def test_without_caching_nothing_is_marked() -> None:
    body = render(talk(user("a")), CLAUDE, system="s", options=Options(cache=False)).json()
    assert b"cache_control" not in body


def test_a_mark_never_stands_on_thinking() -> None:
    redacted = Thinking("", native={"data": "secret", "type": "redacted_thinking"})
    conversation = talk(user("a"), own(redacted, "y"), user("b"))
    body = render(conversation, CLAUDE).body
    assert marks(body) == [(2, 0)]
    assert all("cache_control" not in block for block in body["messages"][1]["content"])


def test_a_call_without_a_name_is_defined_like_any_other_where_definitions_are_demanded() -> None:
    request = render(talk(user("go"), ai(call("toolu_1", "")), user("and?")), CLAUDE)
    assert [tool["name"] for tool in request.body["tools"]] == [request.body["messages"][1]["content"][0]["name"]]
    request.verify()


# --- what comes back --------------------------------------------------------------------------------------------------


def test_decode_takes_a_dict_bytes_and_whatever_dumps_itself() -> None:
    body = {
        "id": "1", "model": "gpt-4o-2024", "object": "chat.completion",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}],
    }  # fmt: skip

    class Dumps:
        def model_dump(self) -> dict[str, Any]:
            return body

    request = render(talk(user("hi")), "openai/gpt-4o")
    for response in (body, json.dumps(body), json.dumps(body).encode(), Dumps()):
        answer = request.decode(response)
        assert answer.text == "hello"
        assert answer.entry.origin == resolve("openai/gpt-4o").origin("gpt-4o-2024")


@pytest.mark.parametrize("response", [b"oops", "[]", 7, "\ud800", b"\xff", b'{"a": "\xff"}', "[" * 100_000, object()])
def test_what_is_no_response_is_a_bad_answer(response: object) -> None:
    with pytest.raises(BadAnswer):
        render(talk(user("hi")), "openai/gpt-4o").decode(response)


def test_names_come_back_as_they_went() -> None:
    request = render(talk(user("hi")), "openai/gpt-4o", tools=[{"name": "mcp.server/tool"}])
    wire_name = request.body["tools"][0]["function"]["name"]
    decoder = request.decoder()
    chunk = {"choices": [{"index": 0, "delta": {"tool_calls": [
        {"index": 0, "id": "1", "function": {"name": wire_name, "arguments": "{}"}}]}, "finish_reason": "tool_calls"}]}  # fmt: skip
    decoder.event(chunk)
    assert decoder.finish().calls[0].name == "mcp.server/tool"


# --- the report -------------------------------------------------------------------------------------------------------


def test_the_report_says_what_was_done_and_nothing_about_what_was_right() -> None:
    right = render(talk(user("hi"), calls("call_a"), result("call_a"), ai("ok"), user("go")), "openai/gpt-4o").report
    assert right.decisions == ()
    assert right.strategy == "native"
    picture = Media(MediaKind.IMAGE, "image/png", data="aGk=")
    conversation = talk(user("hi", picture), calls("a", "b"), result("a"), user("go"))
    report = render(conversation, "deepseek/deepseek-chat").report
    assert {(d.action.value, d.reason) for d in report.decisions} == {
        ("converted", "media-omitted"),
        ("closed", "no-result-recorded"),
    }
    assert [one.call_id for one in report.synthetic] == ["hist_tool_b"]
    assert {fault.value for fault in report.faults} == {"projection", "rendering"}


def test_text_embed_is_named_and_keeps_each_result_in_its_place() -> None:
    conversation = talk(user("hi"), calls("a"), result("a", "found"), ai("so"), user("go"))
    embedded = render(conversation, "vercel-gateway/openai/gpt-5.1")
    assert embedded.report.strategy == "text-embed"
    texts = [item["content"] for item in embedded.body["input"]]
    assert "Context (tool result):\nfound" in json.dumps(texts, ensure_ascii=False).replace("\\n", "\n")
    native = render(conversation, with_capabilities(embedded.target, native_tool_history=True))
    assert {"function_call", "function_call_output"} <= {item.get("type") for item in native.body["input"]}


@pytest.mark.parametrize("route", [*ROUTES, *OTHER_ROUTES])
@pytest.mark.parametrize("said", [(), (user(" "),), (instruction("Be brief."),), (ai(thought("hm")),)])
def test_a_conversation_with_nothing_to_send_still_makes_a_request(route: str, said: tuple[Entry, ...]) -> None:
    request = render(talk(*said), route)
    request.verify()
    assert json.loads(request.json()) == request.body


def test_the_report_says_why_a_message_stands_in_an_empty_request() -> None:
    request = render(talk(user(" ")), "anthropic/claude-sonnet-4-5")
    assert request.body["messages"] == [{"role": "user", "content": [{"type": "text", "text": "Continue."}]}]
    assert [decision.detail for decision in request.report.decisions] == [
        "",
        "nothing in this conversation can be sent, and a request needs a message",
    ]


@pytest.mark.parametrize("route", [*ROUTES, *OTHER_ROUTES])
def test_a_tool_that_is_offered_twice_is_defined_once(route: str) -> None:
    tools = [ToolSpec("read", "first"), ToolSpec("grep"), ToolSpec("read", "second")]
    request = render(talk(user("go")), route, tools=tools)
    request.verify()
    assert tools_of(request.body) == tools_of(render(talk(user("go")), route, tools=tools[:2]).body) != []
    assert "duplicate-tool" in {decision.reason for decision in request.report.decisions}


@pytest.mark.parametrize(
    ("route", "goes_back"),
    [("openrouter/z-ai/glm-4.6", True), ("groq/openai/gpt-oss-120b", False), ("mistral/mistral-large-latest", False)],
)
def test_fields_that_a_server_refuses_do_not_go_back_to_it(route: str, goes_back: bool) -> None:
    details = [{"type": "reasoning.encrypted", "data": "c2ln"}]
    signed = ToolCall("read", {}, "call_1", native={"extra_content": {"google": {"thought_signature": "c2ln"}}})
    answer = ai(thought("hm", reasoning_details=details), signed, origin=origin(route, route.partition("/")[2]))
    request = render(talk(user("go"), answer, result("call_1")), route)
    request.verify()
    sent = request.body["messages"][1]
    assert ("reasoning_details" in sent, "extra_content" in sent["tool_calls"][0]) == (goes_back, goes_back)


@pytest.mark.parametrize("route", [*ROUTES, *OTHER_ROUTES])
@pytest.mark.parametrize("name", ["", " ", "\0", "é ?"])
def test_a_call_without_a_usable_name_is_taken_though_no_tools_are_given(route: str, name: str) -> None:
    unnamed = own(ToolCall(name, {}, "toolu_1"), route=route)
    for said in ((unnamed,), (unnamed, result("toolu_1")), (unnamed, result("toolu_1", name=""), user("and?"))):
        request = render(talk(user("go"), *said), route)
        request.verify()
        assert json.loads(request.json()) == request.body
