"""What an example of a rule is, and the bodies that every dialect has for the rules about JSON."""

import math
from collections.abc import Callable
from typing import NamedTuple

from legato.model import JsonObject
from legato.wire.judging_json import MAX_DEPTH


class Example(NamedTuple):
    """A request body that breaks a rule, and one that keeps it; the model is named when they are used."""

    refused: JsonObject
    accepted: JsonObject


def json_examples(body_with: Callable[[str, JsonObject], JsonObject]) -> dict[str, Example]:
    """Bodies for the rules about JSON; `body_with` makes one from a text and the schema of a tool's arguments."""
    schema: JsonObject = {"type": "object"}
    fine = body_with("Good morning 😀", {"type": "object", "properties": {"limit": {"type": "number", "default": 0.5}}})
    not_a_number: JsonObject = {"type": "object", "properties": {"limit": {"default": math.nan}}}
    return {
        "json/not-json": Example(body_with("Hello", not_a_number), fine),
        "json/lone-surrogate": Example(body_with("Good morning \ud83d", schema), fine),
        "json/schema-type": Example(
            body_with("Hello", {"type": "object", "properties": {"limit": {"type": "NUMBER"}}}), fine
        ),
        "json/control-character": Example(body_with("colour: \u001b[31mred", schema), fine),
        "json/too-deep": Example(body_with("Hello", _nested(MAX_DEPTH)), fine),
    }


def _nested(depth: int) -> JsonObject:
    value: JsonObject = {}
    for _ in range(depth):
        value = {"not": value}
    return value
