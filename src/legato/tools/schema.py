"""Check a model's arguments against the JSON schema that the model was shown.

In:  a JSON value and a schema.
Out: None, or one sentence that names the first fault and where it is, written for the model that has to correct it.

Only the part of JSON schema that tools use is read: types, required and known properties, enumerations, items,
alternatives, simple bounds and local references. A keyword that is not known here forbids nothing: the tool, or the
server behind it, still judges for itself. `pattern` is left to them on purpose, because a schema may come from a
stranger's server and a hostile expression can take forever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import msgspec

from legato.model import Json, JsonObject

_MAX_DEPTH = 200
"""values are never nested that deeply, so a deeper look means a schema that refers to itself"""

_MAX_STEPS = 100_000
"""A look at one place of the value under one rule is a step. Alternatives that refer to each other double them with
each level; after so many, what was not looked at is left to the tool."""


def _is_whole(value: Json) -> bool:
    """Whether `value` counts as an integer; JSON does not tell 1 from 1.0, and some models write the latter."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())


_TYPES: dict[str, tuple[str, Callable[[Json], bool]]] = {
    "string": ("a string", lambda value: isinstance(value, str)),
    "integer": ("an integer", _is_whole),
    "number": ("a number", lambda value: isinstance(value, int | float) and not isinstance(value, bool)),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "null": ("null", lambda value: value is None),
    "array": ("an array", lambda value: isinstance(value, list)),
    "object": ("an object", lambda value: isinstance(value, dict)),
}


def find_fault(value: Json, schema: JsonObject) -> str | None:
    """The first fault of `value` under `schema`, as a sentence, or None if it fits."""
    return next(_Check(schema).faults(value, schema, "", 0), None)


class _Check:
    """One check; holds the root, because references start there."""

    def __init__(self, root: JsonObject) -> None:
        self.root = root
        self.steps = 0

    def faults(self, value: Json, schema: Any, at: str, depth: int) -> Iterator[str]:
        self.steps += 1
        if schema is False:
            yield f"{_place(at)} is not allowed"
        if not isinstance(schema, dict) or depth > _MAX_DEPTH or self.steps > _MAX_STEPS:
            return
        rules = cast(JsonObject, schema)
        if isinstance(reference := rules.get("$ref"), str):
            yield from self.faults(value, self.look_up(reference), at, depth + 1)
        yield from _wrong_type(value, rules, at)
        yield from _wrong_value(value, rules, at)
        yield from self.alternatives(value, rules, at, depth)
        if isinstance(value, dict):
            yield from self.members(cast(JsonObject, value), rules, at, depth)
        elif isinstance(value, list):
            yield from self.items(cast("list[Json]", value), rules, at, depth)
        else:
            yield from _out_of_bounds(value, rules, at)

    def look_up(self, reference: str) -> Any:
        """What a local reference points at; anything else forbids nothing."""
        node: Any = self.root
        for part in reference.removeprefix("#").strip("/").split("/"):
            if part:
                key = part.replace("~1", "/").replace("~0", "~")
                node = cast(JsonObject, node).get(key) if isinstance(node, dict) else None
        return node if reference.startswith("#") else None

    def alternatives(self, value: Json, rules: JsonObject, at: str, depth: int) -> Iterator[str]:
        for part in _list(rules.get("allOf")):
            yield from self.faults(value, part, at, depth + 1)
        for keyword in ("anyOf", "oneOf"):
            options = _list(rules.get(keyword))
            firsts = [next(self.faults(value, option, at, depth + 1), None) for option in options]
            if options and None not in firsts:
                yield _closest([first for first in firsts if first is not None], at)
            elif keyword == "oneOf" and firsts.count(None) > 1 and self.steps <= _MAX_STEPS:
                yield f"{_place(at)} fits more than one of the forms of which it must fit exactly one"

    def members(self, value: JsonObject, rules: JsonObject, at: str, depth: int) -> Iterator[str]:
        known = cast(JsonObject, rules.get("properties") or {})
        for name in _list(rules.get("required")):
            if name not in value:
                yield f"{_place(_join(at, str(name)))} is missing"
        others = rules.get("additionalProperties", True)
        for name, item in value.items():
            if name in known:
                yield from self.faults(item, known[name], _join(at, name), depth + 1)
            elif others is False:
                yield f"{_place(_join(at, name))} is not known here{_hint(name, known)}"
            else:
                yield from self.faults(item, others, _join(at, name), depth + 1)

    def items(self, value: list[Json], rules: JsonObject, at: str, depth: int) -> Iterator[str]:
        count = len(value)
        if count < rules.get("minItems", 0):
            yield f"{_place(at)} must have at least {rules['minItems']} items, not {count}"
        if count > rules.get("maxItems", count):
            yield f"{_place(at)} must have at most {rules['maxItems']} items, not {count}"
        first = _list(rules.get("prefixItems"))
        for index, item in enumerate(value):
            rule = first[index] if index < len(first) else rules.get("items")
            yield from self.faults(item, rule, f"{at}[{index}]", depth + 1)


def _wrong_type(value: Json, rules: JsonObject, at: str) -> Iterator[str]:
    wanted = rules.get("type")
    names = [name for name in ([wanted] if isinstance(wanted, str) else _list(wanted)) if name in _TYPES]
    if names and not any(_TYPES[name][1](value) for name in names):
        yield f"{_place(at)} must be {' or '.join(_TYPES[name][0] for name in names)}, not {_kind_of(value)}"


def _wrong_value(value: Json, rules: JsonObject, at: str) -> Iterator[str]:
    allowed = _list(rules["enum"]) if "enum" in rules else [rules["const"]] if "const" in rules else None
    if allowed is not None and not any(_same(value, one) for one in allowed):
        yield f"{_place(at)} must be one of {', '.join(_as_json(one) for one in allowed)}, not {_as_json(value)}"


def _out_of_bounds(value: Json, rules: JsonObject, at: str) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) < rules.get("minLength", 0):
            yield f"{_place(at)} must have at least {rules['minLength']} characters"
        if len(value) > rules.get("maxLength", len(value)):
            yield f"{_place(at)} must have at most {rules['maxLength']} characters"
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if value < rules.get("minimum", value):
            yield f"{_place(at)} must be at least {rules['minimum']}, not {value}"
        if value > rules.get("maximum", value):
            yield f"{_place(at)} must be at most {rules['maximum']}, not {value}"
        if "exclusiveMinimum" in rules and value <= rules["exclusiveMinimum"]:
            yield f"{_place(at)} must be more than {rules['exclusiveMinimum']}, not {value}"
        if "exclusiveMaximum" in rules and value >= rules["exclusiveMaximum"]:
            yield f"{_place(at)} must be less than {rules['exclusiveMaximum']}, not {value}"


def _closest(faults: list[str], at: str) -> str:
    """Of the faults of all alternatives, the one that looks deepest: that alternative was probably meant."""
    inner = [fault for fault in faults if not fault.startswith(f"{_place(at)} must")]
    if inner:
        return inner[0]
    wanted = [fault.removeprefix(f"{_place(at)} must be ").rpartition(", not ") for fault in faults]
    if all(separator for _, separator, _ in wanted):
        return f"{_place(at)} must be {' or '.join(dict.fromkeys(want for want, _, _ in wanted))}, not {wanted[0][2]}"
    return faults[0]


def _hint(name: str, known: JsonObject) -> str:
    from difflib import get_close_matches  # rarely needed, and slow to load

    near = get_close_matches(name, list(known), n=1)
    if near:
        return f" (did you mean `{near[0]}`?)"
    return f" (known: {', '.join(f'`{one}`' for one in known)})" if known else " (no arguments are taken)"


def _same(value: Json, other: Json) -> bool:
    """Equality as JSON has it: true is not 1."""
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _join(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def _place(at: str) -> str:
    return f"`{at}`" if at else "the value"


def _as_json(value: Json) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 80 else f"{text[:77]}..."


def _kind_of(value: Json) -> str:
    if isinstance(value, float):
        return "a fraction"
    return next(said for said, fits in _TYPES.values() if fits(value))
