"""The rules about JSON, which hold for every dialect."""

from __future__ import annotations

from legato.wire.judging import MAX_DEPTH
from legato.wire.rules import WireRule, refused, risky


def json_rules(route: str) -> tuple[WireRule, ...]:
    """The rules about JSON, for a dialect whose examples are meant for `route`."""
    return (
        refused(
            "json/not-json",
            "The body is a JSON object, and what it holds is JSON: no NaN, no Infinity.",
            source="https://www.rfc-editor.org/rfc/rfc8259#section-6",
            error="The request body is not valid JSON",
            route=route,
        ),
        refused(
            "json/lone-surrogate",
            "No text holds half of a surrogate pair, as truncating in the middle of an emoji leaves it.",
            source="anthropics/claude-code#10855",
            error="The request body is not valid JSON: no low surrogate in string",
            route=route,
        ),
        refused(
            "json/schema-type",
            "The schema of a tool's arguments is JSON Schema, whose types are `object`, `string` and so on: not those "
            "that Google's own form has in capitals.",
            source=(
                "https://json-schema.org/draft/2020-12/json-schema-validation#name-type",
                "google-gemini/gemini-cli#2881",
            ),
            error="Invalid schema for function: '{value}' is not valid under any of the given schemas",
            route=route,
        ),
        risky(
            "json/control-character",
            "Texts hold no control characters other than tab, line breaks, backspace and form feed.",
            source=("anthropics/claude-code#94055", "aebrer/dreb#352"),
            route=route,
        ),
        risky(
            "json/too-deep",
            f"Values are not nested deeper than {MAX_DEPTH} levels, where the JSON readers of some servers stop.",
            source="https://docs.rs/serde_json/latest/serde_json/struct.Deserializer.html",
            route=route,
        ),
    )
