"""Values that fit a JSON schema, made from a few words: the arguments of a call, an answer in a wanted form.

In:  a schema, and what was named: a file, a phrase, a whole JSON object, or nothing.
Out: arguments that fit: the named thing in the first text that is asked for, something harmless in whatever else is
     required, nothing in what is optional; or an answer, in which what is optional is there too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import cast

from legato.model import Json, JsonObject, ToolSpec


def fill_arguments(tool: ToolSpec, item: str | JsonObject | None, *, words: str) -> JsonObject:
    """Arguments for `tool`. `words` stand in for texts that are required beside the first one."""
    if isinstance(item, dict):
        return item
    filler = _Filler(tool.parameters, item if item is not None else words, fills_optional=False)
    properties = _object(tool.parameters.get("properties"))
    required = [name for name in _list(tool.parameters.get("required")) if isinstance(name, str)]
    texts = [name for name in (*required, *properties) if filler.kind(properties.get(name)) == "string"]
    place = texts[0] if texts and item is not None else None
    arguments: JsonObject = {}
    for name in required:
        schema = filler.resolve(properties.get(name))
        is_free = name == place and not schema.keys() & {"const", "enum"}
        arguments[name] = item if is_free else filler.example(schema)
    if place is not None and place not in arguments:
        arguments[place] = item
    return arguments


def fill_answer(schema: JsonObject, words: str) -> Json:
    """A value that fits `schema` and says `words` where it has room for a text."""
    return _Filler(schema, words, fills_optional=True).example(schema)


class _Filler:
    """Makes values for one schema. References are followed, and recursion ends where the schema lets it."""

    def __init__(self, root: JsonObject, words: str, *, fills_optional: bool) -> None:
        self._root = root
        self._words = words
        self._fills_optional = fills_optional

    def example(self, schema: Json, depth: int = 0) -> Json:
        """Something that `schema` allows."""
        table = self.resolve(schema, depth)
        for name in ("const", "default"):
            if name in table:
                return table[name]
        if allowed := _list(table.get("enum")):
            return allowed[0]
        match self.kind(table):
            case "string":
                return _text(table, self._words)
            case "integer" | "number" as kind:
                return _amount(table, whole=kind == "integer")
            case "boolean":
                return False
            case "array":
                return self._array(table, depth)
            case "object":
                return self._object(table, depth)
            case _:
                return None

    def kind(self, schema: Json) -> str:
        """The type that a schema asks for; of several the first that is not null."""
        table = self.resolve(schema)
        named: Json = table.get("type")
        for choice in [named] if isinstance(named, str) else _list(named):
            if isinstance(choice, str) and choice.lower() != "null":
                return choice.lower()  # Google's own schemas write them in capitals
        if named is not None:
            return "null"
        if table.keys() & {"properties", "required", "additionalProperties"}:
            return "object"
        return "array" if table.keys() & {"items", "prefixItems"} else "string"

    def resolve(self, schema: Json, depth: int = 0, *, inside: int = 0) -> JsonObject:
        """`schema` with its references followed, its parts joined, and one of its alternatives chosen.

        `inside` counts the parts of parts that it is a part of: from some number on, they are left out.
        """
        table = _object(schema)
        for _ in range(_LONGEST_CHAIN):
            if isinstance(reference := table.get("$ref"), str):
                rest = {name: value for name, value in table.items() if name != "$ref"}
                table = self._referenced(reference) | rest
            elif parts := _list(table.get("allOf")):
                rest = {name: value for name, value in table.items() if name != "allOf"}
                joined = parts[:_MOST_PARTS] if inside < _MOST_LEVELS else ()
                table = _joined([rest, *(self.resolve(part, depth, inside=inside + 1) for part in joined)])
            elif alternatives := _list(table.get("anyOf")) or _list(table.get("oneOf")):
                rest = {name: value for name, value in table.items() if name not in ("anyOf", "oneOf")}
                table = _joined([rest, self._chosen(alternatives, depth)])
            else:
                break
        return table

    def _referenced(self, reference: str) -> JsonObject:
        found: Json = self._root
        for step in reference.removeprefix("#").split("/")[1:]:
            found = _object(found).get(step.replace("~1", "/").replace("~0", "~"))
        return _object(found)

    def _chosen(self, alternatives: Sequence[Json], depth: int) -> JsonObject:
        """The first alternative that is not null; deep inside, null if that is one: recursion has to end."""
        nulls = [one for one in alternatives if _object(one).get("type") in ("null", "NULL")]
        if nulls and depth >= _DEEP:
            return _object(nulls[0])
        return _object(next((one for one in alternatives if one not in nulls), alternatives[0]))

    def _array(self, table: JsonObject, depth: int) -> Json:
        items = [self.example(one, depth + 1) for one in _list(table.get("prefixItems"))] if depth < _DEEPEST else []
        wanted = _whole(table.get("minItems"))
        if not wanted and (self._fills_optional or self.kind(table.get("items")) == "string") and depth < _DEEP:
            wanted = 1
        if (most := table.get("maxItems")) is not None:
            wanted = min(wanted, _whole(most))
        if table.get("items") is False or depth >= _DEEPEST:
            return items
        choices = _list(self.resolve(table.get("items")).get("enum"))
        while len(items) < wanted:
            fresh = choices[len(items)] if table.get("uniqueItems") and len(items) < len(choices) else None
            items.append(self.example(table.get("items"), depth + 1) if fresh is None else fresh)
        return _told_apart(items) if table.get("uniqueItems") else items

    def _object(self, table: JsonObject, depth: int) -> Json:
        properties = _object(table.get("properties"))
        required = [name for name in _list(table.get("required")) if isinstance(name, str)]
        optional = [name for name in properties if self._fills_optional and depth < _DEEP and name not in required]
        names = [name for name in properties if name in required or name in optional]
        names += [name for name in required if name not in properties]
        if depth >= _DEEPEST:
            return {}
        return {name: self.example(properties.get(name, {}), depth + 1) for name in names}


_LONGEST_CHAIN = 20
"""references that are followed from one to the next: our choice, a schema that needs more goes round in circles"""

_MOST_PARTS, _MOST_LEVELS = 8, 2
_DEEP = 4
"""from here on only what has to be there is"""
_DEEPEST = 12
"""levels of a value that is made up: our choice, so that a schema that holds itself has an end"""


# --- texts and numbers ------------------------------------------------------------------------------------------------

_FORMATS = {
    "date": "2025-01-02",
    "time": "03:04:05Z",
    "date-time": "2025-01-02T03:04:05Z",
    "duration": "P1D",
    "email": "someone@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "uuid": "01234567-89ab-4cde-8f01-23456789abcd",
}
_LIKELY = ("a", "abc", "A", "ABC", "0", "1", "123", "a-1", "A1", "a_b", "1.0.0", *_FORMATS.values())
"""texts to try where a pattern is asked for"""


def _text(table: JsonObject, words: str) -> str:
    given = table.get("format")
    text = _FORMATS.get(given, words) if isinstance(given, str) else words
    pattern = table.get("pattern")
    if isinstance(pattern, str):
        text = next((one for one in (text, *_LIKELY) if _matches(pattern, one)), text)
    least, most = _whole(table.get("minLength")), table.get("maxLength")
    text = text if len(text) >= least else text + "." * (least - len(text))
    return text if most is None else text[: _whole(most)]


def _matches(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:  # a pattern of another language's
        return True


def _amount(table: JsonObject, *, whole: bool) -> int | float:
    """The smallest number from 1 on that is allowed, or else the largest below."""
    step = _number(table.get("multipleOf")) or (1 if whole else 0.5)
    low, high = _bound(table, "minimum", "exclusiveMinimum", step), _bound(table, "maximum", "exclusiveMaximum", -step)
    amount: int | float = 1
    if low is not None and amount < low:
        amount = low
    if high is not None and amount > high:
        amount = high
    if whole or table.get("multipleOf") is not None:
        rounded = -(-amount // step) * step
        amount = rounded if high is None or rounded <= high else amount // step * step
    return int(amount) if whole else amount


def _bound(table: JsonObject, included: str, excluded: str, step: float) -> int | float | None:
    bound, beyond = _number(table.get(included)), _number(table.get(excluded))
    return bound if beyond is None else beyond + step


def _told_apart(items: list[Json]) -> list[Json]:
    """`items` without repetitions where that is easily done."""
    apart: list[Json] = []
    for number, item in enumerate(items):
        if item in apart and isinstance(item, int | float | str) and not isinstance(item, bool):
            item = f"{item} {number}" if isinstance(item, str) else item + number
        if item not in apart:
            apart.append(item)
    return apart


# --- schemas ----------------------------------------------------------------------------------------------------------


def _joined(tables: Sequence[JsonObject]) -> JsonObject:
    joined: JsonObject = {}
    for table in tables:
        for name, value in table.items():
            if name == "properties":
                joined[name] = _object(joined.get(name)) | _object(value)
            elif name == "required":
                joined[name] = list(dict.fromkeys((*_names(joined.get(name)), *_names(value))))
            else:
                joined[name] = value
    return joined


def _names(value: Json) -> Iterator[str]:
    return (name for name in _list(value) if isinstance(name, str))


def _whole(value: Json) -> int:
    return int(_number(value) or 0)


def _number(value: Json) -> int | float | None:
    if isinstance(value, str) and value.isdecimal():  # Google writes large whole numbers as texts
        return int(value[:19])  # Python does not read any number of digits
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _object(value: Json) -> JsonObject:
    return cast(JsonObject, value) if isinstance(value, dict) else {}


def _list(value: Json) -> list[Json]:
    return cast("list[Json]", value) if isinstance(value, list) else []
