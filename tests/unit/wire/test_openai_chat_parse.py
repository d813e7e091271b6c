"""Chat requests read back into entries: ours come back as they went, everybody's are read, and nothing is silent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_support import PROFILES, call, closed, failure, messages, printed, success, target
from dialect_support import SAMPLES, needs_samples
from legato.model import (
    FREE_TEXT,
    Authority,
    CallKind,
    Choice,
    ClosureReason,
    Entry,
    Media,
    MediaKind,
    Options,
    Speaker,
    SpecKind,
    Text,
    Thinking,
    ThinkingMode,
    ThinkingSwitch,
    ToolCall,
    ToolResponse,
    ToolSpec,
)
from legato.transcript.units import Exchange, Said, Summary, Unit
from legato.wire.openai_chat.parse import parse
from legato.wire.phrases import (
    ANSWER_BRIDGE,
    CONTINUE,
    EMPTY_RESULT,
    HUMAN_BRIDGE,
    MEDIA_CAPTION,
    MEDIA_FOLLOWS,
    SUMMARY_MARK,
)

HI = Said(0, (Text("hi"),))
IMAGE = Media(MediaKind.IMAGE, "image/png", data="aWNvbg==")


def human(*blocks: Any, authority: Authority = Authority.PERSON) -> Entry:
    return Entry(Speaker.HUMAN, blocks, authority=authority)


def ai(*blocks: Any) -> Entry:
    return Entry(Speaker.AI, blocks)


def tool(*blocks: Any) -> Entry:
    return Entry(Speaker.TOOL, blocks)


def result(text: str = "done", wire_id: str = "call_a", tool_name: str = "read", **fields: Any) -> ToolResponse:
    return ToolResponse(wire_id=wire_id, tool_name=tool_name, result=text, is_complete=True, **fields)


def entries(*spoken: Any) -> list[Entry]:
    parsed = parse({"messages": list(spoken)})
    assert parsed.notes == []
    return parsed.entries


# --- what we print comes back -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", PROFILES)
def test_what_we_inserted_is_taken_out_again(profile):
    exchange = Exchange(
        1,
        (Text("look"), call("read", "a"), call("list", "b"), call("list", "c")),
        (success("a"), failure("b"), closed("c", reason=ClosureReason.DENIED, said="no")),
    )
    units: list[Unit] = [
        exchange,
        Said(2, (Text("be brief"),), Authority.INSTRUCTION),
        Exchange(3, (Text("yes"),)),
        Summary(4, "all"),
        Exchange(5, (Text("well"),)),
    ]
    body, _ = printed(units, target(profile), thinking_on=profile in ("kimi", "deepseek"))
    parsed = parse(body)
    first, second, third = [one["id"] for one in _calls(body["messages"])]
    assert parsed.entries == [
        ai(
            Text("look"),
            ToolCall("read", {"path": "a"}, first),
            ToolCall("list", {"path": "a"}, second),
            ToolCall("list", {"path": "a"}, third),
        ),
        tool(
            result(wire_id=first),
            ToolResponse(wire_id=second, tool_name="list", error="boom", is_complete=True),
            ToolResponse(wire_id=third, tool_name="list", reason=ClosureReason.DENIED, said="no", synthetic=True),
        ),
        human(Text("be brief"), authority=Authority.INSTRUCTION),
        ai(Text("yes")),
        human(Text(f"{SUMMARY_MARK}all")),
        ai(Text("well")),
    ]
    assert parsed.notes == []


def _calls(spoken: list[Any]) -> list[Any]:
    return [one for message in spoken for one in message.get("tool_calls", ())]


@pytest.mark.parametrize(("profile", "max_calls"), [("openai", 128), ("mistral", 128), ("mistral", 1)])
def test_media_that_were_moved_go_back_to_their_results(profile, max_calls):
    exchange = Exchange(
        1,
        (call("shot", "a"), call("list", "b"), call("shot", "c")),
        (
            success("a", result="taken", media=(IMAGE, IMAGE)),
            success("b"),
            failure("c", error="blurred", media=(IMAGE,)),
        ),
    )
    parsed = parse(printed([HI, exchange, HI], target(profile, max_calls=max_calls))[0])
    responses = [block for entry in parsed.entries for block in entry.blocks if isinstance(block, ToolResponse)]
    assert [(one.result, one.error, one.media) for one in responses] == [
        ("taken", None, (IMAGE, IMAGE)),
        ("done", None, ()),
        (None, "blurred", (IMAGE,)),
    ]
    assert [entry for entry in parsed.entries if entry.speaker is Speaker.HUMAN] == [human(Text("hi"))] * 2
    assert parsed.notes == []


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc",)), min_size=1).filter(lambda text: text.strip())
JSON = st.recursive(
    st.none() | st.integers(-9, 9) | TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)
)


@given(
    profile=st.sampled_from(PROFILES),
    arguments=st.dictionaries(TEXTS, JSON),
    output=TEXTS,
    text=TEXTS,
    fails=st.booleans(),
)
def test_calls_results_and_text_come_back_as_they_went(profile, arguments, output, text, fails):
    ending = failure(error=output) if fails else success(result=output)
    units: list[Unit] = [HI, Exchange(1, (Text(text), call(arguments=arguments)), (ending,)), Said(2, (Text(text),))]
    parsed = parse(printed(units, target(profile), system="be kind")[0])
    (one,) = [call for entry in parsed.entries for call in entry.calls]
    (response,) = [block for entry in parsed.entries for block in entry.blocks if isinstance(block, ToolResponse)]
    assert (one.name, one.arguments, one.raw) == ("read", arguments, None)
    assert (response.error if fails else response.result) == output
    assert response.wire_id == one.wire_id
    assert [entry.text for entry in parsed.entries] == ["hi", text, "", text]
    assert parsed.system == "be kind"


def test_broken_arguments_come_back_as_the_model_wrote_them():
    exchange = Exchange(1, (call(arguments={}, raw='{"path": '),), (failure(),))
    (one,) = parse(printed([HI, exchange], target("openai"))[0]).entries[1].calls
    assert (one.arguments, one.raw, one.finished) == ({}, '{"path": ', False)


def test_an_empty_result_comes_back_empty():
    units = [HI, Exchange(1, (call("read", "a"), call("read", "b")), (success(result=""), failure("b", error="")))]
    blocks = parse({"messages": messages(units, target("strict", empty_text=False))}).entries[2].blocks
    assert blocks == (
        result(""),
        ToolResponse(wire_id="call_b", tool_name="read", error="", is_complete=True),
    )


def test_own_thinking_comes_back_and_its_placeholder_does_not():
    exchange = Exchange(1, (Thinking("hmm"), call()), (success(),))
    to = target("deepseek")
    for home, blocks in ((True, (Thinking("hmm"),)), (False, ())):
        spoken = messages([HI, exchange], to, home=home, thinking_on=True)
        assert entries(*spoken)[1].blocks == (*blocks, ToolCall("read", {"path": "a"}, "call_a"))


def test_a_person_who_says_continue_in_the_middle_is_heard():
    said = {"role": "user", "content": CONTINUE}
    answer = {"role": "assistant", "content": "x"}
    assert entries(said) == [human(Text(CONTINUE))]
    assert entries(answer, said, answer) == [ai(Text("x")), human(Text(CONTINUE)), ai(Text("x"))]
    assert entries(answer, said) == [ai(Text("x"))]
    calling = {"role": "assistant", "content": None, "tool_calls": [_wire_call()]}
    assert entries(calling, said)[-1] == human(Text(CONTINUE))


def _wire_call(**fields: Any) -> dict[str, Any]:
    return {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}, **fields}


# --- what others send -------------------------------------------------------------------------------------------------


def test_leading_instructions_are_the_system_prompt_and_later_ones_are_entries():
    parsed = parse(
        {
            "messages": [
                {"role": "system", "content": "a"},
                {"role": "developer", "content": [{"type": "text", "text": "b"}]},
                {"role": "user", "content": "hi"},
                {"role": "system", "content": "c"},
            ]
        }
    )
    assert parsed.system == "a\n\nb"
    assert parsed.entries == [human(Text("hi")), human(Text("c"), authority=Authority.INSTRUCTION)]


def test_parts_of_every_kind_are_read():
    assert entries(
        {
            "role": "user",
            "content": [
                "plain",
                {"type": "text", "text": "see"},
                {"type": "text", "text": ""},
                {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}},
                {"type": "image_url", "image_url": "data:image/png;base64,aWNvbg=="},
                {"type": "document_url", "document_url": "https://x.example/a.pdf", "document_name": "a"},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,cGRm"}},
                {"type": "input_audio", "input_audio": {"data": "c291bmQ=", "format": "mp3"}},
                {"type": "input_audio", "input_audio": "c291bmQ="},
                {"type": "image_url", "image_url": {"url": "data:,odd"}},
            ],
        }
    ) == [
        human(
            Text("plain"),
            Text("see"),
            Media(MediaKind.IMAGE, "image/*", url="https://x.example/a.png"),
            IMAGE,
            Media(MediaKind.DOCUMENT, "application/pdf", url="https://x.example/a.pdf", name="a"),
            Media(MediaKind.DOCUMENT, "application/pdf", data="cGRm", name="a.pdf"),
            Media(MediaKind.AUDIO, "audio/mpeg", data="c291bmQ="),
            Media(MediaKind.AUDIO, "audio/wav", data="c291bmQ="),
            Media(MediaKind.IMAGE, "image/*", url="data:,odd"),
        )
    ]


def test_answers_of_every_kind_are_read():
    custom = {"id": "d", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
    assert entries(
        {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "b"}]},
        {"role": "assistant", "tool_calls": [_wire_call(), custom], "reasoning": "hm"},
        {
            "role": "tool",
            "tool_call_id": "c",
            "content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}],
        },
        {"role": "tool", "tool_call_id": "unknown", "content": EMPTY_RESULT},
        {"role": "assistant", "function_call": {"name": "old", "arguments": "{}"}},
        {"role": "function", "name": "old", "content": "z"},
    ) == [
        ai(Text("a"), Text("b", native={"refusal": True})),
        ai(Thinking("hm"), ToolCall("read", {}, "c"), ToolCall("sh", {"input": "ls"}, "d", kind=CallKind.CUSTOM)),
        tool(result("xy", "c"), result("", "unknown", "")),
        ai(ToolCall("old", {})),
        tool(result("z", "", "old")),
    ]


def test_an_image_in_a_tool_message_belongs_to_the_result():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aWNvbg=="}}
    assert entries({"role": "tool", "tool_call_id": "c", "name": "shot", "content": [image]}) == [
        tool(result("", "c", "shot", media=(IMAGE,)))
    ]


@pytest.mark.parametrize(
    "following",
    [
        [{"type": "text", "text": "look"}],
        [{"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}],
        [{"type": "text", "text": "[Media from the result of shot:]"}, {"type": "text", "text": "look"}],
    ],
)
def test_a_human_message_behind_a_result_is_not_taken_for_its_media(following):
    spoken = messages([HI, Exchange(1, (call("shot"),), (success(media=(IMAGE,)),))], target("openai"))
    parsed = parse({"messages": [*spoken[:-1], {"role": "user", "content": following}]})
    assert parsed.entries[-1].speaker is Speaker.HUMAN
    assert len(parsed.entries[-1].blocks) == len(following)


def test_an_instruction_that_was_an_image_alone_comes_back_as_one():
    spoken = messages([HI, Said(1, (IMAGE,), Authority.INSTRUCTION)], target("openai"))
    assert entries(*spoken)[1] == human(IMAGE, authority=Authority.INSTRUCTION)


@pytest.mark.parametrize(
    ("body", "note"),
    [
        ({"messages": "hi"}, "messages: not a list"),
        ({"messages": ["hi"]}, "messages[0]: not an object"),
        ({"messages": [{"role": "critic", "content": "x"}]}, "messages[0].role: there is no role 'critic'"),
        ({"messages": [{"role": "user", "content": "x", "name": "bob"}]}, "messages[0].name: not understood"),
        ({"messages": [{"role": "user", "content": {"text": "x"}}]}, "messages[0].content: neither text nor a list"),
        ({"messages": [{"role": "user", "content": None}]}, "messages[0].content: a message that says nothing"),
        ({"messages": [{"role": "user", "content": [{"type": "video"}]}]}, "messages[0].content[0]: a part"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content[0]: a part"),
        (
            {"messages": [{"role": "user", "content": [{"type": "file", "file": {"file_id": "f"}}]}]},
            "content[0]: a part",
        ),
        ({"messages": [{"role": "user", "content": [{"type": "document_url"}]}]}, "messages[0].content[0]: a part"),
        ({"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}, "messages[0].content[0]: a part"),
        ({"messages": [{"role": "system", "content": ""}]}, "messages[0].content: an instruction without text"),
        ({"messages": [{"role": "assistant", "content": ""}]}, "messages[0]: an answer that says nothing"),
        ({"messages": [{"role": "assistant", "content": {"a": 1}}]}, "messages[0].content: neither text nor"),
        ({"messages": [{"role": "assistant", "content": [{"type": "odd"}]}]}, "messages[0].content[0]: a part"),
        ({"messages": [{"role": "assistant", "content": "x", "prefix": True}]}, "messages[0].prefix: not understood"),
        (
            {"messages": [{"role": "assistant", "content": "x", "tool_calls": "?"}]},
            "messages[0].tool_calls: not a list",
        ),
        ({"messages": [{"role": "assistant", "content": "x", "tool_calls": [1]}]}, "messages[0].tool_calls[0]: not an"),
        (
            {"messages": [{"role": "assistant", "content": "x", "tool_calls": [{"id": "c"}]}]},
            "messages[0].tool_calls: a call without a name",
        ),
        ({"tools": {}}, "tools: not a list"),
        ({"tools": [{"type": "function"}]}, "tools[0]: not a function with a name"),
    ],
)
def test_what_is_not_understood_is_noted_with_its_place(body, note):
    parsed = parse(body)
    assert [one for one in (*parsed.notes, *parsed.adjusted) if note in one] != []


# --- tools and options ------------------------------------------------------------------------------------------------


def test_tools_of_every_kind_are_read():
    parameters = {"type": "object", "properties": {"a": {"type": "string"}}}
    parsed = parse(
        {
            "tools": [
                {"type": "function", "function": {"name": "a", "description": "A.", "parameters": parameters}},
                {"type": "function", "function": {"name": "b"}},
                {"type": "custom", "custom": {"name": "c"}},
                {"type": "builtin_function", "function": {"name": "$web_search"}},
            ],
            "functions": [{"name": "d", "parameters": parameters}],
        }
    )
    builtin = {"type": "builtin_function", "function": {"name": "$web_search"}}
    assert parsed.tools == [
        ToolSpec("a", "A.", parameters),
        ToolSpec("b"),
        ToolSpec("c", "", FREE_TEXT, kind=SpecKind.CUSTOM),
        ToolSpec("$web_search", kind=SpecKind.HOSTED, home="openai_chat", native=builtin),
        ToolSpec("d", "", parameters),
    ]


@pytest.mark.parametrize(
    ("fields", "options"),
    [
        ({"max_tokens": 5, "temperature": 1, "stream": True}, Options(max_tokens=5, temperature=1, stream=True)),
        ({"max_completion_tokens": 5, "stream_options": {"include_usage": True}}, Options(max_tokens=5)),
        ({"top_p": 0.5, "max_tokens": None, "stop": None}, Options(top_p=0.5, home="openai_chat")),
        (
            {"max_tokens": "many", "temperature": True},
            Options(extra={"max_tokens": "many", "temperature": True}, home="openai_chat"),
        ),
        (
            {"tool_choice": {"type": "allowed_tools"}},
            Options(extra={"tool_choice": {"type": "allowed_tools"}}, home="openai_chat"),
        ),
        ({"tool_choice": "any"}, Options(choice=Choice.REQUIRED)),
        ({"tool_choice": {"type": "function", "function": {"name": "f"}}}, Options(tool="f")),
        ({"tool_choice": {"type": "custom", "custom": {"name": "f"}}}, Options(tool="f")),
        ({"function_call": {"name": "f"}}, Options(tool="f")),
        ({"thinking": {"type": "disabled"}}, Options(thinking=ThinkingSwitch.OFF)),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 9}},
            Options(thinking=ThinkingSwitch.ON, thinking_budget=9),
        ),
        ({"thinking": "deep"}, Options(extra={"thinking": "deep"}, home="openai_chat")),
        ({"reasoning_effort": "low"}, Options(effort="low")),
        ({"reasoning_effort": "none"}, Options(thinking=ThinkingSwitch.OFF)),
    ],
)
def test_options_are_read_and_the_rest_is_kept(fields, options):
    parsed = parse({"model": "m", "messages": [], **fields})
    assert (parsed.model, parsed.options, parsed.notes) == ("m", options, [])


def test_options_that_we_printed_come_back():
    options = Options(
        max_tokens=9,
        temperature=0.5,
        tool="read",
        thinking=ThinkingSwitch.OFF,
        stream=True,
        seed=1,
        extra={"n": 1},
        home="openai_chat/kimi",
    )
    tools = [ToolSpec("read")]
    to = target("kimi", thinking=ThinkingMode.SWITCH)
    parsed = parse(printed([HI], to, tools=tools, options=options)[0]).belonging_to(to.home)
    assert (parsed.options, parsed.tools) == (options, tools)


def test_results_are_one_entry_though_something_of_ours_stands_between_them():
    calls = [
        {"id": wire_id, "type": "function", "function": {"name": "read", "arguments": "{}"}}
        for wire_id in ("call_a", "call_b", "call_c")
    ]
    media = [
        {"type": "text", "text": MEDIA_CAPTION.format(tool="read")},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE.data}"}},
    ]
    assert entries(
        {"role": "assistant", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "call_a", "content": MEDIA_FOLLOWS},
        {"role": "user", "content": HUMAN_BRIDGE},
        {"role": "tool", "tool_call_id": "call_b", "content": "done"},
        {"role": "user", "content": media},
        {"role": "assistant", "content": ANSWER_BRIDGE},
        {"role": "tool", "tool_call_id": "call_c", "content": "done"},
        {"role": "user", "content": "go on"},
    ) == [
        ai(*(ToolCall("read", {}, one["id"]) for one in calls)),
        tool(result("", media=(IMAGE,)), result(wire_id="call_b"), result(wire_id="call_c")),
        human(Text("go on")),
    ]


# --- recorded ---------------------------------------------------------------------------------------------------------


@needs_samples
def test_requests_that_live_servers_accepted_are_read_whole():
    lines = (SAMPLES / "provider-exchanges" / "accepted_tool_turns.jsonl").read_text().splitlines()
    bodies = [one["request"] for line in lines if "chat/completions" in (one := json.loads(line))["path"]]
    assert len(bodies) > 30
    for body in bodies:
        parsed = parse(body)
        calls = [one["id"] for message in body["messages"] for one in message.get("tool_calls") or ()]
        results = [message["tool_call_id"] for message in body["messages"] if message["role"] == "tool"]
        assert [one.wire_id for entry in parsed.entries for one in entry.calls] == calls
        assert [
            block.wire_id for entry in parsed.entries for block in entry.blocks if isinstance(block, ToolResponse)
        ] == results
        assert len(parsed.tools) == len(body.get("tools") or ())
        uploaded = '"file_id"' in json.dumps(body)  # a file that only its server has
        assert bool(parsed.notes) is uploaded


@needs_samples
def test_a_hundred_recorded_runs_are_read_without_a_note():
    runs = 0
    for path in sorted((SAMPLES / "openai-chat-tau-bench").glob("*.json")):
        for run in json.loads(path.read_bytes()):
            parsed = parse({"messages": run["traj"]})
            assert parsed.notes == []
            runs += 1
    assert runs >= 100
