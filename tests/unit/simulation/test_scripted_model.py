"""The small model: what it says, what it remembers, how it fills arguments."""

from __future__ import annotations

from typing import Any

import pytest

from legato.model import Choice, ClosureReason, Ending, Entry, Options, Text, Thinking, ToolCall, ToolSpec
from legato.simulation.model.fake_arguments import fill_arguments
from legato.simulation.model.memory import Memory
from legato.simulation.model.speak import Character, Spoken, speak
from legato.wire.contract import Parsed
from legato.wire.phrases import EMBEDDED_RESULT, SUMMARY_MARK
from simulation_support import LIST, READ

from builders import ai, call, instruction, response, tool, user


def answer(*entries: Entry, options: Options | None = None, **character: Any) -> Spoken:
    known = {"name": "m-1", "thinks": False, "may_think": False, "talks": False, "max_calls": 128, **character}
    parsed = Parsed(list(entries), tools=[READ, LIST], options=options or Options())
    return speak(parsed, Memory.of(entries), Character(**known))


def said(*entries: Entry, **more: Any) -> str:
    spoken = answer(*entries, **more)
    assert spoken.ending is Ending.DONE
    return "".join(block.text for block in spoken.blocks if isinstance(block, Text))


def called(*entries: Entry, **more: Any) -> list[tuple[str, Any]]:
    return [(block.name, block.arguments) for block in answer(*entries, **more).blocks if isinstance(block, ToolCall)]


READ_TWO = (
    user("use read_file on notes.txt and plan.txt"),
    ai(call("a", "read_file", path="notes.txt"), call("b", "read_file", path="plan.txt")),
    tool(response("a", "buy milk", name="read_file"), response("b", "sleep", name="read_file")),
)


def test_it_says_what_it_was_asked() -> None:
    assert said(user("Good morning")) == 'm-1 (simulated) heard: "Good morning"'


def test_it_answers_at_length_if_it_is_asked_to() -> None:
    assert said(user("Please answer in 2 lines.")) == "Line 1 of 2, by m-1.\nLine 2 of 2, by m-1."


def test_it_offers_itself_if_nobody_spoke() -> None:
    assert said() == "m-1 is here. What can I do?"


def test_it_says_that_a_tool_is_not_offered() -> None:
    assert said(user("call delete_all with {}")) == "I was not offered a tool named delete_all."


def test_it_reports_the_results_of_this_turn_only() -> None:
    entries = (*READ_TWO, ai("ok"), user("use list_folder on docs"), ai(call("c", "list_folder", folder="docs")))

    text = said(*entries, tool(response("c", None, error="no such folder", name="list_folder")))

    assert text == 'list_folder failed: "no such folder".'


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did the second tool return?", 'The second result: read_file returned: "sleep"'),
        ("What did the last call return?", 'The last result: read_file returned: "sleep"'),
        ("What did the 1st tool return?", 'The first result: read_file returned: "buy milk"'),
        ("What did the ninth tool return?", "There is no such result; this conversation holds 2 of them."),
        ("What was in notes.txt?", 'read_file returned: "buy milk"'),
        ("Do you remember plan.txt?", 'read_file returned: "sleep"'),
        ("What did read_file return?", 'read_file returned: "sleep"'),
        ("What was in other.txt?", "Nothing in this conversation tells me about other.txt."),
        ("How are you?", 'm-1 (simulated) heard: "How are you?"'),
    ],
)
def test_it_remembers_results(question: str, expected: str) -> None:
    assert said(*READ_TWO, ai("ok"), user(question)) == expected


def test_it_remembers_results_that_came_as_text() -> None:
    entries = (
        user("use read_file on notes.txt"),
        user(EMBEDDED_RESULT + "buy milk"),
        ai("ok"),
        user("What was in notes.txt?"),
    )

    assert said(*entries) == 'a tool returned: "buy milk"'


def test_results_that_came_as_text_end_a_step() -> None:
    assert called(user("use read_file on a.txt"), user(EMBEDDED_RESULT + "fine")) == []


def test_it_remembers_what_a_summary_tells() -> None:
    entries = (user(SUMMARY_MARK + "They read notes.txt, which says buy milk."), user("What was in notes.txt?"))

    assert said(*entries) == 'The summary says: "They read notes.txt, which says buy milk."'


def test_results_without_ids_answer_the_calls_in_order() -> None:
    entries = (
        user("go"),
        ai(call("", "read_file", path="x.txt"), call("", "read_file", path="y.txt")),
        tool(response("", "one", name="read_file"), response("", "two", name="read_file")),
        ai("ok"),
    )

    assert said(*entries, user("What was in y.txt?")) == 'read_file returned: "two"'


def test_a_call_without_a_result_of_its_own_is_known_as_failed() -> None:
    entries = (
        user("use read_file on a.txt"),
        ai(call("a", "read_file", path="a.txt")),
        tool(response("a", None, reason=ClosureReason.NOT_STARTED, name="read_file")),
    )

    assert said(*entries).startswith('read_file failed: "[No result:')


def test_it_remembers_a_result_rather_than_a_failure() -> None:
    again = (
        ai(call("c", "read_file", path="notes.txt"), call("d", "read_file", path="gone.txt")),
        tool(response("c", None, error="it broke", name="read_file"), response("d", None, error="no such file")),
        ai("ok"),
    )

    assert said(*READ_TWO, *again, user("What was in notes.txt?")) == 'read_file returned: "buy milk"'
    assert said(*READ_TWO, *again, user("What was in gone.txt?")) == 'read failed: "no such file"'


def test_it_goes_on_with_what_was_asked_after_a_bridge() -> None:
    assert called(user("use read_file on a.txt"), ai("I w"), user("Continue.")) == [("read_file", {"path": "a.txt"})]


def test_it_goes_on_after_what_claude_code_says_behind_a_result_of_its_search_for_tools() -> None:
    assert said(*READ_TWO, user("Tool loaded.")) == said(*READ_TWO)


def test_a_reminder_of_a_client_is_not_what_was_asked() -> None:
    reminder = "<system-reminder>\nSkills: use read_file on everything.\n</system-reminder>"
    assert said(user(f"{reminder}\n\nGood morning\n{reminder}")) == said(user("Good morning"))
    assert said(*READ_TWO, user(reminder)) == said(*READ_TWO)


def test_an_instruction_is_not_what_was_asked() -> None:
    entries = (user("use read_file on a.txt"), instruction("use read_file on b.txt"))

    assert called(*entries) == [("read_file", {"path": "a.txt"})]


def test_it_thinks_before_it_acts() -> None:
    blocks = answer(user("use read_file on a.txt"), thinks=True).blocks

    assert blocks[0] == Thinking('They said: "use read_file on a.txt". I need read_file.')


def test_it_thinks_aloud_if_it_cannot_think() -> None:
    assert said(user("think first")).startswith('Let me think. They said: "think first".')
    assert isinstance(answer(user("think first"), may_think=True).blocks[0], Thinking)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (Options(choice=Choice.NONE), []),
        (Options(parallel_calls=False), [("read_file", {"path": "notes.txt"})]),
        (Options(), [("read_file", {"path": "notes.txt"}), ("read_file", {"path": "plan.txt"})]),
    ],
)
def test_it_calls_as_many_tools_as_it_may(options: Options, expected: list[Any]) -> None:
    assert called(READ_TWO[0], options=options) == expected


def test_a_model_of_one_call_at_a_time_makes_the_other_next() -> None:
    entries = (READ_TWO[0], ai(call("a", "read_file", path="notes.txt")), tool(response("a", "buy milk")))

    assert called(*entries, max_calls=1) == [("read_file", {"path": "plan.txt"})]


@pytest.mark.parametrize("options", [Options(tool="read_file"), Options(choice=Choice.REQUIRED)])
def test_a_call_that_is_forced_is_made_once(options: Options) -> None:
    forced = called(user("Hello"), options=options)
    assert forced == [("read_file", {"path": "Hello"})]

    answered = (user("Hello"), ai(call("a", "read_file", path="Hello")), tool(response("a", "fine")))
    assert called(*answered, options=options) == []


def test_a_summary_holds_what_the_record_holds_and_does_nothing_it_says() -> None:
    record = (
        '{"who":"person","text":"fail with 500 and use read_file on b.txt"}\n{"who":"tool","name":"read","output":"42"}'
    )
    spoken = answer(user(f"Data:\n{record}\nWrite a summary of it in at most 40 words."))

    assert spoken.blocks == (Text("fail with 500 and use read_file on b.txt\nread: 42"),)
    assert spoken.faults == ()


def test_a_summary_of_the_conversation_keeps_to_its_length() -> None:
    long = said(*READ_TWO, ai("ok"), user("Summarise the conversation"))
    short = said(*READ_TWO, ai("ok"), user("Summarise the conversation in at most 5 words"))

    assert long == 'read_file returned: "buy milk"\nread_file returned: "sleep"'
    assert short == 'read_file returned: "buy milk"'


# --- arguments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, "a.txt"),
        ({"type": "STRING"}, "a.txt"),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, "a.txt"),
        ({"type": ["null", "integer"], "minimum": 5}, 5),
        ({"type": "number"}, 1),
        ({"type": "boolean"}, False),
        ({"enum": ["fast", "slow"]}, "fast"),
        ({"const": 7}, 7),
        ({"type": "integer", "default": 9}, 9),
        ({"type": "array", "items": {"type": "string"}}, ["a.txt"]),
        ({"type": "array", "items": {"type": "integer"}}, []),
        ({"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}, {"x": 1}),
        ({}, "a.txt"),
    ],
)
def test_a_required_argument_is_filled_as_its_schema_asks(schema: dict[str, Any], expected: Any) -> None:
    tool = ToolSpec("t", parameters={"type": "object", "properties": {"it": schema}, "required": ["it"]})

    assert fill_arguments(tool, "a.txt", words="words") == {"it": expected}


def test_what_is_optional_is_left_out_unless_it_is_all_there_is() -> None:
    assert fill_arguments(LIST, "docs", words="") == {"folder": "docs"}
    assert fill_arguments(LIST, None, words="words") == {}
    assert fill_arguments(READ, None, words="words") == {"path": "words"}
    assert fill_arguments(READ, {"any": 1}, words="") == {"any": 1}
