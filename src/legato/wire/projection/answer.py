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
from legato.wire.context import EncodeContext, End, Thoughts
from legato.wire.phrases import media_omitted
from legato.wire.projection import decisions as why
from legato.wire.projection.decisions import projected
from legato.wire.projection.grammar import Grammar
from legato.wire.projection.messages import AnswerPart, CallPart, OwnPart, TextPart
from legato.wire.projection.results import ResultProjector
from legato.wire.text_forms import fenced, hosted_text


class Place(NamedTuple):
    """Where a block is: how the unit before its answer ended, and what follows the answer."""

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

    def __init__(self, context: EncodeContext, grammar: Grammar, own: Own, results: ResultProjector) -> None:
        self._context = context
        self._grammar = grammar
        self._own = own
        self._results = results

    def parts(self, unit: Exchange, before: End, thoughts: Thoughts, decisions: list[Decision]) -> list[AnswerPart]:
        """The parts of the answer in `unit`, without its calls where the target takes none."""
        grammar, home = self._grammar, self._context.is_home(unit.origin)
        place = Place(before, self._is_answered(unit))
        parts: list[AnswerPart] = []
        for block in unit.blocks:
            match block:
                case ToolCall():
                    if grammar.native_calls:
                        parts.append(self._call(block, place, home, decisions))
                    else:
                        _leave_thoughts(parts, decisions)  # they led to a call that is left out
                case Thinking():
                    parts += self._thinking(block, place, home and grammar.own_thoughts, thoughts, decisions)
                case Code():
                    parts.append(TextPart(fenced(block), apart=True))
                case Text(native=None):
                    parts.append(TextPart(block.text))
                case Text() | HostedTool() | Media():
                    own = self._own(block, place) if home else None
                    parts += [OwnPart(block, own)] if own else _told(block, own, decisions)
                case _:
                    assert_never(block)
        return parts

    def _is_answered(self, unit: Exchange) -> bool:
        """Whether results of our own tools follow the answer, with nothing beside them."""
        grammar = self._grammar
        # Where only calls may be beside calls, the rest of the answer is a message of its own, without results.
        if not unit.completions or not grammar.native_calls or not grammar.text_beside_calls:
            return False
        return not any(map(self._results.has_media_after, unit.completions))

    def _call(self, call: ToolCall, place: Place, home: bool, decisions: list[Decision]) -> CallPart:
        grammar = self._grammar
        extra = self._own(call, place) if home and call.native is not None else None
        fields = extra[0] if extra else None
        if call.namespace and grammar.namespaces:
            name = self._context.names.project(call.name)
            fields = {"namespace": call.namespace} | (fields or {})
        else:
            name = self._context.names.project(call.name, call.namespace)
        if name != call.name:
            detail = f"{qualified(call.name, call.namespace)} is called {name} there"
            decisions.append(projected(Action.RENAMED, "tool-name", detail, call.id))
        custom = call.kind is CallKind.CUSTOM
        takes_text = grammar.custom_calls or (home and grammar.own_custom_calls)
        if custom and not (takes_text and isinstance(call.arguments.get("input"), str)):
            custom = False
            detail = "a free-text call became a function call"
            decisions.append(projected(Action.CONVERTED, "custom-call", detail, call.id))
        return CallPart(self._context.ids[call.id], name, call, fields, custom)

    def _thinking(
        self, block: Thinking, place: Place, is_own: bool, thoughts: Thoughts, decisions: list[Decision]
    ) -> list[AnswerPart]:
        """A thought in its own form, as text, or not at all."""
        if thoughts is Thoughts.HELD_BACK:
            decisions.append(why.BY_POLICY)
            return []
        own = self._own(block, place) if is_own else None
        if own is None and self._context.foreign is Foreign.TEXT and block.text and not block.text.isspace():
            decisions.append(why.UNSIGNED_SHOWN if is_own else why.FOREIGN_SHOWN)
            return [TextPart(block.text, apart=True)]
        if own is None:
            decisions.append(why.UNSIGNED_DROPPED if is_own else why.FOREIGN_DROPPED)
            return []
        if self._grammar.thoughts_while_thinking and not self._context.thinking_on:
            decisions.append(why.THINKING_OFF)
            return []
        if thoughts is Thoughts.SILENCED:
            decisions.append(why.SILENCED)
            return []
        return [OwnPart(block, own)] if own else []


def _told(
    block: Text | HostedTool | Media, own: list[JsonObject] | None, decisions: list[Decision]
) -> list[AnswerPart]:
    """What stands for a block that does not go back in its own form; `own` is empty if its provider knows it anyway."""
    match block:
        case Text() if block.text and not block.text.isspace():
            return [TextPart(block.text)]
        case Text():
            decisions.append(why.BLANK_TEXT)
            return []
        case HostedTool() if own is not None:
            decisions.append(why.HOSTED_KNOWN)
            return []
        case HostedTool(silent=True):
            detail = f"a record that its own provider keeps ({block.name}) has nothing to tell to another"
            decisions.append(projected(Action.DROPPED, "control-item", detail))
            return []
        case HostedTool():
            decisions.append(why.HOSTED_TOLD)
            return [TextPart(hosted_text(block), apart=True)]
        case Media():
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
