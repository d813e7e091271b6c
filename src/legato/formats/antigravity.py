"""Read the transcript that Google's Antigravity writes of a conversation: a step of the agent a line.

A step is what a person asked, what the model planned (its thought, its words and its calls), or what came of one call,
as the model read it. Calls have no ids: a result belongs to the call that its type is named after, or else to the first
one that still waits. Lines are written as steps end, so their numbers tell the order, and a step that comes again
replaces the earlier one. The model is not named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import NamedTuple

from legato.formats.blocks import response
from legato.formats.content import Content, Item
from legato.formats.document import Document
from legato.formats.draft import DocumentDraft
from legato.formats.fields import as_object, as_objects, as_text, as_time, as_usage
from legato.formats.format import FileHome, Format, marks
from legato.formats.head import Head
from legato.formats.ids import name_from
from legato.model import Block, Json, JsonObject, Speaker, Text, Thinking, ToolCall
from legato.wire.arguments import read_arguments

_ASKED = re.compile(r"<USER_REQUEST>\n?(.*?)\n?</USER_REQUEST>\n?", re.DOTALL)
_SPEAKING = ("USER_INPUT", "PLANNER_RESPONSE")


def read(content: Content) -> list[Document]:
    """The conversation."""
    reader = _Reader(content.draft())
    for item in _in_order(content.items("steps")):
        reader.step(item)
    return content.finish(reader.draft)


def _in_order(items: Iterable[Item]) -> Iterator[Item]:
    """Steps by their numbers, each as it came last; one without a number stands behind the one before it."""
    steps: list[tuple[int, Item]] = []
    places: dict[tuple[int, str], int] = {}
    number = 0
    for item in items:
        own: Json = item.value.get("step_index")
        place = len(steps)
        if type(own) is int:
            number = own
            # Another kind of step is another step, even where it has the same number.
            place = places.setdefault((number, as_text(item.value.get("type"))), place)
        steps[place : place + 1] = [(number, item)]
    return (item for _, item in sorted(steps, key=itemgetter(0)))


class _Waiting(NamedTuple):
    """A call that nothing came of yet."""

    wire_id: str
    name: str


class _Reader:
    def __init__(self, draft: DocumentDraft) -> None:
        self.draft = draft
        self.answers = 0
        self.waiting: list[_Waiting] = []

    def step(self, item: Item) -> None:
        """Read one step."""
        step, kind = item.value, as_text(item.value.get("type"))
        self.draft.at = as_time(step.get("created_at"))
        if kind == "USER_INPUT":
            self.waiting = []
            self.draft.human(list(_asked(as_text(step.get("content")))), item.place)
        elif kind == "PLANNER_RESPONSE":
            self.answer(step, item.place)
        elif self.waiting:
            self.result(step, kind, item.place)
        else:
            self.draft.unknown(item.place, f"a step of type {kind!r}")

    def answer(self, step: JsonObject, place: str) -> None:
        self.answers += 1
        self.waiting = []
        thought, words = as_text(step.get("thinking")), as_text(step.get("content"))
        blocks: list[Block] = [*([Thinking(thought)] if thought else []), *([Text(words)] if words else [])]
        for number, call in enumerate(as_objects(step.get("tool_calls"))):
            value, raw, finished = read_arguments(call.get("args"))
            own = _Waiting(f"call_{name_from(str(self.answers), str(number))[:8]}", as_text(call.get("name")))
            blocks.append(ToolCall(own.name, value, own.wire_id, raw=raw, finished=finished))
            self.waiting.append(own)
        self.draft.say(Speaker.AI, blocks, place, answer=f"antigravity-{self.answers}")
        if blocks and "input_tokens" in step:
            self.draft.count(as_usage(step, "input_tokens", "output_tokens", "cache_read_tokens", ""))

    def result(self, step: JsonObject, kind: str, place: str) -> None:
        """What came of a call, as the model read it."""
        call = next((one for one in self.waiting if one.name.upper() == kind), self.waiting[0])
        self.waiting.remove(call)
        failed = kind == "ERROR_MESSAGE" or as_text(step.get("status")) == "ERROR"
        text = as_text(step.get("content")) or as_text(step.get("error"))
        self.draft.say(Speaker.TOOL, [response(call.wire_id, call.name, text, is_error=failed)], place)


def _asked(text: str) -> Iterator[Block]:
    """What a person asked, and what the program put around it."""
    found = _ASKED.search(text)
    parts = (text,) if found is None else (found[1], text[: found.start()] + text[found.end() :])
    yield from (Text(part) for part in parts if part.strip())


# --- the format ------------------------------------------------------------------------------------------------------


def _detect(head: Head) -> str:
    return "steps of an agent, named by type and source" if any(map(_is_step, head.records)) else ""


def _is_step(record: JsonObject) -> bool:
    has_all = all(name in record for name in ("step_index", "source", "status"))
    return has_all and as_text(record.get("type")) in _SPEAKING and not as_object(record.get("message"))


FORMAT = Format(
    name="antigravity",
    title="Antigravity transcript",
    known_from="transcripts of google-antigravity 0.1.22",
    read=read,
    detect=_detect,
    home=FileHome(
        folder="~/.gemini/antigravity/brain",
        files="*/.system_generated/logs/transcript_full.jsonl",
        source="https://github.com/Google-Antigravity/antigravity-sdk-python",
    ),
    provider="gemini",
    marks=marks("step_index type"),
    is_lines=True,
    closes_calls=True,  # the conversation itself is in a database: nothing goes on from its transcript
)
