"""Whatever a body of one provider holds, the request that another one gets is valid there and loses nothing real."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from legato import carry, render, resolve
from legato.errors import ImpossibleRequest, RenderError
from legato.model import (
    Action,
    Choice,
    Entry,
    Options,
    OutputFormat,
    ThinkingSwitch,
    ToolSpec,
)

from builders import OTHER_ROUTES, ROUTES, talk, user
from histories import SOURCES, Step, histories
from strategies import logs

TARGETS = st.sampled_from((*ROUTES, *OTHER_ROUTES))
sources = pytest.mark.parametrize("source", SOURCES)


@sources
@given(steps=histories(), target=TARGETS, by_name=st.booleans())
@pytest.mark.req("REQ-915-008")
def test_every_text_call_and_result_of_a_body_arrives(
    source: str, steps: list[Step], target: str, by_name: bool
) -> None:
    body = SOURCES[source](steps)
    request = carry(body, source.partition("/")[0] if by_name else source, target)
    arrived = request.json().decode()
    lost = [step for step in steps if step.says not in arrived]
    if not resolve(target).capabilities.native_tool_history:  # it is told of results alone
        lost = [step for step in lost if step.kind != "call"]
    repeated = [made for made in request.report.decisions if made.action is Action.DEDUPED]
    assert {step.kind for step in lost} <= {"result"}
    assert len(lost) <= len(repeated)  # second results of calls that have one: the report tells of each


SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = [ToolSpec("read", "Read a file.", SCHEMA), ToolSpec("grep", "Search.")]
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "max_tokens": st.sampled_from([1, 300, 1_000_000]),
        "temperature": st.sampled_from([0.0, 1.0, 1.7]),
        "choice": st.sampled_from(Choice),
        "tool": st.just("read"),
        "thinking": st.sampled_from(ThinkingSwitch),
        "thinking_budget": st.sampled_from([1024, 4000]),
        "effort": st.sampled_from(["none", "low", "high", "max"]),
        "stream": st.booleans(),
        "top_p": st.just(0.5),
        "top_k": st.just(40),
        "seed": st.just(7),
        "stop": st.just(("END",)),
        "output": st.sampled_from([OutputFormat(), OutputFormat(schema=SCHEMA, name="answer")]),
        "parallel_calls": st.booleans(),
        "verbosity": st.just("low"),
        "metadata": st.just({"user_id": "u1"}),
        "extra": st.just({"service_tier": "flex"}),
    },
)


@given(source=st.sampled_from(ROUTES), target=TARGETS, news=logs(), settings=SETTINGS, offers=st.booleans())
@pytest.mark.req("REQ-915-008")
def test_any_whole_body_that_its_provider_takes_can_be_carried_to_any_other(
    source: str, target: str, news: list[Entry], settings: dict[str, Any], offers: bool
) -> None:
    said, tools = talk(*news, user("and now?")), TOOLS if offers else []
    try:
        request = render(said, source, system="be kind", tools=tools, options=Options(**settings))
        request.verify()
    except (ImpossibleRequest, RenderError):
        assume(False)
        raise
    carried = carry(request.json(), source, target)
    assert b"be kind" in carried.json()
    assert b"and now?" in carried.json()
    assert all(tool.name.encode() in carried.json() for tool in tools)
