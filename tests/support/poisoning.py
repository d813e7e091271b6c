"""Whether what was read can be sent to anybody afterwards: the promise that a damaged answer may not break.

A case is an answer, a streamed answer or a request body that was damaged at random (see `mutations`). It is read, and
what was read is recorded and rendered for the provider that it came from and for others. Reading may refuse it
(`BadAnswer`, `FormatError`): then nothing is recorded. After that nothing may fail. A conversation that cannot be
stored or rendered, or whose request the rules of its target refuse, is poisoned: it would be so for good.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from event_frames import framed
from legato import Conversation, parse, render, resolve
from legato.errors import BadAnswer, FormatError, LegatoError
from legato.model import Answer, Dialect, Options, ThinkingSwitch, ToolSpec
from legato.model.codec import decode_record, encode_record
from mutation_seeds import answers, bodies, streams
from mutations import Json, mutate

from builders import OTHER_ROUTES, ROUTES, user

ALL_ROUTES = (*ROUTES, *OTHER_ROUTES)
TOOLS = (ToolSpec("read", "Reads a file."), ToolSpec("list"))
OPTIONS = (Options(), Options(thinking=ThinkingSwitch.ON), Options(stream=True))
RESULTS = ("done", "", {"k": 1}, None)
FOREIGN = 2
"""how many other targets each conversation is rendered for"""
CUT_IN = 8
"""one stream in so many breaks off"""
PIECE = 4096
"""bytes that are fed at once"""


class Outcome(NamedTuple):
    """What became of a case: nothing to record, a sound conversation, or a poisoned one with its `fault`."""

    source: str
    value: Json
    is_read: bool = True
    fault: str = ""


def try_case(seed: int, index: int, *, recorded: bool = True) -> Outcome:
    """The case of that number in the campaign of that seed."""
    chance = Random(f"{seed}/{index}")
    route, kind = chance.choice(ALL_ROUTES), chance.randrange(5)
    if kind == 0:
        return try_body(chance, route, recorded=recorded)
    return try_answer(chance, route, is_streamed=bool(kind % 2), recorded=recorded)


def try_answer(chance: Random, route: str, *, is_streamed: bool, recorded: bool = True) -> Outcome:
    """Damage an answer of `route`'s provider, read it, and send the conversation on.

    It may stand behind damaged answers of others, or behind a sound one of the same provider.
    """
    source = f"{route}, {'a streamed' if is_streamed else 'a whole'} answer"
    talk = Conversation()
    talk.record(user("go"))
    values: list[Json] = []
    before = chance.choices([*ALL_ROUTES], k=chance.choice((0, 0, 1, 2)))
    if not chance.randrange(3):
        known = answers(resolve(route).dialect, recorded=False)
        talk.record(render(talk, route).decode(chance.choice(known)))
        talk.record(user("on"))
    step = "read"
    try:
        is_read = False
        for asked in (*before, route):
            values.append(_damaged(chance, asked, is_streamed=is_streamed, recorded=recorded))
            step = "read"
            read = _read_stream if is_streamed else _read
            answer = read(talk, asked, values[-1], chance)
            is_read = answer is not None
            if answer is not None:
                step = "recorded"
                _go_on(talk, answer, chance)
    except Exception as error:
        return Outcome(source, values, fault=_told(step, error))
    fault = _find_fault(talk, route, chance, chance.choice([(), TOOLS]))
    return Outcome(source, values, is_read, fault)


def _damaged(chance: Random, route: str, *, is_streamed: bool, recorded: bool) -> Json:
    known = (streams if is_streamed else answers)(resolve(route).dialect, recorded=recorded)
    return mutate(chance.choice(known), chance, answers(chance.choice(list(Dialect)), recorded=recorded))


def _go_on(talk: Conversation, answer: Answer, chance: Random) -> None:
    """Record an answer, most of its results, and what a person says then."""
    for call in talk.record(answer).calls:
        if chance.randrange(3):
            talk.result(call, chance.choice(RESULTS))
    if chance.randrange(3):
        talk.record(user("and now?"))


def try_body(chance: Random, route: str, *, recorded: bool = True) -> Outcome:
    """Damage a request body for `route`, read it, and send the conversation on."""
    known = bodies(resolve(route).dialect, recorded=recorded)
    value = mutate(chance.choice(known), chance, bodies(chance.choice(list(Dialect)), recorded=recorded))
    source = f"{route}, a request body"
    step = "read"
    try:
        parsed = parse(value if chance.randrange(2) else _json(value), route)
        step = "recorded"
        talk = parsed.conversation()
    except FormatError as error:
        return Outcome(source, value, is_read=step != "read", fault="" if step == "read" else _told(step, error))
    except Exception as error:
        return Outcome(source, value, fault=_told(step, error))
    return Outcome(source, value, fault=_find_fault(talk, route, chance, parsed.tools))


def _read(talk: Conversation, route: str, value: Json, chance: Random) -> Answer | None:
    try:
        return render(talk, route).decode(_json(value))
    except BadAnswer:
        return None


def _read_stream(talk: Conversation, route: str, events: Json, chance: Random) -> Answer | None:
    dialect = resolve(route).dialect
    sent = events if isinstance(events, list) else [events]
    data = b"".join(framed(event, dialect, _json(event)) for event in sent)
    is_cut = not chance.randrange(CUT_IN)
    if is_cut:
        data = data[: chance.randrange(len(data) + 1)]
    decoder = render(talk, route, options=Options(stream=True)).decoder()
    try:
        for start in range(0, len(data), PIECE):
            decoder.feed(data[start : start + PIECE])
        return decoder.partial() if is_cut else decoder.finish()
    except BadAnswer:
        return None


def _find_fault(talk: Conversation, home: str, chance: Random, tools: Sequence[ToolSpec]) -> str:
    """Why `talk` cannot be stored, or not be sent to its home or to one of a few others; empty if it can."""
    step = "stored"
    try:
        assert [decode_record(encode_record(record)) for record in talk.log] == list(talk.log)
        for route in (home, *chance.sample(ALL_ROUTES, FOREIGN)):
            step = f"sent to {route}"
            request = render(talk, route, options=chance.choice(OPTIONS), tools=tools)
            request.verify()
            assert json.loads(request.json()) == request.body
    except Exception as error:
        return _told(step, error)
    return ""


def _json(value: Json) -> bytes:
    return json.dumps(value).encode()


def _told(step: str, error: Exception) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    message = error.message if isinstance(error, LegatoError) else str(error)
    return f"not {step}: {type(error).__name__}: {message[:300]} ({place.name}, line {place.lineno})"
