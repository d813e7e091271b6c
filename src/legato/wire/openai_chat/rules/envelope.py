"""Judge what is around the messages of a chat body: tools, the choice among them, the switch of thinking."""

from __future__ import annotations

from legato.model import Capabilities, Json, JsonObject, Target
from legato.wire.findings import Severity
from legato.wire.hosts import host_of
from legato.wire.judging import Findings, brief, is_list, is_object, knows_effort
from legato.wire.judging_schemas import examine_schema_of
from legato.wire.openai_chat.rules.calls import NAME_FORM
from legato.wire.openai_chat.rules.checks import HostCheck, HostChecks, ReportedRule, checks_for
from legato.wire.openai_chat.rules.messages import JudgingMode
from legato.wire.openai_chat.rules.sources import API, EMPTY_ARRAY, STRICT
from legato.wire.rules import refused, risky

_THINKING_GPT = "openai/gpt-5.1"

NO_MESSAGES = refused(
    "openai-chat/no-messages",
    "`messages` is an array with at least one message.",
    source="CopilotKit/CopilotKit#529",
    error=EMPTY_ARRAY,
)
TOOL_FORM = refused(
    "openai-chat/tool-form",
    "`tools` is an array; a function tool has its name in `function`.",
    source=API,
)
# DeepSeek refuses it as well (runebookai/tome#87).
EMPTY_TOOLS = refused(
    "openai-chat/empty-tools",
    "`tools` is left out where there are none.",
    source=("baptisteArno/typebot.io#1205", "runebookai/tome#87"),
    error="[] is too short - 'tools'",
)
TOO_MANY_TOOLS = HostCheck(
    "too-many-tools",
    refused(
        "openai-chat/too-many-tools",
        "A request has at most 128 tools.",
        source="vishalmysore/Tools4AI#16",
        error="Invalid 'tools': array too long. Expected an array with maximum length 128",
    ),
)
CHOICE_WITHOUT_TOOLS = HostCheck(
    "choice-without-tools",
    refused(
        "openai-chat/choice-without-tools",
        "`tool_choice` is sent with `tools` only.",
        source="writer/writer-framework#1013",
        error="Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified",
    ),
)
EFFORT_WORD = HostCheck(
    "effort-word",
    refused(
        "openai-chat/effort-word",
        "`reasoning_effort` is a word of the server's scale, in lower case.",
        source=API,
        error="Invalid value: '{value}'",
        route=_THINKING_GPT,
    ),
)
EFFORT_LEVEL = risky(
    "openai-chat/effort-level",
    "`reasoning_effort` is one of the words that the model knows, which differ from model to model.",
    source=("anomalyco/opencode#4451", "openai/openai-agents-python#2089"),
    error="Unsupported value: '{value}' is not supported",
    code="unsupported_value",
    route=_THINKING_GPT,
)
STRICT_EMPTY_TOOLS = risky(
    "strict/empty-tools",
    "`tools` is left out where there are none; vLLM and llama.cpp refuse an empty array, others take it.",
    source="vllm-project/vllm#48922",
    route=STRICT,
)
FORCED_TOOL = HostCheck("forced-tool", ReportedRule("kimi/forced-tool", Severity.REFUSED))
THINKING_AND_EFFORT = HostCheck("thinking-and-effort", ReportedRule("kimi/thinking-and-effort", Severity.REFUSED))

_MAX_TOOLS = 128  # see TOO_MANY_TOOLS


def _thinks(body: JsonObject, capabilities: Capabilities) -> bool:
    """Whether the model will think in its answer: as the body says, else as the model does by itself."""
    asked = body.get("thinking")
    if is_object(asked):
        return asked.get("type") != "disabled"
    return capabilities.thinking_default


def mode_of(fields: JsonObject, target: Target) -> JudgingMode:
    """What of the body and the model the messages are judged by."""
    return JudgingMode(host_of(target).name, target.capabilities, _thinks(fields, target.capabilities))


def examine_no_messages(fields: JsonObject, found: Findings) -> None:
    """Judge a body without messages."""
    found.report(NO_MESSAGES, "messages", "`messages` is an array with at least one message")


def examine_head(body: JsonObject, target: Target, found: Findings) -> None:
    """Judge the fields beside `messages`."""
    checks, capabilities = checks_for(host_of(target).name), target.capabilities
    tools, choice = body.get("tools"), body.get("tool_choice")
    checks.examine_head(found, body)
    _examine_effort(body.get("reasoning_effort"), checks, capabilities, found)
    if tools is not None:
        _examine_tools(tools, checks, found)
    if choice is not None and not tools and checks.acceptance.counts_tools:
        checks.report(found, CHOICE_WITHOUT_TOOLS, "tool_choice", "there is a choice but there are no tools")
    if checks.acceptance.thinking_forbids_force:
        if _thinks(body, capabilities) and (choice == "required" or is_object(choice)):
            checks.report(found, FORCED_TOOL, "tool_choice", "with thinking on, no tool can be forced")
        if body.get("thinking") is not None and body.get("reasoning_effort") is not None:
            checks.report(
                found, THINKING_AND_EFFORT, "reasoning_effort", "`thinking` is sent already; send one of them"
            )


def _examine_effort(effort: Json, checks: HostChecks, capabilities: Capabilities, found: Findings) -> None:
    if effort is None or checks.acceptance.efforts is None:
        return
    if not isinstance(effort, str) or effort not in checks.acceptance.efforts:
        checks.report(found, EFFORT_WORD, "reasoning_effort", f"{brief(effort)} is no effort")
    elif not checks.acceptance.maps_efforts and not knows_effort(capabilities, effort):
        found.report(EFFORT_LEVEL, "reasoning_effort", f"this model may not know the effort {effort}")


def _examine_tools(tools: Json, checks: HostChecks, found: Findings) -> None:
    if not is_list(tools):
        found.report(TOOL_FORM, "tools", "`tools` is an array")
        return
    if not tools:
        if checks.acceptance.refuses_empty_tools:
            found.report(EMPTY_TOOLS, "tools", "leave `tools` out if there are none")
        elif checks.acceptance.refuses_empty_tools is False:
            found.report(STRICT_EMPTY_TOOLS, "tools", "leave `tools` out if there are none")
        return
    if len(tools) > _MAX_TOOLS and checks.acceptance.counts_tools:
        checks.report(found, TOO_MANY_TOOLS, "tools", f"{len(tools)} tools; {_MAX_TOOLS} are taken")
    for index, tool in enumerate(tools):
        _examine_tool(f"tools[{index}]", tool, tools, checks, found)


def _examine_tool(path: str, tool: Json, tools: list[Json], checks: HostChecks, found: Findings) -> None:
    if not is_object(tool):
        found.report(TOOL_FORM, path, "a tool is an object")
        return
    if tool.get("type", "function") != "function":
        return  # a tool of the server's own
    function = tool.get("function")
    if not is_object(function):
        found.report(TOOL_FORM, path, "the name of a tool stands in its `function`")
        return
    name = function.get("name")
    if not isinstance(name, str) or not checks.forms.name.fullmatch(name):
        checks.report(found, NAME_FORM, f"{path}.function.name", f"{brief(name)} is no name for a tool here")
    examine_schema_of(tool, tools, function.get("parameters"), f"{path}.function.parameters", found)
