"""Settle which tools a request defines, and under which names.

In:  the tools that are offered, and what the format of a target has room for.
Out: definitions that can be encoded as they are: each has the target's name, and nothing of its kind, its namespace or
     its own fields that the target does not know. A decision says what had to change.

No two tools get one name, whatever their namespaces are. A custom tool is a function of one text where there are only
functions. A hosted tool is for its own provider: elsewhere it is left out, since no one here could run it; unless it is
one that the client runs, such as OpenAI's search for tools, which is a function elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from legato.errors import ImpossibleRequest
from legato.model import FREE_TEXT, Action, Choice, Decision, SpecKind, ToolSpec, qualified
from legato.model.lasting import Lasting
from legato.wire.options.enforced import is_closed
from legato.wire.options.envelope import Envelope
from legato.wire.options.schemas import arguments_schema
from legato.wire.options.thinking import Situation
from legato.wire.projection.decisions import projected

_NO_LONGER = "No longer available."
_CUSTOM, _HOSTED = SpecKind.CUSTOM, SpecKind.HOSTED


def settle_tools(envelope: Envelope, situation: Situation) -> Sequence[ToolSpec]:
    """What to define: the tools that are offered, as the target knows them.

    Where a target demands definitions for the calls in the history and nothing is offered, a stand-in for each tool
    that was called, which the model may not call. Tools that the provider runs are definitions too.
    """
    options, capabilities = envelope.options, situation.capabilities
    tools = _offered(envelope, situation) if envelope.tools else []
    if tools:
        return tools
    if not envelope.tools and (options.tool is not None or options.choice is Choice.REQUIRED):
        raise ImpossibleRequest(
            "a tool call is demanded, but no tools are offered; offer tools, or leave the choice to the model",
            target=situation.context.target.route,
        )
    if not envelope.called or not capabilities.demands_tools or not capabilities.native_tool_history:
        return ()
    target = situation.context.target
    if options.extra.get("tools") and target.understands(options.home or target.home):
        return ()
    names = list(dict.fromkeys(envelope.called))
    detail = f"the history holds calls of {', '.join(qualified(*called) for called in names)}"
    situation.decisions.append(projected(Action.INSERTED, "dummy-tools", detail))
    return [_named(ToolSpec(name, _NO_LONGER, namespace=namespace), situation) for name, namespace in names]


def settle_choice(
    envelope: Envelope, tools: Sequence[ToolSpec], situation: Situation
) -> tuple[Choice | None, str | None]:
    """How the model may use the tools, and the one that it has to call, by the target's name."""
    options, context = envelope.options, situation.context
    if not envelope.tools:
        return (Choice.NONE if tools and Choice.NONE in situation.grammar.choices else None), None
    if not tools:
        if options.tool is not None or options.choice is Choice.REQUIRED:
            situation.adjust("forced-tool", "none of the tools can be offered here, so there is no choice among them")
        return None, None
    if situation.grammar.choice_of_functions and all(tool.kind is _HOSTED for tool in tools):
        if options.tool is not None or options.choice is Choice.REQUIRED:
            situation.adjust("forced-tool", "only functions can be forced here, and none is offered")
        elif options.choice is Choice.NONE:
            situation.adjust("tool-choice", "the target has no word for the choice none where no function is offered")
        return None, None
    if options.tool is None and options.choice is not Choice.REQUIRED:
        if options.choice is not None and options.choice not in situation.grammar.choices:
            situation.adjust("tool-choice", f"the target has no word for the choice {options.choice}")
            return None, None
        return options.choice, None
    if not situation.grammar.forced_choice:
        situation.adjust("forced-tool", "no tool can be forced here, so the model may choose")
        return Choice.AUTO, None
    if context.thinking_on and not situation.grammar.forced_while_thinking:
        situation.adjust("forced-tool", "no tool can be forced while the model thinks, so it may choose")
        return Choice.AUTO, None
    if options.tool is None:
        return Choice.REQUIRED, None
    forced = _meant(options.tool, envelope.tools, situation)
    if not _is_known(forced, situation):
        situation.adjust("forced-tool", f"{forced.name} cannot be offered here, so it cannot be forced")
        return Choice.AUTO, None
    return Choice.REQUIRED, _wire_name(forced, situation)


def free_text_tools(tools: Sequence[ToolSpec], situation: Situation) -> frozenset[tuple[str, str]]:
    """The namespaces and names of custom tools that are offered as functions: calls of them are custom calls."""
    if situation.grammar.custom_tools:
        return frozenset()
    return frozenset((tool.namespace, tool.name) for tool in tools if tool.kind is _CUSTOM)


# --- what is offered --------------------------------------------------------------------------------------------------


def _offered(envelope: Envelope, situation: Situation) -> list[ToolSpec]:
    limit, target = situation.grammar.max_tools, situation.context.target
    if envelope.options.tool is not None:
        _meant(envelope.options.tool, envelope.tools, situation)
    tools = _as_before(envelope.tools, situation)
    if limit is not None and len(tools) > limit:
        raise ImpossibleRequest(
            f"{len(tools)} tools are offered, and {target.route} takes at most {limit}; offer fewer",
            layer="projection",
            tools=len(tools),
            limit=limit,
        )
    return tools


class _Offer(NamedTuple):
    """What a target is offered of some tools."""

    named: list[ToolSpec]
    """those that have one of the target's names"""
    names: list[str]
    tools: list[ToolSpec]
    decisions: list[Decision]


def _as_before(tools: Sequence[ToolSpec], situation: Situation) -> list[ToolSpec]:
    """What the target is offered of `tools`; of those that last, what it was offered before.

    That holds for as long as they have the same names: in another conversation one may belong to something else.
    """

    def make() -> _Offer:
        return _offer(tools, replace(situation, decisions=[]))

    if isinstance(tools, Lasting):
        offer = tools.once((_offer, situation.context.target), make)
        offer = offer if _names(offer.named, situation) == offer.names else make()
    else:
        offer = make()
    situation.decisions.extend(offer.decisions)
    return offer.tools


def _offer(offered: Sequence[ToolSpec], situation: Situation) -> _Offer:
    target = situation.context.target
    tools: list[ToolSpec] = []
    named: list[ToolSpec] = []
    own_fields: dict[str, None] = {}
    for tool in _each_once(_known(offered, situation), situation):
        if tool.native and not target.understands(tool.home):
            own_fields |= dict.fromkeys(tool.native)
            tool = replace(tool, native={})
        if tool.kind is not _HOSTED:
            named.append(tool)
            tool = _projected(tool, situation)
        tools.append(tool)
    if own_fields:
        detail = f"fields that only another provider knows were left out of the tools: {', '.join(own_fields)}"
        situation.decisions.append(projected(Action.DROPPED, "tool-fields", detail))
    lasting = Lasting(tools, offered) if isinstance(offered, Lasting) else tools
    return _Offer(named, _names(named, situation), lasting, situation.decisions)


def _names(tools: Sequence[ToolSpec], situation: Situation) -> list[str]:
    return [_wire_name(tool, situation) for tool in tools]


def _known(tools: Sequence[ToolSpec], situation: Situation) -> list[ToolSpec]:
    """The tools that can be offered here. This comes first: one that goes must not take another of its name along."""
    known: list[ToolSpec] = []
    for tool in tools:
        if not _is_known(tool, situation):
            detail = f"{tool.name} is a tool of {tool.home or 'another provider'}, which nobody else knows"
            situation.decisions.append(projected(Action.DROPPED, "hosted-tool-definition", detail))
            continue
        if tool.kind is _HOSTED and not situation.context.target.understands(tool.home):
            detail = f"{tool.name} is a kind of tool of {tool.home}, and is offered as a function"
            situation.decisions.append(projected(Action.CONVERTED, "client-tool", detail))
            tool = replace(tool, kind=SpecKind.FUNCTION, native={})
        known.append(tool)
    return known


def _each_once(tools: Sequence[ToolSpec], situation: Situation) -> Sequence[ToolSpec]:
    """The first tool of each name and namespace: every API refuses a name that is defined twice."""
    by_name: dict[tuple[object, ...], ToolSpec] = {}
    for number, tool in enumerate(tools):
        # A provider's own tool is a thing of its own, unless its definition has a name, which may be another's too.
        name = (tool.native or {}).get("name") if tool.kind is _HOSTED else tool.name
        key = (tool.namespace, name) if isinstance(name, str) else (number,)
        if by_name.setdefault(key, tool) is not tool:
            detail = f"{tool.qualified} is defined twice; the first definition is sent"
            situation.decisions.append(projected(Action.DEDUPED, "duplicate-tool", detail))
    return list(by_name.values())


def _meant(name: str, tools: Sequence[ToolSpec], situation: Situation) -> ToolSpec:
    """The one tool that `name` names, alone or with its namespace."""
    found = [tool for tool in tools if tool.qualified == name] or [tool for tool in tools if tool.name == name]
    distinct = {(tool.namespace, tool.name): tool for tool in found}
    if len(distinct) == 1:
        return next((tool for tool in found if _is_known(tool, situation)), found[0])
    problem = (
        f"and {', '.join(tool.qualified for tool in distinct.values())} have that name; name it with its namespace"
        if distinct
        else "but it is not among the tools that are offered; offer it"
    )
    raise ImpossibleRequest(
        f"the tool {name!r} is to be called, {problem}", target=situation.context.target.route, tool=name
    )


def _is_known(tool: ToolSpec, situation: Situation) -> bool:
    return tool.kind is not _HOSTED or situation.context.target.understands(tool.home) or _is_run_here(tool)


def _is_run_here(tool: ToolSpec) -> bool:
    """Whether the client runs a tool of a provider's own kind: it says then what that takes."""
    return bool(tool.parameters.get("properties"))


def _wire_name(tool: ToolSpec, situation: Situation) -> str:
    if tool.kind is _HOSTED and situation.context.target.understands(tool.home):
        return tool.name
    return situation.context.names.project(tool.name, "" if situation.grammar.namespaces else tool.namespace)


def _named(tool: ToolSpec, situation: Situation) -> ToolSpec:
    """`tool` under the target's name, which holds the namespace where the target has none."""
    name = _wire_name(tool, situation)
    if name == tool.name:
        return tool
    if situation.grammar.namespaces:
        return replace(tool, name=name)
    return replace(tool, name=name, namespace="", namespace_description="")


def _projected(tool: ToolSpec, situation: Situation) -> ToolSpec:
    named = _described(_named(tool, situation), situation)
    if named.name != tool.name:
        detail = f"{tool.qualified} is called {named.name} there"
        situation.decisions.append(projected(Action.RENAMED, "tool-name", detail))
    if tool.kind is _CUSTOM and not situation.grammar.custom_tools:
        detail = f"{tool.qualified} takes free text, so it is offered as a function of one text"
        situation.decisions.append(projected(Action.CONVERTED, "custom-tool", detail))
        return _as_function(named)
    strict = _strict(tool, situation)
    return named if strict is tool.strict else replace(named, strict=strict)


def _strict(tool: ToolSpec, situation: Situation) -> bool | None:
    """Whether the schema is to be enforced, where that can be said: a provider refuses one that it cannot enforce."""
    if tool.strict is None or situation.context.target.understands(tool.home):
        return tool.strict
    if situation.grammar.strict_tools and (not tool.strict or is_closed(tool.parameters)):
        return tool.strict
    if tool.strict:
        situation.adjust("strict", f"the schema of {tool.qualified} cannot be enforced here")
    return None


def _described(tool: ToolSpec, situation: Situation) -> ToolSpec:
    """`tool` with a schema that the target can read."""
    schema = arguments_schema(tool.parameters)
    if schema is tool.parameters:
        return tool
    detail = f"the types in the schema of {tool.name} became those of JSON Schema"
    situation.decisions.append(projected(Action.CONVERTED, "schema-types", detail))
    return replace(tool, parameters=schema)


def _as_function(tool: ToolSpec) -> ToolSpec:
    """A custom tool for a target that has functions only. The model is told the grammar that no one enforces."""
    description = tool.description
    if tool.grammar is not None:
        told = f"The text has to match this {tool.grammar.syntax} grammar:\n{tool.grammar.definition}"
        description = f"{description}\n\n{told}" if description else told
    return replace(tool, kind=SpecKind.FUNCTION, description=description, parameters=FREE_TEXT, grammar=None, native={})
