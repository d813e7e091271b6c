"""How units are printed for the chat family: by expectation, by our own rules, and by the vendors' types."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_support import (
    PROFILES,
    assert_mistral_accepts,
    assert_valid,
    call,
    closed,
    context,
    decided,
    failure,
    messages,
    printed,
    success,
    target,
)
from dialect_support import encode_with, tail_with
from legato import parse, render
from legato.errors import UnknownTarget
from legato.model import (
    Authority,
    CallId,
    CallKind,
    ClosureReason,
    Code,
    Foreign,
    HostedTool,
    Media,
    MediaKind,
    Text,
    Thinking,
    closure_text,
)
from legato.transcript.units import Completion, CompletionKind, Exchange, Said, Summary, Unit
from legato.wire.context import End
from legato.wire.openai_chat import DIALECT
from legato.wire.phrases import (
    ANSWER_BRIDGE,
    CONTINUE,
    EMBEDDED_RESULT,
    EMPTY_RESULT,
    HUMAN_BRIDGE,
    INSTRUCTION_MARK,
    MEDIA_FOLLOWS,
    SUMMARY_MARK,
)

from builders import ai, talk, user

encode, tail = encode_with(DIALECT), tail_with(DIALECT)
HI = Said(0, (Text("hi"),))
IMAGE = Media(MediaKind.IMAGE, "image/png", data="aWNvbg==")


def asked(*blocks: Any, **fields: Any) -> Exchange:
    return Exchange(1, blocks, **fields)


def pair(**fields: Any) -> Exchange:
    return asked(call(), completions=(success(),), **fields)


def wire_call(wire_id: str = "call_a", name: str = "read", arguments: str = '{"path":"a"}') -> dict[str, Any]:
    return {"id": wire_id, "type": "function", "function": {"name": name, "arguments": arguments}}


# --- pairs ------------------------------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-006", "REQ-915-007", "REQ-915-017")
def test_calls_are_followed_at_once_by_their_results_in_call_order():
    exchange = asked(Text("let me see"), call("read", "a"), call("list", "b"), completions=(success("a"), failure("b")))
    assert messages([HI, exchange, Said(2, (Text("and?"),))], target("openai")) == [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": "let me see",
            "tool_calls": [wire_call(), wire_call("call_b", "list")],
        },
        {"role": "tool", "tool_call_id": "call_a", "content": "done"},
        {"role": "tool", "tool_call_id": "call_b", "content": "[Error] boom"},
        {"role": "user", "content": "and?"},
    ]


@pytest.mark.parametrize(
    ("profile", "capabilities", "content"),
    [
        ("openai", {}, None),
        ("mistral", {}, ""),
        ("kimi", {}, ""),
        ("deepseek", {}, ""),
        ("strict", {}, ""),
        ("strict", {"empty_text": False}, None),
    ],
)
def test_an_answer_of_calls_alone_has_the_content_that_its_server_takes(profile, capabilities, content):
    to = target(profile, **capabilities)
    body, _ = printed([HI, pair()], to)
    assert body["messages"][1]["content"] == content
    assert_valid(body, to)


@pytest.mark.req("REQ-915-017", "REQ-915-020")
@pytest.mark.parametrize(
    ("profile", "result"),
    [
        ("kimi", {"role": "tool", "tool_call_id": "functions.read:0", "content": "done"}),
        ("deepseek", {"role": "tool", "tool_call_id": "call_a", "content": "done"}),
    ],
)
def test_a_result_carries_the_id_of_its_call_and_nothing_else(profile, result):
    spoken = messages([HI, pair()], target(profile))
    assert spoken[2] == result
    assert spoken[1]["tool_calls"][0]["id"] == result["tool_call_id"]


@pytest.mark.req("REQ-915-021")
def test_only_mistral_hears_the_name_of_the_tool_with_its_result():
    spoken = messages([HI, pair()], target("mistral"))
    wire_id = spoken[1]["tool_calls"][0]["id"]
    assert len(wire_id) == 9
    assert spoken[2] == {"role": "tool", "tool_call_id": wire_id, "content": "done", "name": "read"}


@pytest.mark.req("REQ-915-011")
def test_a_closure_stands_as_it_is_so_that_it_is_recognised():
    exchange = asked(call(), completions=(closed(reason=ClosureReason.DENIED, said="not now"),))
    assert messages([HI, exchange], target("openai"))[2]["content"] == closure_text(ClosureReason.DENIED, "not now")


def test_a_shortened_failure_is_still_marked_as_one():
    exchange = asked(call(), completions=(closed(reason=ClosureReason.TIMED_OUT, shortened="(long ago)"),))
    assert messages([HI, exchange], target("openai"))[2]["content"] == "[Error] (long ago)"


@pytest.mark.parametrize(("empty_text", "content"), [(True, ""), (False, EMPTY_RESULT)])
def test_an_empty_result_is_filled_only_where_empty_is_refused(empty_text, content):
    exchange = asked(call(), completions=(success(result=None),))
    to = target("strict", empty_text=empty_text)
    assert messages([HI, exchange], to)[2]["content"] == content
    assert (("inserted", "empty-result") in decided([HI, exchange], to)) is not empty_text


def test_an_error_without_words_says_at_least_that_it_is_one():
    exchange = asked(call(), completions=(failure(error=""),))
    assert messages([HI, exchange], target("openai"))[2]["content"] == f"[Error] {EMPTY_RESULT}"


def test_a_call_with_arguments_that_are_no_object_is_wrapped():
    exchange = asked(call(arguments={}, raw='{"path": '), completions=(failure(),))
    assert messages([HI, exchange], target("strict"))[1]["tool_calls"] == [
        wire_call(arguments='{"raw_arguments":"{\\"path\\": "}')
    ]


def test_a_name_that_the_target_refuses_is_projected_in_call_result_and_definition_alike():
    exchange = asked(call("fs.read"), completions=(success(),))
    body, decisions = printed([HI, exchange], target("mistral"))
    name = body["messages"][1]["tool_calls"][0]["function"]["name"]
    assert name != "fs.read"
    assert body["messages"][2]["name"] == name
    assert [(one.reason, one.calls) for one in decisions] == [("tool-name", (CallId("hist_tool_a"),))]


def test_a_free_text_call_becomes_a_function_call_where_there_is_no_other():
    exchange = asked(call(arguments={"input": "x"}, kind=CallKind.CUSTOM), completions=(success(),))
    to = target("strict")
    assert messages([HI, exchange], to)[1]["tool_calls"] == [wire_call(arguments='{"input":"x"}')]
    assert decided([HI, exchange], to) == [("converted", "custom-call")]


def test_openai_takes_a_free_text_call_as_one():
    exchange = asked(call(arguments={"input": "x"}, kind=CallKind.CUSTOM), completions=(success(),))
    to = target("openai")
    custom = {"id": "call_a", "type": "custom", "custom": {"name": "read", "input": "x"}}
    assert messages([HI, exchange], to)[1]["tool_calls"] == [custom]
    assert decided([HI, exchange], to) == []


def test_a_signature_on_a_call_goes_back_to_its_origin_only():
    native = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    exchange = asked(call(native=native), completions=(success(),))
    at_home = messages([HI, exchange], target("strict"), home=True)
    abroad = messages([HI, exchange], target("strict"), home=False)
    assert at_home[1]["tool_calls"] == [{**wire_call(), **native}]
    assert abroad[1]["tool_calls"] == [wire_call()]


def test_more_calls_than_a_message_takes_become_several_rounds():
    exchange = asked(
        Text("two"), call("read", "a"), call("list", "b"), completions=(success("a"), success("b")), origin=None
    )
    to = target("mistral", max_calls=1)
    body, decisions = printed([HI, exchange], to)
    assert [(one["role"], one["content"]) for one in body["messages"]] == [
        ("user", "hi"),
        ("assistant", "two"),
        ("tool", "done"),
        ("assistant", ""),
        ("tool", "done"),
    ]
    assert [(one.reason, one.calls) for one in decisions] == [
        ("calls-split", (CallId("hist_tool_a"), CallId("hist_tool_b")))
    ]
    assert_valid(body, to)


def test_text_stands_before_the_calls_where_a_model_cannot_hold_both():
    to = target("mistral", text_beside_calls=False)
    body, decisions = printed([HI, asked(Text("look"), call(), completions=(success(),))], to)
    assert [one["content"] for one in body["messages"]] == ["hi", "look", "", "done"]
    assert [(str(one.action), one.reason) for one in decisions] == [("moved", "text-beside-calls")]
    assert_mistral_accepts(body, oldest=True)
    assert_valid(body, to)


def test_results_are_embedded_as_text_where_the_target_takes_no_tool_history():
    exchange = asked(Text("look"), call("read", "a"), call("list", "b"), completions=(success("a"), failure("b")))
    to = target("strict", native_tool_history=False)
    body, decisions = printed([HI, exchange], to)
    assert body["messages"][1:] == [
        {"role": "assistant", "content": "look"},
        {"role": "user", "content": f"{EMBEDDED_RESULT}done"},
        {"role": "user", "content": f"{EMBEDDED_RESULT}[Error] boom"},
    ]
    assert [(one.reason, one.calls) for one in decisions] == [
        ("text-embed", (CallId("hist_tool_a"), CallId("hist_tool_b")))
    ]


def test_embedded_results_need_no_bridge_and_no_text_of_the_answer():
    to = target("mistral", native_tool_history=False)
    assert messages([pair()], to) == [{"role": "user", "content": f"{EMBEDDED_RESULT}done"}]


# --- order ------------------------------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-008")
def test_mistral_gets_an_answer_between_results_and_a_human_message():
    units: list[Unit] = [HI, pair(), Said(2, (Text("go on"),))]
    to = target("mistral")
    body, decisions = printed(units, to)
    assert [(one["role"], one["content"]) for one in body["messages"]][3:] == [
        ("assistant", ANSWER_BRIDGE),
        ("user", "go on"),
    ]
    assert [(str(one.action), one.reason) for one in decisions] == [("inserted", "bridge")]
    assert_valid(body, to)
    assert decided(units, target("strict")) == []


def test_mistral_gets_a_human_message_before_calls_that_would_come_first():
    to = target("mistral")
    body, decisions = printed([pair()], to)
    assert body["messages"][0] == {"role": "user", "content": HUMAN_BRIDGE}
    assert [(str(one.action), one.reason) for one in decisions] == [("inserted", "bridge")]
    assert_valid(body, to)
    assert messages([pair()], target("openai"))[0]["role"] == "assistant"


def test_two_answers_in_a_row_stay_two_messages():
    assert messages([HI, asked(Text("a")), asked(Text("b")), HI], target("openai")) == [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "hi"},
    ]


@pytest.mark.parametrize(
    ("profile", "prefill", "is_added"),
    [
        ("openai", False, True),
        ("openai", True, False),
        ("strict", True, False),
        ("mistral", True, True),  # its prefix needs a mark on a message that is already printed
        ("kimi", True, True),
        ("deepseek", True, True),
    ],
)
def test_a_request_ends_on_an_answer_only_where_that_is_taken(profile, prefill, is_added):
    speaking = context(target(profile, prefill=prefill))
    encoded = tail(End.ANSWER, speaking)
    assert list(encoded.messages) == ([{"role": "user", "content": CONTINUE}] if is_added else [])
    assert encoded.end is (End.HUMAN if is_added else End.ANSWER)


@pytest.mark.parametrize("end", [End.START, End.HUMAN, End.RESULTS])
def test_nothing_is_added_behind_anything_but_an_answer(end):
    assert tail(end, context(target("mistral"))).messages == ()


def test_a_system_prompt_and_an_instruction_in_the_middle_have_the_role_that_the_model_knows():
    units: list[Unit] = [HI, asked(Text("yes")), Said(2, (Text("be brief"),), Authority.INSTRUCTION), HI]
    for profile, role in (("openai", "developer"), ("deepseek", "system"), ("strict", "system")):
        spoken = messages(units, target(profile), system="be kind")
        assert [spoken[0], spoken[3]] == [{"role": role, "content": "be kind"}, {"role": role, "content": "be brief"}]
    assert messages(units, target("openai", developer_role=False), system="be kind")[0]["role"] == "system"


def test_an_instruction_becomes_marked_text_where_its_role_is_refused():
    units: list[Unit] = [HI, pair(), Said(2, (Text("be brief"),), Authority.INSTRUCTION)]
    for capabilities in ({"middle_system": False}, {"middle_system": True}):
        to = target("mistral", **capabilities)
        body, decisions = printed(units, to)
        assert body["messages"][4] == {"role": "user", "content": f"{INSTRUCTION_MARK}be brief"}
        assert ("converted", "instruction-as-text") in [(str(one.action), one.reason) for one in decisions]
        assert_valid(body, to)


def test_mistral_takes_an_instruction_behind_a_human_message():
    to = target("mistral", middle_system=True)
    body, _ = printed([HI, Said(2, (Text("be brief"),), Authority.INSTRUCTION), HI], to)
    assert body["messages"][1] == {"role": "system", "content": "be brief"}
    assert_valid(body, to)


def test_an_instruction_with_an_image_is_marked_human_text():
    said = Said(2, (IMAGE,), Authority.INSTRUCTION)
    assert messages([said], target("openai")) == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": INSTRUCTION_MARK.strip()},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aWNvbg=="}},
            ],
        }
    ]


def test_a_summary_is_marked_and_bridged_like_any_human_message():
    to = target("mistral")
    body, _ = printed([HI, pair(), Summary(5, "we read a")], to)
    assert body["messages"][-2:] == [
        {"role": "assistant", "content": ANSWER_BRIDGE},
        {"role": "user", "content": f"{SUMMARY_MARK}we read a"},
    ]
    assert_valid(body, to)


# --- thinking ---------------------------------------------------------------------------------------------------------

THOUGHT = Thinking("hmm")


@pytest.mark.req("REQ-915-023")
@pytest.mark.parametrize("profile", ["kimi", "deepseek"])
def test_own_thinking_goes_back_with_every_own_answer_while_thinking_is_on(profile):
    to = target(profile, thinking_default=True)
    units: list[Unit] = [HI, asked(THOUGHT, call(), completions=(success(),)), asked(Thinking("so"), Text("done")), HI]
    body, decisions = printed(units, to, home=True, thinking_on=True)
    assert [one.get("reasoning_content") for one in body["messages"]] == [None, "hmm", None, "so", None]
    assert decisions == []
    assert_valid(body, to)


@pytest.mark.parametrize(("profile", "beside_text"), [("kimi", None), ("deepseek", " ")])
@pytest.mark.parametrize(
    ("blocks", "home", "reasons"),
    [
        ((THOUGHT,), False, ["foreign-thinking", "reasoning-placeholder"]),
        ((), False, ["reasoning-placeholder"]),
        ((Thinking(" \n"),), True, ["reasoning-placeholder"]),
    ],
)
def test_answers_without_own_thinking_get_a_single_space_where_it_is_demanded(
    profile, beside_text, blocks, home, reasons
):
    to = target(profile, thinking_default=True)
    body, decisions = printed(
        [HI, asked(*blocks, call(), completions=(success(),)), asked(*blocks, Text("x")), HI],
        to,
        home=home,
        thinking_on=True,
    )
    assert body["messages"][1]["reasoning_content"] == " "
    assert body["messages"][3].get("reasoning_content") == beside_text
    assert [one.reason for one in decisions][: len(reasons)] == reasons
    assert_valid(body, to)


def test_every_round_of_a_split_answer_has_reasoning():
    exchange = asked(THOUGHT, call("read", "a"), call("list", "b"), completions=(success("a"), success("b")))
    to = target("kimi", max_calls=1, thinking_default=True)
    body, _ = printed([HI, exchange], to, home=True, thinking_on=True)
    assert [one.get("reasoning_content") for one in body["messages"]] == [None, "hmm", None, " ", None]
    assert_valid(body, to)


@pytest.mark.req("REQ-915-024")
@pytest.mark.parametrize(
    ("profile", "how", "decision"),
    [
        ("kimi", {"home": True, "thinking_on": False}, ("dropped", "thinking-policy")),
        ("openai", {"home": True}, ("dropped", "unsigned-thinking")),
        ("strict", {"home": False}, ("dropped", "foreign-thinking")),
        ("mistral", {"home": True}, ("dropped", "unsigned-thinking")),
        ("deepseek", {"home": True, "thinking_on": True, "keep_thinking": False}, ("dropped", "thinking-policy")),
        ("openai", {"foreign": Foreign.TEXT, "keep_thinking": False}, ("dropped", "thinking-policy")),
    ],
)
def test_thinking_that_has_no_place_is_dropped_and_the_pair_stays(profile, how, decision):
    units: list[Unit] = [HI, asked(THOUGHT, Text("x"), call(), completions=(success(),))]
    spoken = messages(units, target(profile), **how)
    assert [one["role"] for one in spoken] == ["user", "assistant", "tool"]
    assert spoken[1]["content"] == "x"
    assert spoken[1].get("reasoning_content") in (None, " ")
    assert decision in decided(units, target(profile), **how)


def test_foreign_thinking_may_be_kept_as_plain_text_in_its_place():
    units: list[Unit] = [HI, asked(Text("a"), THOUGHT, Thinking("  "), Text("b"), call(), completions=(success(),))]
    for home in (True, False):
        how: dict[str, Any] = {"foreign": Foreign.TEXT, "home": home}
        assert messages(units, target("openai"), **how)[1]["content"] == "a\n\nhmm\n\nb"
        reason = "unsigned-thinking" if home else "foreign-thinking"
        assert decided(units, target("openai"), **how) == [("converted", reason), ("dropped", reason)]


@pytest.mark.parametrize("thinking_on", [True, False])
def test_an_answer_that_was_only_thinking_is_printed_as_nothing(thinking_on):
    encoded = encode(asked(THOUGHT), End.HUMAN, context(target("kimi"), home=True, thinking_on=thinking_on), True)
    assert (encoded.messages, encoded.end) == ((), End.HUMAN)
    assert [one.reason for one in encoded.decisions] == ["dangling-thinking" if thinking_on else "thinking-policy"]


def test_a_blank_text_that_carried_a_signature_elsewhere_says_nothing_here():
    unit = asked(Text(" ", native={"signature": "x"}))
    encoded = encode(unit, End.HUMAN, context(target("openai")), True)
    assert (encoded.messages, encoded.end) == ((), End.HUMAN)


def test_mistrals_own_thinking_chunks_go_back_as_chunks():
    chunk = {"type": "thinking", "thinking": [{"type": "text", "text": "hmm"}], "signature": "c2ln"}
    thought = Thinking("hmm", native={"chunk": True, "signature": "c2ln"})
    to = target("mistral")
    units: list[Unit] = [
        HI,
        asked(thought, Text("look"), call(), completions=(success(),)),
        asked(thought, Text("so")),
        HI,
        asked(thought, call("read", "b"), completions=(success("b"),)),
    ]
    body, decisions = printed(units, to, home=True)
    text = {"type": "text", "text": "look"}
    assert [one["content"] for one in body["messages"]] == [
        "hi",
        [chunk, text],
        "done",
        [chunk, {"type": "text", "text": "so"}],
        "hi",
        [chunk],
        "done",
    ]
    assert decisions == []
    assert_valid(body, to)


def test_thinking_chunks_stay_away_from_calls_where_nothing_may_stand_beside_them():
    thought = Thinking("hmm", native={"chunk": True})
    to = target("mistral", text_beside_calls=False)
    with_text = asked(thought, Text("look"), call(), completions=(success(),))
    body, _ = printed([HI, with_text], to, home=True)
    assert [type(one["content"]) for one in body["messages"]] == [str, list, str, str]
    assert_valid(body, to)
    body, _ = printed([HI, asked(thought, call(), completions=(success(),))], to, home=True)
    assert body["messages"][1]["content"] == ""
    assert_valid(body, to)


def test_reasoning_details_go_back_to_the_router_they_came_from():
    details = [{"type": "reasoning.encrypted", "data": "x", "index": 0}]
    exchange = asked(Thinking("", native={"reasoning_details": details}), call(), completions=(success(),))
    assert messages([HI, exchange], target("strict"), home=True)[1]["reasoning_details"] == details
    assert "reasoning_details" not in messages([HI, exchange], target("openai"), home=True)[1]
    assert "reasoning_details" not in messages([HI, exchange], target("strict"), home=False)[1]


# --- media and the rest -----------------------------------------------------------------------------------------------


def test_an_image_of_a_result_follows_behind_all_results_of_the_exchange():
    exchange = asked(
        call("shot", "a"), call("list", "b"), completions=(success("a", result="taken", media=(IMAGE,)), success("b"))
    )
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aWNvbg=="}}
    follow_up = {"role": "user", "content": [{"type": "text", "text": "[Media from the result of shot:]"}, part]}
    for profile, bridge in (("openai", []), ("mistral", [{"role": "assistant", "content": ANSWER_BRIDGE}])):
        to = target(profile)
        body, decisions = printed([HI, exchange], to)
        assert body["messages"][2]["content"] == f"taken\n{MEDIA_FOLLOWS}"
        assert body["messages"][4:] == [*bridge, follow_up]
        assert ("converted", "media-moved") in [(str(one.action), one.reason) for one in decisions]
        assert encode(exchange, End.HUMAN, context(to, [exchange]), True).end is End.HUMAN
        assert_valid(body, to)


def test_media_of_a_result_that_the_target_cannot_take_leave_a_placeholder():
    exchange = asked(call(), completions=(success(result=None, media=(IMAGE,)),))
    body, decisions = printed([HI, exchange], target("deepseek"))
    assert body["messages"][1:] == [
        {"role": "assistant", "content": "", "tool_calls": [wire_call()]},
        {
            "role": "tool",
            "tool_call_id": "call_a",
            "content": "[image omitted: image/png, which this model cannot take]",
        },
    ]
    assert [one.reason for one in decisions] == ["media-omitted"]


DOCUMENT = Media(MediaKind.DOCUMENT, "application/pdf", data="cGRm", name="a.pdf")
SOUND = Media(MediaKind.AUDIO, "audio/mpeg", data="c291bmQ=")


@pytest.mark.parametrize(
    ("media", "profile", "part"),
    [
        (IMAGE, "openai", {"type": "image_url", "image_url": {"url": "data:image/png;base64,aWNvbg=="}}),
        (
            Media(MediaKind.IMAGE, "image/png", url="https://x.example/a.png"),
            "mistral",
            {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}},
        ),
        (
            DOCUMENT,
            "openai",
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,cGRm"}},
        ),
        (DOCUMENT, "mistral", {"type": "document_url", "document_url": "data:application/pdf;base64,cGRm"}),
        (SOUND, "openai", {"type": "input_audio", "input_audio": {"data": "c291bmQ=", "format": "mp3"}}),
        (SOUND, "mistral", {"type": "input_audio", "input_audio": "c291bmQ="}),
    ],
)
def test_a_medium_is_a_part_of_the_human_message(media, profile, part):
    to = target(profile, documents=True, audio=True)
    body, decisions = printed([Said(0, (Text("see"), Text("this"), media, Text("well?")))], to)
    assert body["messages"][0]["content"] == [
        {"type": "text", "text": "see\n\nthis"},
        part,
        {"type": "text", "text": "well?"},
    ]
    assert decisions == []
    if media.kind is not MediaKind.DOCUMENT:
        assert_valid(body, to)


@pytest.mark.parametrize(
    ("media", "capabilities"),
    [
        (IMAGE, {"images": False}),
        (Media(MediaKind.IMAGE, "image/png"), {}),
        (DOCUMENT, {"documents": False}),
        (Media(MediaKind.DOCUMENT, "application/pdf", url="https://x.example/a.pdf"), {"documents": True}),
        (SOUND, {"audio": False}),
        (Media(MediaKind.AUDIO, "audio/ogg", data="b2dn"), {"audio": True}),
        (Media(MediaKind.AUDIO, "audio/wav", url="https://x.example/a.wav"), {"audio": True}),
        (Media(MediaKind.VIDEO, "video/mp4", data="bXA0"), {}),
    ],
)
def test_a_medium_that_the_target_cannot_take_leaves_a_placeholder(media, capabilities):
    to = target("openai", **capabilities)
    placeholder = f"[{media.kind} omitted: {media.mime}, which this model cannot take]"
    assert messages([Said(0, (Text("see"), media, Text("well?")))], to) == [
        {"role": "user", "content": f"see\n\n{placeholder}\n\nwell?"}
    ]
    assert decided([Said(0, (media,))], to) == [("converted", "media-omitted")]


def test_mistral_cannot_take_a_document_without_an_address():
    to = target("mistral", documents=True)
    assert decided([Said(0, (Media(MediaKind.DOCUMENT, "application/pdf"),))], to) == [("converted", "media-omitted")]


def test_code_hosted_tools_and_media_in_an_answer_become_text():
    answer = asked(
        Text("so:"),
        Code("a = '```'", "python"),
        HostedTool("search", {"q": "x"}, ["one"]),
        HostedTool("fetch", {}, "page"),
        HostedTool("wait"),
        IMAGE,
        Text("fine"),
    )
    text = (
        "so:\n\n````python\na = '```'\n````\n\n"
        '[The provider ran search {"q":"x"}, which gave:]\n["one"]\n\n'
        "[The provider ran fetch, which gave:]\npage\n\n"
        "[The provider ran wait]\n\n"
        "[image omitted: image/png, which this model cannot take]\n\nfine"
    )
    assert messages([HI, answer, HI], target("openai"))[1] == {"role": "assistant", "content": text}
    assert [reason for _, reason in decided([HI, answer, HI], target("openai"))] == [
        *["hosted-tool"] * 3,
        "media-omitted",
    ]
    assert messages([Said(0, (Text("run"), Code("ls", "sh")))], target("openai"))[0]["content"] == (
        "run\n\n```sh\nls\n```"
    )


def test_a_profile_that_does_not_exist_is_named_with_those_that_do():
    with pytest.raises(UnknownTarget, match=r"'acme'.*strict"):
        encode(pair(), End.START, context(target("acme")), True)


# --- any conversation -------------------------------------------------------------------------------------------------

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc",)), min_size=1).filter(lambda text: text.strip())


@st.composite
def conversations(draw: st.DrawFn) -> list[Unit]:
    units: list[Unit] = []
    count = 0
    for key in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["said", "instruction", "summary", "answer", "answer"]))
        if kind == "summary":
            units.append(Summary(key, draw(TEXTS)))
        elif kind != "answer":
            authority = Authority.INSTRUCTION if kind == "instruction" else Authority.PERSON
            media = (IMAGE,) if draw(st.booleans()) else ()
            units.append(Said(key, (Text(draw(TEXTS)), *media), authority))
        else:
            blocks: list[Any] = [Thinking(draw(st.text()))] if draw(st.booleans()) else []
            completions: list[Completion] = []
            for _ in range(draw(st.integers(0, 3))):
                stem = f"s{count}"
                count += 1
                blocks.append(call(draw(st.sampled_from(["read", "fs.read", "9lives"])), stem))
                outcome = draw(st.sampled_from(["success", "failure", "closed", "media", "empty"]))
                completions.append(
                    {
                        "success": success(stem, result={"a": [1]}),
                        "failure": failure(stem),
                        "closed": closed(stem, reason=ClosureReason.INTERRUPTED),
                        "media": success(stem, media=(IMAGE,)),
                        "empty": success(stem, result=""),
                    }[outcome]
                )
            if not completions or draw(st.booleans()):
                blocks.insert(draw(st.integers(0, len(blocks))), Text(draw(TEXTS)))
            units.append(Exchange(key, tuple(blocks), tuple(completions)))
    return units


@pytest.mark.req("REQ-915-008", "REQ-915-010", "REQ-915-025")
@given(
    units=conversations(),
    profile=st.sampled_from(PROFILES),
    thinking=st.booleans(),
    home=st.booleans(),
    max_calls=st.sampled_from([1, 2, 128]),
    empty_text=st.booleans(),
    text_beside_calls=st.booleans(),
)
def test_every_conversation_is_printed_validly_and_the_same_twice(
    units, profile, thinking, home, max_calls, empty_text, text_beside_calls
):
    to = target(
        profile,
        max_calls=max_calls,
        thinking_default=thinking,
        empty_text=empty_text,
        text_beside_calls=text_beside_calls,
    )
    how: dict[str, Any] = {"home": home, "thinking_on": thinking, "system": "be kind"}
    body, decisions = printed(units, to, **how)
    assert_valid(body, to)
    assert printed(units, to, **how) == (body, decisions)


@given(units=conversations(), profile=st.sampled_from(PROFILES))
def test_a_longer_conversation_extends_the_shorter_one(units, profile):
    to = target(profile)
    shorter = messages(units[:-1], to)
    if shorter and shorter[-1] == {"role": "user", "content": CONTINUE}:
        shorter = shorter[:-1]
    assert messages(units, to)[: len(shorter)] == shorter


def test_completions_of_the_cancelled_kind_read_like_closures():
    exchange = asked(
        call(),
        completions=(
            Completion(CallId("hist_tool_a"), CompletionKind.CANCELLED, reason=ClosureReason.CANCELLED_RUNNING),
        ),
    )
    assert messages([HI, exchange], target("openai"))[2]["content"] == closure_text(ClosureReason.CANCELLED_RUNNING)


def test_what_deepseek_demands_with_every_answer_says_nothing_when_it_is_read_back():
    body = render(talk(user("hi"), ai("hello"), user("go")), "deepseek/deepseek-v4-pro").body
    assert body["messages"][1] == {"role": "assistant", "content": "hello", "reasoning_content": " "}
    assert [block for entry in parse(body, "deepseek/deepseek-v4-pro").entries for block in entry.blocks] == [
        Text("hi"),
        Text("hello"),
        Text("go"),
    ]


@pytest.mark.parametrize("route", ["openai/gpt-4o", "mistral/mistral-large-latest", "ollama/qwen3"])
def test_texts_of_one_human_message_do_not_run_into_each_other(route: str):
    body = render(talk(user("Look at this.", "What is wrong?")), route).body
    assert body["messages"] == [{"role": "user", "content": "Look at this.\n\nWhat is wrong?"}]
