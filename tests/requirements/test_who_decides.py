"""The transcript decides what is valid; a dialect encodes what it is given, and mends nothing."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import legato
from legato import render, resolve
from legato.model import CallId, ClosureReason, Dialect, Entry, Record, ThinkingPolicy, ToolCall, ingest
from legato.model.records import Compacted
from legato.request.render_cache import RenderCache
from legato.transcript import Conversation, Unit
from legato.wire.dialects import dialect_parts
from legato.wire.phrases import ERROR_MARK
from legato.wire.projection.messages import AnswerMessage, CallPart, ResultPart, ResultsMessage, TextPart
from on_the_wire import WireCall, WireResult, calls_of, read_body, sent

from builders import OTHER_ROUTES, ROUTES, ai, call, result, talk, thought, tool, units, user
from strategies import interleaved

NATIVE = [route for route in (*ROUTES, *OTHER_ROUTES) if resolve(route).capabilities.native_tool_history]
every_route = pytest.mark.parametrize("route", [*ROUTES, *OTHER_ROUTES])


# --- one place decides ------------------------------------------------------------------------------------------------

DAMAGED = talk(
    user("hi"),
    ai("I look", call("a", n=1), call("b", n=2), call("c", n=3)),
    result("b", "B"),
    result("zz", "of nobody"),
    result("b", "B again"),
    user("go on"),
    tool(call("d", "grep", n=4)),
    ai(thought(), call("e", n=5)),
    result("e", None, error="broken"),
    result("c", "late"),
    user("and?"),
)
"""open calls, an orphan, a duplicate, a call under the wrong speaker, a failure, a late result"""


def given_to(conversation: Conversation, route: str) -> list[Unit | None]:
    """The units that the dialect of `route` was really given to encode."""
    render(conversation, route)
    _, encoded = RenderCache.of(conversation).encoded(resolve(route), ThinkingPolicy(), thinking_on=False)
    encoded.advance()
    return list(encoded.places.units)


@pytest.mark.req("REQ-915-036")
@every_route
def test_every_dialect_is_given_the_same_units(route: str) -> None:
    composed = units(DAMAGED)
    assert [unit for unit in given_to(DAMAGED, route) if unit is not None] == composed


@pytest.mark.req("REQ-915-036")
@pytest.mark.parametrize("route", ROUTES)
@given(news=interleaved(max_size=8))
def test_what_a_dialect_is_given_depends_on_the_log_and_the_window_alone(
    route: str, news: list[Entry | Record]
) -> None:
    news = [item for item in news if not isinstance(item, Compacted)]  # which hold for some windows only
    assert [unit for unit in given_to(talk(*news), route) if unit is not None] == units(talk(*news))


def story(conversation: Conversation, route: str) -> list[tuple[object, ...]]:
    """Calls and results as the model reads them, without what differs by format: ids, the mark or flag of a failure."""
    items = sent(render(conversation, route))
    names = {item.id: item.arguments for item in calls_of(items)}
    told: list[tuple[object, ...]] = []
    waiting: list[WireCall] = []
    for item in items:
        if isinstance(item, WireCall):
            told.append(("call", item.name, item.arguments))
            waiting.append(item)
        elif isinstance(item, WireResult):
            asked = names[item.id] if item.id else waiting.pop(0).arguments
            told.append(("result", asked, str(item.value).removeprefix(ERROR_MARK)))
    return told


@pytest.mark.req("REQ-915-036")
@pytest.mark.parametrize("route", NATIVE)
def test_every_model_reads_the_same_calls_with_the_same_ends(route: str) -> None:
    no_result = legato.model.closure_text(ClosureReason.NO_RESULT)
    assert story(DAMAGED, route) == [
        ("call", "read", {"n": 1}),
        ("call", "read", {"n": 2}),
        ("call", "read", {"n": 3}),
        ("result", {"n": 1}, no_result),
        ("result", {"n": 2}, "B"),
        ("result", {"n": 3}, "late"),
        ("call", "read", {}),
        ("result", {}, "of nobody"),
        ("call", "grep", {"n": 4}),
        ("result", {"n": 4}, no_result),
        ("call", "read", {"n": 5}),
        ("result", {"n": 5}, "broken"),
    ]


# --- dialects mend nothing --------------------------------------------------------------------------------------------


def part(key: str, text: str, *, failed: bool = False) -> ResultPart:
    asked = ToolCall(f"tool_{key}", {}, f"call_{key}", CallId(key))
    return ResultPart(CallPart(f"call_{key}", asked.name, asked), text, text, failed)


def shapes_of(route: str) -> Any:
    conversation = talk(user("hi"))  # which a cache does not hold
    _, encoded = RenderCache.of(conversation).encoded(resolve(route), ThinkingPolicy(), thinking_on=False)
    return encoded.encoder._shapes  # where a dialect speaks alone


def body_of(route: str, messages: Any) -> dict[str, Any]:
    return {dialect_parts(resolve(route).dialect).messages_field: json.loads(json.dumps(list(messages)))}


@pytest.mark.req("REQ-915-037")
@pytest.mark.parametrize("route", ROUTES)
def test_a_dialect_spells_results_as_they_are_given_to_it_twice_in_any_order_and_without_calls(route: str) -> None:
    """No transcript comes to this; a dialect that notices has a second opinion on what is valid."""
    given_results = [part("z", "one"), part("a", "two", failed=True), part("z", "one"), part("a", "other")]
    items = read_body(body_of(route, shapes_of(route).results(ResultsMessage(given_results))), route)
    has_ids = resolve(route).capabilities.call_ids or resolve(route).dialect != "gemini"
    assert [(item.id, item.value) for item in items if isinstance(item, WireResult)] == [
        (one.call.wire_id if has_ids else "", one.text) for one in given_results
    ]
    assert len(items) == 4


@pytest.mark.req("REQ-915-037")
@pytest.mark.parametrize("route", ROUTES)
def test_a_dialect_spells_an_exchange_as_it_is_given_to_it_even_if_it_lacks_results(route: str) -> None:
    shapes = shapes_of(route)
    asked = [shapes.call(f"call_{key}", "read", ToolCall("read", {"path": key})) for key in "ab"]
    answers = [shapes.result("call_b", "read", "B", False)]
    items = read_body(body_of(route, shapes.exchange([], asked, answers, False)), route)
    assert [type(item) for item in items] == [WireCall, WireCall, WireResult]


@pytest.mark.req("REQ-915-037")
@pytest.mark.parametrize("route", ROUTES)
def test_a_dialect_spells_an_answer_as_it_is_given_to_it_even_if_a_call_stands_twice(route: str) -> None:
    given_calls = [part(key, "").call for key in "zaz"]
    answer = shapes_of(route).answer(AnswerMessage([TextPart("I look"), *given_calls]))
    items = read_body(body_of(route, answer), route)
    assert [item.name for item in items if isinstance(item, WireCall)] == ["tool_z", "tool_a", "tool_z"]
    assert len(items) == 4


@pytest.mark.req("REQ-915-037")
@pytest.mark.parametrize("dialect", list(Dialect))
def test_no_dialect_knows_the_ledger_or_makes_completions_when_it_encodes(dialect: str) -> None:
    folder = Path(legato.__file__).parent / "wire" / dialect
    code = "\n".join((folder / name).read_text() for name in ("encode.py", "shapes.py"))
    assert [word for word in ("ledger", "Completion(", "ClosureReason", "closure_text", "dedupe") if word in code] == []


# --- whatever the arguments are ---------------------------------------------------------------------------------------


@dataclass
class Point:
    x: float
    y: float


def knot() -> dict[str, Any]:
    """A value that holds itself, directly and through a list."""
    value: dict[str, Any] = {"name": "knot"}
    value["self"] = value
    value["list"] = [1, [value]]
    return value


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"in": value}
    return value


SHARED = ["the same list twice"]
ARGUMENTS: dict[str, Any] = {
    "a cycle": knot(),
    "a value twice": {"one": SHARED, "two": SHARED},
    "no numbers of JSON": {"nan": math.nan, "inf": math.inf, "big": 10**30, "small": -(10**400)},
    "half an emoji and NUL": {"text": "\ud83d and \0", "\ud83d": 1},
    "bytes, dates, sets": {"bytes": b"\xff\x00", "date": date(2025, 1, 2), "set": {3, 1, 2}},
    "an object": {"point": Point(1.5, math.inf)},
    "keys that are no strings": {1: "one", "1": "two", None: 3},
    "depth": deep(500),
    "nothing": {},
}


def strict_json(data: bytes) -> Any:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(data.decode("utf-8", "strict"), parse_constant=refuse)


@pytest.mark.req("REQ-915-038")
@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("route", ROUTES)
def test_arguments_of_any_shape_are_sent_as_json_that_says_the_same(route: str, name: str) -> None:
    told = talk(
        user("x"), ai(ToolCall("read", ARGUMENTS[name], "call_a")), result("call_a", ARGUMENTS[name]), user("y")
    )
    request = render(told, route)
    body = strict_json(request.json())
    assert calls_of(read_body(body, route))[0].arguments == ingest(ARGUMENTS[name])
    assert strict_json(json.dumps(body).encode()) == body
    request.verify()


@pytest.mark.req("REQ-915-038")
def test_what_somebody_does_to_the_arguments_later_does_not_reach_the_log() -> None:
    mine: dict[str, Any] = {"path": "a", "more": [1]}
    told = talk(user("x"), ai(ToolCall("read", mine, "call_a")), result("call_a"), user("y"))
    before = render(told, "anthropic/claude-sonnet-4-5").json()
    mine["more"].append(object())
    mine["path"] = math.nan
    assert render(told, "anthropic/claude-sonnet-4-5").json() == before
