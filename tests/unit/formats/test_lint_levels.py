"""How sure lint is: what depends on a model that nobody named is a risk, and what an example teaches is no fault."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from legato.errors import FormatError
from legato.formats import Level, detect, lint_document, mend, read, read_all
from session_files import CLAUDE, CODEX, OPENCODE, PI, jsonl, whole

ASK = {"role": "user", "content": "What does a.txt say?"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALL]}


def without(data: bytes, sign: bytes) -> bytes:
    """A session of lines without those that hold `sign`."""
    return b"".join(line for line in data.splitlines(keepends=True) if sign not in line)


CLAUDE_OPEN = without(CLAUDE, b"tool_result")
CODEX_OPEN = without(CODEX, b"function_call_output")
PI_OPEN = b"".join(PI.splitlines(keepends=True)[:4])
OPENCODE_OPEN = OPENCODE.replace(b'"completed"', b'"running"')


def levels(data: bytes, *targets: str) -> list[list[tuple[str, Level]]]:
    return [
        [(finding.rule, finding.level) for finding in lint_document(document, *targets)] for document in read_all(data)
    ]


@pytest.mark.parametrize("targets", [(), ("openai-chat",), ("mistral",), ("anthropic",), ("gemini",)])
def test_an_example_to_learn_from_may_end_with_what_the_model_should_say(targets: tuple[str, ...]) -> None:
    call = {**CALLS, "content": "", "tool_calls": [{**CALL, "id": "abcDEF123"}]}
    answer = {"role": "assistant", "content": "alpha"}
    assert levels(jsonl({"messages": [ASK, call]}, {"messages": [ASK, answer]}), *targets) in (
        [[], []],
        [[("openai-chat/id-habit", Level.RISK)], []],
    )


def test_a_call_in_the_middle_of_an_example_still_needs_its_result() -> None:
    answer = {"role": "assistant", "content": "alpha"}
    found = levels(jsonl({"messages": [ASK, CALLS, ASK, answer]}, {"messages": [ASK, answer]}))
    assert found == [[("openai-chat/unanswered-call", Level.ERROR)], []]


def test_a_request_in_a_batch_is_no_example() -> None:
    (found,) = levels(jsonl({"custom_id": "1", "body": {"model": "gpt-4o", "messages": [ASK, CALLS]}}))
    assert ("openai-chat/unanswered-call", Level.ERROR) in found


CONTENTS: dict[str, Any] = {
    "contents": [
        {"role": "user", "parts": [{"text": "What does a.txt say?"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "read", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "read", "response": {"result": "alpha"}}}]},
    ]
}


@pytest.mark.parametrize(("targets", "level"), [((), Level.RISK), (("gemini/gemini-3-pro-preview",), Level.ERROR)])
def test_a_missing_signature_is_an_error_only_where_the_model_is_known(targets: tuple[str, ...], level: Level) -> None:
    assert levels(whole(CONTENTS), *targets) == [[("gemini/signature-missing", level)]]


def test_a_body_for_no_known_gemini_is_not_mended_on_a_guess() -> None:
    assert mend(read(whole(CONTENTS))).changes == []


IN_S3: dict[str, Any] = {
    "messages": [
        {
            "role": "user",
            "content": [
                {"text": "What is this?"},
                {"image": {"format": "png", "source": {"s3Location": {"uri": "s3://bucket/kiwi.png"}}}},
            ],
        }
    ],
    "inferenceConfig": {"maxTokens": 100},
}
CLAUDE, NOVA = "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "us.amazon.nova-2-lite-v1:0"


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        ((), [("bedrock/s3-location", Level.RISK)]),
        ((f"bedrock/{CLAUDE}",), [("bedrock/s3-location", Level.ERROR)]),
        ((f"bedrock/{NOVA}",), []),
    ],
)
def test_an_image_in_s3_is_an_error_only_where_the_model_is_known(
    targets: tuple[str, ...], expected: list[tuple[str, Level]]
) -> None:
    assert levels(whole(IN_S3), *targets) == [expected]


def test_a_body_for_no_known_model_of_bedrock_is_not_mended_on_a_guess() -> None:
    assert mend(read(whole(IN_S3))).changes == []


@pytest.mark.parametrize(("model", "expected"), [(CLAUDE, [("bedrock/s3-location", Level.ERROR)]), (NOVA, [])])
@pytest.mark.parametrize("quoted", [True, False])
def test_a_recorded_request_to_bedrock_is_judged_by_the_model_in_its_path(
    model: str, expected: list[tuple[str, Level]], quoted: bool
) -> None:
    path = f"/model/{quote(model) if quoted else model}/converse"
    record = {"host": "bedrock-runtime.us-east-1.amazonaws.com", "path": path, "request": IN_S3}
    data = jsonl(record, record)
    assert {document.model for document in read_all(data)} == {model}
    assert levels(data) == [expected, expected]


def test_what_anthropic_was_also_seen_to_accept_is_a_risk() -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}
    gave = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "alpha"}
    messages = [{"role": "assistant", "content": [use]}, {"role": "user", "content": [gave]}]
    assert levels(whole({"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": messages})) == [
        [("anthropic/first-message", Level.RISK), ("anthropic/tools-undefined", Level.RISK)]
    ]


def test_what_is_only_out_of_place_is_not_said_to_be_lost() -> None:
    body = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 9,
        "messages": [
            {"role": "user", "content": [{"type": "tool_use", "id": "t1", "name": "read", "input": {}}]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "found"}, {"type": "x"}],
            },
        ],
    }
    document = read(whole(body))
    notes = [(found.rule, found.place) for found in lint_document(document) if found.level is Level.NOTE]
    assert notes == [("file/out-of-place", "messages[0]")]
    risks = [found for found in lint_document(document) if found.rule == "file/not-understood"]
    assert [(found.level, found.place) for found in risks] == [(Level.RISK, "messages[1].content[1]")]
    assert [note.place for note in document.not_carried] == ["messages[1].content[1]"]


@pytest.mark.parametrize(
    ("data", "targets", "level"),
    [
        (PI_OPEN, (), Level.RISK),
        (PI_OPEN, ("anthropic",), Level.RISK),
        (OPENCODE_OPEN, (), Level.RISK),
        (CODEX_OPEN, (), Level.RISK),
        (CODEX_OPEN, ("anthropic",), Level.ERROR),
        (CLAUDE_OPEN, ("mistral",), Level.ERROR),
    ],
)
def test_a_call_without_a_result_is_a_risk_where_its_agent_puts_one_in(
    data: bytes, targets: tuple[str, ...], level: Level
) -> None:
    (found,) = [item for item in lint_document(read(data), *targets) if item.rule == "session/open-call"]
    assert found.level is level
    assert ("its agent puts in a result itself" in found.repair or "as its own agent does" in found.repair) is (
        level is Level.RISK
    )


def test_a_call_without_a_result_is_a_risk_in_claude_code_which_leaves_it_out_and_repair_keeps_it() -> None:
    document = read(CLAUDE_OPEN)
    (found,) = [item for item in lint_document(document) if item.rule == "session/open-call"]
    assert (found.level, found.repair) == (
        Level.RISK,
        (
            "repair puts in a result that says there is none (missing-in-import); "
            "without it, its agent leaves the call out when it goes on"
        ),
    )
    assert lint_document(read(mend(document).data)) == []


def test_requests_are_read_from_lines_that_hold_other_things_as_well() -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}
    record = {"client": "x", "path": "/v1/chat/completions", "body": body}
    assert detect(jsonl(record, record)) == ("chat-records", "lines with the body of a request")
    assert [document.format for document in read_all(jsonl(record, record))] == ["openai-chat"] * 2
    with pytest.raises(FormatError, match="unknown format"):
        read_all(jsonl({"body": {"some": "thing"}}, {"body": {"some": "thing"}}))


LEFT_OUT: dict[str, dict[str, Any]] = {
    "openai-chat": {"messages": [ASK, "lost", {"role": "user", "content": {"said": "lost"}}]},
    "openai-responses": {"input": [ASK, "lost", {"said": "lost"}]},
    "anthropic": {"messages": [ASK, {"role": "narrator", "content": "lost"}]},
    "gemini": {"contents": [CONTENTS["contents"][0], {"role": "narrator", "parts": [{"text": "lost"}]}]},
    "bedrock": {"messages": [{"role": "user", "content": [{"text": "Hi."}, {"said": {"text": "lost"}}]}]},
    "vercel": {"messages": [ASK, "lost", {"role": "user", "content": [{"type": "said", "text": None}]}]},
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_whatever_may_have_been_said_and_is_left_out_of_a_body_is_a_risk_and_no_note(name: str) -> None:
    body = LEFT_OUT[name]
    document = read(whole(body), format=name)
    missing = sum(len(messages) for messages in body.values()) - 1
    found = [item.level for item in lint_document(document) if item.rule == "file/not-understood"]
    assert found == [Level.RISK] * max(1, missing)
