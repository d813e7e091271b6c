"""JSON from outside may be nested deeper than Python can call: whatever walks over it says so, or does not mind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from event_frames import events_of
from legato import Conversation, parse, render
from legato.cli.settings.layers import read_file
from legato.diagnostics import Redactor
from legato.errors import BadAnswer, ConfigError, FormatError
from legato.files.html.entry_data import entry_value
from legato.files.inspected import InspectedEntry
from legato.files.inspector import SeenEntry
from legato.formats import Document, mend, read_all, write
from legato.formats.fields import well_typed
from legato.model import (
    Answer,
    CallKind,
    Dialect,
    Ending,
    Entry,
    HostedTool,
    Json,
    JsonObject,
    NameRule,
    Speaker,
    Text,
    Thinking,
    ToolCall,
    ToolSpec,
    Usage,
    ingest,
)
from legato.request import resolve
from legato.simulation.model.fake_arguments import fill_answer, fill_arguments
from legato.tools.schema import find_fault
from legato.transport import complaint_of
from legato.wire.dialects import dialect_parts
from legato.wire.names import NameTable
from legato.wire.openai_responses.parse_envelope import read_tools
from session_files import answered, jsonl, said, use

DEEP = 20_000

SEEN = SeenEntry(
    (0, 0),
    InspectedEntry(turn=1, speaker="model", place="", model="", blocks=(), decisions=(), labels=(), is_shown=True),
    {},
)


def nested(wrap: Callable[[Json], Json], inner: Json = 1, levels: int = DEEP) -> Json:
    for _ in range(levels):
        inner = wrap(inner)
    return inner


SHAPES: dict[str, Callable[[Json], Json]] = {
    "lists": lambda inner: [inner],
    "objects": lambda inner: {"a": inner},
    "contents": lambda inner: [{"type": "text", "text": "x", "content": inner}],
    "types": lambda inner: {"type": inner},
    "alternatives": lambda inner: {"anyOf": [inner]},
    "parts": lambda inner: {"allOf": [inner]},
    "namespaces": lambda inner: [{"type": "namespace", "tools": inner}],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "walk",
    [
        ingest,
        Redactor({}).value,
        well_typed,
        complaint_of,
        lambda value: find_fault(value, {"type": "object"}),
        lambda value: find_fault({"a": 1}, value if isinstance(value, dict) else {"properties": {"a": value}}),
        lambda value: read_tools({"tools": value}),
        lambda value: msgspec.json.encode(entry_value(SEEN, [value], Redactor({}))),
        lambda value: fill_answer({"type": "array", "items": value, "minItems": 1}, "x"),
        lambda value: fill_arguments(
            ToolSpec("t", "", {"properties": {"a": value}, "required": ["a"]}), None, words="x"
        ),
    ],
)
def test_nothing_that_walks_over_a_value_runs_out_of_stack(walk: Callable[[Json], object], shape: str) -> None:
    walk(nested(SHAPES[shape]))


def test_types_of_parts_of_parts_are_looked_at_and_what_lies_deeper_is_left_alone() -> None:
    def parts(levels: int) -> list[Json]:
        return [{"type": 5, "content": parts(levels - 1)}] if levels else []

    def looked_at(levels: int) -> list[Json]:
        return [{"content": looked_at(levels - 1) if levels > 1 else parts(2)}]

    assert well_typed(parts(6)) == looked_at(4)


def test_a_schema_whose_alternatives_refer_to_each_other_takes_no_more_steps_than_are_allowed() -> None:
    endless: JsonObject = {"oneOf": [{"$ref": "#"}, {"$ref": "#"}], "anyOf": [{"$ref": "#"}, {"$ref": "#"}]}
    assert find_fault({"a": 1}, endless) is None


# --- every place of a request, a response and a stream ------------------------------------------------------------------

ROUTES = {
    Dialect.OPENAI_CHAT: "openai/gpt-4o",
    Dialect.OPENAI_RESPONSES: "openai-responses/gpt-5",
    Dialect.ANTHROPIC: "anthropic/claude-sonnet-4-5",
    Dialect.GEMINI: "gemini/gemini-2.5-pro",
    Dialect.VERCEL: "vercel/openai/gpt-5",
    Dialect.BEDROCK: "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}

ANSWER = Answer(
    Entry(
        Speaker.AI,
        (
            Thinking("hm", native={"signature": "s"}),
            Text("I look."),
            ToolCall("read", {"path": "a"}, "call_1"),
            ToolCall("patch", {"input": "free"}, "call_2", kind=CallKind.CUSTOM),
            HostedTool("web_search", {"q": "x"}, {"r": 1}, "h1"),
        ),
        ending=Ending.CALLS,
    ),
    usage=Usage(input=3, output=5),
    served="m",
    response_id="r",
)


def places(value: Json) -> Iterator[tuple[Any, ...]]:
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (key,)
        yield from ((key, *below) for below in places(item))


def replaced(value: Json, place: tuple[Any, ...], new: Json) -> Json:
    if not place:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = replaced(value[place[0]], place[1:], new)
    return copy


@pytest.mark.parametrize("shape", ["lists", "types"])
@pytest.mark.parametrize("dialect", list(Dialect))
def test_a_deep_value_at_any_place_of_an_answer_is_read_or_refused(dialect: Dialect, shape: str) -> None:
    parts, target, names = dialect_parts(dialect), resolve(ROUTES[dialect]), NameTable(NameRule.OPENAI)
    deep = nested(SHAPES[shape], levels=1_100)
    body = parts.reply(ANSWER, "m")
    for place in places(body):
        with suppress(BadAnswer):
            parts.decode(replaced(body, place, deep), target, names)
    events = events_of(b"".join(parts.reply_stream(ANSWER, "m")), dialect)
    for number, event in enumerate(events):
        for place in places(event):
            decoder = parts.decoder(target, names)
            try:
                for other, each in enumerate(events):
                    decoder.event(replaced(event, place, deep) if other == number else each)
                decoder.finish()
            except BadAnswer:
                decoder.partial()


@pytest.mark.parametrize("shape", ["lists", "types"])
@pytest.mark.parametrize("dialect", list(Dialect))
def test_a_deep_value_at_any_place_of_a_request_is_judged_and_read_or_refused(dialect: Dialect, shape: str) -> None:
    parts, target = dialect_parts(dialect), resolve(ROUTES[dialect])
    talk = Conversation()
    talk.human("Hello")
    for call in talk.record(ANSWER).calls:
        talk.result(call.id, {"ok": [1]})
    tool = ToolSpec("read", "Read.", {"type": "object", "properties": {"path": {"type": "string"}}})
    body = render(talk, target, system="Be kind.", tools=[tool]).body
    deep = nested(SHAPES[shape], levels=1_100)
    for place in places(body):
        broken = replaced(body, place, deep)
        parts.check(broken, target)
        with suppress(FormatError):
            parse(broken, target)


# --- files --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("levels", [100, 900, 1_500])
@pytest.mark.parametrize("field", ["type", "content", "more"])
def test_a_file_with_a_deep_value_is_read_or_refused(levels: int, field: str) -> None:
    deep = "[" * levels + "]" * levels
    message = f'{{"type":"message","role":"user","content":"Hello","{field}":{deep}}}'
    for data in (f'{{"messages":[{message}]}}', f"{message}\n{message}\n"):
        with suppress(FormatError):
            read_all(data.encode())


def test_settings_that_are_nested_too_deeply_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "legato.toml"
    path.write_text(f"families = {'[' * 3_000}{']' * 3_000}\n")
    with pytest.raises(ConfigError, match="nested too deeply"):
        read_file(path)


def test_a_response_that_is_nested_too_deeply_is_a_bad_answer() -> None:
    talk = Conversation()
    talk.human("Hello")
    request = render(talk, "openai/gpt-4o")
    with pytest.raises(BadAnswer):
        request.decode('{"choices":' + "[" * 100_000)


@pytest.mark.parametrize("act", [mend, lambda document: write(document, "claude-code")])
def test_a_file_that_can_only_just_be_read_is_repaired_or_refused(act: Callable[[Document], object]) -> None:
    refused = 0
    for levels in range(700, 1_000):
        deep = jsonl(said("u1", None, "go"), answered("a1", "u1", "m1", use("t1", n="DEEP")), said("u2", "a1", "on"))
        try:
            act(read_all(deep.replace(b'"DEEP"', b"[" * levels + b"]" * levels))[0])
        except FormatError as error:
            refused += "nested too deeply to be repaired" in error.message
    assert refused
