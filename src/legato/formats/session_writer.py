"""Write a conversation as the session file of an agent, or as the messages of a framework: what all writers do alike.

In:  a conversation.
Out: a walk through it, in blocks that every such file has a form for.

A format says how it writes three things: what a person says, one answer with the results of its calls, and the file
around them. What few files have a form for is told as text, and listed: code, tools that a provider ran itself, media
in answers, instructions in the middle. A format that does have a form for one of these says so (`own`, `instruction`).
Ids are made of the conversation alone: the same one gives the same file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from legato.formats.format import Outgoing, Written
from legato.formats.writer_context import Covering, WriterContext, media_words
from legato.model import (
    Authority,
    Code,
    HostedTool,
    IdScheme,
    JsonObject,
    Media,
    NameRule,
    Origin,
    Text,
    Thinking,
    ToolCall,
)
from legato.transcript.units import AnswerBlock, Completion, Exchange, Said, Summary, completion_text
from legato.wire.phrases import INSTRUCTION_MARK, SUMMARY_MARK
from legato.wire.text_forms import fenced, hosted_text

PlainSaid: TypeAlias = Text | Media
PlainAnswer: TypeAlias = Thinking | Text | ToolCall
Accepts: TypeAlias = Callable[[Media], bool]
Own = TypeVar("Own")
"""what a format makes of the blocks that it has a form of its own for; `Never` if there are none"""


class OwnParts(NamedTuple):
    """A block of an answer in the form that the file itself has for it."""

    parts: list[JsonObject]


class CallOutcome(NamedTuple):
    """What came of a call: what the model reads, and the media beside it."""

    call_id: str
    name: str
    text: str
    media: list[Media]
    is_error: bool
    call: ToolCall
    completion: Completion


class SessionWriter(ABC, Generic[Own]):
    """Walks the units of a conversation; a format writes what it is given."""

    def __init__(self, out: Outgoing, scheme: IdScheme, rule: NameRule, accepts: Accepts) -> None:
        self.out = out
        self.context = WriterContext(out, scheme, rule)
        self._accepts = accepts

    @abstractmethod
    def human(self, blocks: Sequence[PlainSaid]) -> None:
        """Write what the human side says."""

    @abstractmethod
    def answer(self, unit: Exchange, blocks: Sequence[PlainAnswer | Own], outcomes: Sequence[CallOutcome]) -> None:
        """Write one answer, and what came of its calls, in their order."""

    def own(self, block: AnswerBlock, origin: Origin | None) -> Own | None:
        """The file's own form for a block of an answer, where it has more than words for it."""
        return None

    def instruction(self, blocks: Sequence[PlainSaid]) -> None:
        """Write an instruction in the middle: as marked words of the human side, where there is no other form."""
        self.context.lose("the authority of an instruction in the middle; it stands there as marked text")
        self.human([Text(INSTRUCTION_MARK.strip()), *blocks])

    def compaction(self, summary: str) -> None:
        """Write that from here on `summary` stands for all before it.

        Only for a format that keeps compactions: for others, what was summarised is out of the conversation already.
        """
        raise NotImplementedError

    @abstractmethod
    def data(self) -> bytes:
        """The file."""

    def write(self) -> Written:
        """The file, and what it does not hold."""
        for unit in self.context.steps():
            match unit:
                case Covering():
                    self.compaction(unit.text)
                case Said():
                    blocks = [self._plain_said(block) for block in unit.blocks]
                    tell = self.instruction if unit.authority is Authority.INSTRUCTION else self.human
                    tell(blocks)
                case Summary():
                    self.human([Text(SUMMARY_MARK + unit.text)])
                case Exchange():
                    self._exchange(unit)
        self.lose_surroundings()
        return Written(self.data(), self.context.losses(), session=self.context.session)

    def lose_surroundings(self) -> None:
        """Tell that what stands around a conversation is not in the file."""
        if self.out.talk.instructions:
            self.context.lose("the system prompt")
        self.context.lose_tools()

    @property
    def session(self) -> str:
        """The id of the session."""
        return self.context.session.id

    @property
    def cwd(self) -> str:
        """The folder that the session is about."""
        return self.context.session.cwd

    def name(self, call: ToolCall) -> str:
        """The name of the tool that a call asks for, as the file has it."""
        return self.context.tool(call.name, call.namespace)

    def call_id(self, call: ToolCall) -> str:
        """The id of a call, as the file has it."""
        return self.context.ids[call.id]

    # --- blocks -------------------------------------------------------------------------------------------------------

    def _plain_said(self, block: Text | Media | Code) -> PlainSaid:
        match block:
            case Text():
                return block
            case Code():
                return Text(fenced(block))
            case Media():
                return block if self._holds(block) else Text(media_words(block))

    def _holds(self, block: Media) -> bool:
        """Whether the file takes a medium; one that it does not is listed."""
        if self._accepts(block):
            return True
        self.context.lose(f"a medium of type {block.mime}")
        return False

    def _exchange(self, unit: Exchange) -> None:
        blocks: list[PlainAnswer | Own] = []
        for block in unit.blocks:
            told = self.own(block, unit.origin)
            told = told if told is not None else self._plain_answer(block)
            blocks += [told] if told is not None else []
        outcomes = [
            self._outcome(call, completion) for call, completion in zip(unit.calls, unit.completions, strict=True)
        ]
        if blocks:
            self.answer(unit, blocks, outcomes)

    def _plain_answer(self, block: AnswerBlock) -> PlainAnswer | None:
        match block:
            case ToolCall() | Text():
                return block
            case Thinking():
                return self.thought(block)
            case Code():
                return Text(fenced(block))
            case HostedTool() if block.silent:
                self.context.lose(f"a record that its provider keeps for itself ({block.name})")
                return None
            case HostedTool():
                self.context.lose(f"the form of a call to {block.name}, run by its provider; it stands as text")
                return Text(hosted_text(block))
            case Media():
                self.context.lose(f"a medium of type {block.mime} in an answer")
                return Text(media_words(block))

    def thought(self, block: Thinking) -> Thinking | None:
        """A thought, if there are words in it: what only its provider can read is left out."""
        if block.text:
            return block
        self.context.lose("a thought that only its provider can read")
        return None

    def _outcome(self, call: ToolCall, completion: Completion) -> CallOutcome:
        text = completion_text(completion)
        media: list[Media] = []
        for block in completion.media if completion.shortened is None else ():
            if self._holds(block):
                media.append(block)
            else:
                text = "\n".join(filter(None, [text, media_words(block)]))
        return CallOutcome(
            self.call_id(call), self.name(call), text, media, completion.is_error, call=call, completion=completion
        )
