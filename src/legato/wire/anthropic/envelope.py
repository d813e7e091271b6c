"""What surrounds the messages: instructions, tools and options, as fields of the Messages API.

In:  the envelope, with its options settled against `option_grammar`.
Out: the fields of the body beside `messages`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from msgspec.structs import replace

from legato.model import Choice, JsonObject, SpecKind, Target, ThinkingMode, ThinkingSwitch, ToolSpec
from legato.model.json_access import present
from legato.model.lasting import written_as
from legato.wire.context import EncodeContext
from legato.wire.contract import EncodedEnvelope
from legato.wire.hosting import MessagesStyle
from legato.wire.hosts import own_host
from legato.wire.options import Envelope, OptionGrammar, Settled, complete
from legato.wire.options.efforts import HIGH

_GRAMMAR = OptionGrammar(
    # https://docs.claude.com/en/docs/build-with-claude/extended-thinking: what thinking cannot be combined with.
    forced_while_thinking=False,
    temperature_while_thinking=False,
    # The official client refuses to wait for a much longer answer that is not streamed.
    unstreamed_max_tokens=16_000,
    caps_max_tokens=True,
    temperatures=(0, 1),
    effort_modes=frozenset({ThinkingMode.ADAPTIVE, ThinkingMode.EFFORT}),
    effort_beyond_thinking=True,  # https://docs.claude.com/en/docs/build-with-claude/effort
    budget_modes=frozenset({ThinkingMode.BUDGET, ThinkingMode.SWITCH}),
    budget_in_max_tokens=True,
    least_budget=1024,  # https://platform.claude.com/docs/en/build-with-claude/extended-thinking
    default_budget=16_384,
    # https://docs.claude.com/en/api/messages: newer models refuse the two together, and while they think, top_k.
    temperature_or_top_p=True,
    top_p_while_thinking=0.95,
    top_k_while_thinking=False,
    json_mode=False,
    closed_schemas=True,
    dependent={"thinking": "thinking", "tool_choice": "tools"},
)
# https://platform.claude.com/docs/en/models/opus-5/migration-guide; the models before took any (BerriAI/litellm#35211).
_GRAMMAR_SINCE_5 = replace(_GRAMMAR, effort_while_off=HIGH)
_CHOICES = {Choice.AUTO: "auto", Choice.NONE: "none", Choice.REQUIRED: "any"}


def option_grammar(target: Target) -> OptionGrammar:
    """Which options can be sent, and within which bounds."""
    host = own_host(target)
    if host is not None:
        return _grammar_for(host.messages_style)
    capabilities = target.capabilities
    thinks_by_itself = capabilities.thinking_default and capabilities.thinking is ThinkingMode.ADAPTIVE
    return _GRAMMAR_SINCE_5 if thinks_by_itself else _GRAMMAR


@cache
def _grammar_for(style: MessagesStyle) -> OptionGrammar:
    beside_switch = frozenset({ThinkingMode.SWITCH} if style.effort_beside_switch else ())
    efforts = _GRAMMAR.effort_modes | beside_switch
    budgets = _GRAMMAR.budget_modes if style.budgets else frozenset[ThinkingMode]()
    return replace(_GRAMMAR, effort_modes=efforts, budget_modes=budgets, effort_beyond_thinking=style.budgets)


def encode_envelope(envelope: Envelope, settled: Settled, context: EncodeContext) -> EncodedEnvelope:
    """The fields beside `messages`."""
    fields: JsonObject = {
        "model": context.target.model,
        "max_tokens": settled.max_tokens,
        "system": [{"type": "text", "text": settled.system}] if settled.system else None,
        "tools": written_as(settled.tools, _tools) or None,
        "tool_choice": _choice(settled),
        "output_config": {"effort": settled.effort} if settled.effort is not None else None,
        "thinking": _thinking(settled, context.target),
        "temperature": settled.temperature,
        "stream": envelope.options.stream or None,
    }
    return EncodedEnvelope(*complete(present(fields), settled, option_grammar(context.target)))


def _choice(settled: Settled) -> JsonObject | None:
    if settled.tool is not None:
        return {"type": "tool", "name": settled.tool}
    if settled.choice is not None:
        return {"type": _CHOICES[settled.choice]}
    # That calls come one at a time is said beside a type.
    return {"type": "auto"} if "tool_choice" in settled.fields else None


def _thinking(settled: Settled, target: Target) -> JsonObject | None:
    match settled.thinking:
        case ThinkingSwitch.ON if settled.budget is not None:
            return {"type": "enabled", "budget_tokens": settled.budget}
        case ThinkingSwitch.ON if target.capabilities.thinking is ThinkingMode.SWITCH:
            return {"type": "enabled"}
        case ThinkingSwitch.ON:
            return {"type": "adaptive"}
        case ThinkingSwitch.OFF:
            return {"type": "disabled"}
        case ThinkingSwitch.DEFAULT:
            return None


def _tools(tools: Sequence[ToolSpec]) -> list[JsonObject]:
    return [_tool(tool) for tool in tools]


def _tool(tool: ToolSpec) -> JsonObject:
    if tool.kind is SpecKind.HOSTED:
        return tool.native
    schema = tool.parameters if "type" in tool.parameters else {"type": "object", **tool.parameters}
    described = {"description": tool.description or None, "input_schema": schema, "strict": tool.strict}
    return {"name": tool.name} | present(described) | tool.native


def is_hosted(tool: JsonObject) -> bool:
    """Whether `tool` is the definition of one that the provider runs itself."""
    return tool.get("type") not in (None, "custom")
