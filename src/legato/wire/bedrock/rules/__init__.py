"""The rules of the Converse API.

In:  a request body, and the target it is meant for.
Out: violations; the body is not changed, and no body makes `check` raise.

    turns      roles, order, pairing, the place of reasoning, the end
    blocks     what each block must hold
"""

from __future__ import annotations

import re

from legato.model import Json, JsonObject, Target
from legato.wire.bedrock.rules.turns import JudgingMode, TurnJudge
from legato.wire.judge import Ruleset
from legato.wire.judging import Findings, brief, is_list, is_object
from legato.wire.judging_schemas import examine_schema

__all__ = ["RULESET", "check"]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_CHOICES = frozenset({"auto", "any", "tool"})


def _mode(fields: JsonObject, target: Target) -> JudgingMode:
    own = fields.get("additionalModelRequestFields")
    asked = own.get("thinking") if is_object(own) else None
    return JudgingMode(
        thinks_with_budget=is_object(asked) and asked.get("type") == "enabled",
        words_beside_results=target.capabilities.user_after_tool,
        videos=target.capabilities.video,
    )


def _examine_head(fields: JsonObject, target: Target, found: Findings) -> None:
    _examine_system(fields.get("system"), found)
    _examine_limits(fields.get("inferenceConfig"), found)
    config = fields.get("toolConfig")
    if config is None:
        return
    if not is_object(config):
        found.refuse("bedrock/tool-form", "toolConfig", "`toolConfig` is an object")
        return
    _examine_tools(config.get("tools"), found)
    _examine_choice(config.get("toolChoice"), found)


def _refuse_no_messages(fields: JsonObject, found: Findings) -> None:
    found.refuse("bedrock/no-messages", "messages", "`messages` is an array with at least one message")


def _examine_system(system: Json, found: Findings) -> None:
    if system is None:
        return
    if not is_list(system):
        found.refuse("bedrock/content-form", "system", "`system` is an array of blocks")
        return
    for index, block in enumerate(system):
        if is_object(block) and block.keys() & {"cachePoint", "guardContent"}:
            continue
        text = block.get("text") if is_object(block) else None
        if not isinstance(text, str) or not text.strip():
            found.refuse("bedrock/blank-text", f"system[{index}]", "a text holds something other than whitespace")


def _examine_limits(config: Json, found: Findings) -> None:
    if not is_object(config):
        return
    limit, temperature = config.get("maxTokens"), config.get("temperature")
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        found.refuse("bedrock/max-tokens", "inferenceConfig.maxTokens", f"{brief(limit)} is no number of tokens")
    if temperature is not None and not (isinstance(temperature, int | float) and 0 <= temperature <= 1):
        found.refuse("bedrock/temperature", "inferenceConfig.temperature", f"{brief(temperature)} is not from 0 to 1")


def _examine_tools(tools: Json, found: Findings) -> None:
    if not is_list(tools) or not tools:
        found.refuse("bedrock/tool-form", "toolConfig.tools", "`tools` is an array with at least one tool")
        return
    names: set[str] = set()
    for index, tool in enumerate(tools):
        path = f"toolConfig.tools[{index}]"
        if not is_object(tool) or len(tool) != 1:
            found.refuse("bedrock/tool-form", path, "a tool is an object with one member")
            continue
        spec = tool.get("toolSpec")
        if "toolSpec" not in tool:
            continue
        if not is_object(spec) or not is_object(schema := spec.get("inputSchema")) or not is_object(schema.get("json")):
            found.refuse("bedrock/tool-form", f"{path}.toolSpec", "it holds a name and `inputSchema.json`, an object")
            continue
        name = spec.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            found.refuse("bedrock/name-form", f"{path}.toolSpec.name", f"{brief(name)} is no name for a tool")
        elif name in names:
            found.refuse("bedrock/duplicate-tool", f"{path}.toolSpec.name", f"{brief(name)} is defined twice")
        else:
            names.add(name)
        if spec.get("description") == "":
            found.refuse(
                "bedrock/tool-form", f"{path}.toolSpec.description", "a description is left out or says something"
            )
        examine_schema(schema["json"], f"{path}.toolSpec.inputSchema.json", found)


def _examine_choice(choice: Json, found: Findings) -> None:
    if choice is not None and not (is_object(choice) and len(choice) == 1 and choice.keys() <= _CHOICES):
        found.refuse("bedrock/tool-choice", "toolConfig.toolChoice", "a choice is `auto`, `any` or `tool`")


RULESET = Ruleset(
    messages_field="messages",
    mode=_mode,
    judge=TurnJudge,
    head=_examine_head,
    no_messages=_refuse_no_messages,
)
check = RULESET.check
