"""What a provider may send in place of an answer: it is recorded, or it is a `BadAnswer` and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from legato import render
from legato.errors import BadAnswer
from legato.model import Ending, Text
from legato.wire.bounds import Bounds
from legato.wire.text_forms import REFUSED

from builders import OTHER_ROUTES, ROUTES, talk, user

CHAT, RESPONSES, CLAUDE, GEMINI, VERCEL, BEDROCK = (*ROUTES[:4], *ROUTES[7:9])
NOTHING: dict[str, Any] = {
    CHAT: {"choices": [{"finish_reason": "content_filter", "message": {"content": ""}}]},
    RESPONSES: {"object": "response", "status": "completed", "output": [{"type": "message", "content": [{"type": "refusal"}]}]},
    CLAUDE: {"type": "message", "content": [], "stop_reason": "refusal"},
    VERCEL: {"content": [], "finishReason": "content-filter"},
    BEDROCK: {"output": {"message": {"role": "assistant", "content": []}}, "stopReason": "content_filtered"},
}  # fmt: skip
CALLS: dict[str, Any] = {
    CHAT: lambda n: {"choices": [{"finish_reason": "stop", "message": {"tool_calls": [{"function": {"name": "r"}}] * n}}]},
    RESPONSES: lambda n: {"object": "response", "status": "completed", "output": [{"type": "function_call", "name": "r"}] * n},
    CLAUDE: lambda n: {"type": "message", "content": [{"type": "tool_use", "name": "r"}] * n, "stop_reason": "tool_use"},
    GEMINI: lambda n: {"candidates": [{"content": {"parts": [{"functionCall": {"name": "r"}}] * n}, "finishReason": "STOP"}]},
    VERCEL: lambda n: {"content": [{"type": "tool-call", "toolName": "r", "input": "{}"}] * n, "finishReason": "stop"},
    BEDROCK: lambda n: {"output": {"message": {"content": [{"toolUse": {"name": "r"}}] * n}}, "stopReason": "tool_use"},
}  # fmt: skip


def nested(levels: int) -> Any:
    value: Any = "the bottom"
    for _ in range(levels):
        value = {"k": [value]}
    return value


class Broken:
    """An object of a client that cannot say what it holds."""

    def model_dump(self, **options: Any) -> Any:
        raise RuntimeError("it was closed")


class Tricky(dict[str, Any]):
    """A mapping that nobody can look into."""

    def get(self, key: str, default: Any = None) -> Any:
        raise ZeroDivisionError

    def items(self) -> Any:
        raise ZeroDivisionError


@pytest.mark.parametrize("route", [*ROUTES, *OTHER_ROUTES])
@pytest.mark.parametrize("value", [5, None, [], object(), Broken(), Tricky(a=1), nested(20_000)], ids=type)
def test_what_no_decoder_foresees_is_a_bad_answer(route: str, value: Any) -> None:
    request = render(talk(user("go")), route)
    with pytest.raises(BadAnswer):
        request.decode(value)
    with pytest.raises(BadAnswer):
        decoder = request.decoder()
        decoder.event(value)
        decoder.finish()


@pytest.mark.parametrize("route", NOTHING)
def test_a_refusal_without_words_can_be_recorded(route: str) -> None:
    conversation = talk(user("go"))
    answer = render(conversation, route).decode(NOTHING[route])
    assert (answer.entry.ending, answer.entry.blocks) == (Ending.REFUSED, (Text(REFUSED),))
    conversation.record(answer)
    render(conversation, route).verify()


@pytest.mark.parametrize(
    "part", [{"novel": {"k": 1}}, {"novel": 1}, {}, {"thought": True}, {"thoughtSignature": "c2ln"}]
)
def test_a_gemini_answer_of_one_odd_part_is_recorded_or_bad(part: dict[str, Any]) -> None:
    conversation = talk(user("go"))
    body = {"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]}
    try:
        answer = render(conversation, GEMINI).decode(body)
    except BadAnswer:
        assert "novel" not in part
        return
    conversation.record(answer)
    for route in ROUTES:
        render(conversation, route).verify()


@pytest.mark.parametrize("route", CALLS)
def test_a_whole_answer_is_held_to_the_bounds_of_a_streamed_one(route: str) -> None:
    request, most = render(talk(user("go")), route), Bounds().calls
    assert len(request.decode(CALLS[route](most)).calls) == most
    with pytest.raises(BadAnswer, match="tool calls"):
        request.decode(CALLS[route](most + 1))
