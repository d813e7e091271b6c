"""What the user asks the model to do, in plain words.

In:  the last thing the user said, and the tools that are offered.
Out: a `Script`: steps, each with the calls to make at once, and the failures that were asked for.

    call read_file with {"path": "a.txt"}              one call, its arguments as they are
    use read_file on a.txt, b.txt and notes.md         one call for each, at once
    read a.txt and b.txt                               the same, by the first word of an offered tool's name
    use list_folder on docs then use read_file on a    two steps: the second when the first has its results
    think first / think in secret                      reasoning, where the model can; hidden if it shall be
    answer in 12 lines                                 an answer that takes a while to stream
    answer in Markdown                                 headings, lists, a table and code
    ... with constant ids / ... without ids            the bad habits of some servers
    call nothing_like_that anyway                      a call to a tool that is not offered

The failures are in `faults/requested.py`. Whatever else is said is talked about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from json import JSONDecodeError, JSONDecoder
from typing import cast

from msgspec import Struct

from legato.model import JsonObject, ToolSpec
from legato.simulation.faults.requested import RequestedFault, read_requested_faults
from legato.simulation.model.fake_arguments import fill_arguments
from legato.wire.hosting import IdHabit

LONGEST_ASK = 20_000
"""characters of what was said that are read as a script"""


class Wish(Struct, frozen=True):
    """A call to make."""

    name: str
    arguments: JsonObject


class ScriptStep(Struct, frozen=True):
    """Calls to make at once, and what shall go wrong meanwhile."""

    calls: tuple[Wish, ...] = ()
    faults: tuple[RequestedFault, ...] = ()


class Script(Struct, frozen=True):
    """What was asked for. `unknown` are tools that were named and are not offered."""

    steps: tuple[ScriptStep, ...] = (ScriptStep(),)
    unknown: tuple[str, ...] = ()
    thinks: bool = False
    secretly: bool = False
    ids: IdHabit | None = None
    lines: int = 0
    """how long the answer shall be; 0 says nothing about it"""
    is_markdown: bool = False
    """whether the answer shall have all that Markdown has"""

    def step(self, results: int) -> ScriptStep:
        """What is next when `results` have come since the user spoke; calls that have theirs are not made again."""
        made = 0
        for step in self.steps:
            made += len(step.calls)
            if made > results:
                return ScriptStep(step.calls[len(step.calls) - (made - results) :], step.faults)
        last = self.steps[-1]
        return ScriptStep((), last.faults) if not last.calls else ScriptStep()


def read_script(text: str, tools: Sequence[ToolSpec]) -> Script:
    """What `text` asks for; what is far behind in a long one is not read."""
    plain, objects = _set_objects_aside(text[:LONGEST_ASK])
    reader = _Reader(tools, objects, is_question=is_question(plain))
    steps: list[ScriptStep] = []
    waiting: tuple[RequestedFault, ...] = ()
    for words in _THEN.split(plain):
        calls, faults = tuple(reader.calls(words)), (*waiting, *read_requested_faults(words))
        waiting = () if calls else faults
        if calls:
            steps.append(ScriptStep(calls, faults))
    if waiting or not steps:  # what comes behind the last call belongs to the answer
        steps.append(ScriptStep((), waiting))
    return Script(
        steps=tuple(steps),
        unknown=tuple(reader.unknown),
        thinks=re.search(r"\bthink\b", plain, re.IGNORECASE) is not None,
        secretly=re.search(r"\bthink in secret\b", plain, re.IGNORECASE) is not None,
        ids=_id_habit(plain),
        lines=_wanted_lines(plain),
        is_markdown=re.search(r"\banswer (?:in|with) markdown\b", plain, re.IGNORECASE) is not None,
    )


def is_question(text: str) -> bool:
    """Whether `text` asks for an answer rather than for an action."""
    return _QUESTION.match(text) is not None or text.rstrip().endswith("?")


_THEN = re.compile(r"[,;.]?\s+(?:and\s+)?then\b[,:]?\s*", re.IGNORECASE)
_QUESTION = re.compile(r"\s*(?:what|which|who|when|where|why|how|did|do you)\b", re.IGNORECASE)


def _id_habit(text: str) -> IdHabit | None:
    if re.search(r"\bconstant ids?\b", text, re.IGNORECASE):
        return IdHabit.CONSTANT
    if re.search(r"\b(?:empty|without) ids?\b", text, re.IGNORECASE):
        return IdHabit.EMPTY
    return None


def _wanted_lines(text: str) -> int:
    found = re.search(r"\banswer (?:in|with) (\d{1,4}) lines\b", text, re.IGNORECASE)
    return int(found[1]) if found else 0


def _set_objects_aside(text: str) -> tuple[str, list[JsonObject]]:
    """`text` with each JSON object replaced by its number between two NULs, so that no word in one is read."""
    objects: list[JsonObject] = []
    pieces: list[str] = []
    text = text.replace("\0", " ")
    start = place = 0
    while (place := text.find("{", place)) != -1 and len(objects) < _MOST_OBJECTS:
        try:
            value, end = _DECODER.raw_decode(text, place)
        except (JSONDecodeError, RecursionError):
            place += 1
            continue
        pieces.append(f"{text[start:place]}\0{len(objects)}\0")
        objects.append(cast(JsonObject, value))
        start = place = end
    return "".join((*pieces, text[start:])), objects


_DECODER = JSONDecoder()
_MOST_OBJECTS = 200
"""JSON objects in one message that are read as arguments: our choice, a person writes one or two"""

_CALL = re.compile(r"\b(?:call|use)\s+(?:the\s+)?(?:tool\s+)?[`'\"]?([A-Za-z_][\w.:/-]*)[`'\"]?(?:\s+tool\b)?", re.I)
_WITH = re.compile(r"\s+(?:with|on|for)\s+")
_ITEM = re.compile(r"\s*(?:\0(\d+)\0|\"([^\"]*)\"|`([^`]*)`|'([^']*)'|([^\s,;\"'`\0]+))")
_BETWEEN = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+")
_FILLER = re.compile(r"(?:\s+(?:the|a|all|both|file|files|folder|directory|in|of|for|at|me))*(?=\s)", re.IGNORECASE)
_ENDS_LIST = re.compile(
    r"answer|anyway|be|break|call|cut|explain|fail|please|refuse|run|say|send|stop|summari[sz]e|tell|then|think|use|"
    r"with|without|write",
    re.IGNORECASE,
)


class _Reader:
    """Finds the calls in the words of a step."""

    def __init__(self, tools: Sequence[ToolSpec], objects: list[JsonObject], *, is_question: bool) -> None:
        self.unknown: list[str] = []
        self._tools = tools
        self._objects = objects
        self._is_question = is_question

    def calls(self, words: str) -> Iterator[Wish]:
        explicit = list(self._explicit(words))
        yield from explicit
        if not explicit and not self._is_question:
            yield from self._imperative(words)

    def _explicit(self, words: str) -> Iterator[Wish]:
        for found in _CALL.finditer(words):
            name = found[1].rstrip(".:/-")
            link = _WITH.match(words, found.end())
            items = list(self._items(words, link.end())) if link else []
            tool = self._find(name)
            if tool is None:
                is_meant = any(isinstance(item, dict) for item in items) or "_" in name
                if re.search(rf"{re.escape(found[0])}[^,;]*\banyway\b", words):
                    tool = ToolSpec(name)
                elif is_meant:
                    self.unknown.append(name)
            if tool is not None:
                yield from self._wishes(tool, items or [None], words)

    def _imperative(self, words: str) -> Iterator[Wish]:
        for tool in self._tools:
            verb = re.split(r"[_.:-]|(?<=[a-z])(?=[A-Z])", tool.name)[0].lower()
            if len(verb) < _SHORTEST_VERB:
                continue
            for found in re.finditer(rf"\b{re.escape(verb)}\b", words, re.IGNORECASE):
                filler = _FILLER.match(words, found.end())
                items = list(self._items(words, filler.end() if filler else found.end(), only_names=True))
                if items:
                    yield from self._wishes(tool, items, words)
                    return

    def _wishes(self, tool: ToolSpec, items: Sequence[str | JsonObject | None], words: str) -> Iterator[Wish]:
        plain = re.sub(r"\0\d+\0", "…", words).strip()
        for item in items:
            yield Wish(tool.name, fill_arguments(tool, item, words=plain))

    def _items(self, words: str, start: int, *, only_names: bool = False) -> Iterator[str | JsonObject]:
        """What is listed from `start` on: JSON objects, quoted phrases, single words."""
        while found := _ITEM.match(words, start):
            number, *quoted, word = found.groups()
            if number is not None:
                yield self._objects[int(number)]
            elif word is None:
                yield next(text for text in quoted if text is not None)
            else:
                name = word.rstrip(".?!:)")
                if not name or _ENDS_LIST.fullmatch(name):
                    return
                if not only_names or re.search(r"[./\\_\d-]", name):
                    yield name
                else:
                    return
            between = _BETWEEN.match(words, found.end())
            if between is None:
                return
            start = between.end()

    def _find(self, name: str) -> ToolSpec | None:
        """The offered tool that is meant: by its name, or by the form that a provider's rules gave it."""
        slug = re.sub(r"[^A-Za-z0-9]+", "_", name).lower()
        for tool in self._tools:
            if tool.name == name:
                return tool
        for tool in self._tools:
            offered = re.sub(r"[^A-Za-z0-9]+", "_", tool.name).lower()
            if offered == slug or re.fullmatch(rf"{re.escape(slug)}_[a-z0-9]{{8,}}", offered):
                return tool
        # One in a namespace, which some providers have and others are given as the beginning of the name.
        return next((tool for tool in self._tools if tool.name.endswith((f".{name}", f"__{name}"))), None)


_SHORTEST_VERB = 3
"""letters of the first word of a tool's name that may stand for it: our choice, shorter words say other things"""
