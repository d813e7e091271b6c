"""What a client told before is known again by its bytes; the properties say that it makes no difference."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import pytest

from legato.errors import IngestError
from legato.gateway.scans import Scan
from legato.gateway.tellings import Telling, Tellings
from legato.model import Dialect, ingestion
from legato.wire.openai_chat import message_list


def said(*texts: str) -> list[Any]:
    return [{"role": "user", "content": text} for text in texts]


def tell(tellings: Tellings, messages: Any, tenant: str = "", **others: Any) -> tuple[list[Any], Telling]:
    """The messages as they were decoded, and by what they are known."""
    body = json.dumps({**others, "messages": messages}).encode()
    fields, parsed, telling = tellings.read(
        tellings.open(body, Dialect.OPENAI_CHAT, tenant), Dialect.OPENAI_CHAT, tenant
    )
    assert [entry.text for entry in parsed.entries] == [message["content"] for message in messages]
    assert list(fields) == [*others, "messages"]
    return fields["messages"], telling


def test_messages_that_came_before_are_not_decoded_again():
    tellings = Tellings()
    first, telling = tell(tellings, said("1", "2", "3"), model="m")
    second, same = tell(tellings, said("1", "2", "other", "4"))
    assert same is telling
    assert [one is other for one, other in zip(first, second, strict=False)] == [True, True, False]


def test_each_tenant_has_its_own():
    tellings = Tellings()
    _, one = tell(tellings, said("1", "2"), "a")
    _, other = tell(tellings, said("1", "2", "3"), "b")
    assert one is not other


def test_a_fork_that_leaves_most_of_a_conversation_does_not_take_it_away():
    tellings = Tellings()
    _, long = tell(tellings, said(*"123456789"))
    _, fork = tell(tellings, said(*"12x"))
    assert fork is not long
    assert tell(tellings, said(*"123456789", "more"))[1] is long
    assert tell(tellings, said(*"12xy"))[1] is fork


def test_a_body_that_cannot_be_read_leaves_nothing_behind():
    tellings = Tellings()
    _, before = tell(tellings, said("1", "2"))
    few = patch.object(ingestion, "MAX_NODES", 20), patch.object(message_list, "MAX_NODES", 20)
    with few[0], few[1], pytest.raises(IngestError):
        tell(tellings, said("1", "2", *"3" * 10))
    assert tell(tellings, said("1", "2", "3"))[1] is not before


def test_what_was_used_longest_ago_makes_room():
    tellings = Tellings(most=2)
    known = [tell(tellings, said(text, "again"))[1] for text in "abc"]
    again = [tell(tellings, said(text, "again", "more"))[1] for text in "cba"]
    assert [one is other for one, other in zip(reversed(known), again, strict=True)] == [True, True, False]
    small = Tellings(most_bytes=300)
    _, long = tell(small, said("a" * 150, "b"))
    assert tell(small, said("a" * 150, "b", "c" * 100))[1] is long
    assert tell(small, said("a" * 150, "b", "c" * 100))[1] is not long


def test_of_conversations_that_begin_alike_the_newest_are_known():
    tellings = Tellings()
    known = [tell(tellings, said("alike", f"{number}", f"{number}"))[1] for number in range(20)]
    again = [tell(tellings, said("alike", f"{number}", f"{number}", "more"))[1] for number in (19, 18, 0)]
    assert [one is other for one, other in zip([known[19], known[18], known[0]], again, strict=True)] == [
        True,
        True,
        False,
    ]


def test_a_scan_steps_over_what_is_new():
    scan: Scan[str, str] = Scan("")
    stepped: list[str] = []

    def step(before: str, value: str) -> str:
        stepped.append(value)
        return before + value

    assert scan.over(["a", "b"], step) == ["a", "ab"]
    assert scan.over(["a", "c", "d"], step) == ["a", "ac", "acd"]
    assert scan.through(["a", "c"], step) == "ac"
    assert scan.through([], step) == ""
    assert stepped == ["a", "b", "c", "d"]
