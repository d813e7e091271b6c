"""Judge what surrounds the messages of a Messages body: the limit, instructions, tools, thinking."""

from __future__ import annotations

import re

from legato.model import Capabilities, Json, JsonObject, Target, ThinkingMode
from legato.model.targets import UNBUDGETED
from legato.wire.anthropic.rules.blocks import BLANK_TEXT, CONTENT_FORM, is_blank
from legato.wire.anthropic.rules.sources import API, OPUS, THINKING
from legato.wire.anthropic.rules.turns import JudgingMode
from legato.wire.judging import Findings, brief, examine_once, is_list, is_object, knows_effort
from legato.wire.judging_schemas import examine_schema_of
from legato.wire.rules import refused, risky

_EFFORT = "https://platform.claude.com/docs/en/build-with-claude/effort"

MAX_TOKENS = refused(
    "anthropic/max-tokens",
    "`max_tokens` is given.",
    source=API,
    error="Field required",
)
NO_MESSAGES = refused(
    "anthropic/no-messages",
    "`messages` is an array with at least one message.",
    source=API,
)
TOOL_FORM = refused(
    "anthropic/tool-form",
    "`tools` is an array of objects.",
    source=API,
)
TOOL_NAME = refused(
    "anthropic/tool-name",
    "The name of a tool in `tools` has 1 to 128 characters of `[a-zA-Z0-9_-]`.",
    source="home-assistant/core#147760",
    error="String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
)
DUPLICATE_TOOL = refused(
    "anthropic/duplicate-tool",
    "No two tools have the same name.",
    source="anthropics/claude-code#10687",
    error="Tool names must be unique",
)
FORCED_TOOL = refused(
    "anthropic/forced-tool",
    "With thinking on, `tool_choice` is auto or none.",
    source=(THINKING, "diegosouzapw/OmniRoute#4389"),
    error="Thinking may not be enabled when tool_choice forces tool use",
)
THINKING_OFF = refused(
    "anthropic/thinking-off",
    "A model that always thinks is not told to stop.",
    source=("MoonshotAI/Kimi-K2#141", "https://platform.claude.com/docs/en/models/fable-5/migration-guide"),
    error="invalid thinking: only type=enabled is allowed for this model",
    route="kimi-anthropic/kimi-k2.7-code",
)
THINKING_BUDGET = refused(
    "anthropic/thinking-budget",
    "Since 4.7, thinking that is asked for is `adaptive` and takes no budget.",
    source=(THINKING, "NousResearch/hermes-agent#11137", "handochan/aelix-ai#258"),
    error='"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
    '"output_config.effort" to control thinking behavior.',
    route=OPUS,
)
THINKING_ADAPTIVE = refused(
    "anthropic/thinking-adaptive",
    "Before 4.6, thinking is `enabled` with a budget.",
    source=("askalf/dario#273", "pensarai/apex#890"),
    error="adaptive thinking is not supported on this model",
    route="anthropic/claude-sonnet-4-5",
)
EFFORT_WORD = refused(
    "anthropic/effort-word",
    "`output_config.effort` is `low`, `medium`, `high`, `xhigh` or `max`.",
    source=_EFFORT,
    route=OPUS,
)
EFFORT_LEVEL = risky(
    "anthropic/effort-level",
    "`output_config.effort` is one that the model knows: `max` came with 4.6, `xhigh` with 4.7.",
    source=_EFFORT,
    route="anthropic/claude-sonnet-4-6",
)

EFFORT_WHILE_OFF = refused(
    "anthropic/effort-while-off",
    "With thinking off, a model that thinks unless told not to takes no effort above `high`; those before Opus 5 do.",
    source=("https://platform.claude.com/docs/en/models/opus-5/migration-guide", "BerriAI/litellm#35211"),
    route="anthropic/claude-opus-5",
)
SAMPLING = refused(
    "anthropic/sampling",
    "Since 4.7, `temperature`, `top_p` and `top_k` are what they are by default.",
    source=("https://platform.claude.com/docs/en/about-claude/models/migration-guide", "sipeed/picoclaw#2939"),
    error="`{field}` is deprecated for this model.",
    route=OPUS,
)

_ALWAYS_ON = (ThinkingMode.ALWAYS, ThinkingMode.EFFORT)
_WHILE_OFF = frozenset({"low", "medium", "high"})
_USUAL = {"temperature": 1, "top_p": 1, "top_k": None}
_EFFORTS = frozenset({"low", "medium", "high", "xhigh", "max"})
_WITH_EFFORT = (ThinkingMode.ADAPTIVE, ThinkingMode.EFFORT)
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


def examine_head(fields: JsonObject, target: Target, found: Findings) -> None:
    """Judge the fields beside the messages."""
    _examine_limit(fields, target, found)
    is_off = _kind_of_thinking(fields) == "disabled"
    _examine_thinking(fields, target.capabilities, found)
    if not target.capabilities.temperature:
        for name, usual in _USUAL.items():
            if fields.get(name, usual) != usual:
                found.report(SAMPLING, name, f"this model takes no {name}")
    choice, mode = fields.get("tool_choice"), mode_of(fields, target)
    # Where thoughts are demanded, a model that thinks by itself is taken to think (maximhq/bifrost#5177).
    thinks = mode.thinks or (mode.demands_thoughts and mode.may_think)
    if thinks and is_object(choice) and choice.get("type") in ("any", "tool"):
        found.report(FORCED_TOOL, "tool_choice", "with thinking on, `tool_choice` is auto or none")
    _examine_system(fields.get("system"), found)
    examine_once(fields.get("tools"), _examine_tools, found)
    _examine_effort(fields.get("output_config"), target, found, is_off=is_off)


def _kind_of_thinking(fields: JsonObject) -> Json:
    asked = fields.get("thinking")
    return asked.get("type") if is_object(asked) else None


def _examine_thinking(fields: JsonObject, capabilities: Capabilities, found: Findings) -> None:
    match _kind_of_thinking(fields):
        case "disabled" if capabilities.thinking in _ALWAYS_ON:
            found.report(THINKING_OFF, "thinking.type", "the thinking of this model cannot be switched off")
        case "enabled" if capabilities.budgets == UNBUDGETED:
            found.report(THINKING_BUDGET, "thinking.type", "this model decides by itself how much it thinks")
        case "adaptive" if capabilities.thinking is ThinkingMode.BUDGET:
            found.report(THINKING_ADAPTIVE, "thinking.type", "this model wants a budget for its thinking")
        case _:
            pass


def _thinks_by_itself(target: Target) -> bool:
    return target.capabilities.thinking is ThinkingMode.ADAPTIVE and target.capabilities.thinking_default


def _examine_effort(config: Json, target: Target, found: Findings, *, is_off: bool) -> None:
    effort = config.get("effort") if is_object(config) else None
    if effort is None:
        return
    if not isinstance(effort, str) or effort not in _EFFORTS:
        found.report(EFFORT_WORD, "output_config.effort", f"{brief(effort)} is no effort")
    elif is_off and _thinks_by_itself(target) and effort not in _WHILE_OFF:
        found.report(EFFORT_WHILE_OFF, "output_config.effort", f"{effort} is not taken while thinking is off")
    elif target.capabilities.thinking in _WITH_EFFORT and not knows_effort(target.capabilities, effort):
        found.report(EFFORT_LEVEL, "output_config.effort", f"this model may not know the effort {effort}")


def examine_no_messages(fields: JsonObject, found: Findings) -> None:
    """Judge a body without messages."""
    found.report(NO_MESSAGES, "messages", "`messages` is an array with at least one message")


def mode_of(fields: JsonObject, target: Target) -> JudgingMode:
    """What of the body and the model the messages are judged by."""
    capabilities = target.capabilities
    kind = _kind_of_thinking(fields)
    return JudgingMode(
        thinks=kind in ("enabled", "adaptive"),
        thinks_with_budget=kind == "enabled",
        may_think=capabilities.thinking_default if kind is None else kind != "disabled",
        prefill=capabilities.prefill,
        middle_system=capabilities.middle_system,
        demands_tools=capabilities.demands_tools,
        demands_thoughts=capabilities.reasoning_field,
    )


def _examine_limit(fields: JsonObject, target: Target, found: Findings) -> None:
    if target.endpoint.endswith("/count_tokens"):
        return  # counting takes the same body, without a limit
    limit = fields.get("max_tokens")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        found.report(MAX_TOKENS, "max_tokens", "`max_tokens` must be given")


def _examine_system(system: Json, found: Findings) -> None:
    if isinstance(system, str):
        if system.isspace():
            found.report(BLANK_TEXT, "system", "a text holds something other than whitespace")
    elif is_list(system):
        for index, block in enumerate(system):
            text = block.get("text") if is_object(block) else None
            if not isinstance(text, str) or is_blank(text):
                found.report(BLANK_TEXT, f"system[{index}]", "a text holds something other than whitespace")
    elif system is not None:
        found.report(CONTENT_FORM, "system", "`system` is a string or an array of text blocks")


def _examine_tools(tools: Json, found: Findings) -> None:
    if tools is None:
        return
    if not is_list(tools):
        found.report(TOOL_FORM, "tools", "`tools` is an array")
        return
    names: set[str] = set()
    for index, tool in enumerate(tools):
        if not is_object(tool):
            found.report(TOOL_FORM, f"tools[{index}]", "a tool is an object")
            continue
        name = tool.get("name")
        if tool.get("type") in (None, "custom") and not (isinstance(name, str) and _TOOL_NAME.fullmatch(name)):
            found.report(TOOL_NAME, f"tools[{index}].name", f"{brief(name)} is no name for a tool")
        examine_schema_of(tool, tools, tool.get("input_schema"), f"tools[{index}].input_schema", found)
        if isinstance(name, str):
            if name in names:
                found.report(DUPLICATE_TOOL, f"tools[{index}].name", f"{brief(name)} is defined twice")
            names.add(name)
