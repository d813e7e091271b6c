"""Print plain units in a row.

In:  units in order, the voice of the target, and the messages that were printed so far.
Out: the same messages with all units printed up to the first about which something has to be decided.

A long history is nearly all plain: a person's text, an answer of text and calls, for each call a text. What such units
come to is the same as what `spell` and the assembler would make of them, without asking each block what it is and
without anything made only to be taken apart again: the first render of a conversation prints thousands of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from legato.model import Authority, JsonObject, Text, ToolCall
from legato.transcript.units import CompletionKind, Exchange, Said, Unit, completion_text
from legato.wire.anthropic.answer import continues_answers
from legato.wire.assembly import Assembly
from legato.wire.contract import End, Voice
from legato.wire.names import KeptNames

_PERSON = Authority.PERSON
_HUMAN, _ANSWER, _RESULTS = End.HUMAN, End.ANSWER, End.RESULTS
_SUCCESS = CompletionKind.SUCCESS


def print_row(units: Sequence[Unit | None], first: int, voice: Voice, page: Assembly) -> None:
    """Print `units` from number `first` up to one that is not plain, or that the target cannot take as it is."""
    capabilities = voice.target.capabilities
    takes_calls = capabilities.native_tool_history and capabilities.text_beside_calls
    most_calls = capabilities.max_calls if takes_calls else 0
    takes_answers = not continues_answers(voice.target)  # else the white space at their end must go
    kept = KeptNames(voice.names)
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
        elif type(unit) is Exchange and unit.is_plain and (end is _HUMAN or end is _RESULTS):
            count = len(unit.completions)
            fits = count <= most_calls if count else takes_answers
            printed = _print_exchange(unit, voice, kept) if fits else None
            if printed is None:
                return
            answer, results = printed
            starts.append((len(messages), len(last)))
            messages.append({"role": "assistant", "content": answer})
            if results:
                messages.append({"role": "user", "content": results})
                last, end = results, _RESULTS
            else:
                last, end = answer, _ANSWER
        else:
            return
        ends.append(end)


def _print_exchange(unit: Exchange, voice: Voice, kept: KeptNames) -> tuple[list[JsonObject], list[JsonObject]] | None:
    """The blocks of the answer and of its results; None if a tool has another name there."""
    ids, completions = voice.ids, unit.completions
    answer: list[JsonObject] = []
    results: list[JsonObject] = []
    for block in unit.blocks:
        if type(block) is ToolCall:
            name = block.name
            if not kept[name]:
                return None
            wire_id, completion = ids[block.id], completions[len(results)]
            answer.append({"type": "tool_use", "id": wire_id, "name": name, "input": block.arguments})
            output = completion.result
            if type(output) is not str or completion.kind is not _SUCCESS or completion.ran_with is not None:
                output = completion_text(completion)
            results.append({"type": "tool_result", "tool_use_id": wire_id, "content": output})
            if completion.kind is not _SUCCESS:
                results[-1]["is_error"] = True
        elif type(block) is Text:
            answer.append({"type": "text", "text": block.text})
    return answer, results
