"""What a tool looks like to a model."""

from __future__ import annotations

from msgspec import Struct, field

from legato.model.jsonvalue import JsonObject


def _no_arguments() -> JsonObject:
    return {"type": "object", "properties": {}}


class ToolSpec(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A tool's name, what it is for, and the JSON schema of its arguments."""

    name: str
    description: str = ""
    parameters: JsonObject = field(default_factory=_no_arguments)
