"""The rules of Anthropic's Messages API.

In:  a request body, and the target it is meant for.
Out: violations; the body is not changed, and no body makes `check` raise.

    turns      roles, order, pairing, the place of thinking, the end
    blocks     what each block must hold
"""

from __future__ import annotations

import re

from legato.model import Json, JsonObject, Target, ThinkingMode
from legato.wire.anthropic.rules.blocks import is_blank
from legato.wire.anthropic.rules.turns import JudgingMode, TurnJudge
from legato.wire.judge import Ruleset
from legato.wire.judging import Findings, brief, is_list, is_object, knows_effort
from legato.wire.judging_schemas import examine_schema

__all__ = ["RULESET", "check"]

_EFFORTS = frozenset({"low", "medium", "high", "xhigh", "max"})
_WITH_EFFORT = (ThinkingMode.ADAPTIVE, ThinkingMode.EFFORT)
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


def _examine_head(fields: JsonObject, target: Target, found: Findings) -> None:
    _examine_limit(fields, target, found)
    choice = fields.get("tool_choice")
    if _mode(fields, target).thinks and is_object(choice) and choice.get("type") in ("any", "tool"):
        found.refuse("anthropic/forced-tool", "tool_choice", "with thinking on, `tool_choice` is auto or none")
    _examine_system(fields.get("system"), found)
    _examine_tools(fields.get("tools"), found)
    _examine_effort(fields.get("output_config"), target, found)


def _examine_effort(config: Json, target: Target, found: Findings) -> None:
    effort = config.get("effort") if is_object(config) else None
    if effort is None:
        return
    if not isinstance(effort, str) or effort not in _EFFORTS:
        found.refuse("anthropic/effort-word", "output_config.effort", f"{brief(effort)} is no effort")
    elif target.capabilities.thinking in _WITH_EFFORT and not knows_effort(target.capabilities, effort):
        found.risk("anthropic/effort-level", "output_config.effort", f"this model may not know the effort {effort}")


def _refuse_no_messages(fields: JsonObject, found: Findings) -> None:
    found.refuse("anthropic/no-messages", "messages", "`messages` is an array with at least one message")


def _mode(fields: JsonObject, target: Target) -> JudgingMode:
    capabilities = target.capabilities
    asked = fields.get("thinking")
    kind = asked.get("type") if is_object(asked) else None
    return JudgingMode(
        thinks=kind in ("enabled", "adaptive"),
        thinks_with_budget=kind == "enabled",
        may_think=capabilities.thinking_default if kind is None else kind != "disabled",
        prefill=capabilities.prefill,
        middle_system=capabilities.middle_system,
        demands_tools=capabilities.demands_tools,
    )


def _examine_limit(fields: JsonObject, target: Target, found: Findings) -> None:
    if target.endpoint.endswith("/count_tokens"):
        return  # counting takes the same body, without a limit
    limit = fields.get("max_tokens")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        found.refuse("anthropic/max-tokens", "max_tokens", "`max_tokens` must be given")


def _examine_system(system: Json, found: Findings) -> None:
    if isinstance(system, str):
        if system.isspace():
            found.refuse("anthropic/blank-text", "system", "a text holds something other than whitespace")
    elif is_list(system):
        for index, block in enumerate(system):
            text = block.get("text") if is_object(block) else None
            if not isinstance(text, str) or is_blank(text):
                found.refuse("anthropic/blank-text", f"system[{index}]", "a text holds something other than whitespace")
    elif system is not None:
        found.refuse("anthropic/content-form", "system", "`system` is a string or an array of text blocks")


def _examine_tools(tools: Json, found: Findings) -> None:
    if tools is None:
        return
    if not is_list(tools):
        found.refuse("anthropic/tool-form", "tools", "`tools` is an array")
        return
    names: set[str] = set()
    for index, tool in enumerate(tools):
        if not is_object(tool):
            found.refuse("anthropic/tool-form", f"tools[{index}]", "a tool is an object")
            continue
        name = tool.get("name")
        if tool.get("type") in (None, "custom") and not (isinstance(name, str) and _TOOL_NAME.fullmatch(name)):
            found.refuse("anthropic/tool-name", f"tools[{index}].name", f"{brief(name)} is no name for a tool")
        examine_schema(tool.get("input_schema"), f"tools[{index}].input_schema", found)
        if isinstance(name, str):
            if name in names:
                found.refuse("anthropic/duplicate-tool", f"tools[{index}].name", f"{brief(name)} is defined twice")
            names.add(name)


RULESET = Ruleset(
    messages_field="messages",
    mode=_mode,
    judge=TurnJudge,
    head=_examine_head,
    no_messages=_refuse_no_messages,
)
check = RULESET.check
