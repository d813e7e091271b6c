"""What the scripted model understands of plain words."""

from __future__ import annotations

from typing import Any

import pytest

from legato.model import ToolSpec
from legato.simulation.faults.plan import FaultKind, InjectedFault
from legato.simulation.faults.requested import RequestedFault, read_requested_faults
from legato.simulation.ids import IdHabit
from legato.simulation.model.script import Script, ScriptStep, Wish, read_script
from simulation_support import LIST, READ

WRITE = ToolSpec(
    "write_file",
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}, "times": {"type": "integer"}},
        "required": ["path", "content", "times"],
    },
)
TOOLS = [READ, LIST, WRITE]


def calls(text: str, tools: list[ToolSpec] | None = None) -> list[list[tuple[str, Any]]]:
    """The calls of each step."""
    script = read_script(text, TOOLS if tools is None else tools)
    return [[(wish.name, wish.arguments) for wish in step.calls] for step in script.steps]


def reads(*paths: str) -> list[tuple[str, Any]]:
    return [("read_file", {"path": path}) for path in paths]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('call read_file with {"path": "a.txt", "more": [1]}', [[("read_file", {"path": "a.txt", "more": [1]})]]),
        ("Please use read_file on a.txt.", [reads("a.txt")]),
        ("use the read_file tool on a.txt, b.txt and c.txt", [reads("a.txt", "b.txt", "c.txt")]),
        ('use `read_file` on "my notes.txt" and b.txt please', [reads("my notes.txt", "b.txt")]),
        (
            "use read_file on a.txt and use list_folder on docs",
            [[*reads("a.txt"), ("list_folder", {"folder": "docs"})]],
        ),
        ("use read_file on a.txt then use read_file on b.txt", [reads("a.txt"), reads("b.txt")]),
        ("use read_file on a.txt, and then read b.txt", [reads("a.txt"), reads("b.txt")]),
        ("Read the files a.txt and b.txt", [reads("a.txt", "b.txt")]),
        ("call list_folder", [[("list_folder", {})]]),
        ('call read_file with {"path": "then use list_folder on x"}', [reads("then use list_folder on x")]),
        ("Hello there", [[]]),
        ("Please use a short sentence.", [[]]),
        ("What did you read in a.txt?", [[]]),
        ("", [[]]),
    ],
)
def test_calls_are_read_from_words(text: str, expected: list[Any]) -> None:
    assert calls(text) == expected


def test_required_arguments_that_nobody_named_get_something_harmless() -> None:
    text = "use write_file on out.txt"

    assert calls(text) == [[("write_file", {"path": "out.txt", "content": "out.txt", "times": 1})]]


def test_a_tool_is_found_under_the_name_that_a_provider_demands() -> None:
    offered = [ToolSpec("files_read_a1B2c3D4", parameters=READ.parameters)]

    assert calls("use files.read on a.txt", offered) == [[("files_read_a1B2c3D4", {"path": "a.txt"})]]


def test_a_tool_is_found_behind_the_namespace_in_front_of_its_name() -> None:
    [step] = read_script(
        "use find_song on blue", [ToolSpec("mcp__songs__find_song"), ToolSpec("find_song_by_ear")]
    ).steps
    assert [wish.name for wish in step.calls] == ["mcp__songs__find_song"]


def test_a_tool_that_is_not_offered_is_named_as_unknown() -> None:
    script = read_script("call delete_all with {}", TOOLS)

    assert (script.steps, script.unknown) == ((ScriptStep(),), ("delete_all",))


def test_a_tool_that_is_not_offered_is_called_if_that_is_insisted_on() -> None:
    assert calls("call delete_all anyway") == [[("delete_all", {})]]


def test_a_step_is_next_when_the_one_before_has_its_results() -> None:
    script = read_script("use read_file on a.txt and b.txt then use list_folder on docs", TOOLS)
    first, second = (step.calls for step in script.steps)

    assert [script.step(results).calls for results in range(5)] == [first, first[1:], second, (), ()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("think first", Script(thinks=True)),
        ("think in secret", Script(thinks=True, secretly=True)),
        ("with constant ids", Script(ids=IdHabit.CONSTANT)),
        ("without ids", Script(ids=IdHabit.EMPTY)),
        ("with empty ids", Script(ids=IdHabit.EMPTY)),
    ],
)
def test_manners_are_read_from_words(text: str, expected: Script) -> None:
    assert read_script(text, TOOLS) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fail with 429", RequestedFault(InjectedFault(FaultKind.RATE_LIMITED))),
        ("Fail once with a 429 after 7 seconds", RequestedFault(InjectedFault(FaultKind.RATE_LIMITED, seconds=7.0), 1)),
        ("fail with 500 twice on anthropic", RequestedFault(InjectedFault(FaultKind.SERVER_ERROR), 2, "anthropic")),
        ("fail 3 times with 529", RequestedFault(InjectedFault(FaultKind.OVERLOADED), 3)),
        ("be slow for 2.5 seconds", RequestedFault(InjectedFault(FaultKind.SLOW, seconds=2.5))),
        ("cut the stream after 4 chunks once", RequestedFault(InjectedFault(FaultKind.CUT, after=4), 1)),
        ("refuse the connection", RequestedFault(InjectedFault(FaultKind.UNREACHABLE))),
        ("refuse to answer", RequestedFault(InjectedFault(FaultKind.REFUSAL))),
        ("write broken arguments", RequestedFault(InjectedFault(FaultKind.BROKEN_ARGUMENTS))),
        ("run out of tokens", RequestedFault(InjectedFault(FaultKind.TRUNCATED))),
        ("say nothing", RequestedFault(InjectedFault(FaultKind.EMPTY))),
        ("send garbage", RequestedFault(InjectedFault(FaultKind.GARBAGE))),
    ],
)
def test_a_failure_is_read_from_words(text: str, expected: RequestedFault) -> None:
    assert list(read_requested_faults(text)) == [expected]


def test_a_failure_belongs_to_the_step_in_which_it_is_asked_for() -> None:
    script = read_script("use read_file on a.txt then fail with 500 then use list_folder on docs and be slow", TOOLS)

    assert script.steps == (
        ScriptStep((Wish("read_file", {"path": "a.txt"}),)),
        ScriptStep(
            (Wish("list_folder", {"folder": "docs"}),),
            (RequestedFault(InjectedFault(FaultKind.SERVER_ERROR)), RequestedFault(InjectedFault(FaultKind.SLOW))),
        ),
    )


def test_a_failure_behind_the_last_call_befalls_the_answer() -> None:
    script = read_script("use read_file on a.txt then refuse to answer", TOOLS)

    assert [[requested.fault.kind for requested in script.step(results).faults] for results in (0, 1)] == [
        [],
        [FaultKind.REFUSAL],
    ]
