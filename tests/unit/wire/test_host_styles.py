"""What a host's declaration changes in the requests that are written for it, shown with one host and its style changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from legato import render, resolve
from legato.model import Choice, Options, ThinkingSwitch, ToolSpec
from legato.request.catalogue import with_capabilities
from legato.wire.hosting import RequestStyle
from legato.wire.hosts import groq

from builders import ai, calls, origin, result, talk, thought, user

ROUTE = "groq/llama-3.3-70b-versatile"
Styled = Callable[[RequestStyle], None]


@pytest.fixture
def styled(monkeypatch: pytest.MonkeyPatch) -> Styled:
    """Gives the host another style."""
    changed: dict[str, Any] = {}
    monkeypatch.setattr("legato.wire.openai_chat.encode.host_of", lambda target: replace(groq.HOST, **changed))
    return lambda style: changed.update(style=style)


@pytest.mark.parametrize("asked", [Options(choice=Choice.REQUIRED), Options(tool="read")])
def test_where_no_call_can_be_forced_the_model_may_choose_and_that_is_said(styled: Styled, asked: Options) -> None:
    styled(replace(groq.HOST.style, forced_choice=False))
    request = render(talk(user("hi")), ROUTE, tools=[ToolSpec("read")], options=asked)

    assert request.body["tool_choice"] == "auto"
    assert [(one.reason, one.detail) for one in request.report.decisions] == [
        ("forced-tool", "no tool can be forced here, so the model may choose")
    ]


@pytest.mark.parametrize(("demanded", "stands"), [(True, " "), (False, None)])
def test_reasoning_that_is_not_demanded_is_sent_where_there_is_some_and_nowhere_else(
    styled: Styled, demanded: bool, stands: str | None
) -> None:
    styled(replace(groq.HOST.style, reasoning_content=True, reasoning_demanded=demanded))
    target = with_capabilities(resolve(ROUTE), thinking="switch", reasoning_field=True)
    own = origin(ROUTE)
    conversation = talk(
        user("hi"),
        calls("a", origin=own),
        result("a"),
        user("again"),
        ai(thought("I look."), *calls("b").blocks, origin=own),
        result("b"),
    )
    request = render(conversation, target, options=Options(thinking=ThinkingSwitch.ON))

    answers = [message for message in request.body["messages"] if message["role"] == "assistant"]
    assert [answer.get("reasoning_content") for answer in answers] == [stands, "I look."]
