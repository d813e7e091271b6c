"""Judge what stands around the messages of a chat body: tools, the choice among them, the switch of thinking."""

from __future__ import annotations

from legato.model import Capabilities, Json, JsonObject
from legato.wire.judging import Findings, brief, is_list, is_object, knows_effort
from legato.wire.judging_schemas import examine_schema
from legato.wire.openai_chat.rules.profiles import Profile

_MAX_TOOLS = 128


def thinks(body: JsonObject, capabilities: Capabilities) -> bool:
    """Whether the model will think in its answer: what the body says, else what the model does by itself."""
    asked = body.get("thinking")
    if is_object(asked):
        return asked.get("type") != "disabled"
    return capabilities.thinking_default


def examine_envelope(body: JsonObject, profile: Profile, capabilities: Capabilities, found: Findings) -> None:
    """Judge the fields beside `messages`."""
    tools, choice = body.get("tools"), body.get("tool_choice")
    _examine_effort(body.get("reasoning_effort"), profile, capabilities, found)
    if tools is not None:
        _examine_tools(tools, profile, found)
    if choice is not None and not tools and profile.counts_tools:
        found.refuse("openai-chat/choice-without-tools", "tool_choice", "there is a choice but there are no tools")
    if profile.thinking_forbids_force:
        if thinks(body, capabilities) and (choice == "required" or is_object(choice)):
            found.refuse("kimi/forced-tool", "tool_choice", "with thinking on, no tool can be forced")
        if body.get("thinking") is not None and body.get("reasoning_effort") is not None:
            found.refuse("kimi/thinking-and-effort", "reasoning_effort", "`thinking` is sent already; send one of them")


def _examine_effort(effort: Json, profile: Profile, capabilities: Capabilities, found: Findings) -> None:
    if effort is None or profile.efforts is None:
        return
    if not isinstance(effort, str) or effort not in profile.efforts:
        found.refuse("openai-chat/effort-word", "reasoning_effort", f"{brief(effort)} is no effort")
    elif not profile.maps_efforts and not knows_effort(capabilities, effort):
        found.risk("openai-chat/effort-level", "reasoning_effort", f"this model may not know the effort {effort}")


def _examine_tools(tools: Json, profile: Profile, found: Findings) -> None:
    if not is_list(tools):
        found.refuse("openai-chat/tool-form", "tools", "`tools` is an array")
        return
    if not tools:
        if profile.refuses_empty_tools:
            found.refuse("openai-chat/empty-tools", "tools", "leave `tools` out if there are none")
        elif profile.refuses_empty_tools is False:
            found.risk("strict/empty-tools", "tools", "leave `tools` out if there are none")
        return
    if len(tools) > _MAX_TOOLS and profile.counts_tools:
        found.refuse("openai-chat/too-many-tools", "tools", f"{len(tools)} tools; {_MAX_TOOLS} are taken")
    for index, tool in enumerate(tools):
        _examine_tool(f"tools[{index}]", tool, profile, found)


def _examine_tool(path: str, tool: Json, profile: Profile, found: Findings) -> None:
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
    if not isinstance(name, str) or not profile.name_form.fullmatch(name):
        found.refuse(profile.name_rule, f"{path}.function.name", f"{brief(name)} is no name for a tool here")
    examine_schema(function.get("parameters"), f"{path}.function.parameters", found)
