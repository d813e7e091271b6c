"""lint: what is wrong, where, what the provider would say, what repair would do."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from file_samples import (
    CLEAN_BODY,
    OPEN_BODY,
    ClaudeSession,
    anthropic_body,
    chat_body,
    legato,
    open_session,
    pi_session,
    save,
    use,
    used,
)
from legato.cli.commands import file_arguments
from legato.formats import read, write
from legato.formats.faults import KINDS
from legato.formats.targets import WIRE, find_target
from legato.model.codec import dump_log
from legato.wire.dialects import dialect_parts

from builders import ai, call, response, talk, user

EVERYONE = list(WIRE)


def found(path: Path, *options: str) -> list[dict[str, Any]]:
    result = legato("lint", "--format", "json", *options, path)
    return json.loads(result.stdout)["files"][0]["findings"]


def rules(path: Path, *options: str) -> list[tuple[str, str, str]]:
    return [(item["level"], item["rule"], item["place"]) for item in found(path, *options)]


# --- request bodies ---------------------------------------------------------------------------------------------------


def test_a_clean_body_has_no_findings_and_exit_status_zero(tmp_path: Path):
    result = legato("lint", save(tmp_path / "body.json", CLEAN_BODY))

    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "1 file: nothing found\n")


def test_a_broken_body_is_told_with_rule_place_words_and_remedy(tmp_path: Path):
    path = save(tmp_path / "body.json", OPEN_BODY)

    result = legato("lint", path)

    assert result.exit_code == 3
    assert result.stdout == (
        f"{path}:33:9: messages[1].content[2]: error: the call 'toolu_b' has no result after it "
        "[anthropic/unanswered-call]\n"
        "    what anthropic says: “`tool_use` ids were found without `tool_result` blocks immediately after: toolu_b”.\n"
        "    repair puts in a result that says there is none\n"
    )
    assert result.stderr == "1 file: 1 error\n"


def test_the_json_form_holds_the_whole_finding(tmp_path: Path):
    path = save(tmp_path / "body.json", OPEN_BODY)

    assert json.loads(legato("lint", "--format", "json", path).stdout) == {
        "files": [
            {
                "file": str(path),
                "format": "anthropic",
                "findings": [
                    {
                        "rule": "anthropic/unanswered-call",
                        "level": "error",
                        "place": "messages[1].content[2]",
                        "message": "the call 'toolu_b' has no result after it",
                        "repair": "repair puts in a result that says there is none",
                        "targets": ["anthropic"],
                        "says": {
                            "anthropic": "“`tool_use` ids were found without `tool_result` blocks immediately after: toolu_b”."
                        },
                        "broken": {"anthropic": "anthropic/unanswered-call"},
                        "line": 33,
                        "column": 9,
                    }
                ],
            }
        ],
        "unread": [],
        "ignored": [],
        "summary": {"files": 1, "errors": 1, "risky": 0, "notes": 0},
    }


def test_risky_findings_alone_are_clean(tmp_path: Path):
    path = save(tmp_path / "body.json", chat_body("toolu_1"))

    result = legato("lint", path)

    assert "risky" in result.stdout
    assert (result.exit_code, result.stderr) == (0, "1 file: 1 risky finding\n")


def test_a_body_is_judged_by_the_rules_of_every_provider_of_its_dialect_that_is_asked_for(tmp_path: Path):
    path = save(tmp_path / "body.json", chat_body("call_1"))

    assert rules(path) == []
    assert ("error", "mistral/id-form", "messages[2].tool_calls[0].id") in rules(path, "--for", "mistral")


def test_a_body_that_is_to_go_to_another_dialect_is_judged_by_its_faults(tmp_path: Path):
    path = save(tmp_path / "body.json", chat_body("call_1", "call_2", answered=1))

    assert found(path, "--for", "anthropic", "--for", "gemini") == [
        {
            "rule": "session/open-call",
            "level": "error",
            "place": "messages[2]",
            "message": "the call call_2 of read has no result",
            "repair": "repair puts in a result that says there is none (missing-in-import)",
            "targets": ["anthropic", "gemini"],
            "says": {
                "anthropic": "“`tool_use` ids were found without `tool_result` blocks immediately after: …”.",
                "gemini": (
                    "“Please ensure that the number of function response parts is equal to the number of function call "
                    "parts of the function call turn”."
                ),
            },
            "broken": {"anthropic": "anthropic/unanswered-call", "gemini": "gemini/unanswered-call"},
            "calls": ["hist_tool_2"],
            "line": 12,
            "column": 5,
        }
    ]


@pytest.mark.parametrize("model", ["", " ", "\u2028"])
def test_a_body_with_a_blank_model_is_judged_as_one_without(tmp_path: Path, model: str):
    path = save(tmp_path / "body.json", {**OPEN_BODY, "model": model})

    assert ("error", "anthropic/unanswered-call", "messages[1].content[2]") in rules(path)


def test_a_bare_list_of_messages_is_not_blamed_for_what_stands_around_messages(tmp_path: Path):
    path = save(tmp_path / "body.json", OPEN_BODY["messages"])

    assert rules(path) == [("error", "anthropic/unanswered-call", "[1].content[2]")]


def test_what_repair_does_about_the_fields_around_the_messages_is_said_and_done(tmp_path: Path):
    body = {name: value for name, value in CLEAN_BODY.items() if name != "max_tokens"}
    path = save(tmp_path / "body.json", {**body, "system": "x"})
    (finding,) = found(path)

    assert (finding["rule"], finding["repair"]) == ("anthropic/max-tokens", "repair adds it")
    assert legato("repair", path, "--write").exit_code == 0
    assert found(path) == []


def test_a_request_whose_past_the_provider_keeps_may_begin_with_a_result(tmp_path: Path):
    record = {
        "custom_id": "1",
        "method": "POST",
        "body": {
            "model": "gpt-5.1",
            "previous_response_id": "resp_1",
            "input": [{"type": "function_call_output", "call_id": "call_1", "output": "x"}],
        },
    }
    path = save(tmp_path / "batch.jsonl", [record, record])

    assert [item for item in rules(path) if item[0] == "error"] == []


# --- session files ----------------------------------------------------------------------------------------------------


def test_an_open_call_in_a_session_is_found_at_its_line(tmp_path: Path):
    path = save(tmp_path / "session.jsonl", open_session())

    result = legato("lint", path)

    assert result.exit_code == 0
    assert result.stdout == (
        f"{path}:4: risky: the call toolu_b of Read has no result [session/open-call]\n"
        "    what anthropic says: “`tool_use` ids were found without `tool_result` blocks immediately after: …”.\n"
        "    repair puts in a result that says there is none (missing-in-import); without it, its agent leaves the call "
        "out when it goes on\n"
    )


def test_a_neutral_format_is_judged_for_all_targets_and_can_only_be_converted(tmp_path: Path):
    path = save(tmp_path / "session.jsonl", pi_session())

    (finding,) = found(path)

    assert (finding["rule"], finding["targets"], finding["repair"]) == (
        "session/open-call",
        EVERYONE,
        "convert puts in a result that says there is none (missing-in-import), as its own agent does",
    )


def test_one_target_may_be_asked_for(tmp_path: Path):
    (finding,) = found(save(tmp_path / "session.jsonl", pi_session()), "--for", "kimi")

    assert finding["targets"] == ["kimi"]


def test_a_route_may_be_asked_for(tmp_path: Path):
    (finding,) = found(save(tmp_path / "session.jsonl", pi_session()), "--for", "groq/llama-3.3-70b-versatile")

    assert finding["broken"] == {"groq/llama-3.3-70b-versatile": "openai-chat/unanswered-call"}


def _mixed() -> ClaudeSession:
    session = ClaudeSession().user("Go.").model(use("toolu_a"), use("toolu_a"), use("b.1"))
    session.user([used("b.1")]).model({"type": "text", "text": "Now."}).user([used("toolu_a"), used("toolu_a", "2")])
    return session.user([used("toolu_x", "whose?")]).model(use("toolu_a", path="again")).user([used("toolu_a")])


def test_every_kind_of_fault_in_a_session_has_its_rule_and_its_line(tmp_path: Path):
    assert rules(save(tmp_path / "session.jsonl", _mixed().records)) == [
        ("error", "session/duplicate-call", "line 2"),
        ("error", "session/id-form", "line 2"),
        ("error", "session/duplicate-result", "line 5"),
        ("error", "session/late-result", "line 5"),
        ("error", "session/orphan-result", "line 6"),
        ("risky", "session/repeated-id", "line 7"),
    ]


def test_a_late_result_is_fine_for_a_provider_that_pairs_over_the_whole_request(tmp_path: Path):
    session = ClaudeSession().user("Go.").model(use("toolu_a")).user("Wait.").user([used("toolu_a")]).records
    path = save(tmp_path / "session.jsonl", session)

    assert rules(path) == [("error", "session/late-result", "line 4")]
    assert rules(path, "--for", "openai-responses") == []


def test_a_blank_message_is_a_risk(tmp_path: Path):
    session = ClaudeSession().user("Go.").model({"type": "text", "text": "Yes."}).user("  ").records

    assert rules(save(tmp_path / "session.jsonl", session)) == [("risky", "session/blank-message", "line 3")]


def test_a_closure_that_was_written_into_a_file_is_no_open_call(tmp_path: Path):
    path = save(tmp_path / "session.jsonl", open_session())
    legato("repair", path, "-o", tmp_path / "mended.jsonl")

    assert rules(tmp_path / "mended.jsonl") == []


def test_a_log_of_ours_is_never_broken_by_an_open_call(tmp_path: Path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(write(read(save(tmp_path / "session.jsonl", open_session())), "legato").data)

    (finding,) = found(path)

    assert (finding["level"], finding["rule"], finding["place"]) == ("risky", "session/open-call", "line 6")
    assert finding["repair"].startswith("nothing: a log is never rewritten")


def test_damage_is_an_error_and_what_was_passed_over_a_note(tmp_path: Path):
    path = save(tmp_path / "session.jsonl", [*open_session()[:3], {"type": "odd", "uuid": "u", "sessionId": "s"}])
    with path.open("a") as file:
        file.write('{"type": "user", "uuid": "x", "mess')

    assert [(level, rule, place) for level, rule, place in rules(path)] == [
        ("error", "file/damaged", "line 5"),
        ("note", "file/not-carried", "line 4"),
    ]


def test_the_requests_of_a_batch_are_judged_by_every_rule(tmp_path: Path):
    bodies = [chat_body("call_9"), chat_body("call_9", tool_choice="auto", tools=[])]
    batch = [{"custom_id": str(number), "body": body} for number, body in enumerate(bodies)]

    assert rules(save(tmp_path / "batch.jsonl", batch)) == [
        ("error", "openai-chat/empty-tools", "line 2, body.tools"),
        ("error", "openai-chat/choice-without-tools", "line 2, body.tool_choice"),
    ]


def test_a_file_of_many_requests_names_the_line_of_each_finding(tmp_path: Path):
    broken = chat_body("call_1", answered=0)
    path = save(tmp_path / "many.jsonl", [{"messages": item["messages"]} for item in (chat_body("call_9"), broken)])

    assert [(level, rule, place) for level, rule, place in rules(path)] == [
        ("error", "openai-chat/unanswered-call", "line 2, messages[2].tool_calls[0]")
    ]
    assert f"{path}:2: messages[2].tool_calls[0]: error:" in legato("lint", path).stdout


def test_calls_and_results_under_the_wrong_speaker_are_found_in_a_log(tmp_path: Path):
    conversation = talk(user("Go."), user(call("a")), ai(response("a")))
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(dump_log(conversation.log)))

    assert [(finding["rule"], finding["place"], finding["message"]) for finding in found(path)] == [
        ("session/wrong-speaker", "line 3", "the call a of read stands under the speaker 'human'"),
        ("session/wrong-speaker", "line 4", "the result a of read stands under the speaker 'ai'"),
    ]


def test_a_large_file_is_read_behind_a_bar_if_somebody_watches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    path = save(tmp_path / "session.jsonl", open_session())
    watched = Terminal()
    monkeypatch.setattr(file_arguments, "_LARGE", 10)
    monkeypatch.setattr(sys, "stderr", watched)
    monkeypatch.setenv("TERM", "xterm")

    assert len(file_arguments.read_documents(str(path))) == 1
    assert "reading" in watched.getvalue()


def test_nothing_is_drawn_where_nobody_watches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(file_arguments, "_LARGE", 10)

    result = legato("lint", save(tmp_path / "body.json", CLEAN_BODY))

    assert result.stderr == "1 file: nothing found\n"


# --- forms and endings ------------------------------------------------------------------------------------------------


def test_sarif_names_rules_levels_lines_and_paths(tmp_path: Path):
    session = save(tmp_path / "a session.jsonl", open_session())
    body = save(tmp_path / "body.json", OPEN_BODY)

    result = legato("lint", "--format", "sarif", session, body)
    log = json.loads(result.stdout)

    assert result.exit_code == 3
    assert (log["version"], log["$schema"]) == ("2.1.0", "https://json.schemastore.org/sarif-2.1.0.json")
    (run,) = log["runs"]
    assert run["tool"]["driver"]["name"] == "legato"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["session/open-call", "anthropic/unanswered-call"]
    first, second = run["results"]
    assert (first["ruleId"], first["ruleIndex"], first["level"]) == ("session/open-call", 0, "warning")
    assert first["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": str(session).replace(" ", "%20")},
                "region": {"startLine": 4},
            },
            "logicalLocations": [{"fullyQualifiedName": "line 4"}],
        }
    ]
    assert second["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": str(body)},
                "region": {"startLine": 33, "startColumn": 9},
            },
            "logicalLocations": [{"fullyQualifiedName": "messages[1].content[2]"}],
        }
    ]
    assert run["invocations"] == [{"executionSuccessful": True}]
    assert run["tool"]["driver"]["rules"][1]["helpUri"].startswith("https://")
    Draft202012Validator(SARIF).validate(log)


SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "tool": {"type": "object", "required": ["driver"]},
                    "results": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["message", "ruleId", "level", "locations"],
                            "properties": {
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": {"type": "object", "required": ["text"]},
                                "ruleIndex": {"type": "integer", "minimum": 0},
                            },
                        },
                    },
                },
            },
        },
    },
}
"""the parts of the schema that we use"""


def test_several_files_are_judged_and_one_that_cannot_be_read_decides_the_status(tmp_path: Path):
    good, bad = save(tmp_path / "body.json", OPEN_BODY), tmp_path / "missing.json"

    result = legato("lint", good, bad)

    assert result.exit_code == 2
    assert "[anthropic/unanswered-call]" in result.stdout
    assert f"legato: {bad}: cannot be read: no such file or directory" in result.stderr


def test_a_run_that_could_read_nothing_is_a_sarif_log_all_the_same(tmp_path: Path):
    missing = tmp_path / "missing.json"

    result = legato("lint", "--format", "sarif", missing)

    assert result.exit_code == 2
    (run,) = json.loads(result.stdout)["runs"]
    assert run["results"] == []
    (invocation,) = run["invocations"]
    (notification,) = invocation["toolExecutionNotifications"]
    assert not invocation["executionSuccessful"]
    assert (notification["level"], notification["message"]["text"]) == (
        "error",
        f"{missing}: cannot be read: no such file or directory",
    )
    assert notification["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == str(missing)
    Draft202012Validator(SARIF).validate(json.loads(result.stdout))


# --- folders ----------------------------------------------------------------------------------------------------------


def folder(path: Path) -> Path:
    """A folder of sessions, with what else lies about in such folders."""
    for name in ("project/deep", "node_modules/x"):
        (path / name).mkdir(parents=True)
    save(path / "project/deep/session.jsonl", open_session())
    save(path / "project/body.json", CLEAN_BODY)
    save(path / "project/settings.json", {"theme": "dark"})
    save(path / "node_modules/x/body.json", OPEN_BODY)
    (path / "project/notes.txt").write_text("nothing of the kind")
    return path


def test_a_folder_is_walked_and_summed_up_by_format(tmp_path: Path):
    result = legato("lint", "--ignore-unknown", folder(tmp_path))

    assert result.exit_code == 0
    assert result.stdout.startswith(f"{tmp_path}/project/deep/session.jsonl:4: risky: the call toolu_b")
    assert result.stderr.splitlines() == [
        "format       files  clean  errors  risky  notes",
        "anthropic    1      1      0       0      0",
        "claude-code  1      1      0       1      0",
        "unknown      1",
        "2 files: 1 risky finding; 1 file of another kind passed over",
    ]


def test_a_file_of_another_kind_is_an_error_unless_it_is_to_be_passed_over(tmp_path: Path):
    result = legato("lint", "--json", folder(tmp_path))

    assert result.exit_code == 2
    told = json.loads(result.stdout)
    assert told["summary"] == {"files": 2, "errors": 0, "risky": 1, "notes": 0}
    assert [one["file"] for one in told["unread"]] == [f"{tmp_path}/project/settings.json"]
    assert "--ignore-unknown passes over files of an unknown format" in result.stderr
    told = json.loads(legato("lint", "--json", "--ignore-unknown", tmp_path).stdout)
    assert (told["unread"], told["ignored"]) == ([], [f"{tmp_path}/project/settings.json"])


@pytest.mark.parametrize("data", [b"", b"not json", b'{"cut": ', b"[1, 2]", b"\x89PNG\r\n"])
def test_whatever_is_no_session_can_be_passed_over(tmp_path: Path, data: bytes):
    path = tmp_path / "data.json"
    path.write_bytes(data)

    result = legato("lint", "--ignore-unknown", path)

    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_a_file_that_is_not_there_is_never_passed_over(tmp_path: Path):
    assert legato("lint", "--ignore-unknown", tmp_path / "missing.json").exit_code == 2


def test_many_files_of_an_unknown_kind_are_counted(tmp_path: Path):
    for number in range(14):
        save(tmp_path / f"{number}.json", {"theme": "dark"})

    result = legato("lint", tmp_path)

    assert result.stderr.count("unknown format: ") == 10
    assert "legato: and 4 more files of an unknown format\n" in result.stderr


def test_a_folder_without_files_to_read_is_said_to_be_one(tmp_path: Path):
    result = legato("lint", tmp_path)

    assert (result.exit_code, result.stderr) == (
        2,
        f"legato: {tmp_path}: there are no files in it that could be sessions or requests (*.json, *.jsonl)\n",
    )


def test_findings_make_room_for_the_bar_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    out, err = Terminal(), Terminal()
    monkeypatch.setattr(file_arguments, "_MANY", 1)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setenv("TERM", "xterm")

    with file_arguments.walking([str(folder(tmp_path))]) as walk:
        for path in walk:
            walk.tell(path)

    assert walk.is_folder
    assert out.getvalue().splitlines() == [
        f"{tmp_path}/project/body.json",
        f"{tmp_path}/project/settings.json",
        f"{tmp_path}/project/deep/session.jsonl",
    ]
    assert "reading" in err.getvalue()


def test_standard_input_is_read_for_a_dash():
    result = legato("lint", "-", stdin=json.dumps(OPEN_BODY).encode())

    assert result.exit_code == 3
    assert result.stdout.startswith("standard input:1:345: messages[1].content[2]: error:")


def test_an_unknown_target_is_named_before_anything_is_read(tmp_path: Path):
    result = legato("lint", "--for", "antropic", tmp_path / "missing.json")

    assert (result.exit_code, result.stderr) == (
        2,
        "legato: there is no target 'antropic'; did you mean 'anthropic'?\n",
    )


def test_findings_hide_secrets_and_control_characters(tmp_path: Path):
    session = ClaudeSession().user("Go.").model(use("toolu_a", "sk-a1b2c3d4e5f6\x1b[31m")).records
    path = save(tmp_path / "session.jsonl", session)

    for form in ("text", "json", "sarif"):
        shown = legato("lint", "--format", form, path).stdout
        assert "sk-a1b2c3d4e5f6" not in shown
        assert "[hidden]" in shown
        assert "\x1b" not in shown


def test_two_calls_of_one_answer_with_one_id_are_an_error_and_of_two_answers_a_risk(tmp_path: Path):
    session = ClaudeSession().user("Go.")
    session.model(use("toolu_a", path="a"), answer="msg_1").model(use("toolu_a", path="b"), answer="msg_1")
    session.user([used("toolu_a")])
    session.model(use("toolu_a", path="c"), answer="msg_2").user([used("toolu_a")])

    found = [item for item in rules(save(tmp_path / "session.jsonl", session.records)) if item[1].endswith("-id")]

    assert found == [("error", "session/shared-id", "line 3"), ("risky", "session/repeated-id", "line 5")]


def test_a_result_without_an_id_is_an_error_where_its_agent_wants_one(tmp_path: Path):
    nameless = {"type": "tool_result", "content": "done"}
    session = ClaudeSession().user("Go.").model(use("toolu_a")).user([nameless]).records

    assert rules(save(tmp_path / "session.jsonl", session)) == [("error", "session/unknown-id", "line 3")]


def test_an_open_call_of_a_side_chain_is_a_risk_because_nothing_goes_on_from_it(tmp_path: Path):
    session = ClaudeSession().user("Go.").model({"type": "text", "text": "Done."})
    side = ClaudeSession().user("Look.").model(use("toolu_a")).records
    for record in side:
        record |= {"isSidechain": True, "agentId": "x", "uuid": f"side-{record['uuid']}"}
    side[1]["parentUuid"] = side[0]["uuid"]
    path = save(tmp_path / "session.jsonl", [*session.records, *side])

    (finding,) = [item for item in found(path) if item["level"] != "note"]

    assert (finding["level"], finding["rule"], finding["place"]) == ("risky", "session/open-call", "line 4")
    assert finding["repair"] == "repair leaves it as it is: nothing goes on from a side chain"
    assert legato("repair", path, "--dry-run").stderr == f"{path}: nothing to mend; nothing was written\n"


def test_an_open_call_of_a_rollout_is_a_risk_because_codex_answers_it(tmp_path: Path):
    call = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "call_1"}
    path = save(
        tmp_path / "rollout.jsonl",
        [
            {"timestamp": "t", "type": "session_meta", "payload": {"id": "c", "cwd": "/"}},
            {"timestamp": "t", "type": "response_item", "payload": call},
        ],
    )

    (finding,) = found(path)

    assert (finding["level"], finding["rule"]) == ("risky", "session/open-call")
    assert finding["repair"] == "repair leaves it as it is: its agent puts in a result itself before it asks the model"
    assert legato("lint", path).exit_code == 0
    (elsewhere,) = found(path, "--for", "anthropic")
    assert (elsewhere["level"], elsewhere["repair"]) == (
        "error",
        "convert puts in a result that says there is none (missing-in-import)",
    )


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_table_of_faults_names_rules_that_exist(kind: Any):
    known = {rule for target in WIRE for rule in dialect_parts(find_target(target).dialect).rules}

    assert set(kind.rules.values()) <= known


def test_a_missing_id_in_an_anthropic_session_is_found(tmp_path: Path):
    session = ClaudeSession().user("Go.").model(use("")).user([used("")]).records

    (finding,) = found(save(tmp_path / "session.jsonl", session))

    assert (finding["rule"], finding["message"]) == ("session/id-form", "the call read has no id")


def test_text_before_results_in_a_body_is_found(tmp_path: Path):
    body = anthropic_body(
        ("user", "Go."),
        ("assistant", [use("toolu_a")]),
        ("user", [{"type": "text", "text": "Here:"}, used("toolu_a")]),
    )

    assert [rule for _, rule, _ in rules(save(tmp_path / "body.json", body))] == ["anthropic/result-not-first"]
