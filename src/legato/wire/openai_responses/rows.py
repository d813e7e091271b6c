"""Print plain units in a row.

In:  units in order, the voice of the target, and the items that were printed so far.
Out: the same items with all units printed up to the first about which something has to be decided.

Each unit becomes the items that `spell` would make of it; that nothing has to be decided about it makes this short.
"""

from __future__ import annotations

from collections.abc import Sequence

from legato.model import Authority, CallKind, JsonObject, Text, ToolCall
from legato.transcript.units import Exchange, Said, Unit
from legato.wire.arguments import wire_arguments_text
from legato.wire.assembly import Assembly
from legato.wire.contract import End, Voice

_PERSON = Authority.PERSON
_FUNCTION = CallKind.FUNCTION
_HUMAN, _ANSWER, _RESULTS = End.HUMAN, End.ANSWER, End.RESULTS


def print_row(units: Sequence[Unit | None], first: int, voice: Voice, page: Assembly) -> None:
    """Print `units` from number `first` up to one that is not plain, or that the target cannot take as it is."""
    capabilities = voice.target.capabilities
    most_calls = capabilities.max_calls if capabilities.native_tool_history else 0
    ids, project = voice.ids, voice.names.project
    same_names: set[str] = set()
    items, starts, ends = page.messages, page.starts, page.ends
    for number in range(first, len(units)):
        unit = units[number]
        printed: list[JsonObject] = []
        if type(unit) is Said:
            text = unit.blocks[0]
            if len(unit.blocks) > 1 or type(text) is not Text or unit.authority is not _PERSON:
                return
            content = [{"type": "input_text", "text": text.text}]
            printed.append({"type": "message", "role": "user", "content": content})
            end = _HUMAN
        elif type(unit) is Exchange and unit.outputs is not None and not unit.has_failed:
            if len(unit.outputs) > most_calls:
                return
            outputs: list[JsonObject] = []
            for block in unit.blocks:
                if type(block) is ToolCall:
                    name, wire_id = block.name, ids[block.id]
                    if name not in same_names:
                        if project(name) != name:
                            return
                        same_names.add(name)
                    if block.kind is not _FUNCTION:
                        return
                    arguments, output = wire_arguments_text(block), unit.outputs[len(outputs)]
                    call = {"type": "function_call", "call_id": wire_id, "name": name, "arguments": arguments}
                    printed.append(call)
                    outputs.append({"type": "function_call_output", "call_id": wire_id, "output": output})
                elif type(block) is Text:
                    printed.append({"type": "message", "role": "assistant", "content": block.text})
            printed += outputs
            end = _RESULTS if outputs else _ANSWER
        else:
            return
        starts.append((len(items), 0))
        items += printed
        ends.append(end)
