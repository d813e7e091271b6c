"""Where everything stands: the situations of damaged and honest logs, as units."""

from __future__ import annotations

import pytest

from legato.errors import InvalidEntry, RenderError, UnknownCall
from legato.model import (
    Authority,
    CallId,
    CallKind,
    ClosureReason,
    Ending,
    Entry,
    HostedTool,
    Media,
    MediaKind,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
    closure_text,
)
from legato.model.records import (
    Answered,
    Compacted,
    CompactionKind,
    Opened,
    Recorded,
    Restored,
    Rewound,
    Started,
    Verdict,
)
from legato.transcript import Completion, CompletionKind, Conversation, Exchange, Said, Summary, completion_text

from builders import (
    ai,
    call,
    calls,
    completions,
    decisions,
    instruction,
    response,
    result,
    talk,
    thought,
    tool,
    units,
    user,
)

PICTURE = Media(MediaKind.IMAGE, "image/png", data="aGk=")


def shape(conversation: Conversation) -> list[str]:
    """The units as words: `said`, `text`, `think`, `call a`, `= kind`."""
    words: list[str] = []
    for unit in units(conversation):
        if isinstance(unit, Said):
            words.append("said " + " ".join(getattr(block, "text", "media") for block in unit.blocks))
        elif isinstance(unit, Exchange):
            parts = [
                f"call {block.wire_id}"
                if isinstance(block, ToolCall)
                else "think"
                if isinstance(block, Thinking)
                else getattr(block, "text", "other")
                for block in unit.blocks
            ]
            words.append(", ".join([*parts, *(f"= {done.kind}" for done in unit.completions)]))
    return words


# --- pairing and closure ----------------------------------------------------------------------------------------------


def test_a_whole_pair_is_unchanged_and_needs_no_decision() -> None:
    conversation = talk(user("hi"), calls("a"), result("a"), ai("done"))
    assert shape(conversation) == ["said hi", "call a, = success", "done"]
    assert decisions(conversation) == []


@pytest.mark.req("REQ-915-007", "REQ-915-013")
def test_an_open_call_before_a_human_message_is_closed_in_the_view_and_stays_open_in_the_ledger() -> None:
    conversation = talk(calls("a"), user("go on"))
    before = list(conversation.log)
    assert shape(conversation) == ["call a, = synthetic", "said go on"]
    assert conversation.log == before
    assert conversation.ledger.calls[CallId("hist_tool_a")].state == "pending"


def test_an_open_call_at_the_very_end_is_closed_too() -> None:
    assert shape(talk(user("hi"), calls("a"))) == ["said hi", "call a, = synthetic"]


@pytest.mark.req("REQ-915-011", "REQ-915-012", "REQ-915-044")
def test_five_calls_with_one_result_have_one_real_and_four_synthetic_completions() -> None:
    conversation = talk(calls("c2", "c3", "c4", "c5", "c6"), result("c3", {"kept": "as it was"}))
    (unit,) = units(conversation)
    assert isinstance(unit, Exchange)
    assert [done.kind.value for done in unit.completions] == ["synthetic", "success", *["synthetic"] * 3]
    assert unit.completions[1].result == {"kept": "as it was"}


@pytest.mark.req("REQ-915-025", "REQ-915-012")
def test_the_worked_sequence_of_the_specification() -> None:
    conversation = talk(
        user("chat"),
        ai(thought("one"), call("1")),
        result("1"),
        ai(thought("two"), *(call(str(n)) for n in range(2, 7))),
        result("3"),
        ai(thought("three"), "big streamed text"),
    )
    assert shape(conversation) == [
        "said chat",
        "think, call 1, = success",
        "think, call 2, call 3, call 4, call 5, call 6, = synthetic, = success, = synthetic, = synthetic, = synthetic",
        "think, big streamed text",
    ]


@pytest.mark.req("REQ-915-025")
def test_the_worked_sequence_in_one_single_entry_is_split_where_results_came_in() -> None:
    conversation = talk(
        user("chat"),
        ai(
            thought("one"), call("1"), response("1"),
            thought("two"), *(call(str(n)) for n in range(2, 7)), response("3"),
            thought("three"), "big streamed text",
        ),
    )  # fmt: skip
    assert [line.count("call") for line in shape(conversation)] == [0, 1, 5, 0]
    assert {reason for action, reason in decisions(conversation) if action == "reattributed"} == {"result-under-ai"}


@pytest.mark.req("REQ-915-008")
def test_a_result_after_later_text_moves_next_to_its_call() -> None:
    conversation = talk(calls("a"), ai("meanwhile"), result("a"))
    assert shape(conversation) == ["call a, = success", "meanwhile"]
    assert decisions(conversation) == [("moved", "late-result")]


@pytest.mark.req("REQ-915-009")
def test_a_late_duplicate_is_dropped_and_the_first_position_kept() -> None:
    conversation = talk(calls("a"), result("a", "one"), ai("text"), result("a", "one"))
    assert shape(conversation) == ["call a, = success", "text"]
    assert ("deduped", "duplicate-result") in decisions(conversation)


@pytest.mark.req("REQ-915-047")
def test_calls_and_results_in_one_tool_entry_become_an_answer_and_its_results() -> None:
    conversation = talk(user("hi"), tool(call("a"), response("a"), call("b"), response("b")))
    assert shape(conversation) == ["said hi", "call a, = success", "call b, = success"]
    assert ("reattributed", "call-under-tool") in decisions(conversation)


@pytest.mark.req("REQ-915-047")
def test_a_tool_entry_with_only_calls_becomes_an_answer_that_is_closed() -> None:
    assert shape(talk(tool(call("a")))) == ["call a, = synthetic"]


@pytest.mark.req("REQ-915-047")
def test_a_call_inside_a_human_entry_belongs_to_the_model() -> None:
    conversation = talk(user("look", call("a")), result("a"))
    assert shape(conversation) == ["said look", "call a, = success"]
    assert decisions(conversation) == [("reattributed", "call-under-human")]


@pytest.mark.req("REQ-915-047")
@pytest.mark.parametrize("kind", CallKind)
def test_a_call_that_is_given_to_the_model_is_what_it_was(kind: CallKind) -> None:
    asked = ToolCall("read", {"input": "x"}, "call_a", kind=kind, namespace="files", native={"extra_content": {"a": 1}})
    misplaced, right = (units(talk(speaker(asked), tool(response("call_a")))) for speaker in (tool, ai))
    assert [(unit.blocks, unit.completions) for unit in misplaced if isinstance(unit, Exchange)] == [
        (unit.blocks, unit.completions) for unit in right if isinstance(unit, Exchange)
    ]
    assert len(misplaced) == len(right) == 1


@pytest.mark.parametrize("speaker", [Speaker.HUMAN, Speaker.AI])
def test_a_result_inside_a_human_or_ai_entry_is_paired(speaker: Speaker) -> None:
    conversation = talk(calls("a"), Entry(speaker, (response("a"), Text("and this"))))
    assert shape(conversation)[0] == "call a, = success"
    assert "and this" in shape(conversation)[1]
    assert ("reattributed", f"result-under-{speaker}") in decisions(conversation)


def test_text_beside_results_becomes_a_human_turn_after_them() -> None:
    conversation = talk(calls("a"), tool(Text("note"), response("a"), PICTURE))
    assert shape(conversation) == ["call a, = success", "said note", "said media"]


def test_parallel_calls_answered_in_separate_entries_out_of_order_are_gathered_in_call_order() -> None:
    conversation = talk(calls("a", "b", "c"), result("c"), result("a"), result("b"))
    assert [outcome for _, _, outcome in completions(conversation)] == ["result of a", "result of b", "result of c"]
    assert decisions(conversation) == []


def test_one_answer_in_several_entries_is_one_exchange() -> None:
    conversation = talk(
        ai(thought(), answer="m1"), calls("a", answer="m1"), result("a"), calls("b", answer="m1"), result("b")
    )
    assert shape(conversation) == ["think, call a, call b, = success, = success"]
    assert decisions(conversation) == []


def test_an_answer_continued_after_somebody_spoke_is_merged_and_noted() -> None:
    conversation = talk(calls("a", answer="m1"), user("wait"), ai("more", answer="m1"))
    assert shape(conversation) == ["call a, more, = synthetic", "said wait"]
    assert ("merged", "answer-continued") in decisions(conversation)


def test_answers_with_different_keys_or_none_never_merge() -> None:
    conversation = talk(ai("one", answer="1"), ai("two", answer="2"), ai("three"), ai("four"))
    assert shape(conversation) == ["one", "two", "three", "four"]


def test_an_empty_history_is_empty() -> None:
    assert units(Conversation()) == []


# --- results without a call -------------------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-006", "REQ-915-027")
def test_a_result_whose_tool_is_known_becomes_a_pair_with_empty_arguments() -> None:
    (unit,) = units(talk(result("gone", "found", name="grep")))
    assert isinstance(unit, Exchange)
    assert [(c.name, c.arguments) for c in unit.calls] == [("grep", {})]


def test_a_result_of_which_nothing_is_known_is_quoted() -> None:
    conversation = talk(tool(ToolResponse(wire_id="gone", result="found", media=(PICTURE,))))
    (unit,) = units(conversation)
    assert isinstance(unit, Said)
    assert unit.blocks == (Text("[Result of a tool call that is not in this conversation]\nfound"), PICTURE)
    assert decisions(conversation) == [("quoted", "result-without-call")]


def test_named_and_nameless_results_in_one_entry_are_both_kept() -> None:
    conversation = talk(tool(response("x", "one", name="grep"), ToolResponse(wire_id="y", result="two")))
    assert shape(conversation) == [
        "call x, = success",
        "said [Result of a tool call that is not in this conversation]\ntwo",
    ]


def test_a_quoted_result_is_taken_back_when_its_call_comes() -> None:
    conversation = talk(tool(ToolResponse(wire_id="a", result="two")), calls("a"))
    assert shape(conversation) == ["call a, = success"]


# --- answers that did not end well ------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [Ending.CUT, Ending.CANCELLED])
def test_of_a_cut_answer_text_stays_and_what_cannot_be_replayed_goes(ending: Ending) -> None:
    unfinished = ToolCall("write", {}, "b", raw='{"path": "x', finished=False)
    conversation = talk(ai(thought("unsigned"), "so far", call("a"), unfinished, ending=ending))
    assert shape(conversation) == ["so far, call a, = synthetic"]
    assert completions(conversation)[0][2] == "not-started"
    assert ("dropped", "unfinished-call") in decisions(conversation)


def test_signed_thinking_of_a_cut_answer_goes_if_nothing_followed_it() -> None:
    assert shape(talk(ai("so far", thought("t", signature="s"), ending=Ending.CUT))) == ["so far"]


def test_a_refused_answer_is_replayed_to_nobody() -> None:
    conversation = talk(user("hi"), ai("I can't", ending=Ending.REFUSED), user("then"))
    assert shape(conversation) == ["said hi", "said then"]
    assert decisions(conversation) == [("dropped", "refused-answer")]


def test_a_real_result_of_a_refused_answer_survives() -> None:
    conversation = talk(ai("I can't", call("a"), call("b"), ending=Ending.REFUSED), result("a"))
    assert shape(conversation) == ["call a, = success"]


def test_an_unfinished_call_that_was_answered_stays() -> None:
    unfinished = ToolCall("write", {}, "b", raw="{", finished=False)
    assert shape(talk(ai(unfinished, ending=Ending.LENGTH), result("b", None, error="cut"))) == ["call b, = error"]


def test_an_empty_failed_answer_between_call_and_result_disturbs_nothing() -> None:
    conversation = talk(calls("a"), ai(""), result("a"))
    assert shape(conversation) == ["call a, = success"]
    assert ("dropped", "nothing-visible") in decisions(conversation)


def test_thinking_goes_when_its_call_goes() -> None:
    unfinished = ToolCall("write", {}, "b", raw="{", finished=False)
    assert shape(talk(ai(thought("x", signature="s"), unfinished, ending=Ending.CUT))) == []


def test_blank_texts_are_left_out() -> None:
    conversation = talk(user(" \n", "\u2003"), ai("  ", "word"), user("ok", ""))
    assert shape(conversation) == ["word", "said ok"]
    assert decisions(conversation) == [("dropped", "blank-message")]


def test_blank_text_that_carries_a_signature_stays() -> None:
    (unit,) = units(talk(ai(Text("", native={"thoughtSignature": "s"}), call("a"))))
    assert isinstance(unit, Exchange)
    assert len(unit.blocks) == 2


def test_a_hosted_tool_is_never_open() -> None:
    (unit,) = units(talk(ai(HostedTool("search", {"q": 1}), "found")))
    assert isinstance(unit, Exchange)
    assert unit.completions == ()


# --- instructions -----------------------------------------------------------------------------------------------------


def test_leading_instructions_are_the_system_prompt_and_later_ones_stay_where_they_stand() -> None:
    conversation = talk(instruction("be kind"), instruction("be brief"), user("hi"), instruction("be loud"))
    assert conversation.instructions == "be kind\n\nbe brief"
    assert [getattr(unit, "authority", None) for unit in units(conversation)] == [
        Authority.PERSON,
        Authority.INSTRUCTION,
    ]


def test_a_leading_instruction_in_several_texts_is_one_and_is_said_nowhere_else() -> None:
    conversation = talk(Entry(Speaker.HUMAN, (Text("be kind"), Text(", be brief")), authority=Authority.INSTRUCTION))
    assert conversation.instructions == "be kind, be brief"
    assert units(conversation) == []


# --- verdicts and edits -----------------------------------------------------------------------------------------------


def test_a_denial_carries_the_users_words() -> None:
    conversation = talk(
        calls("a"), Answered(call=CallId("hist_tool_a"), verdict=Verdict.DENIED, reason="not that file")
    )
    (unit,) = units(conversation)
    assert isinstance(unit, Exchange)
    assert completion_text(unit.completions[0]) == closure_text(ClosureReason.DENIED, "not that file")


def test_a_settled_cancellation_is_recorded_and_its_text_is_made_at_render() -> None:
    conversation = talk(calls("a"), result("a", None, reason=ClosureReason.DENIED, said="no"))
    (unit,) = units(conversation)
    assert isinstance(unit, Exchange)
    assert unit.completions[0].kind is CompletionKind.CANCELLED
    assert completion_text(unit.completions[0]) == closure_text(ClosureReason.DENIED, "no")


def test_what_a_cancelled_tool_had_put_out_is_kept_and_marked() -> None:
    conversation = talk(calls("a"), result("a", "line 1", reason=ClosureReason.CANCELLED_RUNNING))
    (unit,) = units(conversation)
    assert isinstance(unit, Exchange)
    assert completion_text(unit.completions[0]).endswith("calling it again.]\nOutput so far:\nline 1")


def test_edited_arguments_are_named_at_the_head_of_the_result() -> None:
    conversation = talk(
        calls("a"),
        Answered(call=CallId("hist_tool_a"), verdict=Verdict.ALLOWED, arguments={"path": "b.txt"}),
        result("a", "text"),
    )
    (unit,) = units(conversation)
    assert isinstance(unit, Exchange)
    assert unit.calls[0].arguments == {"path": "a.txt"}
    assert completion_text(unit.completions[0]) == (
        '[The user changed the arguments; the tool ran with {"path":"b.txt"}]\ntext'
    )


@pytest.mark.parametrize(
    ("done", "text"),
    [
        (Completion(CallId("x"), CompletionKind.SUCCESS, "plain"), "plain"),
        (Completion(CallId("x"), CompletionKind.SUCCESS, {"a": [1]}), '{"a":[1]}'),
        (Completion(CallId("x"), CompletionKind.SUCCESS), ""),
        (Completion(CallId("x"), CompletionKind.ERROR, error="bad"), "bad"),
        (Completion(CallId("x"), CompletionKind.ERROR, "body", error="bad"), "bad\nbody"),
        (Completion(CallId("x"), CompletionKind.ERROR, "body", error=""), "body"),
        (Completion(CallId("x"), CompletionKind.SUCCESS, "long", shortened="short"), "short"),
    ],
)
def test_what_the_model_reads(done: Completion, text: str) -> None:
    assert completion_text(done) == text


# --- undo -------------------------------------------------------------------------------------------------------------

QUOTED = "[Result of a tool call that is not in this conversation]\n"


def test_what_was_undone_is_out_of_the_view_and_stays_in_the_log() -> None:
    conversation = talk(user("one"), calls("a"), result("a"), user("two"), ai("reply"), Rewound(to=3))
    assert shape(conversation) == ["said one", "call a, = success"]
    assert len(conversation.log) == 6
    assert [entry.text for entry in conversation.entries] == ["one", "", ""]


def test_an_undo_past_a_restoration_brings_the_compaction_back() -> None:
    cover = Compacted(kind=CompactionKind.COVER, text="short", window=10**9, first=0, last=1)
    conversation = talk(user("one"), user("two"), cover, user("three"), Restored(compaction=2), Rewound(to=4))
    assert [type(unit).__name__ for unit in units(conversation, 1)] == ["Summary", "Said"]


def test_an_undo_can_be_undone() -> None:
    conversation = talk(user("one"), user("two"), Rewound(to=1), user("three"), Rewound(to=2))
    assert shape(conversation) == ["said one", "said two"]


def test_a_result_that_made_room_for_an_undone_one_stays() -> None:
    guess = result("", "first", name="")
    conversation = talk(calls("a", "b"), guess, user("two"), result("a", "second"), Rewound(to=2))
    assert shape(conversation) == ["call a, call b, = success, = synthetic", f"said {QUOTED}first"]


def test_a_result_whose_call_was_undone_stays() -> None:
    conversation = talk(user("one"), result("a", "early"), calls("a"), Rewound(to=2))
    assert shape(conversation) == ["said one", f"said {QUOTED}early"]


def test_a_result_that_an_undone_call_took_over_stays() -> None:
    conversation = talk(calls("a"), result("b", "guessed"), calls("b"), Rewound(to=2))
    assert shape(conversation) == ["call a, = synthetic", f"said {QUOTED}guessed"]


def test_a_late_result_recorded_in_an_undone_turn_is_still_true() -> None:
    conversation = talk(calls("a"), user("two"), result("a"), Rewound(to=1))
    assert shape(conversation) == ["call a, = success"]


def test_a_result_for_an_undone_call_does_not_come_back() -> None:
    conversation = talk(user("one"), calls("a"), Rewound(to=1), result("a"))
    assert shape(conversation) == ["said one"]


def test_what_stands_before_an_undo_is_not_made_again() -> None:
    conversation = talk(user("one"), calls("a"), result("a"), user("two"))
    before = units(conversation)
    conversation.apply(conversation.prepare([Rewound(to=3)]))
    assert all(old is new for old, new in zip(before, units(conversation), strict=False))


def test_equal_parts_of_one_message_stay_apart_when_something_behind_them_is_undone() -> None:
    conversation = talk(user("one", thought("hm"), "one"), user("two"))
    before = units(conversation)
    conversation.apply(conversation.prepare([Rewound(to=1)]))
    assert units(conversation) == before[:-1]
    assert [unit.part for unit in before[:-1] if not isinstance(unit, Summary)] == [0, 2]


# --- the write boundary -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "entry",
    [Entry(Speaker.AI, ()), Entry("oracle", (Text("x"),)), Entry(Speaker.AI, ("text",))],  # type: ignore[arg-type]
)
def test_what_means_nothing_is_refused_without_a_trace(entry: Entry) -> None:
    conversation = talk(user("hi"))
    before = list(conversation.log)
    with pytest.raises(InvalidEntry):
        conversation.record(entry)
    assert conversation.log == before
    assert conversation.record(calls("a")).calls[0].ordinal == 0


@pytest.mark.parametrize(
    "entry",
    [
        Entry(Speaker.AI, ()),
        Entry(Speaker.TOOL, ()),
        Entry("oracle", (Text("x"),)),  # type: ignore[arg-type]
        Entry(Speaker.AI, ("text",)),  # type: ignore[arg-type]
        Entry(Speaker.TOOL, (*result("a").blocks, "text")),  # type: ignore[arg-type]
        Entry(Speaker.HUMAN, ("text",)),  # type: ignore[arg-type]
    ],
)
@pytest.mark.parametrize("portion", [1, 128])
def test_of_a_transcript_in_which_something_means_nothing_nothing_is_taken(
    entry: Entry, portion: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("legato.transcript.conversation._PORTION", portion)
    conversation = talk(user("hi"))
    before = list(conversation.log)
    with pytest.raises(InvalidEntry):
        conversation.take([calls("a"), entry])
    assert conversation.log == before
    assert conversation.record(calls("a")).calls[0].ordinal == 0


def test_a_speaker_in_a_word_is_that_speaker() -> None:
    taken, recorded = talk(), talk(user("hi"))
    taken.take([Entry("human", (Text("hi"),))])  # type: ignore[arg-type]
    assert taken.log == recorded.log


def test_preparing_changes_nothing_that_can_be_seen() -> None:
    conversation = talk(calls("a"))
    first = conversation.prepare([calls("a"), result("a")])
    second = conversation.prepare([calls("a"), result("a")])
    assert first == second
    assert len(conversation.log) == 1
    conversation.apply(second)
    assert conversation.ledger == Conversation(conversation.log).ledger


def test_preparing_changes_nothing_after_an_undo_either() -> None:
    conversation = talk(user("go"), Opened(incarnation=1), calls("a"), Rewound(to=2))
    first = conversation.prepare([calls("a"), result("a")])
    assert conversation.prepare([calls("a"), result("a")]) == first


def test_a_speaker_may_be_given_as_plain_text() -> None:
    assert talk(Entry("human", (Text("hi"),))).entries == [user("hi")]  # type: ignore[arg-type]


def test_recorded_values_are_safe_and_the_callers_own_stay_his() -> None:
    arguments = {"n": float("nan"), "s": "\ud800"}
    entry = talk(ai(ToolCall("x\0", arguments, "i\ud800"), HostedTool("h", arguments))).entries[0]
    assert entry.blocks[0].arguments == {"n": "NaN", "s": "\ufffd"}  # type: ignore[union-attr]
    assert arguments["s"] == "\ud800"


def test_results_can_be_given_by_call_by_our_id_and_by_the_providers() -> None:
    conversation = Conversation()
    entry = conversation.record(calls("call_a", "call_b", "call_c", "call_d"))
    conversation.result(entry.calls[0], 1)
    conversation.result("hist_tool_b", ValueError("bad"))
    conversation.result("call_c", error="worse")
    conversation.result("toolu_d")
    assert [(kind, outcome) for _, kind, outcome in completions(conversation)] == [
        ("success", "1"),
        ("error", "ValueError: bad"),
        ("error", "worse"),
        ("success", ""),
    ]


@pytest.mark.parametrize("name", ["nonsense", "", "hist_tool_zzz"])
def test_a_result_for_a_call_that_was_never_made_is_refused(name: str) -> None:
    with pytest.raises(UnknownCall, match="no call"):
        talk(calls("a")).result(name, "x")


def test_a_copy_goes_its_own_way() -> None:
    conversation = talk(user("hi"))
    other = conversation.copy()
    other.human("more")
    assert (len(conversation), len(other)) == (1, 2)


# --- units ------------------------------------------------------------------------------------------------------------

DONE = Completion(CallId("a"), CompletionKind.SUCCESS, "x")


@pytest.mark.req("REQ-915-006", "REQ-915-007", "REQ-915-040")
@pytest.mark.parametrize(
    ("ids", "done"),
    [
        (["a"], []),
        ([], ["a"]),
        (["a"], ["b"]),
        (["a", "b"], ["b", "a"]),
        (["a"], ["a", "a"]),
        (["a", "a"], ["a", "a"]),
        (["a", "b"], ["a"]),
    ],
)
@pytest.mark.parametrize("text", ["found", ""], ids=["simple", "with something to decide"])
def test_a_unit_that_is_unpaired_doubled_or_out_of_order_cannot_be_made(
    text: str, ids: list[str], done: list[str]
) -> None:
    with pytest.raises(RenderError) as caught:
        Exchange(
            7,
            tuple(ToolCall("read", id=CallId(name)) for name in ids),
            tuple(Completion(CallId(name), CompletionKind.SUCCESS, text) for name in done),
        )
    assert caught.value.facts == {"layer": "transcript", "calls": ids, "results": done}


# --- plain exchanges --------------------------------------------------------------------------------------------------

SIGNED = ToolCall("read", {}, "a", native={"thoughtSignature": "c2ln"})


@pytest.mark.parametrize(
    "news",
    [
        [ai("I look", call("a"), call("b")), result("a"), result("b", error="no such file")],
        [calls("a"), result("a", {"lines": 3})],
        [calls("a")],
        [calls("a"), user("so?"), result("a"), result("a")],
        [calls("a"), calls("a"), result("a")],
        [result("lost", name="read")],
        [ai("done")],
        [ai("half an ans", ending=Ending.CUT)],
    ],
    ids=["text and calls", "a value", "open", "late and twice", "an id again", "without its call", "text alone", "cut"],
)
def test_text_then_calls_with_a_text_for_each_is_simple_and_holds_these_texts(news: list[Entry]) -> None:
    exchanges = [unit for unit in units(talk(*news)) if isinstance(unit, Exchange)]
    assert exchanges
    for unit in exchanges:
        assert unit.outputs == tuple(map(completion_text, unit.completions))


@pytest.mark.parametrize(
    "news",
    [
        [ai(call("a"), "and then"), result("a")],
        [ai(thought(), "done")],
        [ai(Text("done", native={"id": "m"}))],
        [ai(HostedTool("web_search", {}, "found"))],
        [ai(SIGNED), result("a")],
        [ai(ToolCall("read", {}, "a", raw="[1]")), result("a")],
        [calls("a"), result("a", "seen", media=(PICTURE,))],
        [calls("a"), result("a", " ")],
        [result("lost", "seen", name="read", media=(PICTURE,))],
    ],
    ids=[
        "text behind a call",
        "thinking",
        "native text",
        "a hosted tool",
        "a signed call",
        "raw arguments",
        "media",
        "a blank result",
        "media without a call",
    ],
)
def test_an_exchange_about_which_something_must_be_decided_is_not_plain(news: list[Entry]) -> None:
    assert [unit.outputs for unit in units(talk(*news)) if isinstance(unit, Exchange)] == [None]


# --- sealed units -----------------------------------------------------------------------------------------------------


def test_a_unit_is_made_once_and_again_only_if_news_touches_it() -> None:
    conversation = talk(user("hi"), calls("a"), user("on"), calls("b"))
    before = units(conversation)
    conversation.record(result("b"))
    after = units(conversation)
    assert [old is new for old, new in zip(before, after, strict=True)] == [True, True, True, False]


def test_starting_and_reopening_change_the_reason_of_open_calls_only() -> None:
    conversation = talk(Opened(incarnation=1), calls("a"), calls("b"))
    units(conversation)
    conversation.apply([Started(call=CallId("hist_tool_a"))])
    assert [outcome for _, _, outcome in completions(conversation)] == ["in-flight", "not-started"]
    conversation.apply([Opened(incarnation=2)])
    assert [outcome for _, _, outcome in completions(conversation)] == ["interrupted", "not-started"]


def test_recorded_records_are_named_like_entries() -> None:
    conversation = talk(Recorded(entry=calls("a"), at=5.0))
    record = conversation.log[0]
    assert isinstance(record, Recorded)
    assert record.at == 5.0
    assert record.entry.calls[0].id == "hist_tool_a"


def test_a_call_behind_words_in_one_entry_of_a_person_is_not_lost() -> None:
    conversation = talk(user(Thinking("hm"), Text("words"), call("a")), result("a", "A"))
    assert completions(conversation) == [("hist_tool_a", "success", "A")]


def test_results_without_calls_around_a_call_in_one_entry_keep_their_order() -> None:
    conversation = talk(ai(response("x", "X"), call("a"), response("y", "Y", name="grep")))
    assert [outcome for _, _, outcome in completions(conversation)] == ["X", "no-result-recorded", "Y"]


@pytest.mark.req("REQ-915-046")
def test_names_that_were_prepared_and_never_applied_are_free_for_a_transcript_that_is_taken() -> None:
    conversation = Conversation()
    conversation.prepare([calls("a")])
    conversation.take([calls("a")])
    assert list(conversation.ledger.calls) == ["hist_tool_a"]
