"""Claude Code sessions: the live branch of a tree, answers over several lines, and what is no part of the conversation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from legato.formats import lint_document, mend, read, read_all
from legato.formats.tree import Node, find_branches
from legato.model import (
    CLOSURE_TEXTS,
    ClosureReason,
    Ending,
    Entry,
    Media,
    MediaKind,
    Origin,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
)
from session_files import CLAUDE, answered, claude, gave, jsonl, said, text, use, whole

ORIGIN = Origin("anthropic", "anthropic", "https://api.anthropic.com", "", "claude-sonnet-4-5", "claude-sonnet-4-5")


def words(data: bytes) -> list[str]:
    return [entry.text for entry in read(data).entries]


def test_the_lines_of_one_answer_share_its_key_and_keep_their_signatures() -> None:
    document = read(CLAUDE)
    assert document.entries == [
        Entry(Speaker.HUMAN, (Text("List the files"),)),
        Entry(Speaker.AI, (Thinking("I look", native={"signature": "c2ln"}),), ORIGIN, "msg_1"),
        Entry(Speaker.AI, (Text("Looking."),), ORIGIN, "msg_1"),
        Entry(Speaker.AI, (ToolCall("Bash", {"command": "ls"}, "toolu_1"),), ORIGIN, "msg_1", Ending.CALLS),
        Entry(
            Speaker.TOOL,
            (ToolResponse(wire_id="toolu_1", tool_name="Bash", result="a.txt\nb.txt", is_complete=True),),
        ),
        Entry(Speaker.AI, (Text("Two files."),), ORIGIN, "msg_2", Ending.DONE),
    ]
    assert document.places == [f"line {number}" for number in range(1, 7)]
    assert document.route == "anthropic/claude-sonnet-4-5"
    assert document.meta == {"session": "s1", "cwd": "/work", "version": "2.0.0", "branch": "main"}
    assert [type(unit).__name__ for unit in _units(CLAUDE)] == ["Said", "Exchange", "Exchange"]


@pytest.mark.parametrize("lost", [None, 5, {}, [None], [{}], [{"type": "text"}]])
@pytest.mark.parametrize(
    ("kept", "told"),
    [
        ({"stdout": "a.txt", "stderr": "no b", "interrupted": False}, "a.txt\nno b"),
        ("Error: a.txt", "Error: a.txt"),
        ([{"type": "text", "text": "a.txt"}], "a.txt"),
        ({"file": {"content": "a.txt"}}, '{"file":{"content":"a.txt"}}'),
    ],
)
def test_a_result_that_cannot_be_read_is_what_the_program_kept_of_it(lost: Any, kept: Any, told: str) -> None:
    *asked, result, said = [json.loads(line) for line in CLAUDE.splitlines()]
    result["message"]["content"][0]["content"] = lost
    result["toolUseResult"] = kept
    document = read(jsonl(*asked, result, said))
    assert [call.response and call.response.result for call in document.conversation().ledger.in_order] == [told]
    assert [str(note) for note in document.notes] == [
        "line 5: a result cannot be read; what the program itself kept of it stands in its place"
    ]


@pytest.mark.parametrize("content", ["", [], "(no output)", [{"type": "tool_reference", "tool_name": "Bash"}]])
def test_a_result_that_says_nothing_is_not_what_the_program_kept_of_it(content: Any) -> None:
    *asked, result, said = [json.loads(line) for line in CLAUDE.splitlines()]
    result["message"]["content"][0]["content"] = content
    document = read(jsonl(*asked, result, said))
    (call,) = document.conversation().ledger.calls.values()
    assert call.response is not None
    assert (call.response.result == "a.txt\nb.txt", document.notes) == (False, [])


def _units(data: bytes) -> list[object]:
    talk = read(data).conversation()
    view = talk.view()
    view.refresh()
    return [slot.make(talk.ledger) for slot in view.slots]


def test_the_last_message_says_which_branch_is_live() -> None:
    data = jsonl(
        said("u1", None, "first"),
        answered("a1", "u1", "m1", text("an answer nobody wanted")),
        said("u2", "u1", "asked again"),
        answered("a2", "u2", "m2", text("the answer that stands")),
    )
    assert words(data) == ["first", "asked again", "the answer that stands"]
    assert [str(note) for note in read(data).notes] == [
        "line 2: 1 messages are on branches that were left behind and are not carried, here first"
    ]


def test_a_child_may_be_written_before_its_parent() -> None:
    data = jsonl(
        said("u1", None, "go"),
        answered("a1", "u1", "m1", text("I will.")),
        said("r1", "x1", [gave("t1", "the true result")]),
        answered("a2", "a1", "m1", use("t1")),
        {"type": "attachment", "uuid": "x1", "parentUuid": "a2", "sessionId": "s1", "attachment": {"type": "data"}},
    )
    for leaf in ((), ({"type": "last-prompt", "leafUuid": "r1", "sessionId": "s1"},)):
        document = read(data + jsonl(*leaf))
        assert document.places == ["line 1", "line 2", "line 4", "line 3"]
        assert [call.state for call in document.conversation().ledger.calls.values()] == ["complete"]
        assert not any("branches" in note.message for note in document.notes)


def leaf_is(uuid: str) -> dict[str, str]:
    return {"type": "last-prompt", "lastPrompt": "x", "leafUuid": uuid, "sessionId": "s1"}


FORKED = (
    said("u1", None, "first"),
    answered("a1", "u1", "m1", text("the answer that stands")),
    said("u2", "u1", "asked again"),
    answered("a2", "u2", "m2", text("an answer that was left")),
)


def test_the_file_says_itself_which_leaf_is_the_last() -> None:
    assert words(jsonl(*FORKED, leaf_is("a1"))) == ["first", "the answer that stands"]
    assert words(jsonl(*FORKED, leaf_is("a1"), leaf_is("a2")))[1:] == ["asked again", "an answer that was left"]


def test_what_the_file_says_of_its_leaf_is_old_where_more_was_said_since() -> None:
    more = said("u3", "a2", "and on")
    assert words(jsonl(*FORKED, leaf_is("a1"), more))[-1] == "and on"


def test_a_leaf_on_which_more_hangs_is_followed_to_its_end() -> None:
    assert words(jsonl(*FORKED, leaf_is("u2")))[-1] == "an answer that was left"
    shown = {"type": "attachment", "uuid": "x1", "parentUuid": "a1", "attachment": {"type": "shown"}}
    assert words(jsonl(*FORKED, shown, leaf_is("x1")))[-1] == "the answer that stands"
    assert words(jsonl(*FORKED, leaf_is("nowhere")))[-1] == "an answer that was left"


def test_a_file_that_only_names_a_leaf_says_nothing() -> None:
    title = {"type": "summary", "summary": "A talk", "leafUuid": "u1", "uuid": "s1", "parentUuid": None}
    assert words(jsonl(title, {**leaf_is("s1"), "type": "last-prompt"})) == []


def test_an_answer_or_a_result_that_names_no_parent_goes_on_from_what_stands_before_it() -> None:
    data = jsonl(
        said("u1", None, "one"),
        answered("a1", "u1", "m1", use("t1")),
        said("r1", None, [gave("t1")]),
        answered("a2", None, "m2", text("two")),
    )
    assert read(data).places == ["line 1", "line 2", "line 3", "line 4"]


def test_asking_the_first_question_again_begins_a_new_branch() -> None:
    data = jsonl(
        said("u1", None, "first"), answered("a1", "u1", "m1", text("one")), said("u2", None, "better"),
        answered("a2", "u2", "m2", text("two")),
    )  # fmt: skip
    assert words(data) == ["better", "two"]


def test_results_of_parallel_calls_belong_to_the_branch_though_they_hang_beside_it() -> None:
    data = jsonl(
        said("u1", None, "both"),
        answered("a1", "u1", "m1", use("t1", command="one")),
        answered("a2", "a1", "m1", use("t2", command="two")),
        said("r1", "a1", [gave("t1", "1")]),
        said("r2", "a2", [gave("t2", "2")]),
        answered("a3", "r2", "m2", text("done")),
    )
    document = read(data)
    assert document.places == [f"line {number}" for number in range(1, 7)]
    assert [call.state for call in document.conversation().ledger.calls.values()] == ["complete", "complete"]


def test_lines_of_an_answer_belong_to_the_branch_when_a_result_is_the_leaf() -> None:
    data = jsonl(
        said("u1", None, "both"),
        answered("a1", "u1", "m1", use("t1")),
        answered("a2", "a1", "m1", use("t2")),
        said("r2", "a2", [gave("t2")]),
        said("r1", "a1", [gave("t1")]),
    )
    assert read(data).places == ["line 1", "line 2", "line 3", "line 4", "line 5"]


@pytest.mark.parametrize(
    "killed",
    [
        [answered("a2", "a1", "m1", use("toolu_a"))],
        [
            answered("a2", "a1", "m1", use("toolu_a")),
            answered("a3", "a2", "m1", use("toolu_b")),
            said("r1", "a2", [gave("toolu_a")]),
        ],
    ],
    ids=["in its only tool", "when one of two tools was done"],
)
def test_a_call_that_claude_code_left_behind_when_it_went_on_is_no_part_of_the_conversation(
    killed: list[dict[str, Any]],
) -> None:
    # As Claude Code 2.1.197 writes it: the new prompt hangs on the last record that it kept.
    kept = "a1" if len(killed) == 1 else "r1"
    begun = [said("u1", None, "Go."), answered("a1", "u1", "m1", text("I look.")), *killed]
    open_calls = [found for found in lint_document(read(jsonl(*begun))) if found.rule == "session/open-call"]
    went_on = jsonl(*begun, said("u2", kept, "Go on."), answered("a4", "u2", "m2", text("Done.")))
    assert (len(open_calls), [found.rule for found in lint_document(read(went_on))]) == (1, ["file/not-carried"])
    assert mend(read(went_on)).data == went_on


def test_a_call_whose_result_was_lost_stays_open_though_the_conversation_goes_on() -> None:
    data = jsonl(
        said("u1", None, "Go."),
        answered("a1", "u1", "m1", use("toolu_a")),
        answered("a2", "a1", "m1", use("toolu_b")),
        said("r1", "a1", [gave("toolu_a")]),
        answered("a3", "r2", "m2", text("Done.")),
        said("u2", "a3", "Thanks."),
    )
    found = lint_document(read(data))
    assert [(one.rule, one.place) for one in found if one.level != "note"] == [("session/open-call", "line 3")]


def test_a_file_whose_records_have_no_parents_is_read_in_order() -> None:
    records = [said("u1", None, "one"), answered("a1", None, "m1", text("two")), said("u2", None, "three")]
    assert words(jsonl(*records)) == ["one", "two", "three"]
    bare = [{"type": r["type"], "message": r["message"], "timestamp": "t"} for r in records]
    assert words(jsonl(*bare)) == ["one", "two", "three"]


def test_children_of_a_lost_record_continue_what_stands_before_them() -> None:
    data = jsonl(said("u1", None, "one"), answered("a1", "u1", "m", text("two")), said("u3", "lost", "three"))
    assert words(data) == ["one", "two", "three"]


def test_what_lies_before_a_compaction_is_kept_and_the_compaction_is_known() -> None:
    data = jsonl(
        said("u1", None, "long ago"),
        answered("a1", "u1", "m1", text("an old answer")),
        claude("system", "b1", None, {}, subtype="compact_boundary", logicalParentUuid="a1", content="Compacted"),
        said("u2", "b1", "This session continues. Summary: it was long.", isCompactSummary=True),
        answered("a2", "u2", "m2", text("a new answer")),
    )
    document = read(data)
    assert [entry.text for entry in document.entries] == [
        "long ago", "an old answer", "This session continues. Summary: it was long.", "a new answer",
    ]  # fmt: skip
    assert [(item.first, item.last, item.place) for item in document.compactions] == [(0, 2, "line 4")]
    whole_talk, short_talk = document.conversation(), document.conversation(compacted=True)
    assert [len(talk.entries) for talk in (whole_talk, short_talk)] == [4, 4]
    views = [talk.view() for talk in (whole_talk, short_talk)]
    for view in views:
        view.refresh()
    assert [len(view.slots) for view in views] == [4, 2]


def test_a_summary_at_the_very_beginning_is_what_was_said() -> None:
    data = jsonl(said("u1", None, "Summary of before", isCompactSummary=True), answered("a", "u1", "m", text("on")))
    assert words(data) == ["Summary of before", "on"]
    assert read(data).compactions == []


def test_side_chains_are_conversations_of_their_own() -> None:
    data = jsonl(
        said("u1", None, "main"),
        answered("a1", "u1", "m1", use("t1", "Task")),
        said("s1", None, "sub task", isSidechain=True),
        {**answered("s2", "s1", "m9", text("sub answer")), "isSidechain": True},
        said("r1", "a1", [gave("t1", "sub answer")]),
    )
    main, side = read_all(data)
    assert [entry.text for entry in main.entries] == ["main", "", ""]
    assert [entry.text for entry in side.entries] == ["sub task", "sub answer"]
    assert main.places == ["line 1", "line 2", "line 5"]
    assert side.places == ["line 3", "line 4"]
    assert read(data).entries == main.entries
    assert any("side chains" in note.message for note in main.notes)


def test_a_file_of_a_subagent_is_all_side_chain_and_is_read() -> None:
    records = [
        {**said("s1", None, "sub task"), "isSidechain": True, "agentId": "x"},
        {**answered("s2", "s1", "m", text("sub answer")), "isSidechain": True, "agentId": "x"},
    ]
    assert words(jsonl(*records)) == ["sub task", "sub answer"]


def test_turns_that_no_model_said_are_left_out_with_a_note() -> None:
    data = jsonl(
        said("u1", None, "hi"),
        answered("a1", "u1", "m1", text("API Error: overloaded"), model="<synthetic>"),
        {**answered("a2", "a1", "m2", text("API Error: again")), "isApiErrorMessage": True},
        said("u2", "a2", "hello?"),
    )
    assert words(data) == ["hi", "hello?"]
    assert [note.place for note in read(data).notes] == ["line 2", "line 3"]


def test_an_interruption_cancels_the_answer_before_it() -> None:
    data = jsonl(
        said("u1", None, "hi"),
        answered("a1", "u1", "m1", text("I was about")),
        said("u2", "a1", [text("[Request interrupted by user]")]),
    )
    assert [entry.ending for entry in read(data).entries] == [None, Ending.CANCELLED, None]


def test_a_rejected_call_keeps_the_result_that_was_recorded() -> None:
    rejection = "The user doesn't want to proceed with this tool use."
    data = jsonl(
        said("u1", None, "hi"),
        answered("a1", "u1", "m1", use("t1")),
        said("u2", "a1", [gave("t1", rejection, is_error=True), text("[Request interrupted by user for tool use]")]),
    )
    document = read(data)
    assert document.entries[2:] == [
        Entry(Speaker.TOOL, (ToolResponse(wire_id="t1", tool_name="Bash", error=rejection, is_complete=True),)),
        Entry(Speaker.HUMAN, (Text("[Request interrupted by user for tool use]"),)),
    ]


def test_a_closure_of_ours_is_recognised() -> None:
    closed = CLOSURE_TEXTS[ClosureReason.MISSING_IN_IMPORT]
    data = jsonl(
        said("u1", None, "hi"),
        answered("a1", "u1", "m1", use("t1")),
        said("u2", "a1", [gave("t1", closed, is_error=True)]),
    )
    response = read(data).entries[2].blocks[0]
    assert isinstance(response, ToolResponse)
    assert (response.reason, response.synthetic) == (ClosureReason.MISSING_IN_IMPORT, True)


def test_media_and_typed_ahead_messages_are_read() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    data = jsonl(
        said("u1", None, [text("look"), image]),
        answered("a1", "u1", "m1", use("t1")),
        said("r1", "a1", [gave("t1", [text("shot"), image])]),
        {
            "type": "attachment",
            "uuid": "q1",
            "parentUuid": "r1",
            "sessionId": "s1",
            "attachment": {"type": "queued_command", "prompt": "and hurry"},
        },
    )
    document = read(data)
    medium = Media(MediaKind.IMAGE, "image/png", data="AAAA")
    assert document.entries[0].blocks == (Text("look"), medium)
    assert document.entries[2].blocks == (
        ToolResponse(wire_id="t1", tool_name="Bash", result="shot", is_complete=True, media=(medium,)),
    )
    assert document.entries[3] == Entry(Speaker.HUMAN, (Text("and hurry"),))


def test_what_is_not_understood_is_noted_and_what_is_the_programs_own_is_not() -> None:
    data = jsonl(
        said("u1", None, [text("hi"), {"type": "hologram"}]),
        {"type": "file-history-snapshot", "messageId": "x"},
        {"type": "novelty", "uuid": "n1", "parentUuid": "u1"},
        {"type": "novelty", "uuid": "n2", "parentUuid": "n1"},
        {"type": "summary", "summary": "A talk", "leafUuid": "u1"},
    )
    document = read(data)
    assert [str(note) for note in document.notes] == [
        "line 1: content[1] of type 'hologram' is not understood and was left out",
        "line 3: a record of type 'novelty' is not part of the conversation (2 times, here first)",
    ]
    assert document.meta["title"] == "A talk"


def test_the_json_form_has_places_in_its_list() -> None:
    records = [said("u1", None, "one"), answered("a1", "u1", "m1", text("two"))]
    document = read(whole({"loglines": records}))
    assert [entry.text for entry in document.entries] == ["one", "two"]
    assert document.places == ["loglines[0]", "loglines[1]"]


def test_records_that_stand_twice_count_once() -> None:
    records = [said("u1", None, "one"), answered("a1", "u1", "m1", text("two"))]
    document = read(jsonl(*records, *records))
    assert [entry.text for entry in document.entries] == ["one", "two"]
    assert "twice" in document.notes[0].message


def test_of_records_with_one_id_the_one_that_says_something_counts() -> None:
    good = [said("u1", None, "one"), answered("a1", "u1", "m1", text("two")), said("u2", "a1", "three")]
    empty = {**good[1], "message": {"role": "assistant", "content": []}}
    lost = {**answered("a1", "gone", "m1", text("a copy that hangs nowhere"))}
    for bad in (empty, {"type": "user", "uuid": "a1", "parentUuid": None, "sessionId": "s1"}, lost):
        for records in ((good[0], bad, *good[1:]), (*good, bad)):
            assert words(jsonl(*records)) == ["one", "two", "three"]


def test_parents_in_a_circle_end_the_walk() -> None:
    nodes = [
        Node(index, f"n{index}", f"n{(index + 1) % 3}", is_root=False, is_sidechain=False, is_said=True)
        for index in range(3)
    ]
    assert sorted(node.index for node in find_branches(nodes).live) == [0, 1, 2]


def test_a_chain_that_runs_against_the_file_keeps_what_hangs_on_it() -> None:
    data = jsonl(
        answered("a1", "u1", "m1", use("t1")),
        answered("a2", "a1", "m1", use("t2")),
        said("r1", "a1", [gave("t1")]),
        said("u1", None, "the question was written late"),
        said("r2", "a2", [gave("t2")]),
    )
    document = read(data)
    assert document.places[0] == "line 4"
    assert [call.state for call in document.conversation().ledger.calls.values()] == ["complete", "complete"]


# --- what is attached -------------------------------------------------------------------------------------------------


def attachment(own: str, parent: str, held: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "attachment", "uuid": own, "parentUuid": parent, "sessionId": "s1", "attachment": held, **more}


@pytest.mark.parametrize(
    ("held", "more", "shown"),
    [
        ({"type": "file"}, {"rendered": [{"content": "one"}, {"content": [text("two")]}]}, ["one", "two"]),
        (
            {"type": "file", "filename": "/a.py", "content": {"type": "text", "file": {"content": "x = 1"}}},
            {},
            ["<system-reminder>\nContents of /a.py:\nx = 1\n</system-reminder>"],
        ),
        (
            {"type": "edited_text_file", "filename": "/a.py", "snippet": "x = 2"},
            {},
            ["<system-reminder>\nThe file /a.py was changed:\nx = 2\n</system-reminder>"],
        ),
        (
            {"type": "nested_memory", "path": "/CLAUDE.md", "content": {"content": "Be brief."}},
            {},
            ["<system-reminder>\nContents of /CLAUDE.md:\nBe brief.\n</system-reminder>"],
        ),
        (
            {"type": "hook_additional_context", "content": ["It is late."]},
            {},
            ["<system-reminder>\nIt is late.\n</system-reminder>"],
        ),
        ({"type": "environment"}, {"rendered": [{"content": "Linux"}]}, []),
    ],
)
def test_what_the_model_was_shown_beside_a_message_is_carried(
    held: dict[str, Any], more: dict[str, Any], shown: list[str]
) -> None:
    document = read(
        jsonl(
            said("u1", None, "Look."), attachment("x1", "u1", held, **more), answered("a1", "x1", "ma1", text("I see."))
        )
    )

    person, model = document.entries
    assert [block.text for block in person.blocks if isinstance(block, Text)] == ["Look.", *shown]
    assert model.text == "I see."
    assert document.notes == []


def test_what_is_attached_never_comes_between_a_call_and_its_result() -> None:
    shown = attachment("x1", "a1", {"type": "file"}, rendered=[{"content": "a file"}])
    data = jsonl(
        said("u1", None, "Go."),
        answered("a1", "u1", "ma1", use("toolu_a")),
        shown,
        said("u2", "x1", [gave("toolu_a")]),
        answered("a2", "u2", "ma2", text("Done.")),
    )

    document = read(data)

    assert [entry.speaker for entry in document.entries] == [
        Speaker.HUMAN,
        Speaker.AI,
        Speaker.TOOL,
        Speaker.HUMAN,
        Speaker.AI,
    ]
    assert lint_document(document) == []
    assert mend(document).data == data


def test_what_is_attached_stays_where_it_is_in_a_file_that_is_mended() -> None:
    shown = attachment("x1", "u1", {"type": "file"}, rendered=[{"content": "a file"}])
    data = jsonl(
        said("u1", None, "Go."), shown, answered("a1", "x1", "ma1", use("toolu_a")), said("u2", "a1", "Never mind.")
    )

    mended = mend(read(data)).data.splitlines()

    assert mended[:3] == data.splitlines()[:3]
    assert [json.loads(line)["type"] for line in mended[3:]] == ["user", "user"]
