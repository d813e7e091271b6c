"""The rules of Gemini's generateContent.

In:  a request body in camelCase or snake_case, and the target it is meant for.
Out: violations; the body is not changed, and no body makes `check` raise.

    parts      contents and parts by themselves
    pairing    their order, calls and responses, signatures, the end
"""

from __future__ import annotations

import re

from legato.model import Json, JsonObject, Target
from legato.wire.gemini.rules.pairing import OrderJudge
from legato.wire.gemini.rules.parts import pick
from legato.wire.judge import Ruleset
from legato.wire.judging import Findings, brief, is_list, is_object, knows_effort
from legato.wire.judging_schemas import examine_schema

__all__ = ["RULESET", "check"]

_LEVELS = frozenset({"minimal", "low", "medium", "high", "thinking_level_unspecified"})
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")


def _refuse_no_contents(fields: JsonObject, found: Findings) -> None:
    found.refuse("gemini/no-contents", "contents", "`contents` is an array with at least one content")


def _listed(value: Json) -> list[Json]:
    """A repeated field, which the API also takes as a single object."""
    if is_object(value):
        return [value]
    return value if is_list(value) else []


def _examine_head(fields: JsonObject, target: Target, found: Findings) -> None:
    _examine_tools(fields, found)
    config = pick(fields, "generationConfig")
    thinking = pick(config, "thinkingConfig") if is_object(config) else None
    level = pick(thinking, "thinkingLevel") if is_object(thinking) else None
    if level is None:
        return
    path = "generationConfig.thinkingConfig.thinkingLevel"
    if not isinstance(level, str) or level.lower() not in _LEVELS:
        found.refuse("gemini/thinking-level", path, f"{brief(level)} is no level of thinking")
    elif level.lower() != "thinking_level_unspecified" and not knows_effort(target.capabilities, level.lower()):
        found.risk("gemini/thinking-level-of-model", path, f"this model may not know the level {level}")


def _examine_tools(fields: JsonObject, found: Findings) -> None:
    names: set[str] = set()
    has_any = False
    for index, tool in enumerate(_listed(fields.get("tools"))):
        declared = _listed(pick(tool, "functionDeclarations")) if is_object(tool) else []
        for place, declaration in enumerate(declared):
            has_any = True
            name = declaration.get("name") if is_object(declaration) else None
            declared_at = f"tools[{index}].functionDeclarations[{place}]"
            path = f"{declared_at}.name"
            if is_object(declaration):  # `parameters` has types of its own
                schema = pick(declaration, "parametersJsonSchema")
                examine_schema(schema, f"{declared_at}.parametersJsonSchema", found)
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                found.refuse("gemini/declared-name", path, f"{brief(name)} is no name for a function")
            elif name in names:
                found.refuse("gemini/duplicate-declaration", path, f"{brief(name)} is declared twice")
            else:
                names.add(name)
    config = pick(fields, "toolConfig")
    if has_any or not is_object(config) or pick(fields, "cachedContent") is not None:
        return
    if pick(config, "functionCallingConfig") is not None:
        found.refuse(
            "gemini/config-without-functions", "toolConfig", "a function calling config comes with declarations only"
        )


RULESET = Ruleset(
    messages_field="contents",
    mode=lambda fields, target: target.capabilities,
    judge=OrderJudge,
    head=_examine_head,
    no_messages=_refuse_no_contents,
    takes_single=True,
)
check = RULESET.check
