"""What can be wrong with a call before the user is asked about it.

In:  a call as the model made it, and the tools that the model was shown.
Out: the tool and the arguments to run it with, or a sentence for the model. A call with a fault is never executed: a
truncated command may be another command.
"""

from __future__ import annotations

from typing import NamedTuple

from legato.model import JsonObject, ToolCall, qualified
from legato.tools.registry import Missing, Tool, ToolBox
from legato.tools.schema import find_fault

_SHOWN = 200
"""how many characters of what the model wrote are shown back to it"""


class Runnable(NamedTuple):
    """A call that could run."""

    tool: Tool
    arguments: JsonObject


def check_call(call: ToolCall, tools: ToolBox) -> Runnable | str:
    """The tool and the arguments of `call`, or what is wrong with it."""
    tool = tools.find(qualified(call.name, call.namespace))
    if isinstance(tool, Missing):
        return tool.message
    if not call.finished:
        return (
            "The arguments of this call break off before they are complete, so the tool did not run. "
            "Make the call again; if it is long, split it into several smaller ones."
        )
    if call.raw is not None and tool.takes_arguments:
        wrote = call.raw if len(call.raw) <= _SHOWN else f"{call.raw[:_SHOWN]}..."
        return f"The arguments must be one JSON object, so the tool {tool.name!r} did not run. They were: {wrote}"
    arguments = {} if call.raw is not None else call.arguments
    return check_arguments(tool, arguments) or Runnable(tool, arguments)


def check_arguments(tool: Tool, arguments: JsonObject) -> str | None:
    """What is wrong with `arguments`, in words for the model."""
    fault = find_fault(arguments, tool.spec.parameters)
    return f"The arguments do not fit, so the tool {tool.name!r} did not run: {fault}." if fault else None
