"""The messages that a unit becomes, in an order that the target takes.

In:  a unit, and how the one before it ended.
Out: its messages, with whatever has to be between them, and the decisions.

An exchange is one round of calls and results, or several where the target limits the calls of a message. A target that
takes no calls gets the answer without them and the results as human text, so that the model does not learn to write
calls as text. What must be between two units is at the head of the later one: how a unit is projected depends
only on what came before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from msgspec.structs import replace

from legato.model import Action, Authority, Code, Decision, Media, MediaKind, Text
from legato.transcript.units import Exchange, Said, SaidBlock, Summary, Unit
from legato.wire import phrases
from legato.wire.context import EncodeContext, End, Thoughts
from legato.wire.projection import decisions as why
from legato.wire.projection.answer import AnswerProjector, Own, is_text, is_thought
from legato.wire.projection.decisions import missing_signature, missing_thought, projected
from legato.wire.projection.grammar import Grammar
from legato.wire.projection.messages import (
    AnswerMessage,
    AnswerPart,
    CallPart,
    HumanMessage,
    HumanPart,
    MediaPart,
    Message,
    OwnPart,
    Projection,
    ResultPart,
    ResultsMessage,
    TextPart,
)
from legato.wire.projection.results import ResultProjector
from legato.wire.text_forms import fenced


class Projector:
    """Projects the units of one conversation for one target."""

    def __init__(self, context: EncodeContext, grammar: Grammar, own: Own) -> None:
        self._grammar = grammar
        self._results = ResultProjector(grammar, context.withheld)
        self._answers = AnswerProjector(context, grammar, own, self._results)
        self._demands_thoughts = grammar.demands_thoughts and context.thinking_on
        self._demands_every_thought = grammar.demands_every_thought and context.thinking_on

    def project(self, unit: Unit, before: End, thoughts: Thoughts = Thoughts.SHOWN) -> Projection:
        """What `unit` becomes after a unit that ended with `before`."""
        page = _Page(self._grammar, before, unit, bridge_lacks_thought=self._demands_every_thought)
        match unit:
            case Said():
                self._said(unit, page)
            case Summary():
                page.human([TextPart(phrases.SUMMARY_MARK + unit.text)])
            case Exchange():
                parts = self._answers.parts(unit, before, thoughts, page.decisions)
                if unit.completions and self._grammar.native_calls:
                    self._rounds(unit, parts, page)
                else:
                    self._answer(parts, page)
                    self._embedded(unit, page)
            case _:
                assert_never(unit)
        return page.finished()

    def tail(self, end: End, *, is_empty: bool = False) -> Projection:
        """What must be at the end because a request may not end otherwise, or because without it `is_empty`."""
        needs_words = is_empty or (end is End.ANSWER and not self._grammar.continues_answers)
        if not needs_words:
            return Projection([], end)
        reason = why.NOTHING_SAID if is_empty else why.TAIL
        return Projection([HumanMessage([TextPart(phrases.CONTINUE)])], End.HUMAN, (reason,))

    # --- the human side -----------------------------------------------------------------------------------------------

    def _said(self, unit: Said, page: _Page) -> None:
        grammar = self._grammar
        parts = [self._said_part(block, page.decisions) for block in unit.blocks]
        if unit.authority is Authority.PERSON:
            page.human(parts)
        elif self._may_instruct(parts, page.end):
            page.instruct(parts)
        else:
            page.decisions.append(why.INSTRUCTION_TOLD)
            page.human(_marked(parts, every_text=grammar.joins_turns))

    def _said_part(self, block: SaidBlock, decisions: list[Decision]) -> HumanPart:
        match block:
            case Text():
                return TextPart(block.text, apart=True)  # unlike the pieces of an answer, each was written by itself
            case Code():
                return TextPart(fenced(block), apart=True)
            case Media():
                if self._grammar.accepts(block):
                    return MediaPart(block)
                decisions.append(why.MEDIA_OMITTED)
                return TextPart(phrases.media_omitted(block.kind, block.mime), apart=True)
            case _:
                assert_never(block)

    def _may_instruct(self, parts: Sequence[HumanPart], before: End) -> bool:
        grammar = self._grammar
        if not grammar.instructions:
            return False
        if not grammar.instruction_media and any(type(part) is MediaPart for part in parts):
            return False
        return grammar.instructions_after_answers or before is End.START or before is End.HUMAN

    # --- answers and results ------------------------------------------------------------------------------------------

    def _answer(self, parts: list[AnswerPart], page: _Page) -> None:
        """An answer that asks for nothing, or whose calls are left out."""
        parts = self._in_order(parts, page.decisions)
        if not parts:
            return
        last = parts[-1]
        if self._grammar.trims_answers and type(last) is TextPart and last.text[-1:].isspace():
            parts[-1] = TextPart(last.text.rstrip(), last.apart)
            page.decisions.append(why.TRIMMED)
        self._say(parts, page)

    def _say(self, parts: list[AnswerPart], page: _Page) -> None:
        """An answer, or a part of one, without calls."""
        lacks_thought = self._demands_every_thought and not any(map(is_thought, parts))
        if lacks_thought:
            page.decisions.append(missing_thought())
        page.answer(parts, placeholder=lacks_thought)

    def _rounds(self, unit: Exchange, parts: list[AnswerPart], page: _Page) -> None:
        """Calls, each round with its results right behind it; then the media that no result can hold."""
        grammar, decisions = self._grammar, page.decisions
        rounds = _split(parts, grammar.max_calls)
        if len(rounds) > 1:
            detail = f"the target takes at most {grammar.max_calls} in a message"
            decisions.append(projected(Action.CONVERTED, "calls-split", detail, *(call.id for call in unit.calls)))
        after: list[HumanPart] = []
        completions = iter(unit.completions)
        for parts_of_round in rounds:
            ordered = self._in_order(parts_of_round, decisions)
            self._calls(ordered, page)
            results: list[ResultPart] = []
            for part in ordered:
                if type(part) is CallPart:
                    result, media = self._results.project(part, next(completions), decisions)
                    results.append(result)
                    if media:
                        after.append(TextPart(phrases.MEDIA_CAPTION.format(tool=part.name), apart=True))
                        after += map(MediaPart, media)
            page.results(results)
        if after:
            page.human(after)

    def _calls(self, parts: list[AnswerPart], page: _Page) -> None:
        """The answer of one round; what it says is apart from its calls where the target wants that."""
        if not self._grammar.text_beside_calls:
            parts = self._say_apart(parts, page)
        calls = [part for part in parts if type(part) is CallPart]
        lacks_thought = self._demands_thoughts and not any(map(is_thought, parts))
        lacks_signature = self._grammar.call_signatures and calls[0].extra is None
        if lacks_thought:
            page.decisions.append(missing_thought(part.call.id for part in calls))
        if lacks_signature:
            page.decisions.append(missing_signature(calls[0].call.id))
        page.answer(parts, placeholder=lacks_thought or lacks_signature)

    def _say_apart(self, parts: list[AnswerPart], page: _Page) -> list[AnswerPart]:
        """Say what is beside calls in a message of its own; returns what stays with the calls."""
        said: list[AnswerPart] = []
        rest: list[AnswerPart] = []
        for part in parts:
            # A thought stays with the words it led to, unless the calls are refused without one.
            stays = type(part) is CallPart or (self._demands_thoughts and is_thought(part))
            (rest if stays else said).append(part)
        if not all(map(is_thought, said)):
            page.decisions.append(why.TEXT_APART)
            self._say(said, page)
            return rest
        if self._grammar.thoughts_beside_calls:
            return parts
        page.decisions += [why.DANGLING] * len(said)
        return rest

    def _embedded(self, unit: Exchange, page: _Page) -> None:
        """The results of calls that are left out, each as what the human side says."""
        if not unit.completions:
            return
        for completion in unit.completions:
            page.human(self._results.embed(completion, page.decisions))
        detail = "results became human text and their calls were left out"
        page.decisions.append(projected(Action.CONVERTED, "text-embed", detail, *(call.id for call in unit.calls)))

    def _in_order(self, parts: list[AnswerPart], decisions: list[Decision]) -> list[AnswerPart]:
        """The parts of one message in an order that the target takes; none if there is nothing but thoughts."""
        grammar = self._grammar
        if not grammar.text_after_calls:
            parts = _text_first(parts, decisions)
        if not any(map(is_thought, parts)):
            return parts
        kept: list[AnswerPart] = []
        is_led_to = not all(map(is_thought, parts)) and grammar.thoughts_may_end
        for part in reversed(parts):
            if not is_thought(part):
                is_led_to = grammar.thoughts_may_end or not self._is_outcome(part)
            elif not is_led_to:
                decisions.append(why.DANGLING)
                continue
            kept.append(part)
        parts = kept[::-1]
        if grammar.thoughts_lead and parts and not is_thought(parts[0]):
            others = [part for part in parts if not is_thought(part)]
            decisions += [why.OUT_OF_ORDER] * (len(parts) - len(others))
            return others
        return parts

    def _is_outcome(self, part: AnswerPart) -> bool:
        """Whether `part` only holds the result of a call that the provider ran."""
        ending = self._grammar.outcomes
        return bool(ending) and type(part) is OwnPart and str(part.objects[0].get("type", "")).endswith(ending)


class _Page:
    """The messages of one unit. It knows what may follow what, and puts a bridge where something must be between."""

    def __init__(self, grammar: Grammar, before: End, unit: Unit, *, bridge_lacks_thought: bool) -> None:
        self._grammar = grammar
        self._unit = unit
        self._documents = 0
        self._bridge_lacks_thought = bridge_lacks_thought
        self.end = before
        self._messages: list[Message] = []
        self.decisions: list[Decision] = []

    def human(self, parts: list[HumanPart]) -> None:
        if self.end is End.RESULTS and not self._grammar.user_after_tool:
            self._messages.append(AnswerMessage([TextPart(phrases.ANSWER_BRIDGE)], self._bridge_lacks_thought))
            self.decisions.append(why.ANSWER_BRIDGED)
        self._add(HumanMessage(self._named(parts) if self._grammar.names_documents else parts), End.HUMAN)

    def _named(self, parts: list[HumanPart]) -> list[HumanPart]:
        """The same with a name for every document, from the place of the unit, and a text beside them."""
        before = self._documents
        named = [MediaPart(self._with_name(part.media)) if type(part) is MediaPart else part for part in parts]
        if self._documents > before and not any(type(part) is TextPart for part in parts):
            named.append(TextPart(phrases.DOCUMENT_CAPTION))
        return named

    def _with_name(self, media: Media) -> Media:
        if media.kind is not MediaKind.DOCUMENT:
            return media
        self._documents += 1
        unit = self._unit
        part = 0 if isinstance(unit, Summary) else unit.part
        return replace(media, name=phrases.unique_name(media.name, unit.key, part, self._documents))

    def instruct(self, parts: list[HumanPart]) -> None:
        self._add(HumanMessage(parts, instructs=True), End.HUMAN)

    def answer(self, parts: list[AnswerPart], *, placeholder: bool = False) -> None:
        if self._needs_human(parts):
            self._messages.append(HumanMessage([TextPart(phrases.HUMAN_BRIDGE)]))
            self.decisions.append(why.HUMAN_BRIDGED)
        self._add(AnswerMessage(parts, placeholder), End.ANSWER)

    def results(self, results: list[ResultPart]) -> None:
        if self._grammar.names_documents:
            results = [replace(part, media=tuple(map(self._with_name, part.media))) for part in results]
        self._add(ResultsMessage(results), End.RESULTS)

    def _add(self, message: Message, end: End) -> None:
        self._messages.append(message)
        self.end = end

    def finished(self) -> Projection:
        return Projection(self._messages, self.end, tuple(self.decisions))

    def _needs_human(self, parts: list[AnswerPart]) -> bool:
        grammar = self._grammar
        match self.end:
            case End.START:
                has_calls = any(type(part) is CallPart for part in parts)
                return not grammar.answer_first or (has_calls and not grammar.calls_first)
            case End.ANSWER:
                return not grammar.answers_in_a_row
            case End.HUMAN | End.RESULTS:
                return False


def _marked(parts: list[HumanPart], *, every_text: bool) -> list[HumanPart]:
    """An instruction as human text: its first text is marked, or every one; one that holds none gets the mark alone."""
    marked: list[HumanPart] = []
    is_marked = False
    for part in parts:
        if type(part) is TextPart and (every_text or not is_marked):
            part = TextPart(phrases.INSTRUCTION_MARK + part.text, part.apart)
            is_marked = True
        marked.append(part)
    return marked if is_marked else [TextPart(phrases.INSTRUCTION_MARK.strip()), *marked]


def _split(parts: list[AnswerPart], most: int) -> list[list[AnswerPart]]:
    """Rounds of no more than `most` calls; what was said before a call stays with it, the rest with the last one."""
    rounds: list[list[AnswerPart]] = [[]]
    count = 0
    waiting: list[AnswerPart] = []
    for part in parts:
        if type(part) is not CallPart:
            waiting.append(part)
            continue
        if count == most:
            rounds.append([])
            count = 0
        rounds[-1] += (*waiting, part)
        waiting = []
        count += 1
    rounds[-1] += waiting
    return rounds


def _text_first(parts: list[AnswerPart], decisions: list[Decision]) -> list[AnswerPart]:
    """What was said between or behind calls, before them; the provider's own parts stay among the calls."""
    lead: list[AnswerPart] = []
    calls: list[AnswerPart] = []
    is_moved = False
    for part in parts:
        if is_text(part):
            lead.append(part)
            is_moved = is_moved or bool(calls)
        elif calls or type(part) is CallPart:
            calls.append(part)
        else:
            lead.append(part)
    if is_moved:
        decisions.append(why.TEXT_MOVED)
    return lead + calls
