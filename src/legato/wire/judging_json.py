"""Judge a body as JSON that every server can read, whichever dialect it is in.

In:  a request body or some of its messages, which may hold anything.
Out: findings about what JSON cannot say, and about what the JSON readers of servers refuse.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from types import NoneType
from typing import Any, TypeAlias, cast

import msgspec

from legato.model import Json, JsonObject
from legato.model.lasting import Lasting, without_plain
from legato.wire.judging import Findings, is_object
from legato.wire.rules import refused, risky

MAX_DEPTH = 100
"""protobuf's JSON reader stops here, serde_json a little later"""

NOT_JSON = refused(
    "json/not-json",
    "The body is a JSON object, and what it holds is JSON: no NaN, no Infinity.",
    source="https://www.rfc-editor.org/rfc/rfc8259#section-6",
    error="The request body is not valid JSON",
)
LONE_SURROGATE = refused(
    "json/lone-surrogate",
    "No text holds half of a surrogate pair, as truncating in the middle of an emoji leaves it.",
    source="anthropics/claude-code#10855",
    error="The request body is not valid JSON: no low surrogate in string",
)
CONTROL_CHARACTER = risky(
    "json/control-character",
    "Texts hold no control characters other than tab, line breaks, backspace and form feed.",
    source=("anthropics/claude-code#94055", "aebrer/dreb#352"),
)
TOO_DEEP = risky(
    "json/too-deep",
    f"Values are not nested deeper than {MAX_DEPTH} levels, where the JSON readers of some servers stop.",
    source="https://docs.rs/serde_json/latest/serde_json/struct.Deserializer.html",
)

_PLAIN = frozenset({str, int, bool, NoneType})
_CONTROL = re.compile(r"[\x00-\x07\x0b\x0e-\x1f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")

_Node: TypeAlias = tuple[Any, str | int]
"""(the node above, the key or index in it): paths are built only for what is reported"""


def examine_json(body: Json, found: Findings) -> bool:
    """Judge `body` as JSON; whether it is an object, so that a dialect's own rules can read it."""
    if not is_object(body):
        found.report(NOT_JSON, "", "a request body is a JSON object")
        return False
    if not _is_clean({name: value for name, value in body.items() if not _is_known_clean(value)}, 1):
        _report(body, None, 1, found)
    return True


def examine_messages(messages: Sequence[Json], field: str, first: int, found: Findings) -> None:
    """Judge `messages` as JSON; they are in `field` of the body, numbered from `first` on."""
    for start in range(0, len(messages), _PORTION):
        portion = messages[start : start + _PORTION]
        if not _is_clean([*portion], 2):
            for number, message in enumerate(portion, first + start):
                _report(message, ((None, field), number), 3, found)


_PORTION = 64
"""messages that are looked at together: more would not be quicker, and one bad one sends us to look at all of them"""


def _is_known_clean(value: Json) -> bool:
    """Whether `value` is a list of the body that lasts, and is clean."""
    if not isinstance(value, Lasting):
        return False
    items = cast("Lasting[Any]", value)
    root = items.root
    return all(id(item) in root.plain or items.about(item, _is_clean_item, (item, root)) for item in items)


def _is_clean_item(given: tuple[Any, Lasting[Any]]) -> bool:
    item, root = given
    return _is_clean([without_plain(item, root)], 2)


def _is_clean(value: JsonObject | list[Any], depth: int) -> bool:
    """The quick look at a value that is so deep: level by level, and one pass of the encoder.

    False only sends us to the slow one.
    """
    level: list[Any] = [value]
    for _ in range(depth, MAX_DEPTH + 1):
        below: list[Any] = []
        for item in level:
            if type(item) is dict:
                inside = cast(JsonObject, item).values()
                below += [one for one in inside if type(one) not in _PLAIN]
            elif type(item) is list:
                below += [one for one in cast("list[Any]", item) if type(one) not in _PLAIN]
            elif not (isinstance(item, float) and math.isfinite(item)):
                return False
        if not below:
            break
        level = below
    else:
        return False
    try:
        encoded = msgspec.json.encode(value)
    except (TypeError, ValueError):
        return False
    return b"\\u00" not in encoded  # how the encoder writes control characters, and nothing else but texts about them


def _report(value: Json, node: _Node | None, depth: int, found: Findings) -> None:
    """The slow look: name every place. Iterative, because what is wrong may be the depth."""
    stack: list[tuple[Json, _Node | None, int]] = [(value, node, depth)]
    is_deep = False
    while stack:
        value, node, depth = stack.pop()
        if isinstance(value, str):
            _report_text(value, node, found)
        elif isinstance(value, dict | list):
            if depth > MAX_DEPTH and not is_deep:
                is_deep = True
                found.report(TOO_DEEP, _path(node), f"nested deeper than {MAX_DEPTH} levels")
            pairs = value.items() if is_object(value) else enumerate(cast(list[Any], value))
            for key, item in pairs:
                if isinstance(key, str):
                    _report_text(key, (node, key), found)
                stack.append((item, (node, key), depth + 1))
        elif isinstance(value, float):
            if not math.isfinite(value):
                found.report(NOT_JSON, _path(node), f"{value} cannot be written in JSON")
        elif type(value) not in _PLAIN:
            found.report(NOT_JSON, _path(node), f"a value of type {type(value).__name__} is not JSON")


def _report_text(text: str, node: _Node | None, found: Findings) -> None:
    if _SURROGATE.search(text):
        found.report(LONE_SURROGATE, _path(node), "half of a surrogate pair cannot be sent as UTF-8")
    elif match := _CONTROL.search(text):
        found.report(CONTROL_CHARACTER, _path(node), f"a text holds the control character U+{ord(match[0]):04X}")


def _path(node: _Node | None) -> str:
    keys: list[str | int] = []
    while node is not None:
        node, key = cast("tuple[_Node | None, str | int]", node)
        keys.append(key)
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in reversed(keys)).removeprefix(".")
