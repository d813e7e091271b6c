"""Print plain units in a row.

In:  units in order, the voice of the target, and the messages that were printed so far.
Out: the same messages with all units printed up to the first that is not plain.

A long history is nearly all plain: a person's text, an answer of text and calls, for each call a text. What such units
come to is the same as what `spell` and the assembler would make of them, without asking each block what it is and
without anything made only to be taken apart again: the first render of a conversation prints thousands of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from legato.model import Authority, JsonObject, Text, ToolCall
from legato.transcript.units import Exchange, Said, Unit
from legato.wire.anthropic.answer import continues_answers
from legato.wire.assembly import Assembly
from legato.wire.contract import End, Projected, Voice

_PERSON = Authority.PERSON
_HUMAN, _ANSWER, _RESULTS = End.HUMAN, End.ANSWER, End.RESULTS


def print_row(units: Sequence[Unit | None], first: int, voice: Voice, page: Assembly, projected: Projected) -> None:
    """Print `units` from number `first` up to one that is not plain, or that the target cannot take as it is.

    One loop and no function for a unit or a block, because calling one would take as long as what it does.
    """
    capabilities = voice.target.capabilities
    takes_calls = capabilities.native_tool_history and capabilities.text_beside_calls
    most_calls = capabilities.max_calls if takes_calls else 0
    takes_answers = not continues_answers(voice.target)  # else the white space at their end must go
    ids, project = voice.ids, voice.names.project
    same_names: set[str] = set()
    messages, starts, ends = page.messages, page.starts, page.ends
    end = page.end
    last: list[JsonObject] = messages[-1]["content"] if messages else []
    for number in range(first, len(units)):
        unit = units[number]
        if type(unit) is Said:
            text = unit.blocks[0]
            if len(unit.blocks) > 1 or type(text) is not Text or unit.authority is not _PERSON:
                return
            starts.append((len(messages), len(last)))
            if end is _HUMAN or end is _RESULTS:
                if messages[-1] is page.lent:
                    last = page.open_last()["content"]
                last.append({"type": "text", "text": text.text})
            else:
                last = [{"type": "text", "text": text.text}]
                messages.append({"role": "user", "content": last})
            end = _HUMAN
        elif type(unit) is Exchange and (end is _HUMAN or end is _RESULTS):
            outputs = unit.outputs
            if outputs is None or len(outputs) > most_calls or not (outputs or takes_answers):
                return
            answer: list[JsonObject] = []
            results: list[JsonObject] = []
            for block in unit.blocks:
                if type(block) is ToolCall:
                    name = block.name
                    if name not in same_names:
                        if project(name) != name:
                            return
                        same_names.add(name)
                    wire_id, output = ids[block.id], outputs[len(results)]
                    answer.append({"type": "tool_use", "id": wire_id, "name": name, "input": block.arguments})
                    results.append({"type": "tool_result", "tool_use_id": wire_id, "content": output})
                elif type(block) is Text:
                    answer.append({"type": "text", "text": block.text})
            if unit.has_failed:
                _mark_failures(results, unit)
            starts.append((len(messages), len(last)))
            messages.append({"role": "assistant", "content": answer})
            last, end = answer, _ANSWER
            if results:
                messages.append({"role": "user", "content": results})
                last, end = results, _RESULTS
        else:
            return
        ends.append(end)


def _mark_failures(results: list[JsonObject], unit: Exchange) -> None:
    for result, completion in zip(results, unit.completions, strict=True):
        if completion.is_error:
            result["is_error"] = True
