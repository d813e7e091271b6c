"""What surrounds the items: instructions, tools and options, as fields of the Responses API.

In:  the envelope, with its options settled against `option_grammar`.
Out: the fields of a stateless request. `store` is false because the history is always sent whole, and a model that
     thinks is asked for its reasoning in encrypted form, without which it could not be sent back.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from legato.model import Json, JsonObject, SpecKind, Target, ThinkingMode, ToolSpec
from legato.model.json_access import present
from legato.model.lasting import written_as
from legato.wire.context import EncodeContext
from legato.wire.contract import EncodedEnvelope
from legato.wire.options import Envelope, OptionGrammar, Settled, Switch, complete

ENCRYPTED_REASONING = "reasoning.encrypted_content"

_GATEWAY = OptionGrammar(
    least_max_tokens=16,
    temperatures=(0, 2),  # https://platform.openai.com/docs/api-reference/responses/create
    switch=Switch.EFFORT,
    dependent={"tool_choice": "tools"},
)
_OPENAI = replace(_GATEWAY, custom_tools=True, namespaces=True)


def has_own_kinds(target: Target) -> bool:
    """Whether the server has custom tools and namespaces, as OpenAI has; others that speak the API know functions."""
    return target.profile == "openai"


def option_grammar(target: Target) -> OptionGrammar:
    """Which options can be sent, and within which bounds."""
    return _OPENAI if has_own_kinds(target) else _GATEWAY


def encode_envelope(envelope: Envelope, settled: Settled, context: EncodeContext) -> EncodedEnvelope:
    """The fields beside `input`."""
    capabilities = context.target.capabilities
    summary = "auto" if settled.thoughts_wanted else None  # only when asked for: some accounts may not have summaries
    fields: JsonObject = {
        "model": context.target.model,
        "store": False,
        "instructions": settled.system or None,
        "tools": written_as(settled.tools, _definitions) or None,
        "tool_choice": _choice(settled),
        "parallel_tool_calls": False if envelope.tools and capabilities.max_calls == 1 else None,
        "max_output_tokens": settled.max_tokens,
        "temperature": settled.temperature,
        "reasoning": present({"effort": settled.effort, "summary": summary}) or None,
        "include": None if capabilities.thinking is ThinkingMode.NEVER else [ENCRYPTED_REASONING],
        "stream": envelope.options.stream or None,
    }
    return EncodedEnvelope(*complete(present(fields), settled, option_grammar(context.target)))


def _choice(settled: Settled) -> Json:
    if settled.tool is None:
        return None if settled.choice is None else str(settled.choice)
    tool = next(tool for tool in settled.tools if tool.name == settled.tool)
    if tool.kind is SpecKind.HOSTED:
        return {"type": tool.native["type"]}
    return {"type": "custom" if tool.kind is SpecKind.CUSTOM else "function", "name": settled.tool}


def _definitions(tools: Sequence[ToolSpec]) -> list[JsonObject]:
    """The tools in order; those of one namespace together, where its first one is."""
    definitions: list[JsonObject] = []
    spaces: dict[str, list[JsonObject]] = {}
    for tool in tools:
        if not tool.namespace:
            definitions.append(_definition(tool))
        elif tool.namespace in spaces:
            spaces[tool.namespace].append(_definition(tool))
        else:
            spaces[tool.namespace] = inside = [_definition(tool)]
            # A description is demanded.
            described = tool.namespace_description or f"Tools of {tool.namespace}."
            space = {"type": "namespace", "name": tool.namespace, "description": described, "tools": inside}
            definitions.append(space)
    return definitions


def _definition(tool: ToolSpec) -> JsonObject:
    if tool.kind is SpecKind.HOSTED:
        return tool.native
    definition: JsonObject = {"type": "function", "name": tool.name, "description": tool.description}
    if tool.kind is SpecKind.CUSTOM:
        definition["type"] = "custom"
        if tool.grammar is not None:
            grammar = {"syntax": tool.grammar.syntax, "definition": tool.grammar.definition}
            definition["format"] = {"type": "grammar", **grammar}
        return definition | tool.native
    definition["parameters"] = tool.parameters
    # `strict` has to be said: left out, the provider rewrites the schema to its strict form, or refuses it.
    definition["strict"] = tool.strict is True
    return definition | tool.native


def is_hosted(tool: JsonObject) -> bool:
    """Whether `tool` is the definition of one that the provider runs itself."""
    return tool.get("type") not in (None, "function", "custom", "namespace")
