"""A signature stays with the arguments that it was made for."""

from __future__ import annotations

from typing import Any

import pytest

from legato.gateway.giving_back import as_given
from legato.gateway.own_calls import as_made
from legato.gateway.state import GivenAnswer
from legato.model import ToolCall, ToolSpec

from builders import ai, origin

EDIT = ToolSpec(
    "Edit",
    parameters={
        "type": "object",
        "properties": {"old": {"type": "string"}, "all": {"type": "boolean", "default": False}, "how": {"default": []}},
        "required": ["old"],
    },
)
SIGNED = {"thoughtSignature": "c2ln", "other": 1}
GIVEN = ToolCall("Edit", {"old": "a"}, "toolu_1", native=SIGNED)


@pytest.mark.parametrize(
    ("shown", "arguments", "native"),
    [
        pytest.param({"old": "a"}, {"old": "a"}, SIGNED, id="unchanged"),
        pytest.param({"all": False, "old": "a", "how": []}, {"old": "a"}, SIGNED, id="defaults written out"),
        pytest.param({"old": "a", "all": True}, {"old": "a", "all": True}, {"other": 1}, id="something added"),
        pytest.param({"old": "a", "new": 1}, {"old": "a", "new": 1}, {"other": 1}, id="not in the schema"),
        pytest.param({"old": "b"}, {"old": "b"}, {"other": 1}, id="changed"),
        pytest.param({"all": False}, {"all": False}, {"other": 1}, id="something gone"),
    ],
)
def test_a_signature_is_back_on_the_arguments_that_it_was_made_for(shown: Any, arguments: Any, native: Any) -> None:
    made = as_made(ToolCall("Edit", shown, "toolu_1"), GIVEN, [ToolSpec("Read"), EDIT])
    assert (made.arguments, made.native) == (arguments, native)


def test_without_a_signature_the_arguments_are_the_clients_own() -> None:
    shown = ToolCall("Edit", {"old": "a", "all": False}, "toolu_1")
    made = as_made(shown, ToolCall("Edit", {"old": "a"}, "toolu_1", native={"other": 1}), [EDIT])
    assert (made.arguments, made.native) == ({"old": "a", "all": False}, {"other": 1})


def test_an_answer_is_given_back_as_the_model_made_it() -> None:
    given = GivenAnswer(ai(GIVEN, origin=origin("gemini/gemini-3-pro-preview")), "gemini/gemini-3-pro-preview")
    shown = ai(ToolCall("Edit", {"all": False, "old": "a"}, "toolu_1"))
    [call] = as_given(shown, given, [EDIT]).calls
    assert (call.arguments, call.native) == ({"old": "a"}, SIGNED)
    [call] = as_given(shown, given).calls
    assert (call.arguments, call.native) == ({"all": False, "old": "a"}, {"other": 1})
