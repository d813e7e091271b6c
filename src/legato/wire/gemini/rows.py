"""Plain units as contents, printed in a row."""

from __future__ import annotations

from collections.abc import Sequence

from legato.model import Decision, JsonObject, Text, ToolCall
from legato.transcript.units import Exchange, Said, Unit
from legato.wire.assembly import Assembly
from legato.wire.contract import End, Projected, Voice
from legato.wire.gemini.signatures import PLACEHOLDER, unsigned
from legato.wire.rows import print_plain

_START, _ANSWER = End.START, End.ANSWER


def print_row(units: Sequence[Unit | None], first: int, voice: Voice, page: Assembly, projected: Projected) -> None:
    """Print `units` from number `first` up to one that is not plain, or that the target cannot take as it is."""
    print_plain(_Printer(voice), units, first, page, projected)


class _Printer:
    def __init__(self, voice: Voice) -> None:
        capabilities = voice.target.capabilities
        takes_calls = capabilities.native_tool_history and capabilities.text_beside_calls
        self._most_calls = capabilities.max_calls if takes_calls else 0
        self._demands_signature = capabilities.call_signatures
        self._has_ids = capabilities.call_ids
        self._voice = voice

    def said(self, text: str, before: End) -> list[JsonObject]:
        return [{"role": "user", "parts": [{"text": text}]}]

    def exchange(self, unit: Exchange, outputs: Sequence[str], before: End) -> list[JsonObject] | None:
        if len(outputs) > self._most_calls or unit.has_failed or before is _START or before is _ANSWER:
            return None
        ids, project = self._voice.ids, self._voice.names.project
        parts: list[JsonObject] = []
        results: list[JsonObject] = []
        for block in unit.blocks:
            if type(block) is ToolCall:
                name, output = block.name, outputs[len(results)]
                if output is not unit.completions[len(results)].result or project(name) != name:
                    return None  # a value that is no text is sent as it is
                call: JsonObject = {"name": name, "args": block.arguments}
                result: JsonObject = {"name": name, "response": {"result": output}}
                if self._has_ids:
                    call["id"] = result["id"] = ids[block.id]
                part: JsonObject = {"functionCall": call}
                if self._demands_signature and not results:
                    part["thoughtSignature"] = PLACEHOLDER
                parts.append(part)
                results.append({"functionResponse": result})
            elif type(block) is Text:
                parts.append({"text": block.text})
        answer: JsonObject = {"role": "model", "parts": parts}
        return [answer, {"role": "user", "parts": results}] if results else [answer]

    def decided(self, unit: Said | Exchange, before: End) -> tuple[Decision, ...]:
        if type(unit) is Exchange and self._demands_signature and unit.completions:
            return (unsigned([unit.completions[0].call_id]),)
        return ()
