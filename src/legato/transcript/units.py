"""What we will say to the next model: units that cannot be wrong.

    Said      one human-side entry
    Exchange  one answer of the model, with one completion for every call, in call order
    Summary   what one compaction put in place of a run of units

An orphan cannot be expressed: `Exchange` refuses anything but a complete, ordered set of completions. Units are the
same for every target; a dialect prints them and repairs nothing. `key` is the sequence number of the record that a
unit began with.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr

from legato.errors import RenderError
from legato.ledger.completions import Completion, CompletionKind, completion_text, output_digest, whole_output
from legato.model import Authority, CallId, CallKind, Code, HostedTool, Media, Origin, Text, Thinking, ToolCall

SaidBlock: TypeAlias = Text | Media | Code
AnswerBlock: TypeAlias = Thinking | Text | ToolCall | HostedTool | Media | Code


class Said(Struct, frozen=True, omit_defaults=True, gc=False):
    """One human-side entry: never empty, no blank text."""

    key: int
    blocks: tuple[SaidBlock, ...]
    authority: Authority = Authority.PERSON
    part: int = 0
    """which one it is of the units that began with the same record"""


class Exchange(Struct, frozen=True, omit_defaults=True, gc=False):
    """One answer and one completion for every call in it, in call order; the constructor refuses anything else.

    `outputs` is there if the exchange is simple: text that says something, then function calls outside of any
    namespace, nothing native in them, and for each call a text, which is in `outputs`; there may be no text, or no
    calls. It is `verbatim` if, besides, those texts are just what the tools gave, and no call failed. Nearly all
    exchanges are such, and little has to be decided about them. The constructor works both out, whatever it was given.
    """

    key: int
    blocks: tuple[AnswerBlock, ...]
    completions: tuple[Completion, ...] = ()
    origin: Origin | None = None
    outputs: tuple[str, ...] | None = None
    verbatim: bool = False
    part: int = 0
    """which one it is of the units that began with the same record"""

    def __post_init__(self) -> None:
        completions, count = self.completions, len(self.completions)
        outputs: list[str] = []
        ids: set[CallId] = set()
        is_simple, verbatim = False, True
        for block in self.blocks:
            if type(block) is ToolCall:
                if len(outputs) == count:
                    break
                completion = completions[len(outputs)]
                text, call_id = completion.result, completion.call_id
                if (
                    type(text) is not str
                    or completion.kind is not _SUCCESS
                    or completion.shortened is not None
                    or completion.ran_with is not None
                    or completion.media
                    or not text
                    or text.isspace()
                ):
                    text, verbatim = completion.visible_text, False
                if (
                    text is None
                    or block.id != call_id
                    or block.native is not None
                    or block.raw is not None
                    or block.kind is not _FUNCTION
                    or block.namespace
                ):
                    break
                outputs.append(text)
                ids.add(call_id)
            elif (
                outputs or type(block) is not Text or block.native is not None or not block.text or block.text.isspace()
            ):
                break
        else:
            is_simple = len(outputs) == count
        if not is_simple:  # else the loop has compared the ids
            _check_order(self)
            ids = set(map(_CALL_ID, completions))
        if len(ids) != count:
            raise _unpaired(self)
        force_setattr(self, "outputs", tuple(outputs) if is_simple else None)
        force_setattr(self, "verbatim", is_simple and verbatim)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls of the answer, in order; `completions` is parallel to it."""
        return tuple(block for block in self.blocks if type(block) is ToolCall)


class Summary(Struct, frozen=True, omit_defaults=True, gc=False):
    """What stands for a run of units that a compaction covered."""

    key: int
    text: str


_CALL_ID = attrgetter("call_id")
_FUNCTION, _SUCCESS = CallKind.FUNCTION, CompletionKind.SUCCESS

Unit: TypeAlias = Said | Exchange | Summary


def _check_order(unit: Exchange) -> None:
    """Refuse completions that are not those of the calls, in call order."""
    if [call.id for call in unit.calls] != list(map(_CALL_ID, unit.completions)):
        raise _unpaired(unit)


def _unpaired(unit: Exchange) -> RenderError:
    calls = [str(block.id) for block in unit.blocks if type(block) is ToolCall]
    results = [str(completion.call_id) for completion in unit.completions]
    return RenderError(
        f"unit {unit.key} does not hold exactly one completion for every call, in call order",
        layer="transcript",
        calls=calls,
        results=results,
    )


__all__ = [
    "AnswerBlock",
    "Completion",
    "CompletionKind",
    "Exchange",
    "Said",
    "SaidBlock",
    "Summary",
    "Unit",
    "completion_text",
    "output_digest",
    "whole_output",
]
