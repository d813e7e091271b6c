"""What a conversation holds, as a model would remember it.

In:  the entries of a request.
Out: the last thing asked, the results that came since, all results with the calls they answer, summaries, and what was
     said. From these a question about the past is answered, whichever model was asked for the tools back then.

Results that were embedded as text, because a target takes no calls, count as results: the model has nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec import Struct

from legato.model import (
    Authority,
    Block,
    Entry,
    HostedTool,
    JsonObject,
    Speaker,
    Text,
    ToolCall,
    ToolResponse,
    closure_text,
    recognise_closure,
)
from legato.wire.phrases import BRIDGES, EMBEDDED_RESULT, SUMMARY_MARK

_ASIDES = ("[Media from the result of ", "Tool loaded.")
"""how texts begin that nobody asked for: ours, and what Claude Code puts behind a result of its ToolSearch"""
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
"""what Claude Code and Qwen Code put around what a person says: nobody asks for what is in it"""
_QUOTED = 240
"""characters of a result that the model quotes: our choice, enough to know it by"""


@dataclass(frozen=True, slots=True)
class Remembered:
    """A result, with what is known of its call. `ask` is what the user had said."""

    tool: str
    arguments: JsonObject
    text: str
    ask: str
    failed: bool = False

    def told(self) -> str:
        """The result in a sentence."""
        name = self.tool or "a tool"
        return f'{name} {"failed" if self.failed else "returned"}: "{quote(self.text)}"'


class _Kept(Struct):
    ask: str
    since: int
    results: list[Remembered]
    summaries: list[str]
    said: list[str]
    asked: list[str]


@dataclass(slots=True)
class Memory:
    """What one request holds."""

    ask: str = ""
    results: list[Remembered] = field(default_factory=list[Remembered])
    since: int = 0
    """how many of the results came after the last thing asked"""
    summaries: list[str] = field(default_factory=list[str])
    said: list[str] = field(default_factory=list[str])
    asked: list[str] = field(default_factory=list[str])
    _open: list[ToolCall] = field(default_factory=list[ToolCall])

    @classmethod
    def of(cls, entries: Iterable[Entry], unseal: Callable[[Block], str] = lambda _: "") -> Memory:
        """The memory of `entries`; `unseal` gives what an earlier memory wrote into a block, if it did."""
        memory = cls()
        for entry in entries:
            for block in entry.blocks:
                if isinstance(block, HostedTool) and (written := unseal(block)):
                    memory._load(written)
                else:
                    memory._take(entry, block)
        return memory

    def dump(self) -> str:
        """All of it, to be loaded into another memory."""
        kept = _Kept(self.ask, self.since, self.results, self.summaries, self.said, self.asked)
        return msgspec.json.encode(kept).decode()

    def _load(self, written: str) -> None:
        """What was dumped comes before whatever is remembered already; clients repeat what the user said."""
        kept = msgspec.json.decode(written, type=_Kept)
        self.results[:0] = kept.results
        self.summaries[:0] = kept.summaries
        self.said[:0] = kept.said
        if not self.ask:
            self.ask, self.asked = kept.ask, kept.asked
        if self.ask == kept.ask:
            self.since += kept.since

    @property
    def fresh(self) -> Sequence[Remembered]:
        """The results since the last thing asked."""
        return self.results[len(self.results) - self.since :]

    def _take(self, entry: Entry, block: Block) -> None:
        match block:
            case ToolResponse():
                self._take_result(block)
            case ToolCall():
                self._open.append(block)
            case Text() if entry.speaker is Speaker.AI:
                self.said.append(block.text)
            case Text() if entry.authority is Authority.PERSON:
                self._hear(block.text)
            case _:
                pass  # instructions, thoughts and media are not what is asked about

    def _hear(self, text: str) -> None:
        text = _REMINDER.sub("", text).strip() if _REMINDER.search(text) else text
        if text.startswith(EMBEDDED_RESULT):
            told = text.removeprefix(EMBEDDED_RESULT)
            self._add(Remembered("", {}, told, self.ask, recognise_closure(told) is not None))
        elif text.startswith(SUMMARY_MARK):
            self.summaries.append(text.removeprefix(SUMMARY_MARK))
        elif text.strip() and not text.startswith(_ASIDES) and not (self.ask and text in BRIDGES):
            self.ask = text
            self.asked.append(text)
            self.since = 0

    def _take_result(self, block: ToolResponse) -> None:
        call = self._answered(block)
        name = block.tool_name or (call.name if call else "")
        if block.reason is not None:
            text, failed = closure_text(block.reason, block.said), True
        elif block.error is not None:
            text, failed = block.error, True
        else:
            text = block.result if isinstance(block.result, str) else msgspec.json.encode(block.result).decode()
            failed = False
        self._add(Remembered(name, call.arguments if call else {}, text, self.ask, failed))

    def _add(self, result: Remembered) -> None:
        self.results.append(result)
        self.since += 1

    def _answered(self, block: ToolResponse) -> ToolCall | None:
        """The call that `block` answers; calls without ids are answered in order."""
        by_id = [call for call in self._open if block.wire_id and call.wire_id == block.wire_id]
        by_name = [call for call in self._open if call.name == block.tool_name]
        for found in (by_id, by_name, self._open):
            if found:
                self._open.remove(found[0])
                return found[0]
        return None

    # --- answering ----------------------------------------------------------------------------------------------------

    def recall(self, question: str) -> str | None:
        """The answer to a question about the past; None if `question` is not one."""
        words = question.lower()
        wants_result = re.search(r"\b(?:tools?|calls?|results?|return\w*)\b", words) is not None
        ordinal = _ordinal(words) if wants_result else None
        if ordinal is not None:
            return self._by_place(ordinal)
        names = _names(question)
        if not names and not re.search(r"\b(?:remember|recall)\b", words) and not wants_result:
            return None
        found = self._search(names or [result.tool for result in self.results if result.tool.lower() in words])
        if found is not None:
            return found
        if not names:
            return self._by_place(-1) if self.results else None
        return f"Nothing in this conversation tells me about {', '.join(names)}."

    def _by_place(self, place: int) -> str:
        try:
            result = self.results[place]
        except IndexError:
            return f"There is no such result; this conversation holds {len(self.results)} of them."
        which = "last" if place < 0 else _ORDINALS[place] if place < len(_ORDINALS) else f"{place + 1}th"
        return f"The {which} result: {result.told()}"

    def _search(self, names: Sequence[str]) -> str | None:
        """What is known about `names`: by the arguments of a call, by its result, by what was asked and said."""
        if not names:
            return None
        wanted = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names), re.IGNORECASE)
        newest = self.results[::-1]
        for results in ([one for one in newest if not one.failed], [one for one in newest if one.failed]):
            for about in _ABOUT:
                for result in results:
                    if wanted.search(about(result)):
                        return result.told()
        for kind, texts in (("The summary says", self.summaries), ("It was said", self.said)):
            for text in reversed(texts):
                if found := wanted.search(text):
                    return f'{kind}: "{quote(text[max(0, found.start() - _BEFORE) :])}"'
        return None


_BEFORE = 60
"""characters that are quoted before what was looked for"""

_ABOUT: tuple[Callable[[Remembered], str], ...] = (
    lambda result: msgspec.json.encode(result.arguments).decode(),
    lambda result: result.tool,
    lambda result: result.text,
    lambda result: result.ask,
)
"""what tells most about a result comes first"""


def quote(text: str) -> str:
    """The beginning of `text`, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _QUOTED else f"{line[:_QUOTED]}…"


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def _ordinal(words: str) -> int | None:
    if re.search(r"\blast\b", words):
        return -1
    for place, name in enumerate(_ORDINALS):
        if re.search(rf"\b{name}\b", words):
            return place
    found = re.search(r"\b(\d{1,4})(?:st|nd|rd|th)\b", words)
    return int(found[1]) - 1 if found and int(found[1]) > 0 else None


def _names(question: str) -> list[str]:
    """What a question names: quoted phrases, and words that look like a file or an identifier."""
    quoted = [text for pair in re.findall(r"\"([^\"]+)\"|`([^`]+)`", question) for text in pair if text]
    words = (word.strip(".,?!:;()'\"`") for word in question.split())
    return quoted or [word for word in words if re.search(r"\w[._/\\-]\w|\w_|\w\d", word)]
