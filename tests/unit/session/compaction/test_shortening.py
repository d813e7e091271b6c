"""Tool history without a session, and settings that change while a session goes on."""

from __future__ import annotations

import anyio
import pytest

from legato import Conversation, render
from legato.errors import CallerError, ContextTooLong
from legato.model import Foreign, JsonObject, Options, ThinkingPolicy, ThinkingSwitch, ToolSpec
from legato.model.records import Compacted
from legato.request import default_catalogue, resolve, with_capabilities
from legato.session import HistorySettings, ToolHistory, shorten
from legato.session.compaction.summariser import SummaryInput
from legato.simulation import SimulatedTransport
from legato.tools import Tool, ToolBox, ToolContext, ToolKind
from session_support import CLAUDE, GPT, PATH, Library, session, world

from builders import ai, call, response, talk, tool, user


def at_work(calls: int, tokens: int) -> Conversation:
    entries = [user("Find the bug.")]
    for number in range(calls):
        entries.append(ai("Looking.", call(f"c{number}", path=f"{number}.py")))
        entries.append(tool(response(f"c{number}", f"{number:04d} " * (tokens * 18 // 25))))
    return talk(*entries)


def test_shorten_leaves_out_old_outputs_of_the_next_request_and_says_so() -> None:
    conversation = at_work(20, 1_000)
    before = len(render(conversation, GPT).json())

    event = shorten(conversation, GPT, tools=[Library().read, ToolSpec("other", "Other.")], system="Be brief.")

    assert event is not None
    assert event.detail == "14 outputs stubbed"
    assert len(render(conversation, GPT).json()) < before / 2
    assert sum(isinstance(record, Compacted) for record in conversation.log) == 14
    assert shorten(conversation, GPT) is None, "once is enough"


def test_shorten_takes_the_settings_of_a_history_and_a_catalogue_of_ones_own() -> None:
    settings = HistorySettings(max_tool_history_length=18, truncation_threshold=1_000)
    small = default_catalogue().extended({"providers": {"openai": {"capabilities": {"window": 8_000}}}})

    kept = shorten(at_work(20, 1_000), GPT, history=ToolHistory(settings))
    narrow = shorten(at_work(20, 1_000), GPT, catalogue=small)

    assert kept is not None
    assert kept.detail == "2 outputs stubbed"
    assert narrow is not None
    assert narrow.after < 8_000


def test_shorten_says_what_cannot_be_made_to_fit() -> None:
    conversation = talk(user("word " * 20_000))

    with pytest.raises(ContextTooLong, match="nothing more can be left out"):
        shorten(conversation, with_capabilities(resolve(GPT), window=4_000))


def look(path: str) -> str:
    """Look."""
    return path


look.__doc__ = "word " * 20_000
DEFINITION: JsonObject = {"type": "function", "function": {"name": "look", "description": "word " * 20_000}}


@pytest.mark.parametrize(
    "given", [look, DEFINITION, ToolSpec("look", "word " * 20_000)], ids=["function", "json", "spec"]
)
def test_shorten_counts_every_kind_of_tool_that_render_takes(given: object) -> None:
    small = with_capabilities(resolve(GPT), window=4_000)
    assert shorten(talk(user("Hello")), small) is None
    with pytest.raises(ContextTooLong):
        shorten(talk(user("Hello")), small, tools=[given])


def test_shorten_measures_text_that_is_not_unicode_as_it_will_be_sent() -> None:
    assert shorten(talk(user("Hello")), GPT, system="half a character: \ud83d") is None


def test_shorten_cannot_wait_for_a_model() -> None:
    class Slow:
        name = "slow"

        async def summarise(self, text: SummaryInput) -> str:
            return "short"

    conversation = talk(*[user("word " * 300) for _ in range(40)])
    with pytest.raises(CallerError, match="await its make_room"):
        shorten(conversation, with_capabilities(resolve(GPT), window=8_000), history=ToolHistory(summariser=Slow()))


# --- settings that change ---


def test_options_thinking_and_history_of_a_session_may_be_replaced_and_hold_from_the_next_request_on() -> None:
    transport = SimulatedTransport()

    async def read(arguments: JsonObject, _: ToolContext) -> object:
        return f"contents of {arguments['path']} " * 300

    tool = Tool(spec=ToolSpec("read_file", "Read a file.", PATH), run=read, kind=ToolKind.READ)

    async def main() -> None:
        async with session(CLAUDE, tools=[tool], world=world(transport)) as one:
            await one.send("use read_file on a.txt, b.txt and c.txt")
            one.options = Options(stream=True, thinking=ThinkingSwitch.ON, thinking_budget=2_048)
            await one.send("think first")
            one.thinking = ThinkingPolicy(foreign=Foreign.TEXT)
            one.options = Options(stream=True, max_tokens=77)
            one.history = ToolHistory(HistorySettings(truncation_threshold=0, max_tool_history_length=0, min_gain=0.0))
            one.system = "Be brief."
            await one.send("and now?")

    anyio.run(main)

    asked = [seen.json for seen in transport.requests]
    assert [body.get("thinking", {}).get("type") for body in asked] == [None, None, "enabled", None]
    assert (asked[-1]["max_tokens"], asked[-1]["system"][0]["text"]) == (77, "Be brief.")
    outputs = [[len(str(block["content"])) for block in body["messages"][2]["content"]] for body in asked[-2:]]
    assert min(outputs[0]) > 5_000
    assert max(outputs[1]) < 500, "the new history stubs what the old one kept"
    assert transport.refusals == []


def test_effort_that_is_raised_and_tools_that_are_given_in_a_session_reach_the_next_request() -> None:
    transport = SimulatedTransport()

    async def main() -> None:
        async with session("openai/gpt-5.1", world=world(transport)) as one:
            await one.send("hello")
            one.options = Options(stream=True, effort="high")
            one.tools = ToolBox([library.read])
            await one.send("use read_file on a.txt")

    library = Library()
    anyio.run(main)

    assert [seen.json.get("reasoning_effort") for seen in transport.requests] == [None, "high", "high"]
    assert library.read_paths == ["a.txt"]
