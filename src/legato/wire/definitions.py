"""A tool as a provider defines it, read as ours.

In:  the definition of a tool in the form of any provider.
Out: the tools that it defines: one, or those of a namespace or of Google's list of functions.

The form tells whose it is, and that dialect reads it. A tool that a provider runs itself stays that provider's own.
"""

from __future__ import annotations

import re

from legato.model import Dialect, JsonObject, ToolSpec
from legato.wire.dialects import dialect_parts

_DATED = re.compile(r".*_20\d{6}")
"""the types of Anthropic's own tools end in the day of their version: `web_search_20250305`"""
_FUNCTION_LISTS = frozenset({"functionDeclarations", "function_declarations"})
_SCHEMAS = ("parameters", "input_schema", "inputSchema")


def read_definition(definition: JsonObject) -> list[ToolSpec]:
    """The tools in `definition`; none if it has no known form."""
    dialect = _dialect_of(definition)
    if dialect is None:
        return []
    parts = dialect_parts(dialect)
    if dialect is Dialect.VERCEL:
        schema = next((definition[name] for name in _SCHEMAS if definition.get(name)), None)
        definition = {**{key: definition[key] for key in definition if key not in _SCHEMAS}, "inputSchema": schema}
    return parts.parse({parts.messages_field: [], "tools": [definition]}).tools


def _dialect_of(definition: JsonObject) -> Dialect | None:
    kind = definition.get("type")
    if isinstance(definition.get("toolSpec"), dict):
        return Dialect.BEDROCK
    if isinstance(definition.get("function"), dict) or isinstance(definition.get("custom"), dict):
        return Dialect.OPENAI_CHAT
    if kind is None or (kind == "custom" and "input_schema" in definition):
        if isinstance(definition.get("name"), str):
            return Dialect.ANTHROPIC if "input_schema" in definition else Dialect.VERCEL
        # A tool of Google's has neither a type nor a name: what it is, is its only field.
        is_google = bool(definition.keys() & _FUNCTION_LISTS) or _is_only_object(definition)
        return Dialect.GEMINI if is_google else None
    if not isinstance(kind, str):
        return None
    if kind in ("provider", "provider-defined"):
        return Dialect.VERCEL
    return Dialect.ANTHROPIC if _DATED.fullmatch(kind) or kind == "mcp_toolset" else Dialect.OPENAI_RESPONSES


def _is_only_object(definition: JsonObject) -> bool:
    return len(definition) == 1 and all(isinstance(value, dict) for value in definition.values())
