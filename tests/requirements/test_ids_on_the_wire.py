"""The ids that providers really get: read from the bytes, for ids of every provider at every other."""

from __future__ import annotations

import re

import pytest

from legato import render, resolve
from legato.model import CallKind, IdScheme, ToolCall
from legato.request.catalogue import default_catalogue
from legato.transcript import Conversation
from on_the_wire import WireCall, WireResult, calls_of, results_of, sent, unpaired

from builders import OTHER_ROUTES, ROUTES, ai, call, calls, result, talk, thought, user

FOREIGN = {
    "openai": ("call_9Hc2", "call_9Hc3", "call_9Hc4"),
    "responses": ("call_" + "r" * 59, "fc_68a1", "call_r2"),
    "anthropic": ("toolu_01A", "toolu_01B", "toolu_vrtx_01C"),
    "kimi": ("functions.read:0", "functions.read:1", "functions.grep:2"),
    "mistral": ("D681PevKs", "9dshxhlno", "abcdefgh1"),
    "gemini": ("7f3e-4b", "7f3e-4c", ""),
    "nothing": ("", "", ""),
    "one for all": ("call_0", "call_0", "call_0"),
    "ours": ("hist_tool_1", "call_1", "toolu_1"),
    "illegal": ("call_a.b", "toolu_x:y", "a b"),
    "nine that are not letters": ("call_1234", "abc_efgh1", "functions"),
    "far too long": ("call_" + "x" * 80, "toolu_" + "x" * 80, "x" * 300),
}
"""three ids as somebody gives them, for a call each of `read`, `read` and `grep`"""

FORMS = {
    IdScheme.CALL40: r"call_[A-Za-z0-9_-]{1,35}",
    IdScheme.CALL64: r"call_[A-Za-z0-9_-]{1,59}",
    IdScheme.TOOLU: r"toolu_[A-Za-z0-9_-]{1,58}",
    IdScheme.TOOLUSE: r"tooluse_[A-Za-z0-9_-]{1,56}",
    IdScheme.NINE: r"[A-Za-z0-9]{9}",
    IdScheme.KIMI: r"functions\.[A-Za-z_][A-Za-z0-9_-]{0,63}:(0|[1-9][0-9]*)",
}
NATIVE = [route for route in (*ROUTES, *OTHER_ROUTES) if resolve(route).capabilities.native_tool_history]
WITH_IDS = [route for route in NATIVE if resolve(route).dialect != "gemini" or resolve(route).capabilities.call_ids]
routes = pytest.mark.parametrize("route", WITH_IDS)
givers = pytest.mark.parametrize("giver", FOREIGN)


def conversation(giver: str) -> Conversation:
    """Two turns: an answer with two calls, of which one fails, then an answer with one, beside a thought."""
    one, two, three = FOREIGN[giver]
    return talk(
        user("look"),
        ai("I look", call(one, path="a"), call(two, path="b")),
        result(one, "A"),
        result(two, None, error="no such file"),
        user("and now?"),
        ai(thought("hm"), call(three, "grep", word="c")),
        result(three, "C", name="grep"),
        user("thanks"),
    )


def of_scheme(*schemes: IdScheme) -> list[str]:
    return [route for route in WITH_IDS if resolve(route).capabilities.id_scheme in schemes]


@pytest.mark.req("REQ-915-006", "REQ-915-015", "REQ-915-016", "REQ-915-017", "REQ-915-022", "REQ-915-049")
@givers
@routes
def test_call_and_result_have_one_id_of_the_targets_form_and_no_other_call_has_it(route: str, giver: str) -> None:
    items = sent(render(conversation(giver), route))
    pairs = [(item.id, isinstance(item, WireCall)) for item in items if isinstance(item, WireCall | WireResult)]
    first, second, third = (item.id for item in calls_of(items))
    assert pairs == [(first, True), (second, True), (first, False), (second, False), (third, True), (third, False)]
    assert len({first, second, third}) == 3
    form = re.compile(FORMS[resolve(route).capabilities.id_scheme])
    assert all(form.fullmatch(item.id) for item in calls_of(items))


@pytest.mark.req("REQ-915-016", "REQ-915-049")
@givers
@routes
def test_ids_stay_apart_and_as_they_were_when_requests_are_made_between_the_calls(route: str, giver: str) -> None:
    growing = Conversation()
    for entry in conversation(giver).entries:
        growing.record(entry)
        items = sent(render(growing, route))
        assert unpaired(items) == []
        assert len({item.id for item in calls_of(items)}) == len(calls_of(items))
    again = [call("toolu_9Hc2"), call("call_9Hc2"), call("call_1"), call("toolu_1"), call("functions.read:1")]
    for block in again:
        growing.record(ai(block))
        growing.record(result(block.wire_id))
        items = sent(render(growing, route))
        assert len({item.id for item in calls_of(items)}) == len(calls_of(items))
        assert unpaired(items) == []


@pytest.mark.req("REQ-915-015", "REQ-915-041")
@givers
def test_one_conversation_has_the_form_of_whoever_is_asked_at_each_boundary(giver: str) -> None:
    """The tables of ids are kept from request to request; each format has its own."""
    told = conversation(giver)
    for route in (*WITH_IDS, *reversed(WITH_IDS)):
        form = re.compile(FORMS[resolve(route).capabilities.id_scheme])
        items = sent(render(told, route))
        assert all(form.fullmatch(item.id) for item in (*calls_of(items), *results_of(items))), route
        assert unpaired(items) == []


@pytest.mark.req("REQ-915-018")
@givers
@pytest.mark.parametrize("route", of_scheme(IdScheme.CALL40, IdScheme.CALL64))
def test_every_id_that_is_sent_to_an_openai_style_provider_begins_with_call(route: str, giver: str) -> None:
    longest = 40 if resolve(route).capabilities.id_scheme is IdScheme.CALL40 else 64
    items = sent(render(conversation(giver), route))
    ids = [item.id for item in (*calls_of(items), *results_of(items))]
    assert len(ids) == 6
    assert [one for one in ids if not re.fullmatch(r"call_[A-Za-z0-9_-]+", one) or len(one) > longest] == []


@pytest.mark.req("REQ-915-019")
@givers
@pytest.mark.parametrize("route", of_scheme(IdScheme.TOOLU))
def test_every_id_that_is_sent_to_claude_begins_with_toolu(route: str, giver: str) -> None:
    items = sent(render(conversation(giver), route))
    ids = [item.id for item in (*calls_of(items), *results_of(items))]
    assert len(ids) == 6
    assert [one for one in ids if not re.fullmatch(r"toolu_[A-Za-z0-9_-]+", one)] == []


@pytest.mark.req("REQ-915-019", "REQ-915-018", "REQ-915-020", "REQ-915-021")
def test_each_vendor_is_given_the_form_that_it_gives_out_itself() -> None:
    expected = {
        "openai/gpt-4o": IdScheme.CALL40,
        "openai-responses/gpt-5.1": IdScheme.CALL64,
        "anthropic/claude-sonnet-4-5": IdScheme.TOOLU,
        "anthropic/claude-opus-4-8": IdScheme.TOOLU,
        "mistral/mistral-large-latest": IdScheme.NINE,
        "kimi/kimi-k2-thinking": IdScheme.KIMI,
    }
    assert {route: resolve(route).capabilities.id_scheme for route in expected} == expected


SERVED = {f"{name}/{provider.example}": provider.dialect for name, provider in default_catalogue().providers.items()}
"""every provider with its usual model, and the format that it speaks"""
KIMI_ELSEWHERE = ("openrouter/moonshotai/kimi-k2", "groq/moonshotai/kimi-k2-instruct", "together/moonshotai/Kimi-K2")
MISTRAL_ELSEWHERE = ("openrouter/mistralai/devstral-medium", "vllm/mistralai/Ministral-8B", "azure/mistral-large")
OTHERS = ("kimi/", "mistral/", "vercel-gateway/")
"""providers of OpenAI's formats whose models have ids of their own, or are told of no calls"""
some_givers = pytest.mark.parametrize("giver", ["anthropic", "openai", "kimi"])


def ids_sent(giver: str, route: str) -> list[str]:
    """The ids of four calls and of their results; the last call has free text for its arguments."""
    told = conversation(giver)
    told.record(ai(ToolCall("patch", {"input": "+ a"}, "", kind=CallKind.CUSTOM)))
    told.record(result("", "ok", name="patch"))
    told.human("go on")
    items = sent(render(told, route))
    assert len(calls_of(items)) == len(results_of(items)) == 4
    assert unpaired(items) == []
    return [item.id for item in (*calls_of(items), *results_of(items))]


@pytest.mark.req("REQ-915-018")
@some_givers
@pytest.mark.parametrize(
    "route",
    [
        route
        for route, dialect in SERVED.items()
        if dialect in ("openai_chat", "openai_responses") and not route.startswith(OTHERS)
    ],
)
def test_every_provider_of_openais_formats_is_sent_ids_that_begin_with_call(route: str, giver: str) -> None:
    assert [one for one in ids_sent(giver, route) if not re.fullmatch(r"call_[A-Za-z0-9_-]{1,59}", one)] == []


@pytest.mark.req("REQ-915-019")
@some_givers
@pytest.mark.parametrize("route", [route for route, dialect in SERVED.items() if dialect == "anthropic"])
def test_every_provider_of_anthropics_format_is_sent_ids_that_begin_with_toolu(route: str, giver: str) -> None:
    assert [one for one in ids_sent(giver, route) if not re.fullmatch(r"toolu_[A-Za-z0-9_-]{1,58}", one)] == []


@pytest.mark.req("REQ-915-020")
@some_givers
@pytest.mark.parametrize("route", KIMI_ELSEWHERE)
def test_kimi_is_sent_its_own_form_of_ids_whoever_serves_it(route: str, giver: str) -> None:
    numbers = [re.fullmatch(r"functions\.(?:read|grep|patch):([0-9]+)", one) for one in ids_sent(giver, route)]
    assert [number and number[1] for number in numbers] == ["0", "1", "2", "3"] * 2


@pytest.mark.req("REQ-915-021")
@some_givers
@pytest.mark.parametrize("route", MISTRAL_ELSEWHERE)
def test_mistrals_models_are_sent_nine_letters_or_digits_whoever_serves_them(route: str, giver: str) -> None:
    assert [one for one in ids_sent(giver, route) if not re.fullmatch(r"[A-Za-z0-9]{9}", one)] == []


@pytest.mark.req("REQ-915-020")
@givers
@pytest.mark.parametrize("route", of_scheme(IdScheme.KIMI))
def test_kimis_ids_name_the_tool_and_their_index_grows(route: str, giver: str) -> None:
    made = calls_of(sent(render(conversation(giver), route)))
    named = [re.fullmatch(r"functions\.(.+):([0-9]+)", item.id) for item in made]
    assert [match and match[1] for match in named] == ["read", "read", "grep"]
    indices = [int(match[2]) for match in named if match]
    assert indices == sorted(set(indices))
    if giver != "kimi":
        assert indices == [0, 1, 2]


@pytest.mark.req("REQ-915-020")
def test_kimis_index_goes_on_behind_its_own_ids_and_never_repeats() -> None:
    told = talk(
        user("x"),
        ai(call("functions.read:7"), call("functions.read:3"), call("call_x")),
        result("functions.read:7"),
        result("functions.read:3"),
        result("call_x"),
        user("y"),
        ai(call("functions.grep:8"), call("functions.read:7")),
        result("functions.grep:8"),
        result("functions.read:7"),
    )
    made = [item.id for item in calls_of(sent(render(told, "kimi/kimi-k2-0905-preview")))]
    assert made == [
        "functions.read:7",
        "functions.read:8",  # its index lay before
        "functions.read:9",
        "functions.read:10",  # it named another tool
        "functions.read:11",  # its index was taken
    ]


@pytest.mark.req("REQ-915-021")
@givers
@pytest.mark.parametrize("route", of_scheme(IdScheme.NINE))
def test_every_id_that_is_sent_to_mistral_has_nine_letters_or_digits(route: str, giver: str) -> None:
    items = sent(render(conversation(giver), route))
    ids = [item.id for item in (*calls_of(items), *results_of(items))]
    assert len(ids) == 6
    assert [one for one in ids if not re.fullmatch("[A-Za-z0-9]{9}", one)] == []
    assert len(set(ids)) == 3


@pytest.mark.req("REQ-915-021", "REQ-915-049")
def test_ids_that_begin_alike_are_not_confused_at_mistral() -> None:
    many = [f"callabcdefghi{number}" for number in range(40)]
    told = talk(user("x"), calls(*many), *(result(one) for one in many), user("y"))
    ids = [item.id for item in calls_of(sent(render(told, "mistral/mistral-large-latest")))]
    assert len(set(ids)) == 40


@pytest.mark.req("REQ-915-014", "REQ-915-015")
def test_the_same_calls_are_named_alike_in_every_report_whatever_the_provider_is_told() -> None:
    told = conversation("anthropic")
    names = {tuple(one.call_id for one in render(told, route).report.emitted) for route in NATIVE}
    assert len(names) == 1
    assert all(re.fullmatch(r"hist_tool_[A-Za-z0-9_-]{1,32}", name) for name in next(iter(names)))


@pytest.mark.req("REQ-915-022")
@routes
def test_results_without_an_id_answer_the_open_calls_of_their_tool_in_order(route: str) -> None:
    told = talk(
        user("x"),
        ai(call("", "read", n=1), call("", "grep", n=2), call("", "read", n=3)),
        result("", "second", name="grep"),
        result("", "first", name="read"),
        result("", "third", name="read"),
        user("y"),
    )
    items = sent(render(told, route))
    answers = {item.id: item.value for item in results_of(items)}
    assert [(item.arguments["n"], answers[item.id]) for item in calls_of(items)] == [
        (1, "first"),
        (2, "second"),
        (3, "third"),
    ]
