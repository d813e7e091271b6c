"""Encode the units of one conversation for one target.

In:  units in order, and what a dialect provides: a grammar and a table of shapes.
Out: the messages of each unit, how it ended, and what was decided.

The general way projects a unit and encodes what it became. Nearly all units of a long history are simple, though: a
person's text, an answer of text and calls, for each call a text. About these nothing has to be decided that is not the
same for all of them, so `append_simple` encodes them in one loop from the same shapes, without the values in between;
docs/decisions/0011 has the figures, and a property compares both ways over any log.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from legato.model import Authority, Decision, JsonObject, Text, ToolCall
from legato.transcript.units import CompletionKind, Exchange, Said, Unit
from legato.wire.assembly import Assembly
from legato.wire.context import EncodeContext, End, Thoughts
from legato.wire.phrases import ANSWER_BRIDGE
from legato.wire.projection.decisions import ANSWER_BRIDGED, missing_signature, missing_thought
from legato.wire.projection.grammar import Grammar
from legato.wire.projection.messages import AnswerMessage, HumanMessage, Message, ResultsMessage
from legato.wire.projection.project import Projector
from legato.wire.projection.results import mark_failure
from legato.wire.shapes import Shapes

_PERSON = Authority.PERSON
_SUCCESS = CompletionKind.SUCCESS
_START, _HUMAN, _ANSWER, _RESULTS = End
_ENDS = (_HUMAN, _RESULTS, _ANSWER)
_BRIDGED = (ANSWER_BRIDGED,)


class EncodedUnit(Struct, frozen=True, gc=False):
    """One unit as a dialect encodes it. No messages: the target is sent nothing of it."""

    messages: tuple[JsonObject, ...]
    end: End
    decisions: tuple[Decision, ...] = ()


Projected: TypeAlias = dict[int, tuple[Decision, ...]]
"""What was decided when units were encoded, by the place of the unit."""


class Encoder:
    """Encodes for one target."""

    def __init__(self, context: EncodeContext, grammar: Grammar, shapes: Shapes) -> None:
        self._context = context
        self.grammar = grammar
        self._shapes = shapes
        self._projector = Projector(context, grammar, shapes.own)
        self._demands_thoughts = grammar.demands_thoughts and context.thinking_on
        self._demands_every_thought = grammar.demands_every_thought and context.thinking_on
        self._needs_placeholder = self._demands_thoughts or grammar.call_signatures
        self._bridges_people = not grammar.user_after_tool
        may_begin = grammar.answer_first and grammar.calls_first
        follows = {_HUMAN: True, _RESULTS: True, _START: may_begin, _ANSWER: grammar.answers_in_a_row}
        takes_calls = grammar.native_calls and grammar.text_beside_calls
        most = grammar.max_calls if takes_calls else 0
        self._most_calls = {end: most if follow else -1 for end, follow in follows.items()}
        """how many calls a simple answer may hold after a unit that ended so; -1 where something goes between them"""
        self._fewest_calls = int(grammar.trims_answers)  # what is trimmed is an answer without calls

    def encode(self, unit: Unit, before: End, thoughts: Thoughts = Thoughts.SHOWN) -> EncodedUnit:
        """One unit, after one that ended with `before`."""
        projection = self._projector.project(unit, before, thoughts)
        return EncodedUnit(self._encode_messages(projection.messages), projection.end, projection.decisions)

    def tail(self, end: End, *, is_empty: bool = False) -> EncodedUnit:
        """What must be at the end because a request may not end otherwise, or because without it `is_empty`."""
        projection = self._projector.tail(end, is_empty=is_empty)
        return EncodedUnit(self._encode_messages(projection.messages), projection.end, projection.decisions)

    def _encode_messages(self, messages: list[Message]) -> tuple[JsonObject, ...]:
        shapes = self._shapes
        encoded: list[JsonObject] = []
        for message in messages:
            match message:
                case HumanMessage():
                    encoded.append(shapes.human(message))
                case AnswerMessage():
                    encoded += shapes.answer(message)
                case ResultsMessage():
                    encoded += shapes.results(message)
        return tuple(encoded)

    # --- simple units -------------------------------------------------------------------------------------------------

    def append_simple(self, units: Sequence[Unit | None], first: int, page: Assembly, decided: Projected) -> None:
        """Append `units` from number `first` up to one about which something has to be decided."""
        count = len(page.messages)
        self._append_simple(units[first:] if first else units, page, decided)
        if len(page.messages) > count:
            page.own_last()

    def _append_simple(self, units: Sequence[Unit | None], page: Assembly, decided: Projected) -> None:
        """The loop itself.

        The calls of a simple exchange are encoded right here, and so are the places of units kept, because a function
        for each of them would take as long as what it does.
        """
        shapes, ids = self._shapes, self._context.ids
        encode_text, encode_call, encode_result, encode = shapes.text, shapes.call, shapes.result, shapes.exchange
        fewest, placeholder = self._fewest_calls, self._needs_placeholder
        messages, counts, fills, ends = page.messages, page.counts, page.fills, page.ends
        field, joins_results = page.blocks_field, not self._bridges_people
        end, simple_names = page.end, set[str]()
        most, after_said, after_results, after_answers = (self._most_calls[at] for at in (end, *_ENDS))
        joinable: list[JsonObject] | None = None
        """the blocks of the last message, if a person's words may be added to it"""
        for unit in units:
            if type(unit) is Said:
                text = unit.blocks[0]
                if type(text) is not Text or len(unit.blocks) > 1 or unit.authority is not _PERSON:
                    return
                if joinable is None:
                    self._append_said(text.text, end, page, decided)
                else:
                    fills.append(len(joinable))
                    counts.append(len(messages))
                    ends.append(_HUMAN)
                    joinable.append(encode_text(text.text))
                end, most = _HUMAN, after_said
                continue
            if type(unit) is not Exchange or (outputs := unit.outputs) is None or not fewest <= len(outputs) <= most:
                return
            verbatim = unit.verbatim
            texts: list[Any] = []
            calls: list[JsonObject] = []
            results: list[JsonObject] = []
            for block in unit.blocks:
                if type(block) is ToolCall:
                    name, wire_id = block.name, ids[block.id]
                    if name not in simple_names and not self._stays(name, simple_names):
                        return
                    calls.append(encode_call(wire_id, name, block))
                    if verbatim:
                        results.append(encode_result(wire_id, name, outputs[len(results)], False))
                elif type(block) is Text:
                    texts.append(encode_text(block.text))
            if not verbatim and not self._encode_results(unit, outputs, results):
                return
            lacks = placeholder if calls else self._demands_every_thought
            if lacks:
                decided[len(ends)] = self._missing(unit)
            end, most = (_RESULTS, after_results) if outputs else (_ANSWER, after_answers)
            added = encode(texts, calls, results, lacks)
            if field:
                fills.append(len(messages[-1][field]) if messages else 0)
                joinable = added[-1][field] if outputs and joins_results else None
            elif page.joins_pieces:
                fills.append(page.last_size)
            counts.append(len(messages))
            ends.append(end)
            messages += added

    def _append_said(self, text: str, before: End, page: Assembly, decided: Projected) -> None:
        """Append a person's words as a message of their own, behind a bridge if they may not follow results."""
        message = self._shapes.human_text(text)
        added: Sequence[JsonObject] = (message,)
        if before is _RESULTS and self._bridges_people:
            decided[len(page.ends)] = _BRIDGED
            bridge = self._shapes.exchange([self._shapes.text(ANSWER_BRIDGE)], [], [], self._demands_every_thought)
            added = (*bridge, message)
        if page.blocks_field or page.joins_pieces:
            page.append(added, _HUMAN)
        else:
            page.counts.append(len(page.messages))
            page.ends.append(_HUMAN)
            page.messages += added

    def _stays(self, name: str, simple_names: set[str]) -> bool:
        """Whether a tool has the same name there; remembered in `simple_names`."""
        if self._context.names.project(name) != name:
            return False
        simple_names.add(name)
        return True

    def _encode_results(self, unit: Exchange, outputs: Sequence[str], results: list[JsonObject]) -> bool:
        """Add to `results` those of an exchange of which some failed, or are no texts; false if they go as they are."""
        for call, completion, output in zip(unit.calls, unit.completions, outputs, strict=True):
            failed = completion.kind is not _SUCCESS
            if not failed and self.grammar.json_results and output is not completion.result:
                return False
            if failed and not self.grammar.error_flag:
                output = mark_failure(output, completion)
            results.append(self._shapes.result(self._context.ids[call.id], call.name, output, failed))
        return True

    def _missing(self, unit: Exchange) -> tuple[Decision, ...]:
        """What is decided about a simple exchange that lacks what is demanded: it holds no thoughts, no signatures."""
        decisions: list[Decision] = []
        if self._demands_thoughts:
            decisions.append(missing_thought(completion.call_id for completion in unit.completions))
        if self.grammar.call_signatures and unit.completions:
            decisions.append(missing_signature(unit.completions[0].call_id))
        return tuple(decisions)
