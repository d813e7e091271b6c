"""What a compaction leaves out, it leaves out whole; what came later, or goes to a larger window, is shown."""

from __future__ import annotations

import pytest

from legato import render, resolve
from legato.model import CallId, Record
from legato.model.records import Compacted, CompactionKind
from legato.transcript import Conversation, Exchange, output_digest
from on_the_wire import Words, calls_of, results_of, sent, unpaired

from builders import OTHER_ROUTES, ROUTES, ai, calls, response, result, talk, tool, units, user

NATIVE = [route for route in (*ROUTES, *OTHER_ROUTES) if resolve(route).capabilities.native_tool_history]
native_routes = pytest.mark.parametrize("route", NATIVE)
HUGE = 10_000_000
"""a window that no target has: what is compacted for it is compacted for all"""


def stub(call: str, conversation: Conversation, *, window: int = HUGE) -> Record:
    """A stub for the output of `call` as it is now."""
    completions = [done for unit in units(conversation) if isinstance(unit, Exchange) for done in unit.completions]
    done = next(done for done in completions if done.call_id == call)
    return Compacted(
        kind=CompactionKind.STUB, text="[stub]", window=window, call=CallId(call), digest=output_digest(done)
    )


def cover(first: int, last: int) -> Record:
    return Compacted(kind=CompactionKind.COVER, text="in short", window=HUGE, first=first, last=last)


def compact(conversation: Conversation, record: Record) -> None:
    conversation.apply(conversation.prepare([record]))


def ends(conversation: Conversation, route: str) -> list[object]:
    items = sent(render(conversation, route))
    assert unpaired(items) == []
    return [item.value for item in results_of(items)]


@pytest.mark.req("REQ-915-026", "REQ-915-028")
@native_routes
def test_a_request_after_compactions_is_what_it_would_be_if_nothing_had_been_printed_before(route: str) -> None:
    told = talk(user("hi"), calls("a", "b"), result("a"), result("b", None, error="no"), ai("so"), user("go"))
    told.record(calls("c"))
    render(told, route)
    for record in (stub("hist_tool_a", told), cover(0, 3)):
        compact(told, record)
        assert sent(render(told, route)) == sent(render(told.copy(), route))
        render(told, route).verify()
    told.record(result("c", "C"))
    assert sent(render(told, route)) == sent(render(told.copy(), route))
    assert ends(told, route) == ["C"]


@pytest.mark.req("REQ-915-026", "REQ-915-028")
@native_routes
def test_calls_keep_their_ends_around_an_output_that_is_stubbed(route: str) -> None:
    told = talk(user("hi"), calls("a", "b", "c"), result("a"), result("b", None, error="no"), user("go"))
    before = ends(told, route)
    compact(told, stub("hist_tool_a", told))
    after = ends(told, route)
    assert (before[0], after[0]) == ("result of a", "[stub]")
    assert after[1:] == before[1:]


@pytest.mark.req("REQ-915-026")
@native_routes
def test_a_real_result_that_comes_after_its_failure_was_stubbed_is_shown(route: str) -> None:
    told = talk(user("hi"), calls("a"), result("a", None, error="try again"), user("go"))
    compact(told, stub("hist_tool_a", told))
    told.record(result("a", "it worked"))
    assert ends(told, route) == ["it worked"]


@pytest.mark.req("REQ-915-026")
def test_what_is_stubbed_for_a_small_window_is_whole_in_a_larger_one() -> None:
    told = talk(user("hi"), calls("a"), result("a"), user("go"))
    small, large = "openai/gpt-4o", "gemini/gemini-3-pro-preview"
    compact(told, stub("hist_tool_a", told, window=resolve(small).capabilities.window))
    assert (ends(told, small), ends(told, large)) == (["[stub]"], ["result of a"])
    assert (ends(told.copy(), large), ends(told.copy(), small)) == (["result of a"], ["[stub]"])


@pytest.mark.req("REQ-915-026", "REQ-915-028")
@native_routes
def test_what_was_said_after_a_summary_was_written_is_not_covered_by_it(route: str) -> None:
    told = talk(user("hi"), calls("a"), result("a"), ai("so"), user("go"))
    compact(told, cover(0, 99))
    told.record(calls("b"))
    told.record(result("b"))
    told.human("and?")
    assert ends(told, route) == ["result of b"]
    assert ends(told.copy(), route) == ["result of b"]
    assert [item.arguments for item in calls_of(sent(render(told, route)))] == [{"path": "b.txt"}]


@pytest.mark.req("REQ-915-028")
@native_routes
def test_a_result_that_comes_for_a_covered_call_leaves_no_orphan(route: str) -> None:
    told = talk(user("hi"), calls("a", "b"), result("a"), ai("so"), user("go"))
    compact(told, cover(0, 3))
    told.record(result("b", "late"))
    assert ends(told, route) == []
    assert ends(told.copy(), route) == []


@pytest.mark.req("REQ-915-039")
def test_a_report_names_the_calls_that_are_no_longer_shown() -> None:
    told = talk(user("hi"), calls("a"), result("a"), user("go"), calls("b"), result("b"), user("and?"))
    compact(told, cover(0, 2))
    report = render(told, "openai/gpt-4o").report
    assert list(report.calls_seen) == ["hist_tool_a", "hist_tool_b"]
    assert [call.call_id for call in report.emitted] == ["hist_tool_b"]


# --- a history that somebody else cut ---------------------------------------------------------------------------------


@pytest.mark.req("REQ-915-027", "REQ-915-028")
@native_routes
def test_results_whose_calls_were_cut_off_are_told_with_and_without_the_name_of_their_tool(route: str) -> None:
    cut = tool(response("x", "named", name="read"), response("y", "nameless", name=""), response("z", "named too"))
    items = sent(render(talk(cut, user("go on")), route))
    assert unpaired(items) == []
    told = [item.value for item in results_of(items)] + [item.text for item in items if isinstance(item, Words)]
    for text in ("named", "nameless", "named too"):
        assert sum(text in str(item).splitlines() for item in told) == 1, text


@pytest.mark.req("REQ-915-027", "REQ-915-028")
@native_routes
def test_calls_whose_results_were_cut_off_are_closed_whoever_kept_the_log(route: str) -> None:
    told = talk(user("hi"), calls("a", "b"), result("b"), user("go on"), calls("c"), ai("so"), user("and?"))
    items = sent(render(told, route))
    assert unpaired(items) == []
    assert [item.arguments["path"] for item in calls_of(items)] == ["a.txt", "b.txt", "c.txt"]
