"""What is done in a quicker way comes out as if it were done in the general one.

docs/decisions/0016-fast-paths.md lists the quicker ways. Those that print and read are compared where they live
(test_render_properties, test_gate_properties, test_openai_chat_simple); here are those that take in, name and place.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from legato.errors import IngestError
from legato.ledger import Identity
from legato.model import Block, CallId, Entry, IdScheme, NameRule, ingest, ingestion, safe
from legato.transcript import Conversation
from legato.transcript.compose import Composer
from legato.wire.ids import IdTable
from legato.wire.names import NameTable

from builders import ai, call, calls, result, talk, units, user
from strategies import SMALL_JSON, interleaved, logs


def _never(*_: object) -> bool:
    return False


def _never_matches(_: str) -> None:
    return None


def _decline(*_: object) -> Any:
    raise ingestion._NotPlain


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
        patch.setattr(Composer, "_place_awaited", _never)
        thorough = talk(*news)
    assert _told(quick) == _told(thorough)


@given(interleaved())
@example([calls("call_a", "toolu_b"), result("call_a"), calls("call_a"), result("toolu_b"), calls("call_a_2", "a")])
def test_ids_that_make_names_as_they_are_give_the_names_that_looking_closer_gives(news: list[Any]) -> None:
    quick = talk(*news)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("legato.ledger.identity.match_simple_id", _never_matches)
        thorough = talk(*news)
    assert quick.log == thorough.log


def _block_by_block(identity: Identity, entry: Entry, in_place: bool) -> tuple[Block, ...]:
    return identity._mint_blocks(entry, [], in_place)


@given(interleaved())
@example(
    [calls("a", "a", "b"), result("b"), result("a"), result("a", "again"), calls("b"), result("toolu_b"), result("")]
)
def test_results_of_open_calls_are_named_as_looking_closer_names_them(news: list[Any]) -> None:
    quick = talk(*news)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Identity, "_mint_results", _block_by_block)
        thorough = talk(*news)
    assert quick.log == thorough.log


def _as_read(news: list[Entry]) -> list[Entry]:
    """Copies with safe values, as parsers make them."""
    return [safe(replace(entry, blocks=tuple(map(replace, entry.blocks)))) for entry in news]


@given(logs())
@example([calls("call_a", "toolu_b"), result("toolu_b"), result("call_a"), calls("call_a"), result("a"), result("")])
def test_entries_that_are_taken_over_are_recorded_as_their_copies_are(news: list[Entry]) -> None:
    entries = _as_read(news)
    copied, kept = Conversation(), Conversation()
    copied.take(entries)
    assert entries == _as_read(news)
    kept.take_over(entries)
    assert (kept.log, kept.ledger, _told(kept)) == (copied.log, copied.ledger, _told(copied))


@given(logs(), st.integers(1, 3))
def test_entries_that_are_named_in_portions_are_recorded_as_those_that_come_one_by_one(
    news: list[Entry], size: int
) -> None:
    entries, single, portions = _as_read(news), Conversation(), Conversation()
    for entry in entries:
        single.take([entry])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("legato.transcript.conversation._PORTION", size)
        portions.take(entries)
    assert (portions.log, portions.ledger, _told(portions)) == (single.log, single.ledger, _told(single))


@given(SMALL_JSON, st.integers(0, 3), st.integers(1, 6))
@example([{"a": 1, "b": [None, True, 1.5, "\0", "\ud800", float("nan"), 10**400]}, {}, []], 9, 99)
@example([1, [2, [3, [4]]]], 2, 99)
@example({"a": {"b": {"c": {}}}}, 2, 99)
@example([1, 2, {"a": 3}], 9, 5)
@example([1, 2, {"a": 3}], 9, 4)
@pytest.mark.req("REQ-915-038")
def test_a_value_that_is_copied_is_what_walking_through_it_gives(value: Any, depth: int, nodes: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ingestion, "MAX_DEPTH", depth)
        patch.setattr(ingestion, "MAX_NODES", nodes)
        quick = _ingested(value)
        patch.setattr(ingestion, "_copy", _decline)
        assert quick == _ingested(value)
    assert (quick == "too large") == (_parts(value, depth) > nodes)


def _ingested(value: Any) -> Any:
    try:
        return ingest(value)
    except IngestError:
        return "too large"


def _parts(value: Any, levels: int) -> int:
    """How many values `value` is and holds, down to where it is cut."""
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(_parts(item, levels - 1) for item in held if levels >= 0)


@given(logs())
@example([calls("a", "call_call_b", "call_a"), calls("toolu_a")])
def test_ids_that_are_given_together_are_those_that_each_call_would_get(news: list[Entry]) -> None:
    calls = list(talk(*news).ledger.calls.values())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(IdTable, "_extend_derived", _never)
        thorough = {scheme: _ids(scheme, calls) for scheme in IdScheme}
    assert {scheme: _ids(scheme, calls) for scheme in IdScheme} == thorough


def _ids(scheme: IdScheme, calls: list[Any]) -> dict[CallId, str]:
    table = IdTable(scheme, NameTable(NameRule.OPENAI))
    half = len(calls) // 2
    table.extend(calls[:half])
    table.extend(calls[half:])
    return dict(table)
