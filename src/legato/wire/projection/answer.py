"""Which parts an answer of a model has for a target.

In:  the blocks of an exchange, in the order in which the model said them.
Out: parts in that order: its words, its calls under the target's ids and names, and what only its own provider can
     read, where the target is that provider.

Own data goes back in the form that the provider gave it, through the dialect's `own`; everything else that a target
cannot read is told as text or left out, each time as a decision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias, assert_never

from legato.model import (
    Action,
    CallKind,
    Code,
    Decision,
    Foreign,
    HostedTool,
    JsonObject,
    Media,
    Text,
    Thinking,
    ToolCall,
    qualified,
)
from legato.transcript.units import AnswerBlock, Exchange
from legato.wire.phrases import media_omitted
from legato.wire.plain import fenced, hosted_text
from legato.wire.projection import decisions as why
from legato.wire.projection.decisions import projected
from legato.wire.projection.grammar import Grammar
from legato.wire.projection.messages import AnswerPart, CallPart, OwnPart, TextPart
from legato.wire.projection.results import has_media_after
from legato.wire.voice import End, Thoughts, Voice


class Place(NamedTuple):
    """Where a block stands: how the unit before its answer ended, and what follows the answer."""

    before: End
    has_results: bool
    """the results of tools of ours follow, with nothing beside them"""


Own: TypeAlias = Callable[[AnswerBlock, Place], list[JsonObject] | None]
"""A block as its own provider wants it back, which is for its dialect to know; None if it has no such form.

Of a call these are the fields beside the id, the name and the arguments. An empty list means that the provider knows
it anyway and has no place for it in a request.
"""


class AnswerProjector:
    """Projects the answers of one conversation for one target."""

    def __init__(self, voice: Voice, grammar: Grammar, own: Own) -> None:
        self._voice = voice
        self._grammar = grammar
        self._own = own

    def parts(self, unit: Exchange, before: End, thoughts: Thoughts, decisions: list[Decision]) -> list[AnswerPart]:
        """The parts of the answer in `unit`, without its calls where the target takes none."""
        parts: list[AnswerPart] = []
        home = self._voice.is_home(unit.origin)
        # Where only calls may stand beside calls, the rest of the answer is a message of its own, without results.
        is_answered = bool(unit.completions) and self._grammar.native_calls and self._grammar.text_beside_calls
        place = Place(
            before,
            is_answered
            and not any(
                has_media_after(done, self._grammar, withheld=self._voice.withheld) for done in unit.completions
            ),
        )
        for block in unit.blocks:
            match block:
                case ToolCall():
                    if self._grammar.native_calls:
                        parts.append(self._call(block, place, home, decisions))
                    else:
                        _leave_thoughts(parts, decisions)  # they led to a call that is left out
                case Text():
                    parts += self._text(block, place, home, decisions)
                case Thinking():
                    parts += self._thinking(block, place, home, thoughts, decisions)
                case HostedTool():
                    parts += self._hosted(block, place, home, decisions)
                case Media():
                    parts += self._media(block, place, home, decisions)
                case Code():
                    parts.append(TextPart(fenced(block), apart=True))
                case _:
                    assert_never(block)
        return parts

    def _call(self, call: ToolCall, place: Place, home: bool, decisions: list[Decision]) -> CallPart:
        grammar = self._grammar
        extra = self._own(call, place) if home and call.native is not None else None
        fields = extra[0] if extra else None
        if call.namespace and grammar.namespaces:
            name = self._voice.names.project(call.name)
            fields = {"namespace": call.namespace} | (fields or {})
        else:
            name = self._voice.names.project(call.name, call.namespace)
        if name != call.name:
            detail = f"{qualified(call.name, call.namespace)} is called {name} there"
            decisions.append(projected(Action.RENAMED, "tool-name", detail, call.id))
        custom = call.kind is CallKind.CUSTOM
        takes_text = grammar.custom_calls or (home and grammar.own_custom_calls)
        if custom and not (takes_text and isinstance(call.arguments.get("input"), str)):
            custom = False
            detail = "a free-text call became a function call"
            decisions.append(projected(Action.CONVERTED, "custom-call", detail, call.id))
        return CallPart(self._voice.ids[call.id], name, call, fields, custom)

    def _text(self, block: Text, place: Place, home: bool, decisions: list[Decision]) -> list[AnswerPart]:
        if block.native is not None:
            own = self._own(block, place) if home else None
            if own:
                return [OwnPart(block, own)]
            if not block.text or block.text.isspace():
                decisions.append(why.BLANK_TEXT)
                return []
        return [TextPart(block.text)]

    def _thinking(
        self, block: Thinking, place: Place, home: bool, thoughts: Thoughts, decisions: list[Decision]
    ) -> list[AnswerPart]:
        """A thought in its own form, as text, or not at all."""
        if thoughts is Thoughts.HELD_BACK:
            decisions.append(why.BY_POLICY)
            return []
        is_own = home and self._grammar.own_thoughts
        own = self._own(block, place) if is_own else None
        if own is not None:
            if self._grammar.thoughts_while_thinking and not self._voice.thinking_on:
                decisions.append(why.THINKING_OFF)
                return []
            if thoughts is Thoughts.SILENCED:
                decisions.append(why.SILENCED)
                return []
            return [OwnPart(block, own)] if own else []
        if self._voice.foreign is Foreign.TEXT and block.text and not block.text.isspace():
            decisions.append(why.UNSIGNED_SHOWN if is_own else why.FOREIGN_SHOWN)
            return [TextPart(block.text, apart=True)]
        decisions.append(why.UNSIGNED_DROPPED if is_own else why.FOREIGN_DROPPED)
        return []

    def _hosted(self, block: HostedTool, place: Place, home: bool, decisions: list[Decision]) -> list[AnswerPart]:
        own = self._own(block, place) if home else None
        if own:
            return [OwnPart(block, own)]
        if own is not None:
            decisions.append(why.HOSTED_KNOWN)
            return []
        if block.silent:
            detail = f"a record that its own provider keeps ({block.name}) has nothing to tell to another"
            decisions.append(projected(Action.DROPPED, "control-item", detail))
            return []
        decisions.append(why.HOSTED_TOLD)
        return [TextPart(hosted_text(block), apart=True)]

    def _media(self, block: Media, place: Place, home: bool, decisions: list[Decision]) -> list[AnswerPart]:
        own = self._own(block, place) if home else None
        if own:
            return [OwnPart(block, own)]
        decisions.append(why.MEDIA_OMITTED)
        return [TextPart(media_omitted(block.kind, block.mime), apart=True)]


def _leave_thoughts(parts: list[AnswerPart], decisions: list[Decision]) -> None:
    while parts and is_thought(parts[-1]):
        parts.pop()
        decisions.append(why.DANGLING)


def is_thought(part: AnswerPart) -> bool:
    """Whether `part` is a thought of the model's own."""
    return type(part) is OwnPart and type(part.block) is Thinking


def is_text(part: AnswerPart) -> bool:
    """Whether `part` is text, with or without data of its provider's own."""
    return type(part) is TextPart or (type(part) is OwnPart and type(part.block) is Text)
