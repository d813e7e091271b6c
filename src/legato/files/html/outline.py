"""The outline of a page: what its script knows of every entry before it has read any.

Columns, one value for each entry, because a long session has tens of thousands of them: who speaks, when, what is
remarkable about it, and about how many lines it takes.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import msgspec

from legato.files.html.entry_data import words_of
from legato.files.inspected import InspectedEntry
from legato.files.text import one_line
from legato.formats import Level
from legato.model import Usage
from legato.request.prices import add

SPEAKERS = ("human", "model", "instruction", "result without a call", "summary")

ERROR, RISK, MADE, MOVED, LEFT_OUT, THINKS, FAILED, SAYS, CALLS = (1 << bit for bit in range(9))
"""what is remarkable about an entry: an error or a risk that `lint` found, a result that was made up or moved; that no
request holds it; that it has thoughts, a call that failed, words, calls. The script has the same names."""

_WIDTH = 88
"""about how many characters a line has on the page"""

_MOST_LINES = 30
"""lines that one text takes before it is unfolded, about"""

_PROMPT = 200
"""characters of a prompt in the list of them"""

_SURROUNDINGS = re.compile(
    r"<(environment_context|session_context|system-reminder|user_instructions|user-prompt-submit-hook|local-command-caveat)>"
    r".*?(?:</\1>|\Z)|# AGENTS\.md instructions for .*?(?:</INSTRUCTIONS>|\Z)",
    re.DOTALL,
)
"""what programs tell a model in the name of a person: Codex, Gemini CLI and Claude Code mark it so"""

_LOOKED_AT = 50_000
"""characters in which the words of a prompt are looked for"""

_UNFOLDED = 4_000
"""characters that are looked at in order to guess the lines of a text: more would not be shown at once"""


class Outline:
    """Grows by one entry after the other."""

    def __init__(self) -> None:
        self.count = 0
        self.columns: dict[str, list[Any]] = {name: [] for name in ("speaker", "turn", "at", "lines", "marks", "agent")}
        self.tools: dict[str, list[int]] = {}
        """the entries in which each tool is called"""
        self.labels: dict[str, list[int]] = {}
        """the entries of which each finding or decision tells"""
        self.prompts: list[tuple[int, str]] = []
        self.models: Counter[str] = Counter()
        self.states: Counter[str] = Counter()
        self.levels: Counter[str] = Counter()
        self.usage = Usage()
        self.cost = 0.0
        self.unpriced = 0
        """answers whose tokens are known and whose price is not"""
        self.turns = 0
        self.title = ""
        """what a person said first, beside what a program had put there"""
        self._ended: float | None = None
        """when the last result was written"""

    def add(self, entry: InspectedEntry, *, agent: int = 0) -> None:
        """One more entry; `agent` is the number of the subagent that it belongs to."""
        number, self.count = self.count, self.count + 1
        marks = _marks(entry)
        row = (SPEAKERS.index(entry.speaker), entry.turn, _rounded(entry.at), _lines(entry), marks, agent)
        for column, value in zip(self.columns.values(), row, strict=True):
            column.append(value)
        labels = dict.fromkeys(entry.labels)
        for block in entry.blocks:
            if block.call is not None:
                self.states[block.call.state] += 1
                self._ended = max(block.call.ended or 0, self._ended or 0) or None
                labels |= dict.fromkeys(block.call.labels)
                _note(self.tools, block.call.name or "unknown tool", number)
        for label in labels:
            _note(self.labels, label, number)
        self.levels.update(finding.level.value for finding in entry.findings)
        if entry.model:
            self.models[entry.model] += 1
        if entry.usage is not None:
            self.usage = add(self.usage, entry.usage)
            self.cost += entry.cost or 0.0
            self.unpriced += entry.cost is None
        if entry.speaker == "human" and not agent:
            self.turns = entry.turn
            texts = [block.text for block in entry.blocks if block.text]
            said = [words for text in texts if (words := _without_surroundings(text))]
            words = one_line(said[0], _PROMPT) if said else ""
            self.title = self.title or words
            self.prompts.append((number, words or one_line("".join(texts[:1]), _PROMPT)))

    @property
    def times(self) -> tuple[float | None, float | None]:
        """The first and the last moment of which the file tells."""
        known = [at for at in (*self.columns["at"], self._ended) if at is not None]
        return (min(known), max(known)) if known else (None, None)

    @property
    def spent(self) -> dict[str, Any]:
        """Tokens and dollars; none where the file does not tell."""
        is_known = self.usage != Usage()
        return {
            "usage": msgspec.to_builtins(self.usage) if is_known else None,
            "cost": self.cost if is_known and (self.cost or not self.unpriced) else None,
            "unpriced": self.unpriced,
        }

    def value(self) -> dict[str, Any]:
        """All of it, to be encoded."""
        return {
            "count": self.count,
            "columns": self.columns,
            "tools": self.tools,
            "labels": self.labels,
            "prompts": self.prompts,
            "models": list(self.models),
            "states": self.states,
            "levels": self.levels,
            "turns": self.turns,
            "times": self.times,
            **self.spent,
        }


def _without_surroundings(text: str) -> str:
    return _SURROUNDINGS.sub("", text[:_LOOKED_AT]).strip()


def _note(entries: dict[str, list[int]], name: str, number: int) -> None:
    found = entries.setdefault(name, [])
    if not found or found[-1] != number:
        found.append(number)


def _rounded(at: float | None) -> float | None:
    return None if at is None else round(at, 3)


def _lines(entry: InspectedEntry) -> int:
    """About how many lines the entry takes while its long texts are folded."""
    count = 0
    for text in words_of(entry):
        if text:
            seen = text[:_UNFOLDED]
            count += min(1 + seen.count("\n") + len(seen) // _WIDTH, _MOST_LINES)
    return count


def _marks(entry: InspectedEntry) -> int:
    marks = 0 if entry.is_shown else LEFT_OUT
    for finding in entry.findings:
        marks |= ERROR if finding.level is Level.ERROR else RISK
    if entry.decisions:
        marks |= MOVED
    for block in entry.blocks:
        call = block.call
        if call is None:
            marks |= THINKS if block.kind == "thinking" else SAYS
            continue
        marks |= CALLS
        if call.completion == "synthetic":
            marks |= MADE
        elif call.completion == "error":
            marks |= FAILED
        if any(label.startswith("moved ") for label in call.labels):
            marks |= MOVED
    return marks
