"""The small parts of a simulated provider: ids, seals, names of models, streams, refusals, and bodies of any kind."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato.errors import ConfigError
from legato.model import Dialect
from legato.request import default_catalogue
from legato.simulation import (
    Ask,
    FaultKind,
    FaultPlan,
    Faults,
    IdHabit,
    RefusalReason,
    SimulatedProvider,
    SimulatedWorld,
    base_urls,
)
from legato.simulation.ids import name_call
from legato.simulation.refusals import print_refusal
from legato.simulation.seals import Seal, short_name
from legato.simulation.wordings import refuse, refuse_reasoning, refuse_shape
from legato.transport import HTTP_APIS
from legato.transport.server_habits import habits_of
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity, Violation
from simulation_support import post

# --- ids --------------------------------------------------------------------------------------------------------------

FORMS = {
    IdHabit.CALL: r"call_[A-Za-z0-9]{24}",
    IdHabit.TOOLU: r"toolu_01[A-Za-z0-9]{22}",
    IdHabit.TOOLUSE: r"tooluse_[A-Za-z0-9]{22}",
    IdHabit.SHORT: r"[A-Za-z0-9]{8}",
    IdHabit.NINE: r"[A-Za-z0-9]{9}",
    IdHabit.NUMBERED: r"functions\.read:1",
    IdHabit.PLACED: r"call_01_[A-Za-z0-9]{20}",
    IdHabit.CONSTANT: r"call_1",
    IdHabit.EMPTY: r"",
}


@pytest.mark.parametrize("habit", IdHabit)
def test_an_id_has_the_form_of_its_habit(habit: IdHabit) -> None:
    first = name_call(habit, "read", 1, seed="s")

    assert re.fullmatch(FORMS[habit], first)
    assert name_call(habit, "read", 1, seed="s") == first


@pytest.mark.parametrize(
    "habit", [IdHabit.CALL, IdHabit.TOOLU, IdHabit.TOOLUSE, IdHabit.SHORT, IdHabit.NINE, IdHabit.PLACED]
)
def test_good_habits_never_name_two_calls_alike(habit: IdHabit) -> None:
    ids = [name_call(habit, "read", place, seed=str(seed)) for seed in range(30) for place in range(5)]

    assert len(set(ids)) == len(ids)


# --- seals ------------------------------------------------------------------------------------------------------------


def seal(**changed: str) -> Seal:
    owner = {"provider": "p", "model": "m-1", "account": "a", **changed}
    secret = owner.pop("secret", "s")
    return Seal(secret, **owner)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_a_seal_knows_its_own_and_nothing_else(content: str) -> None:
    mine = seal()

    assert mine.signed(content, mine.sign(content))
    assert mine.wrapped(mine.wrap(content))
    assert not mine.signed(content + "x", mine.sign(content))
    assert not mine.wrapped(mine.wrap(content)[:-4])


@pytest.mark.parametrize("field", ["provider", "model", "account", "secret"])
def test_a_seal_of_another_owner_is_another_seal(field: str) -> None:
    mine, other = seal(), seal(**{field: "other"})

    assert not other.signed("thought", mine.sign("thought"))
    assert not other.wrapped(mine.wrap("thought"))
    assert not other.named(mine.name("nonce"))
    assert mine.named(mine.name("nonce"))


@pytest.mark.parametrize("token", ["", "no base64!", "AAAA", "é", "\ud800"])
def test_what_was_never_a_signature_is_none(token: str) -> None:
    mine = seal()

    assert (mine.signed("thought", token), mine.wrapped(token), mine.named(token)) == (False, False, False)


@pytest.mark.parametrize("dated", ["m-1", "m-1-latest", "m-1-20250929", "m-1-2025-11-13"])
def test_a_model_is_known_under_its_dated_names(dated: str) -> None:
    assert seal(model=dated).signed("thought", seal().sign("thought"))
    assert short_name(dated) == "m-1"


@pytest.mark.parametrize("model", ["claude-opus-4-8", "claude-haiku-4-5-20251001", "claude-sonnet-latest"])
@pytest.mark.parametrize("stream", [True, False])
def test_a_model_answers_under_the_very_name_that_was_asked_for(model: str, stream: bool) -> None:
    body = {"model": model, "max_tokens": 50, "stream": stream, "messages": [{"role": "user", "content": "hi"}]}
    reply = post(SimulatedProvider("anthropic"), json.dumps(body).encode()).reply
    assert f'"model":"{model}"'.encode() in reply.body


# --- refusals ---------------------------------------------------------------------------------------------------------

STATUS: dict[RefusalReason, set[int]] = {
    RefusalReason.SHAPE: {400},
    RefusalReason.NOT_JSON: {400},
    RefusalReason.REASONING: {400},
    RefusalReason.MODEL: {400, 404},
    RefusalReason.KEY_MISSING: {401, 403},
    RefusalReason.KEY_WRONG: {400, 401},
    RefusalReason.QUOTA: {400, 402, 429},
    RefusalReason.TOO_LONG: {400},
    RefusalReason.RATE: {429},
    RefusalReason.SERVER: {500},
    RefusalReason.OVERLOADED: {503, 529},
    RefusalReason.PREVIOUS: {400},
    RefusalReason.STORED: {404},
    RefusalReason.PATH: {404},
    RefusalReason.METHOD: {405},
    RefusalReason.TOO_LARGE: {413},
    RefusalReason.UPSTREAM: {502},
    RefusalReason.SLOW: {504},
    RefusalReason.SETUP: {400},
}
FACTS = {"tokens": 9, "window": 5, "detail": "something"}


@pytest.mark.parametrize("reason", RefusalReason)
@pytest.mark.parametrize("provider", default_catalogue().providers)
def test_every_provider_has_words_for_every_reason(provider: str, reason: RefusalReason) -> None:
    habits = habits_of(provider, default_catalogue().providers[provider].dialect)
    if reason is RefusalReason.SHAPE:
        refusal = refuse_shape(Violation("any/rule", Severity.REFUSED, "messages[1].content", "it is wrong"), habits)
    elif reason is RefusalReason.REASONING:
        refusal = refuse_reasoning("messages[1]", "signature", habits)
    else:
        refusal = refuse(reason, habits, model="m-1", retry_after=3, facts=FACTS)

    reply = print_refusal(refusal, habits, request_id="req_1")

    assert reply.status == habits.statuses.get(reason) or reply.status in STATUS[reason]
    assert "req_1" in {*reply.headers.values()}
    assert refusal.message in json.dumps(json.loads(reply.body), ensure_ascii=False).replace('\\"', '"')
    assert "{" not in refusal.message


def test_the_place_of_a_field_that_mistral_forbids_is_a_list_of_steps() -> None:
    violation = Violation("mistral/extra-field", Severity.REFUSED, "messages[2].reasoning_content", "no such field")

    rule = dialect_parts(Dialect.OPENAI_CHAT).rules[violation.rule]
    habits = habits_of("mistral", Dialect.OPENAI_CHAT)
    reply = print_refusal(refuse_shape(violation, habits, rule=rule), habits, request_id="r")

    assert reply.status == 422
    assert json.loads(reply.body)["message"]["detail"] == [
        {
            "type": "extra_forbidden",
            "loc": ["body", "messages", 2, "reasoning_content"],
            "msg": "Extra inputs are not permitted. (no such field, at messages[2].reasoning_content)",
        }
    ]


def test_a_refusal_of_the_order_of_roles_names_both_roles_and_the_code() -> None:
    result = {"role": "tool", "tool_call_id": "abcDEF123", "content": "fine"}
    body = {"model": "mistral-large-latest", "messages": [{"role": "user", "content": "hi"}, result]}

    outcome = post(SimulatedProvider("mistral"), json.dumps(body).encode())

    error = json.loads(outcome.reply.body)
    assert error["message"].startswith("Unexpected role 'tool' after role 'user'. (")
    assert (error["type"], error["code"]) == ("invalid_request_message_order", "3230")


# --- the desk ---------------------------------------------------------------------------------------------------------

PROVIDERS = sorted(default_catalogue().providers)


def example(name: str) -> str:
    return default_catalogue().providers[name].example


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_body_that_is_no_json_is_refused(name: str) -> None:
    provider = SimulatedProvider(name)

    for body in (b"", b"{", b"[]", b"\xff\xfe", b'{"a": ' + b"[" * 100_000):
        outcome = post(provider, body, model=example(name))
        assert outcome.refusal is not None
        assert (outcome.refusal.reason, outcome.reply.status) == (RefusalReason.NOT_JSON, 400)


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_path_or_a_method_that_is_not_offered_is_refused(name: str) -> None:
    provider = SimulatedProvider(name)
    path = HTTP_APIS[provider.dialect].path.format(model=example(name))

    nowhere = provider.answer(Ask(method="POST", path="/v1/nothing", headers={}, body=b"{}"))
    reading = provider.answer(Ask(method="GET", path=path, headers={}, body=b""))

    assert nowhere.refusal is not None
    assert reading.refusal is not None
    assert (nowhere.refusal.reason, reading.refusal.reason) == (RefusalReason.PATH, RefusalReason.METHOD)


@pytest.mark.parametrize("name", PROVIDERS)
def test_the_models_of_a_provider_can_be_listed(name: str) -> None:
    path = "/foundation-models" if name == "bedrock" else "/v1/models"
    query = {"api-version": "2024-10-21"}
    outcome = SimulatedProvider(name).answer(Ask(method="GET", path=path, headers={}, body=b"", query=query))

    assert outcome.reply.status == 200
    assert example(name) in outcome.reply.body.decode()


def test_a_request_without_a_model_is_refused() -> None:
    outcome = post(SimulatedProvider("openai"), b'{"messages": [{"role": "user", "content": "hi"}]}')

    assert outcome.refusal is not None
    assert (outcome.refusal.reason, outcome.refusal.path) == (RefusalReason.SHAPE, "model")


def test_a_limit_of_tokens_cuts_the_answer() -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hello " * 20}], "max_tokens": 5}

    choice = json.loads(post(SimulatedProvider("openai"), json.dumps(body).encode()).reply.body)["choices"][0]

    assert (choice["message"]["content"], choice["finish_reason"]) == ("gpt-4o (simulated) h", "length")


def test_a_picture_does_not_count_by_its_size() -> None:
    url = "data:image/png;base64," + "A" * 400_000
    content = [{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {"url": url}}]
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": content}]}

    outcome = post(SimulatedProvider("openai", window=1_100), json.dumps(body).encode())

    assert outcome.refusal is None


def test_a_gateway_that_takes_messages_only_refuses_calls() -> None:
    call = {"type": "function_call", "call_id": "call_1", "name": "read", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "call_1", "output": "fine"}
    body = {"model": "openai/gpt-5.1", "input": [{"role": "user", "content": "hi"}, call, output]}

    outcome = post(SimulatedProvider("vercel-gateway"), json.dumps(body).encode())

    assert outcome.refusal is not None
    assert outcome.refusal.rule == "openai-responses/call-items"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
FIELDS = ("messages", "input", "contents", "tools", "role", "content", "parts", "type", "text", "stream", "thinking")
ROLES = st.sampled_from(["user", "assistant", "model", "tool", "system"])
MESSAGE = st.fixed_dictionaries(
    {}, optional={"role": ROLES, "content": JSON, "parts": JSON, "type": JSON, "text": JSON}
)
BODY = st.dictionaries(st.sampled_from(FIELDS), JSON | st.lists(MESSAGE, max_size=3), max_size=5)


@given(st.sampled_from(PROVIDERS), BODY)
def test_any_body_is_answered_or_refused_and_nothing_breaks(name: str, body: dict[str, Any]) -> None:
    outcome = post(SimulatedProvider(name), json.dumps({**body, "model": example(name)}).encode(), model=example(name))

    assert outcome.reply.status in (200, 400, 422)
    assert (outcome.refusal is None) is (outcome.reply.status == 200)


# --- the world --------------------------------------------------------------------------------------------------------


def test_every_provider_of_the_catalogue_has_a_place_on_a_server_and_is_found_there() -> None:
    world = SimulatedWorld()
    urls = base_urls("127.0.0.1", 8123)

    assert sorted(urls) == PROVIDERS
    for name, url in urls.items():
        provider = world.provider(name)
        path = url.removeprefix("http://127.0.0.1:8123").partition("?")[0] + HTTP_APIS[provider.dialect].path.format(
            model="m"
        )
        assert world.locate(path) is provider
    assert world.locate("/nobody/v1/chat/completions") is None
    assert base_urls("::1", 1)["openai"] == "http://[::1]:1/openai/v1"


def test_a_provider_of_ones_own_has_the_plain_habits_of_its_dialect() -> None:
    catalogue = default_catalogue().extended(
        {"providers": {"mine": {"dialect": "openai_chat", "profile": "strict", "endpoint": "http://127.0.0.1:1/v1"}}}
    )
    world = SimulatedWorld(catalogue=catalogue)
    body = {"model": "whatever", "messages": [{"role": "user", "content": "hi"}]}

    outcome = post(world.provider("mine"), json.dumps(body).encode())

    assert outcome.reply.status == 200
    assert habits_of("mine", Dialect.OPENAI_CHAT).base == "/mine/v1"
    assert habits_of("other", Dialect.ANTHROPIC).base == "/other"


def test_a_world_remembers_the_last_requests_with_the_verdict_on_each() -> None:
    world = SimulatedWorld(keeps=2)
    provider = world.provider("openai")
    good = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}
    for body in (good, good, {**good, "messages": []}):
        world.reply(provider, Ask(method="POST", path="/chat/completions", headers={}, body=json.dumps(body).encode()))

    assert [seen.status for seen in world.requests] == [200, 400]
    assert [(seen.json["messages"], seen.refusal.rule if seen.refusal else "") for seen in world.refusals] == [
        ([], "openai-chat/no-messages")
    ]


def test_faults_in_a_row_befall_one_provider_if_one_is_named() -> None:
    faults = Faults([FaultKind.CUT, None], provider="kimi")

    assert [faults.fault("openai", 0), faults.fault("kimi", 1), faults.fault("kimi", 2)] == [None, None, None]
    found = faults.fault("kimi", 0)
    assert found is not None
    assert found.kind is FaultKind.CUT


@pytest.mark.parametrize("rates", [{FaultKind.CUT: -0.1}, {FaultKind.CUT: 0.6, FaultKind.SLOW: 0.6}])
def test_rates_that_are_no_shares_are_refused(rates: dict[FaultKind, float]) -> None:
    with pytest.raises(ConfigError):
        FaultPlan(1, rates)


USER: dict[str, Any] = {"role": "user", "content": "hi"}
RESULT: dict[str, Any] = {"role": "tool", "tool_call_id": "abcdefghi", "name": "f", "content": "r"}


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([RESULT, USER], "Unexpected tool call id abcdefghi in tool results"),
        (
            [USER, {"role": "assistant", "content": "x"}, {"role": "system", "content": "s"}, USER],
            "'system' after role 'a",
        ),
    ],
)
def test_mistral_names_what_it_complains_about(messages: list[dict[str, Any]], said: str) -> None:
    body = {"model": "mistral-large-latest", "messages": messages}
    message = json.loads(post(SimulatedProvider("mistral"), json.dumps(body).encode()).reply.body)["message"]
    assert said in message
    assert "…" not in message
