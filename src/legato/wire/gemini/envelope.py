"""What surrounds the contents: instructions, tools and options, as fields of `generateContent`.

In:  the envelope, with its options settled against `option_grammar`.
Out: the fields of the body beside `contents`. The model and whether the answer is streamed are in the URL.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from msgspec.structs import replace

from legato.model import Choice, JsonObject, SpecKind, Target, ThinkingMode, ThinkingSwitch, ToolSpec
from legato.model.json_access import as_object, present
from legato.model.lasting import written_as
from legato.wire.context import EncodeContext
from legato.wire.contract import EncodedEnvelope
from legato.wire.options import SWITCHABLE, Envelope, OptionGrammar, Settled, complete

_GRAMMAR = OptionGrammar(
    caps_max_tokens=True,
    temperatures=(0, 2),
    # `thinkingLevel` is for the models that think in degrees, `thinkingBudget` for those that count tokens:
    # https://ai.google.dev/gemini-api/docs/thinking
    effort_modes=frozenset({ThinkingMode.EFFORT}),
    budget_modes=SWITCHABLE,
    most_budget=24_576,  # of the models that count tokens, the smallest take no more; the same page has the table
    strict_tools=False,
    choice_of_functions=True,
    max_stops=5,
    says_json=False,
    dependent={"toolConfig": "tools"},
)
_MODES = {Choice.AUTO: "AUTO", Choice.NONE: "NONE", Choice.REQUIRED: "ANY"}
_BUDGETS = {ThinkingSwitch.ON: -1, ThinkingSwitch.OFF: 0}
"""the budgets that mean no number: as much as the model needs, and none"""


def option_grammar(target: Target) -> OptionGrammar:
    """Which options can be sent, and within which bounds."""
    return _grammar_within(target.capabilities.budgets)


@cache
def _grammar_within(budgets: tuple[int, int] | None) -> OptionGrammar:
    if budgets is None:
        return _GRAMMAR
    modes = _GRAMMAR.budget_modes | {ThinkingMode.ALWAYS}  # Gemini 2.5 Pro: never off, and yet it counts tokens
    return replace(_GRAMMAR, budget_modes=modes, least_budget=budgets[0], most_budget=budgets[1])


def encode_envelope(envelope: Envelope, settled: Settled, context: EncodeContext) -> EncodedEnvelope:
    """The fields beside `contents`."""
    if "responseSchema" in as_object(settled.extra.get("generationConfig")):
        # Google's own kind of schema goes back as it came, and only one of the two is taken.
        as_object(settled.fields.get("generationConfig")).pop("responseJsonSchema", None)
    fields: JsonObject = {
        "systemInstruction": {"parts": [{"text": settled.system}]} if settled.system else None,
        "tools": written_as(settled.tools, _tools) or None,
        "toolConfig": _choice(settled),
        "generationConfig": _generation(settled) or None,
    }
    return EncodedEnvelope(*complete(present(fields), settled, _GRAMMAR))


def _tools(tools: Sequence[ToolSpec]) -> list[JsonObject]:
    """All functions together, and each tool that the provider runs."""
    declared = [_declaration(tool) for tool in tools if tool.kind is not SpecKind.HOSTED]
    hosted = [tool.native for tool in tools if tool.kind is SpecKind.HOSTED]
    return [{"functionDeclarations": declared}, *hosted] if declared else hosted


def _declaration(tool: ToolSpec) -> JsonObject:
    # `parameters` takes a subset of OpenAPI schemas only; this one takes JSON Schema as it is.
    declaration = {"name": tool.name, "description": tool.description or None, "parametersJsonSchema": tool.parameters}
    return present(declaration) | tool.native


def _choice(settled: Settled) -> JsonObject | None:
    if settled.choice is None:
        return None
    allowed = None if settled.tool is None else [settled.tool]
    return {"functionCallingConfig": present({"mode": _MODES[settled.choice], "allowedFunctionNames": allowed})}


def _generation(settled: Settled) -> JsonObject:
    is_on = settled.thinking is ThinkingSwitch.ON
    budget = _BUDGETS.get(settled.thinking) if settled.budget is None else settled.budget
    thinking: JsonObject = {
        "includeThoughts": is_on or settled.thoughts_wanted or None,
        "thinkingBudget": budget,
        "thinkingLevel": settled.effort,
    }
    config: JsonObject = {
        "maxOutputTokens": settled.max_tokens,
        "temperature": settled.temperature,
        "thinkingConfig": present(thinking) or None,
    }
    return present(config)


def is_hosted(tool: JsonObject) -> bool:
    """Whether `tool` is the definition of one that the provider runs itself."""
    return bool(tool) and not tool.keys() & {"functionDeclarations", "function_declarations"}
