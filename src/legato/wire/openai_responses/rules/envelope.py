"""Judge what surrounds the items of a Responses body: tools and reasoning."""

from __future__ import annotations

import re

from legato.model import Json, JsonObject, Target, ThinkingMode
from legato.wire.judging import Findings, brief, examine_once, is_list, is_object, knows_effort
from legato.wire.judging_schemas import examine_schema_of
from legato.wire.openai_responses.rules.items import JudgingMode
from legato.wire.openai_responses.rules.sources import API, BAD_NAME, CALLING
from legato.wire.rules import refused, risky

EFFORT_WORD = refused(
    "openai-responses/effort-word",
    "`reasoning.effort` is a word of OpenAI's scale, in lower case.",
    source=API,
    error="Invalid value: '{value}'",
)
EFFORT_LEVEL = risky(
    "openai-responses/effort-level",
    "`reasoning.effort` is one of the words that the model knows, which differ from model to model.",
    source=("openai/openai-agents-python#2089", "anomalyco/opencode#4451"),
    error="Unsupported value: '{value}' is not supported",
    code="unsupported_value",
)
MESSAGES_FIELD = refused(
    "openai-responses/messages-field",
    "The history stands in `input`; there is no `messages`.",
    source="CherryHQ/cherry-studio#14522",
    error="Unsupported parameter: 'messages'. In the Responses API, this parameter has moved to 'input'",
)
INPUT_FORM = refused(
    "openai-responses/input-form",
    "`input` is a string or an array of items, and only left out where the server holds what it would say.",
    source=API,
)
TOOL_FORM = refused(
    "openai-responses/tool-form",
    "A function tool is flat: its `name` stands next to its `type`.",
    source="stanfordnlp/dspy#9943",
    error="Missing required parameter: '{path}.name'",
)
TOOL_NAME = refused(
    "openai-responses/tool-name",
    "The name of a tool in `tools` has 1 to 64 characters of `[a-zA-Z0-9_-]`.",
    source=(CALLING, "brekkylab/ailoy#109"),
    error=BAD_NAME,
)

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_EFFORTS = frozenset({"none", "minimal", "low", "medium", "high", "xhigh", "max"})
_STATE = ("previous_response_id", "conversation")
_SOURCES = ("input", "prompt", *_STATE)


def mode_of(fields: JsonObject, target: Target) -> JudgingMode:
    """What of the body and the model the items are judged by."""
    return JudgingMode(
        holds_state=any(fields.get(field) is not None for field in _STATE),
        is_stored=fields.get("store") is not False,
        reasons=target.capabilities.thinking is not ThinkingMode.NEVER,
        takes_calls=target.capabilities.native_tool_history,
    )


def examine_head(fields: JsonObject, target: Target, found: Findings) -> None:
    """Judge the fields beside the items."""
    if "messages" in fields:
        found.report(MESSAGES_FIELD, "messages", "the history stands in `input`")
    examine_once(fields.get("tools"), _examine_tools, found)
    reasoning = fields.get("reasoning")
    effort = reasoning.get("effort") if is_object(reasoning) else None
    if effort is not None:
        if not isinstance(effort, str) or effort not in _EFFORTS:
            found.report(EFFORT_WORD, "reasoning.effort", f"{brief(effort)} is no effort")
        elif not knows_effort(target.capabilities, effort):
            found.report(EFFORT_LEVEL, "reasoning.effort", f"this model may not know the effort {effort}")


def examine_other_input(fields: JsonObject, found: Findings) -> None:
    """Judge an `input` that is no array: a string will do, or nothing where the server holds what to answer."""
    given = fields.get("input")
    if not isinstance(given, str) and (given is not None or all(fields.get(field) is None for field in _SOURCES)):
        found.report(INPUT_FORM, "input", "`input` is a string or an array of items")


def _examine_tools(tools: Json, found: Findings) -> None:
    if tools is None:
        return
    if not is_list(tools):
        found.report(TOOL_FORM, "tools", "`tools` is an array")
        return
    for index, tool in enumerate(tools):
        if not is_object(tool):
            found.report(TOOL_FORM, f"tools[{index}]", "a tool is an object")
        elif tool.get("type") == "function":
            name = tool.get("name")
            if not isinstance(name, str):
                found.report(TOOL_FORM, f"tools[{index}]", "the name of a function stands next to its type")
            elif not _TOOL_NAME.fullmatch(name):
                found.report(TOOL_NAME, f"tools[{index}].name", f"{brief(name)} is no name for a tool")
            examine_schema_of(tool, tools, tool.get("parameters"), f"tools[{index}].parameters", found)
