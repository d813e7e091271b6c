"""What is done in a quicker way comes out as if it were done in the general one.

docs/decisions/0016-fast-paths.md lists the quicker ways. Those that print and read are compared where they live
(test_render_properties, test_gate_properties, test_openai_chat_simple); here are those that take in, name and place.
"""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import example, given

from legato.model import CallId, Entry, IdScheme, NameRule, ingest
from legato.transcript import Conversation
from legato.transcript.compose import Composer
from legato.wire.ids import IdTable
from legato.wire.names import NameTable

from builders import ai, call, calls, result, talk, units, user
from strategies import SMALL_JSON, interleaved, logs


def _never(*_: object) -> bool:
    return False


def _decline(*_: object) -> Any:
    raise sys.modules["legato.model.ingest"]._NotPlain


def _told(conversation: Conversation) -> list[Any]:
    """The units, and what was decided about each."""
    view = conversation.view()
    return [*units(conversation), view.decisions_from(0)]


@given(interleaved())
@example(
    [result("a", "early"), calls("a", "b"), user("and"), result("b", "late"), ai("so", call("c")), result("c", "x")]
)
def test_what_is_placed_at_once_stands_where_it_would_be_placed_block_by_block(news: list[Any]) -> None:
    quick = talk(*news)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Composer, "_place_simple_answer", _never)
        patch.setattr(Composer, "_awaits", _never)
        thorough = talk(*news)
    assert _told(quick) == _told(thorough)


@given(SMALL_JSON)
@example([{"a": 1, "b": [None, True, 1.5, "\0", "\ud800", float("nan"), 10**400]}, {}, []])
def test_a_value_that_is_copied_is_what_walking_through_it_gives(value: Any) -> None:
    module = sys.modules["legato.model.ingest"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_copy", _decline)
        thorough = ingest(value)
    assert ingest(value) == thorough


@given(logs())
@example([calls("a", "call_call_b", "call_a"), calls("toolu_a")])
def test_ids_that_are_given_together_are_those_that_each_call_would_get(news: list[Entry]) -> None:
    calls = list(talk(*news).ledger.calls.values())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(IdTable, "_extend_plain", _never)
        thorough = {scheme: _ids(scheme, calls) for scheme in IdScheme}
    assert {scheme: _ids(scheme, calls) for scheme in IdScheme} == thorough


def _ids(scheme: IdScheme, calls: list[Any]) -> dict[CallId, str]:
    table = IdTable(scheme, NameTable(NameRule.OPENAI))
    half = len(calls) // 2
    table.extend(calls[:half])
    table.extend(calls[half:])
    return dict(table)
