"""The rules of the Responses API.

In:  a request body, and the target it is meant for.
Out: violations; the body is not changed, and no body makes `check` raise.

    items      messages, calls and outputs, reasoning, item ids

A body that continues what the server holds (`previous_response_id`, `conversation`, an item reference) may answer calls
that it does not show.
"""

from __future__ import annotations

import re

from legato.model import Json, JsonObject, Target, ThinkingMode
from legato.wire.judge import Ruleset
from legato.wire.judging import Findings, brief, is_list, is_object, knows_effort
from legato.wire.judging_schemas import examine_schema
from legato.wire.openai_responses.rules.items import ItemJudge, JudgingMode

__all__ = ["RULESET", "check"]

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_EFFORTS = frozenset({"none", "minimal", "low", "medium", "high", "xhigh", "max"})
_STATE = ("previous_response_id", "conversation")
_SOURCES = ("input", "prompt", *_STATE)


def _mode(fields: JsonObject, target: Target) -> JudgingMode:
    return JudgingMode(
        holds_state=any(fields.get(field) is not None for field in _STATE),
        is_stored=fields.get("store") is not False,
        reasons=target.capabilities.thinking is not ThinkingMode.NEVER,
        takes_calls=target.capabilities.native_tool_history,
    )


def _examine_head(fields: JsonObject, target: Target, found: Findings) -> None:
    if "messages" in fields:
        found.refuse("openai-responses/messages-field", "messages", "the history stands in `input`")
    _examine_tools(fields.get("tools"), found)
    reasoning = fields.get("reasoning")
    effort = reasoning.get("effort") if is_object(reasoning) else None
    if effort is not None:
        if not isinstance(effort, str) or effort not in _EFFORTS:
            found.refuse("openai-responses/effort-word", "reasoning.effort", f"{brief(effort)} is no effort")
        elif not knows_effort(target.capabilities, effort):
            found.risk(
                "openai-responses/effort-level", "reasoning.effort", f"this model may not know the effort {effort}"
            )


def _examine_other_input(fields: JsonObject, found: Findings) -> None:
    """Judge an `input` that is no array: a string will do, or nothing where the server holds what to answer."""
    given = fields.get("input")
    if not isinstance(given, str) and (given is not None or all(fields.get(field) is None for field in _SOURCES)):
        found.refuse("openai-responses/input-form", "input", "`input` is a string or an array of items")


def _examine_tools(tools: Json, found: Findings) -> None:
    if tools is None:
        return
    if not is_list(tools):
        found.refuse("openai-responses/tool-form", "tools", "`tools` is an array")
        return
    for index, tool in enumerate(tools):
        if not is_object(tool):
            found.refuse("openai-responses/tool-form", f"tools[{index}]", "a tool is an object")
        elif tool.get("type") == "function":
            name = tool.get("name")
            if not isinstance(name, str):
                found.refuse(
                    "openai-responses/tool-form", f"tools[{index}]", "the name of a function stands next to its type"
                )
            elif not _TOOL_NAME.fullmatch(name):
                found.refuse(
                    "openai-responses/tool-name", f"tools[{index}].name", f"{brief(name)} is no name for a tool"
                )
            examine_schema(tool.get("parameters"), f"tools[{index}].parameters", found)


RULESET = Ruleset(
    messages_field="input",
    mode=_mode,
    judge=ItemJudge,
    head=_examine_head,
    no_messages=_examine_other_input,
    takes_none=True,
)
check = RULESET.check
