"""The conversation that everything is measured on, in the forms that different converters take.

In:  a number of messages, counted as in a chat request: a question, an answer, three results.
Out: the same conversation as chat messages (JSON objects), as entries, or as entries with damage.

Each answer is a short text and three parallel calls with about 200 bytes of arguments; each result has about 2 kB, in
lines, with the characters that JSON must escape. No two texts are the same object, so nothing is faster here than it
would be in life because a string was met before.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from legato.model import Block, Ending, Entry, Speaker, Text, ToolCall, ToolResponse, ToolSpec
from legato.request import resolve
from legato.transcript import Conversation

MESSAGES_PER_TURN = 5
LINES, SHORT = 24, 2
"""lines of a result: of about 2 kB, and of about 200 bytes"""
TARGET = "anthropic/claude-sonnet-4-5"
ORIGIN = resolve("openai/gpt-4o").origin()
SYSTEM = "You are a careful engineer. Read before you write, and say what you did."
TOOLS = [
    ToolSpec(
        name, f"{name} something in the workspace.", {"type": "object", "properties": {"path": {"type": "string"}}}
    )
    for name in ("read_file", "search_text", "run_tests")
]
_NAMES = [tool.name for tool in TOOLS]


def question(turn: int) -> str:
    """What the person asks."""
    return f"Step {turn}: what does part {turn % 97} still need before it can be released?"


def remark(turn: int) -> str:
    """What the model says before it calls."""
    return f"I will read part {turn % 97} and its tests before I change anything ({turn})."


def wire_id(turn: int, number: int) -> str:
    """The id that the provider gave the call: 24 letters and digits after its prefix."""
    return f"call_{turn:012d}{number:02d}Qw3rTy7uIo"


def arguments(turn: int, number: int) -> dict[str, Any]:
    """About 200 bytes as JSON."""
    return {
        "path": f"services/billing/part_{turn % 97:03d}/module_{number}_{turn}.py",
        "first_line": turn % 400 + 1,
        "last_line": turn % 400 + 80,
        "follow_symlinks": False,
        "reason": f"to see how part {turn} computes the totals that the report shows",
    }


def output(turn: int, number: int, lines: int = LINES) -> str:
    """Something like code, about 2 kB of it."""
    code = [
        f'    total_{line} = sum(item["price"] * item["amount"] for item in orders[{turn + line}])  # {number}\n'
        for line in range(lines)
    ]
    return f"def part_{turn}_{number}(orders):\n" + "".join(code)


def turns(messages: int) -> range:
    """The numbers of the turns that make up so many messages."""
    return range(messages // MESSAGES_PER_TURN)


# --- as chat messages -------------------------------------------------------------------------------------------------


def chat_turn(turn: int) -> list[dict[str, Any]]:
    """One turn as chat messages."""
    calls = [
        {
            "id": wire_id(turn, number),
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments(turn, number), separators=(",", ":"))},
        }
        for number, name in enumerate(_NAMES)
    ]
    return [
        {"role": "user", "content": question(turn)},
        {"role": "assistant", "content": remark(turn), "tool_calls": calls},
        *({"role": "tool", "tool_call_id": wire_id(turn, n), "content": output(turn, n)} for n in range(len(_NAMES))),
    ]


def chat_messages(messages: int) -> list[dict[str, Any]]:
    """The conversation as the messages of a chat request."""
    return [message for turn in turns(messages) for message in chat_turn(turn)]


# --- as entries -------------------------------------------------------------------------------------------------------


def entry_turn(turn: int, lines: int = LINES) -> list[Entry]:
    """One turn as entries: every result was recorded when it came, so each is an entry."""
    calls = [ToolCall(name, arguments(turn, n), wire_id(turn, n)) for n, name in enumerate(_NAMES)]
    answer = Entry(Speaker.AI, (Text(remark(turn)), *calls), origin=ORIGIN, ending=Ending.CALLS)
    results = [
        Entry(Speaker.TOOL, (ToolResponse(wire_id=wire_id(turn, n), tool_name=name, result=output(turn, n, lines)),))
        for n, name in enumerate(_NAMES)
    ]
    return [Entry(Speaker.HUMAN, (Text(question(turn)),)), answer, *results]


def entries(messages: int, lines: int = LINES) -> list[Entry]:
    """The conversation as entries that were not recorded yet."""
    return [entry for turn in turns(messages) for entry in entry_turn(turn, lines)]


def recorded(news: Iterable[Entry]) -> Conversation:
    """A conversation in which all of it was recorded."""
    talk = Conversation()
    talk.apply(talk.prepare(news))
    return talk


# --- damaged ----------------------------------------------------------------------------------------------------------


def damaged(messages: int, *, share: float = 0.1, seed: int = 7) -> list[Entry]:
    """The entries with `share` of the blocks dropped, duplicated, given an id of nobody, or under another speaker."""
    chance = random.Random(seed)
    return [entry for whole in entries(messages) for entry in _damage(whole, share, chance)]


def _damage(entry: Entry, share: float, chance: random.Random) -> Iterator[Entry]:
    kept: list[Block] = []
    elsewhere: list[Block] = []
    for block in entry.blocks:
        if chance.random() >= share:
            kept.append(block)
            continue
        match chance.randrange(4):
            case 0:
                pass  # dropped
            case 1:
                kept += [block, block]
            case 2 if isinstance(block, ToolCall | ToolResponse):
                kept.append(replace(block, wire_id=f"call_{chance.getrandbits(96):024x}"))
            case _:
                elsewhere.append(block)
    if kept:
        yield replace(entry, blocks=tuple(kept))
    for block in elsewhere:
        others = [speaker for speaker in Speaker if speaker is not entry.speaker]
        yield Entry(chance.choice(others), (block,))
