"""What we will say to the next model: units that cannot be wrong.

    Said      one human-side entry
    Exchange  one answer of the model, with one completion for every call, in call order
    Summary   what one compaction put in place of a run of units

An orphan cannot be expressed: `Exchange` refuses anything but a complete, ordered set of completions. Units are the
same for every target; a dialect prints them and repairs nothing. `key` is the sequence number of the record that a
unit began with.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

import msgspec
from msgspec import Struct

from legato.errors import RenderError
from legato.model import (
    Authority,
    Block,
    CallId,
    ClosureReason,
    Code,
    HostedTool,
    Json,
    JsonObject,
    Media,
    Origin,
    Text,
    Thinking,
    ToolCall,
    closure_text,
)

SaidBlock: TypeAlias = Text | Media | Code
AnswerBlock: TypeAlias = Thinking | Text | ToolCall | HostedTool | Media | Code


class CompletionKind(StrEnum):
    """How a call ended, best first: this is the order in which one completion is preferred to another."""

    SUCCESS = "success"
    ERROR = "error"
    CANCELLED = "cancelled"
    SYNTHETIC = "synthetic"


class Completion(Struct, frozen=True, omit_defaults=True):
    """The one effective end of a call.

    `result`, `error` and `media` are what the tool gave (success, error); `reason` and `said` say why it gave nothing
    (cancelled, synthetic), and `result` then holds what it had put out before. `shortened` replaces the output where a
    compaction clipped or stubbed it. `ran_with` holds the arguments that ran where the user edited them.
    """

    call_id: CallId
    kind: CompletionKind
    result: Json = None
    error: str | None = None
    media: tuple[Media, ...] = ()
    reason: ClosureReason | None = None
    said: str | None = None
    shortened: str | None = None
    ran_with: JsonObject | None = None

    @property
    def is_real(self) -> bool:
        """Whether a tool really ended, well or badly."""
        return self.kind is CompletionKind.SUCCESS or self.kind is CompletionKind.ERROR

    @property
    def is_error(self) -> bool:
        """Whether the provider should see this as a failure."""
        return self.kind is not CompletionKind.SUCCESS


class Said(Struct, frozen=True, omit_defaults=True):
    """One human-side entry: never empty, no blank text."""

    key: int
    blocks: tuple[SaidBlock, ...]
    authority: Authority = Authority.PERSON


class Exchange(Struct, frozen=True, omit_defaults=True):
    """One answer and one completion for every call in it, in call order; the constructor refuses anything else."""

    key: int
    blocks: tuple[AnswerBlock, ...]
    completions: tuple[Completion, ...] = ()
    origin: Origin | None = None

    def __post_init__(self) -> None:
        completions = self.completions
        expected = 0
        count = len(completions)
        for block in self.blocks:
            if type(block) is ToolCall:
                if expected >= count or completions[expected].call_id != block.id:
                    raise _unpaired(self)
                expected += 1
        if expected != count or (count > 1 and len({c.call_id for c in completions}) != count):
            raise _unpaired(self)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls of the answer, in order; `completions` is parallel to it."""
        return tuple(block for block in self.blocks if type(block) is ToolCall)


class Summary(Struct, frozen=True, omit_defaults=True):
    """What stands for a run of units that a compaction covered."""

    key: int
    text: str


Unit: TypeAlias = Said | Exchange | Summary


def completion_text(completion: Completion) -> str:
    """What the model reads as the output of the call, in every dialect that takes text."""
    if completion.shortened is not None:
        text = completion.shortened
    elif completion.reason is not None:
        text = closure_text(completion.reason, completion.said, _as_text(completion.result))
    elif completion.error is not None:
        text = completion.error
        if completion.result not in (None, "", completion.error):
            text = f"{text}\n{_as_text(completion.result)}" if text else _as_text(completion.result)
    else:
        text = _as_text(completion.result)
    if completion.ran_with is not None:
        text = f"[The user changed the arguments; the tool ran with {_as_text(completion.ran_with)}]\n{text}"
    return text


def _as_text(value: Json) -> str:
    if type(value) is str:
        return value
    return "" if value is None else msgspec.json.encode(value).decode()


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
    "Block",
    "Completion",
    "CompletionKind",
    "Exchange",
    "Said",
    "SaidBlock",
    "Summary",
    "Unit",
    "completion_text",
]
