"""Plain units as input items, printed in a row."""

from __future__ import annotations

from collections.abc import Sequence

from legato.model import CallKind, Decision, JsonObject, Text, ToolCall
from legato.transcript.units import Exchange, Said, Unit
from legato.wire.arguments import wire_arguments_text
from legato.wire.assembly import Assembly
from legato.wire.contract import End, Projected, Voice
from legato.wire.openai_responses.wording import text_part, user_message
from legato.wire.rows import print_plain

_FUNCTION = CallKind.FUNCTION


def print_row(units: Sequence[Unit | None], first: int, voice: Voice, page: Assembly, projected: Projected) -> None:
    """Print `units` from number `first` up to one that is not plain, or that the target cannot take as it is."""
    print_plain(_Printer(voice), units, first, page, projected)


class _Printer:
    def __init__(self, voice: Voice) -> None:
        capabilities = voice.target.capabilities
        self._most_calls = capabilities.max_calls if capabilities.native_tool_history else 0
        self._voice = voice

    def said(self, text: str, before: End) -> list[JsonObject]:
        return [user_message(text_part(text))]

    def exchange(self, unit: Exchange, outputs: Sequence[str], before: End) -> list[JsonObject] | None:
        if len(outputs) > self._most_calls or unit.has_failed:
            return None
        ids, project = self._voice.ids, self._voice.names.project
        items: list[JsonObject] = []
        results: list[JsonObject] = []
        for block in unit.blocks:
            if type(block) is ToolCall:
                name, wire_id, output = block.name, ids[block.id], outputs[len(results)]
                if block.kind is not _FUNCTION or project(name) != name:
                    return None
                arguments = wire_arguments_text(block)
                items.append({"type": "function_call", "call_id": wire_id, "name": name, "arguments": arguments})
                results.append({"type": "function_call_output", "call_id": wire_id, "output": output})
            elif type(block) is Text:
                items.append({"type": "message", "role": "assistant", "content": block.text})
        return items + results

    def decided(self, unit: Said | Exchange, before: End) -> tuple[Decision, ...]:
        return ()
