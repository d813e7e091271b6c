"""The rules of Anthropic's Messages API.

In:  a request body, and the target it is meant for.
Out: violations; the body is not changed, and no body makes `check` raise.

    turns      roles, order, pairing, the place of thinking, the end
    blocks     what each block must hold
"""

from __future__ import annotations

import re

from legato.model import Json, JsonObject, Target
from legato.wire.anthropic.rules.blocks import is_blank
from legato.wire.anthropic.rules.turns import Mode, TurnJudge
from legato.wire.findings import Violation
from legato.wire.judging import Findings, brief, examine_json, is_list, is_object

__all__ = ["check"]

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_MAX_MARKS = 4


def check(body: JsonObject, target: Target) -> list[Violation]:
    """What `target` would hold against `body`."""
    found = Findings()
    if not examine_json(body, found):
        return found.violations
    _examine_limit(body, target, found)
    mode = _mode(body, target)
    choice = body.get("tool_choice")
    if mode.thinks and is_object(choice) and choice.get("type") in ("any", "tool"):
        found.refuse("anthropic/forced-tool", "tool_choice", "with thinking on, `tool_choice` is auto or none")
    marks = _examine_system(body.get("system"), found) + _examine_tools(body.get("tools"), found)
    messages = body.get("messages")
    if not is_list(messages) or not messages:
        found.refuse("anthropic/no-messages", "messages", "`messages` is an array with at least one message")
        return found.violations
    judge = TurnJudge(mode, len(messages), found)
    for index, message in enumerate(messages):
        judge.message(index, message)
    judge.end()
    if judge.blocks.uses_tools and target.capabilities.demands_tools and not body.get("tools"):
        found.refuse("anthropic/tools-undefined", "tools", "the history holds calls, so tools must be defined")
    if marks + judge.blocks.marks > _MAX_MARKS:
        found.refuse("anthropic/cache-marks", "", f"{marks + judge.blocks.marks} cache marks; {_MAX_MARKS} are taken")
    return found.violations


def _mode(body: JsonObject, target: Target) -> Mode:
    capabilities = target.capabilities
    asked = body.get("thinking")
    kind = asked.get("type") if is_object(asked) else None
    return Mode(
        thinks=kind in ("enabled", "adaptive"),
        thinks_with_budget=kind == "enabled",
        may_think=capabilities.thinking_default if kind is None else kind != "disabled",
        prefill=capabilities.prefill,
        middle_system=capabilities.middle_system,
    )


def _examine_limit(body: JsonObject, target: Target, found: Findings) -> None:
    if target.endpoint.endswith("/count_tokens"):
        return  # counting takes the same body, without a limit
    limit = body.get("max_tokens")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        found.refuse("anthropic/max-tokens", "max_tokens", "`max_tokens` must be given")


def _examine_system(system: Json, found: Findings) -> int:
    """Judge the instructions; how many cache marks they hold."""
    marks = 0
    if isinstance(system, str):
        if system.isspace():
            found.refuse("anthropic/blank-text", "system", "a text holds something other than whitespace")
    elif is_list(system):
        for index, block in enumerate(system):
            text = block.get("text") if is_object(block) else None
            if not isinstance(text, str) or is_blank(text):
                found.refuse("anthropic/blank-text", f"system[{index}]", "a text holds something other than whitespace")
            marks += is_object(block) and block.get("cache_control") is not None
    elif system is not None:
        found.refuse("anthropic/content-form", "system", "`system` is a string or an array of text blocks")
    return marks


def _examine_tools(tools: Json, found: Findings) -> int:
    """Judge the tools; how many cache marks they hold."""
    if tools is None:
        return 0
    if not is_list(tools):
        found.refuse("anthropic/tool-form", "tools", "`tools` is an array")
        return 0
    marks = 0
    names: set[str] = set()
    for index, tool in enumerate(tools):
        if not is_object(tool):
            found.refuse("anthropic/tool-form", f"tools[{index}]", "a tool is an object")
            continue
        marks += tool.get("cache_control") is not None
        name = tool.get("name")
        if tool.get("type") in (None, "custom") and not (isinstance(name, str) and _TOOL_NAME.fullmatch(name)):
            found.refuse("anthropic/tool-name", f"tools[{index}].name", f"{brief(name)} is no name for a tool")
        if isinstance(name, str):
            if name in names:
                found.refuse("anthropic/duplicate-tool", f"tools[{index}].name", f"{brief(name)} is defined twice")
            names.add(name)
    return marks
