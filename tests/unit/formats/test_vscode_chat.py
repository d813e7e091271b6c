"""Chat sessions of VS Code: what the model was given, rounds and their results, and the log of changes."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.formats import Level, detect, lint_document, read
from legato.formats.document import CompactionMark
from legato.model import Ending, Media, Speaker, Text, Thinking, ToolCall, ToolResponse, Usage
from session_files import VSCODE_CHAT, VSCODE_REQUEST, jsonl, whole

SESSION: dict[str, Any] = json.loads(VSCODE_CHAT)
KEPT: dict[str, Any] = VSCODE_REQUEST["result"]["metadata"]


def session(*requests: dict[str, Any]) -> bytes:
    return whole({**SESSION, "requests": list(requests)})


def request(kept: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    changed = deepcopy(VSCODE_REQUEST) | fields
    changed["result"]["metadata"] |= kept or {}
    return changed


# --- the log of changes -----------------------------------------------------------------------------------------------


def as_log(value: dict[str, Any]) -> list[dict[str, Any]]:
    """The session as it comes to be: empty, then a request, its answer piece by piece, and a part that is taken back."""
    log: list[dict[str, Any]] = [{"kind": 0, "v": {**value, "requests": [], "customTitle": "Old"}}]
    for index, one in enumerate(value["requests"]):
        log.append({"kind": 2, "k": ["requests"], "v": [{**one, "response": [], "result": None}]})
        response = [{"kind": "undoStop"}, *one["response"]]
        log.append({"kind": 2, "k": ["requests", index, "response"], "v": response[:1]})
        log.append({"kind": 2, "k": ["requests", index, "response"], "v": response[1:], "i": 0})
        log.append({"kind": 1, "k": ["requests", index, "result"], "v": one["result"]})
    return [*log, {"kind": 3, "k": ["customTitle"]}]


def test_a_log_reads_as_the_session_that_it_comes_to() -> None:
    asked_again = request(requestId="request_2", message={"text": "And now?"}, isCanceled=True)
    data = session(VSCODE_REQUEST, asked_again)
    as_file, as_lines = read(data), read(jsonl(*as_log(json.loads(data))))
    assert as_lines.format == detect(data).format == "vscode-chat"
    assert (as_lines.entries, as_lines.places, as_lines.meta) == (as_file.entries, as_file.places, as_file.meta)
    assert (as_lines.times, as_lines.notes, as_file.notes) == (as_file.times, [], [])


def test_a_log_of_one_line_is_one_too() -> None:
    assert read(jsonl({"kind": 0, "v": SESSION})).entries == read(VSCODE_CHAT).entries
    assert read(jsonl(SESSION)).entries == read(VSCODE_CHAT).entries


PATHS = st.lists(st.sampled_from(["requests", "response", "result", 0, 1, 7, -1, 1.5, None, True, "other"]), max_size=4)
CHANGES = st.fixed_dictionaries(
    {"kind": st.sampled_from([0, 1, 2, 3, 4, None]), "k": PATHS},
    optional={"v": st.sampled_from([[], [1], {}, "x", None, [VSCODE_REQUEST]]), "i": st.integers(-2, 9)},
)


@given(changes=st.lists(CHANGES, max_size=6))
def test_a_log_that_is_wrong_is_read_all_the_same(changes: list[dict[str, Any]]) -> None:
    document = read(jsonl({"kind": 0, "v": SESSION}, *changes), format="vscode-chat")
    lint_document(document)
    assert [type(note.message) for note in document.notes] == [str] * len(document.notes)


def test_changes_that_fit_nowhere_are_counted() -> None:
    lost = {"kind": 1, "k": ["requests", 9, "result"], "v": {}}
    document = read(jsonl({"kind": 0, "v": SESSION}, lost, lost))
    assert document.entries == read(VSCODE_CHAT).entries
    [note] = document.notes
    assert (note.place, note.message) == (
        "line 2",
        "a change that fits nowhere in the session was left out (2 times, here first)",
    )


@pytest.mark.parametrize(
    "odd",
    [
        {"kind": 0, "v": {"metadata": {}}},
        {"kind": True, "k": ["requests"], "v": []},
        {"kind": 1, "k": ["requests", False], "v": {}},
        {"kind": 2, "k": ["requests", 0, "contentReferences"], "v": {"metadata": {}}},
    ],
)
def test_a_change_that_is_none_leaves_what_was_said_before(odd: dict[str, Any]) -> None:
    document = read(jsonl({"kind": 0, "v": SESSION}, odd))
    assert document.entries == read(VSCODE_CHAT).entries
    assert [note.place for note in document.notes] == ["line 2"]


def test_only_a_whole_number_cuts_a_list() -> None:
    more = {"kind": 2, "k": ["requests"], "v": [{"message": {"text": "And now?"}}], "i": False}
    document = read(jsonl({"kind": 0, "v": SESSION}, more))
    assert [entry.text for entry in document.entries[-1:]] == ["And now?"]
    assert document.entries[:-1] == read(VSCODE_CHAT).entries


# --- what was asked ---------------------------------------------------------------------------------------------------


def test_what_was_attached_stands_behind_what_was_typed_and_the_surroundings_stay_away() -> None:
    attached = "<attachments>\nthe file\n</attachments>"
    surroundings = "<context>\nThe date.\n</context>\n<reminderInstructions>\nUse tools.\n</reminderInstructions>"
    asked = "<userRequest>\nList the files\n</userRequest>"
    rendered = [
        {"type": 1, "text": f"{attached}\n{surroundings}\n{asked}\n"},
        {"type": 0, "imageUrl": {"url": "data:image/png;base64,iVBO"}},
        {"type": 3, "cacheType": "ephemeral"},
    ]
    document = read(session(request({"renderedUserMessage": rendered})))
    typed, image, file = document.entries[0].blocks
    assert (typed, file) == (Text("List the files"), Text(attached))
    assert isinstance(image, Media)
    assert (image.mime, image.data) == ("image/png", "iVBO")
    assert document.notes == []


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("List the files", []),
        ("<context>\nThe date.\n</context>", []),
        ("<context>\nnever closed", ["<context>\nnever closed"]),
        ("<context>1</context>kept<context>2</context>", ["kept"]),
    ],
)
def test_only_what_is_not_known_to_be_surroundings_is_kept(told: str, kept: list[str]) -> None:
    document = read(session(request({"renderedUserMessage": [{"type": 1, "text": told}]})))
    texts = [block.text for block in document.entries[0].blocks if isinstance(block, Text)]
    assert texts == ["List the files", *kept]


@pytest.mark.parametrize("value", [{"0": 137, "1": 80}, [137, 80], {"$base64": "iVA="}, "iVA="])
def test_an_attached_image_is_read_however_its_bytes_are_kept(value: Any) -> None:
    attached = {"kind": "image", "name": "a.png", "value": value, "mimeType": "image/png"}
    document = read(session(request(variableData={"variables": [attached]})))
    [image] = [block for block in document.entries[0].blocks if isinstance(block, Media)]
    assert (image.data, image.name) == ("iVA=", "a.png")


def test_an_attached_file_whose_words_are_nowhere_is_named() -> None:
    attached = {"kind": "file", "name": "file:index.ts", "value": {"uri": {"path": "/w/index.ts"}}}
    [note] = read(session(request(variableData={"variables": [attached]}))).notes
    assert note.message == "'file:index.ts' was attached; what was in it is not in the file"


# --- what was answered ------------------------------------------------------------------------------------------------


def test_results_are_told_as_the_model_read_them() -> None:
    words = [{"type": 2, "text": "Edited:"}, {"type": 2, "text": "a.ts", "lineBreakBefore": True}]
    tree = {"node": {"type": 1, "children": [{"type": 2, "text": "", "lineBreakBefore": True}, *words]}}
    content = [{"$mid": 23, "value": tree}, {"mimeType": "image/png", "data": {"$base64": "iVA="}}, {"what": 1}]
    document = read(session(request({"toolCallResults": {"call_1__vscode-1": {"content": content}}})))
    [call] = document.conversation().ledger.calls.values()
    assert call.response is not None
    assert (call.response.result, [item.data for item in call.response.media]) == ("Edited:\na.ts", ["iVA="])
    [note] = document.notes
    assert note.is_unknown


def test_a_call_whose_id_is_null_has_the_result_that_javascript_keeps_for_it() -> None:
    asked = {"response": "", "toolCalls": [{"id": None, "name": "read", "arguments": "{}"}]}
    kept = {"toolCallRounds": [asked], "toolCallResults": {"null": {"content": [{"value": "hello"}]}}}
    [call] = read(session(request(kept))).conversation().ledger.calls.values()
    assert call.response is not None
    assert call.response.result == "hello"


def test_a_result_whose_call_is_not_there_is_kept() -> None:
    kept = {"toolCallRounds": [], "toolCallResults": {"call_9": {"content": [{"value": "hello"}]}}}
    blocks = [block for entry in read(session(request(kept))).entries for block in entry.blocks]
    [result] = [block for block in blocks if isinstance(block, ToolResponse)]
    assert (result.wire_id, result.result) == ("call_9", "hello")


def test_a_call_that_was_cancelled_is_open_and_what_was_said_behind_it_is_kept() -> None:
    rounds = [{**KEPT["toolCallRounds"][0], "thinking": {"id": "t", "text": ["Which ", "ones?"]}}]
    cut = request({"toolCallRounds": rounds, "toolCallResults": {}}, isCanceled=True)
    document = read(session(cut))
    assert document.entries[1].blocks[0] == Thinking("Which ones?")
    assert (document.entries[-1].text, document.entries[-1].ending) == ("Two files.", Ending.CANCELLED)
    [call] = document.conversation().ledger.calls.values()
    assert (call.wire_id, call.state) == ("call_1__vscode-1", "pending")
    [finding] = lint_document(document)
    assert (finding.rule, finding.level) == ("session/open-call", Level.RISK)
    assert finding.repair.endswith("without it, its agent leaves the call out when it goes on")


def test_what_a_hook_said_stands_behind_the_results_of_its_round() -> None:
    rounds = [{**KEPT["toolCallRounds"][0], "hookContext": "Mind the tests."}, KEPT["toolCallRounds"][1]]
    document = read(session(request({"toolCallRounds": rounds})))
    assert [(entry.speaker, entry.text) for entry in document.entries[2:]] == [
        (Speaker.TOOL, ""),
        (Speaker.HUMAN, "Mind the tests."),
        (Speaker.AI, "Two files."),
    ]


def test_tokens_times_models_and_failures_are_read() -> None:
    kept = {"promptTokens": 70, "outputTokens": 7, "resolvedModel": "claude-sonnet-4"}
    failed = request(kept)
    failed["result"]["errorDetails"] = {"message": "out of quota"}
    document = read(session(failed))
    assert document.model == "claude-sonnet-4"
    assert list(document.usages.values()) == [Usage(input=70, output=7)]
    assert document.times[0] == pytest.approx(1_759_845_101.282)
    assert [note.message for note in document.notes] == ["the answer failed: out of quota"]


def test_a_summary_is_a_compaction_of_all_before_it() -> None:
    rounds = [{**KEPT["toolCallRounds"][0], "summary": "They listed files."}, KEPT["toolCallRounds"][1]]
    document = read(session(request({"toolCallRounds": rounds})))
    place = "requests[0].result.metadata.toolCallRounds[0]"
    assert document.compactions == [CompactionMark(0, 2, "They listed files.", place)]


def test_of_an_agent_that_keeps_no_rounds_what_was_shown_is_read_and_the_rest_is_named() -> None:
    shown = [
        {"kind": "thinking", "value": "Hm."},
        {"value": "See "},
        {"kind": "inlineReference", "inlineReference": {"path": "/w/index.ts"}},
        {"kind": "markdownContent", "content": {"value": " there."}},
        {"kind": "toolInvocationSerialized", "toolId": "search"},
        {"kind": "undoStop"},
        {"kind": "somethingNew"},
    ]
    bare = {"message": {"text": "Where?"}, "response": shown, "modelId": "copilot/gpt-4.1"}
    document = read(session(bare))
    assert [entry.speaker for entry in document.entries] == [Speaker.HUMAN, Speaker.AI]
    assert document.entries[1].blocks == (Thinking("Hm."), Text("See `index.ts` there."))
    assert [(note.place, note.is_unknown) for note in document.notes] == [
        ("requests[0].response[4]", True),
        ("requests[0].response[6]", True),
    ]
    assert not any(isinstance(block, ToolCall) for entry in document.entries for block in entry.blocks)


@pytest.mark.parametrize("lost", [None, 5, {}, {"call_1__vscode-1": None}, {"call_1__vscode-1": {"content": None}}])
def test_results_that_were_shown_and_not_kept_are_named(lost: Any) -> None:
    chat = json.loads(VSCODE_CHAT)
    (asked,) = chat["requests"]
    asked["response"][2]["resultDetails"] = {"input": "{}", "output": [{"type": "embed", "value": "a.txt"}]}
    assert read(whole(chat)).notes == []
    asked["result"]["metadata"]["toolCallResults"] = lost
    assert [str(note) for note in read(whole(chat)).notes] == [
        "requests[0].response: results that were shown and that the agent did not keep are not carried: 1"
    ]
