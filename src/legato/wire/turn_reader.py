"""Read the turns of a request whose messages hold blocks, results among them, and its tools: what such dialects share.

In:  messages of the two sides, each a list of blocks.
Out: entries, and a note with its place for what is not understood.

Calls and results that someone put on the wrong side are taken out where they are, to be paired with each other all
the same. What `encode` put there only to please the API (bridges, the tail, the words for an empty result) is left out
again, and closures become closures, so that a conversation that goes round does not grow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import groupby
from typing import Any, ClassVar

from msgspec.structs import replace

from legato.model import Authority, Block, Json, JsonObject, Speaker, Text, ToolCall, ToolResponse, ToolSpec, clean_text
from legato.model.json_access import as_object, as_text
from legato.wire.collected import Collected
from legato.wire.contract import NotUnderstood
from legato.wire.phrases import INSTRUCTION_MARK
from legato.wire.readback import is_filler
from legato.wire.undoable import UndoableMap


class TurnReader(ABC):
    """One body on its way to entries."""

    call: ClassVar[str]
    """the kind of block that is a call"""
    result: ClassVar[str]
    """the kind that is the result of one"""

    def __init__(self) -> None:
        self.collected = Collected()
        self.notes: list[str] = []
        self.adjusted: list[str] = []
        """what was understood although it was not where it belongs"""
        self.called: UndoableMap[str, str] = UndoableMap()
        """the tool behind each call id, as far as the body has been read"""
        self.role = ""
        """whose the newest message is"""

    # --- what a dialect says ------------------------------------------------------------------------------------------

    @abstractmethod
    def kind_of(self, block: JsonObject) -> str:
        """What kind of block it is."""

    @abstractmethod
    def read_answer(self, blocks: list[tuple[int, JsonObject]], path: str) -> list[Block]:
        """Blocks of the model, with their numbers in the content at `path`."""

    @abstractmethod
    def read_result(self, block: JsonObject, path: str) -> ToolResponse:
        """The result of a call."""

    @abstractmethod
    def said(self, content: list[Json], path: str, *, first: int = 0) -> list[Block]:
        """Text and media of a message; what is neither is noted. `first` is the number of the first of them."""

    # --- what is the same for all -------------------------------------------------------------------------------------

    def save(self) -> Any:
        """The state, for `restore`."""
        return self.collected.save(), self.notes.copy(), self.adjusted.copy(), self.called.save(), self.role

    def restore(self, saved: Any) -> None:
        """Go back to an earlier state; the lists that were given out until now stay as they are."""
        collected, notes, adjusted, called, self.role = saved
        self.notes, self.adjusted = notes.copy(), adjusted.copy()
        self.collected.restore(collected)
        self.called.restore(called)

    def note(self, path: str, what: str) -> None:
        """Something at `path` is not carried."""
        self.notes.append(clean_text(f"{path}: {what}"))

    def unknown(self, path: str, what: str) -> None:
        """Something at `path` is not understood."""
        self.notes.append(NotUnderstood(clean_text(f"{path}: {what}")))

    def assistant(self, content: list[Json], path: str, *, continues: bool) -> None:
        """An answer; `continues` says that the message before it is one too, which makes them one turn to the API."""
        if not content:
            self.note(path, "the message is empty")
        for has_results, run in self._runs(content, self.result):
            if has_results:
                self.adjusted.append(f"{path}: results stand in a message of the assistant")
                self.collected.add(
                    Speaker.TOOL, [self.read_result(block, f"{path}.content[{at}]") for at, block in run]
                )
            else:
                self._answer(run, path, continues=continues)
            continues = False

    def user(self, content: list[Json], path: str, *, is_last: bool) -> None:
        """Results, then what the human said beside them."""
        if not content:
            self.note(path, "the message is empty")
        runs = self._runs(content, self.call)
        for number, (has_calls, run) in enumerate(runs, 1):
            if has_calls:
                self.adjusted.append(f"{path}: calls stand in a message of the user")
                self._answer(run, path, continues=False)
            else:
                self._heard(run, path, is_last=is_last and number == len(runs))

    def _answer(self, run: list[tuple[int, JsonObject]], path: str, *, continues: bool) -> None:
        blocks = tuple(self.read_answer(run, f"{path}.content"))
        for block in blocks:
            if isinstance(block, ToolCall) and block.wire_id:
                self.called.put(block.wire_id, block.name)
        if not blocks:
            self.note(path, "the message is empty")
        elif continues and self.collected.ends_on(Speaker.AI):
            self.collected.prolong(blocks)
        else:
            self.collected.add(Speaker.AI, blocks)

    def _heard(self, run: list[tuple[int, JsonObject]], path: str, *, is_last: bool) -> None:
        results: list[Block] = []
        others: list[tuple[int, JsonObject]] = []
        for at, block in run:
            if self.kind_of(block) == self.result:
                results.append(self.read_result(block, f"{path}.content[{at}]"))
            else:
                others.append((at, block))
        self.collected.add(Speaker.TOOL, results)
        said = [block for at, item in others for block in self.said([item], f"{path}.content", first=at)]
        if not is_filler(said, self.collected.last, is_last=is_last):
            self._told(self.collected.give_back(said, joined=True))

    def _told(self, blocks: list[Block]) -> None:
        """What the human side said. Messages were joined, so each text of an instruction bears the mark."""
        run: list[Block] = []
        authority = Authority.PERSON
        for block in blocks:
            marked = isinstance(block, Text) and block.text.startswith(INSTRUCTION_MARK)
            if marked is (authority is Authority.PERSON):
                self.collected.add(Speaker.HUMAN, run, authority)
                run, authority = [], Authority.INSTRUCTION if marked else Authority.PERSON
            if marked and isinstance(block, Text):
                block = Text(block.text.removeprefix(INSTRUCTION_MARK))
            run.append(block)
        self.collected.add(Speaker.HUMAN, run, authority)

    def _runs(self, content: list[Json], kind: str) -> list[tuple[bool, list[tuple[int, JsonObject]]]]:
        """The blocks of a message with their numbers, parted into those of that kind and others, in their order."""
        blocks = enumerate(map(as_object, content))
        runs = groupby(blocks, key=lambda numbered: self.kind_of(numbered[1]) == kind)
        return [(is_kind, list(run)) for is_kind, run in runs]


def read_tool(tool: JsonObject, *, schema_field: str, schema: JsonObject, home: str) -> ToolSpec:
    """A definition that holds its fields side by side: a name, a description, `strict`, and a schema in `schema_field`.

    What else it holds stays its provider's own, at `home`.
    """
    known = ("name", "description", "strict", schema_field)
    strict = tool.get("strict")
    own = {field: value for field, value in tool.items() if field not in known and value is not None}
    spec = ToolSpec(
        as_text(tool.get("name")),
        as_text(tool.get("description")),
        strict=strict if isinstance(strict, bool) else None,
        home=home if own or strict is not None else "",
        native=own,
    )
    return replace(spec, parameters=schema) if schema else spec
