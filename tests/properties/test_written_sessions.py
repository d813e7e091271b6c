"""A conversation that is written for an agent, and read again from its file, is the same one.

Same means: who said what, in order; every call with its tool and arguments; what came of each, text and images and
whether it failed; calls without a result are still without one. Thoughts are another matter: each agent keeps those of
its own models only.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from legato.formats import read, write
from legato.model import Entry, Media, MediaKind, Text
from legato.transcript import Conversation
from legato.transcript.units import Exchange, Said, completion_text

from builders import ai, call, origin, response, talk, thought, tool, units, user

AGENTS = ("claude-code", "codex", "gemini-cli", "opencode", "qwen-code", "pi", "kimi-code")
ROUTES = ("anthropic/claude-sonnet-4-5", "openai-responses/gpt-5.1", "gemini/gemini-3-pro-preview", "qwen/qwen3-max")

WORDS = st.text(st.sampled_from("ab \n<>{}\"'\\é"), min_size=1, max_size=6).filter(lambda text: bool(text.strip()))
IMAGES = st.sampled_from(["AAAA", "BBBB"]).map(lambda data: Media(MediaKind.IMAGE, "image/png", data=data))
ARGUMENTS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(["path", "n", "deep"]), WORDS | st.integers(0, 9) | st.just([{"x": None}]), max_size=2
)


@st.composite
def exchanges(draw: st.DrawFn, number: int, *, least: int) -> list[Entry]:
    """An answer with text, calls or both, and what came of those calls that were answered, in any order."""
    count = draw(st.integers(least, 3))
    made = [call(f"call_{number}_{n}", draw(st.sampled_from(["read", "ls"]))) for n in range(count)]
    made = [type(one)(one.name, draw(ARGUMENTS), one.wire_id) for one in made]
    words = [Text(draw(WORDS))] if not made or draw(st.booleans()) else []
    thoughts = [thought(draw(WORDS))] if draw(st.booleans()) else []
    answer = ai(*thoughts, *words, *made, origin=origin(draw(st.sampled_from(ROUTES))))
    came = [
        response(
            one.wire_id,
            None if failed else draw(WORDS | st.just("")),
            name=one.name,
            error=draw(WORDS) if failed else None,
            media=() if failed else tuple(draw(st.lists(IMAGES, max_size=2))),
            is_complete=True,
        )
        for one in made
        if draw(st.integers(0, 5))
        for failed in [draw(st.booleans())]
    ]
    return [answer, tool(*draw(st.permutations(came)))] if came else [answer]


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    news: list[Entry] = []
    for number in range(draw(st.integers(1, 4))):
        news.append(user(draw(WORDS), *draw(st.lists(IMAGES | WORDS, max_size=2))))
        steps = draw(st.integers(0, 2))
        for step in range(steps):  # a model goes on by itself only where it has called something
            news += draw(exchanges(number * 10 + step, least=int(step < steps - 1)))
    return talk(*news)


def story(conversation: Conversation) -> list[Any]:
    """What is told, in order."""
    told: list[Any] = []
    for unit in units(conversation):
        if isinstance(unit, Said):
            told.append([block.text if isinstance(block, Text) else block for block in unit.blocks])
        elif isinstance(unit, Exchange):
            told.append("".join(block.text for block in unit.blocks if isinstance(block, Text)))
            told += [(one.name, one.arguments) for one in unit.calls]
            told += [(completion_text(done), done.is_error, done.media) for done in unit.completions]
    return told


@pytest.mark.parametrize("agent", AGENTS)
@given(conversation=conversations())
@example(
    conversation=talk(
        user("go"),
        ai("a", call("call_1"), call("call_2")),
        tool(response("call_2", "two", media=(Media(MediaKind.IMAGE, "image/png", data="AAAA"),))),
        user("stop"),
    )
)
def test_a_conversation_written_for_an_agent_is_read_as_the_same_one(agent: str, conversation: Conversation) -> None:
    written = write(conversation, agent)
    document = read(written.data)
    assert document.format == agent
    assert document.not_carried == []
    assert story(document.conversation()) == story(conversation)
    assert write(conversation, agent).data == written.data
