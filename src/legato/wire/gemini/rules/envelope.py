"""Judge what surrounds the contents of a Gemini body: tools, and how much to think."""

from __future__ import annotations

import re

from legato.model import Json, JsonObject, Target, ThinkingMode
from legato.wire.gemini.rules.parts import pick
from legato.wire.gemini.rules.sources import GEMINI_3
from legato.wire.judging import Findings, brief, is_list, is_object, knows_effort
from legato.wire.judging_schemas import examine_schema
from legato.wire.rules import refused, risky

_THINKING_PAGE = "https://ai.google.dev/gemini-api/docs/thinking"

NO_CONTENTS = refused(
    "gemini/no-contents",
    "`contents` is not empty.",
    source="vercel/ai#3775",
    error="contents is not specified",
)
DECLARED_NAME = refused(
    "gemini/declared-name",
    "A declared name begins with a letter or `_`, then up to 63 of `[a-zA-Z0-9_.:-]`.",
    source="Finerestaurant/kicad-mcp-python#2",
    error="Invalid function name. Must start with a letter or an underscore",
)
DUPLICATE_DECLARATION = refused(
    "gemini/duplicate-declaration",
    "No name is declared twice.",
    source="rikkahub/rikkahub#1311",
    error="Duplicate function declaration found: {value}",
)
# Vertex and Gemini 3 let it pass (pydantic/pydantic-ai#5791).
CONFIG_WITHOUT_FUNCTIONS = refused(
    "gemini/config-without-functions",
    "A function calling config is sent with declarations only.",
    source="pydantic/pydantic-ai#5791",
    error="Function calling config is set without function_declarations",
)
THINKING_LEVEL = refused(
    "gemini/thinking-level",
    "`thinkingLevel` is minimal, low, medium or high, in small or capital letters.",
    source=_THINKING_PAGE,
    route=GEMINI_3,
)
THINKING_LEVEL_OF_MODEL = risky(
    "gemini/thinking-level-of-model",
    "`thinkingLevel` is one that the model knows: the first Gemini 3 Pro has low and high only.",
    source=(_THINKING_PAGE, "enricoros/big-AGI#893"),
    route="gemini/gemini-3-pro-preview",
)

THINKING_BUDGET = refused(
    "gemini/thinking-budget",
    "`thinkingBudget` is one that the model takes: -1 leaves it to the model, 0 switches thinking off where it can be.",
    source=(_THINKING_PAGE, "earendil-works/pi#3460", "vercel/ai#8027"),
    error="Budget 0 is invalid. This model only works in thinking mode.",
    route="gemini/gemini-2.5-pro",
)

_LEVELS = frozenset({"minimal", "low", "medium", "high", "thinking_level_unspecified"})
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")


def examine_no_messages(fields: JsonObject, found: Findings) -> None:
    """Judge a body without contents."""
    found.report(NO_CONTENTS, "contents", "`contents` is an array with at least one content")


def _listed(value: Json) -> list[Json]:
    """A repeated field, which the API also takes as a single object."""
    if is_object(value):
        return [value]
    return value if is_list(value) else []


def examine_head(fields: JsonObject, target: Target, found: Findings) -> None:
    """Judge the fields beside the contents."""
    _examine_tools(fields, found)
    config = pick(fields, "generationConfig")
    thinking = pick(config, "thinkingConfig") if is_object(config) else None
    if is_object(thinking):
        _examine_budget(pick(thinking, "thinkingBudget"), target, found)
        _examine_level(pick(thinking, "thinkingLevel"), target, found)


def _examine_budget(budget: Json, target: Target, found: Findings) -> None:
    bounds = target.capabilities.budgets
    if bounds is None or budget is None or budget == -1:
        return
    is_off = budget == 0 and target.capabilities.thinking is not ThinkingMode.ALWAYS
    if not isinstance(budget, int) or not (is_off or bounds[0] <= budget <= bounds[1]):
        path = "generationConfig.thinkingConfig.thinkingBudget"
        found.report(THINKING_BUDGET, path, f"this model takes budgets from {bounds[0]} to {bounds[1]}")


def _examine_level(level: Json, target: Target, found: Findings) -> None:
    if level is None:
        return
    path = "generationConfig.thinkingConfig.thinkingLevel"
    if not isinstance(level, str) or level.lower() not in _LEVELS:
        found.report(THINKING_LEVEL, path, f"{brief(level)} is no level of thinking")
    elif level.lower() != "thinking_level_unspecified" and not knows_effort(target.capabilities, level.lower()):
        found.report(THINKING_LEVEL_OF_MODEL, path, f"this model may not know the level {level}")


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
                found.report(DECLARED_NAME, path, f"{brief(name)} is no name for a function")
            elif name in names:
                found.report(DUPLICATE_DECLARATION, path, f"{brief(name)} is declared twice")
            else:
                names.add(name)
    config = pick(fields, "toolConfig")
    if has_any or not is_object(config) or pick(fields, "cachedContent") is not None:
        return
    if pick(config, "functionCallingConfig") is not None:
        found.report(CONFIG_WITHOUT_FUNCTIONS, "toolConfig", "a function calling config comes with declarations only")
