"""Read a request body back into entries.

In:  a body as someone sent it: ours, another program's, or one that was refused, in either spelling of names.
Out: entries, instructions, tools and options; what is not understood is a note with its place, never an exception.

What `encode` put there only to please the API (bridges, the tail, the words for an empty result, the placeholder for
a signature) is left out again, and closures become closures, so that a conversation that goes round does not grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from legato.model import (
    Block,
    Choice,
    Dialect,
    Json,
    JsonObject,
    Media,
    NameRule,
    Options,
    Speaker,
    SpecKind,
    Text,
    ThinkingSwitch,
    ToolResponse,
    ToolSpec,
    ingest,
)
from legato.model.ingestion import MAX_NODES
from legato.model.json_access import as_id, as_list, as_object, as_text
from legato.wire.bounds import Bounds
from legato.wire.builder import AnswerBuilder
from legato.wire.collected import Collected
from legato.wire.contract import NotHeld, NotUnderstood, Parsed
from legato.wire.gemini.fields import camel, repeated, unquoted
from legato.wire.gemini.reading import PartReader, read_media
from legato.wire.known_tools import ReadTools, ToolListReader, ingested_items
from legato.wire.names import NameTable
from legato.wire.options import values
from legato.wire.options.efforts import effort_word
from legato.wire.options.paths import take
from legato.wire.options.table import home_for, read_options
from legato.wire.readback import read_result

_OURS = frozenset({"contents", "systemInstruction", "tools", "model"})
"""what is not an option"""
_HOME = str(Dialect.GEMINI)
_DECLARED = frozenset({"name", "description", "parameters", "parametersJsonSchema"})
_NUMBERS = frozenset(
    {
        "candidateCount",
        "frequencyPenalty",
        "logprobs",
        "maxOutputTokens",
        "presencePenalty",
        "seed",
        "temperature",
        "thinkingBudget",
        "topK",
        "topP",
    }
)
_CHOICES = {"AUTO": Choice.AUTO, "ANY": Choice.REQUIRED, "NONE": Choice.NONE}
_HUMAN_SIDE = frozenset({"", "user", "function"})


def parse(body: JsonObject) -> Parsed:
    """Read a request body."""
    reader, contents = ContentReader(), body.get("contents")
    if isinstance(contents, str):
        reader.take(contents, "contents[0]", is_last=True)
    else:
        reader.read(repeated(contents), 0, ends=True)
    return reader.parsed(body)


def _content(item: Json) -> JsonObject:
    """A content; Google's client also takes a text or a part in its place, and says it as the user."""
    if isinstance(item, str):
        return {"parts": [{"text": item}]}
    content = as_object(item)
    return {"parts": [content]} if content and not content.keys() & {"role", "parts"} else content


class ContentReader:
    """One body on its way to entries."""

    def __init__(self) -> None:
        self.collected = Collected()
        self.notes: list[str] = []
        self.adjusted: list[str] = []
        self._role = ""
        """whose the newest content is"""

    def save(self) -> Any:
        """The state, for `restore`."""
        return self.collected.save(), self.notes.copy(), self.adjusted.copy(), self._role

    def restore(self, saved: Any) -> None:
        """Go back to an earlier state; the lists that were given out until now stay as they are."""
        collected, notes, adjusted, self._role = saved
        self.notes, self.adjusted = notes.copy(), adjusted.copy()
        self.collected.restore(collected)

    def read(self, messages: Sequence[Json], first: int, *, ends: bool) -> None:
        """Take the next contents."""
        last = first + len(messages) - 1 if ends else -1
        for at, item in enumerate(messages, first):
            self.collected.number = at
            self.take(item, f"contents[{at}]", is_last=at == last)

    def take(self, item: Json, path: str, *, is_last: bool) -> None:
        """Take one content."""
        content = _content(item)
        previous, self._role = self._role, as_text(content.get("role"))
        parts = [camel(part) for part in repeated(content.get("parts"))]
        if not parts:
            self.note(path, "the content is empty")
        elif self._role == "model":
            self.model(parts, path, continues=previous == "model")
        elif self._role not in _HUMAN_SIDE:
            self.unknown(path, f"a content of role {self._role!r} is not understood and was left out")
        else:
            self.user(parts, path, is_last=is_last)

    def parsed(self, body: JsonObject) -> Parsed:
        """All of `body`, whose contents were read."""
        body = camel(body)
        contents = body.get("contents")
        if not isinstance(contents, str) and not repeated(contents):
            self.note("contents", "there are none")
        if body.get("cachedContent"):
            held = "cachedContent: what comes before this request is kept by the provider and cannot be read"
            self.notes.append(NotHeld(held))
        return Parsed(
            entries=self.collected.entries,
            system=self.system(body),
            tools=_TOOLS(body.get("tools")).listed(),
            model=as_text(body.get("model")),
            options=self.options(body),
            notes=self.notes,
            adjusted=self.adjusted,
            places=self.collected.places,
            ends=self.collected.ends,
        )

    def note(self, path: str, what: str) -> None:
        """Something at `path` is not carried."""
        self.notes.append(f"{path}: {what}")

    def unknown(self, path: str, what: str) -> None:
        """Something at `path` is not understood."""
        self.notes.append(NotUnderstood(f"{path}: {what}"))

    # --- contents -----------------------------------------------------------------------------------------------------

    def model(self, parts: Sequence[JsonObject], path: str, *, continues: bool) -> None:
        """An answer; neighbouring contents are one. Responses in it are taken out, to be paired with their calls."""
        for has_responses, run in _runs(parts, "functionResponse"):
            if has_responses:
                self.adjusted.append(f"{path}: responses stand in a content of the model")
                self.collected.add(Speaker.TOOL, [self.response(part, path, at) for at, part in run])
            else:
                blocks = _read_answer([part for _, part in run])
                if continues and self.collected.ends_on(Speaker.AI):
                    self.collected.prolong(blocks)
                else:
                    self.collected.add(Speaker.AI, blocks)
            continues = False

    def user(self, parts: Sequence[JsonObject], path: str, *, is_last: bool) -> None:
        """Responses, then what the human said beside them. Calls in it are the model's, and are where they were."""
        runs = _runs(parts, "functionCall")
        for number, (has_calls, run) in enumerate(runs, 1):
            if has_calls:
                self.adjusted.append(f"{path}: calls stand in a content of the user")
                self.collected.add(Speaker.AI, _read_answer([part for _, part in run]))
            else:
                self.heard(run, path, is_last=is_last and number == len(runs))

    def heard(self, run: list[tuple[int, JsonObject]], path: str, *, is_last: bool) -> None:
        results = [self.response(part, path, at) for at, part in run if "functionResponse" in part]
        self.collected.add(Speaker.TOOL, results)
        said = [self.said(part, f"{path}.parts[{at}]") for at, part in run if "functionResponse" not in part]
        self.collected.hear([block for block in said if block is not None], is_last=is_last)

    def said(self, part: JsonObject, path: str) -> Text | Media | None:
        """Text or media; what is neither is noted."""
        if "text" in part:
            text = as_text(part["text"])
            return Text(text) if text else None
        media = read_media(part)
        if media is None:
            self.unknown(path, f"a part with {', '.join(map(repr, part)) or 'nothing in it'} is not understood")
        return media

    def response(self, part: JsonObject, path: str, at: int) -> ToolResponse:
        """The result of a call: an object, or what was put in its place."""
        response = camel(part["functionResponse"])
        wire_id, name = as_id(response.get("id")), as_text(response.get("name"))
        given: Json = response.get("response")
        value = as_object(given)
        if given is not None and not isinstance(given, dict):
            self.adjusted.append(f"{path}.parts[{at}]: a response that is no object is read as the result itself")
            value = {"result": given}
        beside = [read_media(camel(part)) for part in repeated(response.get("parts"))]
        media = tuple(read for read in beside if read is not None)
        result: Json = value["result"] if value.keys() == {"result"} else value
        error = value.get("error") if value.keys() == {"error"} else None
        if error is not None:
            text = error if isinstance(error, str) else msgspec.json.encode(ingest(error)).decode()
            return read_result(as_text(text), wire_id, name, media, failed=True)
        if isinstance(result, str):
            return read_result(as_text(result), wire_id, name, media)
        return ToolResponse(wire_id=wire_id, tool_name=name, result=ingest(result), is_complete=True, media=media)

    # --- around them --------------------------------------------------------------------------------------------------

    def system(self, body: JsonObject) -> str:
        instruction = body.get("systemInstruction")
        if isinstance(instruction, str):
            return as_text(instruction)
        parts = [self.said(camel(part), "systemInstruction") for part in repeated(as_object(instruction).get("parts"))]
        return "\n\n".join(part.text for part in parts if isinstance(part, Text))

    def options(self, body: JsonObject) -> Options:
        """The options; what has no neutral word stays in `extra`, for requests to the same provider."""
        rest = as_object(ingest({name: value for name, value in body.items() if name not in _OURS}))
        for name in ("generationConfig", "toolConfig"):
            if name in rest:
                rest[name] = camel(rest[name])
        for outer, name in (("generationConfig", "thinkingConfig"), ("toolConfig", "functionCallingConfig")):
            if name in as_object(rest.get(outer)):
                rest[outer][name] = camel(rest[outer][name])
        _unquote(rest)
        known = read_options(rest, Dialect.GEMINI)
        known |= _read_choice(rest) | _read_thinking(rest)
        known["max_tokens"] = take(rest, "generationConfig.maxOutputTokens", values.whole)
        known["temperature"] = take(rest, "generationConfig.temperature", values.number)
        for name in ("maxOutputTokens", "temperature"):
            if as_object(rest.get("generationConfig")).pop(name, None) is not None:
                self.note(f"generationConfig.{name}", "not a number, so it was left out")
        rest = {name: value for name, value in rest.items() if value != {}}
        return Options(**known, extra=rest, home=home_for(Dialect.GEMINI, known, rest))


def _unquote(rest: JsonObject) -> None:
    """Read the numbers in the configuration as such; programs also write them in quotes."""
    config = as_object(rest.get("generationConfig"))
    for fields in (config, as_object(config.get("thinkingConfig"))):
        for name in _NUMBERS & fields.keys():
            fields[name] = unquoted(fields[name])


def _read_choice(rest: JsonObject) -> dict[str, Any]:
    """How tools may be used. A mode that has no neutral word is read as the nearest one, and stays in `rest` too."""
    path = "toolConfig.functionCallingConfig"
    calling = as_object(as_object(rest.get("toolConfig")).get("functionCallingConfig"))
    mode, allowed = calling.get("mode"), as_list(calling.get("allowedFunctionNames"))
    if mode == "VALIDATED":
        return {"choice": Choice.AUTO}
    choice = _CHOICES.get(as_text(mode))
    if choice is None:
        return {}
    if choice is Choice.REQUIRED and len(allowed) == 1:
        tool = take(rest, f"{path}.allowedFunctionNames", lambda names: as_text(as_list(names)[0]) or None)
        take(rest, f"{path}.mode", as_text)
        return {"choice": choice, "tool": tool}
    take(rest, f"{path}.mode", as_text)
    return {"choice": choice}


def _read_thinking(rest: JsonObject) -> dict[str, Any]:
    path = "generationConfig.thinkingConfig"
    if not as_object(as_object(rest.get("generationConfig")).get("thinkingConfig")):
        return {}
    take(rest, f"{path}.includeThoughts", lambda shown: shown is True or None)  # asked for wherever it thinks
    budget = take(rest, f"{path}.thinkingBudget", values.whole)
    return {
        "thinking": ThinkingSwitch.OFF if budget == 0 else ThinkingSwitch.ON,
        "thinking_budget": budget if budget is not None and budget > 0 else None,
        "effort": take(rest, f"{path}.thinkingLevel", lambda level: _effort(as_text(level))),
    }


def _runs(parts: Sequence[JsonObject], field: str) -> list[tuple[bool, list[tuple[int, JsonObject]]]]:
    """`parts` with their numbers, parted into those that have that field and others, in their order."""
    return [(has_it, list(run)) for has_it, run in groupby(enumerate(parts), key=lambda one: field in one[1])]


def _effort(level: str) -> str | None:
    """The official clients write a level in capitals, and one of them means that none is given."""
    return effort_word(level) if level and level.upper() != "THINKING_LEVEL_UNSPECIFIED" else None


def _read_answer(parts: Sequence[JsonObject]) -> tuple[Block, ...]:
    # Nothing was projected, so every name stands for itself; and how much a body may hold is asked when it is ingested.
    builder = AnswerBuilder(NameTable(NameRule.GEMINI), Bounds(blocks=MAX_NODES, calls=MAX_NODES))
    reader = PartReader(builder)
    for part in parts:
        reader.take(part)
    reader.close()
    return builder.blocks()


def _read_tools(given: object) -> ReadTools:
    tools: list[ToolSpec] = []
    listed = cast("list[object]", given) if isinstance(given, list) else [given]  # one alone is taken as well
    for item in ingested_items(listed):
        for kind, value in camel(item).items():
            if kind == "functionDeclarations":
                tools += [_read_tool(camel(declaration)) for declaration in repeated(value)]
            else:
                native = {kind: value}
                tools.append(ToolSpec(kind, kind=SpecKind.HOSTED, home=_HOME, native=native))
    return ReadTools(tuple(tools))


_TOOLS = ToolListReader(_read_tools)


def _read_tool(declaration: JsonObject) -> ToolSpec:
    name, description = as_text(declaration.get("name")), as_text(declaration.get("description"))
    own = {field: value for field, value in declaration.items() if field not in _DECLARED}
    spec = ToolSpec(name, description, home=_HOME if own else "", native=own)
    schema = as_object(declaration.get("parametersJsonSchema")) or as_object(declaration.get("parameters"))
    return replace(spec, parameters=schema) if schema else spec
