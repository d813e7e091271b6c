"""What every dialect must decide alike: a row for each question, a column for each dialect, one answer in all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from legato import parse, render
from legato.model import CallKind, Dialect, Entry, Media, MediaKind, Speaker, Target, Text, ToolCall, ToolResponse
from legato.request.catalogue import resolve, with_capabilities
from legato.wire.dialects import dialect_parts

from builders import ai, calls, instruction, result, talk, user

COLUMNS = {
    "anthropic": "anthropic/claude-sonnet-4-5",
    "gemini": "gemini/gemini-3-pro-preview",
    "chat": "openai/gpt-4o",
    "responses": "openai-responses/gpt-4o",
    "vercel": "vercel/any",
    "bedrock": "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}
PDF = Media(MediaKind.DOCUMENT, "application/pdf", data="JVBERi0=")
PICTURE = Media(MediaKind.IMAGE, "image/png", data="aGk=")
SHELL = ToolCall("sql", {"input": "select 1"}, "a", kind=CallKind.CUSTOM)


NO_DATA = ["Zürich", "!!!", "", " ", "data:image/png;base64,AAAA"]


@pytest.mark.parametrize("data", NO_DATA)
@pytest.mark.parametrize("mime", ["image/png", "application/pdf", "text/plain"])
@pytest.mark.parametrize("route", COLUMNS.values())
def test_an_attachment_that_is_no_base64_is_named_and_not_sent(route: str, mime: str, data: str) -> None:
    kind = MediaKind.IMAGE if mime == "image/png" else MediaKind.DOCUMENT
    _, decisions = sent(column(route), user("see", Media(kind, mime, data=data)))
    assert ("converted", "media-omitted") in decisions


@pytest.mark.parametrize("data", ["AAAA", "-_8=", "AAAA\r\nAAAA\n"])
@pytest.mark.parametrize("route", COLUMNS.values())
def test_base64_of_any_alphabet_and_in_lines_is_sent(route: str, data: str) -> None:
    _, decisions = sent(column(route), user("see", Media(MediaKind.IMAGE, "image/png", data=data)))
    assert ("converted", "media-omitted") not in decisions


DATA_URLS: dict[str, Any] = {
    "anthropic/claude-sonnet-4-5": {
        "messages": [
            {
                "role": "user",
                "content": [
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "data:image/png;base64,AAAA"},
                    }
                ],
            }
        ]
    },
    "gemini/gemini-2.5-pro": {
        "contents": [
            {
                "role": "user",
                "parts": [{"inlineData": {"mimeType": "image/png", "data": "data:image/png;base64,AAAA"}}],
            }
        ]
    },
    COLUMNS["bedrock"]: {
        "messages": [
            {
                "role": "user",
                "content": [{"image": {"format": "png", "source": {"bytes": "data:image/png;base64,AAAA"}}}],
            }
        ]
    },
}


@pytest.mark.parametrize("source", DATA_URLS)
def test_a_whole_data_url_in_the_place_of_data_is_read_as_what_it_holds(source: str) -> None:
    (entry,) = parse(DATA_URLS[source], source).entries
    assert entry.blocks == (Media(MediaKind.IMAGE, "image/png", data="AAAA"),)


def column(route: str, **capabilities: Any) -> Target:
    same: dict[str, Any] = {"images": True, "documents": True, "middle_system": False, "result_images": False}
    return with_capabilities(resolve(route), **(same | capabilities))


def embedding(route: str) -> Target:
    return column(route, native_tool_history=False)


def sent(target: Target, *news: Entry) -> tuple[list[Entry], list[tuple[str, str]]]:
    """What the target reads, in neutral words, and what was decided."""
    request = render(talk(*news), target)
    parsed = dialect_parts(target.dialect).parse(request.copy())
    return parsed.entries, [(decision.action, decision.reason) for decision in request.report.decisions]


def told(target: Target, *news: Entry) -> list[str]:
    """The last things that the human side says, each message or joined part as text."""
    entries, _ = sent(target, *news)
    said = [block for entry in entries if entry.speaker is Speaker.HUMAN for block in entry.blocks]
    return [block.text for block in said if isinstance(block, Text)]


def a_failed_call_where_tool_history_is_embedded(route: str) -> object:
    return told(embedding(route), user("go"), calls("a"), result("a", error="disk full"))[1:]


def a_blank_result_embedded(route: str) -> object:
    return told(embedding(route), user("go"), calls("a"), result("a", " "))[1:]


def the_media_of_an_embedded_result(route: str) -> object:
    entries, _ = sent(embedding(route), user("go"), calls("a"), result("a", "seen", media=(PICTURE,)))
    return [type(block) for entry in entries for block in entry.blocks][-2:], told(
        embedding(route), user("go"), calls("a"), result("a", "seen", media=(PICTURE,))
    )[1:]


def an_instruction_that_becomes_marked_text(route: str) -> object:
    _, decisions = sent(column(route), user("go"), ai("yes"), instruction("be brief"))
    return [decision for decision in decisions if decision[1].startswith("instruction")]


def a_result_with_a_pdf_rendered_and_parsed_back(route: str) -> object:
    entries, _ = sent(column(route), user("go"), calls("a"), result("a", "seen", media=(PDF,)), ai("I see"))
    (response,) = [block for entry in entries for block in entry.blocks if isinstance(block, ToolResponse)]
    said = [block for entry in entries if entry.speaker is Speaker.HUMAN for block in entry.blocks]
    return response.result, [(media.kind, media.mime, media.data) for media in response.media], said


def the_tool_that_a_caption_names(route: str) -> object:
    target = column(route)
    request = render(
        talk(user("go"), calls("a", name="a tool!"), result("a", media=(PICTURE,), name="a tool!")), target
    )
    (renamed,) = {decision.detail for decision in request.report.decisions if decision.reason == "tool-name"}
    theirs = renamed.split(" is called ")[1].split(" ")[0]
    return (
        f"[Media from the result of {theirs}:]" in request.json().decode(),
        "[Media from the result of a tool!:]" in (request.json().decode()),
    )


def a_free_text_call_stays_one_or_it_is_said_that_it_does_not(route: str) -> object:
    entries, decisions = sent(column(route), user("go"), ai(SHELL), result("a", name="sql"))
    (call,) = [block for entry in entries for block in entry.blocks if isinstance(block, ToolCall)]
    is_said = ("converted", "custom-call") in decisions
    return call.arguments, (call.kind is CallKind.CUSTOM) is not is_said


ROWS: dict[Callable[[str], object], object] = {
    a_failed_call_where_tool_history_is_embedded: ["Context (tool result):\n[Error] disk full"],
    a_blank_result_embedded: ["Context (tool result):\n(no output)"],
    the_media_of_an_embedded_result: ([Text, Media], ["Context (tool result):\nseen"]),
    an_instruction_that_becomes_marked_text: [("converted", "instruction-as-text")],
    a_result_with_a_pdf_rendered_and_parsed_back: (
        "seen",
        [(MediaKind.DOCUMENT, "application/pdf", "JVBERi0=")],
        [Text("go")],
    ),
    the_tool_that_a_caption_names: (True, False),
    a_free_text_call_stays_one_or_it_is_said_that_it_does_not: ({"input": SHELL.arguments["input"]}, True),
}


@pytest.mark.parametrize("route", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("question", ROWS, ids=lambda row: row.__name__)
def test_every_dialect_gives_the_same_answer(question: Callable[[str], object], route: str) -> None:
    assert question(route) == ROWS[question]


def test_every_dialect_has_a_column() -> None:
    assert {resolve(route).dialect for route in COLUMNS.values()} == set(Dialect)
