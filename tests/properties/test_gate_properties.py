"""What was kept from earlier requests never changes what is said about the next: neither its verdict nor its digest."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legato import Conversation, render, resolve
from legato.errors import ImpossibleRequest, RenderError
from legato.model import (
    Dialect,
    Entry,
    Foreign,
    Include,
    Options,
    Record,
    Target,
    ThinkingPolicy,
    ThinkingSwitch,
    ToolSpec,
)
from legato.model.hashing import digest
from legato.model.records import Rewound
from legato.request import Request
from legato.wire import checkpoints
from legato.wire.dialects import dialect_parts
from legato.wire.findings import Severity, Violation
from legato.wire.judge import Judge
from rule_targets import TARGETS
from rules import CASES

from builders import OTHER_ROUTES, ROUTES
from strategies import interleaved, turns

News = list[Entry | Record]
routes = pytest.mark.parametrize("route", [*ROUTES, *OTHER_ROUTES])


@pytest.fixture(autouse=True, scope="module")
def short_way_back() -> Iterator[None]:
    """Checkpoints so close that a short conversation passes several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "EVERY", 3)
        yield


# --- requests ---------------------------------------------------------------------------------------------------------

POLICIES = st.builds(ThinkingPolicy, st.sampled_from(Include), st.sampled_from(Foreign))
OPTIONS = st.builds(
    Options,
    thinking=st.sampled_from(ThinkingSwitch),
    cache=st.booleans(),
    extra=st.sampled_from([{}, {}, {"metadata": {}}, {"max_tokens": 0}, {"tool_choice": "required"}]),
)
TOOLS = st.sampled_from([[], [ToolSpec("read")], [ToolSpec("read"), ToolSpec("grep", "Finds.")]])
SYSTEMS = st.sampled_from(["", "Be brief.", "Be brief.", "Be \x07 loud."])
HEADS = st.fixed_dictionaries({"thinking": POLICIES, "options": OPTIONS, "tools": TOOLS, "system": SYSTEMS})
NEWS = st.one_of(
    interleaved(max_size=3), turns(), turns(), st.builds(Rewound, to=st.integers(0, 12)).map(lambda r: [r])
)


@st.composite
def steps(draw: st.DrawFn) -> list[Any]:
    """What comes between two requests, what a request asks for, and whether it is sent; most ask for the same."""
    usual, other = draw(HEADS), draw(HEADS)
    heads = st.sampled_from([usual, usual, usual, other])
    return draw(st.lists(st.tuples(NEWS, heads, st.sampled_from([True, True, False])), max_size=7))


def judged(request: Request) -> list[Violation]:
    """What the gate has against a request, from what it kept and from what is new."""
    judge, rest = request._judge()
    return judge.violations(request._head.fields, rest)


def stopped(request: Request) -> list[Any]:
    """What `verify` stops a request for."""
    try:
        request.verify()
    except RenderError as error:
        return [Violation(**facts) for facts in error.facts["violations"]]
    return []


@routes
@given(steps=steps())
@pytest.mark.req("REQ-915-005")
def test_what_is_new_is_judged_and_named_as_the_whole_body_would_be(route: str, steps: list[Any]) -> None:
    conversation = Conversation()
    made: list[tuple[Request, list[Violation], str]] = []
    for news, head, is_sent in steps:
        conversation.apply(conversation.prepare(news))
        try:
            request = render(conversation, route, **head)
        except ImpossibleRequest:  # it thinks, and another model began this run of calls
            continue
        whole, name = request.check(), digest(request.json())
        if is_sent:
            assert judged(request) == whole
            assert stopped(request) == refusals(whole)
            assert judged(request) == whole  # asking changes nothing
            assert request.digest() == name
        made.append((request, whole, name))
    for request, whole, name in reversed(made):  # what the conversation has left behind is still what it was
        assert stopped(request) == refusals(whole)
        assert request.digest() == name


def refusals(found: list[Violation]) -> list[Violation]:
    return [violation for violation in found if violation.severity is Severity.REFUSED]


# --- bodies of any kind -----------------------------------------------------------------------------------------------

FIELDS = {dialect: dialect_parts(dialect).messages_field for dialect in Dialect}
BODIES: dict[Dialect, list[dict[str, Any]]] = {
    dialect: [
        body
        for case in CASES
        for body in (case.accepted, case.refused)
        if case.dialect is dialect and isinstance(body.get(FIELDS[dialect]), list)
    ]
    for dialect in Dialect
}
MEMORABLE: dict[Dialect, list[Any]] = {
    Dialect.ANTHROPIC: [
        {"role": "assistant", "content": [{"type": "server_tool_use", "id": "srvtoolu_1", "name": "s", "input": {}}]},
        {"role": "assistant", "content": [{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1"}]},
        {"role": "assistant", "content": []},
    ],
    Dialect.GEMINI: [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f"}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]},
    ],
    Dialect.OPENAI_RESPONSES: [
        {"type": "item_reference", "id": "msg_1"},
        {"type": "computer_call", "call_id": "call_1"},
        {"type": "computer_call_output", "call_id": "call_1"},
    ],
    Dialect.BEDROCK: [
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "tooluse_1", "name": "f", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "tooluse_1", "content": [{"text": "x"}]}}]},
        {"role": "user", "content": [{"document": {"name": "d", "format": "pdf", "source": {"bytes": "JVBERi0="}}}]},
        {"role": "user", "content": [{"text": "go"}, {"cachePoint": {"type": "default"}}]},
    ],
    Dialect.VERCEL: [
        {
            "role": "assistant",
            "content": [{"type": "tool-call", "toolCallId": f"call_{n}", "toolName": "f", "input": 1}],
        }
        for n in range(2)
    ]
    + [
        {
            "role": "assistant",
            "content": [{"type": "tool-approval-request", "approvalId": "a", "toolCallId": f"call_{n}"}],
        }
        for n in range(2)
    ]
    + [{"role": "tool", "content": [{"type": "tool-approval-response", "approvalId": "a"}]}],
}
"""messages after which the rules remember something that the examples do not make them remember"""
NO_MESSAGES: list[Any] = [None, "text", [], {}, {"role": "user"}, {"role": "assistant", "content": "\ud800"}]


def runs(dialect: Dialect) -> st.SearchStrategy[list[Any]]:
    """Messages of the rules' own examples, right and wrong, and here and there something else."""
    examples = [body[FIELDS[dialect]] for body in BODIES[dialect]]
    single = [message for messages in examples for message in messages]
    memorable = st.lists(st.sampled_from(MEMORABLE.get(dialect, single)), max_size=4)
    mixed = st.lists(st.sampled_from([*single, *NO_MESSAGES]), max_size=3)
    return st.one_of(st.sampled_from(examples), mixed, memorable)


@st.composite
def histories(draw: st.DrawFn, target: Target) -> list[tuple[int, list[Any], list[Any]]]:
    """How messages came: how many were cut off, which were added to stay, and which only stood at the end of one body."""
    portions = runs(target.dialect)
    return draw(st.lists(st.tuples(st.integers(0, 9), portions, portions), min_size=1, max_size=6))


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: f"{target.dialect}-{target.route}")
@given(data=st.data())
def test_messages_in_portions_are_judged_as_all_of_them_at_once(target: Target, data: st.DataObject) -> None:
    parts, field = dialect_parts(target.dialect), FIELDS[target.dialect]
    bodies = st.sampled_from(BODIES[target.dialect])
    chosen = data.draw(st.tuples(bodies, bodies))
    heads = [{name: value for name, value in body.items() if name != field} for body in chosen]
    mode = parts.ruleset.mode(heads[0], target)
    judge = Judge(parts.ruleset, target, mode)
    messages: list[Any] = []
    for less, lasting, rest in data.draw(histories(target)):
        kept = max(len(messages) - less, 0)
        judge.cut(kept)
        messages = [*messages[:kept], *lasting]
        judge.move_to(messages, len(messages))
        for fields in heads:
            if parts.ruleset.mode(fields, target) == mode:
                body = {**fields, field: [*messages, *rest]}
                before = copy.deepcopy(body) if not lasting else body
                assert judge.violations(fields, rest) == parts.check(body, target)
                assert repr(body) == repr(before)


@pytest.mark.parametrize("dialect", Dialect)
def test_what_stood_at_the_end_of_one_body_is_forgotten_for_the_next(dialect: Dialect) -> None:
    rules, field = dialect_parts(dialect).ruleset, FIELDS[dialect]
    target = next(target for target in reversed(TARGETS) if target.dialect is dialect)
    examples = [body[field] for body in BODIES[dialect]]
    for lasting in examples:
        judge = Judge(rules, target, rules.mode({}, target))
        judge.move_to(lasting, len(lasting))
        expected = rules.check({field: lasting}, target)
        for rest in examples:
            judge.violations({}, rest)
            assert judge.violations({}, ()) == expected


def test_a_judge_can_go_back_any_way_and_on_again() -> None:
    target = resolve("anthropic/claude-sonnet-4-5")
    rules = dialect_parts(target.dialect).ruleset
    messages = [
        message
        for n in range(20)
        for message in (
            {"role": "user", "content": f"question {n}"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": f"toolu_{n % 7}", "name": "f", "input": {}}]},
        )
    ]
    judge = Judge(rules, target, rules.mode({}, target))
    for count in (40, 13, 39, 0, 7, 8, 40, 39, 12, 12):
        judge.move_to(messages, count)
        expected = rules.check({"messages": messages[:count]}, target)
        assert judge.violations({}, ()) == expected
