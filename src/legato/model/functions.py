"""A typed Python function as what a model is told of it.

In:  a function, with annotations and a docstring.
Out: a `ToolSpec` whose JSON schema comes from the signature and whose words come from the docstring; and a `Signature`,
     which turns the arguments of a call into what the annotations say.

msgspec writes the schema. A parameter whose type has a true `is_given_to_tools` is provided by the scheduler,
and the model is not told of it.
"""

from __future__ import annotations

import copy
import functools
import inspect
import re
import typing
from collections.abc import Callable
from typing import Any, cast

import msgspec

from legato.errors import ConfigError
from legato.model.jsonvalue import JsonObject
from legato.model.tools import ToolSpec


def describe(
    function: Callable[..., Any],
    signature: Signature | None = None,
    *,
    name: str | None = None,
    description: str | None = None,
) -> ToolSpec:
    """`function` as a model sees it; raises `ConfigError` for one that cannot be called by name with JSON values."""
    signature = signature or Signature(function)
    about, details = _read_docstring(inspect.getdoc(function) or "")
    return ToolSpec(
        name=name or function.__name__,
        description=description if description is not None else about,
        parameters=_parameters(signature.struct, details),
    )


class Signature:
    """What a function takes: a struct of its parameters, and the names of those that the scheduler provides."""

    def __init__(self, function: Callable[..., Any]) -> None:
        where = f"the function {function.__name__!r}"
        try:
            hints = typing.get_type_hints(function, include_extras=True)
        except NameError as error:
            raise ConfigError(f"{where} cannot be a tool: its annotations name something unknown: {error}") from error
        self.given: list[str] = []
        fields: list[Any] = []
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
                raise ConfigError(f"{where} cannot be a tool: {parameter} cannot be passed by name")
            hint = hints.get(parameter.name, Any)
            if getattr(hint, "is_given_to_tools", False):
                self.given.append(parameter.name)
            elif parameter.default is parameter.empty:
                fields.append((parameter.name, hint))
            else:
                fields.append((parameter.name, hint, _default(parameter.default)))
        self.struct = msgspec.defstruct(function.__name__, fields, kw_only=True, forbid_unknown_fields=True)

    def bind(self, arguments: JsonObject, given: object) -> dict[str, Any]:
        """The keyword arguments of a call: values as the annotations want them, and `given` where it belongs."""
        try:
            values = msgspec.convert(arguments, self.struct)
        except msgspec.ValidationError:
            values = msgspec.convert(arguments, self.struct, strict=False)  # 1.0 where an integer is wanted
        bound = {name: getattr(values, name) for name in self.struct.__struct_fields__}
        return bound | dict.fromkeys(self.given, given)


def _default(value: Any) -> Any:
    if isinstance(value, list | dict | set | bytearray):
        original = cast("list[Any]", value)
        return msgspec.field(default_factory=functools.partial(copy.deepcopy, original) if original else type(original))
    return value


# --- the schema -------------------------------------------------------------------------------------------------------


def _parameters(struct: type[msgspec.Struct], details: dict[str, str]) -> JsonObject:
    """The schema of `struct`, without references where that is possible: not every provider follows them."""
    try:
        schema = msgspec.json.schema(struct)
    except TypeError as error:
        raise ConfigError(f"the function {struct.__name__!r} cannot be a tool: {error}") from error
    definitions = cast("dict[str, JsonObject]", schema.get("$defs", {}))
    top = definitions.pop(_referenced(schema) or struct.__name__)
    for name, text in details.items():
        if name in top.get("properties", {}):
            top["properties"][name].setdefault("description", text)
    recursive = {name for name in definitions if _reaches(name, name, definitions)}
    flat = cast(JsonObject, _inline(top, definitions, recursive))
    flat.pop("title", None)
    if recursive:
        flat["$defs"] = {name: _inline(definitions[name], definitions, recursive) for name in sorted(recursive)}
    return flat


def _inline(node: Any, definitions: dict[str, JsonObject], recursive: set[str]) -> Any:
    if isinstance(node, list):
        return [_inline(item, definitions, recursive) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    fields = cast(JsonObject, node)
    name = _referenced(fields)
    if name is not None and name not in recursive:
        rest = {key: value for key, value in fields.items() if key != "$ref"}
        return _inline({**definitions[name], **rest}, definitions, recursive)
    return {key: _inline(value, definitions, recursive) for key, value in fields.items()}


def _referenced(node: JsonObject) -> str | None:
    reference = node.get("$ref")
    return reference.removeprefix("#/$defs/") if isinstance(reference, str) else None


def _reaches(goal: str, start: str, definitions: dict[str, JsonObject]) -> bool:
    seen: set[str] = set()
    todo: list[Any] = [definitions[start]]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo.extend(cast("list[Any]", node))
        elif isinstance(node, dict):
            fields = cast(JsonObject, node)
            name = _referenced(fields)
            if name == goal:
                return True
            if name is not None and name not in seen:
                seen.add(name)
                todo.append(definitions[name])
            todo.extend(fields.values())
    return False


# --- the words --------------------------------------------------------------------------------------------------------

_SECTION = re.compile(r"^(Args|Arguments|Parameters|Returns|Raises|Yields|Examples?|Notes?):\s*$", re.MULTILINE)
_DETAIL = re.compile(r"^(?P<indent>\s+)\*{0,2}(?P<name>\w+)(?:\s*\([^)]*\))?:\s*(?P<text>.*)$")


def _read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """What the tool is for, and what each argument means if there is an `Args:` section."""
    parts = _SECTION.split(text)
    details: dict[str, str] = {}
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        if title in ("Args", "Arguments", "Parameters"):
            details.update(_read_details(body))
    return parts[0].strip(), details


def _read_details(body: str) -> dict[str, str]:
    details: dict[str, str] = {}
    current, margin = "", -1
    for line in body.splitlines():
        match = _DETAIL.match(line)
        if match and (margin < 0 or len(match["indent"]) == margin):
            current, margin = match["name"], len(match["indent"])
            details[current] = match["text"].strip()
        elif current and line.strip():
            details[current] = f"{details[current]} {line.strip()}".strip()
    return details
