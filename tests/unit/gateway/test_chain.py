"""A conversation is known by what its client visibly said, and by nothing else."""

from __future__ import annotations

import pytest

from legato.gateway.chain import answer_digest, links
from legato.model import Entry, Media, MediaKind, Text, ToolCall

from builders import ai, call, instruction, response, result, thought, tool, user

PNG = Media(MediaKind.IMAGE, "image/png", data="aGk=")
SAID = [user("hi"), ai(thought("hm", signature="c2ln"), "I look", call("a")), result("a"), ai("done")]


def test_each_link_depends_on_all_that_came_before():
    changed = links([user("ho"), *SAID[1:]])

    assert len(set(links(SAID))) == len(SAID)
    assert not set(links(SAID)) & set(changed)


def test_a_longer_conversation_begins_with_the_links_of_the_shorter():
    assert links([*SAID, user("more")])[: len(SAID)] == links(SAID)


def test_what_a_client_may_leave_out_counts_for_nothing():
    bare = [SAID[0], ai("I look", call("a")), *SAID[2:]]
    signed = ai("I look", ToolCall("read", {}, "a", native={"thoughtSignature": "c2ln"}))

    assert links(bare) == links(SAID)
    assert links([SAID[0], signed]) == links(bare[:2])


@pytest.mark.parametrize(
    "split", [ai("I ", "look", call("a")), ai("", "I look", "", call("a")), ai("I", thought(), " look", call("a"))]
)
def test_where_the_text_of_an_answer_is_cut_counts_for_nothing(split: Entry):
    assert links([split]) == links([ai("I look", call("a"))])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (user("hi", thought("hm")), user("hi")),
        (user(Text("hi", native={"own": 1})), user("hi")),
        (user("ab"), ai("ab")),
        (user("ab"), instruction("ab")),
        (user("a", "b"), user("ab")),
        (user("a", PNG, "b"), user("a", "b", PNG)),
        (ai("a", call("a"), "b"), ai("ab", call("a"))),
        (ai(call("a")), ai(call("b"))),
        (ai(call("a", path="x")), ai(call("a", path="y"))),
        (ai(ToolCall("read", {}, "a")), ai(ToolCall("read", {}, "a", namespace="mcp__files"))),
        (result("a", "1"), result("b", "1")),
        (result("a", "1"), result("a", 1)),
        (result("a", "1"), result("a", None, error="1")),
        (tool(response("a", "1")), tool(response("a", "1", media=(PNG,)))),
        (ai("1", call("a")), ai(call("a"), "1")),
    ],
)
def test_what_reads_differently_has_another_link(one: Entry, other: Entry):
    assert links([one]) != links([other])


@pytest.mark.parametrize("odd", [2**80, "half \ud800"])
def test_values_that_no_format_holds_have_links_too(odd: object):
    assert links([ai(call("a", k=odd))]) != links([ai(call("a", k="x"))])
    assert answer_digest(ai(call("a", k=odd))) != answer_digest(ai(call("a", k="x")))


def test_an_answer_is_known_whatever_its_client_made_of_its_spelling():
    given = ai(thought(), "I look", ToolCall("read", {"path": "x", "from": 1}, "a", native={"k": "v"}), "\n")
    shown = ai(Text(" I look"), ToolCall("read", {"from": 1, "path": "x"}, ""))

    assert answer_digest(given) == answer_digest(shown)
    assert answer_digest(given) != answer_digest(ai("I look"))
    assert answer_digest(given) != answer_digest(ai("I see", *given.calls))
