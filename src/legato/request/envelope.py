"""What surrounds the messages of a request: instructions, tools and options.

In:  a conversation, a target, and what the caller passed to `render`.
Out: an `Envelope` that a dialect can encode; rendering and measuring a request both use it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import isroutine
from typing import Any, cast
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from legato.errors import ConfigError, ImpossibleRequest
from legato.model import Options, SpecKind, Target, ToolSpec, clean_text, ingest, safe
from legato.model.json_access import as_object
from legato.model.lasting import Lasting
from legato.transcript.conversation import Conversation
from legato.wire.definitions import read_definition
from legato.wire.options import Envelope


def envelope_for(
    conversation: Conversation, target: Target, system: str, tools: Sequence[ToolSpec], options: Options
) -> Envelope:
    """The envelope of the next request; the system messages that the conversation began with come before `system`."""
    demands = target.capabilities.demands_tools and all(tool.kind is SpecKind.HOSTED for tool in tools)
    instructions = conversation.instructions
    if instructions.strip():
        system = f"{instructions}\n\n{system}" if system.strip() else instructions
    elif system and system.isspace():
        system = ""
    return Envelope(system, tools, options, _called(conversation) if demands else ())


def safe_envelope(envelope: Envelope) -> Envelope:
    """The same with clean text: what was recorded is clean already, but the rest came with this request.

    Tools that last were read by us (`known_tools`), and are clean as well.
    """
    tools = envelope.tools if isinstance(envelope.tools, Lasting) else [safe(tool) for tool in envelope.tools]
    return replace(envelope, system=clean_text(envelope.system), tools=tools, options=safe(envelope.options))


def tool_specs(tools: Iterable[object]) -> list[ToolSpec]:
    """The specs of `tools`: specs, anything with a `spec`, functions, or a provider's tool definitions."""
    if isinstance(tools, Lasting):
        return cast("list[ToolSpec]", tools)
    return [spec for tool in tools for spec in ((tool,) if type(tool) is ToolSpec else _described(tool))]


def _described(tool: object) -> Sequence[ToolSpec]:
    spec = tool if isinstance(tool, ToolSpec) else getattr(tool, "spec", None)
    if isinstance(spec, ToolSpec):
        return (spec,)
    if isroutine(tool):
        return (_described_function(tool),)
    if isinstance(tool, Mapping):
        found = read_definition(as_object(ingest(dict(cast("Mapping[str, Any]", tool)))))
        if found:
            return found
    raise ImpossibleRequest(
        f"{tool!r} does not describe a tool; pass a ToolSpec, a function, or a provider's tool definition"
    )


def _described_function(function: Callable[..., Any]) -> ToolSpec:
    """What the signature and the docstring of `function` say; read once, as the same tools come with every request."""
    known = _DESCRIBED.get(function)
    if known is None:
        from legato.model.functions import describe  # slow to load, and most requests pass specs

        try:
            known = _DESCRIBED[function] = describe(function)
        except ConfigError as error:
            raise ImpossibleRequest(error.message) from None
    return known


_DESCRIBED: WeakKeyDictionary[Callable[..., Any], ToolSpec] = WeakKeyDictionary()


def _called(conversation: Conversation) -> list[tuple[str, str]]:
    """The tools that calls refer to, by name and namespace, in order of appearance; a call may have an empty name."""
    ledger = conversation.ledger
    calls = [
        call for call in ledger.in_order if call.name or (call.id in ledger.calls and call.id not in ledger.orphans)
    ]
    return list(dict.fromkeys((call.name, call.namespace) for call in calls))
