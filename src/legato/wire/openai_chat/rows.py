"""Plain units as chat messages, printed in a row."""

from __future__ import annotations

from collections.abc import Sequence

from legato.model import CallKind, Decision, JsonObject, Text, ToolCall
from legato.transcript.units import Exchange, Said, Unit
from legato.wire.arguments import wire_arguments_text
from legato.wire.assembly import Assembly
from legato.wire.contract import End, Projected, Voice
from legato.wire.openai_chat.exchange import NO_THOUGHT, no_thought
from legato.wire.openai_chat.human import BRIDGED_ANSWER
from legato.wire.openai_chat.profiles import profile_of
from legato.wire.openai_chat.results import spell_result
from legato.wire.phrases import ANSWER_BRIDGE
from legato.wire.rows import print_plain

_FUNCTION = CallKind.FUNCTION
_START, _RESULTS = End.START, End.RESULTS


def print_row(units: Sequence[Unit | None], first: int, voice: Voice, page: Assembly, projected: Projected) -> None:
    """Print `units` from number `first` up to one that is not plain, or that the target cannot take as it is."""
    print_plain(_Printer(voice), units, first, page, projected)


class _Printer:
    def __init__(self, voice: Voice) -> None:
        capabilities, profile = voice.target.capabilities, profile_of(voice.target)
        takes_calls = capabilities.native_tool_history and capabilities.text_beside_calls
        self._most_calls = capabilities.max_calls if takes_calls else 0
        self._demands_thought = profile.reasoning_content and capabilities.reasoning_field and voice.thinking_on
        self._demands_bridge = not capabilities.user_after_tool
        self._calls_first = profile.calls_first
        self._bare = None if profile.null_beside_calls or not capabilities.empty_text else ""
        self._names_results = profile.named_results
        self._voice = voice

    def said(self, text: str, before: End) -> list[JsonObject]:
        message: JsonObject = {"role": "user", "content": text}
        if before is _RESULTS and self._demands_bridge:
            return [{"role": "assistant", "content": ANSWER_BRIDGE}, message]
        return [message]

    def exchange(self, unit: Exchange, outputs: Sequence[str], before: End) -> list[JsonObject] | None:
        if len(outputs) > self._most_calls or (before is _START and not self._calls_first):
            return None
        ids, project = self._voice.ids, self._voice.names.project
        texts: list[str] = []
        calls: list[JsonObject] = []
        answer: JsonObject = {"role": "assistant", "content": self._bare}
        messages = [answer]
        for block in unit.blocks:
            if type(block) is ToolCall:
                name = block.name
                if block.kind is not _FUNCTION or project(name) != name:
                    return None
                wire_id, output = ids[block.id], outputs[len(calls)]
                if unit.has_failed:  # a failure is marked, unless it says so itself
                    output, _ = spell_result(block, unit.completions[len(calls)], self._voice, [])
                function = {"name": name, "arguments": wire_arguments_text(block)}
                calls.append({"id": wire_id, "type": "function", "function": function})
                result: JsonObject = {"role": "tool", "tool_call_id": wire_id, "content": output}
                if self._names_results:
                    result["name"] = name
                messages.append(result)
            elif type(block) is Text:
                texts.append(block.text)
        if texts:
            answer["content"] = texts[0] if len(texts) == 1 else "".join(texts)
        if calls:
            if self._demands_thought:
                answer["reasoning_content"] = NO_THOUGHT
            answer["tool_calls"] = calls
        return messages

    def decided(self, unit: Said | Exchange, before: End) -> tuple[Decision, ...]:
        if type(unit) is Exchange:
            return (no_thought(unit.calls),) if self._demands_thought and unit.completions else ()
        return (BRIDGED_ANSWER,) if self._demands_bridge and before is _RESULTS else ()
