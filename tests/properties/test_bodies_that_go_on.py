"""A body that goes on with one that came before is taken apart as if it were the first."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import event, example, given
from hypothesis import strategies as st

from legato.errors import FormatError, IngestError
from legato.gateway.bodies import Opening, open_body, whole_fields

MESSAGES = [b"1", b"12", b'"a"', b"null", b"[]", b"{}", b'{"role":"user","content":"hi"}', b'{"messages":[null,1]}']
"""some of which begin others, or hold what surrounds them"""
NAMES = ["messages", "model", "tools", "\\u006dessages", "x"]
VALUES = [b"1", b'"m"', b"[1]", b"[null]", b'{"messages":[1]}', b"[1,12]"]
SPACE = st.sampled_from([b"", b"", b"", b" ", b"\n\t"])


@st.composite
def written(draw: st.DrawFn, messages: list[bytes], head: list[bytes]) -> bytes:
    """A body with these messages, and with `head` in front of them."""
    space = draw(SPACE)
    listed = b"[" + space + (space + b"," + space).join(messages) + space + b"]"
    behind = [
        _field(draw(st.sampled_from(NAMES)), draw(st.sampled_from(VALUES))) for _ in range(draw(st.integers(0, 2)))
    ]
    body = b"{" + space + b",".join([*head, b'"messages":' + space + listed, *behind]) + space + b"}"
    cut = draw(st.sampled_from([None, None, None, draw(st.integers(0, len(body)))]))
    return body[:cut] + draw(st.sampled_from([b"", b"", b"", b"\n", b"x", b"}"]))


def _field(name: str, value: bytes) -> bytes:
    return b'"' + name.encode() + b'":' + value


@st.composite
def conversations(draw: st.DrawFn) -> list[bytes]:
    messages: list[bytes] = draw(st.lists(st.sampled_from(MESSAGES), max_size=6))
    fields = st.builds(_field, st.sampled_from(NAMES), st.sampled_from(VALUES))
    heads: list[list[bytes]] = draw(st.lists(st.lists(fields, max_size=2), min_size=1, max_size=2))
    bodies: list[bytes] = []
    for _ in range(draw(st.integers(2, 4))):
        bodies.append(draw(written(messages, draw(st.sampled_from(heads)))))
        messages = messages[: draw(st.integers(max(len(messages) - 2, 0), len(messages)))]
        messages = [*messages, *draw(st.lists(st.sampled_from(MESSAGES), max_size=3))]
    return bodies


def names_twice(data: bytes) -> bool:
    """Whether a name comes twice in an object that is no part of another."""
    listed: list[list[str]] = []

    def noted(pairs: list[tuple[str, Any]]) -> None:
        listed.append([name for name, _ in pairs])

    json.loads(data, object_pairs_hook=noted)
    return len(set(listed[-1])) < len(listed[-1])


def outcome(data: bytes, known: list[Opening] | None) -> str:
    """What a body comes to; what it leaves behind for the next is added to `known`."""
    try:
        opened = open_body(data, "messages", known)
        if known is not None and opened.opening is not None:
            known.append(opened.opening)
        fields = whole_fields(opened, "messages")
        if not names_twice(data):
            return repr(fields)
        assert not opened.is_json
        return f"twice: {fields!r}"
    except (FormatError, IngestError) as error:
        return f"refused: {error.message}"


@given(conversations())
@example([b'{"messages":[1]}', b'{"messages":[1,2],"messages":[3]}'])
@example([b'{"messages":[1]}', b'{"messages":[12]}'])
@example([b'{"messages":[1],"a":[1]}', b'{"messages":[1],"a":[1,2]}'])
@example([b'{"a":[1],"messages":[1]}', b'{"a":[1],"messages":[1,2]}'])
@example([b'{"a":1,"messages":[1]}', b'{"a":1,"messages":[1,2],"a":2}'])
@example([b'{"messages":[1]}', b'{"messages":[1],"messages":[null]}'])
@example([b'{"messages":[1]}', b'{"messages":[1],"a":1,"a":1}'])
@example([b'{"messages":[1]}', b'{ "a" : 12, "a":1, "messages":[1]}'])
def test_a_body_is_taken_apart_as_if_none_had_come_before(bodies: list[bytes]):
    known: list[Opening] = []
    for data in bodies:
        before = {id(opening.before) for opening in known}
        assert outcome(data, known) == outcome(data, None)
        event(f"went on: {any(id(opening.before) in before for opening in known[-1:])}")


def body_of(messages: list[Any], **behind: Any) -> bytes:
    return json.dumps({"model": "m", "max_tokens": 5, "messages": messages, **behind}).encode()


def test_a_body_that_goes_on_with_another_is_split_only_where_it_is_new():
    texts = [{"role": "user", "content": str(number)} for number in range(9)]
    first = open_body(body_of(texts, tools=[1]), "messages", []).opening
    assert first is not None
    for news in ([*texts, {"role": "user", "content": "more"}], [*texts[:-1], {"role": "user", "content": "other"}]):
        opened = open_body(body_of(news, tools=[2]), "messages", [first])
        assert opened.raws is not None
        assert opened.opening is not None
        assert opened.opening.before is first.before
        assert [one is other for one, other in zip(opened.raws, first.raws, strict=False)][:8] == [True] * 8
        again = open_body(body_of([*news, 1]), "messages", [opened.opening])
        assert again.opening is not None
        assert again.opening.before is first.before


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES)), max_size=5), SPACE)
def test_a_body_is_plain_json_as_long_as_no_name_in_it_comes_twice(fields: list[tuple[str, bytes]], space: bytes):
    written = (space + b"," + space).join(_field(name, space + value) for name, value in fields)
    data = space + b"{" + space + written + space + b"}" + space
    assert open_body(data, "messages").is_json is not names_twice(data)
