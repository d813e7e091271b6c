"""Whatever bytes a reader is given, it reads them or refuses them with an error of Legato's own.

Bytes come from three sources: anything at all; small session files that were cut, glued, overwritten and shuffled; and
JSON of the right shape with values of the wrong types in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from history_files import FILES as PROGRAMS
from legato.errors import LegatoError
from legato.formats import FORMATS, Document, lint_document, mend, read_all, write
from legato.formats.reading import read_to_judge
from mutations import mutate
from session_files import EVERY_FILE

from histories import Step, histories

pytestmark = pytest.mark.slow

FILES = sorted(EVERY_FILE)
AGENTS = ("gemini-cli", "opencode", "qwen-code", "pi", "kimi-code")
"""whose writers do the same for all files: one of them for each is enough"""
KEYS = st.sampled_from(
    ["type", "role", "content", "message", "messages", "parts", "uuid", "parentUuid", "sessionId", "id", "payload",
     "tool_calls", "toolCalls", "text", "input", "arguments", "state", "status", "output", "result", "name", "data",
     "lc", "kwargs", "from", "value", "conversations", "info", "history", "request", "body", "traj", "contents",
     "$set", "$rewindTo", "systemPayload", "compressedHistory", "event", "payload", "subtype", "count", "toolCalls",
     "loglines", "interactions", "function", "toolCallId", "callID", "tool", "system", "model"]
)  # fmt: skip
WORDS = st.sampled_from(
    ["user", "assistant", "tool", "system", "text", "tool_use", "tool_result", "toolCall", "toolResult", "gemini", "ai",
     "human", "session", "message", "function_call", "function_call_output", "response_item", "session_meta",
     "tool_result", "chat_compression", "context.append_message", "context.append_loop_event", "context.undo",
     "step.begin", "tool.call", "tool.result", "ToolCall", "x", ""]
)  # fmt: skip
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=30,
)


def attempt(data: bytes, name: str | None = None) -> None:
    """Read, and go on with what was read; anything but a refusal of one line fails the test."""
    documents: list[Document] = []
    with one_line():
        documents = read_all(data, format=name)
    for document in documents[:3]:
        assert len(document.entries) == len(document.places) == len(document.sources)
        document.conversation(compacted=True)
        for target in ("claude-code", "codex", AGENTS[len(data) % len(AGENTS)]):
            with one_line():
                write(document, target)
        with one_line():
            mend(document)


@contextmanager
def one_line() -> Iterator[None]:
    """Let pass what Legato refuses, if it says why in one line."""
    try:
        yield
    except LegatoError as error:
        if "\n" in error.message:
            raise


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    attempt(data)


@pytest.mark.parametrize("name", sorted(FORMATS))
@given(data=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_as_every_format(name: str, data: bytes) -> None:
    attempt(data, name)
    attempt(b"{" + data, name)


@st.composite
def damaged(draw: st.DrawFn, name: str) -> bytes:
    """A good file after an accident."""
    data = EVERY_FILE[name]
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        length = draw(st.integers(0, 200))
        junk = draw(st.binary(max_size=20) | st.just(b"\0" * 64) | st.just(b"\n") | st.just(b'{"'))
        data = data[:start] + junk + data[start + length :]
    return data


@pytest.mark.parametrize("name", FILES)
@given(source=st.data())
def test_damaged_files_are_read_or_refused(name: str, source: st.DataObject) -> None:
    data = source.draw(damaged(name))
    attempt(data)
    attempt(data, name)


@pytest.mark.parametrize("name", FILES)
@given(changes=st.lists(st.tuples(st.integers(0, 10_000), VALUES), min_size=1, max_size=4))
def test_files_with_values_of_the_wrong_types_are_read_or_refused(name: str, changes: list[tuple[int, Any]]) -> None:
    values = values_of(name)
    for number, value in changes:
        places = list(slots(values))
        holder, key = places[number % len(places)]
        holder[key] = value
    attempt("\n".join(json.dumps(value) for value in values).encode())


@pytest.mark.parametrize("name", FILES)
def test_no_place_of_a_file_is_harmed_by_a_number_that_no_float_holds(name: str) -> None:
    values = values_of(name)
    for holder, key in list(slots(values)):
        kept, holder[key] = holder[key], 10**400
        with one_line():
            read_all("\n".join(map(json.dumps, values)).encode(), format=name)
        holder[key] = kept


def values_of(name: str) -> list[Any]:
    """What is on the lines of the file of that format, or the one value that it is."""
    text = EVERY_FILE[name].decode()
    return [json.loads(line) for line in text.splitlines()] if text.startswith('{"') else [json.loads(text)]


def slots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in `value` that holds something."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from slots(value[key])


@given(st.lists(st.dictionaries(KEYS, VALUES, min_size=1, max_size=6), min_size=1, max_size=5))
def test_objects_of_familiar_words_are_read_or_refused(records: list[dict[str, Any]]) -> None:
    lines = "\n".join(json.dumps(record) for record in records)
    attempt(lines.encode())
    attempt(json.dumps(records).encode())
    for name in (
        "claude-code",
        "codex",
        "gemini-cli",
        "pi",
        "opencode",
        "qwen-code",
        "kimi-code",
        "vercel-ui",
        "chat-records",
    ):
        with one_line():
            read_all(lines.encode(), format=name)


AROUND = frozenset(
    {"id", "tool_use_id", "tool_call_id", "call_id", "toolCallId", "callID", "name", "toolName", "tool", "is_error",
     "isError", "status", "state", "sessionId", "model", "stopReason", "ts", "args", "arguments",
     "input", "projectHash", "path"}
)  # fmt: skip
"""fields beside a result, none of which is needed to see that it is one"""


@given(
    program=st.sampled_from(sorted(PROGRAMS)),
    steps=histories(),
    changes=st.lists(st.tuples(st.integers(0, 10_000), VALUES), min_size=1, max_size=3),
)
def test_every_result_of_a_file_is_read_whatever_stands_in_the_fields_around_it(
    program: str, steps: list[Step], changes: list[tuple[int, Any]]
) -> None:
    format_, write_file = PROGRAMS[program]
    file = write_file([Step("say", "hello"), *steps])
    value = json.loads(json.dumps(file.value))
    for number, odd in changes:
        places = [(holder, key) for holder, key in slots(value) if key in AROUND and is_beside(holder[key])]
        if places:
            holder, key = places[number % len(places)]
            holder[key] = odd
    documents = read_all(file._replace(value=value).data, format=format_)
    told = b"".join(msgspec.json.encode(document.entries) for document in documents).decode()
    assert [says for says in file.results if says not in told] == []


def is_beside(value: Any) -> bool:
    """Whether `value` is no part of what makes a result one: its text, or the path of a class."""
    text = json.dumps(value)
    return not isinstance(value, list) and "<of" not in text and "<result" not in text and "<other" not in text


@given(program=st.sampled_from(sorted(PROGRAMS)), steps=histories(), seed=st.integers(0, 2**32))
def test_what_is_read_to_be_judged_is_the_same_without_digest_and_lines(
    program: str, steps: list[Step], seed: int
) -> None:
    format_, write_file = PROGRAMS[program]
    file = write_file([Step("say", "hello"), *steps])
    data = file._replace(value=mutate(file.value, Random(seed))).data
    try:
        whole = read_all(data, format=format_)
    except LegatoError as error:
        with pytest.raises(type(error)):
            read_to_judge(data, format=format_)
        return
    judged = read_to_judge(data, format=format_)
    assert all(document.digest == "" for document in judged)
    assert all(document.original is None or not document.original.records for document in judged)
    assert [lint_document(document) for document in judged] == [lint_document(document) for document in whole]
    if any(document.is_skimmed for document in judged):
        assert [document.entries for document in judged] == [[]]
        return
    rest = [replace(one, digest=two.digest, original=two.original) for one, two in zip(judged, whole, strict=True)]
    assert rest == whole


@given(program=st.sampled_from(sorted(PROGRAMS)), steps=histories(), seed=st.integers(0, 2**32))
def test_a_file_that_was_damaged_anywhere_is_read_or_refused(program: str, steps: list[Step], seed: int) -> None:
    format_, write_file = PROGRAMS[program]
    file = write_file([Step("say", "hello"), *steps])
    attempt(file._replace(value=mutate(file.value, Random(seed))).data, format_)
