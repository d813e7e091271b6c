"""One thing that was said or done, by whom, and where it came from."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from legato.errors import InvalidEntry
from legato.model.blocks import BLOCKS, Block, Text, ToolCall
from legato.model.enums import FastStrEnum


class Speaker(FastStrEnum):
    """Who an entry is from."""

    HUMAN = "human"
    AI = "ai"
    TOOL = "tool"


class Ending(FastStrEnum):
    """How a model's answer ended."""

    DONE = "done"
    CALLS = "calls"
    LENGTH = "length"
    CANCELLED = "cancelled"
    CUT = "cut"
    REFUSED = "refused"
    PAUSED = "paused"


BROKEN_OFF = (Ending.CUT, Ending.CANCELLED, Ending.REFUSED)
"""Endings of answers that the model did not bring to an end."""


class Authority(FastStrEnum):
    """Whether a human-side entry is a person's word or an instruction (a system or developer message)."""

    PERSON = "person"
    INSTRUCTION = "instruction"


class Origin(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Where an answer was made: enough to know who may see its signatures again.

    `asked` is the model that was asked for, `served` the one that answered (providers answer under dated names, routers
    under another one). An empty field is unknown and matches nothing.
    """

    dialect: str = ""
    provider: str = ""
    endpoint: str = ""
    account: str = ""
    asked: str = ""
    served: str = ""


class Entry(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """One entry of a conversation.

    `answer` keys the model's answer: entries with one key are one answer (a stream stored in pieces, a file that splits
    an answer over lines); entries with different keys, or none, never merge. An entry is never empty: it has blocks,
    and a stored one without any is damaged.
    """

    speaker: Speaker
    blocks: Annotated[tuple[Block, ...], Meta(min_length=1)]
    origin: Origin | None = None
    answer: str | None = None
    ending: Ending | None = None
    authority: Authority = Authority.PERSON

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls in this entry, in order."""
        return tuple(block for block in self.blocks if isinstance(block, ToolCall))

    @property
    def text(self) -> str:
        """The visible text of this entry."""
        return "".join(block.text for block in self.blocks if isinstance(block, Text))


def meaningful(entry: Entry) -> Entry:
    """`entry`, if someone says something in it; raises `InvalidEntry` if not."""
    if type(entry.speaker) is not Speaker:
        try:
            entry = replace(entry, speaker=Speaker(entry.speaker))
        except ValueError:
            raise InvalidEntry(
                f"unknown speaker {entry.speaker!r}; it must be human, ai or tool", speaker=str(entry.speaker)
            ) from None
    if not entry.blocks:
        raise InvalidEntry(
            f"an entry of the {entry.speaker} without any block says nothing", speaker=str(entry.speaker)
        )
    for block in entry.blocks:
        if type(block) not in BLOCKS:
            raise InvalidEntry(f"{type(block).__name__} is not a block", block=type(block).__name__)
    return entry


class Usage(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Tokens as the provider counted them. `input` includes what was read from or written to its cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


class Answer(Struct, frozen=True):
    """What one response held: the entry to record, and what the provider said about it."""

    entry: Entry
    usage: Usage | None = None
    served: str = ""
    response_id: str = ""
    new_word: str = ""
    """the provider's word for how the answer ended, if it is none that we know: the ending is `CUT` then"""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls in the answer, in order."""
        return self.entry.calls

    @property
    def text(self) -> str:
        """The visible text of the answer."""
        return self.entry.text
