"""The tools that a request defines.

Those that are offered; or, where a target demands definitions for the calls in the history and none are offered, a
stand-in for each tool that was called, which the model may not call.
"""

from __future__ import annotations

from collections.abc import Sequence

from legato.errors import ImpossibleRequest
from legato.model import Action, Choice, Decision, Fault, ToolSpec
from legato.wire.contract import Envelope
from legato.wire.voice import Voice

_NO_LONGER = "No longer available."


def defined_tools(envelope: Envelope, voice: Voice, decisions: list[Decision]) -> Sequence[ToolSpec]:
    """What to define; raises `ImpossibleRequest` if the model is to call a tool that is not offered."""
    options, capabilities = envelope.options, voice.target.capabilities
    if envelope.tools:
        if options.tool is not None and all(tool.name != options.tool for tool in envelope.tools):
            raise ImpossibleRequest(
                f"the tool {options.tool!r} is to be called, but it is not among the tools that are offered; offer it",
                target=voice.target.route,
                tool=options.tool,
            )
        return envelope.tools
    if options.tool is not None or options.choice is Choice.REQUIRED:
        raise ImpossibleRequest(
            "a tool call is demanded, but no tools are offered; offer tools, or leave the choice to the model",
            target=voice.target.route,
        )
    if not envelope.called or not capabilities.demands_tools or not capabilities.native_tool_history:
        return ()
    names = list(dict.fromkeys(envelope.called))
    detail = f"the history holds calls of {', '.join(names)}"
    decisions.append(Decision(Action.INSERTED, "dummy-tools", Fault.PROJECTION, detail))
    return [ToolSpec(name, _NO_LONGER) for name in names]
