"""Encode the units of one conversation for one target.

In:  units in order, and what a dialect provides: a grammar and a table of shapes.
Out: the messages of each unit, how it ended, and what was decided.

The general way projects a unit and spells what it became. Nearly all units of a long history are simple, though: a
person's text, an answer of text and calls, for each call a text. About these nothing has to be decided that is not the
same for all of them, so `append_simple` spells them in one loop from the same shapes, without the values in between;
docs/decisions/0011 has the figures, and a property compares both ways over any log.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from legato.model import Authority, Decision, JsonObject, Text, ToolCall
from legato.transcript.units import CompletionKind, Exchange, Said, Unit
from legato.wire.assembly import Assembly
from legato.wire.projection import AnswerMessage, Grammar, HumanMessage, Message, Projector, ResultsMessage
from legato.wire.projection.decisions import missing_signature, missing_thought
from legato.wire.projection.results import mark_failure
from legato.wire.shapes import Shapes
from legato.wire.voice import End, Voice

_PERSON = Authority.PERSON
_SUCCESS = CompletionKind.SUCCESS
_START, _HUMAN, _ANSWER, _RESULTS = End


class EncodedUnit(Struct, frozen=True, gc=False):
    """One unit as a dialect spells it. No messages: the target is sent nothing of it."""

    messages: tuple[JsonObject, ...]
    end: End
    decisions: tuple[Decision, ...] = ()


Projected: TypeAlias = dict[int, tuple[Decision, ...]]
"""What was decided when units were encoded, by the place of the unit."""


class Encoder:
    """Encodes for one target."""

    def __init__(self, voice: Voice, grammar: Grammar, shapes: Shapes) -> None:
        self._voice = voice
        self._grammar = grammar
        self._shapes = shapes
        self._projector = Projector(voice, grammar, shapes.own)
        self._demands_thoughts = grammar.demands_thoughts and voice.thinking_on
        may_begin = grammar.answer_first and grammar.calls_first
        follows = {_HUMAN: True, _RESULTS: True, _START: may_begin, _ANSWER: grammar.answers_in_a_row}
        self._before_answers = frozenset(end for end, follow in follows.items() if follow)
        """how a unit may end before a simple answer, with nothing between them"""
        takes_calls = grammar.native_calls and grammar.text_beside_calls
        self._most_calls = grammar.max_calls if takes_calls else 0

    def encode(self, unit: Unit, before: End, keep_thinking: bool) -> EncodedUnit:
        """One unit, after one that ended with `before`."""
        projection = self._projector.project(unit, before, keep_thinking)
        return EncodedUnit(self._spell(projection.messages), projection.end, projection.decisions)

    def tail(self, end: End) -> EncodedUnit:
        """What must stand at the end because a request may not end otherwise."""
        projection = self._projector.tail(end)
        return EncodedUnit(self._spell(projection.messages), projection.end, projection.decisions)

    def _spell(self, messages: list[Message]) -> tuple[JsonObject, ...]:
        shapes = self._shapes
        spelled: list[JsonObject] = []
        for message in messages:
            match message:
                case HumanMessage():
                    spelled.append(shapes.human(message))
                case AnswerMessage():
                    spelled += shapes.answer(message)
                case ResultsMessage():
                    spelled += shapes.results(message)
        return tuple(spelled)

    # --- simple units -------------------------------------------------------------------------------------------------

    def append_simple(self, units: Sequence[Unit | None], first: int, page: Assembly, decided: Projected) -> None:
        """Append `units` from number `first` up to one about which something has to be decided."""
        needs_bridge = not self._grammar.user_after_tool
        before_answers, human_text = self._before_answers, self._shapes.human_text
        simple_names: set[str] = set()
        for number in range(first, len(units)):
            unit, end = units[number], page.end
            if type(unit) is Said:
                text = unit.blocks[0]
                if len(unit.blocks) > 1 or type(text) is not Text or unit.authority is not _PERSON:
                    return
                if needs_bridge and end is _RESULTS:
                    return
                page.append((human_text(text.text),), _HUMAN)
            elif type(unit) is Exchange and unit.outputs is not None and end in before_answers:
                messages = self._simple_exchange(unit, unit.outputs, simple_names)
                if messages is None:
                    return
                if unit.outputs and (decisions := self._decisions(unit)):
                    decided[len(page.ends)] = decisions
                page.append(messages, _RESULTS if unit.outputs else _ANSWER)
            else:
                return

    def _simple_exchange(
        self, unit: Exchange, outputs: tuple[str, ...], simple_names: set[str]
    ) -> list[JsonObject] | None:
        """The messages of a simple exchange; None if the target cannot take it as it is."""
        grammar, shapes, ids = self._grammar, self._shapes, self._voice.ids
        if len(outputs) > self._most_calls or (grammar.trims_answers and not outputs):
            return None
        texts: list[JsonObject] = []
        calls: list[JsonObject] = []
        results: list[JsonObject] = []
        for block in unit.blocks:
            if type(block) is ToolCall:
                name, failed = block.name, False
                if name not in simple_names:
                    if self._voice.names.project(name) != name:
                        return None
                    simple_names.add(name)
                output = outputs[len(results)]
                completion = unit.completions[len(results)]
                if completion.kind is not _SUCCESS:
                    failed = True
                    if not grammar.error_flag:
                        output = mark_failure(output, completion)
                elif grammar.json_results and output is not completion.result:
                    return None
                wire_id = ids[block.id]
                calls.append(shapes.call(wire_id, name, block))
                results.append(shapes.result(wire_id, name, output, failed))
            elif type(block) is Text:
                texts.append(shapes.text(block.text))
        needs_placeholder = self._demands_thoughts or grammar.call_signatures
        answer = shapes.answer_of(texts, calls, needs_placeholder and bool(calls))
        return answer + shapes.results_of(results) if results else answer

    def _decisions(self, unit: Exchange) -> tuple[Decision, ...]:
        """What is decided about a simple exchange with calls: it holds neither thoughts nor signatures."""
        decisions: list[Decision] = []
        if self._demands_thoughts:
            decisions.append(missing_thought(completion.call_id for completion in unit.completions))
        if self._grammar.call_signatures:
            decisions.append(missing_signature(unit.completions[0].call_id))
        return tuple(decisions)
