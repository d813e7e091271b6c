"""Print what stands around the units: instructions, tools and options.

In:  the envelope and the voice of the target.
Out: the fields of the body beside `contents`. The model and whether the answer is streamed stand in the URL. A
combination that the API refuses is adjusted, as a decision; one without a sensible adjustment is `ImpossibleRequest`.
"""

from __future__ import annotations

from collections.abc import Sequence

from legato.model import Action, Choice, Decision, Fault, Json, JsonObject, ThinkingMode, ThinkingSwitch, ToolSpec
from legato.wire.contract import Envelope, Head
from legato.wire.gemini.fields import as_list, as_object
from legato.wire.offering import defined_tools
from legato.wire.voice import Voice

_MODES = {Choice.AUTO: "AUTO", Choice.NONE: "NONE", Choice.REQUIRED: "ANY"}
_SWITCHED = frozenset({ThinkingMode.BUDGET, ThinkingMode.ADAPTIVE, ThinkingMode.SWITCH})
_HOTTEST = 2
_AS_NEEDED = -1
"""a budget that leaves it to the model how much to think"""


def head(envelope: Envelope, voice: Voice) -> Head:
    """Print the envelope."""
    decisions: list[Decision] = []
    fields: JsonObject = {}
    if envelope.system.strip():
        fields["systemInstruction"] = {"parts": [{"text": envelope.system}]}
    fields |= _tools(envelope, voice, decisions)
    config = _generation(envelope, voice, decisions)
    if config:
        fields["generationConfig"] = config
    for name, value in envelope.options.extra.items():
        if name == "tools":
            fields[name] = [*as_list(fields.get(name)), *as_list(value)]  # tools of the provider stand beside ours
        elif isinstance(value, dict):
            fields[name] = as_object(fields.get(name)) | as_object(value)
        else:
            fields[name] = value
    return Head(fields, (), tuple(decisions))


def _tools(envelope: Envelope, voice: Voice, decisions: list[Decision]) -> JsonObject:
    options = envelope.options
    tools = defined_tools(envelope, voice, decisions)
    if not tools:
        return {}
    fields: JsonObject = {"tools": _declared(tools, voice)}
    if not envelope.tools:
        fields["toolConfig"] = {"functionCallingConfig": {"mode": "NONE"}}
    elif options.tool is not None:
        only: JsonObject = {"mode": "ANY", "allowedFunctionNames": [voice.names.project(options.tool)]}
        fields["toolConfig"] = {"functionCallingConfig": only}
    elif options.choice is not None:
        fields["toolConfig"] = {"functionCallingConfig": {"mode": _MODES[options.choice]}}
    return fields


def _declared(tools: Sequence[ToolSpec], voice: Voice) -> list[Json]:
    declarations: list[JsonObject] = []
    for tool in tools:
        declaration: JsonObject = {"name": voice.names.project(tool.name)}
        if tool.description:
            declaration["description"] = tool.description
        # `parameters` takes a subset of OpenAPI schemas only; this one takes JSON Schema as it is.
        declaration["parametersJsonSchema"] = tool.parameters
        declarations.append(declaration)
    return [{"functionDeclarations": declarations}]


def _generation(envelope: Envelope, voice: Voice, decisions: list[Decision]) -> JsonObject:
    options, capabilities = envelope.options, voice.target.capabilities
    config: JsonObject = {}
    if options.max_tokens is not None:
        most = capabilities.max_output
        if options.max_tokens > most:
            decisions.append(_adjusted("max-tokens", f"the model writes at most {most}, not {options.max_tokens}"))
        config["maxOutputTokens"] = min(most, options.max_tokens)
    if options.temperature is not None:
        if not capabilities.temperature:
            decisions.append(_adjusted("temperature", "the model takes no temperature"))
        else:
            if not 0 <= options.temperature <= _HOTTEST:
                decisions.append(_adjusted("temperature", f"{options.temperature} is not between 0 and {_HOTTEST}"))
            config["temperature"] = min(_HOTTEST, max(0, options.temperature))
    thinking = _thinking(envelope, voice, decisions)
    if thinking:
        config["thinkingConfig"] = thinking
    return config


def _thinking(envelope: Envelope, voice: Voice, decisions: list[Decision]) -> JsonObject:
    options, capabilities = envelope.options, voice.target.capabilities
    mode, config = capabilities.thinking, JsonObject()
    if options.effort is not None and mode is not ThinkingMode.EFFORT:
        decisions.append(_adjusted("effort", "the model's thinking has no degrees"))
    if options.thinking_budget is not None and mode not in _SWITCHED:
        decisions.append(_adjusted("thinking-budget", "the model's thinking takes no budget"))
    if mode in _SWITCHED:
        if voice.thinking_on:
            if options.thinking is ThinkingSwitch.ON or options.thinking_budget is not None:
                budget = _AS_NEEDED if options.thinking_budget is None else options.thinking_budget
                config = {"includeThoughts": True, "thinkingBudget": budget}
        elif options.thinking is ThinkingSwitch.OFF or capabilities.thinking_default:
            config = {"thinkingBudget": 0}
        return config
    if mode is ThinkingMode.NEVER:
        if options.thinking is ThinkingSwitch.ON:
            decisions.append(_adjusted("thinking-unsupported", "the model does not think"))
        return config
    if options.thinking is ThinkingSwitch.OFF:
        decisions.append(_adjusted("thinking-always-on", "the model's thinking cannot be switched off"))
    if options.thinking is ThinkingSwitch.ON:
        config["includeThoughts"] = True
    if options.effort is not None and mode is ThinkingMode.EFFORT:
        config["thinkingLevel"] = options.effort
    return config


def _adjusted(reason: str, detail: str) -> Decision:
    return Decision(Action.ADJUSTED, reason, Fault.PROJECTION, detail)
