"""Judge what stands around the messages of a chat body: tools, the choice among them, the switch of thinking."""

from __future__ import annotations

from legato.model import Capabilities, Json, JsonObject
from legato.wire.judging import Findings, brief, is_list, is_object, knows_effort
from legato.wire.judging_schemas import examine_schema
from legato.wire.openai_chat.rules.checks import HostChecks

_MAX_TOOLS = 128


def thinks(body: JsonObject, capabilities: Capabilities) -> bool:
    """Whether the model will think in its answer: what the body says, else what the model does by itself."""
    asked = body.get("thinking")
    if is_object(asked):
        return asked.get("type") != "disabled"
    return capabilities.thinking_default


def examine_envelope(body: JsonObject, checks: HostChecks, capabilities: Capabilities, found: Findings) -> None:
    """Judge the fields beside `messages`."""
    tools, choice = body.get("tools"), body.get("tool_choice")
    checks.examine_head(found, body)
    _examine_effort(body.get("reasoning_effort"), checks, capabilities, found)
    if tools is not None:
        _examine_tools(tools, checks, found)
    if choice is not None and not tools and checks.acceptance.counts_tools:
        checks.report(found, "choice-without-tools", "tool_choice", "there is a choice but there are no tools")
    if checks.acceptance.thinking_forbids_force:
        if thinks(body, capabilities) and (choice == "required" or is_object(choice)):
            checks.report(found, "forced-tool", "tool_choice", "with thinking on, no tool can be forced")
        if body.get("thinking") is not None and body.get("reasoning_effort") is not None:
            checks.report(
                found, "thinking-and-effort", "reasoning_effort", "`thinking` is sent already; send one of them"
            )


def _examine_effort(effort: Json, checks: HostChecks, capabilities: Capabilities, found: Findings) -> None:
    if effort is None or checks.acceptance.efforts is None:
        return
    if not isinstance(effort, str) or effort not in checks.acceptance.efforts:
        checks.report(found, "effort-word", "reasoning_effort", f"{brief(effort)} is no effort")
    elif not checks.acceptance.maps_efforts and not knows_effort(capabilities, effort):
        found.risk("openai-chat/effort-level", "reasoning_effort", f"this model may not know the effort {effort}")


def _examine_tools(tools: Json, checks: HostChecks, found: Findings) -> None:
    if not is_list(tools):
        found.refuse("openai-chat/tool-form", "tools", "`tools` is an array")
        return
    if not tools:
        if checks.acceptance.refuses_empty_tools:
            found.refuse("openai-chat/empty-tools", "tools", "leave `tools` out if there are none")
        elif checks.acceptance.refuses_empty_tools is False:
            found.risk("strict/empty-tools", "tools", "leave `tools` out if there are none")
        return
    if len(tools) > _MAX_TOOLS and checks.acceptance.counts_tools:
        checks.report(found, "too-many-tools", "tools", f"{len(tools)} tools; {_MAX_TOOLS} are taken")
    for index, tool in enumerate(tools):
        _examine_tool(f"tools[{index}]", tool, checks, found)


def _examine_tool(path: str, tool: Json, checks: HostChecks, found: Findings) -> None:
    if not is_object(tool):
        found.refuse("openai-chat/tool-form", path, "a tool is an object")
        return
    if tool.get("type", "function") != "function":
        return  # a tool of the server's own
    function = tool.get("function")
    if not is_object(function):
        found.refuse("openai-chat/tool-form", path, "the name of a tool stands in its `function`")
        return
    name = function.get("name")
    if not isinstance(name, str) or not checks.forms.name.fullmatch(name):
        checks.report(found, "name-form", f"{path}.function.name", f"{brief(name)} is no name for a tool here")
    examine_schema(function.get("parameters"), f"{path}.function.parameters", found)
