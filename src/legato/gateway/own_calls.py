"""A call that a client gives back, as the model made it.

In:  the call as the client shows it, and as it was given; the tools of the request.
Out: the call with what is the model's own: its opaque data, and where the client only wrote out what its tool takes for
     granted, its arguments.

A signature of a call holds for the arguments that the model wrote. Claude Code writes out the defaults of a tool's
schema (`replace_all: false` of its Edit), and hooks and people may change anything. The client's arguments win where
they say something else; the signature is then of no use, and a provider would refuse it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from legato.model import JsonObject, ToolCall, ToolSpec
from legato.model.json_access import as_object

SIGNATURES = frozenset({"thoughtSignature", "extra_content"})
"""native data of a call, or of a text, that is reasoning"""


def as_made(shown: ToolCall, given: ToolCall, tools: Sequence[ToolSpec]) -> ToolCall:
    """`shown` with what it had when it was `given`."""
    native = given.native
    if native is None or native.keys().isdisjoint(SIGNATURES) or shown.arguments == given.arguments:
        return replace(shown, native=native)
    if _is_filled_in(shown, given, tools):
        return replace(shown, arguments=given.arguments, raw=given.raw, native=native)
    left = {name: value for name, value in native.items() if name not in SIGNATURES}
    return replace(shown, native=left or None)


def _is_filled_in(shown: ToolCall, given: ToolCall, tools: Sequence[ToolSpec]) -> bool:
    """Whether nothing but defaults of the tool's schema is new in the arguments of `shown`."""
    if any(name not in shown.arguments or shown.arguments[name] != value for name, value in given.arguments.items()):
        return False
    nothing: JsonObject = {}
    defaults = next((_defaults(tool) for tool in tools if tool.name == shown.name), nothing)
    added = shown.arguments.keys() - given.arguments.keys()
    return all(name in defaults and defaults[name] == shown.arguments[name] for name in added)


def _defaults(tool: ToolSpec) -> JsonObject:
    properties = as_object(tool.parameters.get("properties"))
    return {name: schema["default"] for name, one in properties.items() if "default" in (schema := as_object(one))}
