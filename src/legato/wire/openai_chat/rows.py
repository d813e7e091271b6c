"""Print plain units in a row.

In:  units in order, the voice of the target, and the messages that were printed so far.
Out: the same messages with all units printed up to the first about which something has to be decided.

Each unit becomes the messages that `spell` would make of it; that nothing has to be decided about it makes this short.
"""

from __future__ import annotations

from collections.abc import Sequence

from legato.model import Authority, CallKind, JsonObject, Text, ToolCall
from legato.transcript.units import Exchange, Said, Unit
from legato.wire.arguments import wire_arguments_text
from legato.wire.assembly import Assembly
from legato.wire.contract import End, Voice
from legato.wire.openai_chat.profiles import profile_of
from legato.wire.openai_chat.results import spell_result

_PERSON = Authority.PERSON
_FUNCTION = CallKind.FUNCTION
_START, _HUMAN, _ANSWER, _RESULTS = End


def print_row(units: Sequence[Unit | None], first: int, voice: Voice, page: Assembly) -> None:
    """Print `units` from number `first` up to one that is not plain, or that the target cannot take as it is."""
    printer = _Printer(voice)
    after_results = voice.target.capabilities.user_after_tool
    calls_first = profile_of(voice.target).calls_first
    messages, starts, ends = page.messages, page.starts, page.ends
    end = page.end
    for number in range(first, len(units)):
        unit = units[number]
        if type(unit) is Said:
            text = unit.blocks[0]
            if len(unit.blocks) > 1 or type(text) is not Text or unit.authority is not _PERSON:
                return
            if end is _RESULTS and not after_results:
                return
            starts.append((len(messages), 0))
            messages.append({"role": "user", "content": text.text})
            end = _HUMAN
        elif type(unit) is Exchange and unit.outputs is not None and (calls_first or end is not _START):
            printed = printer.print(unit, unit.outputs)
            if printed is None:
                return
            starts.append((len(messages), 0))
            messages += printed
            end = _RESULTS if unit.outputs else _ANSWER
        else:
            return
        ends.append(end)


class _Printer:
    """Prints plain exchanges for one target."""

    def __init__(self, voice: Voice) -> None:
        capabilities, profile = voice.target.capabilities, profile_of(voice.target)
        demands_thought = profile.reasoning_content and capabilities.reasoning_field and voice.thinking_on
        takes_calls = capabilities.native_tool_history and capabilities.text_beside_calls and not demands_thought
        self._most_calls = capabilities.max_calls if takes_calls else 0
        self._bare = None if profile.null_beside_calls or not capabilities.empty_text else ""
        self._names_results = profile.named_results
        self._voice = voice
        self._same_names: set[str] = set()

    def print(self, unit: Exchange, outputs: Sequence[str]) -> list[JsonObject] | None:
        """The answer and its results as messages; None if the target cannot take them as they are."""
        if len(outputs) > self._most_calls:
            return None
        ids = self._voice.ids
        texts: list[str] = []
        calls: list[JsonObject] = []
        answer: JsonObject = {"role": "assistant", "content": self._bare}
        messages = [answer]
        for block in unit.blocks:
            if type(block) is ToolCall:
                name = block.name
                if block.kind is not _FUNCTION or not self._keeps(name):
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
            answer["tool_calls"] = calls
        return messages

    def _keeps(self, name: str) -> bool:
        """Whether the tool has the same name there."""
        if name not in self._same_names:
            if self._voice.names.project(name) != name:
                return False
            self._same_names.add(name)
        return True
