"""Make content readable that a request body has in a form its dialect does not know.

In:  a body as someone wrote it.
Out: the same body, ready for the dialect's parser, with a note for each thing that was adjusted.

People write `{"text": "..."}` without a type, bare strings among the parts, a single part without the list around it,
and instructions among the contents of Gemini or the messages of Bedrock. Providers refuse that, and a parser that
follows the provider skips it. It is still part of the conversation, so it is read here; the provider's rules report it.
"""

from __future__ import annotations

from collections.abc import Set
from itertools import groupby, takewhile
from typing import NamedTuple

from legato.formats.blocks import parts_of
from legato.formats.document import FileNote
from legato.formats.fields import as_list, as_object, as_text, well_typed
from legato.model import Dialect, Json, JsonObject
from legato.model.json_access import as_string
from legato.wire.dialects import dialect_parts
from legato.wire.phrases import INSTRUCTION_MARK

_UNTYPED = frozenset({Dialect.GEMINI, Dialect.BEDROCK})
"""those whose parts have no type, and whose messages hold no instructions"""
_SYSTEM_FORMS: dict[Dialect, type | tuple[type, ...]] = {Dialect.ANTHROPIC: list, Dialect.BEDROCK: (list, str)}
"""in which forms instructions are read as parts"""


class Salvaged(NamedTuple):
    """A body for a parser, the original index of each message, and notes."""

    body: JsonObject
    places: list[int]
    notes: list[FileNote]


def make_readable(body: JsonObject, dialect: Dialect) -> Salvaged:
    """`body` with its content in the form of `dialect` as far as that is clear."""
    field = dialect_parts(dialect).messages_field
    found: Json = body.get(field)
    if dialect is Dialect.GEMINI and isinstance(found, dict):
        found = [found]  # Google takes one alone as well
    if not isinstance(found, list):
        return Salvaged(body, [], [])
    salvage = _Salvage(dialect)
    salvaged: JsonObject = {**body, field: salvage.messages(well_typed(found), field)}
    if isinstance(body.get("system"), _SYSTEM_FORMS.get(dialect, ())):
        salvaged["system"] = salvage.parts(body["system"], "system")
    places = list(range(len(salvaged[field])))
    if dialect in _UNTYPED:  # their parsers know instructions in their own field alone
        places = [index for index in places if not is_instruction(salvaged[field][index])]
        salvaged = move_instructions(salvaged, dialect)
    return Salvaged(salvaged, places, salvage.notes)


def make_blocks_readable(content: Json) -> tuple[list[Json], list[FileNote]]:
    """The same for the content of a single Anthropic message: its blocks, and notes."""
    salvage = _Salvage(Dialect.ANTHROPIC)
    if isinstance(content, str):
        return [{"type": "text", "text": content}], []
    return salvage.parts(well_typed(parts_of(content)), "content"), salvage.notes


def tidy_messages(body: JsonObject, dialect: Dialect, wrong: Set[str]) -> tuple[JsonObject, list[FileNote]]:
    """`body` without messages that hold nothing, and without ids of items that others have, where `wrong` has them."""
    field = dialect_parts(dialect).messages_field
    kept: list[Json] = []
    told: list[FileNote] = []
    ids: set[str] = set()
    for index, item in enumerate(as_list(body.get(field))):
        message = as_object(item)
        is_wrong = not wrong.isdisjoint(
            (f"{field}[{index}]", f"{field}[{index}].role", f"{field}[{index}].content", f"{field}[{index}].parts")
        )
        if is_wrong and _holds_nothing(message):
            told.append(FileNote(f"{field}[{index}]", "a message that holds nothing was left out"))
            continue
        if dialect is Dialect.ANTHROPIC and is_wrong and is_instruction(message):
            told.append(FileNote(f"{field}[{index}]", "an instruction was put among the words of the user, and marked"))
            kept.append({**message, "role": "user", "content": _marked(message.get("content"))})
            continue
        own = as_text(message.get("id")) if dialect is Dialect.OPENAI_RESPONSES else ""
        if own in ids:
            told.append(FileNote(f"{field}[{index}].id", f"the id {own} was taken; the item has none now"))
            item = {name: value for name, value in message.items() if name != "id"}
        elif own:
            ids.add(own)
        kept.append(item)
    return ({**body, field: kept}, told) if told else (body, [])


def without_parts(body: JsonObject, field: str, wrong: Set[str]) -> tuple[JsonObject, list[FileNote]]:
    """`body` without the parts that `wrong` names: a blank text, a thought that nobody signed."""
    kept: list[Json] = []
    told: list[FileNote] = []
    for index, item in enumerate(as_list(body.get(field))):
        message = as_object(item)
        name = next((name for name in ("content", "parts") if isinstance(message.get(name), list)), "")
        place = f"{field}[{index}].{name}"
        parts = as_list(message.get(name)) if name else []
        right = [
            part
            for number, part in enumerate(parts)
            if not (_may_go(as_object(part)) and _is_named(f"{place}[{number}]", wrong))
        ]
        if len(right) < len(parts):
            told.append(FileNote(place, f"{len(parts) - len(right)} parts that are refused were left out"))
            item = {**message, name: right}
        if right or not parts:
            kept.append(item)
    return {**body, field: kept}, told


def words_before_calls(body: JsonObject, field: str, wrong: Set[str]) -> tuple[JsonObject, list[FileNote]]:
    """`body` with each text that `wrong` names, and that stands behind the calls of its answer, put before them."""
    messages = [as_object(item) for item in as_list(body.get(field))]
    contents = {index: as_list(message.get("content")) for index, message in enumerate(messages)}
    told: list[FileNote] = []
    for is_answer, run in groupby(contents, key=lambda index: messages[index].get("role") == "assistant"):
        numbers = list(run)
        calling = next((index for index in numbers if any(map(_is_use, contents[index]))), None)
        if not is_answer or calling is None:
            continue
        late: list[Json] = []
        for index in numbers:
            places = {f"{field}[{index}].content[{number}]": part for number, part in enumerate(contents[index])}
            named = [place for place in places if place in wrong and _is_text(places[place])]
            late += [places.pop(place) for place in named]
            contents[index] = list(places.values())
            told += [FileNote(place, "text behind the calls of an answer was put before them") for place in named]
        first = next(number for number, part in enumerate(contents[calling]) if _is_use(part))
        contents[calling][first:first] = late
    if not told:
        return body, []
    kept = [
        {**message, "content": contents[index]} if as_list(message.get("content")) else message
        for index, message in enumerate(messages)
        if contents[index] or not as_list(message.get("content"))
    ]
    return {**body, field: kept}, told


def _is_text(part: Json) -> bool:
    """Whether a part says something and asks for nothing: a call that also has a text stays where it is."""
    return "text" in as_object(part) and not _is_use(part)


def _is_use(part: Json) -> bool:
    return as_object(part).get("type") == "tool_use"


def _may_go(part: JsonObject) -> bool:
    """Whether a part is a blank text or a thought: nothing that says something, calls or returns is left out."""
    kind = as_text(part.get("type"))
    if kind in ("text", "input_text", "output_text") or (not kind and "text" in part):
        return not as_text(part.get("text")).strip()
    return kind in ("thinking", "redacted_thinking") or (not kind and "reasoningContent" in part)


def _is_named(place: str, wrong: Set[str]) -> bool:
    return any(path == place or path.startswith(f"{place}.") for path in wrong)


def _marked(content: Json) -> Json:
    """The content of an instruction, with the mark that tells it from what a person says."""
    if isinstance(content, str):
        return f"{INSTRUCTION_MARK}{content}"
    parts = as_list(content)
    first = as_object(parts[0]) if parts else {}
    return [{**first, "text": f"{INSTRUCTION_MARK}{as_text(first.get('text'))}"}, *parts[1:]]


def _holds_nothing(message: JsonObject) -> bool:
    """Whether there is nothing in a message but its role. An item may be its type alone."""
    said = [value for name, value in message.items() if name not in ("role", "type", "id", "status")]
    return not message or ("role" in message and not any(said))


# --- instructions among the messages ----------------------------------------------------------------------------------


def is_instruction(message: Json) -> bool:
    """Whether a message is an instruction by its role."""
    return as_object(message).get("role") in ("system", "developer")


def leading_instructions(messages: Json) -> list[Json]:
    """The instructions that a list of messages begins with."""
    return list(takewhile(is_instruction, as_list(messages)))


def move_instructions(body: JsonObject, dialect: Dialect) -> JsonObject:
    """`body` with instructions moved from the messages to the field for instructions, after those already there.

    Gemini and Bedrock accept no instructions among the messages, Anthropic none before the first one. Other dialects
    are left alone.
    """
    name = _instruction_field(body, dialect)
    field = dialect_parts(dialect).messages_field
    messages = as_list(body.get(field))
    moved = list(filter(is_instruction, messages)) if dialect in _UNTYPED else leading_instructions(messages)
    if not name or not moved:
        return body
    kept = [item for item in messages if not any(item is other for other in moved)]
    salvage = _Salvage(dialect)
    parts = [part for item in moved for part in salvage.parts(as_object(item).get(salvage.list_field), field)]
    return {**body, name: _added(body.get(name), parts, dialect), field: kept}


def _instruction_field(body: JsonObject, dialect: Dialect) -> str:
    """The name of the field that holds the instructions in this body; empty if there is none."""
    if dialect is Dialect.GEMINI:
        return "system_instruction" if "system_instruction" in body else "systemInstruction"
    return "system" if dialect in _SYSTEM_FORMS else ""


def _added(own: Json, added: list[Json], dialect: Dialect) -> Json:
    """The value of the field for instructions, with blocks or parts behind those that it has."""
    if dialect is Dialect.GEMINI:
        holder: JsonObject = {"parts": [{"text": own}]} if isinstance(own, str) else as_object(own)
        return {**holder, "parts": [*as_list(holder.get("parts")), *added]}
    text: JsonObject = {"text": own} if dialect in _UNTYPED else {"type": "text", "text": own}
    before: list[Json] = [text] if isinstance(own, str) else as_list(own)
    return [*before, *added]


# --- parts ------------------------------------------------------------------------------------------------------------


class _Salvage:
    """Brings parts into the form of a dialect and notes each one that it changes."""

    def __init__(self, dialect: Dialect) -> None:
        self.notes: list[FileNote] = []
        self.list_field = "parts" if dialect is Dialect.GEMINI else "content"
        self._dialect = dialect

    def messages(self, items: list[Json], field: str) -> list[Json]:
        """Messages with their parts in the form that a parser expects."""
        return [
            self._message(as_object(item), f"{field}[{index}]") if isinstance(item, dict) else item
            for index, item in enumerate(items)
        ]

    def parts(self, content: Json, place: str, *, by_model: bool = False) -> list[Json]:
        """The parts of a content, those that are nothing but text in the form that text has."""
        kind = ""
        if self._dialect is Dialect.OPENAI_RESPONSES:
            kind = "output_text" if by_model else "input_text"
        elif self._dialect not in _UNTYPED:
            kind = "text"
        items: list[Json] = [content] if isinstance(content, dict | str) else as_list(content)
        parts = [self._part(item, place, index, kind) for index, item in enumerate(items)]
        return [part for part in parts if part is not None]

    def _reread(self, place: str, what: str) -> None:
        self.notes.append(FileNote(place, what, is_carried=True))

    def _message(self, message: JsonObject, place: str) -> JsonObject:
        if self._dialect in _UNTYPED and is_instruction(message):
            self._reread(place, f"a content of role {message['role']!r} is read as an instruction")
        content: Json = message.get(self.list_field)
        if content is None or (isinstance(content, str) and self._dialect not in _UNTYPED):
            return message
        before = len(self.notes)
        place = f"{place}.{self.list_field}"
        parts = self.parts(content, place, by_model=message.get("role") == "assistant")
        is_same = isinstance(content, list) and len(self.notes) == before
        return message if is_same else {**message, self.list_field: parts}

    def _part(self, item: Json, place: str, index: int, kind: str) -> Json:
        if isinstance(item, str):
            self._reread(f"{place}[{index}]", "a bare string is read as text")
            return {"type": kind, "text": item} if kind else {"text": item}
        part = as_object(item)
        if not kind or not part or as_string(part.get("type")):
            return item
        if isinstance(part.get("text"), str):
            self._reread(f"{place}[{index}]", "a part without a type is read as the text in it")
            return {"type": kind, **{name: value for name, value in part.items() if name != "type"}}
        self.notes.append(
            FileNote(f"{place}[{index}]", "a part without a type is not understood and was left out", is_unknown=True)
        )
        return None
