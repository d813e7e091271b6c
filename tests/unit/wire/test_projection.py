"""Our ids and names as each provider's."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato import render
from legato.errors import ProjectionError
from legato.model import CallId, IdScheme, NameRule
from legato.wire.ids import IdTable
from legato.wire.names import NameTable

from builders import ai, call, calls, result, talk, user


class Named(NamedTuple):
    id: CallId
    wire_id: str
    name: str = "read"
    namespace: str = ""


def table(scheme: IdScheme, *calls_: Named, rule: NameRule = NameRule.KIMI) -> list[str]:
    ids = IdTable(scheme, NameTable(rule))
    ids.extend(calls_)
    return list(ids.values())


def named(stem: str, wire_id: str = "", name: str = "read") -> Named:
    return Named(CallId(f"hist_tool_{stem}"), wire_id, name)


@pytest.mark.req("REQ-915-018", "REQ-915-019")
@pytest.mark.parametrize(
    ("scheme", "wire_id", "projected"),
    [
        (IdScheme.CALL40, "call_x", "call_x"),
        (IdScheme.CALL40, "toolu_x", "call_x"),
        (IdScheme.CALL40, "hist_tool_x", "call_x"),
        (IdScheme.CALL64, "call_" + "y" * 59, "call_" + "y" * 59),
        (IdScheme.TOOLU, "call_x", "toolu_x"),
        (IdScheme.TOOLU, "toolu_x", "toolu_x"),
        (IdScheme.NINE, "abcdefgh1", "abcdefgh1"),
        (IdScheme.KIMI, "functions.read:7", "functions.read:7"),
        (IdScheme.KIMI, "call_x", "functions.read:0"),
    ],
)
def test_a_valid_id_is_kept_and_any_other_gets_the_targets_form(scheme: IdScheme, wire_id: str, projected: str) -> None:
    assert table(scheme, named("x", wire_id)) == [projected]


@pytest.mark.parametrize(
    ("scheme", "bad"),
    [
        (IdScheme.CALL40, "call_" + "x" * 36),
        (IdScheme.CALL40, "call_a.b"),
        (IdScheme.CALL64, "call_" + "x" * 60),
        (IdScheme.TOOLU, "toolu_a:b"),
        (IdScheme.NINE, "abc_efgh1"),
        (IdScheme.NINE, "abcdefgh12"),
        (IdScheme.KIMI, "functions.other:1"),
        (IdScheme.KIMI, "functions.read:007"),
        (IdScheme.KIMI, "functions.read:1234567"),
    ],
)
def test_an_id_that_the_target_would_refuse_is_not_passed_on(scheme: IdScheme, bad: str) -> None:
    assert table(scheme, named("x", bad)) != [bad]


@pytest.mark.req("REQ-915-021")
def test_mistrals_ids_are_hashes_and_never_cut_prefixes() -> None:
    ids = table(IdScheme.NINE, *(named(f"functions_read_{n}", f"functions.read:{n}") for n in range(1000)))
    assert all(re.fullmatch("[A-Za-z0-9]{9}", name) for name in ids)
    assert len(set(ids)) == 1000


@pytest.mark.req("REQ-915-020")
def test_kimis_numbers_begin_at_zero_and_count_on_across_turns() -> None:
    conversation = talk(user("x"), calls("a", "b"), result("b"), result("a"), user("y"), calls("a"), result("a"))
    emitted = render(conversation, "kimi/kimi-k2-0905-preview").report.emitted
    assert [one.wire_id for one in emitted] == ["functions.read:0", "functions.read:1", "functions.read:2"]
    assert [one.result_wire_id for one in emitted] == [one.wire_id for one in emitted]


@pytest.mark.req("REQ-915-020")
def test_an_id_of_kimis_that_names_another_tool_is_not_kept() -> None:
    assert table(IdScheme.KIMI, named("x", "functions.grep:7")) == ["functions.read:0"]


def test_kimis_own_numbers_are_kept_and_new_ones_go_on_behind_the_highest() -> None:
    assert table(
        IdScheme.KIMI,
        named("a", "functions.read:5"),
        named("b", "call_b"),
        named("c", "functions.grep:6", "grep"),
        named("d", "functions.read:5"),
    ) == ["functions.read:5", "functions.read:6", "functions.grep:7", "functions.read:8"]


def test_kimis_running_index_never_repeats_where_a_server_begins_anew_in_every_answer() -> None:
    assert table(
        IdScheme.KIMI,
        named("a", "functions.read:0"),
        named("b", "functions.grep:0", "grep"),
        named("c", "functions.read:1"),
        named("d", "functions.read:9"),
    ) == ["functions.read:0", "functions.grep:1", "functions.read:2", "functions.read:9"]


@pytest.mark.req("REQ-915-016", "REQ-915-049")
def test_an_id_that_is_taken_is_given_once() -> None:
    assert table(IdScheme.CALL40, named("x", "call_x"), named("x_2", "call_x")) == ["call_x", "call_x_2"]
    assert table(IdScheme.CALL40, named("y", "call_x"), named("x", ""))[0] == "call_x"
    assert len(set(table(IdScheme.CALL40, named("y", "call_x"), named("x", "")))) == 2


@pytest.mark.parametrize("scheme", IdScheme)
@pytest.mark.req("REQ-915-016", "REQ-915-049")
def test_ids_stay_one_to_one_for_a_hundred_thousand_calls(scheme: IdScheme) -> None:
    ids = table(scheme, *(named(f"c{n}", f"call_{n % 7}") for n in range(100_000)))
    assert len(set(ids)) == 100_000


@pytest.mark.req("REQ-915-016", "REQ-915-049")
def test_a_nine_letter_id_that_two_calls_have_stays_with_the_first() -> None:
    kept, other = table(IdScheme.NINE, named("a", "abcdefgh1"), named("b", "abcdefgh1"))
    assert kept == "abcdefgh1"
    assert re.fullmatch("[A-Za-z0-9]{9}", other)
    assert other != kept


def test_a_nine_letter_id_that_is_taken_is_passed_over() -> None:
    (hashed,) = table(IdScheme.NINE, named("a"))
    kept, other = table(IdScheme.NINE, named("b", hashed), named("a"))
    assert kept == hashed
    assert re.fullmatch("[A-Za-z0-9]{9}", other)
    assert other != hashed


@pytest.mark.parametrize("scheme", IdScheme)
def test_an_id_depends_on_earlier_calls_only(scheme: IdScheme) -> None:
    some = [named("a", "call_a"), named("b", ""), named("c", "functions.read:1")]
    assert table(scheme, *some)[:2] == table(scheme, *some[:2])


@pytest.mark.req("REQ-915-040")
def test_two_calls_with_one_name_of_ours_are_a_projection_fault() -> None:
    with pytest.raises(ProjectionError) as caught:
        table(IdScheme.CALL40, named("a"), named("a"))
    assert caught.value.facts == {"layer": "projection", "calls": ["hist_tool_a"]}


def test_a_call_that_comes_again_under_another_id_is_a_projection_fault() -> None:
    ids = IdTable(IdScheme.CALL40, NameTable(NameRule.OPENAI))
    ids.extend([named("a", "call_x")])
    with pytest.raises(ProjectionError) as caught:
        ids.extend([named("a", "call_y")])
    assert caught.value.facts == {"layer": "projection", "calls": ["hist_tool_a"]}


def test_when_nothing_is_free_it_is_a_projection_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("legato.wire.ids.base62", lambda *_, length: "x" * length)
    monkeypatch.setattr("legato.wire.names.base62", lambda *_, length: "x")
    with pytest.raises(ProjectionError, match="no free id"):
        table(IdScheme.CALL40, named("y", "call_x"), named("x"), named("z", "call_w"), named("w"))
    names = NameTable(NameRule.OPENAI)
    names.project("a b")
    with pytest.raises(ProjectionError, match="no free name"):
        names.project("a.b")


# --- names ------------------------------------------------------------------------------------------------------------

FORMS = {
    NameRule.OPENAI: r"[a-zA-Z0-9_-]{1,64}",
    NameRule.ANTHROPIC: r"[a-zA-Z0-9_-]{1,128}",
    NameRule.GEMINI: r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}",
    NameRule.KIMI: r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}",
}


@pytest.mark.parametrize("rule", NameRule)
@given(
    st.lists(st.one_of(st.text(max_size=200), st.sampled_from(["a.b", "a b", "a_b", "", "Ünïcode", "x" * 200, "9x"])))
)
def test_names_are_valid_one_to_one_and_come_back(rule: NameRule, names: list[str]) -> None:
    projection = NameTable(rule)
    wires = [projection.project(name) for name in names]
    assert all(re.fullmatch(FORMS[rule], wire) for wire in wires)
    assert len(set(wires)) == len(set(names))
    assert [projection.restore(wire) for wire in wires] == names


@given(st.text(max_size=100))
def test_a_projected_name_is_a_function_of_the_name_alone(name: str) -> None:
    later = NameTable(NameRule.OPENAI)
    later.project("something else")
    assert later.project(name) == NameTable(NameRule.OPENAI).project(name)


def test_a_literal_name_that_equals_a_projection_keeps_its_own() -> None:
    projected = NameTable(NameRule.OPENAI).project("a b")
    names = NameTable(NameRule.OPENAI)
    assert names.project("a b") == projected
    assert names.project(projected) == projected
    assert names.project("a b") != projected
    assert names.restore(projected) == projected
    assert names.restore(names.project("a b")) == "a b"


def test_an_unknown_wire_name_stands_for_itself() -> None:
    assert NameTable(NameRule.OPENAI).restore("never_seen") == "never_seen"


@pytest.mark.req("REQ-915-017")
def test_definitions_calls_and_results_agree_on_a_projected_name() -> None:
    conversation = talk(user("hi"), ai(call("a", "mcp.server/tool")), result("a", name="mcp.server/tool"))
    body = render(conversation, "gemini/gemini-3-pro-preview", tools=[{"name": "mcp.server/tool"}]).copy()
    (declared,) = body["tools"][0]["functionDeclarations"]
    called = body["contents"][1]["parts"][0]["functionCall"]["name"]
    answered = body["contents"][2]["parts"][0]["functionResponse"]["name"]
    assert declared["name"] == called == answered != "mcp.server/tool"
