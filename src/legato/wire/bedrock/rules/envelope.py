"""Judge what surrounds the messages of a Converse body: instructions, limits, tools."""

from __future__ import annotations

import re

from legato.model import Json, JsonObject, Target
from legato.wire.bedrock.rules.blocks import BLANK_TEXT, NAME_FORM
from legato.wire.bedrock.rules.sources import CHOICE, CONFIG, LIMITS, MESSAGE, SPEC, invalid
from legato.wire.bedrock.rules.turns import CONTENT_FORM, JudgingMode
from legato.wire.judging import Findings, brief, examine_once, is_list, is_object
from legato.wire.judging_schemas import examine_schema

NO_MESSAGES = invalid("bedrock/no-messages", "`messages` is an array with at least one message.", source=MESSAGE)
MAX_TOKENS = invalid("bedrock/max-tokens", "`maxTokens` is a number of at least 1.", source=LIMITS)
TEMPERATURE = invalid("bedrock/temperature", "`temperature` is from 0 to 1.", source=LIMITS)
TOOL_FORM = invalid(
    "bedrock/tool-form", "A tool is an object with a name and `inputSchema.json`, an object.", source=SPEC
)
DUPLICATE_TOOL = invalid("bedrock/duplicate-tool", "No tool is defined twice.", source=CONFIG)
TOOL_CHOICE = invalid("bedrock/tool-choice", "A choice among tools is `auto`, `any` or `tool`.", source=CHOICE)

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_CHOICES = frozenset({"auto", "any", "tool"})


def mode_of(fields: JsonObject, target: Target) -> JudgingMode:
    """What of the body and the model the messages are judged by."""
    own = fields.get("additionalModelRequestFields")
    asked = own.get("thinking") if is_object(own) else None
    return JudgingMode(
        thinks_with_budget=is_object(asked) and asked.get("type") == "enabled",
        words_beside_results=target.capabilities.user_after_tool,
        videos=target.capabilities.video,
    )


def examine_head(fields: JsonObject, target: Target, found: Findings) -> None:
    """Judge the fields beside the messages."""
    _examine_system(fields.get("system"), found)
    _examine_limits(fields.get("inferenceConfig"), found)
    config = fields.get("toolConfig")
    if config is None:
        return
    if not is_object(config):
        found.report(TOOL_FORM, "toolConfig", "`toolConfig` is an object")
        return
    examine_once(config.get("tools"), _examine_tools, found)
    _examine_choice(config.get("toolChoice"), found)


def examine_no_messages(fields: JsonObject, found: Findings) -> None:
    """Judge a body without messages."""
    found.report(NO_MESSAGES, "messages", "`messages` is an array with at least one message")


def _examine_system(system: Json, found: Findings) -> None:
    if system is None:
        return
    if not is_list(system):
        found.report(CONTENT_FORM, "system", "`system` is an array of blocks")
        return
    for index, block in enumerate(system):
        if is_object(block) and block.keys() & {"cachePoint", "guardContent"}:
            continue
        text = block.get("text") if is_object(block) else None
        if not isinstance(text, str) or not text.strip():
            found.report(BLANK_TEXT, f"system[{index}]", "a text holds something other than whitespace")


def _examine_limits(config: Json, found: Findings) -> None:
    if not is_object(config):
        return
    limit, temperature = config.get("maxTokens"), config.get("temperature")
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        found.report(MAX_TOKENS, "inferenceConfig.maxTokens", f"{brief(limit)} is no number of tokens")
    if temperature is not None and not (isinstance(temperature, int | float) and 0 <= temperature <= 1):
        found.report(TEMPERATURE, "inferenceConfig.temperature", f"{brief(temperature)} is not from 0 to 1")


def _examine_tools(tools: Json, found: Findings) -> None:
    if not is_list(tools) or not tools:
        found.report(TOOL_FORM, "toolConfig.tools", "`tools` is an array with at least one tool")
        return
    names: set[str] = set()
    for index, tool in enumerate(tools):
        path = f"toolConfig.tools[{index}]"
        if not is_object(tool) or len(tool) != 1:
            found.report(TOOL_FORM, path, "a tool is an object with one member")
            continue
        spec = tool.get("toolSpec")
        if "toolSpec" not in tool:
            continue
        if not is_object(spec) or not is_object(schema := spec.get("inputSchema")) or not is_object(schema.get("json")):
            found.report(TOOL_FORM, f"{path}.toolSpec", "it holds a name and `inputSchema.json`, an object")
            continue
        name = spec.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            found.report(NAME_FORM, f"{path}.toolSpec.name", f"{brief(name)} is no name for a tool")
        elif name in names:
            found.report(DUPLICATE_TOOL, f"{path}.toolSpec.name", f"{brief(name)} is defined twice")
        else:
            names.add(name)
        if spec.get("description") == "":
            found.report(TOOL_FORM, f"{path}.toolSpec.description", "a description is left out or says something")
        examine_schema(schema["json"], f"{path}.toolSpec.inputSchema.json", found)


def _examine_choice(choice: Json, found: Findings) -> None:
    if choice is not None and not (is_object(choice) and len(choice) == 1 and choice.keys() <= _CHOICES):
        found.report(TOOL_CHOICE, "toolConfig.toolChoice", "a choice is `auto`, `any` or `tool`")
