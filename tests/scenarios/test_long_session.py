"""Sessions that outgrow their window: what is sent fits, little is rewritten, and the beginning is not forgotten."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

import anyio
import msgspec
import pytest

from bench.compaction import Journey, common, run
from bench.long_session import QUESTIONS, Measured, play
from legato.errors import ContextTooLong
from legato.model import Answer, Ending, Entry, Speaker, Text, ToolCall, Usage
from legato.model.records import Compacted, CompactionKind, RouteSelected, TurnOutcome
from legato.request import default_catalogue, render, resolve, with_capabilities
from legato.request.prices import add
from legato.session import HistorySettings, Limits, Session, ToolHistory, World
from legato.session.costs import Spending
from legato.session.events import Event, HistoryCompacted
from legato.session.subagents import task_tool
from legato.session.turn import TurnResult
from legato.simulation import SimulatedTransport
from legato.tools import Approval, Mode, ToolBox, ToolContext, ToolKind, tool
from legato.transcript import Conversation, Summary
from legato.transport import KeyRing, WireRequest, WireResponse
from legato.transport.contract import whole_response
from legato.wire.dialects import dialect_parts

SMALL, LARGE = "openai/gpt-4o", "anthropic/claude-sonnet-4-5"
WINDOW = 6_000
NARROW = 24_000
TURNS = int(os.environ.get("LEGATO_TURNS", "250"))
"""of the session over simulated providers; `make fuzz` takes more"""
FAMILIES = (
    "openai/gpt-4o",
    "anthropic/claude-sonnet-4-5",
    "gemini/gemini-3-pro-preview",
    "mistral/mistral-large-latest",
    "kimi/kimi-k2-thinking",
)
CODE_WORD = "PERIWINKLE-4"


# --- two thousand turns -----------------------------------------------------------------------------------------------


@cache
def measured() -> dict[str, Any]:
    return run(2_000, NARROW)


def test_two_thousand_turns_never_send_more_than_the_window() -> None:
    assert measured()["requests"] == 4_000
    assert measured()["largest request"] <= 0.95 * NARROW


def test_two_thousand_turns_are_rewritten_no_more_often_than_is_promised() -> None:
    found = measured()
    # Each rewrite frees the step between the marks, or, if outputs passed their threshold before, the minimal gain; and
    # all together cannot free more than was ever said.
    late = found["rewrites"] - found["early rewrites"]
    assert found["early rewrites"] * 0.05 * NARROW + late * 0.3 * NARROW <= found["whole conversation"]
    assert found["rewrites at least"] <= found["rewrites"] <= found["rewrites at most"]
    assert found["summaries written"] <= late
    assert found["summaries written"] <= found["whole conversation"] / (0.5 * NARROW)


@pytest.mark.parametrize(("window", "deep"), [(8_000, 0.35), (16_000, 0.49)])
def test_every_rewrite_frees_the_step_between_the_marks_and_every_summary_more(window: int, deep: float) -> None:
    journey = Journey(with_capabilities(resolve(SMALL), window=window), HistorySettings(truncation_threshold=10**6))

    async def travel() -> None:
        for number in range(300):
            await journey.turn(number)

    anyio.run(travel)
    freed = [(event.before - event.after, "covered" in event.detail) for event in journey.compactions]
    assert len(freed) > 10
    assert min(tokens for tokens, _ in freed) >= 0.3 * window
    assert min(tokens for tokens, is_covered in freed if is_covered) >= deep * window
    bounds = journey.bounds()
    assert bounds.at_least <= len(freed) <= bounds.at_most == bounds.whole // round(0.3 * window)


def test_most_of_what_two_thousand_turns_send_was_cached() -> None:
    assert measured()["cached share"] > 0.9


def test_after_two_thousand_turns_the_summary_still_knows_the_first() -> None:
    assert measured()["knows its first turn"] is True


def test_a_wide_window_is_rewritten_less_and_cached_more() -> None:
    narrow, wide = run(150, 16_000), run(150, 64_000)
    assert wide["rewrites"] < narrow["rewrites"]
    assert wide["cached share"] > narrow["cached share"]


@pytest.mark.parametrize(
    "route", ["anthropic/claude-sonnet-4-5", "vercel-gateway/openai/gpt-5.1", "kimi/kimi-k2-thinking"]
)
def test_between_two_compactions_what_is_sent_only_grows(route: str) -> None:
    journey = Journey(with_capabilities(resolve(route), window=8_000))

    async def travel() -> None:
        before: list[Any] = []
        for number in range(120):
            rewrites = journey.rewrites
            await journey.turn(number)
            field = dialect_parts(journey.target.dialect).messages_field
            now = unmarked(render(journey.talk, journey.target).copy()[field])
            if journey.rewrites == rewrites:
                assert now[: len(before)] == before
            before = now[:-2]  # the last messages may still be joined by the next ones

    anyio.run(travel)
    assert journey.rewrites > 2


def unmarked(messages: list[Any]) -> list[Any]:
    """`messages` without cache marks."""
    return json.loads(json.dumps(messages).replace(', "cache_control": {"type": "ephemeral"}', ""))


def test_common_beginnings_are_measured_to_the_byte() -> None:
    assert [common(b"", b"x"), common(b"abc", b"abd"), common(b"abc", b"abc"), common(b"ab", b"abc")] == [0, 2, 3, 2]


# --- a session over simulated providers, which refuse what is too long -------------------------------------------------


@cache
def played() -> Measured:
    return play(TURNS, 8_000)


def test_a_long_session_never_sends_more_than_the_window() -> None:
    assert played().requests == 2 * (TURNS - len(QUESTIONS)) + len(QUESTIONS)
    assert played().refused == 0
    assert played().largest <= 0.95 * 8_000


def test_a_long_session_is_rewritten_no_more_often_than_is_promised() -> None:
    bounds = played().bounds
    assert 0 < bounds.at_least <= played().rewrites <= bounds.at_most <= bounds.whole / (0.3 * 8_000)


def test_most_of_what_a_long_session_sends_was_cached() -> None:
    assert played().cached_share > 0.9


def test_a_long_session_answers_questions_about_its_first_turn() -> None:
    assert {question: word in played().answers[question] for question, word in QUESTIONS.items()} == dict.fromkeys(
        QUESTIONS, True
    )


def test_a_long_session_may_change_provider_with_every_turn() -> None:
    found = play(TURNS // 5, 8_000, routes=FAMILIES)
    assert found.refused == 0
    assert found.largest <= 0.95 * 8_000
    assert 0 < found.rewrites <= found.bounds.at_most
    assert found.knows_its_first_turn


# --- in a session -----------------------------------------------------------------------------------------------------


class Provider:
    """A model that reads what it is sent, calls a tool when it is told to look, and refuses what is too long."""

    def __init__(self, limit: int = 10**9) -> None:
        self.limit = limit
        self.bodies: list[bytes] = []
        self.refusals = 0
        self.used = Usage()
        """what it counted, of all requests together"""
        self.summaries: list[str] = []
        """the routes that were asked for one"""
        self.busy = 0
        """how many requests are turned away as too many"""

    async def send(self, request: WireRequest) -> WireResponse:
        if self.busy:
            self.busy -= 1
            return whole_response(
                429, b'{"error": {"message": "Too many tokens per minute", "code": "rate_limit_exceeded"}}'
            )
        if len(request.body) / 3.6 > self.limit:
            self.refusals += 1
            return whole_response(
                400,
                b'{"error": {"message": "This model\'s maximum context length is exceeded.", '
                b'"type": "invalid_request_error", "code": "context_length_exceeded"}}',
            )
        self.bodies.append(request.body)
        parts = dialect_parts(request.dialect)
        entries = parts.parse(json.loads(request.body)).entries
        usage = Usage(input=round(len(request.body) / 3.6), output=9)
        self.used = add(self.used, usage)
        answer = Answer(self._answer(entries, request.body, request.route), usage)
        return whole_response(200, msgspec.json.encode(parts.reply(answer, request.target.model)))

    def _answer(self, entries: list[Entry], body: bytes, route: str) -> Entry:
        last = entries[-1]
        if last.speaker is Speaker.HUMAN and "Write a summary" in last.text:
            self.summaries.append(route)
            return Entry(Speaker.AI, (Text(f"They looked around; the word is {CODE_WORD}."),), ending=Ending.DONE)
        if last.speaker is Speaker.HUMAN and "code word" in last.text:
            known = CODE_WORD if CODE_WORD in body.decode() else "I do not know."
            return Entry(Speaker.AI, (Text(known),), ending=Ending.DONE)
        if last.speaker is Speaker.HUMAN and "Look" in last.text:
            wanted = ToolCall("look", {"path": f"{len(self.bodies)}.txt"}, f"call_{len(self.bodies)}")
            return Entry(Speaker.AI, (wanted,), ending=Ending.CALLS)
        return Entry(Speaker.AI, (Text("Fine, that is done."),), ending=Ending.DONE)


@tool(kind=ToolKind.READ)
def look(path: str) -> str:
    """Look at a file."""
    return f"{path} holds a long line of text. " * 20


def in_session(
    provider: Provider,
    story: Callable[[Session], Awaitable[None]],
    *,
    route: str = SMALL,
    settings: HistorySettings | None = None,
    **more: Any,
) -> Session:
    async def no_wait(_: float) -> None:
        return

    window = {"name": "small", "match": ["gpt-4o*"], "capabilities": {"window": WINDOW}}
    world = World(
        transport=provider,
        keys=KeyRing({"openai": "key-one", "anthropic": "key-two"}, {}),
        catalogue=default_catalogue().extended({"families": [window]}),
        sleep=no_wait,
    )
    session = Session(route, tools=[look], world=world, history=ToolHistory.in_world(world, settings), **more)

    async def play() -> None:
        async with session:
            await story(session)

    anyio.run(play)
    return session


async def chat(session: Session, turns: int, *, start: int = 0) -> None:
    for number in range(start, start + turns):
        result = await session.send(f"Look at number {number}, please.")
        assert result.outcome is TurnOutcome.DONE
        assert result.steps == 2


def compactions(talk: Conversation) -> list[Compacted]:
    return [record for record in talk.log if isinstance(record, Compacted)]


def test_a_session_stays_within_its_window_and_answers_a_question_about_its_first_turn() -> None:
    provider = Provider(limit=WINDOW)
    answers: list[TurnResult] = []

    async def story(session: Session) -> None:
        await session.send(f"Remember the word {CODE_WORD} for later.")
        await chat(session, 120)
        answers.append(await session.send("What was the code word?"))

    session = in_session(provider, story)
    assert answers[0].text == CODE_WORD
    assert b".txt holds a long line of text." in provider.bodies[-1]
    assert provider.refusals == 0
    assert max(len(body) for body in provider.bodies) / 3.6 <= 0.95 * WINDOW
    covers = [record for record in compactions(session.talk) if record.kind is CompactionKind.COVER]
    assert 2 <= len(covers) < len(provider.bodies) / 10


def test_a_provider_that_finds_the_request_too_long_gets_a_shorter_one() -> None:
    provider = Provider()
    seen: list[HistoryCompacted] = []

    async def story(session: Session) -> None:
        await chat(session, 12)
        provider.limit = round(len(provider.bodies[-1]) / 3.6 * 0.8)
        turn = session.send("Fine?")
        seen.extend([event async for event in turn if isinstance(event, HistoryCompacted)])
        assert (await turn).outcome is TurnOutcome.DONE

    in_session(provider, story)
    assert provider.refusals == 1
    [event] = seen
    assert event.after <= 0.75 * event.before


def test_a_message_larger_than_the_window_fails_cleanly_and_the_provider_is_not_asked() -> None:
    provider = Provider()

    async def story(session: Session) -> None:
        await chat(session, 3)
        asked = len(provider.bodies)
        with pytest.raises(ContextTooLong):
            await session.send("word " * 2 * WINDOW)
        assert len(provider.bodies) == asked
        await session.undo()
        assert (await session.send("Fine?")).outcome is TurnOutcome.DONE

    in_session(provider, story)


def test_too_many_requests_are_no_overflow() -> None:
    provider = Provider()

    async def story(session: Session) -> None:
        await chat(session, 10)
        provider.busy = 2
        assert (await session.send("Fine?")).outcome is TurnOutcome.DONE

    session = in_session(provider, story)
    assert compactions(session.talk) == []


def test_before_a_switch_to_a_smaller_window_the_conversation_is_compacted_for_it_and_the_larger_one_keeps_it_all() -> (
    None
):
    provider = Provider()

    async def story(session: Session) -> None:
        await session.send(f"Remember the word {CODE_WORD} for later.")
        await chat(session, 40)
        assert compactions(session.talk) == []
        await session.switch(SMALL)
        made = compactions(session.talk)
        assert {record.window for record in made} == {WINDOW}
        selected = next(place for place, r in enumerate(session.talk.log) if isinstance(r, RouteSelected))
        assert all(session.talk.log.index(record) < selected for record in made)
        assert (await session.send("What was the code word?")).text == CODE_WORD
        assert len(provider.bodies[-1]) / 3.6 <= 0.8 * WINDOW
        written = len(compactions(session.talk))
        await session.switch(LARGE)
        await session.send("Fine?")
        assert b"Look at number 0, please." in provider.bodies[-1]
        assert len(compactions(session.talk)) == written

    in_session(provider, story, route=LARGE)


def test_undo_past_a_summary_brings_the_turns_back() -> None:
    provider = Provider()

    async def story(session: Session) -> None:
        await chat(session, 12)
        assert await session.compact() is not None
        view = session.talk.view(WINDOW)
        view.refresh()
        assert isinstance(next(view.units()), Summary)
        await session.undo(3)
        view.refresh()
        assert not any(isinstance(unit, Summary) for unit in view.units())
        await session.send("Fine?")
        assert b"Look at number 0, please." in provider.bodies[-1]
        assert b"Look at number 10, please." not in provider.bodies[-1]

    in_session(provider, story, settings=HistorySettings(max_tool_history_length=2))


# --- what summaries cost ----------------------------------------------------------------------------------------------

BY_A_MODEL = HistorySettings(summarization_model="current", max_tool_history_length=2)


def test_what_summaries_cost_is_counted_with_the_turn_that_needed_them() -> None:
    provider = Provider()
    results: list[TurnResult] = []

    async def story(session: Session) -> None:
        results.extend([await session.send(f"Look at number {number}, please.") for number in range(40)])

    session = in_session(provider, story, settings=BY_A_MODEL)
    assert provider.summaries
    assert session.spending.usage == provider.used
    assert [result.steps for result in results] == [2] * 40
    assert sum(result.usage.output == 9 * 3 for result in results) == len(provider.summaries)
    assert sum(result.cost or 0.0 for result in results) == pytest.approx(session.spending.cost)
    again = Spending()
    again.replay(session.talk.log, session.world.prices)
    assert again.usage == provider.used


def test_a_summary_that_is_asked_for_counts_toward_the_limit() -> None:
    costs: list[float] = []

    async def story(session: Session) -> None:
        await chat(session, 12)
        costs.append(session.spending.known)
        assert await session.compact() is not None
        costs.append(session.spending.known)
        outcomes.append((await session.send("Fine?")).outcome)

    outcomes: list[TurnOutcome] = []
    in_session(Provider(), story, settings=BY_A_MODEL)
    before, after = costs
    assert before < after
    in_session(Provider(), story, settings=BY_A_MODEL, limits=Limits(max_cost=(before + after) / 2))
    assert outcomes == [TurnOutcome.DONE, TurnOutcome.LIMIT]


def test_before_a_switch_the_old_model_writes_the_summary_and_its_price_counts() -> None:
    provider = Provider()

    async def story(session: Session) -> None:
        await chat(session, 40)
        assert provider.summaries == []
        await session.switch(SMALL)
        assert provider.summaries == [LARGE]
        assert session.spending.usage == provider.used
        assert set(session.spending.by_route) == {LARGE}

    in_session(provider, story, route=LARGE, settings=BY_A_MODEL)


def test_a_switch_that_waits_for_the_end_of_a_turn_is_prepared_by_the_model_that_answered_in_it() -> None:
    provider = Provider()
    seen: list[HistoryCompacted] = []

    async def story(session: Session) -> None:
        await chat(session, 40)
        turn = session.send("Look at number 40, please.")
        async for _ in turn:
            if session.route != SMALL:
                assert (await session.switch(SMALL)).deferred
        assert (await turn).route == LARGE
        assert provider.summaries == []
        turn = session.send("Fine?")
        seen.extend([event async for event in turn if isinstance(event, HistoryCompacted)])
        assert (await turn).route == SMALL
        assert provider.summaries == [LARGE]
        assert len(provider.bodies[-1]) / 3.6 <= 0.8 * WINDOW
        await chat(session, 60)
        assert set(provider.summaries[1:]) == {SMALL}

    in_session(provider, story, route=LARGE, settings=BY_A_MODEL)
    assert len(seen) == 1


EAGER = HistorySettings(truncation_threshold=100, min_gain=0.0, max_tool_history_length=1)


@pytest.mark.parametrize(("settings", "is_compacted"), [(None, False), (EAGER, True)])
def test_subagents_keep_their_conversations_by_the_settings_they_are_given(
    settings: HistorySettings | None, is_compacted: bool
) -> None:
    seen: list[Event] = []
    task = task_tool(
        SMALL,
        tools=ToolBox([look]),
        world=World(transport=SimulatedTransport(), keys=KeyRing({}, {})),
        approval=Approval(Mode.NEVER),
        history=settings,
        watch=lambda _, event: seen.append(event),
    )

    async def delegate() -> None:
        await task.run({"prompt": "use look on a.txt, b.txt and c.txt then use look on d.txt"}, ToolContext())

    anyio.run(delegate)
    assert any(isinstance(event, HistoryCompacted) for event in seen) is is_compacted
