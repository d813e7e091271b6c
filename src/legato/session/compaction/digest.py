"""A digest of what was said and done, made without a model.

In:  a run of units; summaries of earlier runs among them.
Out: headed lists: the goal, what was asked, files, commands, failures, short results, open questions, last words.

It is a function of the units alone. It can be read back, so a later digest takes over what an earlier one held instead
of quoting it; the goal is handed down from the first one. Where there is not room for everything, every list gets its
turn: the first items of what a conversation began with, and then the newest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, assert_never, cast

from legato.model import Authority, Code, JsonObject, Media, Text, ToolCall
from legato.session.compaction.texts import brief, brief_call, described_media, failure_text
from legato.transcript import Completion, CompletionKind, Exchange, Said, Summary, Unit, whole_output

PATH_NAMES = ("path", "file_path", "filepath", "file", "filename", "target_file", "notebook_path", "paths", "files")
COMMAND_NAMES = ("command", "cmd", "commands", "script")
WRITING = (
    "write",
    "edit",
    "create",
    "patch",
    "replace",
    "insert",
    "delete",
    "remove",
    "move",
    "rename",
    "save",
    "append",
)
"""a tool with one of these in its name changes the file it names"""

_GIVES = " → "
_ITEM = 200
"""characters of one item of a digest: our choice, a sentence"""

_LEAST = 8
"""characters that no item can be shorter than, with its mark"""
_SHORT = 160
"""characters of a result that is worth keeping as it is"""


class Section(NamedTuple):
    """One list of a digest. `first` items from its beginning are kept before the newest ones."""

    name: str
    heading: str
    first: int = 0
    stays: bool = True
    """whether a later digest takes its items over"""


SECTIONS = (
    Section("goal", "Goal:", first=1),
    Section("instructions", "Instructions given on the way:"),
    Section("earlier", "From an earlier summary:", first=1),
    Section("turns", "Asked and answered:", first=1),
    Section("facts", "Results worth keeping:", first=2),
    Section("written", "Files written:"),
    Section("failures", "Failures:"),
    Section("commands", "Commands run:"),
    Section("read", "Files read:"),
    Section("questions", "Open questions:"),
    Section("statements", "Last said:", stays=False),
)

_BY_HEADING = {section.heading: section for section in SECTIONS}
NOTHING = "Earlier parts of the conversation were left out."


class Digest:
    """The lists of one digest, oldest item first, nothing twice."""

    def __init__(self) -> None:
        self.lists: dict[str, dict[str, None]] = {section.name: {} for section in SECTIONS}
        self._asked = ""
        self._answer = ""
        self._fact_of: dict[str, str] = {}

    # --- gathering ----------------------------------------------------------------------------------------------------

    @classmethod
    def of(cls, units: Iterable[Unit]) -> Digest:
        """The digest of `units`."""
        digest = cls()
        for unit in units:
            match unit:
                case Said():
                    digest._said(unit)
                case Exchange():
                    digest._exchange(unit)
                case Summary():
                    digest._earlier(unit.text)
                case _:
                    assert_never(unit)
        digest._close_turn()
        return digest

    def _note(self, name: str, item: str) -> None:
        if item:
            self.lists[name].pop(item, None)  # heard again, it is news again
            self.lists[name][item] = None

    def _note_fact(self, call: str, told: str) -> None:
        """The newest result of a call replaces what the same call gave before; the same result stays where it is."""
        item = f"{call}{_GIVES}{told}"
        known = self._fact_of.get(call)
        if known != item:
            self.lists["facts"].pop(known or "", None)
            self.lists["facts"][item] = None
            self._fact_of[call] = item

    def _said(self, unit: Said) -> None:
        text = " ".join(_shown(block) for block in unit.blocks)
        if unit.authority is Authority.INSTRUCTION:
            self._note("instructions", brief(text, _ITEM))
            return
        self._close_turn()
        self.lists["questions"].clear()  # whatever was asked, this is the answer
        if not self.lists["goal"]:
            self._note("goal", brief(text, _ITEM * 4))
        self._asked = brief(text, _ITEM // 2)

    def _close_turn(self) -> None:
        if self._asked:
            self._note("turns", f"{self._asked}{_GIVES}{self._answer}" if self._answer else self._asked)
        self._asked = self._answer = ""

    def _exchange(self, unit: Exchange) -> None:
        text = " ".join(block.text for block in unit.blocks if type(block) is Text).strip()
        if text:
            self._answer = brief(text, _ITEM // 2)
            self.lists["statements"].clear()
            self._note("statements", brief(text, _ITEM))
            if text.endswith("?"):
                self._note("questions", brief(text[text.rfind("\n") + 1 :], _ITEM))
        for call, completion in zip(unit.calls, unit.completions, strict=True):
            self._call(call, completion)

    def _call(self, call: ToolCall, completion: Completion) -> None:
        if not completion.is_real:
            reason = completion.reason.value if completion.reason else "no result"
            self._note("failures", f"{brief_call(call)}: no result ({reason})")
            return
        is_writing = any(word in call.name.lower() for word in WRITING)
        for path in _values(call.arguments, PATH_NAMES):
            self._note("written" if is_writing else "read", brief(path, _ITEM))
        for command in _values(call.arguments, COMMAND_NAMES):
            self._note("commands", brief(command, _ITEM))
        if completion.kind is CompletionKind.ERROR:
            self._note("failures", brief(f"{brief_call(call)}: {failure_text(completion)}", _ITEM * 2))
            return
        result = whole_output(completion)
        media = described_media(completion.media)
        if media or 0 < len(result.strip()) <= _SHORT:
            told = " ".join(part for part in (brief(result, _SHORT), f"[{media}]" if media else "") if part)
            self._note_fact(brief_call(call), told)

    def _earlier(self, text: str) -> None:
        known = read_digest(text)
        if known is None:
            self._note("earlier", brief(text, _ITEM * 6))
            return
        for item in known.pop("facts"):
            call, _, told = item.partition(_GIVES)
            self._note_fact(call, told)
        if self.lists["goal"]:
            known["goal"].clear()
        for section in SECTIONS:
            if section.stays:
                for item in known.get(section.name, ()):
                    self._note(section.name, item)

    # --- printing -----------------------------------------------------------------------------------------------------

    def text(self, cap: int, count: Callable[[str], int]) -> str:
        """The digest in at most `cap` tokens as `count` sees them."""
        budget = cap * 5
        while budget > 40:
            text = self._print(budget)
            if count(text) <= cap:
                return text
            budget = budget * 7 // 8
        return NOTHING

    def _print(self, budget: int) -> str:
        chosen: dict[str, set[str]] = {section.name: set() for section in SECTIONS}
        left = budget
        waiting = {section: list(self._by_worth(section)) for section in SECTIONS}
        while any(waiting.values()) and left > _LEAST:
            for section, items in waiting.items():
                if not items:
                    continue
                item = items.pop(0)
                if section.name == "goal":
                    item = brief(item, max(budget // 3, 20))
                cost = len(item) + 3 + (0 if chosen[section.name] else len(section.heading) + 1)
                if cost <= left:
                    chosen[section.name].add(item)
                    left -= cost
        lines: list[str] = []
        for section in SECTIONS:
            items = chosen[section.name]
            if items:
                ordered = list(items) if section.name == "goal" else [i for i in self.lists[section.name] if i in items]
                lines += [section.heading, *(f"- {item}" for item in ordered)]
        return "\n".join(lines) or NOTHING

    def _by_worth(self, section: Section) -> Iterator[str]:
        items = list(self.lists[section.name])
        yield from items[: section.first]
        yield from reversed(items[section.first :])


def read_digest(text: str) -> dict[str, list[str]] | None:
    """The lists of a digest that was printed before; None if `text` is something else."""
    lists: dict[str, list[str]] = {section.name: [] for section in SECTIONS}
    current: list[str] | None = None
    for line in text.splitlines():
        if section := _BY_HEADING.get(line):
            current = lists[section.name]
        elif current is not None and line.startswith("- "):
            current.append(line[2:])
        else:
            return None
    return lists if current is not None else None


def _shown(block: Text | Media | Code) -> str:
    match block:
        case Text():
            return block.text
        case Code():
            return block.code
        case Media():
            return f"[{block.kind.value}]"
        case _:
            assert_never(block)


def _values(arguments: JsonObject, names: tuple[str, ...]) -> Iterator[str]:
    """The texts under one of `names`, alone or in a list."""
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str) and value.strip():
            yield value
        elif isinstance(value, list):
            items = [item for item in cast("list[object]", value) if isinstance(item, str) and item.strip()]
            if name in COMMAND_NAMES and items:
                yield " ".join(items)  # a command as a list of words
            else:
                yield from items
