"""What Kimi remembers of a conversation while its records are read one by one, and what it forgets again.

In:  what was said, steps of the model with their parts and calls, results, and what takes back something of that.
Out: entries in a draft, in the order in which the model was told.

Something that is said while calls are open waits until they are answered, as in the program itself. Taking back turns
removes everything from the last prompt of a person on, except reminders that the program puts in, and goes back to a
compaction at most.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from legato.formats.document import CompactionMark
from legato.formats.draft import DocumentDraft
from legato.formats.origins import origin_of, route_of
from legato.model import Block, Ending, JsonObject, Speaker, Text, ToolCall, ToolResponse, Usage
from legato.wire.arguments import read_arguments


@dataclass(slots=True)
class KimiCall:
    """A call whose arguments may still be arriving as text."""

    name: str
    wire_id: str
    arguments: JsonObject | str | None

    def block(self) -> ToolCall:
        """The call as far as it came."""
        value, raw, finished = read_arguments(self.arguments)
        return ToolCall(self.name, value, self.wire_id, raw=raw, finished=finished)


@dataclass(slots=True)
class KimiMessage:
    """One message: of a person, of the program, a step of the model, or what a tool returned."""

    place: str
    speaker: Speaker
    blocks: list[Block | KimiCall] = field(default_factory=list[Block | KimiCall])
    key: str = ""
    """of a step: its name; of a prompt: its id"""
    provider: str = ""
    model: str = ""
    ending: Ending | None = None
    usage: Usage | None = None
    at: float | None = None
    """when it was written"""
    is_prompt: bool = False
    """a person said it, so turns are counted by it"""
    is_reminder: bool = False
    owner: str = ""
    """of a reminder: the prompt that it was put in for"""
    summary: str | None = None
    """of a compaction: what it replaced everything by; `kept` messages before it stay"""
    kept: int = 0


class KimiMemory:
    """The messages so far."""

    def __init__(self) -> None:
        self.messages: list[KimiMessage] = []
        self.provider = "kimi"
        self._model = ""
        self.at: float | None = None
        """when the record that is read now was written"""
        self._open: KimiMessage | None = None
        self._unanswered: set[str] = set()
        self._waiting: list[KimiMessage] = []

    def say(self, message: KimiMessage) -> None:
        """Somebody said something; it waits while calls are open."""
        message.at = self.at
        (self._waiting if self._unanswered else self.messages).append(message)

    def ask(self, provider: str, model: str) -> None:
        """A model is asked: for the step that has begun, and for further ones."""
        self.provider, self._model = provider, model
        if self._open is not None and not self._open.blocks:
            self._open.provider, self._open.model = provider, model

    def step(self, key: str, place: str) -> KimiMessage:
        """The model begins to answer."""
        self.settle()
        self._open = KimiMessage(place, Speaker.AI, key=key, provider=self.provider, model=self._model, at=self.at)
        self.messages.append(self._open)
        return self._open

    def answer(self, key: str, place: str) -> KimiMessage:
        """The step that goes on; a new one where that is another."""
        return self._open if self._open is not None and key in ("", self._open.key) else self.step(key, place)

    def call(self, call: KimiCall, key: str, place: str) -> None:
        """The model asks for a tool."""
        self.answer(key, place).blocks.append(call)
        self._unanswered.add(call.wire_id)

    def more_arguments(self, text: str) -> bool:
        """More of the arguments of the last call; false if there is none that they could belong to."""
        last = self._open.blocks[-1] if self._open is not None and self._open.blocks else None
        if not isinstance(last, KimiCall) or not isinstance(last.arguments, str):
            return False
        last.arguments += text
        return True

    def result(self, response: ToolResponse, place: str) -> None:
        """A tool returned."""
        self.messages.append(KimiMessage(place, Speaker.TOOL, [response], at=self.at))
        self._unanswered.discard(response.wire_id)
        if not self._unanswered:
            self._release()

    def end(self, ending: Ending | None, usage: Usage | None = None) -> None:
        """The step has ended, and took so many tokens."""
        if self._open is not None:
            self._open.ending, self._open.usage = ending, usage
        self.settle()

    def settle(self) -> None:
        """Nothing more comes for the open step."""
        self._open = None
        self._unanswered.clear()
        self._release()

    def _release(self) -> None:
        self.messages += self._waiting
        self._waiting = []

    # --- forgetting -----------------------------------------------------------------------------------------------

    def take_back(self, turns: int) -> int:
        """Forget the last `turns`; how many messages that were."""
        self.settle()
        before = len(self.messages)
        at = before
        while turns > 0 and at > 0:
            at -= 1
            message = self.messages[at]
            if message.summary is not None:
                break
            if message.is_reminder:
                continue
            del self.messages[at]
            if message.is_prompt:
                turns -= 1
                while at > 0 and self.messages[at - 1].is_reminder and self.messages[at - 1].owner == message.key != "":
                    at -= 1
                    del self.messages[at]
        return before - len(self.messages)

    def clear(self) -> int:
        """Forget everything; how many messages that were."""
        self.settle()
        count = len(self.messages)
        self.messages = []
        return count

    def compact(self, summary: str, count: int | None, place: str) -> None:
        """A summary takes the place of the first `count` messages, or of all of them."""
        self.settle()
        kept = max(0, self._in_sight() - count) if count is not None else 0
        self.messages.append(KimiMessage(place, Speaker.HUMAN, summary=summary, kept=kept))

    def _in_sight(self) -> int:
        """How many messages the model is told: a summary is one."""
        count = 0
        for message in self.messages:
            count = count + 1 if message.summary is None else 1 + message.kept
        return count

    # --- entries ------------------------------------------------------------------------------------------------------

    def speak(self, draft: DocumentDraft) -> None:
        """Add what is remembered."""
        self.settle()
        starts: list[int] = []
        for message in self.messages:
            if message.summary is None:
                starts.append(len(draft.entries))
                _speak(message, draft)
                continue
            first_kept = starts[-message.kept] if 0 < message.kept <= len(starts) else len(draft.entries)
            if first_kept:
                draft.compactions.append(CompactionMark(0, first_kept - 1, message.summary, message.place))
                what = f"a summary replaced {first_kept} entries before; all of them are read here"
                draft.note(message.place, what, is_carried=True)
            else:
                draft.human([Text(message.summary)] if message.summary else [], message.place)


def _speak(message: KimiMessage, draft: DocumentDraft) -> None:
    draft.at = message.at
    blocks = [block.block() if isinstance(block, KimiCall) else block for block in message.blocks]
    if message.speaker is Speaker.AI:
        if message.model:
            draft.model = message.model
        draft.route = route_of(message.provider, message.model) or draft.route
        origin = origin_of(message.provider, message.model)
        draft.say(
            Speaker.AI, blocks, message.place, origin=origin, answer=message.key or message.place, ending=message.ending
        )
        if message.usage is not None and blocks:
            draft.count(message.usage)
    else:
        draft.human(blocks, message.place)
